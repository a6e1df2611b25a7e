import Foundation
import PayTheory
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// One lie in one answer to one command over GraphQL. Afterwards books and journal agree to the cent.
@Suite struct LieTests {
  private static let commands = [
    "charge", "hold", "capture", "part", "release", "void", "refund", "rest", "status",
  ]

  @Test func `books and journal agree after every single lie`() throws {
    #expect(try LieTable.judge("paytheory, one lie", usually: 120, Self.run) == [])
  }

  private static func run(_ seed: Int) throws -> LieTable.Row? {
    let command = commands[seed % commands.count]
    let isHeld = ["hold", "capture", "part", "release"].contains(command)
    let (world, other) = (try World(), try World())
    let methods = [world, other].map { try? $0.engine().store($0.tokenOrder()).id }
    func order(_ reference: String) throws -> PayTheoryOrder {
      let isOther = reference == "B"
      return try world.storedOrder(
        reference,
        amount: isOther ? 900 : 1000,
        method: methods[isOther ? 1 : 0] ?? nil,
        confirmation: isHeld
      )
    }
    func prepare(_ world: World, _ reference: String) throws {
      if !["charge", "hold"].contains(command) {
        // A pending payment is voided, a succeeded one is refunded.
        let scenario = command == "void" ? "pending" : nil
        _ = try world.engine(scenario: scenario).pay(order(reference))
      }
      if ["rest", "status"].contains(command) {
        _ = try world.engine().refund(try world.latest(reference), 200, name: "first")
      }
    }
    func perform(_ engine: Engine, _ world: World, _ reference: String) throws -> Fault? {
      let known = try world.latest(reference)
      let order = try order(reference)
      do throws(Fault) {
        let report: Report
        switch command {
        case "charge", "hold": report = try engine.pay(order)
        case "capture": report = try engine.confirm(known, handle: reference, amount: nil)
        case "part":
          let part = Money(minorUnits: 700, currency: order.amount.currency)
          report = try engine.confirm(known, handle: reference, amount: part)
        case "release", "void": report = try engine.cancel(known, handle: reference)
        case "refund": report = try engine.refund(known, reference == "A" ? 300 : 400, name: "one")
        case "rest": report = try engine.refund(known)
        default: report = try engine.lookUp(reference, known: known)
        }
        return report.fault
      } catch {
        return error
      }
    }
    var rehearsal: OneLie?
    // This journal does not have the other machine's payment.
    try prepare(other, "B")
    let rehearsing = try other.engine(exchange: { inner in
      let made = OneLie(truly: inner)
      rehearsal = made
      return made
    })
    _ = try perform(rehearsing, other, "B")
    try prepare(world, "A")
    var liar: OneLie?
    var row = LieTable.Row(command: command)
    let others = rehearsal?.answers ?? []
    let lying = try world.engine(exchange: { inner in
      let made = OneLie(inner, seed: seed, among: 6, others: others, lie: Lies.json)
      liar = made
      return made
    })
    let fault = try perform(lying, world, "A")
    guard let told = liar?.told, told.hasLied else { return nil }
    row.exit = fault?.exitStatus ?? 0
    let isUnknown = try world.latest()?.state.isUnknown == true
    row.isEvidence = told.later == 0 && !isUnknown && fault == nil
    row.problems = try problems(world, "at once")
    if isUnknown != (fault?.effect == .unknown), command != "status" {
      row.problems.append("exit \(row.exit) while the journal says \(isUnknown ? "un" : "")known")
    }
    // From here on all answers are true: the same command again, and then every command that looks.
    world.clock.advance(20 * 60_000)
    _ = try perform(try world.engine(), world, "A")
    if let payment = try world.latest(), payment.state.isUnknown {
      _ = try? world.engine().resume(payment, finish: true, resend: true)
    }
    if try world.latest()?.state.isUnknown == true { row.problems.append("unknown for ever") }
    row.problems += try problems(world, "in the end")
    let books = try world.books()
    if books.count > 1 || books.authorized > 1 { row.problems.append("made twice: \(books)") }
    let asked = ["refund": 300, "rest": 1000, "status": 200, "void": 1000]
    if books.voided + books.refunded > asked[command] ?? 0 {
      row.problems.append("more was given back than asked: \(books)")
    }
    return row
  }

  /// Returns the contradictions between journal and books.
  private static func problems(_ world: World, _ moment: String) throws -> [String] {
    let books = try world.books()
    guard let payment = try world.latest() else {
      let isMade = books.count + books.authorized > 0
      return isMade ? ["\(moment): the journal knows nothing of it"] : []
    }
    let state = payment.state
    guard !state.isUnknown else { return [] }
    var problems: [String] = []
    let left = state.status == .cancelled ? 0 : state.captured - state.refunded
    if books.left != left {
      problems.append("\(moment): \(books.left) left, the journal says \(left)")
    }
    let isHeld = books.authorized > books.released + books.count
    if isHeld != state.isHeld {
      problems.append("\(moment): held \(isHeld), the journal says \(state.isHeld)")
    }
    return problems
  }
}
