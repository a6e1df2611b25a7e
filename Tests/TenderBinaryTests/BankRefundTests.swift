import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Refunds of bank payments over a simulator in another process, one process for each command.
@Suite struct BankRefundTests {
  private static let start = "2026-11-20T12:00:00Z"
  /// After every refund has been executed.
  private static let later = "2026-11-20T12:00:10Z"

  private let shop: Shop

  /// Starts with a settled payment of 10.00 GBP under the reference A.
  init() throws {
    shop = try Shop()
    let paid = try run(
      [
        "transact", "--provider", "truelayer", "--amount", "10", "--merchant-account",
        "acc00000-0000-4000-8000-000000000826", "--sim-scenario", "bank:execute", "--interval",
        "100ms", "--redirect-url", "http://127.0.0.1:\(try FreePort.next())/callback",
        "--reference", "A",
      ] + BankStory.payer + BankStory.bank
    )
    #expect(paid.status == 0, "\(paid.errors)")
  }

  private func run(_ words: [String], at time: String = start) throws -> Binary.Result {
    let clock = words[0] == "journal" && words[1] == "show" ? [] : ["--sim-clock", time]
    return try shop.binary.run(words + ["--json", "--no-input"] + clock)
  }

  private func refund(_ amount: String?, _ more: [String] = []) throws -> Binary.Result {
    try run(["refund", "A"] + (amount.map { ["--amount", $0] } ?? []) + more)
  }

  /// The payment in the journal.
  private var shown: JSONObject { get throws { try run(["journal", "show", "A"]).record } }

  /// The provider's books at the end.
  private var books: LedgerAudit.BankBooks {
    get throws { try LedgerAudit.bankBooks(path: shop.books, reference: "A") }
  }

  /// Its reference at TrueLayer is that of the journal that made it.
  @Test func `a payment of another journal is refunded by its id`() throws {
    let id = try #require(try shown.text("id"))
    let other = shop.binary.home.appending(path: "other").path
    let refunded = try run(
      ["refund", id, "--provider", "truelayer", "--amount", "3", "--state-dir", other]
    )
    #expect(refunded.status == 0, "\(refunded.errors)")
    #expect(try books.refunded == 300)
  }

