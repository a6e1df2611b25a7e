import TenderModel

/// What SQLite and PostgreSQL write in different ways.
package struct Dialect: Sendable {
  /// The text before the name of a table.
  let schema: String
  /// The types of columns.
  let number: String
  let text: String
  /// The operator of patterns, its wildcard for any characters, its special characters, and the
  /// text around one that then matches only itself.
  let like: String
  let wildcard: String
  let special: String
  let plain: (before: String, after: String)
  /// The number of attempts, as a statement.
  let attempts: String
  /// Whether the fingerprint of an instrument is that of its JSON.
  let printsJSON: Bool
  /// Whether the database adds the sums of a group. If not, it gives the values of each payment.
  let addsSums: Bool
  /// The test that no process works on a payment `a`, and the column that a change of an operation sets.
  var idle = ""
  var touch = ""

  /// Returns the test that a column matches a pattern, whose parts have a wildcard between them.
  func matches(_ column: String, _ parts: [String]) -> Statement {
    let pattern = parts.map { part in
      part.map { special.contains($0) ? plain.before + String($0) + plain.after : String($0) }
        .joined()
    }
    return "\(sql: column) \(sql: like) \(pattern.joined(separator: wildcard))"
  }

  static let sqlite = Dialect(
    schema: "",
    number: "INTEGER",
    text: "TEXT",
    like: "GLOB",
    wildcard: "*",
    special: "[?*",
    plain: ("[", "]"),
    attempts: "SELECT max(row) FROM operation",
    printsJSON: false,
    addsSums: false
  )

  static let postgres = Dialect(
    schema: "tender.",
    number: "bigint",
    text: "text COLLATE \"C\"",
    like: "LIKE",
    wildcard: "%",
    special: "%_\\",
    plain: ("\\", ""),
    attempts: "SELECT count(*) FROM tender.operation WHERE content IS NOT NULL",
    printsJSON: true,
    addsSums: true,
    idle: """
       AND NOT EXISTS (
        SELECT 1 FROM tender.lease l
        WHERE l.reference = a.reference AND l.provider = a.provider AND l.env = a.env
          AND l.until > clock_timestamp()
      )
      """,
    touch: ", written = clock_timestamp()"
  )

  // MARK: Tables

  /// The columns that must not be null, by their first names.
  private static let required: Set<String> = [
    "env", "provider", "reference", "kind", "merchant", "status", "state", "sequence", "number",
    "created", "updated", "version", "at", "line", "payment", "operation", "note", "source",
  ]

  /// Returns the definition of a column.
  func definition(_ name: String, _ columns: Columns) -> String {
    let type = columns.kind(name) == .number ? number : text
    let isRequired = Self.required.contains(name) && !columns.added.contains(name)
    return "\(name) \(type)" + (isRequired ? " NOT NULL" : "")
  }
}
