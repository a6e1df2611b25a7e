import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Refunds with the card, each with a reference, as operations of their payment.
@Suite struct CardRefundTests {
  private let till = Till(Scripted(.reader))

  /// Refunds `A` by card, under another reference.
  private func refund(
    _ amount: Int,
    _ name: String,
    _ acts: Scripted.Act...,
    newAttempt: Bool = false
  ) throws -> String {
    for act in acts { till.provider.then(act) }
    let currency = try #require(Currency(code: "USD"))
    var order = TestOrder(
      reference: try Reference(name),
      amount: Money(minorUnits: amount, currency: currency)
    )
    order.refundOf = try Reference("A")
    do throws(Fault) {
      let report = try till.engine.execute(.placed(order), Engine.Options(newAttempt: newAttempt))
      guard let operation = report.operation else { return "no operation" }
      return
        ([operation.state.name.rawValue, report.replayed == true ? "replayed" : nil]
        + [report.fault?.code]).compactMap(\.self).joined(separator: ", ")
    } catch {
      return "\(error.exitStatus) \(error.code)"
    }
  }

  private func sums() throws -> [Int] {
    let state = try #require(try till.payment()?.state)
    return [state.refunded, state.refunding, state.leftToRefund]
  }

  @Test func `is one operation of its payment, and never more than is left`() throws {
    _ = try till.transact()
    #expect(try refund(400, "B") == "succeeded")
    #expect(try sums() == [400, 0, 600])
    #expect(try till.payment("B") == nil)
    #expect(try refund(700, "C") == "6 refund_exceeds")
    #expect(try refund(500, "B") == "6 refund_differs")
    #expect(try refund(600, "C") == "succeeded")
    #expect(try refund(1, "D") == "6 refund_exceeds")
    #expect(try refund(400, "B") == "succeeded, replayed")
    let payment = try #require(try till.payment())
    #expect(payment.state.status == .refunded)
    #expect(payment.operations.map(\.name) == [nil, "B", "C"])
    #expect(
      till.provider.heard() == ["send charge 1 1000", "send refund 1 400", "send refund 2 600"]
    )
  }

  @Test func `is found by its reference, and that is no handle of the whole payment`() throws {
    _ = try till.transact()
    #expect(try refund(400, "B") == "succeeded")
    let found = try till.journal.payments(matching: "B", filter: PaymentFilter())
    #expect(found.map(\.reference.text) == ["A"])
    #expect(try till.engine.lookUp("B", known: found.first).operation?.name == "B")
    for order in [Order.refund(RefundRequest()), .capture(nil)] {
      let fault = #expect(throws: Fault.self) {
        try till.engine.execute(order, on: found.first, handle: "B")
      }
      #expect(fault?.code == "nothing_to_refund")
    }
    #expect(try sums() == [400, 0, 600])
  }

  @Test func `no further refund is sent while one is unknown, and the same command finishes it`()
    throws
  {
    _ = try till.transact()
    till.provider.recovers(by: .undo)
    #expect(try refund(400, "B", .lost) == "9 no_answer")
    #expect(try sums() == [0, 400, 600])
    #expect(try till.payment()?.unknownReference == "B")
    #expect(try refund(600, "C") == "9 outcome_unknown")
    #expect(try till.refund() == "9 outcome_unknown")
    let undone = Scripted.Act.custom { _ in
      var outcome = Outcome(status: .cancelled, result: [:])
      outcome.fault = Fault(.cancelled, code: "transaction_undone", "undone")
      return outcome
    }
    #expect(try refund(400, "B", undone) == "cancelled, transaction_undone")
    #expect(try sums() == [0, 0, 1000])
    #expect(try refund(400, "B") == "cancelled, replayed, transaction_undone")
    #expect(till.provider.heard().suffix(1) == ["undo refund 1 400"])
  }

  @Test func `a declined one is repeated only as a new attempt`() throws {
    _ = try till.transact()
    #expect(try refund(400, "B", .answer(.declined)) == "declined, declined")
    #expect(try refund(400, "B") == "declined, replayed, declined")
    #expect(try sums() == [0, 0, 1000])
    #expect(try refund(400, "B", newAttempt: true) == "succeeded")
    #expect(try refund(400, "B", newAttempt: true) == "succeeded, replayed")
    #expect(try sums() == [400, 0, 600])
  }

  @Test func `a cancel by its reference undoes it alone`() throws {
    _ = try till.transact()
    #expect(try refund(400, "B") == "succeeded")
    #expect(try refund(100, "C") == "succeeded")
    for words in ["succeeded", "succeeded, replayed"] {
      till.provider.then(.answer(.cancelled))
      let found = try till.payment()
      let report = try till.engine.cancel(found, handle: "B", RefundRequest())
      #expect(report.operation?.state.name == .succeeded && report.operation?.kind == .void)
      #expect(report.operation?.parent == 2)
      #expect(report.replayed == (words != "succeeded"))
    }
    let payment = try #require(try till.payment())
    #expect(payment.state.status == .partiallyRefunded)
    #expect(
      payment.operations.map(\.state.name) == [.succeeded, .returned, .succeeded, .succeeded]
    )
    #expect(try sums() == [100, 0, 900])
    #expect(try refund(400, "B") == "returned, replayed, payment_cancelled")
    #expect(till.provider.heard().suffix(1) == ["send void 3 400"])
  }

  @Test func `what a dead process recorded is not sent, and is free again`() throws {
    _ = try till.transact()
    var payment = try #require(try till.payment())
    var dead = Operation.refund(600, .prepared, link: "B")
    dead.name = "B"
    let sequence = payment.append(dead)
    try till.journal.update(&payment, sequence, note: "begins", .power)
    #expect(try sums() == [0, 0, 1000])
    _ = try till.engine.lookUp("A", known: till.payment())
    #expect(try till.payment()?[sequence]?.state == .failed)
    #expect(try refund(700, "B") == "succeeded")
    #expect(try sums() == [700, 0, 300])
  }

  @Test func `one whose result is unknown is resolved by hand`() throws {
    _ = try till.transact()
    #expect(try refund(400, "B", .lost) == "9 no_answer")
    _ = try till.journal.resolve(
      try #require(try till.payment()),
      operation: nil,
      as: .succeeded,
      reason: "the acquirer says so",
      till.clock,
      NeverInterrupted()
    )
    #expect(try sums() == [400, 0, 600])
    #expect(try refund(400, "B") == "succeeded, replayed")
  }
}

