import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// What happens at the provider beside this journal, between two commands. Histories found each of these.
@Suite struct BesideTests {
  private static func seen(
    _ status: Status,
    _ id: String = "id-1",
    _ amount: Int = 1000,
    refunded: Int? = nil
  ) -> Outcome {
    var outcome = Outcome(status: status, id: id, amount: amount, result: [:])
    outcome.refundedAmount = refunded
    return outcome
  }

  private static func charge(_ id: String) -> Outcome.Seen {
    .init(id: id, state: .succeeded, amount: 1000, result: [:])
  }

  private func amounts(_ till: Till<Scripted>) throws -> [Int] {
    let state = try #require(try till.payment()?.state)
    return [state.captured, state.refunded, state.returned, state.surplus]
  }

  /// A search by reference shows the charges of all attempts.
  @Test func `the charge of a newer attempt is not another charge of an earlier one`() throws {
    let till = Till(Scripted(.keyless, .answer(.declined), .answer(.succeeded)))
    #expect(try till.transact().hasPrefix("declined"))
    #expect(try till.transact(newAttempt: true) == "succeeded")
    var (first, second) = (Self.seen(.declined), Self.seen(.succeeded, "id-2"))
    first.charges = [Self.charge("id-2")]
    second.charges = first.charges
    till.provider.shows(first, second)
    #expect(try till.refund(300) == "partially_refunded, refund 1: succeeded")
    #expect(try amounts(till) == [1000, 300, 0, 0])
    #expect(try till.payment()?.operations.count == 3)
  }

  /// Journals of earlier versions can have two records of one payment.
  @Test func `a record that shares an id moves no money`() throws {
    var till = Till(
      Scripted(.keyless, .answer(.requiresConfirmation), .answer(.succeeded), .lost)
    )
    #expect(try till.transact(1000, "H", hold: true) == "requires_confirmation")
    #expect(try till.transact(1000, "A") == "succeeded")
    #expect(try till.refund(300) == "9 no_answer")
    till.clock.advance(100_000_000)
    till.remembersIDs = true
    till.provider.shows(Self.seen(.succeeded))
    _ = till.provider.heard()
    #expect(try till.resume(finish: true, resend: true) == "6 id_shared")
    #expect(try till.confirm(nil, "H") == "6 id_shared")
    #expect(till.provider.heard().allSatisfy { $0.hasPrefix("look") })
    till.remembersIDs = false
    #expect(try till.resume(finish: true, resend: true).contains("refund 1"))
  }

  /// A lost charge without a key is sent again only where its reference shows no other payment.
  @Test(arguments: [
    (Status.succeeded, 700, "9 outcome_unknown"), (.pending, 1000, "9 outcome_unknown"),
    (.declined, 700, "succeeded"),
    (.failed, 1000, "succeeded"),
  ])
  func `a lost charge is not sent beside another of its reference`(
    _ status: Status,
    _ amount: Int,
    _ ends: String
  ) throws {
    let traits = Traits(kinds: Traits.allKinds) { $0.looksByReference = true }
    let till = Till(Scripted(traits, .lost, .answer(.succeeded)))
    till.provider.recovers(by: .byHand(canResend: true))
    #expect(try till.transact() == "9 no_answer")
    till.clock.advance(100_000_000)
    till.provider.shows(Self.seen(status, "id-9", amount))
    _ = till.provider.heard()
    let said = try till.resume(finish: true, resend: true)
    #expect(said == ends)
    let sent = till.provider.heard().contains { $0.hasPrefix("again") }
    #expect(sent == (ends == "succeeded"))
  }

  /// A look that fails says nothing about the money of the lost charge.
  @Test func `a lost charge stays unknown where its reference cannot be asked`() throws {
    let traits = Traits(kinds: Traits.allKinds) { $0.looksByReference = true }
    let till = Till(Scripted(traits, .lost))
    till.provider.recovers(by: .byHand(canResend: true))
    #expect(try till.transact() == "9 no_answer")
    till.clock.advance(100_000_000)
    till.provider.isBlind(Fault(.providerError, code: "blind", "no answer"))
    _ = till.provider.heard()
    #expect(try till.resume(finish: true, resend: true).hasPrefix("9 "))
    #expect(!till.provider.heard().contains { $0.hasPrefix("again") || $0.hasPrefix("send") })
    // A new reference is free.
    #expect(try till.transact(500, "B", looksFirst: true) == "11 blind")
  }

  /// One answer had another amount for the entry of a lost refund. A later one has the right amount.
  @Test(arguments: [Operation.State.processing, .succeeded])
  func `a lost refund is found behind an entry that had another amount`(
    _ state: Operation.State
  ) throws {
    let till = Till(Scripted(.keyless, .answer(.succeeded), .lost))
    till.provider.recovers(by: .byHand(canResend: true))
    #expect(try till.transact() == "succeeded")
    #expect(try till.refund(400).hasPrefix("9 "))
    for amount in [900, 400] {
      var look = Self.seen(.succeeded)
      look.refunds = [.init(id: "R1", state: state, amount: amount, result: [:])]
      till.provider.shows(look)
      #expect(try till.refund(400).hasPrefix("9 ") == (amount == 900))
    }
    #expect(try till.payment()?.state.leftToRefund == 600)
  }

  /// An entry of a list that is there twice is one refund.
  @Test func `a repeated entry is one refund`() throws {
    let till = Till(Scripted(.keyless, .answer(.succeeded)))
    #expect(try till.transact() == "succeeded")
    var look = Self.seen(.succeeded, refunded: 400)
    let entry = Outcome.Seen(id: "R1", state: .succeeded, amount: 400, result: [:])
    look.refunds = [entry, entry]
    till.provider.shows(look)
    for _ in 0..<2 {
      _ = try till.status()
      #expect(try amounts(till) == [1000, 400, 0, 0])
    }
  }

