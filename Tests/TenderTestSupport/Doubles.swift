import Foundation
private import Synchronization
package import TenderEngine
package import TenderModel

/// A clock that only tests move.
package final class ManualClock: Clock {
  private let time: Mutex<Int>
  private let looks = Mutex(0)
  /// The time by which the wall clock was set, in milliseconds.
  private let offset = Mutex(0)

  private let boot: String

  /// Creates a clock. `boot` is the machine's boot of its moments.
  package init(at milliseconds: Int = 1_800_000_000_000, boot: String = "boot") {
    time = Mutex(milliseconds)
    self.boot = boot
  }

  package var now: Int { time.withLock { $0 } + offset.withLock { $0 } }

  /// Sets the wall clock. No time passes.
  package func set(forward milliseconds: Int) { offset.withLock { $0 += milliseconds } }

  /// A millisecond later at every look, so that each wait for a deadline ends.
  package var uptime: Int {
    looks.withLock { looks in
      looks += 1
      return now + looks
    }
  }

  package var moment: Moment { Moment(boot: boot, milliseconds: time.withLock { $0 }) }

  package func pause(milliseconds: Int) throws(Fault) { advance(milliseconds) }

  package func advance(_ milliseconds: Int) { time.withLock { $0 += milliseconds } }
}

/// Bytes that count up, so that no two calls give the same.
package final class CountingRandomness: Randomness {
  private let next = Mutex(0)

  package init() {}

  package func bytes(_ count: Int) -> [UInt8] {
    next.withLock { next in
      (0..<count).map { _ in
        next += 1
        return UInt8(truncatingIfNeeded: next &* 167 &+ next >> 8)
      }
    }
  }
}

/// A journal in front of another one. It fails the writes that `fails` selects by the note of their history
/// line, as on a full disk.
package struct FailingJournal: Journal {
  private let inner: any Journal
  private let fails: @Sendable (Payment, String) -> Bool
  private let fault: Fault

  package init(
    _ inner: any Journal,
    with fault: Fault = Fault(.state, code: "disk_full", "the disk is full"),
    where fails: @escaping @Sendable (Payment, String) -> Bool
  ) {
    self.inner = inner
    self.fault = fault
    self.fails = fails
  }

  private func check(_ payment: Payment, _ note: String) throws(Fault) {
    guard fails(payment, note) else { return }
    throw fault
  }

  package func lock(
    _ key: ReferenceKey,
    opening first: Opening?,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    try inner.lock(key, opening: first, by: deadline, interruption: interruption)
  }

  package func payment(_ key: ReferenceKey) throws(Fault) -> Payment? { try inner.payment(key) }

  package func each(_ filter: PaymentFilter, _ body: (Payment) -> Bool) throws(Fault) {
    try inner.each(filter, body)
  }

  package func extent() throws(Fault) -> (attempts: Int, oldest: Int?) { try inner.extent() }

  package func open(
    _ payment: Payment,
    _ terms: OpeningTerms,
    _ durability: Durability
  ) throws(Fault) -> Payment {
    try check(payment, "opened")
    return try inner.open(payment, terms, durability)
  }

  package func update(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    _ durability: Durability
  ) throws(Fault) {
    try check(payment, note)
    try inner.update(&payment, sequence, note: note, durability)
  }

  package func loss() throws(Fault) -> JournalLoss? { try inner.loss() }

  package func reachesOutside(_ env: Env) { inner.reachesOutside(env) }

  package func fingerprints(
    of content: JSONObject,
    instrument: String?
  ) throws(Fault) -> JSONObject { try inner.fingerprints(of: content, instrument: instrument) }

  package func setStop(_ key: ReferenceKey, isRequested: Bool) throws(Fault) {
    try inner.setStop(key, isRequested: isRequested)
  }

  package func isStopRequested(_ key: ReferenceKey) -> Bool { inner.isStopRequested(key) }

  package func prune(_ filter: PaymentFilter) throws(Fault) -> Int { try inner.prune(filter) }

  package func history(of payment: Payment) throws(Fault) -> [HistoryEntry] {
    try inner.history(of: payment)
  }

  package func worker(_ key: ReferenceKey) -> String? { inner.worker(key) }

  package var window: SendWindow? { inner.window }

  package func isPruned(_ key: ReferenceKey) throws(Fault) -> Bool { try inner.isPruned(key) }

  package func count(_ filter: PaymentFilter, upTo limit: Int) throws(Fault) -> Int {
    try inner.count(filter, upTo: limit)
  }

  package func totals(_ filter: PaymentFilter, by keys: Set<Total.Key>) throws(Fault) -> [Total] {
    try inner.totals(filter, by: keys)
  }

  package func verify() throws(Fault) -> [String] { try inner.verify() }

  package func backUp(to path: String) throws(Fault) { try inner.backUp(to: path) }

  package func accept(reason: String, at time: Int) throws(Fault) {
    try inner.accept(reason: reason, at: time)
  }

  package var markProblem: String? { inner.markProblem }

  package func take(_ payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    try inner.take(payment, history)
  }
}

