package import TenderModel

extension Engine {
  /// What a command is told besides its order.
  package struct Options: Sendable {
    package var newAttempt: Bool
    /// The operator's own key.
    package var idempotencyKey: String?
    /// Whether the provider was named on this very command line.
    package var namesProvider: Bool

    package init(
      newAttempt: Bool = false,
      idempotencyKey: String? = nil,
      namesProvider: Bool = false
    ) {
      self.newAttempt = newAttempt
      self.idempotencyKey = idempotencyKey
      self.namesProvider = namesProvider
    }
  }
}

/// The commands that change a payment.
extension Engine {
  /// Carries an order out, or answers with the result of the same order before.
  ///
  /// An order that begins a payment has its reference. Any other is for `found`, or for the payment of the
  /// provider's id `handle`, made elsewhere. An earlier operation whose result is unknown is looked up first; a
  /// new one is never opened beside it. Throws a fault; man/tender-exit-codes.7 lists the exit statuses.
  package func execute(
    _ order: Order,
    on found: Payment? = nil,
    handle: String = "",
    _ options: Options = Options()
  ) throws(Fault) -> Report {
    if let placed = order.placed { return try begin(placed, order, options) }
    guard case .cancel = order else { return try change(found, handle, order, options) }
    if let found { try checkOwner(of: found) }
    let isUnderWay = try stopUnderWay(found)
    var report = try change(found, handle, order, options, isUnderWay: isUnderWay)
    if isUnderWay { report.replayed = false }
    return report.cancelled
  }

  /// Takes a payment, creates a mandate or stores a method.
  private func begin(
    _ placed: any PlacedOrder,
    _ order: Order,
    _ options: Options
  ) throws(Fault) -> Report {
    let reference = placed.reference
    try provider.check(order)
    var change = Change(
      decide: { payment throws(Fault) in try decide(placed, on: payment, options) },
      order: order,
      options: options
    )
    // A command that is not ready leaves no trace.
    if (try? provider.checkReady(for: order, of: nil)) != nil {
      change.first = try added(try draft(placed), change, to: newPayment(reference))
    }
    let lock = try hold(reference, opening: change.first.map { ($0, change.terms) })
    defer { withExtendedLifetime(lock) {} }
    if provider.traits.isAtReader { journal.forgetStop(key(reference)) }
    return try execute(change, on: key(reference))
  }

  /// The operation that an order is, with what tells it from another.
  private func draft(_ order: any PlacedOrder) throws(Fault) -> Operation {
    var draft = order.draft(at: clock.now)
    draft.fingerprints = try journal.fingerprints(
      of: draft.content,
      instrument: order.card?.identity
    )
    return draft
  }

  private func decide(
    _ order: any PlacedOrder,
    on payment: Payment?,
    _ options: Options
  ) throws(Fault) -> Decision {
    .transact(try draft(order), on: payment, newAttempt: options.newAttempt, provider.traits)
  }

  private func decide(_ order: Order, _ payment: Payment) -> Decision {
    let (traits, now) = (provider.traits, clock.now)
    return switch order {
    case .cancel(let request): .cancel(request, of: payment, traits, at: now)
    case .refund(let request): .refund(request, of: payment, traits, at: now)
    case .capture(let part): .capture(part?.minorUnits, of: payment, traits, at: now)
    case .payment, .token, .sale, .authorization: .refuse(.bug("a second beginning"))
    }
  }

