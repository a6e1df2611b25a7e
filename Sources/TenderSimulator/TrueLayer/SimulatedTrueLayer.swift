package import TenderModel

/// The simulated side of TrueLayer: its API, and the bank's pages.
package struct SimulatedTrueLayer: SimulatedProvider {
  package init() {}

  package var name: ProviderName { ProviderName("truelayer") }

  package var section: JSONObject {
    [
      "client_id": .string(BankCatalog.clientID),
      "client_secret": .string(BankCatalog.clientSecret), "key_id": .string(BankCatalog.keyID),
      "private_key": .string(BankCatalog.privateKey),
    ]
  }

  /// With a signing key of the ledger's own, made when it is first served.
  package func served(_ world: SimulatorWorld) throws(Fault) -> JSONObject {
    let signer = try SimulatedSigner.own(in: Ledger(path: world.ledgerPath), world.randomness)
    var served = section
    served["key_id"] = .string(signer.key)
    served["private_key"] = .string(signer.privateKey)
    return served
  }

  /// The names that TrueLayer's own acceptance tests read (truelayer-java, rust-sdk).
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

  /// What the payer of a bank payment or mandate does, and what the bank makes of it.
  package var scenarios: [SimulatorWord] {
    SimulatorWord.list(
      """
      bank:execute the payer authorises and the bank pays; the default in process
      bank:reject_authorisation the authorisation fails (authorization_failed)
      bank:reject_execution the bank rejects what was authorised (provider_rejected)
      bank:cancel the payer cancels on the bank's page (not_authorized)
      bank:slow the bank takes 5 s of the clock to pay
      bank:decoupled the payer confirms in an app, 3 s later
      bank:expire the 15 minutes are over when the payer gets to the bank (expired)
      bank:abandon the payer never comes back
      mandate:authorise the payer authorises the mandate
      mandate:reject_authorisation the authorisation of the mandate fails
      mandate:cancel the payer cancels the mandate on the bank's page
      mandate:revoke the payer authorises the mandate, and revokes it at the bank
      mandate:expire the 15 minutes are over when the payer gets to the bank
      refund:failed refunds fail (insufficient_funds)
      refund:returned refunds are executed, and come back 2 s later
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
        SimulatorWord("bank:failed:\($0)", "it fails with \($0)")
      }
  }

  /// What TrueLayer is asked for, in the order of a payment, and what can happen.
  package var faults: [SimulatorWord] {
    SimulatorWord.faults(
      at: "bank-token create start selection consent form return status bank-cancel revoke refund "
        + "refunds",
      """
      http-401 answers 401: the token is refused
      http-403 answers 403: the token is for something else
      http-404 answers 404: not found
      http-409 answers 409: another request works on it
      http-422 answers 422: the key was used for something else
      http-429 answers 429: too many requests
      http-500 answers 500: an error
      http-502 answers 502: the bank is not available
      \(SimulatorWord.exchange)
      """
    )
  }
}
