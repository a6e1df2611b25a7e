import Foundation
import PayTheory
import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// The adapter, a journal and the simulated provider in one process, with a clock that tests advance.
final class World {
  let folder: URL
  let clock = ManualClock()
  let journal: SQLiteJournal
  let redactor = Redactor()

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "world-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    journal = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    // Its simulator gives no id twice.
    journal.reachesOutside()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Returns the simulated provider, with a separate connection to its books.
  func simulator(_ options: SimulatorOptions = SimulatorOptions()) throws -> InProcessSimulator {
    try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: folder.path + "/simulator.db",
        clock: clock,
        randomness: SeededRandomness(seed: Int.random(in: 0...Int.max), label: "sim"),
        options: options,
        providers: [SimulatedPayTheory()]
      )
    )
  }

  /// Returns an engine as a new process would have it. `wrap` is put between it and the provider.
  func engine(
    fault: String? = nil,
    scenario: String? = nil,
    env: Env = .simulator,
    credentials: Bool = true,
    twoStep: Bool = true,
    key: String = PayTheoryCatalog.apiKey,
    exchange: (any HTTPExchange) throws -> any HTTPExchange = { $0 },
    wrap: (any SocketExchange) -> any SocketExchange = { $0 },
    over other: (any Journal)? = nil,
    lateWindow: Int = 0,
    interruption: any Interruption = NeverInterrupted(),
    timeout: Int? = nil,
    announce: @escaping (String) -> Void = { _ in }
  ) throws -> Engine {
    var options = SimulatorOptions()
    if let fault { try options.set(fault: fault, among: [SimulatedPayTheory()]) }
    if let scenario { try options.set(scenario: scenario, among: [SimulatedPayTheory()]) }
    let simulator = try simulator(options)
    var configuration = PayTheoryConfiguration(env: env, key: try APIKey(key))
    configuration.merchantUID = credentials ? PayTheoryCatalog.merchantUID : nil
    configuration.secretKey = credentials ? SharedSecret(PayTheoryCatalog.secretKey) : nil
    configuration.twoStep = twoStep
    if let timeout { configuration.timeout = timeout }
    let provider = PayTheoryProvider(
      PayTheoryContext(
        configuration: configuration,
        http: try exchange(simulator),
        sockets: wrap(simulator),
        clock: clock,
        randomness: SeededRandomness(seed: Int.random(in: 0...Int.max), label: "world"),
        redactor: redactor
      )
    )
    return Engine(
      env: env,
      provider: provider,
      journal: other ?? journal,
      clock: clock,
      interruption: interruption,
      // A process started by another test holds inherited locks until it executes its program.
      patience: 500,
      lateWindow: lateWindow,
      digest: { bytes in
        var mixed = [UInt8](repeating: 0, count: 16)
        for (index, byte) in bytes.enumerated() {
          mixed[index % 16] = mixed[index % 16] &* 31 &+ byte
        }
        return mixed
      },
      announce: announce
    )
  }

  func order(
    _ reference: String = "A",
    amount: Int = 1050,
    confirmation: Bool = false,
    instrument: Instrument? = nil,
    feeMode: FeeMode = .merchant,
    fee: Int? = nil
  ) throws -> PayTheoryOrder {
    let dollars = try #require(Currency(code: "USD"))
    var order = PayTheoryOrder(
      reference: try Reference(reference),
      amount: Money(minorUnits: amount, currency: dollars)
    )
    order.fee = fee.map { Money(minorUnits: $0, currency: dollars) }
    order.feeMode = feeMode
    order.instrument =
      try instrument
      ?? .card(TestInstruments.card(.visa, today: YearMonth(year: 2026, month: 11)))
    order.stopsAtConfirmation = confirmation
    return order
  }

  /// Returns an order to store a card.
  func tokenOrder() throws -> PayTheoryOrder {
    var order = try order("T", amount: 0)
    order.makes = .storedMethod
    return order
  }

  /// Returns the payment of a reference from the journal.
  func latest(_ reference: String = "A", env: Env = .simulator) throws -> Payment? {
    try journal.payment(.init(env: env, provider: PayTheoryProvider.name, reference: reference))
  }

  /// Returns an order by a stored method, which is created first unless `method` names one.
  func storedOrder(
    _ reference: String,
    amount: Int = 1050,
    method: String? = nil,
    confirmation: Bool = false,
    feeMode: FeeMode = .merchant,
    fee: Int? = nil
  ) throws -> PayTheoryOrder {
    var order = try order(
      reference,
      amount: amount,
      confirmation: confirmation,
      feeMode: feeMode,
      fee: fee
    )
    order.instrument = nil
    order.storedMethod = try method ?? engine().store(tokenOrder()).id
    return order
  }

  /// Returns the sums of a reference in the provider's books.
  func books(_ reference: String = "A") throws -> LedgerAudit.PayTheorySums {
    try LedgerAudit.payTheory(path: folder.path + "/simulator.db", reference: reference)
  }

  /// Reverses a part of a payment, in cents, as another client would.
  func giveBack(_ amount: Int, of receipt: String) throws {
    let mutation =
      "mutation { createReversal(transaction_id: \"\(receipt)\", amount: \(amount), "
      + "refund_reason: {reason_code: OTHER}) { is_void } }"
    let answer = try simulator().send(
      HTTPRequest(
        method: .post,
        url: "https://simulator/graphql",
        fields: [
          .init("Authorization", PayTheoryCatalog.merchantUID + ";" + PayTheoryCatalog.secretKey)
        ],
        body: Array(JSONWriter.text(["query": .string(mutation)]).utf8)
      ),
      by: Deadline(in: 1000, on: clock)
    )
    let data = JSONReader.read(answer.body)?["data"]
    #expect(data?["createReversal"]?["is_void"]?.truth != nil)
  }

  /// Returns the number of charges of a reference in the provider's ledger.
  func charges(_ reference: String = "A") throws -> Int {
    try LedgerAudit.charges(path: folder.path + "/simulator.db", reference: reference)
  }
}

