import Foundation
import Synchronization
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import TenderWire
import Testing
import TrueLayer
import TrueLayerSimulator

/// Whole runs over the simulated other side.
@Suite struct FlowTests {
  /// A scenario, and what a payment or mandate comes to.
  struct Case: CustomTestStringConvertible {
    var scenario: String
    var kind = Attempt.Kind.payment
    var status: Status
    var result: JSONObject
    var code: String?
    var exit: Int32 = 0
    var isFinal = true

    var testDescription: String { scenario }
  }

  static func failed(
    _ error: String,
    _ reason: String,
    stage: String = "authorizing",
    more: JSONObject = [:]
  ) -> JSONObject {
    var result: JSONObject = ["error": .string(error)]
    result["failure_reason"] = .string(reason)
    result["failure_stage"] = .string(stage)
    for member in more.members { result[member.key] = member.value }
    return result
  }

  /// What is known goes into the journal with the next request, or before anybody waits, is asked or is shown
  /// anything; states are said after that.
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
      states.add("write \(note): \(attempt.id == nil ? "no id" : "id")")
      return false
    }
    let engine = try world.engine(
      scenario: scenario,
      change: { options, _ in
        options.bank = bank
        options.patience = 3000
      }
    )
    _ = try engine.transact(try world.payment(), newAttempt: false, idempotencyKey: nil)
    #expect(world.announced == expected)
  }

  /// A form was given, and the bank may need nobody else: that is written down before it is waited for.
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
    _ = try engine.transact(order, newAttempt: false, idempotencyKey: nil)
    #expect(world.announced.contains("write form given"), "\(world.announced)")
  }

  /// Consent was given, and that could not be written down: nobody says that nothing happened, or how it ended.
  @Test(arguments: [
    Fault(.state, code: "disk_full", "the disk is full"),
    Fault(.conflict, code: "lease_lost", "another has taken it over"),
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
      try engine.transact(order, newAttempt: false, idempotencyKey: nil)
    }
    #expect(thrown?.exitStatus == 9)
    #expect(thrown?.effect == .unknown)
    #expect(world.guide.addresses.isEmpty)
    #expect(!world.announced.contains("executed"))
  }

  /// The last state waits for its outcome, which cannot be written down.
  @Test(arguments: [
    Fault(.state, code: "disk_full", "the disk is full"),
    Fault(.conflict, code: "lease_lost", "another has taken it over"),
  ])
  func `an outcome that is not written down is not said`(_ fault: Fault) throws {
    let world = try World()
    world.front = FailingJournal(world.journal, with: fault) { _, note in
      note.hasSuffix("outcome") || note.hasPrefix("aside: ") || note.contains("no effect")
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
      try engine.transact(order, newAttempt: false, idempotencyKey: nil)
    }
    #expect(thrown?.exitStatus == 9)
    #expect(world.announced.contains("authorizing"))
    #expect(!world.announced.contains("executed"))
  }

  static let cases: [Case] =
    [
      Case(scenario: "bank:execute", status: .succeeded, result: ["state": "executed"]),
      Case(
        scenario: "bank:slow",
        status: .pending,
        result: ["state": "authorized"],
        isFinal: false
      ),
      Case(scenario: "bank:decoupled", status: .pending, result: ["state": "wait"], isFinal: false),
      Case(
        scenario: "bank:reject_authorisation",
        status: .declined,
        result: failed("authorizationFailed", "authorization_failed"),
        code: "authorization_failed",
        exit: 3
      ),
      Case(
        scenario: "bank:reject_execution",
        status: .declined,
        result: failed("paymentRejected", "provider_rejected", stage: "authorized"),
        code: "payment_rejected",
        exit: 3
      ),
      Case(
        scenario: "bank:cancel",
        status: .declined,
        result: failed("authorizationFailed", "not_authorized"),
        code: "authorization_failed",
        exit: 3
      ),
      Case(
        scenario: "bank:expire",
        status: .expired,
        result: failed("paymentExpired", "expired"),
        code: "payment_expired",
        exit: 13
      ),
      Case(
        scenario: "bank:failed:canceled",
        status: .cancelled,
        result: failed("userCanceled", "canceled"),
        code: "user_canceled",
        exit: 12
      ),
      Case(
        scenario: "bank:failed:user_canceled_at_provider",
        status: .cancelled,
        result: failed("userCanceled", "user_canceled_at_provider"),
        code: "user_canceled",
        exit: 12
      ),
      Case(
        scenario: "bank:failed:provider_expired",
        status: .expired,
        result: failed("paymentExpired", "provider_expired"),
        code: "payment_expired",
        exit: 13
      ),
      Case(
        scenario: "bank:failed:internal_server_error",
        status: .declined,
        result: failed("serverError", "internal_server_error"),
        code: "server_error_declined",
        exit: 3
      ),
      Case(
        scenario: "mandate:authorise",
        kind: .mandate,
        status: .authorized,
        result: ["state": "authorized"]
      ),
      Case(
        scenario: "mandate:reject_authorisation",
        kind: .mandate,
        status: .declined,
        result: failed("authorizationFailed", "authorization_failed"),
        code: "authorization_failed",
        exit: 3
      ),
      Case(
        scenario: "mandate:expire",
        kind: .mandate,
        status: .expired,
        result: failed("mandateExpired", "expired"),
        code: "mandate_expired",
        exit: 13
      ),
      Case(
        scenario: "mandate:revoke",
        kind: .mandate,
        status: .revoked,
        result: ["status": "revoked"],
        code: "mandate_revoked",
        exit: 12
      ),
    ]
    + [
      "blocked", "insufficient_funds", "payment_limit_exceeded", "scheme_unavailable",
      "unknown_error",
    ].map { reason in
      Case(
        scenario: "bank:failed:\(reason)",
        status: .declined,
        result: failed("generic", reason, more: ["reason": .string(reason)]),
        code: "generic_declined",
        exit: 3
      )
    }

  /// A result without what differs from run to run.
  static func plain(_ result: JSONObject) -> JSONObject {
    var plain = result
    plain["trace_id"] = nil
    return plain
  }

  static func bank(_ options: inout FlowOptions, _ configuration: inout TrueLayerConfiguration) {
    options.bank = "mock-payments-gb-redirect"
  }

  @Test(arguments: cases) func `comes to its documented name and status`(_ example: Case) throws {
    let world = try World()
    let order = example.kind == .mandate ? try world.mandate("A") : try world.payment("A")
    let report = try world.engine(scenario: example.scenario, change: Self.bank)
      .transact(order, newAttempt: false, idempotencyKey: nil)
    #expect(report.status == example.status)
    #expect(Self.plain(report.result) == example.result)
    #expect(report.fault?.code == example.code)
    #expect(report.fault?.exitStatus ?? 0 == example.exit)
    #expect(report.isFinal == example.isFinal)
    // What is final is replayed as it was, by another process, with the same exit.
    guard example.isFinal else { return }
    let again = try world.engine(change: Self.bank)
      .transact(order, newAttempt: false, idempotencyKey: nil)
    #expect(again.replayed == true)
    #expect(Self.plain(again.result) == example.result)
    #expect(again.fault?.exitStatus ?? 0 == example.exit)
    // A confirm of it is the same answer.
    let confirmed = try world.engine().proceed(try world.latest("A"), handle: "A")
    #expect(confirmed.replayed == true)
    #expect(Self.plain(confirmed.result) == example.result)
  }

  /// A bank and what its flow wants; each ends executed.
  struct Way: CustomTestStringConvertible {
    var bank: String
    var currency = "EUR"
    var form: [String: String] = [:]
    var branch: String?
    var scheme: String?
    var accountData = false
    var waits = false

    var testDescription: String { bank }
  }

  @Test(arguments: [
    Way(bank: "mock-payments-gb-redirect", currency: "GBP", scheme: "faster_payments_service"),
    Way(bank: "mock-payments-de-redirect", scheme: "sepa_credit_transfer_instant"),
    Way(
      bank: "mock-payments-de-redirect-additional-input-text",
      form: ["psu-branch-code": "123", "psu-account-number": "1234567", "psu-sub-account": "01"]
    ),
    Way(
      bank: "mock-payments-de-embedded",
      form: [
        "psu-id": "remi", "psu-password": "a-password-of-the-test",
        "embedded-auth-flow-sca-select": "PhotoTan", "otp_authorization": "86420975",
      ]
    ),
    Way(
      bank: "mock-payments-de-embedded-ais-pis",
      form: ["psu-id": "remi", "psu-password": "a-password-of-the-test"],
      accountData: true
    ),
    Way(bank: "mock-payments-de-decoupled", waits: true),
    Way(bank: "mock-payments-fr-redirect", branch: "north-branch"),
    Way(bank: "mock-payments-nl-redirect", form: ["remitter-iban": "NL39ABNA8234998285"]),
    Way(
      bank: "mock-payments-pl-redirect",
      currency: "PLN",
      form: ["remitter-name": "Remi Terr", "remitter-nrb": "61109010140000071219812874"]
    ),
  ])
  func `goes through every kind of action`(_ way: Way) throws {
    let world = try World(form: way.form)
    let engine = try world.engine { options, _ in
      options.bank = way.bank
      options.branch = way.branch
      options.scheme = way.scheme
      options.consentsToAccountData = way.accountData
    }
    let order = try world.payment("A", currency: way.currency) { $0.scheme = way.scheme }
    var report = try engine.transact(order, newAttempt: false, idempotencyKey: nil)
    if way.waits {
      #expect(Self.plain(report.result) == ["state": "wait"])
      report = try engine.wait(for: report, upTo: 60_000, every: 1000, purpose: .outcome) { _ in }
    }
    #expect(Self.plain(report.result) == ["state": "executed"])
    #expect(report.status == .succeeded)
    for name in ["journal.db", "journal.db-wal"] {
      let file = world.folder.appending(path: name)
      guard let data = try? Data(contentsOf: file) else { continue }
      for secret in ["a-password-of-the-test", "86420975"] {
        #expect(data.range(of: Data(secret.utf8)) == nil)
      }
    }
  }

  @Test func `says what is missing, and goes on when it is given`() throws {
    let world = try World()
    let order = try world.payment("A", currency: "EUR")
    let first = try world.engine().transact(order, newAttempt: false, idempotencyKey: nil)
    #expect(first.status == .requiresAction)
    #expect(first.fault?.code == "input_missing")
    #expect(first.fault?.exitStatus == 8)
    #expect(first.nextAction?.type == "provider_selection")
    #expect(first.nextAction?["providers"]?.array?.count ?? 0 > 5)
    let second = try world.engine { options, _ in options.bank = "mock-payments-nl-redirect" }
      .transact(order, newAttempt: false, idempotencyKey: nil)
    #expect(second.nextAction?.type == "form")
    #expect(second.nextAction?["inputs"]?.array?.first?["id"] == "remitter-iban")
    #expect(second.id == first.id)
    let guided = try World(form: ["remitter-iban": "NL39ABNA8234998285"])
    _ = guided
    #expect(try world.ledger().made == 1)
  }

  @Test func `refuses what is not offered, and leaves the payment as it is`() throws {
    let world = try World()
    let order = try world.payment("A")
    let wrong = try world.engine { options, _ in options.bank = "mock-payments-gb-redirekt" }
      .transact(order, newAttempt: false, idempotencyKey: nil)
    #expect(wrong.fault?.code == "not_offered")
    #expect(wrong.fault?.exitStatus == 8)
    #expect(wrong.fault?.hint == "did you mean mock-payments-gb-redirect?")
    #expect(wrong.nextAction?.type == "provider_selection")
    #expect(try world.latest()?.shownStatus == .requiresAction)
    let report = try world.engine(change: Self.bank)
      .transact(order, newAttempt: false, idempotencyKey: nil)
    #expect(report.status == .succeeded)
    #expect(try world.ledger().made == 1)
  }

  @Test func `account data needs a consent that was given`() throws {
    let world = try World(form: ["psu-id": "remi", "psu-password": "secret"])
    let report = try world.engine { options, _ in
      options.bank = "mock-payments-de-embedded-ais-pis"
    }.transact(try world.payment("A", currency: "EUR"), newAttempt: false, idempotencyKey: nil)
    #expect(report.fault?.code == "consent_needed")
    #expect(report.fault?.exitStatus == 8)
    #expect(report.nextAction?.type == "consent")
  }
}
