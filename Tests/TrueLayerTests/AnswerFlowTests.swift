import Foundation
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// Answers in the middle of a run: creations, steps, refunds, a direct return.
extension AnswerTests {
  /// An answer to a creation or a step of the flow, and the end of the run.
  struct Flow: CustomTestStringConvertible {
    var file: String
    var isCreation = false
    var kind = Payment.Kind.payment
    var status: Status
    var result: JSONObject
    var exit: Int32
    var next: String?

    var testDescription: String { file }
  }

  static let flows: [Flow] = {
    let java = "truelayer-java/payments/"
    let mandates = "truelayer-java/mandates/200.start_authorization_flow.authorizing."
    let authorizing: JSONObject = ["status": "authorizing"]
    let rejected: JSONObject = [
      "failure_reason": "provider_rejected", "failure_stage": "authorization_required",
    ]
    return [
      Flow(
        file: java + "201.create_payment.authorized",
        isCreation: true,
        status: .pending,
        result: ["state": "authorized"],
        exit: 0
      ),
      Flow(
        file: java + "201.create_payment.failed",
        isCreation: true,
        status: .declined,
        result: [
          "error": "paymentRejected", "failure_reason": "rejected",
          "failure_stage": "authorization_required",
        ],
        exit: 3
      ),
      Flow(
        file: java + "200.start_authorization_flow.authorizing.provider_selection",
        status: .requiresAction,
        result: authorizing,
        exit: 8,
        next: "provider_selection"
      ),
      Flow(
        file: java + "200.start_authorization_flow.authorizing.redirect",
        status: .requiresAction,
        result: ["state": "redirect"],
        exit: 0,
        next: "redirect"
      ),
      Flow(
        file: java + "200.start_authorization_flow.authorizing.wait",
        status: .pending,
        result: ["state": "wait"],
        exit: 0,
        next: "wait"
      ),
      Flow(
        file: java + "200.start_authorization_flow.authorizing.form",
        status: .requiresAction,
        result: authorizing,
        exit: 8,
        next: "form"
      ),
      Flow(
        file: java + "200.start_authorization_flow.failed",
        status: .declined,
        result: JSONObject([.init(key: "error", value: "paymentRejected")] + rejected.members),
        exit: 3
      ),
      Flow(
        file: java + "200.submit_provider_selection.failed",
        status: .declined,
        result: JSONObject([.init(key: "error", value: "paymentRejected")] + rejected.members),
        exit: 3
      ),
      Flow(
        file: java + "200.submit_provider_selection.authorizing",
        status: .requiresAction,
        result: authorizing,
        exit: 8,
        next: "provider_selection"
      ),
      Flow(
        file: "openapi/200.payments.form.select_sca",
        status: .requiresAction,
        result: authorizing,
        exit: 8,
        next: "form"
      ),
      Flow(
        file: mandates + "provider_selection",
        kind: .mandate,
        status: .requiresAction,
        result: authorizing,
        exit: 8,
        next: "provider_selection"
      ),
      Flow(
        file: mandates + "redirect",
        kind: .mandate,
        status: .requiresAction,
        result: ["state": "redirect"],
        exit: 0,
        next: "redirect"
      ),
      Flow(
        file: mandates + "wait",
        kind: .mandate,
        status: .pending,
        result: authorizing,
        exit: 0,
        next: "wait"
      ),
      Flow(
        file: "truelayer-java/mandates/200.submit_provider_selection.authorizing",
        kind: .mandate,
        status: .requiresAction,
        result: authorizing,
        exit: 8,
        next: "provider_selection"
      ),
      Flow(
        file: "truelayer-java/mandates/200.submit_provider_selection.failed",
        kind: .mandate,
        status: .declined,
        result: JSONObject([.init(key: "error", value: "mandateRejected")] + rejected.members),
        exit: 3
      ),
    ]
  }()

