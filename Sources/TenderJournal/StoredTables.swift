/// The tables that both journals create from tables of fields, in SQLite and in PostgreSQL.
///
/// Columns are only added (`Field.init(added:)`). Older rows have null there, and their checksums still match
/// (`Row.sum`). A program that does not know a column refuses the journal by its version. It may have been
/// running when the column was added. Then it refuses each row with a value in it, because the checksum
/// covers it.
enum StoredTables {
  static let all: [(name: String, columns: Columns)] = [
    ("payment", PaymentRow.columns), ("operation", OperationRow.columns),
    ("observation", ObservationRow.columns), ("event", EventRow.columns),
  ]

  /// The number of columns added since the first versions: 7 of the files, and 2 of the shared tables.
  static let added = all.reduce(0) { $0 + $1.columns.added.count }

  /// The way in which a database defines columns.
  struct Dialect {
    let number: String
    let text: String
    /// The columns that must not be null, by their first names.
    let required: Set<String>

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
