import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport

/// A provider with scripted answers that records its requests.
final class Scripted: Provider {
  /// The result of one request.
  enum Act: Sendable {
    /// It is sent and answered. Amount and id default to those of the operation.
    case answer(Status, amount: Int? = nil, id: String? = nil, action: PayerAction? = nil)
    /// It is sent, and its answer is lost.
    case lost
    /// It fails, before or after it was sent.
    case fail(Fault, sends: Bool)
    /// The transport uses the permit and gives it back, because no byte left.
    case givenBack(Fault)
    /// Something else.
    case custom(@Sendable (Progress) throws(Fault) -> Outcome)

    static let paid = answer(.succeeded)
  }

  struct Script: Sendable {
    var acts: [Act] = []
    var findings: [Finding] = []
    var lookUps: [Outcome] = []
    /// Why look-ups fail.
    var blindness: Fault?
    var recovery = Recovery.sameKey()
    /// The missing prerequisite of an order.
    var lack: Fault?
    /// The problem of an order that begins a payment.
    var rule: Fault?
    /// Descriptions of the requests.
    var heard: [String] = []
    /// The payments that its answers made, by their ids. A look-up without a script shows them.
    var made: [String: Outcome] = [:]
  }

  static let traits = Traits.scripted
  private let base: Traits
  let script: Mutex<Script>

  var traits: Traits {
    var traits = base
    traits.recovery = { _, _ in self.script.withLock { $0.recovery } }
    return traits
  }

  init(_ traits: Traits = .scripted, _ acts: Act...) {
    base = traits
    script = Mutex(Script(acts: acts))
  }

  /// Adds the results of the next requests.
  func then(_ acts: Act...) { script.withLock { $0.acts += acts } }

  func finds(_ findings: Finding...) { script.withLock { $0.findings = findings } }

  func shows(_ outcomes: Outcome...) { script.withLock { $0.lookUps = outcomes } }

  func isBlind(_ fault: Fault) { script.withLock { $0.blindness = fault } }

  /// Shows no payment in look-ups any more.
  func forget() { script.withLock { ($0.lookUps, $0.made) = ([], [:]) } }

  func recovers(by recovery: Recovery) { script.withLock { $0.recovery = recovery } }

  /// Returns the requests since the last call.
  func heard() -> [String] {
    script.withLock { script in
      defer { script.heard = [] }
      return script.heard
    }
  }

  private func hear(_ words: String) { script.withLock { $0.heard.append(words) } }

  private static func words(_ operation: Operation) -> String {
    let amount = operation.amount.map { " \($0)" } ?? ""
    return "\(operation.kind.rawValue) \(operation.number)\(amount)"
  }

  // MARK: Provider

  var name: ProviderName { ProviderName("scripted") }
  var merchant: String { "m" }
  static var nothingHeld: JSONObject { ["type": "NOTHING"] }

  func isID(_ handle: String) -> Bool { handle.hasPrefix("id-") }

  func check(_ order: TestOrder) throws(Fault) {
    if let rule = script.withLock({ $0.rule }) { throw rule }
  }

  func checkReady(for order: OrderOf<TestOrder>?, of payment: Payment?) throws(Fault) {
    if let lack = script.withLock({ $0.lack }) { throw lack }
  }

  func preview(_ order: TestOrder) throws(Fault) -> JSONObject { [:] }

  func perform(_ order: OrderOf<TestOrder>?, _ progress: Progress) throws(Fault) -> Outcome {
    hear("\(progress.operation.isUnknown ? "again" : "send") \(Self.words(progress.operation))")
    return try act(progress)
  }

  func proceed(_ progress: Progress) throws(Fault) -> Outcome {
    hear("proceed \(Self.words(progress.operation))")
    return try act(progress)
  }

  func undo(_ progress: Progress) throws(Fault) -> Outcome {
    hear("undo \(Self.words(progress.operation))")
    return try act(progress)
  }

