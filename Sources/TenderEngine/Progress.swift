package import TenderModel

/// What a provider tells the engine while it works on an operation.
package final class Progress {
  package private(set) var payment: Payment
  /// The operation that is worked on, by its sequence.
  package let sequence: Int
  /// Whether a request that can move money was recorded as sent in this run.
  package private(set) var hasSent = false
  /// Whether the outcome of this run is in the journal already.
  package private(set) var isConcluded = false
  /// What is known and not written yet.
  private var unwritten: String?
  /// States that are shown once it is.
  private var unsaid: [String] = []
  /// The last state, which tells of the outcome.
  private var last: String?
  /// Why the outcome had to be set aside.
  private(set) var warning: Fault?
  private let driver: Driver
  private let interruption: any Interruption
  /// The state that a lost request leaves, where it provably did nothing: what it was before `sent`.
  private(set) var before: Operation.State

  init(
    _ payment: Payment,
    _ sequence: Int,
    _ driver: Driver,
    _ interruption: any Interruption
  ) {
    self.payment = payment
    self.sequence = sequence
    self.driver = driver
    self.interruption = interruption
    before = payment[sequence]?.state ?? .prepared
  }

  private var journal: any Journal { driver.journal }

  /// The operation that is worked on.
  package var operation: Operation {
    payment[sequence] ?? Operation(.charge, at: 0)
  }

  /// The attempt that the operation is about, or is.
  package var attempt: Operation { payment.attempt ?? operation }

  /// How many milliseconds ago at least the operation was recorded as sent: by the machine's own clock, since the
  /// wall's may be set meanwhile.
  package var sinceSent: Int { driver.clock.elapsed(since: operation) }

  /// Whether the clocks that say so are more than a minute apart: one of them was set meanwhile.
  package var clocksDisagree: Bool { driver.clock.disagrees(about: operation) }

  /// The provider's ids that other operations of this reference have.
  package var otherIDs: [String] {
    payment.operations.filter { $0.sequence != sequence }.compactMap(\.id)
  }

  /// Writes, durably, the provider's id and what a later step needs, and the amount where it is known only now.
  ///
  /// Throws a `state` fault; no request that can move money was sent then. With `sendingNext` it is written
  /// together with `willSend`, which must come next.
  package func prepare(
    _ preparation: Operation.Preparation,
    id: String? = nil,
    amount: Int? = nil,
    sendingNext: Bool = false
  ) throws(Fault) {
    var next = payment
    try next.move(sequence, .keep, to: operation.state, at: driver.clock.now) { operation in
      operation.preparation = preparation
      operation.id = id ?? operation.id
      operation.amount = amount ?? operation.amount
    }
    try replace(next, sendingNext ? nil : "preparation kept")
  }

  /// Writes the next payment where there is a note, and takes it.
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
    payment = next
  }

  /// Writes, durably, that a request that can move money is about to leave.
  ///
  /// Throws a `state` fault where it cannot, or the signal that came before; nothing is sent then.
  package func willSend() throws(Fault) {
    try interruption.check()
    let sent = Operation.Sent(at: driver.clock.now, moment: driver.clock.moment)
    var next = payment
    if operation.state.name != .sent { before = operation.state }
    try next.move(sequence, .send, to: .sent(sent), at: sent.at)
    try replace(next, note("sent"))
    driver.say("sent")
    hasSent = true
    sayAll()
    try journal.window?.check()
  }

  /// The permit for one request of the operation, which must be recorded as sent.
  ///
  /// Each repetition of a request needs one of its own. Throws `internal` where nothing was recorded, `not_sent`
  /// where the journal's time is over.
  package func permit() throws(Fault) -> SendPermit {
    guard operation.state.name == .sent, payment.changed.isEmpty else {
      throw .bug("a request that can move money would be sent without being recorded").proven
    }
    return SendPermit(journal.window)
  }

  /// Writes, durably, what is known by now of an operation that goes on.
  ///
  /// What fails from here on leaves the operation as this says. Throws a `state` fault.
  package func record(_ outcome: Outcome, note: String) throws(Fault) {
    try replace(try driver.applied(outcome, .answer, payment, sequence), note)
    before = operation.state
  }

  /// Takes in what is known by now of an operation that goes on, to be written with what comes next.
  ///
  /// Only where the same question, asked again, finds it out; `save` comes before anything is waited for or shown.
  package func remember(_ outcome: Outcome, note: String) throws(Fault) {
    payment = try driver.applied(outcome, .answer, payment, sequence)
    before = operation.state
    unwritten = note
  }

  /// The note of a write that has with it what was only taken in so far.
  func note(_ note: String) -> String { unwritten.map { "\($0), \(note)" } ?? note }

  /// Whether something was only taken in so far.
  var hasUnwritten: Bool { unwritten != nil }

  /// Writes, durably, what was only taken in so far.
  ///
  /// Throws a `state` fault.
  package func save() throws(Fault) {
    if let unwritten { try replace(payment, unwritten) }
    sayAll()
  }

  /// Shows the states that waited: what was taken in is written by now, and so is the outcome where it
  /// `isOutcome`.
  func sayAll(isOutcome: Bool = false) {
    unwritten = nil
    for state in unsaid { driver.announce(state) }
    unsaid = []
    if isOutcome, let last { driver.announce(last) }
  }

  /// Writes, durably, what the operation came to, before it is shown anywhere.
  ///
  /// Throws a `state` fault; then nothing may be announced.
  package func conclude(_ outcome: Outcome) throws(Fault) {
    var next = try driver.applied(outcome, .answer, payment, sequence)
    next.updatedAt = driver.clock.now
    // A sale at a reader may still be undone there.
    warning = try journal.conclude(&next, sequence, note: note("outcome"), isLast: false)
    payment = next
    isConcluded = true
  }

  /// Shows a state, once what it tells of is written; `isLast` says that this is the outcome.
  package func enter(_ state: String, isLast: Bool = false) {
    if let last { unsaid.append(last) }
    last = isLast ? state : nil
    guard !isLast else { return }
    if unwritten == nil, unsaid.isEmpty { driver.announce(state) } else { unsaid.append(state) }
  }

  /// Shows a documented state, and writes it for other processes that look meanwhile.
  ///
  /// It outlives the process, not the power. With `sendingNext` it is written together with `willSend`.
  package func recordState(_ state: String, sendingNext: Bool = false) throws(Fault) {
    var next = payment
    try next.move(sequence, .enter, to: operation.state, at: driver.clock.now) { operation in
      operation.result = ["state": .string(state)]
    }
    try replace(next, sendingNext ? nil : state, .process)
    driver.announce(state)
  }

  /// Whether another process has asked for this payment to be stopped.
  package var isStopRequested: Bool { journal.isStopRequested(payment.key) }
}

extension Clock {
  /// How many milliseconds ago at least an operation was recorded as sent.
  ///
  /// The smaller of what the machine's own clock and the wall's say: the first is another machine's where the journal
  /// was moved, and either may be set forward meanwhile.
  package func elapsed(since operation: Operation) -> Int {
    guard let (byWall, byMachine) = ages(of: operation) else { return 0 }
    return min(byWall, byMachine)
  }

  /// How many milliseconds ago at most an operation was first recorded: the larger of what both clocks say, for what
  /// ends after a time.
  func age(of operation: Operation) -> Int {
    let byWall = now - operation.createdAt
    let sent = operation.state.sent
    let byMachine = sent?.moment.map { since in
      max(0, (sent?.at ?? 0) - operation.createdAt) + moment.elapsed(since: since)
    }
    // Dated in the future, it was recorded by a clock that was wrong: the machine's own tells, if it has not started
    // anew since.
    guard byWall >= -3_600_000 else {
      return sent?.moment?.boot == moment.boot ? byMachine ?? .max : .max
    }
    return max(byWall, byMachine ?? 0)
  }

  fileprivate func disagrees(about operation: Operation) -> Bool {
    // Since another start the machine's own clock says only that it is longer ago than that.
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
