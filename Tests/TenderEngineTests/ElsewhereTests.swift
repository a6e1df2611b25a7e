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

  @Test func `what was refunded elsewhere counts beside what is refunded here later`() throws {
    let till = try RefundTests.paid()
    till.provider.shows(Self.seen(600))
    #expect(try till.status() == "partially_refunded")
    #expect(try amounts(till) == [1000, 600, 0, 400])
    #expect(try till.refund(100, name: "r1") == "partially_refunded, refund 1: succeeded")
    #expect(try amounts(till) == [1000, 700, 0, 300])
    #expect(try till.refund() == "refunded, refund 2: succeeded")
    #expect(try amounts(till) == [1000, 1000, 0, 0])
    // The provider's sum includes both.
    till.provider.shows(Self.seen(1000))
    #expect(try till.status() == "refunded")
    #expect(try amounts(till) == [1000, 1000, 0, 0])
    #expect(try till.payment()?.state.warning?.contains("more was refunded") == true)
  }

  @Test func `one answer alone takes nothing away`() throws {
    let till = try RefundTests.paid()
    var returned = Self.seen(0)
    returned.status = .returned
    for lie in [Self.seen(600), Self.seen(1000), returned] {
      till.provider.shows(lie, Self.seen(0))
      #expect(try till.status() == "11 answers_differ")
      #expect(try amounts(till) == [1000, 0, 0, 1000])
    }
    till.provider.shows(Self.seen(0))
    #expect(try till.status() == "succeeded")
    till.provider.shows(returned, returned, Self.seen(0))
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

  /// A refusal is one answer. A request without a key is looked at before it is sent again.
  @Test func `what was refused is looked at before it is sent again without a key`() throws {
    let till = Till(
      Scripted(.keyless, .fail(Fault(.rejected, code: "refused", "no").proven, sends: true))
    )
    #expect(try till.transact() == "7 refused")
    _ = till.provider.heard()
    till.provider.finds(.done(1, 1000))
    #expect(try till.transact() == "succeeded")
    #expect(till.provider.heard() == ["look charge 2 1000", "look charge 2 1000"])
    #expect(try amounts(till) == [1000, 0, 0, 1000])
  }

  @Test func `a refusal that stands is followed by another try`() throws {
    let till = Till(
      Scripted(.keyless, .fail(Fault(.rejected, code: "refused", "no").proven, sends: true))
    )
    #expect(try till.transact() == "7 refused")
    _ = till.provider.heard()
    till.provider.finds(.done(1, 999))
    #expect(try till.transact() == "succeeded")
    #expect(
      till.provider.heard() == ["look charge 2 1000", "look charge 2 1000", "send charge 2 1000"]
    )
  }

  @Test func `a refund that was refused and is there counts before another one`() throws {
    let till = try RefundTests.paid()
    till.provider.then(.fail(Fault(.rejected, code: "refused", "no").proven, sends: true))
    #expect(try till.refund(300) == "7 refused")
    till.provider.shows(Self.seen(300))
    #expect(try till.refund(200) == "6 earlier_refund_resolved")
    #expect(try amounts(till) == [1000, 300, 0, 700])
    #expect(try till.refund(200) == "partially_refunded, refund 2: succeeded")
    #expect(try amounts(till) == [1000, 500, 0, 500])
  }

  /// A look has counted the refund that was refused. The same command would refund the amount twice.
  @Test(arguments: [true, false])
  func `a refused refund that a look has counted is not sent again`(_ hasKeys: Bool) throws {
    let till = Till(Scripted(hasKeys ? .scripted : .keyless))
    #expect(try till.transact() == "succeeded")
    till.provider.then(.fail(Fault(.rejected, code: "refused", "no").proven, sends: true))
    #expect(try till.refund(400) == "7 refused")
    till.provider.shows(Self.seen(400))
    #expect(try till.status() == "partially_refunded")
    _ = till.provider.heard()
    #expect(try till.refund(400) == "6 earlier_refund_resolved")
    #expect(till.provider.heard() == ["look up"])
    #expect(try amounts(till) == [1000, 400, 0, 600])
    #expect(try till.refund(400, name: "more").hasPrefix("partially_refunded"))
    #expect(try amounts(till) == [1000, 800, 0, 200])
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
    // An answer about another amount decides nothing.
    let second = Till(Scripted(.scripted, .answer(.declined)))
    #expect(try second.transact().hasPrefix("declined"))
    var other = Self.seen(0)
    other.amount = 999
    second.provider.shows(other)
    #expect(try second.transact(newAttempt: true) == "succeeded")
  }

  /// The words of a hint decide nothing about money: a fact of the attempt does.
  @Test func `a hint makes no attempt a paid one, nor the reverse`() throws {
    let hint =
      "do not charge it again: scripted showed it as paid; to look only: tender "
      + "payment-status A"
    for (isSeen, hint, result) in [(true, "h", "6 attempt_paid"), (false, hint, "succeeded")] {
      let till = Till(Scripted(.scripted, .answer(.declined)))
      #expect(try till.transact().hasPrefix("declined"))
      if isSeen { till.provider.shows(Self.seen(0)) }
      #expect(try till.status().hasPrefix("declined"))
      var payment = try #require(try till.payment())
      try payment.change(1) { $0.fault?.hint = hint }
      try till.journal.update(&payment, 1, note: "other words", .power)
      till.provider.shows()
      #expect(try till.transact(newAttempt: true) == result)
    }
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
    #expect(try till.transact() == "declined, replayed, 3 declined")
  }

  /// From the look on, no hint leads to another charge, also where the provider cannot be asked again.
  @Test func `a declined attempt that was seen as paid is not tried again`() throws {
    let till = Till(Scripted(.scripted, .answer(.declined)))
    #expect(try till.transact().hasPrefix("declined"))
    till.provider.shows(Self.seen(0))
    #expect(try till.status().hasPrefix("declined"))
    let fault = try #require(try till.payment()?.attempt?.fault)
    #expect(fault.code == "declined" && fault.kind == .declined)
    let hint = try #require(fault.hint)
    #expect(hint.contains("payment-status A") && !hint.contains("new-attempt"), "\(hint)")
    #expect(try till.transact() == "declined, replayed, 3 declined")
    till.provider.shows()
    #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
    // Answers that are not about this attempt clear nothing.
    var (other, strange) = (Self.seen(0), Self.seen(0))
    (other.amount, strange.currency) = (701, Currency(code: "EUR"))
    for answer in [other, strange] {
      till.provider.shows(answer)
      #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
    }
    // A decline may be an older state that arrives later.
    var (declined, returned) = (Self.seen(0), Self.seen(0))
    (declined.status, returned.status) = (.declined, .returned)
    till.provider.shows(declined)
    #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
    // The money went back.
    till.provider.shows(returned)
    #expect(try till.transact(newAttempt: true) == "succeeded")
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
    #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
    let seen = try #require(try till.payment()).attempts.map { $0.fault?.cause == .seenPaid }
    #expect(seen == [paid.id == "id-1", paid.id == "id-2"])
    let refused = #expect(throws: Fault.self) {
      let found = try #require(try till.payment())
      _ = try till.engine.confirm(found, handle: "A", amount: nil)
    }
    let handle = asked == "id-2" ? "A" : "id-1"
    #expect(
      refused?.hint
        == "do not charge it again: scripted showed it as paid; to look only: tender payment-status "
        + handle
    )
    if asked == "id-2" {
      #expect(
        refused?.message
          == "there is no authorization to capture: 10.00 USD of 'A' was declined, and scripted showed it as "
          + "paid later"
      )
    }
    // The money went back.
    var returned = paid
    returned.status = .returned
    till.provider.shows(returned)
    #expect(try till.transact(newAttempt: true) == "succeeded")
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

  @Test(arguments: [Status.declined, .cancelled, .failed])
  func `a payment that ended and is shown as paid has a warning with the next step`(
    _ end: Status
  ) throws {
    let refusal = Fault(.rejected, code: "refused", "no").proven
    let act: Scripted.Act = end == .failed ? .fail(refusal, sends: true) : .answer(end)
    let till = Till(Scripted(.scripted, act))
    _ = try till.transact()
    till.provider.shows(Self.seen(0), Self.seen(0))
    let looked = try till.engine.lookUp("A", known: try till.payment())
    #expect(looked.status == end)
    #expect(
      looked.note
        == "\(till.provider.name.text) shows the 10.00 USD of 'A' as paid now (id-1), and this "
        + "journal has it as \(end.rawValue). Do not charge it again: count it as paid, or refund it at "
        + till.provider.name.text
    )
    // A look that does not show it as paid has none.
    var other = Self.seen(0)
    other.status = .declined
    till.provider.shows(other, other)
    #expect(try till.engine.lookUp("A", known: try till.payment()).note == nil)
  }

  @Test func `another key than the one that it was done with is refused`() throws {
    let till = Till(Scripted())
    #expect(try till.transact(key: "k1") == "succeeded")
    #expect(try till.transact(key: "k1") == "succeeded, replayed")
    #expect(try till.transact(key: "k2") == "6 key_differs")
    #expect(try till.refund(300, key: "k3") == "partially_refunded, refund 1: succeeded")
    #expect(try till.refund(300) == "partially_refunded, replayed, refund 1: succeeded")
    #expect(try till.refund(300, key: "k4") == "6 key_differs")
    #expect(till.provider.heard() == ["send charge 1 1000", "send refund 1 300"])
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
        let id = progress.payment.state.id ?? progress.attempt.id
        throw Fault(.rejected, code: id == nil ? "no_id" : "masked_id", "refused")
      }
    )
    #expect(try till.refund(300) == "7 no_id")
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
    #expect(till.provider.heard() == ["look refund 1 300"])
    till.clock.advance(60_000)
    #expect(
      try till.resume(finish: true, resend: true) == "partially_refunded, refund 1: succeeded"
    )
    #expect(till.provider.heard() == ["look refund 1 300", "again refund 1 300"])
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
