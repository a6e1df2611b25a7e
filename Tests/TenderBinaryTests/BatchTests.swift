import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

/// Many commands from a file: order, faults in their place, resuming, reports.
@Suite struct BatchTests {
  func write(_ lines: [String], _ binary: Binary) throws -> String {
    try Works.write(lines, binary)
  }

  static func pay(_ reference: String, _ more: String = "") -> String {
    """
    {"command":"transact","reference":"\(reference)","amount":"10.50","test_card":"visa"\(more)}
    """
  }

  static let mixed = [
    pay("A1"), pay("A2", #","sim_scenario":"decline:insufficient_funds""#),
    pay("A3", #","sim_scenario":"decline:insufficient_funds","expect":"declined""#),
    """
    {"command":"transact","reference":"A4","amount":5,"metadata":{"order":7},"payor":\
    {"first_name":"Ada"},"instrument":{"type":"card","number":"5555555555554444",\
    "security_code":"987","expiration":"12/49"}}
    """,
    """
    {"command":"transact","provider":"toro","reference":"T1","amount_minor":999,\
    "sim_scenario":"card:tap"}
    """,
    """
    {"command":"transact","provider":"truelayer","reference":"B1","amount":"10",\
    "bank":"mock-payments-gb-redirect","beneficiary_name":"Ben","sort_code":"56-00-29",\
    "account_number":"26207729","user":{"name":"Remi","email":"remi@example.com"}}
    """,
    pay("H1", #","confirmation":true"#), #"{"command":"confirm","reference":"H1"}"#,
    #"{"command":"payment-status","id":"H1"}"#, "", "no JSON",
    #"{"command":"transact","amount":"1","test_card":"visa"}"#,
    #"{"command":"charge","reference":"X"}"#, pay("A5", #","test_crd":"visa""#),
    pay("A6", #","yes":true"#), pay("A7", #","instrument":{"type":"card"}"#),
    pay("L1", #","env":"live""#), pay("4111111111111111"),
  ]

  /// Each fault of the batch strikes each line, except a line with faults of its own.
  @Test func `passes all faults of the batch on`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    // The payment is made, and neither its answer nor a look shows it.
    for (name, faults) in [
      ("A", ["part2:close-after", "graphql:http-500"]),
      ("B", ["graphql:http-500", "part2:close-after"]),
    ] {
      let lines = [Self.pay(name), Self.pay(name + "2", #","sim_fault":"part2:latency=1ms""#)]
      let words = faults.flatMap { ["--sim-fault", $0] }
      let result = try binary.run(["batch", write(lines, binary), "--json", "--jobs", "1"] + words)
      let summary = try #require(result.records.last)
      #expect(summary["unknown"] == 1 && summary["ok"] == 1, "\(result.output)")
    }
  }

  @Test func `runs every line, each fault in its place`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let report = binary.home.appending(path: "report.xml")
    let result = try binary.run(
      "batch",
      try write(Self.mixed, binary),
      "--ordered",
      "--json",
      "--junit",
      report.path
    )
    #expect(result.status == 14)
    let rows = result.records.dropLast()
    #expect(rows.map { $0["line"] } == [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18])
    #expect(
      rows.map { $0.text("status") ?? $0["error"]?["code"]?.text } == [
        "succeeded", "declined", "declined", "succeeded", "succeeded", "succeeded",
        "requires_confirmation", "succeeded", "succeeded", "bad_line", "bad_line", "bad_line",
        "bad_line", "bad_line", "bad_options", "live_not_named", "card_number_on_command_line",
      ]
    )
    #expect(
      rows.map { $0.text("reference") } == [
        "A1", "A2", "A3", "A4", "T1", "B1", "H1", "H1", "H1", nil, nil, "X", "A5", "A6", "A7", "L1",
        nil,
      ]
    )
    var summary = try #require(result.records.last)
    #expect(summary["milliseconds"]?.wholeNumber != nil)
    summary["milliseconds"] = nil
    summary["at"] = nil
    let expected: JSONObject = [
      "schema": 2, "record": "batch_summary", "command": "batch", "lines": 17, "ok": 8,
      "failed": 9, "unknown": 0, "replayed": 0,
      "statuses": [
        "declined": 2, "error": 8, "requires_confirmation": 1, "succeeded": 6,
      ], "stopped": false,
      // H1 was held, captured and looked up: it counts once.
      "sums": [
        "GBP": ["charged": 1999, "net": 1999, "refunded": 0],
        "USD": ["charged": 2600, "net": 2600, "refunded": 0],
      ],
    ]
    #expect(summary.sorted == expected.sorted)
    #expect(result.errors == "")
    for (file, bytes) in try binary.everyByte() where !file.hasSuffix(".jsonl") {
      #expect(bytes.firstRange(of: Data("5555555555554444".utf8)) == nil, "\(file)")
      #expect(bytes.firstRange(of: Data("4111111111111111".utf8)) == nil, "\(file)")
    }
    try check(report)
  }

  /// The report, read by Foundation's parser.
  private func check(_ report: URL) throws {
    let document = try XMLDocument(contentsOf: report)
    let suite = try #require(try document.nodes(forXPath: "/testsuites/testsuite").first)
    let counts = try ["tests", "failures", "errors"].map { name in
      try suite.nodes(forXPath: "@\(name)").first?.stringValue
    }
    #expect(counts == ["17", "1", "8"])
    #expect(try suite.nodes(forXPath: "testcase").count == 17)
    let failure = try suite.nodes(forXPath: "testcase[contains(@name, ' A2')]/failure/@type").first
    #expect(failure?.stringValue == "insufficient_funds")
    #expect(try suite.nodes(forXPath: "testcase[contains(@name, ' A3')]/*").isEmpty)
    let names = try suite.nodes(forXPath: "testcase/@name").compactMap(\.stringValue)
    #expect(Set(names).count == 17 && names.contains("line 1: transact A1"), "\(names)")
    #expect(!FileManager.default.fileExists(atPath: report.path + ".part"))
  }

  @Test func `goes on where it was stopped, and pays nothing twice`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try write((0..<60).map { Self.pay("R\($0)") }, binary)
    let (process, output, errors) = try binary.start(["batch", file, "--rate", "100", "--json"])
    var said = ""
    while said.count(where: { $0 == "\n" }) < 3 {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { break }
      said += String(decoding: more, as: UTF8.self)
    }
    kill(process.processIdentifier, SIGINT)
    said += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let told = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 130)
    let first = Binary.Result(status: 130, output: said, errors: "").records
    #expect(first.last?["stopped"] == true)
    let done = first.dropLast().count
    let left = "stopped with \(60 - done) lines left: the same command with --resume goes on"
    #expect(told.contains("\"text\":\"\(left)\""), "\(told)")
    #expect(first.last?["left"] == .integer(60 - done))
    #expect(first.last?["lines"] == .integer(done) && done < 60)
    #expect(first.dropLast().allSatisfy { $0.text("status") == "succeeded" })
    // Killed in the middle, without notice.
    let (second, more, _) = try binary.start(["batch", file, "--resume", "--json"])
    _ = more.fileHandleForReading.availableData
    kill(second.processIdentifier, SIGKILL)
    second.waitUntilExit()
    let last = try binary.run("batch", file, "--resume", "--json", "--ordered")
    #expect(last.status == 0, "\(last.errors)")
    #expect(last.records.last?["ok"] == 60)
    #expect(last.records.dropLast().prefix(3).allSatisfy { $0["replayed"] == true })
    let ledger = binary.home.appending(path: ".local/state/tender/simulator.db").path
    for number in 0..<60 {
      #expect(try LedgerAudit.charges(path: ledger, reference: "R\(number)") == 1)
    }
  }

  /// A later line may have cancelled or refunded the payment of a finished one.
  @Test func `finished lines stay finished when the batch goes on`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = [
      #"{"command":"transact","reference":"H","amount":"9","test_card":"visa","hold":true}"#,
      #"{"command":"cancel","reference":"H"}"#,
      #"{"command":"transact","reference":"A","amount":"9","test_card":"visa","expect":"succeeded"}"#,
      #"{"command":"refund","reference":"A"}"#,
      #"{"command":"transact","provider":"toro","reference":"S","amount":"10","hold":true}"#,
      #"{"command":"confirm","provider":"toro","reference":"S"}"#,
      #"{"command":"cancel","provider":"toro","reference":"S"}"#,
      #"{"command":"transact","reference":"D","amount":"1.93","test_card":"visa"}"#,
    ]
    let input = lines.joined(separator: "\n") + "\n"
    let first = try binary.run("batch", "-", "--ordered", "--json", input: input)
    #expect(first.records.last?["failed"] == 1, "\(first.output)")
    let again = try binary.run("batch", "-", "--ordered", "--resume", "--json", input: input)
    #expect(again.records.last?["failed"] == 1, "\(again.output)")
    #expect(again.records.last?["replayed"] == .integer(lines.count))
    let errors = again.records.map { $0["error"]?["code"]?.text }
    #expect(errors == [nil, nil, nil, nil, nil, nil, nil, "insufficient_funds", nil])
    // The record shows what the payment is now.
    #expect(again.records.first?["status"] == "cancelled")
  }

