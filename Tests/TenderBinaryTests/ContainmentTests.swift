import CLibraries
import Foundation
import TenderModel
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// The resources that an attacker in the process could reach.
@Suite struct ContainmentTests {
  private static let card =
    #"{"number":"4000 0566 5566 5556","expiration":"12/39","security_code":"937"}"#

  /// Whether this kernel supports all restrictions.
  private static let isWhole =
    tender_system_landlock() >= 4
    && FileManager.default.fileExists(atPath: "/proc/sys/kernel/seccomp/actions_avail")

  /// Whether Landlock can also restrict signals and abstract sockets.
  static let hasScopes = isWhole && tender_system_landlock() >= 6

  /// Tries everything within a run, at the first sync of its journal.
  private func probe(_ variables: [String: String] = [:]) throws -> [String: Int32] {
    let outside = try Binary()
    defer { outside.remove() }
    let folder = outside.home.path
    try "mine".write(toFile: folder + "/private", atomically: true, encoding: .utf8)
    var binary = try Binary().faulty("none:0")
    defer { binary.remove() }
    let report = binary.home.appending(path: "probe")
    binary.variables.merge(
      ["TENDER_PROBE": report.path, "TENDER_PROBE_FOLDER": folder].merging(variables) { $1 }
    ) { $1 }
    let paid = try binary.run(
      "transact",
      "--amount",
      "5",
      "--test-card",
      "visa",
      "--reference",
      "A"
    )
    #expect(paid.status == 0, "\(paid.errors)")
    var found: [String: Int32] = [:]
    for line in try String(contentsOf: report, encoding: .utf8).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2 { found[String(words[0])] = Int32(words[1]) }
    }
    return found
  }

  @Test(.enabled(if: isWhole, "this kernel has no Landlock with TCP ports, or no seccomp"))
  func `reaches nothing that the command has no business with`() throws {
    let found = try probe()
    for what in ["read", "write", "make"] { #expect(found[what] == EACCES, "\(what)") }
    // A simulated payment needs no port.
    for what in ["ptrace", "peek", "unshare", "port-9", "port-443"] {
      #expect(found[what] == EPERM, "\(what)")
    }
    #expect(found["exec"] == EPERM)
    for what in ["name", "library", "etc"] { #expect(found[what] == 0, "\(what)") }
    let binary = try Binary()
    defer { binary.remove() }
    let check = try binary.run("doctor", "--json").records
      .first { $0.text("name") == "containment" }
    let all = "bounded: files, TCP ports, programs, sockets and other processes"
    #expect(check?.text("detail") == all)
    #expect(check?.text("outcome") == "ok")
  }

  @Test(.enabled(if: isWhole, "this kernel has no Landlock with TCP ports, or no seccomp"))
  func `can be turned off`() throws {
    let found = try probe(["TENDER_CONTAINMENT": "off"])
    #expect(found["exec"] == nil || found["exec"] == 0)
    #expect(found["read"] == 0)
  }

  @Test(.timeLimit(.minutes(1))) func `opens the browser with none of its secrets and descriptors`()
    throws
  {
    let shop = try Shop()
    // A pipe: reading it waits for its writer.
    let said = shop.binary.home.appending(path: "browser").path
    #expect(unsafe mkfifo(said, 0o600) == 0)
    let script = shop.binary.home.appending(path: "open.sh")
    try """
    #!/bin/sh
    exec > \(said) 2>&1
    env
    echo "address $1"
    ls -l /proc/self/fd
    grep NoNewPrivs /proc/self/status

    """.write(to: script, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script.path)
    shop.binary.variables["BROWSER"] = script.path
    shop.binary.variables["OWN_VARIABLE"] = "remains"
    shop.binary.variables["TENDER_PAYTHEORY_SECRET_KEY"] = "secret-of-a-merchant"
    let port = try FreePort.next()
    let (process, _, _) = try shop.binary.start(
      ["transact", "--provider", "truelayer", "--amount", "5", "--reference", "B", "--open"]
        + BankStory.payee + BankStory.payer + BankStory.bank
        + ["--redirect-url", "http://localhost:\(port)/callback", "--json"]
    )
    let heard = try #require(FileHandle(forReadingAtPath: said))
    let text = String(decoding: try heard.readToEnd() ?? Data(), as: UTF8.self)
    process.terminate()
    process.waitUntilExit()
    #expect(text.contains("address http://127.0.0.1:"))
    #expect(text.contains("OWN_VARIABLE=remains"))
    #expect(text.contains("HOME="))
    #expect(!text.contains("TENDER_"), "\(text)")
    #expect(!text.contains("socket:"), "\(text)")
    #expect(!text.contains("journal"), "\(text)")
    #if os(Linux)
    #expect(text.contains("NoNewPrivs:\t0"), "its own sandbox needs it")
    #endif
  }

  /// Asks the helper to open addresses. Returns the text that its program wrote, and the answers.
  private func open(_ addresses: [String]) throws -> (text: String, answers: [Int32]) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "open-\(UUID().uuidString)")
      .path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let said = folder + "/said"
    #expect(unsafe mkfifo(said, 0o600) == 0)
    let script = folder + "/opener"
    try "#!/bin/sh\necho \"$# $*\" > \(said)\n".write(
      toFile: script,
      atomically: true,
      encoding: .utf8
    )
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script)
    let helper = unsafe tender_system_browser("TENDER_", script)
    defer { close(helper) }
    var text = ""
    let answers = addresses.map { address in
      let answer = unsafe tender_system_open(helper, address)
      if answer == 0, let heard = FileHandle(forReadingAtPath: said) {
        text += String(decoding: (try? heard.readToEnd()) ?? Data(), as: UTF8.self)
      }
      return answer
    }
    return (text, answers)
  }

  /// The restricted process names an address. The program was chosen before.
  @Test(.timeLimit(.minutes(1))) func `has the browser opened on web addresses alone`() throws {
    let good = "https://bank.example/pay?id=1&x=$(id)%20;`id`"
    let (text, answers) = try open([
      "/bin/sh", "file:///etc/passwd", "--help", "javascript:alert(1)", "https:/x", "HTTPS://x/",
      "http://a b", "https://a/\n", "https://a/é", "-http://a/", "", good,
      "https://" + String(repeating: "a", count: 8192),
    ])
    #expect(answers == Array(repeating: -1, count: 11) + [0, -1])
    #expect(text == "1 \(good)\n")
  }

  /// Returns the places of a card's number in the memory of a running command.
  private static func places(of number: String, in process: Int32) -> [String: Int]? {
    guard let listing = try? FileHandle(forReadingAtPath: "/proc/\(process)/maps")?.readToEnd(),
      let memory = FileHandle(forReadingAtPath: "/proc/\(process)/mem")
    else { return nil }
    let hex = number.utf8.map { String($0, radix: 16) }.joined()
    let forms = [
      "plain": number, "hex": hex,
      "base64": String(Data(number.utf8).base64EncodedString().prefix(20)),
    ]
    var found: [String: Int] = [:]
    for line in String(decoding: listing, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      let range = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard words[1].hasPrefix("rw"), range.count == 2, range[1] - range[0] < 1 << 28,
        (try? memory.seek(toOffset: range[0])) != nil,
        let bytes = try? memory.read(upToCount: Int(range[1] - range[0]))
      else { continue }
      for (name, form) in forms {
        var rest = bytes[...]
        while let place = rest.range(of: Data(form.utf8)) {
          found[name, default: 0] += 1
          rest = rest[place.upperBound...]
        }
      }
    }
    return found
  }

  private static let mayLook: Bool = {
    #if os(Linux)
    geteuid() == 0
    #else
    false
    #endif
  }()

  /// Before the seal, a card is only in this process's memory. Afterwards, it is nowhere.
  @Test(
    .enabled(if: mayLook, "only root on Linux can look into another process's memory"),
    arguments: [
      ("host-token:latency=10s", "connecting", 1), ("part1:silence-after", "preparing", 0),
      ("part2:silence-after", "sent", 0),
    ]
  )
  func `holds a card in one place until it is sealed`(
    _ fault: String,
    _ state: String,
    _ most: Int
  ) throws {
    let shop = try Shop()
    let input = Pipe()
    let (process, output, _) = try shop.binary.start(
      ["transact", "--amount", "5", "--reference", "A", "--instrument-stdin", "--json"]
        + ["--sim-fault", fault, "--timeout", "20s", "--events"],
      input: input
    )
    input.fileHandleForWriting.write(Data(Self.card.utf8))
    try input.fileHandleForWriting.close()
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    #expect(output.read(until: "\"\(state)\"").contains("\"\(state)\""))
    var found: [String: Int] = ["plain": .max]
    for _ in 0..<2000 {
      guard process.isRunning else { break }
      let typed = Self.places(of: "4000 0566 5566 5556", in: process.processIdentifier) ?? [:]
      let plain = Self.places(of: "4000056655665556", in: process.processIdentifier) ?? [:]
      found = plain.merging(typed) { $0 + $1 }
      if found.values.reduce(0, +) == most { break }
    }
    #expect(found.values.reduce(0, +) == most, "\(found)")
  }

  /// A process of the same user can neither attach to it, nor read its memory. A crash leaves no memory
  /// behind.
  @Test(.enabled(if: mayLook, "only root on Linux can start it as somebody else"))
  func `shows its memory to nobody`() throws {
    // The state's mark is beside the state, so both are in a folder that is removed.
    let folder = URL(filePath: "/tmp/served-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    #expect(unsafe chown(folder.path, 65534, 65534) == 0)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/setpriv")
    process.arguments = [
      "--reuid", "65534", "--clear-groups", Binary.path.path, "simulator", "serve", "--json",
      "--state-dir", folder.appending(path: "state").path,
    ]
    process.environment = ["PATH": "/usr/bin:/bin"]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer {
      process.terminate()
      process.waitUntilExit()
      try? FileManager.default.removeItem(at: folder)
    }
    #expect(!(try Served.addresses(output)).isEmpty)
    // The protected files of a process belong to root, for any user of the program.
    var status = stat()
    #expect(unsafe stat("/proc/\(process.processIdentifier)/mem", &status) == 0)
    #expect(status.st_uid == 0)
  }
}
