import TenderEngine
import TenderModel
import Testing
import Toro

/// The question that the operator confirms before an order.
@Suite struct SaleOrderTests {
  @Test func `names what is done, how much, and under which reference`() throws {
    let yen = try #require(Currency(code: "JPY"))
    var sale = SaleOrder(
      reference: try Reference("A-1"),
      amount: Money(minorUnits: 500, currency: yen)
    )
    #expect(sale.question == "charge 500 JPY under reference A-1")
    sale.isRefund = true
    #expect(sale.question == "refund 500 JPY under reference A-1")
  }
}
