private import CLibraries
private import Platform
private import Synchronization
package import TenderModel

/// One connection to a SQLite file: statements with bound values, rows as values.
///
/// Every function throws a `state` fault that names the file.
@safe
package final class Database: @unchecked Sendable {
  // Unchecked: SQLite relies on one thread at a time (`SQLITE_OPEN_NOMUTEX`). One thread uses a connection, or
  // `group` makes several take turns.

  /// A value bound to a statement or read from a row.
  package enum Value: Sendable, Hashable {
    case null
    case integer(Int)
    case text(String)

    package init(_ text: String?) { self = text.map(Value.text) ?? .null }

    package init(_ number: Int?) { self = number.map(Value.integer) ?? .null }

    package init(_ truth: Bool) { self = .integer(truth ? 1 : 0) }

    package var text: String? {
      if case .text(let text) = self { text } else { nil }
    }

    package var integer: Int? {
      if case .integer(let number) = self { number } else { nil }
    }
  }

  private let path: String
  private let turn: WriterTurn
  /// The turns of the threads that share this connection; nil if one thread uses it.
  private let group: CommitGroup?
  private let handle: OpaquePointer
  private var statements: [Statement] = []
  /// Whether the last connection of this process leaves a short log.
  package var shortensLog = false

  /// Opens the file, or creates it. A link at its path is not followed, and its triggers and views do
  /// nothing.
  ///
  /// `isDurable`: a commit must survive a power failure.
  package convenience init(
    path: String,
    busyTimeout milliseconds: Int32 = 5000,
    isDurable: Bool = true
  ) throws(Fault) {
    try self.init(path, milliseconds, isDurable, nil)
  }

  private init(
    _ path: String,
    _ milliseconds: Int32,
    _ isDurable: Bool,
    _ group: CommitGroup?
  ) throws(Fault) {
    self.path = path
    self.group = group
    try Libraries.begin()
    var opened: OpaquePointer?
    let flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
    // The folder may be a link, which SQLite would not follow either.
    let resolved = Self.resolved(path)
    turn = WriterTurn.of(resolved)
    Self.configure(resolved, isDurable)
    let status = unsafe sqlite3_open_v2(resolved, &opened, flags, nil)
    guard status == SQLITE_OK, let opened = unsafe opened,
      unsafe tender_sqlite_defend(opened) == SQLITE_OK
    else {
      let isLink = status & 0xff == SQLITE_CANTOPEN && Self.isLink(path)
      let text = isLink ? "it is a link" : unsafe String(cString: sqlite3_errstr(status))
      unsafe sqlite3_close_v2(opened)
      throw Self.fault(path, text)
    }
    unsafe handle = opened
    unsafe sqlite3_busy_timeout(opened, milliseconds)
    // Removing the log at every close, and creating it again, costs a short command a third of its time.
    unsafe tender_sqlite_keep_log(opened)
    turn.join()
  }

  private struct Connection: Sendable {
    weak var database: Database?
  }

  /// The shared connections, by file.
  private static let connections = Mutex<[String: Connection]>([:])

  /// Returns the connection to a durable file that all threads of the process share, and whether it is new.
  ///
  /// What a thread reads there may be in a transaction that is not committed yet.
  package static func shared(
    path: String,
    busyTimeout milliseconds: Int32
  ) throws(Fault) -> (database: Database, isNew: Bool) {
    // Another file at the path is another database.
    let known = place(of: path).flatMap { place in
      connections.withLock { $0[place]?.database }
    }
    if let known { return (known, false) }
    let made = try Database(path, milliseconds, true, CommitGroup())
    if let place = place(of: path) {
      connections.withLock { $0[place] = Connection(database: made) }
    }
    return (made, true)
  }

  /// The identity of the file at a path; nil without one.
  private static func place(of path: String) -> String? {
    FileGuard.status(path).map { "\($0.st_dev) \($0.st_ino)" }
  }

  private struct Configuration: Sendable {
    var isDone = false
    /// Whether folders are synced with their logs; nil before the first durable file.
    var syncsFolders: Bool?
  }

  private static let configuration = Mutex(Configuration())

  /// Configures the library before the first connection of the process. Folders are synced from the first
  /// file on that has no log yet.
  private static func configure(_ path: String, _ isDurable: Bool) {
    configuration.withLock { configuration in
      if !configuration.isDone {
        configuration.isDone = true
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        _ = unsafe tender_sqlite_configure(folder)
      }
      guard isDurable, configuration.syncsFolders != true else { return }
      // If the file has tables, the process that created it has already synced the log with its folder.
      let hasTables = FileGuard.status(path).map { $0.st_size > 8192 } ?? false
      let hasLog = Environment.exists(path + "-wal")
      let isNew = !(hasTables && hasLog)
      if configuration.syncsFolders != isNew { _ = tender_sqlite_sync_folder(isNew ? 1 : 0) }
      configuration.syncsFolders = isNew
    }
  }

  private static func isLink(_ path: String) -> Bool {
    FileGuard.status(path, followsLink: false).map { $0.st_mode & S_IFMT == S_IFLNK } ?? false
  }

  /// The path with the links of its folder resolved.
  private static func resolved(_ path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    let folder = slash == path.startIndex ? "/" : String(path[..<slash])
    return FileGuard.real(folder).map { $0 + String(path[slash...]) } ?? path
  }

  deinit {
    if turn.leave(), shortensLog { shortenLog() }
    // The statements must end before the connection, so that it can remove the log.
    statements = []
    unsafe sqlite3_close_v2(handle)
  }

  /// Writes the log to the file and begins a new one, unless another process uses it.
  ///
  /// The first commit of a log has one more sync. It is made here, so that the next command does not wait for it.
  private func shortenLog() {
    try? execute("PRAGMA busy_timeout = 0")
    guard let result = try? first("PRAGMA wal_checkpoint(TRUNCATE)"), result.first == .integer(0),
      let version = try? first("PRAGMA user_version")?.first?.integer
    else { return }
    try? execute("PRAGMA user_version = \(version)")
  }

  /// The number of the row inserted last.
  package var lastRow: Int { unsafe Int(sqlite3_last_insert_rowid(handle)) }

  /// Runs statements without rows, separated by semicolons.
  package func execute(_ script: String) throws(Fault) {
    group?.take()
    defer { group?.end() }
    let status = unsafe sqlite3_exec(handle, script, nil, nil, nil)
    guard status == SQLITE_OK else { throw fault() }
  }

  /// Switches to a write-ahead log. If several processes do so at the same moment, the file is locked, and
  /// SQLite does not wait. So this tries again for some seconds.
  package func useLog() throws(Fault) {
    for _ in 0..<500 {
      if (try? execute("PRAGMA journal_mode = WAL")) != nil { return }
      sqlite3_sleep(10)
    }
    try execute("PRAGMA journal_mode = WAL")
  }

  /// Whether the file uses a write-ahead log.
  package var isLogged: Bool {
    get throws(Fault) { try first("PRAGMA journal_mode")?.first?.text == "wal" }
  }

  /// Waits, so that other processes can use the file.
  package func pause(milliseconds: Int) { sqlite3_sleep(Int32(milliseconds)) }

  /// Runs one statement and passes each row to `body`, until it returns false.
  package func query(
    _ sql: String,
    _ values: [Value] = [],
    _ body: ([Value]) -> Bool = { _ in true }
  ) throws(Fault) {
    group?.take()
    defer { group?.end() }
    let statement = try prepare(sql)
    defer { statement.reset() }
    for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
    while true {
      switch statement.step() {
      case SQLITE_ROW: if !body(statement.row) { return }
      case SQLITE_DONE: return
      default: throw fault()
      }
    }
  }

  /// The first row of a statement; nil without rows.
  package func first(_ sql: String, _ values: [Value] = []) throws(Fault) -> [Value]? {
    var found: [Value]?
    try query(sql, values) { row in
      found = row
      return false
    }
    return found
  }

  /// All rows of a statement that returns few.
  package func all(_ sql: String, _ values: [Value] = []) throws(Fault) -> [[Value]] {
    var found: [[Value]] = []
    try query(sql, values) { row in
      found.append(row)
      return true
    }
    return found
  }

  /// Runs `body` in one transaction that has the write lock from its beginning.
  ///
  /// Threads that share a connection may commit theirs together. An error in one body undoes what that body did. A
  /// commit that fails undoes all of them, and each thread gets the fault. `isDurable`: it is on the disk when this
  /// returns. A connection of one thread syncs by its own setting. If a sync failed, others see the transaction, but
  /// it may not survive a power failure.
  package func transaction<Result>(
    isDurable: Bool = false,
    _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    guard let group else { return try commit(body) }
    let (result, number) = try join(group, isDurable, body)
    var log: UnsafeMutablePointer<sqlite3_file>?
    let problem = group.wait(
      for: number,
      commit: { () throws(Fault) in
        do throws(Fault) {
          try query("COMMIT")
          unsafe log = tender_sqlite_log(handle)
        } catch {
          try? execute("ROLLBACK")
          throw error
        }
      },
      sync: { () throws(Fault) in
        guard unsafe tender_sqlite_sync(log) != SQLITE_OK else { return }
        throw Self.fault(path, unsafe String(cString: sqlite3_errstr(SQLITE_IOERR)))
      }
    )
    if let problem { throw problem }
    return result
  }

  /// Runs `body` in the transaction that is open, or begins one. Returns the number of the transaction.
  private func join<Result>(
    _ group: CommitGroup,
    _ isDurable: Bool,
    _ body: () throws(Fault) -> Result
  ) throws(Fault) -> (Result, number: Int) {
    group.take()
    defer { group.end() }
    let isFirst = !group.isOpen
    try query(isFirst ? "BEGIN IMMEDIATE" : "SAVEPOINT own")
    do throws(Fault) {
      let result = try body()
      if !isFirst { try query("RELEASE own") }
      return (result, group.join(needsDisk: isDurable))
    } catch {
      let problem = fault()
      if isFirst {
        try? execute("ROLLBACK")
      } else if (try? execute("ROLLBACK TO own; RELEASE own")) == nil {
        // Some errors, such as a full disk, end the whole transaction.
        try? execute("ROLLBACK")
        group.lose(problem)
      }
      throw error
    }
  }

  /// Runs `body`, whose statements all read the same state, even if others write meanwhile.
  package func atOneMoment<Result>(
    _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    group?.take()
    defer { group?.end() }
    guard unsafe sqlite3_get_autocommit(handle) != 0 else { return try body() }
    try query("BEGIN")
    // Nothing was written, so the commit only ends the transaction.
    defer { try? query("COMMIT") }
    return try body()
  }

  private func commit<Result>(_ body: () throws(Fault) -> Result) throws(Fault) -> Result {
    turn.lock.take()
    defer { turn.lock.end() }
    try query("BEGIN IMMEDIATE")
    do throws(Fault) {
      let result = try body()
      try query("COMMIT")
      return result
    } catch {
      try? execute("ROLLBACK")
      throw error
    }
  }

  private func prepare(_ sql: String) throws(Fault) -> Statement {
    let length = sql.utf8.count
    if let known = statements.first(where: { $0.length == length && $0.sql == sql }) {
      return known
    }
    var compiled: OpaquePointer?
    let status = unsafe sqlite3_prepare_v2(handle, sql, -1, &compiled, nil)
    guard status == SQLITE_OK, let compiled = unsafe compiled else { throw fault() }
    let statement = unsafe Statement(sql, compiled)
    statements.append(statement)
    return statement
  }

  private func fault() -> Fault {
    Self.fault(path, unsafe String(cString: sqlite3_errmsg(handle)))
  }

  private static func fault(_ path: String, _ text: String) -> Fault {
    .state(
      "state_unusable",
      "cannot use \(path): \(text)",
      "nothing was sent; make room or access"
    )
  }
}

