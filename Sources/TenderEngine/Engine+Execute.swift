import TenderModel

/// The one way to change a payment: lock, load, decide, record, send, write the outcome, report.
extension Engine {
  /// A limit above the number of unknown operations that any payment has.
  static let mostRounds = 16

  /// Executes a command on the payment of a reference. The caller holds the lock.
  func execute(_ checked: CheckedOrder, on key: ReferenceKey) throws(Fault) -> Report {
    var payment = try journal.payment(key).map { found throws(Fault) in try followed(found) }
    var evidence = Evidence(key, payment)
    var finished: (sequence: Int, isNew: Bool, outcome: Outcome?)?
    for _ in 0..<Self.mostRounds {
      try checkOwner(of: payment)
      let decision = try decision(on: checked, payment)
        .weighed(checked, of: payment, evidence, provider.traits)
      switch (decision, payment) {
      case (.ask(let question), let known):
        payment = try answer(
          question,
          known,
          checked.handle,
          despite: checked.options.despitePayments,
          &evidence
        )
      case (.run(let draft), let known):
        return try run(draft, checked, on: known, key)
      case (.refuse(var fault), _):
        // The operation that this command has just finished is its result.
        if let payment, let finished, finished.isNew,
          payment[finished.sequence]?.state.action == nil
        {
          return Report(payment, payment[finished.sequence], replayed: false)
        }
        // The look of this command found that it is too late for a capture.
        if evidence.sight != nil, let payment, fault.cause == .nothingHeld,
          payment.state.status == .expired
        {
          return Report(payment, payment.attempt, replayed: false)
        }
        if fault.cause == .nothingHeld { fault.result = type(of: provider).nothingHeld }
        throw payment.map { completed(fault, for: $0, checked.order) } ?? fault
      case (_, nil): throw try unknown(key.reference.text)
      case (.replay(let sequence), let known?):
        try checkKey(checked.options.idempotencyKey, of: known, sequence)
        let own = finished?.sequence == sequence ? finished : nil
        let report = Report(known, about: sequence, replayed: own?.isNew != true)
        return own?.outcome.map(report.showing) ?? report
      case (.proceed(let sequence), let known?):
        return try perform(known, sequence) { progress throws(Fault) in
          try provider.proceed(progress)
        }
      case (.look(let sequence), let known?):
        payment = try reconcile(known, sequence, .look).payment
      case (.finish(let sequence), let known?):
        let request = checked.order.reversal ?? RefundRequest()
        let ended = try reconcile(known, sequence, .finish, request)
        payment = ended.payment
        let isReversal = ended.payment[sequence]?.isReversal == true
        finished = (sequence, ended.doneNow || isReversal, ended.outcome)
        if checked.undoes, ended.payment.state.status == .cancelled {
          return Report(ended.payment, ended.payment[sequence], replayed: false)
        }
      }
    }
    throw .bug("a payment that is never decided")
  }

  /// Returns the refusal of an order with a step that leads to no further refusal. Not every payment can be
  /// refunded.
  func completed(_ refusal: Fault, for payment: Payment, _ order: Order) -> Fault {
    let refusal = order.placed == nil ? payment.afterConsent(refusal) : refusal
    let left = payment.state.leftToRefund
    let isTooMuch = refusal.code == "refund_exceeds" && left > 0
    guard refusal.cause == .tooLateToCancel || isTooMuch else { return refusal }
    do throws(Fault) {
      try check(Operation(.refund, amount: left, at: clock.now), of: payment)
      return refusal
    } catch {
      // Nothing can be refunded: the amount is not the reason.
      if isTooMuch { return error.kind == refusal.kind ? error : refusal }
      let steps = error.next.isEmpty ? payment.next(traits.canLookUp ? .look : .show) : error.next
      return refusal.then(steps)
    }
  }

  private func run(
    _ draft: Operation,
    _ checked: CheckedOrder,
    on known: Payment?,
    _ key: ReferenceKey
  ) throws(Fault) -> Report {
    if !draft.isAttempt, let known { try checkSealed(known) }
    var payment: Payment
    if known == nil, let first = checked.first {
      payment = first
    } else {
      payment = try added(draft, checked, to: known ?? newPayment(key.reference))
    }
    let sequence = payment.operations.last?.sequence ?? 0
    try checkKey(checked.options.idempotencyKey, of: payment, sequence)
    if draft.isAttempt {
      payment = try journal.open(payment, checked.terms, .process)
      driver.say("prepared")
    }
    return try perform(payment, sequence) { progress throws(Fault) in
      try provider.perform(checked.sent, progress)
    }
  }

  /// Checks that an operation has the operator's key, if one was given.
  private func checkKey(
    _ own: String?,
    of payment: Payment,
    _ sequence: Int
  ) throws(Fault) {
    guard let own, let operation = payment[sequence], operation.key != own else { return }
    if operation.key != nil { throw payment.keyDiffers(operation) }
    throw .badOptions(
      "\(provider.name.text) takes no idempotency key for this request",
      hint: "leave --idempotency-key out"
    )
  }

  /// Checks that the provider supports an operation, before it is recorded.
  func check(_ draft: Operation, of payment: Payment) throws(Fault) {
    guard provider.traits.kinds.contains(draft.kind) else {
      throw .unsupportedOperation(provider.name, "\(draft.kind.rawValue) of a payment")
    }
    try provider.check(draft, of: payment)
  }

