import TenderEngine
import TenderModel

extension Catalogue {
  static let simulation: [any OptionKey] = [
    Keys.simScenario, Keys.simFault, Keys.simSeed, Keys.simClock,
  ]
  /// What every command takes that changes a payment by its reference.
  private static let sending: [any OptionKey] =
    [Keys.wait, Keys.interval, Keys.expect, Keys.events, Keys.dryRun, Keys.id, Keys.all]
    + simulation
  private static let lookingUp: [any OptionKey] =
    [Keys.wait, Keys.interval, Keys.expect, Keys.events, Keys.id, Keys.all, Keys.jobs, Keys.rate]
    + simulation
  private static let onTheWay: [Fault.Kind] = [
    .auth, .conflict, .rejected, .unknown, .notSent, .providerError, .expired, .state, .refused,
    .unexpected, .unsupported, .interrupted, .terminated, .hungUp,
  ]
  private static let ofLookUps: [Fault.Kind] = [
    .declined, .auth, .notFound, .conflict, .rejected, .notSent, .providerError, .cancelled,
    .expired, .partial, .unsupported, .state, .unexpected, .partPaid, .interrupted, .terminated,
    .hungUp,
  ]

  static let paymentCommands: [Command] = [
    Command(
      .makes(.payment),
      """
      transact: take a payment
      Takes a payment by card, bank account (ACH), cash barcode or stored method, and prints its
      result. Each request is in the journal before it is sent.

      The same command with the same --reference never pays twice: it prints the recorded result, or
      first asks the provider about a request whose answer was lost. --new-attempt pays again after
      a decline.
      """,
      options: [Keys.amount, Keys.currency, Keys.reference, Keys.newAttempt] + sending,
      exits: [.declined, .cancelled, .notFound, .device, .partPaid] + onTheWay
    ),
    Command(
      .changes(.confirm),
      """
      confirm: capture a held payment
      Captures a payment that transact --hold authorized, by its reference or the provider's id,
      from any process. A second confirm never charges twice: it prints the recorded result with
      "replayed": true.

      --amount captures a part and releases the rest, where the provider can do that.
      $ tender confirm A2 # capture the hold A2
      $ tender confirm A2 --json # the same, as a JSON line
      """,
      operands: [.init("REF", orID: true)],
      options: [Keys.amount, Keys.currency] + sending,
      exits: [.declined, .cancelled, .notFound] + onTheWay
    ),
    Command(
      .changes(.cancel),
      """
      cancel: void a held payment, or reverse a captured one
      Releases a held payment: nothing is charged. After capture it reverses the payment: by a void
      while the payment is pending, by a refund afterwards. The record says which.
      $ tender cancel A2 # void or reverse the payment A2
      $ tender cancel A2 --fields status,result.reversal --json # only what was done
      """,
      operands: [.init("REF", orID: true)],
      options: sending,
      exits: [.notFound, .declined] + onTheWay
    ),
    Command(
      .changes(.refund),
      """
      refund: refund a payment, whole or in part
      Refunds a payment. A held payment is voided. A captured one is voided, refunded or reversed,
      as its provider can, and the record says which. Without --amount all that is left is refunded.
      --dry-run shows what would happen, and sends nothing.

      The same command again never refunds twice: it prints the recorded result with "replayed":
      true. A second, different --amount needs a --refund-reference of its own, or a confirmation
      typed at a terminal. More than is left is never refunded.
      $ tender refund A2 # refund what is left of A2
      $ tender refund A2 --dry-run # show what would happen
      """,
      operands: [.init("REF", orID: true)],
      options: [Keys.amount, Keys.currency, Keys.rest] + sending,
      exits: [.notFound, .declined] + onTheWay
    ),
    Command(
      .makes(.storedMethod),
      """
      tokenize: store a payment method
      Stores a card or bank account at the provider and prints its payment method id, which transact
      --token charges.
      """,
      options: [Keys.reference, Keys.newAttempt, Keys.expect, Keys.events, Keys.dryRun, Keys.all]
        + simulation,
      exits: onTheWay,
      unoffered: ["method": ["cash"]]
    ),
    Command(
      .looksUp(.payment),
      """
      payment-status: look payments up
      Looks payments up at the provider by receipt number or reference, and prints status, fees,
      refunds, dispute and failure reasons. It sends nothing that can move money. What only the
      journal knows comes from there, with "source": "journal".
      $ tender payment-status A2 # look one payment up
      $ printf '%s\\n' A1 A2 | tender payment-status - --json # several, from standard input
      $ printf '%s\\n' A1 A2 | tender payment-status - --jobs 64 --json # many, at a provider that
      is far away
      """,
      operands: [.init("ID", orID: true, repeats: true)],
      options: lookingUp,
      exits: ofLookUps
    ),
    Command(
      .looksUp(.mandate),
      """
      mandate-status: look mandates up
      Looks mandates up at a provider that has them, by id or by a reference that the journal knows;
      15 at any other.
      $ tender mandate-status M1 # look one mandate up
      """,
      operands: [.init("ID", orID: true, repeats: true)],
      options: lookingUp,
      exits: ofLookUps
    ),
  ]
}
