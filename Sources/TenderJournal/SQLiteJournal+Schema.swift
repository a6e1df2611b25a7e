import TenderEngine
package import TenderModel
import TenderSystem

/// Creates the tables, or upgrades them to this version.
extension SQLiteJournal {
  /// The version of the tables. Each change raises it, also an added column. A file with a higher version is
  /// refused.
  static let version = firstVersion + StoredTables.added

  /// The version of the first tables with operations. A file with a lower one is refused: its payments have
  /// another form, and no released version wrote it.
  static let firstVersion = 7

  func create() throws(Fault) {
    // This must be set before the first page is written, so that pruning can shrink the file.
    try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    try database.useLog()
    try database.transaction { () throws(Fault) in
      // Another process may have created them first.
      guard try number("PRAGMA user_version") == 0 else { return }
      try database.execute(Self.tables)
      try database.query(
        "INSERT INTO journal (name, forgotten) VALUES (lower(hex(randomblob(16))), 0)"
      )
      try database.execute("PRAGMA user_version = \(Self.version)")
    }
  }

  /// Upgrades a file of an older version in one transaction: it gets the columns that it lacks, and loses those of
  /// checksums. Preparations are sealed anew.
  func migrate() throws(Fault) {
    // If this process is killed after the commit, the next one erases.
    try? PlainFile.touch(unfinished)
    try database.transaction { () throws(Fault) in
      // Another process may have upgraded it first, to this version or to a newer one.
      guard try number("PRAGMA user_version") ?? 0 < Self.version else { return }
      for table in StoredTables.all { try addColumns(table.columns, to: table.name) }
      for table in ["payment", "operation", "observation"]
      where try names(of: table).contains("sum") {
        try database.execute("ALTER TABLE \(table) DROP COLUMN sum")
      }
      try database.execute(Self.tables)
      try database.execute(StoredTables.claims(""))
      try database.execute("DROP TABLE IF EXISTS fresh; DROP TABLE IF EXISTS burnt")
      try sealAnew(OldSeals.read(seals))
      try database.execute("PRAGMA user_version = \(Self.version)")
    }
    // It does not fail if a reader delays this.
    try? erase()
  }

  /// The file of the keys of version 0.2.0. An upgrade erases it.
  var seals: String { folder + "/journal.seals" }

  /// Whether preparations of version 0.2.0 wait for their keys, which are in `journal.seals`.
  var waitsForSeals: Bool {
    get throws(Fault) {
      try number("SELECT count(*) FROM preparation WHERE text LIKE 'sealed:%'") ?? 0 > 0
    }
  }

  /// Takes up the keys of version 0.2.0 that were not there at the upgrade.
  func takeUpSeals() throws(Fault) {
    guard Environment.exists(seals), try waitsForSeals else { return }
    try database.transaction { () throws(Fault) in try sealAnew(OldSeals.read(seals)) }
    try? erase()
  }

  /// Seals the preparations of version 0.2.0 under the journal's key. Those whose own key is not there stay.
  private func sealAnew(_ keys: [UInt8]) throws(Fault) {
    var keys = keys
    defer { keys.wipe() }
    for row in try rows("SELECT row, text FROM preparation WHERE text LIKE 'sealed:%'") {
      guard let number = row[0].integer, let text = row[1].text else { continue }
      if let secret = OldSeals.open(text, keys) {
        let sealed = try sealed(.secret(secret))
        try run("UPDATE preparation SET text = \(sealed) WHERE row = \(number)")
      }
    }
  }

  private func names(of table: String) throws(Fault) -> Set<String> {
    Set(try rows("SELECT name FROM pragma_table_info(\(table))").compactMap(\.[0].text))
  }

  /// Adds the columns that were added later and that a table lacks.
  package func addColumns(_ columns: Columns, to table: String) throws(Fault) {
    let known = try names(of: table)
    for name in columns.added where !known.contains(name) {
      let definition = Self.dialect.definition(name, columns)
      try database.execute("ALTER TABLE \(table) ADD COLUMN \(definition)")
    }
  }

  /// Creates the tables and indexes that a file lacks.
  private static var tables: String { StoredTables.script("Tables.sql", dialect) }
}
