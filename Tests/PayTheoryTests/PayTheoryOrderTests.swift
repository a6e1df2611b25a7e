import PayTheory
import TenderEngine
import TenderModel
import Testing

/// The question that the operator confirms before an order.
@Suite struct PayTheoryOrderTests {
  @Test func `names what is done, how much, and under which reference`() throws {
    let dollars = try #require(Currency(code: "USD"))
    let order = PayTheoryOrder(
      reference: try Reference("A-1"),
      amount: Money(minorUnits: 1050, currency: dollars)
    )
    #expect(order.question == "charge 10.50 USD under reference A-1")
    #expect(Order.placed(order).reference?.text == "A-1")
  }
}
