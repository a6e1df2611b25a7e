package import TenderEngine
package import TenderModel

/// What became of an effecting request whose answer was lost (contract: by receipt number, by
/// reference, or by the original of a reversal).
extension PayTheoryProvider {
  /// Finds out at the provider; throws with effect unknown where it cannot.
  package func findOut(
    _ attempt: Attempt,
    _ progress: Progress,
    mayRepeat: Bool
  ) throws(Fault) -> Finding {
    do throws(Fault) {
      return try finding(attempt, progress, mayRepeat)
    } catch {
      throw .stillUnknown(attempt, because: error)
    }
  }

  private func finding(
    _ attempt: Attempt,
    _ progress: Progress,
    _ mayRepeat: Bool
  ) throws(Fault) -> Finding {
    if attempt.operation == .cancel { return try reversalFinding(attempt) }
    let age = context.clock.now - (attempt.sentAt ?? context.clock.now)
    if let prepared = attempt.preparation.flatMap(Preparation.init(kept:)) {
      if let found = try transaction(LookUp(id: prepared.receipt)) {
        return .happened(Transactions.payment(found))
      }
      // The receipt number is the transfer's own key: sent again it cannot charge twice. On live
      // a first one that is still on its way gets a minute.
      guard context.configuration.env != .live || age >= 60_000 else {
        throw .tooEarly(seconds: 60 - age / 1000)
      }
      return mayRepeat ? .doneNow(try confirm(attempt, progress)) : .didNotHappen
    }
    let others = try progress.receiptsOfOthers()
    if let found = try transaction(LookUp(reference: attempt.reference, others: others)) {
      return .happened(Transactions.payment(found))
    }
    // A host token lives a quarter of an hour: until then the request may still arrive.
    guard age >= 15 * 60_000 else { throw .tooEarly(seconds: 15 * 60 - age / 1000) }
    return .didNotHappen
  }

  private func reversalFinding(_ attempt: Attempt) throws(Fault) -> Finding {
    guard let receipt = attempt.id, let found = try transaction(LookUp(id: receipt)) else {
      throw .unknownHandle(attempt.reference)
    }
    switch Transactions.status(found) {
    case .cancelled:
      return .happened(Self.reversed(isVoid: true, transaction: receipt, of: attempt))
    case .refunded:
      return .happened(Self.reversed(isVoid: false, transaction: nil, of: attempt))
    default:
      if let refunded = found["refunded_amount"]?.wholeNumber, refunded > 0,
        refunded >= attempt.amount ?? Int.max
      {
        return .happened(Self.reversed(isVoid: false, transaction: nil, of: attempt))
      }
      let age = context.clock.now - (attempt.sentAt ?? context.clock.now)
      guard context.configuration.env != .live || age >= 60_000 else {
        throw .tooEarly(seconds: 60 - age / 1000)
      }
      return .didNotHappen
    }
  }
}

extension Fault {
  fileprivate static func tooEarly(seconds: Int) -> Fault {
    Fault(
      .unknown,
      code: "outcome_unknown",
      "Pay Theory does not know it yet, which proves nothing for another \(max(1, seconds)) s"
    )
  }

  fileprivate static func stillUnknown(_ attempt: Attempt, because fault: Fault) -> Fault {
    Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "the outcome of \(attempt.reference.quotedForMessage) is still not known: \(fault.message)",
      hint: fault.code == "credentials_missing"
        ? fault.hint ?? "" : "do not pay again; run the same command again later",
      result: fault.result ?? attempt.fault?.result
    )
  }
}
