package import TenderEngine
package import TenderModel

/// An order of the providers in tests.
package struct TestOrder: PlacedOrder {
  package var reference: Reference
  package var amount: Money?
  package var card: Instrument?
  package var isHold = false
  /// The payment that the order gives back with the card; nil for an order that takes money.
  package var refundOf: Reference?

  package init(reference: Reference, amount: Money? = nil) {
    self.reference = reference
    self.amount = amount
  }

  package var makes: Payment.Kind { .payment }
  package var operation: Operation.Kind {
    refundOf != nil ? .refund : isHold ? .authorize : .charge
  }
  package var total: Int? { amount?.minorUnits }
  package var currency: Currency? { amount?.currency }
  package var question: String { "charge \(reference.text)" }

  package var content: JSONObject {
    var content: JSONObject = ["command": "transact"]
    content["amount"] = total?.json
    content["currency"] = currency?.code.json
    return content
  }
}
