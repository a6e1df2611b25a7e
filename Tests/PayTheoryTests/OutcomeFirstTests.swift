import Foundation
import PayTheory
import PayTheorySimulator
import Synchronization
import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Nothing is said that is not written down, and nothing is concluded from another's words.
@Suite struct OutcomeFirstTests {
  private final class Said: Sendable {
    private let states = Mutex<[String]>([])

    func add(_ state: String) { states.withLock { $0.append(state) } }

    var all: [String] { states.withLock { $0 } }
  }

  @Test func `an outcome that cannot be written down is unknown, and found out later`() throws {
    let world = try World()
    let said = Said()
    let full = FailingJournal(world.journal) { _, note in note.hasSuffix("outcome") }
    let fault = #expect(throws: Fault.self) {
      try world.engine(over: full, announce: said.add).transact(
        world.order(),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    #expect(fault?.exitStatus == 9)
    #expect(fault?.effect == .unknown)
    #expect(!said.all.contains("succeeded"))
    #expect(try world.latest()?.phase == .sent)
    #expect(try world.charges() == 1)
    // Found out, and again not written down.
    let unread = FailingJournal(world.journal) { _, note in note == "found out" }
    let still = #expect(throws: Fault.self) {
      try world.engine(over: unread, announce: said.add).transact(
        world.order(),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    #expect(still?.exitStatus == 9)
    #expect(!said.all.contains("succeeded"))
    let found = try world.engine(announce: said.add).transact(
      world.order(),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(found.status == .succeeded)
    #expect(said.all.last == "succeeded")
    #expect(try world.charges() == 1)
  }

  @Test func `an outcome that the database cannot take is set aside, and said`() throws {
    let world = try World()
    let full = FailingJournal(world.journal) { _, note in note == "outcome" }
    let report = try world.engine(over: full).transact(
      world.order(),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(report.status == .succeeded)
    #expect(report.warning?.message.contains("journal.aside") == true)
    // Another process sees it, and so does the database as soon as it can.
    let next = try SQLiteJournal(folder: world.folder.path, redactor: Redactor())
    let found = try next.latest(
      .init(env: .simulator, provider: PayTheoryProvider.name, reference: "A")
    )
    #expect(found?.phase == .done)
    #expect(found?.status == .succeeded)
    #expect(found?.preparation == nil)
    let again = try world.engine(over: next).transact(
      world.order(),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(again.replayed == true)
    #expect(try world.charges() == 1)
  }

  @Test func `what is announced is in the journal by then`() throws {
    let world = try World()
    let phases = Mutex<[String]>([])
    let engine = try world.engine(announce: { state in
      guard state == "succeeded", let phase = try? world.latest()?.phase else { return }
      phases.withLock { $0.append(phase.rawValue) }
    })
    _ = try engine.transact(world.order(), newAttempt: false, idempotencyKey: nil)
    #expect(phases.withLock { $0 } == ["done"])
  }

  @Test func `an attempt that died before it sent anything is closed by the next one`() throws {
    let world = try World()
    // What dies before it sends writes nothing more.
    let dying = FailingJournal(world.journal) { _, note in note != "opened" }
    _ = #expect(throws: Fault.self) {
      try world.engine(over: dying).transact(
        world.order(),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    #expect(try world.latest()?.phase == .prepared)
    let paid = try world.engine().transact(
      world.order(),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(paid.attemptNumber == 2)
    let attempts = try world.journal.attempts(matching: "A", filter: AttemptFilter())
    #expect(attempts.map(\.number) == [2, 1])
    #expect(attempts.map(\.shownStatus) == [.succeeded, .failed])
    #expect(attempts.map(\.phase) == [.done, .done])
    #expect(try world.charges() == 1)
  }

  @Test func `another merchant's credentials decide nothing`() throws {
    let world = try World()
    let other = "other-paytheorylab-0123456789abcdef"
    _ = #expect(throws: Fault.self) {
      try world.engine(fault: "part2:drop-before").transact(
        world.order(),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    let unknown = try #require(try world.latest())
    let resumed = #expect(throws: Fault.self) { try world.engine(key: other).resume(unknown) }
    #expect(resumed?.exitStatus == 6)
    #expect(resumed?.code == "other_merchant")
    #expect(resumed?.message.contains(unknown.merchant) == true)
    #expect(try world.latest()?.phase == .sent)
    _ = try world.engine().resume(unknown)
    let replayed = #expect(throws: Fault.self) {
      try world.engine(key: other).transact(
        world.order(),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    #expect(replayed?.code == "other_merchant")
    let cancelled = #expect(throws: Fault.self) {
      try world.engine(key: other).cancel(world.latest(), handle: "A")
    }
    #expect(cancelled?.code == "other_merchant")
    #expect(try world.latest()?.status == .succeeded)
  }

  /// A look-up during which somebody else cancels.
  private final class Overtaken: HTTPExchange, @unchecked Sendable {
    // Unchecked: a test works on one thread.
    private let inner: any HTTPExchange
    private let meanwhile: () -> Void

    init(_ inner: any HTTPExchange, _ meanwhile: @escaping () -> Void) {
      self.inner = inner
      self.meanwhile = meanwhile
    }

    func send(_ request: HTTPRequest, by deadline: Deadline) throws(Fault) -> HTTPResponse {
      let answer = try inner.send(request, by: deadline)
      if request.url.hasSuffix("/graphql") { meanwhile() }
      return answer
    }
  }

  @Test func `a look-up's word is of the version that it was asked at`() throws {
    let world = try World()
    let account = try Instrument.bankAccount(TestInstruments.account(.success))
    let order = try world.order(instrument: account)
    _ = try world.engine().transact(order, newAttempt: false, idempotencyKey: nil)
    let before = try #require(try world.latest())
    #expect(before.status == .pending)
    // By now it has settled, and a look-up has news.
    world.clock.advance(10 * 24 * 60 * 60_000)
    let engine = try world.engine()
    let looking = try world.engine(exchange: { inner in
      Overtaken(inner) {
        world.clock.advance(10)
        _ = try? engine.cancel(before, handle: "A")
      }
    })
    let seen = try looking.lookUp("A", known: before)
    #expect(seen.status == .succeeded)
    let after = try #require(try world.latest())
    #expect([.cancelled, .refunded].contains(after.status))
    #expect(after.reversal != nil)
  }

  @Test func `an older payment of the same reference is not what was sent`() throws {
    let world = try World()
    let token = try world.engine().tokenize(
      world.tokenOrder(),
      newAttempt: false,
      idempotencyKey: nil
    )
    func order(_ amount: Int) throws -> PaymentOrder {
      var order = try world.order("R", amount: amount)
      order.instrument = nil
      order.storedMethod = token.id
      return order
    }
    // Made by a journal that this one knows nothing of.
    try FileManager.default.createDirectory(
      atPath: world.folder.path + "/other",
      withIntermediateDirectories: true
    )
    let elsewhere = try SQLiteJournal(folder: world.folder.path + "/other", redactor: Redactor())
    _ = try world.engine(over: elsewhere).transact(
      order(500),
      newAttempt: false,
      idempotencyKey: nil
    )
    _ = #expect(throws: Fault.self) {
      try world.engine(fault: "graphql:close-before").transact(
        order(1100),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    let lost = try #require(try world.latest("R"))
    let still = #expect(throws: Fault.self) { try world.engine().resume(lost) }
    #expect(still?.exitStatus == 9)
    #expect(try world.latest("R")?.phase == .sent)
    // The same amount, a day before: it proves nothing either way, at no time.
    let old = try World()
    _ = try old.engine().transact(old.order("Q"), newAttempt: false, idempotencyKey: nil)
    let receipt = try #require(try old.latest("Q")?.id)
    let folder = old.folder.path + "/other"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let young = try SQLiteJournal(folder: folder, redactor: Redactor())
    old.clock.advance(24 * 60 * 60_000)
    _ = #expect(throws: Fault.self) {
      try old.engine(fault: "part1:drop-before", twoStep: false, over: young).transact(
        old.order("Q"),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    old.clock.advance(60 * 60_000)
    let latest = try young.latest(
      .init(env: .simulator, provider: PayTheoryProvider.name, reference: "Q")
    )
    let unclear = try #require(latest)
    let unsure = #expect(throws: Fault.self) { try old.engine(over: young).resume(unclear) }
    #expect(unsure?.exitStatus == 9)
    #expect(unsure?.message.contains(receipt) == true)
  }

  /// A wish to stop that comes at a chosen moment.
  final class Stop: Interruption {
    let isAsked = Mutex(false)

    var kind: Fault.Kind? { isAsked.withLock { $0 } ? .interrupted : nil }

    var descriptor: Int32? { nil }
  }

  @Test func `sends nothing once it was asked to stop`() throws {
    let world = try World()
    let stop = Stop()
    let journal = FailingJournal(world.journal) { _, note in
      if note == "opened" { stop.isAsked.withLock { $0 = true } }
      return false
    }
    let fault = #expect(throws: Fault.self) {
      try world.engine(over: journal, interruption: stop).transact(
        world.order(),
        newAttempt: false,
        idempotencyKey: nil
      )
    }
    #expect(fault?.kind == .interrupted)
    #expect(fault?.effect == Fault.Effect.none)
    #expect(try world.charges() == 0)
    #expect(try world.latest()?.isFreed == true)
  }

  @Test func `the receipt of an earlier attempt is not the answer to a later one`() throws {
    let world = try World()
    // The simulator declines this amount.
    let declined = try world.engine(twoStep: false).transact(
      world.order(amount: 193),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(declined.status == .declined)
    world.clock.advance(1000)
    let lost = #expect(throws: Fault.self) {
      try world.engine(fault: "part1:close-before", twoStep: false).transact(
        world.order(amount: 193),
        newAttempt: true,
        idempotencyKey: nil
      )
    }
    #expect(lost?.exitStatus == 9)
    let still = #expect(throws: Fault.self) {
      try world.engine(twoStep: false).resume(try #require(try world.latest()))
    }
    #expect(still?.exitStatus == 9)
    #expect(try world.latest()?.number == 2)
    #expect(try world.latest()?.phase == .sent)
  }

  @Test func `keys of two merchants differ, for the same reference`() throws {
    let world = try World()
    let other = "other-paytheorylab-0123456789abcdef"
    let keys = try [PayTheoryCatalog.apiKey, other].map { key in
      try world.engine(key: key).nextKey(.transact, Reference(stored: "A"))
    }
    #expect(keys[0] != keys[1])
    #expect(try world.engine().nextKey(.transact, Reference(stored: "A")) == keys[0])
  }
}
