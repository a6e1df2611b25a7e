import Foundation
import PayTheory
import Synchronization
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Partial refunds and voids, and late effects.
@Suite struct PartTests {
  /// Loses the answer to a reversal, before or after its execution, or makes look-ups lag.
  final class Loser: HTTPExchange {
    enum Way: Sendable { case before, after }

    let inner: any HTTPExchange
    let way: Mutex<Way?>
    let reversals = Mutex<[String]>([])
    /// The answer of look-ups while they lag.
    let stale = Mutex<HTTPResponse?>(nil)

    init(_ inner: any HTTPExchange, _ way: Way?) {
      self.inner = inner
      self.way = Mutex(way)
    }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      let body = String(decoding: request.body, as: UTF8.self)
      guard body.contains("createReversal") else {
        if let stale = stale.withLock({ $0 }) { return stale }
        return try inner.send(request, permit, by: deadline)
      }
      reversals.withLock { $0.append(body) }
      switch way.withLock({ $0 }) {
      case nil: return try inner.send(request, permit, by: deadline)
      case .before:
        try permit?.use()
        throw Self.lost
      case .after:
        _ = try inner.send(request, permit, by: deadline)
        throw Self.lost
      }
    }

    static let lost = Fault(
      .providerError,
      code: "no_answer",
      "the connection broke"
    )
  }

  /// Makes a payment of 10.00. With a bank account it is pending.
  @discardableResult
  func paid(_ world: World, byBank: Bool = false) throws -> Payment {
    let account = try Instrument.bankAccount(TestInstruments.account(.success))
    _ = try world.engine().pay(world.order(amount: 1000, instrument: byBank ? account : nil))
    return try #require(try world.latest())
  }

  func refund(
    _ world: World,
    _ amount: Int?,
    name: String? = nil,
    over exchange: (any HTTPExchange) -> any HTTPExchange = { $0 }
  ) throws(Fault) -> Report {
    let engine: Engine
    let payment: Payment?
    do {
      engine = try world.engine(exchange: exchange)
      payment = try world.latest()
    } catch {
      throw Fault(.internal, code: "internal", "\(error)")
    }
    return try engine.refund(payment, amount, name: name)
  }

  @Test func `refunds parts, each once, and never more than was paid`() throws {
    let world = try World()
    try paid(world)
    let first = try refund(world, 300)
    #expect(first.status == .partiallyRefunded)
    #expect(first.result["reversal"]?["is_void"] == false)
    #expect(first.result["reversal"]?["transaction_id"]?.text?.hasSuffix(":R1") == true)
    let again = try refund(world, 300)
    #expect(again.replayed == true)
    #expect(again.result == first.result)
    #expect(try world.books().refunded == 300)
    // Another amount is another refund and needs a name.
    for (amount, name, code) in [
      (400, nil, "refund_needs_name"), (800, "second", "refund_exceeds"),
    ] as [(Int, String?, String)] {
      let fault = #expect(throws: Fault.self) { try refund(world, amount, name: name) }
      #expect(fault?.code == code)
    }
    #expect(try refund(world, 400, name: "second").status == .partiallyRefunded)
    #expect(try refund(world, 400, name: "second").replayed == true)
    #expect(try refund(world, nil).status == .refunded)
    #expect(try world.books().refunded == 1000)
    let fault = #expect(throws: Fault.self) { try refund(world, 1, name: "more") }
    #expect(fault?.code == "refund_exceeds")
    #expect(try world.books().refunded == 1000)
  }

  /// The way back to the first transaction is not followed for ever. The refund does not need its end.
  @Test func `refunds what is left after many voids of a part`() throws {
    let world = try World()
    try paid(world, byBank: true)
    for part in 1...22 { _ = try refund(world, 10, name: "part \(part)") }
    #expect(try refund(world, 30, name: "more").status == .partiallyRefunded)
    #expect(try refund(world, nil).payment?.state.leftToRefund == 0)
    #expect(try world.latest()?.state.isUnknown == false)
  }

  @Test func `refunds nothing in another currency`() throws {
    let world = try World()
    try paid(world)
    let fault = #expect(throws: Fault.self) {
      try world.engine().refund(
        try world.latest(),
        handle: "A",
        .test(400, "JPY"),
        idempotencyKey: nil
      )
    }
    #expect(fault?.code == "bad_currency")
    #expect(try world.books().refunded == 0)
  }

  @Test func `has nothing to refund of what never happened`() throws {
    let world = try World()
    _ = try? world.engine(fault: "token:close-before").pay(world.order())
    #expect(try world.latest()?.isFree == true)
    let fault = #expect(throws: Fault.self) { try refund(world, 300) }
    #expect(fault?.code == "nothing_to_refund")
    #expect(fault?.exitStatus == 6)
  }

  @Test func `resolved by hand, a lost part counts and is not refunded again`() throws {
    let world = try World()
    try paid(world)
    _ = try? refund(world, 300) { Loser($0, .before) }
    let lost = try #require(try world.latest())
    #expect(lost.state.refunding == 300)
    let resolved = try world.journal.resolve(
      lost,
      operation: nil,
      as: .refunded,
      reason: "on the statement",
      world.clock,
      NeverInterrupted()
    )
    #expect(resolved.state.status == .partiallyRefunded)
    #expect(try refund(world, 300).replayed == true)
    let above = #expect(throws: Fault.self) { try refund(world, 800, name: "more") }
    #expect(above?.code == "refund_exceeds")
    #expect(try world.books().refunded == 0)
  }

  @Test func `does not refund again what was refunded elsewhere`() throws {
    let world = try World()
    let payment = try paid(world)
    try world.giveBack(800, of: try #require(payment.state.id))
    let fault = #expect(throws: Fault.self) { try refund(world, 300) }
    #expect(fault?.code == "refunded_elsewhere")
    #expect(fault?.message.contains("8.00 USD") == true)
    #expect(
      fault?.result?["refunds"]?.array?.compactMap { $0["id"]?.text } == [
        "\(try #require(payment.state.id)):R1"
      ]
    )
    #expect(try world.books().refunded == 800)
  }

  @Test func `a part whose answer is lost is found at once, and refunded once`() throws {
    let world = try World()
    try paid(world)
    let report = try refund(world, 300) { Loser($0, .after) }
    #expect(report.status == .partiallyRefunded)
    #expect(report.operation?.id?.hasSuffix(":R1") == true)
    #expect(try refund(world, 300).replayed == true)
    #expect(try world.books().refunded == 300)
  }

  /// A request without a key is never sent again because a look-up lacks it.
  @Test func `a part that did not arrive is sent again by hand alone`() throws {
    let world = try World()
    try paid(world)
    let lost = #expect(throws: Fault.self) { try refund(world, 300) { Loser($0, .before) } }
    #expect(lost?.exitStatus == 9)
    for pause in [0, 30_000, 16 * 60_000] {
      world.clock.advance(pause)
      let same = #expect(throws: Fault.self) { try refund(world, 300) }
      #expect(same?.exitStatus == 9)
      let other = #expect(throws: Fault.self) { try refund(world, 400, name: "other") }
      #expect(other?.exitStatus == 9)
      let finished = #expect(throws: Fault.self) {
        try world.engine().resume(try #require(try world.latest()), finish: true, resend: false)
      }
      #expect(finished?.exitStatus == 9)
    }
    #expect(try world.books().refunded == 0)
    #expect(try world.latest()?.state.status == .succeeded)
    let sent = try world.engine().resume(
      try #require(try world.latest()),
      finish: true,
      resend: true
    )
    #expect(sent.status == .partiallyRefunded)
    #expect(try world.books().refunded == 300)
    #expect(try refund(world, 300).replayed == true)
    #expect(try world.books().refunded == 300)
  }

  /// Changes the refunded amount in look-ups.
  private func forgetful(_ inner: any HTTPExchange, _ said: String) -> Altered {
    Altered(inner) { _, response in
      response.text = response.text.replacing(#/"refunded_amount":[0-9]+/#, with: said)
    }
  }

  @Test(arguments: [
    #""x":1"#, #""refunded_amount":-5"#, #""refunded_amount":9223372036854775807"#,
    #""refunded_amount":"much""#,
  ])
  func `what a look-up does not say is not nothing`(_ said: String) throws {
    let world = try World()
    try paid(world)
    _ = try? refund(world, 300) { Loser($0, .before) }
    world.clock.advance(61_000)
    let fault = #expect(throws: Fault.self) {
      try refund(world, 300) { forgetful($0, said) }
    }
    #expect(fault?.exitStatus == 9)
    #expect(try world.latest()?.state.isUnknown == true)
    // A first part is not sent either if the refundable amount is not known.
    let other = try World()
    try paid(other)
    let unsent = #expect(throws: Fault.self) {
      try refund(other, 300) { forgetful($0, said) }
    }
    #expect(unsent?.exitStatus == 11)
    #expect(try other.books().refunded == 0)
  }

  /// A lagging look-up shows no refund, although everything was refunded.
  @Test func `a whole reversal is not repeated because a look-up is behind`() throws {
    let world = try World()
    let payment = try paid(world)
    let stale = try world.engine().lookUp("A", known: payment).result["transaction"] ?? .null
    let old = HTTPResponse(
      status: 200,
      body: Array(
        JSONWriter.text(["data": ["transactions": ["items": .array([stale])]]]).utf8
      )
    )
    var loser: Loser?
    func cancel(after milliseconds: Int) throws -> Fault? {
      world.clock.advance(milliseconds)
      let engine = try world.engine(exchange: {
        let made = Loser($0, .after)
        made.stale.withLock { $0 = old }
        loser = made
        return made
      })
      do throws(Fault) {
        _ = try engine.cancel(payment, handle: "A")
        return nil
      } catch {
        return error
      }
    }
    #expect(try cancel(after: 0)?.exitStatus == 9)
    for pause in [2000, 20 * 60_000] {
      #expect(try cancel(after: pause)?.exitStatus == 9)
      #expect(loser?.reversals.withLock { $0 }.isEmpty == true)
    }
    // The look-up is up to date now.
    let found = try world.engine().cancel(payment, handle: "A")
    #expect(found.status == .refunded)
    #expect(try world.books().refunded == 1000)
  }

  // MARK: Partial voids

  @Test func `a void of a part goes on with the payment that takes its place`() throws {
    let world = try World()
    let first = try #require(try paid(world, byBank: true).state.id)
    let part = try refund(world, 300) { Loser($0, .after) }
    #expect(part.result["reversal"]?["is_void"] == true)
    #expect(part.operation?.kind == .void)
    #expect(part.status == .partiallyRefunded)
    let second = try #require(try world.latest()?.state.id)
    #expect(second != first)
    #expect(part.result["reversal"]?["transaction_id"]?.text == second)
    #expect(try refund(world, nil).status == .refunded)
    let left = try world.engine().lookUp(second, known: nil)
    #expect(left.status == .refunded)
    #expect(left.amount == 1000)
    let books = try world.books()
    #expect(
      [books.charged, books.voided, books.refunded, books.left] == [1000, 1000, 0, 0] as [Int]
    )
  }

  /// The whole can be voided beside a part that never arrived. Nothing tells that from the part alone, so a person
  /// does, by the command of the hint.
  @Test func `a whole void beside an unknown part ends by hand`() throws {
    let world = try World()
    let first = try #require(try paid(world, byBank: true).state.id)
    _ = try? world.engine(exchange: { Blind(Loser($0, .before)) }).refund(world.latest(), 400)
    #expect(try world.latest()?.state.isUnknown == true)
    try world.giveBack(1000, of: first)
    for finish in [false, true] {
      let known = try #require(try world.latest())
      let fault = #expect(throws: Fault.self) {
        _ = try world.engine().resume(known, finish: finish, resend: finish)
      }
      #expect(fault?.exitStatus == 9)
    }
    let fault = #expect(throws: Fault.self) { try world.engine().refund(world.latest(), 400) }
    #expect(fault?.exitStatus == 9)
    #expect(
      fault?.advice
        == "look for it at the provider; to record how it ended: tender journal resolve A --as STATUS "
        + "--reason TEXT"
    )
    _ = try world.journal.resolve(
      try #require(try world.latest()),
      operation: nil,
      as: .failed,
      reason: "in the portal",
      lateWindow: 0,
      isWatched: true,
      world.clock,
      NeverInterrupted()
    )
    #expect(try world.engine().lookUp("A", known: world.latest()).status == .cancelled)
    let state = try #require(try world.latest()?.state)
    #expect(state.captured == 1000 && state.leftToRefund == 0)
    #expect(try world.latest()?.reversals.last?.effectiveAmount == 1000)
  }

  /// A refund in the portal forbids that a lost one is sent again. The hint leads to a command that works.
  @Test func `a lost refund beside one in the portal ends by hand`() throws {
    let world = try World()
    let first = try #require(try paid(world).state.id)
    _ = try? world.engine(exchange: { Blind(Loser($0, .before)) }).refund(world.latest(), 400)
    try world.giveBack(300, of: first)
    world.clock.advance(PayTheoryProvider.traits.lateWindow)
    let known = try #require(try world.latest())
    let fault = #expect(throws: Fault.self) {
      _ = try world.engine().resume(known, finish: true, resend: true)
    }
    #expect(fault?.exitStatus == 9)
    #expect(
      fault?.message.contains("3.00 USD of 'A' was refunded") == true,
      "\(fault?.message ?? "")"
    )
    #expect(
      fault?.advice?.contains("tender journal resolve A --as") == true,
      "\(fault?.advice ?? "")"
    )
    #expect(try world.books().refunded == 300)
  }

  /// The replacement is recognized by its amount and parent.
  @Test(arguments: [nil, 200] as [Int?])
  func `a second void whose answer is lost is found out`(_ second: Int?) throws {
    let world = try World()
    try paid(world, byBank: true)
    #expect(try refund(world, 400, name: "one").status == .partiallyRefunded)
    // The answer is lost, and no look-up is possible at once. The next command finds it.
    _ = try? world.engine(credentials: true, exchange: { Blind(Loser($0, .after)) })
      .refund(world.latest(), second, name: "two")
    #expect(try world.latest()?.state.isUnknown == true)
    let found = try world.engine().refund(world.latest(), second, name: "two")
    #expect(found.status == (second == nil ? .refunded : .partiallyRefunded))
    #expect(found.replayed == false)
    #expect(try world.latest()?.state.refunded == 400 + (second ?? 600))
    #expect(try world.books().voided == 400 + (second ?? 600))
    #expect(try world.latest()?.state.isUnknown == false)
    // The rest is requested with the new id.
    if second != nil {
      #expect(try refund(world, nil).status == .refunded)
      #expect(try world.books().left == 0)
    }
  }

  /// It is not public whether a replacement names its parent. Without one it is another charge, and only a person
  /// can tell what the void did.
  @Test(arguments: [false, true])
  func `a void whose replacement has no parent is left unknown`(_ isLost: Bool) throws {
    let world = try World()
    try paid(world, byBank: true)
    for _ in 1...2 {
      let fault = #expect(throws: Fault.self) {
        try world.engine(exchange: { orphaned(isLost ? Loser($0, .after) : $0) })
          .refund(world.latest(), 300, name: "one")
      }
      #expect(fault?.exitStatus == 9)
      world.clock.advance(20 * 60_000)
    }
    #expect(try world.books().left == 700)
    #expect(try world.latest()?.state.refunding == 300)
  }

  /// Removes the parent from answers, and finds nothing by parent.
  private func orphaned(_ inner: any HTTPExchange) -> Altered {
    Altered(inner) { request, response in
      if request.contains(#"key: \"parent_id\""#) {
        response.alterTransactions { _ in [] }
      } else {
        response.text = response.text.replacing(
          #/"parent_id":"[^"]*"/#,
          with: #""parent_id":null"#
        )
      }
    }
  }

  /// Hides the sum of refunds and the refunds themselves, and says a status.
  private func summless(_ inner: any HTTPExchange, _ status: String) -> Altered {
    Altered(inner) { _, response in
      response.alterTransactions { items in
        items.compactMap { item in
          guard var row = item.object, row.text("transaction_type") != "REVERSAL" else {
            return nil
          }
          (row["refunded_amount"], row["status"]) = (.null, .string(status))
          return .object(row)
        }
      }
    }
  }

  /// The status of a refund can be newer than its sum. Without the sum nobody knows what is left.
  @Test(arguments: [("PARTIALLY_REFUNDED", Int32(11)), ("REFUNDED", 6)])
  func `a refund whose sum is not shown stops another one`(_ status: String, _ exit: Int32) throws {
    let world = try World()
    let payment = try paid(world)
    try world.giveBack(400, of: try #require(payment.state.id))
    for _ in 1...2 {
      let fault = #expect(throws: Fault.self) {
        try refund(world, 400) { summless($0, status) }
      }
      #expect(fault?.exitStatus == exit, "\(fault!)")
    }
    #expect(try world.books().left == 600)
  }

  /// More went back than was paid: nobody knows what is left.
  @Test(arguments: [1001, 2000])
  func `a refunded sum above the payment stops a refund`(_ sum: Int) throws {
    let world = try World()
    _ = try paid(world)
    for amount in [nil, 300] {
      let fault = #expect(throws: Fault.self) {
        try refund(world, amount) { inner in
          Altered(inner) { _, response in
            response.alterTransactions { items in
              items.compactMap(\.object).map { row in
                var row = row
                row["refunded_amount"] = .integer(sum)
                return JSON.object(row)
              }
            }
          }
        }
      }
      #expect(fault?.exitStatus == 11)
    }
    #expect(try world.books().left == 1000)
  }

  /// A reversal in another currency is about other money.
  @Test(arguments: ["EUR", "USD"])
  func `a reversal explains a lost refund of its own currency`(_ currency: String) throws {
    let world = try World()
    let payment = try paid(world)
    #expect(throws: Fault.self) { try refund(world, 400) { Loser($0, .before) } }
    try world.giveBack(400, of: try #require(payment.state.id))
    let seen = try world.engine(exchange: { inner in
      Altered(inner) { _, response in
        response.alterTransactions { items in
          items.map { item in
            guard var row = item.object else { return item }
            if row.text("transaction_type") == "REVERSAL" {
              row["currency"] = .string(currency)
            } else {
              (row["refunded_amount"], row["status"]) = (0, "SUCCEEDED")
            }
            return .object(row)
          }
        }
      }
    }).lookUp("A", known: world.latest())
    #expect((seen.payment?.state.refunding == 400) == (currency == "EUR"))
  }

  /// A payment that nothing can name may be the one that was asked for.
  @Test func `a payment without an id in the list stops a refund`() throws {
    let world = try World()
    _ = try paid(world)
    let fault = #expect(throws: Fault.self) {
      try refund(world, 400) { inner in
        Altered(inner) { request, response in
          guard request.contains(#"key: \"reference\""#) else { return }
          response.alterTransactions { items in
            let nameless = items.compactMap(\.object).map { row in
              var row = row
              row["transaction_id"] = .null
              return JSON.object(row)
            }
            return items + nameless
          }
        }
      }
    }
    #expect(fault?.exitStatus == 11)
    #expect(try world.books().left == 1000)
  }

  /// Refuses every request after a reversal.
  private final class Blind: HTTPExchange {
    private let inner: any HTTPExchange
    private let isBlind = Mutex(false)

    init(_ inner: any HTTPExchange) { self.inner = inner }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      if isBlind.withLock({ $0 }) { throw Loser.lost }
      if String(decoding: request.body, as: UTF8.self).contains("createReversal") {
        isBlind.withLock { $0 = true }
      }
      return try inner.send(request, permit, by: deadline)
    }
  }

  /// Every view agrees with the provider's books.
  @Test func `after a void of a part all views show one payment`() throws {
    let world = try World()
    _ = try world.engine(scenario: "pending").pay(world.order(amount: 500))
    _ = try world.engine(scenario: "pending").refund(world.latest(), 200)
    func check(_ report: Report, _ place: String) {
      #expect(report.status == .partiallyRefunded, "\(place)")
      #expect(report.amount == 500, "\(place)")
      let state = report.payment?.state
      #expect(state == nil || state?.captured == 500 && state?.refunded == 200, "\(place)")
    }
    for settled in [false, true, true] {
      if settled { world.clock.advance(6000) }
      let engine = try world.engine()
      let known = try #require(try world.latest())
      check(Report(known, known.attempt, replayed: nil), "journal")
      check(try engine.lookUp("A", known: known), "payment-status")
      for id in [known.attempt?.id, known.state.id] {
        check(try engine.lookUp(id ?? "", known: nil), "payment-status of an id")
      }
      let search = try #require(engine.provider.search)
      for filter in [PaymentFilter(), Self.filter(.partiallyRefunded), Self.filter(amount: 500)] {
        let found = try search.find(filter, limit: 50).found
        #expect(found.count == 1)
        let outcome = try #require(found.first)
        #expect(outcome.status == .partiallyRefunded)
        #expect(outcome.amount == 500)
        #expect(outcome.refundedAmount == 200)
        let known = try #require(try world.latest())
        let recorded = try engine.take(outcome, of: known)
        check(recorded, "find --online")
      }
      for filter in [Self.filter(.cancelled), Self.filter(.pending), Self.filter(amount: 300)] {
        #expect(try search.find(filter, limit: 50).found.isEmpty)
      }
      let shown = try engine.lookUp("A", known: world.latest()).result["transaction"]
      #expect(shown?["gross_amount"] == 300)
      // The merchant gets the rest without its fee.
      #expect(shown?["net_amount"] == 261)
      let books = try world.books()
      #expect(
        [books.charged, books.voided, books.left, books.gross] == [500, 200, 300, 300] as [Int]
      )
    }
    #expect(try world.latest()?.state.warning == nil)
  }

  private static func filter(_ status: Status? = nil, amount: Int? = nil) -> PaymentFilter {
    var filter = PaymentFilter()
    if let status { filter.statuses = [status] }
    filter.amount = amount.map { .init(minorUnits: $0) }
    return filter
  }

  @Test func `a void elsewhere is not taken for this refund's`() throws {
    let world = try World()
    let payment = try paid(world, byBank: true)
    _ = try? refund(world, 300) { Loser($0, .before) }
    #expect(try world.latest()?.state.isUnknown == true)
    try world.giveBack(500, of: try #require(payment.state.id))
    let still = #expect(throws: Fault.self) { try refund(world, 300) }
    #expect(still?.exitStatus == 9)
    let known = try #require(try world.latest())
    #expect(known.state.refunding == 300)
    #expect(known.refundsElsewhere.map(\.effectiveAmount) == [500])
  }
}
