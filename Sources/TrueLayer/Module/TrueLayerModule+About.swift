internal import TenderCommandLine

extension TrueLayerModule {
  /// Credentials, choices, and what no public document of TrueLayer says.
  static let about = Topic(
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
}
