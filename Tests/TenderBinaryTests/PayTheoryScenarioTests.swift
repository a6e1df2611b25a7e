import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Partial refunds, stored methods and barcodes, with a simulator in another process and a process for each
/// command.
@Suite struct PayTheoryScenarioTests {
  private static let start = "2026-11-20T12:00:00Z"
  /// After every pending payment has succeeded.
  private static let later = "2026-11-20T12:00:10Z"

  private let shop: Shop

  init() throws { shop = try Shop() }

  private func run(_ words: String, at time: String = start) throws -> Binary.Result {
    let clock = words.hasPrefix("journal") ? [] : ["--sim-clock", time]
    let more = ["--json", "--no-input"] + clock
    return try shop.binary.run(words.split(separator: " ").map(String.init) + more)
  }

  private func books(_ reference: String = "A") throws -> LedgerAudit.PayTheorySums {
    try LedgerAudit.payTheory(path: shop.books, reference: reference)
  }

  /// A stored card.
  private func method() throws -> String {
    try #require(try run("tokenize --reference K --test-card visa").record.text("id"))
  }

  @Test func `a second void whose answer is lost is found out`() throws {
    let pending = " --sim-scenario pending"
    _ = try run("transact --reference A --amount 10.50 --test-card visa" + pending)
    #expect(try run("refund A --amount 4").record["status"] == "partially_refunded")
    let lost = try run("refund A --sim-fault reversal:close-after")
    #expect(lost.status == 0, "\(lost.errors)")
    #expect(lost.record["status"] == "refunded" && lost.record["refunded_amount"] == 1050)
    #expect(try run("refund A").record["replayed"] == true)
    #expect(try run("payment-status A").record["status"] == "refunded")
    let books = try books()
    let sums: [Int] = [books.charged, books.voided, books.refunded, books.left]
    #expect(sums == [1050, 1050, 0, 0])
  }

  @Test func `after a void of a part every command shows one payment`() throws {
    _ = try run("transact --reference A --amount 5 --test-card visa --sim-scenario pending")
    let views = [
      "payment-status A", "find A", "find A --online", "journal show A", "find --online",
    ]
    var records = [try run("refund A --amount 2").record]
    for time in [Self.start, Self.later] {
      records += try views.map { try run($0, at: time).record }
    }
    for record in records {
      let shown = ["amount", "captured_amount", "refunded_amount"].map { record[$0] }
      #expect(shown == [500, 500, 200], "\(record)")
      #expect(record["status"] == "partially_refunded", "\(record)")
    }
    let expected = try run("payment-status A --expect partially_refunded", at: Self.later)
    #expect(expected.status == 0)
    #expect(expected.errors.isEmpty)
    let transaction = expected.record["result"]?["transaction"]
    #expect(transaction?["gross_amount"] == 300 && transaction?["net_amount"] == 261)
    let books = try books()
    let sums: [Int] = [books.charged, books.voided, books.left, books.gross]
    #expect(sums == [500, 200, 300, 300])
  }

  @Test func `a stored method and its fee are read before anything is sent`() throws {
    let missing = try run("transact --reference A --amount 3 --token nope")
    #expect(missing.status == 5)
    #expect(missing.errorRecord["error"]?["code"] == "token_not_found")
    #expect(missing.errorRecord["error"]?["effect"] == "none")
    let method = try method()
    let words = "transact --reference A --amount 3 --fee-mode service_fee --token " + method
    let other = try run(words + " --fee 1")
    #expect(other.status == 2)
    #expect(other.errorRecord["error"]?["code"] == "fee_differs")
    // The reference is free, and the fee is read.
    let paid = try run(words)
    #expect(paid.status == 0, "\(paid.errors)")
    #expect(paid.record["amount"] == 339)
    #expect(paid.record["result"]?["body"]?["service_fee"] == 39)
    #expect(try books().charged == 339)
  }

  @Test func `a hold by a stored method is captured in part from another process`() throws {
    let method = try method()
    let held = try run("transact --reference A --amount 10 --hold --token " + method)
    #expect(held.record["status"] == "requires_confirmation", "\(held.errors)")
    let done = try run("confirm A --amount 7").record
    #expect(done["status"] == "succeeded" && done["captured_amount"] == 700)
    #expect(try books().charged == 700)
    #expect(try run("refund A").record["refunded_amount"] == 700)
    // A payment that is only prepared over the socket cannot be captured in part.
    _ = try run("transact --reference B --amount 10 --hold --test-card visa")
    #expect(try run("confirm B --amount 7").status == 15)
    #expect(try run("confirm B").record["status"] == "succeeded")
  }

