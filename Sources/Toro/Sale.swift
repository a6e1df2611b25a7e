import TenderEngine
package import TenderModel

/// The identifiers of a sale, stored in the journal before its authorization is sent.
package struct SaleIdentity: Sendable, Hashable {
  package var saleReference: String
  /// The reference of the transaction, generated here.
  package var reference: String
  /// The time of the transaction, ISO 8601 with milliseconds.
  package var time: String
  package var initiator: String
  package var isRefund: Bool
  /// The total requested amount, gratuity included, in minor units.
  package var amount: Int
  package var currency: Currency
  package var entryMode: String?
  /// The acquirer's identifiers, once it answered.
  package var recipient: String?
  package var response: String?
  package var responseReason: String?
  package var additionalResponse: String?
  package var authorisationCode: String?

  var money: Money { Money(minorUnits: amount, currency: currency) }
}

extension SaleIdentity {
  /// The text for the journal, without card data and secrets.
  var stored: String {
    let object: JSON = [
      "sale": saleReference.json, "ref": reference.json, "at": time.json, "init": initiator.json,
      "refund": isRefund.json, "amount": amount.json, "currency": currency.code.json,
      "entry": entryMode?.json, "rcpt": recipient?.json, "rspn": response?.json,
      "rsn": responseReason?.json, "inf": additionalResponse?.json, "code": authorisationCode?.json,
    ]
    return JSONWriter.text(object)
  }

  /// Reads the text that `stored` returned; nil for anything else.
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
      currency: currency,
      entryMode: object.text("entry"),
      recipient: object.text("rcpt"),
      response: object.text("rspn"),
      responseReason: object.text("rsn"),
      additionalResponse: object.text("inf"),
      authorisationCode: object.text("code")
    )
  }

  /// Reads the identifiers of an earlier sale from its receipt; nil if the receipt lacks them.
  package init?(receipt: JSONObject) {
    guard let reference = receipt.text("transactionReference"),
      let time = receipt.text("dateTime"), Timestamp.read(time) != nil,
      // The smaller amount: it may have been authorized or captured in part.
      let amount = [receipt["authorisedAmount"], receipt["amount"]]
        .compactMap({ $0?.boundedNumber }).min(),
      let currency = receipt.text("currency").flatMap(Currency.init(code:)),
      let sale = receipt.text("saleReferenceId"),
      // A masked identifier does not identify the sale.
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
    let responses = ["approved": "APPR", ResponseCode.partiallyApproved: "PART"]
    response = responses[receipt.text("responseCode") ?? ""]
    responseReason = receipt.text("responseReason")
    additionalResponse = Self.whole(receipt.text("additionalResponseInformation"))
    authorisationCode = receipt.text("authCode")
    let modes = ["contact": "CICC", "contactless": "ECTL", "magswipe": "MGST"]
    entryMode = modes[receipt.text("paymentInterface") ?? ""]
  }

  private static func isMasked(_ text: String) -> Bool { text.contains("[redacted]") }

  /// Returns a text unless it was masked because it looked like a card number.
  private static func whole(_ text: String?) -> String? {
    text.flatMap { isMasked($0) ? nil : $0 }
  }
}

/// The values of a receipt's `responseCode` besides `approved` and `declined`. The documents name only those
/// two; these spellings are ours (README, 5.1).
enum ResponseCode {
  static let partiallyApproved = "partiallyApproved"
  static let suspended = "suspended"
  /// The values by ISO 20022's `Response9`, without `declined`.
  static let names = [
    "APPR": "approved", "PART": partiallyApproved, "SUSP": suspended, "TECH": "technicalError",
  ]
}
