package import TenderEngine
package import TenderModel

/// The party that pays the provider's fee, named as in the option and the record.
package enum FeeMode: String, Sendable, CaseIterable {
  case merchant = "merchant_fee"
  /// The payer, on top of the amount.
  case service = "service_fee"
}

/// The order of `transact`, or of `tokenize`.
package struct PayTheoryOrder: PlacedOrder {
  package var reference: Reference
  /// A payment, or a stored method.
  package var makes = Payment.Kind.payment
  /// The amount without the fee; of no meaning if nothing is charged.
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

  package var operation: Operation.Kind {
    makes == .storedMethod ? .store : stopsAtConfirmation ? .authorize : .charge
  }

  package var total: Int? {
    existingID == nil && makes == .payment ? amount.minorUnits + (fee?.minorUnits ?? 0) : nil
  }

  package var currency: Currency? { makes == .payment ? amount.currency : nil }

  package var card: Instrument? { instrument }

  package var question: String {
    if let existingID { return "record the payment \(existingID)" }
    return makes == .payment
      ? priced("charge", amount) : "store a payment method under reference \(reference.text)"
  }

  /// The members that must match in two equal orders: never card data, flow choices or output options.
  package var content: JSONObject {
    if let existingID { return ["command": "transact", "id": .string(existingID)] }
    var content: JSONObject = ["command": "tokenize"]
    if makes == .payment {
      content = [
        "command": "transact", "amount": .integer(amount.minorUnits),
        "currency": .string(amount.currency.code), "fee_mode": .string(feeMode.rawValue),
        "fee": fee.map { .integer($0.minorUnits) },
      ]
    }
    content["method"] = .string(storedMethod == nil ? instrument?.method.rawValue ?? "" : "token")
    content["token"] = storedMethod?.json
    if !payor.members.isEmpty { content["payor"] = .object(payor.sorted) }
    content["payor_id"] = payorID?.json
    if !metadata.members.isEmpty { content["metadata"] = .object(metadata.sorted) }
    content[Operation.holder] = instrument?.holder
    for member in stored.members { content[member.key] = member.value }
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
