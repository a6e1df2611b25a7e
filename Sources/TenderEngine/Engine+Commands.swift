package import TenderModel

extension Engine {
  /// Checks an order and its prerequisites, before a person is asked and before anything is opened.
  ///
  /// Neither is checked again before the send. An adapter still refuses to send without what it needs. An
  /// order that begins a payment has its reference. Any other order changes `found`, or the payment with the
  /// provider's id `handle`, which was made elsewhere. Throws `usage` or `unsupported`, `auth` if a requested
  /// look-up lacks credentials, and `conflict` if `handle` is the id of an earlier attempt.
  package func checked(
    _ order: Order,
    on found: Payment? = nil,
    handle: String = "",
    _ options: Options = Options()
  ) throws(Fault) -> CheckedOrder {
    if let placed = order.placed { try provider.check(placed) }
    if order.placed == nil { try found?.checkPayment(handle) }
    // A surplus charge can be given back by its id, and by nothing else.
    if order.reversal == nil || found?.surplus(named: handle) == nil {
      try found?.checkNewest(handle)
    }
    if options.isLookedUp { try provider.checkReady(for: nil, of: found) }
    var lack: Fault?
    do throws(Fault) { try provider.checkReady(for: order, of: found) } catch { lack = error }
    return CheckedOrder(order: order, payment: found, handle: handle, options: options, lack: lack)
  }

  /// Executes an order, or returns the result of the same order from before.
  ///
  /// If an earlier operation is unknown, it is looked up first, and no new one is started beside it. A payment
  /// made elsewhere is added to the journal first. The exit statuses of its faults are in
  /// man/tender-exit-codes.7.
  package func execute(_ checked: CheckedOrder) throws(Fault) -> Report {
    var checked = checked
    let reference: Reference
    let lock: any ReferenceLock
    if let placed = checked.order.placed {
      reference = try begin(&checked, placed)
      // A command that lacks a prerequisite writes nothing.
      if checked.lack == nil, reference == placed.reference, let draft = checked.draft,
        draft.isAttempt
      {
        checked.first = try added(draft, checked, to: newPayment(reference))
      }
      lock = try hold(reference, opening: checked.first.map { ($0, checked.terms) })
      if provider.traits.isAtReader { try? journal.setStop(key(reference), isRequested: false) }
    } else {
      if checked.undoes {
        try checkOwner(of: checked.payment)
        checked.isUnderWay = try stopUnderWay(checked.payment)
      }
      reference = checked.payment?.reference ?? Reference(stored: checked.handle)
      guard checked.payment != nil || provider.isID(checked.handle) else {
        throw try unknown(checked.handle)
      }
      lock = try checked.isUnderWay ? holdStopping(reference) : hold(reference)
      if checked.isUnderWay { try? journal.setStop(key(reference), isRequested: false) }
      if checked.payment == nil { try adopt(checked) }
    }
    defer { withExtendedLifetime(lock) {} }
    var report = try execute(checked, on: key(reference))
    if checked.isUnderWay { report.replayed = false }
    return checked.undoes ? report.cancelled : report
  }

  /// Sets the operation of an order that begins a payment. Returns the reference of its record.
  private func begin(
    _ checked: inout CheckedOrder,
    _ placed: any PlacedOrder
  ) throws(Fault) -> Reference {
    var draft = try draft(placed)
    guard draft.isAttempt else {
      checked.draft = draft
      return placed.refundOf ?? placed.reference
    }
    let holder = try holder(of: draft, placed.reference)
    // Without a reference of its own, the order is that of the record.
    if let attempt = holder?.attempt {
      (draft.kind, draft.content) = (attempt.kind, attempt.content)
      draft.fingerprints = attempt.fingerprints
    }
    checked.draft = draft
    return holder?.reference ?? placed.reference
  }

