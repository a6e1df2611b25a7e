internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// An order in words, before anything is done.
extension Engine {
  /// The question before an order: what is charged, or how it is undone, how much of it, and what is left then.
  func question(
    _ order: Order,
    _ command: String,
    _ payment: Payment?,
    _ handle: String
  ) -> String {
    if let question = order.question { return question }
    let asked = order.refundRequest
    let verb = provider.traits.hasPayerFlow && asked != nil ? "refund" : command
    let way = provider.way(of: order, payment).map { $0 == verb ? "" : " by \($0)" } ?? ""
    let amount = amount(of: order, payment)
    let part = amount.flatMap { minorUnits in
      payment?.currency.map { Money(minorUnits: minorUnits, currency: $0) }
    }
    let money = part ?? asked?.amount ?? payment?.money
    let what = "\(verb) \(handle)\(way)" + (money.map { ", \($0.text)" } ?? "")
    guard let payment, let whole = payment.money, let amount, amount < whole.minorUnits else {
      return what
    }
    let left = payment.text(ofMinorUnits: left(after: amount, payment))
    return "\(what) of \(whole.text) (\(left) left then)"
  }

  /// What a dry run shows of an order on a payment that exists: what is done, by which way of the provider's, how
  /// much of it.
  func preview(
    _ order: Order,
    _ payment: Payment?,
    _ handle: String
  ) throws(Fault) -> JSONObject {
    let word = try plan(order, on: payment, handle: handle)
    var request: JSONObject = ["plan": .string(word?.rawValue ?? "")]
    // A replay sends nothing: what was done is shown.
    if word != .replay { request["way"] = provider.way(of: order, payment).map(JSON.string) }
    request["id"] = (payment?.state.id).map(JSON.string)
    if word == .replay { return request }
    let amount = amount(of: order, payment)
    request["amount"] = amount.map(JSON.integer)
    request["currency"] = (payment?.currency?.code).map(JSON.string)
    if let payment, let amount {
      request["whole"] = .bool(amount == payment.state.amount)
      request["left"] = .integer(left(payment.state))
      request["left_afterwards"] = .integer(left(after: amount, payment))
    }
    return request
  }

  /// The amount of an order in minor units; nil where that is not known before.
  private func amount(of order: Order, _ payment: Payment?) -> Int? {
    guard let state = payment?.state else { return order.refundRequest?.amount?.minorUnits }
    return switch order {
    case .refund(let request): request.amount?.minorUnits ?? left(state)
    case .capture(let amount):
      amount?.minorUnits ?? (state.isHeld ? state.leftToCapture : nil)
    case .cancel: state.isHeld || state.isCaptured ? left(state) : nil
    case .payment, .token, .sale, .authorization: nil
    }
  }

  /// What can be released or refunded.
  private func left(_ state: PaymentState) -> Int {
    state.isHeld ? state.leftToCapture : state.leftToRefund
  }

  private func left(after amount: Int, _ payment: Payment) -> Int {
    max(0, left(payment.state) - amount)
  }
}

extension Order {
  /// The refund that a `refund` asks for; nil for any other order.
  var refundRequest: RefundRequest? {
    if case .refund(let request) = self { request } else { nil }
  }
}
