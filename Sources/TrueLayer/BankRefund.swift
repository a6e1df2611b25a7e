import TenderEngine
import TenderModel

/// A refund as TrueLayer shows it (README, 8.3 and 8.4).
struct BankRefund {
  let members: JSONObject

  init(_ members: JSONObject) { self.members = members.withoutNulls }

  var id: String? { members.text("id") }
  var amount: Int? { members["amount_in_minor"]?.boundedNumber }
  var currency: String? { members.text("currency") }
  var isExecuted: Bool { members.text("status") == "executed" }
  var isFailed: Bool { members.text("status") == "failed" }

  private var status: Status {
    switch members.text("status") {
    case "executed": .succeeded
    // One that came back later had been executed.
    case "failed": members["executed_at"] == nil ? .declined : .returned
    default: .pending
    }
  }

  private var fault: Fault? {
    guard members.text("status") == "failed" else { return nil }
    return Fault(
      .declined,
      code: "refund_failed",
      "the refund failed: \(members.text("failure_reason") ?? "no reason given")",
      hint: "nothing was refunded; the same command tries again"
    )
  }

  var outcome: Outcome {
    var outcome = Outcome(
      status: status,
      id: id,
      amount: amount,
      currency: currency.flatMap(Currency.init(code:)),
      result: ["refund": .object(members)],
      fault: fault
    )
    outcome.providerStatus = members.text("status")
    return outcome
  }

  /// The refund in a list; nil where it has no id.
  var seen: Outcome.SeenRefund? {
    guard let id, let state = outcome.state else { return nil }
    return Outcome.SeenRefund(
      id: id,
      state: state,
      amount: amount,
      result: outcome.result,
      fault: fault
    )
  }
}
