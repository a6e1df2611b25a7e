package import TenderEngine
package import TenderModel

/// The simulated counterpart of TrueLayer: its API, and the bank's pages.
package struct SimulatedTrueLayer: SimulatedProvider {
  package init() {}

  static let name = ProviderName("truelayer")

  package var name: ProviderName { Self.name }

  package var section: JSONObject {
    [
      "client_id": BankCatalog.clientID.json, "client_secret": BankCatalog.clientSecret.json,
      "key_id": BankCatalog.keyID.json, "private_key": BankCatalog.privateKey.json,
    ]
  }

  /// Adds a signing key of the ledger, which is made on first use, and the merchant accounts.
  package func served(_ world: SimulatorWorld) throws(Fault) -> JSONObject {
    let signer = try SimulatedSigner.own(in: Ledger(path: world.ledgerPath), world.randomness)
    var served = section
    served["key_id"] = .string(signer.key)
    served["private_key"] = .string(signer.privateKey)
    for account in BankCatalog.accounts {
      served["account_" + account.currency] = .string(account.id)
    }
    return served
  }

  /// The names that TrueLayer's acceptance tests read (truelayer-java, rust-sdk), and the merchant accounts.
  package var ownVariables: [(name: String, key: String)] {
    [
      ("TL_CLIENT_ID", "client_id"), ("TL_CLIENT_SECRET", "client_secret"),
      ("TL_SIGNING_KEY_ID", "key_id"), ("TL_SIGNING_PRIVATE_KEY", "private_key"),
    ]
      + BankCatalog.accounts.map {
        ("TENDER_TRUELAYER_MERCHANT_ACCOUNT_" + $0.currency, "account_" + $0.currency)
      }
  }

  package var variables: [(name: String, address: ServedAddress)] {
    [("TENDER_TRUELAYER_API_URL", .http), ("TENDER_TRUELAYER_AUTH_URL", .http)]
  }

  package func point(_ method: String, _ path: String) -> String? {
    if path == "/connect/token" { return "bank-token" }
    var parts = path.split(separator: "/").map(String.init)
    if parts.first != "v3" { parts.insert("v3", at: 0) }
    return BankRoute.of(parts)?.methods.first { $0.name == method }?.step
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

  package func make(_ change: DueChange, _ parts: SimulatorParts) throws(Fault) {
    try readable { () throws(BankProblem) in try BankWorld(parts).make(change) }
  }

  package func books(_ parts: SimulatorParts, about name: String?) throws(Fault) -> [JSONObject] {
    try readable { () throws(BankProblem) in try BankWorld(parts).books(about: name) }
  }

  private func readable<Value>(_ body: () throws(BankProblem) -> Value) throws(Fault) -> Value {
    do throws(BankProblem) {
      return try body()
    } catch {
      throw .state("state_unusable", "the simulated bank's books cannot be read", "try again")
    }
  }

  /// The payer's behavior in a bank payment or mandate, and the bank's result.
  package var scenarios: [SimulatorWord] {
    SimulatorWord.list(
      """
      bank:execute 0 the payer authorises and the bank pays; the default in process
      bank:reject_authorisation 3 the authorisation fails (authorization_failed)
      bank:reject_execution 3 the bank rejects what was authorised (provider_rejected)
      bank:cancel 3 the payer cancels on the bank's page (not_authorized)
      bank:slow 0 the bank takes 5 s of the clock to pay
      bank:decoupled 0 the payer confirms in an app, 3 s later
      bank:expire 13 the 15 minutes are over when the payer gets to the bank (expired)
      bank:abandon 13 the payer never comes back
      mandate:authorise 0 the payer authorises the mandate
      mandate:reject_authorisation 3 the authorisation of the mandate fails
      mandate:cancel 3 the payer cancels the mandate on the bank's page
      mandate:revoke 12 the payer authorises the mandate, and revokes it at the bank
      mandate:expire 13 the 15 minutes are over when the payer gets to the bank
      refund:failed 0 refunds fail (insufficient_funds)
      refund:returned 0 refunds are executed, and come back 2 s later
      """
    )
      + """
      blocked canceled constraint_violation insufficient_funds internal_server_error
      invalid_account_details invalid_account_holder_name invalid_beneficiary_account
      invalid_credentials invalid_mandate_state invalid_otp invalid_remitter_account invalid_request
      invalid_sort_code mandate_revoked not_authorized payment_limit_exceeded provider_error
      provider_expired provider_rejected rejected scheme_unavailable unknown_error
      user_canceled_at_provider verification_declined
      """.split { $0.isWhitespace }.map {
        let exit: Int32 =
          $0 == "provider_expired" ? 13 : $0.contains("canceled") ? 12 : 3
        return SimulatorWord("bank:failed:\($0)", "it fails with \($0)", exit: exit)
      }
  }

  /// Up to 72 hours (TrueLayer/README, 10.9).
  package var retries: EventRetries? { .within(72 * 3_600_000) }

  package func signer(
    at base: String,
    _ randomness: any Randomness
  ) throws(Fault) -> (any EventSigner)? {
    try BankEventSigner(at: base, randomness)
  }

  /// The requests over HTTP, in the order of a payment, and their faults.
  package var faults: FaultTable {
    FaultTable(
      points: """
        bank-token looks the access token; transact
        create changes the creation; transact
        start looks the start of the authorization; transact
        selection looks the choice of a bank; transact
        consent looks the payer's consent; transact
        form looks the payer's inputs; transact --form
        return looks the payer's return
        status looks the look-up; transact
        bank-cancel changes the cancellation; cancel
        revoke changes the revocation; cancel
        refund changes the refund; refund
        refunds looks the look-up of a refund; refund
        accounts looks a merchant account
        sweeping changes sweeping
        payout changes the payout
        event looks an event
        """,
      rows: """
        http-401,http-403 - return accounts sweeping payout 4 refunds bank-token create start selection consent form \
        bank-cancel revoke refund 9 status
        http-404 - return accounts sweeping payout 11 refunds bank-token start selection consent form bank-cancel revoke refund \
        5 create \
        9 status
        http-409,http-422 - return accounts sweeping payout 11 refunds bank-token 6 create start selection consent form \
        revoke refund 8 bank-cancel 9 status
        http-429 - return accounts sweeping payout 11 refunds bank-token create start selection consent form bank-cancel revoke \
        refund 9 status
        http-500,http-502,close-before,reset-before,reset-amid,silence-before - return accounts sweeping payout 11 refunds \
        bank-token start selection 9 create consent form status bank-cancel revoke refund
        unreachable - return accounts sweeping payout 10 refunds bank-token create start selection consent form bank-cancel \
        revoke refund 9 status
        close-after,reset-after,silence-after,garbage - return accounts sweeping payout 0 bank-cancel revoke 11 refunds \
        bank-token start selection 9 create consent form status refund
        cut=10 - return accounts sweeping payout 11 refunds bank-token start selection 9 create consent form status refund
        latency=2s - return accounts sweeping payout 0 bank-token create start selection consent form status bank-cancel revoke \
        refund refunds
        duplicate [sent twice at the same moment] - event
        delay=2s [sent late] - event
        drop [not sent] - event
        reorder [sent after the next one] - event
        bad-signature [sent with a signature that does not fit] - event
        bandwidth=1000 - return accounts sweeping payout 0 bank-token create start selection consent form status refund refunds
        """
    )
  }
}
