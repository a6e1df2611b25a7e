import TenderModel
import TenderTestSupport
import Testing

/// An id names one operation. `find`, `explain` and `journal show` begin with it, and then show its payment.
@Suite struct NamedOperationTests {
  private static let bank =
    "transact --provider truelayer --amount 5 --beneficiary-name Ben --merchant-account "
    + "00000000-0000-4000-8000-000000000077 --user name=Remi --user email=remi@example.com --bank "
    + "mock-payments-gb-redirect --no-input --json --reference A"
  private static let card = "transact --amount 5 --test-card visa --json --reference A"
  private static let sale = "transact --provider toro --amount 5 --no-input --json --reference A"

  private static func run(_ binary: Binary, _ line: String) throws -> Binary.Result {
    try binary.run(line.split(separator: " ").map(String.init))
  }

  /// The provider's ids of the operations of the payment A.
  private static func ids(_ binary: Binary) throws -> [String] {
    let operations = try run(binary, "find A --json").record["operations"]?.array ?? []
    return operations.compactMap { $0["id"]?.text }
  }

  @Test(arguments: [
    (card, "decline:insufficient_funds", "USD", "the account has insufficient funds"),
    (sale, "gateway:decline", "GBP", "do not honour: the issuer declined without a reason"),
    (bank, "bank:failed:insufficient_funds", "GBP", "the account has insufficient funds"),
  ])
  func `the id of a declined attempt shows that attempt, not the paid one`(
    _ pay: String,
    _ scenario: String,
    _ currency: String,
    _ reason: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try Self.run(binary, pay + " --sim-scenario " + scenario).status == 3)
    #expect(try Self.run(binary, pay + " --new-attempt").status == 0)
    let ids = try Self.ids(binary)
    try #require(ids.count == 2)
    let says =
      "5.00 \(currency) declined: \(reason), attempt 1 of A; the newest attempt: 5.00 \(currency) paid"
    for command in ["find", "explain", "journal show"] {
      let shown = try #require(
        try Self.run(binary, "\(command) \(ids[0]) --json").records.first,
        "\(command)"
      )
      #expect(shown["id"] == .string(ids[0]) && shown["status"] == "declined", "\(command)")
      #expect(shown["attempt"] == 1 && shown["amount"] == 500, "\(command)")
      #expect(shown["captured_amount"] == 0 && shown["operation"] == nil, "\(command)")
      #expect(shown["operations"]?.array?.count == 2, "\(command)")
      // Another attempt is refused.
      #expect(shown["error"]?["code"] != nil && shown["error"]?["hint"] == nil, "\(command)")
      if command != "journal show" { #expect(shown["says"] == .string(says)) }
      let table = try Self.run(binary, "\(command) \(ids[0]) -o table").output
      let text = table.split { $0 == "\n" || $0 == " " }.joined(separator: " ")
      #expect(text.contains(says), "\(table)")
      #expect(!text.contains("--new-attempt"), "\(table)")
      for handle in ["A", ids[1]] {
        let newest = try Self.run(binary, "\(command) \(handle) --json").records.first
        #expect(newest?["id"] == .string(ids[1]) && newest?["status"] == "succeeded")
        #expect(newest?["attempt"] == 2, "\(command) \(handle)")
      }
    }
  }

  @Test(arguments: [
    (
      card, "refund A --amount 2", 200,
      "2.00 USD refunded, refund 1 of A; the payment: "
        + "5.00 USD paid, 2.00 USD refunded (3.00 USD left)"
    ),
    (
      bank, "refund A --amount 2 --wait", 200,
      "2.00 GBP refunded, refund 1 of A; the payment: "
        + "5.00 GBP paid, 2.00 GBP refunded (3.00 GBP left)"
    ),
    (
      bank, "refund A --amount 2 --wait --sim-scenario refund:failed", 200,
      "2.00 GBP refund declined: the refund failed: insufficient_funds, refund 1 of A; the payment: 5.00 GBP paid; the "
        + "refund of 2.00 GBP is declined, not paid out"
    ),
    (sale, "cancel A", 500, "5.00 GBP voided, void 1 of A; the payment: 5.00 GBP paid and voided"),
  ])
  func `the id of a refund or void shows it before its payment`(
    _ pay: String,
    _ reverse: String,
    _ amount: Int,
    _ says: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try Self.run(binary, pay).status == 0)
    _ = try Self.run(binary, reverse + " --json")
    let ids = try Self.ids(binary)
    try #require(ids.count == 2)
    let isDeclined = says.contains("declined")
    let name = says.contains("voided") ? "void 1" : "refund 1"
    for command in ["find", "explain", "journal show"] {
      let result = try Self.run(binary, "\(command) \(ids[1]) --json")
      let shown = try #require(result.records.first, "\(command)")
      #expect(shown["id"] == .string(ids[1]) && shown["amount"] == .integer(amount), "\(command)")
      #expect(shown["operation"] == .string(name) && shown["attempt"] == 1, "\(command)")
      #expect(shown["status"] == (isDeclined ? "declined" : "succeeded"), "\(command)")
      #expect(shown["final"] == true && shown["captured_amount"] == 500, "\(command)")
      if command != "journal show" { #expect(shown["says"] == .string(says), "\(command)") }
      let whole = try Self.run(binary, "\(command) \(ids[0]) --json").records.first
      #expect(whole?["id"] == .string(ids[0]) && whole?["operation"] == nil, "\(command)")
    }
  }
}
