import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// A batch from a CSV file, its table, and the results of its check.
@Suite struct BatchTableTests {
  private func file(_ text: String, _ binary: Binary) throws -> String {
    let file = binary.home.appending(path: "rows-\(UUID().uuidString).csv")
    try Data(text.utf8).write(to: file)
    return file.path
  }

  private func batch(
    _ text: String,
    _ binary: Binary,
    _ more: String...
  ) throws -> Binary.Result {
    let words = ["batch", "--csv", try file(text, binary), "--ordered", "--json"]
    return try binary.run(words + more)
  }

  /// Quotes over several lines, a byte order mark, CR LF, an empty cell, a blank line, columns of other names.
  @Test func `reads a header and rows`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let text =
      "\u{feff}Order,Total,\"Note, free\",test_card,hold,metadata.table,payor.email\r\n"
      + "C-1,10.50,\"two\r\nlines, and a \"\"quote\"\"\",visa,,7,ada@example.com\r\n"
      + "\r\nC-2,5,,amex,TRUE,,\r\nC-3,1.93,,visa,false,,\"\""
    let result = try batch(
      text,
      binary,
      "--map",
      "reference=Order,amount=Total",
      "--map",
      "ignore=Note, free"
    )
    #expect(result.status == 14, "\(result.errors)\(result.output)")
    let rows = result.records.dropLast()
    #expect(rows.map { $0.text("reference") } == ["C-1", "C-2", "C-3"])
    #expect(rows.map { $0.text("status") } == ["succeeded", "requires_confirmation", "declined"])
    #expect(rows.map { $0["line"] } == [2, 4, 5])
    #expect(rows.map { $0["amount"] } == [1050, 500, 193])
    #expect(try binary.run("find", "--metadata", "table=7", "--json").records.count == 1)
    #expect(try binary.run("find", "--customer", "ada@", "--json").records.count == 1)
    let again = try batch(text, binary, "--map", "reference=Order,amount=Total,ignore=Note, free")
    #expect(again.records.dropLast().allSatisfy { $0["replayed"] == true }, "\(again.errors)")
  }

  @Test func `names row and column of what is wrong, and runs the other rows`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let text = """
      command,reference,Total,test_card,hold,payor.email
      transact,A,ten,visa,,
      transact,B,5,visa,yes,
      transact,C,5,visa
      transact,,5,visa,,
      transact,E,5,vissa,,
      transact,F,5,visa,,no address
      charge,G,5,visa,,
      transact,4111111111111111,5,visa,,
      transact,I,5,visa,,

      """
    let result = try batch(text, binary, "--map", "amount=Total")
    #expect(result.status == 14)
    let rows = Array(result.records.dropLast())
    let said = rows.map { $0["error"]?["message"]?.text ?? $0.text("status") ?? "" }
    for (index, (row, column)) in [
      (2, "Total"), (3, "hold"), (4, nil), (5, nil), (6, "test_card"), (7, "payor.email"), (8, nil),
    ].enumerated() {
      #expect(rows[index]["line"]?.boundedNumber == row)
      #expect(said[index].contains("row \(row)"), "\(said[index])")
      if let column { #expect(said[index].contains("column '\(column)'"), "\(said[index])") }
    }
    #expect(said[7].contains("card number") && !result.output.contains("4111111111111111"))
    #expect(said[8] == "succeeded")
    #expect(rows.count == 9)
    #expect(try binary.run("journal", "list", "--json").records.count == 1)
  }

  /// Files that are refused before any row runs, and the name in the message.
  @Test(arguments: [
    ("Order,amount", ["--map", "reference=Ordr"], "'Ordr'"),
    ("Order,amount", [], "'Order'"), ("reference,reference", [], "'reference' twice"),
    ("reference,Ref", ["--map", "reference=Ref"], "'Ref' and 'reference' for one option"),
    ("reference,instrument", [], "'instrument'"), ("reference,amount.x", [], "'amount.x'"),
    ("reference;amount", [], "has no comma"), (" , ,", [], "there is no header"),
    ("sep=;\nreference;amount", [], "begins with 'sep=;'"),
    ("Order,amount,Betrag,Note", [], "'Order', 'Betrag', 'Note', which are no options"),
    ("reference,4111 1111 1111 1111", [], "card number"), ("", [], "there is no header"),
    ("reference,\"amount", [], "ends within a quoted cell"),
    ("reference,am\"ount", [], "cell 2, has a quote in a wrong place"),
    ("reference", ["--map", "reference"], "'reference' is not NAME=VALUE"),
    ("reference", ["--map", "ignore=reference", "--map", "id=reference"], "twice"),
    ("reference,yes", [], "'yes'"), ("reference", ["other.jsonl"], "exclude each other"),
  ])
  func `refuses a header before it runs a row`(
    _ header: String,
    _ more: [String],
    _ said: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let words = ["batch", "--csv", try file(header + "\nA,5\n", binary), "--json"]
    let result = try binary.run(words + more)
    #expect(result.status == 2 && result.output == "", "\(result.output)")
    let message = result.errorRecord["error"]?["message"]?.text ?? ""
    #expect(message.contains(said), "\(message)")
    #expect(!result.errors.contains("4111"))
  }

  /// What a spreadsheet adds is no data: a first line, a column without a name, and rows without a value.
  @Test(arguments: [
    "", "\n\n", ",,,\n,,,\n", " , ,\t, \n", "\"\",\"\",\"\",\"\"\n", ",,,",
  ])
  func `leaves out what has no value`(_ end: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    for head in ["", "sep=,\n", "\u{feff}sep=,\r\n"] {
      let name = head.isEmpty ? "A" : "B\(head.count)"
      let text = head + "reference,amount,test_card,\n\(name),5,visa,\n" + end
      let result = try batch(text, binary)
      #expect(result.status == 0, "\(result.output) \(result.errors)")
      #expect(result.records.map { $0.text("reference") } == [name, nil])
      #expect(result.records.first?["line"]?.boundedNumber == (head.isEmpty ? 2 : 3))
    }
    let named = try batch("reference,amount,test_card,\nC,5,visa,7\n", binary)
    #expect(named.status == 14)
    #expect(
      named.records[0]["error"]?["message"]?.text?.contains("has '7' in a column without a name")
        == true,
      "\(named.output)"
    )
  }

  /// Without an amount, all that is left moves. An amount that was left empty is a mistake, however it is left empty.
  @Test func `an empty amount moves nothing`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let paid = "transact --test-card visa --amount 100 --reference"
    for name in ["A", "B", "C"] { #expect(try binary.run(line: "\(paid) \(name)").status == 0) }
    #expect(try binary.run(line: "\(paid) H --hold").status == 0)
    func messages(_ result: Binary.Result) -> [String] {
      result.records.dropLast().map { $0["error"]?["message"]?.text ?? $0.text("status") ?? "" }
    }
    for check in [["--check"], []] {
      let table = try batch(
        """
        command,reference,amount
        refund,A,
        cancel,B,
        confirm,H,

        """,
        binary,
        check.first ?? "--ordered"
      )
      #expect(table.status == 14)
      for said in messages(table) { #expect(said.contains("has an empty amount"), "\(said)") }
      let lines = ["null", "\"\"", "\" \""].flatMap { empty in
        ["refund", "cancel", "confirm"].flatMap { command in
          let name = command == "confirm" ? "H" : "A"
          return ["amount", "amount_minor"].map { member in
            "{\"command\":\"\(command)\",\"reference\":\"\(name)\",\"\(member)\":\(empty)}"
          }
        }
      }
      let file = try Works.write(lines, binary)
      let listed = try binary.run(["batch", file, "--json"] + check)
      #expect(listed.status == 14)
      #expect(messages(listed).count == 18)
      for said in messages(listed) { #expect(said.contains("has an empty amount"), "\(said)") }
    }
    // A word for the rest that is not true is no word for it.
    for check in [["--check"], []] {
      let table = try batch(
        "command,reference,rest\nrefund,A,false\nrefund,A,\ncancel,B,\n",
        binary,
        check.first ?? "--ordered"
      )
      let lines = ["false", "null"].map { #"{"command":"refund","reference":"A","rest":\#($0)}"# }
      let listed = try binary.run(["batch", try Works.write(lines, binary), "--json"] + check)
      #expect((table.status, listed.status) == (14, 14))
      #expect(messages(table).count == 3 && messages(listed).count == 2)
      for said in messages(table) + messages(listed) {
        #expect(said.contains("\"rest\" that is not true"), "\(said)")
      }
    }
    // All that is left is moved where a line says so, or has no such column.
    let rest = try Works.write(
      [#"{"command":"refund","reference":"A","amount":null,"rest":true}"#],
      binary
    )
    #expect(try binary.run("batch", rest, "--json").records[0]["refunded_amount"] == 10_000)
    #expect(try batch("command,reference\nrefund,C\n", binary).status == 0)
    let book = try binary.run("journal", "show", "B", "--json").record
    #expect(book["captured_amount"] == 10_000 && book["voided_amount"] == nil)
  }

  /// A signal comes while the table is awaited.
  @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
  func `a stopped run leaves a report that is not green, and no other file`(
    _ signal: Int32,
    _ exit: Int32
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let folder = binary.home.appending(path: "reports")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let report = folder.appending(path: "r.xml")
    let (process, _, _) = try binary.start(
      ["batch", "--csv", "-", "--json", "--junit", report.path],
      input: Pipe()
    )
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }
    let end = ContinuousClock.now + .seconds(30)
    while try files().isEmpty, process.isRunning, ContinuousClock.now < end {}
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(process.terminationStatus == exit)
    #expect(try files() == ["r.xml"])
    #expect(try String(contentsOf: report, encoding: .utf8).contains(#"errors="1""#))
  }

  /// A list is one value: read line by line, one of its elements could be charged.
  @Test(arguments: ["[\n%,\n%\n]\n", "[%,%]", " [%]", "\n[\n%\n]", "\u{feff}[\n%\n]"])
  func `refuses a JSON list with the command that converts it`(_ form: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let element = #"{"command":"transact","reference":"L","amount":"5","test_card":"visa"}"#
    let path = binary.home.appending(path: "list.json")
    try Data(form.replacing("%", with: element).utf8).write(to: path)
    let result = try binary.run("batch", path.path, "--json")
    #expect(result.status == 2 && result.output == "")
    let hint = result.errorRecord["error"]?["hint"]?.text
    #expect(hint == "turn each element into a line: jq -c '.[]' \(path.path)")
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
  }

  /// After a quote in a wrong place, the start of the next row is unknown. A file is read to its end before a row
  /// runs; of a pipe nothing after it runs.
  @Test func `runs no row of a table whose rows have no known end`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let head = "reference,amount,test_card,metadata.note\n"
    let wide = String(repeating: "x", count: 300_000)
    for (number, broken) in [
      "B,5,visa,5\" pipe\n", "B,5,visa,\"open\n", "B,5,visa,\"\(wide)\nC,5,visa,\"\n",
      "B,5,visa,\"a\"b\n",
    ].enumerated() {
      let text = head + "A\(number),5,visa,\n" + broken + "C,5,visa,\n"
      let report = binary.home.appending(path: "r.xml")
      let file = try batch(text, binary, "--junit", report.path)
      #expect(file.status == 2 && file.output == "", "\(file.output)")
      #expect(file.errors.contains("row 3"), "\(file.errors)")
      let red = try String(contentsOf: report, encoding: .utf8)
      #expect(red.contains(#"tests="1" failures="0" errors="1""#), "\(red)")
      let result = try binary.run(
        ["batch", "--csv", "-", "--json", "--ordered", "--junit", report.path],
        input: text
      )
      #expect(result.status == 14, "\(result.errors)")
      #expect(result.records.map { $0.text("reference") } == ["A\(number)", nil, nil])
      #expect(result.records[1]["line"] == 3 && result.records[1]["error"]?["code"] == "bad_line")
      let summary = try #require(result.records.last)
      #expect(summary["failed"] == 1 && summary["stopped"] == true)
      let cases = try String(contentsOf: report, encoding: .utf8)
      #expect(cases.contains(#"tests="3" failures="0" errors="1""#), "\(cases)")
      #expect(cases.contains(#"name="further rows""#), "\(cases)")
    }
    #expect(try binary.run("journal", "list", "--json").records.count == 4)
    let pipe = try binary.run(
      ["batch", "--csv", "-", "--json"],
      input: head + "P,5,visa,\n"
    )
    #expect(pipe.status == 0 && pipe.records.first?["line"] == 2, "\(pipe.errors)")
    let map = try binary.run("batch", "-", "--map", "amount=Total", "--json", input: "")
    #expect(map.status == 2)
  }

  @Test func `shows amounts, what was replayed, and what was expected`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = [
      BatchTests.pay("A"), BatchTests.pay("B", #","expect":"declined""#),
      BatchTests.pay("A", #","expect":"succeeded""#),
      BatchTests.pay("C", #","env":"nowhere","expect":"succeeded""#),
    ]
    let file = try Works.write(lines, binary)
    let fixed = ["--sim-seed", "7", "--sim-clock", "2026-01-01T09:00:00Z"]
    let table = try binary.run(["batch", file, "--ordered", "-o", "table"] + fixed).output
    let rows = table.split(separator: "\n").prefix(4).map {
      $0.replacing(/pt-\S+/, with: "ID").replacing(#/  the .*/#, with: "")
    }
    #expect(
      rows.prefix(3) == [
        "1  A  succeeded  10.50 USD  ID", "2  FAIL  B  succeeded  10.50 USD  ID",
        "3  pass  A  succeeded (replayed)  10.50 USD  ID",
      ]
    )
    // An unreadable line has no expectation.
    #expect(rows[3].hasPrefix("4  C  bad_value"))
  }

  /// The facts about a reference from the journal and earlier lines.
  @Test func `checks what is known offline`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let card = ["transact", "--test-card", "visa", "--json", "--amount"]
    _ = try binary.run(card + ["5", "--reference", "PAID"])
    _ = try binary.run(card + ["5", "--reference", "BACK"])
    _ = try binary.run("refund", "BACK", "--json")
    _ = try binary.run(card + ["5", "--reference", "HELD", "--hold"])
    let lines = [
      #"{"command":"refund","reference":"PAID"}"#, #"{"command":"refund","reference":"NONE"}"#,
      #"{"command":"confirm","reference":"LATER"}"#,
      BatchTests.pay("LATER", #","hold":true"#), #"{"command":"confirm","reference":"LATER"}"#,
      #"{"command":"cancel","reference":"NEVER"}"#,
      #"{"command":"refund","reference":"BACK","amount":"1","refund_reference":"R"}"#,
      #"{"command":"refund","reference":"PAID","amount":"1"}"#, BatchTests.pay("PAID"),
      #"{"command":"transact","provider":"toro","reference":"SALE","amount":"5"}"#,
      #"{"command":"refund","reference":"SALE"}"#, #"{"command":"payment-status","id":"NONE"}"#,
      // Lines before that change a payment, or are refused, do not make it.
      #"{"command":"refund","reference":"NONE"}"#,
      #"{"command":"refund","reference":"TILL"}"#,
      #"{"command":"transact","provider":"toro","reference":"TILL","amount":"5"}"#,
      #"{"command":"refund","reference":"TILL"}"#,
      #"{"command":"transact","reference":"BAD","amont":"5"}"#,
      #"{"command":"transact","reference":"WORSE","amount":"5","jobs":2}"#,
      #"{"command":"confirm","reference":"WORSE"}"#,
      #"{"command":"confirm","reference":"HELD"}"#, #"{"command":"refund","reference":"HELD"}"#,
      BatchTests.pay("AGAIN"), BatchTests.pay("AGAIN", #","new_attempt":true"#),
      #"{"command":"refund","reference":""}"#,
    ]
    let file = try Works.write(lines, binary)
    let result = try binary.run("batch", file, "--check", "--ordered", "--json")
    #expect(
      result.records.dropLast().map { $0["error"]?["code"]?.text ?? $0.text("outcome") } == [
        "ok", "payment_not_found", "payment_not_found", "ok", "ok", "payment_not_found",
        "refund_exceeds", "bad_options", "reference_reused", "ok", "ok", "ok",
        "payment_not_found", "payment_not_found", "ok", "ok", "bad_line", "bad_line",
        "payment_not_found", "ok", "ok", "ok", "ok", "bad_line",
      ],
      "\(result.output)"
    )
    for line in [11, 16] {
      #expect(result.records[line - 1].text("detail") == "refund by toro on simulator")
    }
  }
}
