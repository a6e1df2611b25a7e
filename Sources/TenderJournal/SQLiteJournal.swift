private import Synchronization
import TenderDatabase
package import TenderEngine
package import TenderModel

/// The journal in a SQLite file: write-ahead log, synced at every commit, erased bytes overwritten.
package final class SQLiteJournal: Journal {
  /// Raised with every change of the tables; a file with a higher one is refused.
  private static let version = 2

  let database: Database
  private let locks: LockFile
  private let redactor: Redactor
  private let folder: String
  /// Whether whoever writes many attempts says when what is erased must be gone for good: it costs
  /// as much as the rest of a payment.
  private let defersErasing: Bool
  private let mustEraseLater = Atomic(false)

  /// Opens `journal.db` and `journal.lock` in a folder, making them where they are not there.
  ///
  /// Every text but a preparation passes the redactor first: providers echo what they like.
  /// Throws `state` where they cannot be used, or come from a newer version.
  package init(
    folder: String,
    redactor: Redactor,
    defersErasing: Bool = false
  ) throws(Fault) {
    self.redactor = redactor
    self.defersErasing = defersErasing
    self.folder = folder
    database = try Database(
      path: folder + "/journal.db",
      busyTimeout: defersErasing ? 30_000 : 5000
    )
    locks = LockFile(path: folder + "/journal.lock")
    // Erased bytes must be gone from the pages too; every commit must be on the disk.
    try database.execute("PRAGMA secure_delete = ON; PRAGMA synchronous = FULL")
    let found = try database.first("PRAGMA user_version")?.first?.integer ?? 0
    guard found <= Self.version else {
      throw Fault(
        .state,
        code: "journal_newer",
        "\(folder)/journal.db was written by a newer version of tender",
        hint: "use that version, or another --state-dir"
      )
    }
    if found == 0 { try create() } else if found < Self.version { try migrate() }
    // Somebody was killed, or had to leave, before the bytes of a preparation were gone.
    if unfinished.exists { try? erase() }
  }

  /// The mark of an erasure that is not finished: it is there before the change that needs it.
  var unfinished: MarkFile { MarkFile(path: folder + "/journal.erase") }

  /// Brings a file of an older version up to this one, in one transaction or not at all.
  private func migrate() throws(Fault) {
    try database.transaction { () throws(Fault) in
      // Another process may have been faster.
      guard try database.first("PRAGMA user_version")?.first?.integer == 1 else { return }
      // Version 1 only told a token (1) from a payment (0): the raw values of `Attempt.Kind`.
      try database.execute("ALTER TABLE attempt RENAME COLUMN token TO kind")
      try database.execute("PRAGMA user_version = \(Self.version)")
    }
  }

  private func create() throws(Fault) {
    try database.useLog()
    try database.transaction { () throws(Fault) in
      // Another process may have been faster.
      guard try database.first("PRAGMA user_version")?.first?.integer == 0 else { return }
      try database.execute(Self.tables + "; PRAGMA user_version = \(Self.version)")
    }
  }

  private static let tables = """
    CREATE TABLE attempt (
      row INTEGER PRIMARY KEY, env TEXT NOT NULL, provider TEXT NOT NULL, reference TEXT NOT NULL,
      number INTEGER NOT NULL, operation TEXT NOT NULL, phase TEXT NOT NULL, status TEXT NOT NULL,
      freed INTEGER NOT NULL, kind INTEGER NOT NULL, id TEXT, amount INTEGER, requested INTEGER,
      currency TEXT, last_four TEXT, brand TEXT, merchant TEXT NOT NULL, content TEXT NOT NULL,
      key TEXT NOT NULL, result TEXT NOT NULL, reversal TEXT, next_action TEXT, fault TEXT,
      created INTEGER NOT NULL, updated INTEGER NOT NULL, sent INTEGER,
      UNIQUE (reference, provider, env, number)
    );
    CREATE TABLE preparation (row INTEGER PRIMARY KEY, text TEXT NOT NULL);
    CREATE TABLE history (
      attempt INTEGER NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL,
      phase TEXT NOT NULL, status TEXT NOT NULL, note TEXT NOT NULL,
      PRIMARY KEY (attempt, number)
    ) WITHOUT ROWID;
    CREATE INDEX attempt_by_id ON attempt (id) WHERE id IS NOT NULL;
    CREATE INDEX attempt_by_time ON attempt (created);
    CREATE INDEX attempt_by_status ON attempt (status, created);
    CREATE INDEX attempt_by_last_four ON attempt (last_four, created)
      WHERE last_four IS NOT NULL;
    CREATE INDEX attempt_by_amount ON attempt (amount, created)
    """

  package func lock(
    env: Env,
    provider: ProviderName,
    reference: String,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)? {
    try locks.take(
      "\(env.rawValue)/\(provider.text)/\(reference)",
      by: deadline,
      interruption: interruption
    )
  }

  package func latest(
    env: Env,
    provider: ProviderName,
    reference: String
  ) throws(Fault) -> Attempt? {
    let row = try database.first(
      AttemptRow.select
        + " WHERE env = ? AND provider = ? AND reference = ? ORDER BY number DESC LIMIT 1",
      [.text(env.rawValue), .text(provider.text), .text(reference)]
    )
    return try row.map { row throws(Fault) in try AttemptRow.attempt(row) }
  }

  package func attempts(
    matching handle: String,
    filter: AttemptFilter
  ) throws(Fault) -> [Attempt] {
    var rows: [[Database.Value]] = []
    let condition = Condition(filter)
    for column in ["reference", "a.id"] {
      try database.query(
        AttemptRow.select + " WHERE \(column) = ?" + condition.and + " ORDER BY a.row DESC",
        [.text(handle)] + condition.values
      ) { row in
        rows.append(row)
        return true
      }
    }
    var found: [Attempt] = []
    for row in rows {
      let attempt = try AttemptRow.attempt(row)
      if !found.contains(where: { $0.row == attempt.row }) { found.append(attempt) }
    }
    return found.sorted { $0.row > $1.row }
  }

  package func each(_ filter: AttemptFilter, _ body: (Attempt) -> Bool) throws(Fault) {
    let condition = Condition(filter)
    var problem: Fault?
    try database.query(
      AttemptRow.select + " WHERE 1" + condition.and + " ORDER BY created DESC, a.row DESC",
      condition.values
    ) { row in
      do throws(Fault) {
        return body(try AttemptRow.attempt(row))
      } catch {
        problem = error
        return false
      }
    }
    if let problem { throw problem }
  }

  package func count() throws(Fault) -> Int {
    try database.first("SELECT max(row) FROM attempt")?.first?.integer ?? 0
  }

  package func insert(_ attempt: Attempt) throws(Fault) -> Attempt {
    var written = attempt
    // Nothing has been sent yet: what is written here outlives the process, and may be lost with
    // the power. Everything from `sent` on is synced.
    try database.execute("PRAGMA synchronous = NORMAL")
    defer { try? database.execute("PRAGMA synchronous = FULL") }
    written.row = try database.transaction { () throws(Fault) in
      try database.query(AttemptRow.insert, AttemptRow.values(attempt.redacted(by: redactor)))
      let row = database.lastRow
      try note(row, attempt, "opened")
      return row
    }
    return written
  }

  package func note(_ attempt: Attempt, _ text: String) throws(Fault) {
    try database.execute("PRAGMA synchronous = NORMAL")
    defer { try? database.execute("PRAGMA synchronous = FULL") }
    try update(attempt, note: text)
  }

  package func requestStop(
    env: Env,
    provider: ProviderName,
    reference: String
  ) throws(Fault) {
    try stop(env, provider, reference).make()
  }

  package func isStopRequested(env: Env, provider: ProviderName, reference: String) -> Bool {
    stop(env, provider, reference).exists
  }

  package func forgetStop(env: Env, provider: ProviderName, reference: String) {
    stop(env, provider, reference).remove()
  }

  private func stop(_ env: Env, _ provider: ProviderName, _ reference: String) -> MarkFile {
    MarkFile(folder: folder, name: "\(env.rawValue)/\(provider.text)/\(reference)")
  }

  package func update(_ attempt: Attempt, note text: String) throws(Fault) {
    let mustErase = try database.transaction { () throws(Fault) in
      let row = Database.Value.integer(attempt.row)
      try writeChanges(attempt)
      try note(attempt.row, attempt, text)
      if let preparation = attempt.preparation {
        try database.query(
          "INSERT INTO preparation (row, text) VALUES (?, ?) "
            + "ON CONFLICT (row) DO UPDATE SET text = excluded.text",
          [row, .text(preparation)]
        )
        return false
      }
      let kept = try database.first("SELECT text FROM preparation WHERE row = ?", [row])
      guard let text = kept?.first?.text else { return false }
      try database.query("DELETE FROM preparation WHERE row = ?", [row])
      guard !text.hasPrefix(Attempt.plainMark) else { return false }
      // Where the mark cannot be made, the erasing below is all there is.
      try? unfinished.make()
      return true
    }
    guard mustErase else { return }
    // Another process may have finished its own meanwhile.
    try? unfinished.make()
    mustEraseLater.store(true, ordering: .relaxed)
    // The state is written by now: that the bytes of the old one cannot be erased yet, since somebody
    // reads, is no failure to write it.
    if !defersErasing { try? finishErasing() }
  }

  /// Writes the columns that changed: an index costs pages for every column of its that is set.
  private func writeChanges(_ attempt: Attempt) throws(Fault) {
    let row = Database.Value.integer(attempt.row)
    guard let before = try database.first(AttemptRow.select + " WHERE a.row = ?", [row]) else {
      throw Fault(
        .state,
        code: "state_unusable",
        "the journal has lost the attempt at \(attempt.reference.quotedForMessage)"
      )
    }
    let changes = AttemptRow.changes(from: before, to: attempt.redacted(by: redactor))
    guard !changes.isEmpty else { return }
    let columns = changes.map { "\($0.column) = ?" }.joined(separator: ", ")
    try database.query(
      "UPDATE attempt SET \(columns) WHERE row = ?",
      changes.map(\.value) + [row]
    )
  }

  /// Takes out of the files what is to be erased, where that was put off.
  package func finishErasing() throws(Fault) {
    guard mustEraseLater.exchange(false, ordering: .relaxed) else { return }
    do throws(Fault) {
      try erase()
    } catch {
      mustEraseLater.store(true, ordering: .relaxed)
      throw error
    }
  }

  /// Takes erased bytes out of the write-ahead log: everything goes to the database file, whose
  /// freed bytes `secure_delete` overwrote, and the log is cut to nothing.
  ///
  /// Whoever reads the journal meanwhile holds it up: after some tenths of a second it is left to the
  /// next command. Throws `state` then.
  func erase() throws(Fault) {
    try database.execute("PRAGMA busy_timeout = 100")
    defer { try? database.execute("PRAGMA busy_timeout = \(busyTimeout)") }
    for _ in 0..<(defersErasing ? 30 : 3) {
      let busy = try database.first("PRAGMA wal_checkpoint(TRUNCATE)")?.first?.integer
      if busy == 0 {
        unfinished.remove()
        return
      }
    }
    throw Fault(
      .state,
      code: "state_unusable",
      "the journal is being read: what was erased from it stays on the disk for now",
      hint: "any later command finishes it"
    )
  }

  /// How long a write waits for another's, in milliseconds: many writers at once take turns for longer
  /// than a single command waits.
  private var busyTimeout: Int32 { defersErasing ? 30_000 : 5000 }

  package func history(of attempt: Attempt) throws(Fault) -> [HistoryEntry] {
    var entries: [HistoryEntry] = []
    try database.query(
      "SELECT at, phase, status, note FROM history WHERE attempt = ? ORDER BY number",
      [.integer(attempt.row)]
    ) { row in
      entries.append(
        HistoryEntry(
          at: row[0].integer ?? 0,
          phase: row[1].text ?? "",
          status: row[2].text ?? "",
          note: row[3].text ?? ""
        )
      )
      return true
    }
    return entries
  }

  private func note(_ row: Int, _ attempt: Attempt, _ text: String) throws(Fault) {
    try database.query(
      "INSERT INTO history (attempt, number, at, phase, status, note) VALUES "
        + "(?, (SELECT count(*) FROM history WHERE attempt = ?), ?, ?, ?, ?)",
      [
        .integer(row), .integer(row), .integer(attempt.updatedAt), .text(attempt.phase.rawValue),
        .text(attempt.shownStatus.rawValue), .text(text),
      ]
    )
  }
}
