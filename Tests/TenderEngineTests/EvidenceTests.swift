import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Tests which answers prove something about a sent request.
@Suite struct EvidenceTests {
  static let kinds = Fault.Kind.allCases.filter {
    ![.unknown, .interrupted, .terminated].contains($0)
  }

  private func run(
    _ fault: Fault,
    sends: Bool
  ) throws -> (exit: String, attempt: Operation?, said: [String]) {
    let till = Till(Scripted(.scripted, .fail(fault, sends: sends)))
    let words = try till.transact()
    let exit = words.split(separator: " ").first { Int($0) != nil }
    return (exit.map(String.init) ?? "0", try till.payment()?.attempt, till.heard.all)
  }

  @Test(arguments: kinds)
  func `a plain failure after a send is unknown, a proven one is what it is`(
    _ kind: Fault.Kind
  ) throws {
    let fault = Fault(kind, code: "some_failure", "it failed", result: ["type": "NO"])
    let before = try run(fault, sends: false)
    #expect(before.exit == "\(kind.exitStatus)")
    #expect(before.attempt?.state == .failed)
    #expect(before.attempt?.effect == Fault.Effect.none)
    let after = try run(fault, sends: true)
    #expect(after.exit == "9")
    #expect(after.attempt?.state.name == .sent)
    #expect(after.said.last == "unknown")
    guard kind != .state else { return }
    let proven = try run(fault.proven, sends: true)
    #expect(proven.exit == "\(kind.exitStatus)")
    #expect(proven.attempt?.state == .failed)
  }

  @Test(arguments: [Fault.Kind.interrupted, .terminated])
  func `a signal after a send says that a request was under way`(_ kind: Fault.Kind) throws {
    let after = try run(.stopped(by: kind, underWay: "nothing was under way"), sends: true)
    #expect(after.attempt?.state.name == .sent)
    #expect(after.attempt?.fault?.message.contains("request was under way") == true)
  }

  @Test func `effect comes first: the error's name stays in the result`() throws {
    let fault = Fault(.rejected, code: "no_auth", "no", result: ["type": "NO_AUTH"])
    let after = try run(fault, sends: true)
    #expect(after.exit == "9")
    #expect(after.attempt?.fault?.result?.text("type") == "NO_AUTH")
  }

  // MARK: Answers

  /// An answer decides an operation only if it names it: amount, currency and id.
  @Test(arguments: [
    ("another amount", Finding.done(1, 999)), ("more", .done(1, 1001)),
    ("another currency", .done(1, 1000, currency: "GBP")), ("less than nothing", .done(1, -1000)),
  ])
  func `does not believe an answer about something else`(
    _ name: String,
    _ finding: Finding
  ) throws {
    let till = Till(Scripted(.scripted, .lost))
    _ = try till.transact()
    for _ in 0..<2 {
      till.provider.finds(finding)
      #expect(try till.resume() == "9 outcome_unknown")
      till.provider.finds(finding)
      #expect(try till.transact() == "9 outcome_unknown")
    }
    #expect(try till.payment()?.state.status == .unknown)
    till.provider.finds(.done(1, 1000, currency: "USD"))
    #expect(try till.resume() == "succeeded, replayed")
  }

  @Test func `does not believe an answer about another id`() throws {
    let prepared = Scripted.Act.custom { progress throws(Fault) in
      try progress.prepare(.plain("step"), id: "id-known")
      try progress.willSend()
      throw Fault(.unknown, effect: .unknown, code: "no_answer", "no answer")
    }
    let till = Till(Scripted(.scripted, prepared))
    _ = try till.transact()
    till.provider.finds(.done(1, 1000, id: "id-other"))
    #expect(try till.resume() == "9 outcome_unknown")
    till.provider.finds(.done(1, 1000, id: "id-known"))
    #expect(try till.resume() == "succeeded, replayed")
  }

  @Test(arguments: [299, 301])
  func `does not believe an answer about another refund`(_ amount: Int) throws {
    let till = try RefundTests.paid()
    till.provider.then(.lost)
    _ = try till.refund(300)
    till.provider.finds(.done(2, amount))
    #expect(try till.resume() == "9 outcome_unknown")
    #expect(try till.payment()?.state.refunding == 300)
  }

