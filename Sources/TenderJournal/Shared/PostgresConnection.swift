internal import CLibraries
private import Platform
import TenderEngine
import TenderModel
import TenderSystem

/// A connection to PostgreSQL over libpq. Every wait has a deadline.
///
/// Statements that are passed together are sent together and are one transaction, which ends with their
/// answers. So no session state is needed, and a connection pooler can be used. Prepared statements save time
/// where the server has them; a pooler's server may not.
@safe final class PostgresConnection {
  struct Failure: Error {
    /// The server's code (SQLSTATE, PostgreSQL's manual, appendix A); nil if there was no answer.
    let code: String?
    let text: String
    /// Whether the connection ended before the answer. The statements may have been executed.
    var isLost = false
    /// Whether the server warned that a commit is not confirmed, or does not answer. It may wait for its
    /// standby.
    var isUnconfirmed = false
    /// Whether a signal or `--deadline` ended the wait.
    var isStopped = false

    /// Our code for a problem on this machine (SQLSTATE: system error).
    static let here = ["58000"][0]

    /// Whether the same statements may succeed a moment later, on this or another server.
    var isPassing: Bool {
      guard let code else { return !Self.lasting.contains { text.contains($0) } }
      // The connection was lost; the server is starting, shutting down or full; a transaction was rolled
      // back.
      return code.hasPrefix("08") || code.hasPrefix("57P0") || code.hasPrefix("40")
        || ["25006", "53300", "55000"].contains(code)
    }

    /// Texts of libpq for errors that a retry cannot fix. The codes of a refused connection are only in the
    /// text (SQLSTATE, classes 28 and 3D). libpq's errors have none.
    private static let lasting = [
      ":  28000: ", ":  28P01: ", ":  3D000: ", "SSL", "certificate", "password",
      "translate host name", "invalid",
    ]

    /// The tables have another version. The first statement divides by zero then (SQLSTATE 22012).
    var isOtherVersion: Bool { code.map(["22012"].contains) ?? false }
    var isDenied: Bool { code.map(["42501"].contains) ?? false }
    /// A table, column or schema is missing.
    var isMissing: Bool { ["42P01", "3F000", "42703"].contains(code ?? "") }
    /// The server accepts no writes: it is a standby, or the database is read-only.
    var isReadOnly: Bool { code.map(["25006"].contains) ?? false }
    /// A unique value exists already.
    var isTaken: Bool { code.map(["23505"].contains) ?? false }
    /// The server does not have a prepared statement, already has it, or has it for other columns. A pooler
    /// may use another server for each transaction.
    fileprivate var isOfPreparation: Bool {
      code.map(["26000", "42P05", "0A000"].contains) ?? false
    }
  }

  private let pq: tender_pq_functions
  private let handle: OpaquePointer
  private let clock: any Clock
  private let interruption: any Interruption
  /// The time at which a wait first saw a request to stop.
  private var stoppedAt: Int?
  private var isConnected = false
  /// The number of bytes received before the current wait.
  private var received = 0
  /// The number of bytes that were ready to be read, where the kernel does not count the received ones.
  private var ready = 0
  /// The statements that ran on this connection, by their text.
  private var plans: [String: Plan] = [:]
  /// Whether the server keeps prepared statements for this connection.
  private var prepares = true
  /// Whether the connection was closed because of its bounds.
  private(set) var isBroken = false

  /// Connects to the first suitable server.
  init(
    _ options: [(keyword: String, value: String)],
    by deadline: Deadline,
    _ clock: any Clock,
    _ interruption: any Interruption
  ) throws(Failure) {
    var why: UnsafePointer<CChar>?
    guard let library = unsafe tender_pq_open(&why) else {
      throw Failure(code: Failure.here, text: unsafe Self.text(why))
    }
    unsafe pq = library.pointee
    self.clock = clock
    self.interruption = interruption
    let keywords = options.map(\.keyword)
    let values = options.map(\.value)
    let begun = unsafe Self.withPointers(keywords.map(Optional.some)) { keywords in
      unsafe Self.withPointers(values.map(Optional.some)) { values in
        unsafe tender_pq_begin(keywords, values)
      }
    }
    guard let begun = unsafe begun else { throw Failure(code: nil, text: "out of memory") }
    unsafe handle = begun
    // Otherwise libpq reads without a bound while a server that reads nothing lets it wait to write.
    _ = unsafe pq.nonblocking(handle, 1)
    // If this throws, `deinit` closes it.
    try connect(by: deadline)
  }

