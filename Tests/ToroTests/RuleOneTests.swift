import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import Toro

/// Rule 1 for every command. Toro has no look-up: no look is made, and no other state can be shown.
@Suite struct RuleOneTests {
  @Test(arguments: RuleCommand.allCases)
  func `decides and sends`(_ command: RuleCommand) throws {
    try RuleSuite(Sales(), command).expect(Self.table)
  }

  static let table = RuleTable(
    """
    refund
      1 0, cancelled 1000/1000: recorded
    refund-part
      0 15 method_unsupported, succeeded 1000/0: recorded
    refund-named
      0 15 method_unsupported, succeeded 1000/0: recorded
    cancel
      1 0, cancelled 1000/1000: recorded
    release
      1 0, cancelled 0/0 released 1000: recorded
    confirm transact new-attempt finish-capture
      1 0, succeeded 1000/0: recorded
    confirm-part
      1 0, succeeded 400/0 released 600: recorded
    finish-charge
      1 12 transaction_undone, cancelled 0/0: recorded
    finish-refund
      1 0, cancelled 1000/1000, then 0 12 payment_cancelled, cancelled 1000/1000: recorded
    """
  )
}

/// Sales at the simulated reader.
private final class Sales: RuleWorld {
  private let world: ToroWorld
  let portal = Portal()

  init() throws { world = try ToroWorld() }

  var currency: String { "GBP" }
  var canLookUp: Bool { ToroProvider.traits.canLookUp }

  func engine() throws -> Engine { try engine(scenario: nil) }

  private func engine(scenario: String?, fault: String? = nil) throws -> Engine {
    let engine = try world.engine(scenario: scenario, fault: fault)
    world.wire.inner = world.wire.inner.map { portal.before($0) }
    return engine
  }

  func payment(_ reference: String) throws -> Payment? { try world.latest(reference) }

  func order(_ reference: String, _ start: RuleStart) throws -> any PlacedOrder {
    try world.sale(reference) { $0.captures = start != .held && start != .lostCapture }
  }

  func begin(_ start: RuleStart, _ reference: String) throws -> Bool {
    let order = Order.placed(try order(reference, start))
    switch start {
    case .waiting, .mandate: return false
    case .paid, .held: _ = try engine().execute(order)
    case .declined: _ = try engine(scenario: "card:card_declines").execute(order)
    // Nothing was sent: the link to the reader broke.
    case .refused: _ = try? engine(scenario: nil, fault: "reader-card:disconnect").execute(order)
    case .lostCharge, .lostCapture, .lostRefund: try lose(start, reference)
    }
    return true
  }

  func show(
    _ sight: Sight,
    _ start: RuleStart,
    _ look: Portal.Look,
    _ body: inout JSONObject
  ) -> Bool { false }
}
