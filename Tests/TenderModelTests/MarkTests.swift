import TenderModel
import Testing

/// Rows of combining marks, which are sorted whenever a text is compared.
@Suite struct MarkTests {
  static let mark = "\u{301}"

  static func text(_ count: Int) -> String { "e" + String(repeating: mark, count: count) + "x" }

  /// The text that a reader returns for some marks.
  static let rows: [(given: String, read: String)] = [
    (text(30), text(30)),
    (text(31), "e" + String(repeating: mark, count: 30) + "\u{fffd}x"),
    (text(100_000), "e" + String(repeating: mark, count: 30) + "\u{fffd}x"),
    // Letters between them, and other letters of several bytes.
    (String(repeating: "e" + mark, count: 100), String(repeating: "e" + mark, count: 100)),
    (String(repeating: "語", count: 100), String(repeating: "語", count: 100)),
  ]

  @Test(arguments: rows) func `are bounded in JSON`(_ row: (given: String, read: String)) {
    func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }
    let read = JSONReader.read("[\"\(row.given)\"]")?.array?.first?.text
    #expect(bytes(read) == bytes(row.read))
    let escaped = row.given.replacing(Self.mark, with: "\\u0301")
    #expect(bytes(JSONReader.read("[\"\(escaped)\"]")?.array?.first?.text) == bytes(row.read))
  }

  @Test(arguments: rows) func `are bounded in XML`(_ row: (given: String, read: String)) throws {
    let read = try XMLElement.read(Array("<a>\(row.given)</a>".utf8))
    #expect(read.map { Array($0.text.utf8) } == Array(row.read.utf8))
  }
}
