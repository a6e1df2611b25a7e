import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// Answers to requests that name another amount or currency, or that do not show a payment yet.
@Suite struct OtherAmountTests {
  /// Adds a member to the answers of POST requests with this end of their address.
  private static func adding(
    _ lie: (member: String, value: JSON),
    to path: String,
    _ inner: any HTTPExchange
  ) -> any HTTPExchange {
    OtherPaymentTests.Edited(inner: inner, path: "/" + path, method: .post) { body in
      body[lie.member] = lie.value
    }
  }

  static let lies: [(member: String, value: JSON)] = [
    ("amount_in_minor", 1), ("amount_in_minor", "1"), ("amount_in_minor", .null),
    ("amount_in_minor", -1000), ("amount_in_minor", 1_000_000_000_000_000_000),
    ("currency", "EUR"), ("currency", .null), ("currency", 5),
  ]

  private static func check(_ world: World) throws {
    let payment = try #require(try world.latest())
    #expect((payment.state.amount, payment.currency?.code) == (1000, "GBP"))
    #expect(!payment.state.isFinal)
  }

  /// `lasts`: the provider repeats its first answer, as it does for the same key.
  @Test(arguments: lies, [false, true])
  func `a creation's answer with another amount leaves its result unknown`(
    _ lie: (member: String, value: JSON),
    _ lasts: Bool
  ) throws {
    let world = try World()
    func engine(lies: Bool) throws -> Engine {
      try world.engine(
        change: FlowTests.bank,
        wrap: { lies ? Self.adding(lie, to: "payments", $0) : $0 }
      )
    }
    let fault = #expect(throws: Fault.self) {
      try engine(lies: true).pay(try world.payment("A"))
    }
    #expect(fault?.exitStatus == 9)
    #expect(try world.latest()?.state.status == .unknown)
    try Self.check(world)
    let report = try engine(lies: lasts).pay(try world.payment("A"))
    #expect(report.status == .succeeded)
    #expect((report.amount, report.currency?.code) == (1000, "GBP"))
    #expect(try world.ledger() == (1, 1))
  }

  /// Only the consent can move money.
  @Test(
    arguments: [
      ("authorization-flow", Int32(11)), ("actions/provider-selection", 11), ("actions/consent", 9),
    ],
    lies + [(member: "id", value: "11111111-2222-4333-8444-555555555555")]
  )
  func `a step's answer about another payment changes nothing`(
    _ step: (path: String, exit: Int32),
    _ lie: (member: String, value: JSON)
  ) throws {
    let world = try World()
    let fault = #expect(throws: Fault.self) {
      try world.engine(
        change: FlowTests.bank,
        wrap: { Self.adding(lie, to: step.path, $0) }
      ).pay(try world.payment("A"))
    }
    #expect(fault?.exitStatus == step.exit)
    try Self.check(world)
    let report = try world.engine(change: FlowTests.bank).pay(try world.payment("A"))
    #expect(report.status == .succeeded)
    #expect(try world.ledger() == (1, 1))
  }

  /// Does not know any payment.
  struct Lagging: HTTPExchange {
    let inner: any HTTPExchange

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      guard request.url.contains("/v3/payments/") else {
        return try inner.send(request, permit, by: deadline)
      }
      return HTTPResponse(status: 404, body: Array(#"{"title":"Not Found"}"#.utf8))
    }
  }

  @Test(arguments: ["transact", "confirm", "payment-status", "cancel"])
  func `a payment that is not shown yet is not missing`(_ command: String) throws {
    let world = try World()
    let order = try world.payment("A")
    if command != "transact" {
      _ = try world.engine(listens: false, change: FlowTests.bank).pay(order)
    }
    let known = try world.latest()
    let engine = try world.engine(change: FlowTests.bank, wrap: { Lagging(inner: $0) })
    let fault = #expect(throws: Fault.self) {
      switch command {
      case "transact": _ = try engine.pay(order)
      case "confirm": _ = try engine.confirm(known, handle: "A", amount: nil)
      case "cancel": _ = try engine.cancel(known, handle: "A")
      default: _ = try engine.lookUp("A", known: known)
      }
    }
    #expect(fault?.exitStatus == 11)
    #expect(fault?.effect == Fault.Effect.none)
    #expect(fault?.hint?.hasPrefix("run the same command again") == true)
    #expect(try world.latest()?.state.status == .requiresAction)
    #expect(try world.engine(change: FlowTests.bank).pay(order).status == .succeeded)
    #expect(try world.ledger() == (1, 1))
  }
}
