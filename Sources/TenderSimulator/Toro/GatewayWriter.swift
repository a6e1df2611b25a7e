import TenderEngine
import TenderModel

/// A message as it came in.
struct GatewayMessage {
  let step: String
  let root: XMLElement
  let document: [UInt8]

  var header: XMLElement? { root["Hdr"] }
  var body: XMLElement { root.children.count > 1 ? root.children[1] : root }
}

/// Writes the simulated gateway's answers, whole or broken as a fault wants them.
struct GatewayWriter {
  let message: GatewayMessage
  let now: Int
  let fault: String?

  private func text(_ path: String) -> String? { message.body.text(path) }

  private func document(
    _ root: String,
    _ schema: String,
    function: String?,
    _ write: (inout XMLWriter) -> Void
  ) -> HTTPResponse {
    var body = XMLWriter()
    write(&body)
    var writer = XMLWriter()
    writer.raw(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
        + "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:\(schema)\"><\(root)>"
    )
    writer.element("Hdr") { writer in
      if let function {
        writer.element("MsgFctn", function)
        writer.element("PrtcolVrsn", "12")
      } else {
        writer.element("DwnldTrf", "true")
        writer.element("FrmtVrsn", "12")
      }
      let number = message.header?.text("XchgId") ?? "0"
      writer.element("XchgId", fault == "wrong-exchange" ? "1" + number.dropFirst(2) : number)
      writer.element("CreDtTm", Timestamp.preciseText(now))
      writer.element("InitgPty") { writer in
        writer.element("Id", message.header?.text("InitgPty/Id"))
        writer.element("Tp", message.header?.text("InitgPty/Tp"))
      }
    }
    writer.raw(body.bytes)
    var mac = GatewaySecurity.mac(body.bytes) ?? []
    if fault == "bad-mac", !mac.isEmpty { mac[0] ^= 1 }
    if fault != "no-trailer" {
      writer.raw(
        "<SctyTrlr><CnttTp>AUTH</CnttTp><AuthntcdData><Rcpt><KeyIdr><KeyId>\(ToroCatalog.keyID)</KeyId>"
          + "<KeyVrsn>\(ToroCatalog.keyVersion)</KeyVrsn></KeyIdr></Rcpt><MACAlgo><Algo>CCA3</Algo>"
          + "</MACAlgo><NcpsltdCntt><CnttTp>DATA</CnttTp></NcpsltdCntt><MAC>\(Base64.encode(mac))</MAC>"
          + "</AuthntcdData></SctyTrlr>"
      )
    }
    writer.raw("</\(root)></Document>")
    return Self.response(writer.bytes)
  }

  private static func response(_ bytes: [UInt8]) -> HTTPResponse {
    HTTPResponse(status: 200, body: bytes, fields: ["content-type": "application/xml"])
  }

  private func writeEnvironment(_ writer: inout XMLWriter) {
    writer.element("Envt") { writer in
      for party in ["Mrchnt", "POI"] {
        writer.element(party) { writer in
          writer.element("Id") { $0.element("Id", text("Envt/\(party)/Id/Id")) }
        }
      }
    }
  }

  private func writeID(_ writer: inout XMLWriter) {
    let reference = text("Tx/TxId/TxRef") ?? ""
    writer.element("TxId") { writer in
      writer.element("TxDtTm", text("Tx/TxId/TxDtTm"))
      writer.element(
        "TxRef",
        fault == "wrong-transaction" ? String(reference.reversed()) + "X" : reference
      )
    }
  }

