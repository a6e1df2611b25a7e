import Synchronization
import TenderEngine
import TenderModel
import Testing

/// The checks of an order before it is recorded.
@Suite struct OrderTests {
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
    var options = Engine.Options()
    options.isLookedUp = true
    let fault = #expect(throws: Fault.self) {
      try till.engine.checked(.capture(nil), on: held, handle: "A", options)
    }
    #expect(fault?.code == "credentials_missing")
  }
}
