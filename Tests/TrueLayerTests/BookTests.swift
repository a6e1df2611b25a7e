import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// TrueLayer's rules, as its simulator applies them to its books.
@Suite struct BookTests {
  private static let day = 86_400_000

  @Test func `a mandate is revoked once its time is over`() throws {
    let world = try World()
    let end = Timestamp.text(world.clock.now + Self.day)
    let order = try world.payment("M") { creation in
      creation.kind = .mandate
      creation.amount = nil
      creation.maximumIndividual = 5000
      creation.limits = [(period: "month", amount: 50_000, alignment: "consent")]
      creation.validTo = end
    }
    let made = try world.engine(change: FlowTests.bank).pay(order)
    #expect(made.status == .authorized)
    let engine = try world.engine()
    let looked = try engine.lookUp("M", known: try world.latest("M"), kind: .mandate)
    #expect(looked.status == .authorized)
    #expect(looked.details["constraints"]?["valid_to"]?.text == end)
    world.clock.advance(Self.day)
    let over = try engine.lookUp("M", known: try world.latest("M"), kind: .mandate)
    #expect(over.status == .revoked)
    #expect(over.details["revocation_source"] == "provider")
    #expect(try world.latest("M")?.state.status == .revoked)
    let again = try engine.cancel(try world.latest("M"), handle: "M")
    #expect(again.status == .revoked && again.fault == nil && again.replayed == true)
    let path = "/v3/payments"
    let body =
      #"{"amount_in_minor":100,"currency":"GBP","user":{"id":"u"},"payment_method":"#
      + #"{"type":"mandate","mandate_id":"\#(made.id ?? "")"}}"#
    let tests = SchemaTests()
    let answer = try tests.ask(world, try tests.simulator(world), .post, path, body: body)
    #expect(answer.response.status == 400)
    #expect(
      answer.json["errors"]?.object?.members.map(\.key) == ["payment_method.mandate_id"]
    )
  }

  @Test func `a payment on a mandate stays within it`() throws {
    let world = try World()
    let made = try world.engine(change: FlowTests.bank).pay(try world.mandate("M"))
    let tests = SchemaTests()
    let simulator = try tests.simulator(world)
    for (amount, status) in [(5000, "executed"), (5001, "failed")] {
      let body =
        #"{"amount_in_minor":\#(amount),"currency":"GBP","user":{"id":"u"},"payment_method":"#
        + #"{"type":"mandate","mandate_id":"\#(made.id ?? "")"}}"#
      let paid = try tests.ask(world, simulator, .post, "/v3/payments", body: body)
      #expect(paid.response.status == 201)
      let id = paid.json["id"]?.text ?? ""
      let seen = try tests.ask(world, simulator, .get, "/v3/payments/" + id).json
      #expect(seen["status"]?.text == status)
      #expect(seen["failure_reason"]?.text == (status == "failed" ? "constraint_violation" : nil))
    }
    let path = "/v3/mandates/\(made.id ?? "")/constraints"
    let used = try tests.ask(world, simulator, .get, path).json
    #expect(used["periodic_limits"]?["month"]?["current_amount"] == 5000)
  }

  /// Payments in a period of 30 days: the clock, the amount, the status.
  @Test func `a mandate's periods turn with the clock`() throws {
    let world = try World()
    let made = try world.engine(change: FlowTests.bank).pay(try world.mandate("M"))
    let tests = SchemaTests()
    let simulator = try tests.simulator(world)
    func pay() throws -> String? {
      let body =
        #"{"amount_in_minor":5000,"currency":"GBP","user":{"id":"u"},"payment_method":"#
        + #"{"type":"mandate","mandate_id":"\#(made.id ?? "")"}}"#
      let paid = try tests.ask(world, simulator, .post, "/v3/payments", body: body)
      let id = paid.json["id"]?.text ?? ""
      return try tests.ask(world, simulator, .get, "/v3/payments/" + id).json["status"]?.text
    }
    let path = "/v3/mandates/\(made.id ?? "")/constraints"
    func month() throws -> JSON {
      try tests.ask(world, simulator, .get, path).json["periodic_limits"]?["month"] ?? .null
    }
    let limit = try #require(month()["maximum_available_amount"]?.boundedNumber)
    #expect(try (0..<limit / 5000).map { _ in try pay() }.allSatisfy { $0 == "executed" })
    #expect(try pay() == "failed")
    let before = try month()
    #expect(before["current_amount"]?.boundedNumber == limit)
    world.clock.advance(31 * 86_400_000)
    let after = try month()
    #expect(after["current_amount"] == 0 && after["start_date"] != before["start_date"])
    #expect(try pay() == "executed")
  }

  @Test(arguments: [
    ("sort_code_account_number", "EUR", 400), ("sort_code_account_number", "GBP", 201),
    ("iban", "EUR", 201), ("iban", "GBP", 201), ("nrb", "GBP", 400), ("nrb", "PLN", 201),
  ])
  func `an account is of its own currency`(
    _ type: String,
    _ currency: String,
    _ status: Int
  ) throws {
    let account =
      switch type {
      case "iban": #"{"type":"iban","iban":"NL39ABNA8234998285"}"#
      case "nrb": #"{"type":"nrb","nrb":"61109010140000071219812874"}"#
      default:
        #"{"type":"sort_code_account_number","sort_code":"560029","account_number":"26207729"}"#
      }
    let body =
      #"{"amount_in_minor":100,"currency":"\#(currency)","user":{"id":"u"},"payment_method":"#
      + #"{"type":"bank_transfer","provider_selection":{"type":"user_selected"},"beneficiary":"#
      + #"{"type":"external_account","account_holder_name":"Ben","reference":"A","#
      + #""account_identifier":\#(account)}}}"#
    let world = try World()
    let tests = SchemaTests()
    let answer = try tests.ask(
      world,
      try tests.simulator(world),
      .post,
      "/v3/payments",
      body: body
    )
    #expect(answer.response.status == status, "\(answer.json)")
  }

  @Test func `a key repeats its answer, and refuses another body`() throws {
    let world = try World()
    let id = try #require(try world.settled("R").id)
    let tests = SchemaTests()
    let simulator = try tests.simulator(world)
    func refund(_ amount: Int) throws -> (status: Int, json: JSON) {
      let (response, json) = try tests.ask(
        world,
        simulator,
        .post,
        "/v3/payments/\(id)/refunds",
        body: #"{"amount_in_minor":\#(amount),"reference":"a"}"#,
        key: "one"
      )
      return (response.status, json)
    }
    let first = try refund(300)
    let again = try refund(300)
    #expect(first.status == 202 && again.status == 202)
    #expect(first.json["id"] == again.json["id"])
    let other = try refund(400)
    #expect(other.status == 422)
    #expect(other.json["type"]?.text?.hasSuffix("#idempotency-key-reuse") == true)
    world.clock.advance(31 * Self.day)
    // The key has expired, so this is another refund.
    #expect(try refund(300).json["id"] != first.json["id"])
    #expect(try world.books("R").refunds == 2)
  }
}