/// The project's folder, found from this file.
package enum Project {
  package static func path(_ relative: String, from file: String = #filePath) -> String {
    let parts = file.split(separator: "/").dropLast(3)
    return "/" + parts.joined(separator: "/") + "/" + relative
  }

  /// The text of a file of the project.
  package static func text(_ relative: String) throws -> String {
    try String(contentsOfFile: path(relative), encoding: .utf8)
  }
}

extension Payment {
  /// A card payment of 10.50 USD on the simulator whose charge was just prepared.
  package static func test(_ reference: String, at time: Int) -> Payment {
    var payment = Payment(
      key: .init(env: .simulator, provider: ProviderName("paytheory"), reference: reference),
      kind: .payment,
      merchant: "m",
      at: time
    )
    payment.currency = Currency(code: "USD")
    var charge = Operation(.charge, amount: 1050, at: time)
    charge.content = ["command": "transact", "amount": 1050]
    payment.append(charge)
    return payment
  }
}

extension RefundRequest {
  /// A refund of an amount in minor units; nil for the whole rest.
  package static func test(
    _ minorUnits: Int?,
    _ currency: String = "GBP",
    name: String? = nil,
    statement: String? = nil
  ) throws(Fault) -> RefundRequest {
    let currency = Currency(code: currency)
    var amount: Money?
    if let minorUnits, let currency { amount = Money(minorUnits: minorUnits, currency: currency) }
    let name = try name.map { text throws(Fault) in try Reference(text) }
    return RefundRequest(amount: amount, name: name, statement: statement)
  }
}

extension ReferenceKey {
  /// Creates the key of a reference from a text.
  package init(env: Env, provider: ProviderName, reference: String) {
    self.init(env: env, provider: provider, reference: Reference(stored: reference))
  }
}

/// Whether a reference equals a text.
package func == (reference: Reference, text: String) -> Bool { reference.text == text }

extension Engine {
  /// Checks an order and executes it.
  @discardableResult
  package func execute(
    _ order: Order,
    on payment: Payment? = nil,
    handle: String = "",
    _ options: Options = Options()
  ) throws(Fault) -> Report {
    try execute(try checked(order, on: payment, handle: handle, options))
  }

  /// The request of an order after the check of its rules.
  package func preview(_ order: any PlacedOrder) throws(Fault) -> JSONObject {
    _ = try checked(.placed(order))
    return try provider.preview(order)
  }

  /// Captures a hold or a part.
  package func confirm(
    _ payment: Payment?,
    handle: String,
    amount: Money?
  ) throws(Fault) -> Report {
    try execute(.capture(amount), on: payment, handle: handle)
  }

  /// Releases or undoes a payment.
  package func cancel(
    _ payment: Payment?,
    handle: String,
    _ request: RefundRequest = RefundRequest()
  ) throws(Fault) -> Report {
    try execute(.cancel(request), on: payment, handle: handle)
  }

  /// Refunds a payment.
  package func refund(
    _ payment: Payment?,
    handle: String,
    _ request: RefundRequest,
    idempotencyKey: String?
  ) throws(Fault) -> Report {
    try execute(
      .refund(request),
      on: payment,
      handle: handle,
      Options(newAttempt: false, idempotencyKey: idempotencyKey)
    )
  }
}

extension Journal {
  /// Records requests with real money.
  package func reachesOutside() { reachesOutside(.live) }
}

extension Fault {
  /// The hint and the steps, as a person reads them.
  package var advice: String? { Next.text(hint, next) }
}
