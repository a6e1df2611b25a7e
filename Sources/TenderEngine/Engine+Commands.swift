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
  /// Throws a fault of the exit that the contract names. An unknown earlier attempt is found out
  /// first; a new one is never opened beside it.
  package func transact(_ order: Order, _ request: TransactRequest) throws(Fault) -> Report {
    guard let reference = order.reference else {
      throw Fault(.internal, code: "internal", "an order without a reference")
    }
    try provider.check(order)
    let need = order.need
    var change = Change(
      decide: { payment throws(Fault) in
        try decide(order, on: payment, newAttempt: request.newAttempt)
      },
      order: order,
      need: need,
      idempotencyKey: request.idempotencyKey,
      terms: OpeningTerms(
        namesProvider: request.namesProvider,
        hasOwnKey: request.idempotencyKey != nil
      )
    )
    change.first = try first(change, reference)
    let lock = try hold(reference, opening: change.first.map { ($0, change.terms) })
    defer { withExtendedLifetime(lock) {} }
    if provider.traits.isAtReader { journal.forgetStop(key(reference)) }
    return try execute(change, on: key(reference))
  }

  /// The payment that would be opened at a new reference; nil where the command is not ready, and leaves no trace.
  private func first(
    _ change: Change,
    _ reference: Reference
  ) throws(Fault) -> Payment? {
    guard let order = change.order, (try? provider.checkReady(for: change.need)) != nil else {
      return nil
    }
    var payment = Payment(
      key: key(reference),
      kind: order.paymentKind,
      merchant: provider.merchant,
      at: clock.now
    )
    order.describe(&payment)
    var draft = order.draft(at: clock.now)
    draft.fingerprints = try journal.fingerprints(
      of: order.content,
      instrument: order.instrumentIdentity
    )
    let sequence = payment.append(draft)
    let known = payment
    try payment.change(sequence) { operation throws(Fault) in
      operation.key = self.key(for: operation, of: known, own: change.idempotencyKey)
    }
    return payment
  }

  private func decide(
    _ order: Order,
    on payment: Payment?,
    newAttempt: Bool
  ) throws(Fault) -> Decision {
    var draft = order.draft(at: clock.now)
    draft.fingerprints = try journal.fingerprints(
      of: order.content,
      instrument: order.instrumentIdentity
    )
    return .transact(draft, on: payment, newAttempt: newAttempt, provider.traits)
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
    let need: Need = provider.traits.hasPayerFlow ? .authorization : .heldPayment
    return try change(found, handle, need) { payment in
      .capture(amount?.minorUnits, of: payment, provider.traits, at: clock.now)
    }
  }

  /// Voids what is held, reverses what is captured, revokes a mandate, or answers with what did that before.
  ///
  /// Throws `not_found` for an unknown handle, `conflict` where there is nothing to undo.
  package func cancel(
    _ found: Payment?,
    handle: String,
    _ request: RefundRequest = RefundRequest(amount: nil, name: nil)
  ) throws(Fault) -> Report {
    if let found { try checkOwner(of: found) }
    let isUnderWay = try stopUnderWay(found)
    var report = try change(
      found,
      handle,
      need(toReverse: found),
      order: .refund(request),
      undoes: true,
      holding: isUnderWay ? { reference throws(Fault) in try holdStopping(reference) } : nil
    ) { payment in
      // It was stopped before anything was sent, or undone by its own run.
      if isUnderWay, payment.state.status == .cancelled, let attempt = payment.attempt {
        return .replay(attempt.sequence)
      }
      return .cancel(request, of: payment, provider.traits, at: clock.now)
    }
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
    try change(
      found,
      handle,
      need(toReverse: found),
      order: .refund(request),
      refund: request,
      idempotencyKey: idempotencyKey
    ) { payment in .refund(request, of: payment, provider.traits, at: clock.now) }
  }

  private func need(toReverse found: Payment?) -> Need {
    if provider.traits.hasPayerFlow { return .withdrawal }
    return found?.state.isCaptured == true ? .reversal : .heldPayment
  }

  /// Runs a command on a payment that exists; what was made elsewhere is taken in first.
  private func change(
    _ found: Payment?,
    _ handle: String,
    _ need: Need,
    order: Order? = nil,
    refund: RefundRequest? = nil,
    idempotencyKey: String? = nil,
    undoes: Bool = false,
    holding: ((Reference) throws(Fault) -> any ReferenceLock)? = nil,
    _ decide: @escaping (Payment) throws(Fault) -> Decision
  ) throws(Fault) -> Report {
    let reference = found?.reference ?? Reference(stored: handle)
    guard found != nil || provider.isID(handle) else { throw .unknownHandle(handle) }
    let lock = if let holding { try holding(reference) } else { try hold(reference) }
    defer { withExtendedLifetime(lock) {} }
    if holding != nil { journal.forgetStop(key(reference)) }
    if found == nil { try adopt(handle) }
    let change = Change(
      decide: { payment throws(Fault) in
        guard let payment else { throw .unknownHandle(handle) }
        return try decide(payment)
      },
      order: order,
      need: need,
      idempotencyKey: idempotencyKey,
      refund: refund,
      undoes: undoes
    )
    return try execute(change, on: key(reference))
  }

  /// Takes in what was made elsewhere, under its id as its reference.
  private func adopt(_ id: String) throws(Fault) {
    guard try journal.payment(key(Reference(stored: id))) == nil else { return }
    try provider.checkReady(for: provider.traits.hasPayerFlow ? .authorization : .lookUp)
    guard let adoption = try provider.adopt(id) else { throw .unknownHandle(id) }
    var payment = Payment(
      key: key(Reference(stored: id)),
      kind: adoption.kind,
      merchant: provider.merchant,
      at: clock.now
    )
    var attempt = Operation(
      adoption.kind == .mandate ? .createMandate : .charge,
      amount: adoption.outcome.amount,
      at: clock.now
    )
    attempt.content = ["command": "transact", "id": .string(id)]
    let sequence = payment.append(attempt)
    payment = try journal.open(payment, OpeningTerms(namesProvider: true), .process)
    var known = try driver.applied(adoption.outcome, .answer, payment, sequence)
    known.updatedAt = clock.now
    try journal.update(&known, sequence, note: "made elsewhere", .power)
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
    guard let reference = order.reference, let known = try journal.payment(key(reference)) else {
      return nil
    }
    try checkOwner(of: known)
    let plan = try Self.planned(try decide(order, on: known, newAttempt: newAttempt))
    return plan == .send ? nil : plan
  }

  /// What a confirm would do.
  ///
  /// Throws what it would be refused for.
  package func planCapture(
    _ found: Payment?,
    handle: String,
    _ amount: Money?
  ) throws(Fault) -> Plan {
    guard let found else { throw .unknownHandle(handle) }
    return try checked(
      .capture(amount?.minorUnits, of: found, provider.traits, at: clock.now),
      of: found
    )
  }

  /// What a cancel would do.
  ///
  /// Throws what it would be refused for.
  package func planCancel(
    _ found: Payment?,
    handle: String,
    _ request: RefundRequest = RefundRequest(amount: nil, name: nil)
  ) throws(Fault) -> Plan {
    guard let found else { throw .unknownHandle(handle) }
    return try checked(.cancel(request, of: found, provider.traits, at: clock.now), of: found)
  }

  /// What a refund would do.
  ///
  /// Throws what it would be refused for.
  package func planRefund(
    _ found: Payment?,
    handle: String,
    _ request: RefundRequest
  ) throws(Fault) -> Plan {
    guard let found else {
      // What was made elsewhere is looked up first.
      guard provider.isID(handle) else { throw .unknownHandle(handle) }
      return .refund
    }
    return try checked(.refund(request, of: found, provider.traits, at: clock.now), of: found)
  }

  private func checked(_ decision: Decision, of payment: Payment) throws(Fault) -> Plan {
    if case .run(let draft) = decision { try check(draft, of: payment) }
    return try Self.planned(decision)
  }

  private static func planned(_ decision: Decision) throws(Fault) -> Plan {
    if case .refuse(let fault) = decision { throw fault }
    return decision.plan
  }

  /// The key that an order would be sent with under its reference; nil where none is sent.
  package func nextKey(for order: Order, own: String?) throws(Fault) -> String? {
    guard let reference = order.reference else { return nil }
    var payment =
      try journal.payment(key(reference))
      ?? Payment(key: key(reference), kind: .payment, merchant: provider.merchant, at: clock.now)
    let sequence = payment.append(order.draft(at: clock.now))
    return payment[sequence].flatMap { key(for: $0, of: payment, own: own) }
  }

  /// The key that a refund would be sent with; nil where none is sent.
  package func nextKey(
    for request: RefundRequest,
    of payment: Payment,
    own: String?
  ) -> String? {
    var payment = payment
    guard
      case .run(let draft) = Decision.refund(request, of: payment, provider.traits, at: clock.now)
    else { return nil }
    let sequence = payment.append(draft)
    return payment[sequence].flatMap { key(for: $0, of: payment, own: own) }
  }
}

extension Order {
  /// What sending it needs.
  package var need: Need {
    switch self {
    case .payment(let order): .payment(byStoredMethod: order.storedMethod != nil)
    case .token: .payment(byStoredMethod: false)
    case .sale: .sale
    case .authorization(let order): order.existingID == nil ? .creation : .authorization
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