  deinit { unsafe pq.end(handle) }

  private func connect(by deadline: Deadline) throws(Failure) {
    // libpq waits for writing first ("Database Connection Control Functions").
    var state = Int32(TENDER_PQ_POLL_WRITING)
    while unsafe pq.status(handle) != TENDER_PQ_BAD {
      switch state {
      case Int32(TENDER_PQ_POLL_OK):
        // Several statements are sent before the first answer.
        guard unsafe pq.pipeline(handle) != 0 else { throw problem() }
        isConnected = true
        return
      case Int32(TENDER_PQ_POLL_READING): try wait(POLLIN, by: deadline)
      case Int32(TENDER_PQ_POLL_WRITING): try wait(POLLOUT, by: deadline)
      default: throw problem()
      }
      state = unsafe pq.poll(handle)
    }
    throw problem()
  }

  /// Returns libpq's error on one line.
  private func problem() -> Failure {
    isBroken = true
    let text = unsafe Self.text(pq.message(handle))
    // The place in the server's source is left out.
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:  ") }
      .map { $0.drop { $0 == " " || $0 == "\t" } }
    return Failure(code: nil, text: lines.joined(separator: "; "), isLost: true)
  }

  /// Breaks the connection: the server sends more than any answer has.
  private func endless() -> Failure {
    isBroken = true
    return Failure(code: nil, text: "the server answers without an end", isLost: true)
  }

  /// The time that a responding server still has after a request to stop, in milliseconds. An outcome that is
  /// known by then should be stored.
  private static let grace = 1000

