import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// A new column in tables in use, and programs without it.
@Suite final class AddedColumnTests: JournalFolder {
  private var database: Database {
    get throws { try Database(path: state.path + "/journal.db") }
  }

  /// The columns of payments with one more.
  private static let wider = Columns(
    PaymentRow.columns.names.map { ($0, PaymentRow.columns.kind($0)) } + [("note", .text)],
    added: ["note"]
  )

  /// Adds the column, and a value in it for a payment, with the checksum of a newer program.
  private func write(_ value: String, of reference: String, _ journal: SQLiteJournal) throws {
    try journal.addColumns(Self.wider, to: "payment")
    let database = try database
    let list = Self.wider.names.dropLast().joined(separator: ", ")
    let found = try database.first(
      "SELECT \(list), ?, (SELECT sum FROM operation WHERE payment = p.row) FROM payment p "
        + "WHERE reference = ?",
      [.text(value), .text(reference)]
    )
    let values = try #require(found)
    let row = try #require(Row(Self.wider, read: values.dropLast()))
    try database.query(
      "UPDATE payment SET note = ?, sum = ? WHERE reference = ?",
      [.text(value), .text(row.sum([values.last?.text])), .text(reference)]
    )
  }

  @Test func `rows from before match their checksums with a column more`() throws {
    let journal = try open()
    try pay("A", journal)
    // `note` is required in an event, but not in earlier rows.
    for _ in 0..<2 { try journal.addColumns(Self.wider, to: "payment") }
    #expect(try journal.verify() == [])
    try pay("B", journal)
    let again = try open()
    #expect(try again.verify() == [])
    #expect(try again.references().sorted() == ["A", "B"])
  }

  /// A process that was running when the column was added.
  @Test func `a row with a value in an unknown column is neither read nor written over`() throws {
    let journal = try open()
    try pay("A", journal)
    var known = try journal.open(payment("B"))
    try write("x", of: "B", journal)
    #expect(code { _ = try journal.payment("B") } == "journal_damaged")
    #expect(code { try journal.update(&known) } == "journal_damaged")
    #expect(try database.first("SELECT note FROM payment WHERE reference = 'B'") == [.text("x")])
    #expect(try journal.payment("A") != nil)
  }

  @Test func `refuses a file of a newer version`() throws {
    try pay("A", open())
    let database = try database
    let version = try database.first("PRAGMA user_version")?.first?.integer ?? 0
    try database.execute("PRAGMA user_version = \(version + 1)")
    #expect(code { _ = try open() } == "journal_newer")
  }
}
