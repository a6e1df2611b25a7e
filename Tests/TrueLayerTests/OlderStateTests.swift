import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Look-ups that lag behind, or are about another payment, after the payer's consent.
@Suite struct OlderStateTests {
  /// The consent can move money, so nothing but an end of the payment proves that none was moved.
  @Test(arguments: ["authorization_required", "odd"])
  func `a state from before the consent, or none that is known, is unknown`(
    _ status: String
  ) throws {
    let world = try World()
    func pay(_ lies: Bool) throws -> Report {
      try world.engine(
        change: FlowTests.bank,
        wrap: { inner in
          lies
            ? OtherPaymentTests.Confused(inner: inner, member: "status", value: .string(status))
            : inner
        }
      ).pay(try world.payment("A"))
    }
    for _ in 0..<3 {
      let fault = #expect(throws: Fault.self) { _ = try pay(true) }
      #expect(fault?.exitStatus == 9)
      #expect(fault?.effect == .unknown)
      world.clock.advance(3000)
    }
    #expect(try pay(false).status == .succeeded)
    #expect(try world.books("A").made == 1)
  }

  /// Returns an engine whose look-ups lag: they show the payment as it was before its consent.
  private func lagging(
    _ world: World,
    listens: Bool = true,
    _ wrap: (any HTTPExchange) -> any HTTPExchange = { $0 }
  ) throws -> Engine {
    try world.engine(
      listens: listens,
      change: FlowTests.bank,
      wrap: { inner in
        OtherPaymentTests.Confused(
          inner: wrap(inner),
          member: "status",
          value: "authorization_required"
        )
      }
    )
  }

  /// Pays three times while the look-ups lag, and `between` looks or finishes after each time. Then they catch
  /// up.
  private func expectUnknown(_ world: World, between: (Payment) throws -> Void) throws {
    let order = try world.payment("A")
    for _ in 0..<3 {
      let fault = #expect(throws: Fault.self) { _ = try lagging(world).pay(order) }
      #expect(fault?.exitStatus == 9, "\(fault?.code ?? "")")
      world.clock.advance(3000)
      try between(try #require(try world.latest()))
      #expect(try world.latest()?.state.isUnknown == true)
      world.clock.advance(3000)
    }
    #expect(try world.engine(change: FlowTests.bank).pay(order).status == .succeeded)
    #expect(try world.books("A").made == 1)
  }

  /// The consent that this journal sent counts, not a status that a look-up showed afterwards.
  @Test(arguments: ["payment-status", "resume", "finish"])
  func `no command takes a state from before the consent for news`(_ command: String) throws {
    let world = try World()
    try expectUnknown(world) { known in
      guard command != "payment-status" else {
        let report = try lagging(world).lookUp("A", known: known)
        #expect(report.status == .unknown)
        #expect(report.note?.contains("before the consent") == true, "\(report.note ?? "")")
        return
      }
      let fault = #expect(throws: Fault.self) {
        _ = try lagging(world).resume(known, finish: command == "finish", resend: false)
      }
      #expect(fault?.exitStatus == 9)
      #expect(fault?.message.contains("before the consent") == true, "\(fault?.message ?? "")")
    }
  }

