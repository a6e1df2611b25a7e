import Foundation
import TenderCommandLine
import TenderTestSupport
import Testing

/// Every promise of the threat model has a test.
@Suite struct ThreatTests {
  @Test func `names tests that there are`() throws {
    let files = FileManager.default.enumerator(atPath: Project.path("Tests"))
    var tests = ""
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix("Tests.swift") else { continue }
      tests += try String(contentsOfFile: Project.path("Tests/" + file), encoding: .utf8)
    }
    // The entries of each list under "They cannot:".
    let page = try Project.text("man/tender-security.7").replacing("\\-", with: "-")
    let lists = page.components(separatedBy: "\nThey cannot:\n").dropFirst()
    #expect(lists.count > 5)
    for list in lists.compactMap({ $0.components(separatedBy: "\n.PP\n").first }) {
      let entries = list.components(separatedBy: ".IP \\(bu 2\n").dropFirst()
      #expect(!entries.isEmpty)
      for entry in entries {
        let line = entry.prefix { $0 != "\n" }
        guard let mark = line.range(of: "(test: "), line.hasSuffix(")") else {
          Issue.record("no test shows that nobody can \(line)")
          continue
        }
        let test = line[mark.upperBound...].dropLast()
        #expect(tests.contains("func `\(test)`("), "\(test)")
      }
    }
  }
}
