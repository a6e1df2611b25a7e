package import TenderModel

/// The pages of `tender explain` that belong to no provider.
extension Explanation {
  /// Every general page.
  package static let general: [Explanation] =
    usage + journal + outcomes + transport + statuses

  /// A page for each exit status, with the codes that end in it.
  package static let exits: [Explanation] = words(
    .exit,
    "the exit status of tender: man 7 tender-exit-codes",
    (["0: what was asked for was reached, or looked up"]
      + Fault.Kind.allCases.sorted { $0.exitStatus < $1.exitStatus }.map {
        "\($0.exitStatus): \($0.meaning)"
      } + ["141: a look-up whose reader closed the pipe"]).joined(separator: "\n")
  )

  private static let statuses = words(
    .status,
    "a status of tender, the same for every provider",
    Status.allCases.map { "\($0.rawValue): \($0.meaning)" }.joined(separator: "\n")
  )

  private static let usage: [Explanation] = errors(
    """
    unknown_option usage: there is no such option here | see: tender help COMMAND
    unknown_command usage: there is no such command | see: tender help
    unknown_profile usage: there is no such profile | see: tender config show
    missing_option usage: an option is missing | add the one that is named
    bad_value usage: an option cannot have this value | see the hint
    bad_options usage: options contradict each other | give one of them
    bad_operand usage: an operand is missing, extra or unusable | see the usage
    bad_amount usage: the amount cannot be read, or is zero | as many digits as the currency has, such as 10.50 USD
    bad_currency usage: no such currency, or not with this provider | see the hint
    deadline_passed pending: the time of --deadline is over; nothing was sent, unless the exit is 9: then a request was under way | run the same command again: it looks first
    clock_wrong usage: this machine's clock is more than a minute off a provider's | set the clock: signatures, tokens and certificates depend on it
    bad_reference usage: the reference is empty, too long, or has characters that cannot be seen | 1 to 100 visible characters
    bad_file usage: a file cannot be read or written | check path and permissions
    file_too_open usage: others can read a file with a secret in it, or write it or a configuration | chmod 600 FILE, or copy it to a file of your own
    bad_line usage: a line of a batch is no command, or has a key that its command does not take | see: tender help batch; the other lines ran
    bad_config usage: the configuration file is wrong | see: tender help files
    containment_missing state: the profile has "containment":"required", and this system does not bound the process; nothing was sent | see: tender help containment
    bad_credential usage: a credential is set twice, or its source gives none | see: tender config show
    bad_address usage: a base address cannot be used | see: tender help environment
    no_home usage: there is no place for files | set HOME, or pass --state-dir
    port_busy usage: the port cannot be listened on | choose another --port
    test_data_on_live usage: test cards, test accounts and the simulator's reader are not for live | pass the real instrument by --instrument-stdin, name a real reader by --device
    card_number_on_command_line usage: an argument looks like a card number; the run stopped before anything was read | pass cards by --instrument-stdin; ids that only look like one by --id
    card_number_on_standard_input usage: an id looks like a card number | ids that only look like one go behind --id
    card_number_in_metadata usage: metadata is stored and shown, and holds a card number | leave it out
    """
  )

  private static let outcomes: [Explanation] = errors(
    """
    outcome_unknown unknown: a request that can move money was sent, and its answer was lost or unreadable | never pay again under another reference: tender payment-status REF looks; the same command, or tender journal resume REF --finish, finishes and may move money
    still_pending pending: --wait ran out before the final state | look again later
    payment_cancelled cancelled: the payment was cancelled | --new-attempt tries again
    payment_returned declined: the bank took the money back after the payment; it does not count as paid | ask the payer; a new charge needs a new --reference
    payment_expired expired: the time to pay or to authorize is over; nothing was charged | --new-attempt tries again
    payment_failed rejected: the payment failed at the provider or the bank | see result; --new-attempt tries again
    part_paid part_paid: less than the requested amount was approved; the approved amount is charged or held | take the rest by another payment, or refund it; --allow-partial accepts it
    declined declined: the payment was declined; nothing was charged | --new-attempt tries again
    unexpected_status unexpected: --expect was given and the status is another | see status and result of the record
    interrupted interrupted: Ctrl-C ended the run | run the same command again
    terminated terminated: SIGTERM ended the run | run the same command again
    hung_up hung_up: the terminal is gone (SIGHUP), which ended the run | run the same command again; nohup or a service keeps it running
    internal internal: a bug in tender | please report it with the command
    library_missing internal: a system library cannot be opened | install the package that is named
    """
  )

  private static let transport: [Explanation] = errors(
    """
    unreachable not_sent: there is no connection; nothing was sent | it is safe to retry
    tls_failed not_sent: the server could not prove who it is; nothing was sent | check the address; TENDER_CA_FILE names a private root
    connection_closed provider_error: the connection ended before an answer | try again; a payment would be unknown (9) instead
    no_answer provider_error: no answer within --timeout | try again; a payment would be unknown (9) instead
    answer_too_large provider_error: the answer is larger than 4 MiB | report it
    unreadable_answer provider_error: the answer breaks its protocol | try later
    answers_differ provider_error: two look-ups, one after the other, differ in what was refunded, returned or revoked elsewhere; nothing was recorded | look again
    upgrade_refused provider_error: the socket was not opened | try again later
    provider_unsupported unsupported: this version does not speak to that provider | see: tender providers
    cancel_unsupported unsupported: what waits for the payer cannot be cancelled | it expires by itself
    method_unsupported unsupported: the provider does not have this kind of payment or command | see: tender providers
    refund_differs conflict: the refund of this name was for another amount | use another --refund-reference for a further refund
    refund_needs_name conflict: the payment was refunded before, and a further amount has no name; nothing was sent | add --refund-reference NAME, or confirm at a terminal
    refund_exceeds conflict: less is left of the payment than is to be refunded | name at most what is left
    earlier_refund_resolved conflict: an earlier refund that was refused, or whose answer was lost, has turned out to be done or not; this one was not sent | see the amounts in the message, then run the command again
    key_differs conflict: this was done before, under another idempotency key; nothing was sent | leave --idempotency-key out to see what it came to
    key_reused conflict: the idempotency key was used for another request; nothing was sent | use another --idempotency-key, or leave it out
    finish_not_confirmed refused: finishing would move money, and was not confirmed | add --yes, or type yes
    mandates_unsupported unsupported: the provider has no mandates | see: tender providers
    """
  )
}

extension Status {
  /// What it says of a payment, mandate or stored method.
  fileprivate var meaning: String {
    switch self {
    case .requiresConfirmation:
      "held, not captured: tender confirm captures it, tender cancel releases it"
    case .requiresAction: "the payer has to do something: see next_action"
    case .pending: "on its way; payment-status --wait waits for its end"
    case .authorized: "a bank payment or mandate that the payer has authorized"
    case .succeeded: "paid, or stored"
    case .declined: "declined by the issuer, bank, processor or payer; nothing was charged"
    case .cancelled: "cancelled by customer, payer or operator; what was charged before was voided"
    case .refunded: "paid, and refunded as a whole"
    case .partiallyRefunded: "paid, and refunded in part"
    case .returned: "sent back by the payer's bank after it was paid"
    case .expired: "the time for the next step is over; nothing was charged"
    case .revoked: "a mandate that was authorized and is no longer"
    case .failed: "ended without effect; nothing was charged, and the reference is free again"
    case .unknown:
      "a request that can move money was sent, and its effect is unknown: never pay "
        + "again under another reference"
    }
  }
}
