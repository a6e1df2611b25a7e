internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

extension Action {
  static let find = Command(
    .local(.reads),
    """
    find: find a payment
    Finds payments in the journal by what a customer or a colleague knows: amount, day, last four
    digits, a name or e-mail address, a failure. REF is a reference or a provider's id; * in it
    matches any characters. Every filter narrows the search; --status may be repeated, and
    --status unknown finds every payment with an unknown operation. --amount is in the currency of
    each payment, unless --currency names one. It also finds the requested amount of a payment that
    was approved in part.

    --customer and --failure match the beginning of a word, without case. --customer also ignores
    accents, and kinds of apostrophes and spaces: muller finds Müller. A whole phone number is found
    in any notation, with or without the country's code. A whole e-mail address finds this address
    only. REF, --metadata, --trace-id and codes match exactly. A payment of an earlier version is
    found by its requested amount after its next change. So it is by another notation of its phone
    number, and without its accents.

    Days and times without a zone are local (TZ), and a day counts from its first to its last
    moment. They are about the last attempt of a payment: a later capture or refund does not change
    its time. Each match shows the payment's state and the next command. A table shows the latest 50
    and says how many there are; --all shows all, as JSON lines always do. --limit shows fewer or
    more of either. Without a match the exit is 5 if one payment or customer was asked for: by REF
    without *, --customer, --last-four or --trace-id. Otherwise it is 0.

    --duplicates shows groups of payments that may be one purchase paid twice. The payments of a
    group have one amount and one currency. Each has the payer or the last four digits of another
    one. Each was made within 10 minutes of the next, or within the given time. The payer is known
    by the name, e-mail, phone or payer id of the order. The same payer with other fields is not
    found. Payments without money are left out. A JSON line has "group", the number of its group:
    jq -s 'group_by(.group)[]' makes a list of each.
    $ tender find --amount 10.50 --since yesterday --customer remi@example.com # which payment was
    this customer's
    $ tender find --duplicates=1h --since today # payers that were charged twice today
    $ tender find --order-by amount --limit 10 # the ten largest payments
    $ tender find --status open # payments that are not final
    $ tender find --online --amount 10.50 --since today # ask the provider, also for what was made
    elsewhere
    $ tender find "ORDER-*" --failure insufficient # by reference and failure
    """,
    operands: [.init("REF", optional: true)],
    options: [
      Keys.amount, Keys.currency, Keys.since, Keys.until, Keys.status, Keys.lastFour,
      Keys.customer, Keys.metadata, Keys.traceID, Keys.failure, Keys.by, Keys.limit, Keys.orderBy,
      Keys.duplicates, Keys.all, Keys.online,
    ] + Catalogue.simulation,
    exits: [
      .auth, .notFound, .rejected, .pending, .notSent, .providerError, .partial, .state,
      .interrupted, .terminated, .hungUp,
    ],
    meanings: ["all": "show every match, not the latest 50"],
    csv: RecordCSV.payments
  ).performed(by: JournalCommands.find)
}

extension JournalCommands {
  func find() throws(Fault) -> Int32 {
    var filter = try filter()
    filter.handle = invocation.operands.first.map(Reference.composed)
    filter.customer = invocation[Keys.customer].map(SearchTerm.customer)
    filter.traceID = invocation[Keys.traceID]
    filter.failure = invocation[Keys.failure]
    filter.failureCodes = records.codes(thatSay: invocation[Keys.failure])
    for pair in invocation.all(Keys.metadata) {
      filter.metadata.append(try OptionReader.split(pair, option: "--metadata"))
    }
    if let provider = filter.provider { try invocation.checkOptions(for: provider) }
    // A provider's options for this command name members of its orders.
    for module in composition.catalogue.modules {
      let keys = module.uses.filter { $0.command == "find" }.flatMap(\.options)
      for option in invocation.given(among: keys) {
        guard let value = invocation.text(option) else { continue }
        filter.members.append((option.member, value))
      }
    }
    let duplicates = try invocation.value(Keys.duplicates)
    if invocation.has(Keys.online) {
      try invocation.refuse([Keys.limit, Keys.orderBy, Keys.duplicates], with: Keys.online)
      let found = try FindOnline(composition: composition).run(filter)
      // Payments that a copy lacks are looked up with this command, before the copy is accepted.
      guard let loss = try composition.journal().loss(), loss.isCopy else {
        return try exit(found)
      }
      output.warn(loss.fault.message)
      return output.exit(found)
    }
    let offline: [any OptionKey] = [Keys.simScenario, Keys.simFault, Keys.simSeed]
    if let option = invocation.given(among: offline).first {
      throw .badOptions(
        "--\(option.name) needs --online: the journal needs no provider",
        hint: "add --online, or leave it out"
      )
    }
    if !invocation.asksForOne { try checkFolder() }
    _ = try composition.journal()
    if let handle = filter.handle { composition.learnPlaces(of: handle) }
    composition.isListing = true
    if let duplicates { return try show(duplicates: duplicates, filter) }
    let shown = try eachShown(filter) { payment in
      composition.show(inWords: payment, named: filter.handle)
    }
    if shown.count == 0, invocation.asksForOne {
      try composition.journal().checkWhole()
      throw .noMatch(
        try composition.journalWords(),
        others: "another journal (--state-dir, TENDER_JOURNAL) or the provider (--online)"
      )
    }
    return try tell(of: shown)
  }

