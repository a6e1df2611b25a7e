import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Changes by other clients: refunds, charges, disputes, returns and other values.
@Suite struct ElsewhereTests {
  /// Returns a look-up of a payment of 10.00 with this amount refunded.
  static func seen(_ refunded: Int) -> Outcome {
    var outcome = Outcome(
      status: refunded == 0 ? .succeeded : refunded == 1000 ? .refunded : .partiallyRefunded,
      id: "id-1",
      amount: 1000,
      result: [:]
    )
    outcome.refundedAmount = refunded
    return outcome
  }

  static func amounts(_ till: Till<Scripted>) throws -> [Int] {
    let state = try #require(try till.payment()?.state)
    return [state.captured, state.refunded, state.refunding, state.leftToRefund]
  }

  /// A person confirms that the refund is a further one. No name and no repetition does.
  @Test func `a refund made elsewhere stops every refund and cancel until a person accepts it`()
    throws
  {
    let till = try RefundTests.paid()
    till.provider.shows(Self.seen(600))
    _ = till.provider.heard()
    #expect(try till.refund(600) == "6 refunded_elsewhere")
    #expect(till.provider.heard() == ["look up"])
    #expect(try Self.amounts(till) == [1000, 600, 0, 400])
    #expect(try till.status() == "partially_refunded")
    for _ in 0..<2 {
      #expect(try till.refund(100, name: "r1") == "6 refunded_elsewhere")
      #expect(try till.refund() == "6 refunded_elsewhere")
      #expect(try till.cancel() == "6 refunded_elsewhere")
    }
    #expect(try till.refund(100, despite: ["id-9"]) == "2 bad_value")
    #expect(!till.provider.heard().contains { $0.hasPrefix("send") })
    let refused = #expect(throws: Fault.self) {
      let found = try till.payment()
      _ = try till.engine.refund(found, handle: "A", RefundRequest(), idempotencyKey: nil)
    }
    #expect(
      refused?.message
        == "6.00 USD of 'A' was refunded at scripted and not by this journal (seen-2), which refunded 0.00 USD "
        + "itself; nothing was sent"
    )
    #expect(refused?.retry == .operator)
    #expect(refused?.result?["refunds"] == [["id": "seen-2", "amount": 600]])
    #expect(
      try till.refund(100, name: "r1", despite: ["seen-2"])
        == "partially_refunded, refund 2: succeeded"
    )
    #expect(try Self.amounts(till) == [1000, 700, 0, 300])
    // The provider's sum includes both. Each further refund needs its own word.
    till.provider.shows(Self.seen(700))
    #expect(try till.refund() == "6 refunded_elsewhere")
    #expect(try till.refund(despite: ["seen-2"]) == "refunded, refund 3: succeeded")
    #expect(try Self.amounts(till) == [1000, 1000, 0, 0])
    // Another one stops the next refund again.
    let second = try RefundTests.paid()
    second.provider.shows(Self.seen(100))
    #expect(try second.refund(100) == "6 refunded_elsewhere")
    #expect(
      try second.refund(100, despite: ["seen-2"]) == "partially_refunded, refund 2: succeeded"
    )
    second.provider.shows(Self.seen(500))
    #expect(try second.refund(100, name: "n") == "6 refunded_elsewhere")
  }

  /// A journal of 0.2.0 has the sum alone, without an operation.
  @Test func `a sum that an earlier version recorded stops a refund too`() throws {
    let till = try RefundTests.paid()
    var payment = try #require(try till.payment())
    var seen = Observation(.lookup, at: 1, operation: 1, state: .succeeded)
    (seen.refunded, seen.elsewhere) = (600, 600)
    payment.add(seen)
    try till.journal.update(&payment, 1, note: "looked up", .power)
    #expect(try Self.amounts(till) == [1000, 600, 0, 400])
    till.provider.shows(Self.seen(600))
    #expect(try till.refund(100) == "6 refunded_elsewhere")
    #expect(try Self.amounts(till) == [1000, 600, 0, 400])
  }

  /// A final state of exactly this payment is believed at once.
  @Test func `one answer shows a return`() throws {
    let till = try RefundTests.paid()
    var returned = Self.seen(0)
    returned.status = .returned
    till.provider.shows(returned)
    _ = till.provider.heard()
    #expect(try till.refund() == "6 nothing_to_refund")
    #expect(try till.refund(100) == "6 nothing_to_refund")
    #expect(try till.cancel() == "6 nothing_to_refund")
    #expect(till.provider.heard() == ["look up"])
    #expect(try till.transact(newAttempt: true) == "6 attempt_stands")
    #expect(try till.status() == "returned")
    #expect(try Self.amounts(till) == [1000, 0, 0, 0])
  }

  @Test
  func `a sum below what the journal has is shown with a warning, once it cannot lag any more`()
    throws
  {
    var till = try RefundTests.paid()
    till.lateWindow = 60_000
    _ = try till.refund(300)
    let found = try till.payment()
    till.provider.shows(Self.seen(0), Self.seen(0))
    #expect(try till.engine.lookUp("A", known: found).note == nil)
    till.clock.advance(60_000)
    let late = try till.engine.lookUp("A", known: try till.payment())
    #expect(
      late.note == "the provider says that 0.00 USD was refunded, this journal 3.00 USD",
      "\(late.note ?? "")"
    )
    #expect(try Self.amounts(till) == [1000, 300, 0, 700])
  }

  /// If a refused request was executed after all, the provider recognizes its retry by the key.
  @Test func `the repetition of what failed keeps its key`() throws {
    let till = try RefundTests.paid()
    till.provider.then(
      .fail(Fault(.rejected, code: "refused", "refused").proven, sends: true),
      .fail(Fault(.rejected, code: "refused", "refused").proven, sends: true)
    )
    #expect(try till.refund(300) == "7 refused")
    #expect(try till.refund(300) == "7 refused")
    #expect(try till.refund(200) == "partially_refunded, refund 3: succeeded")
    #expect(try till.refund(300, name: "r") == "partially_refunded, refund 4: succeeded")
    let keys = try #require(try till.payment()).followers.map { $0.key ?? "" }
    #expect(keys[0] == keys[1])
    #expect(Set(keys).count == 3)
  }

  /// Returns a look-up without an own payment that lists a charge of the reference.
  static func listed(_ amount: Int, madeAt: Int? = nil) -> Outcome {
    var outcome = Outcome(status: .succeeded, id: "id-9", amount: amount, result: [:])
    var charge = Outcome.Seen(id: "id-9", state: .succeeded, amount: amount, result: [:])
    charge.madeAt = madeAt
    outcome.charges = [charge]
    return outcome
  }

  /// A refusal is one answer. What was sent once is looked at before it is sent again.
  @Test(arguments: [Traits.keyless, .scripted])
  func `what was refused and took money is not sent again`(_ traits: Traits) throws {
    let till = Till(
      Scripted(traits, .fail(Fault(.rejected, code: "refused", "no").proven, sends: true))
    )
    #expect(try till.transact() == "7 refused")
    _ = till.provider.heard()
    till.provider.shows(Self.listed(1000))
    #expect(try till.transact() == "succeeded, replayed")
    #expect(till.provider.heard() == ["look up"])
    #expect(try Self.amounts(till) == [1000, 0, 0, 1000])
    #expect(try till.payment()?.state.id == "id-9")
  }

  /// A charge of another amount is another charge, and the reference has it.
  @Test func `another charge under the reference of a refused one stops it`() throws {
    let till = Till(
      Scripted(.keyless, .fail(Fault(.rejected, code: "refused", "no").proven, sends: true))
    )
    #expect(try till.transact() == "7 refused")
    till.provider.shows(Self.listed(999))
    #expect(try till.transact() == "6 attempt_paid")
    #expect(try till.payment()?.state.surplus == 999)
  }

  /// Order numbers repeat over the years.
  @Test func `an older charge under the same reference is not this payment`() throws {
    let till = Till(
      Scripted(.keyless, .fail(Fault(.rejected, code: "refused", "no").proven, sends: true))
    )
    #expect(try till.transact() == "7 refused")
    _ = till.provider.heard()
    till.provider.shows(Self.listed(1000, madeAt: till.clock.now - 60_001))
    #expect(try till.transact() == "succeeded")
    #expect(till.provider.heard() == ["look up", "send charge 2 1000"])
  }

  /// Both charges count, and a refund of the payment leaves the other one.
  @Test func `a second charge under the reference is counted and shown`() throws {
    let till = try RefundTests.paid()
    var twice = Self.seen(0)
    twice.charges = Self.listed(1100).charges
    till.provider.shows(twice)
    let looked = try till.engine.lookUp("A", known: try till.payment())
    #expect(looked.note == "another charge was made under this reference: id-9")
    let state = try #require(try till.payment()?.state)
    #expect([state.captured, state.earlierCaptured, state.surplus] == [1000, 1100, 1100])
    #expect(try till.refund() == "refunded, refund 1: succeeded")
    let left = try #require(try till.payment()?.state)
    #expect([left.refunded, left.surplus] == [1000, 1100])
    // The other one was refunded in the portal.
    twice.charges[0].refunded = 1100
    (twice.status, twice.refundedAmount) = (.refunded, 1000)
    till.provider.shows(twice)
    _ = try till.status()
    let after = try #require(try till.payment()?.state)
    #expect([after.refunded, after.surplus, after.elsewhere] == [1000, 0, 0])
  }

  /// The look assigns it to the refused refund before it calls it made elsewhere.
  @Test(arguments: [true, false])
  func `a refund that was refused and is there is that refund`(_ hasKeys: Bool) throws {
    let till = Till(Scripted(hasKeys ? .scripted : .keyless))
    #expect(try till.transact() == "succeeded")
    till.provider.then(.fail(Fault(.rejected, code: "refused", "no").proven, sends: true))
    #expect(try till.refund(300) == "7 refused")
    till.provider.shows(Self.seen(300))
    _ = till.provider.heard()
    #expect(try till.refund(300) == "partially_refunded, replayed, refund 1: succeeded")
    #expect(till.provider.heard() == ["look up"])
    #expect(try Self.amounts(till) == [1000, 300, 0, 700])
    #expect(try till.refund(200) == "6 refund_needs_name")
    // Another refund is not sent beside what was just found.
    let second = Till(Scripted(hasKeys ? .scripted : .keyless))
    #expect(try second.transact() == "succeeded")
    second.provider.then(.fail(Fault(.rejected, code: "refused", "no").proven, sends: true))
    #expect(try second.refund(300) == "7 refused")
    second.provider.shows(Self.seen(300))
    _ = second.provider.heard()
    #expect(try second.refund(300, name: "other") == "6 earlier_refund_resolved")
    #expect(second.provider.heard() == ["look up"])
    #expect(try till.refund(200, name: "more") == "partially_refunded, refund 2: succeeded")
    #expect(try Self.amounts(till) == [1000, 500, 0, 500])
  }

  /// Returns the word for a dispute in a look-up of a paid payment.
  private static func disputed(_ word: String) -> Outcome {
    var outcome = seen(0)
    outcome.dispute = word
    return outcome
  }

  @Test(arguments: ["INQUIRY", "PENDING", "ARBITRATION", "something new"])
  func `an open dispute needs a word of its own`(_ word: String) throws {
    let till = try RefundTests.paid()
    till.provider.shows(Self.disputed(word))
    _ = till.provider.heard()
    #expect(try till.refund() == "6 disputed")
    #expect(try till.refund(100, name: "n") == "6 disputed")
    #expect(try till.cancel() == "6 disputed")
    #expect(!till.provider.heard().contains { $0.hasPrefix("send") })
    #expect(try till.refund(despiteDispute: true) == "refunded, refund 1: succeeded")
  }

  @Test func `a lost dispute leaves nothing to refund, and a won one all`() throws {
    let till = try RefundTests.paid()
    till.provider.shows(Self.disputed("LOST"))
    #expect(try till.refund() == "6 dispute_lost")
    #expect(try till.refund(despiteDispute: true) == "6 dispute_lost")
    #expect(try till.cancel() == "6 dispute_lost")
    // The end of a dispute stays, and an answer without one is older.
    for word in ["WON", "INQUIRY", nil] as [String?] {
      till.provider.shows(word.map(Self.disputed) ?? Self.seen(0))
      #expect(try till.cancel() == "6 dispute_lost")
    }
    let second = try RefundTests.paid()
    second.provider.shows(Self.disputed("PENDING"))
    #expect(try second.refund() == "6 disputed")
    second.provider.shows(Self.seen(0))
    #expect(try second.refund() == "6 disputed")
    second.provider.shows(Self.disputed("WON"))
    #expect(try second.refund() == "refunded, refund 1: succeeded")
  }

  /// The provider's values differ from those that were asked for. A person decides.
  @Test func `another amount, currency, id or reference is a conflict with both values`() throws {
    let till = try RefundTests.paid()
    var (amount, currency, reference, id) = (Self.seen(0), Self.seen(0), Self.seen(0), Self.seen(0))
    amount.amount = 1100
    currency.currency = Currency(code: "EUR")
    reference.reference = Reference(stored: "B")
    id.id = "id-2"
    for (other, words) in [
      (amount, "the amount 11.00 USD for 'A', and this journal has 10.00 USD"),
      (currency, "the currency EUR for 'A', and this journal has USD"),
      (reference, "the reference 'B' for 'A', and this journal has 'A'"),
      (id, "the id id-2 for 'A', and this journal has id-1"),
    ] {
      till.provider.shows(other)
      for amount in [nil, 100] {
        #expect(try till.refund(amount) == "6 provider_differs")
      }
      #expect(try till.cancel() == "6 provider_differs")
      let refused = #expect(throws: Fault.self) {
        let found = try till.payment()
        _ = try till.engine.refund(found, handle: "A", RefundRequest(), idempotencyKey: nil)
      }
      #expect(refused?.message == "scripted has \(words); nothing was sent")
      #expect(refused?.retry == .operator)
    }
    #expect(try Self.amounts(till) == [1000, 0, 0, 1000])
  }

  @Test func `a person accepts the provider's values, once, and the refund follows them`() throws {
    var (amount, reference, id) = (Self.seen(0), Self.seen(0), Self.seen(0))
    amount.amount = 1100
    reference.reference = Reference(stored: "B")
    id.id = "id-2"
    for (other, whole) in [(amount, 1100), (reference, 1000), (id, 1000)] {
      let till = try RefundTests.paid()
      let same = #expect(throws: Fault.self) {
        try till.engine.acceptProvider(try #require(try till.payment()), reason: "r")
      }
      #expect(same?.code == "nothing_to_resolve")
      till.provider.shows(other)
      #expect(try till.refund() == "6 provider_differs")
      _ = till.provider.heard()
      let accepted = try till.engine.acceptProvider(try #require(try till.payment()), reason: "r")
      #expect(accepted.status == .succeeded && accepted.amount == whole)
      #expect(till.provider.heard() == ["look up"])
      #expect(try till.notes().last?.hasPrefix("charge 1 succeeded: accepted the ") == true)
      // The order is the same: the command that made it is answered with it.
      #expect(try till.transact() == "succeeded, replayed")
      #expect(try till.refund() == "refunded, refund 1: succeeded")
      #expect(try Self.amounts(till) == [whole, whole, 0, 0])
    }
  }

  @Test func `a look that fails or shows nothing sends nothing`() throws {
    let till = try RefundTests.paid()
    till.provider.forget()
    _ = till.provider.heard()
    #expect(try till.refund() == "11 not_shown")
    #expect(till.provider.heard() == ["look up"])
  }
}
