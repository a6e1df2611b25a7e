package import TenderModel

/// The one way to resolve an unknown operation: look, or finish.
extension Engine {
  /// Finds the result of an operation in state `sent`, or finishes it, and writes the result.
  ///
  /// Throws with effect unknown if neither is possible.
  func reconcile(
    _ payment: Payment,
    _ sequence: Int,
    _ policy: Policy,
    _ request: RefundRequest = RefundRequest()
  ) throws(Fault) -> (payment: Payment, doneNow: Bool, outcome: Outcome?) {
    let progress = Progress(payment, sequence, driver, interruption)
    let recovery = traits.recovery(progress.operation, payment)
    if policy != .look, payment.isElsewhere, recovery == .undo { try approveTakeover(payment) }
    driver.say("finding_out")
    var finding: Finding
    do throws(Fault) {
      finding = try provider.look(progress)
    } catch {
      throw Fault.stillUnknown(payment, progress.operation, because: error, traits)
    }
    finding = try judged(finding, progress)
    switch finding {
    case .happened(let outcome):
      let known = try write(progress, note: "found out") { known throws(Fault) in
        try found(outcome, of: sequence, known)
      }
      return (known, false, outcome)
    case .refuted(let fault):
      // Only this operation failed: a hold that it was about stays held at the provider.
      let known = try write(progress, note: "found out: no effect") { known throws(Fault) in
        try driver.failed(fault, known, sequence, before: .prepared)
      }
      return (known, false, nil)
    case .absent, .cannotLook: break
    }
    let isListed = isListed(progress.operation, progress.payment, recovery, policy)
    let lost = Lost(
      recovery: recovery,
      why: why(isListed ? .absent : finding, progress),
      age: clock.age(of: progress.operation),
      sinceSent: progress.sinceSent,
      late: timeToResend(progress.operation),
      isListed: isListed,
      policy: policy,
      request: request
    )
    return try finish(lost, progress)
  }

  /// Whether a look at the payment shows what became of an operation: the provider lists what went back of it.
  private func isListed(
    _ operation: Operation,
    _ payment: Payment,
    _ recovery: Recovery,
    _ policy: Policy
  ) -> Bool {
    // The same key finds exactly this request. The amount can be that of another one.
    if policy == .look, case .sameKey = recovery { return false }
    return operation.isReversal && payment.state.isCaptured && provider.traits.canLookUp
      && provider.canLook(at: payment)
  }

  /// Finishes a lost operation as `Decision` allows.
  private func finish(
    _ lost: Lost,
    _ progress: Progress
  ) throws(Fault) -> (payment: Payment, doneNow: Bool, outcome: Outcome?) {
    let sequence = progress.sequence
    let charge = progress.operation.parent.flatMap { progress.whole[$0]?.id } ?? ""
    var (payment, evidence) = (progress.whole, Evidence(progress.whole.key, progress.whole))
    for _ in 0..<Self.mostRounds {
      switch Decision.finish(sequence, of: payment, lost, evidence, traits) {
      case .ask(let question):
        payment = try answer(question, payment, charge, &evidence) ?? payment
      case .finish:
        let current = Progress(payment, sequence, driver, interruption)
        let outcome: Outcome
        do throws(Fault) {
          outcome = try finish(lost.recovery, current)
        } catch {
          guard let known = seenAtOnce(current) else { throw error }
          return (known, true, nil)
        }
        let note = lost.recovery == .undo ? "undone" : "sent again and done"
        let known = try write(current, note: note) { known throws(Fault) in
          try driver.applied(outcome, .answer, known, sequence)
        }
        return (known, true, outcome)
      case .refuse(let fault): throw fault
      case .replay, .run, .proceed, .look:
        say(payment, progress)
        return (payment, false, nil)
      }
    }
    throw .bug("a request that is never finished")
  }

  /// Looks once for a refund or void whose request was sent in this run, and records its result. Returns the whole
  /// payment; nil if the look decides nothing.
  func seenAtOnce(_ progress: Progress) -> Payment? {
    let (operation, payment) = (progress.operation, progress.payment)
    let recovery = traits.recovery(operation, payment)
    guard isListed(operation, payment, recovery, .look),
      let seen = try? seen(payment, of: progress.whole), case .folded = seen.sight,
      seen.charge[progress.sequence]?.isUnknown == false,
      let known = try? write(seen.charge, over: progress.whole)
    else { return nil }
    say(known, progress)
    return known
  }

  /// Sends the same request again, or undoes it.
  private func finish(_ recovery: Recovery, _ progress: Progress) throws(Fault) -> Outcome {
    let operation = progress.operation
    let outcome: Outcome
    do throws(Fault) {
      outcome =
        recovery == .undo
        ? try provider.undo(progress) : try provider.perform(nil, progress)
    } catch {
      // The first request may have acted, even if this one was refused.
      throw Fault.stillUnknown(progress.payment, operation, because: error, traits)
    }
    // Without a key, the answer is about this request alone.
    if case .byHand = recovery, outcome.state(for: operation)?.isWithoutEffect == true {
      let why =
        "sent again, it is \(outcome.status.rawValue), but the first request may have acted"
      let steps = progress.payment.next(traits)
      throw Fault.stillUnknown(progress.payment, operation, why, steps)
        .with { $0.result = outcome.result }
    }
    return outcome
  }

