import TenderModel

/// The parts of messages that the simulated gateway reads: elements, their order, number and codes
/// (Toro/README, 3.1 to 3.6; the schemas of the V12 set).
enum GatewayGrammar {
  /// A plain name must occur once. `?` means at most once, `*` any number, `+` at least once.
  private static let orders: [String: String] = [
    "Document/AccptrAuthstnReq": "Hdr AuthstnReq SctyTrlr?",
    "Document/AccptrCmpltnAdvc": "Hdr CmpltnAdvc SctyTrlr?",
    "Document/AccptrCxlAdvc": "Hdr CxlAdvc SctyTrlr?",
    "Document/AccptrDgnstcReq": "Hdr DgnstcReq SctyTrlr?",
    "Document/StsRpt": "Hdr StsRpt SctyTrlr?",
    "Hdr": "MsgFctn PrtcolVrsn XchgId ReTrnsmssnCntr? CreDtTm InitgPty RcptPty? Tracblt*",
    "TMSHdr": "DwnldTrf FrmtVrsn XchgId CreDtTm InitgPty RcptPty? Tracblt*",
    "InitgPty": "Id Tp? Issr? Ctry? ShrtNm?",
    "RcptPty": "Id Tp? Issr? Ctry? ShrtNm? RmotAccs? Glctn?",
    "AuthstnReq": "Envt Cntxt Tx SplmtryData*",
    "CmpltnAdvc": "Envt Cntxt? Tx SplmtryData*",
    "CxlAdvc": "Envt Cntxt? Tx SplmtryData*",
    "DgnstcReq": "Envt AcqrrAvlbtyReqd?",
    "StsRpt/StsRpt": "POIId InitgTrggr? TermnlMgrId DataSet",
    "Envt":
      "Acqrr? SvcPrvdr? Mrchnt? POI? Card? Chck? StordValAcct* LltyAcct* CstmrDvc? Wllt? PmtTkn? "
      + "MrchntTkn? Crdhldr? PrtctdCrdhldrData? SaleEnvt?",
    "Envt/Acqrr": "Id? ParamsVrsn?",
    "Envt/Mrchnt": "Id? CmonNm? LctnCtgy? LctnAndCtct? SchmeData?",
    "Envt/POI":
      "Id SysNm? GrpId? Cpblties? TmZone? TermnlIntgtn? Cmpnt* Cssttl? CapKey? OwnrId? VrtlTermnl?",
    "Envt/Card":
      "PrtctdCardData? PrvtCardData? PlainCardData? PmtAcctRef? MskdPAN? IssrBIN? CardCtryCd? "
      + "CardCcyCd? CardPdctPrfl? CardBrnd? CardPdctTp? CardPdctSubTp? IntrnlCard? AllwdPdct* "
      + "SvcOptn? AddtlCardData?",
    "PrtctdCardData": "CnttTp EnvlpdData",
    "NcrptdPINBlck": "CnttTp EnvlpdData",
    "EnvlpdData": "Vrsn? OrgtrInf? Rcpt+ NcrptdCntt?",
    "KEK": "Vrsn? KEKId KeyNcrptnAlgo NcrptdKey?",
    "KEKId": "KeyId KeyVrsn SeqNb? DerivtnId?",
    "KeyIdr": "KeyId KeyVrsn SeqNb? DerivtnId?",
    "NcrptdCntt": "CnttTp CnttNcrptnAlgo? NcrptdData",
    "Authntcn":
      "AuthntcnMtd? AuthntcnXmptn? AuthntcnVal? PrtctdAuthntcnVal? CrdhldrOnLinePIN? CrdhldrId? "
      + "AddtlVrfctnInf? AuthntcnColltnMtd? AuthntcnTp? AuthntcnLvl? AuthntcnRslt? "
      + "AuthntcnAddtlInf?",
    "CrdhldrOnLinePIN": "NcrptdPINBlck PINFrmt AddtlInpt?",
    "Cntxt": "PmtCntxt? SaleCntxt? DrctDbtCntxt?",
    "PmtCntxt":
      "CardPres? CrdhldrPres? OnLineCntxt? AttndncCntxt? TxEnvt? TxChanl? BizArea? AttndntMsgCpbl? "
      + "AttndntLang? CardDataNtryMd? FllbckInd? SpprtdOptn*",
    "AuthstnReq/Tx":
      "TxCaptr TxTp? AddtlSvc* SvcAttr? LastTxFlg? MrchntCtgyCd? CstmrCnsnt? CardPrgrmmPropsd* "
      + "CardPrgrmmApld? SaleRefId? TxId OrgnlTx? InitrTxId? RcncltnId? IssrCITId? MrchntCITId? "
      + "TxDtls MrchntRefData? AcctFr? AcctTo? AddtlTxData*",
    "CmpltnAdvc/Tx":
      "TxCaptr? TxTp? AddtlSvc* SvcAttr? LastTxFlg? MrchntCtgyCd? CstmrCnsnt? CardPrgrmmPropsd* "
      + "CardPrgrmmApld? SaleRefId? TxId OrgnlTx? TxSucss Rvsl? MrchntOvrrd? FailrRsn* InitrTxId? "
      + "RcptTxId? RcncltnId? IntrchngData? IssrCITId? MrchntCITId? TxDtls AuthstnRslt? "
      + "TxVrfctnRslt* MrchntRefData? AcctFr? AcctTo? AddtlTxData*",
    "CxlAdvc/Tx":
      "MrchntCtgyCd CstmrCnsnt? CardPrgrmmPropsd* CardPrgrmmApld? SaleRefId? TxId OrgnlTx? TxSucss "
      + "Rvsl? FailrRsn* InitrTxId? RcptTxId? RcncltnId? IntrchngData? TxDtls AuthstnRslt? "
      + "AddtlTxData*",
    "TxId": "TxDtTm TxRef",
    "OrgnlTx":
      "SaleRefId? TxId POIId? InitrTxId? RcptTxId? TxTp AddtlSvc* SvcAttr? CardDataNtryMd? TxRslt?",
    "TxRslt": "AuthstnNtty? RspnToAuthstn AuthstnCd?",
    "RspnToAuthstn": "Rspn RspnRsn? AddtlRspnInf?",
    "Tx/TxDtls":
      "Ccy? TtlAmt CmltvAmt? AmtQlfr? DtldAmt? ReqdAmt? AuthrsdAmt? InvcAmt? VldtyDt? OnLineRsn* "
      + "UattnddLvlCtgy? AcctTp? CcyConvsRslt? Instlmt* AggtnTx? PdctCdSetId? SaleItm* DlvryLctn? "
      + "ReSubmissnCntr? AddtlInf* ICCRltdData?",
    "CxlAdvc/Tx/TxDtls": "Ccy? TtlAmt VldtyDt? ICCRltdData? KeepAuthstnOpn?",
    "AddtlInf": "Id Val? PrtctdVal? Tp?",
    "DataSet": "Id SeqCntr? LastSeq? Cntt",
    "DataSet/Cntt":
      "POICpblties? POICmpnt* POIGrpId* AttndncCntxt? POIDtTm DataSetReqrd* Evt* Errs*",
    "SctyTrlr": "CnttTp AuthntcdData",
    "AuthntcdData": "Vrsn? Rcpt+ MACAlgo NcpsltdCntt MAC",
  ]