  /// The status of the whole payment comes from an earlier refund.
  @Test func `an earlier refund is not the expected one`() throws {
    let named = { (name: String) in ["--refund-reference", name, "--expect", "partially_refunded"] }
    #expect(try refund("1", named("a")).status == 18)
    #expect(
      try run(["payment-status", "A"], at: Self.later).record["status"] == "partially_refunded"
    )
    let open = try refund("2", named("b"))
    #expect(open.status == 18, "\(open.output)")
    #expect(open.record["error"]?["retry"]?["class"] == "look")
    let fails = ["--sim-scenario", "refund:failed", "--refund-reference", "c"]
    _ = try refund("3", fails)
    let failed = try run(["payment-status", "A", "--expect", "refunded"], at: Self.later)
    #expect(failed.status == 18, "\(failed.output)")
    let says = try run(["find", "A"]).record
    #expect(
      says["says"]?.text?.contains("; the refund of 3.00 GBP is declined, not paid out") == true,
      "\(says)"
    )
    #expect(says["next"] == "to try the refund again: the same refund command")
  }

  @Test func `one idempotency key is for one refund`() throws {
    let key = ["--idempotency-key", "KK"]
    #expect(try refund("3", key).status == 0)
    let named = key + ["--refund-reference", "r2"]
    let old = try refund("3", named + ["--new-attempt"])
    #expect(old.status == 2)
    let again = try refund("3", named)
    #expect(again.status == 6)
    #expect(again.errorRecord["error"]?["code"] == "key_reused")
    #expect(try books.refunded == 300)
    let rest = try refund(nil)
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(rest.record["refunding_amount"] == 1000)
    #expect(try books.refunded == 1000)
    let looked = try run(["payment-status", "A"], at: Self.later).record
    #expect(looked["status"] == "refunded" && looked["refunded_amount"] == 1000)
  }

  /// Only the refund's command finishes it.
  @Test(arguments: ["close-before", "close-after"])
  func `a cancel sends no refund that was left unknown`(_ fault: String) throws {
    let lost = try refund("3", ["--sim-fault", "refund:" + fault])
    #expect(lost.status == 9)
    let made = try books.refunds
    let cancelled = try run(["cancel", "A"])
    #expect(cancelled.status == 9)
    #expect(cancelled.errorRecord["error"]?["effect"] == "unknown")
    for words in [["payment-status", "A"], ["journal", "resume", "A"]] {
      _ = try run(words)
      #expect(try books.refunds == made, "\(words)")
    }
    #expect(try run(["find", "--status", "unknown"]).record.text("reference") == "A")
    let finished = try run(["journal", "resume", "A", "--finish"])
    #expect(finished.status == 0, "\(finished.errors)")
    #expect(try books.refunded == 300)
    #expect(try refund("3").record["replayed"] == true)
    #expect(try books.refunds == 1)
  }

  /// A paid payment stays paid during its refund.
  @Test func `a payment stays paid while its refund is on its way`() throws {
    let given = try refund("1").record
    #expect(given["status"] == "succeeded" && given["refunding_amount"] == 100)
    let found = try run(["find", "--status", "succeeded"])
    #expect(found.records.map { $0.text("reference") } == ["A"])
    let looked = try run(["payment-status", "A"]).record
    #expect(looked["status"] == "succeeded" && looked["refunding_amount"] == 100)
    let later = try run(["payment-status", "A"], at: Self.later).record
    #expect(later["status"] == "partially_refunded" && later["refunded_amount"] == 100)
    #expect(later["refunding_amount"] == nil)
    let operations = try shown["operations"]?.array ?? []
    #expect(operations.map { $0["kind"]?.text } == ["charge", "refund"])
    #expect(operations.last?["status"] == "succeeded")
  }

  /// A replay writes nothing.
  @Test func `a replayed refund leaves the journal as it was`() throws {
    for name in ["r1", "r2"] {
      #expect(try refund("1", ["--refund-reference", name]).status == 0)
    }
    let before = try shown
    let replay = try refund("1", ["--refund-reference", "r1"])
    #expect(replay.record["replayed"] == true)
    let after = try shown
    #expect(after["history"]?.array?.count == before["history"]?.array?.count)
    #expect(after["operations"] == before["operations"])
    let names = after["operations"]?.array?.compactMap { $0["name"]?.text }
    #expect(names == ["r1", "r2"])
  }

  /// Rules of TrueLayer's that its simulator applies, with the member that is wrong.
  @Test(arguments: [
    (
      ["--mandate", "--max-individual", "50", "--limit", "month:500", "--valid-from", "2027-02-01"]
        + ["--valid-to", "2027-01-31"] + BankStory.payee, "constraints.valid_to"
    ),
    (
      ["--mandate", "--max-individual", "50", "--limit", "month:500", "--valid-to", "2026-01-31"]
        + BankStory.payee, "constraints.valid_to"
    ),
    (
      ["--amount", "10", "--currency", "EUR"] + BankStory.payee,
      "payment_method.beneficiary.account_identifier"
    ),
  ])
  func `refuses what TrueLayer would refuse`(_ words: [String], _ member: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let refused = try binary.run(
      ["transact", "--provider", "truelayer", "--reference", "M", "--no-input", "--json"]
        + ["--sim-clock", Self.start] + words + BankStory.payer + BankStory.bank
    )
    #expect(refused.status == 7)
    #expect(refused.errorRecord["error"]?["message"]?.text?.contains(member) == true)
  }

  /// The payer was sent to the bank. Without a look-up, the payment's end is unknown.
  @Test(arguments: ["status:http-404", "status:http-401", "status:garbage"])
  func `a look that fails says nothing about the money`(_ fault: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let words = [
      "transact", "--provider", "truelayer", "--amount", "10", "--merchant-account",
      "acc00000-0000-4000-8000-000000000826", "--user", "name=Remi", "--user",
      "email=remi@example.com", "--bank", "mock-payments-gb-redirect", "--reference", "L", "--json",
      "--no-input", "--timeout", "1s",
    ]
    let lost = try binary.run(words + ["--wait=1s", "--sim-fault", fault])
    #expect(lost.status == 9, "\(lost.errors) \(lost.output)")
    #expect(lost.errorRecord["error"]?["effect"] == "unknown")
    let looked = try binary.run("payment-status", "L", "--json").record
    #expect(looked["status"] == "succeeded" && looked["captured_amount"] == 1000)
    #expect(try binary.run(words).record["replayed"] == true)
  }
}
