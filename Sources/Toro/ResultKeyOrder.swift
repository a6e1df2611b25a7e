package import TenderModel

/// The order in which the source document lists the fields of a receipt.
extension ToroProvider {
  private static let members = [
    "state", "error", "cancellationType", "reason", "message", "receipt", "actions", "refunds",
  ]
  private static let fields = [
    "saleReferenceId", "amount", "authorisedAmount", "type", "gratuityAmount", "currency",
    "authCode", "responseCode", "responseReason", "authenticationMethod",
    "additionalResponseInformation", "actionCode", "aid", "applicationLabel", "paymentInterface",
    "panStart", "panLastFour", "recipientTransactionId", "initiatorTransactionId",
    "transactionReference", "dateTime", "terminalSerialNumber", "signatureBase64",
    "signatureVerificationFailed", "captured", "longitude", "latitude", "additionalInformation",
  ]

  /// A result with its members in the documented order, wherever it was kept meanwhile.
  package static func inKeyOrder(_ result: JSONObject) -> JSONObject {
    guard result["receipt"] != nil || result["cancellationType"] != nil || result["reason"] != nil
    else { return result }
    var arranged = order(result, by: members)
    guard let receipt = result["receipt"]?.object else { return arranged }
    arranged["receipt"] = .object(order(receipt, by: fields))
    return arranged
  }

  private static func order(_ object: JSONObject, by names: [String]) -> JSONObject {
    var ordered: JSONObject = [:]
    for name in names { ordered[name] = object[name] }
    for member in object.members where ordered[member.key] == nil {
      ordered[member.key] = member.value
    }
    return ordered
  }
}