  /// Returns the operation of an order, with the fingerprints that identify it.
  private func draft(_ order: any PlacedOrder) throws(Fault) -> Operation {
    var draft = order.draft(isRefund: try isRefund(order), at: clock.now)
    guard draft.isAttempt else { return draft }
    draft.fingerprints = try journal.fingerprints(
      of: draft.content,
      instrument: order.card?.identity
    )
    return draft
  }

  /// Whether an order is an operation of its original payment. The reference can be that of another payment, or of
  /// a refund that version 0.2.0 recorded as a payment.
  private func isRefund(_ order: any PlacedOrder) throws(Fault) -> Bool {
    guard order.refundOf != nil else { return false }
    guard let attempt = try journal.payment(key(order.reference))?.attempt else { return true }
    return attempt.kind == .refund && !attempt.isAlive
  }

  /// Decides about an order. If an operation would run, it must be one that the provider supports, and of an
  /// amount that needs no further confirmation.
  func decision(on checked: CheckedOrder, _ payment: Payment?) throws(Fault) -> Decision {
    try supported(checked, payment).within(checked.options.maxAmounts, of: payment, checked.order)
  }

  private func supported(_ checked: CheckedOrder, _ payment: Payment?) throws(Fault) -> Decision {
    let refund = payment?.cardRefund(named: checked.handle)
    // The stop came before anything was sent, or the stopped run undid the sale itself.
    if checked.isUnderWay, let refund, [.cancelled, .failed].contains(refund.state.name) {
      return .replay(refund.sequence)
    }
    if checked.isUnderWay, let payment, payment.state.status == .cancelled,
      let attempt = payment.attempt
    {
      return .replay(attempt.sequence)
    }
    let (traits, now) = (provider.traits, clock.now)
    if let placed = checked.order.placed {
      var draft: Operation
      if let known = checked.draft { draft = known } else { draft = try self.draft(placed) }
      (draft.createdAt, draft.updatedAt) = (now, now)
      let newAttempt = checked.options.newAttempt
      if draft.isAttempt { return .transact(draft, on: payment, newAttempt: newAttempt, traits) }
      guard let payment else { throw .unknownHandle(placed.refundOf?.text ?? "") }
      let decision = Decision.refund(
        withCard: draft,
        of: payment,
        newAttempt: newAttempt,
        traits,
        at: now
      )
      if case .run(let draft) = decision { try check(draft, of: payment) }
      return decision
    }
    guard var payment else { throw .unknownHandle(checked.handle) }
    let surplus = payment.surplus(named: checked.handle)
    if let surplus { payment = payment.upTo(surplus.sequence) }
    var decision: Decision =
      switch (checked.order, refund) {
      case (.cancel, let refund?): .cancel(cardRefund: refund, of: payment, at: now)
      case (_, let refund?): .refuse(payment.nothing(to: "refund or capture", refund))
      case (.cancel(let request), nil): .cancel(request, of: payment, traits, at: now)
      case (.refund(let request), nil): .refund(request, of: payment, traits, at: now)
      case (.capture(let part), nil): .capture(part?.minorUnits, of: payment, traits, at: now)
      case (.placed, nil): .refuse(.bug("a second beginning"))
      }
    if case .run(var draft) = decision {
      try check(draft, of: payment)
      draft.parent = draft.parent ?? surplus?.sequence
      decision = .run(draft)
    }
    return decision
  }

  /// The refusal of an unknown payment. A journal that lost entries does not say that there is none.
  func unknown(_ handle: String, _ kind: Payment.Kind = .payment) throws(Fault) -> Fault {
    try journal.checkWhole()
    var fault = Fault.unknownHandle(handle, kind)
    guard try journal.isPruned(key(Reference(stored: handle))) else { return fault }
    fault.message =
      "\(handle.quotedForMessage) is not in the journal any more: journal prune deleted it"
    return fault
  }

