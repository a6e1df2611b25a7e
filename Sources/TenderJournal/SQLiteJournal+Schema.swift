import TenderDatabase
import TenderModel

/// The tables, and those of older versions brought up to them.
extension SQLiteJournal {
  /// Raised with every change of the tables; a file with a higher one is refused.
  static let version = 6

  func create() throws(Fault) {
    // Before the first page is written: what is pruned gives its pages back.
    try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    try database.useLog()
    try database.transaction { () throws(Fault) in
      // Another process may have been faster.
      guard try database.first("PRAGMA user_version")?.first?.integer == 0 else { return }
      try database.execute(
        Self.tables + Self.added + Self.search + Self.sealing + Self.writers
          + "; PRAGMA user_version = \(Self.version)"
      )
    }
    // With its tables in the database file, a copy of that file alone is known for what it is.
    _ = try database.first("PRAGMA wal_checkpoint(PASSIVE)")
  }

  /// Brings a file of an older version up to this one, in one transaction or not at all.
  func migrate() throws(Fault) {
    try database.transaction { () throws(Fault) in
      // Another process may have been faster.
      var found = try database.first("PRAGMA user_version")?.first?.integer
      if found == 1 {
        // Version 1 only told a token (1) from a payment (0): the raw values of `Attempt.Kind`.
        try database.execute("ALTER TABLE attempt RENAME COLUMN token TO kind")
        found = 2
      }
      if found == 2 { try migrateFrom2() }
      if found == 2 || found == 3 {
        // Version 3 searched orders and answers one by one.
        try database.execute(Self.search)
        try indexAll()
        found = 4
      }
      if found == 4 {
        // Version 4 had preparations in plain text, which are erased as before.
        try database.execute(Self.sealing)
        found = 5
      }
      guard found == 5 else { return }
      try database.execute(Self.writers)
      try database.execute("PRAGMA user_version = \(Self.version)")
    }
  }

  private func migrateFrom2() throws(Fault) {
    // Version 2 had neither versions of an attempt nor checksums nor a chain.
    try database.execute(
      """
      ALTER TABLE attempt ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE attempt ADD COLUMN prints TEXT;
      ALTER TABLE attempt ADD COLUMN moment TEXT;
      ALTER TABLE attempt ADD COLUMN sum TEXT;
      ALTER TABLE history RENAME TO earlier
      """ + Self.added + """
        ;
        INSERT INTO history (attempt, at, phase, status, note)
          SELECT attempt, at, phase, status, note FROM earlier ORDER BY at, attempt, number;
        DROP TABLE earlier
        """
    )
  }

  /// Writes the terms of every attempt; those of a damaged row are left out, which `verify` tells.
  private func indexAll() throws(Fault) {
    var last = 0
    while true {
      var found: [[Database.Value]] = []
      try database.query(
        AttemptRow.select + " WHERE a.row > ? ORDER BY a.row LIMIT 1000",
        [.integer(last)]
      ) {
        found.append($0)
        return true
      }
      guard let newest = found.last?[0].integer else { return }
      last = newest
      for row in found {
        guard let attempt = try? AttemptRow.attempt(row) else { continue }
        try index(attempt, instead: [])
      }
    }
  }

  /// Everything that the file holds.
  static let objects: Set<String> = [
    "attempt", "attempt_by_amount", "attempt_by_id", "attempt_by_last_four", "attempt_by_status",
    "attempt_by_time", "burnt", "fresh", "history", "history_by_who", "history_of_attempt",
    "journal",
    "preparation",
    "term",
  ]

  private static let tables = """
    CREATE TABLE attempt (
      row INTEGER PRIMARY KEY,
      env TEXT NOT NULL, provider TEXT NOT NULL, reference TEXT NOT NULL, number INTEGER NOT NULL,
      operation TEXT NOT NULL, phase TEXT NOT NULL, status TEXT NOT NULL, freed INTEGER NOT NULL,
      kind INTEGER NOT NULL, id TEXT, amount INTEGER, requested INTEGER, currency TEXT,
      last_four TEXT, brand TEXT, merchant TEXT NOT NULL, content TEXT NOT NULL,
      key TEXT NOT NULL, result TEXT NOT NULL, reversal TEXT, next_action TEXT, fault TEXT,
      created INTEGER NOT NULL, updated INTEGER NOT NULL, sent INTEGER,
      version INTEGER NOT NULL DEFAULT 0, prints TEXT, moment TEXT, sum TEXT,
      UNIQUE (reference, provider, env, number)
    );
    CREATE TABLE preparation (row INTEGER PRIMARY KEY, text TEXT NOT NULL);
    CREATE INDEX attempt_by_id ON attempt (id) WHERE id IS NOT NULL;
    CREATE INDEX attempt_by_time ON attempt (created);
    CREATE INDEX attempt_by_status ON attempt (status, created);
    CREATE INDEX attempt_by_last_four ON attempt (last_four, created)
      WHERE last_four IS NOT NULL;
    CREATE INDEX attempt_by_amount ON attempt (amount, created)
    """

  /// What version 3 added: a chained history, and one row about the journal itself.
  ///
  /// The lines of the history are numbered through; `loss` says how it was found to have forgotten something.
  private static let added = """
    ;
    CREATE TABLE history (
      line INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, at INTEGER NOT NULL,
      phase TEXT NOT NULL, status TEXT NOT NULL, note TEXT NOT NULL, sum TEXT, link TEXT
    );
    CREATE INDEX history_of_attempt ON history (attempt);
    CREATE TABLE journal (name TEXT NOT NULL, forgotten INTEGER NOT NULL, loss TEXT);
    INSERT INTO journal (name, forgotten) VALUES (lower(hex(randomblob(16))), 0)
    """

  /// What version 4 added: the terms of attempts, orders and answers.
  private static let search = """
    ;
    CREATE TABLE term (
      text TEXT NOT NULL, created INTEGER NOT NULL, attempt INTEGER NOT NULL,
      PRIMARY KEY (text, created, attempt)
    ) WITHOUT ROWID
    """

  /// What version 5 added: which sealing keys are new, and which are used up.
  private static let sealing = """
    ;
    CREATE TABLE fresh (slot INTEGER PRIMARY KEY);
    CREATE TABLE burnt (slot INTEGER PRIMARY KEY)
    """

  /// What version 6 added: who wrote a line of the history.
  private static let writers = """
    ;
    ALTER TABLE history ADD COLUMN by TEXT;
    CREATE INDEX history_by_who ON history (by, attempt) WHERE by IS NOT NULL
    """
}
