package import TenderModel

/// The order in which Pay Theory documents the members of each result (README, 4.6 to 4.11 and 8.1).
extension PayTheoryProvider {
  private static let bodies: [String: [String]] = [
    "PT_CONFIRMATION": [
      "receipt_number", "amount", "service_fee", "brand", "first_six", "last_four",
    ],
    "PT_COMPLETE": [
      "receipt_number", "last_four", "created_at", "amount", "service_fee", "state", "metadata",
      "payor_id", "payment_method_id", "brand",
    ],
    "PT_BARCODE": ["BarcodeUid", "Merchant", "barcode", "barcodeFee", "barcodeUrl", "mapUrl"],
    "PT_TOKENIZE": [
      "payment_method_id", "payor_id", "last_four", "brand", "metadata", "expiration",
      "payment_type",
    ],
  ]
  private static let failure = ["type", "receipt_number", "last_four", "brand", "state"]

  /// A result with its members in the documented order, wherever it was kept meanwhile.
  package static func inKeyOrder(_ result: JSONObject) -> JSONObject {
    guard let type = result.text("type") else { return result }
    if let names = bodies[type], let body = result["body"]?.object {
      return ["type": .string(type), "body": .object(body.ordered(by: names))]
    }
    return result.ordered(by: failure)
  }
}
