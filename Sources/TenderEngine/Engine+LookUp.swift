package import TenderModel

/// Looking a payment up, and waiting for it.
extension Engine {
  /// Looks a payment up at the provider; what only the journal knows (held, awaiting cash,
  /// declined) is answered from there.
  ///
  /// Throws `not_found` where neither knows it.
  package func lookUp(
    _ handle: String,
    known: Attempt?,
    kind: Attempt.Kind = .payment,
    purpose: LookUp.Purpose = .status
  ) throws(Fault) -> Report {
    // What an attempt came to says nothing about an id that somebody names: the provider is asked.
    let isByID = provider.isID(handle)
    if isByID, let attempt = known, attempt.kind != kind || attempt.isFreed || attempt.isToken {
      return try lookUp(handle, known: nil, kind: kind, purpose: purpose)
    }
    if let known, known.kind != kind, !known.isToken { throw .otherKind(handle, known.kind) }
    try provider.checkReady(for: .lookUp)
    var query = LookUp(kind: kind)
    query.purpose = purpose
    if let known {
      query.id = known.isToken ? nil : known.id
      if query.id == nil { query.reference = known.reference }
      query.refunds = known.refunds
      query.isKnown = true
      query.amount = known.amount
    } else if provider.isID(handle) {
      query.id = handle
    } else {
      query.reference = Reference(stored: handle)
    }
    if let known, known.isToken { return .fromJournal(known) }
    if let outcome = try provider.lookUp(query) {
      if let known { return try settleLookUp(outcome, known, purpose) }
      return Report(outcome, env: env, provider: provider.name, reference: nil, kind: kind)
    }
    guard let known else { throw .unknownHandle(handle) }
    return try fromJournal(known)
  }

  /// What the journal knows, and whether somebody is at work on it.
  private func fromJournal(_ known: Attempt) throws(Fault) -> Report {
    var report = Report.fromJournal(known)
    guard provider.cardPresent != nil, known.phase != .done else { return report }
    let lock: (any AttemptLock)?
    do throws(Fault) {
      lock = try self.lock(known.reference)
    } catch {
      // Who may only read is told what is there.
      return report
    }
    guard let lock else {
      report.status = .pending
      return report
    }
    defer { withExtendedLifetime(lock) {} }
    let current = try reread(known)
    report = .fromJournal(current)
    // Whoever worked on it has died before anything was sent.
    if current.phase == .prepared { report.status = .failed }
    return report
  }

  /// Polls until a payment is final.
  ///
  /// Ends with the fault `pending` (8) in the report where the time is over first. Times in
  /// milliseconds; `asked` is what was asked for, where a part of it is over already.
  package func wait(
    for report: Report,
    upTo limit: Int,
    asked: Int? = nil,
    every interval: Int,
    purpose: LookUp.Purpose = .status,
    waiting: (_ report: Report, _ left: Int) -> Void = { _, _ in },
    changed: (Report) -> Void
  ) throws(Fault) -> Report {
    var latest = report
    /// What the payer was last seen to be asked for.
    var shown = report.nextAction?.type
    let deadline = Deadline(in: limit, on: clock)
    while !latest.isFinal, latest.status != .requiresConfirmation {
      let left = deadline.remaining
      guard left > 0 else {
        return latest.stillPending(
          "the payment is still \(latest.status.rawValue) after \((asked ?? limit) / 1000) s"
        )
      }
      // The payment stands: whatever goes wrong from here on ends only the waiting for it.
      do throws(Fault) {
        try pause(min(interval, left)) { waiting(latest, deadline.remaining) }
      } catch {
        if error.kind == .interrupted, purpose == .outcome, let stopped = try giveUp(latest) {
          return stopped
        }
        return latest.stillPending("the wait was stopped while it is \(latest.status.rawValue)")
      }
      let before = latest.status
      do throws(Fault) {
        latest.take(
          try lookUp(
            latest.id ?? latest.reference?.text ?? "",
            known: latest.attempt,
            kind: latest.kind,
            purpose: purpose
          )
        )
      } catch {
        // A look-up that did not get through is repeated while there is time.
        guard error.kind == .providerError || error.kind == .notSent else {
          return latest.stillPending("it cannot be looked up: \(error.message)")
        }
      }
      if latest.status != before { changed(latest) }
      let next = latest.nextAction?.type
      if purpose == .outcome, !latest.isFinal, let attempt = latest.attempt, let next,
        next != shown,
        next != "wait"
      {
        // The payer's part is done, and something else is wanted: the flow goes on.
        latest = try proceed(attempt, handle: attempt.reference.text)
        guard latest.fault == nil else { return latest }
      }
      shown = latest.nextAction?.type
    }
    return latest
  }

