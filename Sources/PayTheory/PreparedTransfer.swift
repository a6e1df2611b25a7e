package import TenderEngine
import TenderModel

/// A payment that Pay Theory prepared and that part 2 captures (README, 4.6).
struct PreparedTransfer {
  /// The decrypted body of `transfer_confirmation`, kept as it came.
  let text: String
  /// The caller's session id, under which a later process reconnects.
  let session: String
  let body: JSONObject
  let metadata: JSONObject

  /// Reads the body of a `transfer_confirmation`; nil where it names no receipt.
  init?(body bytes: [UInt8], session: String, metadata: JSONObject) {
    guard let body = JSONReader.read(bytes)?.object,
      let receipt = body.text("idempotency")
        ?? body.text("receipt_number"), !receipt.isEmpty
    else { return nil }
    text = String(decoding: bytes, as: UTF8.self)
    self.session = session
    self.body = body
    self.metadata = metadata
  }

  /// Reads back what `kept` wrote; nil where it is not that.
  init?(stored: String) {
    guard let object = JSONReader.read(stored)?.object, let session = object.text("session"),
      let text = object.text("preparation")
    else { return nil }
    self.init(
      body: Array(text.utf8),
      session: session,
      metadata: object["metadata"]?.object ?? [:]
    )
  }

  /// What a later process needs: no card data, no key.
  var stored: String {
    JSONWriter.text([
      "session": .string(session), "preparation": .string(text), "metadata": .object(metadata),
    ])
  }

  /// The receipt number; the wire calls it `idempotency`.
  var receipt: String { body.text("idempotency") ?? body.text("receipt_number") ?? "" }

  /// The intent that a cancel names.
  var intent: String { body.text("payment_intent_id") ?? "" }

  /// What the payer would pay, fee included, in minor units.
  var amount: Int? { body["amount"]?.boundedNumber }

  /// The service fee in minor units; none where the merchant pays it.
  var serviceFee: Int {
    guard body.text("fee_mode") == "service_fee" else { return 0 }
    return (body["fee"] ?? body["service_fee"])?.boundedNumber ?? 0
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
  /// The mode that a message names; `interchange` is the older name of the merchant's fee
  /// (README, 5.2).
  package init?(wire: String) { self.init(rawValue: wire == "interchange" ? "merchant_fee" : wire) }
}