  /// The milliseconds until a request without a key may be sent again. Until then it can still appear at the
  /// provider.
  package func timeToResend(_ operation: Operation) -> Int {
    max(0, lateWindow - clock.elapsed(since: operation))
  }

  private func why(_ finding: Finding, _ progress: Progress) -> String {
    if case .cannotLook = finding { return "\(provider.name.text) cannot be asked about it" }
    let left = timeToResend(progress.operation)
    return left > 0
      ? "\(provider.name.text) does not know it yet; it can still appear for another "
        + (left > 90_000 ? "\((left + 59_999) / 60_000) minutes" : "\((left + 999) / 1000) s")
        + (progress.clocksDisagree ? " (a clock was set meanwhile: the shorter time counts)" : "")
      : "\(provider.name.text) does not know it"
  }

  private func write(
    _ progress: Progress,
    note: String,
    _ change: (Payment) throws(Fault) -> Payment
  ) throws(Fault) -> Payment {
    var known = progress.whole
    do throws(Fault) {
      if !progress.isConcluded {
        known = try change(known)
        try driver.write(&known, progress.sequence, note: progress.note(note))
      }
    } catch {
      throw .unrecorded(error)
    }
    say(known, progress)
    return known
  }

  /// Looks for the results of a payment's unknown operations, or finishes them. A payment without any is
  /// reported as it is.
  ///
  /// `finish` allows the same request under the same key, and undoing. `resend` also allows a request without
  /// a key. Throws `conflict` (`in_progress`) if another process works on the payment.
  package func resume(_ found: Payment, finish: Bool, resend: Bool) throws(Fault) -> Report {
    // If another process holds the lock, the answer is that it works on the payment. A wait would add
    // nothing.
    let lock = try hold(found.reference, patience: 0)
    defer { withExtendedLifetime(lock) {} }
    var payment = try reread(found)
    try checkOwner(of: payment)
    var last: (sequence: Int, doneNow: Bool)?
    // Voids come first: a finished void also ends an unknown capture.
    let voids = payment.unknowns.filter { $0.kind == .void }
    for unknown in voids + payment.unknowns.filter({ $0.kind != .void }) {
      let policy: Policy = resend ? .resend : finish ? .finish : .look
      // The operation before may have closed this one.
      guard payment[unknown.sequence]?.isUnknown == true, try record(of: unknown) == nil else {
        continue
      }
      let known = try reconcile(payment, unknown.sequence, policy)
      payment = known.payment
      last = (unknown.sequence, known.doneNow)
    }
    guard let last else { return Report(payment, payment.attempt, replayed: true) }
    return Report(payment, payment[last.sequence], replayed: !last.doneNow)
  }

  /// Reads the payment again under its lock.
  func reread(_ found: Payment) throws(Fault) -> Payment {
    guard let latest = try journal.payment(found.key) else {
      throw .unknownHandle(found.reference.text)
    }
    return try followed(latest)
  }
}

extension Fault {
  fileprivate static func stillUnknown(
    _ payment: Payment,
    _ operation: Operation,
    because fault: Fault,
    _ traits: Traits
  ) -> Fault {
    if fault.kind.isStop { return fault.lost }
    // Nothing was asked, and a retry would give the same answer.
    if fault.kind == .refused || fault.kind == .state { return fault }
    // Advice of the look itself is the only way out.
    let isAdvised = fault.hint != nil || !fault.next.isEmpty
    return stillUnknown(payment, operation, fault.message, payment.next(traits)).with { unknown in
      unknown.result = fault.result ?? unknown.result
      guard fault.cause == .credentialsMissing || fault.effect == .unknown && isAdvised else {
        return
      }
      (unknown.hint, unknown.next) = (fault.hint, fault.next)
    }
  }

  /// The result is unknown, and the operation is not sent again. A person decides.
  static func leftUnknown(
    _ payment: Payment,
    _ operation: Operation,
    _ why: String,
    lookingFor what: String = "it"
  ) -> Fault {
    stillUnknown(payment, operation, why, payment.next(.resolve("--as STATUS")))
      .with { $0.hint = "look for \(what) at the provider" }
  }

  static func stillUnknown(
    _ payment: Payment,
    _ operation: Operation,
    _ why: String,
    _ next: [Next]
  ) -> Fault {
    let amount = operation.amount.map { payment.text(ofMinorUnits: $0) + " " } ?? ""
    let what =
      operation.isAttempt && operation.kind != .refund
      ? "payment" : operation.kind.rawValue.replacing("_", with: " ")
    let name = operation.ownReference ?? payment.reference
    return .outcomeUnknown(
      "the result of the \(amount)\(what) \(name.quotedForMessage) is still unknown: \(why)",
      hint: payment.warning,
      next: next,
      result: operation.fault?.result
    )
  }
}
