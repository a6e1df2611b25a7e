import TenderEngine
package import TenderModel

/// A sale's own identity, kept in the journal from before its authorization leaves until it is over.
package struct SaleIdentity: Sendable, Hashable {
  package var saleReference: String
  /// The transaction's reference, made here.
  package var reference: String
  /// When it was, ISO 8601 with milliseconds.
  package var time: String
  package var initiator: String
  package var isRefund: Bool
  /// All that is asked for, gratuity included, in minor units.
  package var amount: Int
  package var currency: Currency
  package var entryMode: String?
  /// What the acquirer said, where it has.
  package var recipient: String?
  package var response: String?
  package var responseReason: String?
  package var additionalResponse: String?
  package var authorisationCode: String?

  var money: Money { Money(minorUnits: amount, currency: currency) }
}

extension SaleIdentity {
  /// The identity as the journal keeps it: no card data, no secrets.
  var stored: String {
    var object: JSONObject = [
      "sale": .string(saleReference), "ref": .string(reference), "at": .string(time),
      "init": .string(initiator), "refund": .bool(isRefund), "amount": .integer(amount),
      "currency": .string(currency.code),
    ]
    object["entry"] = entryMode.map(JSON.string)
    object["rcpt"] = recipient.map(JSON.string)
    object["rspn"] = response.map(JSON.string)
    object["rsn"] = responseReason.map(JSON.string)
    object["inf"] = additionalResponse.map(JSON.string)
    object["code"] = authorisationCode.map(JSON.string)
    return JSONWriter.text(.object(object))
  }

  /// Reads what `stored` gave; nil for anything else.
  init?(stored text: String) {
    guard let object = JSONReader.read(text)?.object, let sale = object.text("sale"),
      let reference = object.text("ref"), let time = object.text("at"),
      let initiator = object.text("init"), let amount = object["amount"]?.boundedNumber,
      let currency = object.text("currency").flatMap(Currency.init(code:))
    else { return nil }
    self.init(
      saleReference: sale,
      reference: reference,
      time: time,
      initiator: initiator,
      isRefund: object["refund"]?.truth ?? false,
      amount: amount,
      currency: currency
    )
    entryMode = object.text("entry")
    recipient = object.text("rcpt")
    response = object.text("rspn")
    responseReason = object.text("rsn")
    additionalResponse = object.text("inf")
    authorisationCode = object.text("code")
  }

  /// Reads the identity of an earlier sale from its receipt; nil where the receipt lacks it.
  package init?(receipt: JSONObject) {
    guard let reference = receipt.text("transactionReference"),
      let time = receipt.text("dateTime"), Timestamp.read(time) != nil,
      // The less of both: what was authorised in part, or captured in part.
      let amount = [receipt["authorisedAmount"], receipt["amount"]]
        .compactMap({ $0?.boundedNumber }).min(),
      let currency = receipt.text("currency").flatMap(Currency.init(code:)),
      let sale = receipt.text("saleReferenceId"),
      // What was masked names nothing any more, or something else.
      !Self.isMasked(reference), !Self.isMasked(sale)
    else { return nil }
    self.init(
      saleReference: sale,
      reference: reference,
      time: time,
      initiator: receipt.text("initiatorTransactionId") ?? "",
      isRefund: receipt.text("type") == "refund",
      amount: amount,
      currency: currency
    )
    recipient = Self.whole(receipt.text("recipientTransactionId"))
    response =
      switch receipt.text("responseCode") {
      case "approved": "APPR"
      case ResponseCode.partiallyApproved: "PART"
      default: nil
      }
    responseReason = receipt.text("responseReason")
    additionalResponse = Self.whole(receipt.text("additionalResponseInformation"))
    authorisationCode = receipt.text("authCode")
    entryMode =
      switch receipt.text("paymentInterface") {
      case "contact": "CICC"
      case "contactless": "ECTL"
      case "magswipe": "MGST"
      default: nil
      }
  }

  private static func isMasked(_ text: String) -> Bool { text.contains("[redacted]") }

  /// A text that nobody masked, because it looked like a card number.
  private static func whole(_ text: String?) -> String? {
    text.flatMap { isMasked($0) ? nil : $0 }
  }
}

/// The words of a receipt's `responseCode` besides `approved` and `declined`: the documents name those
/// two alone, and these spellings are ours (README, 5.1).
enum ResponseCode {
  static let partiallyApproved = "partiallyApproved"
  static let suspended = "suspended"
  static let technical = "technicalError"
}
