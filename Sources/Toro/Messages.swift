import TenderEngine
import TenderModel

/// Builds the messages to the gateway, without spaces and in the order of the schemas (README, 3).
struct Messages {
  let configuration: ToroConfiguration
  let key: MessageKey

  struct Message {
    let kind: Kind
    let bytes: [UInt8]
    let exchange: String
    /// The `MsgFctn` of its answer; nil if the header has none.
    let answerFunction: String?
    /// The transaction that the answer must name; nil if the answer names none.
    let subject: Subject?
  }

  /// The identifiers of a transaction in a message and its answer.
  struct Subject {
    let reference: String
    let time: String
    let saleReference: String
    /// The initiator's identifier, if the answer contains it.
    var initiator: String?
  }

  /// The values of a message's header.
  struct Header {
    var exchange: String
    var time: String
    /// The number of times that the message was sent before.
    var repetition = 0
  }

  /// Elements by their paths, in schema order.
  private typealias Rows = [XMLWriter.Row]

  /// Combines header, body and trailer.
  private func message(
    _ kind: Kind,
    function: String?,
    _ header: Header,
    _ subject: Subject? = nil,
    rows: Rows
  ) throws(Fault) -> Message {
    let names = kind.names
    var content = XMLWriter()
    content.write(rows)
    var writer = XMLWriter()
    writer.raw(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
        + "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:\(names.schema)\"><\(names.root)>"
    )
    let isRepeated = function != nil && header.repetition > 0
    writer.write([
      ("Hdr/MsgFctn", function), ("Hdr/PrtcolVrsn", function == nil ? nil : "12"),
      ("Hdr/DwnldTrf", function == nil ? "false" : nil),
      ("Hdr/FrmtVrsn", function == nil ? "12" : nil), ("Hdr/XchgId", header.exchange),
      ("Hdr/ReTrnsmssnCntr", isRepeated ? String(min(header.repetition, 999)) : nil),
      ("Hdr/CreDtTm", header.time), ("Hdr/InitgPty/Id", configuration.poiID),
      ("Hdr/InitgPty/Tp", "OPOI"), ("Hdr/InitgPty/Issr", "ACQR"),
      ("Hdr/RcptPty/Id", configuration.recipientID),
      ("Hdr/RcptPty/Tp", configuration.recipientID == nil ? nil : "ITAG"),
    ])
    writer.raw(content.bytes)
    writer.write(try key.trailer(over: content.bytes))
    writer.raw("</\(names.root)></Document>")
    return Message(
      kind: kind,
      bytes: writer.bytes,
      exchange: header.exchange,
      answerFunction: function.flatMap { Self.answerFunctions[$0] },
      subject: subject
    )
  }

  /// The function of the answer to each function (ISO 20022, `MessageFunction46Code`).
  private static let answerFunctions = [
    "FAUQ": "FAUP", "AUTQ": "AUTP", "FCMV": "FCMK", "CCAV": "CCAK", "DGNP": "DGNQ",
  ]

