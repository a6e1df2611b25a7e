package import TenderModel

/// The simulated counterpart of TrueLayer: its API, and the bank's pages.
package struct SimulatedTrueLayer: SimulatedProvider {
  package init() {}

  /// Scenarios, points of faults, and faults, and reasons of failures.
  private static let words = SimulatorWord.texts("TrueLayer/Words.txt")

  package var name: ProviderName { ProviderName("truelayer") }

  package var section: JSONObject {
    [
      "client_id": .string(BankCatalog.clientID),
      "client_secret": .string(BankCatalog.clientSecret), "key_id": .string(BankCatalog.keyID),
      "private_key": .string(BankCatalog.privateKey),
    ]
  }

  /// Adds a signing key of the ledger, which is made on first use.
  package func served(_ world: SimulatorWorld) throws(Fault) -> JSONObject {
    let signer = try SimulatedSigner.own(in: Ledger(path: world.ledgerPath), world.randomness)
    var served = section
    served["key_id"] = .string(signer.key)
    served["private_key"] = .string(signer.privateKey)
    return served
  }

  /// The names that TrueLayer's acceptance tests read (truelayer-java, rust-sdk).
  package var ownVariables: [(name: String, key: String)] {
    [
      ("TL_CLIENT_ID", "client_id"), ("TL_CLIENT_SECRET", "client_secret"),
      ("TL_SIGNING_KEY_ID", "key_id"), ("TL_SIGNING_PRIVATE_KEY", "private_key"),
    ]
  }

  package var variables: [(name: String, address: ServedAddress)] {
    [("TENDER_TRUELAYER_API_URL", .http), ("TENDER_TRUELAYER_AUTH_URL", .http)]
  }

  package func handle(
    _ request: SimulatedRequest,
    _ parts: SimulatorParts
  ) throws(Fault) -> HTTPReaction? {
    try parts.ledger.transaction { () throws(Fault) in try BankHTTP(parts).handle(request) }
  }

  package var passing: (payment: String, others: [String]) {
    (BankOrder.Kind.payment.table, [BankTransfer.kind, BankKey.kind])
  }

  package func books(_ parts: SimulatorParts, about name: String?) throws(Fault) -> [JSONObject] {
    do throws(BankProblem) {
      return try BankWorld(parts).books(about: name)
    } catch {
      throw .state("state_unusable", "the simulated bank's books cannot be read", "try again")
    }
  }

  /// The payer's behavior in a bank payment or mandate, and the bank's result.
  package var scenarios: [SimulatorWord] {
    SimulatorWord.list(Self.words[0])
      + Self.words[3].split { $0.isWhitespace }.map {
        let exit: Int32 =
          $0 == "provider_expired" ? 13 : $0.contains("canceled") ? 12 : 3
        return SimulatorWord("bank:failed:\($0)", "it fails with \($0)", exit: exit)
      }
  }

  /// The requests over HTTP, in the order of a payment, and their faults.
  package var faults: FaultTable {
    FaultTable(points: Self.words[1], rows: Self.words[2])
  }
}
