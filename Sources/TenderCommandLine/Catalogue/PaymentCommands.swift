import TenderModel

extension Catalogue {
  private static let payment = [
    "payor", "payor-id", "account-code", "payment-parameters", "invoice-id", "recurring-id",
    "send-receipt", "receipt-description", "metadata", "metadata-file",
  ]
  private static let instrument = [
    "method", "instrument-stdin", "instrument-file", "instrument-fd", "test-card", "test-account",
  ]
  private static let creation = [
    "beneficiary-name", "sort-code", "account-number", "iban", "merchant-account",
    "payment-reference", "user", "preselect", "mandate", "mandate-type", "use-case", "valid-from",
    "valid-to", "max-individual", "limit",
  ]
  private static let flow = [
    "resource-token-file", "redirect-url", "return-url", "country", "bank", "branch", "scheme",
    "account", "consent", "form", "form-file", "retry", "open",
  ]
  private static let reader = [
    "type", "device", "gratuity", "gratuity-minor", "gratuity-menu", "signature", "signature-file",
    "signature-matches", "no-capture", "original", "original-file", "additional",
    "additional-file",
  ]
  private static let simulation = ["sim-scenario", "sim-fault", "sim-seed", "sim-clock"]
  private static let onTheWay: [Fault.Kind] = [
    .auth, .conflict, .rejected, .unknown, .notSent, .providerError, .expired, .state, .refused,
    .unexpected, .unsupported, .interrupted, .terminated,
  ]