  /// A list that names only what is known is an older one, whatever it lacks.
  @Test func `a refund known by its sum stays after an older list`() throws {
    let till = Till(Scripted(.keyless, .answer(.succeeded), .answer(.succeeded, id: "R1")))
    #expect(try till.transact() == "succeeded")
    #expect(try till.refund(400, name: "a").hasPrefix("partially_refunded"))
    var look = Self.seen(.succeeded, refunded: 700)
    let own = Outcome.Seen(id: "R1", state: .succeeded, amount: 400, result: [:])
    look.refunds = [own]
    till.provider.shows(look)
    #expect(try till.refund(300, name: "b") == "6 refunded_elsewhere")
    look.refundedAmount = 400
    till.provider.shows(look)
    for _ in 0..<2 { #expect(try till.refund(300, name: "b") == "6 refunded_elsewhere") }
    #expect(try till.payment()?.operations.count == 3)
    // The list names it.
    look.refundedAmount = 700
    look.refunds.append(.init(id: "R2", state: .succeeded, amount: 300, result: [:]))
    till.provider.shows(look)
    #expect(try till.refund(300, name: "b") == "6 refunded_elsewhere")
    #expect(try till.payment()?.refundsElsewhere.map(\.handle) == ["R2"])
    #expect(try amounts(till) == [1000, 700, 0, 0])
  }

  /// A refused attempt leaves its reference free. It is looked for again, as a new one is.
  @Test func `a hold of another journal stops the repetition of a refused charge`() throws {
    let till = Till(
      Scripted(.keyless, .fail(Fault(.rejected, code: "refused", "no").proven, sends: true))
    )
    #expect(try till.transact(looksFirst: true) == "7 refused")
    till.provider.shows(Self.seen(.requiresConfirmation, "id-9"))
    _ = till.provider.heard()
    #expect(try till.transact(looksFirst: true) == "6 reference_at_provider")
    #expect(!till.provider.heard().contains { $0.hasPrefix("send") })
  }

  /// The bank took the captured part back before a look showed the capture.
  @Test func `a hold that was captured and returned elsewhere is one return`() throws {
    let till = Till(Scripted(.keyless, .answer(.requiresConfirmation)))
    #expect(try till.transact(hold: true) == "requires_confirmation")
    till.provider.shows(Self.seen(.returned, "id-1", 700))
    for _ in 0..<2 { #expect(try till.status() == "returned") }
    #expect(try amounts(till) == [700, 0, 700, 0])
    _ = till.provider.heard()
    _ = try till.confirm()
    #expect(!till.provider.heard().contains { $0.hasPrefix("send") })
  }

  @Test func `a hold that was captured and refunded elsewhere shows both after one look`() throws {
    let till = Till(Scripted(.keyless, .answer(.requiresConfirmation)))
    #expect(try till.transact(hold: true) == "requires_confirmation")
    till.provider.shows(Self.seen(.partiallyRefunded, refunded: 31))
    #expect(try till.refund() == "6 refunded_elsewhere")
    #expect(try amounts(till) == [1000, 31, 0, 0])
  }

  /// Captured in part and voided: nothing is left, and the amount is no contradiction.
  @Test func `a hold that was captured and voided elsewhere is cancelled`() throws {
    let till = Till(Scripted(.keyless, .answer(.requiresConfirmation)))
    #expect(try till.transact(hold: true) == "requires_confirmation")
    till.provider.shows(Self.seen(.cancelled, "id-1", 700))
    #expect(try till.status() == "cancelled")
  }

  /// The process of a capture or a refund died before anything was sent.
  @Test(arguments: [true, false])
  func `an operation that was never sent does not hide a void made elsewhere`(
    _ isHold: Bool
  ) throws {
    let traits = Traits(kinds: Traits.allKinds) { $0.refundsByVoid = true }
    let till = Till(Scripted(traits, .answer(isHold ? .requiresConfirmation : .succeeded)))
    _ = try till.transact(hold: isHold)
    var payment = try #require(try till.payment())
    payment.append(isHold ? .capture(1000, .prepared) : .void(1000, .prepared))
    try till.journal.update(&payment, 2, note: "recorded", .power)
    till.provider.shows(Self.seen(.cancelled))
    #expect(try till.status() == "cancelled")
    #expect(try till.payment()?.state.leftToRefund == 0)
  }

  /// A lost refund is sent again only if money may still go back.
  @Test func `a lost refund is not finished after a refund elsewhere, a dispute or a return`()
    throws
  {
    var (refunded, disputed) = (Self.seen(.partiallyRefunded), Self.seen(.succeeded))
    refunded.refunds = [.init(id: "r-9", state: .succeeded, amount: 47, result: [:])]
    disputed.dispute = "PENDING"
    for shown in [refunded, disputed, Self.seen(.returned)] {
      let till = try RefundTests.paid()
      till.provider.then(.lost)
      #expect(try till.refund(300) == "9 no_answer")
      till.provider.shows(shown)
      _ = till.provider.heard()
      let ends = try (0..<2).flatMap { _ in
        [try till.resume(finish: true), try till.refund(300)]
      }
      #expect(ends == Array(repeating: "9 outcome_unknown", count: 4), "\(shown.status)")
      #expect(!till.provider.heard().contains { $0.hasPrefix("again") })
    }
    // Without any of these it is.
    let till = try RefundTests.paid()
    till.provider.then(.lost)
    #expect(try till.refund(300) == "9 no_answer")
    #expect(try till.resume(finish: true) == "partially_refunded, refund 1: succeeded")
  }
}
