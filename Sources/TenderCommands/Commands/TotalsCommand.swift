internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

extension Action {
  static let totals = Command(
    .local(.reads),
    """
    totals: print totals of payments
    Sums the payments in the journal: how many there are, what was charged, what payers got back,
    and the net. Each env and each currency is a separate row. --by adds rows: day, provider, status.

    A payment counts on the day of its last attempt, with all its attempts and refunds. Days are
    those of the local time zone (TZ). A held payment counts on the day of the hold, also if it was
    captured later.

    Charged includes pending charges: the provider or the bank accepted them and has not finished
    them. --status succeeded leaves them out, and every payment with a refund as well: its status is
    refunded or partially_refunded. Refunded includes what was voided after capture, and what the
    bank returned. Refunds on their way are not in it: they are shown as refunding. A
    charge whose result is unknown is not counted as charged: unknown says how many such payments
    there are.
    $ tender totals --since today # today's sums by currency
    $ tender totals --by day,provider --since monday # one row for each day and provider
    """,
    options: [Keys.since, Keys.until, Keys.status, Keys.currency, Keys.groupBy],
    exits: [.state],
    csv: Total.Key.allCases.map(\.rawValue) + [
      "env", "currency", "payments", "charged", "refunded", "net", "refunding", "unknown",
    ]
  ).performed(by: JournalCommands.totals)
}

extension JournalCommands {
  func totals() throws(Fault) -> Int32 {
    let keys = try totalKeys()
    try checkFolder()
    var filter = try filter()
    // Here --by names keys, not a writer.
    filter.by = nil
    var rows = records(of: try composition.journal().totals(filter, by: keys), keys)
    if rows.isEmpty { output.tell("no matching payments in \(try composition.journalWords())") }
    let names = Total.Key.allCases.filter(keys.contains).map(\.rawValue)
    let columns =
      names
      + ["env", "payments", "charged", "refunded", "net", "refunding", "unknown"]
      .filter { name in
        !["refunding", "unknown"].contains(name) || rows.contains { $0.fields[name] != nil }
      }
    let room = output.isTable ? output.room(beside: columns, of: rows) : 0
    // Figures without their names say nothing.
    guard room >= -2 || !output.showsAll else {
      for (index, row) in rows.enumerated() {
        if index > 0 { output.put("\n") }
        output.show(row, hidden: ["command", "at"])
      }
      return try exit()
    }
    // A bar of a few columns shows nothing.
    let hasBars = output.drawsBars && room >= 4
    if hasBars { addBars(to: &rows, columns: min(room, 20)) }
    output.show(rows, columns: columns + (hasBars ? ["bar"] : []))
    if output.isTable, try hasPendingCharge(filter) {
      output.note("CHARGED includes pending charges: tender find --status pending shows them")
    }
    return try exit()
  }

  /// Whether a charge of a filter is accepted by the provider and not finished.
  private func hasPendingCharge(_ filter: PaymentFilter) throws(Fault) -> Bool {
    guard filter.statuses.isEmpty || filter.statuses.contains(.pending) || filter.isOpen else {
      return false
    }
    var pending = filter
    (pending.statuses, pending.isOpen) = ([.pending], false)
    var isFound = false
    try composition.journal().each(pending) { payment in
      isFound = payment.state.isCaptured
      return !isFound
    }
    return isFound
  }

  private func totalKeys() throws(Fault) -> Set<Total.Key> {
    var keys: Set<Total.Key> = []
    for word in (invocation[Keys.groupBy] ?? "currency").split(separator: ",")
    where word != "currency" {
      guard let key = Total.Key(rawValue: String(word)) else {
        let names = ["currency"] + Total.Key.allCases.map(\.rawValue)
        throw .badValue(
          "--by",
          String(word),
          hint: Suggestion.hint(
            for: String(word),
            among: names,
            else: "it is one or several of \(names.joined(separator: ", "))"
          )
        )
      }
      keys.insert(key)
    }
    return keys
  }

  /// Returns a record for each group, sorted by its keys.
  private func records(of totals: [Total], _ keys: Set<Total.Key>) -> [Record] {
    var sums = Totals()
    for total in totals {
      var group = total.group
      if keys.contains(.day), let quarter = Int(group[2]) {
        group[2] = LocalTime.day(quarter * Total.quarter)
      }
      // Env and currency come last, so that rows are ordered by day first.
      sums.add(total, to: (group.dropFirst(2) + group.prefix(2)).joined(separator: "\t"))
    }
    let names = Total.Key.allCases.filter(keys.contains).map(\.rawValue) + ["env", "currency"]
    let rows = sums.all.sorted { $0.group.lexicographicallyPrecedes($1.group) }
    return rows.map { total in
      let sums: JSONObject = [
        "payments": .integer(total.payments), "charged": .integer(total.charged),
        "refunded": .integer(total.refunded), "net": .integer(total.net),
        "refunding": total.refunding > 0 ? .integer(total.refunding) : nil,
        "unknown": total.unknown > 0 ? .integer(total.unknown) : nil,
      ]
      let keys = zip(names, total.group).map { JSONObject.Member(key: $0, value: .string($1)) }
      return records.record(.total, JSONObject(keys + sums.members))
    }
  }

  /// Adds a bar to each row, scaled to the largest charged amount of its currency.
  private func addBars(to rows: inout [Record], columns: Int) {
    func charged(_ row: Record) -> Int { row.fields["charged"]?.boundedNumber ?? 0 }
    var largest: [String: Int] = [:]
    for row in rows {
      let currency = row.fields.text("currency") ?? ""
      largest[currency] = max(largest[currency] ?? 0, charged(row))
    }
    for index in rows.indices {
      let most = largest[rows[index].fields.text("currency") ?? ""] ?? 0
      rows[index].fields["bar"] = .string(Self.bar(charged(rows[index]), of: most, columns))
    }
  }

  private static func bar(_ amount: Int, of largest: Int, _ columns: Int) -> String {
    guard largest > 0, amount > 0 else { return "" }
    let share = Double(amount) / Double(largest) * Double(columns) * 8
    let eighths = max(1, Int(share.rounded()))
    let rest = eighths % 8 == 0 ? "" : String(Array("▏▎▍▌▋▊▉")[eighths % 8 - 1])
    return String(repeating: "█", count: eighths / 8) + rest
  }
}
