import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The JUnit report of a batch: it stops no payment and replaces no other file.
@Suite struct ReportTests {
  @Test func `a report never replaces the batch, the state, or what a link leads to`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try Works.write([BatchTests.pay("A")], binary)
    let home = binary.home
    #expect(try binary.run("batch", file, "--json").status == 0)
    let journal = home.appending(path: ".local/state/tender/journal.db")
    let before = try Data(contentsOf: journal)
    let link = home.appending(path: "link.xml")
    try FileManager.default.createSymbolicLink(
      at: link,
      withDestinationURL: URL(filePath: file)
    )
    for path in [
      file, link.path, journal.path, home.path + "/.local/state/../state/tender/new.xml",
      journal.path + "-wal", home.path,
    ] {
      let result = try binary.run("batch", file, "--json", "--junit", path)
      #expect(result.status == 2, "\(path)")
      #expect(result.errorRecord["error"]?["code"] == "bad_file", "\(path)")
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains(#""reference":"A""#))
    #expect(try Data(contentsOf: journal) == before)
    // A batch with the old name of the report's parts, and a link, which could be the system's /dev/stdout.
    let part = home.appending(path: "r.xml.part")
    try FileManager.default.copyItem(at: URL(filePath: file), to: part)
    let report = home.appending(path: "r.xml")
    #expect(try binary.run("batch", part.path, "--json", "--junit", report.path).status == 0)
    #expect(FileManager.default.fileExists(atPath: part.path))
    #expect(try String(contentsOf: report, encoding: .utf8).hasSuffix("</testsuites>\n"))
    let kept = home.appending(path: "kept")
    try Data("kept".utf8).write(to: kept)
    let other = home.appending(path: "other.xml")
    try FileManager.default.createSymbolicLink(at: other, withDestinationURL: kept)
    #expect(try binary.run("batch", file, "--json", "--junit", other.path).status == 2)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: other.path) == kept.path)
    #expect(try String(contentsOf: kept, encoding: .utf8) == "kept")
    let left = try FileManager.default.contentsOfDirectory(atPath: home.path)
    #expect(left.filter { $0.hasSuffix(".tmp") } == [])
  }

  /// Text that is typed or comes from a provider must not change how a report reads.
  @Test func `a report has no direction and no characters without width`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let harmful = ["202e", "200b", "200e", "200f", "061c", "2060", "206f", "fff9", "3164", "ffa0"]
    let typed = harmful.map { "\\u\($0)" }.joined(separator: "x") + "\\udb40\\udc01"
    let file = try Works.write([BatchTests.pay("J" + typed)], binary)
    let report = binary.home.appending(path: "r.xml")
    #expect(try binary.run("batch", file, "--json", "--junit", report.path).status == 14)
    let text = try String(contentsOf: report, encoding: .utf8)
    #expect(text.contains(#": transact J?x?"#), "\(text)")
    #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || !Printable.isHarmful($0.value) })
  }

  @Test func `says what is unknown before a report that cannot be written`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let reports = binary.home.appending(path: "reports")
    try FileManager.default.createDirectory(at: reports, withIntermediateDirectories: true)
    let input = Pipe()
    let (process, output, _) = try binary.start(
      ["batch", "-", "--json", "--junit", reports.appending(path: "r.xml").path],
      input: input
    )
    let line = BatchTests.pay("U", #","sim_fault":"part2:reset-before*1""#)
    input.fileHandleForWriting.write(Data((line + "\n").utf8))
    let first = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    try FileManager.default.removeItem(at: reports)
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(first.contains("\"unknown\""))
    #expect(process.terminationStatus == 9)
  }
}
