package import TenderModel

extension Engine {
  /// The arguments of a command besides its order.
  package struct Options: Sendable {
    package var newAttempt: Bool
    package var idempotencyKey: String?
    package var namesProvider = false
    /// Whether the command looks the payment up afterwards (`--wait`).
    package var isLookedUp = false

    package init(newAttempt: Bool = false, idempotencyKey: String? = nil) {
      self.newAttempt = newAttempt
      self.idempotencyKey = idempotencyKey
    }
  }
}

/// An order that passed its checks, with the payment that it changes. `Engine.execute` takes nothing else.
package struct CheckedOrder: Sendable {
  package fileprivate(set) var order: Order
  /// The payment that the order changes, as it was before its lock was taken; nil for a new one, or one made
  /// elsewhere.
  package let payment: Payment?
  /// The reference or id that the operator typed for that payment; empty for an order that begins one.
  package let handle: String
  let options: Engine.Options
  /// Why the order cannot be sent, such as missing credentials. A result that is in the journal is shown
  /// anyway.
  package let lack: Fault?
  /// Whether the process that works on the payment was asked to stop.
  fileprivate(set) var isUnderWay = false
  /// The operation of an order that begins a payment, once `execute` has made it.
  fileprivate(set) var draft: Operation?
  /// The payment with its first attempt, to be recorded if the reference is new.
  fileprivate(set) var first: Payment?

  var terms: OpeningTerms {
    OpeningTerms(
      namesProvider: options.namesProvider,
      hasOwnKey: order.placed != nil && options.idempotencyKey != nil
    )
  }

  /// Whether the command undoes a payment. If the recovery of a lost request undid it, the command is done.
  var undoes: Bool { if case .cancel = order { true } else { false } }

  /// The order that the provider gets at the first send; nil if the journal alone has all the data.
  var sent: Order? { order.placed == nil ? order.reversal.map(Order.refund) : order }

  /// Records that a person agreed to a second refund without a name.
  package mutating func approveFurther() {
    guard case .refund(var request) = order else { return }
    request.isFurtherApproved = true
    order = .refund(request)
  }
}

extension Engine {
  /// Checks an order and its prerequisites, before a person is asked and before anything is opened.
  ///
  /// Neither is checked again before the send. An adapter still refuses to send without what it needs. An
  /// order that begins a payment has its reference. Any other order changes `found`, or the payment with the
  /// provider's id `handle`, which was made elsewhere. Throws `usage` or `unsupported`, and `auth` if a
  /// requested look-up lacks credentials.
  package func checked(
    _ order: Order,
    on found: Payment? = nil,
    handle: String = "",
    _ options: Options = Options()
  ) throws(Fault) -> CheckedOrder {
    if order.placed != nil { try provider.check(order) }
    if options.isLookedUp { try provider.checkReady(for: nil, of: found) }
    var lack: Fault?
    do throws(Fault) { try provider.checkReady(for: order, of: found) } catch { lack = error }
    return CheckedOrder(order: order, payment: found, handle: handle, options: options, lack: lack)
  }

  /// Executes an order, or returns the result of the same order from before.
  ///
  /// If an earlier operation is unknown, it is looked up first, and no new one is started beside it. The exit
  /// statuses of its faults are in man/tender-exit-codes.7.
  package func execute(_ checked: CheckedOrder) throws(Fault) -> Report {
    if let placed = checked.order.placed { return try begin(placed, checked) }
    guard case .cancel = checked.order else { return try change(checked) }
    if let found = checked.payment { try checkOwner(of: found) }
    var checked = checked
    checked.isUnderWay = try stopUnderWay(checked.payment)
    var report = try change(checked)
    if checked.isUnderWay { report.replayed = false }
    return report.cancelled
  }

  /// Starts a payment, a mandate or a stored method.
  private func begin(_ placed: any PlacedOrder, _ checked: CheckedOrder) throws(Fault) -> Report {
    let reference = placed.reference
    var checked = checked
    let draft = try self.draft(placed)
    checked.draft = draft
    // A command that lacks a prerequisite writes nothing.
    if checked.lack == nil { checked.first = try added(draft, checked, to: newPayment(reference)) }
    let lock = try hold(reference, opening: checked.first.map { ($0, checked.terms) })
    defer { withExtendedLifetime(lock) {} }
    if provider.traits.isAtReader { journal.forgetStop(key(reference)) }
    return try execute(checked, on: key(reference))
  }