  @Test(arguments: flows) func `a published step`(_ flow: Flow) throws {
    let collection = flow.kind == .mandate ? "mandates" : "payments"
    let file =
      flow.kind == .mandate
      ? "mandates/201.create_mandate" : "payments/201.create_payment.authorization_required"
    let created = try Self.answer(flow.isCreation ? flow.file : "truelayer-java/" + file)
    let id =
      flow.kind == .mandate
      ? "13d4dda0-ff2c-4d77-a6da-4615e4bad941" : "40d65bb9-642d-48e7-a743-***"
    var steps = [
      StubHTTP.Step(
        "POST",
        "/connect/token",
        200,
        try Self.answer("truelayer-java/auth/200.access_token")
      ),
      StubHTTP.Step("POST", "/v3/\(collection)", 201, created),
    ]
    if !flow.isCreation {
      steps.append(
        .init(
          "POST",
          "/v3/\(collection)/\(id)/authorization-flow",
          200,
          try Self.answer(flow.file)
        )
      )
    }
    if flow.exit == 3 || flow.file.hasSuffix(".authorized") {
      // An end and an authorization are looked at, because the answer does not name amount and currency.
      var seen = try #require(JSONReader.read(try Self.answer(flow.file))?.object)
      for (name, value) in ["id": .string(id), "amount_in_minor": 1000, "currency": "GBP"]
        as [String: JSON]
      {
        seen[name] = value
      }
      steps.append(.init("GET", "/v3/\(collection)/\(id)", 200, JSONWriter.text(.object(seen))))
    }
    let stub = StubHTTP(steps)
    let world = try World()
    let order = flow.kind == .mandate ? try world.mandate("A") : try world.payment("A")
    let report = try world.engine(over: stub).pay(order)
    #expect(stub.left == 0)
    #expect(report.status == flow.status)
    #expect(report.result == flow.result)
    #expect(report.fault?.exitStatus ?? 0 == flow.exit)
    #expect(report.nextAction?.type == flow.next)
    #expect(report.id == id)
    #expect(try world.latest("A")?.unknowns.isEmpty == true)
  }

  /// A published refund state: file, status of the payment, exit.
  @Test(arguments: [
    ("pending", Status.succeeded, Int32(0)), ("authorized", .succeeded, 0),
    ("executed", .partiallyRefunded, 0), ("failed", .succeeded, 3),
  ])
  func `a published refund`(_ name: String, _ status: Status, _ exit: Int32) throws {
    let java = "truelayer-java/payments/"
    let token = StubHTTP.Step(
      "POST",
      "/connect/token",
      200,
      try Self.answer("truelayer-java/auth/200.access_token")
    )
    let published = try Self.answer(java + "200.get_payment_by_id.bank_transfer.settled")
    // The published sample has a masked id, which no real id can be.
    let masked = try #require(JSONReader.read(published)?["id"]?.text)
    let id = Self.id
    let settled = published.replacingOccurrences(of: masked, with: id)
    let path = "/v3/payments/\(id)"
    let refund = try Self.answer(java + "200.get_payment_refund_by_id." + name)
    let world = try World()
    // A resource created elsewhere is read twice.
    let asked = StubHTTP.Step("GET", path, 200, settled)
    _ = try world.engine(over: StubHTTP([token, asked, asked]))
      .pay(try world.existing(id))
    let stub = StubHTTP([
      token, .init("GET", path, 200, settled),
      .init("GET", path + "/refunds", 200, #"{"items":[]}"#),
      .init("POST", path + "/refunds", 202, try Self.answer(java + "202.create_payment_refund")),
      .init("GET", path + "/refunds/38c76ba95-322f-46a9-b754-***", 200, refund),
    ])
    let report = try world.engine(over: stub).refund(
      try world.latest(id),
      handle: id,
      try .test(100, statement: "a refund"),
      idempotencyKey: nil
    )
    #expect(stub.left == 0)
    #expect(report.status == status)
    #expect(report.fault?.exitStatus ?? 0 == exit)
    #expect(report.result["refund"]?["status"] == .string(name))
    #expect(report.result["refund"]?["amount_in_minor"] == 100)
    #expect(report.result["refund"]?["id"] == "38c76ba95-322f-46a9-b754-***")
    #expect(
      String(decoding: stub.requests[3].body, as: UTF8.self)
        == #"{"amount_in_minor":100,"reference":"a refund"}"#
    )
    let list = StubHTTP([
      token, .init("GET", path, 200, settled),
      .init("GET", path + "/refunds", 200, try Self.answer(java + "200.list_payment_refunds")),
    ])
    let looked = try world.engine(over: list).lookUp(id, known: nil)
    #expect(looked.status == .succeeded)
    #expect(looked.details["refunds"]?.array?.first?["amount_in_minor"] == 100)
  }