  /// Shows groups of payments that may be one purchase paid twice.
  private func show(duplicates span: Int, _ filter: PaymentFilter) throws(Fault) -> Int32 {
    try invocation.refuse([Keys.limit, Keys.orderBy, Keys.all], with: Keys.duplicates)
    var counts = (groups: 0, payments: 0)
    func each(_ body: (Record) -> Void) throws(Fault) {
      counts = (0, 0)
      func show(_ groups: [[Payment]]) {
        for group in groups {
          counts.groups += 1
          counts.payments += group.count
          for payment in group {
            let verdict = records.verdict(payment)
            var record = records.entry(payment, verdict: verdict)
            if output.isTable { record.fields["payer"] = verdict.customer?.json }
            record.fields["group"] = .integer(counts.groups)
            body(record)
          }
        }
      }
      var search = DuplicateSearch(within: span)
      try composition.journal().each(filter) { payment in
        show(search.add(payment))
        return !output.isBroken
      }
      show(search.finish())
    }
    if output.isTable {
      try output.showRows(
        columns: [
          "group", "created_at", "reference", "amount", "status", "last_four", "payer", "provider",
          "env", "id",
        ],
        spare: ["env", "id", "provider", "last_four", "payer"],
        dear: ["created_at"],
        each
      )
    } else {
      try each { output.show($0) }
    }
    let place = try composition.journalWords()
    let (groups, payments) = counts
    let time = Verdict.text(ofSeconds: span / 1000)
    let alike =
      "alike are the same amount, and the same last four digits, name, e-mail, phone or payer id"
    // A payment that the other filters leave out can be the second one.
    let filters: [any OptionKey] = [
      Keys.amount, Keys.since, Keys.until, Keys.status, Keys.lastFour, Keys.customer, Keys.metadata,
      Keys.traceID, Keys.failure, Keys.by,
    ]
    let isNarrow = !invocation.given(among: filters).isEmpty || !invocation.operands.isEmpty
    if groups == 0 {
      output.tell(
        "no two alike within \(time) of each other in \(place)"
          + (isNarrow
            ? ", among those that match the other filters; leave them out to compare all" : "")
          + "; for a longer time: --duplicates=24h; " + alike
      )
    } else {
      let word = groups == 1 ? "group" : "groups"
      output.note("\(payments) payments in \(groups) \(word) in \(place)")
      output.note("each within \(time) of the next; for a longer time: --duplicates=24h; \(alike)")
    }
    return try exit()
  }

  /// Passes the payments of a filter to `body`: all of them for JSON lines, the latest 50 for a table, or
  /// `--limit`.
  ///
  /// Returns the number that it showed, and the number that was found if some were left out.
  func eachShown(
    _ filter: PaymentFilter,
    _ body: (Payment) -> Void
  ) throws(Fault) -> Shown {
    let given = try invocation.value(Keys.limit)
    if given != nil, invocation.has(Keys.all) {
      throw .exclusive("--limit and --all")
    }
    let isAll = invocation.has(Keys.all) || !output.isTable
    let limit = given ?? (isAll ? Int.max : Self.rowLimit)
    if let order = try invocation.value(Keys.orderBy), order != .created {
      guard limit < Int.max else {
        throw .badOptions(
          "--order-by \(order.rawValue) needs --limit",
          hint: "such as --limit 100, at most 10000"
        )
      }
      return try eachSorted(filter, by: order, limit, body)
    }
    var shown = Shown(limit: limit)
    var isCut = false
    try composition.journal().each(filter) { payment in
      isCut = shown.count == limit
      if isCut { return false }
      shown.count += 1
      body(payment)
      return !output.isBroken
    }
    if isCut {
      // Counting a million payments takes longer than finding fifty.
      let count = try composition.journal().count(filter, upTo: Self.countLimit + 1)
      shown.total = count > Self.countLimit ? "more than \(Self.countLimit)" : String(count)
    }
    return shown
  }

  /// Passes the first payments in another order to `body`. It reads all payments, and stores only those.
  private func eachSorted(
    _ filter: PaymentFilter,
    by order: Keys.Order,
    _ limit: Int,
    _ body: (Payment) -> Void
  ) throws(Fault) -> Shown {
    func key(_ payment: Payment) -> Int {
      switch order {
      case .created: payment.createdAt
      case .changed: payment.updatedAt
      case .amount: payment.state.amount ?? 0
      }
    }
    var best: [Payment] = []
    var count = 0
    try composition.journal().each(filter) { payment in
      count += 1
      let own = key(payment)
      if let last = best.last, best.count == limit, key(last) >= own { return true }
      // Among equal payments, the newer one comes first.
      var (low, high) = (0, best.count)
      while low < high {
        let middle = (low + high) / 2
        if key(best[middle]) >= own { low = middle + 1 } else { high = middle }
      }
      best.insert(payment, at: low)
      if best.count > limit { best.removeLast() }
      return true
    }
    for payment in best where !output.isBroken { body(payment) }
    var shown = Shown(limit: limit)
    shown.count = best.count
    if count > best.count { shown.total = String(count) }
    return shown
  }

  /// Prints a note if nothing was found, or if some payments were left out.
  func tell(of shown: Shown) throws(Fault) -> Int32 {
    if let total = shown.total {
      let order = try invocation.value(Keys.orderBy) ?? .created
      let which =
        switch order {
        case .created: "latest"
        case .changed: "last changed"
        case .amount: "largest"
        }
      let all = order == .created ? "; --all shows all" : "; --limit N shows more"
      let text = "the \(which) \(shown.limit) of \(total)\(all)"
      if output.isTable { output.note(text) } else { output.tell(text) }
    }
    if shown.count == 0 { output.tell("no matching payments in \(try composition.journalWords())") }
    return try exit()
  }

  struct Shown {
    let limit: Int
    var count = 0
    /// The text for the number of payments found; nil if all of them were shown.
    var total: String?
  }
}
