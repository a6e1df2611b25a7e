package import TenderEngine
package import TenderModel

/// An order of Pay Theory that begins a payment.
package enum PayTheoryOrder: PlacedOrder {
  case payment(PaymentOrder)
  case token(TokenOrder)

  private var order: any PlacedOrder {
    switch self {
    case .payment(let order): order
    case .token(let order): order
    }
  }

  package var reference: Reference { order.reference }
  package var makes: Payment.Kind { order.makes }
  package var operation: Operation.Kind { order.operation }
  package var total: Int? { order.total }
  package var currency: Currency? { order.currency }
  package var content: JSONObject { order.content }
  package var card: Instrument? { order.card }
  package var question: String { order.question }
}

/// The party that pays the provider's fee, named as in the option and the record.
package enum FeeMode: String, Sendable, CaseIterable {
  case merchant = "merchant_fee"
  /// The payer, on top of the amount.
  case service = "service_fee"
}

/// The order of `transact`.
package struct PaymentOrder: PlacedOrder {
  package var reference: Reference
  package var amount: Money
  package var fee: Money?
  /// The largest fee that is accepted where Pay Theory computes it; nil for the exact `fee`.
  package var maxFee: Money?
  package var feeMode = FeeMode.merchant
  package var instrument: Instrument?
  /// The id of a stored method that is charged instead of an instrument.
  package var storedMethod: String?
  /// The id of a payment that exists at the provider already. It is recorded, and nothing is charged.
  package var existingID: String?
  /// Whether to stop when the provider waits for a confirmation.
  package var stopsAtConfirmation = false
  package var payor: JSONObject = [:]
  package var payorID: String?
  package var metadata: JSONObject = [:]
  /// Texts that options add to the content under their names, so that the payment can be found by them.
  package var stored: JSONObject = [:]
  package var paymentParameters: String?
  package var sendsReceipt = false
  package var receiptDescription: String?

  package init(reference: Reference, amount: Money) {
    self.reference = reference
    self.amount = amount
  }

  package var makes: Payment.Kind { .payment }
  package var operation: Operation.Kind { stopsAtConfirmation ? .authorize : .charge }
  package var total: Int? { existingID == nil ? amount.minorUnits + (fee?.minorUnits ?? 0) : nil }
  package var currency: Currency? { amount.currency }
  package var card: Instrument? { instrument }
  package var question: String {
    existingID.map { "record the payment \($0)" } ?? priced("charge", amount)
  }

  /// The members that must match in two equal orders: never card data, flow choices or output options.
  package var content: JSONObject {
    if let existingID { return ["command": "transact", "id": .string(existingID)] }
    var content: JSONObject = [
      "command": "transact", "amount": .integer(amount.minorUnits),
      "currency": .string(amount.currency.code), "fee_mode": .string(feeMode.rawValue),
    ]
    content["fee"] = fee.map { .integer($0.minorUnits) }
    content["method"] = .string(storedMethod == nil ? instrument?.method.rawValue ?? "" : "token")
    content["token"] = storedMethod?.json
    content.add(payor: payor, id: payorID, metadata: metadata)
    content[Operation.holder] = instrument?.holder
    for member in stored.members { content[member.key] = member.value }
    return content
  }
}

/// The order of `tokenize`.
package struct TokenOrder: PlacedOrder {
  package var reference: Reference
  package var instrument: Instrument
  package var payor: JSONObject = [:]
  package var payorID: String?
  package var metadata: JSONObject = [:]

  package init(reference: Reference, instrument: Instrument) {
    self.reference = reference
    self.instrument = instrument
  }

  package var makes: Payment.Kind { .storedMethod }
  package var operation: Operation.Kind { .store }
  package var total: Int? { nil }
  package var currency: Currency? { nil }
  package var card: Instrument? { instrument }
  package var question: String { "store a payment method under reference \(reference.text)" }

  /// The members that must match in two equal orders: never card data.
  package var content: JSONObject {
    var content: JSONObject = [
      "command": "tokenize", "method": .string(instrument.method.rawValue),
    ]
    content.add(payor: payor, id: payorID, metadata: metadata)
    content[Operation.holder] = instrument.holder
    return content
  }
}

extension Instrument {
  /// The holder's name, without any other data; nil without a name.
  fileprivate var holder: JSON? {
    let name =
      switch self {
      case .card(let card): card.name
      case .bankAccount(let account): account.name
      case .cash(let payer): payer.name
      }
    return name.map { ["name": .string($0)] }
  }
}

extension JSONObject {
  /// Adds the payer and the merchant's metadata.
  fileprivate mutating func add(payor: JSONObject, id: String?, metadata: JSONObject) {
    if !payor.members.isEmpty { self["payor"] = .object(payor.sorted) }
    self["payor_id"] = id?.json
    if !metadata.members.isEmpty { self["metadata"] = .object(metadata.sorted) }
  }
}
