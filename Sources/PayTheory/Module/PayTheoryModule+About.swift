internal import TenderCommandLine

extension PayTheoryModule {
  /// Credentials, choices, and what no public document of Pay Theory says.
  static let about = Topic(
    name: "paytheory",
    summary: "Pay Theory: credentials, and what is not known of it",
    body: [
      """
      TENDER_PAYTHEORY_API_KEY (and for look-ups, reversals and --token also \
      TENDER_PAYTHEORY_MERCHANT_UID and TENDER_PAYTHEORY_SECRET_KEY), --provider paytheory \
      --env sandbox|live. Nothing here was run against Pay Theory's own servers. Stage \
      paytheory (production) takes cards, ACH and cash from attested mobile apps alone; there \
      only --token works.
      """,
      """
      GraphQL documents are those of the published schema of 2026; the simulator refuses what \
      that schema refuses. A look-up is asked again without a field that an older server does \
      not know; a write never is.
      """,
      """
      Not public, and therefore the simulator's own choice: the texts of the socket's errors, the \
      answer to a cancel, close codes, the rounding of fees, how long a hold lives, and whether a \
      live account accepts part 2 of a transfer on a new connection. On the simulator a hold lives \
      24 hours of its clock, a hold by --token and a cash barcode 7 days. A plain payment runs in two \
      steps, so that its receipt number is in the journal before money moves; "two_step": false in \
      the profile's paytheory section sends one.
      """,
      """
      A hold whose session is over ends as expired (13); --new-attempt authorizes again. A hold by \
      --token is an authorization: certain processors alone have them. confirm --amount captures a \
      part of it.
      """,
      """
      A lost answer to a cash barcode has effect none: the next run makes another barcode. \
      payment-status says whether a barcode was paid or has expired. A lost answer to tokenize is \
      unknown (9): Pay Theory cannot be asked about it.
      """,
      """
      Pay Theory takes no idempotency keys. With merchant credentials a lost answer is asked about \
      once before it is 9. A transfer over the socket can be finished under its receipt number. A \
      reversal, a charge or hold by --token, and a transfer in one step cannot: they stay 9 until a \
      look-up shows them, or until journal resume --finish sends the same request again.
      """,
      """
      A void of a part puts another transaction in the place of the first. Look-ups and find show \
      both as one payment, with what was refunded of it.
      """,
      """
      An answer to part 2 with another receipt number, amount, currency or reference is no answer \
      (9); nor is one without a receipt number, an amount or a known state. A GraphQL refusal of a \
      request that can move money has effect none only if it is one of the document itself (parsing, \
      validation); any other is 9, also 401, 403 and 429: the question before it was answered.
      """,
    ]
  )
}
