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

  @Test func `rows from before are read with a column more`() throws {
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

  /// A process that was running when another program upgraded the file.
  @Test func `writes nothing into a file that a newer version upgraded meanwhile`() throws {
    let journal = try open()
    try pay("A", journal)
    var known = try journal.open(payment("B"))
    try journal.addColumns(Self.wider, to: "payment")
    try database.execute("UPDATE payment SET note = 'x' WHERE reference = 'B'")
    try raiseVersion()
    #expect(code { try journal.update(&known) } == "journal_newer")
    #expect(code { try pay("C", journal) } == "journal_newer")
    #expect(try journal.payment("B")?.version == 1)
    #expect(try database.first("SELECT note FROM payment WHERE reference = 'B'") == [.text("x")])
  }

  private func raiseVersion() throws {
    let version = try database.first("PRAGMA user_version")?.first?.integer ?? 0
    try database.execute("PRAGMA user_version = \(version + 1)")
  }

  @Test func `refuses a file of a newer version`() throws {
    try pay("A", open())
    try raiseVersion()
    #expect(code { _ = try open() } == "journal_newer")
  }
}
