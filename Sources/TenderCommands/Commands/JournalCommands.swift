internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

extension Action {
  static let journalList = Command(
    .local(.reads),
    """
    journal list: list recorded payments
    Lists the payments in the journal, newest first: the latest 50 in a table, unless --all or --limit.
    $ tender journal list # the latest payments
    $ tender journal list --status unknown # payments with an unknown operation
    """,
    options: [
      Keys.since, Keys.until, Keys.status, Keys.lastFour, Keys.amount, Keys.currency, Keys.by,
      Keys.limit, Keys.all,
    ],
    exits: [.state],
    meanings: ["all": "show every payment, not the latest 50"],
    csv: RecordCSV.payments
  ).performed(by: JournalCommands.list)

  static let journalShow = Command(
    .local(.reads),
    """
    journal show: show one payment, its operations and its history
    Shows the payment of a reference or a provider's id: its operations with their amounts, and
    everything that happened, oldest first.
    $ tender journal show ORDER-1042 # the history of ORDER-1042
    $ tender journal show SALE-1 --receipt # the receipt of a card-present sale
    """,
    operands: [.init("REF", orID: true)],
    options: [Keys.receipt, Keys.allFields],
    exits: [.notFound, .state]
  ).performed(by: JournalCommands.show)

  static let journalExport = Command(
    .local(.reads),
    """
    journal export: write the journal as JSON lines
    Prints every payment with its history as a JSON line, newest first, on a terminal too. tender
    journal import reads these lines.
    $ tender journal export --since 2026-01-01 # this year's payments
    """,
    options: [Keys.since, Keys.until, Keys.status, Keys.lastFour, Keys.amount, Keys.currency],
    exits: [.state]
  ).performed(by: JournalCommands.export)
}

/// `find`, and every command of `journal`.
struct JournalCommands: CommandWork {
  let composition: Composition

  /// Returns the exit status of the printed records. If the journal is incomplete, this throws after the
  /// output.
  func exit(_ status: Int32 = 0) throws(Fault) -> Int32 {
    let exit = output.exit(status)
    try composition.journal().checkWhole()
    return exit
  }

  static let rowLimit = 50
  static let countLimit = 10_000

  func list() throws(Fault) -> Int32 {
    try checkFolder()
    composition.isListing = true
    let filter = try filter()
    guard output.isTable else {
      return try tell(of: try eachShown(filter) { output.show(records.entry($0)) })
    }
    var shown = Shown(limit: 0)
    try output.showRows(
      columns: [
        "created_at", "reference", "status", "amount", "refunded_amount", "provider", "last_four",
        "env", "id", "note",
      ],
      spare: ["env", "id"],
      dear: ["provider", "created_at", "last_four", "refunded_amount"]
    ) { (body: (Record) -> Void) throws(Fault) in
      shown = try eachShown(filter) { payment in
        var row = LookUpCommands.row(records.entry(payment))
        // Money that went back must not read as a second payment.
        if payment.attempt?.kind == .refund, let status = row.fields.text("status") {
          row.fields["status"] = .string("refund \(status)")
        }
        if let dispute = payment.dispute { row.fields["note"] = .string("disputed (\(dispute))") }
        body(row)
      }
    }
    return try tell(of: shown)
  }

  func show() throws(Fault) -> Int32 {
    let handle = try invocation.handle()
    composition.subject.reference = handle
    let journal = try composition.journal()
    let found = try journal.payments(matching: handle, filter: try filter())
    guard !found.isEmpty else { throw try composition.unknown(handle) }
    if invocation.has(Keys.receipt) { return try showReceipts(found, handle) }
    for payment in found {
      composition.show(payment, named: handle, try journal.history(of: payment))
      if output.isTable, payment.row != found.last?.row { output.put("\n") }
    }
    return try exit()
  }

  private func showReceipts(_ payments: [Payment], _ handle: String) throws(Fault) -> Int32 {
    let texts = payments.compactMap { payment in
      (try? composition.module(payment.provider.text))?
        .receipt(of: payment, handle, composition.settings)
    }
    guard !texts.isEmpty else {
      throw Fault(
        .notFound,
        code: "no_receipt",
        "\(handle.quotedForMessage) has no receipt",
        hint: "card-present sales have one, once a card was read"
      )
    }
    output.put(output.redactor.redact(texts.joined(separator: "\n")))
    return try exit()
  }

  func export() throws(Fault) -> Int32 {
    try checkFolder()
    composition.isListing = true
    let journal = try composition.journal()
    var problem: Fault?
    let filter = try filter()
    try output.showLines { (show: (Record) -> Void) throws(Fault) in
      try journal.each(filter) { payment in
        do throws(Fault) {
          // Another process may have written later lines.
          let lines = try journal.history(of: payment)
          let last = lines.lastIndex { $0.at == payment.updatedAt } ?? lines.count - 1
          let history = Array(lines.prefix(last + 1))
          show(records.entry(payment, history: history, isExport: true))
          return !output.isBroken
        } catch {
          problem = error
          return false
        }
      }
    }
    if let problem { throw problem }
    return try exit()
  }

