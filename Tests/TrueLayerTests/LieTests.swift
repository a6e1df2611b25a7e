import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// One lie in one answer to one command. Afterwards books and journal agree to the penny.
@Suite struct LieTests {
  private static let commands = ["pay", "cancel", "refund", "rest", "status", "adopt"]

  @Test func `books and journal agree after every single lie`() throws {
    #expect(try LieTable.judge("truelayer, one lie", usually: 120, Self.run) == [])
  }

  private static func order(_ world: World, _ reference: String) throws -> AuthorizationOrder {
    try world.payment(reference, amount: reference == "A" ? 1000 : 900) { creation in
      creation.sortCode = nil
      creation.accountNumber = nil
      creation.beneficiaryName = nil
      creation.merchantAccount = "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6"
    }
  }

  private static func run(_ seed: Int) throws -> LieTable.Row? {
    let command = commands[seed % commands.count]
    let (world, other) = (try World(), try World())
    // A payment to be cancelled has no payer yet.
    let listens = command != "cancel"
    func engine(
      _ world: World,
      _ wrap: (any HTTPExchange) -> any HTTPExchange = { $0 }
    ) throws -> Engine {
      try world.engine(listens: listens, change: FlowTests.bank, wrap: wrap)
    }
    /// Prepares the command's payment and returns its reference. A payment created elsewhere has its id
    /// instead.
    func prepare(_ world: World, _ reference: String) throws -> String {
      guard command != "pay" else { return reference }
      let id = try engine(world).pay(try order(world, reference)).id ?? ""
      world.clock.advance(10_000)
      if ["rest", "status"].contains(command) {
        let known = try world.latest(reference)
        let part = try RefundRequest.test(200)
        _ = try engine(world).refund(known, handle: reference, part, idempotencyKey: nil)
      }
      guard command == "adopt" else { return reference }
      try world.forget()
      return id
    }
    func perform(
      _ engine: Engine,
      _ world: World,
      _ reference: String,
      _ name: String = "A"
    ) throws -> Fault? {
      let known = try world.latest(reference)
      let order = try order(world, name)
      do throws(Fault) {
        let report: Report
        switch command {
        case "pay": report = try engine.pay(order)
        case "cancel": report = try engine.cancel(known, handle: reference)
        case "refund", "adopt":
          let part = try RefundRequest.test(name == "A" ? 300 : 400, name: "one")
          report = try engine.refund(known, handle: reference, part, idempotencyKey: nil)
        case "rest":
          report = try engine.refund(known, handle: reference, try .test(nil), idempotencyKey: nil)
        default: report = try engine.lookUp(reference, known: known)
        }
        return report.fault
      } catch {
        return error
      }
    }
    var rehearsal: OneLie?
    // This journal does not have the other machine's payment.
    let others = try prepare(other, "B")
    let rehearsing = try engine(other) { inner in
      let made = OneLie(truly: inner)
      rehearsal = made
      return made
    }
    _ = try perform(rehearsing, other, others, "B")
    let answers = rehearsal?.answers ?? []
    let reference = try prepare(world, "A")
    var liar: OneLie?
    let among = command == "pay" ? 12 : 5
    let lying = try engine(world) { inner in
      let made = OneLie(inner, seed: seed, among: among, others: answers, lie: Lies.json)
      liar = made
      return made
    }
    let fault = try perform(lying, world, reference)
    guard let told = liar?.told, told.hasLied else { return nil }
    var row = LieTable.Row(command: command)
    row.exit = fault?.exitStatus ?? 0
    let isUnknown = try world.latest(reference)?.state.isUnknown == true
    row.isEvidence = told.later == 0 && !isUnknown && fault == nil
    row.problems = try problems(world, reference, "at once")
    // A payment that waits for its payer may be paid meanwhile.
    let isOpen = try world.latest(reference)?.state.isFinal == false
    if isUnknown != (fault?.effect == .unknown), !isOpen || isUnknown, command != "status" {
      row.problems.append("exit \(row.exit) while the journal says \(isUnknown ? "un" : "")known")
    }
    world.clock.advance(60_000)
    _ = try perform(try engine(world), world, reference)
    if let payment = try world.latest(reference), payment.state.isUnknown {
      _ = try? engine(world).finish(payment)
    }
    world.clock.advance(60_000)
    _ = try? engine(world).lookUp(reference, known: try world.latest(reference))
    if try world.latest(reference)?.state.isUnknown == true {
      row.problems.append("unknown for ever")
    }
    row.problems += try problems(world, reference, "in the end", isLast: true)
    let books = try world.books()
    if books.made > 1 { row.problems.append("made \(books.made) times") }
    let asked = ["refund": 300, "adopt": 300, "rest": 1000, "status": 200]
    if books.refunded + books.refunding > asked[command] ?? 0 {
      row.problems.append("more was refunded than asked: \(books)")
    }
    return row
  }

  /// Returns the contradictions between journal and books.
  private static func problems(
    _ world: World,
    _ reference: String,
    _ moment: String,
    isLast: Bool = false
  ) throws -> [String] {
    let books = try world.books()
    guard let payment = try world.latest(reference) else {
      let isMissing = books.made > 0 && reference == "A"
      return isMissing ? ["\(moment): the journal knows nothing of it"] : []
    }
    let state = payment.state
    guard !state.isUnknown else { return [] }
    var problems: [String] = []
    // An open payment may be paid meanwhile. That is known after the next look.
    if isLast || state.isFinal || state.captured > books.paid, state.captured != books.paid {
      problems.append("\(moment): \(books.paid) paid, the journal says \(state.captured)")
    }
    let refunded = (books.refunded + books.refunding, state.refunded + state.refunding)
    if refunded.0 != refunded.1 {
      problems.append("\(moment): \(refunded.0) refunded, the journal says \(refunded.1)")
    }
    return problems
  }
}
