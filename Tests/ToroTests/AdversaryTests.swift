import Foundation
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import Toro

/// Sales and their undoing over a gateway whose answers are lost before and after the effect.
///
/// That a gateway refuses an authorisation that comes after its own cancellation advice is assumed, as
/// the page of promises says: no effect is late here.
@Suite struct AdversaryTests {
  @Test func `says nothing that the books contradict, whatever happens`() throws {
    let (problems, troubles) = try History.judge("toro", usually: 40) { try run($0) }
    #expect(problems == [])
    #expect(troubles > 0.3)
  }

  private func run(_ seed: Int) throws -> (History, standing: Int, troubles: Int) {
    let world = try ToroWorld()
    _ = try world.engine()
    let inner = try #require(world.wire.inner)
    let other = Adversary(inner, world.clock, seed: seed, window: 60_000, isLate: false) {
      request in
      let isDiagnostic = request.url.contains("caaa013")
      return isDiagnostic ? .other : .effect(isKeyed: !request.url.contains("001"))
    }
    var history = History("seed \(seed)")
    for turn in 0..<(4 + other.next(6)) {
      if turn > 0 { world.clock.advance([1000, 20_000, 70_000][other.next(3)]) }
      try perform(
        ["transact", "transact", "anew", "cancel", "resume"][other.next(5)],
        world,
        other,
        &history
      )
    }
    other.calm()
    world.clock.advance(120_000)
    try perform("resume", world, other, &history)
    return (history, try world.ledger().standing, other.troubles)
  }

  private func perform(
    _ command: String,
    _ world: ToroWorld,
    _ other: Adversary,
    _ history: inout History
  ) throws {
    let troubles = other.troubles
    let engine = try world.engine()
    world.wire.inner = other
    var exit: Int32 = 0
    var status: Status?
    let known = try world.latest()
    let order = try world.sale()
    do throws(Fault) {
      let report: Report
      switch command {
      case "cancel": report = try engine.cancel(known, handle: "A")
      case "resume":
        guard let known else { throw .unknownHandle("A") }
        report = try engine.resume(known)
      default:
        report = try engine.transact(order, newAttempt: command == "anew", idempotencyKey: nil)
      }
      exit = report.fault?.exitStatus ?? 0
      status = report.status
    } catch {
      exit = error.exitStatus
    }
    history.add(
      History.Entry(
        command: command,
        exit: exit,
        status: status,
        standing: try world.ledger().standing,
        wasCalm: other.troubles == troubles
      )
    )
  }
}
