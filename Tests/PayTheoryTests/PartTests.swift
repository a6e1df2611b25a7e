import Foundation
import PayTheory
import PayTheorySimulator
import Synchronization
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import TenderWire
import Testing

/// Parts of a payment that are given back, and what is late.
@Suite struct PartTests {
  /// Loses the answer to a reversal, before or after it is done, or holds back what look-ups know.
  final class Loser: HTTPExchange {
    enum Way: Sendable { case before, after }

    let inner: any HTTPExchange
    let way: Mutex<Way?>
    let reversals = Mutex<[String]>([])
    /// What look-ups answer instead, as a server does that is behind.
    let stale = Mutex<HTTPResponse?>(nil)

    init(_ inner: any HTTPExchange, _ way: Way?) {
      self.inner = inner
      self.way = Mutex(way)
    }

    func send(_ request: HTTPRequest, by deadline: Deadline) throws(Fault) -> HTTPResponse {
      let body = String(decoding: request.body, as: UTF8.self)
      guard body.contains("createReversal") else {
        if let stale = stale.withLock({ $0 }) { return stale }
        return try inner.send(request, by: deadline)
      }
      reversals.withLock { $0.append(body) }
      switch way.withLock({ $0 }) {
      case nil: return try inner.send(request, by: deadline)
      case .before: throw Self.lost
      case .after:
        _ = try inner.send(request, by: deadline)
        throw Self.lost
      }
    }

    static let lost = Fault(
      .providerError,
      effect: .unknown,
      code: "no_answer",
      "the connection broke"
    )
  }

  func paid(_ world: World) throws -> Attempt {
    _ = try world.engine().transact(
      world.order(amount: 1000),
      newAttempt: false,
      idempotencyKey: nil
    )
    return try #require(try world.latest())
  }

  func giveBack(
    _ world: World,
    _ amount: Int?,
    name: String? = nil,
    newAttempt: Bool = false,
    window: Int = 0,
    over exchange: (any HTTPExchange) -> any HTTPExchange = { $0 }
  ) throws(Fault) -> Report {
    let engine: Engine
    let attempt: Attempt?
    do {
      engine = try world.engine(exchange: exchange, lateWindow: window)
      attempt = try world.latest()
    } catch {
      throw Fault(.internal, code: "internal", "\(error)")
    }
    return try engine.refund(
      attempt,
      handle: "A",
      try .test(amount, "USD", name: name),
      newAttempt: newAttempt,
      idempotencyKey: nil
    )
  }

  func refunded(_ world: World) throws -> Int {
    try LedgerAudit.refunded(path: world.folder.path + "/simulator.db", reference: "A")
  }

