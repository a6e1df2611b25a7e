import PayTheory
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Every success and failure in its documented shape (PayTheory/README, 4.6 to 4.11 and 8.1).
@Suite struct OutcomeTests {
  static func keys(_ object: JSONObject?) -> [String] { object?.members.map(\.key) ?? [] }

  @Test func `prints PT_CONFIRMATION and PT_COMPLETE with every documented key`() throws {
    let world = try World()
    let held = try world.engine().pay(world.order(confirmation: true))
    #expect(held.result.text("type") == "PT_CONFIRMATION")
    #expect(
      Self.keys(held.result["body"]?.object) == [
        "receipt_number", "amount", "service_fee", "brand", "first_six", "last_four",
      ]
    )
    #expect(held.result["body"]?["first_six"] == "411111")
    let done = try world.engine().confirm(world.latest(), handle: "A", amount: nil)
    #expect(done.result.text("type") == "PT_COMPLETE")
    #expect(
      Self.keys(done.result["body"]?.object) == [
        "receipt_number", "last_four", "created_at", "amount", "service_fee", "state", "metadata",
        "payor_id", "payment_method_id", "brand",
      ]
    )
    #expect(done.id == held.id)
  }

  @Test(arguments: [
    (102, "generic_decline"), (193, "insufficient_funds"), (194, "invalid_account_number"),
    (889_986, "address_verification_failed_risk_rules"), (889_987, "cvv_failed_risk_rules"),
  ])
  func `declines with the five documented properties`(_ amount: Int, _ code: String) throws {
    let world = try World()
    let report = try world.engine().pay(world.order(amount: amount))
    #expect(report.status == .declined)
    #expect(report.fault?.code == code)
    #expect(report.fault?.exitStatus == 3)
    #expect(Self.keys(report.result) == ["type", "receipt_number", "last_four", "brand", "state"])
    #expect(report.result.text("type") == code.uppercased())
    #expect(report.result.text("state") == "FAILURE")
    #expect(try world.charges() == 0)
    let again = try world.engine().pay(world.order(amount: amount))
    #expect(again.replayed == true)
    #expect(again.fault?.exitStatus == 3)
  }

  @Test func `pays by bank account, which settles with time`() throws {
    let world = try World()
    let good = try Instrument.bankAccount(TestInstruments.account(.success))
    let report = try world.engine().pay(world.order(instrument: good))
    #expect(report.status == .pending)
    #expect(report.result["body"]?["brand"] == "ACH")
    let waited = try world.engine().wait(for: report, upTo: 60_000, every: 1000) { _ in }
    #expect(waited.status == .succeeded)
    let bad = try Instrument.bankAccount(TestInstruments.account(.failure))
    let failed = try world.engine().pay(world.order("B", instrument: bad))
    #expect(failed.fault?.code == "invalid_bank_account_number")
  }

  @Test func `voids what is pending, and says so`() throws {
    let world = try World()
    let account = try Instrument.bankAccount(TestInstruments.account(.success))
    _ = try world.engine().pay(world.order(instrument: account))
    let voided = try world.engine().cancel(world.latest(), handle: "A")
    #expect(voided.status == .cancelled)
    #expect(voided.result["reversal"]?["is_void"] == true)
    #expect(voided.fault == nil)
  }

  @Test func `makes a barcode for cash`() throws {
    let world = try World()
    let payer = try CashPayer(name: "Ada", contact: "ada@example.com")
    let report = try world.engine().pay(world.order(instrument: .cash(payer)))
    #expect(report.status == .requiresAction)
    #expect(
      Self.keys(report.result["body"]?.object) == [
        "BarcodeUid", "Merchant", "barcode", "barcodeFee", "barcodeUrl", "mapUrl",
      ]
    )
    #expect(report.nextAction?.type == "barcode")
    let fault = #expect(throws: Fault.self) {
      try world.engine().cancel(world.latest(), handle: "A")
    }
    #expect(fault?.exitStatus == 15)
  }

  @Test func `tokenizes, and charges the token`() throws {
    let world = try World()
    let token = try world.engine().store(world.tokenOrder())
    #expect(
      Self.keys(token.result["body"]?.object) == [
        "payment_method_id", "payor_id", "last_four", "brand", "metadata", "expiration",
        "payment_type",
      ]
    )
    let paid = try world.engine().pay(world.storedOrder("P", method: token.id))
    #expect(paid.status == .succeeded)
    #expect(paid.result.text("type") == "PT_COMPLETE")
    #expect(try world.charges("P") == 1)
  }

  @Test func `stays unknown where a card may have been stored`() throws {
    let world = try World()
    let lost = #expect(throws: Fault.self) {
      try world.engine(fault: "tokenize:close-after").store(world.tokenOrder())
    }
    #expect(lost?.exitStatus == 9)
    let still = #expect(throws: Fault.self) { try world.engine().store(world.tokenOrder()) }
    #expect(still?.exitStatus == 9)
    // A refusal as a text is believed, because only a stored card depends on it.
    let other = try World()
    let refused = #expect(throws: Fault.self) {
      try other.engine(fault: "tokenize:error").store(other.tokenOrder())
    }
    #expect(refused?.exitStatus == 11)
    #expect(try other.engine().store(other.tokenOrder()).status == .succeeded)
  }

  @Test func `confirms nothing that was cancelled, declined or never there`() throws {
    let world = try World()
    _ = try world.engine().pay(world.order(confirmation: true))
    let cancelled = try world.engine().cancel(world.latest(), handle: "A")
    #expect(cancelled.status == .cancelled)
    #expect(cancelled.result == [:])
    #expect(try world.engine().cancel(world.latest(), handle: "A").replayed == true)
    _ = try world.engine().pay(world.order("D", amount: 193))
    for handle in ["A", "D"] {
      let fault = #expect(throws: Fault.self) {
        try world.engine().confirm(world.latest(handle), handle: handle, amount: nil)
      }
      #expect(fault?.exitStatus == 6)
      #expect(
        fault?.result?.text("type") == "NO_AUTH: There is no authorization to capture"
      )
    }
    let never = #expect(throws: Fault.self) {
      try world.engine().confirm(nil, handle: "never", amount: nil)
    }
    #expect(never?.exitStatus == 5)
    #expect(try world.charges() == 0)
  }

  /// A hold whose capture is declined has ended.
  @Test func `a hold whose capture is declined is declined`() throws {
    let world = try World()
    _ = try world.engine().pay(world.order(amount: 193, confirmation: true))
    let declined = try world.engine().confirm(world.latest(), handle: "A", amount: nil)
    #expect(declined.status == .declined)
    #expect(declined.fault?.code == "insufficient_funds")
    let again = try world.engine().pay(world.order(amount: 193, confirmation: true))
    #expect(again.replayed == true)
    #expect(again.status == .declined)
    let new = try world.engine().pay(
      world.order(amount: 193, confirmation: true),
      newAttempt: true
    )
    #expect(new.status == .requiresConfirmation)
  }

  @Test(arguments: [nil, "hold:expired"] as [String?])
  func `a hold that grew too old ends as expired`(_ scenario: String?) throws {
    let world = try World()
    _ = try world.engine().pay(world.order(confirmation: true))
    if scenario == nil {
      world.clock.advance(24 * 3_600_000 - 1)
      #expect(try world.engine().lookUp("A", known: world.latest()).status == .requiresConfirmation)
      world.clock.advance(1)
    }
    let report = try world.engine(scenario: scenario).confirm(
      world.latest(),
      handle: "A",
      amount: nil
    )
    #expect(report.fault?.exitStatus == 13)
    #expect(report.fault?.code == "hold_expired")
    #expect(report.fault?.effect == Fault.Effect.none)
    #expect(report.result.text("type") == "SESSION_EXPIRED: Socket session has expired")
    #expect(report.status == .expired)
    #expect(report.isFinal)
    #expect(try world.latest()?.attempt?.preparation == nil)
    // The same order is replayed. A new attempt holds again.
    #expect(try world.engine().pay(world.order(confirmation: true)).replayed == true)
    let new = try world.engine().pay(world.order(confirmation: true), newAttempt: true)
    #expect(new.status == .requiresConfirmation)
    #expect(try world.charges() == 0)
  }

  @Test func `a hold that grew too old can be released`() throws {
    let world = try World()
    let held = try world.engine().pay(world.order(confirmation: true))
    world.clock.advance(25 * 3_600_000)
    let cancelled = try world.engine().cancel(world.latest(), handle: "A")
    #expect(cancelled.status == .cancelled)
    #expect(cancelled.id == held.id)
  }

  @Test func `a session that closes once does not end a hold`() throws {
    let world = try World()
    _ = try world.engine().pay(world.order(confirmation: true))
    let done = try world.engine(fault: "host-token:close-before*1")
      .confirm(world.latest(), handle: "A", amount: nil)
    #expect(done.status == .succeeded)
    #expect(try world.charges() == 1)
  }

  @Test func `learns the service fee, and never charges another than was ordered`() throws {
    let world = try World()
    let held = try world.engine().pay(world.order(confirmation: true, feeMode: .service))
    // 2.9 % of 10.50 plus 30 cents, rounded half up, is the simulated merchant's fee.
    #expect(held.result["body"]?["service_fee"] == 60)
    #expect(held.amount == 1110)
    #expect(held.requestedAmount == 1050)
    let wrong = #expect(throws: Fault.self) {
      try world.engine().pay(world.order("B", feeMode: .service, fee: 50))
    }
    #expect(wrong?.exitStatus == 7)
    #expect(try world.charges("B") == 0)
    let right = try world.engine().pay(world.order("B", feeMode: .service, fee: 60))
    #expect(right.status == .succeeded)
    #expect(right.amount == 1110)
  }

  @Test func `refuses cards on the production stage before anything is sent`() throws {
    let world = try World()
    let key = "acme-paytheory-00112233445566778899aabbccddeeff"
    let fault = #expect(throws: Fault.self) {
      try world.engine(key: key).pay(world.order())
    }
    #expect(fault?.exitStatus == 4)
    #expect(fault?.code == "invalid_app")
    #expect(try world.latest() == nil)
  }

  @Test func `runs in one step where the profile says so`() throws {
    let world = try World()
    let report = try world.engine(twoStep: false).pay(world.order())
    #expect(report.status == .succeeded)
    let lost = #expect(throws: Fault.self) {
      try world.engine(
        fault: "part1:close-after",
        credentials: false,
        twoStep: false
      ).pay(world.order("B"))
    }
    #expect(lost?.exitStatus == 9)
    let found = try world.engine(twoStep: false).pay(world.order("B"))
    #expect(found.status == .succeeded)
    #expect(try world.charges("B") == 1)
  }
}
