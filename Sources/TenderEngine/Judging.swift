import TenderModel

extension Progress {
  /// Returns the fault with the right effect. No other place decides it.
  ///
  /// If no request left, nothing happened. After a refusal with a proof, nothing happened either. Otherwise
  /// the effect is unknown. It is unknown too while payer or bank can go on with the payer's flow.
  func judged(_ fault: Fault) -> Fault {
    // If the journal fails after a send, the effect of the request is still unknown.
    let isUnwritten = fault.kind == .state || fault.cause == .leaseLost
    if isUnwritten, !fault.isProven, operation.isUnknown || hasSent { return .unrecorded(fault) }
    guard fault.effect == .none else { return fault }
    if !operation.isAttempt, !isUnderWay, fault.cause == .genericConflict {
      return payment.afterConsent(fault)
    }
    if isUnderWay { return fault.isProven ? fault : fault.lost }
    return switch hands {
    case .own: fault
    case .payers: fault.isOwn ? fault : fault.unwatched
    case .banks: fault.unwatched
    }
  }
}

extension Engine {
  /// Returns what a look at an operation whose answer was lost proves.
  ///
  /// Throws with effect unknown if the answer is about another operation. Of two requests without a key, an answer
  /// without effect is about one. Only a look that shows an effect, or a person, decides then.
  func judged(_ finding: Finding, _ progress: Progress) throws(Fault) -> Finding {
    let (payment, operation) = (progress.payment, progress.operation)
    switch finding {
    case .happened(let outcome):
      guard outcome.isEvidence(of: operation, payment) else {
        let why = "the answer is about another amount or id"
        throw .stillUnknown(payment, operation, why, payment.next(traits))
      }
      guard outcome.state(for: operation)?.isWithoutEffect == true else { return finding }
    case .refuted: break
    case .absent, .cannotLook: return finding
    }
    guard case .byHand = provider.traits.recovery(operation, progress.whole),
      try sends(of: operation, payment) > 1
    else { return finding }
    let why = "it was sent twice, and what was found is about one of the two requests"
    throw .leftUnknown(payment, operation, why, lookingFor: "both")
  }

  /// The number of requests of an operation that may have left.
  private func sends(of operation: Operation, _ payment: Payment) throws(Fault) -> Int {
    let name = "\(operation.kind.rawValue) \(operation.number)"
    var sends = 0
    for line in try journal.history(of: payment) where line.operation == name {
      if line.state != Operation.State.Name.sent.rawValue {
        // A request that provably did not leave is prepared or failed again.
        sends = 0
      } else if line.note.hasPrefix("sent") {
        sends += 1
      }
    }
    return sends
  }
}

extension Outcome {
  /// Whether an answer is evidence about an operation: its amount, its currency and an attempt's id must not differ.
  fileprivate func isEvidence(of operation: Operation, _ payment: Payment) -> Bool {
    if let amount, let asked = operation.amount, amount != operation.approved ?? asked {
      return false
    }
    if let currency, let paid = payment.currency, currency != paid { return false }
    if operation.isAttempt, let id, let known = operation.id, id != known { return false }
    return (amount ?? 0) >= 0
  }
}

extension Payment {
  /// Returns a refusal of an operation on the payment. While the bank has the payer's consent from this
  /// journal and no look shows its end, the refusal is `pending`: the bank may still pay.
  func afterConsent(_ refusal: Fault) -> Fault {
    guard refusal.kind == .conflict, attempt?.hasConsent == true else { return refusal }
    return Fault(
      .pending,
      code: "consent_pending",
      "the bank has the payer's consent and may still pay: \(refusal.message)",
      next: next(.look),
      result: refusal.result
    )
  }
}

extension Operation.State {
  /// Whether it ended without money.
  var isWithoutEffect: Bool { [.declined, .cancelled, .expired, .failed].contains(name) }
}
