import TenderEngine
import TenderModel

/// Resources as outcomes, in the words of the source document (note, section 5.1).
extension Resource {
  /// What `transact` and `confirm` end with: a state, an error, or what is awaited.
  var outcome: Outcome {
    var outcome = base
    switch (status, next) {
    case ("failed", _):
      outcome.fault = .failed(self)
      outcome.result = outcome.fault?.result ?? [:]
    case ("attempt_failed", let next):
      var fault = Fault.failed(self)
      fault.kind = .declined
      fault.hint = "start it again with: tender confirm REF --retry"
      outcome.fault = fault
      outcome.result = statusResult
      outcome.nextAction = (next ?? .retry([])).shown
    case ("revoked", _):
      outcome.fault = .revoked(self)
      outcome.result = outcome.fault?.result ?? statusResult
    case ("authorizing", .redirect?):
      outcome.result = state("redirect")
      outcome.nextAction = next?.shown
    case ("authorizing", .wait?) where kind == .payment:
      outcome.result = state("wait")
      outcome.nextAction = next?.shown
    case ("authorized", _), ("executed", _), ("settled", _):
      outcome.result = state(documentedStatus)
    default:
      outcome.result = statusResult
      outcome.nextAction = next?.shown
    }
    if outcome.status.isFinal, status != "attempt_failed" { outcome.nextAction = nil }
    outcome.recorded = Outcome.Recorded(
      result: outcome.result,
      // The address of a bank's page opens it, and a list of banks is long: both are asked anew.
      nextAction: outcome.nextAction.map { PayerAction($0.type) },
      fault: outcome.fault?.kind == .pending ? nil : outcome.fault
    )
    return outcome
  }

  /// What a look-up shows: the status, never an error; the journal keeps it as `outcome` has it.
  var lookedUp: Outcome {
    var shown = base
    shown.result = statusResult
    let outcome = outcome
    shown.nextAction = outcome.nextAction
    shown.recorded = outcome.recorded
    return shown
  }

  /// What `cancel` ends with.
  var withdrawn: Outcome {
    var shown = base
    shown.result = statusResult
    shown.recorded = Outcome.Recorded(result: shown.result)
    // A repetition of what made it shows how it ended.
    let fault: Fault =
      kind == .mandate ? .revoked(self, wasAuthorized: true) : .userCanceled(self)
    shown.undone = Outcome.Recorded(result: fault.result ?? shown.result, fault: fault)
    return shown
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
    return outcome
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
