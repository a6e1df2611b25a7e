import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// The rules for refunds and unknown operations (TenderEngine/README, 7 and 10), through the engine.
@Suite struct RefundTests {
  /// Returns a paid payment of 10.00.
  static func paid(_ traits: Traits = .scripted) throws -> Till<Scripted> {
    let till = Till(Scripted(traits))
    #expect(try till.transact() == "succeeded")
    _ = till.provider.heard()
    return till
  }

  @Test func `a look at many refunds takes as long as they are many`() throws {
    let till = try Self.paid()
    let paid = try #require(try till.payment())
    func refunded(_ count: Int) -> (payment: Payment, shown: Outcome) {
      var (operations, shown) = (paid.operations, Outcome(status: .succeeded, result: [:]))
      for number in 1...count {
        var refund = Operation(.refund, amount: 1, at: 0)
        (refund.sequence, refund.number) = (number + 1, number)
        (refund.id, refund.state) = ("r-\(number)", .succeeded)
        operations.append(refund)
        shown.refunds.append(.init(id: "r-\(number)", state: .succeeded, amount: 1, result: [:]))
      }
      return (paid.with(operations), shown)
    }
    let cases = [300: refunded(300), 1200: refunded(1200)]
    try Growth.expectLinear(base: 300) { count in
      let (payment, shown) = try #require(cases[count])
      till.provider.shows(shown)
      _ = try till.engine.lookUp("A", known: payment)
    }
  }

  private func left(_ till: Till<Scripted>) throws -> [Int] {
    let state = try #require(try till.payment()?.state)
    return [state.refunded, state.refunding, state.leftToRefund]
  }

