import Foundation
import Synchronization
import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// Refunds of settled payments: partial, shown by the payment, and each once.
@Suite struct RefundTests {
  /// A settled payment of 20.00 GBP, and commands on it as new processes run them.
  struct Shop {
    let world: World
    let reference = "R"

    init(amount: Int = 2000) throws {
      world = try World()
      _ = try world.settled("R", amount: amount)
    }

    var payment: Payment {
      get throws { try #require(try world.latest(reference)) }
    }

    var state: PaymentState {
      get throws { try payment.state }
    }

    func refund(
      _ amount: Int?,
      _ name: String? = nil,
      key: String? = nil,
      scenario: String? = nil,
      fault: String? = nil
    ) throws -> Report {
      try world.engine(scenario: scenario, fault: fault, change: FlowTests.bank).refund(
        try world.latest(reference),
        handle: reference,
        try .test(amount, name: name),
        idempotencyKey: key
      )
    }

    func lookUp() throws -> Report {
      try world.engine(change: FlowTests.bank).lookUp(reference, known: try world.latest(reference))
    }

    func cancel() throws -> Report {
      try world.engine(change: FlowTests.bank).cancel(
        try world.latest(reference),
        handle: reference
      )
    }

    /// Waits until refunds are executed, and compares journal and books.
    func expectRefunded(_ amount: Int, count: Int) throws {
      world.clock.advance(3000)
      _ = try lookUp()
      try expectBooks(refunded: amount, refunding: 0, count: count)
    }

    /// Compares the journal with the provider's books.
    func expectBooks(refunded: Int, refunding: Int, count: Int) throws {
      let books = try world.books(reference)
      let state = try state
      #expect((books.refunded, books.refunding, books.refunds) == (refunded, refunding, count))
      #expect((state.refunded, state.refunding) == (refunded, refunding))
    }
  }

  @Test func `refunds in parts, never more than is left`() throws {
    let shop = try Shop()
    let first = try shop.refund(500)
    #expect(first.status == .succeeded)
    #expect(first.result["refund"]?["amount_in_minor"] == 500)
    #expect(first.result["refund"]?["status"] == "pending")
    try shop.expectBooks(refunded: 0, refunding: 500, count: 1)
    shop.world.clock.advance(3000)
    #expect(try shop.lookUp().status == .partiallyRefunded)
    let same = try shop.refund(500)
    #expect(same.replayed == true)
    #expect(same.status == .partiallyRefunded)
    #expect(same.result["refund"]?["id"] == first.result["refund"]?["id"])
    #expect(same.result["refund"]?["status"] == "executed")
    let other = #expect(throws: Fault.self) { _ = try shop.refund(600) }
    #expect(other?.code == "refund_needs_name")
    let tooMuch = #expect(throws: Fault.self) { _ = try shop.refund(1600, "two") }
    #expect(tooMuch?.code == "refund_exceeds")
    #expect(tooMuch?.exitStatus == 6)
    _ = try shop.refund(100, "two")
    let differs = #expect(throws: Fault.self) { _ = try shop.refund(200, "two") }
    #expect(differs?.code == "refund_differs")
    let rest = try shop.refund(nil)
    #expect(rest.result["refund"]?["amount_in_minor"] == 1400)
    shop.world.clock.advance(3000)
    let looked = try shop.lookUp()
    #expect(looked.status == .refunded)
    #expect(looked.details["refunds"]?.array?.count == 3)
    #expect(try shop.refund(nil).replayed == true)
    try shop.expectBooks(refunded: 2000, refunding: 0, count: 3)
  }

  @Test func `a refund that fails frees its name, and one that comes back is no refund`() throws {
    let shop = try Shop()
    _ = try shop.refund(100, "one", scenario: "refund:failed")
    shop.world.clock.advance(3000)
    let looked = try shop.lookUp()
    #expect(looked.status == .succeeded)
    let failed = try #require(try shop.payment.reversals.first)
    #expect(failed.state == .declined)
    #expect(failed.fault?.code == "refund_failed")
    #expect(failed.result["refund"]?["failure_reason"] == "insufficient_funds")
    let second = try shop.refund(100, "one", scenario: "refund:returned")
    #expect(second.replayed == false)
    shop.world.clock.advance(3000)
    #expect(try shop.lookUp().status == .partiallyRefunded)
    shop.world.clock.advance(2000)
    #expect(try shop.lookUp().status == .succeeded)
    #expect(try shop.payment.reversals.map(\.state) == [.declined, .returned])
    try shop.expectBooks(refunded: 0, refunding: 0, count: 0)
    #expect(try shop.state.leftToRefund == 2000)
  }

