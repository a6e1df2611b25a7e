package import TenderModel

/// A provider whose payers are there with their cards, in front of a reader.
package protocol CardPresentFlow: Sendable {
  /// Checks an order's own rules, before anything is opened. Throws a `usage` fault.
  func check(_ order: SaleOrder) throws(Fault)
  /// Takes a sale or refund through reader and acquirer.
  func sell(_ order: SaleOrder, _ progress: Progress) throws(Fault) -> Outcome
  /// What `sell` would send, as far as it is known before a card is there.
  func preview(_ order: SaleOrder) throws(Fault) -> JSONObject
}

/// What `transact` asks of a reader.
package struct SaleOrder: Sendable {
  package var reference: Reference
  /// What the payer pays before the reader's gratuity menu: `gratuity` is in it.
  package var amount: Money
  package var isRefund: Bool
  /// In minor units.
  package var gratuity: Int?
  /// The percentages of the reader's gratuity menu; empty for none.
  package var gratuityMenu: [Int]
  /// Whether the authorization captures as well.
  package var captures: Bool
  /// The receipt of what is refunded, in its documented fields.
  package var original: JSONObject?
  /// The reference of what is refunded, where the journal knows it.
  package var originalReference: Reference?
  package var additional: JSONObject

  package init(
    reference: Reference,
    amount: Money,
    isRefund: Bool = false,
    gratuity: Int? = nil,
    gratuityMenu: [Int] = [],
    captures: Bool = true,
    original: JSONObject? = nil,
    originalReference: Reference? = nil,
    additional: JSONObject = [:]
  ) {
    self.reference = reference
    self.amount = amount
    self.isRefund = isRefund
    self.gratuity = gratuity
    self.gratuityMenu = gratuityMenu
    self.captures = captures
    self.original = original
    self.originalReference = originalReference
    self.additional = additional
  }

  /// What makes two orders the same: never what happens at the reader.
  package var content: JSONObject {
    var content: JSONObject = [
      "command": "transact", "type": isRefund ? "refund" : "purchase",
      "amount": .integer(amount.minorUnits), "currency": .string(amount.currency.code),
    ]
    content["gratuity"] = gratuity.map(JSON.integer)
    content["original"] = (originalReference?.text ?? original?.text("saleReferenceId")).map(
      JSON.string
    )
    if !additional.members.isEmpty { content["additional"] = .object(additional.sorted) }
    return content
  }
}
