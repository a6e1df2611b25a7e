package import TenderEngine
package import TenderModel

/// The order of `transact` at a reader.
package struct SaleOrder: PlacedOrder {
  package var reference: Reference
  /// The price before the reader's gratuity menu. It includes `gratuity`.
  package var amount: Money
  package var isRefund = false
  /// The gratuity in minor units.
  package var gratuity: Int?
  /// The percentages of the reader's gratuity menu; empty without a menu.
  package var gratuityMenu: [Int] = []
  /// Whether the authorization captures as well.
  package var captures = true
  package var acceptsPart = false
  /// The receipt of the refunded payment, in its documented fields.
  package var original: JSONObject?
  /// The reference of the refunded payment, if the journal has it.
  package var originalReference: Reference?
  package var additional: JSONObject = [:]

  package init(reference: Reference, amount: Money) {
    self.reference = reference
    self.amount = amount
  }

  package var makes: Payment.Kind { .payment }
  package var operation: Operation.Kind { isRefund ? .refund : captures ? .charge : .authorize }
  package var total: Int? { amount.minorUnits }
  package var currency: Currency? { amount.currency }
  package var refundOf: Reference? { isRefund ? originalReference : nil }
  package var question: String { priced(isRefund ? "refund" : "charge", amount) }

  /// The members that must match in two equal orders. Events at the reader are not among them.
  package var content: JSONObject {
    var content: JSONObject = [
      "command": "transact", "type": isRefund ? "refund" : "purchase",
      "amount": .integer(amount.minorUnits), "currency": .string(amount.currency.code),
    ]
    content["gratuity"] = gratuity?.json
    if acceptsPart { content[Operation.allowPartial] = true }
    content["original"] = (originalReference?.text ?? original?.text("saleReferenceId")).map(
      JSON.string
    )
    if !additional.members.isEmpty { content["additional"] = .object(additional.sorted) }
    return content
  }
}
