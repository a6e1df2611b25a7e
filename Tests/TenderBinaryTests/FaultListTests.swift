import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Every fault in `simulator scenarios`: its listed exit status and effect, and the same command again.
///
/// `make prove` runs all and prints the table. `make test` runs a part.
@Suite struct FaultListTests {
  /// The command for trying a fault.
  ///
  /// `REF` is replaced by the reference, `TOKEN` by a stored method.
  struct Trial: Sendable {
    /// A line of a batch that prepares the command's payment.
    var before: String?
    /// The command, as a line of a batch.
    var line: String
    /// Counts the effects of the request at this point in the books; nil if it changes none.
    var effects: (@Sendable (Works.Books, String) throws -> Int)?
  }

  private static let card =
    #"{"command":"transact","provider":"paytheory","reference":"REF","amount":"10","#
    + #""test_card":"visa"}"#

  private static func sale(_ more: String = "") -> String {
    #"{"command":"transact","provider":"toro","reference":"REF","amount":"10"\#(more)}"#
  }

  private static let bank = Works.bank("REF").replacing(
    #""redirect_url":"https://shop.example/return","#,
    with: ""
  )

  private static let payee =
    #""beneficiary_name":"Ben","user":{"name":"Remi","email":"remi@example.com"},"#

  private static let mandate =
    #"{"command":"transact","provider":"truelayer","mandate":true,"max_individual":"50","#
    + #""limit":["month:500"],"sort_code":"56-00-29","account_number":"26207729","# + payee
    + #""bank":"ob-natwest-vrp-sandbox","reference":"REF"}"#

  private static let form =
    #"{"command":"transact","provider":"truelayer","reference":"REF","amount":"10","currency":"EUR","#
    + #""iban":"GB33BUKB20201555555555","# + payee
    + #""bank":"mock-payments-nl-redirect","form":{"remitter-iban":"NL91ABNA0417164300"}}"#

  private static func later(_ command: String, _ provider: String) -> String {
    Works.later(command, provider)("REF")
  }

