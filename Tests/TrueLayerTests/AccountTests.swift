import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Merchant accounts, payouts and Signup+ in the simulated TrueLayer's books (TrueLayer/README, 10.6).
///
/// The members are those that truelayer-java d4173ee and truelayer-php a720f99 read.
@Suite struct AccountTests {
  /// A client of one simulated world.
  struct Client {
    let world: World
    let schema = SchemaTests()

    init() throws { world = try World() }

    func ask(
      _ method: HTTPMethod,
      _ path: String,
      _ body: String = "",
      key: String? = nil,
      scenario: String? = nil
    ) throws -> (status: Int, body: JSON) {
      let simulator = try schema.simulator(world, scenario: scenario)
      let answer = try schema.ask(world, simulator, method, path, body: body, key: key)
      return (answer.response.status, answer.json)
    }

    func balance(_ account: String) throws -> [Int] {
      let shown = try ask(.get, "/v3/merchant-accounts/\(account)").body
      return ["available", "current"].compactMap { name in
        shown[name + "_balance_in_minor"]?.boundedNumber
      }
    }

    func transactions(_ account: String, _ more: String = "") throws -> [JSON] {
      let times = "from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00%2B01:00"
      let path = "/v3/merchant-accounts/\(account)/transactions?\(times)\(more)"
      return try ask(.get, path).body["items"]?.array ?? []
    }

    /// A payout's id.
    func pay(_ amount: Int, _ payee: String = AccountTests.external) throws -> String {
      let made = try ask(.post, "/v3/payouts", AccountTests.payout(amount, payee))
      #expect(made.status == 202)
      return try #require(made.body["id"]?.text)
    }
  }

  /// The account that `World.settled` pays into.
  static let account = "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6"
  static let pounds = "acc00000-0000-4000-8000-000000000826"

  static let external =
    #"{"type":"external_account","account_holder_name":"Ben","reference":"A payout of June, 2026","#
    + #""account_identifier":{"type":"iban","iban":"GB29NWBK60161331926819"}}"#

  static func payout(
    _ amount: Int,
    _ payee: String = external,
    account: String = account,
    currency: String = "GBP",
    more: String = ""
  ) -> String {
    #"{"merchant_account_id":"\#(account)","amount_in_minor":\#(amount),"currency":"\#(currency)","#
      + #""beneficiary":\#(payee)\#(more)}"#
  }