  @Test func `ends in 9 where one line is unknown, and finds out afterwards`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try write(
      [Self.pay("A"), Self.pay("B", #","sim_fault":"part2:reset-before*1""#), Self.pay("C")],
      binary
    )
    let first = try binary.run("batch", file, "--json")
    #expect(first.status == 9)
    #expect(first.records.last?["unknown"] == 1 && first.records.last?["ok"] == 2)
    let calm = try write([Self.pay("A"), Self.pay("B"), Self.pay("C")], binary)
    let second = try binary.run("batch", calm, "--resume", "--json")
    #expect(second.status == 0 && second.records.last?["replayed"] == 2)
  }

  @Test func `begins nothing more after a failure where it is told so`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = [Self.pay("A"), "no"] + (0..<40).map { Self.pay("N\($0)") }
    let result = try binary.run(
      "batch",
      try write(lines, binary),
      "--stop-on-error",
      "--jobs",
      "1",
      "--json"
    )
    #expect(result.status == 14 && result.records.last?["stopped"] == true)
    // One at a time: the line that failed is the last.
    #expect(result.records.last?["lines"] == 2 && result.records.last?["left"] == 40)
    let declined = Self.pay("D", #","sim_scenario":"decline:insufficient_funds""#)
    let more = [Self.pay("B"), declined] + (0..<40).map { Self.pay("M\($0)") }
    let several = try binary.run(
      "batch",
      try write(more, binary),
      "--stop-on-error",
      "--ordered",
      "--json"
    )
    #expect(several.status == 14)
    // With four at a time, three may still run when it fails.
    #expect((several.records.last?["lines"]?.wholeNumber ?? 99) <= 5)
  }

  @Test func `answers while its lines still come`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let input = Pipe()
    let (process, output, _) = try binary.start(["batch", "-", "--json"], input: input)
    input.fileHandleForWriting.write(Data((Self.pay("A") + "\n").utf8))
    var said = ""
    while !said.contains("\n") {
      said += String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    }
    #expect(said.contains("\"reference\":\"A\"") && said.contains("succeeded"))
    input.fileHandleForWriting.write(Data(Self.pay("B").utf8))
    try input.fileHandleForWriting.close()
    let rest = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(rest.contains("\"lines\":2"))
  }

