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
      throw Fault(
        .internal,
        code: "internal",
        "an outcome decides nothing: \(outcome.status.rawValue)"
      )
    }
    var next = payment
    let now = clock.now
    try next.change(sequence) { operation throws(Fault) in
      try operation.move(event, to: state.kept, at: now)
      operation.take(outcome)
    }
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
    try next.change(sequence) { operation throws(Fault) in
      if fault.effect == .unknown {
        guard operation.state.name == .sent else { return }
        try operation.move(.lose, to: operation.state, at: now)
        operation.fault = fault
        return
      }
      if before.name != .prepared {
        // A payer's flow, or a hold: it is as it was found.
        if operation.state.name == .sent { try operation.move(.revert, to: before, at: now) }
        return
      }
      try operation.move(.fail, to: .failed, at: now)
      operation.fault = fault
      operation.preparation = nil
      if let result = fault.result { operation.result = result }
    }
    return next
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
    if state.name != .waiting || state.action != nil { preparation = nil }
  }
}

extension Outcome {
  /// The state that it puts an operation in: a reversal that cancelled something has succeeded.
  func state(for operation: Operation) -> Operation.State? {
    switch operation.kind {
    case .void, .revoke, .refund:
      guard !operation.isAttempt else { return state }
      return switch status {
      case .cancelled, .revoked, .refunded, .partiallyRefunded: .succeeded
      default: state
      }
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
      let isHold = attempt.state.name == .waiting && attempt.state.action == nil
      // What was held is done with, whatever ended it; what waited for its payer is cancelled.
      let next: Operation.State? =
        switch attempt.state.name {
        // Only an authorized mandate can be revoked.
        case .waiting where ended.kind == .revoke: .succeeded
        // A charge that waited for its completion was never captured.
        case .waiting where ended.kind == .void && attempt.kind == .charge: .cancelled
        case .waiting: isHold ? .succeeded : .cancelled
        // Undone by a void that needs no answer to the lost request.
        case .sent: ended.kind == .void ? .cancelled : nil
        default: nil
        }
      if let next {
        try change(attempt.sequence) { operation throws(Fault) in
          try operation.move(.close, to: next, at: now)
          operation.preparation = nil
        }
      }
      guard ended.kind == .void else { return }
      for lost in followers where lost.kind == .capture && lost.isUnknown {
        try change(lost.sequence) { operation throws(Fault) in
          try operation.move(.close, to: .cancelled, at: now)
          operation.preparation = nil
        }
      }
    case (.capture, .declined), (.capture, .cancelled), (.capture, .expired):
      // The provider ended what it held.
      guard attempt.state.name == .waiting, attempt.state.action == nil else { return }
      try change(attempt.sequence) { operation throws(Fault) in
        try operation.move(.close, to: ended.state, at: now)
        operation.preparation = nil
        operation.result = ended.result
        operation.fault = ended.fault
      }
    default: break
    }
  }
}
