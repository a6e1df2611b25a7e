package import TenderModel

/// The meaning of a failure after a request that can move money was sent.
extension Fault {
  /// The same failure, after a request that can move money may have left. Its effect is unknown.
  ///
  /// The provider's answer stays in `result`.
  var lost: Fault {
    if kind == .unknown, effect == .unknown { return self }
    if kind.isStop {
      return .stopped(by: kind, effect: .unknown, underWay: "an effecting request was under way")
    }
    return .outcomeUnknown(
      "the request was sent and its result is unknown: \(message)",
      hint: "do not make another payment: the same command finds out the result",
      result: result
    ).retried(after: after)
  }

  /// The same failure of a look-up, while the bank continues an accepted payment. Its result is unknown.
  var unwatched: Fault {
    .outcomeUnknown(
      "the bank may still execute it, and its result could not be looked up: \(message)",
      hint: "do not make another payment: the same command asks how this one ended",
      result: result
    )
  }

  /// Whether this program or its operator ended the run, and nothing at the provider.
  var isOwn: Bool { [.usage, .pending, .refused].contains(kind) || kind.isStop }

  /// The same failure, marked as a refusal that proves that nothing was executed.
  ///
  /// After a send, only such a proof gives effect none.
  package var proven: Fault { with { $0.isProven = true } }

  /// The result of a request that can move money is unknown.
  package static func outcomeUnknown(
    _ message: String,
    hint: String? = nil,
    next: [Next] = [],
    result: JSONObject? = nil
  ) -> Fault {
    Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      message,
      hint: hint,
      next: next,
      result: result
    )
  }

  /// A case that the program excludes.
  static func bug(_ message: String) -> Fault {
    Fault(.internal, code: "internal", message)
  }

  /// The journal failed after a request that can move money was sent. The journal lacks the result, so the
  /// effect is reported as unknown.
  static func unrecorded(_ failure: Fault) -> Fault {
    guard failure.effect != .unknown else { return failure }
    return .outcomeUnknown(
      "the request was sent and its result could not be recorded: \(failure.message)",
      hint:
        "do not make another payment; once the journal can be written, run the same command to see the result",
      result: failure.result
    )
  }
}
