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
    var fields: JSONObject = ["saleReferenceId": .string(sale.saleReference)]
    fields["amount"] = .integer(sale.amount)
    if let answer, answer.isApproved {
      fields["authorisedAmount"] = .integer(answer.authorised ?? sale.amount)
    }
    fields["type"] = sale.isRefund ? "refund" : "purchase"
    // The documented receipt always has it; 0 if there is no gratuity (README, 5.2).
    fields["gratuityAmount"] = .integer(gratuity ?? 0)
    fields["currency"] = .string(sale.currency.code)
    fields["authCode"] = answer?.code.map(JSON.string)
    fields["responseCode"] = .string(responseCode)
    fields["responseReason"] =
      isDeclinedByCard ? "declined by the card" : answer?.reason.map(JSON.string)
    fields["authenticationMethod"] = card?.authentication.map(JSON.string)
    fields["additionalResponseInformation"] = answer?.additional.map(JSON.string)
    fields["actionCode"] = answer?.actionCode.map(JSON.string)
    fields["aid"] = card?.aid.map(JSON.string)
    fields["applicationLabel"] = card?.label.map(JSON.string)
    fields["paymentInterface"] = card.map { .string($0.interface.rawValue) }
    fields["panStart"] = (card?.number?.start).map(JSON.string)
    fields["panLastFour"] = (card?.number?.lastFour).map(JSON.string)
    fields["recipientTransactionId"] = answer?.recipient.map(JSON.string)
    fields["initiatorTransactionId"] = .string(sale.initiator)
    fields["transactionReference"] = .string(sale.reference)
    fields["dateTime"] = .string(sale.time)
    fields["terminalSerialNumber"] = (session.serial ?? card?.serial).map(JSON.string)
    fields["signatureBase64"] = session.signature.map { .string(Base64.encode($0)) }
    fields["signatureVerificationFailed"] = .bool(signatureVerificationFailed)
    fields["captured"] = .bool(isCaptured)
    fields["longitude"] = configuration.longitude.map(JSON.string)
    fields["latitude"] = configuration.latitude.map(JSON.string)
    if !order.additional.members.isEmpty {
      fields["additionalInformation"] = .object(order.additional)
    }
    return fields
  }
}
