import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Reports, checks and descriptions say what happened, and nothing else.
@Suite struct StatementTests {
  private func code(_ result: Binary.Result) -> String? {
    result.errorRecord["error"]?["code"]?.text
  }

  // MARK: Reports

  /// A run that is refused must not leave the green report of an earlier one.
  @Test(arguments: [
    ["--bogus"], ["--jobs", "many"], ["--jobs=0"], ["--env", "prod"], ["--profile", "none"],
    ["--config", "none.json"], ["--shard", "x"], ["--json", "--json=1"], ["--map", "a=b"],
    ["--csv", "none.csv"], ["--deadline", "soon"], ["--sim-fault", "nothing"], ["--jobs"],
    ["--provider", "none"], ["4111111111111111"],
  ])
  func `a usage error leaves no report of an earlier run`(_ wrong: [String]) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try Works.write([BatchTests.pay("A")], binary)
    let report = binary.home.appending(path: "r.xml")
    for option in [["--junit", report.path], ["--junit=\(report.path)"]] {
      #expect(try binary.run(["batch", file, "--json"] + option).status == 0)
      let green = try String(contentsOf: report, encoding: .utf8)
      #expect(green.contains(#"errors="0""#))
      let refused = try binary.run(["batch", file, "--json"] + option + wrong)
      #expect(refused.status == 2, "\(refused.errors)")
      let text = try? String(contentsOf: report, encoding: .utf8)
      #expect(text?.contains(#"errors="1""#) ?? true, "\(wrong): \(text ?? "")")
    }
  }

  /// A file that is no report of a batch is never removed.
  @Test func `a usage error removes nothing else`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try Works.write([BatchTests.pay("A")], binary)
    let texts = [
      "", "text", "<?xml version=\"1.0\"?>\n<testsuites>\n<testsuite name=\"others\">\n",
      BatchTests.pay("A"),
    ]
    for text in texts {
      let other = binary.home.appending(path: "other.xml")
      try Data(text.utf8).write(to: other)
      let refused = try binary.run("batch", file, "--junit", other.path, "--bogus", "--json")
      #expect(refused.status == 2)
      #expect(try String(contentsOf: other, encoding: .utf8) == text)
    }
    #expect(try binary.run("batch", file, "--junit", file, "--bogus", "--json").status == 2)
    #expect(FileManager.default.fileExists(atPath: file))
  }

  @Test func `a report of a check says that it is one`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = [BatchTests.pay("A"), "no JSON", #"{"command":"refund","reference":"NONE"}"#]
    let file = try Works.write(lines, binary)
    for checks in [true, false] {
      let report = binary.home.appending(path: "r.xml").path
      let words = ["batch", file, "--ordered", "--json", "--junit", report]
      let result = try binary.run(words + (checks ? ["--check"] : []))
      #expect(result.status == 14)
      #expect(result.records.last?["checked"] == (checks ? JSON.bool(true) : nil))
      let text = try String(contentsOfFile: report, encoding: .utf8)
      let cases = text.split(separator: "\n").filter { $0.hasPrefix("<testcase") }
      #expect(cases.count == 3)
      #expect(cases.allSatisfy { $0.contains(#"name="check of line"#) == checks }, "\(text)")
      #expect(cases.allSatisfy { $0.contains(#"classname="tender.check."#) == checks })
      #expect(text.contains(#"<testsuite name="tender batch --check""#) == checks)
    }
  }

  // MARK: Faults that strike nothing

  /// The count of a fault is for one payment. An earlier test used it up, and the next one tests nothing.
  @Test(arguments: [
    "token:http-500*1", "token:close-before*2", "part2:close-before*1", "token:latency=1ms*1",
  ])
  func `says that an earlier test used a fault up`(_ fault: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let state = binary.home.appending(path: ".local/state/tender")
    let pay = "transact --amount 10 --test-card visa --reference R --sim-fault \(fault)"
    let first = try binary.run(line: pay)
    #expect(!first.errors.contains("did not strike"), "\(first.errors)")
    // The next test has a journal of its own, and the same simulated world.
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
      try? FileManager.default.removeItem(at: state.appending(path: name))
    }
    try FileManager.default.removeItem(
      at: state.deletingLastPathComponent().appending(path: ".tender.tender-mark")
    )
    for _ in 0..<2 { _ = try binary.run(line: pay) }
    let words = ["--new-attempt"]
    let again = try binary.run(line: pay, words)
    #expect(again.errors.contains("--sim-fault \(fault) did not strike"), "\(again.errors)")
    // In a batch, the line and its case of the report say so.
    let line = BatchTests.pay("R", #","sim_fault":"\#(fault)""#)
    let report = binary.home.appending(path: "r.xml").path
    let file = try Works.write([line, BatchTests.pay("B")], binary)
    let batch = try binary.run("batch", file, "--json", "--junit", report)
    #expect(batch.errors.contains("line 1: --sim-fault \(fault) did not strike"), "\(batch.errors)")
    let text = try String(contentsOfFile: report, encoding: .utf8)
    #expect(text.contains("<system-err>--sim-fault \(fault) did not strike"), "\(text)")
  }

  @Test func `names the count that was used up`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    // A reader's sale has no look-up that would be asked in its place.
    let sale =
      "transact --provider toro --amount 10 --reference R --sim-fault authorisation:http-500*1"
    #expect(try binary.run(line: sale).status != 0)
    var said = ""
    for _ in 0..<3 { said += try binary.run(line: sale, ["--new-attempt"]).errors }
    #expect(said.contains("earlier requests used up its count"), "\(said)")
  }

  @Test func `a fault for all lines may spare some of them`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try Works.write(
      [BatchTests.pay("A"), #"{"command":"payment-status","id":"A"}"#],
      binary
    )
    let used = try binary.run("batch", file, "--json", "--sim-fault", "part2:latency=1ms")
    #expect(!used.errors.contains("did not strike"), "\(used.errors)")
    let unused = try binary.run("batch", file, "--json", "--sim-fault", "reversal:http-500")
    #expect(unused.errors.components(separatedBy: "did not strike").count == 2, "\(unused.errors)")
  }

  // MARK: Checks of a batch

  /// A line can name the payment of an earlier line.
  @Test func `a check knows the payments of earlier lines`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    func sale(_ reference: String, _ more: String = "") -> String {
      """
      {"command":"transact","provider":"toro","reference":"\(reference)","amount":"10"\(more)}
      """
    }
    func refund(_ reference: String, of original: String) -> String {
      sale(reference, #","type":"refund","original":"\#(original)""#)
    }
    let lines = [
      sale("S"), refund("R1", of: "S"), refund("R2", of: "NONE"), refund("R3", of: "LATER"),
      sale("LATER"), sale("HELD", #","hold":true"#), #"{"command":"confirm","reference":"HELD"}"#,
      refund("R4", of: "HELD"), refund("R5", of: "R5"),
    ]
    let file = try Works.write(lines, binary)
    let result = try binary.run("batch", file, "--check", "--ordered", "--json")
    let codes = result.records.dropLast().map { $0["error"]?["code"]?.text ?? $0.text("outcome") }
    #expect(
      codes == [
        "ok", "ok", "payment_not_found", "payment_not_found", "ok", "ok", "ok", "ok",
        "payment_not_found",
      ],
      "\(result.output)"
    )
    // A run agrees, in the order of the file.
    let run = try binary.run("batch", file, "--ordered", "--json", "--jobs", "8")
    let exits = run.records.dropLast().map { $0["error"] == nil }
    #expect(exits == [true, true, false, false, true, true, true, true, false], "\(run.output)")
  }

  /// Every option that can be given without a value, in a table.
  @Test func `a flag of a table is true, false or nothing`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let columns = ["hold", "send_receipt", "confirmation", "allow_partial", "new_attempt", "wait"]
    for column in columns {
      for (cell, isGiven) in [("true", true), ("TRUE", true), ("False", false), ("", false)] {
        let table = binary.home.appending(path: "t.csv")
        try Data("reference,amount,test_card,\(column)\nC,5,visa,\(cell)\n".utf8).write(to: table)
        let checked = try binary.run("batch", "--csv", table.path, "--check", "--json")
        let json = isGiven ? #","\#(column)":true"# : ""
        let line =
          #"{"command":"transact","reference":"C","amount":"5","test_card":"visa"\#(json)}"#
        let file = try Works.write([line], binary)
        let same = try binary.run("batch", file, "--check", "--json")
        #expect(checked.records.first?["error"]?["code"] == same.records.first?["error"]?["code"])
        #expect(checked.status == same.status, "\(column) \(cell): \(checked.output)")
      }
    }
    let table = binary.home.appending(path: "t.csv")
    try Data("reference,amount,test_card,wait\nC,5,visa,2s\n".utf8).write(to: table)
    #expect(try binary.run("batch", "--csv", table.path, "--json").status == 0)
    try Data("reference,amount,test_card,hold\nC,5,visa,2s\n".utf8).write(to: table)
    let wrong = try binary.run("batch", "--csv", table.path, "--json")
    #expect(wrong.records.first?["error"]?["message"]?.text?.contains("neither true nor") == true)
  }

  // MARK: The largest amount

  private func limited(_ binary: Binary) throws {
    let folder = binary.home.appending(path: ".config/tender")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(
      #"{"schema":1,"default_profile":"a","profiles":{"a":{"max_amount":{"USD":"100.00","JPY":"500"}},"b":{}}}"#
        .utf8
    ).write(to: folder.appending(path: "config.json"))
  }

  @Test func `an amount above the profile's largest one is not sent without a typed yes`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try limited(binary)
    let pay = "transact --test-card visa --amount "
    for more in ["100.01", "1050", "99999"] {
      for words in [[], ["--yes"], ["--hold"], ["--yes", "--hold"]] {
        let refused = try binary.run(line: pay + more + " --reference A", words)
        #expect(refused.status == 17 && code(refused) == "amount_not_confirmed", "\(words)")
      }
    }
    #expect(try binary.run(line: "find A").records.isEmpty)
    for amount in ["100.00", "10.50"] {
      #expect(try binary.run(line: pay + amount + " --reference \(amount)").status == 0)
    }
    // A larger payment of another profile is replayed and looked up without a question. Its refund is asked about.
    let other = pay + "150 --reference B"
    #expect(try binary.run(line: other, ["--profile", "b"]).status == 0)
    #expect(try binary.run(line: other).record["replayed"] == true)
    #expect(try binary.run(line: "payment-status B").status == 0)
    for refund in ["refund B", "refund B --rest", "cancel B", "refund B --amount 120"] {
      #expect(code(try binary.run(line: refund)) == "amount_not_confirmed", "\(refund)")
    }
    #expect(try binary.run(line: "refund B --amount 100").status == 0)
    #expect(try binary.run(line: "refund B --dry-run --rest").status == 0)
    let shown = try binary.run(line: "config show").records.first { $0["name"] == "max_amount" }
    #expect(shown?.text("value") == "100.00 USD, 500 JPY")
  }

  @Test func `a batch has nobody to ask`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try limited(binary)
    let lines = [
      #"{"command":"transact","reference":"A","amount":"1050","test_card":"visa"}"#,
      #"{"command":"transact","reference":"B","amount":"10.50","test_card":"visa"}"#,
      #"{"command":"transact","reference":"C","amount":"1050","test_card":"visa","profile":"b"}"#,
    ]
    let file = try Works.write(lines, binary)
    for check in [["--check"], []] {
      let result = try binary.run(["batch", file, "--ordered", "--json"] + check)
      #expect(result.status == 14)
      let exits = result.records.dropLast().map { $0["error"]?["exit"]?.wholeNumber ?? 0 }
      #expect(exits == [17, 0, 0], "\(result.output)")
    }
    let table = binary.home.appending(path: "t.csv")
    try Data("reference,amount,test_card\nD,1050,visa\n".utf8).write(to: table)
    let result = try binary.run("batch", "--csv", table.path, "--json")
    #expect(result.records.first?["error"]?["code"] == "amount_not_confirmed")
    let hint = result.records.first?["error"]?["hint"]?.text
    #expect(hint?.contains("by itself at a terminal") == true, "\(result.output)")
  }

  @Test(.enabled(if: Judge.has("pty"), "python3 is not installed"))
  func `a typed yes sends a large amount`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try limited(binary)
    let pay = [
      "transact", "--test-card", "visa", "--amount", "1050", "--reference", "A", "-o", "jsonl",
    ]
    let (no, asked) = try binary.onTerminal(pay, [("type yes", "no\n")], width: 200)
    #expect(no == 17 && asked.contains("1050.00 USD is above max_amount"), "\(asked)")
    let (yes, _) = try binary.onTerminal(pay, [("type yes", "yes\n")])
    #expect(yes == 0)
    let (again, quiet) = try binary.onTerminal(pay, [])
    #expect(again == 0 && !quiet.contains("type yes"))
  }

  // MARK: Descriptions

  @Test(.enabled(if: Judge.has("jsonschema"), "python3-jsonschema is not installed"))
  func `each schema is one, and each record of a story fits its schema`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let judge = try Judge("records.py")
    let schemas = try binary.run("schema", "--json").records
    #expect(
      Set(schemas.compactMap { $0.text("name") }) == Set(Record.Kind.allCases.map(\.rawValue))
    )
    for schema in schemas {
      #expect(try judge.ask(["schema": .object(schema)])["problems"] == [], "\(schema)")
    }
    // The judge sees what is wrong.
    for wrong: JSONObject in [
      ["schema": 2, "record": "note"], ["schema": 2, "record": "other"],
      ["schema": 2, "record": "note", "command": "x", "level": 1, "text": "x", "at": "x"],
    ] {
      #expect(try judge.ask(["record": .object(wrong)])["problems"] != [], "\(wrong)")
    }
    var kinds: Set<String> = []
    for line in Self.story {
      let run = try binary.run(line.split(separator: " ").map(String.init) + ["--json"])
      let lines = (run.output + run.errors).split(separator: "\n")
      for record in lines.compactMap({ JSONReader.read(String($0))?.object }) {
        kinds.insert(record.text("record") ?? "")
        let answer = try judge.ask(["record": .object(record)])
        #expect(answer["problems"] == [], "\(line): \(answer) \(record)")
      }
    }
    let others: Set = ["server"]
    #expect(Set(Record.Kind.allCases.map(\.rawValue)).subtracting(others) == kinds)
  }

  private static let story = [
    "transact --amount 10.50 --test-card visa --reference A",
    "transact --amount 10.50 --test-card visa --reference A", "refund A --amount 1", "cancel A",
    "transact --amount 5 --test-card visa --hold --reference B --events", "confirm B",
    "transact --amount 5 --test-account success --reference C", "confirm NEVER",
    "tokenize --test-card visa --reference T",
    "transact --amount 1.93 --test-card visa --reference D",
    "payment-status A B C D NONE", "find", "find --online", "journal show A", "journal verify",
    "journal export", "totals", "totals --by day,status",
    "transact --provider toro --amount 12.50 --reference S --events", "payment-status S",
    "transact --provider toro --amount 90.51 --reference U", "refund S",
    "transact --provider truelayer --amount 10 --beneficiary-name Ben --sort-code 56-00-29 "
      + "--account-number 26207729 --user name=Remi --user email=remi@example.com --reference P",
    "payment-status P", "cancel P",
    "transact --provider truelayer --mandate --max-individual 10 --limit month:50 --beneficiary-name Ben "
      + "--sort-code 56-00-29 --account-number 26207729 --user name=Remi --user "
      + "email=remi@example.com --reference M",
    "mandate-status M", "transact --dry-run --amount 5 --test-card visa --reference E",
    "explain declined", "explain --list", "providers", "config show", "config check", "doctor",
    "version --verbose", "simulator scenarios", "simulator show", "simulator requests",
    "simulator advance 26h", "schema", "help", "help exit", "help journal", "batch none.jsonl",
    "listen", "batch - --check", "batch -",
  ]

  // MARK: Seeds

  @Test func `gives the documented answers of the providers`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    // Pay Theory's iOS library, completion handler: NO_AUTH.
    for words in ["confirm NEVER", "confirm NEVER --amount 5"] {
      let never = try binary.run(line: words)
      #expect(never.status == 5 && never.errorRecord["error"]?["code"] == "payment_not_found")
      // The document says how the text begins.
      #expect(never.errorRecord["result"]?["type"]?.text?.hasPrefix("NO_AUTH") == true)
      #expect(never.errorRecord["error"]?["hint"]?.text?.contains("searched") == true)
    }
    #expect(try binary.run(line: "refund NEVER").errorRecord["result"] == nil)
    // Toro's mobile SDK, TransactionState: it is ready before anything else.
    let sale = try binary.run(line: "transact --provider toro --amount 5 --reference S --events")
    let states = sale.records.filter { $0["record"] == "event" }.map { $0.text("state") }
    #expect(states.prefix(2) == ["ready", "connectingToDevice"])
    // TrueLayer's SDK: userCanceled.
    let bank =
      "transact --provider truelayer --amount 10 --beneficiary-name Ben --sort-code 56-00-29 "
      + "--account-number 26207729 --user name=Remi --user email=remi@example.com --reference P"
    #expect(try binary.run(line: bank).record["status"] == "requires_action")
    for isAgain in [false, true] {
      let cancelled = try binary.run(line: "cancel P")
      #expect(cancelled.status == 0 && cancelled.record["result"]?["error"] == "userCanceled")
      #expect(cancelled.record["result"]?["failure_reason"] == "canceled")
      #expect(cancelled.record["replayed"] == .bool(isAgain))
    }
    #expect(try binary.run(line: bank).record["result"]?["error"] == "userCanceled")
  }

  @Test(arguments: [("0.59", 0), ("0.60", 0), ("5", 0), ("0.58", 7), ("0", 7)])
  func `takes a service fee up to an amount, without a hold`(_ most: String, _ exit: Int32) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay =
      "transact --amount 10 --test-card visa --reference A --fee-mode service_fee --max-fee "
    let paid = try binary.run(line: pay + most)
    #expect(paid.status == exit, "\(paid.errors)")
    guard exit == 0 else {
      #expect(code(paid) == "amount_mismatch")
      return
    }
    #expect(paid.record["amount"] == 1059 && paid.record["captured_amount"] == 1059)
    #expect(paid.record["result"]?["body"]?["service_fee"] == 59)
    #expect(try binary.run(line: pay + "0.01").record["replayed"] == true)
    let refunded = try binary.run(line: "refund A")
    #expect(refunded.record["refunded_amount"] == 1059 || refunded.record["voided_amount"] == 1059)
  }

  @Test func `refuses options of the fee that contradict each other`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --amount 10 --test-card visa --reference A "
    for more in [
      "--max-fee 1", "--fee-mode service_fee", "--fee-mode service_fee --fee 1 --max-fee 1",
      "--fee-mode merchant_fee --max-fee 1",
    ] {
      #expect(try binary.run(line: pay + more).status == 2, "\(more)")
    }
  }

  /// A sale without a configuration never gets as far as a signature.
  @Test func `the configuration is checked before the question about a signature`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let sale = "transact --provider toro --env sandbox --amount 5 --reference S"
    for more in [[], ["--signature-matches", "yes"]] {
      let refused = try binary.run(line: sale, more)
      #expect(refused.status == 2 && code(refused) == "bad_config", "\(refused.errors)")
    }
  }
}
