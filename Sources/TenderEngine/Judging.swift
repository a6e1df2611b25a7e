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

extension Payment {
  /// Returns a refusal of an operation on the payment. While the bank has the payer's consent from this
  /// journal and no look shows its end, the refusal is `pending`: the bank may still pay.
  func afterConsent(_ refusal: Fault) -> Fault {
    guard refusal.kind == .conflict, attempt?.hasConsent == true else { return refusal }
    return Fault(
      .pending,
      code: "consent_pending",
      "the bank has the payer's consent and may still pay: \(refusal.message)",
      hint: "to look first: tender \(kind.noun)-status \(shellReference)",
      result: refusal.result
    )
  }
}