extension Engine {
  /// Takes a payment.
  func pay(_ order: PayTheoryOrder, newAttempt: Bool = false) throws(Fault) -> Report {
    try execute(.placed(order), Engine.Options(newAttempt: newAttempt))
  }

  /// Stores a payment method.
  func store(_ order: PayTheoryOrder) throws(Fault) -> Report {
    try execute(.placed(order))
  }

  /// Refunds an amount in cents, or the rest.
  func refund(
    _ payment: Payment?,
    _ cents: Int? = nil,
    name: String? = nil
  ) throws(Fault) -> Report {
    try refund(
      payment,
      handle: payment?.reference.text ?? "A",
      .test(cents, "USD", name: name),
      idempotencyKey: nil
    )
  }
}

extension Payment {
  /// The state of its last attempt.
  var phase: TenderEngine.Operation.State.Name? { attempt?.state.name }

  /// Whether nothing was sent and the reference is free.
  var isFree: Bool { attempt?.state.name == .failed }
}

/// Changes answers that the simulator gave.
struct Altered: HTTPExchange {
  private let inner: any HTTPExchange
  private let change: @Sendable (_ request: String, inout HTTPResponse) -> Void

  init(
    _ inner: any HTTPExchange,
    _ change: @escaping @Sendable (_ request: String, inout HTTPResponse) -> Void
  ) {
    (self.inner, self.change) = (inner, change)
  }

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    var response = try inner.send(request, permit, by: deadline)
    change(String(decoding: request.body, as: UTF8.self), &response)
    return response
  }
}

extension HTTPResponse {
  /// The body as text.
  var text: String {
    get { String(decoding: body, as: UTF8.self) }
    set { body = Array(newValue.utf8) }
  }

  /// Replaces the transactions of a list with what `change` makes of them. `total` is how many the answer counts; nil
  /// for as many as it has.
  mutating func alterTransactions(total: Int? = nil, _ change: ([JSON]) -> [JSON]) {
    guard let top = JSONReader.read(body)?.object,
      let items = top["data"]?["transactions"]?["items"]?.array
    else { return }
    let shown = change(items)
    let list: JSON = ["items": .array(shown), "total_row_count": .integer(total ?? shown.count)]
    text = JSONWriter.text(["data": ["transactions": list]])
  }
}
