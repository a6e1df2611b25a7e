package import TenderModel

extension Progress {
  /// Returns the fault with the right effect. No other place decides it.
  ///
  /// If no request left, nothing happened. After a refusal with a proof, nothing happened either. Otherwise
  /// the effect is unknown. It is unknown too while payer or bank can go on with the payer's flow.
  func judged(_ fault: Fault) -> Fault {
    // If the journal fails after a send, the effect of the request is still unknown.
    let isUnwritten = fault.kind == .state || fault.cause == .leaseLost
    if isUnwritten, operation.isUnknown || hasSent { return .unrecorded(fault) }
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

extension Fault {
  /// The same failure, after a request that can move money may have left. Its effect is unknown.
  ///
  /// The provider's answer stays in `result`.
  var lost: Fault {
    if kind == .unknown, effect == .unknown { return self }
    if kind.isStop {
      return .stopped(by: kind, effect: .unknown, underWay: "an effecting request was under way")
    }
    return Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "the request was sent and its result is unknown: \(message)",
      hint:
        "do not make another payment: the same command finds out the result and finishes this one",
      result: result
    ).retried(after: after)
  }

  /// The same failure of a look-up, while the bank continues an accepted payment. Its result is unknown.
  fileprivate var unwatched: Fault {
    Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "the bank may still execute it, and its result could not be looked up: \(message)",
      hint: "do not make another payment: the same command asks how this one ended",
      result: result
    )
  }

  /// Whether this program or its operator ended the run, and nothing at the provider.
  fileprivate var isOwn: Bool { [.usage, .pending, .refused].contains(kind) || kind.isStop }

  /// The same failure, marked as a refusal that proves that nothing was executed.
  ///
  /// After a send, only such a proof gives effect none.
  package var proven: Fault {
    var fault = self
    fault.isProven = true
    return fault
  }

  /// A case that the program excludes.
  static func bug(_ message: String) -> Fault {
    Fault(.internal, code: "internal", message)
  }

  /// The journal failed after the outcome was known. The outcome is in a file beside it.
  static func setAside(_ failure: Fault) -> Fault {
    .state(
      failure.code,
      "the outcome is in journal.aside, since the journal could not be written: \(failure.message)",
      "make room or give access; the next command that can write moves it into the journal"
    )
  }

  /// The journal failed after a request that can move money was sent. The journal lacks the result, so the
  /// effect is reported as unknown.
  static func unrecorded(_ failure: Fault) -> Fault {
    guard failure.effect != .unknown else { return failure }
    return Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "the request was sent and its result could not be recorded: \(failure.message)",
      hint:
        "do not make another payment; once the journal can be written, run the same command to see the result",
      result: failure.result
    )
  }
}
