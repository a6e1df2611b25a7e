package import TenderModel

/// Who pays the provider's fee, in the words of the option and of the record.
package enum FeeMode: String, Sendable, CaseIterable {
  case merchant = "merchant_fee"
  /// The payer, on top of the amount.
  case service = "service_fee"
}

/// What `transact` asks for.
package struct PaymentOrder: Sendable {
  package var reference: Reference
  package var amount: Money
  package var fee: Money?
  package var feeMode: FeeMode
  package var instrument: Instrument?
  /// A stored method's id, charged instead of an instrument.
  package var storedMethod: String?
  /// Whether to stop where the provider waits for a confirmation.
  package var stopsAtConfirmation: Bool
  package var payor: JSONObject
  package var payorID: String?
  package var metadata: JSONObject
  /// Where the merchant books it.
  package var accountCode: String?
  package var invoiceID: String?
  package var recurringID: String?
  package var paymentParameters: String?
  package var sendsReceipt = false
  package var receiptDescription: String?

  package init(
    reference: Reference,
    amount: Money,
    fee: Money? = nil,
    feeMode: FeeMode = .merchant,
    instrument: Instrument? = nil,
    storedMethod: String? = nil,
    stopsAtConfirmation: Bool = false,
    payor: JSONObject = [:],
    payorID: String? = nil,
    metadata: JSONObject = [:]
  ) {
    self.reference = reference
    self.amount = amount
    self.fee = fee
    self.feeMode = feeMode
    self.instrument = instrument
    self.storedMethod = storedMethod
    self.stopsAtConfirmation = stopsAtConfirmation
    self.payor = payor
    self.payorID = payorID
    self.metadata = metadata
  }

  /// What makes two orders the same: never card data, flow choices or output.
  package var content: JSONObject {
    var content: JSONObject = [
      "command": "transact", "amount": .integer(amount.minorUnits),
      "currency": .string(amount.currency.code), "fee_mode": .string(feeMode.rawValue),
    ]
    content["fee"] = fee.map { .integer($0.minorUnits) }
    content["method"] = .string(storedMethod == nil ? instrument?.method.rawValue ?? "" : "token")
    content["token"] = storedMethod.map(JSON.string)
    if !payor.members.isEmpty { content["payor"] = .object(payor.sorted) }
    content["payor_id"] = payorID.map(JSON.string)
    if !metadata.members.isEmpty { content["metadata"] = .object(metadata.sorted) }
    content["account_code"] = accountCode.map(JSON.string)
    content["invoice_id"] = invoiceID.map(JSON.string)
    content["recurring_id"] = recurringID.map(JSON.string)
    return content
  }
}

/// What `tokenize` asks for.
package struct TokenOrder: Sendable {
  package var reference: Reference
  package var instrument: Instrument
  package var payor: JSONObject
  package var payorID: String?
  package var metadata: JSONObject

  package init(
    reference: Reference,
    instrument: Instrument,
    payor: JSONObject,
    payorID: String?,
    metadata: JSONObject
  ) {
    self.reference = reference
    self.instrument = instrument
    self.payor = payor
    self.payorID = payorID
    self.metadata = metadata
  }

  /// What makes two orders the same: never card data.
  package var content: JSONObject {
    var content: JSONObject = [
      "command": "tokenize", "method": .string(instrument.method.rawValue),
    ]
    if !payor.members.isEmpty { content["payor"] = .object(payor.sorted) }
    content["payor_id"] = payorID.map(JSON.string)
    if !metadata.members.isEmpty { content["metadata"] = .object(metadata.sorted) }
    return content
  }
}

/// What `transact` asks of a provider, by the flow that does it.
package enum Order: Sendable {
  case payment(PaymentOrder)
  case sale(SaleOrder)
  case authorization(AuthorizationOrder)

  package var reference: Reference {
    switch self {
    case .payment(let order): order.reference
    case .sale(let order): order.reference
    case .authorization(let order): order.reference
    }
  }

  /// What two orders under one reference must have the same.
  var content: JSONObject {
    switch self {
    case .payment(let order): order.content
    case .sale(let order): order.content
    case .authorization(let order): order.content
    }
  }

  /// What whoever says yes to it says yes to.
  package var question: String {
    switch self {
    case .payment(let order): Self.priced("charge", order.amount, order.reference)
    case .sale(let order):
      Self.priced(order.isRefund ? "refund" : "charge", order.amount, order.reference)
    case .authorization(let order):
      if let id = order.existingID {
        "go on with the \(order.kind) \(id)"
      } else if let amount = order.amount {
        Self.priced("pay", amount, order.reference)
      } else {
        "make the mandate \(order.reference.text)"
      }
    }
  }

  private static func priced(_ verb: String, _ amount: Money, _ reference: Reference) -> String {
    "\(verb) \(amount.text) under reference \(reference.text)"
  }
}
