package import TenderModel

/// What a failure means once an effecting request has left: the only place that says so.
extension Fault {
  /// The same failure after an effecting request may have left: what it did is not known.
  ///
  /// One that provably never left (`notSent`) stays what it is. The provider's own words stay in
  /// `result`.
  package var afterSending: Fault { kind == .notSent ? self : afterSendingAnyway }

  /// As `afterSending`, where an earlier try did leave: that the last one did not says nothing.
  package var afterSendingAnyway: Fault {
    if kind == .unknown, effect == .unknown { return self }
    if kind.isStop {
      return .stopped(by: kind, effect: .unknown, underWay: "an effecting request was under way")
    }
    return Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "the request was sent and its outcome is not known: \(message)",
      hint:
        "do not pay again: the same command finds out what it did, and finishes it",
      result: result
    )
  }

  /// The same failure of whoever looks, while the bank goes on with what was accepted: how that ends is
  /// not known.
  package var unwatched: Fault {
    guard effect == .none else { return self }
    return Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "it may be executed meanwhile, and how it ended could not be seen: \(message)",
      hint: "do not pay again; the same command asks how it ended",
      result: result
    )
  }

  /// The same failure of a request that can move nothing.
  package var withoutEffect: Fault {
    var fault = self
    fault.effect = .none
    return fault
  }

  /// The same failure as a plain refusal, which cannot follow an execution.
  ///
  /// After a send, effect none stands on such a proof alone.
  package var proven: Fault {
    var fault = self
    fault.isProven = true
    return fault
  }

  /// What cannot happen.
  static func bug(_ message: String) -> Fault {
    Fault(.internal, code: "internal", message)
  }

  /// The journal failed after the outcome was known, and the outcome lies beside it.
  static func setAside(_ failure: Fault) -> Fault {
    .state(
      failure.code,
      "the journal could not take the outcome, which lies in journal.aside: \(failure.message)",
      "make room or access; the next command that can write takes it in"
    )
  }

  /// The journal failed after an effecting request had left: that run knows what it did, the journal
  /// does not, and nothing may say that nothing happened.
  static func unrecorded(_ failure: Fault) -> Fault {
    guard failure.effect != .unknown else { return failure }
    return Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "the request was sent and what came of it could not be written down: \(failure.message)",
      hint: "do not pay again; once the journal can be written, the same command finds out",
      result: failure.result
    )
  }
}
