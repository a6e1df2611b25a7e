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

  private static func failed(
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

  @Test func `a failed attempt stays open with retry, and starts once more`() throws {
    let world = try World()
    let order = try world.payment("A") { $0.retries = true }
    let first = try world.engine(scenario: "bank:reject_authorisation") { options, configuration in
      Self.bank(&options, &configuration)
      options.retries = true
    }.transact(order, newAttempt: false, idempotencyKey: nil)
    #expect(first.status == .failed)
    #expect(first.isFinal == false)
    #expect(first.result["status"] == "attemptFailed")
    #expect(first.fault?.code == "authorization_failed")
    #expect(first.nextAction?.type == "retry")
    let second = try world.engine { options, configuration in
      Self.bank(&options, &configuration)
      options.retries = true
    }.proceed(try world.latest(), handle: "A")
    #expect(Self.plain(second.result) == ["state": "executed"])
    #expect(try world.ledger().made == 1)
  }

  @Test func `a foreign address ends at redirect, and a later process takes it up`() throws {
    let world = try World()
    let order = try world.payment("A")
    let foreign = { (options: inout FlowOptions, configuration: inout TrueLayerConfiguration) in
      Self.bank(&options, &configuration)
      configuration.redirectURL = "https://shop.example/return"
    }
    let first = try world.engine(listens: false, change: foreign)
      .transact(order, newAttempt: false, idempotencyKey: nil)
    #expect(first.status == .requiresAction)
    #expect(Self.plain(first.result) == ["state": "redirect"])
    #expect(first.fault == nil)
    let address = try #require(first.nextAction?["url"]?.text)
    #expect(world.guide.addresses == [address])
    let id = try #require(first.id)
    // Somebody else's return is not taken for this one.
    let other = #expect(throws: Fault.self) {
      _ = try world.engine { options, _ in
        options.returnURL = "https://shop.example/return?payment_id=other"
      }.proceed(try world.latest(), handle: "A")
    }
    #expect(other?.exitStatus == 6)
    // Direct return: what the bank said is handed on.
    let second = try world.engine(listens: false) { options, _ in
      options.returnURL = "https://shop.example/return?state=\(id)&code=abc"
    }.proceed(try world.latest(), handle: "A")
    #expect(Self.plain(second.result) == ["state": "executed"])
    #expect(second.replayed == false)
  }

  @Test func `a payer who gave up on the hosted page cancels`() throws {
    let world = try World()
    _ = try world.engine(scenario: "bank:abandon", listens: false, change: Self.bank)
      .transact(try world.payment("A"), newAttempt: false, idempotencyKey: nil)
    let id = try #require(try world.latest()?.id)
    // Without its id anybody could say so.
    let other = try world.engine(scenario: "bank:abandon", listens: false) { options, _ in
      options.returnURL = "app://back?error=tl_hpp_cancel"
    }.proceed(try world.latest(), handle: "A")
    #expect(other.status == .requiresAction)
    let report = try world.engine(scenario: "bank:abandon") { options, _ in
      options.returnURL = "app://back?payment_id=\(id)&error=tl_hpp_cancel"
    }.proceed(try world.latest(), handle: "A")
    #expect(report.status == .cancelled)
    #expect(report.fault?.exitStatus == 12)
    #expect(report.result["error"] == "userCanceled")
    #expect(report.result["failure_reason"] == "canceled")
  }

  @Test func `nobody comes: 15 minutes, and it has expired`() throws {
    let world = try World()
    let start = world.clock.now
    let report = try world.engine(scenario: "bank:abandon") { options, configuration in
      Self.bank(&options, &configuration)
      // This clock's uptime runs ahead of its time by a millisecond a look.
      options.patience += 10_000
    }.transact(try world.payment("A"), newAttempt: false, idempotencyKey: nil)
    #expect(report.status == .expired)
    #expect(report.fault?.exitStatus == 13)
    #expect((900_000...905_000).contains(world.clock.now - start))
  }

  /// A payer who never comes, and an operator who presses Ctrl-C meanwhile.
  final class Impatient: RedirectListener, RedirectVisit, Interruption {
    private let answered = Mutex(false)

    var isAnswered: Bool { answered.withLock { $0 } }
    var kind: Fault.Kind? { nil }
    var descriptor: Int32? { nil }

    func acknowledge() { answered.withLock { $0 = true } }

    func listen(at address: String) throws(Fault) -> any RedirectVisit { self }

    func expect(_ name: String, _ value: String) {}

    func wait(milliseconds: Int) throws(Fault) -> String? {
      throw .stopped(by: .interrupted, underWay: "nothing was under way")
    }

    func close() {}
  }

  @Test(arguments: [Attempt.Kind.payment, .mandate])
  func `Ctrl-C while the payer is awaited cancels`(_ kind: Attempt.Kind) throws {
    let world = try World()
    let impatient = Impatient()
    var options = SimulatorOptions()
    try options.set(scenario: "bank:abandon", among: [SimulatedTrueLayer()])
    let simulator = try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: world.folder.path + "/simulator.db",
        clock: world.clock,
        randomness: SeededRandomness(seed: 1, label: "sim"),
        options: options,
        providers: [SimulatedTrueLayer()]
      )
    )
    let engine = world.engine(
      over: simulator,
      interruption: impatient,
      redirects: impatient,
      change: Self.bank
    )
    let order = kind == .mandate ? try world.mandate("A") : try world.payment("A")
    let report = try engine.transact(order, newAttempt: false, idempotencyKey: nil)
    // A mandate cannot be cancelled at TrueLayer: its payer can go on until it expires.
    #expect(report.status == (kind == .payment ? .cancelled : .requiresAction))
    #expect(report.isFinal == (kind == .payment))
    #expect(report.fault?.exitStatus == 12)
    #expect(report.result["error"] == "userCanceled")
    #expect(impatient.isAnswered)
    guard kind == .mandate else {
      #expect(report.result["failure_reason"] == "canceled")
      return
    }
    #expect(report.fault?.message.contains("until it expires") == true)
    #expect(try world.latest("A")?.isFinal == false)
    // A second one beside it could be authorized as well.
    let refused = #expect(throws: Fault.self) {
      try engine.transact(order, newAttempt: true, idempotencyKey: nil)
    }
    #expect(refused?.exitStatus == 6)
    let seen = try engine.lookUp("A", known: world.latest("A"), kind: .mandate)
    #expect(seen.status == .requiresAction)
    world.clock.advance(900_000)
    let expired = try engine.lookUp("A", known: world.latest("A"), kind: .mandate)
    #expect(expired.status == .expired)
    #expect(expired.isFinal)
    #expect(try world.latest("A")?.isFinal == true)
  }
}
