import Foundation
import Synchronization
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// An answer about another payment decides nothing.
@Suite struct OtherPaymentTests {
  /// Answers every look-up of a resource with another resource's body.
  struct Confused: HTTPExchange {
    let inner: any HTTPExchange
    let member: String
    /// The member's value; nil removes the member.
    let value: JSON?
    /// The path of the confused resources.
    var parent = "payments"

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      var response = try inner.send(request, permit, by: deadline)
      let parts = request.url.split(separator: "/")
      guard request.method == .get, parts.dropLast().last.map(String.init) == parent,
        response.status == 200,
        var body = JSONReader.read(response.body)?.object
      else { return response }
      body[member] = value
      response.body = Array(JSONWriter.text(.object(body)).utf8)
      return response
    }
  }

  static let others: [(String, JSON)] = [
    ("id", "11111111-2222-4333-8444-555555555555"), ("amount_in_minor", 1),
  ]

  @Test(arguments: others)
  func `leaves a lost cancel unknown`(_ member: String, _ value: JSON) throws {
    let world = try World()
    _ = try world.engine(listens: false, change: FlowTests.bank)
      .pay(try world.payment("A"))
    _ = #expect(throws: Fault.self) {
      _ = try world.engine(scenario: "bank:abandon", fault: "bank-cancel:close-before")
        .cancel(try world.latest(), handle: "A")
    }
    let attempt = try #require(try world.latest())
    let confused = #expect(throws: Fault.self) {
      try world.engine(wrap: { Confused(inner: $0, member: member, value: value) }).finish(attempt)
    }
    #expect(confused?.exitStatus == 9)
    #expect(try world.latest()?.state.isUnknown == true)
  }

  /// The published schema requires the three members. Without one, another payment's answer looks the same.
  @Test(
    arguments: ["id", "amount_in_minor", "currency"],
    [nil, JSON.null, .array([1])]
  )
  func `and an end that names its payment in part decides nothing`(
    _ member: String,
    _ value: JSON?
  ) throws {
    let world = try World()
    let fault = #expect(throws: Fault.self) {
      try world.engine(
        change: FlowTests.bank,
        wrap: { Confused(inner: $0, member: member, value: value) }
      ).pay(try world.payment("A"))
    }
    #expect(fault?.exitStatus == 9)
    #expect(try world.latest()?.state.isFinal == false)
    let again = try world.engine(change: FlowTests.bank).pay(try world.payment("A"))
    #expect(again.status == .succeeded)
    #expect(try world.books("A").made == 1)
  }

  /// Changes the answers to requests with this end of their address, and with this method if one is given.
  struct Edited: HTTPExchange {
    let inner: any HTTPExchange
    let path: String
    var method: HTTPMethod?
    let edit: @Sendable (_ body: inout JSONObject) -> Void

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      var response = try inner.send(request, permit, by: deadline)
      guard request.url.hasSuffix(path), method == nil || method == request.method,
        var body = JSONReader.read(response.body)?.object
      else { return response }
      edit(&body)
      response.body = Array(JSONWriter.text(.object(body)).utf8)
      return response
    }
  }

  /// The answers to a creation and to a step name no amount.
  @Test(
    arguments: ["payments", "authorization-flow", "actions/provider-selection", "actions/consent"],
    ["authorized", "executed", "settled", "failed"]
  )
  func `an end in the answer to a step is looked at`(_ path: String, _ status: String) throws {
    let world = try World()
    let report = try world.engine(
      listens: false,
      change: FlowTests.bank,
      wrap: { Edited(inner: $0, path: "/" + path) { $0["status"] = .string(status) } }
    ).pay(try world.payment("A"))
    // After the consent, the simulated payer authorizes it at the first look.
    let isPaid = try world.ledger("A").authorized == 1
    #expect(report.status == (isPaid ? .succeeded : .requiresAction))
    #expect(try world.latest()?.state.isFinal == isPaid)
    let again = try world.engine(change: FlowTests.bank).pay(try world.payment("A"))
    #expect(again.status == .succeeded)
    #expect(try world.ledger("A") == (1, 1))
  }

  /// The reference is in the metadata that TrueLayer returns.
  @Test func `an end with the reference of another payment decides nothing`() throws {
    let world = try World()
    let fault = #expect(throws: Fault.self) {
      try world.engine(
        change: FlowTests.bank,
        wrap: { Confused(inner: $0, member: "metadata", value: ["reference": "B"]) }
      ).pay(try world.payment("A"))
    }
    #expect(fault?.effect == .unknown)
    #expect(try world.latest()?.state.isFinal == false)
  }

  /// It was settled before, and what was seen stays. The bank decides about the refund.
  @Test(arguments: ["authorized", "authorizing", "failed"])
  func `an older state stops no refund`(_ status: String) throws {
    let world = try World()
    _ = try world.settled()
    let report = try world.engine(
      change: FlowTests.bank,
      wrap: { Confused(inner: $0, member: "status", value: .string(status)) }
    ).refund(try world.latest("R"), handle: "R", try .test(400), idempotencyKey: nil)
    #expect(report.operation?.amount == 400)
    #expect(try world.books("R").refunds == 1)
  }

  @Test(arguments: [900, 100])
  func `a refund that is shown with another amount is not counted`(_ amount: Int) throws {
    let world = try World()
    _ = try world.settled()
    let engine = try world.engine(change: FlowTests.bank)
    _ = try engine.refund(
      try world.latest("R"),
      handle: "R",
      try .test(400),
      idempotencyKey: nil
    )
    world.clock.advance(3000)
    let report = try world.engine(
      change: FlowTests.bank,
      wrap: { inner in
        Edited(inner: inner, path: "/refunds", method: .get) { body in
          guard var item = body["items"]?.array?.first?.object else { return }
          item["amount_in_minor"] = .integer(amount)
          body["items"] = .array([.object(item)])
        }
      }
    ).lookUp("R", known: try world.latest("R"))
    #expect(report.note?.contains("the refund is of 4.00 GBP") == true, "\(report)")
    #expect(try world.latest("R")?.state.leftToRefund == 600)
  }

  /// The bank took the money back (published schema, `PaymentSettled`).
  @Test func `a settlement that was reversed is returned, and is not refunded`() throws {
    let world = try World()
    _ = try world.settled()
    let payment = try #require(try world.latest("R"))
    let engine = try world.engine(
      change: FlowTests.bank,
      wrap: { Confused(inner: $0, member: "reversed_at", value: "2026-01-05T09:00:00.000Z") }
    )
    let fault = #expect(throws: Fault.self) {
      try engine.refund(payment, handle: "R", try .test(400), idempotencyKey: nil)
    }
    #expect(fault?.code == "nothing_to_refund")
    let seen = try engine.lookUp("R", known: try world.latest("R"))
    #expect(seen.status == .returned)
    #expect(try world.latest("R")?.state.leftToRefund == 0)
  }

  /// The published schema requires the payee's type.
  @Test(arguments: [nil, .null, "", "merchant", ["external_account"]] as [JSON?])
  func `executed is no success without a payee of a known type`(_ type: JSON?) throws {
    var beneficiary: JSONObject = ["merchant_account_id": "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6"]
    beneficiary["type"] = type
    let world = try World()
    _ = try world.engine(listens: false, change: FlowTests.bank).pay(try world.payment("A"))
    let payment = try #require(try world.latest())
    var seen = try #require(
      JSONReader.read(WireTests.whole("executed", payment.state.id ?? ""))?.object
    )
    seen["payment_method"] = ["type": "bank_transfer", "beneficiary": .object(beneficiary)]
    let path = "/v3/payments/\(payment.state.id ?? "")"
    let report = try world.engine(
      over: StubHTTP([
        .init(
          "POST",
          "/connect/token",
          200,
          try AnswerTests.answer("truelayer-java/auth/200.access_token")
        ),
        .init("GET", path, 200, JSONWriter.text(.object(seen))),
      ])
    ).lookUp("A", known: payment)
    #expect(report.status == .pending)
    #expect(try world.latest()?.state.isFinal == false)
  }

  /// After a failed refund, the same command refunds again.
  @Test(arguments: ["amount_in_minor", "currency"], [nil, .null, "EUR", -300] as [JSON?])
  func `a failed refund in a list that names itself in part decides nothing`(
    _ member: String,
    _ value: JSON?
  ) throws {
    let world = try World()
    _ = try world.settled("R")
    func refund() throws {
      let known = try world.latest("R")
      _ = try world.engine().refund(known, handle: "R", try .test(300), idempotencyKey: nil)
    }
    try refund()
    let engine = try world.engine(wrap: {
      Edited(inner: $0, path: "/refunds") { body in
        var refund = body["items"]?.array?.first?.object ?? [:]
        refund["status"] = "failed"
        refund[member] = value
        body["items"] = .array([.object(refund)])
      }
    })
    _ = try engine.lookUp("R", known: try world.latest("R"))
    #expect(try world.latest("R")?.state.refunding == 300)
    try refund()
    #expect(try world.books("R").refunds == 1)
  }

  @Test func `changes nothing in the journal`() throws {
    let world = try World()
    _ = try world.engine(listens: false, change: FlowTests.bank)
      .pay(try world.payment("A"))
    let before = try #require(try world.latest())
    let fault = #expect(throws: Fault.self) {
      try world.engine(wrap: {
        Confused(inner: $0, member: "id", value: "11111111-2222-4333-8444-555555555555")
      }).lookUp("A", known: before)
    }
    #expect(fault?.code == "unexpected_behaviour")
    #expect(try world.latest()?.version == before.version)
  }

  /// Lies in the first answer only.
  final class LiesOnce: HTTPExchange {
    private let inner: any HTTPExchange
    private let lie: Confused
    private let hasLied = Atomic(false)

    init(_ inner: any HTTPExchange, _ member: String, _ value: JSON) {
      self.inner = inner
      lie = Confused(inner: inner, member: member, value: value)
    }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      let isFirst = request.method == .get && !hasLied.exchange(true, ordering: .relaxed)
      return try isFirst
        ? lie.send(request, permit, by: deadline) : inner.send(request, permit, by: deadline)
    }
  }

  @Test(
    arguments: [("amount_in_minor", 999_999), ("amount_in_minor", 1), ("currency", "EUR")]
      as [(String, JSON)],
    ["transact", "refund"]
  )
  func `is not taken for a payment that was made elsewhere`(
    _ lie: (member: String, value: JSON),
    _ command: String
  ) throws {
    let world = try World()
    let id = try #require(try world.settled("R").id)
    try world.forget()
    func engine(_ lies: Bool) throws -> Engine {
      try world.engine(
        change: FlowTests.bank,
        wrap: { lies ? LiesOnce($0, lie.member, lie.value) : $0 }
      )
    }
    let fault = #expect(throws: Fault.self) {
      if command == "transact" {
        _ = try engine(true).pay(try world.existing(id))
      } else {
        _ = try engine(true).refund(nil, handle: id, try .test(nil), idempotencyKey: nil)
      }
    }
    #expect(fault?.code == "unexpected_behaviour")
    #expect(try world.latest(id)?.state.amount == nil)
    #expect(try world.books("R").refunds == 0)
    // A later run believes two equal answers.
    let report = try engine(false).pay(try world.existing(id), newAttempt: true)
    #expect((report.amount, report.currency?.code) == (1000, "GBP"))
  }
}
