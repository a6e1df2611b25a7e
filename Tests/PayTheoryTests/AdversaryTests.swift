import Foundation
import PayTheory
import PayTheorySimulator
import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import TenderWire
import Testing

/// Stored methods charged, reversed and refunded on the live path, over another side that misbehaves.
@Suite struct AdversaryTests {
  static let live = "acme-paytheory-00112233445566778899aabbccddeeff"
  /// What is never later, in milliseconds.
  static let window = 60_000

  static func classify(_ request: HTTPRequest) -> Adversary.Kind {
    let body = String(decoding: request.body, as: UTF8.self)
    if body.contains("mutation") { return .effect(isKeyed: false) }
    return body.contains("transactions(") ? .read : .other
  }

  @Test func `says nothing that the books contradict, whatever happens`() throws {
    let (problems, troubles) = try History.judge("paytheory", usually: 60) { try run($0) }
    #expect(problems == [])
    #expect(troubles > 0.3)
  }

  /// A stored payment method in the simulated world.
  private func method(_ world: World) throws -> String {
    let report = try world.engine().tokenize(
      world.tokenOrder(),
      newAttempt: false,
      idempotencyKey: nil
    )
    return try #require(report.id)
  }

  /// One reference, commands on it at random, and what they said.
  private func run(_ seed: Int) throws -> (History, standing: Int, troubles: Int) {
    let world = try World()
    let method = try method(world)
    var adversary: Adversary?
    func engine() throws -> Engine {
      try world.engine(
        env: .live,
        key: Self.live,
        exchange: { inner in
          if let adversary { return adversary }
          let made = Adversary(
            inner,
            world.clock,
            seed: seed,
            window: Self.window,
            classify: Self.classify
          )
          adversary = made
          return made
        },
        lateWindow: Self.window
      )
    }
    _ = try engine()
    let other = try #require(adversary)
    var history = History("seed \(seed)")
    let path = world.folder.path + "/simulator.db"
    func latest() throws -> Attempt? {
      try world.journal.latest(.init(env: .live, provider: PayTheoryProvider.name, reference: "A"))
    }
    func standing() throws -> Int {
      // What was given back as a whole does not stand any more.
      let charges = try LedgerAudit.charges(path: path, reference: "A")
      return charges - (try LedgerAudit.reversals(path: path, reference: "A"))
    }
    func perform(_ command: String) throws {
      let troubles = other.troubles
      let engine = try engine()
      var exit: Int32 = 0
      var status: Status?
      do throws(Fault) {
        let report = try Self.perform(command, engine, latest, method)
        exit = report.fault?.exitStatus ?? 0
        status = report.status
      } catch {
        exit = error.exitStatus
      }
      // Old enough that nothing can be late, and nothing went wrong: a question tells all.
      let sent = try latest()?.sentAt ?? 0
      let isOld = world.clock.now - sent > 16 * 60_000
      history.add(
        History.Entry(
          command: command,
          exit: exit,
          status: status,
          standing: try standing(),
          wasCalm: other.troubles == troubles && isOld
        )
      )
    }
    for _ in 0..<(4 + other.next(6)) {
      try perform(["transact", "transact", "anew", "cancel", "resume", "resume"][other.next(6)])
      world.clock.advance([1000, 5000, 20_000, 70_000, 17 * 60_000][other.next(5)])
      other.deliver()
    }
    other.calm()
    other.deliver(everything: true)
    world.clock.advance(17 * 60_000)
    try perform("resume")
    return (history, try standing(), other.troubles)
  }

  private static func perform(
    _ command: String,
    _ engine: Engine,
    _ latest: () throws -> Attempt?,
    _ method: String
  ) throws(Fault) -> Report {
    let known: Attempt?
    var order: PaymentOrder
    do {
      known = try latest()
      order = PaymentOrder(
        reference: try Reference("A"),
        amount: Money(minorUnits: 1000, currency: try #require(Currency(code: "USD"))),
        feeMode: .merchant
      )
    } catch {
      throw Fault(.internal, code: "internal", "\(error)")
    }
    order.storedMethod = method
    switch command {
    case "cancel": return try engine.cancel(known, handle: "A")
    case "resume":
      guard let known else { throw .unknownHandle("A") }
      return try engine.resume(known)
    default:
      return try engine.transact(order, newAttempt: command == "anew", idempotencyKey: nil)
    }
  }
}