/// Refunds with the card that version 0.2.0 recorded twice.
@Suite struct EarlierCardRefundTests {
  private let till = Till(Scripted(.reader))

  /// Records a sale of 10.00 and its refund `B` of 4.00, as version 0.2.0 did.
  private func record(_ state: Operation.State, mirrored: Operation.State) throws {
    _ = try till.transact()
    var sale = try #require(try till.payment())
    var entry = Operation.refund(400, mirrored, link: "B")
    entry.name = "B"
    let sequence = sale.append(entry)
    try till.journal.update(&sale, sequence, note: "refund B begins", .power)
    var refund = Payment(
      key: ReferenceKey(env: .simulator, provider: till.provider.name, reference: "B"),
      kind: .payment,
      merchant: "m",
      at: 0
    )
    refund.currency = Currency(code: "USD")
    var attempt = Operation.of(.refund, 400, state, link: "A").asAttempt()
    attempt.content = ["command": "transact", "amount": 400, "currency": "USD"]
    refund.append(attempt)
    _ = try till.journal.open(refund, OpeningTerms(), .power)
  }

  private func repeated() throws -> Report {
    var order = TestOrder(
      reference: try Reference("B"),
      amount: Money(minorUnits: 400, currency: try #require(Currency(code: "USD")))
    )
    order.refundOf = try Reference("A")
    return try till.engine.execute(.placed(order))
  }

  private func sums() throws -> [Int] {
    let state = try #require(try till.payment()?.state)
    return [state.refunded, state.refunding, state.leftToRefund]
  }

  @Test func `a repetition shows the result, and it counts once`() throws {
    try record(.succeeded, mirrored: .succeeded)
    let report = try repeated()
    #expect(report.replayed == true && report.reference?.text == "B" && report.status == .succeeded)
    #expect(try sums() == [400, 0, 600])
    let totals = try till.journal.totals(PaymentFilter(), by: [])
    #expect(totals.map(\.refunded) == [400])
    #expect(till.provider.heard() == ["send charge 1 1000"])
  }

  @Test func `an unknown one is finished under its reference, and its sale follows`() throws {
    let sent = Operation.State.sent(at: 0, moment: nil)
    try record(sent, mirrored: sent)
    till.provider.recovers(by: .undo)
    #expect(try till.refund() == "9 outcome_unknown")
    till.provider.then(.answer(.cancelled))
    #expect(try repeated().status == .cancelled)
    #expect(till.provider.heard().suffix(1) == ["undo refund 1 400"])
    _ = try till.engine.resume(try #require(try till.payment()), finish: true, resend: false)
    #expect(try sums() == [0, 0, 1000])
    #expect(till.provider.heard() == [])
  }

  @Test(arguments: ["A", "B"])
  func `an unknown one is resolved by hand under both names`(_ name: String) throws {
    let sent = Operation.State.sent(at: 0, moment: nil)
    try record(sent, mirrored: sent)
    _ = try till.journal.resolve(
      try #require(try till.payment(name)),
      operation: nil,
      as: .succeeded,
      reason: "the acquirer says so",
      till.clock,
      NeverInterrupted()
    )
    _ = try till.engine.resume(try #require(try till.payment()), finish: true, resend: false)
    #expect(try till.payment("B")?.state.status == .succeeded)
    #expect(try sums() == [400, 0, 600])
    #expect(till.provider.heard() == ["send charge 1 1000"])
  }
}