  /// One key is used for two refunds.
  @Test func `one key is for one refund`() throws {
    let shop = try Shop(amount: 1000)
    _ = try shop.refund(300, key: "KK")
    let again = #expect(throws: Fault.self) { _ = try shop.refund(300, "r2", key: "KK") }
    #expect(again?.code == "key_reused")
    #expect(again?.exitStatus == 6)
    try shop.expectBooks(refunded: 0, refunding: 300, count: 1)
    _ = try shop.refund(nil)
    try shop.expectRefunded(1000, count: 2)
  }

  /// A cancel never sends a refund that another command left unknown.
  @Test(arguments: ["close-before", "close-after"])
  func `a cancel only looks at an unknown refund`(_ fault: String) throws {
    let shop = try Shop()
    let lost = #expect(throws: Fault.self) {
      _ = try shop.refund(300, fault: "refund:" + fault)
    }
    #expect(lost?.exitStatus == 9)
    let made = try shop.world.books("R").refunds
    #expect(made == (fault == "close-after" ? 1 : 0))
    let cancelled = #expect(throws: Fault.self) { _ = try shop.cancel() }
    #expect(cancelled?.exitStatus == 9)
    #expect(cancelled?.effect == .unknown)
    #expect(try shop.world.books("R").refunds == made)
    #expect(try shop.state.isUnknown)
    // A look-up shows the payment, which was paid.
    #expect(try shop.lookUp().status == .succeeded)
    #expect(try shop.refund(300).replayed == false)
    try shop.expectRefunded(300, count: 1)
  }

  /// A paid payment stays paid while a refund is in progress.
  @Test func `a refund on its way is no pending payment`() throws {
    let shop = try Shop(amount: 1000)
    let report = try shop.refund(100)
    #expect(report.status == .succeeded)
    #expect(report.operation?.state == .processing)
    #expect(try shop.state.refunding == 100)
    var filter = PaymentFilter()
    filter.statuses = [.succeeded]
    var found: [String] = []
    try shop.world.journal.each(filter) { payment in
      found.append(payment.reference.text)
      return true
    }
    #expect(found == ["R"])
    #expect(try shop.lookUp().status == .succeeded)
    shop.world.clock.advance(3000)
    #expect(try shop.lookUp().status == .partiallyRefunded)
    let refund = try #require(try shop.payment.reversals.first)
    #expect(refund.state == .succeeded)
    #expect(refund.result["refund"]?["status"] == "executed")
    try shop.expectBooks(refunded: 100, refunding: 0, count: 1)
  }

  /// A replay writes nothing.
  @Test func `a replayed refund changes neither their order nor the history`() throws {
    let shop = try Shop()
    _ = try shop.refund(100, "r1")
    _ = try shop.refund(200, "r2")
    let before = try shop.payment
    let history = try shop.world.journal.history(of: before).count
    let replay = try shop.refund(100, "r1")
    #expect(replay.replayed == true)
    #expect(replay.operation?.name == "r1")
    let after = try shop.payment
    #expect(after.version == before.version)
    #expect(after.reversals.map(\.name) == ["r1", "r2"])
    #expect(try shop.world.journal.history(of: after).count == history)
  }