  static let wrong: [(words: [String], code: String)] = [
    (["batch"], "bad_operand"), (["batch", "/nowhere"], "bad_file"),
    (["batch", "-", "--jobs", "0"], "bad_value"), (["batch", "-", "--jobs", "257"], "bad_value"),
    (["batch", "-", "--rate", "x"], "bad_value"),
    (["batch", "-", "--junit", "/nowhere/report.xml"], "bad_file"),
    (["batch", "-", "--amount", "1"], "unknown_option"),
  ]

  @Test(arguments: wrong)
  func `refuses what cannot be`(_ row: (words: [String], code: String)) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run(row.words + ["--json"], input: "")
    #expect(result.status == 2 && result.output == "")
    #expect(result.errorRecord["error"]?["code"]?.text == row.code)
  }

  @Test func `refuses a line that cannot be read in its place, and runs the others`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let long = Self.pay(
      "B",
      #","receipt_description":""# + String(repeating: "x", count: 300_000) + "\""
    )
    let file = binary.home.appending(path: "bytes.jsonl")
    var bytes = Data((Self.pay("A") + "\n" + long + "\n").utf8)
    bytes += Data(Self.pay("C", #","receipt_description":""#).dropLast().utf8) + [0xFF, 0xFE]
    bytes += Data("\"}\n".utf8)
    bytes += Data((Self.pay("D", #","amount":"99""#) + "\n" + Self.pay("E") + "\n").utf8)
    try bytes.write(to: file)
    let result = try binary.run("batch", file.path, "--json", "--ordered")
    #expect(result.status == 14)
    #expect(
      result.records.dropLast().map { $0.text("status") ?? $0["error"]?["code"]?.text }
        == ["succeeded", "bad_line", "bad_line", "bad_line", "succeeded"]
    )
    #expect(result.records.last?["lines"] == 5)
    let ledger = binary.home.appending(path: ".local/state/tender/simulator.db").path
    #expect(try LedgerAudit.charges(path: ledger, reference: "D") == 0)
  }

  @Test func `names the reference of a line that it refuses, unless a card number is in it`() throws
  {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = [
      Self.pay("A", #","foo":1"#), Self.pay("B", #","foo":"4111111111111111""#),
      Self.pay("4111111111111111", #","foo":1"#), #"{"reference":"C"}"#, #"{"reference":7}"#,
      Self.pay("D", #","deadline":"2s""#),
    ]
    let result = try binary.run("batch", try write(lines, binary), "--json", "--ordered")
    #expect(
      result.records.dropLast().map { $0.text("reference") } == ["A", nil, nil, "C", "7", "D"]
    )
    #expect(!result.output.contains("4111111111111111"))
  }

  @Test func `refuses what cannot be a batch before it runs a line`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try write([Self.pay("A")], binary)
    for arguments in [
      [binary.home.path], [file, "--junit", file],
      [file, "--junit", binary.home.appending(path: "none/report.xml").path],
    ] {
      let result = try binary.run(["batch", "--json"] + arguments)
      #expect(result.status == 2, "\(arguments)")
      #expect(result.output == "", "\(arguments)")
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == Self.pay("A") + "\n")
    let look = try binary.run("payment-status", "A", "--json")
    #expect(look.status == 5)
  }

  @Test func `says what is wrong with a line that is not an object`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try write(
      [#"{"command":"transact","reference":"\ud800"}"#, #"{"command":"a","command":"b"}"#, "[]"],
      binary
    )
    let result = try binary.run("batch", file, "--json", "--ordered")
    let messages = result.records.dropLast().map { $0["error"]?["message"]?.text ?? "" }
    for (message, text) in zip(messages, ["half of a surrogate pair", "a key twice", "is not a"]) {
      #expect(message.contains(text), "\(message)")
    }
  }

  /// A line cannot allow what the batch's profile refuses.
  @Test func `pays no line under a read-only profile`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let config = binary.home.appending(path: "c.json")
    try #"{"profiles":{"ro":{"mode":"read-only"},"w":{"mode":"read-write"}}}"#.write(
      to: config,
      atomically: true,
      encoding: .utf8
    )
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: config.path)
    let file = try write([Self.pay("A", #","profile":"w""#), Self.pay("B")], binary)
    let words = ["batch", file, "--config", config.path, "--profile", "ro", "--json"]
    let result = try binary.run(words)
    let codes = result.records.dropLast().map { $0["error"]?["code"]?.text }
    #expect(codes == ["read_only", "read_only"], "\(result.output)")
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
  }

  @Test func `keeps a refund behind the sale it is of`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = (0..<6).flatMap { number in
      [
        """
        {"command":"transact","reference":"S\(number)","amount":5,"sim_scenario":"card:tap"}
        """,
        """
        {"command":"transact","reference":"R\(number)","type":"refund","original":"S\(number)",\
        "amount":2,"sim_scenario":"card:tap"}
        """,
      ]
    }
    let result = try binary.run(
      "batch",
      try write(lines, binary),
      "--provider",
      "toro",
      "--jobs",
      "8",
      "--json"
    )
    #expect(result.status == 0, "\(result.output)")
    #expect(result.records.last?["ok"] == 12)
  }

  /// An option of the batch counts for the lines that use it. Each line may name its provider.
  @Test func `leaves an option to the lines that use it`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let sale = #"{"command":"transact","provider":"toro","reference":"S1","amount":"5"}"#
    let file = try write([Self.pay("A1"), sale], binary)
    let result = try binary.run("batch", file, "--device", "simulator", "--ordered", "--json")
    #expect(result.records.map { $0.text("status") } == ["succeeded", "succeeded", nil])
    // An option in a line is still refused if the line does not use it.
    let typed = try write([Self.pay("A2", #","device":"simulator""#)], binary)
    let refused = try binary.run("batch", typed, "--json")
    #expect(refused.records.first?["error"]?["code"] == "bad_options")
  }

  @Test(arguments: [
    #"{"command":"confirm","reference":"4111111111111111"}"#,
    #"{"command":"payment-status","id":"4111 1111 1111 1111"}"#,
    #"{"command":"transact","reference":"A","amount":"5","metadata":{"n":"4111111111111111"}}"#,
  ])
  func `never shows a card number that stands in a line`(_ line: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run("batch", try write([line], binary), "--json")
    #expect(result.records.first?["error"]?["code"] == "card_number_on_command_line")
    #expect(!(result.output + result.errors).contains("4111"))
  }

  @Test func `takes an instrument with one provider alone`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let line = """
      {"command":"transact","provider":"toro","reference":"T","amount":5,\
      "sim_scenario":"card:tap","instrument":{"type":"card","number":"5555555555554444",\
      "security_code":"987","expiration":"12/49"}}
      """
    let result = try binary.run("batch", try write([line], binary), "--json")
    #expect(result.status == 14)
    #expect(result.records.first?["error"]?["code"] == "bad_options")
    #expect(!(result.output + result.errors).contains("5555555555554444"))
  }

  @Test func `ends at the first signal where it waits for a line`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let input = Pipe()
    let (process, output, _) = try binary.start(["batch", "-", "--json"], input: input)
    input.fileHandleForWriting.write(Data((Self.pay("A") + "\n").utf8))
    _ = output.fileHandleForReading.availableData
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    #expect(process.terminationStatus == 143)
    try input.fileHandleForWriting.close()
  }
}
