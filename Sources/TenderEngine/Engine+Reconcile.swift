package import TenderModel

/// The one way to resolve an unknown operation: look, or finish.
extension Engine {
  /// The requests that are allowed for an unknown operation.
  enum Policy {
    /// Nothing that can move money is sent.
    case look
    /// The same request under the same key, or a request that undoes it.
    case finish
    /// Like `finish`, and also a request without a key. It may act twice, and a person agreed to that.
    case resend
  }

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
    let recovery = provider.recovery(of: progress.operation, in: payment)
    if policy != .look, payment.isElsewhere, recovery == .undo { try approveTakeover(payment) }
    driver.say("finding_out")
    let finding: Finding
    do throws(Fault) {
      finding = try provider.look(progress)
    } catch {
      throw Fault.stillUnknown(payment, progress.operation, because: error)
    }
    switch finding {
    case .happened(let outcome):
      guard isEvidence(outcome, of: progress.operation, payment) else {
        throw .stillUnknown(payment, progress.operation, "the answer is about another amount or id")
      }
      if outcome.state(for: progress.operation)?.isWithoutEffect == true {
        try checkIsOnly(progress, recovery)
      }
      let known = try write(progress, note: "found out") { known throws(Fault) in
        try found(outcome, of: sequence, known)
      }
      return (known, false, outcome)
    case .refuted(let fault):
      try checkIsOnly(progress, recovery)
      // Only this operation failed: a hold that it was about stays held at the provider.
      let known = try write(progress, note: "found out: no effect") { known throws(Fault) in
        try driver.failed(fault, known, sequence, before: .prepared)
      }
      return (known, false, nil)
    case .absent, .cannotLook: break
    }
    let seen: Payment?
    do throws(Fault) {
      seen = try self.seen(progress, policy)
    } catch {
      throw Fault.stillUnknown(payment, progress.operation, because: error)
    }
    var current = progress
    if let seen {
      let known = try self.write(seen, over: payment)
      guard seen[sequence]?.isUnknown == true else {
        say(known, progress)
        return (known, false, nil)
      }
      current = Progress(known, sequence, driver, interruption)
    }
    let why = why(seen == nil ? finding : .absent, progress)
    guard policy != .look else { throw .stillUnknown(payment, progress.operation, why) }
    try checkFinish(recovery, policy, progress, why)
    // What others did meanwhile can forbid that it is sent again.
    if let forbidden = seen?.reversalForbidden(request) {
      throw .leftUnknown(current.whole, progress.operation, forbidden.message)
    }
    let outcome: Outcome
    do throws(Fault) {
      outcome = try finish(recovery, current)
    } catch {
      guard let known = seenAtOnce(current) else { throw error }
      return (known, true, nil)
    }
    let note = recovery == .undo ? "undone" : "sent again and done"
    let known = try write(current, note: note) { known throws(Fault) in
      try driver.applied(outcome, .answer, known, sequence)
    }
    return (known, true, outcome)
  }

  /// Returns the payment of a lost refund or void with the answer about that payment folded in, which has all
  /// that went back. It is not written. Nil if the provider cannot be asked, and for any other operation.
  ///
  /// Throws if the payment is not shown, or the answer is no evidence.
  private func seen(_ progress: Progress, _ policy: Policy) throws(Fault) -> Payment? {
    let (operation, payment) = (progress.operation, progress.payment)
    guard operation.isReversal, payment.state.isCaptured, provider.traits.canLookUp,
      provider.canLook(at: payment)
    else { return nil }
    // The same key finds exactly this request. The amount can be that of another one.
    if policy == .look, case .sameKey = provider.recovery(of: operation, in: payment) { return nil }
    var query = query(of: payment, false)
    query.isBeforeSend = true
    query.others = progress.otherIDs
    guard let outcome = try provider.lookUp(query) else { throw .notShown(payment, provider.name) }
    if let difference = difference(outcome, payment) {
      throw Fault(.providerError, code: "provider_differs", difference.warning)
    }
    let seen = try folded(outcome, into: payment).payment
    // A void that it does not explain can be a part, whose replacement is not shown yet, or the whole.
    if seen[operation.sequence]?.isUnknown == true, outcome.isVoided || outcome.status == .cancelled
    {
      throw Fault(
        .providerError,
        code: "provider_differs",
        "the payment was voided, and that is not this \(operation.kind.rawValue) alone"
      )
    }
    return seen
  }

  /// Looks once for a refund or void whose request was sent in this run, and records its result. Returns the whole
  /// payment; nil if the look decides nothing.
  func seenAtOnce(_ progress: Progress) -> Payment? {
    guard let seen = try? seen(progress, .look), seen[progress.sequence]?.isUnknown == false,
      let known = try? write(seen, over: progress.whole)
    else { return nil }
    say(known, progress)
    return known
  }

  /// Checks that the same request may be sent again, or undone.
  private func checkFinish(
    _ recovery: Recovery,
    _ policy: Policy,
    _ progress: Progress,
    _ why: String
  ) throws(Fault) {
    let (payment, operation) = (progress.payment, progress.operation)
    switch recovery {
    case .sameKey(let after):
      if let life = provider.traits.keyLife, clock.age(of: operation) >= life {
        let why = "its idempotency key is too old to be sent again, or a clock was wrong"
        throw .leftUnknown(payment, operation, why)
      }
      guard progress.sinceSent >= after else {
        let left = (after - progress.sinceSent + 999) / 1000
        throw .stillUnknown(payment, operation, "it can be sent again in \(left) s")
      }
    case .undo: break
    case .byHand(let canResend):
      // During the late window the operation can still appear at the provider.
      guard policy == .resend, canResend, timeToResend(operation) == 0 else {
        throw .stillUnknown(payment, operation, why)
      }
    }
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
      throw Fault.stillUnknown(progress.payment, progress.operation, because: error)
    }
    // Without a key, the answer is about this request alone.
    if case .byHand = recovery, outcome.state(for: operation)?.isWithoutEffect == true {
      let why =
        "sent again, it is \(outcome.status.rawValue), but the first request may have acted"
      var fault = Fault.stillUnknown(progress.payment, progress.operation, why)
      fault.result = outcome.result
      throw fault
    }
    return outcome
  }

  /// Checks that an answer without effect decides: of two requests without a key, it is about one.
  ///
  /// Throws with effect unknown. Only a look that shows an effect, or a person, decides then.
  private func checkIsOnly(_ progress: Progress, _ recovery: Recovery) throws(Fault) {
    guard case .byHand = recovery else { return }
    let name = "\(progress.operation.kind.rawValue) \(progress.operation.number)"
    var sent = 0
    for line in try journal.history(of: progress.payment) where line.operation == name {
      // A request that provably did not leave is prepared or failed again.
      guard line.state == Operation.State.Name.sent.rawValue else {
        sent = 0
        continue
      }
      if line.note.hasPrefix("sent") { sent += 1 }
    }
    guard sent > 1 else { return }
    var fault = Fault.stillUnknown(
      progress.payment,
      progress.operation,
      "it was sent twice, and what was found is about one of the two requests"
    )
    fault.hint =
      "look for both at the provider; then: tender journal resolve "
      + "\(progress.payment.unknownReference) --as STATUS --reason TEXT"
    throw fault
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

  /// Whether an answer is evidence about an operation: its amount, its currency and an attempt's id must not
  /// differ.
  func isEvidence(_ outcome: Outcome, of operation: Operation, _ payment: Payment) -> Bool {
    if let said = outcome.amount, let asked = operation.amount, said != operation.approved ?? asked
    {
      return false
    }
    if let said = outcome.currency, let paid = payment.currency, said != paid { return false }
    if operation.isAttempt, let said = outcome.id, let known = operation.id, said != known {
      return false
    }
    return (outcome.amount ?? 0) >= 0
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
      if finish || resend { try checkIDs(of: payment) }
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
    because fault: Fault
  ) -> Fault {
    if fault.kind.isStop { return fault.lost }
    // Nothing was asked, and a retry would give the same answer.
    if fault.kind == .refused || fault.kind == .state { return fault }
    var unknown = stillUnknown(payment, operation, fault.message)
    unknown.result = fault.result ?? operation.fault?.result
    // A hint of the look itself is the only way out.
    if fault.cause == .credentialsMissing || fault.effect == .unknown && fault.hint != nil {
      unknown.hint = fault.hint
    }
    return unknown
  }

  /// The result is unknown, and the operation is not sent again. A person decides.
  fileprivate static func leftUnknown(
    _ payment: Payment,
    _ operation: Operation,
    _ why: String
  ) -> Fault {
    var fault = stillUnknown(payment, operation, why)
    fault.hint =
      "look for it at the provider; then: tender journal resolve \(payment.unknownReference) "
      + "--as STATUS --reason TEXT"
    return fault
  }

  fileprivate static func stillUnknown(
    _ payment: Payment,
    _ operation: Operation,
    _ why: String
  ) -> Fault {
    let amount = operation.amount.map { payment.text(ofMinorUnits: $0) + " " } ?? ""
    let what =
      operation.isAttempt && operation.kind != .refund
      ? "payment" : operation.kind.rawValue.replacing("_", with: " ")
    let name = operation.ownReference ?? payment.reference
    return Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "the result of the \(amount)\(what) \(name.quotedForMessage) is still unknown: \(why)",
      result: operation.fault?.result
    ).forPayment(payment)
  }
}

extension Operation.State {
  /// Whether it ended without money.
  fileprivate var isWithoutEffect: Bool {
    [.declined, .cancelled, .expired, .failed].contains(name)
  }
}
