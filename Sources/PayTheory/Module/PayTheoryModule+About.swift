internal import TenderModule

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
      Not public, and therefore the simulator's own or open: the texts of the socket's errors, \
      the answer to a cancel, close codes, the rounding of fees, how long a hold lives (the \
      simulator: 24 hours of its clock, then confirm ends in 13 and cancel still lets it go), \
      and whether a live account accepts part 2 of a transfer on a new connection. A plain \
      payment runs in two steps, so that its receipt number is in the journal before money \
      moves; "two_step": false in the profile's paytheory section sends one.
      """,
      """
      What the contract leaves open and how it is here: a socket that cannot be reached ends \
      in 10, like a token that cannot; a lost answer to a cash barcode is effect none, and the \
      next run makes another barcode; a second process on the same reference waits up to \
      --timeout for the first; cancel of a payment whose outcome is unknown never captures it \
      first; an attempt's first line in the journal outlives a killed process but perhaps not \
      a power cut, before which nothing was sent; everything from sent on is synced to the \
      disk. cancel --amount gives a part back and asks Pay Theory first what is left; a part \
      of a pending payment is a void, after which the payment that takes its place is looked \
      up. With merchant credentials a lost answer is asked for once before it is 9. How long a \
      reversal takes to appear in a look-up is not public: what is not seen within late_window \
      (60 s; 5 s with --env simulator over a network; none in process) stays unknown. An \
      answer to part 2 that has another receipt number, amount, currency or reference is no \
      answer (9, then found out). A GraphQL refusal of a charge or reversal is effect none \
      only where it is one of the document itself (parsing, validation), or of the credentials \
      (401, 403) or the rate (429); any other is 9.
      """,
    ]
  )
}
