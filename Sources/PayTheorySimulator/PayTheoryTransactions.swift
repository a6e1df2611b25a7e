import TenderEngine
import TenderModel
import TenderSimulator
import TenderWire

/// The simulated provider's transactions: what a charge comes to, and what time does to it.
struct PayTheoryTransactions {
  let world: SimulatorWorld
  let ledger: Ledger

  /// How long a pending payment stays so, in milliseconds of the simulated clock.
  private static let settling = 5000

  /// Charges an intent: writes the transaction and gives it.
  func charge(
    _ intent: JSONObject,
    payor: String,
    method: String,
    now: Int
  ) throws(Fault) -> JSONObject {
    let receipt = intent.text("receipt") ?? ""
    let isACH = intent.text("method") == "ACH"
    let failure = failureCode(intent, isACH: isACH)
    let isServiceFee = intent.text("fee_mode") == "service_fee"
    let amount = intent["amount"]?.boundedNumber ?? 0
    let fee = intent["fee"]?.boundedNumber ?? 0
    var transaction: JSONObject = [
      "transaction_id": .string(receipt), "status": failure == nil ? "SUCCEEDED" : "FAILED",
      "transaction_type": failure == nil ? "DEBIT" : "FAILURE",
      "transaction_date": .string(Timestamp.preciseText(now)),
      "gross_amount": .integer(amount), "net_amount": .integer(amount - fee),
      "fees": .integer(fee), "fee_mode": isServiceFee ? "SERVICE_FEE" : "MERCHANT_FEE",
      "currency": "USD", "reference": intent["reference"] ?? "",
      "account_code": intent["account_code"] ?? "", "refunded_amount": 0,
      "merchant_uid": .string(PayTheoryCatalog.merchantUID), "is_settled": false,
      "metadata": .string(JSONWriter.text(intent["metadata"] ?? [:])),
      "failure_reasons": failure.map { [.string($0)] } ?? [],
      "payment_method": .object(
        Self.method([
          "payment_method_id": .string(method), "payor_id": .string(payor),
          "payment_type": intent["method"] ?? "", "brand": intent["brand"] ?? .null,
          "last_four": intent["last_four"] ?? "", "exp_date": intent["expiration"] ?? .null,
          "payor_info": intent["payor_info"] ?? [:],
        ])
      ),
      "updated_row_at": .string(Timestamp.preciseText(now)),
    ]
    if let failure { transaction["failure_code"] = .string(failure) }
    if failure == nil, isACH || world.options.scenario == "pending" {
      transaction["status"] = "PENDING"
      transaction["settles_at"] = .integer(now + Self.settling)
      transaction["settles_as"] =
        isACH && world.options.scenario == "returned" ? "RETURNED" : "SUCCEEDED"
    }
    let isDisputed =
      world.options.scenario == "dispute"
      || amount == PayTheoryCatalog.disputedAmount && !isServiceFee && !isACH
    if failure == nil, isDisputed { transaction["dispute_status"] = "INQUIRY" }
    try ledger.put("transaction", receipt, transaction, reference: intent.text("reference"))
    return transaction
  }

  /// A stored payment method as GraphQL shows it: the payor is under it (protocol note, section 8.2).
  static func method(_ stored: JSONObject) -> JSONObject {
    let isACH = stored.text("payment_type") == "ACH"
    return [
      "payment_method_id": stored["payment_method_id"] ?? .null,
      "payment_type": stored["payment_type"] ?? .null,
      "card_brand": isACH ? .null : stored["brand"] ?? .null,
      "last_four": stored["last_four"] ?? .null, "exp_date": stored["exp_date"] ?? .null,
      "is_active": true, "merchant_uid": .string(PayTheoryCatalog.merchantUID),
      "payor": payor(stored),
    ]
  }