  /// Returns a payment with one more operation. Operations whose process died before the send become
  /// `failed`.
  func added(
    _ draft: Operation,
    _ checked: CheckedOrder,
    to known: Payment
  ) throws(Fault) -> Payment {
    var payment = known
    for dead in payment.operations where dead.state.name == .prepared {
      try payment.move(dead.sequence, .fail, to: .failed, at: clock.now) { $0.preparation = nil }
    }
    if draft.isAttempt, let placed = checked.order.placed {
      payment.merchant = provider.merchant
      // A payment is as old as its current attempt. Its money moves with that attempt.
      payment.createdAt = draft.createdAt
      placed.describe(&payment)
    }
    append(draft, to: &payment, own: checked.options.idempotencyKey)
    return payment
  }

  // MARK: Sending

  /// Runs the provider's work on an operation, and writes its result in every case.
  func perform(
    _ payment: Payment,
    _ sequence: Int,
    _ body: (Progress) throws(Fault) -> Outcome
  ) throws(Fault) -> Report {
    let progress = Progress(payment, sequence, driver, interruption)
    var isAnswered = false
    do throws(Fault) {
      let outcome = try body(progress)
      isAnswered = true
      return try conclude(outcome, progress, note: "outcome")
    } catch {
      let fault = progress.judged(error)
      if !isAnswered, fault.effect == .unknown, let report = askAtOnce(progress) { return report }
      return try settle(fault, progress)
    }
  }

  /// Writes an outcome, then announces it. An outcome that cannot be written is not announced, and is looked
  /// up later.
  private func conclude(
    _ outcome: Outcome,
    _ progress: Progress,
    note: String
  ) throws(Fault) -> Report {
    var done = progress.whole
    if !progress.isConcluded {
      done = try driver.applied(outcome, .answer, done, progress.sequence)
      done.updatedAt = clock.now
      let note = progress.note(note)
      try journal.update(&done, progress.sequence, note: note, .last)
    }
    say(done, progress)
    return Report(done, about: progress.sequence, replayed: false).showing(outcome)
  }

  /// Announces the payment's status after its write.
  func say(_ payment: Payment, _ progress: Progress) {
    driver.say(payment.state.status.rawValue)
    progress.sayAll(isOutcome: true)
    followOriginal(of: payment)
  }

  /// Looks once, before an outcome is reported as unknown; nil if the look decides nothing.
  private func askAtOnce(_ progress: Progress) -> Report? {
    let traits = provider.traits
    guard progress.operation.isUnknown, !progress.isConcluded, interruption.kind == nil,
      traits.canLookUp, !(traits.hasPayerFlow && progress.operation.isAttempt)
    else { return nil }
    if let finding = try? provider.look(progress),
      case .happened(let outcome)? = try? judged(finding, progress)
    {
      return try? conclude(outcome, progress, note: "answer lost, found out")
    }
    return seenAtOnce(progress).map { Report($0, about: progress.sequence, replayed: false) }
  }

  /// Writes a fault. With effect unknown, the operation stays `sent`. With effect none, it returns to its
  /// earlier state, or fails.
  private func settle(_ fault: Fault, _ progress: Progress) throws(Fault) -> Report {
    // An operation that was not written and had no effect leaves no row, so another operation can use its
    // key.
    if progress.operation.row == 0, fault.effect == .none, !fault.isOutcome { throw fault }
    var fault = fault
    if case .waiting(_?) = progress.before, fault.effect == .none,
      fault.kind.isStop
    {
      fault.message =
        "stopped by a signal while it waits for the payer: the payer can still authorize it"
      (fault.hint, fault.next) = ("the same command goes on", progress.payment.next(.void))
    }
    if fault.cause == .genericConflict {
      (fault.hint, fault.next) = (nil, progress.payment.next(.look))
    }
    let before = progress.before
    var kept = fault
    if fault.kind == .interrupted, interruption.hasExpired {
      // No signal came. The record of the command says the same.
      kept = .stopped(
        by: .pending,
        effect: fault.effect,
        underWay: fault.effect == .none ? "nothing is under way" : "a request was under way"
      )
      kept.result = fault.result
    }
    var after = try driver.failed(kept, progress.whole, progress.sequence, before: before)
    after.updatedAt = clock.now
    let note =
      (fault.effect == .unknown ? "result unknown: " : "ended with no effect: ") + kept.code
    do throws(Fault) {
      try journal.update(&after, progress.sequence, note: progress.note(note), .last)
      driver.say(after.state.status.rawValue)
      progress.sayAll()
    } catch {
      // The journal still has the operation as `sent`.
      if progress.hasUnwritten, fault.effect == .none { throw .unrecorded(fault) }
    }
    if fault.kind == .conflict, fault.effect == .none, progress.operation.kind == .void {
      recordLook(at: &after)
    }
    if after[progress.sequence]?.state.name == .failed { fault = fault.beforeSending }
    guard fault.isOutcome, fault.effect != .unknown else {
      throw fault.forPayment(after, traits)
    }
    var report = Report(after, after[progress.sequence], replayed: false)
    report.fault = fault
    if before.name != .prepared { report.result = fault.result ?? [:] }
    return report
  }

  /// Looks at a payment that could not be voided, and records the reason: it may be paid.
  private func recordLook(at payment: inout Payment) {
    guard provider.traits.canLookUp, payment.attempt?.state.action != nil,
      let outcome = try? provider.lookUp(query(of: payment, false)),
      let seen = try? folded(outcome, into: payment).payment,
      let written = try? write(seen, over: payment)
    else { return }
    payment = written
  }
}

extension Fault {
  /// Returns the fault with the steps of the payment, if its result is unknown.
  func forPayment(_ payment: Payment, _ traits: Traits) -> Fault {
    guard effect == .unknown, payment.state.isUnknown else { return self }
    return with { ($0.hint, $0.next) = (payment.warning, payment.next(traits)) }
  }
}
