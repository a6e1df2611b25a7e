import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// The commands of each provider that run while something breaks, and their required results.
enum Works {
  /// A command that is killed, and its required result in the books.
  struct Work: Sendable {
    /// A line of a batch that prepares the payment; nil if none is needed.
    var before: (@Sendable (String) -> String)?
    /// The command, as a line of a batch. It has the same arguments each time.
    var line: @Sendable (String) -> String
    /// Faults by which the provider fails at the same time.
    var faults: [String] = []
    /// Counts the command's effects in the books; nil if it moves no money.
    var effects: (@Sendable (Books, String) throws -> Int)?
    /// Whether its request has no key at the provider. If its answer is lost, it stays unknown (9) until a
    /// person resolves or finishes it. The same command never sends it again.
    var isKeyless = false
    /// Checks the books of a reference after its command ended with an exit.
    var check: @Sendable (Books, String, Binary.Result) throws -> Void
  }

  struct Provider: Sendable, CustomTestStringConvertible {
    let name: String
    let works: [Work]

    var testDescription: String { name }
  }

  /// The simulator's books.
  struct Books: Sendable {
    let path: String

    /// The states of the example provider's payments.
    func examples(_ reference: String) throws -> [String] {
      try Ledger(path: path).list("example", column: "reference", value: reference)
        .compactMap { $0.text("state") }
    }

    func charges(_ reference: String) throws -> Int {
      try LedgerAudit.charges(path: path, reference: reference)
    }

    func reversals(_ reference: String) throws -> Int {
      try LedgerAudit.reversals(path: path, reference: reference)
    }

    func refunded(_ reference: String) throws -> Int {
      try LedgerAudit.refunded(path: path, reference: reference)
    }

    func sales(
      _ reference: String
    ) throws -> (authorised: Int, standing: Int, captured: Int) {
      try LedgerAudit.sales(path: path, reference: reference)
    }

    func bankPayments(_ reference: String) throws -> Int {
      try LedgerAudit.bankBooks(path: path, reference: reference).made
    }
  }

  static func card(_ reference: String, _ more: String = "") -> String {
    """
    {"command":"transact","provider":"paytheory","reference":"\(reference)","amount":"10.50",\
    "test_card":"visa"\(more)}
    """
  }

  static func later(_ command: String, _ provider: String) -> @Sendable (String) -> String {
    { reference in
      """
      {"command":"\(command)","provider":"\(provider)","reference":"\(reference)"}
      """
    }
  }

