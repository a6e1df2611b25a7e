import Foundation
import Synchronization
import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import Toro

/// The adapter, a journal, the simulated reader and gateway, with a clock that tests advance.
final class ToroWorld {
  let folder: URL
  let clock = ManualClock()
  let journal: SQLiteJournal
  let redactor = Redactor()
  let wire = Recorder()
  /// The clock of the adapter's and the simulator's pauses, if it is not `clock`.
  var pauses: (any Clock)?
  private let states = States()

  final class States: Sendable {
    private let list = Mutex<[String]>([])

    func add(_ state: String) { list.withLock { $0.append(state) } }

    var all: [String] { list.withLock { $0 } }
  }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "till-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    journal = try SQLiteJournal(folder: folder.path, redactor: redactor)
    // Its simulator gives no id twice.
    journal.reachesOutside()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The announced states.
  var announced: [String] { states.all }

  /// Returns an engine with the in-process simulator, as a new process would have it.
  func engine(
    scenario: String? = nil,
    fault: String? = nil,
    env: Env = .simulator,
    attendant: any Attendant = AgreeableAttendant(),
    devices: (any DeviceExchange)? = nil,
    interruption: any Interruption = NeverInterrupted(),
    change: (inout SaleOptions, inout ToroConfiguration) -> Void = { _, _ in },
    watching: ((any DeviceExchange) -> any DeviceExchange)? = nil,
    reserve: ToroContext.Reservation? = nil,
    over other: (any Journal)? = nil,
    announce: @escaping (String) -> Void = { _ in }
  ) throws -> Engine {
    let provider = try provider(
      scenario: scenario,
      fault: fault,
      env: env,
      attendant: attendant,
      devices: devices,
      interruption: interruption,
      change: change,
      watching: watching,
      reserve: reserve
    )
    return Engine(
      env: env,
      provider: provider,
      journal: other ?? journal,
      clock: clock,
      interruption: interruption,
      patience: 500,
      digest: { $0.count < 16 ? $0 + [UInt8](repeating: 0, count: 16) : Array($0.suffix(16)) },
      announce: { [states] state in
        states.add(state)
        announce(state)
      }
    )
  }

  /// Returns the adapter alone.
  func provider(
    scenario: String? = nil,
    fault: String? = nil,
    env: Env = .simulator,
    attendant: any Attendant = AgreeableAttendant(),
    devices: (any DeviceExchange)? = nil,
    interruption: any Interruption = NeverInterrupted(),
    change: (inout SaleOptions, inout ToroConfiguration) -> Void = { _, _ in },
    watching: ((any DeviceExchange) -> any DeviceExchange)? = nil,
    reserve: ToroContext.Reservation? = nil,
    simulated: (any DeviceExchange) -> Void = { _ in }
  ) throws -> ToroProvider {
    var options = SimulatorOptions()
    if let scenario { try options.set(scenario: scenario, among: [SimulatedToro()]) }
    if let fault { try options.set(fault: fault, among: [SimulatedToro()]) }
    let simulator = try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: folder.path + "/simulator.db",
        clock: pauses ?? clock,
        randomness: SeededRandomness(seed: Int.random(in: 0...Int.max), label: "sim"),
        options: options,
        providers: [SimulatedToro()]
      )
    )
    wire.inner = simulator
    let own: any DeviceExchange = SimulatedDevices(simulator)
    simulated(own)
    var configuration = Self.configuration(env)
    var choices = SaleOptions()
    change(&choices, &configuration)
    var context = ToroContext(
      configuration: configuration,
      options: choices,
      http: wire,
      devices: devices ?? watching?(own) ?? own,
      attendant: attendant,
      clock: pauses ?? clock,
      randomness: SeededRandomness(seed: Int.random(in: 0...Int.max), label: "client"),
      interruption: interruption,
      redactor: redactor
    )
    context.reserve = reserve
    return ToroProvider(context)
  }

  /// Returns the ids and keys that the simulated gateway accepts.
  static func configuration(_ env: Env = .simulator) -> ToroConfiguration {
    var configuration = ToroConfiguration(env: env)
    configuration.passphrase = SharedSecret(ToroCatalog.passphrase)
    configuration.derivation.salt = ToroCatalog.salt
    configuration.derivation.iterations = ToroCatalog.iterations
    configuration.derivation.length = ToroCatalog.keyLength
    configuration.acquirerID = ToroCatalog.acquirerID
    configuration.merchantID = ToroCatalog.merchantID
    configuration.merchantName = ToroCatalog.merchantName
    configuration.merchantCategory = ToroCatalog.merchantCategory
    configuration.poiID = ToroCatalog.poiID
    configuration.recipientID = ToroCatalog.recipientID
    configuration.cardKeyVersion = ToroCatalog.cardKeyVersion
    configuration.timeout = 3000
    return configuration
  }

  /// Returns an order for a purchase in pounds.
  func sale(
    _ reference: String = "A",
    _ amount: Int = 1000,
    change: (inout SaleOrder) -> Void = { _ in }
  ) throws -> SaleOrder {
    let currency = try #require(Currency(code: "GBP"))
    var order = SaleOrder(
      reference: try Reference(reference),
      amount: Money(minorUnits: amount, currency: currency)
    )
    change(&order)
    return order
  }

  /// Returns an order that refunds a sale in the journal.
  func refund(_ reference: String, of original: String, _ amount: Int) throws -> SaleOrder {
    let receipt = try latest(original)?.attempt?.result["receipt"]?.object
    return try sale(reference, amount) { order in
      order.isRefund = true
      order.original = receipt
      order.originalReference = Reference(stored: original)
    }
  }

  func latest(_ reference: String = "A") throws -> Payment? {
    try journal.payment(.init(env: .simulator, provider: ToroProvider.name, reference: reference))
  }

  /// Returns the amounts of a reference in the acquirer's books, in minor units.
  func booked(_ reference: String = "A") throws -> [Int] {
    let path = folder.path + "/simulator.db"
    let money = try LedgerAudit.saleMoney(path: path, reference: reference)
    return [money.captured, money.returned]
  }

  /// Returns the acquirer's books for a reference.
  func ledger(
    _ reference: String = "A"
  ) throws -> (authorised: Int, standing: Int, captured: Int) {
    try LedgerAudit.sales(path: folder.path + "/simulator.db", reference: reference)
  }
}