  private static let codes: [String: String] = [
    "CnttTp": "DATA SIGN EVLP DGST AUTH",
    "TxTp":
      "BALC CACT CRDP CAFH CAVR CSHW CSHD DEFR LOAD ORCR PINC QUCH RFND RESA VALC UNLD CAFT CAFL CIDD",
    "AddtlSvc": "AGGR DCCV GRTT LOYT NRES PUCO RECP SOAF VCAU INSI INSA CSHB INST NRFD",
    "CardDataNtryMd":
      "TAGC PHYS BRCD MGST CICC DFLE CTLS ECTL CDFL SICC UNKW QRCD OPTC",
    "FllbckInd": "FFLB SFLB NFLB", "AttndncCntxt": "ATTD SATT UATT",
    "TxEnvt": "MERC PRIV PUBL", "TxChanl": "MAIL TLPH ECOM TVPY SECM MOBL MPOS",
    "SpprtdOptn": "PART MSRV INSI PINQ",
    "AuthntcnMtd":
      "TOKA ADDB BYPS BIOM CDHI CRYP CSCV MANU MERC MOBL FPIN NPIN OTHR PPSG PSVE PSWD TOKP SCRT "
      + "SCNL CSEC SNCT ADDS CPSG TOKN UKNW",
    "PINFrmt": "ISO0 ISO1 ISO2 ISO3 ISO4 ISO5", "Rspn": "APPR DECL PART SUSP TECH",
    "FailrRsn": "CDCL CUCL MALF FDCL NDCL PART SFRD TIMO LATE UCMP USND SECU",
    "TxCaptr": "true false 1 0", "TxSucss": "true false 1 0",
  ]

  /// The error in an element; nil without one.
  static func problem(_ element: XMLElement, path: String = "") -> String? {
    let path = path.isEmpty ? element.name : "\(path)/\(element.name)"
    if let codes = codes[element.name], element.children.isEmpty,
      !codes.split(separator: " ").contains(Substring(element.text))
    {
      return "\(path) is \(element.text.prefix(20))"
    }
    if path == "Document" {
      return element.children.lazy.compactMap { problem($0, path: path) }.first
    }
    guard let order = order(path) else { return nil }
    var rest = element.children[...]
    for part in order.split(separator: " ") {
      let mark = part.last.flatMap { "?*+".contains($0) ? $0 : nil }
      let name = mark == nil ? part : part.dropLast()
      var count = 0
      while let next = rest.first, next.name == name {
        count += 1
        rest.removeFirst()
        if let problem = problem(next, path: path) { return problem }
      }
      let isRight =
        switch mark {
        case "?": count <= 1
        case "*": true
        case "+": count >= 1
        default: count == 1
        }
      guard isRight else {
        return "\(path)/\(name) is there \(count == 0 ? "not at all" : "\(count) times")"
      }
    }
    if let extra = rest.first { return "\(path)/\(extra.name) does not belong there" }
    return element.children.isEmpty && element.text.isEmpty ? "\(path) is empty" : nil
  }

  /// The rule of a path: by its last three names, then two, then one.
  private static func order(_ path: String) -> String? {
    if path.hasPrefix("Document/StsRpt/"), path.hasSuffix("/Hdr") { return orders["TMSHdr"] }
    let names = path.split(separator: "/")
    for count in [3, 2, 1] where names.count >= count {
      let key = names.suffix(count).joined(separator: "/")
      if let order = orders[key] { return order }
    }
    return nil
  }
}
