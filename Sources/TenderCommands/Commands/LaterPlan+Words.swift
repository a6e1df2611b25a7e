internal import TenderEngine
internal import TenderModel
internal import TenderModule

/// A plan for `confirm`, `cancel` or `refund` in words, before anything is done.
extension Engine {
  /// What whoever says yes to a plan says yes to: how it is undone, how much of it, and what is left.
  func question(
    _ plan: LaterPlan,
    _ command: String,
    _ attempt: Attempt?,
    _ handle: String
  ) -> String {
    let verb = isAuthorizedByPayer && plan.refund != nil ? "refund" : command
    let way = plan.way.map { $0 == verb ? "" : " by \($0)" } ?? ""
    let what = WriteCommands.priced("\(verb) \(handle)\(way)", attempt, plan.refund?.amount)
    guard let attempt, let whole = attempt.facts.money, let amount = amount(of: plan, attempt),
      amount < whole.minorUnits
    else { return what }
    let left = attempt.facts.text(ofMinorUnits: max(0, attempt.left - amount))
    return "\(what) of \(whole.text) (\(left) are left then)"
  }

  /// What a dry run shows of a plan: what is done, by which way of the provider's, how much of it.
  func preview(
    _ plan: LaterPlan,
    _ attempt: Attempt?,
    _ handle: String,
    newAttempt: Bool
  ) throws(Fault) -> JSONObject {
    let word = try words(for: plan, attempt, handle, newAttempt)
    var request: JSONObject = ["plan": .string(word)]
    // Nothing is given back again: what was is shown.
    if word == Plan.replay.rawValue {
      request["id"] = attempt?.id.map(JSON.string)
      return request
    }
    request["way"] = plan.way.map(JSON.string)
    request["id"] = attempt?.id.map(JSON.string)
    request["amount"] = amount(of: plan, attempt).map(JSON.integer)
    guard case .confirm = plan.action else {
      request["currency"] = (attempt?.currency?.code).map(JSON.string)
      if let attempt, let amount = amount(of: plan, attempt) {
        request["whole"] = .bool(amount == attempt.amount)
        request["left"] = .integer(max(0, attempt.left - amount))
      }
      return request
    }
    return request
  }

  private func words(
    for plan: LaterPlan,
    _ attempt: Attempt?,
    _ handle: String,
    _ newAttempt: Bool
  ) throws(Fault) -> String {
    switch plan.action {
    case .refund(let request):
      try planRefund(request, of: attempt, handle: handle, newAttempt: newAttempt).rawValue
    case .confirm where isAuthorizedByPayer: "confirm"
    case .cancel where isAuthorizedByPayer: "cancel"
    case .confirm: try planConfirm(attempt, handle: handle).rawValue
    case .cancel: try planCancel(attempt, handle: handle).rawValue
    }
  }

  /// How much a plan is about, in minor units; nil where that is not known before.
  private func amount(of plan: LaterPlan, _ attempt: Attempt?) -> Int? {
    switch plan.action {
    case .refund(let refund): refund.amount?.minorUnits ?? attempt?.left
    case .confirm, .cancel: isAuthorizedByPayer ? nil : attempt?.amount
    }
  }
}