  @Test func `refunds what is left, and replays that for ever`() throws {
    let till = try Self.paid()
    #expect(try till.refund(300) == "partially_refunded, refund 1: succeeded")
    #expect(try till.refund() == "refunded, refund 2: succeeded")
    #expect(try till.refund() == "refunded, replayed, refund 2: succeeded")
    #expect(try till.refund(300) == "refunded, replayed, refund 1: succeeded")
    #expect(try till.refund(400) == "6 refund_exceeds")
    #expect(try till.refund(1, name: "r") == "6 refund_exceeds")
    #expect(
      till.provider.heard() == ["look up", "send refund 1 300", "look up", "send refund 2 700"]
    )
    #expect(try left(till) == [1000, 0, 0])
  }

  @Test func `fixes the amount of what is left when it is recorded`() throws {
    let till = try Self.paid()
    till.provider.then(.answer(.pending))
    #expect(try till.refund() == "succeeded, refund 1: processing")
    #expect(try till.refund() == "succeeded, replayed, refund 1: processing")
    #expect(try left(till) == [0, 1000, 0])
    #expect(try till.refund(1) == "6 refund_exceeds")
    #expect(till.provider.heard() == ["look up", "send refund 1 1000"])
  }

  /// Named refunds need no confirmation, and the first without a name is told from its repetition.
  @Test(arguments: [1, 2, 3])
  func `has one refund without a name behind named ones`(_ named: Int) throws {
    let till = try Self.paid()
    for number in 1...named {
      for _ in 0..<2 { _ = try till.refund(100, name: "item-\(number)") }
    }
    #expect(try till.refund(100) == "partially_refunded, refund \(named + 1): succeeded")
    #expect(try till.refund(100) == "partially_refunded, replayed, refund \(named + 1): succeeded")
    #expect(try till.refund(50) == "6 refund_needs_name")
    #expect(try left(till)[0] == 100 * (named + 1))
  }

  @Test func `has one refund by amount without a name`() throws {
    let till = try Self.paid()
    #expect(try till.refund(300) == "partially_refunded, refund 1: succeeded")
    #expect(try till.refund(300) == "partially_refunded, replayed, refund 1: succeeded")
    #expect(try till.refund(200) == "6 refund_needs_name")
    #expect(till.provider.heard() == ["look up", "send refund 1 300"])
    #expect(
      try till.refund(200, isFurtherApproved: true) == "partially_refunded, refund 2: succeeded"
    )
    #expect(try till.refund(200) == "partially_refunded, replayed, refund 2: succeeded")
    #expect(try till.refund() == "refunded, refund 3: succeeded")
    #expect(try left(till) == [1000, 0, 0])
  }

  @Test func `has one refund for each name`() throws {
    let till = try Self.paid()
    #expect(try till.refund(300, name: "r1") == "partially_refunded, refund 1: succeeded")
    #expect(try till.refund(300, name: "r2") == "partially_refunded, refund 2: succeeded")
    #expect(try till.refund(300, name: "r1") == "partially_refunded, replayed, refund 1: succeeded")
    #expect(try till.refund(200, name: "r1") == "6 refund_differs")
    #expect(try till.refund(name: "r1") == "6 refund_differs")
    #expect(try till.refund(500, name: "r3") == "6 refund_exceeds")
    #expect(try till.refund(name: "r3") == "refunded, refund 3: succeeded")
    #expect(try till.refund(name: "r3") == "refunded, replayed, refund 3: succeeded")
    #expect(try till.refund(400, name: "r3") == "refunded, replayed, refund 3: succeeded")
    #expect(try till.refund(100, name: "r3") == "6 refund_differs")
    #expect(try left(till) == [1000, 0, 0])
    let names = try till.payment()?.reversals.map { $0.name ?? "" }
    #expect(names == ["r1", "r2", "r3"])
  }

  @Test func `a replay writes nothing`() throws {
    let till = try Self.paid()
    _ = try till.refund(300, name: "r1")
    _ = try till.refund(300, name: "r2")
    let before = try till.payment()
    let notes = try till.notes()
    let said = till.heard.all.count
    #expect(try till.refund(300, name: "r1") == "partially_refunded, replayed, refund 1: succeeded")
    #expect(try till.transact() == "partially_refunded, replayed")
    let after = try till.payment()
    #expect(after?.version == before?.version)
    #expect(after?.state == before?.state)
    #expect(after?.reversals.map(\.name) == ["r1", "r2"])
    #expect(try till.notes() == notes)
    #expect(till.heard.all.count == said)
  }

  @Test(arguments: [Status.declined, .cancelled, .expired])
  func `frees name and amount where a refund ended without effect`(_ status: Status) throws {
    let till = try Self.paid()
    // `cancelled` would be the success of a reversal, so this one ends differently.
    let refused = Fault(.rejected, code: "refused", "refused").proven
    let act: Scripted.Act = status == .cancelled ? .fail(refused, sends: true) : .answer(status)
    till.provider.then(act, act)
    _ = try till.refund(300)
    _ = try till.refund(300, name: "r1")
    #expect(try left(till) == [0, 0, 1000])
    #expect(try till.refund(400) == "partially_refunded, refund 3: succeeded")
    #expect(try till.refund(200, name: "r1") == "partially_refunded, refund 4: succeeded")
    #expect(try left(till) == [600, 0, 400])
  }

  @Test func `frees name and amount where a refund came back`() throws {
    let till = try Self.paid()
    till.provider.then(.answer(.returned))
    _ = try till.refund(300, name: "r1")
    #expect(try left(till) == [0, 0, 1000])
    #expect(try till.refund(300, name: "r1") == "partially_refunded, refund 2: succeeded")
  }

  @Test func `finishes its own lost refund under the same key`() throws {
    let till = try Self.paid()
    till.provider.then(.lost)
    #expect(try till.refund(300) == "9 no_answer")
    let key = try till.payment()?.reversals.first?.key
    #expect(key != nil)
    _ = till.provider.heard()
    #expect(try till.refund(300) == "partially_refunded, refund 1: succeeded")
    #expect(till.provider.heard() == ["look refund 1 300", "look up", "again refund 1 300"])
    #expect(try till.payment()?.reversals.map(\.key) == [key])
    #expect(try left(till) == [300, 0, 700])
  }

  @Test func `reports its own lost refund that is found`() throws {
    let till = try Self.paid()
    till.provider.then(.lost)
    _ = try till.refund()
    _ = till.provider.heard()
    till.provider.finds(.done(2, 1000))
    #expect(try till.refund() == "refunded, refund 1: succeeded")
    #expect(till.provider.heard() == ["look refund 1 1000"])
  }

  /// While another refund is unknown, none is opened. Once it is known, this one was not sent.
  @Test func `only looks at another refund that is unknown`() throws {
    let till = try Self.paid()
    till.provider.then(.lost)
    _ = try till.refund(300, name: "r1")
    _ = till.provider.heard()
    #expect(try till.refund(200, name: "r2") == "9 outcome_unknown")
    #expect(try till.refund(300) == "9 outcome_unknown")
    #expect(try till.refund() == "9 outcome_unknown")
    #expect(try till.refund(300, name: "r2") == "9 outcome_unknown")
    // The same name with another amount is refused in every state.
    #expect(try till.refund(200, name: "r1") == "6 refund_differs")
    #expect(till.provider.heard() == Array(repeating: "look refund 1 300", count: 4))
    #expect(try left(till) == [0, 300, 700])
    till.provider.finds(.done(2, 300))
    #expect(try till.refund(200, name: "r2") == "6 earlier_refund_resolved")
    #expect(till.provider.heard() == ["look refund 1 300"])
    #expect(try left(till) == [300, 0, 700])
    #expect(try till.refund(200, name: "r2") == "partially_refunded, refund 2: succeeded")
  }

  /// Without a name, the suggested command would be refused.
  @Test func `names the further refund after one by amount that was found`() throws {
    let till = try Self.paid()
    till.provider.then(.lost)
    #expect(try till.refund(300) == "9 no_answer")
    till.provider.finds(.done(2, 300))
    let found = try till.payment()
    let fault = #expect(throws: Fault.self) {
      try till.engine.refund(found, handle: "A", try .test(200, "USD"), idempotencyKey: nil)
    }
    #expect(
      fault?.advice
        == "to refund another 2.00 USD: tender refund A --amount 2.00 --currency USD "
        + "--refund-reference NAME"
    )
    #expect(try till.refund(200) == "6 refund_needs_name")
  }

  @Test func `says that another refund provably did nothing, and sends nothing`() throws {
    let till = try Self.paid()
    till.provider.then(.lost)
    _ = try till.refund(300, name: "r1")
    _ = till.provider.heard()
    till.provider.finds(.nothing)
    #expect(try till.refund(200, name: "r2") == "6 earlier_refund_resolved")
    #expect(till.provider.heard() == ["look refund 1 300"])
    #expect(try left(till) == [0, 0, 1000])
  }

  @Test func `cancel only looks at a refund that is unknown`() throws {
    let traits = Traits(kinds: Traits.allKinds) { traits in
      (traits.takesKeys, traits.hasPayerFlow, traits.cancelsCaptured) = (true, true, false)
    }
    let till = try Self.paid(traits)
    till.provider.then(.lost)
    #expect(try till.refund(300) == "9 no_answer")
    _ = till.provider.heard()
    #expect(try till.cancel() == "9 outcome_unknown")
    #expect(till.provider.heard() == ["look refund 1 300"])
    till.provider.finds(.done(2, 300))
    #expect(try till.cancel() == "6 refund_not_stopped")
    #expect(till.provider.heard() == ["look refund 1 300"])
  }

  @Test func `a refund without a key is never sent again by itself`() throws {
    let till = try Self.paid(.keyless)
    till.provider.recovers(by: .byHand(canResend: true))
    till.provider.then(.lost)
    _ = try till.refund(300)
    _ = till.provider.heard()
    till.clock.advance(100_000_000)
    #expect(try till.refund(300) == "9 outcome_unknown")
    #expect(try till.resume(finish: true) == "9 outcome_unknown")
    #expect(
      till.provider.heard()
        == [[String]](repeating: ["look refund 1 300", "look up"], count: 2).flatMap(\.self)
    )
    #expect(
      try till.resume(finish: true, resend: true) == "partially_refunded, refund 1: succeeded"
    )
  }

  @Test func `a payment with an unknown refund stays what it is`() throws {
    let till = try Self.paid()
    till.provider.then(.lost)
    _ = try till.refund(300)
    let payment = try #require(try till.payment())
    #expect(payment.state.status == .succeeded)
    #expect(PaymentStateTests.unknown.lets(payment))
    #expect(try till.transact() == "succeeded, replayed")
  }

  // MARK: Keys

  @Test func `one key is for one operation`() throws {
    let till = try Self.paid()
    #expect(try till.refund(300, name: "r1", key: "K") == "partially_refunded, refund 1: succeeded")
    _ = till.provider.heard()
    #expect(try till.refund(300, name: "r2", key: "K") == "6 key_reused")
    #expect(try till.refund(400, name: "r3", key: "K") == "6 key_reused")
    #expect(try till.transact(1000, "B", key: "K") == "6 key_reused")
    #expect(
      try till.refund(300, name: "r1", key: "K")
        == "partially_refunded, replayed, refund 1: succeeded"
    )
    let heard = till.provider.heard().filter { $0.contains("again") }
    #expect(heard == [])
    #expect(try left(till) == [300, 0, 700])
    #expect(try till.payment("B") == nil)
  }

  @Test func `takes over the key of the same request that did nothing`() throws {
    let till = Till(
      Scripted(.scripted, .fail(Fault(.rejected, code: "refused", "no"), sends: false))
    )
    #expect(try till.transact(key: "K") == "7 refused")
    #expect(try till.transact(2000, key: "K") == "6 key_reused")
    #expect(try till.transact(key: "K") == "succeeded")
    let keys = try till.payment()?.attempts.map { $0.key ?? "" }
    #expect(keys == ["K", "K"])
  }

  @Test func `makes another key for each operation`() throws {
    let till = try Self.paid()
    _ = try till.refund(300, name: "r1")
    _ = try till.refund(300, name: "r2")
    _ = try till.transact(1000, "B")
    let payments = [try till.payment(), try till.payment("B")].compactMap { $0 }
    let keys = payments.flatMap(\.operations).compactMap(\.key)
    #expect(keys.count == 4)
    #expect(Set(keys).count == 4)
  }

  @Test func `takes no key where the provider takes none`() throws {
    let till = Till(Scripted(.keyless))
    #expect(try till.transact(key: "K") == "2 bad_options")
    #expect(try till.transact() == "succeeded")
    #expect(try till.refund(300, key: "K") == "2 bad_options")
    #expect(try till.payment()?.operations.compactMap(\.key) == [])
  }

  // MARK: Dead processes

  /// A process that died before it sent leaves a refund that is only recorded.
  @Test(arguments: [nil, "r1"] as [String?])
  func `sends a refund whose process died before it was sent`(_ name: String?) throws {
    let till = try Self.paid()
    var payment = try #require(try till.payment())
    var dead = Operation.refund(300, .prepared)
    dead.name = name
    dead.key = "K"
    let sequence = payment.append(dead)
    try till.journal.update(&payment, sequence, note: "preparation stored", .power)
    #expect(try left(till) == [0, 0, 1000])
    #expect(try till.refund(300, name: name, key: "K") == "partially_refunded, refund 2: succeeded")
    #expect(till.provider.heard() == ["look up", "send refund 2 300"])
    #expect(try left(till) == [300, 0, 700])
  }

  @Test func `voids all of it where a provider does that, and refunds a part`() throws {
    let traits = Traits(kinds: Traits.allKinds) { ($0.takesKeys, $0.refundsByVoid) = (true, true) }
    let till = try Self.paid(traits)
    till.provider.then(.answer(.cancelled))
    #expect(try till.refund() == "cancelled, void 1: succeeded")
    #expect(try left(till) == [0, 0, 0])
    let other = try Self.paid(traits)
    #expect(try other.refund(300) == "partially_refunded, refund 1: succeeded")
    #expect(try other.cancel() == "6 refund_not_stopped")
    #expect(try other.refund() == "refunded, refund 2: succeeded")
  }
}
