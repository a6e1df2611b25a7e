import Foundation
import TenderModel
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// The accesses that the kernel refuses to a command as soon as it has restricted itself, before its work.
@Suite struct BoundsTests {
  /// A home with files that a command must not reach, and resources of other processes beside it.
  private final class Place {
    var binary: Binary
    private let listeners: [LocalListener]
    let secret: String
    let foreign: String
    let socket: String
    let abstract: String

    init() throws {
      binary = try Binary().faulty("none:0")
      secret = binary.home.path + "/private"
      foreign = binary.home.path + "/work"
      socket = binary.home.path + "/socket"
      abstract = "@tender-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: foreign, withIntermediateDirectories: true)
      for path in [secret, foreign + "/notes"] {
        try "mine".write(toFile: path, atomically: true, encoding: .utf8)
      }
      // Something of another process that listens, as a message bus does.
      listeners = try [socket, abstract].map { try LocalListener(path: $0) }
      binary.variables["TENDER_BOUNDS"] = binary.home.path + "/report"
      binary.variables["TENDER_BOUNDS_PORTS"] = "9:53:80:443:3000:5432:8085:8086"
      binary.variables["TENDER_BOUNDS_PROCESS"] = String(getpid())
      binary.variables["TENDER_BOUNDS_SOCKET"] = socket
      binary.variables["TENDER_BOUNDS_ABSTRACT"] = abstract
      binary.variables["TENDER_BOUNDS_PATHS"] = paths.joined(separator: ":")
    }

    deinit {
      for listener in listeners { listener.stop() }
      binary.remove()
    }

    var home: String { binary.home.path }
    var state: String { home + "/.local/state/tender" }
    /// The paths that may be open, in the order of the report.
    var paths: [String] {
      [
        home, secret, foreign, foreign + "/notes", home + "/.local/state", state,
        home + "/elsewhere", "/proc/\(getpid())/status", "/run", "/var/lib", "/tmp", "/dev",
        "/dev/null",
        "/dev/ptmx", "/etc/passwd", "/usr",
      ]
    }

    /// Runs a command. Returns each tried access with its error number.
    func report(_ words: [String], input: String? = nil) throws -> [String: Int32] {
      try? FileManager.default.removeItem(atPath: home + "/report")
      _ = try binary.run(words, input: input)
      return try read()
    }

