import Foundation
import Synchronization
import TenderModel
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// One run of the built program, measured from outside: its memory, its time, its end.
struct HostileRun {
  /// The result of a run.
  struct End {
    /// Nil if it had to be killed.
    var exit: Int32?
    /// The milliseconds until its end, or from the signal to its end.
    var took: Int
    /// The largest memory, in KiB.
    var peak: Int
    var said: String
  }

  let binary: Binary
  let words: [String]
  /// Runs the program to its end, or for some milliseconds. `signal` is sent `after` some milliseconds, once
  /// `isReady` returns true.
  func run(
    atMost limit: Int,
    signal: Int32? = nil,
    after pause: Int = 200,
    isReady: (Int) -> Bool = { _ in true },
    started: (URL) -> Void = { _ in }
  ) throws -> End {
    let log = binary.home.appending(path: "said")
    _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    let output = try FileHandle(forWritingTo: log)
    let process = Process()
    process.executableURL = binary.executable
    process.arguments = words
    process.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
      .merging(binary.variables) { $1 }
    process.currentDirectoryURL = binary.home
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    var start = ContinuousClock.now
    try process.run()
    started(log)
    var peak = 0
    func awaitEnd(_ milliseconds: Int) -> Bool {
      let end = ContinuousClock.now + .milliseconds(milliseconds)
      repeat {
        peak = max(peak, Self.peak(of: process.processIdentifier))
        if ended.wait(timeout: .now() + .milliseconds(2)) == .success { return true }
      } while ContinuousClock.now < end
      return false
    }
    var isOver = false
    if let signal {
      if isReady(limit) { isOver = awaitEnd(pause) }
      start = ContinuousClock.now
      if !isOver { kill(process.processIdentifier, signal) }
    }
    if !isOver { isOver = awaitEnd(limit) }
    let took = start.duration(to: .now)
    if !isOver {
      kill(process.processIdentifier, SIGKILL)
      ended.wait()
    }
    let isKilled = process.terminationReason == .uncaughtSignal
    let exit = isKilled ? 128 + process.terminationStatus : process.terminationStatus
    return End(
      exit: isOver ? exit : nil,
      took: Int(took / .milliseconds(1)),
      peak: peak,
      said: (try? String(contentsOf: log, encoding: .utf8)) ?? ""
    )
  }

  /// The largest memory of a process so far, in KiB; 0 if unknown.
  private static func peak(of process: Int32) -> Int {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
    else { return 0 }
    return Int(line.filter(\.isNumber)) ?? 0
  }
}

/// One hostile behavior of a peer, the command that meets it, and its possible ends.
struct HostileCase: Sendable, CustomTestStringConvertible {
  /// The kind of peer.
  enum Peer: String, Sendable {
    /// HTTP: TrueLayer's API, Toro's gateway, Pay Theory's tokens and its GraphQL.
    case api, gateway, token, graph
    /// Pay Theory's WebSocket.
    case socket
    /// A card reader over TCP, and over a serial line.
    case reader, line
    case postgres
    /// The same over a Unix socket, whose bytes the kernel does not count.
    case postgresHere
    /// The payer's browser, which connects to a command.
    case browser
    /// A client of `simulator serve`: of the bank's pages, a socket, or a reader.
    case visitor
  }

  let peer: Peer
  let name: String
  /// The number of the question that gets this answer. Question 0 is the connection.
  var question = 1
  /// Further arguments of the command.
  var words: [String] = []
  /// The possible exits without a signal; empty if only a signal ends it.
  let exits: Set<Int32>
  /// The number of a visitor's connections.
  var times = 1
  /// Whether `make test` runs it.
  var isSample = false
  let act: HostilePeer.Act

  var testDescription: String { "\(peer.rawValue): \(name)" }

  /// The time limit of each request, and that of the whole command with its work.
  private static let timeout = "1s"
  private static let limit = 4500
  /// The limit with a reader that is released at the end of the time, which may take 3 s.
  private static let readerLimit = 7000
  /// The time limit after a signal, with a reserve for a busy machine.
  private static let signalLimit = 3000
  /// In KiB.
  private static let memory = 64 * 1024

  /// Runs the case to its end, and twice more with a signal. Returns the problems.
  func judge() throws -> [String] {
    var wrong: [String] = []
    for signal in exits.isEmpty ? [SIGINT, SIGTERM] : [nil, SIGINT, SIGTERM] {
      let end = try run(signal)
      let how = signal.map { "signal \($0)" } ?? "by itself"
      let what =
        "\(how): exit \(end.exit.map(String.init) ?? "none") after \(end.took) ms, \(end.peak) KiB"
      var isRight = end.exit.map { allowed(signal).contains($0) } ?? false
      if end.peak > Self.normal(peer) + Self.memory { isRight = false }
      if !isRight { wrong.append(what + ": " + end.said.suffix(300)) }
    }
    return wrong
  }

  /// The further exits after a signal: stopped, stopped with an unknown effect, given up, served to the end.
  private func allowed(_ signal: Int32?) -> Set<Int32> {
    switch signal {
    case nil: exits
    case SIGINT: exits.union(peer == .visitor ? [0, 130] : [130, 12, 9])
    default: exits.union(peer == .visitor ? [0, 143] : [143, 9])
    }
  }

