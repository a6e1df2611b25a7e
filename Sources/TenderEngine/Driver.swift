import TenderModel

/// Applies what a provider says to a payment: the only place where an outcome becomes a state.
struct Driver {
  let journal: any Journal
  let clock: any Clock
  /// Whether the provider's states alone are announced.
  let namesItsStates: Bool
  let announce: (String) -> Void

  /// Shows a state, where the provider has no names of its own for them.
  func say(_ state: String) { if !namesItsStates { announce(state) } }

  /// The payment with an outcome of one of its operations.
  ///
  /// Throws `internal` for what cannot happen in the operation's state.
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

  /// The payment with a fault of one of its operations: unknown stays `sent`, effect none leaves it as it was
  /// before, or ends it.
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
      guard operation.isUnknown else { return payment }
      try next.move(sequence, .lose, to: operation.state, at: now) { $0.fault = fault }
    } else if before.name != .prepared {
      // A payer's flow, or a hold: it is as it was found.
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

  /// Writes what changed of a payment, as of now.
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
  /// The state as the journal keeps it.
  var kept: Operation.State {
    if case .waiting(let action?) = self { return .waiting(action.kept) }
    return self
  }
}

extension Operation {
  /// Takes in what a provider's answer says of it.
  mutating func take(_ outcome: Outcome) {
    if isReversal, outcome.isVoid { kind = .void }
    id = outcome.id ?? id
    if let said = outcome.amount, said != amount {
      // What is asked for can be known only by the provider: a fee within it.
      if amount == nil { amount = said } else { approved = said }
    }
    result = outcome.result
    // What is missing from this run's input says nothing about the operation.
    fault = outcome.fault?.kind == .pending ? nil : outcome.fault
    if !isHold { preparation = nil }
  }
}

extension Outcome {
  /// The state that it puts an operation in: a reversal that cancelled something has succeeded.
  func state(for operation: Operation) -> Operation.State? {
    switch operation.kind {
    case .void, .revoke, .refund:
      return operation.isAttempt || !status.isUndone ? state : .succeeded
    case .authorize, .charge, .capture, .store, .createMandate, .payout: return state
    }
  }
}

extension Payment {
  /// What the end of one operation means for the attempt that it is about.
  mutating func closeAttempt(after sequence: Int, at now: Int) throws(Fault) {
    guard let ended = self[sequence], !ended.isAttempt, let attempt else { return }
    switch (ended.kind, ended.state.name) {
    case (.capture, .succeeded), (.capture, .processing), (.void, .succeeded),
      (.revoke, .succeeded):
      // What was held is done with, whatever ended it; what waited for its payer is cancelled.
      if attempt.state.name == .waiting {
        // Only an authorized mandate can be revoked; a charge that waited for its completion was never captured.
        let isDone = ended.kind == .revoke || attempt.isHold
        let isUncaptured = ended.kind == .void && attempt.kind == .charge
        try close(attempt, as: isDone && !isUncaptured ? .succeeded : .cancelled, at: now)
      }
      guard ended.kind == .void else { return }
      // Undone by a void that needs no answer to the lost request.
      let lost = operations.filter { $0.isUnknown && ($0.kind == .capture || $0.isAttempt) }
      for operation in lost where operation.sequence >= attempt.sequence {
        try close(operation, as: .cancelled, at: now)
      }
    case (.capture, .declined), (.capture, .cancelled), (.capture, .expired):
      // The provider ended what it held.
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
