package import TenderEngine
package import TenderModel

/// The order of `transact` at a provider whose payers authorize at their bank.
package struct AuthorizationOrder: PlacedOrder {
  package var reference: Reference
  package var kind: Payment.Kind
  /// The provider's id of a payment or mandate that exists already.
  package var existingID: String?
  package var amount: Money?
  package var currency: Currency?
  /// The members that must match in two equal orders: never choices of the flow.
  package var content: JSONObject
  /// The body of the creation request, if it does not exist yet. Every repetition sends the same bytes.
  package var creation: [UInt8] = []

  package init(reference: Reference, kind: Payment.Kind, content: JSONObject) {
    self.reference = reference
    self.kind = kind
    self.content = content
  }

  package var makes: Payment.Kind { kind }
  package var operation: Operation.Kind { kind == .mandate ? .createMandate : .charge }
  package var total: Int? { amount?.minorUnits }

  package var question: String {
    if let existingID { return "go on with the \(kind.noun) \(existingID)" }
    return amount.map { priced("pay", $0) } ?? "create the mandate \(reference.text)"
  }
}
