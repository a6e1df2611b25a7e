import TenderModel
import TenderModule

extension Catalogue {
  static func moneyOptions(_ modules: [any ProviderModule]) -> [Option] {
    let currencies = modules.map { "\($0.name.text): \($0.currency)" }.joined(separator: ", ")
    return [
      Option(
        "amount",
        .money,
        .required("AMOUNT"),
        "the amount as people write it, such as 10.50; the currency decides the digits"
      ),
      Option(
        "amount-minor",
        .money,
        .required("UNITS"),
        "the amount in minor units, such as 1050"
      ),
      Option(
        "currency",
        .money,
        .required("CODE"),
        "the ISO 4217 code (\(currencies))"
      ),
    ]
  }

  static let paymentOptions: [Option] = [
    Option(
      "reference",
      .payment,
      .required("REF"),
      "your own name for the payment; the handle for every later command"
    ),
    Option(
      "metadata",
      .payment,
      .required("KEY=VALUE"),
      repeats: true,
      "something of yours to keep with the payment"
    ),
    Option(
      "metadata-file",
      .payment,
      .required("FILE"),
      completion: .files,
      "a JSON object to keep with the payment"
    ),
  ]

  /// What more than one provider knows when money goes back.
  static let refundOptions: [Option] = [
    Option(
      "refund-reference",
      .bank,
      .required("NAME"),
      "your own name for a further refund of the same payment; the same name never refunds twice"
    )
  ]

  static let filterOptions: [Option] = [
    Option("since", .filter, .required("TIME"), "from this time on: a date, or RFC 3339"),
    Option("until", .filter, .required("TIME"), "up to this time"),
    Option("before", .filter, .required("TIME"), "that changed last before this time"),
    Option(
      "status",
      .filter,
      .required("STATUS"),
      choices: Status.allCases.map(\.rawValue),
      "with this status"
    ),
    Option(
      "as",
      .filter,
      .required("STATUS"),
      choices: [
        "succeeded", "declined", "cancelled", "expired", "failed", "refunded",
        "partially_refunded", "authorized", "revoked", "restored",
      ],
      "how it ended; restored, with --all: the whole journal"
    ),
    Option("reason", .filter, .required("TEXT"), "why, for the history"),
    Option("last-four", .filter, .required("DIGITS"), "with these last four digits"),
    Option(
      "all",
      .filter,
      "all of them: list not just the latest 50, resume every unknown one, settle the journal"
    ),
    Option("jobs", .server, .required("N"), "how many lines run at once (4)"),
    Option("rate", .server, .required("N"), "how many lines may begin in a second"),
    Option("resume", .server, "go on with a batch that was stopped"),
    Option("ordered", .server, "print results in the order of the lines"),
    Option("stop-on-error", .server, "begin no further line once one has failed"),
    Option(
      "junit",
      .server,
      .required("FILE"),
      completion: .files,
      "write a JUnit report, a case for each line"
    ),
    Option(
      "receipt",
      .filter,
      "print the receipts as text, a copy for the merchant and one for the customer"
    ),
    Option("port", .server, .required("N"), "the port to listen on (default: a free one)"),
  ]

  static let controlOptions: [Option] = [
    Option(
      "idempotency-key",
      .control,
      .required("KEY"),
      "the key of this attempt, where you must choose it yourself"
    ),
    Option(
      "new-attempt",
      .control,
      "try again what was declined, cancelled or has expired"
    ),
    Option(
      "wait",
      .control,
      .optional("5m"),
      "wait for the final state, 5 minutes unless said"
    ),
    Option("interval", .control, .required("TIME"), "how often to look while waiting (2s)"),
    Option(
      "expect",
      .control,
      .required("STATUS"),
      "exit 0 where the status is one of these (commas between), else 18"
    ),
    Option("events", .control, "print a record for each change of state"),
    Option(
      "dry-run",
      short: "n",
      .control,
      "show the request and its key; send and write nothing"
    ),
    Option(
      "id",
      .control,
      .required("VALUE"),
      repeats: true,
      "an id, exempt from the card-number guard"
    ),
  ]

  static let simulatorOptions: [Option] = [
    Option(
      "sim-scenario",
      .simulator,
      .required("NAME"),
      "how the simulated world is: see tender simulator scenarios"
    ),
    Option(
      "sim-fault",
      .simulator,
      .required("FAULT[*N]"),
      "what goes wrong, N times at most: see tender simulator scenarios"
    ),
    Option(
      "sim-seed",
      .simulator,
      .required("N"),
      "make ids from this number: output that repeats"
    ),
    Option(
      "sim-clock",
      .simulator,
      .required("TIME"),
      "let the clock stand at this time (RFC 3339)"
    ),
  ]

  static func generalOptions(_ providers: [String]) -> [Option] {
    [
      Option("provider", .general, .required("NAME"), choices: providers, "whom to speak to"),
      Option(
        "env",
        .general,
        .required("ENV"),
        choices: Env.allCases.map(\.rawValue),
        "simulator (default, offline), sandbox (the provider's test hosts) or live"
      ),
      Option("profile", .general, .required("NAME"), "a profile of the configuration file"),
      Option(
        "output",
        short: "o",
        .general,
        .required("FORMAT"),
        choices: ["auto", "table", "jsonl"],
        "auto is a table on a terminal and JSON lines elsewhere"
      ),
      Option("json", .general, "the same as --output jsonl"),
      Option(
        "fields",
        .general,
        .required("A,B.C"),
        "print only these fields, nested as in the record"
      ),
      Option("quiet", short: "q", .general, "say nothing on standard error but errors"),
      Option("verbose", short: "v", .general, "say more on standard error"),
      Option(
        "trace",
        .general,
        .required("FILE"),
        completion: .files,
        "write what is exchanged to a file, secrets left out"
      ),
      Option(
        "color",
        .general,
        .required("WHEN"),
        choices: ["auto", "always", "never"],
        "colour on terminals, always, or never"
      ),
      Option("no-input", .general, "never ask; fail instead"),
      Option("yes", short: "y", .general, "answer yes to the question before a live write"),
      Option(
        "config",
        .general,
        .required("FILE"),
        completion: .files,
        "the configuration file to read"
      ),
      Option(
        "state-dir",
        .general,
        .required("DIR"),
        completion: .folders,
        "where journal and simulator keep their files"
      ),
      Option(
        "timeout",
        .general,
        .required("TIME"),
        "how long one request to a provider may take (30s)"
      ),
      Option("help", short: "h", .general, "show help and exit"),
      Option("version", .general, "show the version and exit"),
    ]
  }
}