  /// Runs a command on a payment that exists; what was made elsewhere is taken in first.
  ///
  /// `isUnderWay` says that the process that works on it was asked to stop.
  private func change(
    _ found: Payment?,
    _ handle: String,
    _ order: Order,
    _ options: Options,
    isUnderWay: Bool = false
  ) throws(Fault) -> Report {
    let reference = found?.reference ?? Reference(stored: handle)
    guard found != nil || provider.isID(handle) else { throw .unknownHandle(handle) }
    let lock = try isUnderWay ? holdStopping(reference) : hold(reference)
    defer { withExtendedLifetime(lock) {} }
    if isUnderWay { journal.forgetStop(key(reference)) }
    if found == nil { try adopt(handle) }
    let change = Change(
      decide: { payment throws(Fault) in
        guard let payment else { throw .unknownHandle(handle) }
        // It was stopped before anything was sent, or undone by its own run.
        if isUnderWay, payment.state.status == .cancelled, let attempt = payment.attempt {
          return .replay(attempt.sequence)
        }
        return decide(order, payment)
      },
      order: order,
      options: options
    )
    return try execute(change, on: key(reference))
  }

  /// Takes in what was made elsewhere, under its id as its reference.
  private func adopt(_ id: String) throws(Fault) {
    guard try journal.payment(key(Reference(stored: id))) == nil else { return }
    try provider.checkReady(for: provider.traits.hasPayerFlow ? .capture(nil) : nil, of: nil)
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

  // MARK: A sale that is under way

  /// Asks the process that works on a sale to stop; false where none does.
  private func stopUnderWay(_ found: Payment?) throws(Fault) -> Bool {
    guard provider.traits.isAtReader, let found, let attempt = found.attempt,
      [.prepared, .sent].contains(attempt.state.name)
    else { return false }
    try journal.requestStop(found.key)
    return true
  }

  /// Takes the lock of a reference whose work is asked to stop, again and again: another process that waited for
  /// it too begins new work, and must be told as well.
  private func holdStopping(_ reference: Reference) throws(Fault) -> any ReferenceLock {
    try journal.checkWhole()
    // The process at work is told within moments, and a reader takes some seconds to let go.
    let deadline = Deadline(in: max(patience, 15_000), on: clock)
    while true {
      let lock = try lock(reference, within: min(500, deadline.remaining))
      if let lock { return lock }
      guard deadline.remaining > 0 else { throw .inProgress(reference) }
      try journal.requestStop(key(reference))
    }
  }

  // MARK: Plans

  /// What an order would do; nil where an order that begins a payment would be sent.
  ///
  /// Throws what it would be refused for.
  package func plan(
    _ order: Order,
    on found: Payment? = nil,
    handle: String = "",
    _ options: Options = Options()
  ) throws(Fault) -> Plan? {
    if let placed = order.placed {
      guard let known = try journal.payment(key(placed.reference)) else { return nil }
      try checkOwner(of: known)
      let plan = try decide(placed, on: known, options).plan()
      return plan == .send ? nil : plan
    }
    guard let found else {
      // What was made elsewhere is looked up first.
      guard provider.isID(handle) else { throw .unknownHandle(handle) }
      return switch order {
      case .cancel: .void
      case .refund: .refund
      case .capture, .payment, .token, .sale, .authorization: .proceed
      }
    }
    let decision = decide(order, found)
    if case .run(let draft) = decision { try check(draft, of: found) }
    if case .refuse(let fault) = decision { throw completed(fault, for: found) }
    return try decision.plan()
  }

  /// The key that an order would be sent with; nil where none is sent.
  package func nextKey(
    for order: Order,
    of payment: Payment? = nil,
    own: String?
  ) throws(Fault) -> String? {
    if let placed = order.placed {
      let known = try journal.payment(key(placed.reference)) ?? newPayment(placed.reference)
      return nextKey(for: placed.draft(at: clock.now), of: known, own)
    }
    guard case .refund = order, let payment, case .run(let draft) = decide(order, payment) else {
      return nil
    }
    return nextKey(for: draft, of: payment, own)
  }

  private func nextKey(for draft: Operation, of payment: Payment, _ own: String?) -> String? {
    var payment = payment
    append(draft, to: &payment, own: own)
    return payment.operations.last?.key
  }
}

extension Report {
  /// The report of a `cancel`: what cancelled or refunded is no error.
  fileprivate var cancelled: Report {
    guard status.isUndone else { return self }
    var report = self
    if report.fault?.kind == .cancelled { report.fault = nil }
    return report
  }
}
