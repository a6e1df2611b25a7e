package import TenderEngine
package import TenderModel
import TenderSystem

/// The journal in a SQLite file: write-ahead log, synced at every commit, erased bytes overwritten.
///
/// Each row has a checksum, the lines of the history form a chain, and a mark outside of the folder
/// says how far the chain had come.
package final class SQLiteJournal: Journal, @unchecked Sendable {
  // Unchecked: a journal is one thread's, as its database is. The worker of a batch and of look-ups opens its own,
  // and they meet in the file's locks.

  let database: Database
  let folder: String
  let redactor: Redactor
  let mark: HighWaterMark?
  let aside: SetAside
  let keys: SealingKeys
  /// Who writes, for the history: `USER@MACHINE`.
  let by: String
  let locks: LockFile
  /// Whether many threads of the process write: one sync then serves all who wait for one, more keys are made
  /// at a time, and who writes says when what is erased must be gone for good.
  let sharesWork: Bool
  var mustEraseLater = false
  /// The database file as it was opened: another at its path is another journal.
  let file: PlainFile.Identity?
  /// Whether it sends to anybody but the simulator of its own folder.
  var isOutside = false
  /// The file in which locks were taken last.
  private(set) var lockFile: PlainFile.Identity?
  /// This journal's own name, made with it; a copy that is accepted gets a new one.
  var name = ""
  /// Outcomes that wait for the database, by the row of their payment.
  var waiting: [Int: Waiting] = [:]
  /// The terms of the payment that was written last.
  var indexed: Indexed?

  /// The terms of the payment that this process wrote last.
  struct Indexed {
    var row: Int
    var version: Int
    var terms: Set<String>
  }

  /// An outcome that waits for the database.
  struct Waiting {
    /// As every reader sees it.
    var payment: Payment
    /// The version in the database over which it is to be written.
    var over: Int
    /// What differs from that version.
    var changed: Set<Int>
    var seen: [Observation]
  }

  /// Opens `journal.db` and `journal.lock` in a folder, making them where they are not there.
  ///
  /// Every text but a preparation passes the redactor first: providers echo what they like.
  /// `isMarked` keeps a high-water mark, beside the folder or in `markFolder`; `patience` is how long another writer is waited
  /// for, in milliseconds. Throws `state` where they cannot be used, or
  /// come from a newer version. What it has forgotten is told by `checkWhole` alone.
  package init(
    folder: String,
    redactor: Redactor,
    sharesWork: Bool = false,
    isMarked: Bool = false,
    markFolder: String? = nil,
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
      _ = PlainFile.lock(file, at: LockFile.opening, upTo: 5000)
      lacksLog = PlainFile.exists(path) && !PlainFile.exists(path + "-wal")
    }
    let isNew = !PlainFile.exists(path)
    database = try Database(path: path, busyTimeout: patience ?? (sharesWork ? 30_000 : 5000))
    locks = LockFile(path: folder + "/journal.lock")
    aside = SetAside(path: folder + "/journal.aside")
    keys = SealingKeys(folder: folder)
    mark = isMarked ? HighWaterMark(of: folder, in: markFolder) : nil
    file = PlainFile.identity(at: path)
    // Erased bytes must be gone from the pages too; every commit must be on the disk.
    // Where many write, one sync after the commits is for all of them. Every command reads the log from its
    // beginning: a short one costs the look-ups less than its emptying costs the payments.
    try database.execute(
      "PRAGMA secure_delete = ON; PRAGMA synchronous = \(ownSync); "
        + "PRAGMA wal_autocheckpoint = \(sharesWork ? 1000 : 250)"
    )
    let found = try versionFound()
    // Its header says that it belongs with a log, which no longer lies beside it.
    // Versions 1 and 2 put it away at every close.
    var isLogLost = lacksLog && found > 2
    if isLogLost { isLogLost = try database.isLogged }
    if found == 0 { try create() } else if found < Self.version { try migrate() }
    // A backup that was put in place has no log yet.
    if try !database.isLogged { try database.useLog() }
    try compareWithMark(isNew: isNew, isLogLost: isLogLost, opening: opening)
    try compareWithPlace()
    takeInWhatWaits()
    try database.refuseObjects(otherThan: Self.objects)
    destroyBurntKeys()
    // Somebody was killed, or had to leave, before the bytes of what was taken out were gone.
    if unfinished.exists { try? erase() }
  }

  /// The version of the schema that the file has, 0 for a new file.
  private func versionFound() throws(Fault) -> Int {
    let found = try number("PRAGMA user_version") ?? 0
    guard found <= Self.version else {
      throw Fault(
        .state,
        code: "journal_newer",
        "\(folder)/journal.db was written by a newer version of tender",
        hint: "use that version, or another --state-dir"
      )
    }
    return found
  }

  /// Says that it sends to others than the simulator of its own folder from now on.
  package func reachesOutside() { isOutside = true }

  /// The mark of an erasure that is not finished: it is there before the change that needs it.
  var unfinished: MarkFile { MarkFile(path: folder + "/journal.erase") }

  package func lock(
    _ key: ReferenceKey,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    let held = try locks.take(key.description, by: deadline, interruption: interruption)
    if let held {
      lockFile = held.identity
      // Who had it before may have had to set its outcome aside.
      takeInWhatWaits()
    }
    return held
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
    let position = LockFile.position(of: key.description)
    return MarkFile(path: folder + "/stop-" + String(position, radix: 16))
  }

  /// Takes out of the files what is to be erased, where that was put off.
  package func finishErasing() throws(Fault) {
    guard mustEraseLater else { return }
    try erase()
    mustEraseLater = false
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
      guard try number("PRAGMA wal_checkpoint(TRUNCATE)") != 0 else {
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
}