  /// Returns the filter of a command's options.
  ///
  /// Throws `usage`.
  func filter() throws(Fault) -> PaymentFilter {
    var filter = try invocation.places()
    filter.statuses = Set(invocation.all(Keys.status).compactMap(Status.init(rawValue:)))
    filter.isOpen = invocation.all(Keys.status).contains("open")
    filter.lastFour = try invocation.value(Keys.lastFour)
    let read = OptionReader(invocation, currency: "USD")
    filter.amount = try amount(read)
    output.warnOfZone()
    if invocation.has(Keys.currency) { filter.currency = try read.currencyValue() }
    filter.by = invocation[Keys.by]
    filter.since = try time(Keys.since)?.lowerBound
    filter.until = try time(Keys.until)?.upperBound
    if let since = filter.since, let until = filter.until, since > until {
      throw .badOptions("--since is after --until", hint: "exchange them")
    }
    return filter
  }

  /// Returns the amount of a filter: in the named currency, else in that of each payment.
  private func amount(_ read: OptionReader) throws(Fault) -> PaymentFilter.Amount? {
    guard !invocation.has(Keys.currency), !invocation.has(Keys.amount.minor),
      let text = invocation[Keys.amount.decimal]
    else {
      return try read.money(Keys.amount).map { .init(minorUnits: $0.minorUnits) }
    }
    return try PaymentFilter.Amount(decimal: text, named: "--" + Keys.amount.decimal.option.name)
  }

  /// Returns the times that an option names, in the local zone.
  ///
  /// Throws `usage`.
  func time(_ key: Key<TimeExpression>) throws(Fault) -> ClosedRange<Int>? {
    guard let expression = try invocation.value(key) else { return nil }
    guard let range = LocalTime.range(of: expression, now: composition.clock.now) else {
      throw .badValue(
        "--" + key.option.name,
        invocation.text(key) ?? "",
        hint: "the local time zone has no such time"
      )
    }
    return range
  }
}

extension Composition {
  /// Describes the searched journal with its number of payments and its first time. A wrong folder must not
  /// read as "never charged".
  func journalWords() throws(Fault) -> String {
    let folder = try settings.stateFolder().text
    guard try hasJournalFile else { return "\(folder), which has no journal" }
    let place = settings.journal() == nil ? "\(folder)/journal.db" : "the PostgreSQL journal"
    let count = try journal().count(PaymentFilter(), upTo: 10_001)
    guard count > 0 else { return "\(place), which has no payments" }
    let number = count > 10_000 ? "more than 10000" : String(count)
    let oldest = try journal().extent().oldest.map { ", the first of \(Timestamp.text($0))" } ?? ""
    return "\(place), which has \(number) payment\(count == 1 ? "" : "s")\(oldest)"
  }
}

extension Fault {
  /// A search for one payment or customer found nothing. `others` names the places that may have it.
  static func noMatch(_ place: String, others: String) -> Fault {
    Fault(
      .notFound,
      code: "payment_not_found",
      "no matching payments in \(place)",
      hint: "\(others) may have it"
    )
  }
}

extension Invocation {
  /// Whether a search names one payment or customer. Then an empty result has a different exit.
  var asksForOne: Bool {
    let names: [any OptionKey] = [Keys.customer, Keys.lastFour, Keys.traceID]
    return operands.contains { !$0.contains("*") } || !given(among: names).isEmpty
  }

  /// Throws `usage` if one of some options is given, which have no effect beside another one.
  func refuse<Value>(_ keys: [any OptionKey], with other: Key<Value>) throws(Fault) {
    guard let name = given(among: keys).first?.name else { return }
    let problem = "--\(name) cannot be used with --\(other.option.name)"
    throw .badOptions(problem, hint: "leave one of them out")
  }

  /// The one reference or id of a command.
  ///
  /// Throws `usage` for none, several, or `-`, which means many.
  func handle() throws(Fault) -> String {
    guard let handle = operands.first, operands.count == 1, handle != "-" else {
      throw .badOperand(
        "\(command.name) needs one reference or id",
        hint: "such as: tender \(command.name) ORDER-1042"
      )
    }
    return handle
  }

  /// The filter of `--env` and `--provider`, if they are given.
  func places() throws(Fault) -> PaymentFilter {
    PaymentFilter(env: try value(Keys.env), provider: self[Keys.provider].map(ProviderName.init))
  }
}

extension Composition {
  /// Shows a payment of the journal as sentences, or its record with them: first the operation that a handle
  /// names.
  func show(inWords payment: Payment, named handle: String?) {
    let verdict = records.verdict(payment, named: handle)
    show(verdict) { records.entry(payment, named: handle, verdict: verdict) }
  }

  /// Shows a verdict as sentences, or a record.
  func show(_ verdict: Verdict, _ record: () -> Record) {
    guard output.isTable else { return output.show(record()) }
    output.warnOfZone()
    let next = text(verdict.hint, verdict.steps)
    let lines = verdict.lines(width: output.width, next: next)
    output.put(output.redactor.redact(lines.joined(separator: "\n")) + "\n")
  }
}

extension Journal {
  /// The payments that match a filter, newest first.
  func all(_ filter: PaymentFilter) throws(Fault) -> [Payment] {
    var payments: [Payment] = []
    try each(filter) { payment in
      payments.append(payment)
      return true
    }
    return payments
  }
}
