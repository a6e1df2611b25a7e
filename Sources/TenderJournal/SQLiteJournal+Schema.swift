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
      try database.execute(Self.laterTables)
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
      try database.execute(Self.laterTables)
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

  /// The tables. The lines of the history have consecutive numbers.
  ///
  /// In `journal`, `loss` is how a loss was found, and `copied` is when the file was written as a copy.
  /// `place` is where the file was last opened, and when it was created.
  static let tables = """
    CREATE TABLE payment (
      row INTEGER PRIMARY KEY, \(dialect.list(PaymentRow.columns)),
      UNIQUE (reference, provider, env)
    );
    CREATE TABLE operation (
      row INTEGER PRIMARY KEY, payment INTEGER NOT NULL, \(dialect.list(OperationRow.columns))
    );
    CREATE TABLE observation (
      row INTEGER PRIMARY KEY, payment INTEGER NOT NULL, \(dialect.list(ObservationRow.columns))
    );
    CREATE TABLE event (
      line INTEGER PRIMARY KEY, \(dialect.list(EventRow.columns, without: "line")), link TEXT NOT NULL
    );
    CREATE TABLE preparation (row INTEGER PRIMARY KEY, text TEXT NOT NULL);
    CREATE TABLE term (
      text TEXT NOT NULL, created INTEGER NOT NULL, payment INTEGER NOT NULL,
      PRIMARY KEY (text, created, payment)
    ) WITHOUT ROWID;
    CREATE TABLE journal (
      name TEXT NOT NULL, forgotten INTEGER NOT NULL, loss TEXT, copied INTEGER, place TEXT
    );
    CREATE INDEX payment_by_time ON payment (created);
    CREATE INDEX payment_by_status ON payment (status, created) WHERE \(settledStatus);
    CREATE INDEX payment_by_last_four ON payment (last_four, created) WHERE last_four IS NOT NULL;
    CREATE INDEX payment_by_amount ON payment (amount, created);
    CREATE INDEX operation_of_payment ON operation (payment);
    CREATE INDEX operation_by_key ON operation (key) WHERE key IS NOT NULL;
    CREATE INDEX observation_of_payment ON observation (payment);
    CREATE INDEX event_of_payment ON event (payment)
    """

  /// The tables that were added to those of the first version.
  ///
  /// `claim` has the record of each thing at a provider by its id. The sequence is that of a refund, and 0 for
  /// charges of one record, which may share an id. `pruned` has keyed hashes of deleted references.
  static let laterTables = """
    CREATE TABLE IF NOT EXISTS claim (
      id TEXT NOT NULL, thing TEXT NOT NULL, provider TEXT NOT NULL, env TEXT NOT NULL,
      merchant TEXT NOT NULL, payment INTEGER NOT NULL, sequence INTEGER NOT NULL,
      PRIMARY KEY (id, thing, provider, env, merchant)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS claim_of_payment ON claim (payment);
    CREATE TABLE IF NOT EXISTS pruned (print TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID
    """

  /// The condition of the index on statuses, unchanged since the first file of this version. Payments with
  /// other statuses are found by a term.
  ///
  /// A status that is added later is in the index, final or not.
  static let settledStatus =
    "status NOT IN ('requires_confirmation', 'requires_action', 'pending', 'unknown')"

  /// Returns whether the index has payments with a status.
  static func isIndexed(_ status: Status) -> Bool {
    !settledStatus.contains("'\(status.rawValue)'")
  }

  static let dialect = StoredTables.Dialect(
    number: "INTEGER",
    text: "TEXT",
    required: [
      "env", "provider", "reference", "kind", "merchant", "status", "state", "sequence", "number",
      "created", "updated", "version", "at", "payment", "operation", "note", "source",
    ]
  )
}
