import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// The reason that ends a retry proves nothing about the earlier try, whose answer was lost.
@Suite struct LostThenStoppedTests {
  /// Executes the first creation and answers 500. The second one is never sent, for another reason.
  final class Stopped: HTTPExchange {
    let inner: any HTTPExchange
    let second: Fault
    let tries = Mutex(0)

    init(_ inner: any HTTPExchange, _ second: Fault) {
      self.inner = inner
      self.second = second
    }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      guard request.url.hasSuffix("/v3/payments") else {
        return try inner.send(request, permit, by: deadline)
      }
      let number = tries.withLock { tries in
        tries += 1
        return tries
      }
      guard number == 1 else { throw second }
      _ = try inner.send(request, permit, by: deadline)
      return HTTPResponse(status: 500, body: Array("{}".utf8))
    }
  }

  static let ends = [
    Fault(.interrupted, code: "interrupted", "stopped by a signal; nothing was under way"),
    Fault(.terminated, code: "terminated", "stopped by a signal; nothing was under way"),
    Fault(.notSent, code: "unreachable", "nobody is there"),
  ]

  @Test(arguments: ends)
  func `stays unknown, and is made once`(_ end: Fault) throws {
    let world = try World()
    let order = try world.payment("A")
    let fault = #expect(throws: Fault.self) {
      try world.engine(change: FlowTests.bank, wrap: { Stopped($0, end) })
        .pay(order)
    }
    #expect(fault?.exitStatus == 9)
    #expect(try world.latest()?.attempt?.state.name == .sent)
    #expect(try world.ledger().made == 1)
    let report = try world.engine(change: FlowTests.bank)
      .pay(order)
    #expect(report.attemptNumber == 1)
    #expect(try world.ledger().made == 1)
  }

  /// A clock whose pauses are ended by a signal.
  struct Interrupted: Clock {
    let inner: ManualClock

    var now: Int { inner.now }
    var uptime: Int { inner.uptime }
    var moment: Moment { inner.moment }

    func pause(milliseconds: Int) throws(Fault) {
      throw .stopped(by: .interrupted, underWay: "nothing was under way")
    }
  }

  /// Accepts the consent, and answers 500.
  final class LosingConsents: HTTPExchange {
    let inner: any HTTPExchange
    let cancels = Mutex(0)

    init(_ inner: any HTTPExchange) { self.inner = inner }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      if request.url.hasSuffix("/actions/cancel") { cancels.withLock { $0 += 1 } }
      let answer = try inner.send(request, permit, by: deadline)
      guard request.url.hasSuffix("/actions/consent") else { return answer }
      return HTTPResponse(status: 500, body: Array("{}".utf8))
    }
  }

  @Test func `a signal before a repetition leaves a consent unknown, and cancels nothing`() throws {
    let world = try World()
    world.pauses = Interrupted(inner: world.clock)
    var line: LosingConsents?
    let engine = try world.engine(change: FlowTests.bank) { inner in
      let made = LosingConsents(inner)
      line = made
      return made
    }
    let order = try world.payment("A")
    let fault = #expect(throws: Fault.self) { try engine.pay(order) }
    #expect(fault?.exitStatus == 9)
    #expect(line?.cancels.withLock { $0 } == 0)
    #expect(try world.latest()?.state.status == .unknown)
    world.pauses = nil
    let report = try world.engine(change: FlowTests.bank).pay(order)
    #expect(report.status == .succeeded)
    #expect(try world.ledger() == (1, 1))
  }
}
