import TenderModel

/// The messages to the gateway, compact and in the schemas' order (README, 3).
struct Messages {
  let configuration: ToroConfiguration
  let key: MessageKey

  /// One message, ready to be sent.
  struct Message {
    let kind: Kind
    let bytes: [UInt8]
    let exchange: String
    /// The transaction that the answer must name, and when it was.
    var transaction: String?
    var time: String?
    /// What the initiator called it, where the answer says.
    var initiator: String?
    var saleReference: String?
  }

  /// The exchanges: paths and message names (README, 3.1; the authorisation's path is inferred).
  enum Kind: String {
    case authorisation, completion, cancellation, diagnostic
    case statusReport = "status-report"

    var path: String {
      switch self {
      case .authorisation: "/v1/caaa/authorisation-request"
      case .completion: "/v1/caaa/completion-advice"
      case .cancellation: "/v1/caaa/cancellation-advice"
      case .diagnostic: "/v1/caaa/diagnostic-request"
      case .statusReport: "/v1/catm/status-report"
      }
    }

    fileprivate var schema: String {
      switch self {
      case .authorisation: "caaa.001.001.12"
      case .completion: "caaa.003.001.12"
      case .cancellation: "caaa.007.001.12"
      case .diagnostic: "caaa.013.001.10"
      case .statusReport: "catm.001.001.12"
      }
    }

    fileprivate var root: String {
      switch self {
      case .authorisation: "AccptrAuthstnReq"
      case .completion: "AccptrCmpltnAdvc"
      case .cancellation: "AccptrCxlAdvc"
      case .diagnostic: "AccptrDgnstcReq"
      case .statusReport: "StsRpt"
      }
    }

    /// Whether it can move money.
    var isEffecting: Bool { self != .diagnostic && self != .statusReport }
  }

  /// Puts header, body and trailer together.
  private func message(
    _ kind: Kind,
    function: String?,
    _ header: Header,
    _ body: (inout XMLWriter) -> Void
  ) throws(Fault) -> Message {
    var content = XMLWriter()
    body(&content)
    var writer = XMLWriter()
    writer.raw(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
        + "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:\(kind.schema)\"><\(kind.root)><Hdr>"
    )
    if let function {
      writer.element("MsgFctn", function)
      writer.element("PrtcolVrsn", "12")
    } else {
      writer.element("DwnldTrf", "false")
      writer.element("FrmtVrsn", "12")
    }
    writer.element("XchgId", header.exchange)
    if function != nil, header.repetition > 0 {
      writer.element("ReTrnsmssnCntr", String(min(header.repetition, 999)))
    }
    writer.element("CreDtTm", header.time)
    writer.element("InitgPty") { writer in
      writer.element("Id", configuration.poiID)
      writer.element("Tp", "OPOI")
      writer.element("Issr", "ACQR")
    }
    if let recipient = configuration.recipientID {
      writer.element("RcptPty") { writer in
        writer.element("Id", recipient)
        writer.element("Tp", "ITAG")
      }
    }
    writer.raw("</Hdr>")
    writer.raw(content.bytes)
    try key.writeTrailer(over: content.bytes, &writer)
    writer.raw("</\(kind.root)></Document>")
    return Message(kind: kind, bytes: writer.bytes, exchange: header.exchange)
  }

  /// What the header of a message says of this exchange.
  struct Header {
    var exchange: String
    var time: String
    /// How often the message was sent before.
    var repetition = 0
  }

  /// Asks to authorise a purchase or refund (`AcceptorAuthorisationRequest`).
  func authorisation(
    _ header: Header,
    _ sale: SaleIdentity,
    _ card: PresentedCard,
    _ terms: Terms
  ) throws(Fault) -> Message {
    var message = try message(
      .authorisation,
      function: terms.captures ? "FAUQ" : "AUTQ",
      header
    ) { writer in
      writer.element("AuthstnReq") { writer in
        writeEnvironment(&writer, card, terms)
        writer.element("Cntxt") { writer in
          writer.element("PmtCntxt") { writer in
            for name in ["CardPres", "CrdhldrPres", "OnLineCntxt"] { writer.element(name, "true") }
            writer.element("AttndncCntxt", "ATTD")
            writer.element("TxEnvt", "MERC")
            writer.element("TxChanl", "MPOS")
            writer.element("CardDataNtryMd", card.entryMode)
            if card.isFallback { writer.element("FllbckInd", "FFLB") }
            if !sale.isRefund { writer.element("SpprtdOptn", "PART") }
          }
        }
        writer.element("Tx") { writer in
          writer.element("TxCaptr", terms.captures ? "true" : "false")
          writer.element("TxTp", sale.type)
          if terms.gratuity != nil { writer.element("AddtlSvc", "GRTT") }
          writer.element("MrchntCtgyCd", configuration.merchantCategory)
          writer.element("SaleRefId", sale.saleReference)
          writeID(&writer, sale)
          if let original = terms.original { writeOriginal(&writer, original) }
          writer.element("InitrTxId", sale.initiator)
          writer.element("TxDtls") { writer in
            writer.element("Ccy", sale.currency.code)
            writer.element("TtlAmt", sale.money.decimalText)
            if let gratuity = terms.gratuity {
              let money = Money(minorUnits: gratuity, currency: sale.currency)
              writer.element("DtldAmt") { $0.element("Grtty", money.decimalText) }
            }
            for item in terms.additional {
              writer.element("AddtlInf") { writer in
                writer.element("Id", item.name)
                writer.element("Val", item.value.isEmpty ? nil : Base64.encode(item.value.utf8))
              }
            }
            let data = card.issuerData
            writer.element("ICCRltdData", data.isEmpty ? nil : Base64.encode(data))
          }
        }
      }
    }
    message.transaction = sale.reference
    message.time = sale.time
    message.initiator = sale.initiator
    message.saleReference = sale.saleReference
    return message
  }

