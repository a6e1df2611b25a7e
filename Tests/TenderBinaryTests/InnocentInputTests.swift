import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Input of people who do nothing wrong: ids of shops, texts of Windows, names and amounts of many countries.
@Suite struct InnocentInputTests {
  private static let pay = ["transact", "--test-card", "visa", "--amount", "5", "--json"]
  private static let card = "4111111111111111"

  private static func write(_ lines: [String], _ binary: Binary) throws -> String {
    let path = binary.home.appending(path: "lines")
    try Data(lines.joined(separator: "\n").utf8).write(to: path)
    return path.path
  }

  @Test func `takes order ids of shops in lines and tables`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    var random = Seeded(5)
    func digits(_ count: Int) -> String {
      (0..<count).map { _ in String(random.below(10)) }.joined()
    }
    var ids: Set<String> = []
    for number in 0..<1500 {
      let shopify = String(4 + number % 3) + digits(12)
      ids.insert(number % 2 == 0 ? shopify : "\(digits(3))-\(digits(7))-\(digits(7))")
    }
    let lines = ids.map { id in
      #"{"command":"transact","reference":"\#(id)","amount":"5","test_card":"visa"}"#
    }
    let checked = try binary.run("batch", Self.write(lines, binary), "--check", "--json")
    let refused = checked.records.filter { $0["error"]?["code"] == "card_number_on_command_line" }
    #expect(checked.records.count == ids.count + 1 && refused.count < 15, "\(refused.count)")
    let table = ["reference,amount,test_card"] + ids.map { "\($0),5,visa" }
    let rows = try binary.run("batch", "--csv", Self.write(table, binary), "--check", "--json")
    #expect(rows.records.filter { $0["error"] != nil }.count == refused.count)
  }

  @Test func `takes an id like a card number where it is said to be one`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let refused = try binary.run(Self.pay + ["--reference", Self.card])
    #expect(refused.errorRecord["error"]?["hint"]?.text?.contains("--id") == true)
    #expect(try binary.run(Self.pay + ["--reference", Self.card, "--id", Self.card]).status == 0)
    let found = try binary.run("find", Self.card, "--id", Self.card, "--json")
    #expect(found.record.text("reference") == Self.card)
    let note = ["--metadata", "order=\(Self.card)", "--id", Self.card, "--reference", "M"]
    #expect(try binary.run(Self.pay + note).status == 0)
    #expect(
      try binary.run("find", "--metadata", "order=\(Self.card)", "--id", Self.card).status == 0
    )
    let other = "5555555555554444"
    for (name, text) in [
      (
        "lines", #"{"command":"transact","reference":"N","amount":"5","test_card":"visa","id":"N"}"#
      ),
      ("rows", "reference,amount,test_card,id\nN,5,visa,N"),
    ] {
      let options = name == "rows" ? ["--csv"] : []
      let words = ["batch"] + options + [try Self.write([text.replacing("N", with: other)], binary)]
      let result = try binary.run(words + ["--json"])
      #expect(result.records.first?.text("status") == "succeeded", "\(result)")
      let bare = text.replacing(",\"id\":\"N\"", with: "").replacing("visa,N", with: "visa,")
      let path = try Self.write([bare.replacing("N", with: "4000056655665556")], binary)
      let without = try binary.run(["batch"] + options + [path, "--json"])
      let hint = without.records.first?["error"]?["hint"]?.text
      #expect(
        hint?.contains(name == "rows" ? "column named id" : #"member "id""#) == true,
        "\(without)"
      )
    }
    #expect(try binary.run(Self.pay + ["--reference", "X", "--id", other]).status == 2)
  }

  /// What was allowed is stored, so each command prints it.
  @Test func `prints an id that was said to be one everywhere`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let (id, note) = ("405-\(Self.card)", "5555555555554444")
    let pay =
      Self.pay + ["--reference", id, "--id", id, "--metadata", "order=\(note)", "--id", note]
    #expect(try binary.run(pay).record.text("reference") == id)
    for line in [
      "find", "find --duplicates=1h", "journal list", "journal show --id \(id)",
      "payment-status --id \(id)",
      "refund --id \(id) --amount 1", "refund --id \(id) --amount 2", "explain \(id) --id \(id)",
      "cancel --id \(id)",
    ] {
      for form in ["jsonl", "table"] {
        let result = try binary.run(
          line.split(separator: " ").map(String.init) + ["--output", form]
        )
        let shown = result.output + result.errors
        #expect(!shown.contains("[redacted]"), "\(line): \(shown)")
        if !line.contains("duplicates") { #expect(shown.contains(id), "\(line): \(shown)") }
      }
    }
    #expect(
      try binary.run("find", "--json").record["result"]?["body"]?["metadata"]?["order"]?.text
        == note
    )
    // A number that nobody allowed stays hidden.
    let other = "4000056655665556"
    let refused = try binary.run(line: "find", ["--customer", other])
    #expect(!(refused.output + refused.errors).contains(other))
  }

  /// One escape, for values in arguments, files, lines and tables.
  @Test func `one escape works for every way of input`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let (one, other) = (Self.card, "5555555555554444")
    let file = binary.home.appending(path: "m.json")
    try Data(#"{"a":"\#(one)","b":[\#(other)]}"#.utf8).write(to: file)
    let pay = Self.pay + ["--reference", "F", "--metadata-file", file.path]
    #expect(try binary.run(pay).errorRecord["error"]?["code"] == "card_number_in_metadata")
    #expect(try binary.run(pay + ["--id", one, "--id", other]).status == 0)
    let line =
      #"{"command":"transact","reference":"N","amount":"5","test_card":"visa","metadata":{"a":"\#(one)"}}"#
    func run(_ text: String, _ words: String...) throws -> Binary.Result {
      try binary.run(["batch", try Self.write([text], binary), "--json"] + words)
    }
    #expect(try run(line).status == 14)
    #expect(try run(line, "--id", one).status == 0)
    let both = line.replacing("\"N\"", with: "\"\(other)\"").replacing(
      "{\"command",
      with: "{\"id\":[\"\(one)\",\"\(other)\"],\"command"
    )
    #expect(try run(both).records.first?.text("reference") == other)
    let head = "amount,test_card,metadata.a"
    for (table, words) in [
      ("reference,id,id,\(head)\n\(one)1,\(one)1,\(other),5,visa,\(other)", []),
      ("Order,\(head)\n4000056655665556,5,visa,x", ["--map", "reference=Order,id=Order"]),
      ("reference,\(head)\n378282246310005,5,visa,x", ["--map", "id=reference"]),
    ] as [(String, [String])] {
      let result = try binary.run(
        ["batch", "--csv", try Self.write([table], binary), "--json"] + words
      )
      #expect(result.status == 0, "\(result.output) \(result.errors)")
      #expect(!result.output.contains("[redacted]"), "\(result.output)")
    }
  }

  /// Databases write order numbers as numbers.
  @Test func `takes a whole number as a reference, and refuses another one by name`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    func line(_ command: String, _ reference: String) -> String {
      let pay = command == "transact" ? #","amount":"5","test_card":"visa""# : ""
      return #"{"command":"\#(command)","reference":\#(reference)\#(pay)}"#
    }
    let lines = [
      line("transact", "1042"), line("transact", "\"1042\""), line("payment-status", "1042"),
      line("transact", "9223372036854775807"), line("transact", "1042.5"),
    ]
    let result = try binary.run("batch", Self.write(lines, binary), "--ordered", "--json")
    let records = result.records.dropLast()
    #expect(records.prefix(3).map { $0.text("reference") } == ["1042", "1042", "1042"])
    #expect(records.dropFirst().first?["replayed"] == true)
    #expect(records.dropFirst(3).first?.text("reference") == "9223372036854775807")
    let hint = records.last?["error"]?["hint"]?.text
    #expect(hint == #"write it as text: {"reference":"1042.5"}"#, "\(result.output)")
  }

  @Test func `finds a customer as a page has them, and a world's books in each form`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let payer = ["--payor", "email=ada@example.com", "--payor", "first_name=Ada"]
    #expect(try binary.run(Self.pay + ["--reference", "Caf\u{e9}"] + payer).status == 0)
    for customer in [
      " ada@example.com ", "mailto:ada@example.com", "MAILTO:ada@example.com?subject=x",
      "\tAda\u{a0}",
    ] {
      #expect(
        try binary.run("find", "--customer", customer, "--json").records.count == 1,
        "\(customer)"
      )
    }
    for name in ["Caf\u{e9}", "Cafe\u{301}"] {
      #expect(try binary.run("simulator", "show", name, "--json").status == 0)
    }
  }

  @Test func `finds amounts in their currencies, whole addresses and each form of a reference`()
    throws
  {
    let binary = try Binary()
    defer { binary.remove() }
    let sale = ["transact", "--provider", "toro", "--no-input", "--json", "--reference"]
    for (currency, amount) in [("JPY", "30"), ("JPY", "3000"), ("KWD", "30"), ("GBP", "30.00")] {
      let words = sale + ["\(currency)-\(amount)", "--currency", currency, "--amount", amount]
      #expect(try binary.run(words).status == 0, "\(currency)")
    }
    for (number, email) in ["a@x.com", "a@x.com.au", "jo.a@x.com"].enumerated() {
      let words = ["--reference", "E\(number)", "--payor", "email=\(email)"]
      #expect(try binary.run(Self.pay + words).status == 0)
    }
    #expect(try binary.run(Self.pay + ["--reference", "Cafe\u{301} 1"]).status == 0)
    func found(_ words: String...) throws -> [String] {
      let lines = try binary.run(["find", "--json"] + words).records
      return lines.compactMap { $0.text("reference") }.sorted()
    }
    #expect(try found("--amount", "30") == ["GBP-30.00", "JPY-30", "KWD-30"])
    #expect(try found("--amount", "30.00") == ["GBP-30.00", "KWD-30"])
    #expect(try found("--amount", "3000") == ["JPY-3000"])
    #expect(try found("--amount", "30", "--currency", "JPY") == ["JPY-30"])
    #expect(try found("--amount-minor", "3000") == ["GBP-30.00", "JPY-3000"])
    #expect(try found("--amount", "30.0001") == [])
    let listed = try binary.run("journal", "list", "--amount", "30", "--json")
    #expect(listed.records.count == 3)
    #expect(try found("--customer", "A@x.com") == ["E0"])
    #expect(try found("--customer", "a@x") == ["E0", "E1", "E2"])
    for form in ["Caf\u{e9} 1", "Cafe\u{301} 1", "Cafe\u{301}*"] {
      #expect(try found(form).count == 1)
    }
  }

  @Test func `reads texts of Windows, and names what is no text`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    #expect(try binary.run(Self.pay + ["--reference", "A-1"]).status == 0)
    let little = { (text: String) in
      Data([0xff, 0xfe] + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
    }
    let big = { (text: String) in
      Data([0xfe, 0xff] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] })
    }
    let marked = { (text: String) in Data([0xef, 0xbb, 0xbf] + Array(text.utf8)) }
    let path = binary.home.appending(path: "file")
    func save(_ data: Data) throws {
      try data.write(to: path)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.path)
    }
    for form in [little, big, marked] {
      try save(form("A-1\r\n A-1 \r\n"))
      let shell = "\(binary.executable.path) payment-status - --json < \(path.path)"
      let looked = try Process.output(of: shell, binary)
      #expect(looked.components(separatedBy: #""record":"payment""#).count == 3, "\(looked)")
      try save(form(#"{"order":"é1"}"#))
      let words = Self.pay + ["--reference", "M", "--metadata-file", path.path, "--dry-run"]
      #expect(try binary.run(words).output.contains("é1"))
      try save(form("{\"profiles\":{\"a\":{\"mode\":\"read-only\"}}}\r\n"))
      #expect(try binary.run("config", "check", "--config", path.path, "--json").status == 0)
      try save(form("tender-paytheorylab-0f1e2d3c4b5a\r\n"))
      binary.variables["TENDER_PAYTHEORY_API_KEY_FILE"] = path.path
      let shown = try binary.run(Self.pay + ["--reference", "tender-paytheorylab-0f1e2d3c4b5a"])
      #expect(shown.errorRecord["error"]?["code"] == "secret_on_command_line", "\(shown)")
      binary.variables = [:]
    }
    try save(Data("A-1\n".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }))
    let words = Self.pay + ["--reference", "M", "--metadata-file", path.path]
    #expect(
      try binary.run(words).errorRecord["error"]?["message"]?.text?.contains("UTF-16") == true
    )
    let shell = "\(binary.executable.path) payment-status - --json < \(path.path) 2>&1"
    #expect(try Process.output(of: shell, binary).contains("UTF-16"))
  }

  @Test func `shows no password of an address`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    for address in [
      "mysql://u:hunter-2@h/db", "host=h password=hunter-2 dbname=x",
      "postgres://u:hunter-2@h:x/db",
      "postgres://u:hunt/er-2@127.0.0.1:1/db", "postgresql://u@127.0.0.1:1/db?sslpassword=hunter-2",
      "password='hunter-2' host=h", "redis://:hunter-2@h", "postgres://u:hunter-2@h@127.0.0.1:1/db",
      "Server=h;Uid=u;Pwd=hunter-2;", "//u:hunter-2@h/db", "u:hunter-2@h/db",
      "postgres:/u:hunter-2@h/db",
      "PGPASSWORD=hunter-2 host=h",
    ] {
      binary.variables["TENDER_JOURNAL"] = address
      for line in ["journal list", "config show", "doctor", "payment-status A"] {
        for form in ["jsonl", "table"] {
          let result = try binary.run(line: line, ["--output", form])
          let shown = result.output + result.errors
          #expect(
            !shown.contains("hunter-2") && !shown.contains("er-2") && !shown.contains("hunt"),
            "\(shown)"
          )
        }
      }
    }
  }

  /// The pages of help promise these ids.
  @Test func `looks up what exists without a journal, and makes none`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let id = "00000000-0000-4000-8000-000000001050"
    let found = try binary.run("payment-status", id, "--provider", "truelayer", "--json")
    #expect(found.record["amount"] == 1050, "\(found)")
    let mandate = try binary.run("mandate-status", "M9", "--json")
    #expect(mandate.errorRecord["error"]?["message"] == "no mandate 'M9'", "\(mandate)")
    #expect(try binary.run("payment-status", "pt-x-1", "--json").status == 5)
    #expect(try FileManager.default.contentsOfDirectory(atPath: binary.home.path) == [])
  }

  @Test(arguments: [
    (["twice"], "find --duplicates"), (["stop"], "tender cancel"),
    (["stop", "it"], "tender cancel"),
    (["where", "is", "my", "refund"], "payment-status"),
    (["charged", "twice"], "find --duplicates"),
    (["refund"], "payment-status"),
  ])
  func `leads from the words of a customer to a command`(
    _ words: [String],
    _ command: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try binary.run(["help"] + words).output.contains(command))
  }
}

extension Process {
  /// The output of a line of a shell, in the home of a program.
  fileprivate static func output(of line: String, _ binary: Binary) throws -> String {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", line]
    process.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
