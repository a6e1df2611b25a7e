internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// The description of an order, before anything is done.
extension Engine {
  /// The question before an order: the charge, or the way and amount of its undoing, and the amount that
  /// remains.
  func question(_ checked: CheckedOrder, _ command: String) -> String {
    let (order, payment) = (checked.order, checked.payment)
    if let question = order.question { return question }
    let asked = order.refundRequest
    let verb = provider.traits.hasPayerFlow && asked != nil ? "refund" : command
    let way = provider.way(of: order, payment).map { $0 == verb ? "" : " by \($0)" } ?? ""
    let amount = amount(of: checked)
    let part = amount.flatMap { minorUnits in
      payment?.currency.map { Money(minorUnits: minorUnits, currency: $0) }
    }
    let money = part ?? asked?.amount ?? payment?.money
    let what = "\(verb) \(checked.handle)\(way)" + (money.map { ", \($0.text)" } ?? "")
    guard let payment, let whole = payment.money, let amount, amount < whole.minorUnits,
      checked.cardRefund == nil
    else {
      return what
    }
    let left = payment.text(ofMinorUnits: left(after: amount, payment))
    return "\(what) of \(whole.text) (\(left) left then)"
  }

  /// The request of an order for a dry run, with secrets masked, and its idempotency key.
  ///
  /// An existing payment is not made again, so only the plan is shown.
  func preview(_ checked: CheckedOrder) throws(Fault) -> (request: JSONObject, key: String?) {
    let (order, payment) = (checked.order, checked.payment)
    let (plan, key) = try plan(checked)
    var request: JSONObject = ["plan": .string(plan.rawValue)]
    if case .placed(let order) = order {
      let isSent = plan == .send || plan == .refund
      return (isSent ? try provider.preview(order) : request, key)
    }
    // A replay sends nothing, and shows the earlier result.
    if plan != .replay { request["way"] = provider.way(of: order, payment)?.json }
    request["id"] = payment?.state.id?.json
    if plan == .replay {
      if let payment, order.refundRequest != nil {
        request["refunded"] = .integer(payment.state.refunded)
        request["currency"] = payment.currency?.code.json
        request["left"] = .integer(left(payment.state))
        request["left_source"] = "journal"
      }
      return (request, key)
    }
    let amount = amount(of: checked)
    request["amount"] = amount?.json
    request["currency"] = payment?.currency?.code.json
    // The state of an unknown payment says nothing about what is left.
    if let payment, let amount, !payment.state.isUnknown, checked.cardRefund == nil {
      request["whole"] = .bool(amount == payment.state.amount)
      request["left"] = .integer(left(payment.state))
      request["left_afterwards"] = .integer(left(after: amount, payment))
      // The provider was not asked.
      request["left_source"] = "journal"
    }
    return (request, key)
  }

  /// The amount of an order in minor units; nil if it is not known before.
  private func amount(of checked: CheckedOrder) -> Int? {
    let order = checked.order
    guard let state = checked.payment?.state else { return order.refundRequest?.amount?.minorUnits }
    if let refund = checked.cardRefund { return refund.effectiveAmount }
    return switch order {
    case .refund(let request):
      request.amount?.minorUnits ?? (state.isUnknown ? nil : left(state))
    case .capture(let amount):
      amount?.minorUnits ?? (state.isHeld ? state.leftToCapture : nil)
    case .cancel: state.isHeld || state.isCaptured ? left(state) : nil
    case .placed: nil
    }
  }

  /// The amount that can be released or refunded.
  private func left(_ state: PaymentState) -> Int {
    state.isHeld ? state.leftToCapture : state.leftToRefund
  }

  private func left(after amount: Int, _ payment: Payment) -> Int {
    max(0, left(payment.state) - amount)
  }
}

extension CheckedOrder {
  /// The refund with the card that the order is about; nil for an order about the payment.
  fileprivate var cardRefund: Operation? { payment?.cardRefund(named: handle) }
}

extension Order {
  /// The request of a `refund`; nil for any other order.
  var refundRequest: RefundRequest? {
    if case .refund(let request) = self { request } else { nil }
  }
}
