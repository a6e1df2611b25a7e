internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// A plan for `confirm`, `cancel` or `refund` in words, before anything is done.
extension Engine {
  /// The question before a plan: how it is undone, how much of it, and what is left then.
  func question(
    _ plan: LaterPlan,
    _ command: String,
    _ payment: Payment?,
    _ handle: String
  ) -> String {
    let verb = provider.traits.hasPayerFlow && plan.refund != nil ? "refund" : command
    let way = plan.way.map { $0 == verb ? "" : " by \($0)" } ?? ""
    let amount = amount(of: plan, payment)
    let part = amount.flatMap { minorUnits in
      payment?.currency.map { Money(minorUnits: minorUnits, currency: $0) }
    }
    let what = WriteCommands.priced("\(verb) \(handle)\(way)", payment, part ?? plan.refund?.amount)
    guard let payment, let whole = payment.money, let amount, amount < whole.minorUnits else {
      return what
    }
    let left = payment.text(ofMinorUnits: left(after: plan, amount, payment))
    return "\(what) of \(whole.text) (\(left) left then)"
  }

  /// What a dry run shows of a plan: what is done, by which way of the provider's, how much of it.
  func preview(
    _ plan: LaterPlan,
    _ payment: Payment?,
    _ handle: String
  ) throws(Fault) -> JSONObject {
    let word = try self.plan(plan.action, payment, handle: handle)
    var request: JSONObject = ["plan": .string(word.rawValue)]
    // Nothing is sent: what was done is shown.
    if word == .replay {
      request["id"] = (payment?.state.id).map(JSON.string)
      return request
    }
    request["way"] = plan.way.map(JSON.string)
    request["id"] = (payment?.state.id).map(JSON.string)
    let amount = amount(of: plan, payment)
    request["amount"] = amount.map(JSON.integer)
    request["currency"] = (payment?.currency?.code).map(JSON.string)
    if let payment, let amount {
      request["whole"] = .bool(amount == payment.state.amount)
      request["left"] = .integer(left(after: plan, amount, payment))
    }
    return request
  }

  /// The key that a plan would be sent with; nil where none is sent.
  func key(for plan: LaterPlan, _ payment: Payment?, own: String?) -> String? {
    guard let request = plan.refund, let payment else { return nil }
    return nextKey(for: request, of: payment, own: own)
  }

  /// The amount of a plan in minor units; nil where that is not known before.
  private func amount(of plan: LaterPlan, _ payment: Payment?) -> Int? {
    guard let state = payment?.state else { return plan.refund?.amount?.minorUnits }
    switch plan.action {
    case .refund(let request): return request.amount?.minorUnits ?? left(state)
    case .capture(let amount):
      return amount?.minorUnits ?? (state.isHeld ? state.leftToCapture : nil)
    case .cancel: return state.isHeld || state.isCaptured ? left(state) : nil
    }
  }

  /// What can be released or refunded.
  private func left(_ state: PaymentState) -> Int {
    state.isHeld ? state.leftToCapture : state.leftToRefund
  }

  private func left(after plan: LaterPlan, _ amount: Int, _ payment: Payment) -> Int {
    max(0, left(payment.state) - amount)
  }
}
