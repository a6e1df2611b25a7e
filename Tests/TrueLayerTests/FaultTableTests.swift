import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// Every fault at every step of a payment: the exit, and the result of the same command afterwards.
@Suite struct FaultTableTests {
  struct Row: CustomTestStringConvertible {
    var fault: String
    var exit: Int32
    /// The attempt of the second run; 2 if the first one freed its reference.
    var attempt: Int

    var testDescription: String { fault }
  }

  private static let effecting: Set<String> = ["create", "consent"]

  static let rows: [Row] = {
    var rows: [Row] = []
    for step in ["bank-token", "create", "start", "selection", "consent", "status"] {
      // A request that moves no money ends in 11. One that can move money may have been executed, and so may
      // anything once the payer is at the bank.
      let isOpen = step == "status"
      let lost: Int32 = effecting.contains(step) || isOpen ? 9 : 11
      let isEarly = step == "bank-token" || step == "create"
      let faults: [(String, Int32)] = [
        ("http-401", 4), ("http-403", 4), ("http-404", step == "create" ? 5 : 11),
        ("http-409", step == "bank-token" ? 11 : 6), ("http-422", step == "bank-token" ? 11 : 6),
        ("http-429", 11), ("http-500", lost), ("http-502", lost), ("garbage", lost),
        ("silence-after", lost), ("close-before", lost), ("close-after", lost),
      ]
      for (fault, exit) in faults.map({ ($0.0, isOpen ? 9 : $0.1) }) {
        rows.append(
          Row(fault: "\(step):\(fault)", exit: exit, attempt: isEarly && exit != 9 ? 2 : 1)
        )
      }
    }
    return rows
  }()

  @Test(arguments: rows) func `is answered, and the same command makes it good`(_ row: Row) throws {
    let world = try World()
    let order = try world.payment("A")
    var exit: Int32 = 0
    let engine = try world.engine(fault: row.fault) { options, configuration in
      FlowTests.bank(&options, &configuration)
      // While the payer is at the bank, failed looks are repeated for that long.
      options.patience = 5000
    }
    do throws(Fault) {
      let report =
        try engine
        .pay(order)
      exit = report.fault?.exitStatus ?? 0
    } catch {
      exit = error.exitStatus
      #expect(error.effect == (exit == 9 ? .unknown : Fault.Effect.none))
      #expect(error.result?["error"]?.text != nil)
    }
    #expect(exit == row.exit)
    if exit == 9 {
      let status = try #require(try world.latest()).state.status
      // The payer's action is not a request with an unknown result.
      #expect(row.fault.hasPrefix("status") ? !status.isFinal : status == .unknown)
    }
    let report = try world.engine(change: FlowTests.bank)
      .pay(order)
    #expect(report.status == .succeeded)
    #expect(report.attemptNumber == row.attempt)
    #expect(try world.ledger() == (1, 1))
  }

  /// The result of a cancel, a revoke or a refund whose answer is lost, and of the same command again.
  @Test(arguments: ["close-after", "close-before", "silence-after", "http-500", "garbage"])
  func `a cancel whose answer is lost is found out`(_ fault: String) throws {
    let world = try World()
    _ = try world.engine(listens: false, change: FlowTests.bank)
      .pay(try world.payment("A"))
    if ["close-before", "http-500"].contains(fault) {
      let lost = #expect(throws: Fault.self) {
        _ = try world.engine(scenario: "bank:abandon", fault: "bank-cancel:\(fault)")
          .cancel(try world.latest(), handle: "A")
      }
      #expect(lost?.exitStatus == 9)
      #expect(try world.latest()?.state.status == .unknown)
    } else {
      // It was executed, and one look shows it.
      let found = try world.engine(scenario: "bank:abandon", fault: "bank-cancel:\(fault)")
        .cancel(try world.latest(), handle: "A")
      #expect(found.status == .cancelled)
      #expect(found.replayed == false)
    }
    let report = try world.engine(scenario: "bank:abandon")
      .cancel(try world.latest(), handle: "A")
    #expect(report.status == .cancelled)
    #expect(try world.ledger() == (1, 0))
  }

  @Test func `a lost revoke is found out`() throws {
    let world = try World()
    _ = try world.engine(change: FlowTests.bank)
      .pay(try world.mandate("M"))
    // One look shows it at once.
    let known = try world.engine(fault: "revoke:silence-after")
      .cancel(try world.latest("M"), handle: "M")
    #expect(known.status == .revoked)
    #expect(known.replayed == false)
    #expect(try world.latest("M")?.state.status == .revoked)
  }

  @Test func `a creation's body is kept until its effect is known, and not for ever`() throws {
    let world = try World()
    let order = try world.payment("A")
    _ = #expect(throws: Fault.self) {
      _ = try world.engine(fault: "create:close-after", change: FlowTests.bank)
        .pay(order)
    }
    #expect(try world.latest()?.attempt?.preparation?.text.contains("\"remi@example.com\"") == true)
    // After 30 days its key has expired, so it stays unknown. The message has the reason.
    world.clock.advance(30 * 86_400_000)
    let late = #expect(throws: Fault.self) {
      _ = try world.engine(change: FlowTests.bank)
        .pay(order, newAttempt: true)
    }
    #expect(late?.message.contains("too old") == true)
    #expect(late?.exitStatus == 9)
    #expect(try world.ledger().made == 1)
  }

  @Test func `what is decided survives a repetition with other words`() throws {
    let world = try World()
    _ = try world.engine(change: FlowTests.bank)
      .pay(try world.payment("A"))
    let other = #expect(throws: Fault.self) {
      _ = try world.engine(change: FlowTests.bank)
        .pay(try world.payment("A", amount: 1001))
    }
    #expect(other?.code == "reference_reused")
    #expect(other?.exitStatus == 6)
    let again = #expect(throws: Fault.self) {
      _ = try world.engine(change: FlowTests.bank)
        .pay(try world.payment("A"), newAttempt: true)
    }
    #expect(again?.code == "attempt_stands")
    // A declined payment is tried again on request.
    _ = try world.engine(scenario: "bank:reject_execution", change: FlowTests.bank)
      .pay(try world.payment("B"))
    let second = try world.engine(change: FlowTests.bank)
      .pay(try world.payment("B"), newAttempt: true)
    #expect(second.attemptNumber == 2)
    #expect(second.status == .succeeded)
  }
}
