import Foundation
import TenderModel
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// `simulator run` with commands of every kind.
@Suite struct SimulatorRunTests {
  private static let pay =
    "tender transact --provider paytheory --env sandbox --test-card visa --json --fields status,reference"

  /// A home in which a shell finds the program.
  private static func home() throws -> Binary {
    var binary = try Binary()
    binary.variables["PATH"] = "\(Binary.products.path):/usr/bin:/bin"
    binary.variables["TMPDIR"] = binary.home.path
    return binary
  }

  private static func words(_ script: String, _ options: [String] = []) -> [String] {
    ["simulator", "run"] + options + ["--", "sh", "-c", script]
  }

  /// Nothing is left of the state folder, and of processes with this text among their arguments.
  private static func expectNothingLeft(_ binary: Binary, _ text: String? = nil) throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: binary.home.path)
    #expect(!files.contains { $0.hasPrefix("tender-") }, "\(files)")
    guard let text else { return }
    for process in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
      let line = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
      #expect(line?.contains(text) != true, "\(process): \(line ?? "")")
    }
  }

  /// Whether a process of the tests' commands exists.
  private static func isAlive(_ process: String) -> Bool {
    guard let number = Int32(process.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      return false
    }
    return kill(number, 0) == 0
  }

  // Books.

  @Test func `says in one line what the command paid`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let script = """
      \(Self.pay) --amount 10.50 --reference A && \(Self.pay) --amount 7 --reference B
      \(Self.pay) --amount 1.93 --reference C
      tender refund B --env sandbox --amount 2 --json --fields status
      tender transact --provider toro --env sandbox --amount 8 --signature-matches yes --json --fields status
      """
    let expected = "charged.USD=1750,refunded.USD=200,payments=4,unknown=0"
    let result = try binary.run(
      Self.words(script, ["--expect", expected, "--expect", "charged.GBP=800"])
    )
    #expect(result.status == 0, "\(result)")
    #expect(result.output.split(separator: "\n").count == 5, "\(result.output)")
    #expect(
      result.errors.hasSuffix(
        "tender: simulator: 4 payments, 1 refund, 1 refused · 8.00 GBP charged, 17.50 USD charged, "
          + "2.00 USD refunded\n"
      ),
      "\(result.errors)"
    )
    try Self.expectNothingLeft(binary)
  }

  /// A journal of an earlier run would replay its payments, which the new world does not have.
  @Test func `begins with a new world and a new journal`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    for _ in 1...2 {
      let result = try binary.run(
        Self.words("\(Self.pay) --amount 5 --reference A", ["--expect", "charged.USD=500"])
      )
      #expect(result.status == 0, "\(result)")
      #expect(result.output == #"{"reference":"A","status":"succeeded"}"# + "\n")
    }
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
    try Self.expectNothingLeft(binary)
  }

  @Test func `begins with a saved world, and saves its own`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let first = try binary.run(
      Self.words("\(Self.pay) --amount 5 --reference A", ["--keep", "a.world"])
    )
    #expect(first.status == 0, "\(first)")
    let second = try binary.run(
      Self.words(
        "\(Self.pay) --amount 6 --reference B; tender simulator show --json | grep -c '\"payment\"'",
        ["--world", "a.world", "--keep", "b.world", "--expect", "charged.USD=1100,payments=2"]
      )
    )
    #expect(second.status == 0, "\(second)")
    #expect(second.output.hasSuffix("\n2\n"))
    #expect(try binary.run("simulator", "load", "b.world").status == 0)
    let shown = try binary.run("simulator", "show", "--json").records
    #expect(shown.compactMap { $0.text("reference") } == ["A", "B"])
    for missing in ["none.world", "a.world/none"] {
      let refused = try binary.run(Self.words("exit 0", ["--world", missing]))
      #expect(refused.status == 2, "\(refused)")
    }
    try Self.expectNothingLeft(binary)
  }

  @Test(arguments: [
    ("payments=1", 18, "the books have payments=0, and payments=1 was expected"),
    (
      "payments=0,charged.USD=1", 18, "the books have charged.USD=0, and charged.USD=1 was expected"
    ),
    ("payments=0,charged.USD=0,unknown=0", 0, "simulator: 0 payments, 0 refunds, 0 refused"),
    ("payments", 2, ""), ("payments=x", 2, ""), ("payments=-1", 2, ""), ("charged=1", 2, ""),
    ("charged.XYZ=1", 2, ""), ("payments.USD=1", 2, ""), ("succeeded", 2, ""),
    ("payments=0,", 2, ""),
    ("undelivered=0", 2, "events are only sent with --webhook URL"), ("delivered=0", 2, ""),
  ])
  func `judges the books of a command that succeeded`(
    _ word: String,
    _ status: Int32,
    _ text: String
  ) throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let result = try binary.run(Self.words("exit 0", ["--expect", word]))
    #expect(result.status == status, "\(result)")
    #expect(result.errors.contains(text), "\(result.errors)")
    #expect(result.output.isEmpty)
    // A command that failed has its own status.
    guard status == 18 else { return }
    let failed = try binary.run(Self.words("exit 3", ["--expect", word]))
    #expect(failed.status == 3, "\(failed)")
    #expect(failed.errors.contains(text), "\(failed.errors)")
    let record = try binary.run(Self.words("exit 0", ["--expect", word, "--json"])).errorRecord
    #expect(record["error"]?["code"] == "unexpected_books")
  }

  /// The job of the README: without a scenario the bank payment waits for its payer.
  @Test(.enabled(if: Judge.has("uuid"), "python3 is not installed"))
  func `counts a payment without an end as unknown`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let script = #"tender help truelayer-client | sed -n 's/^ \{2\}//p' >pay.py; python3 pay.py"#
    let open = try binary.run(Self.words(script, ["--expect", "unknown=1,charged.GBP=0"]))
    #expect(open.status == 0, "\(open)")
    #expect(open.errors == "tender: simulator: 1 payment, 0 refunds, 0 refused, 1 unknown\n")
    let paid = try binary.run(
      Self.words(
        script,
        ["--sim-scenario", "bank:execute", "--expect", "unknown=0,charged.GBP=1050"]
      )
    )
    #expect(paid.status == 0 && paid.output == "executed\n", "\(paid)")
    #expect(
      paid.errors == "tender: simulator: 1 payment, 0 refunds, 0 refused · 10.50 GBP charged\n"
    )
  }

  /// The books list the latest 1,000 payments. Sums are of all.
  @Test func `sums more payments than a list shows`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let line = #"{"command":"transact","amount":"1","test_card":"visa","reference":"R%d"}\n"#
    let script = "seq 1050 | xargs printf '\(line)' | tender batch - --jobs 4 --quiet >out"
    let result = try binary.run(
      Self.words(script, ["--expect", "payments=1050,charged.USD=105000"])
    )
    #expect(result.status == 0, "\(result)")
  }

  // The command.

  @Test(arguments: [
    ("exit 0", 0), ("exit 7", 7), ("exit 75", 75), ("kill -TERM $$", 143), ("kill -KILL $$", 137),
    ("exec 1>&- 2>&-; exit 5", 5), ("exec <&-; exit 0", 0),
  ])
  func `ends as the command does`(_ script: String, _ status: Int32) throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let result = try binary.run(Self.words(script))
    #expect(result.status == status, "\(result)")
    #expect(result.output.isEmpty)
    try Self.expectNothingLeft(binary)
  }

  @Test(arguments: [["./none"], ["no-such-program"], ["/etc/passwd"], ["/"]])
  func `refuses a command that cannot be started`(_ command: [String]) throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let result = try binary.run(["simulator", "run", "--json", "--"] + command)
    #expect(result.status == 2, "\(result)")
    #expect(result.errorRecord["error"]?["code"] == "bad_operand")
    #expect(result.output.isEmpty)
    try Self.expectNothingLeft(binary)
  }

  @Test(arguments: [
    ["simulator", "run"], ["simulator", "run", "--"], ["simulator", "run", "--", ""],
    ["simulator", "run", "--state-dir", "d", "--", "true"],
    ["simulator", "run", "--sim-fault", "token:unreachable", "--", "true"],
    ["simulator", "run", "--env-file", "e", "--", "true"],
  ])
  func `refuses what it would not do`(_ words: [String]) throws {
    let binary = try Self.home()
    defer { binary.remove() }
    #expect(try binary.run(words).status == 2)
    try Self.expectNothingLeft(binary)
  }

  @Test func `passes input, output, arguments and descriptors unchanged`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let script =
      "exec tender simulator run -- sh -c 'cat; cat <&3; echo error >&2; shift; printf \"[%s]\" \"$@\"' sh 3<three"
      .replacing(" sh 3<", with: " sh - '' --json -q '*' 3<")
    try "three".write(to: binary.home.appending(path: "three"), atomically: true, encoding: .utf8)
    var shell = binary
    shell.program = "/bin/sh"
    let result = try shell.run(["-c", script], input: "one\n")
    #expect(result.status == 0, "\(result)")
    #expect(result.output == "one\nthree[][--json][-q][*]", "\(result.output)")
    #expect(result.errors.hasPrefix("error\n"))
  }

  /// The program gets what this process inherited, and nothing that it made for itself.
  @Test func `restricts nothing of the command`() throws {
    var binary = try Self.home()
    defer { binary.remove() }
    binary.variables["SSLKEYLOGFILE"] = binary.home.path + "/keys"
    let probe = """
      umask; ulimit -c; ulimit -n; echo $SSLKEYLOGFILE
      ls -l /proc/self/fd | grep -c socket:
      grep -E '^(Sig(Blk|Ign)|Seccomp|NoNewPrivs):' /proc/self/status
      touch made
      """
    let file = binary.home.appending(path: "probe")
    try probe.write(to: file, atomically: true, encoding: .utf8)
    var shell = binary
    shell.program = "/bin/sh"
    let limits = "umask 027; ulimit -S -c 100; ulimit -S -n 512; "
    let bare = try shell.run(["-c", limits + "exec sh probe"])
    let run = try shell.run(["-c", limits + "exec tender simulator run -- sh probe"])
    // The tests themselves may run with ignored signals.
    func plain(_ text: String) -> [Substring] {
      text.split(separator: "\n").filter { !$0.hasPrefix("SigIgn") }
    }
    #expect(plain(run.output) == plain(bare.output), "\(run.output)\n\(bare.output)")
    func signals(_ name: String) -> UInt64? {
      let line = run.output.split(separator: "\n").first { $0.hasPrefix(name) }
      return line.flatMap { UInt64($0.suffix(16), radix: 16) }
    }
    #expect(signals("SigBlk") == 0, "\(run)")
    // Of the C library's two own signals no program can change anything.
    #expect(signals("SigIgn").map { $0 & ~0x1_8000_0000 } == 0, "\(run)")
  }

  @Test func `gives the command every variable of an environment file`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let result = try binary.run(["simulator", "run", "--", "env"])
    let found = Set(result.output.split(separator: "\n").map { $0.prefix { $0 != "=" } })
    let (process, output, _) = try binary.start(["simulator", "serve", "--json"])
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    let served = Served.variables(output)
    #expect(served.count > 30 && served.keys.allSatisfy { found.contains($0[...]) })
    #expect(found.contains("TENDER_SIMULATOR_URL") && found.contains("TENDER_STATE_DIR"))
    let url = result.output.split(separator: "\n").first { $0.hasPrefix("TENDER_SIMULATOR_URL") }
    #expect(url?.hasPrefix("TENDER_SIMULATOR_URL=http://127.0.0.1:") == true)
  }

  @Test(arguments: ["live", "sandbox", nil])
  func `runs against the simulator in any environment`(_ outer: String?) throws {
    var binary = try Self.home()
    defer { binary.remove() }
    binary.variables["TENDER_ENV"] = outer
    // A name that is relative to a folder which the command leaves.
    binary.variables["TMPDIR"] = "."
    let script =
      "cd /; tender transact --provider paytheory --test-card visa --amount 5 --reference A --json "
      + "--fields env,status"
    let run = try binary.run(Self.words(script, ["--expect", "charged.USD=500"]))
    #expect(run.status == 0 && run.output == #"{"env":"simulator","status":"succeeded"}"# + "\n")
    try Self.expectNothingLeft(binary)
  }

  @Test func `runs nothing where its world cannot be saved`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    for path in ["none/world", ".", "/dev/full"] {
      let refused = try binary.run(Self.words("touch ran; exit 3", ["--keep", path]))
      #expect([2, 16].contains(refused.status), "\(refused)")
    }
    #expect(!FileManager.default.fileExists(atPath: binary.home.appending(path: "ran").path))
    try Self.expectNothingLeft(binary)
  }

  // Its processes.

  /// A process that was left in the group, and ignores SIGTERM, is killed. The run takes these 10 seconds.
  @Test func `ends what is left of the command's group, and nothing else`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let mark = "29\(UInt32.random(in: 100_000...999_999))"
    let script = """
      sleep \(mark)1 & sh -c 'sleep \(mark)2 & wait' &
      sh -c 'trap "" TERM; echo ready >ready; sleep \(mark)3; sleep \(mark)4' &
      setsid bash -c 'for one in /proc/self/fd/*; do eval "exec ${one##*/}>&-"; done
        echo $$ >daemon; exec sleep \(mark)5' &
      until [ -s daemon ] && [ -s ready ]; do :; done
      exit 6
      """
    let start = ContinuousClock.now
    // The daemon has closed the descriptors by which the end of the run is seen.
    let result = try binary.run(Self.words(script))
    #expect(result.status == 6, "\(result)")
    let took = ContinuousClock.now - start
    #expect(took > .seconds(9) && took < .seconds(40))
    let daemon = try String(
      contentsOf: binary.home.appending(path: "daemon"),
      encoding: .utf8
    )
    #expect(Self.isAlive(daemon), "a process of another session is left alone")
    if let number = Int32(daemon.trimmingCharacters(in: .whitespacesAndNewlines)) {
      kill(number, SIGKILL)
    }
    for number in 1...4 { try Self.expectNothingLeft(binary, "\(mark)\(number)") }
  }

  /// Starts a command that writes its process to a pipe, and runs `body` with it.
  private static func whileRunning(
    _ script: String,
    _ options: [String] = [],
    _ body: (Process, String) throws -> Void
  ) throws -> (status: Int32, took: Duration, errors: String) {
    let binary = try home()
    defer { binary.remove() }
    let start = ContinuousClock.now
    let (process, output, errors) = try binary.start(words(script, options))
    let command = output.read(until: "\n")
    try body(process, command.trimmingCharacters(in: .whitespacesAndNewlines))
    process.waitUntilExit()
    let said = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
    #expect(!isAlive(command), "\(script)")
    // A process that was killed leaves the rest to its helper.
    if process.terminationReason == .exit { try expectNothingLeft(binary) }
    return (process.terminationStatus, ContinuousClock.now - start, said)
  }

  // The shell's own handler would take a signal that comes before its child is another program.
  @Test(arguments: [
    (SIGTERM, "trap 'exit 4' TERM; sh -c 'echo $PPID; exec sleep 1000' & wait", 4),
    (SIGTERM, "echo $$; sleep 1000 & wait", 143),
    (SIGINT, "echo $$; sleep 1000 & wait", 130),
    (SIGHUP, "trap 'exit 9' HUP; sh -c 'echo $PPID; exec sleep 1000' & wait", 9),
  ])
  func `passes a signal on to a command that hangs`(
    _ signal: Int32,
    _ script: String,
    _ status: Int32
  ) throws {
    let run = try Self.whileRunning(script) { process, _ in kill(process.processIdentifier, signal)
    }
    #expect(run.status == status)
    #expect(run.took < .seconds(9))
    #expect(run.errors.contains("tender: simulator: 0 payments"))
  }

  @Test func `kills a command that ignores SIGTERM`() throws {
    let run = try Self.whileRunning("trap '' TERM; echo $$; sleep 1000 & wait") { process, _ in
      kill(process.processIdentifier, SIGTERM)
    }
    #expect(run.status == 137)
    #expect(run.took > .seconds(9) && run.took < .seconds(40))
  }

  @Test func `ends a command at its deadline`() throws {
    let run = try Self.whileRunning("echo $$; sleep 1000 & wait", ["--deadline", "1s"]) { _, _ in }
    #expect(run.status == 143)
    #expect(run.took < .seconds(9))
  }

  /// The helper ends the command, and removes the folder.
  @Test func `leaves nothing where it is killed itself`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let (process, output, _) = try binary.start(Self.words("echo $$; sleep 1000 & wait"))
    let command = output.read(until: "\n")
    #expect(Self.isAlive(command))
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    // The end of the last process closes the pipe.
    _ = output.fileHandleForReading.readDataToEndOfFile()
    #expect(!Self.isAlive(command))
  }

  // A terminal.

  @Test(.enabled(if: Judge.has("pty"), "python3 is not installed"))
  func `gives the command the terminal`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    let script = "printf 'name: '; read name; echo \"hello $name\"; test -t 0 && test -t 1"
    let (exit, screen) = try binary.onTerminal(Self.words(script), [("name:", "Ada\n")])
    #expect(exit == 0, "\(screen)")
    #expect(screen.contains("hello Ada") && screen.contains("tender: simulator: 0 payments"))
    let stopped = try binary.onTerminal(
      Self.words("trap 'exit 33' INT; echo ready; sleep 1000 & wait"),
      [("ready", "\u{3}")]
    )
    #expect(stopped.exit == 33, "\(stopped.screen)")
  }

  @Test(.enabled(if: Judge.has("pty"), "python3 is not installed"))
  func `stops and goes on as a job of a shell`() throws {
    var binary = try Self.home()
    binary.variables["PS1"] = "% "
    defer { binary.remove() }
    let run = "tender simulator run -- sh -c 'echo re\"\"ady; read name; echo \"hello $name\"'"
    let (exit, screen) = try binary.onTerminal(
      ["--norc", "--noprofile", "-i"],
      [
        ("% ", run + "\n"), ("ready", "\u{1a}"), ("Stopped", "echo prompt=$((1+1))\n"),
        ("prompt=2", "fg\n"), ("sh -c", "Ada\n"), ("hello Ada", "exit 21\n"),
      ],
      by: ["/bin/bash"]
    )
    #expect(exit == 21, "\(screen)")
  }
}
