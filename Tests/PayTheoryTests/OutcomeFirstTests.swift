import Foundation
import PayTheory
import Synchronization
import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Nothing is announced before it is recorded, and no other command's answer decides anything.
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
      try world.engine(over: full, announce: said.add).pay(world.order())
    }
    #expect(fault?.exitStatus == 9)
    #expect(fault?.effect == .unknown)
    #expect(!said.all.contains("succeeded"))
    #expect(try world.latest()?.phase == .sent)
    #expect(try world.charges() == 1)
    // The look-up succeeds, but its result is not recorded either.
    let unread = FailingJournal(world.journal) { _, note in note == "found out" }
    let still = #expect(throws: Fault.self) {
      try world.engine(over: unread, announce: said.add).pay(world.order())
    }
    #expect(still?.exitStatus == 9)
    #expect(!said.all.contains("succeeded"))
    let found = try world.engine(announce: said.add).pay(world.order())
    #expect(found.status == .succeeded)
    #expect(said.all.last == "succeeded")
    #expect(try world.charges() == 1)
  }

  @Test func `what is announced is in the journal by then`() throws {
    let world = try World()
    let phases = Mutex<[String]>([])
    let engine = try world.engine(announce: { state in
      guard state == "succeeded", let phase = try? world.latest()?.phase else { return }
      phases.withLock { $0.append(phase.rawValue) }
    })
    _ = try engine.pay(world.order())
    #expect(phases.withLock { $0 } == ["succeeded"])
  }

  @Test func `an attempt that died before it sent anything is closed by the next one`() throws {
    let world = try World()
    // A process that dies before it sends writes nothing more.
    let dying = FailingJournal(world.journal) { _, note in note != "opened" }
    _ = #expect(throws: Fault.self) {
      try world.engine(over: dying).pay(world.order())
    }
    #expect(try world.latest()?.phase == .prepared)
    let paid = try world.engine().pay(world.order())
    #expect(paid.attemptNumber == 2)
    let attempts = try #require(try world.latest()).attempts
    #expect(attempts.map(\.number) == [1, 2])
    #expect(attempts.map(\.state.name) == [.failed, .succeeded])
    #expect(try world.charges() == 1)
  }

  @Test func `another merchant's credentials decide nothing`() throws {
    let world = try World()
    let other = "other-paytheorylab-0123456789abcdef"
    _ = #expect(throws: Fault.self) {
      try world.engine(fault: "part2:reset-before").pay(world.order())
    }
    let unknown = try #require(try world.latest())
    let resumed = #expect(throws: Fault.self) {
      try world.engine(key: other).resume(unknown, finish: true, resend: false)
    }
    #expect(resumed?.exitStatus == 6)
    #expect(resumed?.code == "other_merchant")
    #expect(resumed?.message.contains(unknown.merchant) == true)
    #expect(try world.latest()?.phase == .sent)
    _ = try world.engine().resume(unknown, finish: true, resend: false)
    let replayed = #expect(throws: Fault.self) {
      try world.engine(key: other).pay(world.order())
    }
    #expect(replayed?.code == "other_merchant")
    let cancelled = #expect(throws: Fault.self) {
      try world.engine(key: other).cancel(world.latest(), handle: "A")
    }
    #expect(cancelled?.code == "other_merchant")
    #expect(try world.latest()?.state.status == .succeeded)
  }

  /// A look-up during which another client cancels.
  private final class Overtaken: HTTPExchange, @unchecked Sendable {
    // Unchecked: a test works on one thread.
    private let inner: any HTTPExchange
    private let meanwhile: () -> Void

    init(_ inner: any HTTPExchange, _ meanwhile: @escaping () -> Void) {
      self.inner = inner
      self.meanwhile = meanwhile
    }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      let answer = try inner.send(request, permit, by: deadline)
      if request.url.hasSuffix("/graphql") { meanwhile() }
      return answer
    }
  }

  @Test func `a look-up's word is of the version that it was asked at`() throws {
    let world = try World()
    let account = try Instrument.bankAccount(TestInstruments.account(.success))
    let order = try world.order(instrument: account)
    _ = try world.engine().pay(order)
    let before = try #require(try world.latest())
    #expect(before.state.status == .pending)
    // The payment has settled now, and a look-up shows it.
    world.clock.advance(10 * 24 * 60 * 60_000)
    let engine = try world.engine()
    let looking = try world.engine(exchange: { inner in
      Overtaken(inner) {
        world.clock.advance(10)
        _ = try? engine.cancel(before, handle: "A")
      }
    })
    let seen = try looking.lookUp("A", known: before)
    let after = try #require(try world.latest())
    #expect([.cancelled, .refunded].contains(after.state.status))
    #expect(seen.status == after.state.status)
    #expect(after.reversals.count == 1)
  }

  @Test func `an older payment of the same reference is not what was sent`() throws {
    let world = try World()
    let token = try world.engine().store(world.tokenOrder())
    func order(_ amount: Int) throws -> PayTheoryOrder {
      var order = try world.order("R", amount: amount)
      order.instrument = nil
      order.storedMethod = token.id
      return order
    }
    // Another journal made the payment, and this one does not know it.
    try FileManager.default.createDirectory(
      atPath: world.folder.path + "/other",
      withIntermediateDirectories: true
    )
    let elsewhere = try SQLiteJournal(folder: world.folder.path + "/other", redactor: Redactor())
    _ = try world.engine(over: elsewhere).pay(order(500))
    _ = #expect(throws: Fault.self) {
      try world.engine(fault: "stored:close-before").pay(order(1100))
    }
    let lost = try #require(try world.latest("R"))
    let still = #expect(throws: Fault.self) {
      try world.engine().resume(lost, finish: true, resend: false)
    }
    #expect(still?.exitStatus == 9)
    #expect(try world.latest("R")?.phase == .sent)
    // The same amount a day earlier never proves anything.
    let old = try World()
    _ = try old.engine().pay(old.order("Q"))
    let receipt = try #require(try old.latest("Q")?.state.id)
    let folder = old.folder.path + "/other"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let young = try SQLiteJournal(folder: folder, redactor: Redactor())
    old.clock.advance(24 * 60 * 60_000)
    _ = #expect(throws: Fault.self) {
      try old.engine(fault: "part1:reset-before", twoStep: false, over: young).pay(old.order("Q"))
    }
    old.clock.advance(60 * 60_000)
    let latest = try young.payment(
      .init(env: .simulator, provider: PayTheoryProvider.name, reference: "Q")
    )
    let unclear = try #require(latest)
    let unsure = #expect(throws: Fault.self) {
      try old.engine(over: young).resume(unclear, finish: true, resend: false)
    }
    #expect(unsure?.exitStatus == 9)
    #expect(unsure?.message.contains(receipt) == true)
  }

  /// A request to stop at a chosen moment.
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
      try world.engine(over: journal, interruption: stop).pay(world.order())
    }
    #expect(fault?.kind == .interrupted)
    #expect(fault?.effect == Fault.Effect.none)
    #expect(try world.charges() == 0)
    #expect(try world.latest()?.isFree == true)
  }

  @Test func `the receipt of an earlier attempt is not the answer to a later one`() throws {
    let world = try World()
    // The simulator declines this amount.
    let declined = try world.engine(twoStep: false).pay(world.order(amount: 193))
    #expect(declined.status == .declined)
    world.clock.advance(1000)
    let lost = #expect(throws: Fault.self) {
      try world.engine(fault: "part1:close-before", twoStep: false).pay(
        world.order(amount: 193),
        newAttempt: true
      )
    }
    #expect(lost?.exitStatus == 9)
    let still = #expect(throws: Fault.self) {
      try world.engine(twoStep: false).resume(
        try #require(try world.latest()),
        finish: true,
        resend: false
      )
    }
    #expect(still?.exitStatus == 9)
    #expect(try world.latest()?.attempt?.number == 2)
    #expect(try world.latest()?.phase == .sent)
  }
}
