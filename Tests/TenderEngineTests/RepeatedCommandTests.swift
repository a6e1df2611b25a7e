import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Repetitions of a command, and what explains an operation whose answer was lost.
@Suite struct RepeatedCommandTests {
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
    let till = Till(Scripted(Traits(kinds: Traits.allKinds) { $0.refundsByVoid = true }))
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
    till.provider.shows(ElsewhereTests.seen(0))
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
    till.provider.shows(ElsewhereTests.seen(400))
    #expect(try till.refund(400) == "partially_refunded, refund 2: succeeded")
    #expect(try till.payment()?.reversals.map(\.state.name) == [.failed, .succeeded])
    #expect(try ElsewhereTests.amounts(till) == [1000, 400, 0, 600])
  }

  /// The provider gives only a sum. It can be one refund of another program, or two.
  @Test func `a sum that is more than the unknown refund leaves it unknown`() throws {
    let till = try RefundTests.paid(.keyless)
    till.provider.recovers(by: .byHand(canResend: true))
    till.provider.then(.lost)
    #expect(try till.refund(300) == "9 no_answer")
    till.provider.shows(ElsewhereTests.seen(500))
    for _ in 1...2 {
      #expect(try till.resume(finish: true, resend: true) == "9 outcome_unknown")
      #expect(try ElsewhereTests.amounts(till) == [1000, 200, 300, 500])
    }
  }

  /// The void can be a part, whose replacement is not shown yet, or the whole.
  @Test func `a void that is not the unknown refund stops that refund`() throws {
    let till = try RefundTests.paid()
    till.provider.then(.lost)
    #expect(try till.refund(300) == "9 no_answer")
    var voided = ElsewhereTests.seen(0)
    voided.status = .cancelled
    till.provider.shows(voided)
    _ = till.provider.heard()
    #expect(try till.resume(finish: true, resend: true) == "9 outcome_unknown")
    #expect(till.provider.heard() == ["look refund 1 300", "look up"])
    #expect(try ElsewhereTests.amounts(till) == [1000, 0, 300, 700])
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