/// Forwards requests, and records the messages of both directions.
final class Recorder: HTTPExchange, @unchecked Sendable {
  // Unchecked: a test works on one thread.
  var inner: (any HTTPExchange)?
  private(set) var requests: [[UInt8]] = []
  private(set) var addresses: [String] = []
  private(set) var answers: [[UInt8]] = []
  /// Changes an answer before it arrives.
  var forge: (([UInt8]) -> [UInt8])?
  /// The HTTP status of the following answers; nil for the usual one.
  var status: Int?

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    requests.append(request.body)
    addresses.append(request.url)
    guard let inner else { throw Fault(.notSent, code: "unreachable", "nobody is there") }
    var answer = try inner.send(request, permit, by: deadline)
    if let forge { answer.body = forge(answer.body) }
    if let status { answer.status = status }
    answers.append(answer.body)
    return answer
  }
}

/// The simulated attendant: it signs, and accepts the signature.
struct AgreeableAttendant: Attendant {
  var matches = true

  var canCompare: Bool { true }

  func signature() throws(Fault) -> [UInt8]? { Array("Ada".utf8) }

  func signatureMatches() throws(Fault) -> Bool { matches }
}

extension Engine {
  /// Takes a sale or refund at the reader.
  func sell(_ order: SaleOrder, newAttempt: Bool = false) throws(Fault) -> Report {
    try execute(.placed(order), Engine.Options(newAttempt: newAttempt))
  }

  /// Finishes an unknown operation, as `journal resume --finish` does.
  func finish(_ payment: Payment) throws(Fault) -> Report {
    try resume(payment, finish: true, resend: false)
  }
}

extension Report {
  var receipt: JSONObject { result["receipt"]?.object ?? [:] }
}

/// The files of `Vectors`.
enum Vectors {
  static func bytes(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(filePath: Project.path("Tests/ToroTests/Vectors/" + name))))
  }

  static func text(_ name: String) throws -> String {
    String(decoding: try bytes(name), as: UTF8.self)
  }

  /// Returns a message with a valid MAC for its changed body.
  static func signed(_ text: String, _ body: String) throws -> [UInt8] {
    let key = try MessageKey(
      passphrase: SharedSecret(ToroCatalog.passphrase),
      ToroWorld.configuration().derivation,
      id: ToroCatalog.keyID,
      version: ToroCatalog.keyVersion
    )
    let bytes = try #require(XMLElement.bytes(of: body, at: 2, in: Array(text.utf8)))
    let start = try #require(text.firstRange(of: "<MAC>")).upperBound
    let end = try #require(text.firstRange(of: "</MAC>")).lowerBound
    return Array((text[..<start] + Base64.encode(try key.mac(over: bytes)) + text[end...]).utf8)
  }
}
