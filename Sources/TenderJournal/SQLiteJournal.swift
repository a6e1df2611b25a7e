import Synchronization
package import TenderDatabase
package import TenderEngine
package import TenderModel

/// The journal in a SQLite file: write-ahead log, synced at every commit, erased bytes overwritten.
///
/// Each row has a checksum, the lines of the history form a chain, and a mark outside of the folder
/// says how far the chain had come.
package final class SQLiteJournal: Journal {
  let database: Database
  let folder: String
  let redactor: Redactor
  let mark: HighWaterMark?
  let aside: SetAside
  let keys: SealingKeys
  /// Who writes, for the history: `USER@MACHINE`.
  let by: String
  private let locks: LockFile
  /// Whether many threads of the process write: one sync then serves all who wait for one, more keys are made
  /// at a time, and who writes says when what is erased must be gone for good.
  let sharesWork: Bool
  let mustEraseLater = Atomic(false)
  /// The database file as it was opened: another at its path is another journal.
  let file: PlainFile.Identity?
  private let state = Mutex(State())
  /// Whether it sends to anybody but the simulator of its own folder.
  let isOutside = Atomic(false)

  private struct State: Sendable {
    var lockFile: PlainFile.Identity?
    var name = ""
    var waiting: [Int: Attempt] = [:]
    var bases: [Int: Int] = [:]
  }

  /// The file in which locks were taken last.
  private var lockFile: PlainFile.Identity? {
    get { state.withLock { $0.lockFile } }
    set { state.withLock { $0.lockFile = newValue } }
  }

  /// This journal's own name, made with it.
  var name: String {
    get { state.withLock { $0.name } }
    set { state.withLock { $0.name = newValue } }
  }

  /// Outcomes that wait for the database, by the row of their attempt.
  var waiting: [Int: Attempt] {
    get { state.withLock { $0.waiting } }
    set { state.withLock { $0.waiting = newValue } }
  }

  /// The versions in the database over which what waits is to be written, by row.
  var bases: [Int: Int] {
    get { state.withLock { $0.bases } }
    set { state.withLock { $0.bases = newValue } }
  }

  /// Opens `journal.db` and `journal.lock` in a folder, making them where they are not there.
  ///
  /// Every text but a preparation passes the redactor first: providers echo what they like.
  /// `isMarked` keeps a high-water mark beside the folder; `patience` is how long another writer is waited
  /// for, in milliseconds. Throws `state` where they cannot be used, or
  /// come from a newer version. What it has forgotten is told by `checkWhole` alone.
  package init(
    folder: String,
    redactor: Redactor,
    sharesWork: Bool = false,
    isMarked: Bool = false,
    by: String = "",
    patience: Int32? = nil
  ) throws(Fault) {
    self.by = by
    self.redactor = redactor
    self.sharesWork = sharesWork
    self.folder = folder
    let path = folder + "/journal.db"
    var lacksLog = PlainFile.exists(path) && !PlainFile.exists(path + "-wal")
    // Whoever makes the files holds this until they are all there.
    var opening: Int32?
    defer { if let opening { PlainFile.close(opening) } }
    if lacksLog || !PlainFile.exists(path) {
      let file = try PlainFile.open(folder + "/journal.lock")
      opening = file
      _ = PlainFile.lock(file, at: LockFile.opening, waits: true)
      lacksLog = PlainFile.exists(path) && !PlainFile.exists(path + "-wal")
    }
    let isNew = !PlainFile.exists(path)
    database = try Database(path: path, busyTimeout: patience ?? (sharesWork ? 30_000 : 5000))
    locks = LockFile(path: folder + "/journal.lock")
    aside = SetAside(path: folder + "/journal.aside")
    keys = SealingKeys(folder: folder)
    mark = isMarked ? HighWaterMark(of: folder) : nil
    file = PlainFile.identity(at: path)
    // Erased bytes must be gone from the pages too; every commit must be on the disk.
    // Where many write, one sync after the commits is for all of them. Every command reads the log from its
    // beginning: a short one costs the look-ups less than its emptying costs the payments.
    try database.execute(
      "PRAGMA secure_delete = ON; PRAGMA synchronous = \(ownSync); "
        + "PRAGMA wal_autocheckpoint = \(sharesWork ? 1000 : 250)"
    )
    let found = try database.first("PRAGMA user_version")?.first?.integer ?? 0
    guard found <= Self.version else {
      throw Fault(
        .state,
        code: "journal_newer",
        "\(folder)/journal.db was written by a newer version of tender",
        hint: "use that version, or another --state-dir"
      )
    }
    // Its header says that it belongs with a log, which no longer lies beside it.
    var isLogLost = lacksLog && found == Self.version
    if isLogLost { isLogLost = try database.isLogged }
    if found == 0 { try create() } else if found < Self.version { try migrate() }
    // A backup that was put in place has no log yet.
    if try !database.isLogged { try database.useLog() }
    try compareWithMark(isNew: isNew, isLogLost: isLogLost, opening: opening)
    takeInWhatWaits()
    try database.refuseObjects(otherThan: Self.objects)
    destroyBurntKeys()
    // Somebody was killed, or had to leave, before the bytes of what was taken out were gone.
    if unfinished.exists { try? erase() }
  }

  /// Says that it sends to others than the simulator of its own folder from now on.
  package func reachesOutside() { isOutside.store(true, ordering: .relaxed) }

  /// The mark of an erasure that is not finished: it is there before the change that needs it.
  var unfinished: MarkFile { MarkFile(path: folder + "/journal.erase") }

  /// The attempt of a row, or what waits to be written there.
  func attempt(_ row: [Database.Value]) throws(Fault) -> Attempt {
    let found = try opened(AttemptRow.attempt(row))
    guard let later = waiting[found.row], later.version > found.version else { return found }
    return later
  }

  package func lock(
    _ key: ReferenceKey,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)? {
    let held = try locks.take(key.description, by: deadline, interruption: interruption)
    if let held {
      lockFile = held.identity
      // Who had it before may have had to set its outcome aside.
      takeInWhatWaits()
    }
    return held
  }

  /// Throws where the file of the locks is another than the one whose locks are held: then others may
  /// work on the same references.
  func checkLockFile() throws(Fault) {
    guard lockFile == nil || PlainFile.identity(at: locks.path) == lockFile else {
      throw .moved(locks.path)
    }
  }

  package func latest(_ key: ReferenceKey) throws(Fault) -> Attempt? {
    let row = try database.first(
      AttemptRow.select
        + " WHERE env = ? AND provider = ? AND reference = ? ORDER BY number DESC LIMIT 1",
      [.text(key.env.rawValue), .text(key.provider.text), .text(key.reference.text)]
    )
    return try row.map { row throws(Fault) in try attempt(row) }
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
      let attempt = try attempt(row)
      if !found.contains(where: { $0.row == attempt.row }) { found.append(attempt) }
    }
    // Another journal's attempts were taken over in any order.
    return found.sorted { ($0.number, $0.createdAt, $0.row) > ($1.number, $1.createdAt, $1.row) }
  }

  /// What a filter's attempts are read with: their rows' numbers alone where an index names candidates.
  package static func selection(
    _ filter: AttemptFilter
  ) -> (sql: String, values: [Database.Value], isCandidates: Bool, isSorted: Bool) {
    if let found = Condition.candidates(filter) {
      return (found.sql, found.values, true, found.isSorted)
    }
    let condition = Condition(filter)
    let sql = AttemptRow.select + " WHERE 1" + condition.and + " ORDER BY created DESC, a.row DESC"
    return (sql, condition.values, false, true)
  }

  package func each(_ filter: AttemptFilter, _ body: (Attempt) -> Bool) throws(Fault) {
    let (sql, values, isCandidates, isSorted) = Self.selection(filter)
    if isCandidates { return try each(of: sql, values, isSorted: isSorted, filter, body) }
    var problem: Fault?
    try database.query(sql, values) { row in
      do throws(Fault) {
        let found = try attempt(row)
        return filter.lets(found) ? body(found) : true
      } catch {
        problem = error
        return false
      }
    }
    if let problem { throw problem }
  }

  /// Goes through candidates by their rows, newest first: as they come where they are sorted, else sorted by
  /// two numbers each.
  private func each(
    of sql: String,
    _ values: [Database.Value],
    isSorted: Bool,
    _ filter: AttemptFilter,
    _ body: (Attempt) -> Bool
  ) throws(Fault) {
    var problem: Fault?
    func look(_ row: Int) -> Bool {
      do throws(Fault) {
        let select = AttemptRow.select + " WHERE a.row = ?"
        guard let values = try database.first(select, [.integer(row)]) else { return true }
        let found = try attempt(values)
        return filter.lets(found) ? body(found) : true
      } catch {
        problem = error
        return false
      }
    }
    var found: [(created: Int, row: Int)] = []
    try database.query(sql, values) { row in
      guard let number = row[0].integer else { return true }
      if isSorted { return look(number) }
      found.append((row[1].integer ?? 0, number))
      return true
    }
    var last: Int?
    for candidate in found.sorted(by: >) where candidate.row != last {
      last = candidate.row
      guard look(candidate.row) else { break }
    }
    if let problem { throw problem }
  }

  package func count(_ filter: AttemptFilter, upTo limit: Int) throws(Fault) -> Int {
    let condition = Condition(filter)
    if waiting.isEmpty, filter.isOfOneTerm, case .exactly(let term)? = filter.query {
      let row = try database.first(
        "SELECT count(*) FROM (SELECT 1 FROM term WHERE text = ? LIMIT ?)",
        [.text(term), .integer(limit)]
      )
      return row?.first?.integer ?? 0
    }
    guard filter.query == nil, filter.handle == nil, waiting.isEmpty else {
      return try counted(filter, upTo: limit)
    }
    let row = try database.first(
      "SELECT count(*) FROM (SELECT 1 FROM attempt a WHERE 1\(condition.and) LIMIT ?)",
      condition.values + [.integer(limit)]
    )
    return row?.first?.integer ?? 0
  }

  package func count() throws(Fault) -> Int {
    try database.first("SELECT max(row) FROM attempt")?.first?.integer ?? 0
  }

  package func requestStop(_ key: ReferenceKey) throws(Fault) {
    try stop(key).make()
  }

  package func isStopRequested(_ key: ReferenceKey) -> Bool {
    stop(key).exists
  }

  package func forgetStop(_ key: ReferenceKey) {
    stop(key).remove()
  }

  private func stop(_ key: ReferenceKey) -> MarkFile {
    MarkFile(folder: folder, name: key.description)
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
    for _ in 0..<(sharesWork ? 30 : 3) {
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

  /// What a commit that must survive the power syncs by itself.
  var ownSync: String { sharesWork ? "NORMAL" : "FULL" }

  /// How long a write waits for another's, in milliseconds: many writers at once take turns for longer
  /// than a single command waits.
  private var busyTimeout: Int32 { sharesWork ? 30_000 : 5000 }

  package func history(of attempt: Attempt) throws(Fault) -> [HistoryEntry] {
    var entries: [HistoryEntry] = []
    try database.query(
      "SELECT at, phase, status, note, by FROM history WHERE attempt = ? ORDER BY line",
      [.integer(attempt.row)]
    ) { row in
      entries.append(
        HistoryEntry(
          at: row[0].integer ?? 0,
          phase: row[1].text ?? "",
          status: row[2].text ?? "",
          note: row[3].text ?? "",
          by: row[4].text
        )
      )
      return true
    }
    return entries
  }
}
