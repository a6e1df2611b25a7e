private import Synchronization
package import TenderEngine
package import TenderModel

/// A journal in memory, with the same rules as the one on disk.
package final class MemoryJournal: Journal {
  private struct State {
    var payments: [Payment] = []
    var history: [(row: Int, entry: HistoryEntry)] = []
    var locks: Set<String> = []
    var stops: Set<String> = []
    /// The number of rows given to operations so far.
    var operations = 0
    var rows = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// Returns a copy, as a backup is one.
  package func copy() -> MemoryJournal {
    let copy = MemoryJournal()
    let state = state.withLock { $0 }
    copy.state.withLock { ($0, $0.locks) = (state, []) }
    return copy
  }

  /// A reference in use. Its release frees the name.
  private final class Held: ReferenceLock {
    let journal: MemoryJournal
    let name: String

    init(_ journal: MemoryJournal, _ name: String) {
      self.journal = journal
      self.name = name
    }

    deinit { journal.state.withLock { _ = $0.locks.remove(name) } }
  }

  package func lock(
    _ key: ReferenceKey,
    opening first: Opening?,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    let name = key.description
    while true {
      if state.withLock({ $0.locks.insert(name).inserted }) { return Held(self, name) }
      guard deadline.remaining > 0 else { return nil }
      try interruption.check()
    }
  }

  package func payment(_ key: ReferenceKey) throws(Fault) -> Payment? {
    state.withLock { state in state.payments.first { $0.key == key } }
  }

  package func each(_ filter: PaymentFilter, _ body: (Payment) -> Bool) throws(Fault) {
    let found = state.withLock { Self.payments(of: $0, filter) }
    for payment in found.sorted(by: { ($0.createdAt, $0.row) > ($1.createdAt, $1.row) }) {
      guard body(payment) else { return }
    }
  }

  private static func payments(of state: State, _ filter: PaymentFilter) -> [Payment] {
    state.payments.filter { payment in
      filter.lets(payment)
        && filter.unneededBefore.map { !isNeeded(payment, since: $0, state.payments) } ?? true
    }
  }

  package func open(
    _ payment: Payment,
    _ terms: OpeningTerms,
    _ durability: Durability
  ) throws(Fault) -> Payment {
    var opened = payment
    try write(&opened, opened.attempt?.sequence ?? 0, "opened") { state in
      let blocking = state.payments.first {
        $0.reference == payment.reference && $0.env == payment.env
          && $0.provider != payment.provider
          && $0.state.status.blocksElsewhere(
            isUnknown: $0.state.isUnknown,
            namesProvider: terms.namesProvider
          )
      }
      return blocking.map { .referenceElsewhere($0, payment.provider) }
    }
    return opened
  }

  package func update(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    _ durability: Durability
  ) throws(Fault) {
    try write(&payment, sequence, note) { _ in nil }
  }

  /// Writes a payment over its version, unless `refusal` returns a fault.
  private func write(
    _ payment: inout Payment,
    _ sequence: Int,
    _ note: String,
    unless refusal: (State) -> Fault?
  ) throws(Fault) {
    var next = payment
    let fault: Fault? = state.withLock { state in
      if let fault = refusal(state) ?? Self.reusedKey(of: next, state) { return fault }
      let place = state.payments.firstIndex { $0.key == next.key }
      guard place.map({ state.payments[$0].version == next.version }) ?? (next.row == 0) else {
        return Fault(
          .state,
          code: "journal_conflict",
          cause: .changedMeanwhile,
          "it was changed meanwhile"
        )
      }
      var rows: [(sequence: Int, row: Int)] = []
      for operation in next.operations where operation.row == 0 {
        state.operations += 1
        rows.append((operation.sequence, state.operations))
      }
      if next.row == 0 {
        state.rows += 1
        next.row = state.rows
      }
      next.version += 1
      next.settled(rows: rows)
      if let place { state.payments[place] = next } else { state.payments.append(next) }
      state.history.append((next.row, HistoryEntry(next, sequence, note: note, by: nil)))
      return nil
    }
    if let fault { throw fault }
    payment = next
  }

  private static func reusedKey(of payment: Payment, _ state: State) -> Fault? {
    for operation in payment.operations where operation.row == 0 {
      guard let key = operation.key else { continue }
      for other in state.payments
      where other.env == payment.env && other.provider == payment.provider
        && other.merchant == payment.merchant
      {
        let isTaken = other.operations.contains {
          $0.key == key && !(other.row == payment.row && $0.leavesKey(to: operation))
        }
        if isTaken { return .keyReused(key, by: other.reference) }
      }
    }
    return nil
  }

  package func reachesOutside(_ env: Env) {}

  package func fingerprints(
    of content: JSONObject,
    instrument: String?
  ) throws(Fault) -> JSONObject {
    var prints: JSONObject = [:]
    prints["instrument"] = instrument.map { .string("print of \($0)") }
    return prints
  }

  package func setStop(_ key: ReferenceKey, isRequested: Bool) throws(Fault) {
    state.withLock { state in
      if isRequested {
        state.stops.insert(key.description)
      } else {
        state.stops.remove(key.description)
      }
    }
  }

  package func isStopRequested(_ key: ReferenceKey) -> Bool {
    state.withLock { $0.stops.contains(key.description) }
  }

  package func prune(_ filter: PaymentFilter) throws(Fault) -> Int {
    state.withLock { state in
      let rows = Set(Self.payments(of: state, filter).map(\.row))
      state.payments.removeAll { rows.contains($0.row) }
      state.history.removeAll { rows.contains($0.row) }
      return rows.count
    }
  }

  private static func isNeeded(_ payment: Payment, since time: Int, _ all: [Payment]) -> Bool {
    let state = payment.state
    return payment.updatedAt >= time || !state.isFinal || state.isUnknown
      || payment.kind == .mandate && state.status == .authorized
      || payment.attempts.contains { attempt in
        attempt.link != nil
          && all.contains {
            $0.reference == attempt.link && $0.env == payment.env
              && $0.provider == payment.provider
          }
      }
  }

  package func history(of payment: Payment) throws(Fault) -> [HistoryEntry] {
    state.withLock { $0.history.filter { $0.row == payment.row }.map(\.entry) }
  }

  package func extent() throws(Fault) -> (attempts: Int, oldest: Int?) {
    state.withLock { ($0.operations, $0.payments.map(\.createdAt).min()) }
  }

  package func totals(_ filter: PaymentFilter, by keys: Set<Total.Key>) throws(Fault) -> [Total] {
    try summed(filter, by: keys)
  }

  package func count(_ filter: PaymentFilter, upTo limit: Int) throws(Fault) -> Int {
    try counted(filter, upTo: limit)
  }

  package func loss() throws(Fault) -> JournalLoss? { nil }

  package func worker(_ key: ReferenceKey) -> String? { nil }

  package var window: SendWindow? { nil }

  package func isPruned(_ key: ReferenceKey) throws(Fault) -> Bool { false }

  package func verify() throws(Fault) -> [String] { [] }

  package var markProblem: String? { nil }

  package func backUp(to path: String) throws(Fault) { throw Self.onlyInMemory }

  package func accept(reason: String, at time: Int) throws(Fault) { throw Self.onlyInMemory }

  package func take(_ payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    throw Self.onlyInMemory
  }

  private static let onlyInMemory = Fault(
    .unsupported,
    code: "journal_unsupported",
    "this journal is only in memory"
  )
}

extension Journal {
  /// Deletes the payments of a filter that changed last before a time and are no longer needed.
  package func prune(before time: Int, _ filter: PaymentFilter) throws(Fault) -> Int {
    var filter = filter
    filter.unneededBefore = time
    return try prune(filter)
  }

  /// Sums payments one by one, as the columns must.
  package func summed(_ filter: PaymentFilter, by keys: Set<Total.Key>) throws(Fault) -> [Total] {
    var totals = Totals()
    var refunds: [(payment: Payment, original: ReferenceKey)] = []
    func add(_ payment: Payment) {
      let state = payment.state
      let isLost = state.dispute == .lost && state.returned == 0
      var group = [payment.env.rawValue, payment.currency?.code ?? ""]
      for key in Total.Key.allCases where keys.contains(key) {
        switch key {
        case .day: group.append(String(payment.createdAt / Total.quarter))
        case .provider: group.append(payment.provider.text)
        case .status: group.append(state.status.rawValue)
        }
      }
      var total = Total()
      total.charged = state.captured + state.earlierCaptured
      total.refunded =
        (isLost ? state.captured : state.refunded + state.reversed + state.returned)
        + state.earlierReturned
      total.refunding = state.refunding
      total.unknown = state.isUnknown ? 1 : 0
      totals.add(total, to: group.joined(separator: "\t"))
    }
    try each(filter) { payment in
      guard payment.kind == .payment else { return true }
      guard let attempt = payment.attempt, attempt.kind == .refund, let link = attempt.link else {
        add(payment)
        return true
      }
      let key = ReferenceKey(env: payment.env, provider: payment.provider, reference: link)
      refunds.append((payment, key))
      return true
    }
    // A card refund with a separate reference is also an operation of the original payment, and counts there.
    for refund in refunds where try payment(refund.original) == nil { add(refund.payment) }
    return totals.all
  }
}
