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
      "the request was sent and its result is unknown: \(message)",
      hint:
        "do not pay again: the same command finds out the result and finishes it",
      result: result
    ).retried(after: after)
  }

  /// The same failure of whoever looks, while the bank goes on with what was accepted: how that ends is
  /// not known.
  package var unwatched: Fault {
    guard effect == .none else { return self }
    return Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "the bank may still execute it, and its result could not be looked up: \(message)",
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
      "the outcome is in journal.aside, since the journal could not be written: \(failure.message)",
      "make room or give access; the next command that can write moves it into the journal"
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
      "the request was sent and its result could not be recorded: \(failure.message)",
      hint:
        "do not pay again; once the journal can be written, run the same command to see the result",
      result: failure.result
    )
  }
}
