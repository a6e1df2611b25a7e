import PayTheory
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// What others gave back of a charge whose answer was lost, before the first look at it.
@Suite struct LostThenTests {
  enum Way: String, Sendable, CaseIterable { case card, storedMethod, capture }

  /// Answers no look-up. A charge by card goes over the socket.
  private struct Mute: HTTPExchange {
    let inner: any HTTPExchange

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      let body = String(decoding: request.body, as: UTF8.self)
      guard !body.contains("query") else {
        throw Fault(.notSent, code: "unreachable", "nobody is there")
      }
      return try inner.send(request, permit, by: deadline)
    }
  }

  /// A part of a pending charge is voided, and the rest has another id.
  @Test(arguments: Way.allCases, [(true, 300), (true, 1000), (false, 300), (false, 1000)])
  func `the first look shows all of it`(_ way: Way, _ case: (isPending: Bool, back: Int)) throws {
    let world = try World()
    let scenario = `case`.isPending ? "pending" : nil
    let order =
      way == .card
      ? try world.order(amount: 1000)
      : try world.storedOrder("A", amount: 1000, confirmation: way == .capture)
    func lost() throws -> Engine {
      try world.engine(
        fault: way == .card ? "part2:close-after" : "stored:close-after",
        scenario: scenario,
        exchange: { inner in
          if way == .card { Mute(inner: inner) } else { EvidenceTests.Deaf(inner: inner) }
        }
      )
    }
    let exit: Int32?
    if way == .capture {
      #expect(try world.engine().pay(order).status == .requiresConfirmation)
      let hold = try world.latest()
      exit =
        #expect(throws: Fault.self) {
          try lost().confirm(hold, handle: "A", amount: nil)
        }?.exitStatus
    } else {
      exit = #expect(throws: Fault.self) { try lost().pay(order) }?.exitStatus
    }
    #expect(exit == 9)
    let receipt = try #require(try world.books().receipts.first)
    try world.giveBack(`case`.back, of: receipt)
    let known = try #require(try world.latest())
    let first = try world.engine(scenario: scenario).resume(known, finish: false, resend: false)
    let second = try world.engine(scenario: scenario).lookUp("A", known: try world.latest())
    for report in [first, second] {
      let state = try #require(report.payment?.state)
      #expect(state.refunded + state.reversed == `case`.back)
      #expect(state.captured == 1000)
      let charge = report.payment?.operations.last { [.charge, .capture].contains($0.kind) }
      #expect(charge?.result["body"]?["receipt_number"]?.text == receipt)
    }
    #expect(first.status == second.status)
    #expect(first.payment?.operations.count == second.payment?.operations.count)
    let books = try world.books()
    #expect(books.charged == 1000 && books.left == 1000 - `case`.back)
  }

  /// The list of the reference has the return as a transaction whose parent is the debit.
  @Test(arguments: [nil, 300]) func `the bank's return of a debit is no refund`(_ back: Int?) throws
  {
    let world = try World()
    let account = try Instrument.bankAccount(TestInstruments.account(.success))
    _ = try world.engine(scenario: "returned:late").pay(
      world.order(amount: 1000, instrument: account)
    )
    world.clock.advance(10_000)
    if let back { _ = try world.engine().refund(world.latest(), back) }
    world.clock.advance(4 * 86_400_000)
    for _ in 0..<2 {
      let seen = try world.engine().lookUp("A", known: world.latest())
      #expect(seen.payment?.reversals.map(\.effectiveAmount) == [back].compactMap(\.self))
      let state = try #require(seen.payment?.state)
      #expect(state.refunded + state.reversed == back ?? 0)
      // The bank returns all of it, so what was refunded before is paid twice.
      #expect(state.returned == 1000)
    }
  }
}