  /// Adds a payment made elsewhere to the journal, with its id as its reference.
  private func adopt(_ checked: CheckedOrder) throws(Fault) {
    let id = checked.handle
    guard try journal.payment(key(Reference(stored: id))) == nil else { return }
    if let lack = checked.lack { throw lack }
    guard let adoption = try provider.adopt(id) else { throw .unknownHandle(id) }
    var payment = newPayment(Reference(stored: id))
    payment.kind = adoption.kind
    var attempt = Operation(
      adoption.kind == .mandate ? .createMandate : .charge,
      amount: adoption.outcome.amount,
      at: clock.now
    )
    attempt.content = ["command": "transact", "id": .string(id)]
    let sequence = payment.append(attempt)
    payment = try journal.open(payment, OpeningTerms(namesProvider: true), .process)
    var known = try driver.applied(adoption.outcome, .answer, payment, sequence)
    try driver.write(&known, sequence, note: "made elsewhere")
  }

  // MARK: Running sales

  /// Asks the process that works on a sale to stop; false if there is none.
  private func stopUnderWay(_ found: Payment?) throws(Fault) -> Bool {
    guard provider.traits.isAtReader, let found,
      found.operations.contains(where: \.isAtReader)
    else { return false }
    try journal.setStop(found.key, isRequested: true)
    return true
  }

  /// Takes the lock of a reference, and repeats the request to stop until it has the lock. Another process
  /// that waited for the lock can start new work, and must be asked as well.
  private func holdStopping(_ reference: Reference) throws(Fault) -> any ReferenceLock {
    try journal.checkWhole()
    // The working process sees the request at once, but a reader takes some seconds to stop.
    let deadline = Deadline(in: max(patience, 15_000), on: clock)
    while true {
      let lock = try lock(reference, within: min(500, deadline.remaining))
      if let lock { return lock }
      guard deadline.remaining > 0 else { throw .inProgress(reference) }
      try journal.setStop(key(reference), isRequested: true)
    }
  }

  // MARK: Plans

  /// Returns the effect that an order would have, `send` if it would begin a payment, and the key of its
  /// request; nil without one.
  ///
  /// Throws the fault that would refuse it.
  package func plan(_ checked: CheckedOrder) throws(Fault) -> (plan: Plan, key: String?) {
    var checked = checked
    var known: Payment?
    if let placed = checked.order.placed {
      known = try journal.payment(key(try begin(&checked, placed)))
      try checkOwner(of: known)
    } else if let payment = checked.payment {
      known = payment
      if payment.attempt?.state == .prepared {
        // Another process may be about to send it. Its lock shows that.
        let lock = try hold(payment.reference)
        defer { withExtendedLifetime(lock) {} }
        known = try reread(payment)
      }
    } else {
      // A payment made elsewhere would be looked up first.
      guard provider.isID(checked.handle) else { throw try unknown(checked.handle) }
      let kind = checked.order.kind
      return (kind == .void ? .void : kind == .refund ? .refund : .proceed, nil)
    }
    switch try decision(on: checked, known) {
    case .run(let draft):
      let plan = draft.isAttempt ? .send : Plan(rawValue: draft.kind.rawValue) ?? .send
      guard draft.isAttempt || checked.order.kind == .refund else { return (plan, nil) }
      var next = known ?? newPayment(checked.order.reference ?? Reference(stored: checked.handle))
      append(draft, to: &next, own: checked.options.idempotencyKey)
      return (plan, next.operations.last?.key)
    case .refuse(let fault): throw known.map { completed(fault, for: $0, checked.order) } ?? fault
    case .replay: return (.replay, nil)
    case .proceed: return (.proceed, nil)
    case .look, .ask: return (.look, nil)
    case .finish(let sequence):
      return (.finish, checked.order.placed == nil ? nil : known?[sequence]?.key)
    }
  }
}

extension Report {
  /// The report of a `cancel`. A cancelled or refunded payment is not an error there.
  fileprivate var cancelled: Report {
    guard status.isUndone else { return self }
    var report = self
    if report.fault?.kind == .cancelled { report.fault = nil }
    return report
  }
}
