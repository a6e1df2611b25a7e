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
    """
    requires_confirmation: held, not captured: tender confirm takes it, tender cancel lets it go
    requires_action: the payer has to do something: see next_action
    pending: on its way; payment-status --wait waits for its end
    authorized: a bank payment or mandate that the payer has authorized
    succeeded: paid, or stored
    declined: a no from issuer, bank, processor or payer; no money moved
    cancelled: cancelled by customer, payer or operator; no money moved
    refunded: paid, and given back as a whole
    partially_refunded: paid, and given back in part
    returned: sent back by the payer's bank after it was paid
    expired: nobody went on with it in time; no money moved
    revoked: a mandate that was authorized and is no longer
    failed: ended before the provider was asked for the money; no money moved
    unknown: a request that can move money was sent, and what it did is not known: never pay again under another reference
    """
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
    deadline_passed pending: the time of --deadline is over; no money moved, unless the exit is 9: then a request was under way | run the same command again: it finds out first
    clock_wrong usage: this machine's clock is more than a minute off a provider's | set the clock: signatures, tokens and certificates depend on it
    bad_reference usage: the reference is empty, too long, or has characters that cannot be seen | 1 to 100 visible characters
    bad_file usage: a file cannot be read or written | check path and permissions
    file_too_open usage: others can read a file with a secret in it, or write it or a configuration | chmod 600 FILE, or copy it to a file of your own
    bad_line usage: a line of a batch is no command, or has a key that its command does not take | see: tender help batch; the other lines ran
    bad_config usage: the configuration file is wrong | see: tender help files
    bad_credential usage: a credential is set twice, or its file is empty | keep one
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
    outcome_unknown unknown: a request that can move money was sent, and its answer was lost or unreadable | never pay again under another reference: the same command, or tender journal resume, finds out
    still_pending pending: --wait ran out before the final state | look again later
    payment_cancelled cancelled: the payment was cancelled | --new-attempt tries again
    declined declined: the payment was declined; no money moved | --new-attempt tries again
    unexpected_status unexpected: --expect was given and the status is another | see status and result of the record
    interrupted interrupted: Ctrl-C ended the run | run the same command again
    terminated terminated: SIGTERM ended the run | run the same command again
    internal internal: a bug in tender | please report it with the command
    library_missing internal: a system library cannot be opened | install the package that is named
    """
  )

  private static let transport: [Explanation] = errors(
    """
    unreachable not_sent: there is no connection; nothing left | repeat it freely
    tls_failed not_sent: the server could not prove who it is; nothing left | check the address; TENDER_CA_FILE names a private root
    connection_closed provider_error: the connection ended before an answer | try again; a payment would be unknown (9) instead
    no_answer provider_error: no answer within --timeout | try again; a payment would be unknown (9) instead
    answer_too_large provider_error: the answer is larger than 4 MiB | report it
    unreadable_answer provider_error: the answer breaks its protocol | try later
    upgrade_refused provider_error: the socket was not opened | try again later
    provider_unsupported unsupported: this version does not speak to that provider | see: tender providers
    cancel_unsupported unsupported: what waits for the payer cannot be cancelled | it expires by itself
    method_unsupported unsupported: the provider does not have this kind of payment or command | see: tender providers
    refund_differs conflict: the payment was refunded with another amount | a further refund needs --new-attempt
    refund_exceeds conflict: less is left of the payment than is to be refunded | name at most what is left
    mandates_unsupported unsupported: the provider has no mandates | see: tender providers
    """
  )
}
