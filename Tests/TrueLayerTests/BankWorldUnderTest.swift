import Foundation
import Synchronization
import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// The adapter, a journal and a provider, with a clock that tests advance.
final class World {
  let folder: URL
  let clock = ManualClock()
  let journal: SQLiteJournal
  let redactor = Redactor()
  let guide: SilentGuide
  let states = States()
  /// A journal in front of the real one, if there is one.
  var front: (any Journal)?
  /// The clock of the adapter's and the simulator's pauses, if it is not `clock`.
  var pauses: (any Clock)?

  final class States: Sendable {
    private let list = Mutex<[String]>([])

    func add(_ state: String) { list.withLock { $0.append(state) } }

    var all: [String] { list.withLock { $0 } }
  }

  init(form: [String: String] = [:]) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "bank-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    journal = try SQLiteJournal(folder: folder.path, redactor: redactor)
    // Its simulator gives no id twice.
    journal.reachesOutside()
    guide = SilentGuide(form)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The announced states.
  var announced: [String] { states.all }

  /// Returns an engine with the in-process simulator, as a new process would have it.
  func engine(
    scenario: String? = nil,
    fault: String? = nil,
    listens: Bool = true,
    interruption: any Interruption = NeverInterrupted(),
    change: (inout FlowOptions, inout TrueLayerConfiguration) -> Void = { _, _ in },
    wrap: (any HTTPExchange) -> any HTTPExchange = { $0 }
  ) throws -> Engine {
    var options = SimulatorOptions()
    if let scenario { try options.set(scenario: scenario, among: [SimulatedTrueLayer()]) }
    if let fault { try options.set(fault: fault, among: [SimulatedTrueLayer()]) }
    let simulator = try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: folder.path + "/simulator.db",
        clock: pauses ?? clock,
        randomness: SeededRandomness(seed: Int.random(in: 0...Int.max), label: "sim"),
        options: options,
        providers: [SimulatedTrueLayer()]
      )
    )
    return engine(
      over: wrap(simulator),
      listens: listens,
      interruption: interruption,
      change: change
    )
  }

  /// Returns an engine with any HTTP exchange.
  func engine(
    over http: any HTTPExchange,
    env: Env = .simulator,
    listens: Bool = false,
    interruption: any Interruption = NeverInterrupted(),
    redirects: (any RedirectListener)? = nil,
    change: (inout FlowOptions, inout TrueLayerConfiguration) -> Void = { _, _ in }
  ) -> Engine {
    var configuration = TrueLayerConfiguration(env: env)
    configuration.clientID = BankCatalog.clientID
    configuration.clientSecret = SharedSecret(BankCatalog.clientSecret)
    configuration.keyID = BankCatalog.keyID
    configuration.privateKey = SharedSecret(BankCatalog.privateKey)
    var options = FlowOptions()
    change(&options, &configuration)
    let provider = TrueLayerProvider(
      TrueLayerContext(
        configuration: configuration,
        options: options,
        http: http,
        redirects: redirects ?? (listens ? SimulatedPayer(clock: clock) : nil),
        guide: guide,
        clock: pauses ?? clock,
        randomness: SeededRandomness(seed: Int.random(in: 0...Int.max), label: "client"),
        interruption: interruption,
        redactor: redactor
      )
    )
    return Engine(
      env: env,
      provider: provider,
      journal: front ?? journal,
      clock: clock,
      interruption: interruption,
      patience: 500,
      digest: Self.digest,
      announce: { [states] in states.add($0) }
    )
  }

  /// Returns sixteen bytes that differ for different input (FNV-1a, twice).
  private static func digest(_ bytes: [UInt8]) -> [UInt8] {
    [0xcbf2_9ce4_8422_2325, 0x6c62_272e_07bb_0142].flatMap { (basis: UInt64) in
      let hash = bytes.reduce(basis) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
      return (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
    }
  }

  /// Returns an order for a payment in pounds to an external account.
  func payment(
    _ reference: String = "A",
    amount: Int = 1000,
    currency: String = "GBP",
    change: (inout Creation) -> Void = { _ in }
  ) throws -> AuthorizationOrder {
    let currency = try #require(Currency(code: currency))
    var creation = Creation(reference: try Reference(reference), currency: currency)
    creation.amount = Money(minorUnits: amount, currency: currency)
    creation.beneficiaryName = "Ben Eficiary"
    if currency.code == "GBP" {
      creation.sortCode = "56-00-29"
      creation.accountNumber = "26207729"
    } else {
      creation.iban = "NL39ABNA8234998285"
    }
    creation.user = ["name": "Remi Terr", "email": "remi@example.com"]
    change(&creation)
    return try creation.order()
  }

  /// Returns an order for a mandate with 50 pounds a payment and 500 a month.
  func mandate(_ reference: String = "M") throws -> AuthorizationOrder {
    try payment(reference) { creation in
      creation.kind = .mandate
      creation.amount = nil
      creation.maximumIndividual = 5000
      creation.limits = [(period: "month", amount: 50_000, alignment: "consent")]
    }
  }

  /// Returns an order for an existing resource.
  func existing(_ id: String, _ kind: Payment.Kind = .payment) throws -> AuthorizationOrder {
    let content: JSONObject = ["command": "transact", "id": .string(id)]
    var order = AuthorizationOrder(reference: try Reference(id), kind: kind, content: content)
    order.existingID = id
    return order
  }

  /// Deletes the finished payments from the journal, as if another journal had made them.
  func forget() throws {
    clock.advance(1)
    _ = try journal.prune(before: clock.now, PaymentFilter())
  }

  func latest(_ reference: String = "A") throws -> Payment? {
    try journal.payment(
      .init(env: .simulator, provider: TrueLayerProvider.name, reference: reference)
    )
  }

  /// Returns the number of payments of a reference in the simulated provider's ledger, and how many of them
  /// were authorized.
  func ledger(_ reference: String = "A") throws -> (made: Int, authorized: Int) {
    let books = try books(reference)
    return (books.made, books.authorized)
  }

  /// Returns the simulated provider's books for a reference.
  func books(_ reference: String = "A") throws -> LedgerAudit.BankBooks {
    try LedgerAudit.bankBooks(
      path: folder.path + "/simulator.db",
      reference: reference,
      at: clock.now
    )
  }

  /// Makes a payment to a merchant account, which is settled.
  func settled(_ reference: String = "R", amount: Int = 1000) throws -> Report {
    let order = try payment(reference, amount: amount) { creation in
      creation.sortCode = nil
      creation.accountNumber = nil
      creation.beneficiaryName = nil
      creation.merchantAccount = "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6"
    }
    return try engine(change: FlowTests.bank).pay(order)
  }
}

extension Engine {
  /// Creates a payment or mandate, or continues one.
  func pay(
    _ order: AuthorizationOrder,
    newAttempt: Bool = false,
    key: String? = nil
  ) throws(Fault) -> Report {
    try execute(
      .placed(order),
      Engine.Options(newAttempt: newAttempt, idempotencyKey: key)
    )
  }

  /// Finishes an unknown operation, as `journal resume --finish` does.
  func finish(_ payment: Payment) throws(Fault) -> Report {
    try resume(payment, finish: true, resend: false)
  }
}
