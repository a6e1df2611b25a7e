import TenderModel

/// The acquirer's answer to an authorization (`AcceptorAuthorisationResponse`; README, 3.4).
struct AuthorisationAnswer {
  /// `Response9Code`: APPR, DECL, PART, SUSP, TECH.
  let response: String
  let reason: String?
  let additional: String?
  let code: String?
  let recipient: String?
  /// The authorized amount in minor units.
  let authorised: Int?
  let isCompletionRequired: Bool
  /// The issuer's data for the chip: tags 8A, 91, 71, 72.
  let issuerData: [TLV]
  /// Further actions that the acquirer asks for, with its names: `{"ActnTp","MsgToPres":{"MsgDstn",…}}`.
  let actions: [JSONObject]

  /// Reads a body; nil if a mandatory part is missing or does not fit the sale.
  init?(_ body: XMLElement, for sale: SaleIdentity) {
    guard let result = body["TxRspn"]?["AuthstnRslt"],
      let response = result.text("RspnToAuthstn/Rspn"),
      ["APPR", "DECL", "PART", "SUSP", "TECH"].contains(response),
      let details = body["Tx"]?["TxDtls"]
    else { return nil }
    self.response = response
    reason = result.text("RspnToAuthstn/RspnRsn").nonEmpty
    additional = result.text("RspnToAuthstn/AddtlRspnInf").nonEmpty
    code = result.text("AuthstnCd").nonEmpty
    recipient = body.text("Tx/RcptTxId").nonEmpty
    isCompletionRequired = ["true", "1"].contains(result.text("CmpltnReqrd") ?? "")
    actions = Self.actions(body["TxRspn"])
    if let currency = details.text("Ccy"), currency != sale.currency.code { return nil }
    authorised = details.text("AuthrsdAmt").flatMap { Self.minorUnits($0, sale.currency) }
    if details["AuthrsdAmt"] != nil, (authorised ?? .max) > sale.amount { return nil }
    // A partial approval must state its amount, and the amount must not be 0.
    if response == "PART", authorised == nil { return nil }
    if ["APPR", "PART"].contains(response), (authorised ?? sale.amount) <= 0 { return nil }
    // The schema requires the total. Only a partial approval may have another one: its amount.
    guard let total = details.text("TtlAmt").flatMap({ Self.minorUnits($0, sale.currency) }),
      total == sale.amount || response == "PART" && total == authorised
    else { return nil }
    if let text = details.text("ICCRltdData") {
      guard let bytes = Base64.decode(text.filter { !$0.isWhitespace }),
        let objects = TLV.read(bytes)
      else { return nil }
      issuerData = objects
    } else {
      issuerData = []
    }
  }

  /// Returns at most ten actions, with shortened texts (`Action14`, ISO 20022 caaa.002.001.12).
  private static func actions(_ response: XMLElement?) -> [JSONObject] {
    (response?.children.filter { $0.name == "Actn" }.prefix(10) ?? []).map { action in
      var shown: JSONObject = [:]
      shown["ActnTp"] = action.text("ActnTp").nonEmpty?.json
      guard let message = action["MsgToPres"] else { return shown }
      var text: JSONObject = [:]
      for name in ["MsgDstn", "InfQlfr", "Frmt", "MsgCntt"] {
        text[name] = message.text(name).nonEmpty.map { .string(String($0.prefix(2000))) }
      }
      shown["MsgToPres"] = .object(text)
      return shown
    }
  }

  /// The text for the cardholder's display; nil if there is none.
  var displayText: String? {
    let texts = actions.compactMap { action -> String? in
      guard let message = action["MsgToPres"], message["MsgDstn"]?.text == "CDSP",
        ["TEXT", nil].contains(message["Frmt"]?.text)
      else { return nil }
      return message["MsgCntt"]?.text
    }
    guard !texts.isEmpty else { return nil }
    return String(Printable.text(texts.joined(separator: " ")).prefix(80))
  }

  var isApproved: Bool { response == "APPR" || response == "PART" }

  /// The issuer's authorization response code, two characters; nil if the issuer set none.
  var actionCode: String? {
    guard let bytes = issuerData[tag: 0x8a], bytes.count == 2,
      bytes.allSatisfy({ (0x20..<0x7f).contains($0) })
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The data for the chip: the issuer's objects, or else a code with the same meaning.
  var decision: [TLV] {
    let ours = issuerData.filter { [0x8a, 0x91, 0x71, 0x72].contains($0.tag) }
    if actionCode != nil { return ours }
    let code = TLV(0x8a, Array((isApproved ? "00" : "05").utf8))
    return [code] + ours.filter { $0.tag != 0x8a }
  }
}

extension AuthorisationAnswer {
  /// Returns the minor units of a decimal amount with up to five fractional digits; nil if the currency has
  /// fewer digits.
  private static func minorUnits(_ text: String, _ currency: Currency) -> Int? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), text.utf8.count <= 20 else { return nil }
    var fraction = parts.count == 2 ? String(parts[1]) : ""
    while fraction.hasSuffix("0") { fraction.removeLast() }
    let whole = fraction.isEmpty ? String(parts[0]) : "\(parts[0]).\(fraction)"
    return (try? Money(decimal: whole, currency: currency, named: ""))?.minorUnits
  }
}

extension String? {
  fileprivate var nonEmpty: String? { flatMap { $0.isEmpty ? nil : $0 } }
}