  private static func payor(_ stored: JSONObject) -> JSON {
    let given = stored["payor_info"]?.object ?? [:]
    let names = ["first_name", "last_name"].compactMap { given.text($0) }.filter { !$0.isEmpty }
    return [
      "payor_id": stored["payor_id"] ?? .null,
      "full_name": names.isEmpty ? .null : .string(names.joined(separator: " ")),
      "email": given["email"] ?? .null, "phone": given["phone"] ?? .null,
    ]
  }

  /// Why a charge fails, or nil: scenario first, then the documented amounts and accounts.
  private func failureCode(_ intent: JSONObject, isACH: Bool) -> String? {
    if let scenario = world.options.scenario {
      if scenario == "approve" { return nil }
      if scenario.hasPrefix("decline:") { return scenario.dropFirst(8).uppercased() }
    }
    if isACH { return intent["fails"]?.truth == true ? "INVALID_BANK_ACCOUNT_NUMBER" : nil }
    guard intent.text("fee_mode") == "merchant_fee" else { return nil }
    return PayTheoryCatalog.declines[intent["amount"]?.boundedNumber ?? 0]
  }

  /// A transaction as it stands now: pending ones settle with time.
  func current(_ transaction: JSONObject, now: Int) -> JSONObject {
    guard let time = transaction["settles_at"]?.boundedNumber, time <= now,
      transaction.text("status") == "PENDING"
    else { return transaction }
    var settled = transaction
    settled["status"] = transaction["settles_as"] ?? "SUCCEEDED"
    if settled.text("status") == "RETURNED" {
      settled["ach_return_details"] = [
        "return_code": "R01", "return_details": "Insufficient funds", "transfer_type": "DEBIT",
      ]
    }
    return settled
  }

  /// What a reversal comes to: `{is_void, transaction_id}`, or why not.
  enum Reversal {
    case done(JSONObject)
    case refused(String)
  }

  /// Voids a pending payment, refunds another; `amount` in cents.
  func reverse(_ receipt: String, amount: Int, now: Int) throws(Fault) -> Reversal {
    guard let stored = try ledger.find("transaction", receipt) else {
      return .refused("Transaction not found")
    }
    var payment = current(stored, now: now)
    let refunded = payment["refunded_amount"]?.boundedNumber ?? 0
    let left = (payment["gross_amount"]?.boundedNumber ?? 0) - refunded
    guard amount > 0, amount <= left else { return .refused("Amount exceeds what is left") }
    switch payment.text("status") {
    case "PENDING":
      var replacement = payment
      payment["status"] = "VOIDED"
      payment["settles_at"] = nil
      try ledger.put("transaction", receipt, payment)
      guard amount < left else {
        return .done(["is_void": true, "transaction_id": .string(receipt)])
      }
      // A void of a part puts another payment in its place (protocol note, section 8.2).
      let id = receipt + "v"
      replacement["transaction_id"] = .string(id)
      replacement["gross_amount"] = .integer(left - amount)
      let reference = payment.text("reference")
      try ledger.put("transaction", id, replacement, reference: reference, parent: receipt)
      return .done(["is_void": true, "transaction_id": .string(id)])
    case "SUCCEEDED", "SETTLED", "PARTIALLY_REFUNDED":
      let number = try ledger.list("transaction", column: "parent", value: receipt).count + 1
      let id = "\(receipt):R\(number)"
      payment["refunded_amount"] = .integer(refunded + amount)
      payment["status"] = .string(amount == left ? "REFUNDED" : "PARTIALLY_REFUNDED")
      try ledger.put("transaction", receipt, payment)
      var refund = payment
      refund["transaction_id"] = .string(id)
      refund["parent_id"] = .string(receipt)
      refund["transaction_type"] = "REVERSAL"
      refund["status"] = "PENDING"
      refund["gross_amount"] = .integer(amount)
      refund["refunded_amount"] = 0
      refund["transaction_date"] = .string(Timestamp.preciseText(now))
      try ledger.put(
        "transaction",
        id,
        refund,
        reference: payment.text("reference"),
        parent: receipt
      )
      return .done(["is_void": false, "transaction_id": .string(id)])
    case let status: return .refused("A \(status ?? "") transaction cannot be reversed")
    }
  }
}
