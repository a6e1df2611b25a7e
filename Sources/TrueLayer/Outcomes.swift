import TenderEngine
import TenderModel

/// Resources as outcomes, in the words of TrueLayer's iOS SDK (README, 5.4).
extension Resource {
  /// What `transact` and `confirm` end with: a state, an error, or what is awaited.
  var outcome: Outcome {
    var outcome = base
    switch (status, next) {
    case ("failed", _):
      outcome.fault = .failed(self)
      outcome.result = outcome.fault?.result ?? [:]
    case ("attempt_failed", _):
      var fault = Fault.failed(self)
      fault.kind = .declined
      fault.hint = "start it again with: tender confirm REF --retry"
      outcome.fault = fault
      outcome.result = statusResult
    case ("revoked", _):
      outcome.fault = .revoked(self)
      outcome.result = outcome.fault?.result ?? statusResult
    case ("authorizing", .redirect?): outcome.result = state("redirect")
    case ("authorizing", .wait?) where kind == .payment: outcome.result = state("wait")
    case ("authorized", _), ("executed", _), ("settled", _):
      outcome.result = state(documentedStatus)
    default: outcome.result = statusResult
    }
    outcome.nextAction = awaited?.shown
    return outcome
  }

  /// What the flow waits for; nil where it has not begun, or is over.
  private var awaited: NextAction? {
    switch status {
    case "authorization_required", "authorized", "executed", "settled", "failed", "revoked": nil
    case "authorizing": next
    case "attempt_failed": if case .retry? = next { next } else { .retry([]) }
    // A status that is not known decides nothing.
    default: next ?? .wait(nil)
    }
  }

  /// What a look-up shows: in the words of `transact`, and of the status commands.
  var lookedUp: Outcome {
    var outcome = outcome
    outcome.shown = statusResult
    return outcome
  }

  /// The outcome of the operation that cancelled or revoked it.
  var withdrawn: Outcome {
    var outcome = base
    // It has no id of its own.
    outcome.id = nil
    outcome.result = statusResult
    return outcome
  }

  /// What it ends with where an answer is missing that only the payer or operator can give.
  func awaiting(_ next: NextAction, _ missing: Fault) -> Outcome {
    var shown = outcome
    shown.result = statusResult
    shown.nextAction = next.shown
    shown.fault = missing
    return shown
  }

  private var statusResult: JSONObject {
    let status: JSONObject = ["status": .string(documentedStatus)]
    return status.adding(reasons)
  }

  private func state(_ name: String) -> JSONObject {
    let state: JSONObject = ["state": .string(name)]
    return state.adding(reasons)
  }

  private var base: Outcome {
    var outcome = Outcome(
      status: shownStatus,
      id: id,
      amount: amount,
      currency: currency.flatMap(Currency.init(code:)),
      lastFour: lastFour,
      result: [:]
    )
    outcome.details = details
    outcome.providerStatus = status
    outcome.madeAt = body.text("created_at").flatMap(Timestamp.read)
    return outcome
  }
}

extension Outcome {
  /// The end of a creation that was refused when its lifetime was over: its payer cannot have authorized it.
  static func neverAuthorized(_ refusal: Fault, _ kind: Payment.Kind) -> Outcome {
    let fault = Fault.neverAuthorized(refusal, kind)
    return Outcome(status: .expired, result: fault.result ?? [:], fault: fault)
  }
}

extension Fault {
  /// Something that only payer or operator can give.
  static func inputMissing(_ what: String) -> Fault {
    Fault(
      .pending,
      code: "input_missing",
      "the bank wants \(what), and there is nobody to ask",
      hint: "give it, and run the same command again"
    )
  }
}

extension JSONObject {
  /// The object with the members of another behind its own.
  func adding(_ other: JSONObject) -> JSONObject { JSONObject(members + other.members) }
}
