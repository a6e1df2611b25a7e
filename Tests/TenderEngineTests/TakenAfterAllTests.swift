import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// No attempt follows money that was taken, whenever a look shows it.
@Suite struct TakenAfterAllTests {
  /// The money went back, by a void or a refund. Collecting it again is another payment.
  @Test func `another attempt never follows money that was taken`() throws {
    for (status, code) in [
      (Status.cancelled, "payment_given_back"), (.refunded, "payment_given_back"),
      (.returned, "attempt_stands"),
    ] {
      let till = try RefundTests.paid()
      var gone = ElsewhereTests.seen(status == .refunded ? 1000 : 0)
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
    till.provider.shows(ElsewhereTests.seen(0))
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
    var other = ElsewhereTests.seen(0)
    other.amount = 999
    second.provider.shows(other)
    #expect(try second.transact(newAttempt: true) == "6 provider_differs")
  }

  /// The money was taken and went back. Collecting it again is another payment.
  @Test func `a charge that was returned is followed by no other under its reference`() throws {
    var returned = ElsewhereTests.seen(0)
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
    var listed = ElsewhereTests.listed(1000)
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
    till.provider.shows(ElsewhereTests.seen(0))
    #expect(try till.status().hasPrefix("declined"))
    till.provider.shows()
    #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
    #expect(try till.transact() == "declined, replayed")
  }

  /// From the look on, no hint leads to another charge, also where the provider cannot be asked again.
  @Test func `a declined attempt that was seen as paid is not tried again`() throws {
    let till = Till(Scripted(.scripted, .answer(.declined)))
    #expect(try till.transact().hasPrefix("declined"))
    till.provider.shows(ElsewhereTests.seen(0))
    #expect(try till.status().hasPrefix("declined"))
    let seen = try #require(try till.payment())
    let hint = try #require(Next.text(seen.warning, seen.next(.scripted)))
    #expect(hint.hasPrefix("do not charge it again; to look only: tender payment-status A"))
    #expect(!hint.contains("new-attempt"), "\(hint)")
    #expect(try till.payment()?.state.surplus == 1000)
    #expect(try till.transact() == "declined, replayed, 3 declined")
    till.provider.shows()
    #expect(try till.transact(newAttempt: true) == "6 attempt_paid")
    // Answers that are not about this attempt clear nothing.
    var (other, strange) = (ElsewhereTests.seen(0), ElsewhereTests.seen(0))
    (other.amount, strange.currency) = (701, Currency(code: "EUR"))
    for answer in [other, strange] {
      till.provider.shows(answer)
      #expect(try till.transact(newAttempt: true).hasPrefix("6 "))
    }
    // A decline may be an older state that arrives later.
    var (declined, returned) = (ElsewhereTests.seen(0), ElsewhereTests.seen(0))
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
    var paid = ElsewhereTests.seen(0)
    paid.id = asked ?? "id-1"
    till.provider.shows(paid)
    if let asked {
      let looked = try till.engine.lookUp(asked, known: try till.payment())
      #expect(looked.note?.contains("as paid now (\(asked))") == true, "\(looked.note ?? "")")
      // The next question may have no answer.
      till.provider.shows()
    }
    for _ in 1...3 {
      #expect(try till.transact(newAttempt: true).hasPrefix("6 "))
      // Each further look shows the same money.
      till.provider.shows(paid)
      let seen = try #require(try till.payment()?.operations.filter(\.isSurplus).map(\.id))
      #expect(seen == [paid.id])
    }
    let refused = #expect(throws: Fault.self) {
      let found = try #require(try till.payment())
      _ = try till.engine.confirm(found, handle: "A", amount: nil)
    }
    #expect(
      refused?.advice
        == "do not charge it again; to look only: tender payment-status A; to refund the 10.00 USD: "
        + "tender refund " + (paid.id ?? "")
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
    till.provider.shows(ElsewhereTests.seen(0))
    _ = try till.engine.lookUp("id-1", known: try till.payment())
    till.provider.shows()
    till.provider.then(.answer(.succeeded))
    #expect(try till.confirm() == "6 attempt_paid")
    // The money went back.
    till.provider.shows(ElsewhereTests.seen(1000))
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
    till.provider.shows(ElsewhereTests.seen(0))
    #expect(try till.transact() == "6 attempt_paid")
  }

  @Test func `the id of an earlier attempt is answered with that attempt`() throws {
    let till = try declinedTwice()
    var (first, second) = (ElsewhereTests.seen(0), ElsewhereTests.seen(0))
    (first.status, second.status, second.id) = (.declined, .declined, "id-2")
    till.provider.shows(first)
    let earlier = try till.engine.lookUp("id-1", known: try till.payment())
    #expect(earlier.id == "id-1" && earlier.attemptNumber == 1)
    #expect(
      earlier.note == "this is attempt 1 of 'A', not its newest attempt"
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
        refused?.advice == "'A' names the newest attempt; to see it: tender journal show id-1"
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
    till.provider.shows(ElsewhereTests.seen(0), ElsewhereTests.seen(0))
    let looked = try till.engine.lookUp("A", known: try till.payment())
    #expect(looked.status == end)
    #expect(
      looked.note
        == "\(till.provider.name.text) shows the 10.00 USD of 'A' as paid now (id-1), and this "
        + "journal has it as \(end.rawValue)"
    )
    let advice = Next.text(looked.payment?.warning, looked.next(.scripted)) ?? ""
    #expect(advice.hasPrefix("do not charge it again; "), "\(advice)")
    #expect(advice.hasSuffix("; to refund the 10.00 USD: tender refund id-1"), "\(advice)")
    // A later look may be an older state.
    var other = ElsewhereTests.seen(0)
    other.status = .declined
    till.provider.shows(other)
    #expect(
      try till.engine.lookUp("A", known: try till.payment()).note
        == "another charge was made under this reference: id-1"
    )
  }
}
