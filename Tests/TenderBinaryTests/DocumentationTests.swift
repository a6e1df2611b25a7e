import Foundation
import TenderCommandLine
import TenderCommands
import TenderTestSupport
import Testing

/// The examples in README, help and manual work as shown.
@Suite struct DocumentationTests {
  /// A home with `tender` in its path.
  private func home() throws -> (binary: Binary, bin: URL) {
    let binary = try Binary()
    let bin = binary.home.appending(path: "bin")
    try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: bin.appending(path: "tender"),
      withDestinationURL: binary.executable
    )
    return (binary, bin)
  }

  /// Runs a line in a shell. Returns the exit status and the whole output.
  private func shell(_ line: String, _ binary: Binary, _ bin: URL) throws -> (Int32, String) {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-o", "pipefail", "-c", line]
    process.currentDirectoryURL = binary.home
    process.environment = [
      "HOME": binary.home.path, "PATH": "\(bin.path):/usr/bin:/bin", "LC_ALL": "C.UTF-8",
      "COLUMNS": "100", "CI": "1",
    ]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: text, as: UTF8.self))
  }

  /// Hides ids, times and ages, which change with each run.
  private func masked(_ text: String) -> String {
    text.replacing(/pt-tender-paytheorylab-[a-z0-9]{12}/, with: "RECEIPT")
      .replacing(/pt_(pmt|pay)_[a-z0-9]{16}/, with: "METHOD")
      .replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/, with: "TIME")
      .replacing(/\d+ s ago/, with: "0 s ago")
      .replacing(/\ +\n/, with: "\n")
  }

  @Test func `the README's commands print what it says`() throws {
    let text = try String(contentsOfFile: Project.path("README.md"), encoding: .utf8)
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 181)
    let (binary, bin) = try home()
    defer { binary.remove() }
    var count = 0
    for block in text.components(separatedBy: "```console\n").dropFirst() {
      let lines = block.components(separatedBy: "\n```")[0]
      for part in ("\n" + lines).components(separatedBy: "\n$ ").dropFirst() {
        var rest = part.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var command = rest.removeFirst()
        while command.hasSuffix("\\") { command += "\n" + rest.removeFirst() }
        let shown = rest.joined(separator: "\n")
        if command.hasPrefix("cat ") {
          try shown.write(
            to: binary.home.appending(path: String(command.dropFirst(4))),
            atomically: true,
            encoding: .utf8
          )
          continue
        }
        let (_, printed) = try shell(command, binary, bin)
        let found = masked(printed).trimmingCharacters(in: .newlines)
        #expect(found == masked(shown).trimmingCharacters(in: .newlines), "\(command)")
        count += 1
      }
    }
    #expect(count > 10)
  }

  @Test(.enabled(if: Judge.has("ctypes"), "python3 is not installed"))
  func `the README's lines for an own program run as pasted`() throws {
    let text = try String(contentsOfFile: Project.path("README.md"), encoding: .utf8)
    let lines = try #require(
      text.components(separatedBy: "```sh\n").last { $0.contains("simulator run") }?
        .components(separatedBy: "```")[0]
    )
    let (binary, bin) = try home()
    defer { binary.remove() }
    let (status, printed) = try shell(lines, binary, bin)
    #expect(status == 0, "\(printed)")
    let shown = lines.split(separator: "\n").filter { $0.hasPrefix("# ") }.map { $0.dropFirst(2) }
    #expect(printed.split(separator: "\n") == shown, "\(printed)")
  }

  /// An amount, and runs one after the other: the addition to the command, and the script's exit. Three of
  /// them pay, and end like a killed command, a command that `timeout` stopped, and a bug.
  private static let scripts: [(amount: String, runs: [(more: String, exit: Int32)])] = [
    ("5", [("", 0)]),
    ("5", [("--sim-fault part2:reset-before", 75), ("", 0), ("", 0)]),
    // The second command sends it again. Its refusal says nothing about the first request; a look does.
    ("1.93", [("--sim-fault part2:reset-before", 75), ("", 75), ("", 1)]),
    ("1.93", [("", 1)]),
    ("5", [("--sim-fault token:close-before", 75), ("", 0)]),
    ("5", [("; kill -9 $$", 75), ("", 0)]),
    ("5", [("; exit 124", 75), ("", 0)]),
    ("5", [("; exit 1", 75), ("", 0)]),
    ("5", [("--hold", 1)]),
    // Paid from a bank account, and pending for days.
    ("7", [("", 75), ("", 75)]),
    ("", [("", 1)]),
  ]

  /// Run repeatedly, as by a scheduler.
  @Test(arguments: scripts.indices)
  func `the script of README and help ships on a paid status alone`(_ index: Int) throws {
    let (amount, runs) = Self.scripts[index]
    let text = try String(contentsOfFile: Project.path("README.md"), encoding: .utf8)
    let script = try #require(
      text.components(separatedBy: "```sh\n").first { $0.contains("case $? in") }?
        .components(separatedBy: "```")[0]
    )
    let (binary, bin) = try home()
    defer { binary.remove() }
    let help = try binary.run("help", "exit-status").output.replacing("\n  ", with: "\n")
    #expect(help.contains(script))
    let typed =
      amount == "7"
      ? script.replacing("instrument-file card.json", with: "test-account success")
        .replacing("=10s", with: "=1s") : script
    try FileManager.default.removeItem(at: bin.appending(path: "tender"))
    _ = try shell(Self.before("transact", "")[0], binary, bin)
    for (more, exit) in runs {
      let wrapper = "#!/bin/sh\n\(binary.executable.path) \"$@\" \(more)\n"
      let file = bin.appending(path: "tender")
      try wrapper.write(to: file, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
      let (ended, printed) = try shell("ORDER=O-1 AMOUNT=\(amount)\n\(typed)", binary, bin)
      #expect(ended == exit, "\(amount) \(more): \(printed)")
      #expect(printed.contains("ship O-1") == (exit == 0), "\(amount) \(more): \(printed)")
    }
  }

  /// The commands that must run before an example.
  private static func before(_ command: String, _ example: String) -> [String] {
    let pay = "tender transact --test-card visa --amount 10 --reference"
    let sale = "tender transact --provider toro --amount 12 --reference SALE-1"
    let mandate =
      "tender transact --provider truelayer --mandate --max-individual 50 --limit month:500 "
      + "--reference M1 --beneficiary-name Ben --sort-code 56-00-29 --account-number 26207729 "
      + "--user name=Remi --user email=remi@example.com --bank ob-natwest-vrp-sandbox"
    let card =
      #"echo '{"type":"card","number":"4111111111111111","security_code":"123","expiration":"12/39","#
      + #""name":"A B"}' > card.json; chmod 600 card.json"#
    let lines =
      #"echo '{"command":"transact","reference":"B-1","amount":"5","test_card":"visa"}' "#
      + "| tee payments.jsonl > smoke.jsonl; "
      + #"printf 'Order,Total,test_card,Note\nC-1,5,visa,x\n' > orders.csv"#
    let unknown = "\(pay) ORDER-1042 --sim-fault part2:reset-before; true"
    return switch command {
    case "transact": example.contains("--original") ? [sale] : [card]
    case "confirm":
      [
        "\(pay) A2 --confirmation",
        "tender transact --provider toro --amount 12 --hold --reference SALE-2",
      ]
    case "journal import": ["\(pay) A1", "tender journal export > journal.jsonl"]
    case "journal resolve": [unknown]
    case "simulator load": ["\(pay) A1", "tender simulator save paid.world"]
    default: ["\(pay) A1", "\(pay) A2", "\(pay) ORDER-1042", sale, mandate, card, lines]
    }
  }

  /// Exits other than 0 of examples with a whole journal.
  private static let exits: [String: Int32] = [
    "tender journal accept --reason checked --yes": 6,
    "tender conformance --env sandbox": 2,
    "tender find --amount 10.50 --since yesterday --customer remi@example.com": 5,
  ]

  @Test(arguments: Providers().catalogue.commands.map(\.name))
  func `every example of help runs`(_ name: String) throws {
    let command = try #require(
      Providers().catalogue.command(name.split(separator: " ").map(String.init))
    )
    for example in command.examples where name != "simulator serve" {
      let line = example.lines.map { $0.hasSuffix("\\") ? String($0.dropLast()) : $0 }
        .joined(separator: " ")
      let (binary, bin) = try home()
      defer { binary.remove() }
      for step in Self.before(name, line) { _ = try shell(step, binary, bin) }
      let (exit, printed) = try shell(line, binary, bin)
      let words = line.split(separator: " ").joined(separator: " ")
      #expect(exit == Self.exits[words] ?? 0, "\(line): \(printed)")
    }
  }
}
