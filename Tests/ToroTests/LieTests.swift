import Foundation
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import Toro

/// One lie in one answer of the gateway. Afterwards books and journal agree to the penny.
@Suite struct LieTests {
  private static let commands = ["sale", "hold", "capture", "part", "release", "reverse"]

  @Test func `books and journal agree after every single lie`() throws {
    #expect(try LieTable.judge("toro, one lie", usually: 120, Self.run) == [])
  }

  private static func run(_ seed: Int) throws -> LieTable.Row? {
    let command = commands[seed % commands.count]
    let isHeld = ["hold", "capture", "part", "release"].contains(command)
    let (world, other) = (try ToroWorld(), try ToroWorld())
    func order(_ reference: String) throws -> SaleOrder {
      try world.sale(reference, reference == "A" ? 1000 : 900) { $0.captures = !isHeld }
    }
    func perform(_ engine: Engine, _ world: ToroWorld, _ reference: String) throws -> Fault? {
      let known = try world.latest(reference)
      let order = try order(reference)
      do throws(Fault) {
        let report: Report
        switch command {
        case "sale", "hold": report = try engine.sell(order)
        case "capture": report = try engine.confirm(known, handle: reference, amount: nil)
        case "part":
          let part = Money(minorUnits: 700, currency: order.amount.currency)
          report = try engine.confirm(known, handle: reference, amount: part)
        default: report = try engine.cancel(known, handle: reference)
        }
        return report.fault
      } catch {
        return error
      }
    }
    let isLater = !["sale", "hold"].contains(command)
    // This journal does not have the other machine's payment.
    if isLater { _ = try other.engine().sell(order("B")) }
    let rehearsing = try other.engine()
    let rehearsal = OneLie(truly: try #require(other.wire.inner))
    other.wire.inner = rehearsal
    _ = try perform(rehearsing, other, "B")
    if isLater { _ = try world.engine().sell(order("A")) }
    let lying = try world.engine()
    let liar = OneLie(
      try #require(world.wire.inner),
      seed: seed,
      among: 3,
      others: rehearsal.answers,
      lie: Lies.xml
    )
    world.wire.inner = liar
    let fault = try perform(lying, world, "A")
    guard liar.told.hasLied else { return nil }
    var row = LieTable.Row(command: command)
    row.exit = fault?.exitStatus ?? 0
    let isUnknown = try world.latest()?.state.isUnknown == true
    row.isEvidence = liar.told.later == 0 && !isUnknown && fault == nil
    row.problems = try problems(world, "at once")
    if isUnknown != (fault?.effect == .unknown) {
      row.problems.append("exit \(row.exit) while the journal says \(isUnknown ? "un" : "")known")
    }
    world.clock.advance(120_000)
    _ = try perform(try world.engine(), world, "A")
    if let payment = try world.latest(), payment.state.isUnknown {
      _ = try? world.engine().finish(payment)
    }
    if try world.latest()?.state.isUnknown == true { row.problems.append("unknown for ever") }
    row.problems += try problems(world, "in the end")
    if try world.ledger().standing > 1 { row.problems.append("two sales stand") }
    return row
  }

  /// Returns the contradictions between journal and books.
  private static func problems(_ world: ToroWorld, _ moment: String) throws -> [String] {
    let booked = try world.booked()
    let standing = try world.ledger().standing
    guard let payment = try world.latest() else {
      return standing > 0 ? ["\(moment): the journal knows nothing of it"] : []
    }
    let state = payment.state
    guard !state.isUnknown else { return [] }
    var problems: [String] = []
    let isVoided = state.status == .cancelled
    let said = [isVoided ? 0 : state.captured, state.refunded]
    if booked != said {
      problems.append("\(moment): the books have \(booked), the journal \(said)")
    }
    if state.isHeld, standing == 0 { problems.append("\(moment): nothing is held") }
    if state.isFinal, state.captured == 0, standing > 0 {
      problems.append("\(moment): it is \(state.status.rawValue), and stands in the books")
    }
    return problems
  }
}
