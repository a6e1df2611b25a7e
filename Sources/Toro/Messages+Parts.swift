import TenderModel

/// The parts that several messages have in common.
extension Messages {
  func writeEnvironment(
    _ writer: inout XMLWriter,
    _ card: PresentedCard,
    _ terms: Terms
  ) {
    writer.element("Envt") { writer in
      writeAcquirer(&writer)
      writer.element("Mrchnt") { writer in
        writer.element("Id") { $0.element("Id", configuration.merchantID) }
        writer.element("CmonNm", configuration.merchantName)
        writer.element("LctnCtgy", "FIXD")
      }
      writer.element("POI") { writer in
        writer.element("Id") { writer in
          writer.element("Id", configuration.poiID)
          if let latitude = configuration.latitude, let longitude = configuration.longitude {
            writer.element("Glctn") { writer in
              writer.element("GeogcCordints") { writer in
                writer.element("Lat", latitude)
                writer.element("Long", longitude)
              }
            }
          }
        }
        writer.element("Cpblties") { writer in
          for code in ["CICC", "ECTL", "MGST"] { writer.element("CardRdngCpblties", code) }
          for code in ["MNSG", "FEPN", "NPIN"] { writer.element("CrdhldrVrfctnCpblties", code) }
          writer.element("OnLineCpblties", "ONLN")
        }
        if let serial = terms.serial {
          writer.element("Cmpnt") { writer in
            writer.element("Tp", "TERM")
            writeReader(&writer, serial)
          }
        }
      }
      writeCard(&writer, card)
      writeHolder(&writer, card)
    }
  }

  func writeReader(_ writer: inout XMLWriter, _ serial: String) {
    writer.element("Id") { writer in
      writer.element("PrvdrId", "Miura")
      writer.element("SrlNb", String(serial.prefix(35)))
    }
  }

  func writeAcquirer(_ writer: inout XMLWriter) {
    writer.element("Acqrr") { writer in
      writer.element("Id") { writer in
        writer.element("Id", configuration.acquirerID)
        writer.element("Tp", "ACQR")
      }
      writer.element("ParamsVrsn", configuration.acquirerParameters)
    }
  }

  /// The card's number as the reader encrypted it; how Toro wants it wrapped is inferred (README,
  /// 3.8): the key's serial number in two halves, the data as it is.
  func writeCard(_ writer: inout XMLWriter, _ card: PresentedCard) {
    writer.element("Card") { writer in
      if let (data, serial) = card.encrypted {
        writer.element("PrtctdCardData") { writer in
          writeEnvelope(&writer, data, serial: serial)
        }
      }
      writer.element("MskdPAN", card.shownNumber)
    }
  }

  func writeEnvelope(_ writer: inout XMLWriter, _ data: [UInt8], serial: [UInt8]) {
    writer.element("CnttTp", "EVLP")
    writer.element("EnvlpdData") { writer in
      writer.element("Rcpt") { writer in
        writer.element("KEK") { writer in
          writer.element("KEKId") { writer in
            writer.element("KeyId", configuration.cardKeyID ?? configuration.keyID)
            writer.element("KeyVrsn", configuration.cardKeyVersion ?? configuration.keyVersion)
            writer.element("DerivtnId", Base64.encode(serial.prefix(5)))
          }
          writer.element("KeyNcrptnAlgo") { $0.element("Algo", "DKP9") }
          writer.element("NcrptdKey", Base64.encode(serial.suffix(5)))
        }
      }
      writer.element("NcrptdCntt") { writer in
        writer.element("CnttTp", "DATA")
        writer.element("CnttNcrptnAlgo") { $0.element("Algo", "E3DC") }
        writer.element("NcrptdData", Base64.encode(data))
      }
    }
  }

  func writeHolder(_ writer: inout XMLWriter, _ card: PresentedCard) {
    guard let method = card.authentication else { return }
    writer.element("Crdhldr") { writer in
      writer.element("Authntcn") { writer in
        writer.element("AuthntcnMtd", method)
        if case .entered(let block, let serial) = card.pin {
          writer.element("CrdhldrOnLinePIN") { writer in
            writer.element("NcrptdPINBlck") { writeEnvelope(&$0, block, serial: serial) }
            writer.element("PINFrmt", "ISO0")
          }
        }
      }
    }
  }

  func writeParties(_ writer: inout XMLWriter, withAcquirer: Bool = false) {
    writer.element("Envt") { writer in
      if withAcquirer { writeAcquirer(&writer) }
      writer.element("Mrchnt") { writer in
        writer.element("Id") { $0.element("Id", configuration.merchantID) }
      }
      writer.element("POI") { writer in
        writer.element("Id") { $0.element("Id", configuration.poiID) }
      }
    }
  }

  func writeID(_ writer: inout XMLWriter, _ sale: SaleIdentity) {
    writeID(&writer, reference: sale.reference, time: sale.time)
  }

  func writeID(_ writer: inout XMLWriter, reference: String, time: String) {
    writer.element("TxId") { writer in
      writer.element("TxDtTm", time)
      writer.element("TxRef", reference)
    }
  }

  func writeOriginal(_ writer: inout XMLWriter, _ sale: SaleIdentity) {
    writer.element("OrgnlTx") { writer in
      writer.element("SaleRefId", sale.saleReference)
      writeID(&writer, sale)
      writer.element("POIId") { $0.element("Id", configuration.poiID) }
      writer.element("InitrTxId", sale.initiator.isEmpty ? nil : sale.initiator)
      writer.element("RcptTxId", Self.fitting(sale.recipient, 1...140))
      writer.element("TxTp", sale.type)
      writer.element("CardDataNtryMd", sale.entryMode)
      if let response = sale.response {
        writer.element("TxRslt") { writer in
          writer.element("RspnToAuthstn") { writer in
            writer.element("Rspn", response)
            writer.element("RspnRsn", Self.fitting(sale.responseReason, 1...35))
            writer.element("AddtlRspnInf", Self.fitting(sale.additionalResponse, 1...140))
          }
          // An answer's code may be shorter than what a request may say of it.
          writer.element("AuthstnCd", Self.fitting(sale.authorisationCode, 6...8))
        }
      }
    }
  }

  /// What an answer said, where the schema has room for it; it may be left out.
  static func fitting(_ text: String?, _ length: ClosedRange<Int>) -> String? {
    text.flatMap { length.contains($0.count) ? $0 : nil }
  }

  /// The amount of an advice; a completion of a part says what was authorised too.
  func writeAmount(
    _ writer: inout XMLWriter,
    _ sale: SaleIdentity,
    total: Int,
    isCancellation: Bool = false
  ) {
    writer.element("TxDtls") { writer in
      writer.element("Ccy", sale.currency.code)
      writer.element("TtlAmt", Money(minorUnits: total, currency: sale.currency).decimalText)
      if !isCancellation, total < sale.amount {
        writer.element("AuthrsdAmt", sale.money.decimalText)
      }
    }
  }
}

extension SaleIdentity {
  /// The kind of transaction, in ISO 20022's `CardPaymentServiceType12`.
  var type: String { isRefund ? "RFND" : "CRDP" }
}
