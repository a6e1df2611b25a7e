/// The tables that a journal makes of tables of fields, in SQLite and in PostgreSQL.
///
/// Columns are only ever added (`Field.init(added:)`). A row from before has null there, and its checksum still
/// matches (`Row.sum`). A program that does not know a column refuses the journal by its version. A process that was
/// running when the column came refuses each row with a value in it, since the row's checksum covers that value.
enum StoredTables {
  static let all: [(name: String, columns: Columns)] = [
    ("payment", PaymentRow.columns), ("operation", OperationRow.columns),
    ("observation", ObservationRow.columns), ("event", EventRow.columns),
  ]

  /// How many columns were added to version 7 of the files, which is version 2 of the shared tables.
  static let added = all.reduce(0) { $0 + $1.columns.added.count }

  /// How a database defines columns.
  struct Dialect {
    let number: String
    let text: String
    /// Columns without which a row means nothing, by the names that they had from the beginning.
    let required: Set<String>

    /// The definitions of columns, as a list of SQL.
    func list(_ columns: Columns, without left: String = "") -> String {
      columns.names.filter { $0 != left }.map { definition($0, columns) }.joined(separator: ", ")
    }

    func definition(_ name: String, _ columns: Columns) -> String {
      let type = columns.kind(name) == .number ? number : text
      let isRequired = required.contains(name) && !columns.added.contains(name)
      return "\(name) \(type)" + (isRequired ? " NOT NULL" : "")
    }
  }
}
