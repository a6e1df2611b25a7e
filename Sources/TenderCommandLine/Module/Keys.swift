package import TenderModel

/// The options that several rooms read. Options of one provider are beside its module.
package enum Keys {
  package static let amount = MoneyKey(
    .money("amount AMOUNT: the amount, such as 10.50"),
    minor: "the amount in minor units, such as 1050"
  )
  /// The catalogue adds the providers' currencies to the summary.
  package static let currency = Key<String>(.money("currency CODE: the ISO 4217 code"))
  package static let reference = Key<Reference>(
    .payment("reference REF: your own name for the payment, such as ORDER-7")
  )
  package static let metadata = Key<String>(
    .payment("metadata KEY=VALUE...: your own data for the payment")
  )
  package static let metadataFile = Key<String>(
    .payment("metadata-file FILE: a JSON object, stored with the payment").with(.files)
  )
  package static let hold = Key<Bool>(
    .payment("hold: authorize only: tender confirm captures it, tender cancel releases it")
  )
  package static let allowPartial = Key<Bool>(
    .control("allow-partial: exit 0, not 20, where the acquirer approves a part of the amount")
  )
  package static let refundReference = Key<Reference>(
    .payment(
      "refund-reference NAME: your own name for a refund, needed for a further one; the same "
        + "name never refunds twice"
    )
  )
  package static let rest = Key<Bool>(
    .payment("rest: refund all that is left, as without --amount")
  )
  package static let since = Key<TimeExpression>(
    .filter("since TIME: from this time on: a date, a time, today, yesterday, monday, 24h")
  )
  package static let until = Key<TimeExpression>(
    .filter("until TIME: up to this time, a day to its end")
  )
  package static let by = Key<String>(
    .filter("by WHO: changed by this machine or user: MACHINE or USER@MACHINE")
  )
  package static let groupBy = Key<String>(
    .filter("by KEYS: group by currency, day, provider or status, several with commas")
  )
  package static let shard = Key<Shard>(
    .server("shard K/N: the lines of this share alone, by their reference"),
    "a share and how many there are, such as 3/10"
  ) { Shard($0) }
  package static let before = Key<TimeExpression>(.filter("before TIME: last changed before TIME"))
  package static let paymentID = Key<String>(
    .payment("payment-id ID: use a payment that the provider has")
  )
  package static let outcome = Key<String>(
    .filter("as STATUS: how the operation ended").with(
      choices: Status.allCases.filter(\.isResolution).map(\.rawValue) + ["holder", "restored"]
    )
  )
  package static let fromProvider = Key<Bool>(
    .filter("from-provider: accept the provider's amount, id, currency and reference")
  )
  package static let operation = Key<Int>(
    .filter(
      "operation N: the place of the operation in tender journal show, where several are unknown"
    ),
    1...999_999
  )
  package static let finish = Key<Bool>(
    .filter(
      "finish: end what is unknown: send it again under its key, or undo it; this may move money"
    )
  )
  package static let status = Key<String>(
    .filter("status STATUS...: with this status; open: all that is not final").with(
      choices: Status.allCases.map(\.rawValue) + ["open"]
    )
  )
  package static let customer = Key<String>(
    .filter(
      "customer TEXT: payer or cardholder by a word starting with TEXT, a whole phone number or a "
        + "whole e-mail address"
    )
  )
  package static let limit = Key<Int>(.filter("limit N: show at most N payments"), 1...10_000)
  /// The orders in which `find` shows payments: the newest change or the largest amount first.
  package enum Order: String, Sendable, CaseIterable { case created, changed, amount }
  package static let orderBy = Key<Order>(
    .filter("order-by ORDER: newest payment, newest change or largest amount first")
  )
  package static let duplicates = Key<Int>.duration(
    .filter(
      "duplicates [10m]: payments of one amount by one payer or card within that time (10m): "
        + "was it charged twice?"
    )
  )
  package static let traceID = Key<String>(
    .filter("trace-id ID: with this id of the provider's logs")
  )
  package static let failure = Key<String>(
    .filter("failure TEXT: error code or failure reason with a word starting with TEXT")
  )
  package static let reason = Key<String>(
    .filter("reason TEXT: the reason, for the history or for the provider's record of a refund")
  )
  package static let lastFour = Key<String>(
    .filter("last-four DIGITS: with these last four digits")
  ) { text, option throws(Fault) in
    guard Digits.plain(text, count: 4...4) else {
      throw .badValue(option, "…", hint: "four digits, such as 1111")
    }
    return text
  }
  package static let all = Key<Bool>(.control("all: every payment, not the latest alone"))
  package static let allFields = Key<Bool>(.control("all-fields: show every field of the record"))
  package static let jobs = Key<Int>(
    .server("jobs N: how many lines (4) or look-ups (16) run at once"),
    1...256
  )
  package static let rate = Key<Int>(
    .server("rate N: how many lines or look-ups may begin in a second"),
    1...100_000
  )
  package static let resume = Key<Bool>(.server("resume: go on with a batch that was stopped"))
  package static let check = Key<Bool>(
    .server(
      "check: check every line, send nothing: options, amounts, references, profiles, credentials"
    )
  )
  package static let csv = Key<String>(
    .server("csv FILE: read the lines from a CSV file with a header; - for standard input").with(
      .files,
      readsStandardInput: true
    )
  )
  package static let map = Key<String>(
    .server(
      "map OPTION=COLUMN...: the column of a CSV file that has an option; ignore=COLUMN leaves "
        + "a column out"
    )
  )
  package static let ordered = Key<Bool>(
    .server("ordered: print results in the order of the lines")
  )
  package static let stopOnError = Key<Bool>(
    .server("stop-on-error: begin no further line once one has failed")
  )
  package static let junit = Key<String>(
    .server("junit FILE: write a JUnit report, a case for each line").with(.newFiles)
  )
  package static let list = Key<Bool>(.filter("list: list every code"))
  package static let receipt = Key<Bool>(
    .filter("receipt: print the receipts as text, a copy for the merchant and one for the customer")
  )
  package static let port = Key<UInt16>(
    .server("port N: the port to listen on (default: a free one)"),
    "1 to 65535, or leave it out for a free one"
  ) { text in UInt16(text).flatMap { $0 > 0 ? $0 : nil } }
  package static let envFile = Key<String>(
    .server(
      "env-file FILE: write what a client needs to a file for a shell to source: addresses, "
        + "credentials, keys"
    ).with(.newFiles)
  )
  package static let trustKey = Key<String>(
    .server(
      "trust-key KID=FILE...: take requests that your own key signed too: its id, and its "
        + "public half as PEM text"
    )
  )
  package static let retain = Key<Int>(
    .server(
      "retain N: keep the latest N payments, and at most a tenth more; older ones are deleted"
    ),
    1...1_000_000
  )
  package static let webhook = Key<String>(
    .server(
      "webhook URL...: send the providers' events to this address; PROVIDER=URL for those of one"
    )
  )
  package static let world = Key<String>(
    .server("world FILE: begin with a world of tender simulator save").with(.files)
  )
  package static let keep = Key<String>(
    .server("keep FILE: save the world at the end").with(.newFiles)
  )
  package static let expectBooks = Key<String>(
    .server(
      "expect WORD...: exit 18 where the books differ: charged.GBP=1400, refunded.GBP=0, payments=1, "
        + "unknown=0, undelivered=0; commas between several"
    )
  )
  package static let unmatched = Key<Bool>(
    .filter("unmatched: only requests that no provider knows")
  )
  package static let follow = Key<Bool>(
    .control("follow: go on with each new request, until Ctrl-C")
  )
  package static let idempotencyKey = Key<String>(
    .control("idempotency-key KEY: your own idempotency key for this operation"),
    "1 to 100 visible ASCII characters"
  ) { text in
    text.utf8.count <= 100 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? text : nil
  }
  package static let newAttempt = Key<Bool>(
    .control("new-attempt: try a declined, cancelled or expired one again")
  )
  package static let despiteRefund = Key<String>(
    .control(
      "despite-refund ID...: reverse this payment although the refund ID was made elsewhere; --yes "
        + "does not accept it"
    )
  )
  package static let despiteDispute = Key<Bool>(
    .control(
      "despite-dispute: reverse a disputed payment, although the payer may get the money twice"
    )
  )
  package static let despitePayment = Key<String>(
    .control(
      "despite-payment ID...: charge although the provider has the payment ID with this reference"
    )
  )
  /// What a person accepts before a refund or cancel.
  package static let despite: [any OptionKey] = [despiteRefund, despiteDispute]
  package static let wait = Key<Int>.duration(
    .control("wait [5m]: wait for the final state (default: 5 minutes)")
  )
  package static let interval = Key<Int>.duration(
    .control("interval TIME: how often to look while waiting (2s)")
  )
  package static let expect = Key<ExpectedResult>(
    .control(
      "expect WHAT: exit 0 for this status, exit:N, code:CODE or FIELD=VALUE, else 18; commas "
        + "between several"
    )
  ) { text, option throws(Fault) in try ExpectedResult(text, option: option) }
  package static let events = Key<Bool>(.control("events: print a record for each change of state"))
  package static let dryRun = Key<Bool>(
    .control("-n, dry-run: show the request; send and write nothing")
  )
  package static let id = Key<String>(
    .general(
      "id VALUE...: an id that only looks like a card number: of a payment, or of another option too"
    )
  )
  package static let exit = Key<Int>(
    .control("exit N: only those whose command ends with this exit status"),
    0...255
  )
  package static let simScenario = Key<String>(
    .simulator("sim-scenario NAME: a state of the simulated world: see tender simulator scenarios")
  )
  package static let simFault = Key<String>(
    .simulator("sim-fault FAULT...: a fault: see tender help simulator")
  )
  package static let simSeed = Key<Int>(
    .simulator("sim-seed N: make ids from this number: output that repeats"),
    "a whole number, such as 7"
  ) { Int($0) }
  package static let simClock = Key<SimulatedTime>(
    .simulator(
      "sim-clock TIME: the time of the simulated clock (RFC 3339), or ahead of this machine's "
        + "(+26h)"
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
  package static let provider = Key<String>(.general("provider NAME: the provider"))
  package static let env = Key<Env>(
    .general("env ENV: simulator (default, offline), sandbox (the provider's test hosts) or live")
  )
  package static let profile = Key<String>(
    .general("profile NAME: a profile of the configuration file")
  )
  package static let output = Key<String>(
    .general(
      "-o, output FORMAT: auto is a table on a terminal and JSON lines elsewhere. json is "
        + "jsonl. csv is for lists of "
        + "payments. raw prints only the values of --fields"
    ).with(choices: ["auto", "table", "jsonl", "json", "csv", "raw"])
  )
  package static let json = Key<Bool>(.general("json: the same as --output jsonl"))
  package static let fields = Key<String>(
    .general("fields A,B.C: print only these fields, nested as in the record")
  )
  package static let quiet = Key<Bool>(
    .general("-q, quiet: say nothing on standard error but errors")
  )
  package static let verbose = Key<Bool>(.general("-v, verbose: say more on standard error"))
  package static let trace = Key<String>(
    .general("trace FILE: write what is exchanged to a file, secrets left out").with(.newFiles)
  )
  package static let color = Key<String>(
    .general("color WHEN: colour on terminals, always, or never").with(choices: [
      "auto", "always", "never",
    ])
  )
  package static let noInput = Key<Bool>(.general("no-input: never ask; fail instead"))
  package static let yes = Key<Bool>(
    .general("-y, yes: answer yes to the question before a live write")
  )
  package static let config = Key<String>(
    .general("config FILE: the configuration file to read").with(.files)
  )
  package static let stateDir = Key<String>(
    .general("state-dir DIR: where journal and simulator keep their files").with(.folders)
  )
  package static let timeout = Key<String>(
    .general("timeout TIME: how long one request to a provider may take (30s)")
  )
  package static let online = Key<Bool>(
    .filter(
      "online: ask the provider: all of the merchant's payments where it can be searched, else "
        + "those of the journal"
    )
  )
  package static let deadline = Key<Int>.duration(
    .general(
      "deadline TIME: how long the whole command may take, a payer's and a reader's time too; "
        + "then as with Ctrl-C"
    )
  )
  package static let help = Key<Bool>(.general("-h, help: show help and exit"))
  package static let version = Key<Bool>(.general("version: show the version and exit"))
  package static let instrumentDescriptor = Key<Int32>(
    .instrument("instrument-fd N: read the instrument as JSON from an open descriptor"),
    "an open descriptor, such as 3 with 3< FILE"
  ) { text in Int32(text).flatMap { $0 >= 0 ? $0 : nil } }
  package static let open = Key<Bool>(.bank("open: open the bank's page in the browser"))
}
