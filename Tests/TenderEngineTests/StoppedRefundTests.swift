import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// A cancel of a payment that has a refund. A person types it to stop the refund, and it would refund the rest.
@Suite struct StoppedRefundTests {
  /// A refund as it was asked for, and as it went.
  struct Earlier: Sendable, CustomTestStringConvertible {
    var amount: Int
    var name: String?
    var act: Scripted.Act?
    let testDescription: String
  }

  private static let earlier: [Earlier] = [1, 500, 999].flatMap { amount in
    [
      Earlier(amount: amount, testDescription: "\(amount)"),
      Earlier(amount: amount, name: "r", testDescription: "\(amount), named"),
      Earlier(amount: amount, act: .answer(.pending), testDescription: "\(amount), on its way"),
    ]
  }

  @Test(arguments: earlier, [1, 3])
  func `a cancel is refused, and sends nothing`(_ earlier: Earlier, _ times: Int) throws {
    let till = try RefundTests.paid()
    if let act = earlier.act { till.provider.then(act) }
    _ = try till.refund(earlier.amount, name: earlier.name)
    _ = till.provider.heard()
    let before = try till.payment()?.state
    for _ in 0..<times {
      #expect(try till.cancel() == "6 refund_not_stopped")
      #expect(till.provider.heard().allSatisfy { $0.hasPrefix("look") })
    }
    #expect(try till.payment()?.state == before)
    let left = 1000 - earlier.amount
    #expect(before?.leftToRefund == left)
    // The command of the hint refunds exactly what is left, and so does a cancel that names its amount.
    #expect(try till.refund(name: "rest").contains("refund 2"))
    #expect(try till.payment()?.state.leftToRefund == 0)
  }

  @Test func `says how the rest is refunded`() throws {
    let till = try RefundTests.paid()
    _ = try till.refund(500)
    let found = try till.payment()
    let fault = #expect(throws: Fault.self) { try till.engine.cancel(found, handle: "A") }
    #expect(fault?.message.hasPrefix("a refund cannot be stopped: ") == true)
    #expect(fault?.advice == "to refund the remaining 5.00 USD: tender refund A --rest")
  }

  @Test func `a repeated cancel replays or finishes its own refund`() throws {
    let till = try RefundTests.paid()
    #expect(try till.cancel() == "refunded, refund 1: succeeded")
    #expect(try till.cancel() == "refunded, replayed, refund 1: succeeded")
    let lost = try RefundTests.paid()
    lost.provider.then(.lost)
    #expect(try lost.cancel() == "9 no_answer")
    #expect(try lost.cancel() == "refunded, refund 1: succeeded")
    // The refund of the rest is the same request.
    let rest = try RefundTests.paid()
    _ = try rest.refund(300)
    #expect(try rest.refund() == "refunded, refund 2: succeeded")
    #expect(try rest.cancel() == "refunded, replayed, refund 2: succeeded")
  }

  @Test func `a refund that moved nothing does not stop a cancel`() throws {
    for act: Scripted.Act in [.answer(.declined), .answer(.failed)] {
      let till = try RefundTests.paid()
      till.provider.then(act)
      _ = try till.refund(300)
      #expect(try till.cancel().hasPrefix("refunded, refund 2"), "\(act)")
    }
  }

  /// Where a cancel cannot give money back, it is too late, or a refund is on its way: in the same words. A provider that
  /// cannot be asked offers no look.
  @Test(arguments: [true, false]) func `says the same at each provider`(_ canLookUp: Bool) throws {
    func traits(_ kinds: [TenderEngine.Operation.Kind]) -> Traits {
      Traits(kinds: kinds) { traits in
        (traits.takesKeys, traits.cancelsCaptured, traits.canLookUp) = (true, false, canLookUp)
      }
    }
    for amount in [300, 1000] {
      let till = try RefundTests.paid(traits(Traits.allKinds))
      _ = try till.refund(amount)
      let found = try till.payment()
      let fault = #expect(throws: Fault.self) { try till.engine.cancel(found, handle: "A") }
      #expect(fault?.code == "refund_not_stopped")
      let next =
        amount == 300
        ? "to refund the remaining 7.00 USD: tender refund A --rest"
        : "to see it: tender journal show A"
      #expect(fault?.advice == next)
    }
    let till = try RefundTests.paid(traits([.charge, .void]))
    let found = try till.payment()
    let fault = #expect(throws: Fault.self) { try till.engine.cancel(found, handle: "A") }
    #expect(fault?.code == "nothing_to_cancel")
    #expect(
      fault?.advice
        == (canLookUp
          ? "to look only: tender payment-status A" : "to see it: tender journal show A")
    )
  }

  @Test func `a cancel with an amount and a name stays`() throws {
    let till = try RefundTests.paid()
    _ = try till.refund(300, name: "r1")
    let request = try RefundRequest.test(200, "USD", name: "r2")
    let report = try till.engine.cancel(try till.payment(), handle: "A", request)
    #expect(report.operation?.effectiveAmount == 200)
  }
}