  @Test func `looks once before it reports an unknown result`() throws {
    let till = Till(Scripted(.scripted, .lost))
    till.provider.finds(.done(1, 1000))
    #expect(try till.transact() == "succeeded")
    #expect(
      till.provider.heard() == ["send charge 1 1000", "look charge 1 1000"]
    )
    let other = Till(Scripted(.scripted, .lost))
    other.provider.finds(.done(1, 999))
    #expect(try other.transact() == "9 no_answer")
  }

  @Test func `a failed look proves nothing`() throws {
    let till = Till(Scripted(.scripted, .lost))
    _ = try till.transact()
    till.provider.finds(.absent, .cannotLook)
    for _ in 0..<3 {
      #expect(try till.resume() == "9 outcome_unknown")
      till.clock.advance(10_000_000)
    }
  }

  @Test func `a second try that fails says nothing about the first`() throws {
    let refused = Fault(.rejected, code: "refused", "refused").proven
    let till = Till(Scripted(.scripted, .lost, .fail(refused, sends: true)))
    _ = try till.transact()
    #expect(try till.transact() == "9 outcome_unknown")
    #expect(try till.payment()?.attempt?.state.name == .sent)
  }

  @Test func `sends under a key for as long as the key lives, and not too early`() throws {
    let traits = Traits(kinds: Traits.allKinds) { ($0.takesKeys, $0.keyLife) = (true, 100_000) }
    let till = Till(Scripted(traits, .lost))
    till.provider.recovers(by: .sameKey(after: 60_000))
    _ = try till.transact()
    _ = till.provider.heard()
    #expect(try till.transact() == "9 outcome_unknown")
    till.clock.advance(60_000)
    till.provider.then(.lost)
    #expect(try till.transact() == "9 outcome_unknown")
    let look = "look charge 1 1000"
    #expect(till.provider.heard() == [look, look, "again charge 1 1000"])
    till.clock.advance(100_000)
    #expect(try till.transact() == "9 outcome_unknown")
    #expect(till.provider.heard() == ["look charge 1 1000"])
  }

  /// Of two clocks, the one with the longer age counts, because an expired key makes a second payment.
  @Test(arguments: ["sent by a clock that was ahead", "the wall clock was set back"])
  func `a key that may have ended is not sent again`(_ name: String) throws {
    let traits = Traits(kinds: Traits.allKinds) { ($0.takesKeys, $0.keyLife) = (true, 10_000_000) }
    let till = Till(Scripted(traits, .lost))
    let far = 40 * 86_400_000
    if name != "the wall clock was set back" { till.clock.set(forward: far) }
    _ = try till.transact()
    if name == "sent by a clock that was ahead" { till.clock.set(forward: 3_000_000 - far) }
    till.clock.advance(20_000_000)
    if name == "the wall clock was set back" { till.clock.set(forward: -20_000_000) }
    _ = till.provider.heard()
    #expect(try till.transact() == "9 outcome_unknown")
    #expect(try till.resume(finish: true) == "9 outcome_unknown")
    #expect(!till.provider.heard().contains { $0.hasPrefix("again") })
  }

  // MARK: Permits

  @Test func `gives no permit for what is not recorded as sent`() throws {
    let asked = Mutex<[Fault]>([])
    @Sendable func ask(_ progress: Progress) {
      do throws(Fault) { try progress.permit().use() } catch { asked.withLock { $0.append(error) } }
    }
    let act = Scripted.Act.custom { progress throws(Fault) in
      ask(progress)
      try progress.prepare(.plain("step"), sendingNext: true)
      ask(progress)
      try progress.willSend()
      ask(progress)
      return Outcome(status: .succeeded, amount: 1000, result: [:])
    }
    let till = Till(Scripted(.scripted, act))
    #expect(try till.transact() == "succeeded")
    let faults = asked.withLock { $0 }
    #expect(faults.map(\.kind) == [.internal, .internal])
    #expect(faults.allSatisfy { $0.effect == .none })
  }

  /// An earlier run recorded it as sent, and this run's preparation is not recorded.
  @Test func `gives no permit before what is prepared is written`() throws {
    let asked = Mutex<Fault?>(nil)
    let till = Till(Scripted(.scripted, .lost))
    _ = try till.transact()
    till.provider.then(
      .custom { progress throws(Fault) in
        try progress.prepare(.plain("step"), sendingNext: true)
        do throws(Fault) {
          try progress.permit().use()
        } catch { asked.withLock { $0 = error } }
        try progress.willSend()
        try progress.permit().use()
        return Outcome(status: .succeeded, amount: 1000, result: [:])
      }
    )
    #expect(try till.transact() == "succeeded")
    #expect(asked.withLock { $0?.kind } == .internal)
  }

  @Test func `a provider that sends without recording it gets a fault, and nothing is sent`() throws
  {
    let till = Till(
      Scripted(
        .scripted,
        .custom { progress throws(Fault) in
          try progress.permit().use()
          return Outcome(status: .succeeded, result: [:])
        }
      )
    )
    #expect(try till.transact() == "1 internal")
    #expect(try till.payment()?.attempt?.state == .failed)
  }

  @Test func `a permit is used once`() throws {
    let second = Mutex<Fault?>(nil)
    let act = Scripted.Act.custom { progress throws(Fault) in
      try progress.willSend()
      let permit = try progress.permit()
      try permit.use()
      do throws(Fault) { try permit.use() } catch { second.withLock { $0 = error } }
      // A retry needs a new permit.
      try progress.permit().use()
      return Outcome(status: .succeeded, amount: 1000, result: [:])
    }
    let till = Till(Scripted(.scripted, act))
    #expect(try till.transact() == "succeeded")
    #expect(second.withLock { $0?.kind } == .internal)
  }

  @Test func `gives no permit once the outcome is known`() throws {
    let after = Mutex<Fault?>(nil)
    let act = Scripted.Act.custom { progress throws(Fault) in
      try progress.willSend()
      let outcome = Outcome(status: .succeeded, amount: 1000, result: [:])
      try progress.conclude(outcome)
      do throws(Fault) { try progress.permit().use() } catch { after.withLock { $0 = error } }
      return outcome
    }
    let till = Till(Scripted(.scripted, act))
    #expect(try till.transact() == "succeeded")
    #expect(after.withLock { $0?.kind } == .internal)
  }

  // MARK: A journal that fails

  private func failing(_ notes: String...) -> Till<Scripted> {
    Till(
      Scripted(),
      journal: FailingJournal(MemoryJournal()) { _, note in notes.contains { note.hasPrefix($0) } }
    )
  }

  @Test func `sends nothing where it cannot be recorded`() throws {
    let opened = failing("opened")
    #expect(try opened.transact() == "16 disk_full")
    #expect(opened.provider.heard() == [])
    let sent = failing("sent")
    #expect(try sent.transact() == "16 disk_full")
    #expect(try sent.payment()?.attempt?.effect == Fault.Effect.none)
  }

  @Test func `an outcome that cannot be written is unknown`() throws {
    let till = failing("outcome", "result unknown")
    #expect(try till.transact() == "9 outcome_unknown")
    #expect(try till.payment()?.state.status == .unknown)
    // The outcome was not announced either.
    #expect(!till.heard.all.contains("succeeded"))
    let refund = try RefundTests.paid()
    let broken = Till(
      refund.provider,
      journal: FailingJournal(refund.journal) { _, note in
        ["outcome", "result unknown"].contains { note.hasPrefix($0) }
      }
    )
    #expect(try broken.refund(300) == "9 outcome_unknown")
    #expect(try broken.payment()?.state.isUnknown == true)
    refund.provider.finds(.done(2, 300))
    #expect(try refund.refund(300) == "partially_refunded, refund 1: succeeded")
  }

  @Test func `what is found and cannot be written stays unknown`() throws {
    let memory = MemoryJournal()
    let till = Till(Scripted(.scripted, .lost), journal: memory)
    _ = try till.transact()
    let broken = Till(
      till.provider,
      journal: FailingJournal(memory) { _, note in note == "found out" }
    )
    till.provider.finds(.done(1, 1000))
    #expect(try broken.resume() == "9 outcome_unknown")
    #expect(try till.payment()?.state.status == .unknown)
  }
}
