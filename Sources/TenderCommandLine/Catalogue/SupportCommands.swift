import TenderModel
import TenderModule

extension Catalogue {
  static let supportCommands: [Command] = [
    Command(
      "batch",
      "run many commands from a file",
      description: [
        "Runs one command a line: a JSON object with \"command\" (transact, confirm, cancel, refund, "
          + "tokenize, payment-status, mandate-status), \"reference\", and the long option names as "
          + "keys, _ for -; repeated options as lists or objects. An \"instrument\" object is "
          + "allowed and never shown. Any provider in any line; the options here stand behind those "
          + "of the line.",
        "Every result is a record with its line; the last is a batch_summary. Exit 0 where every "
          + "line ended with 0, 14 where some did not, 9 where one is unknown, 130 or 143 where a "
          + "signal ended it, 8 where --deadline did. A line that cannot be read is an error record in its place. Ctrl-C "
          + "finishes what is under way, a sale that waits for its card ends cancelled, and the same "
          + "command with --resume goes on: what is done is printed with \"replayed\": true and "
          + "never paid again.",
        "With --check nothing is sent: each line is read, and what it would be refused for is said now, "
          + "credentials that are missing too; a reference that two lines give to different payments as well.",
        "With --jobs many lines run at once; those that wait for the disk at the same time share one sync, and "
          + "connections that a line will need are opened ahead, one for every two lines at most.",
        "Several runners may share a file: with --shard 3/10 each takes the lines of its own share, by their "
          + "reference; without it each takes every line, and one that another has under way is left for the "
          + "end. Each reference is charged once, where all use one journal.",
        "Live lines need --env live and --yes here.",
      ],
      operands: [.init("FILE", optional: true)],
      options: [
        Keys.check, Keys.jobs, Keys.rate, Keys.shard, Keys.resume, Keys.ordered, Keys.stopOnError,
        Keys.junit,
        Keys.simScenario, Keys.simFault, Keys.simSeed, Keys.simClock,
      ],
      examples: [
        .init("tender batch payments.jsonl", "every line of a file"),
        .init("tender batch payments.jsonl --resume", "go on after an interruption"),
        .init(
          "tender batch payments.jsonl --shard 3/10",
          "the third of ten runners that share a file"
        ),
        .init(
          "tender batch smoke.jsonl --junit report.xml --ordered",
          "a smoke test, with \"expect\" in its lines"
        ),
      ],
      exits: [.partial, .pending, .unknown, .state, .refused, .interrupted, .terminated]
    ),
    Command(
      "find",
      "find a payment",
      description: [
        "Finds attempts in the journal by what a customer or a colleague knows of a payment: amount, day, "
          + "last four digits, a name or e-mail address, a failure. REF is a reference or a "
          + "provider's id; * in it stands for any characters. Every filter narrows the search; --status "
          + "may stand several times.",
        "Days and times without a zone are local (TZ), and a day counts from its first to its last moment. "
          + "Each hit says what became of the payment, and the command that comes next. A table shows the "
          + "latest 50 and says how many there are; --all shows all, as JSON lines always do.",
      ],
      operands: [.init("REF", optional: true)],
      options: [
        Keys.amount, Keys.currency, Keys.since, Keys.until, Keys.status, Keys.lastFour,
        Keys.customer, Keys.metadata, Keys.traceID, Keys.failure, Keys.by, Keys.all, Keys.online,
        Keys.id,
        Keys.simScenario, Keys.simFault, Keys.simSeed, Keys.simClock,
      ],
      examples: [
        .init(
          "tender find --amount 10.50 --since yesterday --customer remi@example.com",
          "which payment was this customer's"
        ),
        .init("tender find --status open", "what still needs somebody"),
        .init(
          "tender find --online --amount 10.50 --since today",
          "ask the provider, also for what was made elsewhere"
        ),
        .init("tender find \"ORDER-*\" --failure insufficient", "by reference and failure"),
      ],
      exits: [.state]
    ),
    Command(
      "journal list",
      "list recorded attempts",
      description: [
        "Lists the attempts that the journal holds, newest first, the latest 50 unless --all."
      ],
      options: [
        Keys.since, Keys.until, Keys.status, Keys.lastFour, Keys.amount, Keys.currency, Keys.by,
        Keys.all,
      ],
      examples: [
        .init("tender journal list", "the latest attempts"),
        .init("tender journal list --status unknown", "what still has to be found out"),
      ],
      exits: [.state]
    ),
    Command(
      "journal show",
      "show one attempt and its history",
      description: [
        "Shows the attempts at a reference or receipt number with everything that happened to "
          + "them."
      ],
      operands: [.init("REF", orID: true)],
      options: [Keys.receipt, Keys.id, Keys.all],
      examples: [
        .init("tender journal show ORDER-1042", "what happened to ORDER-1042"),
        .init("tender journal show SALE-1 --receipt", "the receipt of a card-present sale"),
      ],
      exits: [.notFound, .state]
    ),
    Command(
      "journal resume",
      "find out what an interrupted payment did, and finish it",
      description: [
        "Finds out at the provider what an attempt did whose outcome is unknown, and records it. A payment "
          + "that provably did not arrive is sent again, as the same command again would do; to stop it "
          + "instead: tender cancel REF. With --all, every unknown attempt."
      ],
      operands: [.init("REF", orID: true)],
      options: [Keys.all, Keys.id, Keys.simScenario, Keys.simFault, Keys.simSeed, Keys.simClock],
      examples: [.init("tender journal resume --all", "settle everything that is unknown")],
      exits: [
        .auth, .notFound, .conflict, .unknown, .notSent, .providerError, .partial, .state,
        .interrupted,
      ]
    ),
    Command(
      "journal export",
      "write the journal as JSON lines",
      description: [
        "Prints every attempt with its history as a JSON line, newest first, on a terminal too. The member "
          + "\"stored\" is what tender journal import takes over."
      ],
      options: [Keys.since, Keys.until, Keys.status, Keys.lastFour, Keys.amount, Keys.currency],
      examples: [.init("tender journal export --since 2026-01-01", "this year's attempts")],
      exits: [.state]
    ),
    Command(
      "journal import",
      "take attempts over from another journal",
      description: [
        "Takes over what tender journal export printed, from a file or standard input, into the journal that "
          + "is set: from a file of one machine into the PostgreSQL journal of a fleet, for one. What is there "
          + "already stays as it is, so that the same import again changes nothing; an attempt whose "
          + "reference and number the journal has with another content is named, and left out (14).",
        "What confirms held payments is not exported: confirm or cancel those with the old journal first.",
      ],
      operands: [.init("FILE", optional: true)],
      examples: [.init("tender journal import journal.jsonl", "take an export over")],
      exits: [.usage, .partial, .state]
    ),
    Command(
      "journal migrate",
      "make or upgrade the tables of a shared journal",
      description: [
        "Makes the tables of the PostgreSQL journal that TENDER_JOURNAL names, or brings them up to this "
          + "version, in one transaction; run it as their owner. Every other command ends in 16 where they "
          + "are missing, older or newer. A journal that is a file is brought up to date by each command."
      ],
      examples: [.init("tender journal migrate", "once for each database, and after an upgrade")],
      exits: [.usage, .state]
    ),
    Command(
      "journal grants",
      "print the least rights on a shared journal",
      description: [
        "Prints the SQL that gives a runner, a support reader and an auditor what they need on a PostgreSQL "
          + "journal, and no more. It asks nobody and changes nothing."
      ],
      examples: [.init("tender journal grants", "for psql, as the owner of the tables")]
    ),
    Command(
      "journal prune",
      "forget old references",
      description: [
        "Takes references out of the journal that changed last before a time, with every attempt "
          + "at them. What is not final stays, and so does a mandate that can still be revoked. "
          + "A forgotten reference is a new one: the same command pays again. journal export keeps "
          + "what is to be kept.",
        "Live attempts need --env live and --yes, or a typed yes.",
      ],
      options: [Keys.before, Keys.dryRun],
      examples: [
        .init("tender journal prune --before 2026-01-01 --dry-run", "how many would go"),
        .init("tender journal prune --before 2026-01-01", "forget what is older"),
      ],
      exits: [.state, .refused]
    ),
    Command(
      "journal verify",
      "check that the journal is whole",
      description: [
        "Reads the whole journal and compares each row with its checksum, the history with its "
          + "chain, and both with the mark that lies beside the state folder. What is damaged, "
          + "missing or older than what was written here ends in 16, a record for each.",
        "Where a journal has forgotten something, each command that pays or undoes ends in 16 until "
          + "the newest copy is back, or tender journal settle --all --as restored.",
      ],
      examples: [.init("tender journal verify", "is anything damaged or missing?")],
      exits: [.state]
    ),
    Command(
      "journal backup",
      "copy the journal while it is in use",
      description: [
        "Writes a consistent copy into a new file that only its owner can read. A copy of journal.db "
          + "alone lacks what is still in journal.db-wal. To restore it, put it in place of "
          + "journal.db and remove journal.db-wal and journal.db-shm; tender then says what it has "
          + "forgotten since. What held payments need to be confirmed is sealed under keys that the copy "
          + "does not have (journal.seals): on another machine they can be looked up, not confirmed."
      ],
      operands: [.init("FILE")],
      examples: [.init("tender journal backup journal-copy.db", "a copy for the night")],
      exits: [.usage, .state]
    ),
    Command(
      "journal settle",
      "say how an unknown attempt ended",
      description: [
        "For what nobody can find out any more: ends an attempt whose outcome is unknown as the "
          + "provider's own console, a statement or the payer shows it. The reason goes into the "
          + "history. failed says that nothing happened, and frees the reference; for a cancel or a "
          + "refund, succeeded says that the payment stands.",
        "With --all --as restored: the journal is an old copy or was removed, somebody has looked "
          + "after the payments that it does not know, and it counts as whole again.",
        "Needs --yes or a typed yes; live attempts --env live too.",
      ],
      operands: [.init("REF", orID: true)],
      options: [Keys.outcome, Keys.reason, Keys.all, Keys.id],
      examples: [
        .init(
          "tender journal settle ORDER-1042 --as failed --reason console --yes",
          "it did not happen"
        ),
        .init(
          "tender journal settle --all --as restored --reason checked --yes",
          "go on with an old copy"
        ),
      ],
      exits: [.notFound, .conflict, .state, .refused]
    ),
    Command(
      "providers",
      "list providers and what they can do",
      description: ["Lists each provider with the commands and methods it has."],
      examples: [.init("tender providers", "the capability table")]
    ),
    Command(
      "explain",
      "explain an error code",
      description: [
        "Explains an error code or a provider's own error name: what it means for the money, and "
          + "what to do. A reference or a provider's id explains that payment: what became of it, what its "
          + "error means, and what comes next. Without either, or with --list, it lists every code. "
          + "Needs no network."
      ],
      operands: [.init("CODE", optional: true)],
      options: [Keys.list],
      examples: [
        .init("tender explain insufficient_funds", "one code"),
        .init("tender explain SOCKET_ERROR", "a provider's own name"),
        .init("tender explain ORDER-1042", "what became of a payment"),
        .init("tender explain --json --fields code,exit", "all codes with their exit status"),
      ],
      exits: [.notFound]
    ),
    Command(
      "doctor",
      "check that everything needed is there",
      description: [
        "Checks configuration, files, libraries and the provider's credentials, and prints a record "
          + "for each check; the exit is the first failure's. Nothing that "
          + "it does can move money."
      ],
      options: [Keys.simScenario, Keys.simFault, Keys.simSeed, Keys.simClock],
      examples: [
        .init("tender doctor", "configuration, files and libraries")
      ],
      exits: [
        .auth, .rejected, .notSent, .providerError, .device, .state, .interrupted, .terminated,
      ]
    ),
    Command(
      "simulator serve",
      "serve the simulated providers on loopback",
      description: [
        "Offers the simulated providers over real HTTP and WebSocket on 127.0.0.1, a card reader on "
          + "a TCP port beside, and prints the variables that point tender at them. Ctrl-C or "
          + "SIGTERM stops it."
      ],
      options: [Keys.port, Keys.simScenario, Keys.simFault, Keys.simSeed, Keys.simClock],
      examples: [.init("tender simulator serve --port 8085", "serve on port 8085")],
      exits: [.state]
    ),
    Command(
      "simulator reset",
      "forget the simulated world",
      description: ["Forgets every simulated payment. The journal stays as it is."],
      examples: [.init("tender simulator reset", "start the simulated world afresh")],
      exits: [.state]
    ),
    Command(
      "simulator scenarios",
      "list scenarios and faults",
      description: [
        "Lists what --sim-scenario and --sim-fault take, scenarios first; WORD finds those that have it in "
          + "name or meaning."
      ],
      operands: [.init("WORD", optional: true)],
      examples: [
        .init("tender simulator scenarios", "every scenario and fault"),
        .init("tender simulator scenarios decline", "how a payment is declined"),
      ]
    ),
    Command(
      "config show",
      "show each setting and where it comes from",
      description: [
        "Shows the settings that a command would run with, and whether each came from an option, "
          + "the environment, the profile or a default. Secrets are shown as set or not set."
      ],
      examples: [.init("tender config show", "the settings in force")]
    ),
    Command(
      "config check",
      "check the configuration file",
      description: ["Reads the configuration file and says what is wrong with it, if anything."],
      examples: [.init("tender config check", "check the file")]
    ),
    Command(
      "schema",
      "print the JSON Schema of a record",
      description: ["Prints the JSON Schema of one kind of record, or of all of them."],
      operands: [.init("RECORD", optional: true, choices: Record.Kind.allCases.map(\.rawValue))],
      examples: [.init("tender schema payment", "what a payment record looks like")]
    ),
    Command(
      "completion",
      "print a shell's completion script",
      description: ["Prints the completion script of a shell on standard output."],
      operands: [.init("SHELL", choices: ["bash", "zsh", "fish"])],
      examples: [
        .init("tender completion bash > tender.bash", "source this file in ~/.bashrc")
      ]
    ),
    Command(
      "help",
      "explain a command or a topic",
      description: ["Shows the help of a command, or a topic; without either, the overview."],
      operands: [.init("TOPIC", optional: true, repeats: true)],
      examples: [
        .init("tender help transact", "a command"),
        .init("tender help exit-status", "a topic"),
      ]
    ),
    Command(
      "version",
      "print the version",
      description: ["Prints the version."],
      examples: [.init("tender version --json", "the version as a record")]
    ),
  ]
}
