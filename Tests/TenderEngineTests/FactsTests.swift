import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// The known facts of a payment, and the operation that undid it.
@Suite struct FactsTests {
  @Test func `has money where amount and currency are known`() {
    let priced = Outcome(
      status: .succeeded,
      amount: 100,
      currency: Currency(code: "USD"),
      result: [:]
    )
    #expect(priced.money?.text == "1.00 USD")
    #expect(priced.text(ofMinorUnits: 250) == "2.50 USD")
    let bare = Outcome(status: .succeeded, amount: 100, result: [:])
    #expect(bare.money == nil)
    #expect(bare.text(ofMinorUnits: 250) == "250 in minor units")
  }

  @Test func `reads the payer's next step, where it has a type`() {
    let next = PayerAction(JSON.object(["type": "redirect", "url": "https://bank.example/"]))
    #expect(next == PayerAction("redirect", ["url": "https://bank.example/"]))
    #expect(next?.json == ["type": "redirect", "url": "https://bank.example/"])
    #expect(PayerAction(JSON.object(["url": "x"])) == nil)
  }

  /// A reference and a provider's id, and a pattern of either.
  @Test(arguments: [
    ("ORDER-7", true), ("ORDER-*", true), ("*-7", true), ("*DER*7", true), ("*", true),
    ("O*R*7", true),
    ("pt-*", true), ("pt-1", true), ("ORDER", false), ("*-8", false), ("ORDER-7*7", false),
    ("X*", false), ("*7*R*", false), ("ORDER-?", false), ("", false),
  ])
  func `finds by a pattern`(_ pattern: String, _ fits: Bool) throws {
    var charge = Operation.charge(100, .succeeded)
    charge.id = "pt-1"
    var payment = Payment(
      key: ReferenceKey(env: .simulator, provider: ProviderName("a"), reference: "ORDER-7"),
      kind: .payment,
      merchant: "m",
      at: 0
    )
    payment.append(charge)
    var filter = PaymentFilter()
    filter.handle = pattern
    #expect(filter.lets(payment) == fits)
  }

  @Test func `finds by amount, currency and status`() throws {
    let payment = Payment.of(.charge(100, .succeeded), .refund(30, .lost))
    func lets(_ change: (inout PaymentFilter) -> Void) -> Bool {
      var filter = PaymentFilter()
      change(&filter)
      return filter.lets(payment)
    }
    #expect(lets { $0.currency = Currency(code: "USD") })
    #expect(!lets { $0.currency = Currency(code: "GBP") })
    #expect(lets { $0.amount = .init(minorUnits: 100) })
    #expect(!lets { $0.amount = .init(minorUnits: 101) })
    #expect(lets { $0.statuses = [.succeeded] })
    #expect(lets { $0.statuses = [.unknown] })
    #expect(lets { $0.statuses = [.declined, .unknown] })
    #expect(!lets { $0.statuses = [.declined] })
    #expect(lets { $0.isOpen = true })
  }
}
