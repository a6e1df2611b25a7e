import TenderModel

/// What comes of a provider's part: written down first, said afterwards, found out where it was lost.
extension Engine {
  var driver: Driver {
    Driver(
      journal: journal,
      clock: clock,
      namesItsStates: provider.namesItsStates,
      announce: announce
    )
  }

  private func progress(_ attempt: Attempt) -> Progress {
    Progress(attempt, driver, interruption)
  }

  /// Runs a provider's part on an attempt and writes down what came of it, whatever that is.
  func settle(
    _ attempt: Attempt,
    _ operation: Attempt.Operation,
    _ perform: (Progress) throws(Fault) -> Outcome
  ) throws(Fault) -> Report {
    let progress = progress(attempt)
    var isAnswered = false
    do throws(Fault) {
      let outcome = try perform(progress)
      isAnswered = true
      var done = progress.attempt
      var warning = progress.warning
      if progress.isConcluded {
        say(done.status.rawValue)
      } else {
        // Outcome before word: what cannot be written down is not announced, and found out later.
        let event = Attempt.Event.conclude(outcome, operation, note: progress.note("outcome"))
        warning = try driver.take(event, &done)
        progress.sayAll(isOutcome: true)
      }
      if operation == .cancel { settleOriginal(of: done) }
      return Report(done, operation, replayed: false, warning: warning).showing(outcome)
    } catch {
      let fault = judged(error, progress)
      if !isAnswered, fault.effect == .unknown, let report = askAtOnce(progress, operation) {
        return report
      }
      return try settleFault(fault, from: progress.recorded ?? attempt, progress, operation)
    }
  }

  /// A fault with the effect that it has: after a send, effect none stands on proof alone.
  private func judged(_ fault: Fault, _ progress: Progress) -> Fault {
    // A journal that fails once a request has left says nothing about what that request did.
    let isUnwritten = fault.kind == .state || fault.cause == .leaseLost
    if isUnwritten, progress.attempt.phase == .sent || progress.hasSent {
      return .unrecorded(fault)
    }
    guard progress.attempt.phase == .sent, fault.effect == .none, !fault.isProven else {
      return fault
    }
    return fault.afterSending
  }

  /// Asks once, before anybody is told that an outcome is unknown; nil where that tells nothing.
  ///
  /// Only what is there counts: what is not yet there may still come.
  private func askAtOnce(_ progress: Progress, _ operation: Attempt.Operation) -> Report? {
    var lost = progress.attempt
    guard lost.phase == .sent, !progress.isConcluded, interruption.kind == nil else { return nil }
    lost.operation = operation
    guard provider.asksAtOnce(about: lost),
      case .happened(let outcome) = try? provider.findOut(lost, progress, mayRepeat: false)
    else { return nil }
    var done = progress.attempt
    let event = Attempt.Event.conclude(outcome, operation, note: "answer lost, found out")
    do throws(Fault) {
      let warning = try driver.take(event, &done)
      progress.sayAll(isOutcome: true)
      return Report(done, operation, replayed: false, warning: warning).showing(outcome)
    } catch {
      return nil
    }
  }

  /// Writes down a fault: unknown stays `sent`; effect none leaves things as they were found.
  private func settleFault(
    _ fault: Fault,
    from before: Attempt,
    _ progress: Progress,
    _ operation: Attempt.Operation
  ) throws(Fault) -> Report {
    var fault = fault
    if progress.recorded?.state == .open, [.interrupted, .terminated].contains(fault.kind),
      fault.effect == .none
    {
      fault.message = "stopped by a signal while it waits for its payer, who can still authorize it"
      fault.hint =
        "the same command goes on; to stop it: tender cancel \(progress.attempt.reference)"
    }
    var after = progress.attempt
    try driver.take(.fail(fault, operation, from: before), &after)
    if after.version > progress.attempt.version {
      progress.sayAll()
    } else if progress.hasUnwritten, fault.effect == .none {
      // The journal still says that it was sent.
      throw .unrecorded(fault)
    }
    guard fault.isOutcome, fault.effect != .unknown else { throw fault }
    var report = Report(after, operation, replayed: false)
    report.fault = fault
    if before.phase == .done { report.result = fault.result ?? [:] }
    return report
  }

  /// Finds out what an attempt in `sent` did, and writes that down.
  ///
  /// Throws with effect unknown where it cannot.
  ///
  /// `goesOn` says that the same thing is done again at once, which does no harm: then it need not be
  /// waited for.
  func findOut(
    _ attempt: Attempt,
    mayRepeat: Bool = true,
    goesOn: Bool = false
  ) throws(Fault) -> (attempt: Attempt, doneNow: Bool, outcome: Outcome?) {
    if attempt.isElsewhere, provider.undoesToFindOut { try approveTakeover(attempt) }
    let progress = progress(attempt)
    say("finding_out")
    let event: Attempt.Event
    var doneNow = false
    var seen: Outcome?
    switch try provider.findOut(attempt, progress, mayRepeat: mayRepeat) {
    case .happened(let outcome):
      event = .find(outcome)
      seen = outcome
    case .doneNow(let outcome):
      event = .redo(outcome, attempt.operation)
      doneNow = true
    case .didNotHappen:
      try checkLate(attempt)
      event = .absent
    case .stands(let outcome):
      if !goesOn { try checkLate(attempt) }
      event = .stand(outcome)
    case .undone(let outcome):
      event = .redo(outcome, .cancel)
      doneNow = true
    }
    var known = progress.attempt
    do throws(Fault) {
      try driver.take(event, &known)
    } catch {
      throw .unrecorded(error)
    }
    settleOriginal(of: known)
    return (known, doneNow, seen)
  }

  /// Throws while an effect may still appear that nobody sees yet: absence is not evidence.
  private func checkLate(_ attempt: Attempt) throws(Fault) {
    let left = lateWindow - clock.elapsed(since: attempt)
    guard left > 0 else { return }
    throw Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "\(provider.name.text) does not know it yet, which proves nothing for another "
        + "\((left + 999) / 1000) s",
      hint: "do not pay again; run the same command again after that",
      result: attempt.fault?.result
    )
  }
}
