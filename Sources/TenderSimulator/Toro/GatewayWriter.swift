import TenderEngine
import TenderModel

struct GatewayMessage {
  let step: String
  let root: XMLElement
  let document: [UInt8]

  var header: XMLElement? { root["Hdr"] }
  var body: XMLElement { root.children.count > 1 ? root.children[1] : root }
}

/// Writes the simulated gateway's answers, whole or with a fault.
struct GatewayWriter {
  let message: GatewayMessage
  let now: Int
  let fault: String?

  private func text(_ path: String) -> String? { message.body.text(path) }

  /// Elements by their paths, in the order of the schema.
  private typealias Rows = [XMLWriter.Row]

  private static func open(_ root: String, _ schema: String) -> XMLWriter {
    var writer = XMLWriter()
    writer.raw(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
        + "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:\(schema)\"><\(root)>"
    )
    return writer
  }

  private static func close(_ writer: XMLWriter, _ root: String) -> HTTPResponse {
    var writer = writer
    writer.raw("</\(root)></Document>")
    return HTTPResponse(
      status: 200,
      body: writer.bytes,
      fields: ["content-type": "application/xml"]
    )
  }

  private func document(
    _ root: String,
    _ schema: String,
    function: String?,
    _ rows: Rows
  ) -> HTTPResponse {
    var body = XMLWriter()
    body.write(rows)
    let number = message.header?.text("XchgId") ?? "0"
    var writer = Self.open(root, schema)
    writer.write([
      ("Hdr/MsgFctn", function), ("Hdr/PrtcolVrsn", function == nil ? nil : "12"),
      ("Hdr/DwnldTrf", function == nil ? "true" : nil),
      ("Hdr/FrmtVrsn", function == nil ? "12" : nil),
      ("Hdr/XchgId", fault == "wrong-exchange" ? "1" + number.dropFirst(2) : number),
      ("Hdr/CreDtTm", Timestamp.preciseText(now)),
      ("Hdr/InitgPty/Id", message.header?.text("InitgPty/Id")),
      ("Hdr/InitgPty/Tp", message.header?.text("InitgPty/Tp")),
    ])
    writer.raw(body.bytes)
    var mac = GatewaySecurity.mac(body.bytes) ?? []
    if fault == "bad-mac", !mac.isEmpty { mac[0] ^= 1 }
    if fault != "no-trailer" {
      let data = "SctyTrlr/AuthntcdData"
      writer.write([
        ("SctyTrlr/CnttTp", "AUTH"), ("\(data)/Rcpt/KeyIdr/KeyId", ToroCatalog.keyID),
        ("\(data)/Rcpt/KeyIdr/KeyVrsn", ToroCatalog.keyVersion), ("\(data)/MACAlgo/Algo", "CCA3"),
        ("\(data)/NcpsltdCntt/CnttTp", "DATA"), ("\(data)/MAC", Base64.encode(mac)),
      ])
    }
    return Self.close(writer, root)
  }

  /// The merchant and the terminal of an answer with `root`.
  private func environment(_ root: String) -> Rows {
    ["Mrchnt", "POI"].map { ("\(root)/Envt/\($0)/Id/Id", text("Envt/\($0)/Id/Id")) }
  }

  private func id(_ root: String) -> Rows {
    let reference = text("Tx/TxId/TxRef") ?? ""
    return [
      ("\(root)/Tx/TxId/TxDtTm", text("Tx/TxId/TxDtTm")),
      (
        "\(root)/Tx/TxId/TxRef",
        fault == "wrong-transaction" ? String(reference.reversed()) + "X" : reference
      ),
    ]
  }

