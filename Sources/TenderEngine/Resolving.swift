package import TenderModel

/// Manual resolution of an operation that no look-up resolves.
extension Journal {
  /// Ends an unknown operation with a result from an operator. Its history has the reason.
  ///
  /// A refund that version 0.2.0 recorded as a payment is resolved there, and its original follows it.
  ///
  /// `operation` is its sequence; nil if only one is possible. `failed` means no effect, and frees the
  /// reference or the name. Throws `conflict` if the result is known, or if another process works on it. Also
  /// throws it if several are unknown and none is named, and if an operation that may still have an effect
  /// would end without one. `lateWindow` is the time for that, in milliseconds. `isWatched`: the provider can
  /// be asked how an accepted operation ends, so no person ends it without effect. Throws `usage` for a status that
  /// it cannot have.
  package func resolve(
    _ found: Payment,
    operation chosen: Int?,
    as status: Status,
    reason: String,
    lateWindow: Int = 0,
    isWatched: Bool = false,
    _ clock: any Clock,
    _ interruption: any Interruption
  ) throws(Fault) -> Payment {
    try checkWhole()
    if let reference = try found.resolvable(chosen).ownReference,
      let refund = try self.payment(
        ReferenceKey(env: found.env, provider: found.provider, reference: reference)
      )
    {
      return try resolve(
        refund,
        operation: nil,
        as: status,
        reason: reason,
        lateWindow: lateWindow,
        isWatched: isWatched,
        clock,
        interruption
      )
    }
    let lock = try lock(found.key, by: Deadline(in: 0, on: clock), interruption: interruption)
    guard let lock else { throw .inProgress(found.reference) }
    defer { withExtendedLifetime(lock) {} }
    guard var payment = try payment(found.key) else { throw .unknownHandle(found.reference.text) }
    let operation = try payment.resolvable(chosen)
    guard let state = operation.resolution(status) else {
      let allowed = Status.allCases.filter { operation.resolution($0) != nil }.map(\.rawValue)
      throw .usage(
        "bad_value",
        "the \(operation.kind.rawValue) of \(found.reference.quotedForMessage) cannot be resolved as "
          + status.rawValue,
        "one of " + allowed.joined(separator: ", ")
      )
    }
    let now = clock.now
    let left = lateWindow - clock.elapsed(since: operation)
    let hasNoEffect = [.failed, .declined, .cancelled, .expired].contains(state)
    if isWatched, hasNoEffect, operation.state == .processing {
      throw payment.isAccepted(operation)
    }
    if operation.isUnknown, hasNoEffect, left > 0 {
      throw payment.mayStillAppear(operation, as: status, until: now + left, in: left)
    }
    try payment.change(operation.sequence) { operation throws(Fault) in
      try operation.move(.resolve, to: state, at: now)
      operation.fault = nil
      // Nothing was charged while it was suspended.
      if operation.approved == 0 { operation.approved = nil }
      if state != .waiting(nil) { operation.preparation = nil }
    }
    var seen = Observation(.operator, at: now, operation: operation.sequence, state: state)
    seen.amount = operation.amount
    payment.add(seen)
    payment.updatedAt = now
    try payment.closeAttempt(after: operation.sequence, at: now)
    let note = "resolved by hand as \(status.rawValue): \(reason)"
    try update(&payment, operation.sequence, note: note, .power)
    return payment
  }
}

extension Engine {
  /// Accepts the provider's amount, id, currency and reference for a payment, as one look shows them. Its history
  /// has the reason.
  ///
  /// Throws `conflict` (`nothing_to_resolve`) if they are those of the journal, and `unknown` while an operation is
  /// unknown.
  package func acceptProvider(_ found: Payment, reason: String) throws(Fault) -> Report {
    let lock = try hold(found.reference)
    defer { withExtendedLifetime(lock) {} }
    var payment = try reread(found)
    try checkOwner(of: payment)
    guard let attempt = payment.attempt, provider.traits.canLookUp, provider.canLook(at: payment)
    else { throw .unsupportedOperation(provider.name, "look-up of this payment") }
    if payment.state.isUnknown {
      let why = "the result of the \(payment.unknownWords) is unknown"
      throw Fault.outcomeUnknown(why).forPayment(payment, traits)
    }
    guard let outcome = try provider.lookUp(query(of: payment, false)) else {
      throw .notShown(payment)
    }
    guard let difference = difference(outcome, payment) else { throw payment.hasNoDifference }
    let target = payment.followers.last { $0.kind == .capture && $0.hasEffect } ?? attempt
    if let amount = outcome.amount, amount != target.effectiveAmount {
      try payment.change(target.sequence) { $0.approved = amount }
    }
    let own = payment.providerReference
    try payment.change(attempt.sequence) { operation in
      operation.id = outcome.id ?? operation.id
      if let said = outcome.reference, let own, said != own {
        operation.content[Operation.providerReference] = .string(said.text)
      }
    }
    payment.currency = outcome.currency ?? payment.currency
    var seen = Observation(
      .operator,
      at: clock.now,
      operation: attempt.sequence,
      state: attempt.state.kept
    )
    (seen.amount, seen.id, seen.currency) = (outcome.amount, outcome.id, outcome.currency)
    payment.add(seen)
    payment = try folded(outcome, into: payment).payment
    let note = "accepted \(difference.what) \(difference.there): \(reason)"
    try driver.write(&payment, attempt.sequence, note: note)
    return Report.recorded(payment)
  }
}