  /// Returns the operation of an order, with the fingerprints that identify it.
  private func draft(_ order: any PlacedOrder) throws(Fault) -> Operation {
    var draft = order.draft(at: clock.now)
    draft.fingerprints = try journal.fingerprints(
      of: draft.content,
      instrument: order.card?.identity
    )
    return draft
  }

  /// Decides about an order. If an operation would run, it must be one that the provider supports.
  func decision(on checked: CheckedOrder, _ payment: Payment?) throws(Fault) -> Decision {
    // The stop came before anything was sent, or the stopped run undid the sale itself.
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
      return .transact(draft, on: payment, newAttempt: checked.options.newAttempt, traits)
    }
    guard let payment else { throw .unknownHandle(checked.handle) }
    let decision: Decision =
      switch checked.order {
      case .cancel(let request): .cancel(request, of: payment, traits, at: now)
      case .refund(let request): .refund(request, of: payment, traits, at: now)
      case .capture(let part): .capture(part?.minorUnits, of: payment, traits, at: now)
      case .payment, .token, .sale, .authorization: .refuse(.bug("a second beginning"))
      }
    if case .run(let draft) = decision { try check(draft, of: payment) }
    return decision
  }

  /// Executes a command on an existing payment. A payment made elsewhere is added to the journal first.
  private func change(_ checked: CheckedOrder) throws(Fault) -> Report {
    let (found, handle) = (checked.payment, checked.handle)
    let reference = found?.reference ?? Reference(stored: handle)
    guard found != nil || provider.isID(handle) else { throw try unknown(handle) }
    let lock = try checked.isUnderWay ? holdStopping(reference) : hold(reference)
    defer { withExtendedLifetime(lock) {} }
    if checked.isUnderWay { journal.forgetStop(key(reference)) }
    if found == nil { try adopt(checked) }
    return try execute(checked, on: key(reference))
  }

  /// The refusal of an unknown payment. A journal that lost entries does not say that there is none.
  func unknown(_ handle: String) throws(Fault) -> Fault {
    try journal.checkWhole()
    return .unknownHandle(handle)
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
    guard provider.traits.isAtReader, let found, let attempt = found.attempt,
      [.prepared, .sent].contains(attempt.state.name)
    else { return false }
    try journal.requestStop(found.key)
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
      try journal.requestStop(key(reference))
    }
  }

  // MARK: Plans

  /// Returns the effect that an order would have; `send` if it would begin a payment.
  ///
  /// Throws the fault that would refuse it.
  package func plan(_ checked: CheckedOrder) throws(Fault) -> Plan {
    var known: Payment?
    if let placed = checked.order.placed {
      known = try journal.payment(key(placed.reference))
      try checkOwner(of: known)
    } else {
      known = checked.payment
      if let found = known, found.attempt?.state == .prepared {
        // Another process may be about to send it. Its lock shows that.
        let lock = try hold(found.reference)
        defer { withExtendedLifetime(lock) {} }
        known = try reread(found)
      }
      guard known != nil else {
        // A payment made elsewhere would be looked up first.
        guard provider.isID(checked.handle) else { throw try unknown(checked.handle) }
        return switch checked.order.kind {
        case .void: .void
        case .refund: .refund
        default: .proceed
        }
      }
    }
    let decided = try decision(on: checked, known)
    if case .refuse(let fault) = decided, let known { throw completed(fault, for: known) }
    return try decided.plan()
  }

  /// Returns the key that an order with this plan would be sent with; nil without one.
  package func key(of checked: CheckedOrder, _ plan: Plan) throws(Fault) -> String? {
    let (payment, draft): (Payment, Operation)
    if let placed = checked.order.placed {
      let known = try journal.payment(key(placed.reference))
      guard plan == .send else { return plan == .finish ? known?.attempt?.key : nil }
      (payment, draft) = (known ?? newPayment(placed.reference), placed.draft(at: clock.now))
    } else if case .refund(let request) = checked.order, let known = checked.payment,
      case .run(let refund) = Decision.refund(request, of: known, provider.traits, at: clock.now)
    {
      (payment, draft) = (known, refund)
    } else {
      return nil
    }
    var next = payment
    append(draft, to: &next, own: checked.options.idempotencyKey)
    return next.operations.last?.key
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
