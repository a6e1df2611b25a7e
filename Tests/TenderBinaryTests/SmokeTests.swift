import Foundation
import TenderCommandLine
import TenderModel
import TenderTestSupport
import Testing

/// A smoke test in CI: checked before it runs, exact in its expectations, the same each time.
@Suite struct SmokeTests {
  private static func pay(_ reference: String, _ more: String = "") -> String {
    #"{"command":"transact","reference":"\#(reference)","amount":"5","test_card":"visa"\#(more)}"#
  }

  @Test func `checks every line, and sends and writes nothing`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let bank = #"""
      {"command":"transact","provider":"truelayer","env":"sandbox","reference":"B","amount":"5",\#
      "beneficiary_name":"Ben","sort_code":"560029","account_number":"26207729",\#
      "user":{"name":"Remi","email":"remi@example.com"}}
      """#
    let file = try Works.write(
      [
        Self.pay("A"), Self.pay("A", #","currency":"EUR""#), Self.pay("C", #","amount_minor":1"#),
        bank, #"{"command":"confirm","reference":"A"}"#,
        #"{"command":"refund","reference":"S","provider":"toro","reason":"x"}"#,
        #"{"command":"transact","reference":"P","amount":"5","profile":"none"}"#,
        Self.pay("E", #","expect":"paid""#), #"{"command":"payment-status","id":"A"}"#,
        #"{"command":"transact","provider":"toro","reference":"T","amount":"5"}"#, Self.pay("A"),
      ],
      binary
    )
    let result = try binary.run("batch", file, "--check", "--ordered", "--json")
    #expect(result.status == 14)
    let rows = result.records.dropLast()
    #expect(
      rows.map { $0["error"]?["code"]?.text ?? $0.text("outcome") } == [
        "ok", "reference_reused", "bad_options", "sdk_not_configured", "ok", "bad_options",
        "unknown_profile", "bad_value", "ok", "ok", "ok",
      ]
    )
    #expect(rows.compactMap { $0["line"]?.boundedNumber } == Array(1...11))
    #expect(result.records.last?["ok"] == 5 && result.records.last?["failed"] == 6)
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
    let config = binary.home.appending(path: "c.json")
    try #"{"profiles":{"ro":{"mode":"read-only"}}}"#
      .write(to: config, atomically: true, encoding: .utf8)
    let only = ["batch", file, "--check", "--config", config.path, "--profile", "ro", "--ordered"]
    let refused = try binary.run(only + ["--json"]).records
    #expect(refused.first?["error"]?["code"] == "read_only")
    #expect(refused.dropFirst(4).first?["error"]?["code"] == "read_only")
    #expect(refused.dropFirst(8).first?["outcome"] == "ok")
    let folder = binary.home.appending(path: ".local").path
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  /// The expectation, and the exit status of a command that has it.
  @Test(arguments: [
    ("insufficient_funds", "1.93", "code:insufficient_funds", 0), ("exit", "1.93", "exit:3", 0),
    ("either", "1.93", "succeeded,declined", 0), ("another", "1.93", "succeeded,exit:4", 18),
    ("field", "5", "succeeded,result.body.last_four=1111", 0),
    ("any value", "5", "result.body.receipt_number=*", 0),
    ("no such field", "5", "succeeded,result.body.none=*", 18),
    ("another value", "5", "succeeded,result.body.brand=AMEX", 18),
    ("both", "5", "exit:0,final=true", 0),
    ("none of them", "5", "code:insufficient_funds", 18),
  ])
  func `expects more than a status`(
    _ name: String,
    _ amount: String,
    _ expected: String,
    _ status: Int32
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let words = ["transact", "--amount", amount, "--test-card", "visa", "--json"]
    let result = try binary.run(words + ["--expect", expected])
    #expect(result.status == status, "\(name): \(result.output)")
    if status == 18 {
      let message = result.record["error"]?["message"]?.text ?? ""
      #expect(message.hasSuffix("and \(expected) was expected"))
    }
  }

  @Test func `expects a fault, which is a result then`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let fault = ["--sim-fault", "part2:reset-before", "--json"]
    let lost = try binary.run(
      ["transact", "--amount", "5", "--test-card", "visa", "--expect", "exit:9"] + fault
    )
    #expect(lost.status == 0)
    #expect(lost.record.text("record") == "error" && lost.record["error"]?["exit"] == 9)
    #expect(lost.errorRecord.text("record") == "note")
    #expect(try binary.run("cancel", "nothing", "--expect", "exit:5", "--json").status == 0)
    #expect(try binary.run("cancel", "nothing", "--expect", "exit:6", "--json").status == 5)
    let look = ["payment-status", "nothing", "--expect", "code:payment_not_found", "--json"]
    #expect(try binary.run(look).status == 0)
    for word in ["exit:x", "exit:256", "code:", "=x", "paid", ""] {
      let bad = try binary.run("cancel", "A", "--expect=\(word)", "--json")
      #expect(bad.status == 2, "\(word)")
    }
  }

  @Test func `prints the same bytes twice, however its lines take turns`() throws {
    var lines = (1...16).map { Self.pay("R\($0)") }
    lines.append(Self.pay("D", #","amount":"1.93","expect":"code:insufficient_funds""#))
    lines[16] = lines[16].replacing(#""amount":"5","#, with: "")
    lines += [
      #"{"command":"transact","provider":"toro","reference":"T","amount":"5"}"#,
      #"{"command":"cancel","reference":"R1","amount":"2","refund_reference":"two"}"#,
      #"{"command":"none","reference":"X"}"#,
    ]
    var outputs: Set<String> = []
    var reports: Set<String> = []
    for _ in 0..<3 {
      let binary = try Binary()
      defer { binary.remove() }
      let report = binary.home.appending(path: "report.xml")
      let words = ["--sim-seed", "7", "--sim-clock", "2026-01-01T00:00:00Z", "--jobs", "8"]
      let result = try binary.run(
        ["batch", try Works.write(lines, binary), "--ordered", "--json", "--junit", report.path]
          + words
      )
      #expect(result.status == 14)
      #expect(result.records.last?["ok"] == 19, "\(result.output)")
      outputs.insert(result.output)
      reports.insert(try String(contentsOf: report, encoding: .utf8))
    }
    #expect(outputs.count == 1)
    #expect(reports.count == 1)
  }

  @Test func `sums what was charged and refunded by currency`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try Works.write(
      [
        Self.pay("A"), Self.pay("B"),
        #"{"command":"transact","reference":"C","amount":"1.93","test_card":"visa"}"#,
        #"{"command":"transact","provider":"toro","reference":"T","amount":"2.50"}"#,
        #"{"command":"refund","reference":"A","amount":"4","refund_reference":"r"}"#,
      ],
      binary
    )
    let summary = try binary.run("batch", file, "--json").records.last
    #expect(
      summary?["sums"]?.object?.sorted == [
        "GBP": ["charged": 250, "net": 250, "refunded": 0],
        "USD": ["charged": 1000, "net": 600, "refunded": 400],
      ]
    )
  }

  @Test func `prints bare values`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference", "A"]
    let raw = ["--output", "raw", "--fields"]
    let paid = try binary.run(pay + raw + ["status,amount,final,result.body.brand,source"])
    #expect(paid.output == "succeeded\t500\ttrue\tVISA\t\n")
    let listed = try binary.run(["journal", "list"] + raw + ["reference"])
    #expect(listed.output == "A\n")
    let metadata = ["--metadata", "a=x\ty\nz", "--reference", "B", "--metadata", "b=é"]
    let odd = try binary.run(
      ["transact", "--amount", "5", "--test-card", "visa"] + metadata + raw
        + ["result.body.metadata.a,result.body.metadata.b"]
    )
    #expect(odd.output == "x y z\té\n")
    // A terminal would read these as commands, or reverse the text after them.
    let controls = ["--metadata", "a=x\u{9b}y\u{202e}z\u{200b}w\u{9d}", "--reference", "C"]
    let harmless = try binary.run(
      ["transact", "--amount", "5", "--test-card", "visa"] + controls + raw
        + ["result.body.metadata.a"]
    )
    #expect(harmless.output == "x?y?z?w?\n")
    for words in [["--output", "raw"], ["--json", "--output", "raw", "--fields", "id"]] {
      #expect(try binary.run(pay + words).status == 2, "\(words)")
    }
  }

  /// With `CI` set, no person can be asked, even if there is a terminal.
  @Test(.enabled(if: Judge.has("pty"), "python3 is not installed"))
  func `asks nobody in CI`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["CI"] = "true"
    let pay = ["transact", "--amount", "5", "--reference", "A"]
    let (exit, screen) = try binary.onTerminal(pay, [])
    #expect(exit == 17 && !screen.contains("Card number"), "\(screen)")
    binary.variables["CI"] = "false"
    let (asked, _) = try binary.onTerminal(pay, [("Card number", "\u{4}")])
    #expect(asked != 0)
  }

  /// Equal runs have equal ids. A further run in the same world has other ids, since no two payments share
  /// one.
  @Test func `gives a further run of the same seed ids of its own`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    var ids: [String] = []
    for run in 1...3 {
      let lines = (1...4).map { Self.pay("R\(run)-\($0)") }
      let result = try binary.run(
        "batch",
        try Works.write(lines, binary),
        "--sim-seed",
        "7",
        "--json"
      )
      #expect(result.status == 0, "\(result.output)")
      ids += result.records.compactMap { $0.text("id") }
    }
    #expect(ids.count == 12 && Set(ids).count == 12)
    // The same line about the same reference once more, after a decline.
    for more in ["", #","new_attempt":true"#] {
      let line = Self.pay("D", #","sim_scenario":"decline:do_not_honor"\#(more)"#)
      let file = try Works.write([line], binary)
      let result = try binary.run("batch", file, "--sim-seed", "7", "--json")
      ids += result.records.compactMap { $0.text("id") }
    }
    #expect(ids.count == 14 && Set(ids).count == 14)
    let refunds = [
      #"{"command":"refund","reference":"R1-1","amount":"1","refund_reference":"one"}"#,
      #"{"command":"refund","reference":"R1-2","amount":"1","refund_reference":"one"}"#,
    ]
    for _ in 0..<2 {
      let file = try Works.write(refunds, binary)
      #expect(try binary.run("batch", file, "--sim-seed", "7", "--json").status == 0)
    }
  }

  /// In process, and with a served simulator, for which each command is another client.
  @Test(arguments: [false, true])
  func `lets a fault strike once for each reference, whichever process asks`(
    _ isServed: Bool
  ) throws {
    var binary = try Binary()
    defer { binary.remove() }
    try Works.waitForNothing(binary)
    let server = isServed ? try Server() : nil
    defer { server?.stop() }
    if let server { binary.variables = server.variables(scheme: "http", port: server.port) }
    func pay(_ reference: String, _ fault: String = "part1:error*1") throws -> Int32 {
      try binary.run(
        "transact",
        "--amount",
        "5",
        "--test-card",
        "visa",
        "--reference",
        reference,
        "--sim-fault",
        fault,
        "--json"
      ).status
    }
    #expect(try [pay("A"), pay("A"), pay("B"), pay("B")] == [11, 0, 11, 0])
    #expect(try [pay("C", "part1:error*2"), pay("C", "part1:error*2")] == [11, 11])
    #expect(try pay("C", "part1:error*2") == 0)
    guard !isServed else { return }
    #expect(try binary.run("simulator", "reset").status == 0)
    #expect(try pay("A2") == 11)
  }

  /// The lines take turns in a random order. The first one waits.
  @Test func `reports the lines in their order, what was expected, and how to repeat the run`()
    throws
  {
    let binary = try Binary()
    defer { binary.remove() }
    let slow = #"{"command":"transact","provider":"toro","reference":"L1","amount":"5"}"#
    let lines =
      [slow] + (2...12).map { Self.pay("L\($0)") }
      + [Self.pay("L13", #","expect":"declined""#), #"{"command":"confirm","reference":"NONE"}"#]
    let report = binary.home.appending(path: "report.xml")
    let words = ["batch", try Works.write(lines, binary), "--junit", report.path, "--jobs", "8"]
    _ = try binary.run(
      words + ["--sim-seed", "7", "--sim-clock", "2026-01-01T09:00:00Z", "--json"]
    )
    let text = try String(contentsOf: report, encoding: .utf8)
    let names = text.components(separatedBy: "<testcase name=\"").dropFirst().map { part in
      String(part.prefix { $0 != "\"" })
    }
    #expect(names == (1...13).map { "line \($0): transact L\($0)" } + ["line 14: confirm NONE"])
    #expect(text.contains("the result is succeeded, exit:0, and declined was expected"))
    #expect(text.contains(#" failures="1" errors="1" skipped="0" "#))
    #expect(text.contains(#"timestamp="2026-01-01T09:00:00Z""#))
    for property in [
      "jobs\" value=\"8", "sim-seed\" value=\"7", "tender\" value=\"\(Catalogue.version)",
    ] {
      #expect(text.contains("<property name=\"\(property)\"/>"), "\(property)")
    }
  }

  @Test func `reports the lines that a stop leaves as skipped`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = [
      Self.pay("A"), #"{"command":"confirm","reference":"X"}"#, Self.pay("C"), Self.pay("D"),
    ]
    let report = binary.home.appending(path: "report.xml")
    let file = try Works.write(lines, binary)
    let words = ["batch", file, "--junit", report.path, "--jobs", "1", "--stop-on-error", "--json"]
    #expect(try binary.run(words).status == 14)
    let text = try String(contentsOf: report, encoding: .utf8)
    #expect(text.contains(#"tests="4" failures="0" errors="1" skipped="2" "#))
    #expect(text.contains(#"name="line 4: D" classname="tender.batch" time="0.000"><skipped "#))
    let slow = ["batch", file, "--junit", report.path, "--rate", "1", "--deadline", "1500ms"]
    _ = try binary.run(slow + ["--json"])
    let left = try String(contentsOf: report, encoding: .utf8)
    #expect(left.contains(#"name="line 4: D" classname="tender.batch" time="0.000"><skipped "#))
    // The number of further lines in a pipe is unknown.
    let piped = ["batch", "-"] + slow.dropFirst(2)
    _ = try binary.run(piped + ["--json"], input: lines.joined(separator: "\n"))
    #expect(try String(contentsOf: report, encoding: .utf8).contains(#"name="further lines""#))
  }

  @Test func `a dry run of what was made before says so`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let words = ["transact", "--test-card", "visa", "--reference", "A", "--json", "--amount"]
    let first = try binary.run(words + ["5", "--dry-run"]).record["request"]?.object
    #expect(first?["plan"] == nil && first?.members.isEmpty == false)
    #expect(try binary.run(words + ["5"]).status == 0)
    #expect(try binary.run(words + ["5", "--dry-run"]).record["request"] == ["plan": "replay"])
    #expect(try binary.run(words + ["6", "--dry-run"]).status == 6)
    #expect(try binary.run(words + ["5", "--dry-run", "--expect", "succeeded"]).status == 2)
  }

  /// An option without effect is refused, and so are options that contradict each other.
  @Test(arguments: [
    "transact --provider toro --amount 5 --sim-fault part2:reset-before",
    "transact --amount 5 --test-card visa --sim-scenario bank:cancel",
    "transact --amount 5 --test-card visa --sim-scenario card:no_card",
    "find --since 2027-01-01 --until 2026-01-01", "find --quiet --verbose",
    "payment-status A --interval 5s", "payment-status A --expect exit:99",
    "transact --amount 5 --test-card visa --dry-run --events", "find --sim-scenario approve",
    "find --sim-fault graphql:http-500", "doctor --sim-fault diagnostic:http-500",
  ])
  func `refuses what it would not use`(_ line: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run(line.split(separator: " ").map(String.init) + ["--json"])
    #expect(result.status == 2, "\(result.output) \(result.errors)")
  }

  @Test func `judges each of several look-ups, faults too`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference", "A", "--json"]
    #expect(try binary.run(pay).status == 0)
    let look = ["payment-status", "A", "nothing", "--json", "--expect"]
    #expect(try binary.run(look + ["succeeded,exit:5"]).status == 0)
    #expect(try binary.run(look + ["succeeded"]).status == 14)
    let typo = try binary.run(pay + ["--expect", "resul.type=x"])
    #expect(typo.status == 2 && typo.errorRecord.text("reference") == "A")
    #expect(typo.errorRecord["error"]?["hint"] == "did you mean result?")
  }

  /// Without its report, a run must not look like a success.
  @Test func `does not end in 0 where its report cannot be written`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try Works.write((1...1500).map { Self.pay("R\($0)") }, binary)
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    // In blocks of 512 or 1024 bytes: too few for the whole report.
    shell.arguments = [
      "-c", #"ulimit -f 60; exec "$0" batch "$1" --check --junit "$2" --json"#, Binary.path.path,
      file, binary.home.appending(path: "report.xml").path,
    ]
    shell.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
    let output = Pipe()
    let errors = Pipe()
    shell.standardOutput = output
    shell.standardError = errors
    try shell.run()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let warned = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    shell.waitUntilExit()
    let summary = Binary.Result(status: 0, output: said, errors: "").records.last
    #expect(summary?["ok"] == 1500)
    #expect(shell.terminationStatus == 16, "\(warned)")
    #expect(warned.contains("--junit: cannot write"))
    let report = binary.home.appending(path: "report.xml").path
    #expect(!FileManager.default.fileExists(atPath: report))
  }
}