  /// Builds an `AcceptorAuthorisationRequest` for a purchase or refund. `gratuity` is in minor units,
  /// `serial` is the reader's number.
  func authorisation(
    _ header: Header,
    _ sale: SaleIdentity,
    _ card: PresentedCard,
    _ order: SaleOrder,
    gratuity: Int?,
    serial: String?
  ) throws(Fault) -> Message {
    let payment: Rows =
      ["CardPres", "CrdhldrPres", "OnLineCntxt"].map { ($0, "true") } + [
        ("AttndncCntxt", "ATTD"), ("TxEnvt", "MERC"), ("TxChanl", "MPOS"),
        ("CardDataNtryMd", card.entryMode), ("FllbckInd", card.isFallback ? "FFLB" : nil),
        ("SpprtdOptn", sale.isRefund ? nil : "PART"),
      ]
    let tip = gratuity.map { Money(minorUnits: $0, currency: sale.currency).decimalText }
    let data = card.issuerData
    var details: Rows = [
      ("Ccy", sale.currency.code), ("TtlAmt", sale.money.decimalText), ("DtldAmt/Grtty", tip),
    ]
    for (index, item) in order.additional.members.enumerated() {
      let text = item.value.text ?? JSONWriter.text(item.value)
      let value = text.isEmpty ? nil : Base64.encode(text.utf8)
      details += [("AddtlInf#\(index)/Id", item.key), ("AddtlInf#\(index)/Val", value)]
    }
    details.append(("ICCRltdData", data.isEmpty ? nil : Base64.encode(data)))
    var transaction: Rows = [
      ("TxCaptr", order.captures ? "true" : "false"), ("TxTp", sale.type),
      ("AddtlSvc", tip == nil ? nil : "GRTT"), ("MrchntCtgyCd", configuration.merchantCategory),
      ("SaleRefId", sale.saleReference), ("TxId/TxDtTm", sale.time), ("TxId/TxRef", sale.reference),
    ]
    transaction += order.original.flatMap(SaleIdentity.init(receipt:)).map(original) ?? []
    transaction += [("InitrTxId", sale.initiator)] + Self.within("TxDtls", details)
    return try message(
      .authorisation,
      function: order.captures ? "FAUQ" : "AUTQ",
      header,
      Subject(
        reference: sale.reference,
        time: sale.time,
        saleReference: sale.saleReference,
        initiator: sale.initiator
      ),
      rows: Self.within(
        "AuthstnReq",
        Self.within("Envt", environment(card, serial: serial))
          + Self.within("Cntxt/PmtCntxt", payment) + Self.within("Tx", transaction)
      )
    )
  }

  /// The identifiers of an advice, which stay the same for every repetition.
  struct Advice {
    var reference: String
    var time: String
    /// The reason to undo a sale, from ISO 20022's `FailureReason3`; nil if the operator asked for it.
    var reason: String?
  }

  /// Builds an advice that captures an amount (`AcceptorCompletionAdvice`) or undoes the whole sale
  /// (`AcceptorCancellationAdvice`). `amount` is in minor units.
  func advice(
    _ kind: Kind,
    _ header: Header,
    _ advice: Advice,
    _ sale: SaleIdentity,
    amount: Int
  ) throws(Fault) -> Message {
    let captures = kind == .completion
    let reason = captures ? nil : advice.reason
    let total = Money(minorUnits: amount, currency: sale.currency).decimalText
    let transaction: Rows =
      [
        ("TxCaptr", captures ? "true" : nil), ("TxTp", captures ? sale.type : nil),
        ("MrchntCtgyCd", configuration.merchantCategory), ("SaleRefId", sale.saleReference),
        ("TxId/TxDtTm", advice.time), ("TxId/TxRef", advice.reference),
      ] + original(sale) + [
        ("TxSucss", reason == nil ? "true" : "false"), ("FailrRsn", reason),
        ("InitrTxId", sale.initiator.isEmpty ? nil : sale.initiator),
        ("RcptTxId", Self.fitting(sale.recipient, 1...140)), ("TxDtls/Ccy", sale.currency.code),
        ("TxDtls/TtlAmt", total),
        // The completion of a part also states the authorized amount.
        ("TxDtls/AuthrsdAmt", captures && amount < sale.amount ? sale.money.decimalText : nil),
      ]
    return try message(
      kind,
      function: captures ? "FCMV" : "CCAV",
      header,
      Subject(
        reference: advice.reference,
        time: advice.time,
        saleReference: sale.saleReference
      ),
      rows: Self.within(
        captures ? "CmpltnAdvc" : "CxlAdvc",
        parties + Self.within("Tx", transaction)
      )
    )
  }

  /// Builds an `AcceptorDiagnosticRequest`, which tests the connection and the credentials.
  func diagnostic(_ header: Header) throws(Fault) -> Message {
    let rows = Self.within("Envt", acquirer) + parties + [("AcqrrAvlbtyReqd", "true")]
    return try message(.diagnostic, function: "DGNP", header, rows: Self.within("DgnstcReq", rows))
  }

