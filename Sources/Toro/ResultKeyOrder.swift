package import TenderModel

/// The order in which the documentation lists the fields of a receipt (README, 5.2).
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
    var arranged = result.ordered(by: members)
    guard let receipt = result["receipt"]?.object else { return arranged }
    arranged["receipt"] = .object(receipt.ordered(by: fields))
    return arranged
  }
}
