import Foundation
import PayTheory
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Captures, settlements, returns and disputes of the simulated Pay Theory (PayTheory/README, 12.3).
@Suite struct SettlementTests {
  private let world: World

  init() throws { world = try World() }

  /// The answer to a document, from a simulator of its own.
  private func ask(_ query: String) throws -> JSON {
    let answer = try world.simulator().send(
      HTTPRequest(
        method: .post,
        url: "https://simulator/graphql",
        fields: [
          .init("Authorization", PayTheoryCatalog.merchantUID + ";" + PayTheoryCatalog.secretKey)
        ],
        body: Array(JSONWriter.text(["query": .string(query)]).utf8)
      ),
      by: Deadline(in: 1000, on: world.clock)
    )
    let body = JSONReader.read(answer.body) ?? .null
    if Judge.has("graphql"), let data = body["data"]?.object {
      let schema = Project.path("Tests/PayTheoryTests/Schema/graphql-2026.graphql")
      let question: JSONObject = ["query": .string(query), "data": .object(data)]
      let verdict = try Judge("graphql_server.py", schema).ask(question)
      #expect(verdict["errors"] == nil && verdict["data"]?.object?.sorted == data.sorted)
    }
    return body
  }

  private func data(_ query: String) throws -> JSON { try ask(query)["data"] ?? .null }

  private func transaction(_ reference: String) throws -> JSON? {
    try data(
      "{transactions(query: {query_list: [{key: \"reference\", value: \"\(reference)\", operator: EQUAL}]})"
        + "{items{transaction_id status transaction_type is_settled settlement_batch dispute_status}}}"
    )["transactions"]?["items"]?.array?.first
  }

  private func set(_ time: String) throws {
    let wanted = try #require(Timestamp.read(time))
    world.clock.advance(wanted - world.clock.now)
  }

  private func pay(_ reference: String, ach: Bool = false, _ scenario: String? = nil) throws {
    let account = try Instrument.bankAccount(TestInstruments.account(.success))
    _ = try world.engine(scenario: scenario)
      .pay(world.order(reference, amount: 1000, instrument: ach ? account : nil))
  }

  /// Summer time begins on the second Sunday of March, and ends on the first of November.
  @Test(
    arguments: [
      ("2027-03-13T12:00:00Z", false, "2027-03-14T02:00:00Z", "2027-03-14T15:00:00Z"),
      ("2027-03-13T12:00:00Z", true, "2027-03-14T00:00:00Z", "2027-03-14T15:00:00Z"),
      ("2027-03-14T02:00:01Z", false, "2027-03-15T01:00:00Z", "2027-03-15T15:00:00Z"),
      ("2027-11-06T12:00:00Z", false, "2027-11-07T01:00:00Z", "2027-11-07T16:00:00Z"),
      ("2027-11-07T01:30:00Z", true, "2027-11-08T00:00:00Z", "2027-11-08T16:00:00Z"),
    ]
  )
  func `captures in the evening and settles the next morning`(
    _ start: String,
    _ ach: Bool,
    _ evening: String,
    _ morning: String
  ) throws {
    try set(start)
    try pay("A", ach: ach, "capture:evening")
    let captured = try #require(Timestamp.read(evening))
    let settled = try #require(Timestamp.read(morning))
    for (time, status) in [
      (captured - 1, "PENDING"), (captured, "SUCCEEDED"), (settled - 1, "SUCCEEDED"),
      (settled, "SETTLED"),
    ] {
      world.clock.advance(time - world.clock.now)
      let seen = try transaction("A")
      #expect(seen?["status"]?.text == status, "\(Timestamp.text(time))")
      #expect(seen?["is_settled"]?.truth == (status == "SETTLED"))
    }
  }

  @Test func `a reversal before the capture is a void, and nothing is settled`() throws {
    try set("2027-03-01T15:00:00Z")
    try pay("A", "capture:evening")
    let id = try #require(try transaction("A")?["transaction_id"]?.text)
    let reverse =
      "mutation{createReversal(transaction_id: \"\(id)\", amount: 1000, refund_reason: "
      + "{reason_code: OTHER}){is_void}}"
    #expect(try data(reverse)["createReversal"]?["is_void"] == true)
    world.clock.advance(3 * 86_400_000)
    #expect(try transaction("A")?["status"] == "VOIDED")
    #expect(try data("{settlements{total_row_count}}")["settlements"]?["total_row_count"] == 0)
  }

