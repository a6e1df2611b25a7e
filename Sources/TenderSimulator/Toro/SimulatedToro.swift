package import TenderModel

/// The simulated side of Toro: a card reader with its customer, and the gateway.
package struct SimulatedToro: SimulatedProvider {
  package init() {}

  package var name: ProviderName { ProviderName("toro") }

  package var section: JSONObject {
    [
      "device": "simulator", "api_key": .string(ToroCatalog.apiKey),
      "passphrase": .string(ToroCatalog.passphrase),
      "key_id": .string(ToroCatalog.keyID),
      "key_version": .string(ToroCatalog.keyVersion),
      "card_key_version": .string(ToroCatalog.cardKeyVersion),
      "kdf": [
        "prf": "hmac-sha256", "salt": .string(ToroCatalog.salt),
        "iterations": .integer(ToroCatalog.iterations),
        "length": .integer(ToroCatalog.keyLength),
      ],
      "acquirer_id": .string(ToroCatalog.acquirerID),
      "merchant_id": .string(ToroCatalog.merchantID),
      "merchant_name": .string(ToroCatalog.merchantName),
      "merchant_category_code": .string(ToroCatalog.merchantCategory),
      "poi_id": .string(ToroCatalog.poiID), "recipient_id": .string(ToroCatalog.recipientID),
      "reader_serial": .string(ToroCatalog.readerSerial),
      "reader_key_set": .string(Hex.encode(ToroCatalog.readerKeySet)),
    ]
  }

  package var variables: [(name: String, address: ServedAddress)] {
    [("TENDER_TORO_GATEWAY_URL", .http), ("TENDER_TORO_DEVICE", .device)]
  }

  package func handle(
    _ request: SimulatedRequest,
    _ parts: SimulatorParts
  ) throws(Fault) -> HTTPReaction? {
    try parts.ledger.transaction { () throws(Fault) in try ToroGateway(parts: parts).handle(request)
    }
  }

  package func device(_ parts: SimulatorParts) throws(Fault) -> (any DeviceSession)? {
    SimulatedReader(world: parts.world, faults: parts.faults, count: try parts.ledger.count())
  }

  /// What the card at the reader and its customer do, and what the acquirer answers.
  package var scenarios: [SimulatorWord] {
    SimulatorWord.list(
      """
      card:chip_pin a chip and its PIN; the default
      card:online_pin a chip whose PIN the issuer checks
      card:chip_signature a chip that wants a signature
      card:tap a card is tapped
      card:tap_mobile a phone is tapped, its holder verified on it
      card:swipe a stripe that wants a signature
      card:swipe_pin a stripe that wants a PIN
      card:chip_swiped a chip card is swiped first, then inserted
      card:application_choice the customer chooses among the card's applications
      card:wrong_pin the PIN is right at the third try
      card:pin_bypass the customer enters no PIN, which the acquirer refuses
      card:pin_cancel the customer cancels at the PIN
      card:pin_slow the customer never gets to the end of the PIN
      card:customer_cancel the customer cancels before a card is there
      card:no_card nobody presents a card
      card:timeout the reader gives up waiting for a card
      card:card_removed the card is taken out too early
      card:chip_unreadable the chip cannot be read, so the stripe is
      card:chip_error the chip fails, so the stripe is read
      card:fallback the reader does not know the chip, so the stripe is read
      card:unsupported_card the reader does not take the card
      card:try_contact the card must be inserted instead of tapped
      card:card_declines the card declines by itself
      card:declines_after the card declines what the acquirer approved
      card:removed_after the card is taken out between approval and end
      card:signature_refused the customer stops at the signature of a stripe
      card:tip_2 the second choice of the gratuity menu
      card:tip_3 the third choice of the gratuity menu
      card:tip_cancel the customer cancels at the gratuity menu
      card:tip_timeout the customer chooses no gratuity
      card:no_touch the reader has no touch screen
      gateway:completion_required approved, and to be captured by a completion
      """
    )
      + ToroCatalog.outcomes.map { outcome in
        SimulatorWord(
          outcome.scenario,
          "card present: \(outcome.meaning); so is any amount of \(outcome.amount) in minor units"
        )
      }
  }

  /// What happens at the reader and at the gateway; rejections are `RejectReason1Code` (Toro/README, 6.2).
  package var faults: [SimulatorWord] {
    SimulatorWord.list(
      """
      reader:no-keys the reader has no keys to encrypt with
      reader:acknowledges the reader acknowledges CARD STATUS as well, as some firmware does
      reader:chatter events nobody asked for between all answers
      """
    )
      + SimulatorWord.faults(
        at:
          "reader-connect reader-setup reader-tip reader-card reader-choice reader-pin reader-finish "
          + "reader-touch",
        """
        disconnect the link breaks
        busy the reader is busy (9F22)
        error an unlisted error (9FFF)
        silence the reader says nothing
        garbage bytes that are no packet
        bad-lrc a packet with a wrong checksum
        """
      )
      + SimulatorWord.faults(
        at: "authorisation completion cancellation diagnostic status-report",
        """
        empty does it, answers nothing
        garbage does it, answers what is not XML
        truncated does it, the answer is cut off
        bad-mac does it, a MAC does not fit
        no-trailer does it, answers without a security trailer
        wrong-exchange does it, answers for another exchange
        wrong-transaction does it, answers for another transaction
        too-much does it, says that more was authorised than was asked
        declined declines an advice, and does nothing
        silence does it, never answers
        close-before closes before it reads the message
        close-after does it, then closes without answer
        slow answers after 2 s
        http-401 answers 401
        http-404 answers 404
        http-429 answers 429
        http-500 answers 500
        http-502 answers 502
        http-503 answers 503
        reject-unpr does it not, rejects it (UNPR)
        reject-imsg does it not, rejects it (IMSG)
        reject-pars does it not, rejects it (PARS)
        reject-secu does it not, rejects it (SECU)
        reject-intp does it not, rejects it (INTP)
        reject-rcpp does it not, rejects it (RCPP)
        reject-dpmg does it not, rejects it (DPMG)
        reject-vers does it not, rejects it (VERS)
        reject-msgt does it not, rejects it (MSGT)
        """
      )
  }
}
