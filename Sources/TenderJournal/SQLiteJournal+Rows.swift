import TenderEngine
import TenderModel
import TenderSystem

/// Writes single rows with their checksums, and the chained lines of the history.
extension SQLiteJournal {
  /// A table whose rows have checksums.
  struct Table {
    let name: String
    fileprivate let insertion: String

    private init(_ name: String, _ columns: Columns, of owner: [String] = ["payment"]) {
      self.name = name
      insertion = SQLiteJournal.insertion(name, owner + columns.names + ["sum"])
    }

    static let payment = Table("payment", PaymentRow.columns, of: [])
    static let operation = Table("operation", OperationRow.columns)
    static let observation = Table("observation", ObservationRow.columns)
  }

  private static func insertion(_ table: String, _ names: [String]) -> String {
    let marks = String(repeating: ", ?", count: names.count - 1)
    return "INSERT INTO \(table) (\(names.list())) VALUES (?\(marks))"
  }

  private static let insertionOfLine = insertion("event", EventRow.columns.names + ["link"])

  /// Writes a new row with its checksum. Returns its number.
  @discardableResult
  func insert(
    _ table: Table,
    _ values: Row,
    _ sum: String,
    of payment: Int? = nil
  ) throws(Fault) -> Int {
    let own = payment.map { [Database.Value.integer($0)] } ?? []
    try database.query(table.insertion, own + values.values + [.text(sum)])
    return database.lastRow
  }

  /// Writes the changed columns of a row, and its checksum.
  func update(
    _ table: Table,
    _ row: Int,
    _ changes: [(column: String, value: Database.Value)],
    _ sum: String
  ) throws(Fault) {
    let changes = changes + [(column: "sum", value: .text(sum))]
    let columns = changes.map { "\($0.column) = ?" }.joined(separator: ", ")
    try database.query(
      "UPDATE \(table.name) SET \(columns) WHERE row = ?",
      changes.map(\.value) + [.integer(row)]
    )
  }

  func insert(_ seen: Observation, of payment: Int) throws(Fault) {
    var seen = seen
    seen.providerStatus = seen.providerStatus.map { redactor.redact($0, foreign: true) }
    seen.id = redactor.storable(seen.id)
    let values = ObservationRow.values(seen)
    try insert(.observation, values, values.sum(), of: payment)
  }

  /// Writes the text of an operation's preparation, or deletes it.
  func store(_ text: String?, of row: Int) throws(Fault) {
    guard let text else {
      return try database.query("DELETE FROM preparation WHERE row = ?", [.integer(row)])
    }
    try database.query(
      "INSERT INTO preparation (row, text) VALUES (?, ?) "
        + "ON CONFLICT (row) DO UPDATE SET text = excluded.text",
      [.integer(row), .text(text)]
    )
  }

  /// Adds a line to the history, chained to the one before. Payment 0 is the journal itself.
  func addLine(_ payment: Int, _ entry: HistoryEntry, _ sum: String?) throws(Fault) {
    let last = try database.first("SELECT line, link FROM event ORDER BY line DESC LIMIT 1")
    let row = EventRow.values((last?[0].integer ?? 0) + 1, payment, entry, sum)
    let link = row.sum([last?[1].text])
    try database.query(Self.insertionOfLine, row.values + [.text(link)])
  }

  /// Adds a line about the journal itself, at a time in milliseconds since 1970.
  func addLine(_ note: String, at time: Int) throws(Fault) {
    try addLine(0, HistoryEntry(at: time, note: note, by: by.isEmpty ? nil : by), nil)
  }
}
