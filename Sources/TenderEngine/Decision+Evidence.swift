import TenderModel

// MARK: Before a send

extension Decision {
  /// Returns the decision after what the command found out: the last word before a request that can move money.
  ///
  /// A question comes first if its answer can change what may be done.
  func weighed(
    _ checked: CheckedOrder,
    of payment: Payment?,
    _ evidence: Evidence,
    _ traits: Traits
  ) -> Decision {
    switch self {
    case .replay, .look, .finish, .ask: return self
    case .refuse, .run, .proceed: break
    }
    if let payment,
      let refusal =
        evidence.refusal(of: payment, traits) ?? evidence.refusal(of: checked, payment)
    {
      return .refuse(refusal)
    }
    if case .refuse(let fault) = self {
      // What an earlier look showed may be over.
      let mayBeOver = fault.isObserved && evidence.sight == nil && checked.lack == nil
      return mayBeOver ? .ask(.payment) : self
    }
    if let lack = checked.lack { return .refuse(lack) }
    if payment != nil, evidence.ids == nil { return .ask(.ids) }
    guard case .run(let draft) = self else { return self }
    if let payment, evidence.sight == nil, draft.needsLook(at: payment, traits) {
      return .ask(.payment)
    }
    return checked.looksFirst(draft, of: payment) ? weighed(evidence, draft) : self
  }

  /// Decides whether the reference of a first charge is free at the provider.
  private func weighed(_ evidence: Evidence, _ draft: Operation) -> Decision {
    guard let seen = evidence.reference else { return .ask(.reference) }
    guard let found = seen.found, found.mayHaveTaken else { return self }
    // Neither way out is open to a reference that was pruned.
    let held = draft.isAttempt ? nil : evidence.start
    return .refuse(
      seen.isPruned
        ? .referencePruned(evidence.key.reference)
        : .referenceAtProvider(evidence.key, found, heldHere: held)
    )
  }
}

extension Operation {
  /// Whether a look comes before the operation: a request of the payment may have reached the provider, so that a
  /// look can show something.
  fileprivate func needsLook(at payment: Payment, _ traits: Traits) -> Bool {
    guard traits.canLookUp, payment.kind != .storedMethod else { return false }
    // Such a cancel gives no money back. The provider refuses it if the payer was faster.
    if kind == .void, payment.attempt?.state.action != nil { return false }
    return payment.operations.contains { $0.state.name != .prepared }
  }
}

extension CheckedOrder {
  /// Whether the provider is asked about the reference before a first charge: an attempt, or the capture of a hold that
  /// only this journal has. Another journal may have charged it.
  fileprivate func looksFirst(_ draft: Operation, of payment: Payment?) -> Bool {
    let isFirst =
      draft.isAttempt
      ? draft.content["id"] == nil
      : draft.kind == .capture && payment?.attempt?.preparation?.secret != nil
    return isFirst && options.looksFirst
  }
}

extension Outcome {
  /// Whether a payment that a look shows took money, or may take it. A released hold never did.
  fileprivate var mayHaveTaken: Bool {
    ![.declined, .failed, .expired].contains(status) && (status != .cancelled || isVoided)
  }
}

// MARK: A lost request

extension Decision {
  /// Decides whether a lost request is sent again, or undone. `evidence` has what the command found out since.
  static func finish(
    _ sequence: Int,
    of payment: Payment,
    _ lost: Lost,
    _ evidence: Evidence,
    _ traits: Traits
  ) -> Decision {
    // What others did meanwhile can explain it.
    guard let operation = payment[sequence], operation.isUnknown else { return .replay(sequence) }
    func wait(_ why: String) -> Decision {
      .refuse(.stillUnknown(payment, operation, why, payment.next(traits)))
    }
    if lost.isListed, evidence.sight == nil { return .ask(.payment) }
    guard lost.policy != .look else { return wait(lost.why) }
    guard evidence.ids != nil else { return .ask(.ids) }
    if let refusal = evidence.refusal(of: payment, traits) { return .refuse(refusal) }
    switch lost.recovery {
    case .sameKey(let after):
      if let life = traits.keyLife, lost.age >= life {
        let why = "its idempotency key is too old to be sent again, or a clock was wrong"
        return .refuse(.leftUnknown(payment, operation, why))
      }
      let left = after - lost.sinceSent
      guard left <= 0 else { return wait("it can be sent again in \((left + 999) / 1000) s") }
    case .undo: break
    case .byHand(let canResend):
      // During the late window the operation can still appear at the provider.
      guard lost.policy == .resend, canResend, lost.late == 0 else { return wait(lost.why) }
    }
    if operation.isAttempt, traits.looksByReference, case .byHand = lost.recovery {
      guard let seen = evidence.reference else { return .ask(.reference) }
      // The found payment may be the result of this charge. Nothing proves it.
      if let found = seen.found, found.mayHaveTaken {
        let why =
          "\(payment.provider.text) has \(found.id ?? "another payment")"
          + (found.money.map { " of \($0.text)" } ?? "") + " under its reference"
        return .refuse(.leftUnknown(payment, operation, why))
      }
    }
    // What others did meanwhile can forbid that it is sent again.
    let subject = payment.subject(of: sequence)
    guard lost.isListed, let forbidden = subject.reversalForbidden(lost.request) else {
      return .finish(sequence)
    }
    return .refuse(.leftUnknown(payment, operation, forbidden.message))
  }
}
