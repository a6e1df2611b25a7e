import TenderEngine
import TenderModel
import Testing

/// What the operator confirms before an order.
@Suite struct OrderTests {
  private static func money(_ units: Int, _ code: String) throws -> Money {
    Money(minorUnits: units, currency: try #require(Currency(code: code)))
  }

  @Test func `names what is done, how much, and under which reference`() throws {
    let reference = try Reference("A-1")
    let payment = PaymentOrder(reference: reference, amount: try Self.money(1050, "USD"))
    #expect(Order.payment(payment).question == "charge 10.50 USD under reference A-1")
    func sale(isRefund: Bool) throws -> SaleOrder {
      var sale = SaleOrder(reference: reference, amount: try Self.money(500, "JPY"))
      sale.isRefund = isRefund
      return sale
    }
    #expect(
      Order.sale(try sale(isRefund: false)).question == "charge 500 JPY under reference A-1"
    )
    #expect(Order.sale(try sale(isRefund: true)).question == "refund 500 JPY under reference A-1")
    var bank = AuthorizationOrder(reference: reference, kind: .payment, content: [:])
    bank.amount = try Self.money(1000, "GBP")
    #expect(Order.authorization(bank).question == "pay 10.00 GBP under reference A-1")
    bank.amount = nil
    #expect(Order.authorization(bank).question == "create the mandate A-1")
    bank.existingID = "0cd1b0f7"
    #expect(Order.authorization(bank).question == "go on with the payment 0cd1b0f7")
    for order in [Order.payment(payment), .authorization(bank)] {
      #expect(order.reference?.text == "A-1")
    }
  }
}
