package import TenderModel

/// What a later command does with an attempt.
package enum Plan: String, Sendable {
  case capture, release, reverse, refund, replay
  case findOut = "find_out"
}

/// The operations that take up what an earlier process left: confirm, cancel, look-up, wait.
extension Engine {
  /// What a confirm would do with an attempt as it stands.
  ///
  /// Throws where it would be refused.
  package func planConfirm(_ found: Attempt?, handle: String) throws(Fault) -> Plan {
    guard let found, !found.isToken else { throw .nothingToConfirm(handle, found, provider) }
    if found.phase == .sent { return .findOut }
    if found.isCaptured { return .replay }
    guard found.phase == .done, found.status == .requiresConfirmation else {
      throw .nothingToConfirm(handle, found, provider)
    }
    return .capture
  }

  /// What a cancel would do with an attempt as it stands.
  ///
  /// Throws where it would be refused.
  package func planCancel(_ found: Attempt?, handle: String) throws(Fault) -> Plan {
    guard let found else { throw .unknownHandle(handle) }
    if found.phase == .sent { return .findOut }
    if found.reversal != nil, found.refunds.isEmpty { return .replay }
    guard found.phase == .done, !found.isToken, !found.isFreed, found.refunds.isEmpty else {
      throw .nothingToCancel(found)
    }
    switch found.status {
    case .requiresConfirmation: return .release
    case .succeeded, .pending: return .reverse
    case .requiresAction:
      throw Fault(
        .unsupported,
        code: "cancel_unsupported",
        "\(handle.quotedForMessage) waits for the payer and cannot be cancelled",
        hint: "it expires by itself at the provider"
      )
    default: throw .nothingToCancel(found)
    }
  }

  /// What giving a part back would do with an attempt as it stands.
  ///
  /// Throws where it would be refused.
  package func planPart(_ found: Attempt?, handle: String) throws(Fault) -> Plan {
    guard let found else { throw .unknownHandle(handle) }
    if found.phase == .sent { return .findOut }
    let isWholeUndone = found.reversal != nil && found.refunds.isEmpty
    guard found.isCaptured, !isWholeUndone else { throw .nothingToCancel(found) }
    return .refund
  }

  /// Captures what is held under a reference, or answers with what capturing it came to before.
  ///
  /// Throws `conflict` (`no_auth`) where nothing is held: never transacted, declined, cancelled.
  package func confirm(_ found: Attempt?, handle: String) throws(Fault) -> Report {
    guard let found, !found.isToken else { throw .nothingToConfirm(handle, found, provider) }
    let lock = try hold(found.reference)
    defer { withExtendedLifetime(lock) {} }
    var attempt = try reread(found)
    try checkOwner(of: attempt)
    if attempt.phase == .sent {
      let known = try findOut(attempt)
      attempt = known.attempt
      if known.doneNow { return Report(attempt, .confirm, replayed: false) }
    }
    guard try planConfirm(attempt, handle: handle) == .capture else {
      return Report(attempt, .confirm, replayed: true)
    }
    try provider.checkReady(for: .heldPayment)
    attempt.operation = .confirm
    return try settle(attempt, .confirm) { progress throws(Fault) in
      try provider.confirm(attempt, progress)
    }
  }

  /// Voids what is held, reverses what is captured, or answers with what undid it before.
  ///
  /// Throws `not_found` for an unknown handle, `conflict` where there is nothing to undo.
  package func cancel(_ found: Attempt?, handle: String) throws(Fault) -> Report {
    guard let found else { throw .unknownHandle(handle) }
    try checkOwner(of: found)
    let isUnderWay = try stopUnderWay(found)
    let lock = isUnderWay ? try holdStopping(found.reference) : try hold(found.reference)
    defer { withExtendedLifetime(lock) {} }
    var attempt = try newest(found, handle: handle)
    try checkOwner(of: attempt)
    if isUnderWay {
      journal.forgetStop(env: env, provider: provider.name, reference: found.reference)
      // It was stopped before anything was sent.
      if attempt.isFreed, attempt.status == .cancelled {
        return Report(attempt, .cancel, replayed: false)
      }
    }
    if attempt.phase == .sent {
      let wasReversal = attempt.operation == .cancel
      // Who wants it undone does not want it done first.
      let known = try findOut(attempt, mayRepeat: false)
      attempt = known.attempt
      if wasReversal || attempt.status == .cancelled, known.doneNow {
        return Report(attempt, .cancel, replayed: false)
      }
    }
    switch try planCancel(attempt, handle: handle) {
    case .release:
      try provider.checkReady(for: .heldPayment)
      attempt.operation = .cancel
      return try settle(attempt, .cancel) { progress throws(Fault) in
        try provider.release(attempt, progress)
      }
    case .reverse:
      try provider.checkReady(for: .reversal)
      attempt.operation = .cancel
      return try settle(attempt, .cancel) { progress throws(Fault) in
        try provider.reverse(attempt, progress)
      }
    case .replay, .capture, .refund, .findOut: return Report(attempt, .cancel, replayed: true)
    }
  }

  /// Takes the lock of a reference whose work is asked to stop, again and again: whoever waited for it
  /// too begins new work, and must hear it as well.
  private func holdStopping(_ reference: String) throws(Fault) -> any AttemptLock {
    // Whoever is at work hears it within moments, and a reader takes some seconds to let go.
    let deadline = Deadline(in: max(patience, 15_000), on: clock)
    while true {
      let lock = try journal.lock(
        env: env,
        provider: provider.name,
        reference: reference,
        by: Deadline(in: min(500, deadline.remaining), on: clock),
        interruption: interruption
      )
      if let lock { return lock }
      guard deadline.remaining > 0 else { throw .inProgress(reference) }
      try journal.requestStop(env: env, provider: provider.name, reference: reference)
    }
  }

