import Foundation
import TenderModel
import TenderSimulator
import TenderSystem
import TenderTestSupport
import Testing

/// The program continues payments that an old version began, at the provider of their beginning.
@Suite struct OldJournalTests {
  /// A command about a payment that an old program began, and its result.
  private struct Step {
    let words: String
    let exit: Int32
    let status: String
    /// The captured, refunded and pending amounts afterwards; nil without an amount.
    let amounts: [Int]?

    init(_ words: String, exit: Int32 = 0, _ status: String, _ amounts: [Int]? = nil) {
      (self.words, self.exit, self.status, self.amounts) = (words, exit, status, amounts)
    }

    /// The payment that it is about.
    var reference: String {
      words.split(separator: " ").first { $0.allSatisfy { $0.isUppercase && $0.isLetter } }
        .map(String.init) ?? ""
    }
  }

  private static let card = " --amount 10.50 --test-card visa"

  /// The steps in their order.
  private static let steps = [
    Step("confirm HELD", "succeeded", [1050, 0, 0]),
    Step("confirm HELDFEE", "succeeded", [1110, 0, 0]),
    Step("confirm LOSTCONFIRM", "succeeded", [1050, 0, 0]),
    Step("journal resume LOST", exit: 9, ""),
    Step("journal resume LOST --finish", "succeeded", [1050, 0, 0]),
    Step("journal resume PARTS", "partially_refunded", [1050, 600, 0]),
    Step("refund PARTS", "refunded", [1050, 1050, 0]),
    Step("refund PARTVOID", "refunded", [1050, 1050, 0]),
    Step("journal resume LOSTREFUND", "refunded", [1050, 1050, 0]),
    Step("payment-status ACCOUNT", "succeeded", [1050, 0, 0]),
    Step("payment-status BARCODE", "requires_action", [0, 0, 0]),
    Step("refund STORED --amount 1", "partially_refunded", [1050, 100, 0]),
    Step("cancel CAPTURED", "refunded", [1050, 1050, 0]),
    Step("tokenize --test-card visa --reference TOKEN", "succeeded"),
    Step(
      "transact --metadata table=7 --payor email=ada@example.com --reference PAID" + card,
      "succeeded",
      [1050, 0, 0]
    ),
    Step("transact --reference FREED" + card, "succeeded", [1050, 0, 0]),
    Step("transact --reference DECLINED" + card, exit: 3, "declined", [0, 0, 0]),
    Step("transact --new-attempt --reference DECLINED" + card, "succeeded", [1050, 0, 0]),
    Step("journal resume BANKLOST", exit: 9, ""),
    Step("journal resume BANKLOST --finish", "requires_action", [0, 0, 0]),
    Step("journal resume BANKPARTS", exit: 9, ""),
    Step("journal resume BANKPARTS --finish", "partially_refunded", [1000, 300, 200]),
    Step("refund BANKPARTS", "partially_refunded", [1000, 300, 700]),
    Step("payment-status BANKPARTS", "partially_refunded", [1000, 300, 700]),
    Step("payment-status BANKFAILED", "succeeded", [1000, 0, 0]),
    Step("refund BANKFAILED", "succeeded", [1000, 0, 1000]),
    Step("cancel BANKWAITS", "cancelled", [0, 0, 0]),
    Step("payment-status BANKGONE", "cancelled", [0, 0, 0]),
    Step("cancel MANDATE", "revoked"),
    Step("mandate-status REVOKED", "revoked"),
    Step("confirm SALEHELD", "succeeded", [1250, 0, 0]),
    Step("confirm SALELOSTCONFIRM", "succeeded", [1250, 0, 0]),
    Step("journal resume SALELOST", exit: 9, ""),
    Step("journal resume SALELOST --finish --yes", exit: 12, "cancelled", [0, 0, 0]),
    Step("cancel SALELOSTCANCEL", "cancelled", [1250, 0, 0]),
    Step("refund SALEPART", "cancelled", [625, 0, 0]),
    Step("refund SALEPARTS", exit: 15, ""),
    Step(
      "transact --provider toro --type refund --amount 7.50 --original SALEPARTS --reference REST",
      "refunded",
      [1250, 1250, 0]
    ),
    Step("payment-status SALEPARTS", "refunded", [1250, 1250, 0]),
  ]

