import TenderEngine
import TenderModel
import Testing
import TrueLayer

/// The question that the operator confirms before an order.
@Suite struct AuthorizationOrderTests {
  @Test func `names what is done, how much, and under which reference`() throws {
    var order = AuthorizationOrder(reference: try Reference("A-1"), kind: .payment, content: [:])
    let pounds = try #require(Currency(code: "GBP"))
    order.amount = Money(minorUnits: 1000, currency: pounds)
    #expect(order.question == "pay 10.00 GBP under reference A-1")
    order.amount = nil
    #expect(order.question == "create the mandate A-1")
    order.existingID = "0cd1b0f7"
    #expect(order.question == "go on with the payment 0cd1b0f7")
    #expect(Order.placed(order).reference?.text == "A-1")
  }
}
