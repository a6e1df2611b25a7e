import TenderEngine
import TenderModel
import TenderWire

/// A transaction of the GraphQL interface as an outcome (protocol note, section 8.2).
enum Transactions {
  /// What a look-up shows: the transaction as it is documented, nulls left out.
  static func lookUp(_ answer: JSONObject) -> Outcome {
    let transaction = TransactionFields.shape.filtered(answer)
    var outcome = Outcome(
      status: status(transaction),
      id: transaction.text("transaction_id"),
      amount: transaction["gross_amount"]?.boundedNumber,
      currency: transaction.text("currency").flatMap(Currency.init(code:)),
      lastFour: transaction["payment_method"]?["last_four"]?.text,
      brand: transaction["payment_method"]?["card_brand"]?.text,
      result: ["transaction": .object(transaction.withoutNulls)]
    )
    outcome.reference = transaction.text("reference").map(Reference.init(stored:))
    outcome.madeAt = transaction.text("transaction_date").flatMap { Timestamp.read($0) }
    if outcome.status == .partiallyRefunded || outcome.status == .refunded {
      outcome.requestedAmount = nil
    }
    return outcome
  }

  /// What a payment came to, in the shape it would have had over the socket.
  static func payment(_ transaction: JSONObject) -> Outcome {
    let method = transaction["payment_method"]
    var body: JSONObject = [
      "receipt_number": transaction["transaction_id"].orEmpty,
      "last_four": (method?["last_four"]).orEmpty,
      "created_at": transaction["transaction_date"].orEmpty,
      "amount": transaction["gross_amount"] ?? 0,
      "state": transaction["status"].orEmpty,
      "metadata": transaction["metadata"].orEmptyObject,
      "payor_id": (method?["payor"]?["payor_id"]).orEmpty,
      "payment_method_id": (method?["payment_method_id"]).orEmpty,
      "brand": brand(method),
    ]
    if status(transaction) == .declined {
      body["state"] = "FAILURE"
      let reasons = transaction["failure_reasons"]?.array?.compactMap(\.text) ?? []
      body["type"] = .string(reasons.first ?? "")
      return Replies.declined(body)
    }
    let isServiceFee = transaction.text("fee_mode")?.uppercased() == "SERVICE_FEE"
    body["service_fee"] = isServiceFee ? transaction["fees"] ?? 0 : 0
    var outcome = Replies.complete(body, hasServiceFee: true)
    outcome.status = status(transaction)
    return outcome
  }

  /// Our word for a status; `PENDING` for one that is new to us, since it is not known to be final.
  static func status(_ transaction: JSONObject) -> Status {
    switch transaction.text("status")?.uppercased() {
    case "SUCCEEDED", "SUCCESS", "SETTLED": .succeeded
    case "FAILED", "FAILURE": .declined
    case "VOIDED": .cancelled
    case "REFUNDED": .refunded
    case "PARTIALLY_REFUNDED": .partiallyRefunded
    case "RETURNED": .returned
    default: .pending
    }
  }

  private static func brand(_ method: JSON?) -> JSON {
    if method?["payment_type"]?.text == "ACH" { return "ACH" }
    return (method?["card_brand"]).orEmpty
  }
}
