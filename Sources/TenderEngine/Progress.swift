package import TenderModel

/// The link from a provider to the engine while the provider works on an operation.
package final class Progress {
  /// The payment with all its operations, as it is written.
  private(set) var whole: Payment
  package let sequence: Int
  /// Whether this run recorded a request that can move money as sent.
  package private(set) var hasSent = false
  /// Whether the outcome of this run is already in the journal.
  package private(set) var isConcluded = false
  /// The note of results that are not written yet.
  private var unwritten: String?
  /// States to announce after that write.
  private var unsaid: [String] = []
  /// The last state, which announces the outcome.
  private var last: String?
  private let driver: Driver
  private let interruption: any Interruption
  /// The permits since the last result.
  private var permits: [SendPermit] = []
  /// Who can go on with the payer's flow.
  package var hands = Hands.own
  /// The state before `sent`. A lost request that provably did nothing returns to it.
  private(set) var before: Operation.State

  init(
    _ payment: Payment,
    _ sequence: Int,
    _ driver: Driver,
    _ interruption: any Interruption
  ) {
    whole = payment
    self.sequence = sequence
    self.driver = driver
    self.interruption = interruption
    before = payment[sequence]?.state ?? .prepared
  }

  private var journal: any Journal { driver.journal }

  /// The payment of the operation. For a refund of a surplus charge, it has that charge alone.
  package var payment: Payment { whole.subject(of: sequence) }

  /// Who can go on with a payer's flow while no process watches it.
  package enum Hands {
    /// The flow stands until this program answers.
    case own
    /// The payer was sent to the bank, or may have begun.
    case payers
    /// The payer has finished, and the bank goes on.
    case banks
  }

  /// Whether a request of this run may have left, and no result or refusal is known that ends it.
  package var isUnderWay: Bool { operation.isUnknown && permits.contains(where: \.isOpen) }

  package var operation: Operation {
    whole[sequence] ?? Operation(.charge, at: 0)
  }

  /// The attempt that the operation belongs to, or is.
  package var attempt: Operation { whole.attempt ?? operation }

  /// The least number of milliseconds since the operation was recorded as sent. The smaller of both clocks
  /// counts, because the wall clock may be set in between.
  package var sinceSent: Int { driver.clock.elapsed(since: operation) }

  /// Whether wall clock and monotonic clock differ by more than a minute, because one of them was set.
  package var clocksDisagree: Bool { driver.clock.disagrees(about: operation) }

  /// The provider's ids of the other operations of this reference.
  package var otherIDs: [String] {
    whole.operations.filter { $0.sequence != sequence }.compactMap(\.id)
  }

  /// Writes durably the provider's id, the data for a later step, and an amount that only now is known.
  ///
  /// Throws a `state` fault. Then no request that can move money was sent. With `sendingNext`, `willSend`
  /// must come next, and writes both together.
  package func prepare(
    _ preparation: Operation.Preparation,
    id: String? = nil,
    amount: Int? = nil,
    sendingNext: Bool = false
  ) throws(Fault) {
    var next = whole
    try next.move(sequence, .keep, to: operation.state, at: driver.clock.now) { operation in
      operation.preparation = preparation
      operation.id = id ?? operation.id
      operation.amount = amount ?? operation.amount
    }
    try replace(next, sendingNext ? nil : "preparation stored")
  }

  /// Takes over the next whole. With a note, it is written first.
  private func replace(
    _ next: Payment,
    _ note: String?,
    _ durability: Durability = .power
  ) throws(Fault) {
    var next = next
    if let note {
      try driver.write(&next, sequence, note: note, durability)
    } else {
      next.updatedAt = driver.clock.now
    }
    whole = next
  }

  /// Writes durably that a request that can move money is about to leave.
  ///
  /// Throws a `state` fault if it cannot be written, or the signal that came before. Then nothing is sent. A
  /// request that turned out to move money was sent before, and is not stoppable. `isConsent` remembers that
  /// a consent or form of the payer's flow was sent.
  package func willSend(isStoppable: Bool = true, isConsent: Bool = false) throws(Fault) {
    if isStoppable { try interruption.check() }
    let (now, moment) = (driver.clock.now, driver.clock.moment)
    var next = whole
    if operation.state.name != .sent { before = operation.state }
    try next.move(sequence, .send, to: .sent(at: now, moment: moment), at: now) { operation in
      if isConsent { operation.preparation = Operation.consent }
    }
    try replace(next, note("sent"))
    driver.say("sent")
    hasSent = true
    if !isStoppable { permits.append(.spent) }
    sayAll()
    try journal.window?.check()
  }

  /// Returns the permit for one request of the operation, which must be recorded as sent.
  ///
  /// Each repetition of a request needs a new permit. Throws `internal` if nothing was recorded, and
  /// `not_sent` if the journal's window has ended.
  package func permit() throws(Fault) -> SendPermit {
    guard operation.state.name == .sent, whole.changed.isEmpty else {
      throw .bug("a request that can move money would be sent without being recorded")
    }
    let permit = SendPermit(journal.window)
    permits.append(permit)
    return permit
  }

  /// Writes durably the current result of an operation that continues.
  ///
  /// A later failure leaves the operation in this state. Throws a `state` fault.
  package func record(_ outcome: Outcome, note: String) throws(Fault) {
    try replace(try driver.applied(outcome, .answer, whole, sequence), note)
    before = operation.state
    permits = []
  }

  /// Applies the current result of an operation that continues. The next write records it.
  ///
  /// This is allowed only for a result that the same question would give again. `save` must come before
  /// anything is waited for or shown.
  package func remember(_ outcome: Outcome, note: String) throws(Fault) {
    whole = try driver.applied(outcome, .answer, whole, sequence)
    before = operation.state
    unwritten = note
    permits = []
  }

  /// Returns the note of a write that includes applied results.
  func note(_ note: String) -> String { unwritten.map { "\($0), \(note)" } ?? note }

  /// Whether applied results are not written yet.
  var hasUnwritten: Bool { unwritten != nil }

  /// Writes the applied results durably.
  ///
  /// Throws a `state` fault.
  package func save() throws(Fault) {
    if let unwritten { try replace(whole, unwritten) }
    sayAll()
  }

  /// Announces the waiting states after their write. With `isOutcome`, the outcome is written too, and its
  /// state is announced.
  func sayAll(isOutcome: Bool = false) {
    unwritten = nil
    for state in unsaid { driver.announce(state) }
    unsaid = []
    if isOutcome, let last { driver.announce(last) }
  }

  /// Writes the outcome durably, before it is shown anywhere.
  ///
  /// Throws a `state` fault. Then nothing may be announced.
  package func conclude(_ outcome: Outcome) throws(Fault) {
    var next = try driver.applied(outcome, .answer, whole, sequence)
    next.updatedAt = driver.clock.now
    // The sale may still be undone at the reader.
    try journal.update(&next, sequence, note: note("outcome"), .power)
    whole = next
    isConcluded = true
  }

  /// Announces a state once its result is written. `isLast` marks the outcome's state.
  package func enter(_ state: String, isLast: Bool = false) {
    if let last { unsaid.append(last) }
    last = isLast ? state : nil
    guard !isLast else { return }
    if unwritten == nil, unsaid.isEmpty { driver.announce(state) } else { unsaid.append(state) }
  }

  /// Announces a documented state, and writes it for other processes that look at the whole.
  ///
  /// The write survives the end of the process, but not a power failure. With `sendingNext`, `willSend`
  /// writes both together.
  package func recordState(_ state: String, sendingNext: Bool = false) throws(Fault) {
    var next = whole
    try next.move(sequence, .enter, to: operation.state, at: driver.clock.now) { operation in
      operation.result = ["state": .string(state)]
    }
    try replace(next, sendingNext ? nil : state, .process)
    driver.announce(state)
  }

  /// Whether another process asked to stop this whole.
  package var isStopRequested: Bool { journal.isStopRequested(whole.key) }
}

