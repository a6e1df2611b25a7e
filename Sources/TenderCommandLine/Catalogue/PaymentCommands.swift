import TenderEngine
import TenderModel
import TenderModule

extension Catalogue {
  private static let simulation: [any OptionKey] = [
    Keys.simScenario, Keys.simFault, Keys.simSeed, Keys.simClock,
  ]
  private static let onTheWay: [Fault.Kind] = [
    .auth, .conflict, .rejected, .unknown, .notSent, .providerError, .expired, .state, .refused,
    .unexpected, .unsupported, .interrupted, .terminated,
  ]

  static let paymentCommands: [Command] = [
    Command(
      "transact",
      "take a payment",
      .makes(.payment),
      description: [
        "Takes a payment by card, bank account (ACH), cash barcode or stored method, and prints "
          + "what came of it. The attempt is in the journal before anything is sent.",
        "The same command with the same --reference never pays twice: it answers with the "
          + "recorded result, or first finds out what an earlier run did. A declined payment is "
          + "tried again with --new-attempt.",
      ],
      options: [Keys.amount, Keys.currency, Keys.reference]
        + [
          Keys.idempotencyKey, Keys.newAttempt, Keys.wait, Keys.interval, Keys.expect, Keys.events,
          Keys.dryRun, Keys.id, Keys.all,
        ] + simulation,
      examples: [],
      exits: [.declined, .cancelled, .notFound, .device] + onTheWay
    ),
    Command(
      "confirm",
      "capture a held payment",
      .changes(.confirm),
      description: [
        "Captures a payment that transact --confirmation holds, from any process, by its "
          + "reference or receipt number. A second confirm never charges twice: it prints the "
          + "recorded result with \"replayed\": true."
      ],
      operands: [.init("REF", orID: true)],
      options: [
        Keys.newAttempt, Keys.wait, Keys.interval, Keys.expect, Keys.events, Keys.dryRun, Keys.id,
        Keys.all,
      ]
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
      .changes(.cancel),
      description: [
        "Lets go of a held payment: nothing was charged. After capture it is a reversal at the "
          + "provider: a void while the payment is pending, a refund afterwards; the record says "
          + "which."
      ],
      operands: [.init("REF", orID: true)],
      options: [
        Keys.newAttempt, Keys.wait, Keys.interval, Keys.expect, Keys.events, Keys.dryRun, Keys.id,
        Keys.all,
      ] + simulation,
      examples: [
        .init("tender cancel A2", "void or reverse the payment A2"),
        .init(
          "tender cancel A2 --fields status,result.reversal --json",
          "only what was done"
        ),
      ],
      exits: [.notFound, .declined] + onTheWay
    ),
    Command(
      "refund",
      "give a payment back, whole or in part",
      .changes(.refund),
      description: [
        "Gives a payment back by the way that its provider has for it: what is held is voided, what is "
          + "captured is voided, refunded or reversed, and the record says which. Without --amount it "
          + "gives back all that is left. --dry-run says what would happen, and sends nothing.",
        "The same command again never gives back twice: it prints the recorded result with "
          + "\"replayed\": true. A further refund of the same payment needs --new-attempt and a "
          + "--refund-reference of its own; nothing above what is left is ever sent.",
      ],
      operands: [.init("REF", orID: true)],
      options: [
        Keys.amount, Keys.currency, Keys.newAttempt, Keys.wait, Keys.interval, Keys.expect,
        Keys.events, Keys.dryRun, Keys.id, Keys.all,
      ] + simulation,
      examples: [
        .init("tender refund A2", "give all of A2 back"),
        .init("tender refund A2 --dry-run", "say what would happen"),
      ],
      exits: [.notFound, .declined] + onTheWay
    ),
    Command(
      "tokenize",
      "store a payment method",
      .makes(.token),
      description: [
        "Stores a card or bank account at the provider and prints its payment method id, which "
          + "transact --token charges."
      ],
      options: [
        Keys.reference, Keys.idempotencyKey, Keys.newAttempt, Keys.expect, Keys.events, Keys.dryRun,
        Keys.all,
      ] + simulation,
      examples: [],
      exits: onTheWay,
      unoffered: ["method": ["cash"]]
    ),
    Command(
      "payment-status",
      "look payments up",
      .looksUp(.payment),
      description: [
        "Looks payments up at the provider by receipt number or reference, and prints status, "
          + "fees, refunds, dispute and failure reasons. What only the journal knows (held, "
          + "cancelled before capture, waiting for cash) comes from there, with \"source\": "
          + "\"journal\"."
      ],
      operands: [.init("ID", orID: true, repeats: true)],
      options: [
        Keys.wait, Keys.interval, Keys.expect, Keys.events, Keys.id, Keys.all, Keys.jobs, Keys.rate,
      ] + simulation,
      examples: [
        .init("tender payment-status A2", "look one payment up"),
        .init(
          "printf '%s\\n' A1 A2 | tender payment-status - --json",
          "several, from standard input"
        ),
        .init(
          "printf '%s\\n' A1 A2 | tender payment-status - --jobs 64 --json",
          "many, at a provider that is far away"
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
      .looksUp(.mandate),
      description: [
        "Looks mandates up at a provider that has them, by id or by a reference that the journal "
          + "knows; 15 at any other."
      ],
      operands: [.init("ID", orID: true, repeats: true)],
      options: [
        Keys.wait, Keys.interval, Keys.expect, Keys.events, Keys.id, Keys.all, Keys.jobs, Keys.rate,
      ] + simulation,
      examples: [.init("tender mandate-status M1", "look one mandate up")],
      exits: [
        .auth, .notFound, .notSent, .providerError, .partial, .unsupported, .state, .unexpected,
        .interrupted, .terminated,
      ]
    ),
  ]
}
