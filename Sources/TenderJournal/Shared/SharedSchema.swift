import TenderModel

/// The tables of a shared journal, and the rights of each role.
///
/// Plain SQL for PostgreSQL 13 and later. Every name has its schema, because a pooler does not preserve a
/// search path.
package enum SharedSchema {
  /// The version of the tables. Each change raises it, also an added column.
  static let version = firstVersion + StoredTables.added

  /// The version of the first tables with operations. Older ones are refused, and so are tables that an
  /// earlier program was converting (version 0).
  static let firstVersion = 2

  /// Creates the tables and indexes that a journal lacks.
  static var tables: [Statement] {
    StoredTables.script("Shared/Tables.sql", .postgres).split(separator: ";").map { "\(sql: $0)" }
  }

  /// Adds the columns that tables of version 2 or later lack, and drops the checksums of operations.
  static var additions: [Statement] {
    StoredTables.all.flatMap { name, columns in
      columns.added.map { column -> Statement in
        let definition = Dialect.postgres.definition(column, columns)
        return "ALTER TABLE tender.\(sql: name) ADD COLUMN IF NOT EXISTS \(sql: definition)"
      }
    } + [
      "\(sql: StoredTables.claims("tender."))",
      "ALTER TABLE tender.operation DROP COLUMN IF EXISTS sum",
    ]
  }

  /// The minimum rights of each role, as SQL statements.
  package static var grants: String { EmbeddedText.named("TenderJournal/Shared/Grants.sql") }
}