  @Test func `gives parts back, each once, and never more than was paid`() throws {
    let world = try World()
    _ = try paid(world)
    let first = try giveBack(world, 300)
    #expect(first.status == .partiallyRefunded)
    #expect(first.result["reversal"]?["is_void"] == false)
    #expect(first.result["reversal"]?["transaction_id"]?.text?.hasSuffix(":R1") == true)
    let again = try giveBack(world, 300)
    #expect(again.replayed == true)
    #expect(again.result == first.result)
    #expect(try refunded(world) == 300)
    // Another amount is another refund, which has a name of its own.
    for (amount, name, isNew, code) in [
      (400, nil, false, "refund_differs"), (400, nil, true, "bad_options"),
      (800, "second", true, "refund_exceeds"),
    ] as [(Int, String?, Bool, String)] {
      let fault = #expect(throws: Fault.self) {
        try giveBack(world, amount, name: name, newAttempt: isNew)
      }
      #expect(fault?.code == code)
    }
    let second = try giveBack(world, 400, name: "second", newAttempt: true)
    #expect(second.status == .partiallyRefunded)
    #expect(try giveBack(world, 400, name: "second", newAttempt: true).replayed == true)
    #expect(try giveBack(world, nil, name: "rest", newAttempt: true).status == .refunded)
    #expect(try refunded(world) == 1000)
    let fault = #expect(throws: Fault.self) {
      try giveBack(world, 1, name: "more", newAttempt: true)
    }
    #expect(fault?.code == "refund_exceeds")
    #expect(try refunded(world) == 1000)
  }

  /// What was made elsewhere is read before its currency is known: the engine looks once more.
  @Test func `gives nothing back in another currency`() throws {
    let world = try World()
    _ = try paid(world)
    let fault = #expect(throws: Fault.self) {
      try world.engine().refund(
        try world.latest(),
        handle: "A",
        .test(400, "JPY"),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    #expect(fault?.code == "bad_currency")
    #expect(try refunded(world) == 0)
  }

  @Test func `has nothing to give back of what never happened`() throws {
    let world = try World()
    _ = try? world.engine(fault: "token:close-before").transact(
      world.order(),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(try world.latest()?.isFreed == true)
    let fault = #expect(throws: Fault.self) { try giveBack(world, 300) }
    #expect(fault?.code == "nothing_to_cancel")
    #expect(fault?.exitStatus == 6)
  }

  @Test func `settled by hand, a lost part counts and is not given back again`() throws {
    let world = try World()
    _ = try paid(world)
    _ = try? giveBack(world, 300, window: 60_000) { Loser($0, .before) }
    let lost = try #require(try world.latest())
    #expect(lost.phase == .sent)
    let kept = try #require((lost.preparation?.plain).flatMap { JSONReader.read($0)?.object })
    #expect(kept["amount"] == 300)
    let settled = try world.journal.settle(
      lost,
      as: .partiallyRefunded,
      reason: "on the statement",
      refund: Refund(kept),
      world.clock,
      NeverInterrupted()
    )
    #expect(settled.status == .partiallyRefunded)
    #expect(try giveBack(world, 300).replayed == true)
    let above = #expect(throws: Fault.self) {
      try giveBack(world, 800, name: "more", newAttempt: true)
    }
    #expect(above?.code == "refund_exceeds")
    #expect(try refunded(world) == 0)
  }

  @Test func `does not give back again what was given back elsewhere`() throws {
    let world = try World()
    let attempt = try paid(world)
    try LedgerAudit.giveBack(
      800,
      of: try #require(attempt.id),
      in: SimulatorWorld(
        ledgerPath: world.folder.path + "/simulator.db",
        clock: world.clock,
        randomness: CountingRandomness(),
        options: SimulatorOptions(),
        providers: [SimulatedPayTheory()]
      )
    )
    let fault = #expect(throws: Fault.self) { try giveBack(world, 300) }
    #expect(fault?.code == "refund_exceeds")
    #expect(fault?.message.contains("2.00 USD are left") == true)
    #expect(try refunded(world) == 800)
  }

  @Test func `a part whose answer is lost is found at once, and given back once`() throws {
    let world = try World()
    _ = try paid(world)
    let report = try giveBack(world, 300) { Loser($0, .after) }
    #expect(report.status == .partiallyRefunded)
    #expect(try giveBack(world, 300).replayed == true)
    #expect(try refunded(world) == 300)
  }

  @Test func `a part that did not arrive stays unknown for the late window`() throws {
    let world = try World()
    _ = try paid(world)
    func lose(_ amount: Int, _ name: String?) -> Fault? {
      do throws(Fault) {
        _ = try giveBack(world, amount, name: name, window: 60_000) { Loser($0, .before) }
        return nil
      } catch {
        return error
      }
    }
    #expect(lose(300, nil)?.exitStatus == 9)
    // Looked at again before the window is over, it proves nothing, and nothing else is opened.
    world.clock.advance(30_000)
    let early = #expect(throws: Fault.self) { try giveBack(world, 300, window: 60_000) }
    #expect(early?.exitStatus == 9)
    #expect(early?.hint?.contains("--new-attempt") == false)
    let other = #expect(throws: Fault.self) {
      try giveBack(world, 400, name: "other", newAttempt: true, window: 60_000)
    }
    #expect(other?.code == "refund_differs")
    #expect(try refunded(world) == 0)
    // The wall clock says nothing about it.
    world.clock.set(forward: 86_400_000)
    let jumped = #expect(throws: Fault.self) { try giveBack(world, 300, window: 60_000) }
    #expect(jumped?.exitStatus == 9)
    world.clock.set(forward: -2 * 86_400_000)
    world.clock.advance(31_000)
    // The command that finds it out ends with that, and opens nothing.
    let absent = #expect(throws: Fault.self) { try giveBack(world, 300, window: 60_000) }
    #expect(absent?.exitStatus == 11)
    #expect(absent?.code == "refund_not_made")
    #expect(absent?.effect == Fault.Effect.none)
    #expect(try refunded(world) == 0)
    #expect(try world.latest()?.status == .succeeded)
    #expect(try giveBack(world, 300, window: 60_000).status == .partiallyRefunded)
    #expect(try refunded(world) == 300)
  }

  /// Changes what look-ups say of how much was given back.
  struct Forgetful: HTTPExchange {
    let inner: any HTTPExchange
    let said: String

    func send(_ request: HTTPRequest, by deadline: Deadline) throws(Fault) -> HTTPResponse {
      var response = try inner.send(request, by: deadline)
      let text = String(decoding: response.body, as: UTF8.self)
      response.body = Array(
        text.replacing(#/"refunded_amount":[0-9]+/#, with: said).utf8
      )
      return response
    }
  }

  @Test(arguments: [
    #""x":1"#, #""refunded_amount":-5"#, #""refunded_amount":9223372036854775807"#,
    #""refunded_amount":"much""#,
  ])
  func `what a look-up does not say is not nothing`(_ said: String) throws {
    let world = try World()
    _ = try paid(world)
    _ = try? giveBack(world, 300, window: 60_000) { Loser($0, .before) }
    world.clock.advance(61_000)
    let fault = #expect(throws: Fault.self) {
      try giveBack(world, 300, window: 60_000) { Forgetful(inner: $0, said: said) }
    }
    #expect(fault?.exitStatus == 9)
    #expect(try world.latest()?.phase == .sent)
    // Nor is a first part sent where the rest is not known.
    let other = try World()
    _ = try paid(other)
    let unsent = #expect(throws: Fault.self) {
      try giveBack(other, 300) { Forgetful(inner: $0, said: said) }
    }
    #expect(unsent?.exitStatus == 11)
    #expect(try refunded(other) == 0)
  }

  @Test func `a void of a part goes on with the payment that takes its place`() throws {
    let world = try World()
    _ = try world.engine().transact(
      world.order(amount: 1000, instrument: .bankAccount(TestInstruments.account(.success))),
      newAttempt: false,
      idempotencyKey: nil
    )
    let first = try #require(try world.latest()?.id)
    let part = try giveBack(world, 300) { Loser($0, .after) }
    #expect(part.result["reversal"]?["is_void"] == true)
    #expect(part.status == .partiallyRefunded)
    let second = try #require(try world.latest()?.id)
    #expect(second != first)
    #expect(part.result["reversal"]?["transaction_id"]?.text == second)
    let rest = try giveBack(world, nil, name: "rest", newAttempt: true)
    #expect(rest.status == .refunded)
    #expect(rest.result["reversal"]?["transaction_id"]?.text == second)
    let left = try world.engine().lookUp(second, known: nil)
    #expect(left.status == .cancelled)
    #expect(left.amount == 700)
  }

  /// A look-up that is behind says that nothing was given back, when all of it was.
  @Test func `a whole reversal is not repeated on the word of a look-up that is behind`() throws {
    let world = try World()
    let attempt = try paid(world)
    let stale = try world.engine().lookUp("A", known: attempt).result["transaction"] ?? .null
    let old = HTTPResponse(
      status: 200,
      body: Array(
        JSONWriter.text(["data": ["transactions": ["items": .array([stale])]]]).utf8
      )
    )
    var loser: Loser?
    func cancel(after milliseconds: Int) throws -> Fault? {
      world.clock.advance(milliseconds)
      let engine = try world.engine(
        exchange: {
          let made = Loser($0, .after)
          made.stale.withLock { $0 = old }
          loser = made
          return made
        },
        lateWindow: 60_000
      )
      do throws(Fault) {
        _ = try engine.cancel(attempt, handle: "A")
        return nil
      } catch {
        return error
      }
    }
    #expect(try cancel(after: 0)?.exitStatus == 9)
    for _ in 0..<2 {
      let fault = try cancel(after: 2000)
      #expect(fault?.exitStatus == 9)
      #expect(fault?.message.contains("proves nothing") == true)
      #expect(loser?.reversals.withLock { $0 }.isEmpty == true)
    }
    // The look-up has caught up.
    let found = try world.engine(lateWindow: 60_000).cancel(attempt, handle: "A")
    #expect(found.status == .refunded)
    #expect(try refunded(world) == 1000)
  }
}
