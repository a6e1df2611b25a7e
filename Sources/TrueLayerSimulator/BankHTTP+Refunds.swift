import TenderEngine
import TenderModel
import TenderSimulator
import TenderWire

/// Refunds, and what the hosted page tells the bank of its payer.
extension BankHTTP {
  func flowAnswer(_ resource: JSONObject) -> JSONObject {
    var answer: JSONObject = [:]
    for name in ["status", "failure_stage", "failure_reason"] { answer[name] = resource[name] }
    if let actions = resource["authorization_flow"]?["actions"] {
      answer["authorization_flow"] = ["actions": actions]
    }
    return answer
  }

  func refund(
    _ payment: inout JSONObject,
    _ body: JSONObject
  ) throws(BankProblem) -> Reply {
    guard payment.text("status") == "settled" else { throw .state }
    let known = payment["_refunds"]?.array ?? []
    let paid = payment["amount_in_minor"]?.boundedNumber ?? 0
    let gone = known.compactMap(\.object).map(aged).filter { $0.text("status") != "failed" }
      .reduce(0) { $0 + ($1["amount_in_minor"]?.boundedNumber ?? 0) }
    let amount = body["amount_in_minor"]?.boundedNumber ?? paid - gone
    guard amount > 0, amount <= paid - gone else {
      throw .invalid("amount_in_minor", "More than is left of the payment.")
    }
    guard let reference = body.text("reference"), (1...18).contains(reference.count) else {
      throw .invalid("reference", "Must have 1 to 18 characters.")
    }
    let id = bank.uuid()
    var refund: JSONObject = [
      "id": .string(id), "amount_in_minor": .integer(amount),
      "currency": payment["currency"] ?? "GBP", "reference": .string(reference),
      "status": "pending", "created_at": .string(bank.time), "_created": .integer(bank.now),
    ]
    refund["metadata"] = body["metadata"]
    if world.options.scenario == "refund:failed" { refund["_fails"] = true }
    payment["_refunds"] = .array(known + [.object(refund)])
    return Reply(202, ["id": .string(id)])
  }

  /// A refund as it stands now: two seconds after it was asked for it is executed.
  func aged(_ refund: JSONObject) -> JSONObject {
    var shown = JSONObject(refund.members.filter { !$0.key.hasPrefix("_") })
    let created = refund["_created"]?.boundedNumber ?? bank.now
    guard bank.now - created >= 2000 else { return shown }
    if refund["_fails"] == true {
      shown["status"] = "failed"
      shown["failed_at"] = .string(bank.microseconds(created + 2000))
      shown["failure_reason"] = "insufficient_funds"
    } else {
      shown["status"] = "executed"
      shown["executed_at"] = .string(bank.microseconds(created + 2000))
    }
    return shown
  }

  /// What the bank said on the payer's way back (note, section 2.8).
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