  @Test(arguments: ["close-before", "close-after", "silence-after", "http-500", "garbage"])
  func `a further refund whose answer is lost is made once`(_ fault: String) throws {
    let shop = try Shop(amount: 1000)
    _ = try shop.refund(200)
    let lost = #expect(throws: Fault.self) {
      _ = try shop.refund(300, "two", fault: "refund:" + fault)
    }
    #expect(lost?.exitStatus == 9)
    // No other refund is opened beside it.
    for (amount, name) in [(300, "three"), (400, nil), (nil, nil)] {
      let other = #expect(throws: Fault.self) { _ = try shop.refund(amount, name) }
      #expect(other?.exitStatus == 9)
    }
    let differs = #expect(throws: Fault.self) { _ = try shop.refund(400, "two") }
    #expect(differs?.code == "refund_differs")
    let found = try shop.refund(300, "two")
    #expect(found.replayed == false)
    #expect(found.result["refund"]?["amount_in_minor"] == 300)
    #expect(try shop.refund(300, "two").replayed == true)
    try shop.expectRefunded(500, count: 2)
  }

  @Test func `journal resume looks, and finishes only where it is told to`() throws {
    let shop = try Shop()
    _ = try? shop.refund(300, fault: "refund:close-before")
    let engine = try shop.world.engine(change: FlowTests.bank)
    let looked = #expect(throws: Fault.self) {
      try engine.resume(try shop.payment, finish: false, resend: false)
    }
    #expect(looked?.exitStatus == 9)
    #expect(try shop.world.books("R").refunds == 0)
    let finished = try engine.finish(try shop.payment)
    #expect(finished.operation?.state == .processing)
    try shop.expectBooks(refunded: 0, refunding: 300, count: 1)
    // After 30 days its key has expired.
    _ = try? shop.refund(100, "late", fault: "refund:close-before")
    shop.world.clock.advance(30 * 86_400_000)
    let late = #expect(throws: Fault.self) { try engine.finish(try shop.payment) }
    #expect(late?.exitStatus == 9)
    #expect(try shop.world.books("R").refunds == 1)
  }

  /// An answer about another refund decides nothing.
  @Test(arguments: [("amount_in_minor", JSON.integer(1)), ("currency", "EUR"), ("id", "other")])
  func `an answer about another refund is not taken in`(_ member: String, _ value: JSON) throws {
    let shop = try Shop()
    let engine = try shop.world.engine(change: FlowTests.bank) {
      OtherPaymentTests.Confused(inner: $0, member: member, value: value, parent: "refunds")
    }
    let fault = #expect(throws: Fault.self) {
      _ = try engine.refund(try shop.payment, handle: "R", try .test(300), idempotencyKey: nil)
    }
    #expect(fault?.exitStatus == 9)
    #expect(try shop.payment.state.isUnknown)
    // The same command with the same key gets the refund that was made.
    #expect(try shop.refund(300).operation?.amount == 300)
    try shop.expectBooks(refunded: 0, refunding: 300, count: 1)
  }

  /// A new refund may not be visible at once.
  @Test func `a refund that is seen a moment later is done`() throws {
    let shop = try Shop()
    let engine = try shop.world.engine(change: FlowTests.bank) { NotYet(inner: $0) }
    let report = try engine.refund(
      try shop.payment,
      handle: "R",
      try .test(300),
      idempotencyKey: nil
    )
    #expect(report.operation?.state == .processing)
    try shop.expectBooks(refunded: 0, refunding: 300, count: 1)
  }

  /// Answers the first look-up of a refund with not found.
  final class NotYet: HTTPExchange {
    private let inner: any HTTPExchange
    private let hasAsked = Atomic(false)

    init(inner: any HTTPExchange) { self.inner = inner }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      guard request.method == .get, request.url.contains("/refunds/"),
        !hasAsked.exchange(true, ordering: .relaxed)
      else { return try inner.send(request, permit, by: deadline) }
      return HTTPResponse(status: 404, body: Array(#"{"title":"Not Found"}"#.utf8))
    }
  }

  /// A conflict means that another request with the key is in progress. A refusal of the retry proves
  /// nothing.
  @Test(arguments: [400, 401, 403, 404, 422, 429])
  func `a refusal behind a conflict leaves a refund unknown`(_ status: Int) throws {
    let shop = try Shop()
    let engine = try shop.world.engine(change: FlowTests.bank) { AtWork(inner: $0, status: status) }
    let fault = #expect(throws: Fault.self) {
      _ = try engine.refund(try shop.payment, handle: "R", try .test(300), idempotencyKey: nil)
    }
    #expect(fault?.exitStatus == 9)
    #expect(try shop.refund(300).operation?.amount == 300)
    #expect(try shop.world.books("R").refunds == 1)
  }

  /// One refusal is one answer, so the payment is looked at before another refund is sent.
  @Test(arguments: [400, 403, 422])
  func `a refund behind one that was made and refused counts that one`(_ status: Int) throws {
    let shop = try Shop()
    let engine = try shop.world.engine(change: FlowTests.bank) { MadeAndRefused($0, status) }
    let refused = #expect(throws: Fault.self) {
      _ = try engine.refund(try shop.payment, handle: "R", try .test(300), idempotencyKey: nil)
    }
    #expect(refused?.exitStatus != 9)
    let counted = #expect(throws: Fault.self) { try shop.refund(300, "other") }
    #expect(counted?.code == "earlier_refund_resolved")
    let unnamed = #expect(throws: Fault.self) { try shop.refund(400) }
    #expect(unnamed?.code == "refund_needs_name")
    #expect(try shop.state.leftToRefund == 1700)
    #expect(try shop.world.books("R").refunds == 1)
    // A name says that it is a further one.
    shop.world.clock.advance(3000)
    #expect(try shop.refund(400, "other").operation?.amount == 400)
    #expect(try shop.world.books("R").refunds == 2)
  }

  @Test func `a refund that was made and refused is found again by its key`() throws {
    let shop = try Shop()
    let engine = try shop.world.engine(change: FlowTests.bank) { MadeAndRefused($0, 400) }
    #expect(throws: Fault.self) {
      try engine.refund(try shop.payment, handle: "R", try .test(300), idempotencyKey: nil)
    }
    #expect(try shop.refund(300).operation?.amount == 300)
    try shop.expectRefunded(300, count: 1)
  }

  /// Lists each refund twice.
  struct Twice: HTTPExchange {
    let inner: any HTTPExchange

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      var response = try inner.send(request, permit, by: deadline)
      guard request.method == .get, request.url.hasSuffix("/refunds"),
        var body = JSONReader.read(response.body)?.object, let items = body["items"]?.array
      else { return response }
      body["items"] = .array(items + items)
      response.body = Array(JSONWriter.text(.object(body)).utf8)
      return response
    }
  }

  @Test func `a refund that is listed twice counts once`() throws {
    let shop = try Shop()
    _ = try shop.refund(300)
    shop.world.clock.advance(3000)
    let looked = try shop.world.engine(change: FlowTests.bank) { Twice(inner: $0) }
      .lookUp("R", known: try shop.payment)
    #expect(looked.details["refunds"]?.array?.count == 1)
    #expect(looked.note == nil)
    try shop.expectBooks(refunded: 300, refunding: 0, count: 1)
    #expect(try shop.state.leftToRefund == 1700)
  }

  /// Executes each refund, and answers with a refusal.
  struct MadeAndRefused: HTTPExchange {
    let inner: any HTTPExchange
    let status: Int

    init(_ inner: any HTTPExchange, _ status: Int) { (self.inner, self.status) = (inner, status) }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      var response = try inner.send(request, permit, by: deadline)
      guard request.method == .post, request.url.hasSuffix("/refunds") else { return response }
      (response.status, response.body) = (status, Array(#"{"title":"No"}"#.utf8))
      return response
    }
  }

  /// Executes the request, answers first that it is in progress, and then with a refusal.
  final class AtWork: HTTPExchange {
    private let inner: any HTTPExchange
    private let status: Int
    private let hasBegun = Atomic(false)

    init(inner: any HTTPExchange, status: Int) { (self.inner, self.status) = (inner, status) }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      guard request.method == .post, request.url.hasSuffix("/refunds") else {
        return try inner.send(request, permit, by: deadline)
      }
      guard !hasBegun.exchange(true, ordering: .relaxed) else {
        try permit?.use()
        return HTTPResponse(status: status, body: Array(#"{"title":"No"}"#.utf8))
      }
      _ = try inner.send(request, permit, by: deadline)
      let conflict = ##"{"title":"Conflict","type":"e#idempotency-key-concurrency-conflict"}"##
      return HTTPResponse(status: 409, body: Array(conflict.utf8))
    }
  }
}