  private func run(_ signal: Int32?, honestly: Bool = false) throws -> HostileRun.End {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    let made = try HostilePeer(
      before: honestPort(server),
      at: honestly ? .max : question,
      path: peer == .postgresHere ? binary.home.path + "/.s.PGSQL.5432" : nil,
      act
    )
    defer { made.stop() }
    binary.variables = variables(server, made.port, binary.home.path)
    let port = peer == .browser ? try FreePort.next() : 0
    var line: (descriptor: Int32, path: String)?
    if peer == .line { line = PseudoTerminal.open() }
    defer { if let line { close(line.descriptor) } }
    let command = HostileRun(binary: binary, words: commandWords(port, line?.path ?? "") + words)
    return try command.run(
      atMost: signal != nil
        ? Self.signalLimit : [.reader, .line].contains(peer) ? Self.readerLimit : Self.limit,
      signal: signal,
      after: honestly || peer == .visitor ? 1000 : 200,
      isReady: { honestly || made.awaitAct($0) },
      started: { log in
        if honestly { return }
        if let line {
          Thread.detachNewThread { made.perform(on: line.descriptor) }
        } else if peer == .browser {
          made.call(port, times: times)
        } else if peer == .visitor {
          made.callServed(log, times: times)
        }
      }
    )
  }

  /// The memory of a command with a correct peer of each kind, in KiB.
  private static let honest = Mutex<[Peer: Int]>([:])

  private static func normal(_ peer: Peer) -> Int {
    if let known = honest.withLock({ $0[peer] }) { return known }
    let some = HostileCase(peer: peer, name: "", exits: []) { $0.hush() }
    let isEndless = [.line, .postgres, .postgresHere, .browser, .visitor].contains(peer)
    let measured = (try? some.run(isEndless ? SIGTERM : nil, honestly: true).peak) ?? 0
    honest.withLock { $0[peer] = measured }
    return measured
  }

  private func honestPort(_ server: Server) -> Int? {
    let name: String
    switch peer {
    case .api: name = "TENDER_TRUELAYER_API_URL"
    case .gateway: name = "TENDER_TORO_GATEWAY_URL"
    case .token, .graph, .socket: name = "TENDER_PAYTHEORY_TOKEN_URL"
    case .reader: name = "TENDER_TORO_DEVICE"
    case .line, .postgres, .postgresHere, .browser, .visitor: return nil
    }
    return server.announced[name]?.split(separator: ":").last.flatMap { Int($0) }
  }

  private func variables(_ server: Server, _ port: Int, _ home: String) -> [String: String] {
    var all = server.announced
    switch peer {
    case .api: all["TENDER_TRUELAYER_API_URL"] = "http://127.0.0.1:\(port)"
    case .gateway: all["TENDER_TORO_GATEWAY_URL"] = "http://127.0.0.1:\(port)"
    case .token: all["TENDER_PAYTHEORY_TOKEN_URL"] = "http://127.0.0.1:\(port)"
    case .graph: all["TENDER_PAYTHEORY_GRAPHQL_URL"] = "http://127.0.0.1:\(port)"
    case .socket: all["TENDER_PAYTHEORY_SOCKET_URL"] = "ws://127.0.0.1:\(port)"
    case .reader: all["TENDER_TORO_DEVICE"] = "tcp://127.0.0.1:\(port)"
    case .line: all["TENDER_TORO_DEVICE"] = nil
    case .postgres:
      all = ["TENDER_JOURNAL": "postgres://tender:p@127.0.0.1:\(port)/tender?sslmode=disable"]
    case .postgresHere: all = ["TENDER_JOURNAL": "postgres://tender:p@/tender?host=\(home)"]
    case .browser: break
    case .visitor: all = [:]
    }
    return all
  }

  private func commandWords(_ port: Int, _ line: String) -> [String] {
    let common = ["--json", "--no-input", "--timeout", Self.timeout]
    let sale = ["transact", "--provider", "toro", "--amount", "5", "--reference", "H"] + common
    switch peer {
    case .api:
      return ["payment-status", "--provider", "truelayer", "00000000-0000-4000-8000-000000001999"]
        + common
    case .token, .socket:
      return ["transact", "--amount", "5", "--test-card", "visa", "--reference", "H"] + common
    case .graph: return ["find", "--online", "--provider", "paytheory", "--amount", "5"] + common
    case .gateway: return sale
    // A card may take longer than a request.
    case .reader: return sale + ["--deadline", "2s"]
    case .line: return sale + ["--deadline", "2s", "--device", "tty:" + line]
    case .postgres, .postgresHere: return ["journal", "list", "--deadline", "2s"] + common
    case .browser:
      let bank = Array(WaitingTests.bank.prefix { $0 != "--redirect-url" })
      return bank + [
        "--wait=2s", "--redirect-url", "http://127.0.0.1:\(port)/callback",
      ]
        + common
    case .visitor: return ["simulator", "serve", "--json"]
    }
  }
}

extension HostilePeer {
  /// Connects to the servers that a log names: TrueLayer's pages, Pay Theory's socket and Toro's reader.
  func callServed(_ log: URL, times: Int) {
    Thread.detachNewThread { [self] in
      for _ in 0..<500 {
        let said = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        if let end = said.firstIndex(of: "\n") {
          let record = JSONReader.read(String(said[..<end]))
          let addresses = [record?["address"], record?["device"]].compactMap { $0?.text }
          for port in addresses.compactMap({ $0.split(separator: ":").last.flatMap { Int($0) } }) {
            call(port, times: times)
          }
          return
        }
        usleep(10_000)
      }
    }
  }
}