  /// The process ended, or its answer was lost, before a status after the consent was seen.
  @Test func `nor after a consent whose answer was lost`() throws {
    let world = try World()
    let fault = #expect(throws: Fault.self) {
      _ = try lagging(world) { LostThenStoppedTests.LosingConsents($0) }
        .pay(try world.payment("A"))
    }
    #expect(fault?.exitStatus == 9)
    world.clock.advance(3000)
    try expectUnknown(world) { _ in }
  }

  /// Refuses every consent, and executes none.
  private struct RefusingConsents: HTTPExchange {
    let inner: any HTTPExchange

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      guard request.url.hasSuffix("/actions/consent") else {
        return try inner.send(request, permit, by: deadline)
      }
      try permit?.use()
      return HTTPResponse(status: 400, body: Array(#"{"type":"x#invalid-parameters"}"#.utf8))
    }
  }

  /// The last status that the journal has is that of the creation, but the flow began.
  @Test func `nor after a consent that was refused`() throws {
    let world = try World()
    let fault = #expect(throws: Fault.self) {
      _ = try world.engine(change: FlowTests.bank, wrap: { RefusingConsents(inner: $0) })
        .pay(try world.payment("A"))
    }
    #expect(fault?.exitStatus == 7)
    world.clock.advance(3000)
    try expectUnknown(world) { _ in }
  }

  /// A run that ended at the redirect had sent the consent.
  @Test(arguments: [true, false])
  func `nor of a payment that waits for its payer`(_ isLookedUp: Bool) throws {
    let world = try World()
    _ = try world.engine(listens: false, change: FlowTests.bank).pay(try world.payment("A"))
    world.clock.advance(3000)
    let known = try #require(try world.latest())
    if isLookedUp {
      let fault = #expect(throws: Fault.self) { try lagging(world).lookUp("A", known: known) }
      #expect(fault?.exitStatus == 11)
      #expect(fault?.retry == .later)
      #expect(try world.latest()?.version == known.version)
      world.clock.advance(3000)
    }
    try expectUnknown(world) { _ in }
  }

  /// Refuses every cancellation, because the payer has authorized the payment.
  private struct RefusingCancels: HTTPExchange {
    let inner: any HTTPExchange

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      guard request.url.hasSuffix("/actions/cancel") else {
        return try inner.send(request, permit, by: deadline)
      }
      try permit?.use()
      return HTTPResponse(status: 400, body: Array(#"{"type":"x#invalid-state"}"#.utf8))
    }
  }

  /// The bank may still pay. So no refusal is the last word until a look shows a state after the consent.
  @Test(arguments: ["cancel", "refund", "refund 300", "confirm", "transact"])
  func `every refusal after a consent asks for another look`(_ command: String) throws {
    let world = try World()
    _ = try world.engine(listens: false, change: FlowTests.bank).pay(try world.payment("A"))
    #expect(try world.latest()?.attempt?.hasConsent == true)
    let order = try world.payment("A")
    let (whole, part) = (try RefundRequest.test(nil), try RefundRequest.test(300))
    world.clock.advance(3000)
    for _ in 0..<2 {
      let engine = try lagging(world) { RefusingCancels(inner: $0) }
      let known = try world.latest()
      var fault: Fault?
      do throws(Fault) {
        let report =
          switch command {
          case "cancel": try engine.cancel(known, handle: "A")
          case "refund": try engine.refund(known, handle: "A", whole, idempotencyKey: nil)
          case "refund 300": try engine.refund(known, handle: "A", part, idempotencyKey: nil)
          case "confirm": try engine.confirm(known, handle: "A", amount: nil)
          default: try engine.pay(order)
          }
        fault = report.fault
      } catch {
        fault = error
      }
      let isKnown = command == "cancel" || command.hasPrefix("refund")
      #expect(fault?.exitStatus == (isKnown ? 8 : 9), "\(fault?.code ?? "")")
      #expect(fault?.retry == .look)
      #expect(fault?.code == (isKnown ? "consent_pending" : "outcome_unknown"))
      world.clock.advance(3000)
    }
    // The look catches up.
    let report = try world.engine(change: FlowTests.bank).pay(order)
    #expect(report.status == .succeeded)
    #expect(try world.books("A").made == 1)
  }

  /// The fact belongs to the attempt, and ends with it.
  @Test func `the consent is remembered while the payment is open`() throws {
    let world = try World()
    _ = try world.engine(listens: false, change: FlowTests.bank).pay(try world.payment("A"))
    #expect(try world.latest()?.attempt?.preparation == .plain("consent"))
    _ = try world.engine(change: FlowTests.bank).pay(try world.payment("A"))
    #expect(try world.latest()?.attempt?.preparation == nil)
    // No bank is chosen.
    _ = try world.engine(listens: false).pay(try world.payment("B"))
    #expect(try world.latest("B")?.state.isFinal == false)
    #expect(try world.latest("B")?.attempt?.preparation == nil)
  }

  /// Only a documented status shows that the flow began.
  @Test func `an odd status in the answer to a repeated creation begins no flow`() throws {
    let world = try World()
    let order = try world.payment("A")
    let lost = #expect(throws: Fault.self) {
      _ = try world.engine(
        change: FlowTests.bank,
        wrap: { LostThenStoppedTests.Stopped($0, LostThenStoppedTests.ends[2]) }
      ).pay(order)
    }
    #expect(lost?.exitStatus == 9)
    world.clock.advance(3000)
    let known = try #require(try world.latest())
    _ = try world.engine(
      change: FlowTests.bank,
      wrap: { inner in
        OtherPaymentTests.Edited(inner: inner, path: "/v3/payments", method: .post) { body in
          body["status"] = "odd"
        }
      }
    ).finish(known)
    world.clock.advance(3000)
    #expect(try world.engine(change: FlowTests.bank).pay(order).status == .succeeded)
    #expect(try world.books("A").made == 1)
  }

  /// The answer to the creation named another payment's id.
  @Test func `a look-up that names another reference is not recorded`() throws {
    let world = try World()
    _ = try world.engine(listens: false, change: FlowTests.bank).pay(try world.payment("A"))
    let known = try #require(try world.latest("A"))
    let id = try #require(known.state.id)
    let report = try world.engine(
      change: FlowTests.bank,
      wrap: { inner in
        OtherPaymentTests.Edited(inner: inner, path: id, method: .get) { body in
          body["status"] = "settled"
          body["metadata"] = ["reference": "B"]
        }
      }
    ).lookUp("A", known: known)
    #expect(
      report.note
        == "the answer has the reference 'B', where this journal has 'A': it was not recorded"
    )
    #expect(report.status == .requiresAction)
    #expect(try world.latest("A")?.state.isFinal == false)
  }

  @Test func `a refund under way that the journal does not have is told`() throws {
    let world = try World()
    _ = try world.settled()
    let report = try world.engine(
      change: FlowTests.bank,
      wrap: { inner in
        OtherPaymentTests.Edited(inner: inner, path: "/refunds", method: .get) { body in
          body["items"] = [
            [
              "id": "11111111-2222-4333-8444-555555555555", "amount_in_minor": 200,
              "currency": "GBP", "status": "pending", "reference": "R",
            ]
          ]
        }
      }
    ).lookUp("R", known: try world.latest("R"))
    #expect(
      report.note == "a refund was made at the provider and not by this journal"
    )
    let state = try #require(try world.latest("R")?.state)
    #expect([state.refunding, state.elsewhere, state.leftToRefund] == [200, 200, 800])
  }
}