  static let trials: [String: Trial] = {
    let charge = Trial(line: card, effects: { try $0.charges($1) })
    let payment = Trial(line: bank, effects: { try $0.bankPayments($1) })
    let authorisation = Trial(line: sale(), effects: { try $0.sales($1).standing })
    var trials: [String: Trial] = [
      "part2": charge, "authorisation": authorisation, "create": payment,
      "cancel": Trial(
        before: card.replacing("}", with: #","hold":true}"#),
        line: later("cancel", "paytheory")
      ),
      "tokenize": Trial(
        line: #"{"command":"tokenize","provider":"paytheory","reference":"REF","test_card":"visa"}"#
      ),
      "barcode": Trial(
        line: #"{"command":"transact","provider":"paytheory","reference":"REF","amount":"10","#
          + #""method":"cash","payor":{"first_name":"A"},"#
          + #""instrument":{"type":"cash","name":"Ann","contact":"a@example.com"}}"#
      ),
      "graphql": Trial(before: card, line: later("payment-status", "paytheory")),
      "reversal": Trial(
        before: card,
        line: later("refund", "paytheory"),
        effects: { try $0.reversals($1) }
      ),
      "stored": Trial(
        line: card.replacing(#""test_card":"visa""#, with: #""token":"TOKEN""#),
        effects: { try $0.charges($1) }
      ),
      "form": Trial(line: form),
      "bank-cancel": Trial(
        before: Works.bank("REF", #","sim_scenario":"bank:abandon","wait":"1s""#),
        line: later("cancel", "truelayer")
      ),
      "revoke": Trial(before: mandate, line: later("cancel", "truelayer")),
      "refund": Trial(
        before: bank,
        line: later("refund", "truelayer"),
        effects: { try LedgerAudit.bankBooks(path: $0.path, reference: $1).refunds }
      ),
      "refunds": Trial(before: bank, line: later("refund", "truelayer")),
      "reader-tip": Trial(line: sale(#","gratuity_menu":"10,15,20""#)),
      "reader-choice": Trial(line: sale(#","sim_scenario":"card:application_choice""#)),
      "reader-touch": Trial(
        line: sale(
          #","sim_scenario":"card:chip_signature","signature":"device","signature_matches":"yes""#
        )
      ),
      "completion": Trial(
        before: sale(#","no_capture":true"#),
        line: later("confirm", "toro"),
        effects: { try $0.sales($1).captured }
      ),
      "cancellation": Trial(
        before: sale(),
        line: later("cancel", "toro"),
        effects: { 1 - (try $0.sales($1).standing) }
      ),
    ]
    for point in ["token", "attestation", "socket", "host-token", "part1"] {
      trials[point] = Trial(line: card)
    }
    for point in ["bank-token", "start", "selection", "consent", "status"] {
      trials[point] = Trial(line: bank)
    }
    for point in ["reader", "reader-connect", "reader-setup", "reader-card", "reader-pin"] {
      trials[point] = Trial(line: sale())
    }
    trials["reader-finish"] = Trial(line: sale())
    return trials
  }()

  /// Faults that no line of a batch reaches, or whose request `tender` never sends.
  private static let elsewhere: Set<String> = [
    "diagnostic", "status-report", "return", "accounts", "sweeping", "payout", "event",
  ]

  private struct Row {
    let word: SimulatorWord
    let reference: String
    let trial: Trial

    func text(_ line: String, _ token: String, fault: Bool = false) -> String {
      let text = line.replacing("REF", with: reference).replacing("TOKEN", with: token)
      return fault ? text.dropLast() + #","sim_fault":"\#(word.name)"}"# : text
    }
  }

  private static let providers: [any SimulatedProvider] = [
    SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer(),
  ]

  @Test func `ends as the list says, and the same command again makes it good`() throws {
    let stride = Works.setting("TENDER_FAULTS", 7)
    let binary = try Binary()
    defer { binary.remove() }
    let words = Self.providers.flatMap(\.faults.words)
    let points = Set(words.map(Self.point))
    #expect(points == Set(Self.trials.keys).union(Self.elsewhere))
    for word in words {
      guard let trial = Self.trials[Self.point(word)] else { continue }
      let command = word.command?.split(separator: " ").first ?? ""
      #expect(trial.line.contains("\"command\":\"\(command)\""), "\(word.name): \(command)")
    }
    var token = ""
    let store = Self.trials["tokenize"]?.line.replacing("REF", with: "K") ?? ""
    try Works.batch([store], binary) { token = $0.records.first?.text("id") ?? "" }
    let offset = Int.random(in: 0..<stride)
    // Point by point, because some wait for a payer, and so move the simulated clock.
    for point in points.sorted() {
      guard let trial = Self.trials[point] else { continue }
      let rows = words.enumerated().filter { Self.point($0.element) == point }
        .filter { $0.offset % stride == offset }
        .map { Row(word: $0.element, reference: "R\($0.offset)", trial: trial) }
      // The simulator shows its last 1,000 requests. A wait takes up to hundreds of them.
      // One batch asks for a bank's token one time, for the first line of any fault.
      let size = ["bank-token": 1, "status": 2][point] ?? 6
      for start in Swift.stride(from: 0, to: rows.count, by: size) {
        let part = Array(rows[start..<min(start + size, rows.count)])
        try check(part, token, binary, prints: stride == 1)
      }
    }
  }

  private static func point(_ word: SimulatorWord) -> String {
    String(word.name.prefix { $0 != ":" })
  }

  private func check(_ rows: [Row], _ token: String, _ binary: Binary, prints: Bool) throws {
    guard !rows.isEmpty else { return }
    let books = Works.Books(
      path: binary.home.appending(path: ".local/state/tender/simulator.db").path
    )
    let before = rows.compactMap { row in row.trial.before.map { row.text($0, token) } }
    if !before.isEmpty { try Works.batch(before, binary) { _ in } }
    var first: [JSONObject] = []
    try Works.batch(rows.map { $0.text($0.trial.line, token, fault: true) }, binary) {
      first = Array($0.records.dropLast())
    }
    try #require(first.count == rows.count)
    let made = try rows.map { try $0.trial.effects?(books, $0.reference) }
    let requests = try binary.run("simulator", "requests", "--json").records
    let again = try Works.again(rows.map { $0.text($0.trial.line, token) }, binary)
    try #require(again.count == rows.count)
    for (index, row) in rows.enumerated() {
      let exit = Works.result(first[index]).status
      let second = Works.result(again[index]).status
      let after = try row.trial.effects?(books, row.reference)
      func text(_ exit: Int32, _ record: JSONObject, _ made: Int?) -> String {
        let effects = made.map { ", \($0) in the books" } ?? ""
        return "exit \(exit), \(record.text("status") ?? "no status")\(effects)"
      }
      let shown =
        "\(row.word.name): \(text(exit, first[index], made[index])); again: "
        + text(second, again[index], after)
      if prints { print(shown) }
      #expect(exit == row.word.exit, "\(shown)")
      judge(row, exit, made[index], shown)
      judge(row, requests, shown)
      judge(row, again: second, after, shown)
    }
  }

  /// Checks the books after the command with the fault.
  private func judge(_ row: Row, _ exit: Int32, _ made: Int?, _ shown: String) {
    guard let made, let effect = row.word.effect else { return }
    // Exit 12: it was done and then undone.
    let isUndone = exit == 12
    #expect(made == (effect == .done && !isUndone ? 1 : 0), "\(shown)")
    #expect(effect == .done || exit != 0, "\(shown)")
  }

  /// Compares the answers of the simulator, as `simulator requests` shows them, with the meaning of the fault.
  private func judge(_ row: Row, _ requests: [JSONObject], _ shown: String) {
    let meaning = row.word.meaning.split(separator: ": ").dropFirst().joined(separator: ": ")
    let ends = [
      ("not sent", "unreachable"), ("connection closes", "close"), ("is reset", "reset"),
      ("no answer comes", "silence"), ("answer cut after", "cut"),
    ]
    let end = ends.first { meaning.contains($0.0) }?.1
    let status = meaning.split(separator: " answers ").last.flatMap { Int($0) }
    let struck = requests.filter { $0.text("fault") == row.word.name }
    // The protocol of a reader has no requests.
    #expect(!struck.isEmpty || row.word.name.hasPrefix("reader"), "\(shown): no request")
    for request in struck {
      #expect(request.text("end") == end, "\(shown): \(request)")
      #expect(status == nil || request["status"]?.wholeNumber == status, "\(shown): \(request)")
    }
  }

  /// Checks the same command without the fault: done once, undone and reported so, or unknown and not sent.
  private func judge(_ row: Row, again exit: Int32, _ made: Int?, _ shown: String) {
    // Exit 13: the payer's time ended while the look-ups failed.
    #expect([0, 9, 12, 13].contains(exit), "\(shown)")
    guard let made else { return }
    #expect(exit == 0 ? made > 0 : made == 0, "\(shown)")
  }

  /// Returns a scenario's trial with its command.
  private static func trial(_ scenario: String) -> Trial? {
    switch scenario.prefix(while: { $0 != ":" }) {
    case "card" where scenario == "card:no_touch": trials["reader-touch"]
    case "card" where scenario.contains("tip_"): trials["reader-tip"]
    case "card" where scenario.contains("signature") || scenario.contains("swipe"):
      Trial(line: sale(#","signature_matches":"yes","signature_file":"FILE""#))
    case "card", "gateway": trials["authorisation"]
    case "bank": trials["create"]
    case "mandate": Trial(line: mandate)
    case "refund": trials["refund"]
    case "hold": Trial(before: trials["cancel"]?.before, line: later("confirm", "paytheory"))
    case "barcode": trials["barcode"]
    default: trials["part2"]
    }
  }

  @Test func `scenarios end as the list says`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = binary.home.appending(path: "signature").path
    try Data("x".utf8).write(to: URL(filePath: file))
    for word in Self.providers.flatMap(\.scenarios) {
      guard let exit = word.exit, var trial = Self.trial(word.name) else { continue }
      trial.line = trial.line.replacing(#","sim_scenario":"card:chip_signature""#, with: "")
        .replacing("FILE", with: file)
      let row = Row(
        word: SimulatorWord(word.name, ""),
        reference: word.name.map { $0.isLetter ? String($0) : "-" }.joined(),
        trial: trial
      )
      let before = trial.before.map { row.text($0, "") }
      let line = String(row.text(trial.line, "").dropLast()) + #","sim_scenario":"\#(word.name)"}"#
      try Works.batch((before.map { [$0] } ?? []) + [line], binary) { result in
        let records = result.records.dropLast()
        #expect(records.last.map { Works.result($0).status } == exit, "\(word.name): \(records)")
      }
    }
  }

  @Test func `doctor ends as the list says`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for word in SimulatedToro().faults.words
    where ["diagnostic:", "status-report:"].contains(where: word.name.hasPrefix) {
      let result = try binary.run(
        "doctor",
        "--provider",
        "toro",
        "--sim-fault",
        word.name,
        "--json"
      )
      #expect(result.status == word.exit, "\(word.name)")
    }
  }
}