  @Test func `a published answer to a direct return names another payment`() throws {
    let other = "c7f3f6c5-ae17-4d43-829c-000000000000"
    let returned = try Self.answer("truelayer-java/common/200.submit_payment_returns_parameters")
    let redirect = try Self.answer(
      "truelayer-java/payments/200.start_authorization_flow.authorizing.redirect"
    )
    for (id, code) in [(other, "return_mismatch"), (Self.id, "")] {
      let world = try World()
      let path = "/v3/payments/" + id
      let stub = StubHTTP([
        .init("GET", path, 200, redirect),
        .init("POST", "/v3/payments-provider-return", 200, returned),
        .init("GET", path, 200, WireTests.whole("executed", id)),
      ])
      let engine = world.engine(over: stub) { options, configuration in
        configuration.resourceToken = SharedSecret("resource-token-of-the-test")
        options.returnURL = "https://shop.example/return?code=x&state=y#z=1"
      }
      _ = try engine.pay(try world.existing(id))
      let attempt = try world.latest(id)
      do throws(Fault) {
        let report = try engine.confirm(attempt, handle: id, amount: nil)
        #expect(report.result == ["state": "executed"])
        #expect(code.isEmpty)
      } catch {
        #expect(error.code == code)
      }
      let sent = stub.requests[1]
      #expect(!sent.fields.contains { $0.name == "Authorization" || $0.name == "Tl-Signature" })
      #expect(
        String(decoding: sent.body, as: UTF8.self)
          == #"{"query":"code=x&state=y","fragment":"z=1"}"#
      )
    }
  }

  @Test
  func `a token that ends at once is asked for again, and a consent goes without being asked`()
    throws
  {
    let short = try Self.answer("truelayer-java/auth/200.access_token.immediate_expiration")
    let consent = try Self.answer(
      "truelayer-java/payments/200.start_authorization_flow.authorizing.consent"
    )
    let redirect = try Self.answer(
      "truelayer-java/payments/200.start_authorization_flow.authorizing.redirect"
    )
    let branch = try Self.answer("openapi/200.payments.provider-selection.branch_selection")
    let scheme = try Self.answer("openapi/200.payments.branch-selection.scheme_selection")
    let path = "/v3/payments/\(Self.id)"
    let stub = StubHTTP([
      .init("POST", "/connect/token", 200, short),
      .init("GET", path, 200, #"{"status":"authorization_required"}"#),
      .init("POST", "/connect/token", 200, short),
      .init("POST", path + "/authorization-flow", 200, branch),
      .init("POST", "/connect/token", 200, short),
      .init("POST", path + "/authorization-flow/actions/branch-selection", 200, scheme),
      .init("POST", "/connect/token", 200, short),
      .init("POST", path + "/authorization-flow/actions/scheme-selection", 200, consent),
      .init("POST", "/connect/token", 200, short),
      .init("POST", path + "/authorization-flow/actions/consent", 200, redirect),
    ])
    let world = try World()
    let report = try world.engine(over: stub).pay(try world.existing(Self.id))
    #expect(stub.left == 0)
    #expect(report.result == ["state": "redirect"])
    #expect(world.guide.addresses == ["https://a-redirect-uri.com"])
    // A single branch and a single scheme need no choice. The payer's consent is reported.
    let bodies = stub.requests.map { String(decoding: $0.body, as: UTF8.self) }
    #expect(bodies[5] == #"{"branch_id":"main-branch"}"#)
    #expect(bodies[7] == #"{"scheme_id":"faster_payments_service"}"#)
    #expect(bodies[9] == #"{"captured":{"pis":{}}}"#)
  }
}