  @Test func `payments, refunds and payouts add up to the balance`() throws {
    let client = try Client()
    #expect(try client.ask(.get, "/v3/merchant-accounts/\(Self.account)").status == 404)
    let payment = try #require(try client.world.settled(amount: 1000).id)
    #expect(try client.balance(Self.account) == [1000, 1000])
    let refunds = "/v3/payments/\(payment)/refunds"
    let reference = #""reference":"longer than eighteen characters""#
    client.world.clock.advance(1)
    let refund = try client.ask(.post, refunds, #"{"amount_in_minor":300,\#(reference)}"#)
    #expect(refund.status == 202)
    client.world.clock.advance(1)
    let paid = try client.pay(200)
    #expect(try client.balance(Self.account) == [500, 1000])
    #expect(try client.ask(.get, "/v3/payouts/\(paid)").body["status"] == "pending")
    client.world.clock.advance(2000)
    #expect(try client.balance(Self.account) == [500, 500])
    #expect(try client.ask(.get, "/v3/payouts/\(paid)").body["status"] == "executed")
    // Missing money is not sent: neither as a payout nor as a refund.
    let tooMuch = try client.pay(501)
    let short = try client.ask(.post, refunds, #"{"amount_in_minor":600,\#(reference)}"#)
    let shortID = short.body["id"]?.text ?? ""
    #expect(try client.balance(Self.account) == [500, 500])
    client.world.clock.advance(2000)
    for path in ["/v3/payouts/\(tooMuch)", "\(refunds)/\(shortID)"] {
      let failed = try client.ask(.get, path).body
      #expect(failed["status"] == "failed")
      #expect(failed["failure_reason"] == "insufficient_funds")
    }
    #expect(try client.pay(500) != paid)
    #expect(try client.balance(Self.account) == [0, 500])
    client.world.clock.advance(2000)
    #expect(try client.balance(Self.account) == [0, 0])
    let rows = try client.transactions(Self.account)
    let types = rows.map { $0["type"]?.text ?? "" }
    #expect(types.first == "payout" && types.last == "merchant_account_payment", "\(types)")
    // A payout and a refund of one moment have no order.
    #expect(types.dropFirst().dropLast().sorted() == ["payout", "refund"])
    let sum = rows.reduce(0) { sum, row in
      let amount = row["amount_in_minor"]?.boundedNumber ?? 0
      return row["status"] == "settled" ? sum + amount : sum - amount
    }
    #expect(sum == 0)
    #expect(try client.transactions(Self.account, "&type=payment").count == 1)
    #expect(try client.transactions(Self.account, "&type=payout").count == 3)
    let ids = Set(rows.compactMap { $0["id"]?.text })
    #expect(ids.count == 4 && ids.isDisjoint(with: [payment, refund.body["id"]?.text ?? ""]))
  }

  @Test func `a returned payout comes back`() throws {
    let client = try Client()
    let body = Self.payout(100, account: Self.pounds)
    let made = try client.ask(.post, "/v3/payouts", body, scenario: "refund:returned").body
    let path = "/v3/payouts/\(made["id"]?.text ?? "")"
    #expect(try client.balance(Self.pounds) == [999_900, 1_000_000])
    client.world.clock.advance(2000)
    #expect(try client.balance(Self.pounds) == [999_900, 999_900])
    client.world.clock.advance(2000)
    #expect(try client.balance(Self.pounds) == [1_000_000, 1_000_000])
    #expect(try client.ask(.get, path).body["failure_reason"] == "returned")
  }

  @Test func `accounts from the start have what was paid into them`() throws {
    let client = try Client()
    let items = try client.ask(.get, "/v3/merchant-accounts").body["items"]?.array ?? []
    #expect(items.map { $0["currency"]?.text } == ["GBP", "EUR", "PLN"])
    let types = items.map {
      $0["account_identifiers"]?.array?.compactMap { $0["type"]?.text } ?? []
    }
    #expect(types == [["sort_code_account_number", "iban"], ["iban"], ["nrb"]])
    #expect(items[0]["account_identifiers"]?.array?[1]["iban"] == "GB56CLRB04066800002086")
    for item in items {
      let id = item["id"]?.text ?? ""
      #expect(try client.ask(.get, "/v3/merchant-accounts/\(id)").body == item)
      #expect(try client.balance(id) == [1_000_000, 1_000_000])
      let opening = try client.transactions(id)
      #expect(opening.count == 1)
      let payment = opening.first?["payment_id"]?.text ?? ""
      #expect(try client.ask(.get, "/v3/payments/\(payment)").body["status"] == "settled")
    }
    // A payment in another currency than its account's is refused.
    let wrong = SchemaTests.preselected.replacing(Self.account, with: Self.pounds)
    let refused = try client.ask(.post, "/v3/payments", wrong)
    #expect(refused.status == 400)
    #expect(refused.body["errors"]?.object?.members.map(\.key) == ["currency"])
  }

  @Test(arguments: [("payment", true), ("payment", false), ("mandate", true), ("mandate", false)])
  func `a payment or mandate opens the account that it names`(
    _ kind: String,
    _ isServed: Bool
  ) throws {
    let client = try Client()
    let isPayment = kind == "payment"
    let external = #""type":"external_account","account_holder_name":"Ben","account_identifier":"#
    let known = #""type":"merchant_account","merchant_account_id":"\#(Self.account)","x":"#
    let body =
      isPayment
      ? SchemaTests.preselected : SchemaTests.mandate.replacing(external, with: known)
    let simulator = try client.schema.simulator(client.world, playsPayer: !isServed)
    let place = "/v3/merchant-accounts/\(Self.account)"
    #expect(try client.ask(.get, place).status == 404)
    let path = isPayment ? "/v3/payments" : "/v3/mandates"
    let made = try client.schema.ask(client.world, simulator, .post, path, body: body)
    #expect(made.response.status == 201, "\(made.json)")
    let currency = isPayment ? "EUR" : "GBP"
    #expect(try client.ask(.get, place).body["currency"]?.text == currency)
  }

  /// The beneficiaries of payouts, as they are written and as they are shown.
  static let payees: [(written: String, shown: [String], context: String)] = [
    (
      external.replacing("}}", with: #"},"date_of_birth":"1990-01-31"}"#),
      ["type", "account_holder_name", "reference", "account_identifiers"], "withdrawal"
    ),
    (
      #"{"type":"payment_source","payment_source_id":"USER","user_id":"USER","reference":"A"}"#,
      [
        "type", "payment_source_id", "user_id", "reference", "account_holder_name",
        "account_identifiers",
      ], "withdrawal"
    ),
    (
      #"{"type":"business_account","reference":"A"}"#,
      ["type", "reference", "account_holder_name", "account_identifiers"], "internal"
    ),
  ]

  @Test(arguments: payees)
  func `a payout shows its beneficiary`(
    _ written: String,
    _ shown: [String],
    _ context: String
  ) throws {
    let client = try Client()
    _ = try client.world.settled(amount: 1000)
    let source = try client.transactions(Self.account)[0]["payment_source"]
    let user = source?["user_id"]?.text ?? ""
    let sources = "/v3/merchant-accounts/\(Self.account)/payment-sources?user_id="
    let known = try client.ask(.get, sources + user).body["items"]?.array ?? []
    #expect(known.map { $0["id"]?.text } == [user])
    #expect(try client.ask(.get, sources + "other").body == ["items": []])
    let more =
      #","metadata":{"order":"7"},"scheme_selection":{"type":"instant_only"},"sub_merchants":{"#
      + #""ultimate_counterparty":{"type":"business_client","trading_name":"Shop"}}"#
    let body = Self.payout(10, written.replacing("USER", with: user), more: more)
    let made = try client.ask(.post, "/v3/payouts", body, key: "k")
    #expect(made.status == 202)
    #expect(made.body.object?.members.map(\.key) == ["id"])
    #expect(try client.ask(.post, "/v3/payouts", body, key: "k").body == made.body)
    let other = try client.ask(.post, "/v3/payouts", Self.payout(11), key: "k")
    #expect(other.status == 422)
    let payout = try client.ask(.get, "/v3/payouts/\(made.body["id"]?.text ?? "")").body
    #expect(payout["beneficiary"]?.object?.members.map(\.key) == shown)
    #expect(payout["scheme_id"] == "faster_payments_service")
    #expect(payout["metadata"] == ["order": "7"])
    #expect(payout["merchant_account_id"] == .string(Self.account))
    let row = try client.transactions(Self.account, "&type=payout")[0]
    #expect(row["payout_id"] == payout["id"])
    #expect(row["context_code"] == .string(context))
    #expect(row["beneficiary"] == payout["beneficiary"])
  }

  @Test func `a payout to an account that its user chooses waits for them`() throws {
    let client = try Client()
    let payee =
      #"{"type":"user_determined","reference":"A","user":{"name":"Ben","email":"b@example.com"},"#
      + #""verification":{"verify_name":true,"transaction_search_criteria":{"tokens":["a"],"#
      + #""amount_in_minor":10,"currency":"GBP","created_at":"2026-11-17"}},"#
      + #""provider_selection":{"type":"user_selected","filter":{"countries":["GB"]}}}"#
    let made = try client.ask(
      .post,
      "/v3/payouts",
      Self.payout(10, payee, account: Self.pounds)
    ).body
    #expect(made["status"] == "authorization_required")
    #expect(made["resource_token"]?.text?.isEmpty == false)
    client.world.clock.advance(10_000)
    let shown = try client.ask(.get, "/v3/payouts/\(made["id"]?.text ?? "")").body
    #expect(shown["status"] == "authorization_required")
    #expect(shown["user"] == made["user"])
    #expect(shown["beneficiary"]?["user"] == made["user"])
    let criteria = shown["beneficiary"]?["verification"]?["transaction_search_criteria"]
    #expect(criteria?["created_at"] == "2026-11-17")
    #expect(try client.balance(Self.pounds) == [1_000_000, 1_000_000])
    #expect(try client.transactions(Self.pounds).count == 1)
  }

  @Test func `sweeping has terms`() throws {
    let client = try Client()
    let path = "/v3/merchant-accounts/\(Self.pounds)/sweeping"
    #expect(try client.ask(.get, path).status == 404)
    let terms = #"{"max_amount_in_minor":100,"frequency":"daily"}"#
    let set = try client.ask(.post, path, terms)
    #expect(set.status == 200)
    #expect(set.body["max_amount_in_minor"] == 100 && set.body["frequency"] == "daily")
    #expect(set.body["destination"]?["type"] == "iban" && set.body["currency"] == "GBP")
    #expect(try client.ask(.get, path).body == set.body)
  }

  /// Refused requests: method, path, body, status, and the wrong member.
  static let refused: [(HTTPMethod, String, String, Int, String?)] = [
    (.get, "/v3/merchant-accounts/\(account)", "", 404, nil),
    (.get, "/v3/merchant-accounts/\(account)/sweeping", "", 404, nil),
    (.get, "/v3/payouts/\(account)", "", 404, nil),
    (.get, "/v3/merchant-accounts/\(pounds)/transactions", "", 400, "from"),
    (.get, "/v3/merchant-accounts/\(pounds)/transactions?from=2024-01-01&to=x", "", 400, "to"),
    (
      .get, "/v3/merchant-accounts/\(pounds)/transactions?from=2024-01-01&to=2025-01-01&type=fee",
      "",
      400, "type"
    ),
    (.get, "/v3/merchant-accounts/\(pounds)/payment-sources", "", 400, "user_id"),
    (.post, "/v3/merchant-accounts/\(pounds)/sweeping", "{}", 400, "max_amount_in_minor"),
    (
      .post, "/v3/merchant-accounts/\(pounds)/sweeping",
      #"{"max_amount_in_minor":1,"frequency":"never"}"#, 400, "frequency"
    ),
    (.post, "/v3/payouts", payout(1), 400, "merchant_account_id"),
    (.post, "/v3/payouts", payout(0, account: pounds), 400, "amount_in_minor"),
    (.post, "/v3/payouts", payout(1, account: pounds, currency: "EUR"), 400, "currency"),
    (.post, "/v3/payouts", payout(1, "{}", account: pounds), 400, "beneficiary.type"),
    (
      .post, "/v3/payouts", payout(1, #"{"type":"business_account"}"#, account: pounds), 400,
      "beneficiary.reference"
    ),
    (
      .post, "/v3/payouts",
      payout(
        1,
        #"{"type":"payment_source","payment_source_id":"a","user_id":"a","reference":"A"}"#,
        account: pounds
      ), 400, "beneficiary.payment_source_id"
    ),
    (
      .post, "/v3/payouts",
      payout(
        1,
        account: pounds,
        more: #","scheme_selection":{"type":"preselected","scheme_id":"sepa_credit_transfer"}"#
      ), 400, "scheme_selection.scheme_id"
    ),
    (.get, "/v3/signup-plus/payments", "", 404, nil),
    (
      .get, "/v3/signup-plus/payments?payment_id=00000000-0000-4000-8000-000000000010", "", 404, nil
    ),
    (.post, "/v3/signup-plus/authuri", #"{"payment_id":"\#(account)"}"#, 404, nil),
  ]

  @Test(arguments: refused)
  func `refuses what is unknown or wrong`(
    _ method: HTTPMethod,
    _ path: String,
    _ body: String,
    _ status: Int,
    _ member: String?
  ) throws {
    let client = try Client()
    let answer = try client.ask(method, path, body)
    #expect(answer.status == status, "\(answer.body)")
    #expect(answer.body["errors"]?.object?.members.first?.key == member)
    #expect(try client.balance(Self.pounds) == [1_000_000, 1_000_000])
  }
}
