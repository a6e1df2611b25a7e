import TenderEngine
import TenderModel

/// Refunds, and what the bank says on its payer's way back.
extension BankHTTP {
  func refund(
    _ payment: BankResource,
    _ body: JSONObject
  ) throws(BankProblem) -> Reply {
    guard payment.status == .settled else { throw .state }
    let known = try stored { () throws(Fault) in try bank.refunds(of: payment.id) }
    let refunded = known.filter { $0.status(at: bank.now) != .failed }.reduce(0) { $0 + $1.amount }
    let left = payment.order.amount - refunded
    let amount = body["amount_in_minor"]?.boundedNumber ?? left
    guard amount > 0, amount <= left else {
      throw .invalid("amount_in_minor", "More than is left of the payment.")
    }
    guard let reference = body.text("reference"), (1...18).contains(reference.count) else {
      throw .invalid("reference", "Must have 1 to 18 characters.")
    }
    let course: BankRefund.Course =
      switch world.options.scenario {
      case "refund:failed": .failed
      case "refund:returned": .returned
      default: .executed
      }
    let refund = BankRefund(
      id: bank.uuid(),
      of: payment.id,
      amount: amount,
      currency: payment.order.currency,
      reference: reference,
      metadata: body["metadata"]?.object,
      course: course,
      at: bank.now
    )
    try stored { () throws(Fault) in try bank.save(refund) }
    return Reply(202, ["id": .string(refund.id)])
  }

  /// What the bank said on the payer's way back (TrueLayer/README, 4.6).
  func providerReturn(_ body: JSONObject) throws(BankProblem) -> Reply {
    guard body.text("query")?.isEmpty == false || body.text("fragment")?.isEmpty == false else {
      throw .invalid("query", "Either query or fragment is required.")
    }
    let parameters = QueryText.parameters(body.text("query") ?? "")
      .merging(QueryText.parameters(body.text("fragment") ?? "")) { first, _ in first }
    guard let state = parameters["state"] else {
      throw .invalid("query.state", "Value is required.")
    }
    let returned = try stored { () throws(Fault) in
      try BankPages(bank: bank).takeReturn(state: state)
    }
    guard let returned else { throw .notFound }
    return Reply(
      200,
      [
        "resource": [
          "type": .string(returned.kind.rawValue), returned.kind.parameter: .string(returned.id),
        ]
      ]
    )
  }
}