  /// Waits in steps of a second: whoever watches sees the time that is left.
  private func pause(_ milliseconds: Int, watched: () -> Void) throws(Fault) {
    var rest = milliseconds
    while rest > 0 {
      watched()
      try clock.pause(milliseconds: min(rest, 1000))
      rest -= 1000
    }
  }

  /// Stops what awaits its payer; nil where nobody is awaited any more, or another works on it.
  private func giveUp(_ report: Report) throws(Fault) -> Report? {
    guard let bank = provider.authorization, let known = report.attempt,
      known.phase == .done, report.nextAction != nil
    else { return nil }
    interruption.acknowledge()
    let lock = try hold(known.reference)
    defer { withExtendedLifetime(lock) {} }
    var attempt = try reread(known)
    guard attempt.phase == .done, !attempt.isFinal else { return nil }
    attempt.operation = .transact
    return try settle(attempt, .transact) { progress throws(Fault) in
      try bank.giveUp(attempt, progress)
    }
  }

  /// Brings the journal up to date with what a look-up found, where nobody works on the attempt.
  private func settleLookUp(
    _ outcome: Outcome,
    _ known: Attempt,
    _ purpose: LookUp.Purpose
  ) throws(Fault) -> Report {
    var shown = Report(
      outcome,
      env: env,
      provider: provider.name,
      reference: known.reference,
      kind: known.kind
    )
    shown.attemptNumber = known.number
    shown.attempt = known
    if purpose != .status { shown.fault = outcome.fault }
    // A held payment may share nothing with what the provider lists; only captured ones follow it.
    // What a payer authorizes elsewhere goes on elsewhere.
    let follows = { (attempt: Attempt) in
      attempt.phase == .done && provider.owns(attempt)
        && (attempt.isCaptured || isAuthorizedByPayer && !attempt.isFreed)
    }
    guard follows(known), known.status != outcome.status else { return shown }
    // What was found is shown, also where nothing may be written.
    let taken = try? lock(known.reference)
    guard let lock = taken ?? nil else { return shown }
    defer { withExtendedLifetime(lock) {} }
    var current = try reread(known)
    // What was asked before somebody else changed it says nothing about what it is now.
    guard follows(current), current.isVersion(of: known) else { return shown }
    try driver.take(.see(outcome, purpose == .refund ? .cancel : .transact), &current)
    shown.attempt = current
    return shown
  }
}

extension Report {
  /// The report as a wait leaves it that did not come to the final state.
  fileprivate func stillPending(_ why: String) -> Report {
    var report = self
    report.fault = Fault(
      .pending,
      code: "still_pending",
      why,
      hint: "look again later: tender payment-status \(reference?.text ?? facts.id ?? "ID")"
    )
    return report
  }
}

extension Fault {
  fileprivate static func otherKind(_ handle: String, _ kind: Attempt.Kind) -> Fault {
    let name = kind == .mandate ? "mandate" : "payment"
    return Fault(
      .notFound,
      code: "payment_not_found",
      "\(handle.quotedForMessage) is a \(name)",
      hint: "use: tender \(name)-status"
    )
  }
}
