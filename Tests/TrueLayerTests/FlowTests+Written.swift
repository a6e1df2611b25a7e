import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// The recorded facts, and the states that are announced afterwards.
extension FlowTests {
  /// Known facts are recorded with the next request, or before any wait, question or output. States are
  /// announced afterwards.
  @Test(
    arguments: [
      (
        "bank:execute", "mock-payments-gb-redirect",
        [
          "write opened: no id", "write sent: no id", "write created, sent: id",
          "authorizationRequired", "authorizing", "write consent given: id", "show",
          "write outcome: id",
          "executed",
        ]
      ),
      (
        "bank:decoupled", "mock-payments-gb-redirect",
        [
          "write opened: no id", "write sent: no id", "write created, sent: id",
          "authorizationRequired", "authorizing", "write consent given, outcome: id", "wait",
        ]
      ),
      (
        "bank:execute", nil,
        [
          "write opened: no id", "write sent: no id", "write created: id", "authorizationRequired",
          "authorizing", "choose", "write outcome: id",
        ]
      ),
    ] as [(String, String?, [String])]
  )
  func `says what is written down`(
    _ scenario: String,
    _ bank: String?,
    _ expected: [String]
  ) throws {
    let world = try World()
    world.guide.heard.withLock { [states = world.states] in $0 = { states.add($0) } }
    world.front = FailingJournal(world.journal) { [states = world.states] attempt, note in
      states.add("write \(note): \(attempt.attempt?.id == nil ? "no id" : "id")")
      return false
    }
    let engine = try world.engine(
      scenario: scenario,
      change: { options, _ in
        options.bank = bank
        options.patience = 3000
      }
    )
    _ = try engine.pay(try world.payment())
    #expect(world.announced == expected)
  }

  /// A form was submitted, and the bank may not need the payer any more. That is recorded before the wait.
  @Test func `writes down what was given before it waits`() throws {
    let world = try World(form: [
      "psu-id": "remi", "psu-password": "secret", "embedded-auth-flow-sca-select": "PhotoTan",
      "otp_authorization": "86420975",
    ])
    world.front = FailingJournal(world.journal) { [states = world.states] _, note in
      states.add("write " + note)
      return false
    }
    let engine = try world.engine(
      scenario: "bank:execute",
      change: { options, _ in options.bank = "mock-payments-de-embedded" }
    )
    let order = try world.payment(currency: "EUR")
    _ = try engine.pay(order)
    #expect(world.announced.contains("write form given"), "\(world.announced)")
  }

  /// Consent was given but could not be recorded. The run reports neither no effect nor an end.
  @Test(arguments: [
    Fault(.state, code: "disk_full", "the disk is full"),
    Fault(.conflict, code: "lease_lost", cause: .leaseLost, "another has taken it over"),
  ])
  func `what cannot be written down after consent is unknown`(_ fault: Fault) throws {
    let world = try World()
    world.front = FailingJournal(world.journal, with: fault) { _, note in
      note != "opened" && note != "sent" && note != "created, sent"
    }
    let engine = try world.engine(
      scenario: "bank:execute",
      change: { options, _ in options.bank = "mock-payments-gb-redirect" }
    )
    let order = try world.payment()
    let thrown = #expect(throws: Fault.self) {
      try engine.pay(order)
    }
    #expect(thrown?.exitStatus == 9)
    #expect(thrown?.effect == .unknown)
    #expect(world.guide.addresses.isEmpty)
    #expect(!world.announced.contains("executed"))
  }

  /// The last state is announced with its outcome, which cannot be recorded.
  @Test(arguments: [
    Fault(.state, code: "disk_full", "the disk is full"),
    Fault(.conflict, code: "lease_lost", cause: .leaseLost, "another has taken it over"),
  ])
  func `an outcome that is not written down is not said`(_ fault: Fault) throws {
    let world = try World()
    world.front = FailingJournal(world.journal, with: fault) { _, note in
      note.hasSuffix("outcome") || note.contains("no effect")
    }
    let engine = try world.engine(
      scenario: "bank:execute",
      change: { options, _ in
        options.bank = "mock-payments-gb-redirect"
        options.patience = 3000
      }
    )
    let order = try world.payment()
    let thrown = #expect(throws: Fault.self) {
      try engine.pay(order)
    }
    #expect(thrown?.exitStatus == 9)
    #expect(world.announced.contains("authorizing"))
    #expect(!world.announced.contains("executed"))
  }
}
