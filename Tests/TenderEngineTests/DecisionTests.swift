import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// The same `transact` again, by the table in TenderEngine/README, 7, through the engine.
@Suite struct DecisionTests {
  /// An end of the earlier `transact`.
  struct Ending: CustomTestStringConvertible, Sendable {
    let name: String
    let act: Scripted.Act
    var traits = Traits.scripted
    var holds = false
    /// The report and the requests for the same content, for other content, and for `--new-attempt`.
    let same: (String, [String])
    let other: (String, [String])
    let again: (String, [String])

    var testDescription: String { name }
  }

  static let reused = ("6 reference_reused", [String]())
  static let stands = ("6 attempt_stands", [String]())
  static func runs(_ number: Int = 2, _ amount: Int = 1000) -> (String, [String]) {
    ("succeeded", ["send charge \(number) \(amount)"])
  }

  static func free(_ name: String, _ kind: Fault.Kind, sends: Bool = false) -> Ending {
    let fault = Fault(kind, code: "some_failure", "it failed")
    let looks = sends ? ["look up"] : []
    return Ending(
      name: name,
      act: .fail(sends ? fault.proven : fault, sends: sends),
      same: ("succeeded", looks + runs().1),
      // What was sent and refused is looked at before the retry.
      other: ("succeeded", looks + runs(2, 2000).1),
      again: ("succeeded", looks + runs().1)
    )
  }

  static func ended(_ status: Status, _ word: String) -> Ending {
    Ending(
      name: "\(status.rawValue) at the provider",
      act: .answer(status),
      same: (word, []),
      other: reused,
      // What ended may have been a false answer, so it is looked at first.
      again: ("succeeded", ["look up", "send charge 2 1000"])
    )
  }

  static let endings: [Ending] =
    [
      Fault.Kind.usage, .auth, .notFound, .rejected, .notSent, .providerError, .state, .refused,
      .cancelled, .expired, .device,
    ].map { free("\($0.rawValue), nothing sent", $0) } + [
      free("rejected, with a proof that nothing was done", .rejected, sends: true),
      ended(.declined, "declined, replayed, 3 declined"),
      ended(.cancelled, "cancelled, replayed, 12 payment_cancelled"),
      ended(.expired, "expired, replayed"),
      Ending(
        name: "succeeded",
        act: .paid,
        same: ("succeeded, replayed", []),
        other: reused,
        again: stands
      ),
      Ending(
        name: "pending",
        act: .answer(.pending),
        same: ("pending, replayed", []),
        other: reused,
        again: stands
      ),
      Ending(
        name: "held",
        act: .answer(.requiresConfirmation),
        holds: true,
        same: ("requires_confirmation, replayed", []),
        other: reused,
        again: stands
      ),
      Ending(
        name: "at the payer's bank",
        act: .answer(.requiresAction, action: PayerAction("redirect")),
        traits: Traits(kinds: Traits.allKinds) { ($0.takesKeys, $0.hasPayerFlow) = (true, true) },
        same: ("succeeded", ["proceed charge 1 1000"]),
        other: reused,
        again: stands
      ),
      Ending(
        name: "unknown",
        act: .lost,
        same: ("succeeded", ["look charge 1 1000", "again charge 1 1000"]),
        other: reused,
        again: ("succeeded", ["look charge 1 1000", "again charge 1 1000"])
      ),
    ]

  @Test(arguments: endings)
  func `does what the payment model says`(_ ending: Ending) throws {
    func till() throws -> Till<Scripted> {
      let till = Till(Scripted(ending.traits, ending.act))
      _ = try till.transact(hold: ending.holds)
      _ = till.provider.heard()
      return till
    }
    let same = try till()
    #expect(try same.transact(hold: ending.holds) == ending.same.0)
    #expect(same.provider.heard() == ending.same.1)
    let other = try till()
    #expect(try other.transact(2000, hold: ending.holds) == ending.other.0)
    #expect(other.provider.heard() == ending.other.1)
    let again = try till()
    #expect(try again.transact(hold: ending.holds, newAttempt: true) == ending.again.0)
    #expect(again.provider.heard() == ending.again.1)
  }

