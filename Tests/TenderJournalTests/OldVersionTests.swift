import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// Files of version 4 had no sealed data. Damaged data in them stay damaged.
@Suite final class OldVersionTests: JournalFolder {
  private var path: String { state.appending(path: "journal.db").path }

  /// Restores a journal of version 4. Returns a part of the data that confirming its HELD needs.
  private func put() throws -> String {
    let old = OldJournal.all[3]
    try old.put(into: state)
    let row = try Database(path: path).first(
      "SELECT x.text FROM preparation x JOIN attempt a ON a.row = x.row WHERE a.reference = 'HELD'"
    )
    let text = try #require(row?.first?.text)
    let start = try #require(text.firstRange(of: "pt_tok_")).lowerBound
    return String(text[start...].prefix(27))
  }

  @Test func `erases a preparation of version 4 so that no byte of it is left`() throws {
    let secret = try put()
    #expect(try contains(secret))
    let journal = try open()
    var held = try #require(try journal.payment("HELD"))
    #expect(held.charge.preparation?.secret?.contains(secret) == true)
    // Other payments come and go in between.
    for number in 0..<20 { _ = try journal.open(payment("B\(number)")) }
    try journal.end(&held) { $0.preparation = nil }
    #expect(try !contains(secret))
  }

  @Test func `leaves the erasing to the next command while another reads`() throws {
    let secret = try put()
    let journal = try open()
    let count = try journal.count()
    var held = try #require(try journal.payment("HELD"))
    let reader = try Database(path: path)
    try reader.execute("BEGIN")
    _ = try reader.first("SELECT count(*) FROM payment")
    // The outcome is written in spite of readers.
    try journal.end(&held) { $0.preparation = nil }
    #expect(try journal.payment("HELD")?.charge.state == .succeeded)
    #expect(try contains(secret))
    #expect(try open().count() == count)
    #expect(try contains(secret))
    try reader.execute("COMMIT")
    _ = try open()
    #expect(try !contains(secret))
    #expect(!FileManager.default.fileExists(atPath: state.path + "/journal.erase"))
  }

  /// A damaged row of an old file is imported, and still refused.
  @Test func `a row that was damaged before stays refused`() throws {
    _ = try put()
    try Database(path: path).execute("UPDATE attempt SET sum = 'another' WHERE reference = 'HELD'")
    let journal = try open()
    #expect(code { _ = try journal.payment("HELD") } == "journal_damaged")
    #expect(try journal.verify().first == "the row of 'HELD' does not match its checksum")
  }
}
