package import TenderModel

/// The simulated counterpart of Pay Theory: token service, socket and GraphQL.
package struct SimulatedPayTheory: SimulatedProvider {
  package init() {}

  static let name = ProviderName("paytheory")

  package var name: ProviderName { Self.name }

  package var section: JSONObject {
    [
      "api_key": PayTheoryCatalog.apiKey.json, "merchant_uid": PayTheoryCatalog.merchantUID.json,
      "secret_key": PayTheoryCatalog.secretKey.json,
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
    (
      BookedPayment.kind,
      [
        "transaction", "intent", "authorization", "barcode", "spent-token", BookedLine.kind,
        BookedDispute.kind, BookedSettlement.kind, BookedFunding.kind,
      ]
    )
  }

  /// A payment's own method; a stored one lasts.
  package var owned: String? { BookedMethod.kind }

  package func make(_ change: DueChange, _ parts: SimulatorParts) throws(Fault) {
    try PayTheoryBooks(parts).make(change)
  }

  package func books(_ parts: SimulatorParts, about name: String?) throws(Fault) -> [JSONObject] {
    let (now, ledger) = (parts.world.now, parts.ledger)
    var shown = try ledger.latest(BookedIntent.self).filter { intent in
      intent.state != .transferred
        && (name == nil || [intent.id, intent.terms.reference].contains(name))
    }.map { intent in intent.terms.shown("hold", intent.id, intent.state.rawValue) }
    shown += try ledger.latest(BookedAuthorization.self, about: name).map { authorization in
      var entry = authorization.terms.shown(
        "authorization",
        authorization.id,
        authorization.state.rawValue
      )
      entry["captured"] = authorization.captured?.json
      return entry
    }
    shown += try ledger.latest(BookedBarcode.self, about: name).map { barcode in
      let isOver = barcode.payment == nil && barcode.lastDay + PayTheoryBooks.day <= now
      let status = barcode.payment != nil ? "paid" : isOver ? "expired" : "waiting"
      return BookedTerms(amount: barcode.amount, reference: barcode.reference)
        .shown("barcode", barcode.id, status)
    }
    return shown + (try ledger.latest(BookedPayment.self, about: name).map(\.shown))
  }

  package var scenarios: [SimulatorWord] {
    SimulatorWord.list(
      """
      approve 0 every payment succeeds, whatever its amount
      pending 0 payments stay PENDING for 5 s of the clock, then succeed
      returned 0 ACH payments are RETURNED after 5 s of the clock
      returned:late 0 ACH payments succeed after 5 s of the clock, and are RETURNED three days later
      capture:evening 0 cards are PENDING until 21:00 in New York, ACH until 19:00
      dispute 0 payments succeed and are disputed
      hold:expired 13 a hold is too old: its session is closed (SESSION_EXPIRED), as it is 24 h of the \
      clock after it was made
      barcode:paid 0 a cash barcode is paid 5 s of the clock after it was made
      barcode:expired 0 the last day of a cash barcode is over
      """
    )
      + PayTheoryCatalog.declineCodes.map { code in
        SimulatorWord("decline:\(code.lowercased())", "payments fail with \(code)", exit: 3)
      }
  }

  /// Three times, then the hook is inactive (PayTheory/README, 12.5).
  package var retries: EventRetries? { .times(3) }

  /// The requests over HTTP and the socket, and their faults.
  package var faults: FaultTable {
    FaultTable(
      points: """
        token looks the connection's token; transact
        attestation looks the attestation; transact
        socket looks the WebSocket; transact
        host-token looks the host token; transact
        part1 looks the preparation of a charge; transact
        part2 changes the charge; transact
        cancel changes the release of a hold; cancel
        tokenize changes the storing of a card; tokenize
        barcode changes the making of a barcode; transact --method cash
        graphql looks a GraphQL request; payment-status
        reversal changes the void or refund; refund
        stored changes the charge by a stored method; transact --token
        event looks an event
        """,
      rows: """
        duplicate [sent twice at the same moment] - event
        delay=2s [sent late] - event
        drop [not sent] - event
        reorder [sent after the next one] - event
        refused [not done, refused] 11 socket 4 token attestation graphql
        http-429,http-500,http-503,reset-amid 11 token graphql 9 reversal stored
        unreachable 10 token socket graphql reversal stored
        close-before 0 cancel 11 token graphql 13 host-token part1 barcode 9 reversal stored part2 \
        tokenize
        reset-before,silence-before 0 cancel 11 token graphql host-token part1 barcode 9 reversal stored \
        part2 tokenize
        close-after 0 reversal stored part2 cancel 11 token graphql 13 host-token part1 barcode 9 \
        tokenize
        reset-after,silence-after,garbage,cut=10 0 reversal stored part2 cancel 11 token graphql \
        host-token part1 barcode 9 tokenize
        latency=2s,bandwidth=1000 0 token graphql reversal stored host-token part1 part2 cancel tokenize \
        barcode
        wrong-key [done, answer unreadable: it is under another key] 0 part2 11 host-token part1 barcode \
        9 tokenize
        gateway-error [not done, answers with an error of the gateway] 0 cancel 11 host-token part1 \
        barcode 9 part2 tokenize
        error [not done, answers with an error text] 0 cancel 11 host-token part1 tokenize barcode 9 \
        part2
        error-array [not done, answers with a list of errors] 0 cancel 11 host-token part1 tokenize \
        barcode 9 part2
        echo [not done, answers with what was sent in an error text] 0 cancel 11 host-token part1 \
        tokenize barcode 7 graphql 9 part2
        other-receipt [done, answers with the success of another payment] 0 part2
        other-decline [done, answers with the decline of another payment] 0 part2
        other-amount [done, answers with another amount] 0 part2
        """
    )
  }
}