  @Test func `a batch has the day's transactions, and one transfer a day later`() throws {
    try set("2027-03-01T15:00:00Z")
    try pay("A")
    try pay("B", ach: true, "returned")
    let id = try #require(try transaction("A")?["transaction_id"]?.text)
    world.clock.advance(10_000)
    try world.giveBack(400, of: id)
    world.clock.advance(26 * 3_600_000)
    let query =
      "{settlements{items{settlement_batch status gross_amount gross_amount_64bit total_fees "
      + "total_adjustments net_amount net_amount_64bit transaction_debit_count "
      + "transaction_reversal_count transfer_date} total_row_count}}"
    let batch = try data(query)["settlements"]?["items"]?.array?.first
    #expect(batch?["settlement_batch"] == 1001 && batch?["status"] == "PENDING")
    #expect(batch?["gross_amount"] == 2000 && batch?["gross_amount_64bit"] == "2000")
    // 59 for the card and 35 for the account; 400 were refunded, and 1000 returned.
    #expect(batch?["total_fees"] == 94 && batch?["total_adjustments"] == -1400)
    #expect(batch?["net_amount"] == 506 && batch?["net_amount_64bit"] == "506")
    #expect(batch?["transaction_debit_count"] == 2 && batch?["transaction_reversal_count"] == 1)
    #expect(try transaction("A")?["settlement_batch"] == 1001)
    let transfers =
      "{fundingTransfers(merchant_uid: \"\(PayTheoryCatalog.merchantUID)\", settlement_batch: 1001)"
      + "{transfers{id amount origin destination status reason settlement_batch}}}"
    #expect(try data(transfers)["fundingTransfers"]?["transfers"] == [])
    world.clock.advance(86_400_000)
    let transfer = try data(transfers)["fundingTransfers"]?["transfers"]?.array?.first
    #expect(transfer?["amount"] == "506" && transfer?["destination"] == "MERCHANT")
    #expect(try data(query)["settlements"]?["items"]?.array?.first?["status"] == "SUCCEEDED")
    #expect(try transaction("B")?["status"] == "RETURNED")
  }

  @Test func `the sandbox's mutations drive the chain, and refuse what they exclude`() throws {
    let merchant = PayTheoryCatalog.merchantUID
    func input(_ name: String, _ members: String, _ fields: String) throws -> JSON {
      try ask("mutation{\(name)(input: {\(members)}){\(fields)}}")
    }
    func isRefused(_ name: String, _ members: String) throws -> Bool {
      try input(name, members, "success")["errors"] != nil
    }
    try set("2027-03-01T15:00:00Z")
    try pay("C", "capture:evening")
    try pay("E", ach: true, "capture:evening")
    let card = try #require(try transaction("C")?["transaction_id"]?.text)
    let account = try #require(try transaction("E")?["transaction_id"]?.text)
    let code = "transaction_id: \"\(account)\", return_code: R03"
    #expect(try isRefused("createSandboxAchReturn", code))
    #expect(try isRefused("createSandboxSettlement", "merchant_uid: \"\(merchant)\""))
    let other = try ask("mutation{createBatchCapture(merchant_uid: \"other\")}")
    #expect(other["errors"] != nil)
    let batch = "mutation{createBatchCapture(merchant_uid: \"\(merchant)\")}"
    #expect(try data(batch)["createBatchCapture"] == true)
    #expect(try transaction("C")?["status"] == "SUCCEEDED")
    let prepared = try input(
      "prepareSandboxSettlementBatch",
      "merchant_uid: \"\(merchant)\"",
      "success prep_id debit_ids reversal_ids calculated_gross_amount calculated_net_amount"
    )["data"]?["prepareSandboxSettlementBatch"]
    #expect(prepared?["debit_ids"]?.array?.count == 2)
    #expect(prepared?["calculated_gross_amount"] == 2000 && prepared?["reversal_ids"] == [])
    #expect(prepared?["calculated_net_amount"] == 1906)
    // What is prepared is in no other batch.
    world.clock.advance(120_000)
    #expect(try transaction("C")?["is_settled"] == false)
    #expect(try !isRefused("createSandboxSettlement", "merchant_uid: \"\(merchant)\""))
    #expect(try transaction("C")?["status"] == "SETTLED")
    let returned = try input(
      "createSandboxAchReturn",
      code,
      "success ach_return_transaction_id return_code"
    )["data"]?["createSandboxAchReturn"]
    #expect(returned?["return_code"] == "R03" && returned?["success"] == true)
    #expect(try transaction("E")?["status"] == "RETURNED")
    #expect(try isRefused("createSandboxAchReturn", code))
    #expect(try isRefused("createSandboxAchReturn", code.replacing(account, with: card)))
    let reason = "reason: QUALITY, transaction_id: "
    #expect(try isRefused("createSandboxDispute", reason + "\"\(account)\""))
    let dispute = try input(
      "createSandboxDispute",
      reason + "\"\(card)\"",
      "success dispute_id transaction_id"
    )["data"]?["createSandboxDispute"]?["dispute_id"]?.text
    let id = try #require(dispute)
    #expect(try transaction("C")?["dispute_status"] == "INQUIRY")
    for (status, refused) in [
      ("WON", true), ("PENDING", false), ("PENDING", true), ("WON", false), ("LOST", true),
    ] {
      let update = "dispute_id: \"\(id)\", status: \(status)"
      #expect(try isRefused("updateSandboxDisputeStatus", update) == refused, "\(status)")
    }
    world.clock.advance(2 * 86_400_000)
    let shown = try data(
      "{disputes(query: {query_list: [{key: \"status\", value: \"WON\", operator: EQUAL}]}){items{"
        + "dispute_id status reason amount expiration_date settlement_withdrawal_batch "
        + "settlement_deposit_batch transaction{transaction_id dispute_status}}}}"
    )["disputes"]?["items"]?.array?.first
    #expect(shown?["dispute_id"]?.text == id && shown?["reason"] == "QUALITY")
    #expect(shown?["expiration_date"]?.text == "2027-03-15T15:02:00.00Z")
    #expect(shown?["settlement_withdrawal_batch"] == "1002")
    #expect(shown?["settlement_deposit_batch"] == "1002")
    #expect(shown?["transaction"]?["transaction_id"]?.text == card)
    #expect(shown?["transaction"]?["dispute_status"] == "WON")
  }
}
