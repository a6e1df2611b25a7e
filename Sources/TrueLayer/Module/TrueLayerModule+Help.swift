package import TenderCommandLine
package import TenderModel

extension TrueLayerModule {
  package var help: ModuleHelp {
    var help = ModuleHelp()
    help.quote = "the payment or mandate id and result.trace_id"
    help.topics = [Self.banks, Self.about]
    help.addresses = ["TENDER_TRUELAYER_API_URL", "TENDER_TRUELAYER_AUTH_URL"]
    help.profiles = [
      """
          "bank":{"provider":"truelayer", "env":"sandbox",
                  "truelayer":{"client_id":"…", "client_secret_file":"…",
                               "key_id":"…", "private_key_file":"…",
                               "redirect_url":"http://localhost:3000/callback"}}
      """
    ]
    help.assumptions = "TrueLayer keeps an idempotency key for 30 days."
    return help
  }

  private static let banks = Topic(
    name: "banks",
    summary: "bank payments and mandates, from creation to refund",
    body: [
      "tender transact --provider truelayer makes a payment (or with --mandate a mandate), or takes "
        + "one that exists (--payment-id, --mandate-id), and goes through whatever its bank wants: "
        + "bank, branch, scheme, account, consent, forms, and the bank's own page.",
      "What options leave open is asked on a terminal. Where nobody can be asked the run ends in 8, "
        + "the record says in next_action what is wanted, and the same command with the answer goes "
        + "on where it stands. Consent is given with --consent (pis unless said) and said on "
        + "standard error. Passwords and one-time codes come by --form-file or prompt alone.",
      "The payer opens the address that is shown, also as a QR code on a terminal, or with --open in "
        + "the browser. By default tender listens at http://localhost:3000/callback, waits 15 "
        + "minutes at most, and ends when the payment is authorized, executed, settled or waits for "
        + "an app; --wait goes on to the end. Ctrl-C cancels the payment and ends in 12. With "
        + "another --redirect-url the run ends in state redirect; tender confirm REF takes it up "
        + "again, with --return-url where the bank's answer must be handed in.",
      "Making, revoking and refunding need client credentials and a P-521 key (PEM) whose id the "
        + "Console shows; everything else a resource token alone. No token is ever printed or kept.",
      "On the simulator every id 00000000-0000-4000-8000-… exists, its last twelve digits the amount "
        + "in minor units; simulator-resource-token is good for all of them. --sim-scenario "
        + "bank:reject_execution and the like play the payer; behind simulator serve a browser does.",
    ]
  )

  /// Credentials, choices, and the settings that TrueLayer's public documents do not give.
  private static let about = Topic(
    name: "truelayer",
    summary: "TrueLayer: credentials, and what is not known of it",
    body: [
      """
      TENDER_TRUELAYER_RESOURCE_TOKEN processes, looks up and cancels one payment or mandate. \
      TENDER_TRUELAYER_CLIENT_ID, …_CLIENT_SECRET, …_KEY_ID and …_PRIVATE_KEY (P-521, PEM) \
      make, revoke and refund; --provider truelayer --env sandbox|live. Nothing here was run \
      against TrueLayer's own servers. Requests are those of the published API (Payments v3) \
      and its signing vector; make test holds every request and every answer of the simulator \
      against its OpenAPI document.
      """,
      """
      Not public, and therefore a choice: a failed attempt that may be retried \
      (attempt_failed) is started again by a new authorization flow, since no other way is \
      documented; a payment on a mandate that is executed counts as final where it names a \
      payee's reference; the scopes of mandates are those that official clients ask for \
      ("scope" in the profile's truelayer section asks for others); a resource token cancels \
      without a signature. Payments on a mandate can be looked up and not yet made.
      """,
      """
      What this program decides itself: without --reference an existing \
      payment's is its id; confirm of what has failed prints how it ended, with its exit; an \
      unknown status is pending in a look-up and 11 in a run; an answer that does not fit what \
      the bank asks (another bank, a form's value) is 8 with what is wanted, since the payment \
      is made by then; a creation whose answer was lost, and that is refused when it is sent \
      again, ends as expired after 16 minutes: no payer can authorize it any more; a cancel that was \
      accepted and cannot be seen yet is 8; statement texts that are not given are what fits \
      of --reference (18 characters). Payees and payers are in the journal as far as they make \
      two orders different; of an account that is the payer's own only the last four. A \
      resource token of this run that ends while the payer is away gives way to the client's \
      own. With two forms of a credential the payer's token comes first.
      """,
    ]
  )

  package var results: [ResultShape] {
    ResultShape.table(
      """
      state .: state reason? failure_reason? failure_stage? trace_id?
      status .: status reason? failure_reason? failure_stage? trace_id?
      error .: error reason? failure_reason? failure_stage? trace_id?
      refund refund: id status amount_in_minor#?
      """
    )
  }

  /// Returns a failure with the library's error first and the reasons after it.
  package func inKeyOrder(_ result: JSONObject) -> JSONObject {
    guard result["reason"] != nil else { return result }
    return result.ordered(by: ["state", "error", "reason", "message"])
  }
}
