package import TenderModel

/// What a provider tells the engine while it works on an attempt.
package final class Progress {
  package private(set) var attempt: Attempt
  /// Whether an effecting request was recorded as sent in this run.
  package private(set) var hasSent = false
  /// The attempt as it was last written down with an outcome in this run.
  package private(set) var recorded: Attempt?
  /// Whether the outcome of this run is in the journal already.
  package private(set) var isConcluded = false
  /// What is known and not written down yet.
  private var unwritten: String?
  /// States that wait until it is.
  private var unsaid: [String] = []
  /// The last state, which tells of the outcome.
  private var last: String?
  /// Why the outcome had to be set aside.
  private(set) var warning: Fault?
  private let driver: Driver
  private let interruption: any Interruption

  init(_ attempt: Attempt, _ driver: Driver, _ interruption: any Interruption) {
    self.attempt = attempt
    self.driver = driver
    self.interruption = interruption
  }

  private var journal: any Journal { driver.journal }

  /// How many milliseconds ago at least the attempt was recorded as sent: by the machine's own clock,
  /// since the wall's may be set meanwhile.
  package var sinceSent: Int { driver.clock.elapsed(since: attempt) }

  /// The receipts that other attempts at this reference own.
  package func receiptsOfOthers() throws(Fault) -> [String] {
    try journal.attempts(
      matching: attempt.reference.text,
      filter: AttemptFilter(env: attempt.env, provider: attempt.provider)
    ).filter { $0.row != attempt.row }.compactMap(\.id)
  }

  /// Writes down, durably, what is known by now of an attempt that goes on.
  ///
  /// A preparation is erased. What fails from here on leaves the attempt as this says.
  /// Throws a `state` fault.
  package func record(_ outcome: Outcome, note: String) throws(Fault) {
    try driver.take(.record(outcome, note: note), &attempt)
    recorded = attempt
  }

  /// Takes in what is known by now of an attempt that goes on, to be written down with what comes next.
  ///
  /// Only where the same question, asked again, finds it out; `save` comes before anybody waits or is told.
  package func remember(_ outcome: Outcome, note: String) throws(Fault) {
    try driver.take(.record(outcome, note: nil), &attempt)
    recorded = attempt
    unwritten = note
  }

  /// The note of a write that has with it what was only taken in so far.
  func note(_ note: String) -> String { unwritten.map { "\($0), \(note)" } ?? note }

  /// Whether something was only taken in so far.
  var hasUnwritten: Bool { unwritten != nil }

  /// Writes down, durably, what was only taken in so far.
  ///
  /// Throws a `state` fault.
  package func save() throws(Fault) {
    guard let unwritten else { return sayAll() }
    try journal.update(&attempt, note: unwritten, .power)
    recorded = attempt
    sayAll()
  }

  /// Shows the states that waited: what was taken in is written down by now, and so is the outcome where it
  /// `isOutcome`.
  func sayAll(isOutcome: Bool = false) {
    unwritten = nil
    for state in unsaid { driver.announce(state) }
    unsaid = []
    if isOutcome, let last { driver.announce(last) }
  }

  /// Writes down, durably, what the run came to, before anybody hears of it.
  ///
  /// Throws a `state` fault; then nothing may be announced.
  package func conclude(_ outcome: Outcome) throws(Fault) {
    let event = Attempt.Event.conclude(outcome, attempt.operation, note: "outcome")
    // A sale at a reader may still be undone by whoever stands there.
    var driver = driver
    (driver.namesItsStates, driver.isLast) = (true, false)
    warning = try driver.take(event, &attempt)
    isConcluded = true
  }

  /// Shows a state to whoever watches, once what it tells of is written down; `isLast` says that this is the
  /// outcome.
  package func enter(_ state: String, isLast: Bool = false) {
    if let last { unsaid.append(last) }
    last = isLast ? state : nil
    guard !isLast else { return }
    if unwritten == nil, unsaid.isEmpty { driver.announce(state) } else { unsaid.append(state) }
  }

  /// Shows a documented state, and writes it down for whoever looks meanwhile.
  ///
  /// It outlives the process, not the power. With `sendingNext` it is written together with
  /// `willSend`, which must come next.
  package func recordState(_ state: String, sendingNext: Bool = false) throws(Fault) {
    try driver.take(.enter(state, sendingNext: sendingNext), &attempt)
  }

  /// Whether another process has asked for this attempt to be stopped.
  package var isStopRequested: Bool {
    journal.isStopRequested(
      attempt.key
    )
  }

  /// Writes down the provider's id and what a later process needs to go on.
  ///
  /// Durable.
  ///
  /// Throws a `state` fault; nothing effecting was sent then.
  ///
  /// With `sendingNext` it is written together with `willSend`, which must come next.
  package func prepare(
    _ preparation: Attempt.Preparation,
    id: String?,
    sendingNext: Bool = false
  ) throws(Fault) {
    try driver.take(.keep(preparation, id: id, sendingNext: sendingNext), &attempt)
  }

  /// Writes down, durably, that an effecting request is about to leave.
  ///
  /// Throws a `state` fault where it cannot, or the signal that came before; nothing is sent then.
  package func willSend() throws(Fault) {
    try interruption.check()
    try driver.take(.send(driver.clock.moment, note: note("sent")), &attempt)
    hasSent = true
    sayAll()
    try journal.permit?.check()
  }
}

extension Clock {
  /// How many milliseconds ago at least an attempt was recorded as sent.
  ///
  /// One of a version that did not write the moment down is as old as the wall clock says.
  package func elapsed(since attempt: Attempt) -> Int {
    if let sent = attempt.writtenMoment ?? attempt.sentMoment { return moment.elapsed(since: sent) }
    return max(0, now - (attempt.sentAt ?? now))
  }
}