  private func act(_ progress: Progress) throws(Fault) -> Outcome {
    let act = script.withLock { script in
      script.acts.isEmpty ? .paid : script.acts.removeFirst()
    }
    switch act {
    case .answer(let status, let amount, let id, let action):
      try send(progress)
      let operation = progress.operation
      var outcome = Outcome(
        status: status,
        id: id ?? "id-\(progress.sequence)",
        amount: amount ?? operation.amount,
        result: ["status": .string(status.rawValue)],
        nextAction: action
      )
      if status == .declined { outcome.fault = Fault(.declined, code: "declined", "declined") }
      remember(outcome, progress)
      return outcome
    case .lost:
      try send(progress)
      throw Fault(.unknown, effect: .unknown, code: "no_answer", "no answer")
    case .fail(let fault, let sends):
      if sends { try send(progress) }
      throw fault
    case .givenBack(let fault):
      try progress.willSend()
      let permit = try progress.permit()
      try permit.use()
      permit.giveBack()
      throw fault
    case .custom(let body): return try body(progress)
    }
  }

  /// Remembers what an answer made of the payment, for look-ups.
  private func remember(_ outcome: Outcome, _ progress: Progress) {
    let (operation, attempt) = (progress.operation, progress.attempt)
    script.withLock { script in
      switch operation.kind {
      case _ where operation.isAttempt: if let id = outcome.id { script.made[id] = outcome }
      case .capture: script.made[attempt.id ?? ""]?.status = outcome.status
      case .void where attempt.state.name == .waiting, .revoke:
        script.made[attempt.id ?? ""]?.status = operation.kind == .void ? .cancelled : .revoked
      default: break
      }
    }
  }

  private func send(_ progress: Progress) throws(Fault) {
    try progress.willSend()
    try progress.permit().use()
  }

  func canLook(at payment: Payment) -> Bool { true }

  func lookUp(_ query: LookUp) throws(Fault) -> Outcome? {
    hear("look up")
    if let fault = script.withLock(\.blindness) { throw fault }
    return script.withLock { script in
      // The last look-up is repeated.
      if script.lookUps.count > 1 { return script.lookUps.removeFirst() }
      if let shown = script.lookUps.first { return shown }
      return query.id.flatMap { script.made[$0] }
    }
  }

  func look(_ progress: Progress) throws(Fault) -> Finding {
    hear("look \(Self.words(progress.operation))")
    return script.withLock { script in
      script.findings.count > 1 ? script.findings.removeFirst() : script.findings.first ?? .absent
    }
  }
}

extension Traits {
  static let allKinds: [Operation.Kind] = [
    .authorize, .charge, .capture, .void, .refund, .store, .createMandate, .revoke,
  ]
  static let scripted = Traits(kinds: allKinds) { $0.takesKeys = true }
  static let keyless = Traits(kinds: allKinds)
  static let voidsAndLooks = Traits(kinds: allKinds) {
    ($0.refundsByVoid, $0.looksByReference) = (true, true)
  }
  static let reader = Traits(kinds: allKinds) { ($0.canLookUp, $0.isAtReader) = (false, true) }
}

extension Finding {
  /// Returns the outcome of an executed request.
  static func done(
    _ sequence: Int,
    _ amount: Int?,
    _ status: Status = .succeeded,
    id: String? = nil,
    currency: String? = nil
  ) -> Finding {
    .happened(
      Outcome(
        status: status,
        id: id ?? "id-\(sequence)",
        amount: amount,
        currency: currency.flatMap(Currency.init(code:)),
        result: ["status": .string(status.rawValue)]
      )
    )
  }

  static let nothing = refuted(Fault(.rejected, code: "refused", "it was refused").proven)
}

/// The announced states.
final class Said: Sendable {
  private let states = Mutex<[String]>([])

  var all: [String] { states.withLock { $0 } }

  func add(_ state: String) { states.withLock { $0.append(state) } }
}

/// A shop with one provider and a journal in memory.
struct Till<Asked: Provider> {
  let provider: Asked
  let journal: any Journal
  let clock: ManualClock
  let heard = Said()
  var lateWindow = 0
  /// Nearly all scripted answers have the same id.
  var remembersIDs = false

  init(
    _ provider: Asked,
    journal: any Journal = MemoryJournal(),
    clock: ManualClock = ManualClock()
  ) {
    self.provider = provider
    self.journal = journal
    self.clock = clock
  }

  var engine: Engine {
    let heard = heard
    return Engine(
      env: .simulator,
      provider: provider,
      journal: journal,
      clock: clock,
      interruption: NeverInterrupted(),
      patience: 0,
      lateWindow: lateWindow,
      remembersIDs: remembersIDs,
      digest: { bytes in
        // Each byte changes the whole digest.
        let seed = bytes.reduce(7) { ($0 ^ Int($1)) &* 0x100_0000_01b3 }
        var random = Seeded(seed)
        return (0..<16).map { _ in UInt8(random.below(256)) }
      },
      announce: heard.add
    )
  }

