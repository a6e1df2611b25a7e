import TenderModel

/// Applies a provider's outcomes to a payment. No other place turns an outcome into a state.
struct Driver {
  let journal: any Journal
  let clock: any Clock
  /// Whether only the states that the provider names are announced.
  let namesItsStates: Bool
  let announce: (String) -> Void

  /// Announces a state, unless the provider names its states itself.
  func say(_ state: String) { if !namesItsStates { announce(state) } }

  /// Returns the payment with the outcome of an operation.
  ///
  /// Throws `internal` if the operation's state does not allow it.
  func applied(
    _ outcome: Outcome,
    _ event: Operation.Event,
    _ payment: Payment,
    _ sequence: Int
  ) throws(Fault) -> Payment {
    guard let operation = payment[sequence], let state = outcome.state(for: operation) else {
      throw .bug("an outcome decides nothing: \(outcome.status.rawValue)")
    }
    var next = payment
    let now = clock.now
    try next.move(sequence, event, to: state.kept, at: now) { $0.take(outcome) }
    if operation.isAttempt || operation.kind == .capture {
      var seen = Observation(.answer, at: now, operation: sequence, state: state.kept)
      seen.refunded = outcome.refundedAmount
      seen.isRevoked = outcome.status == .revoked
      seen.providerStatus = outcome.providerStatus
      if seen.refunded != nil || seen.isRevoked || seen.providerStatus != nil { next.add(seen) }
      next.currency = outcome.currency ?? next.currency
      next.lastFour = outcome.lastFour ?? next.lastFour
      next.brand = outcome.brand ?? next.brand
    }
    try next.closeAttempt(after: sequence, at: now)
    if outcome.isNewID, let attempt = next.attempt {
      try next.change(attempt.sequence) { $0.id = outcome.id ?? $0.id }
    }
    return next
  }

  /// Returns the payment after the fault of an operation. With effect unknown, the operation is `sent`. With
  /// effect none, it goes back to `before`, or fails if it was new.
  func failed(
    _ fault: Fault,
    _ payment: Payment,
    _ sequence: Int,
    before: Operation.State
  ) throws(Fault) -> Payment {
    var next = payment
    let now = clock.now
    guard let operation = payment[sequence] else { return payment }
    if fault.effect == .unknown {
      // A payer's flow can go on at the bank although no request of this program is under way.
      let isOpen = [.waiting, .processing].contains(operation.state.name) && !operation.isHold
      guard operation.isUnknown || operation.isAttempt && isOpen else { return payment }
      let (at, moment) = operation.state.sent ?? (now, clock.moment)
      let lost = Operation.State.sent(at: at, moment: moment)
      try next.move(sequence, .lose, to: lost, at: now) { $0.fault = fault }
    } else if before.name != .prepared {
      // A payer's flow or a hold returns to the state before this run.
      if operation.isUnknown { try next.move(sequence, .revert, to: before, at: now) }
    } else {
      try next.move(sequence, .fail, to: .failed, at: now) { operation in
        operation.fault = fault
        operation.preparation = nil
        if let result = fault.result { operation.result = result }
      }
    }
    return next
  }

  /// Writes the changes of a payment, and sets its time of change to now.
  func write(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    _ durability: Durability = .power
  ) throws(Fault) {
    payment.updatedAt = clock.now
    try journal.update(&payment, sequence, note: note, durability)
  }
}

extension Operation.State {
  /// The state in the form that the journal stores.
  var kept: Operation.State {
    if case .waiting(let action?) = self { return .waiting(action.kept) }
    return self
  }
}

extension Operation {
  /// Applies a provider's answer to the operation.
  mutating func take(_ outcome: Outcome) {
    if isReversal, outcome.isVoid { kind = .void }
    id = outcome.id ?? id
    if let said = outcome.amount, said != amount {
      // Only the provider may know the amount, for example with its fee. Then no amount was asked for.
      if amount == nil { amount = said } else { approved = said }
    }
    result = outcome.result
    // A fault `pending` means that this run lacks an input. It is no fact about the operation.
    fault = outcome.fault?.kind == .pending ? nil : outcome.fault
    if !isHold, !hasConsent { preparation = nil }
  }
}

extension Outcome {
  /// The state that the outcome gives the operation. A reversal that cancelled something has succeeded.
  func state(for operation: Operation) -> Operation.State? {
    switch operation.kind {
    case .void, .revoke, .refund:
      // A refund with the card that was undone gave nothing back.
      return operation.isAttempt || fault?.kind == .cancelled || !status.isUndone
        ? state : .succeeded
    case .authorize, .charge, .capture, .store, .createMandate, .payout: return state
    }
  }
}

extension Payment {
  /// Ends the attempt if the end of another operation ends it too.
  mutating func closeAttempt(after sequence: Int, at now: Int) throws(Fault) {
    guard let ended = self[sequence], !ended.isAttempt, let attempt else { return }
    // A void of a surplus charge ends nothing of the payment itself.
    if let parent = ended.parent, self[parent]?.isSurplus == true { return }
    if isAboutRefund(ended), let refund = ended.parent {
      guard ended.state.name == .succeeded, let undone = self[refund] else { return }
      return undone.state == .succeeded
        ? try move(refund, .observe, to: .returned, at: now)
        : try move(refund, .answer, to: .cancelled, at: now)
    }
    switch (ended.kind, ended.state.name) {
    case (.capture, .succeeded), (.capture, .processing), (.capture, .returned),
      (.void, .succeeded), (.revoke, .succeeded):
      // A finished capture, void or revocation ends a hold. An attempt that waited for its payer is
      // cancelled.
      if attempt.state.name == .waiting {
        // A revoked mandate was authorized before, and counts as succeeded. A voided charge that still waited
        // for its completion was never captured: it counts as cancelled.
        let isDone = ended.kind == .revoke || attempt.isHold
        let isUncaptured = ended.kind == .void && attempt.kind == .charge
        try close(attempt, as: isDone && !isUncaptured ? .succeeded : .cancelled, at: now)
      }
      guard ended.kind == .void else { return }
      // The void cancelled lost requests too: they need no answer any more.
      let lost = operations.filter { $0.isUnknown && ($0.kind == .capture || $0.isAttempt) }
      for operation in lost where operation.sequence >= attempt.sequence {
        try close(operation, as: .cancelled, at: now)
      }
    case (.capture, .declined), (.capture, .cancelled), (.capture, .expired):
      // The provider ended the hold.
      guard attempt.isHold else { return }
      try close(attempt, as: ended.state, at: now)
      try change(attempt.sequence) { ($0.result, $0.fault) = (ended.result, ended.fault) }
    default: break
    }
  }

  private mutating func close(
    _ operation: Operation,
    as end: Operation.State,
    at now: Int
  ) throws(Fault) {
    try move(operation.sequence, .close, to: end, at: now) { $0.preparation = nil }
  }
}
