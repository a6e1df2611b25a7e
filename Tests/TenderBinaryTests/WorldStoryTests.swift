import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Payments over weeks of the simulated clock. No command or request looks at them in between.
@Suite struct WorldStoryTests {
  private static let merchant = PayTheoryCatalog.merchantUID

  private static let payment =
    #"{"amount_in_minor":1000,"currency":"GBP","user":{"name":"Remi","email":"r@example.com"},"#
    + #""payment_method":{"type":"bank_transfer","provider_selection":{"type":"preselected","#
    + #""provider_id":"mock-payments-gb-redirect","scheme_selection":{"type":"instant_only"}},"#
    + #""beneficiary":{"type":"merchant_account","reference":"R","merchant_account_id":"#
    + #""acc00000-0000-4000-8000-000000000826"}},"metadata":{"reference":"BANK"},"#
    + #""authorization_flow":{"redirect":{"return_uri":"https://shop.example/"}}}"#

  /// The events of a world as text, and the world as it is saved.
  private struct Told: Equatable {
    var events: String
    var world: String

    func list(_ reference: String) -> [JSONObject] {
      let all = JSONReader.read(events)?.array?.compactMap(\.object) ?? []
      return all.filter { $0.text("reference") == reference }
    }

    func types(_ reference: String) -> [String] { list(reference).compactMap { $0.text("type") } }

    /// The statuses in the events of one transaction or dispute.
    func statuses(_ reference: String, _ event: String) -> [String] {
      list(reference).compactMap { JSONReader.read($0.text("body") ?? "") }
        .filter { $0["event"]?.text == event && $0["payload"]?["transaction_type"] != "ACH_RETURN" }
        .compactMap { $0["payload"]?["status"]?.text }
    }
  }

  private static func told() throws -> Told {
    let home = try Binary()
    defer { home.remove() }
    // 10:00 in New York.
    let host = try ServedClientTests.Host(
      home,
      "--sim-seed",
      "7",
      "--sim-clock",
      "2027-03-01T15:00:00Z",
      "--sim-scenario",
      "bank:execute"
    )
    func events() throws -> String { try host.text("GET /_simulator/events") }
    let bank = try ServedSuiteTests.Client(host)
    #expect(try bank.ask("POST", "/v3/payments", payment, key: "k").0 == "201")
    // The server makes the changes by itself.
    let end = ContinuousClock.now + .seconds(20)
    while try !events().contains("payment_settled"), ContinuousClock.now < end {}
    var client = home
    client.variables = host.variables
    func method(_ words: String) throws -> String {
      let stored = try client.run(line: "tokenize --provider paytheory " + words)
      return try #require(stored.record.text("id"), "\(stored.errors)")
    }
    func charge(_ reference: String, _ amount: Int, _ method: String, _ scenario: String) throws {
      let mutation =
        "mutation { createTransaction(merchant_uid: \"\(merchant)\", amount: \(amount), "
        + "payment_method_id: \"\(method)\", reference: \"\(reference)\") { status } }"
      let fields = [
        "Authorization: \(merchant);\(PayTheoryCatalog.secretKey)",
        "X-Tender-Simulator: scenario=\(scenario);seed=7",
      ]
      let body = JSONWriter.text(["query": .string(mutation)])
      let answer = try host.ask("POST /graphql", fields, body: body).1
      #expect(answer?["data"]?["createTransaction"]?["status"] == "PENDING", "\(answer as Any)")
    }
    try charge("ACH", 700, method("--reference T1 --test-account success"), "returned:late")
    try charge("CARD", 888_888, method("--reference T2 --test-card visa"), "capture:evening")
    for time in ["5d", "15d"] {
      #expect(try host.ask("POST /_simulator/advance", [], body: time).0 == "204")
    }
    return Told(events: try events(), world: try host.text("GET /_simulator/save"))
  }

