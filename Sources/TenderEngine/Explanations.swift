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

  private static let usage: [Explanation] = [
    Explanation(
      "unknown_option",
      .usage,
      "there is no such option here",
      "see: tender help COMMAND"
    ),
    Explanation("unknown_command", .usage, "there is no such command", "see: tender help"),
    Explanation("unknown_profile", .usage, "there is no such profile", "see: tender config show"),
    Explanation("missing_option", .usage, "an option is missing", "add the one that is named"),
    Explanation("bad_value", .usage, "an option cannot have this value", "see the hint"),
    Explanation("bad_options", .usage, "options contradict each other", "give one of them"),
    Explanation("bad_operand", .usage, "an operand is missing, extra or unusable", "see the usage"),
    Explanation(
      "bad_amount",
      .usage,
      "the amount cannot be read, or is zero",
      "as many digits as the currency has, such as 10.50 USD"
    ),
    Explanation(
      "bad_currency",
      .usage,
      "no such currency, or not with this provider",
      "see the hint"
    ),
    Explanation(
      "deadline_passed",
      .pending,
      "the time of --deadline is over; no money moved, unless the exit is 9: then a request was under way",
      "run the same command again: it finds out first"
    ),
    Explanation(
      "clock_wrong",
      .usage,
      "this machine's clock is more than a minute off a provider's",
      "set the clock: signatures, tokens and certificates depend on it"
    ),
    Explanation(
      "bad_reference",
      .usage,
      "the reference is empty, too long, or has characters that cannot be seen",
      "1 to 100 visible characters"
    ),
    Explanation(
      "bad_file",
      .usage,
      "a file cannot be read or written",
      "check path and permissions"
    ),
    Explanation(
      "file_too_open",
      .usage,
      "others can read a file with a secret in it, or write it or a configuration",
      "chmod 600 FILE, or copy it to a file of your own"
    ),
    Explanation(
      "bad_line",
      .usage,
      "a line of a batch is no command, or has a key that its command does not take",
      "see: tender help batch; the other lines ran"
    ),
    Explanation("bad_config", .usage, "the configuration file is wrong", "see: tender help files"),
    Explanation(
      "bad_credential",
      .usage,
      "a credential is set twice, or its file is empty",
      "keep one"
    ),
    Explanation(
      "bad_address",
      .usage,
      "a base address cannot be used",
      "see: tender help environment"
    ),
    Explanation("no_home", .usage, "there is no place for files", "set HOME, or pass --state-dir"),
    Explanation("port_busy", .usage, "the port cannot be listened on", "choose another --port"),
    Explanation(
      "test_data_on_live",
      .usage,
      "test cards, test accounts and the simulator's reader are not for live",
      "pass the real instrument by --instrument-stdin, name a real reader by --device"
    ),
    Explanation(
      "card_number_on_command_line",
      .usage,
      "an argument looks like a card number; the run stopped before anything was read",
      "pass cards by --instrument-stdin; ids that only look like one by --id"
    ),
    Explanation(
      "card_number_on_standard_input",
      .usage,
      "an id looks like a card number",
      "ids that only look like one go behind --id"
    ),
    Explanation(
      "card_number_in_metadata",
      .usage,
      "metadata is stored and shown, and holds a card number",
      "leave it out"
    ),
  ]

  private static let journal: [Explanation] = [
    Explanation(
      "reference_reused",
      .conflict,
      "the reference belongs to a payment with other content",
      "use another reference; nothing was sent"
    ),
    Explanation(
      "attempt_stands",
      .conflict,
      "the payment under this reference stands",
      "--new-attempt is for declined, cancelled and expired ones"
    ),
    Explanation(
      "other_merchant",
      .conflict,
      "the payment under this reference was made with another merchant's credentials",
      "use that merchant's credentials, or another --reference"
    ),
    Explanation(
      "in_progress",
      .conflict,
      "another process is working on the reference",
      "wait for it to end, then run the same command again"
    ),
    Explanation(
      "ambiguous_reference",
      .conflict,
      "several providers or envs know the reference",
      "choose with --provider and --env"
    ),
    Explanation(
      "nothing_to_cancel",
      .conflict,
      "the payment is in a state that cannot be undone",
      "see: tender journal show REF"
    ),
    Explanation(
      "refund_not_made",
      .providerError,
      "a refund whose answer was lost turned out not to have been made",
      "run the same command again to send it"
    ),
    Explanation(
      "payment_not_found",
      .notFound,
      "neither provider nor journal knows it",
      "check the id"
    ),
    Explanation("code_not_found", .notFound, "there is no such error code", "see: tender explain"),
    Explanation(
      "state_unusable",
      .state,
      "journal or simulator file cannot be used; nothing was sent",
      "make room or access, or choose another --state-dir"
    ),
    Explanation(
      "journal_newer",
      .state,
      "the journal comes from a newer version; nothing was sent",
      "use that version"
    ),
    Explanation(
      "journal_forgot",
      .state,
      "the journal is an old copy, is damaged, or was removed: it may not know a payment that was "
        + "made; nothing was sent",
      "put the newest copy back, or look after the missing payments; then: tender journal settle "
        + "--all --as restored"
    ),
    Explanation(
      "journal_damaged",
      .state,
      "a row of the journal does not match its checksum",
      "see: tender journal verify; put the newest copy back"
    ),
    Explanation(
      "journal_moved",
      .state,
      "the journal's files were moved, removed or replaced while they were in use",
      "put them back, then run the same command again"
    ),
    Explanation(
      "journal_conflict",
      .state,
      "another command changed the attempt meanwhile",
      "run the same command again"
    ),
    Explanation(
      "bad_journal",
      .usage,
      "the journal's address cannot be used; nothing was sent",
      "such as TENDER_JOURNAL=postgres://tender@db1,db2/payments"
    ),
    Explanation(
      "bad_import",
      .usage,
      "a line is not an attempt that tender journal export printed",
      "export it again with this version"
    ),
    Explanation(
      "import_conflict",
      .conflict,
      "the journal has another attempt under the same reference and number; nothing of it was changed",
      "compare both: tender journal show REF"
    ),
    Explanation(
      "journal_unmigrated",
      .state,
      "the PostgreSQL journal has no tables of this version; nothing was sent",
      "as the owner of its tables: tender journal migrate"
    ),
    Explanation(
      "journal_unreachable",
      .state,
      "the PostgreSQL journal cannot be reached or does not answer; nothing was sent",
      "run the same command again once it is back; see tender doctor"
    ),
    Explanation(
      "journal_denied",
      .state,
      "the PostgreSQL journal does not let this user do that; nothing was sent",
      "give the role its rights: tender journal grants"
    ),
    Explanation(
      "journal_key",
      .state,
      "what a payment needs later is sealed under a key that is not here; nothing was sent",
      "set TENDER_JOURNAL_KEY_FILE to the file that the fleet shares"
    ),
    Explanation(
      "journal_unsupported",
      .unsupported,
      "this journal cannot do that: its server does",
      "see tender help journal"
    ),
    Explanation(
      "journal_unsafe",
      .state,
      "the PostgreSQL journal acknowledges what a crash can lose: that a payment was sent",
      "set synchronous_commit to on for the role that pays"
    ),
    Explanation(
      "lease_lost",
      .conflict,
      "another machine has taken the reference over while this one was held up; nothing was sent",
      "run the same command again: it finds out first"
    ),
    Explanation(
      "lease_over",
      .notSent,
      "this process was held up for longer than the journal lends it a reference; nothing was sent",
      "run the same command again"
    ),
    Explanation(
      "takeover_not_confirmed",
      .refused,
      "another machine has worked on this sale a short while ago, or it is live: nobody said that it may be taken over; nothing was sent",
      "make sure that the other is not at work on it, then add --yes"
    ),
    Explanation(
      "nothing_forgotten",
      .conflict,
      "the journal is whole: there is nothing to settle",
      "settle one attempt by its reference"
    ),
    Explanation(
      "nothing_to_settle",
      .conflict,
      "the outcome of the attempt is known",
      "only an unknown attempt can be settled"
    ),
    Explanation(
      "not_confirmed",
      .refused,
      "settling was not confirmed",
      "add --yes, or type yes"
    ),
    Explanation("read_only", .refused, "the profile refuses writes", "use another --profile"),
    Explanation(
      "live_not_named",
      .refused,
      "a live write needs --env live on its command line",
      "add --env live"
    ),
    Explanation(
      "live_not_confirmed",
      .refused,
      "a live write was not confirmed",
      "add --yes, or type yes"
    ),
    Explanation(
      "no_instrument",
      .refused,
      "there is no instrument and nobody to ask",
      "see: tender help instruments"
    ),
    Explanation("not_asked", .refused, "a question was not answered", "answer it, or use options"),
  ]

  private static let outcomes: [Explanation] = [
    Explanation(
      "outcome_unknown",
      .unknown,
      "a request that can move money was sent, and its answer was lost or unreadable",
      "never pay again under another reference: the same command, or tender journal resume, "
        + "finds out"
    ),
    Explanation(
      "still_pending",
      .pending,
      "--wait ran out before the final state",
      "look again later"
    ),
    Explanation(
      "payment_cancelled",
      .cancelled,
      "the payment was cancelled",
      "--new-attempt tries again"
    ),
    Explanation(
      "declined",
      .declined,
      "the payment was declined; no money moved",
      "--new-attempt tries again"
    ),
    Explanation(
      "unexpected_status",
      .unexpected,
      "--expect was given and the status is another",
      "see status and result of the record"
    ),
    Explanation("interrupted", .interrupted, "Ctrl-C ended the run", "run the same command again"),
    Explanation("terminated", .terminated, "SIGTERM ended the run", "run the same command again"),
    Explanation("internal", .internal, "a bug in tender", "please report it with the command"),
    Explanation(
      "library_missing",
      .internal,
      "a system library cannot be opened",
      "install the package that is named"
    ),
  ]

  private static let transport: [Explanation] = [
    Explanation(
      "unreachable",
      .notSent,
      "there is no connection; nothing left",
      "repeat it freely"
    ),
    Explanation(
      "tls_failed",
      .notSent,
      "the server could not prove who it is; nothing left",
      "check the address; TENDER_CA_FILE names a private root"
    ),
    Explanation(
      "connection_closed",
      .providerError,
      "the connection ended before an answer",
      "try again; a payment would be unknown (9) instead"
    ),
    Explanation(
      "no_answer",
      .providerError,
      "no answer within --timeout",
      "try again; a payment would be unknown (9) instead"
    ),
    Explanation("answer_too_large", .providerError, "the answer is larger than 4 MiB", "report it"),
    Explanation("unreadable_answer", .providerError, "the answer breaks its protocol", "try later"),
    Explanation("upgrade_refused", .providerError, "the socket was not opened", "try again later"),
    Explanation(
      "provider_unsupported",
      .unsupported,
      "this version does not speak to that provider",
      "see: tender providers"
    ),
    Explanation(
      "cancel_unsupported",
      .unsupported,
      "what waits for the payer cannot be cancelled",
      "it expires by itself"
    ),
    Explanation(
      "method_unsupported",
      .unsupported,
      "the provider does not have this kind of payment or command",
      "see: tender providers"
    ),
    Explanation(
      "refund_differs",
      .conflict,
      "the payment was refunded with another amount",
      "a further refund needs --new-attempt"
    ),
    Explanation(
      "refund_exceeds",
      .conflict,
      "less is left of the payment than is to be refunded",
      "name at most what is left"
    ),
    Explanation(
      "mandates_unsupported",
      .unsupported,
      "the provider has no mandates",
      "see: tender providers"
    ),
  ]
}