  /// What a sale is under, beside its identity.
  struct Terms {
    var captures = true
    /// In minor units.
    var gratuity: Int?
    var original: SaleIdentity?
    var additional: [(name: String, value: String)] = []
    /// The reader's serial number.
    var serial: String?
  }

  /// Captures an amount of what was authorised, in minor units (`AcceptorCompletionAdvice`).
  func completion(
    _ header: Header,
    _ advice: Advice,
    _ sale: SaleIdentity,
    amount: Int
  ) throws(Fault) -> Message {
    var message = try message(.completion, function: "FCMV", header) { writer in
      writer.element("CmpltnAdvc") { writer in
        writeParties(&writer)
        writer.element("Tx") { writer in
          writer.element("TxCaptr", "true")
          writer.element("TxTp", sale.type)
          writer.element("MrchntCtgyCd", configuration.merchantCategory)
          writer.element("SaleRefId", sale.saleReference)
          writeID(&writer, reference: advice.reference, time: advice.time)
          writeOriginal(&writer, sale)
          writer.element("TxSucss", "true")
          writer.element("InitrTxId", sale.initiator.isEmpty ? nil : sale.initiator)
          writer.element("RcptTxId", Self.fitting(sale.recipient, 1...140))
          writeAmount(&writer, sale, total: amount)
        }
      }
    }
    message.transaction = advice.reference
    message.time = advice.time
    message.saleReference = sale.saleReference
    return message
  }

  /// The identity of an advice: the same however often it is sent.
  struct Advice {
    var reference: String
    var time: String
    /// Why a sale is undone, of ISO 20022's `FailureReason3`; nil where somebody wants it so.
    var reason: String?
  }

  /// Undoes a sale of an amount in minor units, whole (`AcceptorCancellationAdvice`).
  func cancellation(
    _ header: Header,
    _ advice: Advice,
    _ sale: SaleIdentity,
    amount: Int
  ) throws(Fault) -> Message {
    var message = try message(.cancellation, function: "CCAV", header) { writer in
      writer.element("CxlAdvc") { writer in
        writeParties(&writer)
        writer.element("Tx") { writer in
          writer.element("MrchntCtgyCd", configuration.merchantCategory)
          writer.element("SaleRefId", sale.saleReference)
          writeID(&writer, reference: advice.reference, time: advice.time)
          writeOriginal(&writer, sale)
          writer.element("TxSucss", advice.reason == nil ? "true" : "false")
          writer.element("FailrRsn", advice.reason)
          writer.element("InitrTxId", sale.initiator.isEmpty ? nil : sale.initiator)
          writer.element("RcptTxId", Self.fitting(sale.recipient, 1...140))
          writeAmount(&writer, sale, total: amount, isCancellation: true)
        }
      }
    }
    message.transaction = advice.reference
    message.time = advice.time
    message.saleReference = sale.saleReference
    return message
  }

  /// Asks whether the gateway is there and knows us (`AcceptorDiagnosticRequest`).
  func diagnostic(_ header: Header) throws(Fault) -> Message {
    try message(.diagnostic, function: "DGNP", header) { writer in
      writer.element("DgnstcReq") { writer in
        writeParties(&writer, withAcquirer: true)
        writer.element("AcqrrAvlbtyReqd", "true")
      }
    }
  }

  /// Tells the terminal manager what stands here, and asks for its plan (`StatusReport`).
  func statusReport(_ header: Header, serial: String?) throws(Fault) -> Message {
    try message(.statusReport, function: nil, header) { writer in
      writer.element("StsRpt") { writer in
        writer.element("POIId") { $0.element("Id", configuration.poiID) }
        writer.element("TermnlMgrId") { writer in
          writer.element("Id", configuration.recipientID ?? configuration.acquirerID)
        }
        writer.element("DataSet") { writer in
          writer.element("Id") { $0.element("Tp", "STRP") }
          writer.element("Cntt") { writer in
            if let serial {
              writer.element("POICmpnt") { writer in
                writer.element("Tp", "TERM")
                writeReader(&writer, serial)
              }
            }
            writer.element("POIDtTm", header.time)
            // The first item alone is heeded (README, 3.6).
            writer.element("DataSetReqrd") { writer in
              writer.element("Id") { $0.element("Tp", "MGTP") }
            }
          }
        }
      }
    }
  }
}
