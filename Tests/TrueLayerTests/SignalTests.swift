import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// A signal at each moment of a run with the simulator of this process, whose answers are late.
@Suite struct SignalTests {
  struct Run: Sendable, CustomTestStringConvertible {
    let command: String
    let fault: String
    let signal: Fault.Kind

    var testDescription: String { "\(command), \(fault), \(signal.rawValue)" }
  }

  static let runs = [
    ("pay", "create:latency=2s"), ("pay", "consent:latency=2s"), ("refund", "refund:latency=2s"),
  ].flatMap { command, fault in
    [Fault.Kind.terminated, .interrupted].map { Run(command: command, fault: fault, signal: $0) }
  }

  /// A request that left is never reported as one without effect.
  @Test(arguments: runs) func `no signal hides what was sent`(_ run: Run) throws {
    var moments = 0
    while moments < 200 {
      let world = try World()
      if run.command == "refund" { _ = try world.settled("A") }
      let struck = Struck(world.clock, by: run.signal, after: moments)
      world.pauses = struck
      let fault = try perform(run, world, run.fault, struck)
      guard struck.hasCome else { break }
      moments += 1
      world.pauses = nil
      try expectTruth(run, world, fault, "after \(moments) moments")
    }
    #expect(moments >= (run.command == "pay" ? 4 : 2))
    #expect(moments < 200)
  }

  private func perform(
    _ run: Run,
    _ world: World,
    _ fault: String?,
    _ interruption: any Interruption = NeverInterrupted()
  ) throws -> Fault? {
    let engine = try world.engine(
      fault: fault,
      interruption: interruption,
      change: FlowTests.bank
    )
    let (order, part) = (try world.payment("A"), try RefundRequest.test(300, name: "one"))
    let known = try world.latest()
    do throws(Fault) {
      return run.command == "pay"
        ? try engine.pay(order).fault
        : try engine.refund(known, handle: "A", part, idempotencyKey: nil).fault
    } catch {
      return error
    }
  }

  private func expectTruth(
    _ run: Run,
    _ world: World,
    _ fault: Fault?,
    _ moment: Comment
  ) throws {
    let books = try world.books()
    let payment = try world.latest()
    let state = payment?.state
    if run.command == "refund" {
      // An unknown refund counts as under way.
      let isCounted = (state?.refunded ?? 0) + (state?.refunding ?? 0) > 0
      if books.refunded + books.refunding > 0 { #expect(isCounted, moment) }
      if fault == nil || fault?.effect == Fault.Effect.none {
        #expect(isCounted == (books.refunded + books.refunding > 0), moment)
      }
    } else {
      let isFree = payment?.attempt.map { $0.state == .failed } ?? true
      if isFree { #expect(books.made == 0, moment) }
      if books.authorized > 0 { #expect(state?.status != .cancelled, moment) }
    }
    // The same command goes on, and nothing happens twice.
    world.clock.advance(60_000)
    _ = try perform(run, world, nil)
    let later = try world.books()
    #expect(later.made <= 1, moment)
    #expect(later.refunded + later.refunding == (run.command == "refund" ? 300 : 0), moment)
  }
}
