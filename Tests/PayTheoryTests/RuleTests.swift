import PayTheory
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

@Suite struct RuleTests {
  @Test(arguments: [
    ("acme-paytheorylab-0123", "acme"), ("acme-new-paytheorystudy-01", "acme"),
  ])
  func `reads API keys`(_ text: String, _ partner: String) throws {
    #expect(try APIKey(text).partner == partner)
  }

  @Test(arguments: [
    "", "acme", "acme-lab", "acme-lab-1", "a-b-c-d", "acme--1", "acme-paytheory-1\n",
  ])
  func `refuses keys of another shape`(_ text: String) {
    #expect(throws: Fault.self) { try APIKey(text) }
  }

  @Test func `wants the stage that fits the env`() throws {
    let lab = try APIKey("acme-paytheorylab-01")
    let production = try APIKey("acme-paytheory-01")
    try lab.check(fits: .sandbox)
    try production.check(fits: .live)
    try production.check(fits: .simulator)
    #expect(throws: Fault.self) { try lab.check(fits: .live) }
    #expect(throws: Fault.self) { try production.check(fits: .sandbox) }
  }

  @Test func `keeps the rules between parameters`() throws {
    let world = try World()
    func code(_ change: (inout PayTheoryOrder) -> Void) throws -> String? {
      var order = try world.order()
      change(&order)
      let engine = try world.engine()
      do throws(Fault) {
        _ = try engine.preview(order)
        return nil
      } catch {
        #expect(error.exitStatus == 2)
        return error.code
      }
    }
    #expect(try code { _ in } == nil)
    let zero = Money(minorUnits: 0, currency: try #require(Currency(code: "USD")))
    #expect(try code { $0.amount = zero } == "bad_amount")
    let euros = Money(minorUnits: 5, currency: try #require(Currency(code: "EUR")))
    #expect(try code { $0.amount = euros } == "bad_currency")
    #expect(
      try code {
        $0.payorID = "x"
        $0.payor = ["email": "a@b.c"]
      } == "bad_options"
    )
    #expect(try code { $0.stored = ["invoice_id": "1", "recurring_id": "2"] } == "bad_options")
    #expect(try code { $0.feeMode = .service } == "bad_options")
    #expect(try code { $0.fee = $0.amount } == "bad_options")
    #expect(try code { $0.sendsReceipt = true } == "bad_options")
    #expect(
      try code {
        $0.feeMode = .service
        $0.stopsAtConfirmation = true
      } == nil
    )
    // The fee of a stored method is read from the provider.
    #expect(try code { ($0.instrument, $0.storedMethod, $0.feeMode) = (nil, "m", .service) } == nil)
    #expect(
      try code {
        ($0.instrument, $0.storedMethod, $0.stopsAtConfirmation) = (nil, "m", true)
        $0.sendsReceipt = true
      } == "bad_options"
    )
  }

  @Test func `shows a request with its secrets masked`() throws {
    let world = try World()
    let shown = try world.engine().preview(world.order())
    let method = shown["payload"]?["payment_method_data"]
    #expect(method?["number"] == "[redacted]")
    #expect(method?["security_code"] == "[redacted]")
    #expect(method?["expiration_month"] == "12")
    let names = shown["payload"]?["pay_theory_data"]?.object?.members.map(\.key).sorted()
    #expect(
      names == [
        "account_code", "fee", "invoice_id", "payment_parameters", "payor_id",
        "receipt_description", "recurring_id", "reference", "send_receipt", "timezone",
      ]
    )
  }

  @Test func `sends where it is booked, and who gets a receipt`() throws {
    let world = try World()
    var order = try world.order()
    order.payor = ["email": "a@example.com"]
    order.stored["account_code"] = "shop-1"
    order.stored["invoice_id"] = "inv-1"
    order.paymentParameters = "nightly"
    order.sendsReceipt = true
    order.receiptDescription = "two tickets"
    let data = try world.engine().preview(order)["payload"]?[
      "pay_theory_data"
    ]
    #expect(
      data?.object?.sorted == [
        "account_code": "shop-1", "fee": 0, "invoice_id": "inv-1",
        "payment_parameters": "nightly", "payor_id": "", "receipt_description": "two tickets",
        "recurring_id": "", "reference": "A", "send_receipt": true,
        "timezone": data?["timezone"] ?? "",
      ]
    )
    #expect(order.content["account_code"] == "shop-1")
    #expect(order.content["invoice_id"] == "inv-1")
    order.stored["invoice_id"] = nil
    order.stored["recurring_id"] = "rec-1"
    let other = try world.engine().preview(order)["payload"]?[
      "pay_theory_data"
    ]
    #expect(other?["recurring_id"] == "rec-1")
    #expect(order.content["recurring_id"] == "rec-1")
  }
}

@Suite struct DocumentedResultTests {
  /// Adds undocumented members to every transaction, and changes the type of a field.
  private struct Talkative: HTTPExchange {
    let inner: any HTTPExchange

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      var response = try inner.send(request, permit, by: deadline)
      let text = String(decoding: response.body, as: UTF8.self)
        .replacing(#/"last_four":"1111"/#, with: #""last_four":"4111 1111","holder":"Jane Doe""#)
        .replacing(#/"card_brand":"VISA"/#, with: #""card_brand":["VISA"]"#)
        .replacing(#/"transaction_id"/#, with: #""debug":"internal","transaction_id""#)
      response.body = Array(text.utf8)
      return response
    }
  }

  /// Undocumented members and types are not shown, because they can hold anything.
  @Test func `shows a transaction as it is documented`() throws {
    let world = try World()
    _ = try world.engine().pay(world.order())
    let shown = try world.engine(exchange: { Talkative(inner: $0) })
      .lookUp("A", known: world.latest())
    let transaction = try #require(shown.result["transaction"]?.object)
    #expect(transaction.text("transaction_id") != nil)
    #expect(transaction["debug"] == nil)
    #expect(transaction["payment_method"]?["last_four"] == nil)
    #expect(transaction["payment_method"]?["card_brand"] == nil)
    #expect(transaction["payment_method"]?["holder"] == nil)
    #expect(transaction["payment_method"]?["exp_date"]?.text != nil)
  }

  /// `interchange` is the older name of `merchant_fee`.
  @Test(
    arguments: [
      ("merchant_fee", .merchant), ("interchange", .merchant), ("service_fee", .service),
      ("x", nil),
    ] as [(String, FeeMode?)]
  )
  func `reads the fee mode of a message`(_ text: String, _ mode: FeeMode?) {
    #expect(FeeMode(wire: text) == mode)
  }
}
