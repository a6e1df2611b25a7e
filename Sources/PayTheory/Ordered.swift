import TenderEngine
import TenderModel

/// What an answer to a transfer must be about; anything else is no answer to it.
struct Ordered {
  /// The receipt number that was drawn with the preparation; nil before there is one.
  var receipt: String?
  /// In minor units, without and with the fee where one is added; empty for whatever it comes to.
  var amounts: Set<Int>
  var currency: String?
  var reference: String?

  /// The member of an answer that is another payment's; nil where all that it has is this one's.
  func difference(from body: JSONObject) -> String? {
    let named = body.text("receipt_number") ?? body.text("idempotency") ?? ""
    if let receipt, !named.isEmpty, named != receipt { return "receipt_number" }
    if let amount = body["amount"]?.boundedNumber, !amounts.isEmpty, !amounts.contains(amount) {
      return "amount"
    }
    if let currency, let other = body.text("currency"), other != currency { return "currency" }
    if let reference, let other = body.text("reference"), !other.isEmpty, other != reference {
      return "reference"
    }
    return nil
  }

  /// A prepared transfer, by the names that both of its answers share.
  init(_ prepared: PreparedTransfer, reference: String, currency: String?) {
    receipt = prepared.receipt
    let fee = prepared.serviceFee
    amounts = prepared.amount.map { [$0, $0 - fee, $0 + fee] } ?? []
    self.currency = prepared.body.text("currency") ?? currency
    self.reference = reference
  }

  /// An order that one step charges.
  init(_ order: PaymentOrder) {
    let amount = order.amount.minorUnits
    // A service fee that the order does not name is Pay Theory's to set.
    amounts = order.feeMode == .merchant ? [amount] : []
    if let fee = order.fee { amounts = [amount, amount + fee.minorUnits] }
    currency = order.amount.currency.code
    reference = order.reference.text
  }
}
