import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Card refunds with separate references, as the original payment counts them.
@Suite struct LinkTests {
  private let till = Till(Scripted(.keyless))

  /// Refunds `A` by card, under another reference.
  private func refund(
    _ amount: Int,
    _ name: String,
    _ acts: Scripted.Act...,
    newAttempt: Bool = false
  ) throws -> String {
    for act in acts { till.provider.then(act) }
    let currency = try #require(Currency(code: "USD"))
    var order = SaleOrder(
      reference: try Reference(name),
      amount: Money(minorUnits: amount, currency: currency)
    )
    order.isRefund = true
    order.originalReference = try Reference("A")
    do throws(Fault) {
      return try till.engine.execute(.sale(order), Engine.Options(newAttempt: newAttempt)).status
        .rawValue
    } catch {
      return "\(error.exitStatus) \(error.code)"
    }
  }

  private func original() throws -> [Int] {
    let state = try #require(try till.payment()?.state)
    return [state.refunded, state.refunding, state.leftToRefund]
  }

  @Test func `counts at the original, and never more than is left`() throws {
    _ = try till.transact()
    #expect(try refund(400, "B") == "succeeded")
    #expect(try original() == [400, 0, 600])
    #expect(try refund(700, "C") == "6 refund_exceeds")
    #expect(try till.payment("C")?.state.status == .failed)
    #expect(try refund(600, "C") == "succeeded")
    #expect(try refund(1, "D") == "6 refund_exceeds")
    #expect(try till.payment()?.state.status == .refunded)
    #expect(try refund(400, "B") == "succeeded")
    #expect(try original() == [1000, 0, 0])
  }

  @Test func `counts one whose answer was lost as being refunded`() throws {
    _ = try till.transact()
    till.provider.recovers(by: .undo)
    #expect(try refund(400, "B", .lost) == "9 no_answer")
    #expect(try original() == [0, 400, 600])
    #expect(try refund(700, "C") == "6 refund_exceeds")
    #expect(try refund(400, "B", .answer(.cancelled)) == "cancelled")
    #expect(try original() == [0, 0, 1000])
  }

  @Test func `does not count one that was declined, or undone later`() throws {
    _ = try till.transact()
    #expect(try refund(400, "B", .answer(.declined)) == "declined")
    #expect(try original() == [0, 0, 1000])
    #expect(try refund(400, "B", newAttempt: true) == "succeeded")
    #expect(try original() == [400, 0, 600])
    till.provider.then(.answer(.cancelled))
    #expect(try till.cancel(nil, "B") == "cancelled, void 1: succeeded")
    #expect(try till.payment("B")?.state.refunded == 0)
    #expect(try original() == [0, 0, 1000])
  }

  /// A process was killed between the reservation and the request.
  @Test func `counts one whose process died once, when it is made again`() throws {
    _ = try till.transact()
    let memory = till.journal
    let dying = Till(
      till.provider,
      journal: FailingJournal(memory) { payment, note in
        payment.reference == "B" && note != "opened"
      }
    )
    let currency = try #require(Currency(code: "USD"))
    var order = SaleOrder(
      reference: try Reference("B"),
      amount: Money(minorUnits: 600, currency: currency)
    )
    order.isRefund = true
    order.originalReference = try Reference("A")
    _ = try? dying.engine.execute(.sale(order))
    #expect(try till.payment("B")?.attempt?.state == .prepared)
    #expect(try refund(600, "B") == "succeeded")
    #expect(try original() == [600, 0, 400])
    #expect(try refund(400, "C") == "succeeded")
    #expect(try till.payment()?.state.status == .refunded)
  }

  /// Leaves a sale whose refund `B` of 6.00 was reserved by a process that died before it sent anything.
  private func leaveDeadRefund(_ till: Till<Scripted>) throws {
    var payment = try #require(try till.payment())
    let reserved = payment.append(.refund(600, .prepared, link: "B"))
    try till.journal.update(&payment, reserved, note: "refund B begins", .power)
    var dead = Payment(
      key: ReferenceKey(env: .simulator, provider: till.provider.name, reference: "B"),
      kind: .payment,
      merchant: "m",
      at: 0
    )
    var attempt = Operation.of(.refund, 600, .prepared, link: "A").asAttempt()
    attempt.content["type"] = "refund"
    dead.append(attempt)
    _ = try till.journal.open(dead, OpeningTerms(), .power)
  }

