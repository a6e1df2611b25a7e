import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Changes by other clients, the state after a refusal, and the journal's records afterwards.
@Suite struct ElsewhereTests {
  /// Returns a look-up of a payment of 10.00 with this amount refunded.
  private static func seen(_ refunded: Int) -> Outcome {
    var outcome = Outcome(
      status: refunded == 0 ? .succeeded : refunded == 1000 ? .refunded : .partiallyRefunded,
      id: "id-1",
      amount: 1000,
      result: [:]
    )
    outcome.refundedAmount = refunded
    return outcome
  }

  private func amounts(_ till: Till<Scripted>) throws -> [Int] {
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
    #expect(try amounts(till) == [1000, 600, 0, 400])
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
    #expect(try amounts(till) == [1000, 700, 0, 300])
    // The provider's sum includes both. Each further refund needs its own word.
    till.provider.shows(Self.seen(700))
    #expect(try till.refund() == "6 refunded_elsewhere")
    #expect(try till.refund(despite: ["seen-2"]) == "refunded, refund 3: succeeded")
    #expect(try amounts(till) == [1000, 1000, 0, 0])
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
    #expect(try amounts(till) == [1000, 600, 0, 400])
    till.provider.shows(Self.seen(600))
    #expect(try till.refund(100) == "6 refunded_elsewhere")
    #expect(try amounts(till) == [1000, 600, 0, 400])
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
    #expect(try amounts(till) == [1000, 0, 0, 0])
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
    #expect(try amounts(till) == [1000, 300, 0, 700])
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
  private static func listed(_ amount: Int, madeAt: Int? = nil) -> Outcome {
    var outcome = Outcome(status: .succeeded, id: "id-9", amount: amount, result: [:])
    outcome.charges = [
      .init(
        id: "id-9",
        state: .succeeded,
        amount: amount,
        refunded: 0,
        madeAt: madeAt,
        result: [:]
      )
    ]
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
    #expect(try amounts(till) == [1000, 0, 0, 1000])
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
    #expect(try amounts(till) == [1000, 300, 0, 700])
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
    #expect(try amounts(till) == [1000, 500, 0, 500])
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
    #expect(try amounts(till) == [1000, 0, 0, 1000])
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
      #expect(try amounts(till) == [whole, whole, 0, 0])
    }
  }

  @Test func `a look that fails or shows nothing sends nothing`() throws {
    let till = try RefundTests.paid()
    till.provider.forget()
    _ = till.provider.heard()
    #expect(try till.refund() == "11 not_shown")
    #expect(till.provider.heard() == ["look up"])
  }

  /// The money went back, by a void or a refund. Collecting it again is another payment.
  @Test func `another attempt never follows money that was taken`() throws {
    for (status, code) in [
      (Status.cancelled, "payment_given_back"), (.refunded, "payment_given_back"),
      (.returned, "attempt_stands"),
    ] {
      let till = try RefundTests.paid()
      var gone = Self.seen(status == .refunded ? 1000 : 0)
      gone.status = status
      till.provider.shows(gone)
      #expect(try till.status() == status.rawValue)
      #expect(try till.transact(newAttempt: true) == "6 \(code)")
      #expect(try till.payment()?.attempts.count == 1)
    }
  }

  /// The money of a declined payment was taken after all. Another attempt would take it twice.
  @Test func `a declined attempt that the provider shows as paid is followed by none`() throws {
    let till = Till(Scripted(.scripted, .answer(.declined)))
    #expect(try till.transact().hasPrefix("declined"))
    till.provider.shows(Self.seen(0))
    _ = till.provider.heard()
    #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
    #expect(till.provider.heard() == ["look up"])
    #expect(try till.payment()?.attempts.count == 1)
    // That answer is recorded: the next question may have none.
    till.provider.shows()
    #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
    // An answer about another amount is no proof that nothing was taken.
    let second = Till(Scripted(.scripted, .answer(.declined)))
    #expect(try second.transact().hasPrefix("declined"))
    var other = Self.seen(0)
    other.amount = 999
    second.provider.shows(other)
    #expect(try second.transact(newAttempt: true) == "6 provider_differs")
  }