  /// Waits until the connection can be read or written. Returns which of both.
  @discardableResult
  private func wait(_ events: Int32, by deadline: Deadline) throws(Failure) -> Int16 {
    // A server can ask for the password again and again, and read none of the answers.
    guard count - received <= (isConnected ? Self.mostBytes : Self.mostAtStart) else {
      throw endless()
    }
    while true {
      stoppedAt = interruption.kind == nil ? nil : stoppedAt ?? clock.uptime
      let isStopping = stoppedAt != nil
      let grace = stoppedAt.map { $0 + Self.grace - clock.uptime }
      let left = min(deadline.remaining, grace ?? .max)
      guard left > 0 else {
        isBroken = true
        throw Failure(
          code: nil,
          text: "no answer in time",
          isLost: true,
          isUnconfirmed: isConnected,
          isStopped: isStopping
        )
      }
      let stop = isStopping ? nil : interruption.descriptor
      var polled = unsafe [
        pollfd(fd: pq.socket(handle), events: Int16(events), revents: 0),
        pollfd(fd: stop ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      let count = unsafe poll(&polled, 2, Int32(min(left, 60_000)))
      guard polled[0].revents != 0 || count < 0 && errno != EINTR else { continue }
      ready += Int(unsafe tender_pq_ready(pq.socket(handle)))
      return polled[0].revents
    }
  }

  var usesTLS: Bool { unsafe pq.tls(handle) != 0 }

  /// The connected server, as `HOST:PORT` or the folder of its socket.
  var place: String {
    let host = unsafe Self.text(pq.host(handle))
    let port = unsafe Self.text(pq.port(handle))
    return host.hasPrefix("/") ? host : host + ":" + port
  }

  /// The effective options, without secrets.
  var options: [String: String] {
    guard let options = unsafe pq.options(handle) else { return [:] }
    defer { unsafe pq.free_options(options) }
    return unsafe PostgresAddress.values(options).filter { $0.key != "password" }
  }

  /// How a statement is sent.
  private enum Plan: Equatable {
    /// It ran once, and is prepared if it runs again.
    case ran
    /// It is prepared with the transaction that runs now.
    case preparing
    case prepared
    /// It is sent with its text each time.
    case plain
  }

  /// The number of statements that are prepared on one connection.
  private static let mostPlans = 64

  /// Sends a statement. Returns the number of its answers.
  private func send(_ statement: Statement) throws(Failure) -> Int {
    let (sql, values) = (statement.numbered, statement.values)
    let texts: [String?] = values.map { value in
      switch value {
      case .null: nil
      case .integer(let number): String(number)
      case .text(let text): text.withoutNUL
      }
    }
    let count = Int32(texts.count)
    let isSent: Int32
    var answers = 1
    if let plan = plans[sql], prepares, plan != .plain {
      // With a hash of the text as its name, it is the same statement for each client of a pooler.
      let name = Checksum.of([.text(sql)])
      if plan == .ran {
        guard unsafe pq.prepare(handle, name, sql, 0, nil) != 0 else { throw problem() }
        plans[sql] = .preparing
        answers = 2
      }
      isSent = unsafe Self.withPointers(texts) { texts in
        unsafe pq.send_prepared(handle, name, count, texts, nil, nil, 0)
      }
    } else {
      if plans.count < Self.mostPlans, plans[sql] == nil { plans[sql] = .ran }
      isSent = unsafe Self.withPointers(texts) { texts in
        unsafe pq.send(handle, sql, count, nil, texts, nil, nil, 0)
      }
    }
    guard isSent != 0 else { throw problem() }
    return answers
  }

  /// Records whether the statements of a transaction were prepared. If it failed, some may be.
  private func settlePlans(_ plan: Plan) {
    for (sql, known) in plans where known == .preparing { plans[sql] = plan }
  }

  /// Runs statements as one transaction. Returns the rows of each.
  ///
  /// If one fails, none has an effect. Throws with `isLost` if the effect is not known. That includes a
  /// warning that the standby did not confirm the commit, because then only this server has it.
  func run(_ statements: [Statement], by deadline: Deadline) throws(Failure) -> [Rows] {
    do throws(Failure) {
      let answers = try runOnce(statements, by: deadline)
      settlePlans(.prepared)
      return answers
    } catch {
      settlePlans(.plain)
      guard error.isOfPreparation, !error.isLost, prepares else { throw error }
      prepares = false
      return try runOnce(statements, by: deadline)
    }
  }

  private func runOnce(_ statements: [Statement], by deadline: Deadline) throws(Failure) -> [Rows] {
    _ = tender_pq_take_warning()
    received = count
    // The position of each statement's last answer.
    var places: [Int] = []
    for statement in statements { places.append((places.last ?? -1) + (try send(statement))) }
    guard unsafe pq.sync(handle) != 0 else { throw problem() }
    try flush(by: deadline)
    var answers: [Rows] = []
    var rows: Rows = []
    var room = Self.mostBytes
    var failure: Failure?
    _ = unsafe pq.row_by_row(handle)
    while true {
      guard let result = unsafe try next(by: deadline) else {
        // Each statement asks for it again. An answer with one row at a time cannot fill the memory.
        _ = unsafe pq.row_by_row(handle)
        continue
      }
      defer { unsafe pq.clear(result) }
      switch unsafe pq.result_status(result) {
      case Int32(TENDER_PQ_SYNC):
        if let failure { throw failure }
        guard tender_pq_take_warning() == 0 else {
          throw Failure(
            code: nil,
            text: "the commit was not confirmed",
            isLost: true,
            isUnconfirmed: true
          )
        }
        guard answers.count == (places.last ?? -1) + 1 else {
          isBroken = true
          throw Failure(code: nil, text: "the server left out an answer", isLost: true)
        }
        return places.map { answers[$0] }
      case Int32(TENDER_PQ_SINGLE_TUPLE):
        room -= unsafe size(result)
        guard room >= 0 else { throw endless() }
        rows += unsafe self.rows(result)
      case Int32(TENDER_PQ_TUPLES_OK), Int32(TENDER_PQ_COMMAND_OK):
        // All rows of an answer, if they did not come one by one.
        answers.append(rows + (unsafe self.rows(result)))
        rows = []
      case Int32(TENDER_PQ_ABORTED): break
      // A copy never ends, and no statement asks for one.
      case Int32(TENDER_PQ_COPY_OUT), Int32(TENDER_PQ_COPY_IN), Int32(TENDER_PQ_COPY_BOTH):
        throw endless()
      default: failure = failure ?? (unsafe self.failure(result))
      }
      // The server named the reason and closed the connection.
      if unsafe pq.status(handle) == TENDER_PQ_BAD {
        isBroken = true
        var lost = failure ?? problem()
        lost.isLost = true
        throw lost
      }
    }
  }

  /// The maximum number of received bytes, and of bytes in rows, for some statements. A page of a thousand
  /// payments has far fewer.
  private static let mostBytes = 16 << 20
  /// The maximum number of bytes before the first statement.
  private static let mostAtStart = 1 << 20
  /// The maximum memory for one message, in bytes. libpq doubles its block until the message fits.
  private static let mostMemory = 40 << 20

  /// The number of received bytes. A Unix socket does not report it, so those that were ready are counted.
  private var count: Int {
    let known = Int(unsafe tender_pq_received(pq.socket(handle)))
    return known < 0 ? ready : known
  }

  private func flush(by deadline: Deadline) throws(Failure) {
    while true {
      let left = unsafe pq.flush(handle)
      if left == 0 { return }
      guard left > 0 else { throw problem() }
      let ready = try wait(POLLIN | POLLOUT, by: deadline)
      // If the server sends while we write, its data must be read, or both sides wait for ever.
      if ready & Int16(POLLIN) != 0, unsafe pq.consume(handle) == 0 { throw problem() }
    }
  }

  /// Returns the next result; nil between the results of two statements.
  private func next(by deadline: Deadline) throws(Failure) -> OpaquePointer? {
    while try isIncomplete() {
      try wait(POLLIN, by: deadline)
      guard unsafe pq.consume(handle) != 0 else { throw problem() }
    }
    let result = unsafe pq.result(handle)
    let isOver = unsafe pq.status(handle) == TENDER_PQ_BAD
    if unsafe result == nil, isOver { throw problem() }
    return unsafe result
  }

  /// Returns whether an answer is incomplete, as far as was read. Throws if it is larger than any answer.
  private func isIncomplete() throws(Failure) -> Bool {
    let before = tender_pq_memory()
    guard unsafe pq.busy(handle) != 0 else { return false }
    // The next read would fill the block, however long that takes.
    guard tender_pq_memory() <= before + Self.mostMemory else { throw endless() }
    return true
  }

  private func failure(_ result: OpaquePointer) -> Failure {
    // PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY (postgres_ext.h).
    let code = unsafe Self.text(pq.field(result, Int32(UInt8(ascii: "C"))))
    let text = unsafe Self.text(pq.field(result, Int32(UInt8(ascii: "M"))))
    // An error without a code means that libpq lost the server.
    guard !code.isEmpty else { return problem() }
    return Failure(code: code, text: text.isEmpty ? "an error without words" : text)
  }

  /// Returns libpq's text; empty if there is none.
  private static func text(_ text: UnsafePointer<CChar>?) -> String {
    guard let text = unsafe text else { return "" }
    let count = unsafe strnlen(text, mostText)
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: count)
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  /// The maximum length of a text of the server, in bytes. The rest is cut off.
  private static let mostText = 2000

  /// The bytes of a row's values, and a thousand for the row itself.
  private func size(_ row: OpaquePointer) -> Int {
    (0..<(unsafe pq.columns(row))).reduce(1000) { $0 + Int(unsafe pq.length(row, 0, $1)) }
  }

  private func rows(_ result: OpaquePointer) -> Rows {
    let columns = unsafe pq.columns(result)
    // Every statement asks for a column. A row without one cannot be read.
    let count = unsafe columns > 0 ? pq.rows(result) : 0
    return (0..<count).map { row in
      (0..<columns).map { column in
        guard unsafe pq.is_null(result, row, column) == 0,
          let start = unsafe pq.value(result, row, column)
        else { return .null }
        let count = Int(unsafe pq.length(result, row, column))
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        let text = unsafe String(decoding: bytes, as: UTF8.self)
        // int8, int2 and int4 (PostgreSQL's catalog, pg_type).
        let type = unsafe pq.type(result, column)
        let isNumber = [20, 21, 23].contains(type)
        return isNumber ? Database.Value(Int(text)) : .text(text)
      }
    }
  }

  private static func withPointers<Result>(
    _ texts: [String?],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
  ) -> Result {
    let copies = unsafe texts.map { text in unsafe text.map { unsafe strdup($0) } ?? nil }
    defer {
      for index in unsafe copies.indices { unsafe free(copies[index]) }
    }
    let pointers = unsafe copies.map { copy in unsafe UnsafePointer<CChar>(copy) } + [nil]
    return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
  }
}
