import Foundation
import PayTheory
import Synchronization
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Connections opened in advance: few, fresh, for the same account, and used once.
@Suite struct AheadTests {
  /// The simulated provider, with counts of opened and closed sockets.
  private struct Line: SocketExchange {
    /// Opens a socket. Each thread gets a separate simulator.
    let inner: @Sendable () -> (any SocketExchange)?
    let counts: Counts

    func open(
      url: String,
      fields: [HTTPRequest.Field],
      by deadline: Deadline
    ) throws(Fault) -> any MessageSocket {
      guard let inner = inner() else { throw Fault(.internal, code: "internal", "no simulator") }
      return Socket(try inner.open(url: url, fields: fields, by: deadline), counts)
    }
  }

  /// Simulators with the same books, one for each thread.
  private final class Simulators: Sendable {
    private let rest: Mutex<[InProcessSimulator]>

    init(_ all: [InProcessSimulator]) { rest = Mutex(all) }

    func next() -> InProcessSimulator? { rest.withLock { $0.popLast() } }
  }

  private final class Counts: Sendable {
    let opened = Atomic(0)
    let closed = Atomic(0)
    let areGone = Atomic(false)
    /// The delay of the last message after the greeting, in milliseconds.
    let patience = Atomic(0)
  }

  private final class Socket: MessageSocket {
    let inner: any MessageSocket
    let counts: Counts
    private var hasGreeted = false

    init(_ inner: any MessageSocket, _ counts: Counts) {
      self.inner = inner
      self.counts = counts
      counts.opened.add(1, ordering: .relaxed)
    }

    var isOpen: Bool { !counts.areGone.load(ordering: .relaxed) }

    func send(_ text: String, _ permit: SendPermit?, by deadline: Deadline) throws(Fault) {
      if hasGreeted { counts.patience.store(deadline.remaining, ordering: .relaxed) }
      hasGreeted = true
      try inner.send(text, permit, by: deadline)
    }

    func receive(by deadline: Deadline) throws(Fault) -> SocketMessage {
      try inner.receive(by: deadline)
    }

    func close(waiting: Bool) {
      #expect(!waiting)
      counts.closed.add(1, ordering: .relaxed)
      inner.close(waiting: waiting)
    }
  }

  private let world: World
  private let own = Counts()
  private let early = Counts()
  private let ahead: ConversationsAhead

  init() throws {
    let world = try World()
    let early = early
    self.world = world
    let simulators = Simulators(try (0..<24).map { _ in try world.simulator() })
    let other = ScriptedServer(preparation: "")
    ahead = ConversationsAhead(most: 3) {
      guard let simulator = simulators.next() else { return (other, other) }
      return (simulator, Line(inner: { simulators.next() }, counts: early))
    }
  }

  private func pay(_ reference: String, key: String? = nil, timeout: Int? = nil) throws {
    let own = own
    let engine = try world.engine(
      key: key ?? PayTheoryCatalog.apiKey,
      wrap: { inner in Line(inner: { inner }, counts: own) },
      ahead: ahead,
      timeout: timeout
    )
    let report = try engine.pay(world.order(reference))
    #expect(report.status == .succeeded)
  }

  /// Waits until this many connections are ready. Each is opened by a separate thread.
  private func wait(for count: Int) {
    let end = ContinuousClock.now + .seconds(20)
    while ahead.count != count, ContinuousClock.now < end { sched_yield() }
    #expect(ahead.count == count)
  }

  @Test func `opens one for every two that were taken, and uses each once`() throws {
    for (number, ready) in [0, 1, 1, 2, 2, 3, 3, 3].enumerated() {
      try pay("R\(number)")
      wait(for: ready)
    }
    // The connections that were ready when the third to eighth payments began.
    #expect(own.opened.load(ordering: .relaxed) == 2)
    #expect(early.opened.load(ordering: .relaxed) == 9)
    // A used connection is closed at once. An unused one is still open.
    #expect(own.closed.load(ordering: .relaxed) == 2)
    #expect(early.closed.load(ordering: .relaxed) == 6)
    for number in 0..<8 {
      #expect(
        try LedgerAudit.charges(path: world.folder.path + "/simulator.db", reference: "R\(number)")
          == 1
      )
    }
  }

  @Test func `gives each payment the time that it was given`() throws {
    try pay("A")
    try pay("B")
    wait(for: 1)
    try pay("C", timeout: 1234)
    #expect(own.opened.load(ordering: .relaxed) == 2)
    #expect((1...1234).contains(early.patience.load(ordering: .relaxed)))
  }

  @Test func `leaves what is old, closed, or another's`() throws {
    try pay("A")
    try pay("B")
    wait(for: 1)
    try pay("C", key: "other-paytheorylab-00112233445566778899aabbccddeeff")
    #expect(own.opened.load(ordering: .relaxed) == 3)
    wait(for: 1)
    early.areGone.store(true, ordering: .relaxed)
    try pay("D")
    #expect(own.opened.load(ordering: .relaxed) == 4)
    early.areGone.store(false, ordering: .relaxed)
    wait(for: 2)
    world.clock.advance(60_001)
    try pay("E")
    #expect(own.opened.load(ordering: .relaxed) == 5)
  }
}