  /// A home with the state folder of an old program.
  private static func home(of old: OldJournal) throws -> (Binary, state: URL) {
    let binary = try Binary()
    let state = binary.home.appending(path: ".local/state/tender")
    try FileManager.default.createDirectory(
      at: state,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    try old.put(into: state)
    return (binary, state)
  }

  @Test func `what an old version began is gone on with`() throws {
    let old = OldJournal.withOperations
    let (binary, state) = try Self.home(of: old)
    defer { binary.remove() }
    let known = Set(try old.said().compactMap { $0.text("reference") })
    let more = ["--json", "--no-input", "--sim-clock", try old.later()]
    for step in Self.steps where known.contains(step.reference) {
      let result = try binary.run(step.words.split(separator: " ").map(String.init) + more)
      #expect(result.status == step.exit, "\(step.words): \(result.errors)")
      #expect(result.record.text("status") ?? "" == step.status, "\(step.words)")
      guard let amounts = step.amounts else { continue }
      let names = ["captured_amount", "refunded_amount", "refunding_amount"]
      #expect(names.map { result.record[$0]?.boundedNumber ?? 0 } == amounts, "\(step.words)")
    }
    #expect(try binary.run("journal", "resume", "--all", "--json").status == 0)
    #expect(try binary.run("journal", "verify", "--json").status == 0)
    let listed = try binary.run("journal", "list", "--all", "--json").records
    #expect(known.isSubset(of: Set(listed.compactMap { $0.text("reference") })))
    let books = state.appending(path: "simulator.db").path
    for record in listed where record["amount"] != nil {
      #expect(try Self.left(record) == Self.booked(record, books), "\(record)")
    }
  }

  /// The payments of a release that this version has to finish or repeat.
  private static let promised: Set = [
    "HELD", "HELDFEE", "LOSTCONFIRM", "LOST", "PAID", "DECLINED", "STORED", "BANKLOST", "MANDATE",
    "REVOKED", "SALEHELD", "SALEPARTS", "REST",
  ]

  @Test(arguments: OldJournal.released)
  func `reads the journal of a release, and finishes its payments`(_ old: OldJournal) throws {
    let (binary, _) = try Self.home(of: old)
    defer { binary.remove() }
    for said in try old.said() {
      let reference = said.text("reference") ?? ""
      let shown = try binary.run("journal", "show", reference, "--json").record
      for name in ["status", "id", "amount", "captured_amount", "currency", "idempotency_key"] {
        #expect(shown[name] == said[name], "\(reference): \(name)")
      }
    }
    #expect(try binary.run("journal", "verify", "--json").status == 0)
    let more = ["--json", "--no-input", "--sim-clock", try old.later()]
    for step in Self.steps where Self.promised.contains(step.reference) {
      let result = try binary.run(step.words.split(separator: " ").map(String.init) + more)
      #expect(result.status == step.exit, "\(step.words): \(result.errors)")
      #expect(result.record.text("status") ?? "" == step.status, "\(step.words)")
    }
    #expect(try binary.run("journal", "verify", "--json").status == 0)
  }

  @Test func `an export from before the first release is refused, line by line`() throws {
    let (binary, _) = try Self.home(of: .withOperations)
    defer { binary.remove() }
    let new = ["--state-dir", binary.home.appending(path: "new/tender").path, "--json"]
    let old = #"{"schema":1,"record":"journal_entry","stored":{"phase":"done","reference":"A"}}"#
    let exported = try binary.run("journal", "export")
    let taken = try binary.run(
      ["journal", "import", "-"] + new,
      input: old + "\n" + exported.output
    )
    #expect(taken.status == 14)
    #expect(taken.records.first?["error"]?["code"] == "bad_import")
    let message = taken.records.first?["error"]?["message"]?.text
    #expect(message?.contains("line 1 was exported") == true)
    let listed = try binary.run(["journal", "list", "--all"] + new).records
    #expect(listed.count == exported.records.count)
  }

  /// Every command that opens the journal refuses one from before the first release.
  private static let commands = [
    "transact --amount 10.50 --test-card visa --reference PAID", "refund PAID", "find PAID",
    "payment-status PAID", "journal list", "journal verify", "journal accept --reason seen --yes",
    "journal export", "journal resume --all", "journal import",
  ]

  /// `line` is a payment of an export, for `import`.
  private func expectRefusals(
    _ binary: Binary,
    _ place: String,
    version: Int,
    _ line: String
  ) throws {
    let file = binary.home.appending(path: "exported.jsonl")
    try Data(line.utf8).write(to: file)
    for command in Self.commands {
      let words = command.split(separator: " ").map(String.init) + ["--json", "--no-input"]
      let refused = try binary.run(words + (command == "journal import" ? [file.path] : []))
      let error = refused.errorRecord["error"]
      #expect(refused.status == 16, "\(command): \(refused.output) \(refused.errors)")
      #expect(error?["code"] == "journal_older", "\(command): \(refused.errors)")
      #expect(error?["effect"] == "none", "\(command)")
      let message = error?["message"]?.text ?? ""
      #expect(message.contains(place) && message.contains("version \(version)"), "\(command)")
      #expect(refused.output.isEmpty, "\(command)")
    }
  }

  @Test func `a file from before the first release is refused, and nothing is charged`() throws {
    let (binary, state) = try Self.home(of: .withOperations)
    defer { binary.remove() }
    let path = state.appending(path: "journal.db").path
    let line = try binary.run("journal", "export").output
    do {
      let old = try Database(path: path)
      try old.execute("ALTER TABLE payment RENAME TO attempt; PRAGMA user_version = 6")
      _ = try old.first("PRAGMA wal_checkpoint(TRUNCATE)")
    }
    let files = [
      path, state.appending(path: "simulator.db").path,
      state.deletingLastPathComponent().appending(path: ".tender.tender-mark").path,
    ]
    let before = try files.map { try Data(contentsOf: URL(filePath: $0)) }
    try expectRefusals(binary, path, version: 6, line)
    #expect(try files.map { try Data(contentsOf: URL(filePath: $0)) } == before)
  }

  @Test(.enabled(if: PostgresCluster.isAvailable, "\(PostgresCluster.isMissing)"))
  func `tables from before the first release are refused, and nothing is charged`() throws {
    let fleet = try Fleet(machines: 1)
    let binary = fleet.machines[0]
    let words = "transact --amount 10.50 --test-card visa --reference PAID --json"
    #expect(try binary.run(line: words).status == 0)
    let line = try binary.run("journal", "export").output
    let database = String(fleet.address.split(separator: "/").last ?? "")
    try PostgresCluster.shared().sql(
      "ALTER TABLE tender.payment RENAME TO attempt; ALTER TABLE tender.event RENAME TO history; "
        + "ALTER TABLE tender.journal DROP COLUMN accepted; UPDATE tender.journal SET version = 1",
      in: database
    )
    try expectRefusals(binary, "/\(database)", version: 1, line)
    let refused = try binary.run("journal", "migrate", "--json")
    #expect(refused.status == 16)
    #expect(refused.errorRecord["error"]?["code"] == "journal_older")
    #expect(try Works.Books(path: fleet.shop.books).charges("PAID") == 1)
  }

  /// Nothing of a line with a card number is stored, whatever member has it.
  @Test(arguments: [
    (#""note":"opened""#, #""note":"card 4111 1111 1111 1111""#, "history"),
    (#""merchant":""#, #""merchant":"4111111111111111 "#, "stored"),
    (#""kind":"charge""#, #""kind":"charge","key":"4111111111111111""#, "operations"),
    (#""sequence":1"#, #""sequence":1,"preparation":"4111111111111111""#, "stored"),
    (#""reference":"A""#, #""reference":"4111-1111-1111-1111""#, "reference"),
    (#""brand":"VISA""#, #""brand":"x 4111111111111111 12/49""#, "result"),
  ])
  func `stores no card number of an imported payment`(
    _ old: String,
    _ new: String,
    _ place: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference"]
    for name in ["A", "B"] { #expect(try binary.run(pay + [name]).status == 0) }
    let lines = try binary.run("journal", "export").output.split(separator: "\n")
    let changed = lines[1].replacingOccurrences(of: old, with: new)
    #expect(changed != lines[1])
    let folder = binary.home.appending(path: "new/tender")
    let new = ["--state-dir", folder.path, "--json"]
    let text = "\(lines[0])\n\(changed)\n"
    let result = try binary.run(["journal", "import", "-"] + new, input: text)
    #expect(result.status == 14)
    let error = result.records.first?["error"]
    #expect(error?["code"] == "bad_import")
    let message = error?["message"]?.text ?? ""
    #expect(message.hasPrefix("line 2 ") && message.contains("\(place) has"), "\(result.output)")
    #expect(try binary.run(["journal", "list"] + new).records.map { $0["reference"] } == ["B"])
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let bytes = try? Data(contentsOf: folder.appending(path: file))
      for card in ["4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111"] {
        #expect(bytes?.range(of: Data(card.utf8)) == nil, "\(file)")
      }
    }
  }

  /// Values that no journal can hold, and amounts that differ from those of the operations.
  @Test(arguments: [
    (
      #""currency":"USD","last_four""#, #""currency":"ZZZ","last_four""#, "its currency"
    ),
    (#""amount":500,"is_rest""#, #""amount":-500,"is_rest""#, "amount is -500"),
    (#""amount":500,"is_rest""#, #""amount":"500","is_rest""#, "its captured_amount"),
    (#""amount":500,"is_rest""#, #""amount":5e15,"is_rest""#, "amount is 5000000000000000"),
    (#""seen_refunded":0"#, #""seen_refunded":-1"#, "seen_refunded is -1"),
    (#""reference":"A","merchant""#, #""reference":"","merchant""#, "its reference"),
    (#""kind":"charge""#, #""kind":"create_mandate""#, "its operations"),
    (#""sequence":1"#, #""sequence":9"#, "its operations"),
    (#""kind":"charge""#, #""kind":"capture""#, "its operations"),
    (
      #""provider":"paytheory","reference":"A","merchant""#,
      #""provider":"x y","reference":"A","merchant""#, "its reference"
    ),
    (#""state":"succeeded","content""#, #""state":"lost","content""#, "line 1 is not"),
    (#""state":"succeeded","content""#, #""state":"sent","sent":-4,"content""#, "sent is -4"),
    (#""kind":0,"created""#, #""kind":0,"kind":0,"created""#, "line 1 is not"),
    (#""amount":500,"is_rest""#, #""amount":501,"is_rest""#, "its captured_amount"),
    (#""amount":500,"is_rest""#, #""amount":499,"is_rest""#, "its captured_amount"),
    (#""captured_amount":500"#, #""captured_amount":400"#, "its captured_amount"),
    (#""reference":"A","att"#, #""reference":"C","att"#, "its reference"),
    (#""env":"simulator","refer"#, #""env":"live","refer"#, "its env"),
    (
      #""captured_amount":500"#, #""captured_amount":500,"refunded_amount":1"#,
      "its refunded_amount"
    ),
    (
      #""currency":"USD","result""#, #""currency":"EUR","result""#,
      "its currency is not that of its stored operations"
    ),
    (
      #""status":"succeeded","provider_status""#, #""status":"declined","provider_status""#,
      "its status is not that of its stored operations"
    ),
    (
      #""currency":"USD","last_four""#, #""currency":"EUR","last_four""#,
      "its currency is not that of its stored operations"
    ),
  ])
  func `imports nothing that no journal can hold`(
    _ old: String,
    _ new: String,
    _ why: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference", "A"]
    #expect(try binary.run(pay).status == 0)
    let line = try binary.run("journal", "export").output
    let changed = line.replacingOccurrences(of: old, with: new)
    #expect(changed != line)
    let place = ["--state-dir", binary.home.appending(path: "new/tender").path, "--json"]
    let result = try binary.run(["journal", "import", "-"] + place, input: changed)
    #expect(result.status == 14)
    let message = result.records.first?["error"]?["message"]?.text ?? ""
    #expect(message.hasPrefix("line 1 ") && message.contains(why), "\(result.output)")
    #expect(try binary.run(["journal", "list"] + place).output.isEmpty)
  }

  /// The longest line has 4 MiB. A longer one is refused alone.
  @Test func `imports no line that is too long`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --amount 5 --test-card visa --reference A"
    #expect(try binary.run(line: pay).status == 0)
    let line = try binary.run("journal", "export").output.trimmingCharacters(in: .newlines)
    for (count, status) in [(4_194_304, Int32(0)), (4_194_305, 14)] {
      let place = ["--state-dir", binary.home.appending(path: "\(count)/tender").path, "--json"]
      let padded = line + String(repeating: " ", count: count - line.utf8.count)
      let result = try binary.run(["journal", "import", "-"] + place, input: padded + "\n\n")
      #expect(result.status == status, "\(result.output)")
      #expect(try binary.run(["journal", "list"] + place).records.count == (status == 0 ? 1 : 0))
      guard status != 0 else { continue }
      let error = result.records.first?["error"]
      #expect(error?["code"] == "bad_line")
      #expect(error?["message"] == "the line is longer than 4194304 bytes")
      #expect(error?["hint"] == "one payment a line")
    }
    let missing = try binary.run("journal", "import", "missing", "--json")
    let message = missing.errorRecord["error"]?["message"]
    #expect(missing.status == 2 && message == "journal import: cannot read 'missing'")
  }

  /// Sums that differ from those of the operations. `number` is the line of the export.
  @Test(arguments: [
    (
      #""amount":200,"is_rest""#, #""amount":600,"is_rest""#, 2,
      "more was refunded than was captured"
    ),
    (
      #""amount":301,"is_rest""#, #""amount":302,"is_rest""#, 2,
      "more was refunded than was captured"
    ),
    (
      #""number":1,"amount":700,"is_rest":1"#, #""number":1,"amount":701,"is_rest":1"#, 1,
      "more was captured than was authorized"
    ),
    (
      #""state":"succeeded","content":{"command":"transact","amount":501"#,
      #""state":"declined","content":{"command":"transact","amount":501"#, 2, "its captured_amount"
    ),
    (#""amount":200,"is_rest""#, #""amount":199,"is_rest""#, 2, "its refunded_amount"),
  ])
  func `imports no sum that its operations do not have`(
    _ old: String,
    _ new: String,
    _ number: Int,
    _ why: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    for line in [
      "transact --amount 5.01 --test-card visa --reference A", "refund A --amount 2",
      "refund A --rest", "transact --amount 7 --test-card visa --hold --reference B", "confirm B",
    ] { #expect(try binary.run(line: line).status == 0) }
    let lines = try binary.run("journal", "export").output
    let changed = lines.replacingOccurrences(of: old, with: new)
    #expect(changed != lines)
    let place = ["--state-dir", binary.home.appending(path: "new/tender").path, "--json"]
    let result = try binary.run(["journal", "import", "-"] + place, input: changed)
    #expect(result.status == 14)
    let error = result.records.first?["error"]
    #expect(error?["code"] == "bad_import")
    let message = error?["message"]?.text ?? ""
    #expect(message.hasPrefix("line \(number) ") && message.contains(why), "\(result.output)")
    let kept = try binary.run(["journal", "list"] + place).records.map { $0["reference"] }
    #expect(kept == [number == 1 ? "A" : "B"])
  }

  /// A gratuity may raise the amount of a sale, and a refund under way is in no sum of what was refunded. `olds`
  /// are the places of a line in which `old` becomes `new`.
  @Test(arguments: [
    (
      "till --hold", "1250", "9950", [#""amount":1250,"is_rest""#],
      "its amount is not that of its stored operations"
    ),
    (
      "bank | refund A --amount 4", "400", "300", [#""amount":400,"is_rest""#],
      "its refunding_amount is not that of its stored operations"
    ),
    (
      "bank | refund A --amount 4", "processing", "failed", [#""state":"processing","result""#],
      "its refunding_amount is not that of its stored operations"
    ),
    (
      "bank | refund A --amount 4", "GBP", "EUR", [#""currency":"GBP","provider_status""#],
      "its currency is not that of its stored operations"
    ),
  ])
  func `imports no amount that its record contradicts`(
    _ story: String,
    _ old: String,
    _ new: String,
    _ olds: [String],
    _ why: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let bank =
      "transact --provider truelayer --amount 10 --reference A --bank mock-payments-gb-redirect "
      + "--merchant-account 8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6 --user name=Ada "
      + "--user email=ada@example.com"
    let till = "transact --provider toro --amount 12.50 --reference A"
    for line in story.components(separatedBy: " | ") {
      let words = line.replacing("bank", with: bank).replacing("till", with: till)
      #expect(try binary.run(line: words).status == 0, "\(words)")
    }
    var changed = try binary.run("journal", "export").output
    for place in olds {
      #expect(changed.contains(place), "\(place)")
      changed = changed.replacing(place, with: place.replacing(old, with: new))
    }
    let place = ["--state-dir", binary.home.appending(path: "new/tender").path, "--json"]
    let result = try binary.run(["journal", "import", "-"] + place, input: changed)
    #expect(result.status == 14)
    let message = result.records.first?["error"]?["message"]?.text
    #expect(message == "line 1 is not a payment of a journal: \(why)", "\(result.output)")
    #expect(try binary.run(["journal", "list"] + place).output.isEmpty)
  }

  @Test func `two imports of one file end as one after the other`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = (1...120).map { BatchTests.pay("R\($0)") }
    #expect(try binary.run("batch", try Works.write(lines, binary), "--json").status == 0)
    let file = binary.home.appending(path: "exported.jsonl")
    try Data(try binary.run("journal", "export").output.utf8).write(to: file)
    let place = ["--state-dir", binary.home.appending(path: "new/tender").path, "--json"]
    let runs = try (1...3).map { _ in try binary.start(["journal", "import", file.path] + place) }
    var copied = 0
    for (process, output, _) in runs {
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(text)")
      let counts = text.firstMatch(of: /(\d+) payments? copied, (\d+) there already/)
      let (new, old) = (Int(counts?.1 ?? "") ?? 0, Int(counts?.2 ?? "") ?? 0)
      #expect(new + old == 120, "\(text)")
      copied += new
    }
    #expect(copied == 120)
    #expect(try binary.run(["journal", "verify"] + place).status == 0)
  }

  /// One charge belongs to one record. In two, its money would count twice.
  @Test func `imports no charge that another record has`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --amount 5 --test-card visa --reference "
    for name in ["A", "B"] { #expect(try binary.run(line: pay + name).status == 0) }
    let exported = try binary.run("journal", "export")
    let ids = try exported.records.map { try #require($0.text("id")) }
    // The simulator may use an id again, another env may not.
    for (env, status) in [("sandbox", Int32(14)), ("simulator", 0)] {
      let lines = exported.output.replacing(ids[1], with: ids[0])
        .replacing(#""env":"simulator""#, with: #""env":"\#(env)""#)
      #expect(lines != exported.output)
      let place = ["--state-dir", binary.home.appending(path: "\(env)/tender").path, "--json"]
      for _ in 0..<2 {
        let result = try binary.run(["journal", "import", "-"] + place, input: lines)
        #expect(result.status == status, "\(result.output)")
        guard status != 0 else { continue }
        #expect(result.records.first?["error"]?["code"] == "id_held", "\(result.output)")
        let kept = try binary.run(["journal", "list"] + place).records
        #expect(kept.map { $0["reference"] } == ["B"])
      }
    }
  }

  /// One idempotency key belongs to one operation.
  @Test func `imports no key that another record has`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let bank =
      "transact --provider truelayer --amount 10 --bank mock-payments-gb-redirect "
      + "--merchant-account 8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6 --user name=Ada "
      + "--user email=ada@example.com --reference "
    for name in ["A", "B"] { #expect(try binary.run(line: bank + name).status == 0) }
    let lines = try binary.run("journal", "export").output
    let keys = Set(lines.matches(of: /"key":"([^"]+)"/).map { String($0.1) }).sorted()
    try #require(keys.count == 2)
    let changed = lines.replacing(keys[1], with: keys[0])
    let place = ["--state-dir", binary.home.appending(path: "new/tender").path, "--json"]
    let result = try binary.run(["journal", "import", "-"] + place, input: changed)
    #expect(result.status == 14, "\(result.output)")
    #expect(result.records.first?["error"]?["code"] == "key_reused", "\(result.output)")
    #expect(try binary.run(["journal", "list"] + place).records.count == 1)
  }

  /// The amount that the merchant has of a payment, by the journal. For a refund to a card, it is negative.
  private static func left(_ record: JSONObject) throws -> Int {
    func amount(_ name: String) -> Int { record[name]?.boundedNumber ?? 0 }
    guard record["status"] != "cancelled" else { return 0 }
    return amount("captured_amount") - amount("refunded_amount") - amount("refunding_amount")
  }

  /// The same amount by the provider's books.
  private static func booked(_ record: JSONObject, _ path: String) throws -> Int {
    let reference = record.text("reference") ?? ""
    switch record.text("provider") {
    case "paytheory":
      return try LedgerAudit.payTheoryMoney(path: path, reference: reference).kept
    case "toro":
      let kept = try LedgerAudit.saleMoney(path: path, reference: reference).kept
      // A refund to the card counts as a negative sale.
      return record["captured_amount"] == 0 ? -kept : kept
    default: return try LedgerAudit.bankMoney(path: path, reference: reference).kept
    }
  }
}
