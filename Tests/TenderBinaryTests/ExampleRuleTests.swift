import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import tender_with_example

/// Rule 1 for every command in every state that a look can show, at a provider that a newcomer wrote.
@Suite struct ExampleRuleTests {
  @Test(arguments: RuleCommand.allCases)
  func `looks, folds, decides and sends`(_ command: RuleCommand) throws {
    try RuleSuite(ExamplePayments(), command).expect(Self.table)
  }

  static let table = RuleTable(
    """
    faults
      no_answer: no-answer
      unreadable_answer: 500 unreadable 429
    refund cancel
      1 0, cancelled 1000/1000: recorded settled declined lower-currency
      0 6 provider_differs, succeeded 1000/0: other-amount other-currency other-id other-reference
      0 11 not_shown, succeeded 1000/0: absent
      0 11 FAULT, succeeded 1000/0: faults
    refund
      0 6 refunded_elsewhere, cancelled 1000/1000: voided
    refund-part
      0 15 method_unsupported, succeeded 1000/0: recorded
    refund-named
      0 15 method_unsupported, succeeded 1000/0: recorded
    cancel
      0 0, cancelled 1000/1000: voided
    release
      1 0, cancelled 0/0 released 1000: recorded lower-currency absent
      0 6 nothing_to_cancel, declined 0/0: declined
      0 6 provider_differs, requires_confirmation 0/0: other-amount other-currency other-id other-reference
      1 0, cancelled 1000/1000: captured
      0 11 FAULT, requires_confirmation 0/0: faults
      0 0, cancelled 0/0: released
    confirm
      1 0, succeeded 1000/0: recorded lower-currency absent
      0 6 no_auth, declined 0/0: declined
      0 6 provider_differs, requires_confirmation 0/0: other-amount other-currency other-id other-reference
      0 0, succeeded 1000/0: captured
      0 6 no_auth, cancelled 0/0: released
      0 11 FAULT, requires_confirmation 0/0: faults
    confirm-part
      0 15 method_unsupported, requires_confirmation 0/0: recorded
    transact
      1 0, succeeded 1000/0: recorded
    new-attempt
      1 0, succeeded 1000/0: recorded declined voided lower-currency absent
      0 6 attempt_paid, declined 0/0 surplus 1000: settled
      0 6 provider_differs, declined 0/0: other-amount other-currency other-id other-reference
      0 11 FAULT, declined 0/0: faults
    finish-charge
      0 0, succeeded 1000/0: recorded settled lower-currency other-id other-reference
      0 3 declined, declined 0/0: declined
      0 12 payment_cancelled, cancelled 0/0: voided
      0 9 outcome_unknown, unknown 0/0 unknown: other-amount other-currency no-answer 500 429 unreadable
      1 0, succeeded 1000/0: absent
    finish-capture
      0 0, succeeded 1000/0: recorded lower-currency other-id other-reference captured
      1 0, succeeded 1000/0: declined released absent
      0 9 outcome_unknown, unknown 0/0 unknown: other-amount other-currency no-answer 500 429 unreadable
    finish-refund
      0 0, cancelled 1000/1000, then 0 12 payment_cancelled, cancelled 1000/1000: recorded voided lower-currency
      0 0, cancelled 1000/1000, then 0 12 payment_cancelled, cancelled 1000/1000: other-id other-reference
      1 0, cancelled 1000/1000, then 0 12 payment_cancelled, cancelled 1000/1000: settled declined
      0 9 outcome_unknown, succeeded 1000/0 refunding 1000 unknown: other-amount other-currency no-answer 500 429
      0 9 outcome_unknown, succeeded 1000/0 refunding 1000 unknown: unreadable absent
    """
  )
}

/// Payments and holds at the example provider.
private final class ExamplePayments: RuleWorld {
  private let folder: URL
  private let clock = ManualClock()
  private let journal = MemoryJournal()
  let portal = Portal()

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "example-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var currency: String { "EUR" }

  func engine() throws -> Engine { try engine(scenario: nil) }

  private func engine(scenario: String?) throws -> Engine {
    var options = SimulatorOptions()
    if let scenario { try options.set(scenario: scenario, among: [ExampleParts.simulated]) }
    let simulator = try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: folder.path + "/simulator.db",
        clock: clock,
        randomness: SeededRandomness(seed: Int.random(in: 0...Int.max), label: "sim"),
        options: options,
        providers: [ExampleParts.simulated]
      )
    )
    return Engine(
      env: .simulator,
      provider: ExampleParts.provider(over: portal.before(simulator), clock),
      journal: journal,
      clock: clock,
      interruption: NeverInterrupted(),
      patience: 500,
      digest: { bytes in
        var mixed = [UInt8](repeating: 0, count: 16)
        for (index, byte) in bytes.enumerated() {
          mixed[index % 16] = mixed[index % 16] &* 31 &+ byte
        }
        return mixed
      },
      announce: { _ in }
    )
  }

  func payment(_ reference: String) throws -> Payment? {
    try journal.payment(
      ReferenceKey(env: .simulator, provider: ProviderName("example"), reference: reference)
    )
  }

  func order(_ reference: String, _ start: RuleStart) throws -> any PlacedOrder {
    let euros = try #require(Currency(code: currency))
    let isHold = start == .held || start == .lostCapture
    return ExampleParts.order(
      try Reference(reference),
      Money(minorUnits: 1000, currency: euros),
      isHold: isHold
    )
  }

  func begin(_ start: RuleStart, _ reference: String) throws -> Bool {
    let order = Order.placed(try order(reference, start))
    switch start {
    case .waiting, .mandate: return false
    case .paid, .held: _ = try engine().execute(order)
    case .declined: _ = try engine(scenario: "example:refuse").execute(order)
    case .refused:
      portal.way = .refusing(HTTPResponse(status: 409))
      _ = try? engine().execute(order)
    case .lostCharge, .lostCapture, .lostRefund: try lose(start, reference)
    }
    return true
  }

  func show(
    _ sight: Sight,
    _ start: RuleStart,
    _ look: Portal.Look,
    _ body: inout JSONObject
  ) -> Bool {
    let isHold = start == .held || start == .lostCapture
    switch sight {
    case .recorded, .absent, .noAnswer, .status500, .status429, .unreadable: break
    case .settled:
      body["state"] = "paid"
      return !isHold
    case .captured:
      body["state"] = "paid"
      return isHold
    case .voided:
      body["state"] = "void"
      return !isHold
    case .released:
      body["state"] = "void"
      return isHold
    case .declined: body["state"] = "refused"
    case .otherAmount: body["amount"] = 1100
    case .otherCurrency: body["currency"] = "USD"
    case .lowerCurrency: body["currency"] = "eur"
    case .otherID: body["id"] = "ex-other"
    case .otherReference: body["reference"] = "OTHER"
    case .pending, .returned, .partRefunded, .refunded, .refunding, .inquiry, .disputed,
      .arbitration, .lost, .won, .otherDispute, .secondCharge, .expired:
      return false
    }
    return true
  }
}