    func read() throws -> [String: Int32] {
      let text = try String(contentsOfFile: home + "/report", encoding: .utf8)
      var found: [String: Int32] = [:]
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count > 1 else { continue }
        found[words[0] + (words.count > 2 ? " " + words[2] : "")] = Int32(words[1])
      }
      return found
    }
  }

  private static let isWhole = ContainmentTests.hasScopes

  private static let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference", "A"]

  // Files.

  @Test(
    .enabled(if: isWhole, "this kernel has no Landlock with scopes, or no seccomp"),
    arguments: [
      pay, pay + ["--state-dir", "elsewhere/deep"], ["journal", "list"],
      ["journal", "show", "work"],
      ["journal", "show", "A/B"], ["journal", "verify"], ["journal", "resume", "--all"],
      ["journal", "resolve", "private", "--as", "failed", "--reason", "x", "--yes"],
      ["journal", "prune", "--before", "2020-01-01"],
      ["journal", "accept", "--reason", "x", "--yes"],
      ["find"], ["explain", "work"], ["payment-status", "A"], ["confirm", "A"], ["cancel", "A"],
      ["refund", "A"], ["doctor"], ["simulator", "reset"], ["tokenize", "--test-card", "visa"],
      pay + ["--dry-run"], ["simulator", "show"],
      ["__complete", "fish", "journal", "show", ""],
    ]
  )
  func `opens nothing of the home but its own folder, at the first run too`(
    _ words: [String]
  ) throws {
    let place = try Place()
    // Once without a journal, and once with one.
    for turn in 1...2 {
      let found = try place.report(words)
      if words[0] == "__complete", turn == 1 {
        // There is no journal to read.
        #expect(found.isEmpty)
      } else {
        for what in [
          "read \(place.home)", "make \(place.home)", "read \(place.secret)",
          "write \(place.secret)", "read \(place.foreign)", "make \(place.foreign)",
          "read \(place.foreign)/notes", "write \(place.foreign)/notes",
          "read \(place.home)/.local/state", "make \(place.home)/.local/state",
          "read /proc/\(getpid())/status", "read /run", "read /var/lib", "read /tmp", "make /tmp",
          "read /dev", "make /dev", "read /dev/ptmx",
        ] {
          // A missing path cannot be opened, and nothing can be created in it.
          let path = what.split(separator: " ")[1]
          let problem = found[what] ?? found["read \(path)"] ?? 0
          #expect([EACCES, ENOENT].contains(problem), "\(words) \(turn): \(what)")
        }
        for what in ["read /dev/null", "write /dev/null", "read /etc/passwd", "read /usr"] {
          #expect(found[what] == 0, "\(words) \(turn): \(what)")
        }
      }
      _ = try place.binary.run(Self.pay)
    }
  }

  @Test(.enabled(if: isWhole, "this kernel has no Landlock with scopes, or no seccomp"))
  func `opens what an option or an operand names as a file`() throws {
    let place = try Place()
    let notes = place.foreign + "/notes"
    _ = try place.binary.run(Self.pay)
    let traced = try place.report(Self.pay + ["--trace", place.foreign + "/trace"])
    #expect(traced["make \(place.foreign)"] == EACCES, "the file alone is made, before the bounds")
    #expect(traced["read \(notes)"] == EACCES)
    let copied = try place.report(["journal", "backup", place.foreign + "/copy"])
    #expect(copied["make \(place.foreign)"] == 0)
    #expect(copied["read \(place.secret)"] == EACCES)
    #expect(FileManager.default.fileExists(atPath: place.foreign + "/copy"))
    let lost = try place.report(["journal", "backup", place.home + "/none/copy"])
    #expect(lost["make \(place.home)"] == EACCES)
    let taken = try place.report(["journal", "import", notes])
    #expect(taken["read \(notes)"] == 0)
    #expect(taken["write \(notes)"] == EACCES)
    #expect(taken["make \(place.foreign)"] == EACCES)
    let loaded = try place.report(["simulator", "load", notes])
    #expect(loaded["read \(notes)"] == 0)
    #expect(loaded["write \(notes)"] == EACCES)
    #expect(loaded["read \(place.secret)"] == EACCES)
    let marked = try place.report(Self.pay + ["--state-dir", place.foreign + "/state"])
    #expect(marked["make \(place.foreign)"] == EACCES)
    let mark = place.foreign + "/.state.tender-mark"
    #expect(
      try Data(contentsOf: URL(filePath: mark)).count == 256,
      "its mark is written all the same"
    )
  }

  @Test(.enabled(if: isWhole, "this kernel has no Landlock with scopes, or no seccomp"))
  func `opens the files that the service of a shared journal names`() throws {
    let place = try Place()
    let services = place.home + "/services"
    let notes = place.foreign + "/notes"
    try "[pay]\nhost=127.0.0.1\nport=9\npassfile=\(notes)\n[other]\npassfile=\(place.secret)\n"
      .write(
        toFile: services,
        atomically: true,
        encoding: .utf8
      )
    place.binary.variables["PGSERVICEFILE"] = services
    place.binary.variables["TENDER_JOURNAL"] = "postgres:///?service=pay"
    let found = try place.report(["journal", "list", "--deadline", "1s"])
    #expect(found["read \(notes)"] == 0)
    #expect(found["write \(notes)"] == EACCES)
    #expect(found["read \(place.secret)"] == EACCES)
    #expect(found["connect 9"] == ECONNREFUSED)
  }

  // Commands of users.

  @Test(
    .enabled(if: isWhole, "this kernel has no Landlock with scopes, or no seccomp"),
    arguments: [
      pay, ["journal", "list"], ["confirm", "A"], ["refund", "A"], ["payment-status", "A"],
      ["batch", "-"],
      ["transact", "--env", "sandbox", "--amount", "5"],
    ]
  )
  func `reaches no other process, and no attribute of a file`(_ words: [String]) throws {
    let place = try Place()
    place.binary.variables["TENDER_BOUNDS_EXEC"] = "1"
    let found = try place.report(words, input: "")
    for what in [
      "exec", "local", "abstract", "kill other", "kill group", "limit other", "pidfd other", "type",
      "type high", "owner", "ring", "namespace", "memory", "chmod \(place.secret)",
      "touch \(place.secret)", "chmod \(place.foreign)/notes", "socket unix", "socket mptcp",
      "socket ping", "socket raw", "socket packet", "socket vsock", "socket netlink", "memory any",
      "memory attach", "message make", "message send", "message take", "semaphore",
      "pair datagram", "pair packets", "attributes flags", "attributes project",
      "attributes version", "attributes high", "schedule other", "kernel log", "watch files",
    ] {
      #expect(found[what] == EPERM, "\(words): \(what)")
    }
    #expect(found["kill own"] == 0)
    #expect(found["pair stream"] == 0, "libraries wake a thread by it")
    #expect(found["pair path"] != 0)
    // The kernel compares no port there. So a command that may listen at one port may do both.
    let mayListen = ["batch", "confirm"].contains(words[0]) || words.contains("sandbox")
    for what in ["listen unbound", "listen udp"] {
      #expect(found[what] == (mayListen ? 0 : EPERM), "\(words): \(what)")
    }
    for port in [9, 3000, 5432, 8085] where words[0] != "batch" {
      #expect(found["connect \(port)"] != 0 && found["connect \(port)"] != ECONNREFUSED, "\(port)")
    }
  }

  @Test func `asks nobody at TAB`() throws {
    let place = try Place()
    _ = try place.binary.run(Self.pay)
    let words = ["__complete", "fish", "journal", "show", ""]
    let found = try place.report(words)
    for port in [53, 80, 443, 5432] {
      #expect([EPERM, EACCES].contains(found["connect \(port)"] ?? 0), "\(port)")
    }
    #expect(try place.binary.run(words).output.hasPrefix("A\t"))
  }

  @Test func `looks into no shared journal at TAB`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    _ = try binary.run(Self.pay)
    let listener = try Listener()
    binary.variables["TENDER_JOURNAL"] =
      "postgres://a@127.0.0.1:\(listener.port)/b?connect_timeout=2"
    let result = try binary.run("__complete", "fish", "journal", "show", "")
    #expect(result.output.isEmpty)
    #expect(!listener.wasVisited)
  }

  /// A port of this machine that reports connections.
  private final class Listener {
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let port: UInt16

    init() throws {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let made = descriptor
      unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
          _ = unsafe bind(made, raw, size)
          _ = unsafe getsockname(made, raw, &size)
        }
      }
      _ = Glibc.listen(made, 8)
      _ = fcntl(made, F_SETFL, O_NONBLOCK)
      port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    var wasVisited: Bool { accept(descriptor, nil, nil) >= 0 }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func `takes no configuration of another user, as root either`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let config = binary.home.appending(path: "config.json").path
    try #"{"schema":1}"#.write(toFile: config, atomically: true, encoding: .utf8)
    #expect(try binary.run("journal", "list", "--config", config).status == 0)
    #expect(unsafe chown(config, 65534, 65534) == 0)
    for words in [["journal", "list"], ["config", "check"]] {
      let result = try binary.run(words + ["--config", config, "--json"])
      #expect(result.status == 2)
      #expect(result.errorRecord["error"]?["code"] == "file_too_open", "\(result.errors)")
    }
    let typed = ["__complete", "fish", "--config", config, "--profile", ""]
    #expect(try binary.run(typed).output.isEmpty)
  }

  // A refusing kernel.

  /// What a container's profile does that allows neither Landlock nor another filter, as instructions of seccomp(2).
  private static let refusing = [
    (0x20, 0, 0, 0), (0x15, 4, 0, 444), (0x15, 0, 2, 157), (0x20, 0, 0, 16), (0x15, 1, 0, 22),
    (0x06, 0, 0, 0x7fff_0000), (0x06, 0, 0, 0x0005_0001),
  ]

  #if arch(x86_64)
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/bwrap"), "no bwrap"))
  func `says in doctor what a container refuses, and what allows it`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["container"] = "oci"
    let whole = try binary.run("doctor", "--json").records
      .first { $0.text("name") == "containment" }
    #expect(whole?.text("detail")?.hasSuffix("; in a container") == true)
    let filter = Self.refusing.map { code, yes, no, value in
      let bytes = [code & 255, 0, yes, no] + [0, 8, 16, 24].map { value >> $0 & 255 }
      return bytes.map { "\\" + String($0 + 512, radix: 8).dropFirst() }.joined()
    }
    let tender = binary.executable.path
    binary.program = "/bin/sh"
    let run =
      "printf '\(filter.joined())' | bwrap --dev-bind / / --seccomp 0 \(tender) doctor --json"
    let refused = try binary.run("-c", run)
    #expect(refused.status == 0, "\(refused)")
    let check = refused.records.first { $0.text("name") == "containment" }
    #expect(
      check?.text("detail")
        == "nothing of this process is bounded; Landlock refused: Operation not permitted; "
        + "seccomp refused: Operation not permitted; in a container"
    )
    #expect(check?.text("outcome") == "warn")
    #expect(check?.text("remedy")?.hasPrefix("let the seccomp profile of the container") == true)
  }
  #endif

  @Test func `warns in doctor where nothing is bounded, and pays only where that is allowed`()
    throws
  {
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["TENDER_CONTAINMENT"] = "off"
    let check = try #require(
      try binary.run("doctor", "--json").records.first { $0.text("name") == "containment" }
    )
    #expect(check.text("outcome") == "warn")
    #expect(check.text("remedy")?.contains("TENDER_CONTAINMENT") == true)
    #expect(try binary.run("doctor", "--json").status == 0)
    #expect(try binary.run("doctor", "--output", "table").output.contains("warn  containment"))
    let config = binary.home.appending(path: "config.json")
    try #"{"schema":1,"profiles":{"w":{"containment":"required"}}}"#.write(
      to: config,
      atomically: true,
      encoding: .utf8
    )
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: config.path)
    let required = ["--config", config.path, "--profile", "w"]
    let refused = try binary.run(Self.pay + required + ["--json"])
    #expect(refused.status == 16)
    #expect(refused.errorRecord["error"]?["code"] == "containment_missing")
    let line =
      #"{"command":"transact","reference":"B","amount":"5","test_card":"visa","profile":"w"}"#
    let batch = try binary.run(
      ["batch", "-", "--config", config.path, "--json"],
      input: line + "\n"
    )
    #expect(batch.records.first?["error"]?["code"] == "containment_missing", "\(batch)")
    // With that profile for all lines, none is read.
    let whole = try binary.run(["batch", "-", "--json"] + required, input: line + "\n")
    #expect(whole.status == 16)
    #expect(whole.errorRecord["error"]?["code"] == "containment_missing", "\(whole)")
    // Look-ups need no restriction.
    #expect(try binary.run(["journal", "list"] + required).status == 0)
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
    if Self.isWhole {
      binary.variables["TENDER_CONTAINMENT"] = nil
      #expect(try binary.run(Self.pay + required).status == 0)
    }
  }

  // The manual.

  /// Each kind of command in the manual, with the commands of that kind.
  private static let rows: [(name: String, lines: [String])] = [
    ("payment, simulated", [pay.joined(separator: " "), "tokenize --test-card visa"]),
    (
      "payment elsewhere",
      [
        "transact --env sandbox --amount 5", "tokenize --env sandbox --test-card visa", "confirm A",
        "conformance --env sandbox",
      ]
    ),
    (
      "look-up",
      [
        "payment-status A", "mandate-status A", "cancel A", "refund A", "find --online A",
        "doctor --env sandbox",
      ]
    ),
    (
      "look-up, simulated",
      [
        "refund A --env simulator", "cancel A --env simulator", "confirm A --env simulator",
        "payment-status A --env simulator",
      ]
    ),
    (
      "find, journal",
      [
        "find", "totals", "explain A", "journal list", "journal show A", "journal export",
        "journal import trace", "journal migrate", "journal prune --before 2020-01-01 --yes",
        "journal verify", "journal backup work/copy", "journal accept --reason x --yes",
        "doctor", "conformance",
      ]
    ),
    (
      "journal resume",
      ["journal resume --all", "journal resolve A --as failed --reason x --yes"]
    ),
    ("batch", ["batch -"]),
    ("simulator serve", ["simulator serve --port 8085"]),
    ("simulator run", ["simulator run --port 8085 -- ./none"]),
    (
      "simulator show",
      [
        "simulator show", "simulator requests", "simulator advance 1h", "simulator save work/world",
        "simulator load work/world", "simulator reset",
      ]
    ),
    ("completion", ["__complete fish journal show A"]),
  ]
  /// Those that read neither journal nor provider.
  private static let unlimited = [
    "providers", "schema", "completion", "help", "version", "journal grants",
    "simulator scenarios", "config show", "config check",
  ]

  /// All commands, as a shell completes them.
  private func commands(_ binary: Binary) throws -> Set<String> {
    func words(_ typed: String...) throws -> [String] {
      try binary.run(["__complete", "fish"] + typed + [""]).output.split(separator: "\n")
        .compactMap { $0.split(separator: "\t").first.map(String.init) }
    }
    let groups = ["journal", "simulator", "config"]
    var all = Set(try words().filter { !groups.contains($0) })
    for group in groups { all.formUnion(try words(group).map { "\(group) \($0)" }) }
    return all
  }

  /// The report of a command line, in a home with one payment.
  private func report(_ line: String) throws -> (found: [String: Int32], place: Place) {
    let place = try Place()
    let words = line.split(separator: " ").map(String.init)
    _ = try place.binary.run(Self.pay)
    place.binary.variables["TENDER_BOUNDS_EXEC"] = "1"
    guard words.contains("serve") else { return (try place.report(words, input: ""), place) }
    try? FileManager.default.removeItem(atPath: place.home + "/report")
    let (process, output, _) = try place.binary.start(words + ["--json"])
    _ = output.read(until: "\n")
    process.terminate()
    process.waitUntilExit()
    return (try place.read(), place)
  }

  private func cells(_ found: [String: Int32], _ place: Place) -> [String] {
    func isOpen(_ what: String) -> Bool {
      found[what].map { ![EACCES, EPERM].contains($0) } ?? false
    }
    func list(_ all: [(String, Bool)]) -> String {
      let open = all.filter(\.1).map(\.0)
      return open.isEmpty ? "none" : open.joined(separator: " ")
    }
    let ports = [9, 53, 80, 443, 3000, 5432, 8085, 8086]
    let files =
      isOpen("write \(place.secret)")
      ? "all"
      : isOpen("read \(place.secret)")
        ? "reads all" : isOpen("make \(place.state)") ? "state" : "none"
    return [
      files,
      isOpen("exec") || found["exec"] == nil ? "any" : "none",
      list(ports.map { (String($0), isOpen("connect \($0)")) }),
      list(ports.map { (String($0), isOpen("listen \($0)")) } + [("*", isOpen("listen unbound"))]),
      list(["tcp", "udp", "unix", "bluetooth"].map { ($0, isOpen("socket \($0)")) }),
      isOpen("kill other") ? "any" : "own",
    ]
  }

  @Test(.enabled(if: isWhole, "this kernel has no Landlock with scopes, or no seccomp"))
  func `bounds each command as the manual's table says`() throws {
    var table = [
      ["command", "files", "runs", "connects", "listens", "sockets", "signals"]
    ]
    var known = Set(Self.unlimited)
    for (name, lines) in Self.rows {
      for (index, line) in lines.enumerated() {
        let (found, place) = try report(line)
        let row = [name] + cells(found, place)
        if index == 0 { table.append(row) }
        #expect(row == table.last, "\(line)")
        let words = line.split(separator: " ").map(String.init)
        known.formUnion([words[0], words.prefix(2).joined(separator: " ")])
      }
    }
    for line in Self.unlimited {
      #expect(try report(line).found.isEmpty, "\(line) is limited")
    }
    let missing = try commands(Binary()).subtracting(known)
    #expect(missing.isEmpty, "no row has \(missing)")
    let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
    let lines = table.map { row in
      var line = ""
      for (cell, width) in zip(row, widths) {
        line += cell + String(repeating: " ", count: width - cell.count + 2)
      }
      return "  " + line.trimmingCharacters(in: .whitespaces)
    }
    let manual = try Binary().run("help", "containment").output
    #expect(manual.contains(lines.joined(separator: "\n")), "\(lines.joined(separator: "\n"))")
  }
}
