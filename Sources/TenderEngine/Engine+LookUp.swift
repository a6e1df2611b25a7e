package import TenderModel

/// Looks payments up, records what the answers show, and waits for them.
extension Engine {
  /// Looks a payment up at the provider, and records the answer.
  ///
  /// If only the journal has the payment (held, declined), the journal answers. The id of an earlier attempt
  /// means that attempt.
  ///
  /// Nothing that can move money is sent. Throws `not_found` if neither has the payment.
  package func lookUp(
    _ handle: String,
    known: Payment?,
    kind: Payment.Kind = .payment,
    inWordsOfAttempt: Bool = false
  ) throws(Fault) -> Report {
    let isByID = provider.isID(handle)
    let composed = Reference.composed(handle)
    let named = known?.named(by: handle)
    // An id is looked up at the provider if the journal's payment has another kind, or failed.
    let isElse = named.map { $0.kind != kind || $0.attempt?.state.name == .failed } ?? false
    let known = isByID && isElse ? nil : named
    if let known, known.kind != kind, known.kind != .storedMethod {
      throw .otherKind(handle, known.kind)
    }
    try provider.checkReady(for: nil, of: known)
    guard let known else {
      var query = LookUp()
      query.kind = kind
      if isByID { query.id = handle } else { query.reference = Reference(stored: composed) }
      query.inWordsOfAttempt = inWordsOfAttempt
      guard let outcome = try provider.lookUp(query) else {
        throw try unknown(handle, kind)
      }
      var report = Report(outcome, env: env, provider: provider.name, reference: nil, kind: kind)
      addNote(to: &report)
      return report
    }
    if known.kind == .storedMethod { return .fromJournal(known) }
    guard provider.traits.canLookUp else {
      var report = try underWay(known)
      if let refund = report.payment?.cardRefund(named: handle) { report.show(refund) }
      return report
    }
    if known.state.isUnknown, !known.isEarlier, let found = try look(known) { return found }
    guard let outcome = try provider.lookUp(query(of: known, inWordsOfAttempt)) else {
      var report = Report.fromJournal(known)
      if known.state.isCaptured {
        report.note =
          "\(provider.name.text) does not know this payment: this is what the journal has"
      }
      return report
    }
    return try record(outcome, known, inWordsOfAttempt: inWordsOfAttempt)
  }

  /// Adds a note about a payment that only the provider has: nothing here stops a second charge.
  private func addNote(to report: inout Report) {
    guard report.kind == .payment, !report.status.isOver else { return }
    let name = (report.reference?.text ?? report.id ?? "").quotedForMessage
    if let reference = report.reference, (try? journal.isPruned(key(reference))) == true {
      report.note =
        "journal prune deleted \(name) from this journal: its reference cannot be used again"
    } else if provider.traits.looksByReference, let id = report.id {
      report.note = "this journal does not have \(name)"
      let reference = report.reference ?? Reference(stored: id)
      report.steps = Payment(key: key(reference)).next(.adopt(id))
    } else {
      // A payment of another program has no reference that could be charged again.
      let risk =
        report.reference == nil ? "." : ": transact with that --reference would charge it again."
      report.note =
        "this journal does not have \(name)\(risk) "
        + (provider.traits.hasPayerFlow
          ? "Cancel or refund it by its id"
          : "Change it with the journal that made it (--state-dir, TENDER_JOURNAL)")
    }
  }

  func query(of known: Payment, _ inWordsOfAttempt: Bool) -> LookUp {
    var query = LookUp(id: known.state.id.flatMap { Redactor.isMasked($0) ? nil : $0 })
    query.kind = known.kind
    query.reference =
      query.id == nil ? known.providerReference ?? known.reference : known.providerReference
    query.refunds = known.reversals.filter { $0.kind == .refund }.compactMap(\.id)
    // A sum without operations is one of version 0.2.0, or of a payment made elsewhere. The list has to show an
    // unknown refund.
    let own = PaymentState(known.operations.filter { !$0.isUnknown }, Observed())
    query.refunded = own.refunded + own.refunding
    query.amount = known.state.amount
    query.isPaid = known.attempt?.state.name == .succeeded && known.state.isCaptured
    query.isKnown = true
    query.hasConsent = known.attempt?.hasConsent ?? false
    query.inWordsOfAttempt = inWordsOfAttempt
    return query
  }

