import PayTheory
import PayTheorySimulator
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Every success and failure of the source document in its documented shape.
@Suite struct OutcomeTests {
  static func keys(_ object: JSONObject?) -> [String] { object?.members.map(\.key) ?? [] }

  @Test func `prints PT_CONFIRMATION and PT_COMPLETE with every documented key`() throws {
    let world = try World()
    let held = try world.engine().transact(
      world.order(confirmation: true),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(held.result.text("type") == "PT_CONFIRMATION")
    #expect(
      Self.keys(held.result["body"]?.object) == [
        "receipt_number", "amount", "service_fee", "brand", "first_six", "last_four",
      ]
    )
    #expect(held.result["body"]?["first_six"] == "411111")
    let done = try world.engine().confirm(world.latest(), handle: "A")
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
    let report = try world.engine().transact(
      world.order(amount: amount),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(report.status == .declined)
    #expect(report.fault?.code == code)
    #expect(report.fault?.exitStatus == 3)
    #expect(Self.keys(report.result) == ["type", "receipt_number", "last_four", "brand", "state"])
    #expect(report.result.text("type") == code.uppercased())
    #expect(report.result.text("state") == "FAILURE")
    #expect(try world.charges() == 0)
    let again = try world.engine().transact(
      world.order(amount: amount),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(again.replayed == true)
    #expect(again.fault?.exitStatus == 3)
  }

  @Test func `pays by bank account, which settles with time`() throws {
    let world = try World()
    let good = try Instrument.bankAccount(TestInstruments.account(.success))
    let report = try world.engine().transact(
      world.order(instrument: good),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(report.status == .pending)
    #expect(report.result["body"]?["brand"] == "ACH")
    let waited = try world.engine().wait(for: report, upTo: 60_000, every: 1000) { _ in }
    #expect(waited.status == .succeeded)
    let bad = try Instrument.bankAccount(TestInstruments.account(.failure))
    let failed = try world.engine().transact(
      world.order("B", instrument: bad),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(failed.fault?.code == "invalid_bank_account_number")
  }

  @Test func `voids what is pending, and says so`() throws {
    let world = try World()
    let account = try Instrument.bankAccount(TestInstruments.account(.success))
    _ = try world.engine().transact(
      world.order(instrument: account),
      newAttempt: false,
      idempotencyKey: nil
    )
    let voided = try world.engine().cancel(world.latest(), handle: "A")
    #expect(voided.status == .cancelled)
    #expect(voided.result["reversal"]?["is_void"] == true)
    #expect(voided.fault == nil)
  }

  @Test func `makes a barcode for cash`() throws {
    let world = try World()
    let payer = try CashPayer(name: "Ada", contact: "ada@example.com")
    let report = try world.engine().transact(
      world.order(instrument: .cash(payer)),
      newAttempt: false,
      idempotencyKey: nil
    )
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
    let token = try world.engine().tokenize(
      world.tokenOrder(),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(
      Self.keys(token.result["body"]?.object) == [
        "payment_method_id", "payor_id", "last_four", "brand", "metadata", "expiration",
        "payment_type",
      ]
    )
    var order = try world.order("P")
    order.instrument = nil
    order.storedMethod = token.id
    let paid = try world.engine().transact(order, newAttempt: false, idempotencyKey: nil)
    #expect(paid.status == .succeeded)
    #expect(paid.result.text("type") == "PT_COMPLETE")
    #expect(try world.charges("P") == 1)
    var unknown = try world.order("Q")
    unknown.instrument = nil
    unknown.storedMethod = "pt_pmt_none"
    let fault = #expect(throws: Fault.self) {
      try world.engine().transact(unknown, newAttempt: false, idempotencyKey: nil)
    }
    // It may have been refused after the effect: only a look at the books proves that it was not.
    #expect(fault?.exitStatus == 9)
    #expect(try world.latest("Q")?.phase == .sent)
    world.clock.advance(16 * 60_000)
    let found = #expect(throws: Fault.self) {
      try world.engine().transact(unknown, newAttempt: false, idempotencyKey: nil)
    }
    #expect(found?.exitStatus == 9)
    #expect(try world.latest("Q")?.number == 2)
    #expect(try world.charges("Q") == 0)
  }

  @Test func `a lost charge by token proves nothing for a quarter of an hour`() throws {
    let world = try World()
    let token = try world.engine().tokenize(
      world.tokenOrder(),
      newAttempt: false,
      idempotencyKey: nil
    )
    var order = try world.order("P")
    order.instrument = nil
    order.storedMethod = token.id
    for (fault, charges) in [("graphql:close-before", 0), ("graphql:close-after", 1)] {
      var order = order
      order.reference = try Reference("P\(charges)")
      let lost = #expect(throws: Fault.self) {
        try world.engine(fault: fault).transact(order, newAttempt: false, idempotencyKey: nil)
      }
      #expect(lost?.exitStatus == 9)
      #expect(try world.charges("P\(charges)") == charges)
      if charges == 0 {
        let early = #expect(throws: Fault.self) {
          try world.engine().transact(order, newAttempt: false, idempotencyKey: nil)
        }
        #expect(early?.exitStatus == 9)
        world.clock.advance(15 * 60_000)
      }
      let found = try world.engine().transact(order, newAttempt: false, idempotencyKey: nil)
      #expect(found.status == .succeeded)
      #expect(try world.charges("P\(charges)") == 1)
    }
  }

  @Test func `confirms nothing that was cancelled, declined or never there`() throws {
    let world = try World()
    _ = try world.engine().transact(
      world.order(confirmation: true),
      newAttempt: false,
      idempotencyKey: nil
    )
    let cancelled = try world.engine().cancel(world.latest(), handle: "A")
    #expect(cancelled.status == .cancelled)
    #expect(cancelled.result == [:])
    #expect(try world.engine().cancel(world.latest(), handle: "A").replayed == true)
    _ = try world.engine().transact(
      world.order("D", amount: 193),
      newAttempt: false,
      idempotencyKey: nil
    )
    for (attempt, handle) in [
      (try world.latest(), "A"), (try world.latest("D"), "D"), (nil, "never"),
    ] {
      let fault = #expect(throws: Fault.self) {
        try world.engine().confirm(attempt, handle: handle)
      }
      #expect(fault?.exitStatus == 6)
      #expect(
        fault?.result?.text("type") == "NO_AUTH: There is no authorization to capture"
      )
    }
    #expect(try world.charges() == 0)
  }

  @Test(arguments: [nil, "hold:expired"] as [String?])
  func `a hold that grew too old is SESSION_EXPIRED, and can be let go of`(
    _ scenario: String?
  ) throws {
    let world = try World()
    let held = try world.engine().transact(
      world.order(confirmation: true),
      newAttempt: false,
      idempotencyKey: nil
    )
    if scenario == nil {
      world.clock.advance(24 * 3_600_000 - 1)
      #expect(try world.engine().lookUp("A", known: world.latest()).status == .requiresConfirmation)
      world.clock.advance(1)
    }
    let report = try world.engine(scenario: scenario).confirm(world.latest(), handle: "A")
    #expect(report.fault?.exitStatus == 13)
    #expect(report.fault?.code == "session_expired")
    #expect(report.fault?.effect == Fault.Effect.none)
    #expect(report.result.text("type") == "SESSION_EXPIRED: Socket session has expired")
    #expect(report.fault?.hint?.contains("tender cancel A") == true)
    #expect(try world.latest()?.status == .requiresConfirmation)
    let cancelled = try world.engine(scenario: scenario).cancel(world.latest(), handle: "A")
    #expect(cancelled.status == .cancelled)
    #expect(cancelled.id == held.id)
    #expect(try world.charges() == 0)
  }

  @Test func `learns the service fee, and never charges another than was ordered`() throws {
    let world = try World()
    let held = try world.engine().transact(
      world.order(confirmation: true, feeMode: .service),
      newAttempt: false,
      idempotencyKey: nil
    )
    // 2.9 % of 10.50 plus 30 cents, rounded half up: the simulated merchant's own fee.
    #expect(held.result["body"]?["service_fee"] == 60)
    #expect(held.amount == 1110)
    #expect(held.requestedAmount == 1050)
    let wrong = #expect(throws: Fault.self) {
      try world.engine().transact(
        world.order("B", feeMode: .service, fee: 50),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    #expect(wrong?.exitStatus == 7)
    #expect(try world.charges("B") == 0)
    let right = try world.engine().transact(
      world.order("B", feeMode: .service, fee: 60),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(right.status == .succeeded)
    #expect(right.amount == 1110)
  }

  @Test func `refuses cards on the production stage before anything is sent`() throws {
    let world = try World()
    let key = "acme-paytheory-00112233445566778899aabbccddeeff"
    let fault = #expect(throws: Fault.self) {
      try world.engine(key: key).transact(
        world.order(),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    #expect(fault?.exitStatus == 4)
    #expect(fault?.code == "invalid_app")
    #expect(try world.latest() == nil)
  }

  @Test func `runs in one step where the profile says so`() throws {
    let world = try World()
    let report = try world.engine(twoStep: false).transact(
      world.order(),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(report.status == .succeeded)
    let lost = #expect(throws: Fault.self) {
      try world.engine(
        fault: "part1:close-after",
        credentials: false,
        twoStep: false
      ).transact(
        world.order("B"),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    #expect(lost?.exitStatus == 9)
    let found = try world.engine(twoStep: false).transact(
      world.order("B"),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(found.status == .succeeded)
    #expect(try world.charges("B") == 1)
  }
}
