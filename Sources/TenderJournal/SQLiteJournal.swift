package import TenderEngine
package import TenderModel
import TenderSystem

/// The journal in an SQLite file: write-ahead log, synced at every commit, erased bytes overwritten.
///
/// The lines of the history form a chain. A mark outside of the folder has the chain's position.
package final class SQLiteJournal: TableJournal, @unchecked Sendable {
  // Unchecked: one thread uses a journal. Each worker of a batch has a separate one, and their database is one
  // connection.

  let database: Database
  let folder: String
  package let redactor: Redactor
  let mark: HighWaterMark?
  package let by: String
  let locks: LockFile
  /// Whether many threads of the process write. Then they share a connection and its commits.
  let sharesWork: Bool
  /// The opened database file. Another file at its path is another journal.
  let file: PlainFile.Identity?
  package private(set) var isOutside = false
  /// Whether it has payments that no simulator made. A loss of these is always noticed.
  private(set) var isReal = false
  /// The file of the last locks.
  private(set) var lockFile: PlainFile.Identity?
  /// The payment that this journal wrote last, so that it is not read again.
  var last: (row: Int, stored: Stored)?
  /// The journal's name, created with it. An accepted copy gets a new one.
  var name = ""

  /// One thread opens a shared journal at a time. The first one prepares it for all.
  private static let opening = ThreadLock()

  /// Opens `journal.db` and `journal.lock` in a folder, and creates them if they are missing.
  ///
  /// Every text but a preparation is redacted first, because providers may echo secrets. `isMarked` uses a
  /// high-water mark, beside the folder or in `markFolder`. `patience` is the wait for another writer, in
  /// milliseconds. Throws `state` if the files cannot be used or are from a newer version. Only `checkWhole`
  /// reports a loss.
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
    if sharesWork { Self.opening.take() }
    defer { if sharesWork { Self.opening.end() } }
    let path = folder + "/journal.db"
    // The process that creates the files holds this lock until all exist.
    var opening: Int32?
    defer { if let opening { Environment.close(opening) } }
    if !Environment.exists(path) || !Environment.exists(path + "-wal") {
      let file = try PlainFile.open(folder + "/journal.lock")
      opening = file
      _ = PlainFile.lock(file, at: LockFile.opening, upTo: 5000)
    }
    let isNew = !Environment.exists(path)
    let isFirst: Bool
    if sharesWork {
      (database, isFirst) = try Database.shared(path: path, busyTimeout: patience ?? 30_000)
    } else {
      (database, isFirst) = (try Database(path: path, busyTimeout: patience ?? 5000), true)
    }
    locks = LockFile(path: folder + "/journal.lock")
    mark = isMarked ? HighWaterMark(of: folder, in: markFolder) : nil
    file = PlainFile.identity(at: path)
    guard isFirst else {
      name = try value(.name).text ?? ""
      return
    }
    // Erased bytes must be gone from the pages too, and every commit must be on the disk.
    // A shared connection syncs after a commit, without its lock. Each command reads the log from its
    // beginning. Keeping it short costs look-ups less than emptying it would cost payments.
    try database.execute(
      "PRAGMA secure_delete = ON; PRAGMA synchronous = \(ownSync); "
        + "PRAGMA wal_autocheckpoint = \(sharesWork ? 1000 : 250)"
    )
    let found = try versionFound()
    if found == 0 { try create() } else if found < Self.version { try migrate() }
    // A restored backup has no log yet.
    if try !database.isLogged { try database.useLog() }
    try compareWithMark(isNew: isNew, opening: opening)
    try compareWithPlace()
    WaitingOutcome.addAll(at: folder + "/journal.aside", of: name, to: self)
    // An earlier process ended before the deleted bytes were erased.
    if Environment.exists(unfinished) { try? erase() }
    try takeUpSeals()
    // Without this, the next command would read the long log of a batch, and sync it.
    database.shortensLog = sharesWork
  }

  /// Returns the version of the file's tables; 0 for a new file. Throws `state` for one that cannot be used.
  func versionFound() throws(Fault) -> Int {
    let found = try number("PRAGMA user_version") ?? 0
    guard found <= Self.version else {
      throw .state(
        "journal_newer",
        "\(folder)/journal.db was written by a newer version of tender",
        "use that version; with another --state-dir its payments would be charged again"
      )
    }
    guard found == 0 || found >= Self.firstVersion else {
      throw .older("\(folder)/journal.db", version: found)
    }
    return found
  }

  /// Records that requests go elsewhere than to the simulator of this folder from now on.
  package func reachesOutside(_ env: Env) {
    isOutside = true
    isReal = isReal || env != .simulator
  }

  /// The empty file that marks an unfinished erasure. It is created before the change that needs it.
  var unfinished: String { folder + "/journal.erase" }

  package func lock(
    _ key: ReferenceKey,
    opening first: Opening?,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    let held = try locks.take(key.description, by: deadline, interruption: interruption)
    if let held { lockFile = held.identity }
    return held
  }

  package func setStop(_ key: ReferenceKey, isRequested: Bool) throws(Fault) {
    if isRequested { try PlainFile.touch(stop(key)) } else { PlainFile.remove(stop(key)) }
  }

  package func isStopRequested(_ key: ReferenceKey) -> Bool { Environment.exists(stop(key)) }

  /// The empty file that requests the process of a reference to stop.
  private func stop(_ key: ReferenceKey) -> String {
    folder + "/stop-" + String(LockFile.position(of: key.description), radix: 16)
  }

  /// A kernel lock does not tell which process holds it, and lasts as long as that process.
  package func worker(_ key: ReferenceKey) -> String? { nil }

  package var window: SendWindow? { nil }

  /// Erases deleted bytes from the write-ahead log: it is written to the database file, where `secure_delete`
  /// overwrote the freed bytes, and then cut to nothing.
  ///
  /// A reader can delay this. After some tenths of a second it is left to the next command, and this throws
  /// `state`.
  func erase() throws(Fault) {
    // On a shared connection, another thread's transaction may be open.
    let database = try Database(path: folder + "/journal.db", busyTimeout: 100)
    for _ in 0..<(sharesWork ? 30 : 3) {
      guard try database.first("PRAGMA wal_checkpoint(TRUNCATE)")?.first != .integer(0) else {
        PlainFile.remove(unfinished)
        if try !waitsForSeals { PlainFile.remove(seals) }
        return
      }
    }
    throw .state(
      "state_unusable",
      "the journal is being read: erased data stays on the disk for now",
      "any later command finishes it"
    )
  }

  /// The setting with which a durable commit syncs by itself.
  var ownSync: String { sharesWork ? "NORMAL" : "FULL" }

  // MARK: Keys

  private var keyFile: String { folder + "/journal.key" }

  package var key: JournalKey? {
    guard var bytes = try? FingerprintKey.bytes(at: keyFile) else { return nil }
    return JournalKey(consuming: &bytes)
  }

  package func fingerprintKey() throws(Fault) -> (name: String, bytes: [UInt8])? {
    let key = try FingerprintKey.bytes(at: keyFile)
    return (String(Checksum.of([.text("key"), .text("")], key: key).prefix(8)), key)
  }
}