  @Test func `a hold that grew too old ends, and can be made again`() throws {
    let order = "transact --reference A --amount 10 --hold --test-card visa"
    _ = try run(order)
    let over = try run("confirm A", at: "2026-11-22T12:00:00Z")
    #expect(over.status == 13)
    #expect(over.record["status"] == "expired" && over.record["final"] == true)
    #expect(try run(order).status == 13)
    #expect(try run(order + " --new-attempt").record["status"] == "requires_confirmation")
    #expect(try books().charged == 0)
  }

  @Test func `a hold by a stored method ends after its life, and can be made again`() throws {
    let order = "transact --reference A --amount 10 --hold --token " + (try method())
    _ = try run(order)
    let over = try run("confirm A", at: "2027-01-20T12:00:00Z")
    #expect(over.status == 13, "\(over.errors)")
    #expect(over.record["status"] == "expired" && over.record["final"] == true)
    #expect(try run(order + " --new-attempt").record["status"] == "requires_confirmation")
    #expect(try books().charged == 0)
  }

  @Test func `another card under the same reference is refused`() throws {
    let token = "tokenize --reference K --test-card "
    let sale = "transact --reference A --amount 3 --test-card "
    for order in [token, sale] {
      let first = try run(order + "visa")
      #expect(first.status == 0, "\(first.errors)")
      let other = try run(order + "amex")
      #expect(other.status == 6)
      #expect(other.output.isEmpty)
      #expect(other.errorRecord["error"]?["code"] == "reference_reused")
      let message = other.errorRecord["error"]?["message"]?.text
      #expect(message?.hasSuffix("was used with another card or account") == true)
      let again = try run(order + "visa").record
      #expect(again["replayed"] == true && again["id"] == first.record["id"])
    }
    #expect(try books().charged == 300)
    #expect(try LedgerAudit.charges(path: shop.books, reference: "A") == 1)
  }

  @Test func `a dry run by a token names the amount`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let stored = try binary.run(line: "tokenize --test-card visa --reference T").record
    let token = try #require(stored.text("id"))
    for hold in [[], ["--hold"]] {
      let words = ["--token", token, "--amount", "12.50", "--reference", "A", "--dry-run"]
      let request = try binary.run(line: "transact", words + hold).record["request"]
      #expect(request?["amount"] == 1250 && request?["currency"] == "USD", "\(hold)")
    }
  }

  @Test func `a barcode is paid or expires`() throws {
    let path = shop.binary.home.appending(path: "cash.json").path
    let cash = #"{"type":"cash","name":"Ada","contact":"ada@example.com"}"#
    #expect(
      FileManager.default.createFile(
        atPath: path,
        contents: Data(cash.utf8),
        attributes: [.posixPermissions: 0o600]
      )
    )
    func make(_ reference: String, _ more: String) throws -> Binary.Result {
      let words = "transact --amount 10 --instrument-file \(path) --reference "
      return try run(words + reference + more)
    }
    #expect(try make("A", " --sim-scenario barcode:paid").record["status"] == "requires_action")
    #expect(try run("payment-status A").record["status"] == "requires_action")
    let paid = try run("payment-status A", at: Self.later).record
    #expect(paid["status"] == "succeeded" && paid["captured_amount"] == 1000)
    let part = try run("refund A --amount 3", at: Self.later).record
    #expect(part["refunded_amount"] == 300)
    #expect(try books().refunded == 300)
    _ = try make("B", " --sim-scenario barcode:expired")
    #expect(try run("payment-status B").record["status"] == "expired")
    #expect(try make("B", "").status == 13)
    let again = try make("B", " --new-attempt").record
    #expect(again["status"] == "requires_action" && again["attempt"] == 2)
  }

  /// Pay Theory takes no keys.
  @Test func `an idempotency key is refused`() throws {
    _ = try run("transact --reference A --amount 10 --test-card visa")
    for words in [
      "transact --reference B --amount 1 --test-card visa", "refund A --amount 1", "cancel A",
    ] {
      #expect(try run(words + " --idempotency-key KK").status == 2, "\(words)")
    }
    let shown = try run("refund A --amount 1 --dry-run")
    #expect(shown.status == 0, "\(shown.errors)")
    #expect(shown.record["request"]?["idempotency_key"] == nil)
    #expect(shown.record["idempotency_key"] == nil)
  }
}