  func payment(_ reference: String = "A") throws(Fault) -> Payment? {
    try journal.payment(
      ReferenceKey(
        env: .simulator,
        provider: provider.name,
        reference: Reference(stored: reference)
      )
    )
  }

  /// The lines of the payment's history.
  func notes(_ reference: String = "A") throws(Fault) -> [String] {
    guard let payment = try payment(reference) else { return [] }
    return try journal.history(of: payment).map { "\($0.operation) \($0.state): \($0.note)" }
  }

  // MARK: Commands, each with its result as text

  /// Pays an amount in minor units. Returns exit and code, or the status.
  func transact(
    _ amount: Int = 1000,
    _ reference: String = "A",
    hold: Bool = false,
    newAttempt: Bool = false,
    key: String? = nil,
    card: (number: String, expiration: String)? = nil,
    looksFirst: Bool = false,
    despite: Set<String> = []
  ) throws -> String {
    guard let currency = Currency(code: "USD") else { return "" }
    var order = TestOrder(
      reference: try Reference(reference),
      amount: Money(minorUnits: amount, currency: currency)
    )
    order.card = try card.map { number, expiration in
      .card(
        try Card(
          number: SharedSecret(number),
          securityCode: SharedSecret("123"),
          expiration: Expiration(expiration),
          name: nil,
          address: Address(),
          today: YearMonth(year: 2026, month: 11)
        )
      )
    }
    order.isHold = hold
    let asked = order
    return words { () throws(Fault) in
      try engine.execute(
        .placed(asked),
        Engine.Options(
          newAttempt: newAttempt,
          idempotencyKey: key,
          looksFirst: looksFirst,
          despitePayments: despite
        )
      )
    }
  }

  func refund(
    _ amount: Int? = nil,
    name: String? = nil,
    key: String? = nil,
    isFurtherApproved: Bool = false,
    despite: Set<String> = [],
    despiteDispute: Bool = false,
    reference: String = "A"
  ) throws -> String {
    var request = try RefundRequest.test(amount, "USD", name: name)
    request.isFurtherApproved = isFurtherApproved
    (request.despiteRefunds, request.isDespiteDispute) = (despite, despiteDispute)
    let found = try payment(reference)
    return words { () throws(Fault) in
      try engine.refund(found, handle: reference, request, idempotencyKey: key)
    }
  }

  func cancel(_ amount: Int? = nil, _ reference: String = "A") throws -> String {
    let request = try RefundRequest.test(amount, "USD")
    let found = try payment(reference)
    return words { () throws(Fault) in try engine.cancel(found, handle: reference, request) }
  }

  func confirm(_ amount: Int? = nil, _ reference: String = "A") throws -> String {
    let found = try payment(reference)
    let money = amount.flatMap { units in
      Currency(code: "USD").map { Money(minorUnits: units, currency: $0) }
    }
    return words { () throws(Fault) in try engine.confirm(found, handle: reference, amount: money) }
  }

  func resume(finish: Bool = false, resend: Bool = false) throws -> String {
    guard let found = try payment() else { return "no payment" }
    return words { () throws(Fault) in try engine.resume(found, finish: finish, resend: resend) }
  }

  func status(_ reference: String = "A") throws -> String {
    let found = try payment(reference)
    return words { () throws(Fault) in try engine.lookUp(reference, known: found) }
  }

  /// Returns `STATUS`, with `replayed` or the error's exit and code; for a fault its exit and code.
  private func words(_ command: () throws(Fault) -> Report) -> String {
    do throws(Fault) {
      let report = try command()
      var words = [report.status.rawValue]
      if report.replayed == true { words.append("replayed") }
      if let fault = report.fault { words.append("\(fault.exitStatus) \(fault.code)") }
      if let operation = report.operation, !operation.isAttempt {
        words.append(
          "\(operation.kind.rawValue) \(operation.number): \(operation.state.name.rawValue)"
        )
      }
      return words.joined(separator: ", ")
    } catch {
      return "\(error.exitStatus) \(error.code)"
    }
  }
}
