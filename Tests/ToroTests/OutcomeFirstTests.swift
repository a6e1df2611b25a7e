import Foundation
import Synchronization
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing
import Toro

/// An approval is in the journal before the reader, an event or standard output shows it.
@Suite struct OutcomeFirstTests {
  private static let scenarios = ["card:tap", "card:swipe", "card:chip_pin", "card:chip_signature"]

  @Test(arguments: scenarios)
  func `what is announced as completed is in the journal by then`(_ scenario: String) throws {
    let world = try ToroWorld()
    let seen = Mutex<[String]>([])
    let engine = try world.engine(
      scenario: scenario,
      announce: { state in
        guard state == "completed", let payment = try? world.latest() else { return }
        seen.withLock { $0.append(payment.state.status.rawValue) }
      }
    )
    let report = try engine.sell(world.sale())
    #expect(report.status == .succeeded)
    #expect(seen.withLock { $0 } == ["succeeded"])
    // The history has one line for the outcome.
    let history = try world.journal.history(of: try #require(try world.latest()))
    #expect(history.filter { $0.note == "outcome" }.count == 1)
  }

  @Test(arguments: scenarios)
  func `an approval that cannot be written down is undone and told to nobody`(
    _ scenario: String
  ) throws {
    let world = try ToroWorld()
    let watched = WatchedReader()
    // The disk is full as soon as the request is sent.
    let isSent = Mutex(false)
    let journal = FailingJournal(world.journal) { attempt, note in
      if note == "sent" {
        isSent.withLock { $0 = true }
        return false
      }
      return isSent.withLock { $0 }
    }
    let fault = #expect(throws: Fault.self) {
      try world.engine(scenario: scenario, watching: { watched.around($0) }, over: journal)
        .sell(world.sale())
    }
    #expect(fault?.exitStatus == 16)
    #expect(fault?.effect == Fault.Effect.none)
    #expect(fault?.message.contains("keep the goods") == true)
    #expect(!world.announced.contains("completed"))
    let approved = Hex.encode(Array("Approved".utf8))
    #expect(!watched.sent.contains { Hex.encode($0).contains(approved) })
    #expect(try world.ledger().authorised == 1)
    #expect(try world.ledger().standing == 0)
    // The next run reports the undoing, and charges nothing.
    let again = try world.engine().sell(world.sale())
    #expect(again.status == .cancelled)
    #expect(again.fault?.exitStatus == 12)
    #expect(try world.ledger().standing == 0)
    let anew = try world.engine().sell(world.sale(), newAttempt: true)
    #expect(anew.status == .succeeded)
    #expect(try world.ledger().standing == 1)
  }

