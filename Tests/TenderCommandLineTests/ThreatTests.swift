import Foundation
import TenderCommandLine
import TenderTestSupport
import Testing

/// The threat model promises nothing that no test shows.
@Suite struct ThreatTests {
  @Test func `names tests that there are`() throws {
    let files = FileManager.default.enumerator(atPath: Project.path("Tests"))
    var tests = ""
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix("Tests.swift") else { continue }
      tests += try String(contentsOfFile: Project.path("Tests/" + file), encoding: .utf8)
    }
    for line in Threats.all.flatMap(\.cannot) {
      guard let test = line.test else {
        Issue.record("no test shows that nobody can \(line.text)")
        continue
      }
      #expect(tests.contains("func `\(test)`("), "\(test)")
    }
  }
}
