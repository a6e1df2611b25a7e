import TenderModel

/// Applies an answer to a payment, as far as it is evidence, and warns about the rest.
extension Engine {
  /// Returns the reason why an answer is no evidence about a payment; nil if it is evidence.
  func contradiction(_ outcome: Outcome, _ known: Payment) -> String? {
    let state = known.state
    if let id = state.id, let said = outcome.id, said != id {
      return "the answer is about another payment (\(said)) and was not recorded"
    }
    // A payment that was made elsewhere has the reference of its maker.
    let isOwn = known.attempt?.content["id"] == nil
    if isOwn, let said = outcome.reference, said != known.reference {
      return
        "the answer is about another payment (\(said.text.quotedForMessage)) and was not recorded"
    }
    if let paid = known.currency, let said = outcome.currency, paid != said {
      return "the answer is in \(said.code) and was not recorded: the payment is in \(paid.code)"
    }
    let expected = state.isCaptured ? state.standing : state.amount ?? 0
    if let said = outcome.amount, state.amount != nil, said != expected, said != state.amount {
      return
        "the answer names \(known.text(ofMinorUnits: said)) and was not recorded: the payment is of "
        + known.text(ofMinorUnits: expected)
    }
    return nil
  }

  /// Returns a payment with an answer applied, and a warning about the part that could not be applied.
  func observed(
    _ outcome: Outcome,
    of known: Payment
  ) throws(Fault) -> (payment: Payment, warning: String?) {
    var payment = known
    let contradiction = contradiction(outcome, known)
    let isPaid = paidAfterAll(outcome, known)
    var warning = contradiction ?? isPaid
    let (now, state) = (clock.now, known.state)
    // For a hold, only an answer with the hold's id is about this payment.
    let isOther = state.isHeld && outcome.id != state.id
    guard contradiction == nil, let attempt = known.attempt, !isOther,
      attempt.state.name != .failed
    else { return (payment, warning) }
    let target = known.followers.last { $0.kind == .capture && $0.state.name != .failed } ?? attempt
    func move(
      _ operation: Operation,
      to next: Operation.State,
      _ change: (inout Operation) -> Void
    ) throws(Fault) {
      guard operation.state != next.kept, !operation.isUnknown else { return }
      if operation.state.allows(next) {
        try payment.move(operation.sequence, .observe, to: next.kept, at: now, change)
      } else if operation.state.name != next.name {
        warning =
          warning
          ?? "the provider says that the \(operation.kind.rawValue) is \(next.name.rawValue), which "
          + "cannot follow \(operation.state.name.rawValue)"
      }
    }
    // This journal voided the payment itself. A look-up does not change that.
    let isEnded = state.status.end == .cancelled
    if let said = outcome.state, !isEnded {
      try move(target, to: said) { operation in
        guard said.name != .returned else { return }
        operation.result = outcome.result
        operation.fault = outcome.fault?.kind == .pending ? nil : outcome.fault
      }
    }
    if isPaid != nil { try payment.markSeenPaid() }
    let reversals = outcome.refunds.isEmpty ? [:] : known.reversalsByID
    for refund in outcome.refunds {
      guard let own = reversals[refund.id],
        refund.amount == nil || refund.amount == own.effectiveAmount
      else { continue }
      try move(own, to: refund.state) { ($0.result, $0.fault) = (refund.result, refund.fault) }
    }
    if (payment[target.sequence] ?? target).dispute != outcome.dispute {
      try payment.change(target.sequence) {
        $0.result[Operation.dispute] = outcome.dispute?.json
      }
    }
    var seen = seen(outcome, of: target, state)
    if let strange = strangeRefund(outcome, known, reversals) {
      // Its sum is not trusted either.
      seen.refunded = nil
      warning = strange
    }
    warning = lessRefunded(seen, known) ?? warning ?? foreignRefund(outcome, known, reversals)
    let isNews =
      seen.providerStatus != known.observed.providerStatus
      || (seen.refunded ?? 0) > known.observed.refunded
      || seen.isRevoked != known.observed.isRevoked
    if isNews || !payment.changed.isEmpty { payment.add(seen) }
    if !payment.changed.isEmpty || !payment.unwritten.isEmpty { payment.updatedAt = now }
    return (payment, warning)
  }

  /// A warning about a refund of this journal that is shown with another amount.
  private func strangeRefund(
    _ outcome: Outcome,
    _ known: Payment,
    _ reversals: [String: Operation]
  ) -> String? {
    for refund in outcome.refunds {
      guard let amount = refund.amount, let own = reversals[refund.id],
        own.effectiveAmount != amount
      else { continue }
      return
        "the answer names \(known.text(ofMinorUnits: amount)) for the refund \(refund.id) and was "
        + "not recorded: the refund is of \(known.text(ofMinorUnits: own.effectiveAmount))"
    }
    return nil
  }

  /// A warning about a refund under way that this journal does not have.
  private func foreignRefund(
    _ outcome: Outcome,
    _ known: Payment,
    _ reversals: [String: Operation]
  ) -> String? {
    let foreign = outcome.refunds.first { refund in
      refund.state.name == .processing && reversals[refund.id] == nil
    }
    return foreign.map { refund in
      provider.name.text + " shows a refund "
        + (refund.amount.map { "of \(known.text(ofMinorUnits: $0)) " } ?? "")
        + "(\(refund.id)) under way, which this journal does not have"
    }
  }

  /// A warning that the provider shows a payment as paid that ended here without its money. What it had is
  /// never changed by a look.
  private func paidAfterAll(_ outcome: Outcome, _ known: Payment) -> String? {
    guard known.kind == .payment, let attempt = known.attempt, attempt.kind != .refund,
      [.declined, .cancelled, .failed].contains(attempt.state.name),
      [.succeeded, .processing].contains(outcome.state?.name)
    else { return nil }
    let name = known.reference.quotedForMessage
    let amount = known.text(ofMinorUnits: outcome.amount ?? attempt.effectiveAmount)
    return "\(provider.name.text) shows the \(amount) of \(name) as paid now"
      + (outcome.id.map { " (\($0))" } ?? "") + ", and this journal has it as "
      + "\(known.state.status.rawValue). Do not charge it again: count it as paid, or refund it at "
      + provider.name.text
  }

  /// A warning that the provider counts less as refunded than the journal, once the provider cannot lag any
  /// more.
  private func lessRefunded(_ seen: Observation, _ known: Payment) -> String? {
    let last = known.reversals.map(\.updatedAt).max() ?? 0
    guard let said = seen.refunded, said < known.state.refunded, clock.now - last >= lateWindow
    else { return nil }
    return "the provider says that \(known.text(ofMinorUnits: said)) was refunded, this journal "
      + known.text(ofMinorUnits: known.state.refunded)
  }

  /// The observation that a look-up makes of an operation.
  private func seen(
    _ outcome: Outcome,
    of target: Operation,
    _ known: PaymentState
  ) -> Observation {
    let state = (outcome.state ?? target.state).kept
    var seen = Observation(.lookup, at: clock.now, operation: target.sequence, state: state)
    (seen.providerStatus, seen.id) = (outcome.providerStatus, outcome.id)
    (seen.amount, seen.currency) = (outcome.amount, outcome.currency)
    // The provider counts refunds of the current payment only. If that payment replaced the first one,
    // earlier partial voids are added.
    let isPart = outcome.amount == known.standing
    let before = isPart ? max(0, known.captured - known.standing) : 0
    seen.refunded = outcome.refundedAmount.map { $0 + before }
    seen.isRevoked = outcome.status == .revoked
    return seen
  }
}