  /// Builds a `StatusReport`, which describes this terminal and asks its manager for a plan.
  func statusReport(_ header: Header) throws(Fault) -> Message {
    try message(
      .statusReport,
      function: nil,
      header,
      rows: [
        ("StsRpt/POIId/Id", configuration.poiID),
        ("StsRpt/TermnlMgrId/Id", configuration.recipientID ?? configuration.acquirerID),
        ("StsRpt/DataSet/Id/Tp", "STRP"), ("StsRpt/DataSet/Cntt/POIDtTm", header.time),
        // The terminal manager reads only the first item (README, 3.6).
        ("StsRpt/DataSet/Cntt/DataSetReqrd/Id/Tp", "MGTP"),
      ]
    )
  }

  // MARK: Common parts

  private static func within(_ path: String, _ rows: Rows) -> Rows {
    rows.map { ("\(path)/\($0.path)", $0.text) }
  }

  private func environment(_ card: PresentedCard, serial: String?) -> Rows {
    var rows = acquirer
    rows += [
      ("Mrchnt/Id/Id", configuration.merchantID), ("Mrchnt/CmonNm", configuration.merchantName),
      ("Mrchnt/LctnCtgy", "FIXD"), ("POI/Id/Id", configuration.poiID),
    ]
    if let latitude = configuration.latitude, let longitude = configuration.longitude {
      let place = "POI/Id/Glctn/GeogcCordints"
      rows += [("\(place)/Lat", latitude), ("\(place)/Long", longitude)]
    }
    rows += ["CICC", "ECTL", "MGST"].map { ("POI/Cpblties/CardRdngCpblties", $0) }
    rows += ["MNSG", "FEPN", "NPIN"].map { ("POI/Cpblties/CrdhldrVrfctnCpblties", $0) }
    rows.append(("POI/Cpblties/OnLineCpblties", "ONLN"))
    if let serial {
      rows += [
        ("POI/Cmpnt/Tp", "TERM"), ("POI/Cmpnt/Id/PrvdrId", "Miura"),
        ("POI/Cmpnt/Id/SrlNb", String(serial.prefix(35))),
      ]
    }
    if let (data, serial) = card.encrypted {
      rows += Self.within("Card/PrtctdCardData", envelope(data, serial: serial))
    }
    rows.append(("Card/MskdPAN", card.number?.shown))
    guard let method = card.authentication else { return rows }
    rows.append(("Crdhldr/Authntcn/AuthntcnMtd", method))
    if case .entered(let block, let serial) = card.pin {
      let pin = "Crdhldr/Authntcn/CrdhldrOnLinePIN"
      rows += Self.within("\(pin)/NcrptdPINBlck", envelope(block, serial: serial))
      rows.append(("\(pin)/PINFrmt", "ISO0"))
    }
    return rows
  }

  private var acquirer: Rows {
    [
      ("Acqrr/Id/Id", configuration.acquirerID), ("Acqrr/Id/Tp", "ACQR"),
      ("Acqrr/ParamsVrsn", configuration.acquirerParameters),
    ]
  }

  private var parties: Rows {
    [("Envt/Mrchnt/Id/Id", configuration.merchantID), ("Envt/POI/Id/Id", configuration.poiID)]
  }