extension Payment {
  fileprivate var hasNoDifference: Fault {
    .conflict(
      "nothing_to_resolve",
      "\(provider.text) and this journal have the same values for \(reference.quotedForMessage)"
    ).then(next(.look))
  }

  fileprivate func resolvable(_ chosen: Int?) throws(Fault) -> Operation {
    let open = operations.filter { $0.isUnknown }
    // These neither end by themselves nor can continue: accepted and not finished, or held without the data
    // for a capture.
    let stuck = operations.filter { operation in
      operation.state.name == .processing
        || operation.state == .waiting(nil) && operation.kind == .authorize
          && operation.preparation == nil
    }
    let candidates = open.isEmpty ? stuck : open
    if let chosen, let operation = candidates.first(where: { $0.sequence == chosen }) {
      return operation
    }
    guard chosen == nil, candidates.count < 2, let only = candidates.first else {
      let names = candidates.map { "\($0.sequence) (\($0.kind.rawValue) \($0.number))" }
      throw .conflict(
        candidates.isEmpty ? "nothing_to_resolve" : "ambiguous_operation",
        candidates.isEmpty
          ? "no result is unknown: \(sentence)"
          : "several operations of \(reference.quotedForMessage) can be resolved: "
            + names.joined(separator: ", "),
        candidates.isEmpty ? nil : "choose one with --operation N"
      ).then(candidates.isEmpty ? next(.show) : [])
    }
    return only
  }

  /// Refuses an end without effect while the request can still have one: the same command would act twice.
  fileprivate func mayStillAppear(
    _ operation: Operation,
    as status: Status,
    until end: Int,
    in milliseconds: Int
  ) -> Fault {
    .conflict(
      "may_still_appear",
      "the \(text(of: operation)) \(operation.kind.rawValue.replacing("_", with: " ")) of "
        + "\(reference.quotedForMessage) can still appear at \(provider.text) until "
        + "\(Timestamp.text(end)); nothing was changed"
    ).with { fault in
      fault.next = next(.resolve("--as \(status.rawValue)"))
      (fault.again, fault.after) = (.later, (milliseconds + 999) / 1000)
    }
  }

  /// Refuses an end without effect of an operation that the provider has accepted.
  fileprivate func isAccepted(_ operation: Operation) -> Fault {
    .conflict(
      "may_still_appear",
      "\(provider.text) has accepted the \(text(of: operation)) "
        + "\(operation.kind.rawValue.replacing("_", with: " ")) of \(reference.quotedForMessage), "
        + "and shows how it ends; nothing was changed"
    ).then(next(.look))
  }
}

extension Operation {
  /// The state that an operator's status gives the operation; nil if it cannot end so.
  ///
  /// `Status.isResolution` marks the statuses that some kind can end with. `--as` offers those.
  package func resolution(_ status: Status) -> State? {
    switch status {
    case .failed: .failed
    case .declined: .declined
    case .expired: .expired
    case .succeeded where kind == .authorize, .requiresConfirmation where kind == .authorize:
      preparation == nil ? .succeeded : .waiting(nil)
    case .succeeded: kind == .createMandate ? nil : .succeeded
    case .authorized: kind == .createMandate ? .succeeded : nil
    case .revoked: kind == .revoke ? .succeeded : nil
    case .cancelled: kind == .void ? .succeeded : .cancelled
    case .refunded, .partiallyRefunded: kind == .refund ? .succeeded : nil
    case .requiresConfirmation, .requiresAction, .pending, .returned, .unknown: nil
    }
  }
}
