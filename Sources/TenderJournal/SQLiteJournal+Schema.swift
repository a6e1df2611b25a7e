import TenderModel
import TenderSystem

/// The tables, made or brought up to this version.
extension SQLiteJournal {
  /// Raised with every change of the tables, by an added column itself; a file with a higher one is refused.
  static let version = 7 + StoredTables.added

  func create() throws(Fault) {
    // Before the first page is written: what is pruned gives its pages back.
    try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    try database.useLog()
    try database.transaction { () throws(Fault) in
      // Another process may have been faster.
      guard try number("PRAGMA user_version") == 0 else { return }
      try database.execute(Self.tables + Self.sealing)
      try database.query(
        "INSERT INTO journal (name, forgotten) VALUES (lower(hex(randomblob(16))), 0)"
      )
      try database.execute("PRAGMA user_version = \(Self.version)")
    }
    // With its tables in the database file, a copy of that file alone is known for what it is.
    _ = try database.first("PRAGMA wal_checkpoint(PASSIVE)")
  }

  /// Everything that the file holds, and `event_by_who`, an index that the first files of this version have.
  static let objects: Set<String> = [
    "burnt", "event", "event_by_who", "event_of_payment", "fresh", "journal", "observation",
    "observation_of_payment", "operation", "operation_by_key", "operation_of_payment", "payment",
    "payment_by_amount", "payment_by_last_four", "payment_by_status", "payment_by_time",
    "preparation", "term",
  ]

  /// The lines of the history are numbered through.
  ///
  /// In `journal`, `loss` says how it was found to have forgotten something, `copied` when it was written
  /// as a copy, `place` where it was opened last and when its file was made; `earlier_line` and `earlier_link` are the newest line
  /// that a version before 7 had written.
  static let tables = """
    CREATE TABLE payment (
      row INTEGER PRIMARY KEY, \(dialect.list(PaymentRow.columns)), sum TEXT NOT NULL,
      UNIQUE (reference, provider, env)
    );
    CREATE TABLE operation (
      row INTEGER PRIMARY KEY, payment INTEGER NOT NULL, \(dialect.list(OperationRow.columns)),
      sum TEXT NOT NULL
    );
    CREATE TABLE observation (
      row INTEGER PRIMARY KEY, payment INTEGER NOT NULL, \(dialect.list(ObservationRow.columns)),
      sum TEXT NOT NULL
    );
    CREATE TABLE event (
      line INTEGER PRIMARY KEY, \(dialect.list(EventRow.columns, without: "line")), link TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS preparation (row INTEGER PRIMARY KEY, text TEXT NOT NULL);
    CREATE TABLE term (
      text TEXT NOT NULL, created INTEGER NOT NULL, payment INTEGER NOT NULL,
      PRIMARY KEY (text, created, payment)
    ) WITHOUT ROWID;
    CREATE TABLE journal (
      name TEXT NOT NULL, forgotten INTEGER NOT NULL, loss TEXT, copied INTEGER, place TEXT,
      earlier_line INTEGER, earlier_link TEXT
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

  /// What the index of statuses holds, as the first file of this version had it: the others are found by a term.
  ///
  /// A status that is added later is in the index, whether it is final or not.
  static let settledStatus =
    "status NOT IN ('requires_confirmation', 'requires_action', 'pending', 'unknown')"

  /// Whether the index holds payments of a status.
  static func isIndexed(_ status: Status) -> Bool {
    !settledStatus.contains("'\(status.rawValue)'")
  }

  /// Which sealing keys are new, and which are used up.
  static let sealing = """
    ;
    CREATE TABLE IF NOT EXISTS fresh (slot INTEGER PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS burnt (slot INTEGER PRIMARY KEY)
    """

  static let dialect = StoredTables.Dialect(
    number: "INTEGER",
    text: "TEXT",
    required: [
      "env", "provider", "reference", "kind", "merchant", "status", "state", "sequence", "number",
      "created", "updated", "version", "at", "payment", "operation", "note", "source",
    ]
  )
}