  static let payTheory = Provider(
    name: "paytheory",
    works: [
      Work(
        line: { card($0) },
        faults: ["part2:reset-after", "part2:reset-before", "part1:close-after", "part2:garbage"],
        effects: { try $0.charges($1) },
        check: { books, reference, result in
          let charges = try books.charges(reference)
          #expect(charges == 1)
          #expect(result.status == 0, "\(reference)")
        }
      ),
      Work(
        before: { card($0, #","confirmation":true"#) },
        line: later("confirm", "paytheory"),
        faults: ["part2:reset-after", "part2:wrong-key"],
        effects: { try $0.charges($1) },
        check: { books, reference, result in
          let charges = try books.charges(reference)
          #expect(charges == 1)
          #expect(result.status == 0, "\(reference)")
        }
      ),
      Work(
        before: { card($0) },
        line: later("cancel", "paytheory"),
        effects: { try $0.reversals($1) },
        isKeyless: true,
        check: { books, reference, result in
          let reversals = try books.reversals(reference)
          #expect(result.status == 9 ? reversals == 0 : reversals <= 1)
          let charges = try books.charges(reference)
          #expect(charges == 1)
          #expect([0, 9].contains(result.status), "\(reference)")
        }
      ),
      part,
      Work(
        line: { reference in
          """
          {"command":"tokenize","provider":"paytheory","reference":"\(reference)","test_card":"visa"}
          """
        },
        isKeyless: true,
        check: { _, reference, result in
          #expect([0, 9].contains(result.status), "\(reference)")
        }
      ),
    ]
  )

  static let part = Work(
    before: { card($0) },
    line: { reference in
      """
      {"command":"cancel","provider":"paytheory","reference":"\(reference)","amount":"3",\
      "refund_reference":"part"}
      """
    },
    effects: { try $0.refunded($1) / 300 },
    isKeyless: true,
    check: { books, reference, result in
      let refunded = try books.refunded(reference)
      // A refund that was made is found. Otherwise it stays unknown, and is not sent again.
      #expect(refunded == (result.status == 9 ? 0 : 300))
      #expect([0, 9].contains(result.status), "\(reference)")
    }
  )

  static func sale(_ reference: String, _ more: String = "") -> String {
    """
    {"command":"transact","provider":"toro","reference":"\(reference)","amount":"10.50"\(more)}
    """
  }

  static let toro = Provider(
    name: "toro",
    works: [
      Work(
        line: { sale($0) },
        faults: [
          "authorisation:close-after", "authorisation:bad-mac", "authorisation:close-before",
          "authorisation:http-500",
        ],
        effects: { try $0.sales($1).standing },
        check: { books, reference, result in
          // One valid sale, or one that was undone and reported so.
          let isUndone = result.status == 12
          #expect(result.status == 0 || isUndone, "\(reference)")
          let sales = try books.sales(reference).standing
          #expect(sales == (isUndone ? 0 : 1))
        }
      ),
      Work(
        before: { sale($0, #","no_capture":true"#) },
        line: later("confirm", "toro"),
        faults: ["completion:close-after*1", "completion:wrong-exchange*1"],
        effects: { try $0.sales($1).captured },
        check: { books, reference, result in
          #expect(result.status == 0, "\(reference)")
          let sales = try books.sales(reference)
          #expect(sales == (1, 1, 1))
        }
      ),
      Work(
        before: { sale($0) },
        line: later("cancel", "toro"),
        faults: ["cancellation:close-after*1", "cancellation:truncated*1"],
        effects: { 1 - (try $0.sales($1).standing) },
        check: { books, reference, result in
          #expect(result.status == 0, "\(reference)")
          let sales = try books.sales(reference)
          #expect(sales == (1, 0, 0))
        }
      ),
      Work(
        before: { sale($0 + "-O") },
        line: { sale($0, #","type":"refund","original":"\#($0)-O""#) },
        faults: ["authorisation:close-after", "authorisation:http-500"],
        effects: { try $0.sales($1).standing },
        check: { books, reference, result in
          // A valid refund, or one that was undone and reported so. The sale is valid.
          let isUndone = result.status == 12
          #expect(result.status == 0 || isUndone, "\(reference)")
          let refunds = try books.sales(reference).standing
          #expect(refunds == (isUndone ? 0 : 1))
          let sales = try books.sales(reference + "-O").standing
          #expect(sales == 1)
        }
      ),
    ]
  )

  static func bank(_ reference: String, _ more: String = "") -> String {
    """
    {"command":"transact","provider":"truelayer","reference":"\(reference)","amount":"10",\
    "bank":"mock-payments-gb-redirect","merchant_account":"acc00000-0000-4000-8000-000000000826",\
    "redirect_url":"https://shop.example/return",\
    "user":{"name":"Remi","email":"remi@example.com"}\(more)}
    """
  }

  static let trueLayer = Provider(
    name: "truelayer",
    works: [
      Work(
        line: { bank($0) },
        faults: ["create:close-after", "create:http-500", "consent:close-after"],
        effects: { try $0.bankPayments($1) },
        check: { books, reference, result in
          let bankPayments = try books.bankPayments(reference)
          #expect(bankPayments == 1)
          #expect(result.status == 0, "\(reference)")
        }
      ),
      Work(
        before: { bank($0) },
        line: later("cancel", "truelayer"),
        faults: ["bank-cancel:close-after"],
        check: { books, reference, result in
          let bankPayments = try books.bankPayments(reference)
          #expect(bankPayments == 1)
          #expect(result.status == 0, "\(reference)")
          #expect(result.record.text("status") == "cancelled")
        }
      ),
    ]
  )

  static let providers = [payTheory, toro, trueLayer]

  /// The provider of `Tests/ExampleProvider`.
  static let example = Provider(
    name: "example",
    works: [
      Work(
        line: { examplePayment($0) },
        faults: ["example:close-after", "example:close-before", "example:silence-after"],
        check: { books, reference, result in
          let states = try books.examples(reference)
          #expect(states == ["paid"] && result.status == 0, "\(reference): \(states)")
        }
      ),
      Work(
        before: { examplePayment($0, #","hold":true"#) },
        line: later("confirm", "example"),
        faults: ["example:close-after"],
        check: { books, reference, result in
          let states = try books.examples(reference)
          #expect(states == ["paid"] && result.status == 0, "\(reference): \(states)")
        }
      ),
      Work(
        before: { examplePayment($0) },
        line: later("cancel", "example"),
        check: { books, reference, result in
          let states = try books.examples(reference)
          #expect(states == ["void"] && result.status == 0, "\(reference): \(states)")
        }
      ),
    ]
  )

  private static func examplePayment(_ reference: String, _ more: String = "") -> String {
    """
    {"command":"transact","provider":"example","reference":"\(reference)","amount":"5.00"\(more)}
    """
  }

  static func setting(_ name: String, _ otherwise: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? otherwise
  }

  /// Writes lines to a file in a program's home. Returns its path.
  static func write(_ lines: [String], _ binary: Binary) throws -> String {
    let file = binary.home.appending(path: "batch-\(UUID().uuidString).jsonl")
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
    return file.path
  }

  /// Runs lines as one batch.
  static func batch(
    _ lines: [String],
    _ binary: Binary,
    _ check: (Binary.Result) throws -> Void
  ) throws {
    try check(try binary.run("batch", write(lines, binary), "--ordered", "--json"))
  }

  /// Runs the same commands again. Returns the last record of each.
  ///
  /// A command whose refund turned out not to be made is run once more, which sends it.
  static func again(_ lines: [String], _ binary: Binary) throws -> [JSONObject] {
    var rows: [JSONObject] = []
    try batch(lines, binary) { rows = Array($0.records.dropLast()) }
    for (index, row) in rows.enumerated() where row["error"]?["code"] == "refund_not_made" {
      try batch([lines[index]], binary) { rows[index] = $0.records.first ?? row }
    }
    return rows
  }

  /// Returns a record of a batch as the result of its line.
  static func result(_ row: JSONObject) -> Binary.Result {
    Binary.Result(
      status: Int32(row["error"]?["exit"]?.wholeNumber ?? 0),
      output: JSONWriter.text(.object(row)),
      errors: ""
    )
  }

  /// Returns a line of a batch as arguments of a command line.
  static func words(_ line: String) -> [String] {
    guard let object = JSONReader.read(line)?.object, let command = object.text("command") else {
      return []
    }
    var words = [command, "--json", "--no-input"]
    for member in object.members where member.key != "command" {
      let option = "--" + member.key.replacing("_", with: "-")
      switch member.value {
      case .string(let text)
      where member.key == "reference" && !["transact", "tokenize"].contains(command):
        words.append(text)
      case .string(let text): words += [option, text]
      case .object(let pairs):
        for pair in pairs.members { words += [option, "\(pair.key)=\(pair.value.text ?? "")"] }
      default: words.append(option)
      }
    }
    return words
  }

  /// Turns off all late windows: in these tests, the provider does nothing late.
  ///
  /// `takesOver` allows taking over sales of other machines without a question.
  static func waitForNothing(_ binary: Binary, takesOver: Bool = false) throws {
    let own = takesOver || binary.variables["TENDER_JOURNAL"] != nil
    let config = binary.home.appending(path: ".config/tender")
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    let profile = #""late_window":"0s""# + (own ? #","takeover_window":"0s""# : "")
    try Data(#"{"schema":1,"default_profile":"p","profiles":{"p":{\#(profile)}}}"#.utf8)
      .write(to: config.appending(path: "config.json"))
  }
}
