import TenderEngine
import TenderModel

/// Pay Theory's answers as outcomes, in the documented shapes (README, 4.6 to 4.11 and 8.1).
enum Replies {
  /// Reads a decrypted `transfer_complete`: a success, or a failure at the processor.
  ///
  /// Throws if it cannot be read, or does not name its payment and a possible state. The transfer was executed
  /// in some way.
  static func transferComplete(
    _ bytes: [UInt8],
    hasServiceFee: Bool,
    of ordered: Ordered
  ) throws(Fault) -> Outcome {
    guard let body = JSONReader.read(bytes, duplicates: .refused)?.object,
      let state = body.text("state")
    else {
      throw .socketError("a transfer without a state")
    }
    if let other = ordered.difference(from: body) {
      throw .socketError("an answer about another payment (\(other))")
    }
    guard body.receipt?.isEmpty == false else {
      throw .socketError("a transfer without a receipt number")
    }
    if ["FAILURE", "FAILED"].contains(state.uppercased()) { return declined(body) }
    guard Self.isState(ofNew: state) else {
      throw .socketError("a transfer in state \(state.prefix(40))")
    }
    guard body["amount"]?.boundedNumber != nil else {
      throw .socketError("a transfer without an amount")
    }
    return complete(body, hasServiceFee: hasServiceFee)
  }

  /// Returns whether a state is possible for a new transaction that was not declined.
  static func isState(ofNew state: String) -> Bool {
    ["PENDING", "SUCCEEDED", "SUCCESS", "SETTLED"].contains(state.uppercased())
  }

  /// Returns `PT_COMPLETE` with every documented key.
  static func complete(_ body: JSONObject, hasServiceFee: Bool) -> Outcome {
    let state = body.text("state") ?? ""
    let receipt = body.receipt ?? ""
    let fee = hasServiceFee ? (body["service_fee"] ?? body["fee"])?.boundedNumber ?? 0 : 0
    let amount = body["amount"]?.boundedNumber
    var outcome = Outcome(
      // An unknown state is not treated as final.
      status: ["SUCCEEDED", "SUCCESS", "SETTLED"].contains(state.uppercased())
        ? .succeeded : .pending,
      id: receipt.isEmpty ? nil : receipt,
      amount: amount,
      lastFour: body.lastFour,
      brand: body.brand.text,
      result: [
        "type": "PT_COMPLETE",
        "body": [
          "receipt_number": .string(receipt), "last_four": body["last_four"].as(.lastFour),
          "created_at": body["created_at"].as(.word), "amount": .integer(amount ?? 0),
          "service_fee": .integer(fee), "state": .string(state),
          "metadata": body["metadata"].orEmptyObject, "payor_id": body["payor_id"].as(.word),
          "payment_method_id": body["payment_method_id"].as(.word), "brand": body.brand,
        ],
      ]
    )
    outcome.providerStatus = state.isEmpty ? nil : state
    return outcome
  }

  /// Returns a transaction failure: the five documented properties, and our code for the processor's.
  static func declined(_ body: JSONObject) -> Outcome {
    // One SDK expects it one level deeper.
    let reason = (body["status"] ?? body["body"]?["status"])?["reason"]
    let processorCode = reason?["error_code"]?.text
    let type = body.text("type") ?? processorCode ?? ""
    let text = reason?["error_text"]?.text
    let code = processorCode.flatMap(Vocabulary.code) ?? Vocabulary.code(type) ?? "declined"
    let receipt = body.receipt
    var outcome = Outcome(
      status: .declined,
      id: receipt,
      lastFour: body.lastFour,
      brand: body.brand.text,
      result: [
        "type": .string(type), "receipt_number": receipt.map(JSON.string).orEmpty,
        "last_four": body["last_four"].as(.lastFour), "brand": body.brand,
        "state": .string(body.text("state") ?? "FAILURE"),
      ],
      fault: Fault(
        .declined,
        code: code,
        text ?? (type.isEmpty ? "the payment was declined" : "the payment was declined: \(type)")
      )
    )
    outcome.providerStatus = body.text("state")
    return outcome
  }