extension Clock {
  /// The least number of milliseconds since an operation was recorded as sent.
  ///
  /// The smaller value of both clocks counts. The monotonic clock is another machine's if the journal was
  /// moved, and either clock may have been set forward.
  package func elapsed(since operation: Operation) -> Int {
    guard let (byWall, byMachine) = ages(of: operation) else { return 0 }
    return min(byWall, byMachine)
  }

  /// The largest number of milliseconds since an operation was first recorded, for limits that end after a
  /// time. The larger value of both clocks counts.
  func age(of operation: Operation) -> Int {
    let byWall = now - operation.createdAt
    let sent = operation.state.sent
    let byMachine = sent?.moment.map { since in
      max(0, (sent?.at ?? 0) - operation.createdAt) + moment.elapsed(since: since)
    }
    // A time in the future was written by a wrong clock. Then the monotonic clock decides, if the machine has
    // not started again since.
    guard byWall >= -3_600_000 else {
      return sent?.moment?.boot == moment.boot ? byMachine ?? .max : .max
    }
    return max(byWall, byMachine ?? 0)
  }

  fileprivate func disagrees(about operation: Operation) -> Bool {
    // After another start, the monotonic clock gives only the least age.
    guard operation.state.sent?.moment?.boot == moment.boot,
      let (byWall, byMachine) = ages(of: operation)
    else { return false }
    return abs(byWall - byMachine) > 60_000
  }

  private func ages(of operation: Operation) -> (byWall: Int, byMachine: Int)? {
    guard let sent = operation.state.sent else { return nil }
    let byWall = max(0, now - sent.at)
    return (byWall, sent.moment.map { moment.elapsed(since: $0) } ?? byWall)
  }
}