/// The largest amount that moves without a typed confirmation.
@Suite struct AmountLimitTests {
  /// The limit is that of the currency that is ordered, not that of an attempt that ended.
  @Test func `another attempt is limited in its own currency`() throws {
    let till = Till(Scripted(.keyless, .answer(.declined), .answer(.succeeded)))
    let (pounds, dollars) = (
      try #require(Currency(code: "GBP")), try #require(Currency(code: "USD"))
    )
    let reference = try Reference("A")
    var said: [String] = []
    for currency in [pounds, dollars] {
      let amount = Money(minorUnits: 1000, currency: currency)
      do throws(Fault) {
        let checked = try till.engine.checked(
          .placed(TestOrder(reference: reference, amount: amount)),
          on: nil,
          handle: "",
          Engine.Options(newAttempt: !said.isEmpty, maxAmounts: [dollars: 999])
        )
        said.append(try till.engine.execute(checked).status.rawValue)
      } catch {
        said.append("\(error.exitStatus) \(error.code)")
      }
    }
    #expect(said == ["declined", "17 amount_not_confirmed"])
  }

  private func order() throws -> Order {
    let dollars = try #require(Currency(code: "USD"))
    let amount = Money(minorUnits: 1000, currency: dollars)
    return .placed(TestOrder(reference: try Reference("A"), amount: amount))
  }

  private func run(
    _ order: Order,
    _ till: Till<Scripted>,
    most units: Int,
    approved: Bool = false
  ) throws -> String {
    let found: Payment? = if case .placed = order { nil } else { try till.payment() }
    let dollars = try #require(Currency(code: "USD"))
    do throws(Fault) {
      var checked = try till.engine.checked(
        order,
        on: found,
        handle: found == nil ? "" : "A",
        Engine.Options(newAttempt: false, maxAmounts: [dollars: units])
      )
      if approved { checked.approveAmount() }
      let report = try till.engine.execute(checked)
      return report.replayed == true ? "replayed" : report.status.rawValue
    } catch {
      return "\(error.exitStatus) \(error.code)"
    }
  }

  /// A charge of 10.00, and then a refund or a cancel of it, under every limit around the amount.
  @Test(arguments: [0, 1, 299, 300, 301, 999, 1000, 1001, 100_000])
  func `refuses more than the limit, and nothing else`(_ limit: Int) throws {
    let order = try order()
    for approved in [false, true] {
      let charged = Till(Scripted())
      let isAllowed = approved || limit >= 1000
      let said = try run(order, charged, most: limit, approved: approved)
      #expect(said == (isAllowed ? "succeeded" : "17 amount_not_confirmed"))
      #expect(charged.provider.heard().isEmpty == !isAllowed)
      // A replay moves nothing.
      if isAllowed { #expect(try run(order, charged, most: 0) == "replayed") }
      for (request, amount) in [(try RefundRequest.test(300, "USD"), 300), (RefundRequest(), 1000)]
      {
        for isCancel in [false, true] {
          let till = try RefundTests.paid()
          let reversal = isCancel ? Order.cancel(request) : .refund(request)
          let said = try run(reversal, till, most: limit, approved: approved)
          let isAllowed = approved || limit >= amount
          #expect(said.hasPrefix("17 amount_not_confirmed") == !isAllowed, "\(said)")
          #expect(till.provider.heard().contains { $0.hasPrefix("send") } == isAllowed)
        }
      }
    }
  }

  @Test func `a hold is asked about when it is made and captured, not when it is released`() throws
  {
    for limit in [999, 1000] {
      let till = Till(Scripted(.scripted, .answer(.requiresConfirmation)))
      #expect(try till.transact(hold: true) == "requires_confirmation")
      let said = try run(.capture(nil), till, most: limit)
      #expect(said == (limit == 999 ? "17 amount_not_confirmed" : "succeeded"))
      let held = Till(Scripted(.scripted, .answer(.requiresConfirmation), .answer(.cancelled)))
      _ = try held.transact(hold: true)
      #expect(try run(.cancel(), held, most: 0) == "cancelled")
    }
  }

  /// The id of a surplus charge moves as much as that of a payment.
  @Test(arguments: [999, 1000]) func `a refund of a surplus charge is limited too`(
    _ limit: Int
  ) throws {
    let till = Till(Scripted(.scripted, .answer(.declined)))
    _ = try till.transact()
    till.provider.shows(ElsewhereTests.seen(0))
    _ = try till.status()
    #expect(try till.payment()?.state.surplus == 1000)
    let dollars = try #require(Currency(code: "USD"))
    till.provider.shows(ElsewhereTests.seen(0))
    _ = till.provider.heard()
    let order = try till.engine.checked(
      .refund(RefundRequest()),
      on: try till.payment(),
      handle: "id-1",
      Engine.Options(newAttempt: false, maxAmounts: [dollars: limit])
    )
    if limit == 999 {
      let fault = #expect(throws: Fault.self) { _ = try till.engine.execute(order) }
      #expect(fault?.code == "amount_not_confirmed")
    } else {
      _ = try till.engine.execute(order)
    }
    #expect(till.provider.heard().contains { $0.hasPrefix("send") } == (limit == 1000))
  }

  @Test func `a lost charge is finished without a question`() throws {
    let till = Till(Scripted())
    let order = try order()
    till.provider.then(.lost)
    #expect(try run(order, till, most: 1000) == "9 no_answer")
    #expect(["succeeded", "replayed"].contains(try run(order, till, most: 0)))
  }
}