/// One compiled statement. Its release finalizes it.
@safe
private final class Statement {
  let sql: String
  /// The length of the text, which nearly always tells it from others.
  let length: Int
  private let handle: OpaquePointer

  init(_ sql: String, _ handle: OpaquePointer) {
    (self.sql, length) = (sql, sql.utf8.count)
    unsafe self.handle = handle
  }

  deinit { unsafe sqlite3_finalize(handle) }

  func step() -> Int32 { unsafe sqlite3_step(handle) }

  func reset() {
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
  }

  func bind(_ value: Database.Value, at index: Int32) {
    switch value {
    case .null: unsafe sqlite3_bind_null(handle, index)
    case .integer(let number): unsafe sqlite3_bind_int64(handle, index, Int64(number))
    case .text(let text):
      _ = unsafe tender_sqlite_bind_text(handle, index, text, Int32(text.utf8.count))
    }
  }

  var row: [Database.Value] {
    let count = unsafe sqlite3_column_count(handle)
    return (0..<count).map { column in
      switch unsafe sqlite3_column_type(handle, column) {
      case SQLITE_INTEGER:
        let number = unsafe sqlite3_column_int64(handle, column)
        return .integer(Int(number))
      case SQLITE_NULL: return .null
      default:
        guard let text = unsafe sqlite3_column_text(handle, column) else { return .null }
        // The length is given, because a text can contain a zero byte.
        let bytes = unsafe UnsafeBufferPointer(
          start: text,
          count: Int(sqlite3_column_bytes(handle, column))
        )
        return .text(unsafe String(decoding: bytes, as: UTF8.self))
      }
    }
  }
}
