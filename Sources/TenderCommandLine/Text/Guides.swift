/// Topics for a task rather than for a part of the program.
extension Topic {
  static let guides = [references, support, credentials, installation]

  private static let references = Topic(
    name: "references",
    aliases: ["reference", "idempotency", "idempotency-key", "retry", "duplicates"],
    summary: "why a command that is run again charges nothing twice",
    body: [
      "A reference is your own name for one payment, such as an order's number. One journal charges a reference "
        + "once: the same command, run again, prints the same payment with \"replayed\":true. With another amount, "
        + "currency or instrument it is exit 6 (reference_reused), and nothing is sent.",
      "The journal has each request before it is sent. Where an answer was lost, the next command under that "
        + "reference first looks what became of it. So a script needs one rule: run the same command again, and "
        + "never take another reference for the same purchase.",
      "--new-attempt charges again after a decline, a cancellation or an expiry. It is refused while an earlier "
        + "attempt succeeded, is held, is pending or is unknown. Where a command ended before a request for money "
        + "left, such as by a lost session or a cancel at the reader, the same command tries again without it.",
      "A refund in parts has a name for each part: --refund-reference NAME. The same name refunds once.",
      "Where the provider takes an idempotency key, tender derives it from the operation, and records show it as "
        + "idempotency_key. --idempotency-key sets it for a payment that another program began. A key belongs to one "
        + "request: with another one it is exit 6 (key_reused). tender help PROVIDER says what a provider does "
        + "without a key.",
      "Two journals do not know of each other. Machines that share references share a journal on PostgreSQL: "
        + "tender help journal.",
    ]
  )

  private static let support = Topic(
    name: "support",
    aliases: ["support-desk", "look-up", "lookup", "read-only", "readonly"],
    summary: "answer a customer, and change nothing by accident",
    body: [
      "Work with a profile that refuses every write, which tender help files explains: "
        + #""support":{"env":"live", "mode":"read-only"}. A write ends in exit 17 then; --dry-run is allowed."#,
      """
        find the payment      tender find --last-four 1111 --since yesterday
                              tender find --amount 10.50 --customer remi@example.com
                              tender find 'ORDER-*', tender find --id ID
        what happened to it   tender journal show REF
        why it failed         tender explain REF
        what it is now        tender payment-status REF     (asks the provider)
        what a refund would do tender refund REF --dry-run
      """,
      "find and journal list read the journal of this machine, or the one that TENDER_JOURNAL names. A note says "
        + "which journal that was and from when: a payment that another journal has is not in it. find --online "
        + "asks the provider too.",
      "A payment that is unknown (exit 9) may have been charged. Do not take another payment for it: tender "
        + "journal resume REF looks, and says what can be done.",
    ]
  )

  private static let credentials = Topic(
    name: "credentials",
    aliases: ["credential", "keys", "key", "secrets", "secret", "api-key", "signing-key"],
    summary: "the sources of keys and secrets, and how to replace one",
    body: [
      "A profile names its credentials, in one of four forms: tender help files. A variable is used for a "
        + "credential that the profile does not give: tender help environment. tender config show names the source in "
        + "use, and those that are ignored. tender doctor names the key in use, by its id or its stage.",
      "To replace a secret, create the new one at the provider, and put it in the place of the old one. Run tender "
        + "doctor. Then revoke the old one at the provider. A command reads its secrets when it starts: a batch "
        + "that is running keeps the old ones until it ends.",
      "To replace a signing key, register its public half at the provider first. Then change the key's id and the "
        + "key together.",
      "The journal records the merchant of each payment. A payment of another merchant ends in exit 6 "
        + "(other_merchant). With some providers a new key counts as another merchant: tender help PROVIDER. Then keep "
        + "the old key in a profile of its own, for refunds and look-ups of its payments.",
      "An idempotency key is another thing: tender help references.",
    ]
  )

  private static let installation = Topic(
    name: "installation",
    aliases: ["install", "upgrade", "update", "uninstall", "remove"],
    summary: "install, upgrade and remove the program; what stays",
    body: [
      "make install puts the program, its manual pages and the completions of three shells below PREFIX "
        + "(/usr/local); make deb makes a package for Debian and Ubuntu.",
      "Upgrade: install the new version over the old one; commands that run meanwhile end as they began. A journal "
        + "of an older version is converted when a command first writes to it, in one step that a crash cannot "
        + "halve. From then on an older version refuses it (journal_newer, exit 16). A copy before: tender journal "
        + "backup FILE. A journal on PostgreSQL is converted by its owner alone: tender journal migrate.",
      "Uninstall: remove what was installed (apt remove tender, or bin/tender, share/man/man*/tender* and the "
        + "completions below PREFIX). The journal stays in its state folder: it is the proof of what was charged, "
        + "and a later installation goes on with it. tender help files says where it is, and where its mark is. Whoever "
        + "removes both forgets every reference, and a command that is run again then charges again.",
    ]
  )
}