  func authorisation(_ sale: BookedSale) -> HTTPResponse {
    let captures = message.header?.text("MsgFctn") == "FAUQ"
    let root = "AuthstnRspn"
    let result = "\(root)/TxRspn/AuthstnRslt"
    let action = "\(root)/TxRspn/Actn"
    var amount: String?
    if let authorised = sale.authorised, let currency = sale.currency {
      let shown = fault == "too-much" ? authorised * 10 : authorised
      amount = Money(minorUnits: shown, currency: currency).decimalText
    }
    let hasChip = message.body["Tx"]?["TxDtls"]?["ICCRltdData"] != nil
    var rows = environment(root)
    rows.append(("\(root)/Tx/SaleRefId", text("Tx/SaleRefId")))
    rows += id(root)
    rows += [
      ("\(root)/Tx/InitrTxId", text("Tx/InitrTxId")), ("\(root)/Tx/RcptTxId", sale.recipient),
      ("\(root)/Tx/TxDtls/Ccy", text("Tx/TxDtls/Ccy")),
      ("\(root)/Tx/TxDtls/TtlAmt", text("Tx/TxDtls/TtlAmt")),
      ("\(root)/Tx/TxDtls/AuthrsdAmt", amount),
      ("\(root)/Tx/TxDtls/ICCRltdData", hasChip ? Base64.encode(Self.issuerData(sale)) : nil),
      ("\(result)/RspnToAuthstn/Rspn", sale.response),
      ("\(result)/RspnToAuthstn/RspnRsn", sale.reason),
      ("\(result)/RspnToAuthstn/AddtlRspnInf", sale.words), ("\(result)/AuthstnCd", sale.code),
      ("\(result)/CmpltnReqrd", sale.needsCompletion ? "true" : "false"),
    ]
    // Refer to the issuer: an action, and a text for the cardholder's display (`Action14`).
    if sale.reason == "01" {
      rows += [
        ("\(action)/ActnTp", "RFRL"), ("\(action)/MsgToPres/MsgDstn", "CDSP"),
        ("\(action)/MsgToPres/Frmt", "TEXT"),
        ("\(action)/MsgToPres/MsgCntt", "Please call your bank"),
      ]
    }
    let function = captures ? "FAUP" : "AUTP"
    return document("AccptrAuthstnRspn", "caaa.002.001.12", function: function, rows)
  }

  /// 8A and 91 for the chip.
  private static func issuerData(_ sale: BookedSale) -> [UInt8] {
    let isApproved = ["APPR", "PART"].contains(sale.response)
    let code = isApproved ? "00" : String(sale.reason.prefix(2))
    return TLV(0x8a, Array(code.utf8)).encoded
      + TLV(0x91, [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0, 0x12]).encoded
  }

  func advice(_ advice: ToroBooks.Advised, isCompletion: Bool) -> HTTPResponse {
    let root = isCompletion ? "CmpltnAdvcRspn" : "CxlAdvcRspn"
    return document(
      "Accptr" + root,
      isCompletion ? "caaa.004.001.11" : "caaa.008.001.11",
      function: isCompletion ? "FCMK" : "CCAK",
      environment(root) + [("\(root)/Tx/SaleRefId", text("Tx/SaleRefId"))] + id(root) + [
        ("\(root)/Tx/RcptTxId", advice.recipient), ("\(root)/Tx/Rspn", advice.response),
      ]
    )
  }

  func diagnostic() -> HTTPResponse {
    let rows = environment("DgnstcRspn") + [("DgnstcRspn/AcqrrAvlbl", "true")]
    return document("AccptrDgnstcRspn", "caaa.014.001.10", function: "DGNQ", rows)
  }

  func plan() -> HTTPResponse {
    let data = "MgmtPlan/DataSet"
    return document(
      "MgmtPlanRplcmnt",
      "catm.002.001.12",
      function: nil,
      [
        ("MgmtPlan/POIId/Id", text("POIId/Id")),
        ("MgmtPlan/TermnlMgrId/Id", text("TermnlMgrId/Id")), ("\(data)/Id/Tp", "MGTP"),
        ("\(data)/Id/Vrsn", "1"), ("\(data)/Cntt/Actn/Tp", "DWNL"),
        ("\(data)/Cntt/Actn/Trggr", "DATE"),
      ]
    )
  }

  /// A rejection, which has no trailer.
  static func rejection(
    _ reason: String,
    _ words: String,
    _ request: [UInt8],
    isTerminal: Bool,
    now: Int
  ) -> HTTPResponse {
    let asked = try? XMLElement.read(request)
    let header = asked?.children.first?["Hdr"]
    /// A text of the header, if it may be in an answer.
    func own(_ path: String, _ type: String) -> String? {
      header?.text(path).flatMap { TextType.fits($0, type) ? $0 : nil }
    }
    let number = own("XchgId", "number")
    let sender = own("InitgPty/Id", "text/1-35") ?? (isTerminal || header != nil ? "unknown" : nil)
    let root = isTerminal ? "TermnlMgmtRjctn" : "AccptrRjctn"
    var writer = open(root, isTerminal ? "catm.004.001.05" : "caaa.015.001.06")
    writer.write([
      ("Hdr/DwnldTrf", isTerminal ? "true" : nil), ("Hdr/FrmtVrsn", isTerminal ? "12" : nil),
      ("Hdr/MsgFctn", isTerminal ? nil : "RJCP"), ("Hdr/PrtcolVrsn", isTerminal ? nil : "12"),
      ("Hdr/XchgId", isTerminal ? number ?? "0" : number),
      ("Hdr/CreDtTm", Timestamp.preciseText(now)), ("Hdr/InitgPty/Id", sender),
      ("Rjct/RjctRsn", reason), ("Rjct/AddtlInf", String(words.prefix(500))),
      ("Rjct/MsgInErr", Base64.encode(request.prefix(70_000))),
    ])
    return close(writer, root)
  }
}
