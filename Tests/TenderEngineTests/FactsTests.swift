import TenderEngine
import TenderModel
import Testing

/// What is known of a payment, and what undid it.
@Suite struct FactsTests {
  private static let old = PaymentFacts(
    id: "a",
    amount: 100,
    requestedAmount: 90,
    currency: Currency(code: "USD"),
    lastFour: "1111",
    brand: "VISA"
  )

  @Test func `takes over what newer facts say, and keeps what they leave out`() {
    var facts = Self.old
    facts.take(PaymentFacts())
    #expect(facts == Self.old)
    let new = PaymentFacts(
      id: "b",
      amount: 200,
      requestedAmount: 190,
      currency: Currency(code: "GBP"),
      lastFour: "2222",
      brand: "AMEX"
    )
    facts.take(new)
    #expect(facts == new)
  }

  @Test func `has money where amount and currency are known`() {
    #expect(Self.old.money?.text == "1.00 USD")
    #expect(Self.old.text(ofMinorUnits: 250) == "2.50 USD")
    let bare = PaymentFacts(amount: 100)
    #expect(bare.money == nil)
    #expect(bare.text(ofMinorUnits: 250) == "250 in minor units")
  }

  /// The journal's text of a reversal is read as what it was, and written as it was read.
  @Test(
    arguments: [
      ([:], .released), (["is_void": true], .whole(["is_void": true])),
      (["refunds": [["amount": 5]]], .parts([Refund(["amount": 5])])),
      (["refunds": [], "more": 1], .whole(["refunds": [], "more": 1])),
    ] as [(JSONObject, Reversal)]
  )
  func `reads a reversal`(_ members: JSONObject, _ reversal: Reversal) {
    #expect(Reversal(members) == reversal)
    #expect(reversal.members == members)
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
    var attempt = Attempt(
      key: .init(
        env: .simulator,
        provider: ProviderName("a"),
        reference: Reference(stored: "ORDER-7")
      ),
      number: 1,
      operation: .transact,
      merchant: "m",
      content: [:],
      idempotencyKey: "k",
      at: 0
    )
    attempt.facts.id = "pt-1"
    var filter = AttemptFilter()
    filter.handle = pattern
    #expect(filter.lets(attempt) == fits)
  }

  @Test func `finds by amount and currency`() throws {
    var attempt = Attempt(
      key: .init(env: .simulator, provider: ProviderName("a"), reference: Reference(stored: "A")),
      number: 1,
      operation: .transact,
      merchant: "m",
      content: [:],
      idempotencyKey: "k",
      at: 0
    )
    attempt.facts = Self.old
    var filter = AttemptFilter()
    filter.currency = Currency(code: "USD")
    #expect(filter.lets(attempt))
    filter.amount = 100
    #expect(filter.lets(attempt))
    filter.amount = 101
    #expect(!filter.lets(attempt))
    filter.amount = nil
    filter.currency = Currency(code: "GBP")
    #expect(!filter.lets(attempt))
  }
}
