import Foundation
import TenderDatabase
import TenderEngine
import TenderJournal
import TenderModel
import Testing

/// Preparations of version 4 were not sealed, and are erased.
extension JournalTests {
  /// The bytes of old versions' preparations, which were not sealed.
  @Test func `erases a preparation of version 4 so that no byte of it is left`() throws {
    let secret = "prep-\(UUID().uuidString)"
    var held = try heldByVersion4(secret)
    #expect(try contains(secret))
    let journal = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    #expect(try latest("A", journal)?.preparation?.secret?.hasPrefix(secret) == true)
    // Others come and go meanwhile.
    for number in 0..<20 { _ = try journal.insert(attempt("B\(number)"), .process) }
    held.preparation = nil
    held.status = .succeeded
    try journal.update(&held, note: "outcome", .power)
    #expect(try !contains(secret))
  }

  @Test func `leaves the erasing to the next command while somebody reads`() throws {
    let secret = "prep-\(UUID().uuidString)"
    var held = try heldByVersion4(secret)
    let journal = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    let reader = try Database(path: folder.path + "/journal.db")
    try reader.execute("BEGIN")
    _ = try reader.first("SELECT count(*) FROM attempt")
    held.preparation = nil
    held.status = .succeeded
    // The outcome is written, whoever reads.
    try journal.update(&held, note: "outcome", .power)
    #expect(try latest("A", journal)?.status == .succeeded)
    #expect(try contains(secret))
    let early = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    #expect(try early.count() == 1)
    #expect(try contains(secret))
    try reader.execute("COMMIT")
    _ = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    #expect(try !contains(secret))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/journal.erase"))
  }

  /// A held attempt as version 4 left it, in a file of that version.
  private func heldByVersion4(_ secret: String) throws -> Attempt {
    let journal = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    let held = try journal.hold(attempt("A"), "x")
    let file = try Database(path: folder.path + "/journal.db")
    try file.query(
      "UPDATE preparation SET text = ?",
      [.text(String(repeating: secret, count: 200))]
    )
    try file.execute(
      "UPDATE attempt SET sum = NULL; DROP TABLE fresh; DROP TABLE burnt; "
        + "DROP INDEX history_by_who; ALTER TABLE history DROP COLUMN by; PRAGMA user_version = 4"
    )
    return held
  }
}