  @Test func `frees what a dead process had reserved`() throws {
    _ = try till.transact()
    try leaveDeadRefund(till)
    #expect(try original() == [0, 600, 400])
    #expect(try till.refund(700) == "partially_refunded, refund 2: succeeded")
    #expect(try original() == [700, 0, 300])
  }

  /// A look at the sale updates its refunds, even if no provider can be asked.
  @Test func `a look shows that a dead process refunds nothing`() throws {
    var traits = Traits.keyless
    traits.canLookUp = false
    let till = Till(Scripted(traits))
    _ = try till.transact()
    try leaveDeadRefund(till)
    #expect(try till.payment()?.state.refunding == 600)
    let shown = try till.engine.lookUp("A", known: till.payment())
    #expect(shown.payment?.state.refunding == 0)
    #expect(try till.payment()?.state.leftToRefund == 1000)
  }

  @Test func `follows one that is resolved by hand`() throws {
    _ = try till.transact()
    #expect(try refund(400, "B", .answer(.pending)) == "pending")
    #expect(try original() == [0, 400, 600])
    let found = try #require(try till.payment("B"))
    func resolve(isWatched: Bool) throws(Fault) {
      _ = try till.journal.resolve(
        found,
        operation: nil,
        as: .failed,
        reason: "the acquirer says so",
        isWatched: isWatched,
        till.clock,
        NeverInterrupted()
      )
    }
    // The provider accepted it, and can be asked how it ends: it would act beside its repetition.
    let refused = #expect(throws: Fault.self) { try resolve(isWatched: true) }
    #expect(refused?.code == "may_still_appear")
    #expect(try original() == [0, 400, 600])
    try resolve(isWatched: false)
    #expect(try till.refund() == "refunded, refund 2: succeeded")
    #expect(try original() == [1000, 0, 0])
  }

  private func resolve(_ payment: Payment?) throws {
    _ = try till.journal.resolve(
      try #require(payment),
      operation: nil,
      as: .succeeded,
      reason: "the acquirer says so",
      till.clock,
      NeverInterrupted()
    )
  }

  @Test(arguments: ["A", "B"])
  func `one whose answer was lost has its own name, and one result`(_ name: String) throws {
    _ = try till.transact()
    till.provider.recovers(by: .undo)
    #expect(try refund(400, "B", .lost) == "9 no_answer")
    #expect(try till.payment("A")?.unknownReference == "B")
    #expect(try till.payment("B")?.unknownReference == "B")
    try resolve(try till.payment(name))
    #expect(try till.payment("B")?.state.status == .succeeded)
    for name in ["A", "B"] {
      let known = try #require(try till.payment(name))
      _ = try till.engine.resume(known, finish: true, resend: false)
    }
    #expect(try till.payment("B")?.state.status == .succeeded)
    #expect(try original() == [400, 0, 600])
  }

  /// The refund itself is finished, not its entry at the sale.
  @Test func `finishing the sale leaves one whose answer was lost`() throws {
    _ = try till.transact()
    till.provider.recovers(by: .undo)
    #expect(try refund(400, "B", .lost) == "9 no_answer")
    let sale = try #require(try till.payment())
    _ = try till.engine.resume(sale, finish: true, resend: false)
    #expect(try original() == [0, 400, 600])
    #expect(try till.payment("B")?.state.isUnknown == true)
  }

  /// An earlier version resolved only the entry at the sale.
  @Test func `a result of the sale alone stays while the refund is unknown`() throws {
    _ = try till.transact()
    #expect(try refund(400, "B", .lost) == "9 no_answer")
    var sale = try #require(try till.payment())
    let entry = try #require(sale.unknowns.first)
    try sale.change(entry.sequence) { operation throws(Fault) in
      try operation.move(.resolve, to: .succeeded, at: 0)
    }
    try till.journal.update(&sale, entry.sequence, note: "resolved", .power)
    let known = try #require(try till.payment())
    _ = try till.engine.resume(known, finish: false, resend: false)
    #expect(try original() == [400, 0, 600])
  }
}