  /// The money was taken and went back. Collecting it again is another payment.
  @Test func `a charge that was returned is followed by no other under its reference`() throws {
    var returned = Self.seen(0)
    returned.status = .returned
    let declined = Till(Scripted(.scripted, .answer(.declined)))
    #expect(try declined.transact().hasPrefix("declined"))
    declined.provider.shows(returned)
    #expect(try declined.transact(newAttempt: true) == "6 payment_given_back")
    #expect(try declined.payment()?.attempts.count == 1)
    let refused = Till(
      Scripted(.keyless, .fail(Fault(.rejected, code: "refused", "no").proven, sends: true))
    )
    #expect(try refused.transact() == "7 refused")
    var listed = Self.listed(1000)
    listed.status = .returned
    listed.charges[0].state = .returned
    refused.provider.shows(listed)
    #expect(try refused.transact() == "returned, replayed")
  }

  /// A journal of 0.2.0 has a mark at the declined attempt.
  @Test func `an attempt that an earlier version saw as paid is not tried again`() throws {
    let till = Till(Scripted(.scripted, .answer(.declined)))
    #expect(try till.transact().hasPrefix("declined"))
    var payment = try #require(try till.payment())
    try payment.change(1) { $0.fault?.cause = .seenPaid }
    try till.journal.update(&payment, 1, note: "looked up", .power)
    #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
  }

  /// An attempt that was resolved by hand has no error yet.
  @Test func `an attempt that was resolved as declined is not tried again once it is seen as paid`()
    throws
  {
    let till = Till(Scripted(.scripted, .lost))
    #expect(try till.transact().hasPrefix("9 "))
    let lost = try #require(try till.payment())
    _ = try till.journal.resolve(
      lost,
      operation: nil,
      as: .declined,
      reason: "r",
      till.clock,
      NeverInterrupted()
    )
    till.provider.shows(Self.seen(0))
    #expect(try till.status().hasPrefix("declined"))
    till.provider.shows()
    #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
    #expect(try till.transact() == "declined, replayed")
  }

  /// From the look on, no hint leads to another charge, also where the provider cannot be asked again.
  @Test func `a declined attempt that was seen as paid is not tried again`() throws {
    let till = Till(Scripted(.scripted, .answer(.declined)))
    #expect(try till.transact().hasPrefix("declined"))
    till.provider.shows(Self.seen(0))
    #expect(try till.status().hasPrefix("declined"))
    let hint = try #require(try till.payment()?.seenPaidHint)
    #expect(hint.contains("payment-status A") && !hint.contains("new-attempt"), "\(hint)")
    #expect(try till.payment()?.state.surplus == 1000)
    #expect(try till.transact() == "declined, replayed, 3 declined")
    till.provider.shows()
    #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
    // Answers that are not about this attempt clear nothing.
    var (other, strange) = (Self.seen(0), Self.seen(0))
    (other.amount, strange.currency) = (701, Currency(code: "EUR"))
    for answer in [other, strange] {
      till.provider.shows(answer)
      #expect(try till.transact(newAttempt: true).hasPrefix("6 "))
    }
    // A decline may be an older state that arrives later.
    var (declined, returned) = (Self.seen(0), Self.seen(0))
    (declined.status, returned.status) = (.declined, .returned)
    till.provider.shows(declined)
    #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
    // The money went back. Collecting it again needs a new reference.
    till.provider.shows(returned)
    #expect(try till.status().hasPrefix("declined"))
    #expect(try till.payment()?.state.surplus == 0)
    #expect(try till.transact(newAttempt: true) == "6 payment_given_back")
  }

  /// Returns a payment of two attempts, both declined.
  private func declinedTwice() throws -> Till<Scripted> {
    let till = Till(Scripted(.scripted, .answer(.declined), .answer(.declined)))
    for isNew in [false, true] {
      #expect(try till.transact(newAttempt: isNew).hasPrefix("declined"))
    }
    _ = till.provider.heard()
    return till
  }

