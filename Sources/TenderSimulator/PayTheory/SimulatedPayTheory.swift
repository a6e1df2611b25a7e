package import TenderModel

/// The simulated side of Pay Theory: token service, socket and GraphQL.
package struct SimulatedPayTheory: SimulatedProvider {
  package init() {}

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

  package var scenarios: [SimulatorWord] {
    SimulatorWord.list(
      """
      approve every payment succeeds, whatever its amount
      pending payments stay PENDING for 5 s of the clock, then succeed
      returned ACH payments are RETURNED after 5 s of the clock
      dispute payments succeed and are disputed
      hold:expired a hold is too old: its session is closed (SESSION_EXPIRED), as it is 24 h of the \
      clock after it was made
      barcode:paid a cash barcode is paid 5 s of the clock after it was made
      barcode:expired the last day of a cash barcode is over
      """
    )
      + PayTheoryCatalog.declineCodes.map { code in
        SimulatorWord("decline:\(code.lowercased())", "payments fail with \(code)")
      }
  }

  package var faults: [SimulatorWord] {
    SimulatorWord.list(
      """
      token:refused the token service answers 404
      attestation:refused the host token is refused, naming attestation
      socket:refused the upgrade to WebSocket is answered 403
      graphql:refused GraphQL answers 401
      """
    )
      + SimulatorWord.faults(
        at: "token graphql",
        """
        http-429 answers 429
        http-500 answers 500
        http-503 answers 503
        \(SimulatorWord.exchange)
        """
      )
      + [
        ("reversal", "a reversal alone"), ("stored", "a payment or hold by a stored method alone"),
      ].flatMap { step, what in
        SimulatorWord.faults(at: step, SimulatorWord.exchange)
          .map { SimulatorWord($0.name, "\(what): \($0.meaning)") }
      }
      + SimulatorWord.faults(
        at: "host-token part1 part2 cancel tokenize barcode",
        """
        close-before closes before it reads the message
        close-after does it, then closes without answer
        drop-before the connection breaks before it reads
        drop-after does it, then the connection breaks
        silence does it, never answers
        garbage does it, answers what is not JSON
        wrong-key does it, answers under another key
        gateway-error does it not, answers as the gateway does
        error does it not, answers with an error text
        error-array does it not, answers with a list of errors
        slow answers after 2 s
        echo does it not, repeats what it was sent in its error text
        """
      )
      + SimulatorWord.list(
        """
        part2:other-receipt does it, answers with the success of another payment
        part2:other-decline does it, answers with the decline of another payment
        part2:other-amount does it, answers with another amount
        graphql:echo repeats the credentials in its error text
        """
      )
  }
}
