import TenderModel

extension Catalogue {
  static let supportCommands: [Command] = [
    Command(
      .local(.writes),
      """
      batch: run many commands from a file
      Runs one command a line: a JSON object with "command" (transact, confirm, cancel, refund,
      tokenize, payment-status, mandate-status), "reference", and the long option names as keys, _
      for -; repeated options as lists or objects. An "instrument" object is allowed and never
      shown. Any provider in any line; the options here stand behind those of the line.

      Every result is a record with its line; the last is a batch_summary. Exit 0 where every line
      ended with 0, 14 where some did not, 9 where one is unknown, 130 or 143 where a signal ended
      it, 8 where --deadline did. A line that cannot be read is an error record in its place. Ctrl-C
      finishes what is under way, a sale that waits for its card ends cancelled, and the same
      command with --resume goes on: what is done is printed with "replayed": true and never paid
      again.

      With --check nothing is sent: each line is read, and what it would be refused for is said now,
      credentials that are missing too; a reference that two lines give to different payments as
      well.

      With --jobs many lines run at once; those that wait for the disk at the same time share one
      sync, and connections that a line will need are opened ahead, one for every two lines at most.

      Several runners may share a file: with --shard 3/10 each takes the lines of its own share, by
      their reference; without it each takes every line, and one that another has under way is left
      for the end. Each reference is charged once, where all use one journal.

      A refund with "amount" needs a "refund_reference". Live lines need --env live and --yes here.
      $ tender batch payments.jsonl # every line of a file
      $ tender batch payments.jsonl --resume # go on after an interruption
      $ tender batch payments.jsonl --shard 3/10 # the third of ten runners that share a file
      $ tender batch smoke.jsonl --junit report.xml --ordered # a smoke test, with "expect" in its
      lines
      """,
      operands: [.init("FILE", optional: true)],
      options: [
        Keys.check, Keys.jobs, Keys.rate, Keys.shard, Keys.resume, Keys.ordered, Keys.stopOnError,
        Keys.junit,
      ] + simulation,
      exits: [.partial, .pending, .unknown, .state, .refused, .interrupted, .terminated, .hungUp]
    ),
    Command(
      .local(.reads),
      """
      find: find a payment
      Finds payments in the journal by what a customer or a colleague knows: amount, day, last four
      digits, a name or e-mail address, a failure. REF is a reference or a provider's id; * in it
      stands for any characters. Every filter narrows the search; --status may be repeated, and
      --status unknown finds every payment with an unknown operation.

      Days and times without a zone are local (TZ), and a day counts from its first to its last
      moment. Each match shows the payment's state and the next command. A table shows the latest 50
      and says how many there are; --all shows all, as JSON lines always do.
      $ tender find --amount 10.50 --since yesterday --customer remi@example.com # which payment was
      this customer's
      $ tender find --status open # payments that are not final
      $ tender find --online --amount 10.50 --since today # ask the provider, also for what was made
      elsewhere
      $ tender find "ORDER-*" --failure insufficient # by reference and failure
      """,
      operands: [.init("REF", optional: true)],
      options: [
        Keys.amount, Keys.currency, Keys.since, Keys.until, Keys.status, Keys.lastFour,
        Keys.customer, Keys.metadata, Keys.traceID, Keys.failure, Keys.by, Keys.all, Keys.online,
        Keys.id,
      ] + simulation,
      exits: [.auth, .notFound, .notSent, .providerError, .partial, .state]
    ),
    Command(
      .local(.reads),
      """
      journal list: list recorded payments
      Lists the payments in the journal, newest first, the latest 50 unless --all.
      $ tender journal list # the latest payments
      $ tender journal list --status unknown # payments with an unknown operation
      """,
      options: [
        Keys.since, Keys.until, Keys.status, Keys.lastFour, Keys.amount, Keys.currency, Keys.by,
        Keys.all,
      ],
      exits: [.state]
    ),
    Command(
      .local(.reads),
      """
      journal show: show one payment, its operations and its history
      Shows the payment of a reference or a provider's id: its operations with their amounts, and
      everything that happened, oldest first.
      $ tender journal show ORDER-1042 # what happened to ORDER-1042
      $ tender journal show SALE-1 --receipt # the receipt of a card-present sale
      """,
      operands: [.init("REF", orID: true)],
      options: [Keys.receipt, Keys.id, Keys.all],
      exits: [.notFound, .state]
    ),
    Command(
      .local(.writes),
      """
      journal resume: look at unknown operations, or finish them
      Asks the provider about each operation of a payment whose result is unknown, and records the
      answer. It sends nothing that can move money. With --all, every payment with an unknown
      operation.

      --finish ends an operation that stays unknown: it sends the request again under its key, or
      undoes it. On live it asks first, or needs --yes. A request without a key could move its
      amount twice: the command shows the amount, and asks or needs --yes on every env. With --all
      such requests are left out and listed.
      $ tender journal resume --all # look at everything that is unknown
      $ tender journal resume --all --finish # finish everything that has a key
      """,
      operands: [.init("REF", orID: true)],
      options: [Keys.finish, Keys.all, Keys.id] + simulation,
      exits: [
        .declined, .auth, .notFound, .conflict, .rejected, .unknown, .notSent, .providerError,
        .cancelled, .expired, .partial, .state, .refused, .device, .partPaid, .interrupted,
      ]
    ),
    Command(
      .local(.reads),
      """
      journal export: write the journal as JSON lines
      Prints every payment with its history as a JSON line, newest first, on a terminal too. tender
      journal import reads these lines.
      $ tender journal export --since 2026-01-01 # this year's payments
      """,
      options: [Keys.since, Keys.until, Keys.status, Keys.lastFour, Keys.amount, Keys.currency],
      exits: [.state]
    ),
    Command(
      .local(.writes),
      """
      journal import: copy payments from another journal
      Reads the lines of tender journal export from a file or standard input and copies them into
      the journal that is set, such as from a file into PostgreSQL. Payments that are there already
      are not changed, so the same import can be repeated. A payment whose reference the journal has
      with other content is reported and left out (14).

      Preparations of held payments are not exported: confirm or cancel those with the old journal
      first.
      $ tender journal import journal.jsonl # copy an export
      """,
      operands: [.init("FILE", optional: true)],
      exits: [.usage, .partial, .state]
    ),
    Command(
      .local(.writes),
      """
      journal migrate: make or upgrade the tables of a shared journal
      Makes the tables of the PostgreSQL journal that TENDER_JOURNAL names, or brings them up to
      this version, in one transaction; run it as their owner. Every other command ends in 16 where
      they are missing, older or newer. A journal that is a file is brought up to date by each
      command.
      $ tender journal migrate # once for each database, and after an upgrade
      """,
      exits: [.usage, .state]
    ),
    Command(
      .local(.nothing),
      """
      journal grants: print the least rights on a shared journal
      Prints the SQL that gives a runner, a support reader and an auditor what they need on a
      PostgreSQL journal, and no more. It asks nobody and changes nothing.
      $ tender journal grants # for psql, as the owner of the tables
      """,
    ),
    Command(
      .local(.writes),
      """
      journal prune: delete old payments
      Deletes payments last changed before TIME, with their operations and history. Payments that
      are not final or have an unknown operation are not deleted, nor are mandates that can still be
      revoked. A deleted reference is a new one: the same command pays again. Use journal export
      first.

      Live payments need --env live and --yes, or a typed yes. So does a TIME within the last 24
      hours or later.
      $ tender journal prune --before 2026-01-01 --dry-run # how many would be deleted
      $ tender journal prune --before 2026-01-01 # delete older payments
      """,
      options: [Keys.before, Keys.dryRun],
      exits: [.state, .refused]
    ),
    Command(
      .local(.reads),
      """
      journal verify: check that the journal is whole
      Reads the whole journal and compares each row with its checksum, each payment's amounts with
      its operations, the history with its chain, and all with the mark beside the state folder.
      Damage, missing rows and a journal that is a copy or an older state exit 16, with a record for
      each.

      While a journal is a copy or incomplete, every command that can move money exits 16, until the
      newest journal is put back or tender journal accept is run.
      $ tender journal verify # is anything damaged or missing?
      """,
      exits: [.state]
    ),
    Command(
      .local(.writes),
      """
      journal backup: copy the journal while it is in use
      Writes a consistent copy into a new file that only its owner can read. A copy of journal.db
      alone lacks what is still in journal.db-wal. To restore it, put it in place of journal.db and
      remove journal.db-wal and journal.db-shm. The copy is marked as one: it refuses requests that
      can move money (16) until tender journal accept. The keys of held payments (journal.seals) are
      not in it: on another machine they can be looked up, not confirmed.
      $ tender journal backup journal-copy.db # a copy for the night
      """,
      operands: [.init("FILE")],
      exits: [.usage, .state]
    ),
    Command(
      .local(.writes),
      """
      journal resolve: resolve an unknown operation by hand
      Ends an operation whose result the provider cannot tell any more, as its console, a statement
      or the payer shows it. The reason goes into the history. failed means that it had no effect,
      and frees the reference or the refund's name; succeeded means that it happened. Where a
      payment has several unknown operations, --operation names one by its number in tender journal
      show.

      Needs --yes or a typed yes; live payments need --env live too.
      $ tender journal resolve ORDER-1042 --as failed --reason console --yes # it had no effect
      """,
      operands: [.init("REF", orID: true)],
      options: [Keys.outcome, Keys.operation, Keys.reason, Keys.all, Keys.id],
      exits: [.notFound, .conflict, .state, .refused],
      unoffered: ["as": ["restored"], "all": []]
    ),
    Command(
      .local(.writes),
      """
      journal accept: accept a copied or restored journal
      Accepts a journal that is a copy, or was put back from an older state: from then on requests
      that can move money are sent again. Payments made since the copy may be missing in it: look
      them up at the provider first (tender find --online), because their references would be
      charged again. The reason goes into the history.

      Needs --yes or a typed yes.
      $ tender journal accept --reason checked --yes # continue with a copy
      """,
      options: [Keys.reason],
      exits: [.conflict, .state, .refused]
    ),
    Command(
      .local(.nothing),
      """
      providers: list providers and what they can do
      Lists each provider with the commands and methods it has.
      $ tender providers # the capability table
      """,
    ),
    Command(
      .local(.reads),
      """
      explain: explain an error code
      Explains an error code or a provider's own error name: what it means for the money, and what
      to do. A reference or a provider's id explains that payment: its state, what its error means,
      and what comes next. Without either, or with --list, it lists every code. Needs no network.
      $ tender explain insufficient_funds # one code
      $ tender explain SOCKET_ERROR # a provider's own name
      $ tender explain ORDER-1042 # the state of a payment
      $ tender explain --json --fields code,exit # all codes with their exit status
      """,
      operands: [.init("CODE", optional: true)],
      options: [Keys.list],
      exits: [.notFound]
    ),
    Command(
      .local(.writes),
      """
      doctor: check that everything needed is there
      Checks configuration, files, libraries and the provider's credentials, and prints a record for
      each check; the exit is the first failure's. Nothing that it does can move money.
      $ tender doctor # configuration, files and libraries
      """,
      options: simulation,
      exits: [
        .auth, .rejected, .notSent, .providerError, .device, .state, .interrupted, .terminated,
        .hungUp,
      ]
    ),
    Command(
      .local(.writes),
      """
      simulator serve: serve the simulated providers on loopback
      Offers the simulated providers over real HTTP and WebSocket on 127.0.0.1, with a card reader
      on a TCP port beside. It prints all that a client needs: addresses, credentials and a signing
      key. The key is made at the first start and kept in the state folder. The names are the
      variables of tender and, where they are public, of the providers' own programs. With them
      tender --env sandbox pays here. Other credentials are refused as the provider refuses them.
      Ctrl-C or SIGTERM stops the server.
      $ tender simulator serve --port 8085 # serve on port 8085
      $ tender simulator serve --env-file simulator.env # then, in another shell: . ./simulator.env
      """,
      options: [Keys.port, Keys.envFile, Keys.trustKey] + simulation,
      exits: [.state]
    ),
    Command(
      .local(.writes),
      """
      simulator reset: forget the simulated world
      Forgets every simulated payment. The journal stays as it is.
      $ tender simulator reset # start the simulated world afresh
      """,
      exits: [.state]
    ),
    Command(
      .local(.nothing),
      """
      simulator scenarios: list scenarios and faults
      Lists what --sim-scenario and --sim-fault take, scenarios first; WORD finds those that have it
      in name or meaning.
      $ tender simulator scenarios # every scenario and fault
      $ tender simulator scenarios decline # how a payment is declined
      """,
      operands: [.init("WORD", optional: true)],
    ),
    Command(
      .local(.nothing),
      """
      config show: show each setting and where it comes from
      Shows the settings that a command would run with, and whether each came from an option, the
      environment, the profile or a default. Secrets are shown as set or not set.
      $ tender config show # the settings in force
      """,
    ),
    Command(
      .local(.nothing),
      """
      config check: check the configuration file
      Reads the configuration file and says what is wrong with it, if anything.
      $ tender config check # check the file
      """,
    ),
    Command(
      .local(.nothing),
      """
      schema: print the JSON Schema of a record
      Prints the JSON Schema of one kind of record, or of all of them.
      $ tender schema payment # what a payment record looks like
      """,
      operands: [.init("RECORD", optional: true, choices: Record.Kind.allCases.map(\.rawValue))],
    ),
    Command(
      .local(.nothing),
      """
      completion: print a shell's completion script
      Prints the completion script of a shell on standard output.
      $ tender completion bash > tender.bash # source this file in ~/.bashrc
      """,
      operands: [.init("SHELL", choices: ["bash", "zsh", "fish"])],
    ),
    Command(
      .local(.nothing),
      """
      help: explain a command or a topic
      Shows the help of a command, or a topic; without either, the overview.
      $ tender help transact # a command
      $ tender help exit-status # a topic
      """,
      operands: [.init("TOPIC", optional: true, repeats: true)],
    ),
    Command(
      .local(.nothing),
      """
      version: print the version
      Prints the version.
      $ tender version --json # the version as a record
      """,
    ),
  ]
}
