package import Foundation
private import Synchronization

/// A PostgreSQL server of the tests: a folder, a port, and no lasting data.
///
/// As root, it runs as the user of PostgreSQL's package, which it requires.
package final class PostgresCluster: @unchecked Sendable {
  // Unchecked: `process` and `offset` change only in `kill` and `restart`, which one test at a time calls.

  /// The folder of PostgreSQL's programs; nil if it is not installed.
  package static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    let newest = versions.compactMap { Int($0) }.max()
    let places =
      (newest.map { ["\(root)/\($0)/bin"] } ?? [])
      + ["/opt/homebrew/opt/postgresql@17/bin", "/usr/local/opt/postgresql@17/bin", "/usr/bin"]
    return places.first { FileManager.default.fileExists(atPath: $0 + "/initdb") }
  }()

  /// The message of a skipped test.
  package static let isMissing = "PostgreSQL is not installed"

  package static var isAvailable: Bool { programs != nil }

  /// The cluster for all tests that do not harm it.
  private static let started = Mutex<PostgresCluster?>(nil)

  package static func shared() throws -> PostgresCluster {
    try started.withLock { known in
      if let known { return known }
      let made = try PostgresCluster()
      known = made
      // No other code ends the shared cluster.
      atexit {
        PostgresCluster.started.withLock { known in
          known?.stop()
          if let folder = known?.folder { try? FileManager.default.removeItem(at: folder) }
        }
      }
      return made
    }
  }

  package let folder: URL
  package let port: Int
  private let settings: [String]
  private var process: Process?
  private var ended = DispatchGroup()
  private let databases = Atomic(0)
  private var offset: String?

  private var data: String { folder.appending(path: "data").path }

  /// Creates a cluster and starts it. `settings` are `name=value`. `copyOf` makes it a standby.
  package init(_ settings: [String] = [], copyOf primary: PostgresCluster? = nil) throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "pg-\(UUID().uuidString.prefix(8))"
    )
    port = try FreePort.next()
    self.settings = settings
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if getuid() == 0 { try Self.run("/bin/chown", ["postgres", folder.path]) }
    if let primary {
      try Self.run(
        "pg_basebackup",
        [
          "-D", data, "-h", primary.folder.path, "-p", "\(primary.port)", "-U", "tender", "-R",
          "--checkpoint=fast", "--no-sync",
        ]
      )
    } else {
      try Self.run(
        "initdb",
        ["-D", data, "-A", "trust", "-U", "tender", "--no-sync", "-E", "UTF8", "--locale=C"]
      )
    }
    try start()
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Returns its address, with a database that has no tables yet.
  package func database() throws -> String {
    let name = "db\(databases.add(1, ordering: .relaxed).newValue)"
    try sql("CREATE DATABASE \(name)", in: "postgres")
    return address(name)
  }

  package func address(_ database: String, user: String = "tender") -> String {
    "postgres://\(user)@127.0.0.1:\(port)/\(database)"
  }

  /// Runs SQL as the owner. Returns the output of psql, unaligned.
  @discardableResult
  package func sql(_ text: String, in database: String) throws -> String {
    try Self.run(
      "psql",
      [
        "-h", folder.path, "-p", "\(port)", "-U", "tender", "-d", database, "-qAt",
        "-v", "ON_ERROR_STOP=1", "-c", text,
      ],
      // An operator's commands wait for no standby.
      ["PGOPTIONS": "-c synchronous_commit=local"]
    )
  }

  /// From now on, a user needs a password.
  package func demandPassword(of user: String) throws {
    let file = data + "/pg_hba.conf"
    let rules = try String(contentsOfFile: file, encoding: .utf8)
    let handle = try FileHandle(forWritingTo: URL(filePath: file))
    try handle.write(contentsOf: Data("host all \(user) 127.0.0.1/32 scram-sha-256\n\(rules)".utf8))
    try handle.close()
    try sql("SELECT pg_reload_conf()", in: "postgres")
  }

  /// Ends all of its processes at once, as a crash would.
  package func kill() {
    guard let process else { return }
    // Its children notice that it is gone.
    Foundation.kill(process.processIdentifier, SIGKILL)
    ended.wait()
    self.process = nil
  }

  /// Starts it again after `kill`. `clock` is the error of its clock, such as `+20m` (faketime(1)).
  package func restart(clock: String? = nil) throws {
    offset = clock
    try start()
  }

  /// The library that sets the clock of one program; nil if it is not installed.
  private static let faketime = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
  ].first { FileManager.default.fileExists(atPath: $0) }

  package static var hasOtherClocks: Bool { isAvailable && faketime != nil }

  /// Makes a standby accept writes.
  package func promote() throws { try Self.run("pg_ctl", ["-D", data, "-w", "promote"]) }

  private func stop() {
    guard let process else { return }
    // Immediate shutdown (PostgreSQL's manual, "Shutting Down the Server").
    Foundation.kill(process.processIdentifier, SIGQUIT)
    ended.wait()
    self.process = nil
  }

  private func start() throws {
    let words = [
      "-D", data, "-p", "\(port)", "-k", folder.path, "-c", "listen_addresses=127.0.0.1", "-c",
      "fsync=off", "-c", "log_min_messages=log", "-c", "max_connections=200",
    ]
    let more = settings.flatMap { ["-c", $0] }
    // After a kill, the shared memory of the last one may exist for a moment.
    for _ in 0..<20 {
      var environment: [String: String] = [:]
      if let offset, let library = Self.faketime {
        environment = [
          "LD_PRELOAD": library, "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
      }
      let process = Self.process("postgres", words + more, environment)
      process.standardError = try Self.log(folder)
      ended = try Self.runOnThreadOfItsOwn(process)
      self.process = process
      if Self.isAnswering("\(port)", folder.path, process) { return }
      ended.wait()
    }
    throw Failure(text: "PostgreSQL does not start: see \(folder.path)/log")
  }

  /// Starts a process on a thread that lasts as long as the process. The process would end with the thread
  /// that started it.
  ///
  /// Returns a signal of its end, since only one thread may wait for the end of a `Process`.
  static func runOnThreadOfItsOwn(_ process: Process) throws -> DispatchGroup {
    let ended = DispatchGroup()
    let started = DispatchSemaphore(value: 0)
    let problem = Mutex<(any Error)?>(nil)
    let child = Child(process: process)
    ended.enter()
    Thread {
      defer { ended.leave() }
      do {
        try child.process.run()
        started.signal()
        child.process.waitUntilExit()
      } catch {
        problem.withLock { $0 = error }
        started.signal()
      }
    }
    .start()
    started.wait()
    if let error = problem.withLock({ $0 }) { throw error }
    return ended
  }

  /// A process that another thread starts.
  private struct Child: @unchecked Sendable { let process: Process }

  /// A file for a program's output.
  static func log(_ folder: URL) throws -> FileHandle {
    let path = folder.appending(path: "log").path
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    guard let handle = FileHandle(forWritingAtPath: path) else { throw Failure(text: path) }
    return handle
  }

  /// Asks until a server answers; false if its process has ended.
  static func isAnswering(
    _ port: String,
    _ host: String,
    _ process: Process,
    _ database: String = "postgres"
  ) -> Bool {
    let words = ["-h", host, "-p", port, "-U", "tender", "-d", database, "-qAtc", "SELECT 1"]
    for _ in 0..<1000 where process.isRunning {
      if (try? run("psql", words)) != nil { return true }
    }
    return false
  }

  /// Returns a program of PostgreSQL as a process, which ends with this one.
  ///
  /// `asUser` also runs a program of another package as PostgreSQL's user.
  static func process(
    _ name: String,
    _ arguments: [String],
    _ variables: [String: String] = [:],
    asUser: Bool = false
  ) -> Process {
    let process = Process()
    let path = name.hasPrefix("/") ? name : (programs ?? "") + "/" + name
    // These variables are only for the program. The program that changes the user would own the files that a
    // library shares.
    let set = variables.map { "\($0)=\($1)" }
    let program = (set.isEmpty ? [] : ["/usr/bin/env"] + set) + [path]
    if getuid() == 0, asUser || !name.hasPrefix("/") {
      process.executableURL = URL(filePath: "/usr/bin/setpriv")
      process.arguments =
        [
          "--reuid=postgres", "--regid=postgres", "--clear-groups",
          // The kernel resets that at a change of the user.
          "/usr/bin/setpriv", "--pdeathsig=KILL",
        ] + program + arguments
    } else {
      process.executableURL = URL(filePath: program[0])
      process.arguments = program.dropFirst() + arguments
    }
    process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]
    process.currentDirectoryURL = URL(filePath: "/")
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    return process
  }

  @discardableResult
  private static func run(
    _ name: String,
    _ arguments: [String],
    _ variables: [String: String] = [:]
  ) throws -> String {
    let process = process(name, arguments)
    process.environment?.merge(variables) { $1 }
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let problem = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(text: "\(name): \(String(decoding: problem, as: UTF8.self))")
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The error of one of its programs.
  package struct Failure: Error {
    package let text: String

    package init(text: String) { self.text = text }
  }
}
