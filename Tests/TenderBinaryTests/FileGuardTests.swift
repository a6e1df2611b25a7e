import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Files with secrets, and files that decide about money, must be private to their owner.
@Suite struct FileGuardTests {
  private static let card =
    #"{"number":"4111111111111111","expiration":"12/39","security_code":"123"}"#

  private static func write(_ text: String, _ mode: Int, to path: URL) throws {
    try text.write(to: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path.path)
  }

  @Test(arguments: [
    (0o600, 0), (0o400, 0), (0o644, 2), (0o640, 2), (0o620, 2), (0o602, 2),
  ])
  func `takes an instrument from a file that nobody else can read`(
    _ mode: Int,
    _ status: Int32
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let path = binary.home.appending(path: "card.json")
    try Self.write(Self.card, mode, to: path)
    let result = try binary.run(
      "transact",
      "--amount",
      "5",
      "--reference",
      "A",
      "--instrument-file",
      path.path,
      "--json"
    )
    #expect(result.status == status, "\(result.errors)")
    guard status == 2 else { return }
    #expect(result.errorRecord["error"]?["code"] == "file_too_open")
    #expect(result.errorRecord["error"]?["hint"]?.text == "chmod 600 \(path.path)")
  }

  @Test func `guards every file that a variable names`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    // Without any simulated world, a look-up finds nothing and reads no token.
    let pay = "transact --amount 1 --test-card visa --reference OTHER"
    #expect(try binary.run(pay.split(separator: " ").map(String.init)).status == 0)
    let path = binary.home.appending(path: "token")
    try Self.write("resource-token-of-a-payment", 0o644, to: path)
    binary.variables = ["TENDER_TRUELAYER_RESOURCE_TOKEN_FILE": path.path]
    let words = ["payment-status", "--provider", "truelayer", "--json"]
    let id = "11111111-2222-4333-8444-555555555555"
    #expect(try binary.run(words + [id]).errorRecord["error"]?["code"] == "file_too_open")
    binary.variables = [:]
    let named = try binary.run(words + ["--resource-token-file", path.path, id])
    #expect(named.errorRecord["error"]?["code"] == "file_too_open")
    let form = ["transact", "--provider", "truelayer", "--amount", "5", "--form-file", path.path]
    let given = try binary.run(
      form + BankStory.payee + BankStory.payer
        + ["--bank", "mock-payments-de-embedded", "--reference", "F", "--json"]
    )
    #expect(given.errorRecord["error"]?["code"] == "file_too_open")
    // Other users cannot read a pipe.
    let piped = try binary.run(
      words + ["--resource-token-file", "-", id],
      input: "resource-token-of-a-payment"
    )
    #expect(piped.status != 2, "\(piped.errors)")
  }

  @Test(arguments: [
    (#"{"profiles":{"a":{"provider":"paytheory"}}}"#, 0o644, true),
    (#"{"profiles":{"a":{"provider":"paytheory"}}}"#, 0o664, false),
    (#"{"profiles":{"a":{"provider":"paytheory"}}}"#, 0o646, false),
    (#"{"profiles":{"a":{"paytheory":{"api_key":"acme-x"}}}}"#, 0o644, true),
    (#"{"profiles":{"a":{"toro":{"api_key":"secret-of-a-till"}}}}"#, 0o644, false),
    (#"{"profiles":{"a":{"toro":{"api_key":"secret-of-a-till"}}}}"#, 0o600, true),
  ])
  func `takes a configuration that nobody else can write`(
    _ text: String,
    _ mode: Int,
    _ isTaken: Bool
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let path = binary.home.appending(path: "c.json")
    try Self.write(text, mode, to: path)
    let result = try binary.run("config", "check", "--config", path.path, "--json")
    #expect(result.status == (isTaken ? 0 : 2), "\(result.errors)")
    if !isTaken { #expect(result.errorRecord["error"]?["code"] == "file_too_open") }
  }

  /// A user who can write a folder above could remove this configuration, or put another file there.
  @Test(arguments: [(0o777, 2), (0o775, 2), (0o755, 0), (0o1777, getuid() == 0 ? 0 : 2)])
  func `refuses a configuration that others can move`(_ mode: Int, _ status: Int32) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let parent = binary.home.appending(path: "shared")
    let folder = parent.appending(path: "own")
    try FileManager.default.createDirectory(
      at: folder,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    let path = folder.appending(path: "c.json")
    try Self.write(#"{"profiles":{"a":{"mode":"read-only"}}}"#, 0o600, to: path)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: parent.path)
    let result = try binary.run("config", "check", "--config", path.path, "--json")
    #expect(result.status == status, "\(result.errors)")
    guard status != 0 else { return }
    let error = try #require(result.errorRecord["error"])
    #expect(error["code"] == "file_too_open")
    #expect(error["hint"]?.text?.hasPrefix("chmod go-w \(parent.path)") == true, "\(error)")
  }

  /// The owner of a folder can change its rights. A sticky folder protects only from users that do not own it.
  @Test(
    .enabled(if: geteuid() == 0, "only root can give a folder away"),
    arguments: [0o755, 0o1777]
  )
  func `uses nothing below a folder of another user`(_ mode: Int) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let folder = binary.home.appending(path: "theirs")
    let own = folder.appending(path: "own")
    try FileManager.default.createDirectory(
      at: own,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    let path = own.appending(path: "c.json")
    try Self.write("{}", 0o600, to: path)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path)
    #expect(unsafe chown(folder.path, 65534, 65534) == 0)
    let config = try binary.run("config", "check", "--config", path.path, "--json")
    #expect(config.status == 2)
    #expect(config.errorRecord["error"]?["code"] == "file_too_open")
    let pay = "transact --amount 5 --test-card visa --reference A"
    #expect(try binary.run(line: pay, ["--state-dir", own.path + "/state"]).status == 16)
  }

  /// The name of standard input and output. Only a few commands read or write them so.
  @Test(arguments: [
    "simulator save -", "journal backup -", "batch lines --check --junit -",
    "transact --amount 5 --test-card visa --trace -",
  ])
  func `makes no file named as standard output`(_ line: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    _ = try binary.run(line: "transact --amount 5 --test-card visa --reference A")
    try Data("{}".utf8).write(to: binary.home.appending(path: "lines"))
    let result = try binary.run(line: line)
    #expect(result.status == 2, "\(result)")
    #expect(result.errorRecord["error"]?["code"] == "bad_file")
    #expect(!FileManager.default.fileExists(atPath: binary.home.path + "/-"))
  }

  /// Each of these wrote over the journal.
  @Test(arguments: [
    "simulator save STATE/journal.db", "simulator save STATE/journal.db-wal",
    "simulator serve --env-file STATE/journal.db", "journal backup STATE/copy.db",
    "batch lines --junit STATE/journal.db --state-dir other", "batch lines --junit lines",
    "batch --csv lines --junit lines",
  ])
  func `replaces no file of a journal, and none that it reads`(_ line: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let state = binary.home.appending(path: ".local/state/tender")
    _ = try binary.run(line: "transact --amount 5 --test-card visa --reference A")
    let lines = binary.home.appending(path: "lines")
    try Data("{}".utf8).write(to: lines)
    let before = try Data(contentsOf: state.appending(path: "journal.db"))
    let result = try binary.run(line: line.replacing("STATE", with: state.path))
    #expect(result.status == 2, "\(result)")
    #expect(result.errorRecord["error"]?["code"] == "bad_file", "\(result.errors)")
    #expect(try Data(contentsOf: state.appending(path: "journal.db")) == before)
    #expect(try Data(contentsOf: lines) == Data("{}".utf8))
  }

  /// A link that another user could replace leads to another journal, which would charge again.
  @Test(arguments: ["shared/link", "shared/link/deeper", "loop/state"])
  func `refuses a state folder behind a link that others can replace`(_ path: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let manager = FileManager.default
    for name in ["own/deeper", "shared"] {
      try manager.createDirectory(
        at: binary.home.appending(path: name),
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    }
    let links = ["shared/link": "../own", "own/state": "deeper", "loop": "shared/link"]
    for (name, target) in links {
      let place = binary.home.appending(path: name).path
      try manager.createSymbolicLink(atPath: place, withDestinationPath: target)
    }
    func pay() throws -> Binary.Result {
      try binary.run([
        "transact", "--amount", "5", "--test-card", "visa", "--json", "--reference", "A",
        "--state-dir", binary.home.appending(path: path).path,
      ])
    }
    #expect(try pay().status == 0)
    let shared = binary.home.appending(path: "shared").path
    try manager.setAttributes([.posixPermissions: 0o777], ofItemAtPath: shared)
    let refused = try pay()
    #expect(refused.status == 16, "\(refused.output) \(refused.errors)")
    #expect(refused.errorRecord["error"]?["message"]?.text?.contains(shared) == true)
  }

  /// Another user could put an older mark there, and a restored journal would not be noticed.
  @Test(arguments: [(0o777, 16), (0o775, 16), (0o755, 0), (0o1777, getuid() == 0 ? 0 : 16)])
  func `refuses a folder of marks that others can write`(_ mode: Int, _ status: Int32) throws {
    for isParent in [false, true] {
      var binary = try Binary()
      defer { binary.remove() }
      let open = binary.home.appending(path: "open")
      let marks = isParent ? open.appending(path: "marks") : open
      try FileManager.default.createDirectory(at: marks, withIntermediateDirectories: true)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: open.path)
      binary.variables["TENDER_MARK_DIR"] = marks.path
      for line in ["transact --amount 5 --test-card visa --reference A", "journal list"] {
        let result = try binary.run(line: line)
        // Without a journal there is nothing to list.
        guard status == 0 || line != "journal list" else { continue }
        #expect(result.status == status, "\(line): \(result.errors)")
        guard status != 0 else { continue }
        #expect(result.errorRecord["error"]?["code"] == "state_unusable")
        #expect(result.errorRecord["error"]?["message"]?.text?.contains("mark") == true)
      }
    }
  }

  /// A user who can write a folder above could replace this state folder. A group's is only warned of while payments
  /// are simulated.
  @Test(arguments: [(0o777, 16), (0o775, 0), (0o755, 0), (0o1777, getuid() == 0 ? 0 : 16)])
  func `refuses a state folder that others can move`(_ mode: Int, _ status: Int32) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let parent = binary.home.appending(path: "shared")
    try FileManager.default.createDirectory(
      at: parent.appending(path: "own/state"),
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: parent.path)
    let result = try binary.run([
      "transact", "--amount", "5", "--test-card", "visa", "--json", "--reference", "A",
      "--state-dir", parent.path + "/own/state",
    ])
    #expect(result.status == status, "\(result.errors)")
    let isWarned = result.errors.contains("\(parent.path) can be written by others") && status == 0
    #expect(isWarned == (mode == 0o775), "\(result.errors)")
    if status != 0 {
      #expect(result.errorRecord["error"]?["code"] == "state_unusable")
      #expect(result.errorRecord["error"]?["message"]?.text?.contains(parent.path) == true)
    }
    guard mode == 0o775 else { return }
    // The journal's upkeep concerns every payment.
    let prune = ["journal", "prune", "--before", "2020-01-01", "--yes", "--json"]
    let pruned = try binary.run(prune + ["--state-dir", parent.path + "/own/state"])
    #expect(pruned.status == 16, "\(pruned)")
  }

  /// Debian makes a group with each account, and new files are writable for it. A container can have a user without an
  /// account, and root's group.
  @Test(
    .enabled(if: geteuid() == 0, "only root can become another user"),
    arguments: [("1", "1", "1", 0), ("1", "1", "65534", 2), ("1012345", "0", "0", 0)]
  )
  func `takes what only a private group can write`(
    _ user: String,
    _ group: String,
    _ owners: String,
    _ status: Int32
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let path = binary.home.appending(path: "card.json")
    try Self.write(Self.card, 0o660, to: path)
    for (place, mode) in [(binary.home.path, 0o775), (path.path, 0o660)] {
      #expect(unsafe chown(place, uid_t(user) ?? 0, gid_t(owners) ?? 0) == 0)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: place)
    }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/setpriv")
    let pay = "transact --amount 5 --json --reference R --instrument-file \(path.path)"
    process.arguments =
      ["--reuid", user, "--regid", group, "--clear-groups", binary.executable.path]
      + pay.split(separator: " ").map(String.init)
    process.environment = ["HOME": binary.home.path]
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == status)
  }

  @Test(arguments: [
    ("", 0o702), ("/journal.db", 0o644), ("/journal.db", 0o606),
    ("/simulator.db", 0o660), ("/journal.lock", 0o666),
  ])
  func `keeps its state where nobody else can write`(_ name: String, _ mode: Int) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--json", "--reference"]
    #expect(try binary.run(pay + ["A"]).status == 0)
    let path = binary.home.appending(path: ".local/state/tender").path + name
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    let refused = try binary.run(pay + ["B"])
    #expect(refused.status == 16)
    #expect(refused.errorRecord["error"]?["code"] == "state_unusable")
    let mending = "nothing was sent; chmod \(name.isEmpty ? 700 : 600) \(path)"
    #expect(refused.errorRecord["error"]?["hint"]?.text == mending)
    try FileManager.default.setAttributes(
      [.posixPermissions: name.isEmpty ? 0o700 : 0o600],
      ofItemAtPath: path
    )
    #expect(try binary.run(pay + ["B"]).status == 0)
  }

  /// A trace is appended to its file, whatever the file holds.
  @Test func `traces into no file of the state, and into none that it reads`() throws {
    let shop = try Shop()
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference"]
    #expect(try shop.binary.run(pay + ["A"]).status == 0)
    let state = URL(filePath: shop.journal).deletingLastPathComponent()
    let config = shop.binary.home.appending(path: "c.json")
    try Data("{}".utf8).write(to: config)
    let files = ["journal.key", "journal.db", "new"].map { state.appending(path: $0).path }
    for path in files + [config.path] {
      let words = pay + ["B", "--trace", path, "--config", config.path, "--json"]
      let refused = try shop.binary.run(words)
      #expect(refused.status == 2 && refused.errors.contains("bad_file"), "\(refused.errors)")
    }
    #expect(!FileManager.default.fileExists(atPath: files[2]))
    #expect(try shop.binary.run(pay + ["B"]).status == 0)
  }
}
