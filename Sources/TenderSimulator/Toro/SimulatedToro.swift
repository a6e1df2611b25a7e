package import TenderModel

/// The simulated counterpart of Toro: a card reader with its customer, and the gateway.
package struct SimulatedToro: SimulatedProvider {
  package init() {}

  /// Scenarios, points of faults, and faults.
  private static let words = SimulatorWord.texts("Toro/Words.txt")

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

  package var passing: (payment: String, others: [String]) { (BookedSale.kind, ["toro-exchange"]) }

  package func books(_ parts: SimulatorParts, about name: String?) throws(Fault) -> [JSONObject] {
    try parts.ledger.latest(BookedSale.self, about: name).map { sale in
      var entry: JSONObject = [
        "kind": sale.type == "RFND" ? "refund" : "sale", "id": .string(sale.reference),
        "reference": .string(sale.sale),
        "status": .string(sale.isCancelled ? "cancelled" : sale.response),
        "amount": .integer(sale.amount),
      ]
      entry["currency"] = (sale.currency?.code).map(JSON.string)
      entry["captured"] = .integer(sale.captured)
      entry["returned"] = .integer(sale.refunded)
      entry["operations"] = .array(sale.entries.map(\.booked))
      return entry
    }
  }

  /// The behavior of the card and its customer at the reader, and the acquirer's answer.
  package var scenarios: [SimulatorWord] {
    SimulatorWord.list(Self.words[0])
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
    FaultTable(points: Self.words[1], rows: Self.words[2])
  }
}