  /// The data that the reader encrypted, with the key's serial number in two halves. How Toro wants it
  /// wrapped is inferred (README, 3.8).
  private func envelope(_ data: [UInt8], serial: [UInt8]) -> Rows {
    let key = "EnvlpdData/Rcpt/KEK"
    let content = "EnvlpdData/NcrptdCntt"
    return [
      ("CnttTp", "EVLP"), ("\(key)/KEKId/KeyId", configuration.cardKeyID ?? configuration.keyID),
      ("\(key)/KEKId/KeyVrsn", configuration.cardKeyVersion ?? configuration.keyVersion),
      ("\(key)/KEKId/DerivtnId", Base64.encode(serial.prefix(5))),
      ("\(key)/KeyNcrptnAlgo/Algo", "DKP9"), ("\(key)/NcrptdKey", Base64.encode(serial.suffix(5))),
      ("\(content)/CnttTp", "DATA"), ("\(content)/CnttNcrptnAlgo/Algo", "E3DC"),
      ("\(content)/NcrptdData", Base64.encode(data)),
    ]
  }

  private func original(_ sale: SaleIdentity) -> Rows {
    var rows: Rows = [
      ("SaleRefId", sale.saleReference), ("TxId/TxDtTm", sale.time), ("TxId/TxRef", sale.reference),
      ("POIId/Id", configuration.poiID),
      ("InitrTxId", sale.initiator.isEmpty ? nil : sale.initiator),
      ("RcptTxId", Self.fitting(sale.recipient, 1...140)), ("TxTp", sale.type),
      ("CardDataNtryMd", sale.entryMode),
    ]
    if let response = sale.response {
      let answer = "TxRslt/RspnToAuthstn"
      rows += [
        ("\(answer)/Rspn", response),
        ("\(answer)/RspnRsn", Self.fitting(sale.responseReason, 1...35)),
        ("\(answer)/AddtlRspnInf", Self.fitting(sale.additionalResponse, 1...140)),
        // A code in an answer may be shorter than requests allow.
        ("TxRslt/AuthstnCd", Self.fitting(sale.authorisationCode, 6...8)),
      ]
    }
    return Self.within("OrgnlTx", rows)
  }

  /// Returns a text of an answer if the schema allows its length; it is optional.
  private static func fitting(_ text: String?, _ length: ClosedRange<Int>) -> String? {
    text.flatMap { length.contains($0.count) ? $0 : nil }
  }
}

extension Messages {
  /// The exchanges with their paths and message names (README, 3.1; the authorization's path is inferred).
  enum Kind: String {
    case authorisation, completion, cancellation, diagnostic
    case statusReport = "status-report"

    var path: String { "/v1/" + names.path }

    var names: (path: String, schema: String, root: String) {
      switch self {
      case .authorisation: ("caaa/authorisation-request", "caaa.001.001.12", "AccptrAuthstnReq")
      case .completion: ("caaa/completion-advice", "caaa.003.001.12", "AccptrCmpltnAdvc")
      case .cancellation: ("caaa/cancellation-advice", "caaa.007.001.12", "AccptrCxlAdvc")
      case .diagnostic: ("caaa/diagnostic-request", "caaa.013.001.10", "AccptrDgnstcReq")
      case .statusReport: ("catm/status-report", "catm.001.001.12", "StsRpt")
      }
    }

    /// The possible answers: root, schema without version, and the signed element.
    var answers: [(root: String, schema: String, body: String)] {
      switch self {
      case .authorisation: [("AccptrAuthstnRspn", "caaa.002.001", "AuthstnRspn")]
      case .completion: [("AccptrCmpltnAdvcRspn", "caaa.004.001", "CmpltnAdvcRspn")]
      case .cancellation: [("AccptrCxlAdvcRspn", "caaa.008.001", "CxlAdvcRspn")]
      case .diagnostic: [("AccptrDgnstcRspn", "caaa.014.001", "DgnstcRspn")]
      case .statusReport:
        [
          ("MgmtPlanRplcmnt", "catm.002.001", "MgmtPlan"),
          ("AccptrCfgtnUpd", "catm.003.001", "AccptrCfgtn"),
        ]
      }
    }

    /// Whether it can move money.
    var isEffecting: Bool { self != .diagnostic && self != .statusReport }
  }
}

extension SaleIdentity {
  /// The type of transaction, from ISO 20022's `CardPaymentServiceType12`.
  var type: String { isRefund ? "RFND" : "CRDP" }
}