  @Test func `a served world moves by its clock, and one seed gives the same bytes`() throws {
    let told = try Self.told()
    #expect(
      told.types("BANK") == ["payment_authorized", "payment_executed", "payment_settled"],
      "\(told.events)"
    )
    #expect(
      told.statuses("ACH", "TRANSACTION") == ["PENDING", "SUCCEEDED", "SETTLED", "RETURNED"],
      "\(told.events)"
    )
    #expect(told.types("ACH").filter { $0 == "TRANSACTION.CREATED" }.count == 2)
    // A dispute of a pending payment, its capture at 21:00, its settlement, and the end of the dispute.
    let card = told.statuses("CARD", "TRANSACTION")
    #expect(card == ["PENDING", "PENDING", "SUCCEEDED", "SETTLED", "SETTLED"], "\(card)")
    let dispute = told.statuses("CARD", "DISPUTE")
    #expect(dispute == ["INQUIRY", "LOST", "LOST"], "\(dispute)")
    let times = told.list("CARD").compactMap { $0.text("at") }
    #expect(times.contains("2027-03-02T02:00:00.000Z") && times == times.sorted(), "\(times)")
    #expect(times.contains("2027-03-02T16:00:00.000Z"), "\(times)")
    // Three days after the capture, which came five seconds after the charge.
    let returned = told.list("ACH").filter { $0.text("body")?.contains("R01") == true }
    #expect(returned.first?.text("at") == "2027-03-04T15:00:05.000Z", "\(returned)")
    #expect(try Self.told() == told)
  }

  @Test func `in process, an advance makes every change in its order`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let bank =
      "transact --provider truelayer --amount 10 --reference BANK --bank mock-payments-gb-redirect "
      + "--merchant-account acc00000-0000-4000-8000-000000000826 --user name=Remi "
      + "--user email=remi@example.com"
    for line in [
      bank, "refund BANK --amount 4",
      "transact --amount 7 --test-account success --reference ACH --sim-scenario returned:late",
      "transact --amount 8888.88 --test-card visa --reference CARD",
    ] {
      #expect([0, 8].contains(try binary.run(line: line).status), "\(line)")
    }
    // No record has another clock than that of the world.
    for line in [
      "simulator advance 5d", "simulator advance 15d", "simulator show", "find",
      "journal show CARD",
    ] {
      let shown = try binary.run(line: line)
      #expect(shown.status == 0)
      let at = shown.records.last?.text("at").flatMap(Timestamp.read) ?? 0
      #expect(at > Int(Date().timeIntervalSince1970 * 1000) + 4 * 86_400_000, "\(shown.output)")
    }
    let file = binary.home.appending(path: "world").path
    #expect(try binary.run(line: "simulator save \(file)").status == 0)
    let events = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
      .compactMap { JSONReader.read(String($0))?.object }
      .filter { $0.text("kind") == "event" }.compactMap { $0["body"]?.object }
    func types(_ reference: String) -> [String] {
      events.filter { $0.text("reference") == reference }.compactMap { $0.text("type") }
    }
    #expect(
      types("BANK") == [
        "payment_authorized", "payment_executed", "payment_settled", "refund_executed",
      ]
    )
    #expect(types("ACH").last == "TRANSACTION.UPDATED" && types("ACH").count == 6, "\(events)")
    #expect(types("CARD").filter { $0.hasPrefix("DISPUTE") }.count == 3, "\(events)")
    let numbers = events.compactMap { $0["number"]?.wholeNumber }
    #expect(numbers == Array(1...events.count))
    let ids = Set(events.compactMap { $0.text("id") })
    #expect(ids.count == events.count)
    // The return is no refund beside it, and no payment.
    let returned = try binary.run(line: "payment-status ACH").record
    #expect(returned.text("status") == "returned" && returned["refunded_amount"] == nil)
    let sums = try binary.run(line: "totals").records.first { $0.text("currency") == "USD" }
    #expect(sums?["refunded"]?.wholeNumber == 700, "\(String(describing: sums))")
    #expect(try binary.run(line: "find ACH --online").records.count == 1)
  }
}