  /// Looks at the unknown operations of a payment; nil if a look-up of the payment has to follow.
  private func look(_ known: Payment) throws(Fault) -> Report? {
    // The result is shown even if it cannot be written.
    guard provider.owns(known), let lock = try? lock(known.reference) else {
      return known.state.id == nil ? .fromJournal(known) : nil
    }
    defer { withExtendedLifetime(lock) {} }
    var current = try reread(known)
    for unknown in current.unknowns {
      do throws(Fault) {
        current = try reconcile(current, unknown.sequence, .look).payment
      } catch {
        guard error.effect == .unknown, !error.kind.isStop else {
          throw error
        }
        var report = Report.fromJournal(current)
        report.note = error.message
        return report
      }
    }
    var report = Report.recorded(current)
    report.fault = nil
    return report
  }

  /// The journal's view of a sale. It is pending while a process works on it.
  private func underWay(_ known: Payment) throws(Fault) -> Report {
    var report = Report.fromJournal(known)
    guard known.operations.contains(where: \.isAtReader) else { return report }
    let lock: (any ReferenceLock)?
    do throws(Fault) {
      lock = try self.lock(known.reference)
    } catch {
      // A user without write access cannot take the lock, and sees the journal's state.
      return report
    }
    guard let lock else {
      if known.attempt?.isAtReader == true { report.status = .pending }
      return report
    }
    defer { withExtendedLifetime(lock) {} }
    var current = try reread(known)
    // The process that worked on it died before anything was sent.
    for dead in current.operations where dead.isAtReader && dead.state == .prepared {
      try current.move(dead.sequence, .fail, to: .failed, at: clock.now) { $0.preparation = nil }
      try? driver.write(&current, dead.sequence, note: "never sent")
    }
    return .fromJournal(current)
  }

  // MARK: Recording

  /// Records the payment that a search found. A search lists no refunds: if their sum differs from that of the
  /// journal, the payment is looked up.
  package func take(_ found: Outcome, of known: Payment) throws(Fault) -> Report {
    let state = known.state
    let isExplained = found.refundedAmount.map { $0 == state.refunded + state.refunding } ?? true
    return isExplained
      ? try record(found, known, inWordsOfAttempt: false)
      : try lookUp(known.reference.text, known: known, kind: known.kind)
  }

  /// Records the answer of a look-up. Evidence moves states along their order. Anything else is shown with a
  /// warning.
  private func record(
    _ outcome: Outcome,
    _ known: Payment,
    inWordsOfAttempt: Bool
  ) throws(Fault) -> Report {
    var shown = try folded(outcome, into: known)
    let isNews = !shown.payment.changed.isEmpty || !shown.payment.unwritten.isEmpty
    if isNews, provider.owns(known), let lock = try? lock(known.reference) {
      defer { withExtendedLifetime(lock) {} }
      let current = try reread(known)
      if current.isVersion(of: known) {
        // If the journal cannot be written, the answer is shown anyway.
        let attempt = known.attempt?.sequence ?? 0
        shown.payment =
          (try? write(shown.payment, over: current)).map { known.isEarlier ? $0.upTo(attempt) : $0 }
          ?? shown.payment
      } else {
        // Another process changed the payment after the question, so the answer is about an older version.
        shown = (known.isEarlier ? current.upTo(known.attempt?.sequence ?? 0) : current, nil)
      }
    }
    var report = Report.recorded(shown.payment)
      .lookedUp(outcome, inWordsOfAttempt: inWordsOfAttempt)
    report.note = shown.warning ?? shown.payment.state.warning ?? report.note
    return report
  }

  /// Writes what a look showed of a payment, or of one of its charges, if it is news. Returns the whole payment.
  func write(_ shown: Payment, over current: Payment) throws(Fault) -> Payment {
    guard !shown.changed.isEmpty || !shown.unwritten.isEmpty else { return current }
    var written = current
    try written.takeOver(shown)
    let sequence = shown.changed.max() ?? shown.attempt?.sequence ?? 1
    try journal.update(&written, sequence, note: "looked up", .power)
    return written
  }

  // MARK: Waiting

