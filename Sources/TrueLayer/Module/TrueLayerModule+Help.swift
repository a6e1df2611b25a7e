package import TenderCommandLine

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
}
