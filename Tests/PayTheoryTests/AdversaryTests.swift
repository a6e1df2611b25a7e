import Foundation
import PayTheory
import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Charges, reversals and refunds of stored methods on the live path, over a misbehaving provider.
@Suite struct AdversaryTests {
  static let live = "acme-paytheory-00112233445566778899aabbccddeeff"
  /// The longest delay of an effect, in milliseconds.
  static let window = 60_000

  static func classify(_ request: HTTPRequest) -> Adversary.Kind {
    let body = String(decoding: request.body, as: UTF8.self)
    if body.contains("mutation") { return .effect(isKeyed: false) }
    return body.contains("transactions(") || body.contains("authorizations(") ? .read : .other
  }

  @Test(arguments: Adversary.Manner.allCases)
  func `says nothing that the books contradict, whatever happens`(
    _ manner: Adversary.Manner
  ) throws {
    let name = "paytheory, \(manner)"
    let (problems, troubles) = try History.judge(name, usually: 40) { try run($0, manner) }
    #expect(problems == [])
    #expect(troubles > 0.3)
  }

  /// Returns a stored payment method in the simulated world.
  private func method(_ world: World) throws -> String {
    let report = try world.engine().store(world.tokenOrder())
    return try #require(report.id)
  }

  /// Runs random commands on one reference, and returns their results.
  private func run(
    _ seed: Int,
    _ manner: Adversary.Manner
  ) throws -> (History, standing: Int, troubles: Int) {
    let world = try World()
    let method = try method(world)
    // With even seeds, payments are pending at first, so that a reversal is a void. Half of them are held.
    let scenario = seed % 2 == 0 ? "pending" : nil
    let isHeld = seed / 2 % 2 == 0
    var adversary: Adversary?
    func engine() throws -> Engine {
      try world.engine(
        scenario: scenario,
        env: .live,
        key: Self.live,
        exchange: { inner in
          if let adversary { return adversary }
          let made = Adversary(
            inner,
            world.clock,
            seed: seed,
            window: Self.window,
            lie: manner == .lying ? Lies.json : nil,
            lag: manner.lag,
            classify: Self.classify
          )
          adversary = made
          return made
        }
      )
    }
    _ = try engine()
    let other = try #require(adversary)
    var history = History("seed \(seed)")
    func perform(_ command: String) throws {
      let troubles = other.troubles
      let engine = try engine()
      let known = try world.latest(env: .live)
      let order = try world.storedOrder(
        "A",
        amount: 1000,
        method: method,
        confirmation: isHeld
      )
      var exit: Int32 = 0
      var status: Status?
      do throws(Fault) {
        let report = try Self.perform(command, engine, known, order, finishes: manner != .behind)
        exit = report.fault?.exitStatus ?? 0
        // While a result is unknown, the record shows that, and not the rest.
        let isUnknown = report.payment?.state.isUnknown == true
        // A pending payment was taken.
        status = isUnknown ? .unknown : report.status == .pending ? .succeeded : report.status
      } catch {
        exit = error.exitStatus
      }
      let books = try world.books()
      let unknown = try world.latest(env: .live)?.unknowns.first
      // After the late window, without faults, a look-up finds what exists. Any other request stays unknown,
      // because it has no key.
      let isOld = world.clock.now - (unknown?.state.sent?.at ?? 0) > 16 * 60_000
      let isThere =
        try unknown.map { Self.isThere($0, try world.latest(env: .live), books) } ?? true
      history.add(
        History.Entry(
          command: command,
          exit: exit,
          status: status,
          standing: books.unreversed,
          wasCalm: other.troubles == troubles && isOld && isThere
        )
      )
    }
    let commands = [
      "transact", "transact", "anew", "cancel", "resume", "resume", "confirm", "part 1", "part 2",
      "rest",
    ]
    for _ in 0..<(5 + other.next(8)) {
      try perform(commands[other.next(commands.count)])
      world.clock.advance([1000, 5000, 20_000, 70_000, 17 * 60_000][other.next(5)])
      other.deliver()
    }
    other.calm()
    other.deliver(everything: true)
    world.clock.advance(17 * 60_000)
    try perform("resume")
    let books = try world.books()
    compare(try world.latest(env: .live), books, seed)
    return (history, books.unreversed, other.troubles)
  }

  /// Returns whether the books have more than the journal knows.
  private static func isThere(
    _ unknown: TenderEngine.Operation,
    _ payment: Payment?,
    _ books: LedgerAudit.PayTheorySums
  ) -> Bool {
    let known =
      payment?.operations.filter {
        [.succeeded, .processing, .waiting, .cancelled, .expired].contains($0.state.name)
      } ?? []
    switch unknown.kind {
    case .authorize: return books.authorized > known.count { $0.kind == .authorize }
    case .charge, .capture: return books.count > known.count { $0.kind == unknown.kind }
    case .void: return books.released > known.count { $0.kind == .void }
    default:
      let reversed = known.filter(\.isReversal).reduce(0) { $0 + $1.effectiveAmount }
      return books.voided + books.refunded > reversed
    }
  }

  /// Compares the books with the journal to the cent, if nothing is unknown.
  private func compare(
    _ payment: Payment?,
    _ books: LedgerAudit.PayTheorySums,
    _ seed: Int
  ) {
    guard let state = payment?.state, !state.isUnknown else { return }
    let left = state.status == .cancelled ? 0 : state.captured - state.refunded
    #expect(books.left == left, "seed \(seed)")
    #expect(books.gross == left, "seed \(seed)")
    #expect(state.warning == nil, "seed \(seed)")
  }

  private static func perform(
    _ command: String,
    _ engine: Engine,
    _ known: Payment?,
    _ order: PayTheoryOrder,
    finishes: Bool
  ) throws(Fault) -> Report {
    switch command {
    case "cancel": return try engine.cancel(known, handle: "A")
    case "confirm":
      let isPart = known.map { $0.createdAt % 2 == 0 } ?? false
      let part = Money(minorUnits: 700, currency: order.amount.currency)
      return try engine.confirm(known, handle: "A", amount: isPart ? part : nil)
    case "part 1": return try engine.refund(known, 300, name: "one")
    case "part 2": return try engine.refund(known, 200, name: "two")
    case "rest": return try engine.refund(known)
    case "resume":
      guard let known else { throw .unknownHandle("A") }
      return try engine.resume(known, finish: finishes, resend: false)
    default: return try engine.pay(order, newAttempt: command == "anew")
    }
  }
}