  /// The money of an attempt can be taken after a later attempt was declined too.
  @Test(arguments: [nil, "id-1", "id-2"])
  func `no attempt follows an earlier one that is shown as paid`(_ asked: String?) throws {
    let till = try declinedTwice()
    var paid = Self.seen(0)
    paid.id = asked ?? "id-1"
    till.provider.shows(paid)
    if let asked {
      let looked = try till.engine.lookUp(asked, known: try till.payment())
      #expect(looked.note?.contains("as paid now (\(asked))") == true, "\(looked.note ?? "")")
      // The next question may have no answer.
      till.provider.shows()
    }
    #expect(try till.transact(newAttempt: true).hasPrefix("6 "))
    let seen = try #require(try till.payment()?.operations.filter(\.isSurplus).map(\.id))
    #expect(seen == [paid.id])
    let refused = #expect(throws: Fault.self) {
      let found = try #require(try till.payment())
      _ = try till.engine.confirm(found, handle: "A", amount: nil)
    }
    #expect(
      refused?.hint
        == "do not charge it again. To look only: tender payment-status A; to refund it: tender refund "
        + (paid.id ?? "")
    )
    #expect(
      refused?.message
        == "there is no authorization to capture: 10.00 USD of 'A' was declined, and scripted showed it as "
        + "paid later"
    )
    // The money went back.
    var returned = paid
    returned.status = .returned
    till.provider.shows(returned)
    _ = try till.engine.lookUp(paid.id ?? "", known: try till.payment())
    #expect(try till.payment()?.state.surplus == 0)
  }

  /// A hold of a later attempt would be the second charge.
  @Test func `no hold is captured after an earlier attempt is seen as paid`() throws {
    let till = Till(Scripted(.scripted, .answer(.declined), .answer(.requiresConfirmation)))
    #expect(try till.transact(hold: true).hasPrefix("declined"))
    #expect(try till.transact(hold: true, newAttempt: true) == "requires_confirmation")
    till.provider.shows(Self.seen(0))
    _ = try till.engine.lookUp("id-1", known: try till.payment())
    till.provider.shows()
    till.provider.then(.answer(.succeeded))
    #expect(try till.confirm() == "6 attempt_paid")
    // The money went back.
    till.provider.shows(Self.seen(1000))
    _ = try till.engine.lookUp("id-1", known: try till.payment())
    till.provider.shows()
    #expect(try till.confirm() == "succeeded, capture 1: succeeded")
  }

  /// An attempt that failed before it was sent is repeated without --new-attempt.
  @Test func `an attempt that failed hides no earlier one that is shown as paid`() throws {
    let till = Till(Scripted(.scripted, .answer(.declined)))
    #expect(try till.transact().hasPrefix("declined"))
    till.provider.then(.fail(Fault(.rejected, code: "refused", "refused").proven, sends: true))
    #expect(try till.transact(newAttempt: true) == "7 refused")
    till.provider.shows(Self.seen(0))
    #expect(try till.transact() == "6 attempt_paid")
  }

  @Test func `the id of an earlier attempt is answered with that attempt`() throws {
    let till = try declinedTwice()
    var (first, second) = (Self.seen(0), Self.seen(0))
    (first.status, second.status, second.id) = (.declined, .declined, "id-2")
    till.provider.shows(first)
    let earlier = try till.engine.lookUp("id-1", known: try till.payment())
    #expect(earlier.id == "id-1" && earlier.attemptNumber == 1)
    #expect(
      earlier.note == "this is attempt 1 of 'A'. For the newest attempt: tender payment-status A"
    )
    till.provider.shows(second)
    for handle in ["A", "id-2"] {
      let newest = try till.engine.lookUp(handle, known: try till.payment())
      #expect(newest.id == "id-2" && newest.attemptNumber == 2 && newest.note == nil, "\(handle)")
    }
    #expect(try till.payment()?.operations.count == 2)
  }

  /// A refund by the id of an earlier attempt would give back another charge.
  @Test func `an earlier attempt is changed by no command`() throws {
    let till = Till(Scripted(.scripted, .answer(.declined), .answer(.succeeded)))
    #expect(try till.transact().hasPrefix("declined"))
    #expect(try till.transact(newAttempt: true) == "succeeded")
    let found = try #require(try till.payment())
    let orders: [Order] = [.refund(RefundRequest()), .cancel(), .capture(nil)]
    for order in orders {
      let refused = #expect(throws: Fault.self) {
        _ = try till.engine.checked(order, on: found, handle: "id-1")
      }
      #expect(refused?.code == "earlier_attempt" && refused?.effect == Fault.Effect.none)
      #expect(
        refused?.hint
          == "to look at it: tender payment-status id-1; A names the newest attempt"
      )
    }
    for handle in ["A", "id-2"] {
      _ = try till.engine.checked(orders[0], on: found, handle: handle)
    }
  }

  @Test(arguments: [Status.declined, .cancelled])
  func `a payment that ended and is shown as paid has a warning with the next step`(
    _ end: Status
  ) throws {
    let till = Till(Scripted(.scripted, .answer(end)))
    _ = try till.transact()
    till.provider.shows(Self.seen(0), Self.seen(0))
    let looked = try till.engine.lookUp("A", known: try till.payment())
    #expect(looked.status == end)
    #expect(
      looked.note
        == "\(till.provider.name.text) shows the 10.00 USD of 'A' as paid now (id-1), and this "
        + "journal has it as \(end.rawValue). Do not charge it again; to refund it: tender refund id-1"
    )
    // A later look may be an older state.
    var other = Self.seen(0)
    other.status = .declined
    till.provider.shows(other)
    #expect(
      try till.engine.lookUp("A", known: try till.payment()).note
        == "another charge was made under this reference: id-1"
    )
  }

  @Test func `another key than the one that it was done with is refused`() throws {
    let till = Till(Scripted())
    #expect(try till.transact(key: "k1") == "succeeded")
    #expect(try till.transact(key: "k1") == "succeeded, replayed")
    #expect(try till.transact(key: "k2") == "6 key_differs")
    #expect(try till.refund(300, key: "k3") == "partially_refunded, refund 1: succeeded")
    #expect(try till.refund(300) == "partially_refunded, replayed, refund 1: succeeded")
    #expect(try till.refund(300, key: "k4") == "6 key_differs")
    #expect(till.provider.heard() == ["send charge 1 1000", "look up", "send refund 1 300"])
    let keyless = Till(Scripted(.keyless))
    #expect(try keyless.transact() == "succeeded")
    #expect(try keyless.transact(key: "k1") == "2 bad_options")
  }

  @Test func `a capture of another amount looks at the one that is unknown`() throws {
    let till = Till(Scripted())
    till.provider.then(.answer(.requiresConfirmation), .lost)
    #expect(try till.transact(hold: true) == "requires_confirmation")
    #expect(try till.confirm(700) == "9 no_answer")
    _ = till.provider.heard()
    #expect(try till.confirm(500) == "9 outcome_unknown")
    #expect(till.provider.heard() == ["look capture 1 700"])
  }

  @Test func `a charge never answers with a hold, nor a hold with a charge`() throws {
    let till = Till(Scripted())
    till.provider.then(.answer(.requiresConfirmation))
    #expect(try till.transact(hold: true) == "requires_confirmation")
    #expect(try till.transact(hold: true) == "requires_confirmation, replayed")
    #expect(try till.transact() == "6 reference_reused")
    #expect(try till.transact(1000, "B") == "succeeded")
    #expect(try till.transact(1000, "B", hold: true) == "6 reference_reused")
  }

  @Test func `what was voided or returned is not called refunded`() throws {
    let till = Till(Scripted(Traits(kinds: Traits.allKinds, refundsByVoid: true)))
    #expect(try till.transact() == "succeeded")
    #expect(try till.refund() == "cancelled, void 1: succeeded")
    #expect(try till.refund(100) == "6 nothing_to_refund")
    let state = try #require(try till.payment()?.state)
    #expect([state.captured, state.reversed, state.refunded] == [1000, 1000, 0])
  }

  /// An earlier version stored an id of which a part was masked.
  @Test func `a masked id is never sent`() throws {
    let till = Till(Scripted())
    #expect(try till.transact() == "succeeded")
    var payment = try #require(try till.payment())
    try payment.change(1) { $0.id = "id-[redacted]" }
    try till.journal.update(&payment, 1, note: "earlier", .power)
    till.provider.then(
      .custom { progress throws(Fault) in
        throw Fault(.rejected, code: progress.payment.state.id ?? "no_id", "refused")
      }
    )
    // The look by reference has the id.
    #expect(try till.refund(300) == "11 not_shown")
    till.provider.shows(Self.seen(0))
    #expect(try till.refund(300) == "7 id-1")
  }

  /// Until the late window ends, the request can still arrive.
  @Test func `a request without a key is sent again after the late window alone`() throws {
    var till = try RefundTests.paid(.keyless)
    till.lateWindow = 60_000
    till.provider.recovers(by: .byHand(canResend: true))
    till.provider.then(.lost)
    #expect(try till.refund(300) == "9 no_answer")
    _ = till.provider.heard()
    #expect(try till.resume(finish: true, resend: true) == "9 outcome_unknown")
    #expect(till.provider.heard() == ["look refund 1 300", "look up"])
    till.clock.advance(60_000)
    #expect(
      try till.resume(finish: true, resend: true) == "partially_refunded, refund 1: succeeded"
    )
    #expect(till.provider.heard() == ["look refund 1 300", "look up", "again refund 1 300"])
  }

  /// A refused refund had provably no effect. What went back is the unknown one of the same amount.
  @Test func `a sum is explained by the unknown refund before a refused one`() throws {
    let till = try RefundTests.paid(.keyless)
    till.provider.recovers(by: .byHand(canResend: false))
    till.provider.then(
      .fail(Fault(.rejected, code: "refused", "refused").proven, sends: true),
      .lost
    )
    #expect(try till.refund(400) == "7 refused")
    #expect(try till.refund(400) == "9 no_answer")
    till.provider.shows(Self.seen(400))
    #expect(try till.refund(400) == "partially_refunded, refund 2: succeeded")
    #expect(try till.payment()?.reversals.map(\.state.name) == [.failed, .succeeded])
    #expect(try amounts(till) == [1000, 400, 0, 600])
  }

  /// The provider gives only a sum. It can be one refund of another program, or two.
  @Test func `a sum that is more than the unknown refund leaves it unknown`() throws {
    let till = try RefundTests.paid(.keyless)
    till.provider.recovers(by: .byHand(canResend: true))
    till.provider.then(.lost)
    #expect(try till.refund(300) == "9 no_answer")
    till.provider.shows(Self.seen(500))
    for _ in 1...2 {
      #expect(try till.resume(finish: true, resend: true) == "9 outcome_unknown")
      #expect(try amounts(till) == [1000, 200, 300, 500])
    }
  }

  /// The void can be a part, whose replacement is not shown yet, or the whole.
  @Test func `a void that is not the unknown refund stops that refund`() throws {
    let till = try RefundTests.paid()
    till.provider.then(.lost)
    #expect(try till.refund(300) == "9 no_answer")
    var voided = Self.seen(0)
    voided.status = .cancelled
    till.provider.shows(voided)
    _ = till.provider.heard()
    #expect(try till.resume(finish: true, resend: true) == "9 outcome_unknown")
    #expect(till.provider.heard() == ["look refund 1 300", "look up"])
    #expect(try amounts(till) == [1000, 0, 300, 700])
  }

  /// The bank returns the amount that had not been voided.
  @Test func `a return lowers no other amount`() throws {
    var void = Operation.void(300, .succeeded)
    void.id = "id-2"
    var charge = Operation.charge(1000, .returned)
    charge.content = ["amount": 1000]
    let payment = Payment.of(charge, void)
    #expect(payment.state.captured == 1000 && payment.state.refunded == 300)
    #expect(payment.state.returned == 700 && payment.state.leftToRefund == 0)
  }
}
