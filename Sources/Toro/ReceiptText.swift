package import TenderModel

/// A printed receipt with the fields that card schemes require, one copy for each side.
package enum ReceiptText {
  /// The characters of a line on common receipt printers.
  private static let width = 40

  /// Returns both copies of a receipt, one below the other.
  ///
  /// `merchant` is the merchant's name, if known. `status` is the current status of the sale.
  package static func text(_ receipt: JSONObject, status: Status, merchant: String?) -> String {
    copy(receipt, status, merchant, of: "MERCHANT COPY", signs: true) + "\n"
      + copy(receipt, status, merchant, of: "CUSTOMER COPY", signs: false)
  }

  private static func copy(
    _ receipt: JSONObject,
    _ status: Status,
    _ merchant: String?,
    of title: String,
    signs: Bool
  ) -> String {
    var lines: [String] = []
    if let merchant { lines.append(centred(merchant)) }
    lines.append(centred(title))
    lines.append("")
    lines.append(centred(receipt.text("type") == "refund" ? "REFUND" : "SALE"))
    func add(_ name: String, _ value: String?) {
      if let value { lines.append(pair(name, value)) }
    }
    add("Date", receipt.text("dateTime").map { String($0.prefix(19)).replacing("T", with: " ") })
    add("Reference", receipt.text("saleReferenceId"))
    add("Terminal", receipt.text("terminalSerialNumber"))
    lines.append("")
    add("Card", receipt.text("panLastFour").map { "************\($0)" })
    add("Read", receipt.text("paymentInterface").flatMap { interfaces[$0] })
    add("Application", receipt.text("applicationLabel"))
    add("AID", receipt.text("aid"))
    lines.append("")
    let currency = receipt.text("currency").flatMap(Currency.init(code:))
    func money(_ field: String) -> String? {
      guard let amount = receipt[field]?.boundedNumber, let currency else { return nil }
      return "\(currency.code) \(Money(minorUnits: amount, currency: currency).decimalText)"
    }
    if let gratuity = receipt["gratuityAmount"]?.boundedNumber, gratuity > 0 {
      add("Gratuity", money("gratuityAmount"))
    }
    add("TOTAL", money("amount"))
    if receipt["authorisedAmount"] != nil,
      receipt["authorisedAmount"] != receipt["amount"]
    {
      add("AUTHORISED", money("authorisedAmount"))
    }
    lines.append("")
    lines.append(centred(outcome(receipt, status)))
    add("Authorisation code", receipt.text("authCode"))
    add("Response", receipt.text("actionCode") ?? receipt.text("responseReason"))
    let method = receipt.text("authenticationMethod")
    lines.append(centred(verification(method)))
    if signs, method == "CPSG" || method == "PPSG" {
      lines.append(
        receipt["signatureVerificationFailed"] == true
          ? centred("SIGNATURE NOT ACCEPTED")
          : receipt["signatureBase64"] == nil
            ? "\nSign: ______________________________" : centred("SIGNED ELECTRONICALLY")
      )
    }
    if !signs { lines.append(centred("Please keep this receipt")) }
    return lines.joined(separator: "\n") + "\n"
  }

  private static let interfaces = [
    "contact": "chip", "contactless": "contactless", "magswipe": "stripe",
  ]

  private static func outcome(_ receipt: JSONObject, _ status: Status) -> String {
    switch status {
    case .cancelled: return "CANCELLED"
    case .refunded: return "APPROVED, REFUNDED"
    case .partiallyRefunded: return "APPROVED, PARTLY REFUNDED"
    case .unknown: return "OUTCOME NOT KNOWN"
    default: break
    }
    return switch receipt.text("responseCode") {
    case "approved": receipt["captured"] == true ? "APPROVED" : "AUTHORISED, NOT CAPTURED"
    case ResponseCode.partiallyApproved: "APPROVED IN PART"
    case ResponseCode.suspended: "NOT PROCESSED YET"
    default: "DECLINED"
    }
  }

  /// Returns the line about the cardholder verification method (CVM).
  private static func verification(_ method: String?) -> String {
    switch method {
    case "FPIN", "NPIN": "PIN VERIFIED"
    case "CPSG", "PPSG": "CARDHOLDER SIGNATURE"
    case "MOBL": "VERIFIED ON DEVICE"
    case "BYPS": "PIN NOT ENTERED"
    case "UKNW": "CARDHOLDER NOT VERIFIED"
    default: "NO CARDHOLDER VERIFICATION"
    }
  }

  private static func centred(_ text: String) -> String {
    let shown = Printable.text(String(text.prefix(width)))
    return String(repeating: " ", count: max(0, (width - shown.count) / 2)) + shown
  }

  private static func pair(_ name: String, _ value: String) -> String {
    let shown = Printable.text(value)
    let gap = width - name.count - shown.count
    return gap > 0
      ? name + String(repeating: " ", count: gap) + shown : "\(name)\n  \(shown)"
  }
}
