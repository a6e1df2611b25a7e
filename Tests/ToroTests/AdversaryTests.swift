import Foundation
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import Toro

/// Sales and their undoing over a gateway whose answers are lost before or after the effect.
///
/// A gateway is assumed to refuse an authorization that arrives after its cancellation advice (`help
/// promises`). So no effect is late here.
@Suite struct AdversaryTests {
  /// There is no look-up that could lag.
  @Test(arguments: [Adversary.Manner.plain, .lying])
  func `says nothing that the books contradict, whatever happens`(
    _ manner: Adversary.Manner
  ) throws {
    let name = "toro, \(manner)"
    let (problems, troubles) = try History.judge(name, usually: 40) { try run($0, manner) }
    #expect(problems == [])
    #expect(troubles > 0.3)
  }

  private func run(
    _ seed: Int,
    _ manner: Adversary.Manner
  ) throws -> (History, standing: Int, troubles: Int) {
    let world = try ToroWorld()
    _ = try world.engine()
    let inner = try #require(world.wire.inner)
    let other = Adversary(
      inner,
      world.clock,
      seed: seed,
      window: 60_000,
      isLate: false,
      lie: manner == .lying ? Lies.xml : nil
    ) { request in
      let isDiagnostic = request.url.contains("caaa013")
      return isDiagnostic ? .other : .effect(isKeyed: !request.url.contains("001"))
    }
    var history = History("seed \(seed)")
    for turn in 0..<(4 + other.next(6)) {
      if turn > 0 { world.clock.advance([1000, 20_000, 70_000][other.next(3)]) }
      try perform(
        ["transact", "transact", "hold", "anew", "confirm", "cancel", "resume"][other.next(7)],
        world,
        other,
        &history
      )
    }
    other.calm()
    world.clock.advance(120_000)
    try perform("resume", world, other, &history)
    if let payment = try world.latest(), payment.unknowns.isEmpty {
      let state = payment.state
      let isVoided = state.status == .cancelled
      #expect(
        try world.booked() == [isVoided ? 0 : state.captured, state.refunded],
        "seed \(seed)"
      )
    }
    return (history, try world.ledger().captured, other.troubles)
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
    // Toro has no look-up, so only the command that left an operation unknown finishes it.
    let isOthers =
      known?.unknowns.contains { unknown in
        switch command {
        case "transact", "hold", "anew": !unknown.isAttempt
        case "confirm": unknown.kind != .capture
        default: false
        }
      } ?? false
    let order = try world.sale { $0.captures = command != "hold" }
    let part = Money(minorUnits: 700, currency: order.amount.currency)
    do throws(Fault) {
      let report: Report
      switch command {
      case "cancel": report = try engine.cancel(known, handle: "A")
      case "confirm": report = try engine.confirm(known, handle: "A", amount: part)
      case "resume":
        guard let known else { throw .unknownHandle("A") }
        report = try engine.finish(known)
      default:
        report = try engine.sell(order, newAttempt: command == "anew")
      }
      exit = report.fault?.exitStatus ?? 0
      status = report.status
    } catch {
      exit = error.exitStatus
    }
    #expect(try world.ledger().standing <= 1)
    history.add(
      History.Entry(
        command: command,
        exit: exit,
        status: status,
        standing: try world.ledger().captured,
        wasCalm: other.troubles == troubles && !isOthers
      )
    )
  }
}