  /// The answer to an authorisation, from the books.
  func authorisation(_ sale: BookedSale) -> HTTPResponse {
    let captures = message.header?.text("MsgFctn") == "FAUQ"
    return document("AccptrAuthstnRspn", "caaa.002.001.12", function: captures ? "FAUP" : "AUTP") {
      writer in
      writer.element("AuthstnRspn") { writer in
        writeEnvironment(&writer)
        writer.element("Tx") { writer in
          writer.element("SaleRefId", text("Tx/SaleRefId"))
          writeID(&writer)
          writer.element("InitrTxId", text("Tx/InitrTxId"))
          writer.element("RcptTxId", sale.recipient)
          writer.element("TxDtls") { writer in
            writer.element("Ccy", text("Tx/TxDtls/Ccy"))
            writer.element("TtlAmt", text("Tx/TxDtls/TtlAmt"))
            if let amount = sale.authorised, let currency = sale.currency {
              let shown = fault == "too-much" ? amount * 10 : amount
              writer.element(
                "AuthrsdAmt",
                Money(minorUnits: shown, currency: currency).decimalText
              )
            }
            if message.body["Tx"]?["TxDtls"]?["ICCRltdData"] != nil {
              writer.element("ICCRltdData", Base64.encode(Self.issuerData(sale)))
            }
          }
        }
        writer.element("TxRspn") { writer in
          writer.element("AuthstnRslt") { writer in
            writer.element("RspnToAuthstn") { writer in
              writer.element("Rspn", sale.response)
              writer.element("RspnRsn", sale.reason)
              writer.element("AddtlRspnInf", sale.words)
            }
            writer.element("AuthstnCd", sale.code)
            writer.element("CmpltnReqrd", sale.needsCompletion ? "true" : "false")
          }
          // Refer to the issuer: an action, and a text for the cardholder's display (`Action14`).
          if sale.reason == "01" {
            writer.raw(
              "<Actn><ActnTp>RFRL</ActnTp><MsgToPres><MsgDstn>CDSP</MsgDstn><Frmt>TEXT</Frmt>"
                + "<MsgCntt>Please call your bank</MsgCntt></MsgToPres></Actn>"
            )
          }
        }
      }
    }
  }

  /// 8A and 91 for the chip.
  private static func issuerData(_ sale: BookedSale) -> [UInt8] {
    let isApproved = ["APPR", "PART"].contains(sale.response)
    let code = isApproved ? "00" : String(sale.reason.prefix(2))
    return TLV(0x8a, Array(code.utf8)).encoded
      + TLV(0x91, [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0, 0x12]).encoded
  }

  /// The answer to an advice.
  func advice(_ advice: ToroBooks.Advised, isCompletion: Bool) -> HTTPResponse {
    document(
      isCompletion ? "AccptrCmpltnAdvcRspn" : "AccptrCxlAdvcRspn",
      isCompletion ? "caaa.004.001.11" : "caaa.008.001.11",
      function: isCompletion ? "FCMK" : "CCAK"
    ) { writer in
      writer.element(isCompletion ? "CmpltnAdvcRspn" : "CxlAdvcRspn") { writer in
        writeEnvironment(&writer)
        writer.element("Tx") { writer in
          writer.element("SaleRefId", text("Tx/SaleRefId"))
          writeID(&writer)
          writer.element("RcptTxId", advice.recipient)
          writer.element("Rspn", advice.response)
        }
      }
    }
  }

  func diagnostic() -> HTTPResponse {
    document("AccptrDgnstcRspn", "caaa.014.001.10", function: "DGNQ") { writer in
      writer.element("DgnstcRspn") { writer in
        writeEnvironment(&writer)
        writer.element("AcqrrAvlbl", "true")
      }
    }
  }

  func plan() -> HTTPResponse {
    document("MgmtPlanRplcmnt", "catm.002.001.12", function: nil) { writer in
      writer.element("MgmtPlan") { writer in
        writer.element("POIId") { $0.element("Id", text("POIId/Id")) }
        writer.element("TermnlMgrId") { $0.element("Id", text("TermnlMgrId/Id")) }
        writer.raw(
          "<DataSet><Id><Tp>MGTP</Tp><Vrsn>1</Vrsn></Id>"
            + "<Cntt><Actn><Tp>DWNL</Tp><Trggr>DATE</Trggr></Actn></Cntt></DataSet>"
        )
      }
    }
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
    let root = isTerminal ? "TermnlMgmtRjctn" : "AccptrRjctn"
    var writer = XMLWriter()
    writer.raw(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:"
        + (isTerminal ? "catm.004.001.05" : "caaa.015.001.06") + "\"><\(root)>"
    )
    writer.element("Hdr") { writer in
      if isTerminal {
        writer.element("DwnldTrf", "true")
        writer.element("FrmtVrsn", "12")
        writer.element("XchgId", header?.text("XchgId") ?? "0")
      } else {
        writer.element("MsgFctn", "RJCP")
        writer.element("PrtcolVrsn", "12")
        writer.element("XchgId", header?.text("XchgId"))
      }
      writer.element("CreDtTm", Timestamp.preciseText(now))
      if isTerminal || header != nil {
        writer.element("InitgPty") { $0.element("Id", header?.text("InitgPty/Id") ?? "unknown") }
      }
    }
    writer.element("Rjct") { writer in
      writer.element("RjctRsn", reason)
      writer.element("AddtlInf", String(words.prefix(500)))
      writer.element("MsgInErr", Base64.encode(request.prefix(70_000)))
    }
    writer.raw("</\(root)></Document>")
    return response(writer.bytes)
  }
}
