import Foundation
import Synchronization
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// Actions of the payer and the operator during a flow.
extension FlowTests {
  @Test func `a failed attempt stays open with retry, and starts once more`() throws {
    let world = try World()
    let order = try world.payment("A") { $0.retries = true }
    let first = try world.engine(scenario: "bank:reject_authorisation") { options, configuration in
      Self.bank(&options, &configuration)
      options.retries = true
    }.pay(order)
    #expect(first.status == .failed)
    #expect(first.isFinal == false)
    #expect(first.result["status"] == "attemptFailed")
    #expect(first.fault?.code == "authorization_failed")
    #expect(first.nextAction?.type == "retry")
    let second = try world.engine { options, configuration in
      Self.bank(&options, &configuration)
      options.retries = true
    }.confirm(try world.latest(), handle: "A", amount: nil)
    #expect(Self.plain(second.result) == ["state": "executed"])
    #expect(try world.ledger().made == 1)
  }

  @Test func `a foreign address ends at redirect, and a later process takes it up`() throws {
    let world = try World()
    let order = try world.payment("A")
    let foreign = { (options: inout FlowOptions, configuration: inout TrueLayerConfiguration) in
      Self.bank(&options, &configuration)
      configuration.redirectURL = "https://shop.example/return"
    }
    let first = try world.engine(listens: false, change: foreign)
      .pay(order)
    #expect(first.status == .requiresAction)
    #expect(Self.plain(first.result) == ["state": "redirect"])
    #expect(first.fault == nil)
    let address = try #require(first.nextAction?["url"]?.text)
    #expect(world.guide.addresses == [address])
    let id = try #require(first.id)
    // Another payer's return is not accepted for this payment.
    let other = #expect(throws: Fault.self) {
      _ = try world.engine { options, _ in
        options.returnURL = "https://shop.example/return?payment_id=other"
      }.confirm(try world.latest(), handle: "A", amount: nil)
    }
    #expect(other?.exitStatus == 6)
    // Direct return: the bank's answer is passed on.
    let second = try world.engine(listens: false) { options, _ in
      options.returnURL = "https://shop.example/return?state=\(id)&code=abc"
    }.confirm(try world.latest(), handle: "A", amount: nil)
    #expect(Self.plain(second.result) == ["state": "executed"])
    #expect(second.replayed == false)
  }

  /// A creation whose answer was lost is found again. Then it waits for its payer, and a new attempt is
  /// refused.
  @Test func `a new attempt behind a lost creation is refused once that is found`() throws {
    let world = try World()
    let order = try world.payment("A")
    #expect(throws: Fault.self) {
      try world.engine(fault: "create:close-after", listens: false, change: Self.bank).pay(order)
    }
    let fault = #expect(throws: Fault.self) {
      try world.engine(listens: false, change: Self.bank).pay(order, newAttempt: true)
    }
    #expect(fault?.code == "attempt_stands")
    #expect(try world.ledger().made == 1)
  }

  /// The bank's return was passed on. If the next look fails, the payment may be paid.
  @Test func `a look that fails behind a return is unknown until the next command`() throws {
    let world = try World()
    _ = try world.engine(listens: false) { options, configuration in
      Self.bank(&options, &configuration)
      configuration.redirectURL = "https://shop.example/return"
    }.pay(try world.payment("A"))
    let id = try #require(try world.latest()?.attempt?.id)
    let unread = #expect(throws: Fault.self) {
      _ = try world.engine(
        listens: false,
        change: { options, _ in
          options.returnURL = "https://shop.example/return?state=\(id)&code=abc"
        },
        wrap: { OtherPaymentTests.Confused(inner: $0, member: "id", value: "somebody's") }
      ).confirm(try world.latest(), handle: "A", amount: nil)
    }
    #expect(unread?.exitStatus == 9)
    let known = try #require(try world.latest())
    #expect(try world.engine(listens: false).lookUp("A", known: known).status == .succeeded)
    #expect(try world.ledger().made == 1)
  }

  @Test func `a payer who gave up on the hosted page cancels`() throws {
    let world = try World()
    _ = try world.engine(scenario: "bank:abandon", listens: false, change: Self.bank)
      .pay(try world.payment("A"))
    let id = try #require(try world.latest()?.attempt?.id)
    // Without the id, any page could claim this.
    let other = try world.engine(scenario: "bank:abandon", listens: false) { options, _ in
      options.returnURL = "app://back?error=tl_hpp_cancel"
    }.confirm(try world.latest(), handle: "A", amount: nil)
    #expect(other.status == .requiresAction)
    let report = try world.engine(scenario: "bank:abandon") { options, _ in
      options.returnURL = "app://back?payment_id=\(id)&error=tl_hpp_cancel"
    }.confirm(try world.latest(), handle: "A", amount: nil)
    #expect(report.status == .cancelled)
    #expect(report.fault?.exitStatus == 12)
    #expect(report.result["error"] == "userCanceled")
    #expect(report.result["failure_reason"] == "canceled")
  }

  @Test func `nobody comes: 15 minutes, and it has expired`() throws {
    let world = try World()
    let start = world.clock.now
    let report = try world.engine(scenario: "bank:abandon") { options, configuration in
      Self.bank(&options, &configuration)
      // This clock's uptime gains a millisecond at each look.
      options.patience += 10_000
    }.pay(try world.payment("A"))
    #expect(report.status == .expired)
    #expect(report.fault?.exitStatus == 13)
    #expect((900_000...905_000).contains(world.clock.now - start))
  }

  /// A payer who does nothing, and an operator who presses Ctrl-C meanwhile.
  final class Impatient: RedirectListener, RedirectVisit, Interruption {
    private let answered = Mutex(false)

    var isAnswered: Bool { answered.withLock { $0 } }
    var kind: Fault.Kind? { nil }
    var descriptor: Int32? { nil }

    func acknowledge() { answered.withLock { $0 = true } }

    func listen(at address: String) throws(Fault) -> any RedirectVisit { self }

    func expect(_ name: String, _ value: String) {}

    func wait(milliseconds: Int) throws(Fault) -> String? {
      throw .stopped(by: .interrupted, underWay: "nothing was under way")
    }

    func close() {}
  }

  @Test(arguments: [Payment.Kind.payment, .mandate])
  func `Ctrl-C while the payer is awaited cancels`(_ kind: Payment.Kind) throws {
    let world = try World()
    let impatient = Impatient()
    var options = SimulatorOptions()
    try options.set(scenario: "bank:abandon", among: [SimulatedTrueLayer()])
    let simulator = try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: world.folder.path + "/simulator.db",
        clock: world.clock,
        randomness: SeededRandomness(seed: 1, label: "sim"),
        options: options,
        providers: [SimulatedTrueLayer()]
      )
    )
    let engine = world.engine(
      over: simulator,
      interruption: impatient,
      redirects: impatient,
      change: Self.bank
    )
    let order = kind == .mandate ? try world.mandate("A") : try world.payment("A")
    let report = try engine.pay(order)
    // TrueLayer cannot cancel a mandate, so its payer can continue until it expires.
    #expect(report.status == (kind == .payment ? .cancelled : .requiresAction))
    #expect(report.isFinal == (kind == .payment))
    #expect(report.fault?.exitStatus == 12)
    #expect(report.result["error"] == "userCanceled")
    #expect(impatient.isAnswered)
    guard kind == .mandate else {
      #expect(report.result["failure_reason"] == "canceled")
      return
    }
    #expect(report.fault?.message.contains("until it expires") == true)
    #expect(try world.latest("A")?.state.isFinal == false)
    // A second mandate could be authorized as well.
    let refused = #expect(throws: Fault.self) {
      try engine.pay(order, newAttempt: true)
    }
    #expect(refused?.exitStatus == 6)
    let seen = try engine.lookUp("A", known: world.latest("A"), kind: .mandate)
    #expect(seen.status == .requiresAction)
    world.clock.advance(900_000)
    let expired = try engine.lookUp("A", known: world.latest("A"), kind: .mandate)
    #expect(expired.status == .expired)
    #expect(expired.isFinal)
    #expect(try world.latest("A")?.state.isFinal == true)
  }
}