  /// A command whose output was lost may have paid. Run again, it never charges again.
  @Test(arguments: [Status.succeeded, .pending, .requiresConfirmation])
  func `the same new attempt again is replayed`(_ status: Status) throws {
    let holds = status == .requiresConfirmation
    let till = Till(Scripted(.scripted, .answer(.declined), .answer(status)))
    _ = try till.transact(500, hold: holds)
    #expect(try till.transact(hold: holds, newAttempt: true) == status.rawValue)
    _ = till.provider.heard()
    for _ in 0..<2 {
      #expect(
        try till.transact(hold: holds, newAttempt: true) == "\(status.rawValue), replayed"
      )
      #expect(try till.transact(hold: holds) == "\(status.rawValue), replayed")
    }
    // Another amount, or another way of capture, is another attempt.
    #expect(try till.transact(500, hold: holds, newAttempt: true) == "6 attempt_stands")
    #expect(try till.transact(hold: !holds, newAttempt: true) == "6 attempt_stands")
    #expect(till.provider.heard() == [])
  }

  @Test func `a new attempt makes the payment as new as itself`() throws {
    let till = Till(Scripted(.scripted, .answer(.declined)))
    _ = try till.transact()
    let first = try till.payment()?.createdAt ?? 0
    till.clock.advance(86_400_000)
    _ = try till.transact(newAttempt: true)
    #expect(try till.payment()?.createdAt == first + 86_400_000)
    till.clock.advance(86_400_000)
    _ = try till.refund()
    #expect(try till.payment()?.createdAt == first + 86_400_000)
  }

  @Test func `says how it ended where nothing was sent`() throws {
    for (kind, word) in [
      (Fault.Kind.rejected, "7 some_failure"), (.notSent, "10 some_failure"),
      (.expired, "expired, 13 some_failure"), (.cancelled, "cancelled, 12 some_failure"),
      (.usage, "2 some_failure"),
    ] {
      let till = Till(
        Scripted(.scripted, .fail(Fault(kind, code: "some_failure", "it failed"), sends: false))
      )
      #expect(try till.transact() == word)
      #expect(try till.payment()?.state.status.isFinal == true)
    }
  }

  @Test func `a request without a key stays unknown, whatever is asked again`() throws {
    let till = Till(Scripted(.keyless, .lost))
    till.provider.recovers(by: .byHand(canResend: true))
    #expect(try till.transact() == "9 no_answer")
    _ = till.provider.heard()
    for _ in 0..<3 {
      #expect(try till.transact() == "9 outcome_unknown")
      #expect(till.provider.heard() == ["look charge 1 1000"])
      till.clock.advance(100_000_000)
    }
    #expect(try till.resume() == "9 outcome_unknown")
    #expect(try till.resume(finish: true) == "9 outcome_unknown")
    #expect(till.provider.heard() == Array(repeating: "look charge 1 1000", count: 2))
    #expect(try till.resume(finish: true, resend: true) == "succeeded")
    #expect(till.provider.heard() == ["look charge 1 1000", "again charge 1 1000"])
  }

  /// The first request may have charged, whatever the second one is answered.
  @Test(arguments: [Status.declined, .expired, .cancelled])
  func `a request without a key that is sent again in vain stays unknown until a look decides`(
    _ answer: Status
  ) throws {
    let till = Till(Scripted(.keyless, .lost, .answer(answer)))
    till.provider.recovers(by: .byHand(canResend: true))
    #expect(try till.transact() == "9 no_answer")
    till.clock.advance(100_000_000)
    #expect(try till.resume(finish: true, resend: true) == "9 outcome_unknown")
    #expect(try till.payment()?.state.status == .unknown)
    #expect(try till.status() == "unknown")
    till.provider.finds(.done(1, 1000))
    #expect(try till.transact() == "succeeded, replayed")
  }

  /// Under its key it is the same request, so its answer is the answer.
  @Test func `a request with a key that is sent again and declined is declined`() throws {
    let till = Till(Scripted(.scripted, .lost, .answer(.declined)))
    #expect(try till.transact() == "9 no_answer")
    #expect(try till.resume(finish: true) == "declined, 3 declined")
  }

  @Test func `a request with a key is sent again by the same command and by finish alone`() throws {
    let till = Till(Scripted(.scripted, .lost))
    #expect(try till.transact() == "9 no_answer")
    _ = till.provider.heard()
    let key = try till.payment()?.attempt?.key
    #expect(try till.resume() == "9 outcome_unknown")
    #expect(try till.status() == "unknown")
    #expect(try till.refund() == "9 outcome_unknown")
    #expect(try till.cancel() == "9 outcome_unknown")
    #expect(till.provider.heard() == Array(repeating: "look charge 1 1000", count: 4))
    #expect(try till.resume(finish: true) == "succeeded")
    #expect(till.provider.heard() == ["look charge 1 1000", "again charge 1 1000"])
    #expect(try till.payment()?.attempt?.key == key)
  }

  @Test func `an unknown payment that is found is reported, and nothing is sent`() throws {
    let till = Till(Scripted(.scripted, .lost))
    _ = try till.transact()
    till.provider.finds(.done(1, 1000))
    _ = till.provider.heard()
    #expect(try till.transact() == "succeeded, replayed")
    #expect(till.provider.heard() == ["look charge 1 1000"])
  }

  @Test func `an unknown payment that provably did nothing is sent anew by the same command`()
    throws
  {
    let till = Till(Scripted(.scripted, .lost))
    _ = try till.transact()
    till.provider.finds(.nothing)
    _ = till.provider.heard()
    #expect(try till.transact() == "succeeded")
    #expect(
      till.provider.heard() == ["look charge 1 1000", "look up", "send charge 2 1000"]
    )
  }

  @Test func `a dead process that had sent nothing leaves the reference free`() throws {
    let till = Till(Scripted())
    var payment = Payment(
      key: ReferenceKey(env: .simulator, provider: till.provider.name, reference: "A"),
      kind: .payment,
      merchant: "m",
      at: 0
    )
    var dead = Operation.charge(1000, .prepared)
    dead.content = ["command": "transact", "amount": 1000, "currency": "USD"]
    dead.key = "K"
    payment.append(dead)
    _ = try till.journal.open(payment, OpeningTerms(hasOwnKey: true), .power)
    #expect(try till.transact(2000, key: "K") == "6 key_reused")
    #expect(try till.transact(key: "K") == "succeeded")
    let left = try till.payment()
    #expect(left?.operations.map(\.state.name) == [.failed, .succeeded])
  }

  /// Before the send, a charge is only recorded. Its lock shows whether a process works on it.
  @Test func `a charge that another process prepares is not called unsent`() throws {
    let till = Till(Scripted())
    var payment = Payment(
      key: ReferenceKey(env: .simulator, provider: till.provider.name, reference: "A"),
      kind: .payment,
      merchant: "m",
      at: 0
    )
    var charge = Operation.charge(1000, .prepared)
    charge.content = ["command": "transact", "amount": 1000, "currency": "USD"]
    payment.append(charge)
    let recorded = try till.journal.open(payment, OpeningTerms(), .power)
    func plan() throws -> String {
      let order = Order.refund(try .test(nil, "USD"))
      do throws(Fault) {
        let engine = till.engine
        return try engine.plan(try engine.checked(order, on: recorded, handle: "A")).plan.rawValue
      } catch {
        return "\(error.exitStatus) \(error.code): \(error.message)"
      }
    }
    var lock = try till.journal.lock(
      recorded.key,
      by: Deadline(in: 0, on: till.clock),
      interruption: NeverInterrupted()
    )
    #expect(lock != nil)
    #expect(try plan() == "6 in_progress: another process is working on reference 'A'")
    // That process sends it and gets its answer.
    var paid = recorded
    try paid.change(1) { operation throws(Fault) in
      try operation.move(.answer, to: .succeeded, at: 1)
    }
    try till.journal.update(&paid, 1, note: "outcome", .power)
    lock = nil
    #expect(try plan() == "refund")
  }

  @Test func `a charge whose process died before the send was not sent`() throws {
    let till = Till(Scripted(.scripted, .lost))
    var payment = Payment(
      key: ReferenceKey(env: .simulator, provider: till.provider.name, reference: "A"),
      kind: .payment,
      merchant: "m",
      at: 0
    )
    payment.append(Operation.charge(1000, .prepared).asAttempt())
    let recorded = try till.journal.open(payment, OpeningTerms(), .power)
    let engine = till.engine
    let fault = #expect(throws: Fault.self) {
      try engine.plan(try engine.checked(.refund(try .test(nil, "USD")), on: recorded, handle: "A"))
    }
    #expect(
      fault?.message == "there is nothing to refund: 'A' was recorded, and nothing was sent"
    )
  }

  @Test func `another card under the same reference is another order`() throws {
    let till = Till(Scripted())
    let (visa, other) = (("4111111111111111", "12/30"), ("5454545454545454", "12/30"))
    #expect(try till.transact(card: visa) == "succeeded")
    #expect(try till.transact(card: visa) == "succeeded, replayed")
    #expect(try till.transact(card: other) == "6 reference_reused")
    #expect(try till.transact(card: ("4111111111111111", "11/30")) == "6 reference_reused")
    #expect(till.provider.heard() == ["send charge 1 1000"])
  }

  // MARK: Captures, voids

  @Test func `captures a hold in whole, in part, once`() throws {
    let whole = Till(Scripted(.scripted, .answer(.requiresConfirmation)))
    #expect(try whole.transact(hold: true) == "requires_confirmation")
    #expect(try whole.confirm() == "succeeded, capture 1: succeeded")
    #expect(try whole.confirm() == "succeeded, replayed, capture 1: succeeded")
    #expect(try whole.confirm(1000) == "succeeded, replayed, capture 1: succeeded")
    #expect(try whole.confirm(700) == "6 capture_differs")
    #expect(whole.provider.heard() == ["send authorize 1 1000", "look up", "send capture 1 1000"])
    let part = Till(Scripted(.scripted, .answer(.requiresConfirmation)))
    _ = try part.transact(hold: true)
    #expect(try part.confirm(1001) == "6 capture_exceeds")
    #expect(try part.confirm(0) == "6 capture_exceeds")
    #expect(try part.confirm(700) == "succeeded, capture 1: succeeded")
    #expect(try part.confirm(300) == "6 capture_differs")
    let state = try #require(try part.payment()?.state)
    #expect((state.captured, state.released, state.leftToRefund) == (700, 300, 700))
  }

  @Test func `finishes its own lost capture, and another command only looks at it`() throws {
    let till = Till(Scripted(.scripted, .answer(.requiresConfirmation), .lost))
    _ = try till.transact(hold: true)
    #expect(try till.confirm() == "9 no_answer")
    _ = till.provider.heard()
    #expect(try till.payment()?.state.status == .unknown)
    #expect(try till.cancel() == "9 outcome_unknown")
    #expect(try till.refund() == "9 outcome_unknown")
    #expect(try till.status() == "unknown")
    #expect(try till.transact(hold: true) == "9 outcome_unknown")
    #expect(till.provider.heard() == Array(repeating: "look capture 1 1000", count: 4))
    #expect(try till.confirm() == "succeeded, capture 1: succeeded")
    #expect(till.provider.heard() == ["look capture 1 1000", "again capture 1 1000"])
  }

  @Test(arguments: [
    (Status.declined, "declined"), (.expired, "expired"), (.cancelled, "cancelled"),
  ])
  func `a capture that ended the hold ends the payment`(
    _ status: Status,
    _ word: String
  ) throws {
    let till = Till(Scripted(.scripted, .answer(.requiresConfirmation), .answer(status)))
    _ = try till.transact(hold: true)
    #expect(try till.confirm().hasPrefix(word))
    #expect(try till.payment()?.state.status == status)
    #expect(try till.payment()?.state.isFinal == true)
    #expect(try till.confirm() == "6 no_auth")
    #expect(try till.transact(hold: true).hasPrefix("\(word), replayed"))
    _ = till.provider.heard()
    #expect(try till.transact(hold: true, newAttempt: true).hasPrefix("succeeded"))
    #expect(till.provider.heard() == ["look up", "send authorize 2 1000"])
  }

  @Test func `a capture without effect leaves the hold`() throws {
    let refused = Fault(.rejected, code: "refused", "refused").proven
    let till = Till(
      Scripted(.scripted, .answer(.requiresConfirmation), .fail(refused, sends: true))
    )
    _ = try till.transact(hold: true)
    #expect(try till.confirm() == "7 refused")
    #expect(try till.payment()?.state.isHeld == true)
    #expect(try till.confirm() == "succeeded, capture 2: succeeded")
  }

  @Test func `voids a hold, and replays that`() throws {
    let till = Till(Scripted(.scripted, .answer(.requiresConfirmation), .answer(.cancelled)))
    _ = try till.transact(hold: true)
    #expect(try till.cancel() == "cancelled, void 1: succeeded")
    #expect(try till.cancel() == "cancelled, replayed, void 1: succeeded")
    #expect(try till.confirm() == "6 no_auth")
    // A refund of a hold is the same void.
    #expect(try till.refund() == "cancelled, replayed, void 1: succeeded")
    #expect(try till.refund(4) == "6 nothing_to_refund")
    #expect(till.provider.heard() == ["send authorize 1 1000", "look up", "send void 1 1000"])
  }

  @Test func `has nothing to confirm, cancel or refund where nothing was taken`() throws {
    let till = Till(Scripted(.scripted, .answer(.declined)))
    _ = try till.transact()
    _ = till.provider.heard()
    #expect(try till.confirm() == "6 no_auth")
    #expect(try till.cancel() == "6 nothing_to_cancel")
    #expect(try till.refund() == "6 nothing_to_refund")
    #expect(try till.refund(4) == "6 nothing_to_refund")
    #expect(try till.confirm(nil, "B") == "5 payment_not_found")
    #expect(try till.cancel(nil, "B") == "5 payment_not_found")
    #expect(try till.refund(reference: "B") == "5 payment_not_found")
    #expect(till.provider.heard() == [])
  }
}
