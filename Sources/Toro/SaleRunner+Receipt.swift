import TenderEngine
import TenderModel

/// The documented receipt, field by field (README, 5.2). Absent values are left out.
extension SaleRunner {
  private var responseCode: String {
    if isDeclinedByCard { return "declined" }
    return switch answer?.response {
    case "APPR": "approved"
    case "PART": ResponseCode.partiallyApproved
    case "SUSP": ResponseCode.suspended
    case "TECH": ResponseCode.technical
    default: "declined"
    }
  }

  /// Whether the sale is captured: it was approved with capture, and no completion is needed.
  var isCaptured: Bool {
    guard let answer else { return false }
    return order.captures && answer.isApproved && !answer.isCompletionRequired && !isDeclinedByCard
  }

  var receipt: JSONObject {
    let card = session.card
    let configuration = context.configuration
    // The documented receipt always has a gratuity; 0 if there is none (README, 5.2).
    return JSONObject(values: [
      "saleReferenceId": sale.saleReference, "amount": sale.amount,
      "authorisedAmount": answer?.isApproved == true ? answer?.authorised ?? sale.amount : nil,
      "type": sale.isRefund ? "refund" : "purchase", "gratuityAmount": gratuity ?? 0,
      "currency": sale.currency.code, "authCode": answer?.code, "responseCode": responseCode,
      "responseReason": isDeclinedByCard ? "declined by the card" : answer?.reason,
      "authenticationMethod": card?.authentication,
      "additionalResponseInformation": answer?.additional, "actionCode": answer?.actionCode,
      "aid": card?.aid, "applicationLabel": card?.label,
      "paymentInterface": card?.interface.rawValue, "panStart": card?.number?.start,
      "panLastFour": card?.number?.lastFour, "recipientTransactionId": answer?.recipient,
      "initiatorTransactionId": sale.initiator, "transactionReference": sale.reference,
      "dateTime": sale.time, "terminalSerialNumber": session.serial ?? card?.serial,
      "signatureBase64": session.signature.map { Base64.encode($0) },
      "signatureVerificationFailed": signatureVerificationFailed, "captured": isCaptured,
      "longitude": configuration.longitude, "latitude": configuration.latitude,
      "additionalInformation": order.additional.members.isEmpty ? nil : order.additional,
    ])
  }
}
