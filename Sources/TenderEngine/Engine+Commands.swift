package import TenderModel

/// What `transact` is told besides its order.
package struct TransactRequest: Sendable {
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

/// The commands that change a payment.
extension Engine {
  /// Takes a payment, creates a mandate or stores a method, or answers with what the same order came to before.
  ///
  /// Throws a fault; man/tender-exit-codes.7 lists the exit statuses. An unknown earlier attempt is found
  /// out first; a new one is never opened beside it.
  package func transact(_ order: Order, _ request: TransactRequest) throws(Fault) -> Report {
    guard let placed = order.placed else { throw .bug("an order without a reference") }
    let reference = placed.reference
    try provider.check(order)
    let own = request.idempotencyKey
    var change = Change(
      decide: { payment throws(Fault) in
        try decide(placed, on: payment, newAttempt: request.newAttempt)
      },
      order: order,
      need: order.need,
      idempotencyKey: own,
      terms: OpeningTerms(namesProvider: request.namesProvider, hasOwnKey: own != nil)
    )
    // A command that is not ready leaves no trace.
    if (try? provider.checkReady(for: change.need)) != nil {
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
    newAttempt: Bool
  ) throws(Fault) -> Decision {
    .transact(try draft(order), on: payment, newAttempt: newAttempt, provider.traits)
  }

  /// Captures what is held, goes on with a payer's flow, or answers with what that came to before.
  ///
  /// `amount` captures a part, nil all that is authorized. Throws `conflict` (`no_auth`) where nothing is held,
  /// `not_found` for an unknown handle.
  package func confirm(
    _ found: Payment?,
    handle: String,
    amount: Money?
  ) throws(Fault) -> Report {
    try change(found, handle, .capture(amount))
  }

  /// Voids what is held, reverses what is captured, revokes a mandate, or answers with what did that before.
  ///
  /// Throws `not_found` for an unknown handle, `conflict` where there is nothing to undo.
  package func cancel(
    _ found: Payment?,
    handle: String,
    _ request: RefundRequest = RefundRequest()
  ) throws(Fault) -> Report {
    if let found { try checkOwner(of: found) }
    let isUnderWay = try stopUnderWay(found)
    var report = try change(found, handle, .cancel(request), isUnderWay: isUnderWay)
    if isUnderWay { report.replayed = false }
    return report.cancelled
  }

  /// Refunds what is left of a payment, or a part, or answers with what the same refund came to before.
  ///
  /// Throws `conflict` for more than what is left.
  package func refund(
    _ found: Payment?,
    handle: String,
    _ request: RefundRequest,
    idempotencyKey: String?
  ) throws(Fault) -> Report {
    try change(found, handle, .refund(request), own: idempotencyKey)
  }

  private func decide(_ later: Later, _ payment: Payment) -> Decision {
    let (traits, now) = (provider.traits, clock.now)
    return switch later {
    case .capture(let part): .capture(part?.minorUnits, of: payment, traits, at: now)
    case .cancel(let request): .cancel(request, of: payment, traits, at: now)
    case .refund(let request): .refund(request, of: payment, traits, at: now)
    }
  }

  /// Runs a command on a payment that exists; what was made elsewhere is taken in first.
  ///
  /// `isUnderWay` says that the process that works on it was asked to stop.
  private func change(
    _ found: Payment?,
    _ handle: String,
    _ later: Later,
    own: String? = nil,
    isUnderWay: Bool = false
  ) throws(Fault) -> Report {
    let reference = found?.reference ?? Reference(stored: handle)
    guard found != nil || provider.isID(handle) else { throw .unknownHandle(handle) }
    let lock = try isUnderWay ? holdStopping(reference) : hold(reference)
    defer { withExtendedLifetime(lock) {} }
    if isUnderWay { journal.forgetStop(key(reference)) }
    if found == nil { try adopt(handle) }
    var change = Change(
      decide: { payment throws(Fault) in
        guard let payment else { throw .unknownHandle(handle) }
        // It was stopped before anything was sent, or undone by its own run.
        if isUnderWay, payment.state.status == .cancelled, let attempt = payment.attempt {
          return .replay(attempt.sequence)
        }
        return decide(later, payment)
      },
      order: later.refund.map(Order.refund),
      need: later.refund != nil && found?.state.isCaptured == true ? .reversal : .held,
      idempotencyKey: own
    )
    if case .cancel = later { change.undoes = true }
    return try execute(change, on: key(reference))
  }

  /// Takes in what was made elsewhere, under its id as its reference.
  private func adopt(_ id: String) throws(Fault) {
    guard try journal.payment(key(Reference(stored: id))) == nil else { return }
    try provider.checkReady(for: provider.traits.hasPayerFlow ? .held : .lookUp)
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

  /// What an order would come to under its reference: nil where it would be sent.
  ///
  /// Throws what it would be refused for.
  package func plan(_ order: Order, newAttempt: Bool) throws(Fault) -> Plan? {
    guard let order = order.placed, let known = try journal.payment(key(order.reference)) else {
      return nil
    }
    try checkOwner(of: known)
    let plan = try decide(order, on: known, newAttempt: newAttempt).plan()
    return plan == .send ? nil : plan
  }

  /// What a `confirm`, `cancel` or `refund` would do.
  ///
  /// Throws what it would be refused for.
  package func plan(
    _ later: Later,
    _ found: Payment?,
    handle: String
  ) throws(Fault) -> Plan {
    guard let found else {
      // What was made elsewhere is looked up first.
      guard provider.isID(handle) else { throw .unknownHandle(handle) }
      return switch later {
      case .capture: .proceed
      case .cancel: .void
      case .refund: .refund
      }
    }
    let decision = decide(later, found)
    if case .run(let draft) = decision { try check(draft, of: found) }
    return try decision.plan()
  }

  /// The key that an order would be sent with under its reference; nil where none is sent.
  package func nextKey(for order: Order, own: String?) throws(Fault) -> String? {
    guard let order = order.placed else { return nil }
    let known = try journal.payment(key(order.reference)) ?? newPayment(order.reference)
    return nextKey(for: order.draft(at: clock.now), of: known, own)
  }

  /// The key that a refund would be sent with; nil where none is sent.
  package func nextKey(
    for request: RefundRequest,
    of payment: Payment,
    own: String?
  ) -> String? {
    guard case .run(let draft) = decide(.refund(request), payment) else { return nil }
    return nextKey(for: draft, of: payment, own)
  }

  private func nextKey(for draft: Operation, of payment: Payment, _ own: String?) -> String? {
    var payment = payment
    append(draft, to: &payment, own: own)
    return payment.operations.last?.key
  }
}

extension Order {
  /// What sending it needs.
  package var need: Need {
    switch self {
    case .payment(let order) where order.storedMethod != nil: .storedMethod
    case .authorization(let order) where order.existingID != nil: .held
    case .payment, .token, .sale, .authorization: .attempt
    case .refund: .reversal
    }
  }
}

extension Report {
  /// The report of a `cancel`: what cancelled or refunded is no error.
  fileprivate var cancelled: Report {
    guard [.cancelled, .revoked, .refunded, .partiallyRefunded].contains(status) else {
      return self
    }
    var report = self
    if report.fault?.kind == .cancelled { report.fault = nil }
    return report
  }
}
