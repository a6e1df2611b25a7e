import TenderEngine
import TenderModel

/// A payment that Pay Theory prepared and that part 2 captures (README, 4.6).
struct PreparedTransfer {
  /// The decrypted body of `transfer_confirmation`, unchanged.
  let text: String
  /// The caller's session id, with which a later process reconnects.
  let session: String
  let body: JSONObject
  let metadata: JSONObject

  /// Reads the body of a `transfer_confirmation`; nil if it names no receipt.
  init?(body bytes: [UInt8], session: String, metadata: JSONObject) {
    guard let body = JSONReader.read(bytes, duplicates: .refused)?.object,
      let receipt = body.text("idempotency")
        ?? body.text("receipt_number"), !receipt.isEmpty
    else { return nil }
    text = String(decoding: bytes, as: UTF8.self)
    self.session = session
    self.body = body
    self.metadata = metadata
  }

  /// Reads the text that `stored` returned; nil for anything else.
  init?(stored: String) {
    guard let object = JSONReader.read(stored)?.object, let session = object.text("session"),
      let text = object.text("preparation")
    else { return nil }
    self.init(body: Array(text.utf8), session: session, metadata: object["metadata"]?.object ?? [:])
  }

  /// The text that a later process needs, without card data and keys.
  var stored: String {
    JSONWriter.text([
      "session": .string(session), "preparation": .string(text), "metadata": .object(metadata),
    ])
  }

  /// The receipt number, which is called `idempotency` on the wire.
  var receipt: String { body.text("idempotency") ?? body.text("receipt_number") ?? "" }

  /// The payment intent that a cancellation names.
  var intent: String { body.text("payment_intent_id") ?? "" }

  /// The total amount for the payer, fee included, in minor units.
  var amount: Int? { body["amount"]?.boundedNumber }

  /// The service fee in minor units; 0 if the merchant pays it.
  var serviceFee: Int {
    guard body.text("fee_mode") == "service_fee" else { return 0 }
    return (body["fee"] ?? body["service_fee"])?.boundedNumber ?? 0
  }

  /// Whether the reference and the last four digits in it, where it has them, are those of an order.
  func isOf(_ order: PayTheoryOrder) -> Bool {
    let reference = body["pay_theory_data"]?["reference"]?.text ?? ""
    let lastFour = body.text("last_four") ?? ""
    return (reference.isEmpty || reference == order.reference.text)
      && (lastFour.isEmpty || lastFour == order.instrument?.lastFour ?? lastFour)
  }

  /// The documented `PT_CONFIRMATION` (README, 4.6).
  var confirmation: JSONObject {
    [
      "type": "PT_CONFIRMATION",
      "body": [
        "receipt_number": .string(receipt), "amount": .integer(amount ?? 0),
        "service_fee": .integer(serviceFee), "brand": body.brand,
        "first_six": body["first_six"].orEmpty, "last_four": body["last_four"].orEmpty,
      ],
    ]
  }
}

extension FeeMode {
  /// Reads the fee mode of a message. `interchange` is the older name of `merchant_fee` (README, 5.2).
  package init?(wire: String) { self.init(rawValue: wire == "interchange" ? "merchant_fee" : wire) }
}

/// The values that an answer to a transfer must match. Any other answer is ignored.
struct Ordered {
  /// The receipt number from the preparation; nil before there is one.
  var receipt: String?
  /// The possible amounts in minor units, without and with a fee; empty if any amount is possible.
  var amounts: [Int]
  var currency: String?
  var reference: String?

  /// Returns the member of an answer that belongs to another payment; nil if all match this one.
  func difference(from body: JSONObject) -> String? {
    if let receipt, let named = body.receipt, !named.isEmpty, named != receipt {
      return "receipt_number"
    }
    if let amount = body["amount"]?.boundedNumber, !amounts.isEmpty, !amounts.contains(amount) {
      return "amount"
    }
    if let currency, let other = body.text("currency"), other != currency { return "currency" }
    if let reference, let other = body.text("reference"), !other.isEmpty, other != reference {
      return "reference"
    }
    return nil
  }

  init(_ prepared: PreparedTransfer, reference: String, currency: String?) {
    receipt = prepared.receipt
    let fee = prepared.serviceFee
    amounts = prepared.amount.map { [$0, $0 - fee, $0 + fee] } ?? []
    self.currency = prepared.body.text("currency") ?? currency
    self.reference = reference
  }

  /// Creates the values for an order that is charged in one step.
  init(_ order: PayTheoryOrder) {
    let amount = order.amount.minorUnits
    // Pay Theory sets a service fee that the order does not name.
    amounts = order.feeMode == .merchant ? [amount] : []
    if let fee = order.fee { amounts = [amount, amount + fee.minorUnits] }
    currency = order.amount.currency.code
    reference = order.reference.text
  }
}
