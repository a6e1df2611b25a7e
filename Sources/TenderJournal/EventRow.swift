package import TenderEngine
import TenderModel
import TenderSystem

/// A line of the history as a row of the `event` table, and back.
package enum EventRow {
  private static let table = Table<
    (line: Int, payment: Int, entry: HistoryEntry, write: String?)
  >([
    .init("line", from: { $0.line }),
    .init("payment", from: { $0.payment }),
    .init("at", { $0.entry.at }, { $0.entry.at = $1 }),
    .init("operation", { $0.entry.operation }, { $0.entry.operation = $1 }),
    .init("state", { $0.entry.state }, { $0.entry.state = $1 }),
    .init("amount", { $0.entry.amount }, { $0.entry.amount = $1 }),
    .init("status", { $0.entry.status }, { $0.entry.status = $1 }),
    .init("note", { $0.entry.note }, { $0.entry.note = $1 }),
    .init("by", { $0.entry.by }, { $0.entry.by = $1 }),
    // Earlier versions wrote a checksum of the payment.
    .init("sum", from: { $0.write }),
  ])

  /// The columns, without the link to the line before.
  package static var columns: Columns { table.columns }

  /// The columns in a file, which has the links.
  static let linked = table.columns.with(last: [("link", .text)])

  /// Returns the values of a line about a payment. Payment 0 is the journal itself. `write` identifies the write in
  /// a shared journal.
  package static func values(
    _ line: Int,
    _ payment: Int,
    _ entry: HistoryEntry,
    write: String? = nil
  ) -> Row {
    table.row((line, payment, entry, write))
  }

  /// Returns the link of a line to the one before: the hash of its values that are not null, with their names, and
  /// of the other link. So a new column changes no link.
  static func link(of row: Row, after link: String?) -> String {
    let values = columns.names.sorted().filter { row[$0] != .null }
      .flatMap { [Database.Value.text($0), row[$0]] }
    return Checksum.of(values + [Database.Value(link)])
  }

  /// Returns the line of a row of `event`.
  package static func entry(_ row: Row) -> HistoryEntry {
    var source = (line: 0, payment: 0, entry: HistoryEntry(at: 0, note: ""), write: String?.none)
    table.read(row, into: &source)
    return source.entry
  }
}