  /// Looks repeatedly until a payment is final, or waits for the merchant.
  ///
  /// If the time ends first, the report has the fault `pending` (8). All times are in milliseconds. `asked`
  /// is the whole time that was requested, if a part of it has already passed.
  package func wait(
    for report: Report,
    upTo limit: Int,
    asked: Int? = nil,
    every interval: Int,
    inWordsOfAttempt: Bool = false,
    waiting: (_ report: Report, _ left: Int) -> Void = { _, _ in },
    changed: (Report) -> Void
  ) throws(Fault) -> Report {
    var latest = report
    /// The last action that the payer was asked for.
    var shown = report.nextAction?.type
    let deadline = Deadline(in: limit, on: clock)
    while !latest.isFinal, latest.status != .requiresConfirmation {
      let left = deadline.remaining
      guard left > 0 else {
        return latest.stillPending(
          "the payment is still \(latest.status.rawValue) after \((asked ?? limit) / 1000) s"
        )
      }
      // The payment exists, so an error from here on only ends the wait.
      do throws(Fault) {
        try pause(min(interval, left)) { waiting(latest, deadline.remaining) }
      } catch {
        if error.kind == .interrupted, inWordsOfAttempt, let stopped = try giveUp(latest) {
          return stopped
        }
        return latest.stillPending("the wait was stopped while it is \(latest.status.rawValue)")
      }
      let before = (latest.status, latest.isFinal)
      do throws(Fault) {
        latest.take(
          try lookUp(
            latest.reference?.text ?? latest.id ?? "",
            known: latest.payment,
            kind: latest.kind,
            inWordsOfAttempt: inWordsOfAttempt
          )
        )
      } catch {
        // A look-up that failed on the way is repeated while there is time.
        guard error.kind == .providerError || error.kind == .notSent else {
          return latest.stillPending("it cannot be looked up: \(error.message)")
        }
      }
      if (latest.status, latest.isFinal) != before { changed(latest) }
      let next = latest.nextAction?.type
      if inWordsOfAttempt, !latest.isFinal, let payment = latest.payment, let next,
        next != shown, next != "wait"
      {
        // The payer finished one step, and the provider asks for another: the flow continues.
        latest = try execute(
          try checked(.capture(nil), on: payment, handle: payment.reference.text)
        )
        guard latest.fault == nil else { return latest }
      }
      shown = latest.nextAction?.type
    }
    return latest
  }

  /// Pauses in steps of a second, so that the remaining time can be shown.
  private func pause(_ milliseconds: Int, watched: () -> Void) throws(Fault) {
    var rest = milliseconds
    while rest > 0 {
      watched()
      try clock.pause(milliseconds: min(rest, 1000))
      rest -= 1000
    }
  }

  /// Stops a payment that waits for its payer; nil if it no longer waits, or another process works on it.
  private func giveUp(_ report: Report) throws(Fault) -> Report? {
    guard provider.traits.hasPayerFlow, let known = report.payment, report.nextAction != nil
    else { return nil }
    interruption.acknowledge()
    let lock = try hold(known.reference)
    defer { withExtendedLifetime(lock) {} }
    let payment = try reread(known)
    guard let attempt = payment.attempt, case .waiting(_?) = attempt.state else { return nil }
    return try perform(payment, attempt.sequence) { progress throws(Fault) in
      try provider.giveUp(progress)
    }
  }
}

extension Report {
  /// Takes over the results of a later look-up. Members that only this report has stay.
  fileprivate mutating func take(_ looked: Report) {
    payment = looked.payment ?? payment
    status = looked.status
    isFinal = looked.isFinal
    amount = looked.amount ?? amount
    result = looked.result
    nextAction = looked.nextAction
    details = looked.details
    fault = looked.fault
    source = looked.source
    providerStatus = looked.providerStatus
    note = looked.note
    // A command that refunded reports its refund.
    guard let operation, !operation.isAttempt, let now = payment?[operation.sequence] else {
      return
    }
    self.operation = now
    result = now.result
    fault = now.fault
  }

  /// Shows the result of an operation.
  fileprivate mutating func show(_ operation: Operation) {
    (self.operation, result) = (operation, operation.result)
  }

  /// The report of a wait for a hold. The wait ends at once, because the payment waits for the merchant.
  package var waitingForMerchant: Report {
    guard status == .requiresConfirmation, fault == nil else { return self }
    return stillPending("the payment is held and waits for you")
  }

  /// The report of a wait that ended before the payment was final.
  fileprivate func stillPending(_ why: String) -> Report {
    var report = self
    report.fault = Fault(
      .pending,
      effect: hasUnknown ? .unknown : .none,
      code: "still_pending",
      why
    )
    return report
  }
}

extension Fault {
  fileprivate static func otherKind(_ handle: String, _ kind: Payment.Kind) -> Fault {
    Fault(
      .notFound,
      code: kind == .mandate ? "payment_not_found" : "mandate_not_found",
      "\(handle.quotedForMessage) is a \(kind.noun), which \(kind.noun)-status looks up"
    )
  }
}
