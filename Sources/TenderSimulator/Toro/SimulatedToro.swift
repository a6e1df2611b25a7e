package import TenderModel

/// The simulated counterpart of Toro: a card reader with its customer, and the gateway.
package struct SimulatedToro: SimulatedProvider {
  package init() {}

  package var name: ProviderName { ProviderName("toro") }

  package var section: JSONObject {
    [
      "device": "simulator", "api_key": ToroCatalog.apiKey.json,
      "passphrase": ToroCatalog.passphrase.json, "key_id": ToroCatalog.keyID.json,
      "key_version": ToroCatalog.keyVersion.json,
      "card_key_version": ToroCatalog.cardKeyVersion.json,
      "kdf": [
        "prf": "hmac-sha256", "salt": ToroCatalog.salt.json,
        "iterations": ToroCatalog.iterations.json, "length": ToroCatalog.keyLength.json,
      ],
      "acquirer_id": ToroCatalog.acquirerID.json, "merchant_id": ToroCatalog.merchantID.json,
      "merchant_name": ToroCatalog.merchantName.json,
      "merchant_category_code": ToroCatalog.merchantCategory.json, "poi_id": ToroCatalog.poiID.json,
      "recipient_id": ToroCatalog.recipientID.json, "reader_serial": ToroCatalog.readerSerial.json,
      "reader_key_set": Hex.encode(ToroCatalog.readerKeySet).json,
    ]
  }

  package var variables: [(name: String, address: ServedAddress)] {
    [("TENDER_TORO_GATEWAY_URL", .http), ("TENDER_TORO_DEVICE", .device)]
  }

  package func point(_ method: String, _ path: String) -> String? {
    ToroGateway.steps[path]?.step
  }

  package func handle(
    _ request: SimulatedRequest,
    _ parts: SimulatorParts
  ) throws(Fault) -> HTTPReaction? {
    try parts.ledger.transaction { () throws(Fault) in try ToroGateway(parts: parts).handle(request)
    }
  }

  package func device(_ parts: SimulatorParts) throws(Fault) -> (any DeviceSession)? {
    SimulatedReader(
      world: parts.world,
      faults: parts.faults,
      count: try parts.ledger.number(for: "reader")
    )
  }

  package var passing: (payment: String, others: [String]) { (BookedSale.kind, ["toro-exchange"]) }

  package func books(_ parts: SimulatorParts, about name: String?) throws(Fault) -> [JSONObject] {
    try parts.ledger.latest(BookedSale.self, about: name).map { sale in
      [
        "kind": sale.type == "RFND" ? "refund" : "sale", "id": sale.reference.json,
        "reference": sale.sale.json, "status": sale.isCancelled ? "cancelled" : sale.response.json,
        "amount": sale.amount.json, "currency": sale.currency?.json, "captured": sale.captured.json,
        "returned": sale.refunded.json, "operations": sale.entries.json,
      ]
    }
  }

  /// The behavior of the card and its customer at the reader, and the acquirer's answer.
  package var scenarios: [SimulatorWord] {
    SimulatorWord.list(
      """
      card:chip_pin 0 a chip and its PIN; the default
      card:online_pin 0 a chip whose PIN the issuer checks
      card:chip_signature 0 a chip that wants a signature
      card:tap 0 a card is tapped
      card:tap_mobile 0 a phone is tapped, its holder verified on it
      card:swipe 0 a stripe that wants a signature
      card:swipe_pin 0 a stripe that wants a PIN
      card:chip_swiped 0 a chip card is swiped first, then inserted
      card:application_choice 0 the customer chooses among the card's applications
      card:wrong_pin 0 the PIN is right at the third try
      card:pin_bypass 3 the customer enters no PIN, which the acquirer refuses
      card:pin_cancel 12 the customer cancels at the PIN
      card:pin_slow 13 the customer never gets to the end of the PIN
      card:customer_cancel 12 the customer cancels before a card is there
      card:no_card 13 nobody presents a card
      card:timeout 13 the reader gives up waiting for a card
      card:card_removed 19 the card is taken out too early
      card:chip_unreadable 0 the chip cannot be read, so the stripe is
      card:chip_error 0 the chip fails, so the stripe is read
      card:fallback 0 the reader does not know the chip, so the stripe is read
      card:unsupported_card 19 the reader does not take the card
      card:try_contact 0 the card must be inserted instead of tapped
      card:card_declines 3 the card declines by itself
      card:declines_after 3 the card declines what the acquirer approved
      card:removed_after 12 the card is taken out between approval and end
      card:signature_refused - the customer stops at the signature of a stripe
      card:tip_2 0 the second choice of the gratuity menu
      card:tip_3 0 the third choice of the gratuity menu
      card:tip_cancel 12 the customer cancels at the gratuity menu
      card:tip_timeout 13 the customer chooses no gratuity
      card:no_touch 19 the reader has no touch screen
      gateway:completion_required 0 approved, and to be captured by a completion
      """
    )
      + ToroCatalog.outcomes.map { outcome in
        SimulatorWord(
          outcome.scenario,
          "card present: \(outcome.meaning); so is any amount of \(outcome.amount) in minor units",
          exit: ["gateway:partial": 20, "gateway:suspended": 0][outcome.scenario] ?? 3
        )
      }
  }

  /// The requests to the gateway over HTTP, and the steps of the reader. Rejections are `RejectReason1Code`
  /// (Toro/README, 6.2).
  package var faults: FaultTable {
    let link = """
      12 reader-finish 19 reader-connect reader-setup reader-tip reader-card reader-choice reader-pin \
      reader-touch
      """
    let lost = "11 diagnostic status-report 12 authorisation 9 completion cancellation"
    return FaultTable(
      points: """
        reader looks the reader; transact
        reader-connect looks the reader's connection; transact
        reader-setup looks the reader's reset; transact
        reader-tip looks the gratuity menu; transact --gratuity-menu
        reader-card looks the reading of the card; transact
        reader-choice looks the choice of an application; transact
        reader-pin looks the PIN; transact
        reader-finish looks the end of the chip's transaction; transact
        reader-touch looks the signature on the screen; transact
        authorisation changes the authorisation; transact
        completion changes the completion; confirm
        cancellation changes the cancellation; cancel
        diagnostic looks the diagnostic; doctor
        status-report looks the status report; doctor
        """,
      rows: """
        no-keys [the reader has no keys to encrypt with] 19 reader
        acknowledges [the reader acknowledges CARD STATUS as well, as some firmware does] 0 reader
        chatter [events that no command asked for come between all answers] 0 reader
        disconnect [the link breaks] \(link)
        busy [the reader is busy (9F22)] \(link)
        error [an unlisted error (9FFF)] \(link)
        silence [the reader says nothing] 0 reader-connect 12 reader-finish 13 reader-tip reader-card \
        reader-choice reader-pin 19 reader-setup reader-touch
        garbage [bytes that are no packet] \(link)
        bad-lrc [a packet with a wrong checksum] \(link)
        unreachable 11 authorisation completion cancellation diagnostic status-report
        close-before,reset-before,reset-amid,silence-before,close-after,reset-after,silence-after,garbage,cut=10,http-500,http-502,http-503 \
        \(lost)
        latency=2s,bandwidth=1000 0 authorisation completion cancellation diagnostic status-report
        empty [done, answer empty] \(lost)
        truncated [done, answer cut off] \(lost)
        bad-mac [done, answer with a wrong MAC] \(lost)
        no-trailer [done, answer without a security trailer] \(lost)
        wrong-exchange [done, answer for another exchange] 11 diagnostic 12 authorisation 9 completion \
        cancellation
        wrong-transaction [done, answer for another transaction] 12 authorisation 9 completion \
        cancellation
        too-much [done, answer authorises more than was asked] 12 authorisation
        declined [not done, an advice is declined] 3 completion cancellation
        http-401,http-404,http-429 11 authorisation diagnostic status-report 9 completion cancellation
        reject-unpr,reject-imsg,reject-pars,reject-secu,reject-intp,reject-rcpp,reject-dpmg,reject-vers,reject-msgt \
        7 authorisation diagnostic status-report 9 completion cancellation
        """
    )
  }
}
