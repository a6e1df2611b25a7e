import Foundation
import Synchronization
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// Whole runs with the simulated provider.
@Suite struct FlowTests {
  /// A scenario, and the result of a payment or mandate.
  struct Case: CustomTestStringConvertible {
    var scenario: String
    var kind = Payment.Kind.payment
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

  /// Returns a result without the parts that differ from run to run.
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
      .pay(order)
    #expect(report.status == example.status)
    #expect(Self.plain(report.result) == example.result)
    #expect(report.fault?.code == example.code)
    #expect(report.fault?.exitStatus ?? 0 == example.exit)
    #expect(report.isFinal == example.isFinal)
    // Another process replays a final payment unchanged, with the same exit.
    guard example.isFinal else { return }
    let again = try world.engine(change: Self.bank)
      .pay(order)
    #expect(again.replayed == true)
    #expect(Self.plain(again.result) == example.result)
    #expect(again.fault?.exitStatus ?? 0 == example.exit)
    // A confirm gives the same answer.
    let confirmed = try world.engine().confirm(try world.latest("A"), handle: "A", amount: nil)
    #expect(confirmed.replayed == true)
    #expect(Self.plain(confirmed.result) == example.result)
  }

  /// A bank and the actions of its flow. Each ends in executed.
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
    var report = try engine.pay(order)
    if way.waits {
      #expect(Self.plain(report.result) == ["state": "wait"])
      report = try engine.wait(for: report, upTo: 60_000, every: 1000, inWordsOfAttempt: true) {
        _ in
      }
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
    let first = try world.engine().pay(order)
    #expect(first.status == .requiresAction)
    #expect(first.fault?.code == "input_missing")
    #expect(first.fault?.exitStatus == 8)
    #expect(first.nextAction?.type == "provider_selection")
    #expect(first.nextAction?["providers"]?.array?.count ?? 0 > 5)
    let second = try world.engine { options, _ in options.bank = "mock-payments-nl-redirect" }
      .pay(order)
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
      .pay(order)
    #expect(wrong.fault?.code == "not_offered")
    #expect(wrong.fault?.exitStatus == 8)
    #expect(wrong.fault?.hint == "did you mean mock-payments-gb-redirect?")
    #expect(wrong.nextAction?.type == "provider_selection")
    #expect(try world.latest()?.state.status == .requiresAction)
    let report = try world.engine(change: Self.bank)
      .pay(order)
    #expect(report.status == .succeeded)
    #expect(try world.ledger().made == 1)
  }

  @Test func `account data needs a consent that was given`() throws {
    let world = try World(form: ["psu-id": "remi", "psu-password": "secret"])
    let report = try world.engine { options, _ in
      options.bank = "mock-payments-de-embedded-ais-pis"
    }.pay(try world.payment("A", currency: "EUR"))
    #expect(report.fault?.code == "consent_needed")
    #expect(report.fault?.exitStatus == 8)
    #expect(report.nextAction?.type == "consent")
  }
}