  /// The attempt as it is now that its lock is held; the newest of its reference, where that was meant:
  /// another command may have opened one meanwhile.
  private func newest(_ found: Attempt, handle: String) throws(Fault) -> Attempt {
    let latest = try journal.latest(
      env: found.env,
      provider: found.provider,
      reference: found.reference
    )
    guard let latest, handle == found.reference, latest.phase != .prepared else {
      return try reread(found)
    }
    return latest
  }

  /// Finds out what an attempt in `sent` did; any other is answered as it stands.
  package func resume(_ found: Attempt) throws(Fault) -> Report {
    // Whoever holds the lock is at work on it: that is an answer, and nothing to wait for.
    let lock = try hold(found.reference, patience: 0)
    defer { withExtendedLifetime(lock) {} }
    let attempt = try reread(found)
    try checkOwner(of: attempt)
    guard attempt.phase == .sent else { return Report(attempt, attempt.operation, replayed: true) }
    let known = try findOut(attempt)
    return Report(known.attempt, known.attempt.operation, replayed: !known.doneNow)
  }

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
      query.reference = handle
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
    guard provider is any CardPresentProvider, known.phase != .done else { return report }
    let lock = try journal.lock(
      env: env,
      provider: provider.name,
      reference: known.reference,
      by: Deadline(in: 0, on: clock),
      interruption: interruption
    )
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
  /// milliseconds.
  package func wait(
    for report: Report,
    upTo limit: Int,
    every interval: Int,
    purpose: LookUp.Purpose = .status,
    changed: (Report) -> Void
  ) throws(Fault) -> Report {
    var latest = report
    /// What the payer was last seen to be asked for.
    var shown = report.nextAction?["type"]
    let deadline = Deadline(in: limit, on: clock)
    while !latest.isFinal, latest.status != .requiresConfirmation {
      let left = deadline.remaining
      guard left > 0 else {
        return latest.stillPending(
          "the payment is still \(latest.status.rawValue) after \(limit / 1000) s"
        )
      }
      // The payment stands: whatever goes wrong from here on ends only the waiting for it.
      do throws(Fault) {
        try clock.pause(milliseconds: min(interval, left))
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
            latest.id ?? latest.reference ?? "",
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
      let next = latest.nextAction?["type"]
      if purpose == .outcome, !latest.isFinal, let attempt = latest.attempt, let next,
        next != shown,
        next != "wait"
      {
        // The payer's part is done, and something else is wanted: the flow goes on.
        latest = try proceed(attempt, handle: attempt.reference)
        guard latest.fault == nil else { return latest }
      }
      shown = latest.nextAction?["type"]
    }
    return latest
  }

  /// Stops what awaits its payer; nil where nobody is awaited any more, or another works on it.
  private func giveUp(_ report: Report) throws(Fault) -> Report? {
    guard let bank = provider as? any AuthorizingProvider, let known = report.attempt,
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
    let lock = try journal.lock(
      env: env,
      provider: provider.name,
      reference: known.reference,
      by: Deadline(in: 0, on: clock),
      interruption: interruption
    )
    guard let lock else { return shown }
    defer { withExtendedLifetime(lock) {} }
    var current = try reread(known)
    // What was asked before somebody else changed it says nothing about what it is now.
    guard follows(current), current.isVersion(of: known) else { return shown }
    try driver.take(.see(outcome, purpose == .refund ? .cancel : .transact), &current)
    shown.attempt = current
    return shown
  }

  /// The attempt as it is now that its lock is held.
  func reread(_ found: Attempt) throws(Fault) -> Attempt {
    let latest = try journal.latest(
      env: found.env,
      provider: found.provider,
      reference: found.reference
    )
    // An older attempt can only be a finished one, which nobody changes any more.
    return latest?.row == found.row ? latest ?? found : found
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
      hint: "look again later: tender payment-status \(reference ?? id ?? "ID")"
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

  /// A confirm of something that is not held, with the provider's documented words for it.
  fileprivate static func nothingToConfirm(
    _ handle: String,
    _ attempt: Attempt?,
    _ provider: any Provider
  ) -> Fault {
    let why = attempt.map { $0.isToken ? "is a token" : "is \($0.shownStatus.rawValue)" }
    return Fault(
      .conflict,
      code: "no_auth",
      "there is no authorization to capture: \(handle.quotedForMessage) "
        + (why ?? "was never transacted here"),
      hint: attempt == nil
        ? "start with: tender transact \(provider.holdOption); see: tender journal list"
        : "start anew with: tender transact \(provider.holdOption) --new-attempt",
      result: provider.nothingHeld
    )
  }

  static func nothingToCancel(_ attempt: Attempt) -> Fault {
    Fault(
      .conflict,
      code: "nothing_to_cancel",
      "reference \(attempt.reference.quotedForMessage) is "
        + (attempt.isToken ? "a token" : attempt.shownStatus.rawValue)
        + ": there is nothing to cancel",
      hint: "see: tender journal show \(attempt.reference)"
    )
  }

  /// No payment by that reference or id.
  package static func unknownHandle(_ handle: String) -> Fault {
    Fault(
      .notFound,
      code: "payment_not_found",
      "no payment \(handle.quotedForMessage)",
      hint: "a reference or a receipt number; see: tender journal list"
    )
  }
}