  /// The advice that undoes the sale is lost, so the sale may stand. The next command undoes it.
  @Test func `an approval that can neither be written down nor undone is unknown`() throws {
    let world = try ToroWorld()
    let full = FailingJournal(world.journal) { _, note in note == "outcome" }
    let fault = #expect(throws: Fault.self) {
      try world.engine(fault: "cancellation:close-before", over: full).sell(world.sale())
    }
    #expect(fault?.exitStatus == 9)
    #expect(!world.announced.contains("completed"))
    #expect(try world.ledger().standing == 1)
    let again = try world.engine().sell(world.sale())
    #expect(again.fault?.exitStatus == 12)
    #expect(try world.ledger().standing == 0)
  }

  /// A cancellation waits while a repetition of the sale, which waited before it, sells.
  @Test func `a cancel undoes what was sold while it waited`() throws {
    let world = try ToroWorld()
    let stopped = try world.engine(scenario: "card:no_card").sell(world.sale())
    #expect(stopped.fault?.effect == Fault.Effect.none)
    let seen = try #require(try world.latest())
    #expect(seen.attempt?.state.name == .failed)
    _ = try world.engine().sell(world.sale())
    #expect(try world.ledger().standing == 1)
    let report = try world.engine().cancel(seen, handle: "A")
    #expect(report.status == .cancelled)
    #expect(report.attemptNumber == 2)
    #expect(try world.ledger().standing == 0)
  }

  /// Delivers every cancellation advice twice, as a network may.
  struct Doubler: HTTPExchange {
    let inner: any HTTPExchange

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      let body = String(decoding: request.body, as: UTF8.self)
      // Only the first message of each exchange is doubled. A repetition has another number.
      if body.contains("CxlAdvc"), body.contains("<ReTrnsmssnCntr>") == false {
        _ = try inner.send(request, nil, by: deadline)
      }
      return try inner.send(request, permit, by: deadline)
    }
  }

  @Test func `an advice that came twice is not taken for refused`() throws {
    let world = try ToroWorld()
    _ = try world.engine().sell(world.sale())
    let engine = try world.engine()
    world.wire.inner = Doubler(inner: try #require(world.wire.inner))
    let report = try engine.cancel(try world.latest(), handle: "A")
    #expect(report.status == .cancelled)
    #expect(try world.ledger().standing == 0)
  }

  /// A confirm is lost, and then a cancel. `resume` continues the cancellation.
  @Test func `a cancel that was not answered is never turned into a capture`() throws {
    let world = try ToroWorld()
    _ = try world.engine().sell(world.sale { $0.captures = false })
    #expect(try world.latest()?.state.status == .requiresConfirmation)
    let lost = #expect(throws: Fault.self) {
      try world.engine(fault: "completion:close-before").confirm(
        try world.latest(),
        handle: "A",
        amount: nil
      )
    }
    #expect(lost?.exitStatus == 9)
    let unanswered = #expect(throws: Fault.self) {
      try world.engine(fault: "cancellation:close-before").cancel(try world.latest(), handle: "A")
    }
    #expect(unanswered?.exitStatus == 9)
    let resumed = try world.engine().finish(try #require(try world.latest()))
    #expect(resumed.status == .cancelled)
    #expect(try world.ledger().captured == 0)
    #expect(try world.ledger().standing == 0)
  }

  /// Loses the answer to the first advice after it was processed.
  final class FirstLost: HTTPExchange {
    let processing: any HTTPExchange
    let declining: any HTTPExchange
    let advices = Mutex(0)

    init(processing: any HTTPExchange, declining: any HTTPExchange) {
      self.processing = processing
      self.declining = declining
    }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      let number = advices.withLock { number in
        number += 1
        return number
      }
      guard number == 1 else { return try declining.send(request, permit, by: deadline) }
      _ = try processing.send(request, permit, by: deadline)
      throw Fault(
        .providerError,
        code: "connection_broken",
        "the connection broke"
      )
    }
  }

  @Test func `a no to a repetition says nothing about the first advice`() throws {
    let world = try ToroWorld()
    _ = try world.engine().sell(world.sale())
    _ = try world.engine()
    let processing = try #require(world.wire.inner)
    let engine = try world.engine(fault: "cancellation:declined")
    world.wire.inner = FirstLost(
      processing: processing,
      declining: try #require(world.wire.inner)
    )
    let fault = #expect(throws: Fault.self) {
      try engine.cancel(try world.latest(), handle: "A")
    }
    #expect(fault?.exitStatus == 9)
    #expect(try world.latest()?.unknowns.map(\.kind) == [.void])
    #expect(try world.ledger().standing == 0)
  }

  @Test func `what a prune forgets is not refundable again`() throws {
    let world = try ToroWorld()
    func take(_ order: SaleOrder) throws -> Report {
      try world.engine().sell(order)
    }
    _ = try take(world.sale())
    #expect(try take(world.refund("B1", of: "A", 300)).status == .partiallyRefunded)
    world.clock.advance(1000)
    #expect(try take(world.refund("B2", of: "A", 300)).status == .partiallyRefunded)
    // Only B1 is older than this, and it is a part of its payment.
    let filter = PaymentFilter(env: .simulator, provider: ToroProvider.name)
    #expect(try world.journal.prune(before: world.clock.now - 500, filter) == 0)
    let tooMuch = #expect(throws: Fault.self) { try take(world.refund("B3", of: "A", 500)) }
    #expect(tooMuch?.code == "refund_exceeds")
    #expect(try world.latest("A")?.reversals.count == 2)
    #expect(try world.journal.prune(before: world.clock.now + 1, filter) > 0)
    #expect(try world.latest("A") == nil)
  }
}