  static let paymentCommands: [Command] = [
    Command(
      "transact",
      "take a payment",
      description: [
        "Takes a payment by card, bank account (ACH), cash barcode or stored method, and prints "
          + "what came of it. The attempt is in the journal before anything is sent.",
        "The same command with the same --reference never pays twice: it answers with the "
          + "recorded result, or first finds out what an earlier run did. A declined payment is "
          + "tried again with --new-attempt.",
        "With --confirmation the payment is prepared and held: nothing is charged until "
          + "tender confirm, from any process.",
        "With --provider truelayer it makes a bank payment (or with --mandate a mandate), or goes on "
          + "with one that exists (--payment-id, --mandate-id and its resource token), and goes "
          + "through the authorization: it chooses the bank, shows the address that the payer "
          + "opens, waits until they are back, and prints what came of it. What only the payer can "
          + "say and no option gives ends in 8 and stands in next_action.",
        "With --provider toro it takes a card on a reader: it waits for chip, tap or stripe, has the "
          + "PIN entered there, asks the acquirer, and prints the receipt. --no-capture authorises "
          + "only; --type refund gives a sale back. Ctrl-C, or tender cancel REF in another shell, "
          + "lets the reader go.",
      ],
      options: [
        "amount", "amount-minor", "currency", "fee-mode", "fee", "fee-minor", "reference",
        "confirmation",
      ] + payment + instrument + ["token"] + reader + creation + ["payment-id", "mandate-id"] + flow
        + [
          "idempotency-key", "new-attempt", "wait", "interval", "expect", "events", "dry-run", "id",
        ] + simulation,
      examples: [
        .init(
          "tender transact --amount 10.50 --test-card visa --reference ORDER-1042",
          "pay with a test card on the simulator"
        ),
        .init(
          "tender transact --amount 10.50 --instrument-stdin --reference A1 < card.json",
          "pay with a card that arrives on standard input"
        ),
        .init(
          "tender transact --amount 5 --test-card visa --reference A2 --confirmation",
          "prepare a payment and hold it"
        ),
        .init(
          "tender transact --provider truelayer --amount 10 --beneficiary-name Ben "
            + "--sort-code 56-00-29 --account-number 26207729 --user name=Remi "
            + "--user email=remi@example.com --bank mock-payments-gb-redirect --reference B1",
          "a bank payment: made, authorized by the simulated payer, executed"
        ),
        .init(
          "tender transact --provider truelayer --mandate --max-individual 50 --limit month:500 "
            + "--beneficiary-name Ben --sort-code 56-00-29 --account-number 26207729 "
            + "--user name=Remi --user email=remi@example.com "
            + "--bank ob-natwest-vrp-sandbox --reference M1",
          "a mandate for recurring payments"
        ),
        .init(
          "tender transact --provider toro --amount 12.50 --reference SALE-1 --events",
          "a card on the simulated reader: chip, PIN, approval"
        ),
        .init(
          "tender transact --provider toro --type refund --amount 5 --original SALE-1 "
            + "--reference BACK-1",
          "give a part of it back"
        ),
      ],
      exits: [.declined, .cancelled, .notFound, .device] + onTheWay
    ),
    Command(
      "confirm",
      "capture a held payment",
      description: [
        "Captures a payment that transact --confirmation holds, from any process, by its "
          + "reference or receipt number. A second confirm never charges twice: it prints the "
          + "recorded result with \"replayed\": true.",
        "A bank payment or mandate that awaits its payer is taken up where it stands; --return-url "
          + "hands in the address that the payer came back to.",
        "A card-present sale that was authorised with --no-capture is captured by a completion "
          + "advice.",
      ],
      operands: [.init("REF", optional: true)],
      options: flow + ["new-attempt", "wait", "interval", "expect", "events", "dry-run", "id"]
        + simulation,
      examples: [
        .init("tender confirm A2", "capture what is held under A2"),
        .init("tender confirm A2 --json", "the same, as a JSON line"),
      ],
      exits: [.declined, .cancelled, .notFound] + onTheWay
    ),
    Command(
      "cancel",
      "void a held payment, or reverse a captured one",
      description: [
        "Lets go of a held payment: nothing was charged. After capture it is a reversal at the "
          + "provider: a void while the payment is pending, a refund afterwards; the record says "
          + "which. With --amount a part of it is given back; a further part needs --new-attempt and "
          + "a --refund-reference of its own. Reversals need merchant credentials.",
        "A bank payment is cancelled until it is authorized; a mandate is revoked once it is. "
          + "--refund sends a settled payment back, whole or in part; a further refund of the same "
          + "payment needs --new-attempt and a --refund-reference of its own.",
        "A card-present sale that is under way on the reader is stopped there; afterwards it is "
          + "undone by a cancellation advice, whole, while it is not cleared.",
      ],
      operands: [.init("REF", optional: true)],
      options: [
        "refund", "refund-reference", "amount", "amount-minor", "currency", "payment-reference",
        "resource-token-file", "idempotency-key", "new-attempt", "wait", "interval", "expect",
        "events",
        "dry-run", "id",
      ] + simulation,
      examples: [
        .init("tender cancel A2", "void or reverse the payment A2"),
        .init("tender cancel A2 --amount 3.50", "give a part of it back"),
        .init(
          "tender cancel A2 --fields status,result.reversal --json",
          "only what was done"
        ),
      ],
      exits: [.notFound, .declined] + onTheWay
    ),
    Command(
      "tokenize",
      "store a payment method",
      description: [
        "Stores a card or bank account at the provider and prints its payment method id, which "
          + "transact --token charges."
      ],
      options: ["reference", "payor", "payor-id", "metadata", "metadata-file"] + instrument + [
        "idempotency-key", "new-attempt", "expect", "events", "dry-run",
      ] + simulation,
      examples: [
        .init("tender tokenize --test-card visa --reference CARD-7", "store a test card"),
        .init(
          "tender tokenize --test-card amex --json --fields id",
          "print the id alone"
        ),
      ],
      exits: onTheWay,
      unoffered: ["method": ["cash"]]
    ),
    Command(
      "payment-status",
      "look payments up",
      description: [
        "Looks payments up at the provider by receipt number or reference, and prints status, "
          + "fees, refunds, dispute and failure reasons. What only the journal knows (held, "
          + "cancelled before capture, waiting for cash) comes from there, with \"source\": "
          + "\"journal\". Needs merchant credentials.",
        "Bank payments are looked up by id, with a resource token or client credentials.",
      ],
      operands: [.init("ID", optional: true, repeats: true)],
      options: ["resource-token-file", "wait", "interval", "expect", "events", "id"] + simulation,
      examples: [
        .init("tender payment-status A2", "look one payment up"),
        .init(
          "printf '%s\\n' A1 A2 | tender payment-status - --json",
          "several, from standard input"
        ),
      ],
      exits: [
        .auth, .notFound, .notSent, .providerError, .partial, .unsupported, .state, .unexpected,
        .interrupted, .terminated,
      ]
    ),
    Command(
      "mandate-status",
      "look mandates up",
      description: [
        "Looks mandates up at TrueLayer, by id or by a reference that the journal knows. The other "
          + "providers have none: 15 there."
      ],
      operands: [.init("ID", optional: true, repeats: true)],
      options: ["resource-token-file", "wait", "interval", "expect", "events", "id"] + simulation,
      examples: [.init("tender mandate-status M1", "look one mandate up")],
      exits: [
        .auth, .notFound, .notSent, .providerError, .partial, .unsupported, .state, .unexpected,
        .interrupted, .terminated,
      ]
    ),
  ]
}
