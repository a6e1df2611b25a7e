package import TenderModel

/// The options that several rooms read. Options of one provider are beside its module.
package enum Keys {
  package static let amount = MoneyKey(
    "amount",
    .money,
    "the amount, such as 10.50",
    minor: "the amount in minor units, such as 1050"
  )
  /// The catalogue adds the providers' currencies to the summary.
  package static let currency = Key<String>("currency", .money, "CODE", "the ISO 4217 code")
  package static let reference = Key<Reference>(
    "reference",
    .payment,
    "REF",
    "your own name for the payment, such as ORDER-7"
  )
  package static let metadata = Key<String>(
    "metadata",
    .payment,
    "KEY=VALUE",
    repeats: true,
    "your own data for the payment"
  )
  package static let metadataFile = Key<String>(
    "metadata-file",
    .payment,
    "FILE",
    completion: .files,
    "a JSON object, stored with the payment"
  )
  package static let hold = Key<Bool>(
    "hold",
    .payment,
    "authorize only: tender confirm captures it, tender cancel releases it"
  )
  package static let allowPartial = Key<Bool>(
    "allow-partial",
    .control,
    "exit 0, not 20, where the acquirer approves a part of the amount"
  )
  package static let refundReference = Key<Reference>(
    "refund-reference",
    .payment,
    "NAME",
    "your own name for a refund, needed for a further one; the same name never refunds twice"
  )
  package static let rest = Key<Bool>(
    "rest",
    .payment,
    "refund all that is left, as without --amount"
  )
  package static let since = Key<TimeExpression>(
    "since",
    "from this time on: a date, a time, today, yesterday, monday, 24h"
  )
  package static let until = Key<TimeExpression>(
    "until",
    "up to this time, a day to its end"
  )
  package static let by = Key<String>(
    "by",
    .filter,
    "WHO",
    "changed by this machine or user: MACHINE or USER@MACHINE"
  )
  package static let groupBy = Key<String>(
    "by",
    .filter,
    "KEYS",
    "group by currency, day, provider or status, several with commas"
  )
  package static let shard = Key<Shard>(
    Option("shard", .server, .required("K/N"), "the lines of this share alone, by their reference")
  ) { text, option throws(Fault) in
    guard let shard = Shard(text) else {
      throw .badValue(option, text, hint: "a share and how many there are, such as 3/10")
    }
    return shard
  }
  package static let before = Key<TimeExpression>("before", "last changed before TIME")
  package static let outcome = Key<String>(
    "as",
    .filter,
    "STATUS",
    choices: Status.allCases.filter(\.isResolution).map(\.rawValue) + ["restored"],
    "how the operation ended"
  )
  package static let operation = Key<Int>(
    "operation",
    .filter,
    "N",
    1...999_999,
    "the place of the operation in tender journal show, where several are unknown"
  )
  package static let finish = Key<Bool>(
    "finish",
    .filter,
    "end what is unknown: send it again under its key, or undo it; this may move money"
  )
  package static let status = Key<String>(
    "status",
    .filter,
    "STATUS",
    repeats: true,
    choices: Status.allCases.map(\.rawValue) + ["open"],
    "with this status; open: all that is not final"
  )
  package static let customer = Key<String>(
    "customer",
    .filter,
    "TEXT",
    "name, e-mail or phone of payer or cardholder starting with TEXT"
  )
  package static let limit = Key<Int>(
    "limit",
    .filter,
    "N",
    1...10_000,
    "show at most N payments"
  )
  /// The orders in which `find` shows payments: the newest change or the largest amount first.
  package enum Order: String, Sendable, CaseIterable { case created, changed, amount }
  package static let orderBy = Key<Order>(
    "order-by",
    .filter,
    "ORDER",
    "newest payment, newest change or largest amount first"
  )
  package static let duplicates = Key<Int>.duration(
    "duplicates",
    .filter,
    .optional("10m"),
    "payments of one amount by one payer or card within that time (10m): was it charged twice?"
  )
  package static let traceID = Key<String>(
    "trace-id",
    .filter,
    "ID",
    "with this id of the provider's logs"
  )
  package static let failure = Key<String>(
    "failure",
    .filter,
    "TEXT",
    "error code or failure reason with a word starting with TEXT"
  )
  package static let reason = Key<String>(
    "reason",
    .filter,
    "TEXT",
    "the reason, for the history or for the provider's record of a refund"
  )
  package static let lastFour = Key<String>(
    Option("last-four", .filter, .required("DIGITS"), "with these last four digits")
  ) { text, option throws(Fault) in
    guard Digits.plain(text, count: 4...4) else {
      throw .badValue(option, "…", hint: "four digits, such as 1111")
    }
    return text
  }
  package static let all = Key<Bool>(
    "all",
    .control,
    "show every field of the record"
  )
  package static let jobs = Key<Int>(
    "jobs",
    .server,
    "N",
    1...256,
    "how many lines (4) or look-ups (16) run at once"
  )
  package static let rate = Key<Int>(
    "rate",
    .server,
    "N",
    1...100_000,
    "how many lines or look-ups may begin in a second"
  )
  package static let resume = Key<Bool>("resume", .server, "go on with a batch that was stopped")
  package static let check = Key<Bool>(
    "check",
    .server,
    "check every line, send nothing: options, amounts, references, profiles, credentials"
  )
  package static let csv = Key<String>(
    "csv",
    .server,
    "FILE",
    completion: .files,
    readsStandardInput: true,
    "read the lines from a CSV file with a header; - for standard input"
  )
  package static let map = Key<String>(
    "map",
    .server,
    "OPTION=COLUMN",
    repeats: true,
    "the column of a CSV file that has an option; ignore=COLUMN leaves a column out"
  )
  package static let ordered = Key<Bool>(
    "ordered",
    .server,
    "print results in the order of the lines"
  )
  package static let stopOnError = Key<Bool>(
    "stop-on-error",
    .server,
    "begin no further line once one has failed"
  )
  package static let junit = Key<String>(
    "junit",
    .server,
    "FILE",
    completion: .newFiles,
    "write a JUnit report, a case for each line"
  )
  package static let list = Key<Bool>("list", .filter, "list every code")
  package static let receipt = Key<Bool>(
    "receipt",
    .filter,
    "print the receipts as text, a copy for the merchant and one for the customer"
  )
  package static let port = Key<UInt16>(
    Option("port", .server, .required("N"), "the port to listen on (default: a free one)")
  ) { text, option throws(Fault) in
    guard let number = UInt16(text), number > 0 else {
      throw .badValue(option, text, hint: "1 to 65535, or leave it out for a free one")
    }
    return number
  }
  package static let envFile = Key<String>(
    "env-file",
    .server,
    "FILE",
    completion: .newFiles,
    "write what a client needs to a file for a shell to source: addresses, credentials, keys"
  )
  package static let trustKey = Key<String>(
    "trust-key",
    .server,
    "KID=FILE",
    repeats: true,
    "take requests that your own key signed too: its id, and its public half as PEM text"
  )
  package static let retain = Key<Int>(
    "retain",
    .server,
    "N",
    1...1_000_000,
    "keep the latest N payments, and at most a tenth more; older ones are deleted"
  )
  package static let unmatched = Key<Bool>(
    "unmatched",
    .filter,
    "only requests that no provider knows"
  )
  package static let follow = Key<Bool>(
    "follow",
    .control,
    "go on with each new request, until Ctrl-C"
  )
  package static let idempotencyKey = Key<String>(
    Option(
      "idempotency-key",
      .control,
      .required("KEY"),
      "your own idempotency key for this operation"
    )
  ) { text, option throws(Fault) in
    guard text.utf8.count <= 100, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw .badValue(option, text, hint: "1 to 100 visible ASCII characters")
    }
    return text
  }
  package static let newAttempt = Key<Bool>(
    "new-attempt",
    .control,
    "try a declined, cancelled or expired one again"
  )
  package static let wait = Key<Int>.duration(
    "wait",
    .control,
    .optional("5m"),
    "wait for the final state (default: 5 minutes)"
  )
  package static let interval = Key<Int>.duration(
    "interval",
    .control,
    .required("TIME"),
    "how often to look while waiting (2s)"
  )
  package static let expect = Key<ExpectedResult>(
    Option(
      "expect",
      .control,
      .required("WHAT"),
      "exit 0 for this status, exit:N, code:CODE or FIELD=VALUE, else 18; commas between several"
    )
  ) { text, option throws(Fault) in try ExpectedResult(text, option: option) }
  package static let events = Key<Bool>(
    "events",
    .control,
    "print a record for each change of state"
  )
  package static let dryRun = Key<Bool>(
    "dry-run",
    short: "n",
    .control,
    "show the request; send and write nothing"
  )
  package static let id = Key<String>(
    "id",
    .control,
    "VALUE",
    repeats: true,
    "an id like a card number"
  )
  package static let exit = Key<Int>(
    "exit",
    .control,
    "N",
    0...255,
    "only those whose command ends with this exit status"
  )
  package static let simScenario = Key<String>(
    "sim-scenario",
    .simulator,
    "NAME",
    "a state of the simulated world: see tender simulator scenarios"
  )
  package static let simFault = Key<String>(
    "sim-fault",
    .simulator,
    "FAULT",
    repeats: true,
    "a fault: see tender help simulator"
  )
  package static let simSeed = Key<Int>(
    Option("sim-seed", .simulator, .required("N"), "make ids from this number: output that repeats")
  ) { text, option throws(Fault) in
    guard let seed = Int(text) else {
      throw .badValue(option, text, hint: "a whole number, such as 7")
    }
    return seed
  }
  package static let simClock = Key<SimulatedTime>(
    Option(
      "sim-clock",
      .simulator,
      .required("TIME"),
      "the time of the simulated clock (RFC 3339), or ahead of this machine's (+26h)"
    )
  ) { text, option throws(Fault) in
    if text.hasPrefix("+") {
      let most = SimulatedTime.mostAhead
      return .ahead(try TimeText.milliseconds(String(text.dropFirst()), option: option, most: most))
    }
    guard let time = Timestamp.read(text) else {
      throw .badValue(option, text, hint: "RFC 3339, such as 2026-01-01T00:00:00Z, or +26h")
    }
    return .standing(time)
  }
  /// It has no choices, because the catalogue adds the providers.
  package static let provider = Key<String>("provider", .general, "NAME", "the provider")
  package static let env = Key<Env>(
    "env",
    .general,
    "ENV",
    "simulator (default, offline), sandbox (the provider's test hosts) or live"
  )
  package static let profile = Key<String>(
    "profile",
    .general,
    "NAME",
    "a profile of the configuration file"
  )
  package static let output = Key<String>(
    "output",
    short: "o",
    .general,
    "FORMAT",
    choices: ["auto", "table", "jsonl", "json", "csv", "raw"],
    "auto is a table on a terminal and JSON lines elsewhere. json is jsonl. csv is for lists of "
      + "payments. raw prints only the values of --fields"
  )
  package static let json = Key<Bool>("json", .general, "the same as --output jsonl")
  package static let fields = Key<String>(
    "fields",
    .general,
    "A,B.C",
    "print only these fields, nested as in the record"
  )
  package static let quiet = Key<Bool>(
    "quiet",
    short: "q",
    .general,
    "say nothing on standard error but errors"
  )
  package static let verbose = Key<Bool>(
    "verbose",
    short: "v",
    .general,
    "say more on standard error"
  )
  package static let trace = Key<String>(
    "trace",
    .general,
    "FILE",
    completion: .newFiles,
    "write what is exchanged to a file, secrets left out"
  )
  package static let color = Key<String>(
    "color",
    .general,
    "WHEN",
    choices: ["auto", "always", "never"],
    "colour on terminals, always, or never"
  )
  package static let noInput = Key<Bool>("no-input", .general, "never ask; fail instead")
  package static let yes = Key<Bool>(
    "yes",
    short: "y",
    .general,
    "answer yes to the question before a live write"
  )
  package static let config = Key<String>(
    "config",
    .general,
    "FILE",
    completion: .files,
    "the configuration file to read"
  )
  package static let stateDir = Key<String>(
    "state-dir",
    .general,
    "DIR",
    completion: .folders,
    "where journal and simulator keep their files"
  )
  package static let timeout = Key<String>(
    "timeout",
    .general,
    "TIME",
    "how long one request to a provider may take (30s)"
  )
  package static let online = Key<Bool>(
    "online",
    .filter,
    "ask the provider: all of the merchant's payments where it can be searched, else those of the journal"
  )
  package static let deadline = Key<Int>.duration(
    "deadline",
    .general,
    .required("TIME"),
    "how long the whole command may take, a payer's and a reader's time too; then as with Ctrl-C"
  )
  package static let help = Key<Bool>("help", short: "h", .general, "show help and exit")
  package static let version = Key<Bool>("version", .general, "show the version and exit")
  package static let instrumentDescriptor = Key<Int32>(
    Option(
      "instrument-fd",
      .instrument,
      .required("N"),
      "read the instrument as JSON from an open descriptor"
    )
  ) { text, option throws(Fault) in
    guard let number = Int32(text), number >= 0 else {
      throw .badValue(option, text, hint: "an open descriptor, such as 3 with 3< FILE")
    }
    return number
  }
  package static let open = Key<Bool>("open", .bank, "open the bank's page in the browser")
}

extension Key where Value == TimeExpression {
  /// Creates a filter with a time in any form that people write.
  package init(_ name: String, _ summary: String) {
    self.init(Option(name, .filter, .required("TIME"), summary)) { text, option throws(Fault) in
      guard let time = TimeExpression(text) else {
        throw .badValue(
          option,
          text,
          hint: "such as 2026-11-20, 2026-11-20T17:19, an RFC 3339 time, yesterday, monday or 24h"
        )
      }
      return time
    }
  }
}
