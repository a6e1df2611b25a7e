package import TenderModel

/// The simulated counterpart of Pay Theory: token service, socket and GraphQL.
package struct SimulatedPayTheory: SimulatedProvider {
  package init() {}

  /// Scenarios, points of faults, and faults.
  private static let words = SimulatorWord.texts("PayTheory/Words.txt")

  package var name: ProviderName { ProviderName("paytheory") }

  package var section: JSONObject {
    [
      "api_key": .string(PayTheoryCatalog.apiKey),
      "merchant_uid": .string(PayTheoryCatalog.merchantUID),
      "secret_key": .string(PayTheoryCatalog.secretKey),
    ]
  }

  package var variables: [(name: String, address: ServedAddress)] {
    [
      ("TENDER_PAYTHEORY_TOKEN_URL", .http), ("TENDER_PAYTHEORY_SOCKET_URL", .socket),
      ("TENDER_PAYTHEORY_GRAPHQL_URL", .http),
    ]
  }

  package func handle(
    _ request: SimulatedRequest,
    _ parts: SimulatorParts
  ) throws(Fault) -> HTTPReaction? {
    try PayTheoryHTTP(parts: parts).handle(request)
  }

  package func open(
    path: String,
    query: String,
    _ parts: SimulatorParts
  ) -> UpgradeReaction? {
    PayTheorySocket.open(path: path, query: query, parts)
  }

  package var passing: (payment: String, others: [String]) {
    (BookedPayment.kind, ["transaction", "intent", "authorization", "barcode", "spent-token"])
  }

  /// A payment's own method; a stored one lasts.
  package var owned: String? { BookedMethod.kind }

  package func books(_ parts: SimulatorParts, about name: String?) throws(Fault) -> [JSONObject] {
    let (now, ledger) = (parts.world.now, parts.ledger)
    var shown = try ledger.latest(BookedIntent.self).filter { intent in
      intent.state != .transferred
        && (name == nil || [intent.id, intent.terms.reference].contains(name))
    }.map { intent in
      let isOver = intent.state == .pending && intent.expiresAt <= now
      return intent.terms.shown("hold", intent.id, isOver ? "expired" : intent.state.rawValue)
    }
    shown += try ledger.latest(BookedAuthorization.self, about: name).map { authorization in
      var entry = authorization.terms.shown(
        "authorization",
        authorization.id,
        authorization.state.rawValue
      )
      entry["captured"] = authorization.captured.map(JSON.integer)
      return entry
    }
    shown += try ledger.latest(BookedBarcode.self, about: name).map { barcode in
      let isOver = barcode.payment == nil && barcode.lastDay + PayTheoryBooks.day <= now
      return [
        "kind": "barcode", "id": .string(barcode.id), "reference": .string(barcode.reference),
        "status": barcode.payment != nil ? "paid" : isOver ? "expired" : "waiting",
        "amount": .integer(barcode.amount), "currency": "USD",
      ]
    }
    return shown
      + (try ledger.latest(BookedPayment.self, about: name).compactMap { $0.shown(at: now) })
  }

  package var actions: [String: String] { PayTheorySocket.steps }

  package var scenarios: [SimulatorWord] {
    SimulatorWord.list(Self.words[0])
      + PayTheoryCatalog.declineCodes.map { code in
        SimulatorWord("decline:\(code.lowercased())", "payments fail with \(code)", exit: 3)
      }
  }

  /// The requests over HTTP and the socket, and their faults.
  package var faults: FaultTable {
    FaultTable(points: Self.words[1], rows: Self.words[2])
  }
}