  /// Reads `PT_BARCODE`, with the keys of both generations.
  static func barcode(_ bytes: [UInt8], order: PayTheoryOrder) throws(Fault) -> Outcome {
    let body = JSONReader.read(bytes, duplicates: .refused)?.object ?? [:]
    let outcome = barcode(body, amount: order.amount.minorUnits)
    guard outcome.id != nil else { throw .socketError("a barcode without an id") }
    return outcome
  }

  /// Returns a barcode that waits for its payer, from an answer or a look-up.
  static func barcode(_ body: JSONObject, amount: Int?) -> Outcome {
    let id = body.text("BarcodeUid") ?? body.text("barcode_id")
    let url = (body["barcodeUrl"] ?? body["barcode_url"]).as(.text(8192))
    let shopMap = "https://pay.vanilladirect.com/pages/locations"
    return Outcome(
      status: .requiresAction,
      id: id,
      amount: amount,
      result: [
        "type": "PT_BARCODE",
        "body": [
          "BarcodeUid": id?.json ?? "",
          "Merchant": (body["Merchant"] ?? body["merchant_uid"]).as(.word),
          "barcode": body["barcode"].asText,
          "barcodeFee": (body["barcodeFee"] ?? body["fees"]).asText,
          "barcodeUrl": url,
          // The client adds this one (README, 4.11).
          "mapUrl": body["mapUrl"].flatMap(Shape.text(8192).filtered) ?? .string(shopMap),
        ],
      ],
      nextAction: PayerAction("barcode", ["url": url])
    )
  }

  /// Reads `PT_TOKENIZE`, with the keys of both generations.
  static func token(_ bytes: [UInt8]) throws(Fault) -> Outcome {
    guard let body = JSONReader.read(bytes, duplicates: .refused)?.object,
      let id = body.text("payment_method_id")
    else {
      throw .socketError("a token without a payment method id")
    }
    return Outcome(
      status: .succeeded,
      id: id,
      lastFour: body.lastFour,
      brand: body.brand.text,
      result: [
        "type": "PT_TOKENIZE",
        "body": [
          "payment_method_id": .string(id), "payor_id": body["payor_id"].as(.word),
          "last_four": body["last_four"].as(.lastFour), "brand": body.brand,
          "metadata": body["metadata"].orEmptyObject,
          "expiration": (body["expiration"] ?? body["exp_date"]).as(.word),
          "payment_type": body["payment_type"].as(.word),
        ],
      ]
    )
  }
}

extension JSON? {
  /// The value; an empty text if it is absent or null.
  var orEmpty: JSON {
    guard let self, self != .null else { return "" }
    return self
  }

  /// Returns the value if it has the documented shape, else an empty text.
  func `as`(_ shape: Shape) -> JSON { flatMap(shape.filtered) ?? "" }

  /// The value; an empty object if it is absent or null. Some services send it as JSON text.
  var orEmptyObject: JSON {
    switch self {
    case .object: self ?? [:]
    case .string(let text): JSONReader.read(text).flatMap { $0.object.map(JSON.object) } ?? [:]
    default: [:]
    }
  }

  /// The value as the documented text. Some services send a number.
  var asText: JSON {
    switch self {
    case .integer(let number): .string(String(number))
    case .number(let text): .string(text)
    default: self.as(.word)
    }
  }
}

extension JSONObject {
  /// The receipt number, under either of its two names.
  var receipt: String? { text("receipt_number") ?? text("idempotency") }

  /// The last four digits; nil without any.
  var lastFour: String? { self["last_four"].as(.lastFour).text.flatMap { $0.isEmpty ? nil : $0 } }

  /// The brand, under either of its two names.
  var brand: JSON {
    let given = self["brand"].flatMap { $0 == .null ? nil : $0 } ?? self["card_brand"]
    return given.as(.word)
  }
}
