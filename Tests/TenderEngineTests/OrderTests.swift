import Synchronization
import TenderEngine
import TenderModel
import Testing

/// The question that the operator confirms before an order.
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

  @Test func `an order that lacks something leaves no trace, and shows what was recorded`() throws {
    let till = Till(Scripted())
    func lack(_ isLacking: Bool) {
      let fault = Fault(.auth, code: "credentials_missing", "there are none")
      till.provider.script.withLock { $0.lack = isLacking ? fault : nil }
    }
    lack(true)
    #expect(try till.transact() == "4 credentials_missing")
    #expect(try till.payment() == nil)
    lack(false)
    #expect(try till.transact() == "succeeded")
    lack(true)
    #expect(try till.transact() == "succeeded, replayed")
    #expect(try till.refund() == "4 credentials_missing")
    #expect(try till.payment()?.operations.count == 1)
    #expect(till.provider.heard() == ["send charge 1 1000"])
  }

  @Test func `an order against the provider's rules is not recorded`() throws {
    let till = Till(Scripted())
    till.provider.script.withLock { $0.rule = Fault(.usage, code: "bad_amount", "too much") }
    #expect(try till.transact() == "2 bad_amount")
    #expect(try till.payment() == nil)
    #expect(till.provider.heard() == [])
  }

  @Test func `a look-up afterwards is asked for before anything is sent`() throws {
    let till = Till(Scripted())
    _ = try till.transact(hold: true)
    till.provider.script.withLock {
      $0.lack = Fault(.auth, code: "credentials_missing", "there are none")
    }
    let held = try till.payment()
    let fault = #expect(throws: Fault.self) {
      try till.engine.checked(.capture(nil), on: held, handle: "A", .init(isLookedUp: true))
    }
    #expect(fault?.code == "credentials_missing")
  }
}
