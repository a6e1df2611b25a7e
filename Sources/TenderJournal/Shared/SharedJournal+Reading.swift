package import TenderEngine
package import TenderModel
import TenderSystem

/// Reads one payment, and the payment of a reference.
extension SharedJournal {
  package func count() throws(Fault) -> Int {
    try number("SELECT count(*) FROM tender.operation WHERE content IS NOT NULL") ?? 0
  }

  package func payment(_ key: ReferenceKey) throws(Fault) -> Payment? {
    if let fresh, fresh.key == key {
      self.fresh = nil
      return fresh.payment
    }
    for form in Reference.forms(of: key.reference.text) {
      let key = ReferenceKey(
        env: key.env,
        provider: key.provider,
        reference: Reference(stored: form)
      )
      if let found = try payment(query([select(key)])[0].first) { return found }
    }
    return nil
  }

  package func payments(
    matching handle: String,
    filter: PaymentFilter
  ) throws(Fault) -> [Payment] {
    let statements: [Statement] = Reference.forms(of: handle).map { form in
      """
      \(select) WHERE true\(SharedCondition.handle(exactly: form))\(SharedCondition.columns(filter))
      ORDER BY a.created DESC, a.row DESC
      """
    }
    defer { raiseMarkToSeen() }
    return try query(statements).flatMap { $0 }.map { row throws(Fault) in try shown(row) }
  }

  /// Selects payments `a` with their operations as JSON, read at one moment.
  ///
  /// For look-ups alone there is no right to read preparations.
  var select: Statement { selecting("") }

  /// Selects the payment of a reference, and whether another record may have one of its ids.
  func select(_ key: ReferenceKey) -> Statement {
    let isShared: Statement = """
      , EXISTS (
        SELECT 1 FROM tender.operation o JOIN tender.operation q
        ON q.id = o.id AND q.payment <> o.payment WHERE o.payment = a.row
      )::int
      """
    return "\(selecting(isShared)) WHERE \("a", has: key)"
  }

  private func selecting(_ others: Statement) -> Statement {
    let prepared: (column: Statement, join: Statement) =
      settings.isReading
      ? ("", "")
      : (
        ", p.text AS preparation",
        " LEFT JOIN tender.preparation p ON p.payment = o.payment AND p.sequence = o.sequence"
      )
    return """
      SELECT to_json(a), (
        SELECT json_agg(x ORDER BY x.sequence) FROM (
          SELECT o.*, floor(extract(epoch FROM clock_timestamp() - o.written) * 1000)::bigint AS age
            \(prepared.column)
          FROM tender.operation o\(prepared.join) WHERE o.payment = a.row
        ) x
      )\(others) FROM tender.payment a
      """
  }

  package func tests(_ filter: PaymentFilter) -> Statement { SharedCondition.columns(filter) }

  package func payment(row: Int) throws(Fault) -> Payment? {
    try rows("\(select) WHERE a.row = \(row)").first.map { row throws(Fault) in try shown(row) }
  }

  /// The result of `select` for one payment.
  struct Found {
    let row: JSONObject
    let operations: [JSONObject]
    let mayShareIDs: Bool

    /// The name of the last write. Versions before wrote a checksum.
    var write: String? { row.text("sum") }

    /// The rows of the payment and of its operations.
    var rows: (payment: Row, operations: [Row]) {
      (
        Row(PaymentRow.stored, json: row),
        operations.map { Row(OperationRow.stored, json: $0) }
      )
    }

    init(_ values: [Database.Value]) {
      row = values[0].text.flatMap { JSONReader.read($0)?.object } ?? [:]
      operations =
        values[1].text.flatMap { JSONReader.read($0)?.array }?.compactMap(\.object) ?? []
      mayShareIDs = values.count < 3 || values[2].integer == 1
    }

    /// Returns the payment as stored.
    func payment() throws(Fault) -> Payment {
      try PaymentRow.payment(rows.payment, rows.operations)
    }
  }

  /// Returns the payment of a row.
  func shown(_ values: [Database.Value]) throws(Fault) -> Payment {
    let found = Found(values)
    return shown(found, try found.payment())
  }

  private func shown(_ found: Found, _ stored: Payment) -> Payment {
    let moment = clock.moment
    if stored.updatedAt > seen?.time ?? 0, let write = found.write {
      seen = position(of: stored, write)
    }
    var payment = stored.with(
      zip(stored.operations, found.operations).map { operation, row in
        var operation = operation
        if let sent = operation.state.sent, let made = sent.moment, made.boot != moment.boot,
          let age = row["age"]?.wholeNumber
        {
          // Another machine's clock is not used: the age is by the server's clock.
          let milliseconds = max(0, moment.milliseconds - max(0, age))
          let written = Moment(boot: moment.boot, milliseconds: milliseconds)
          operation.state = .sent(.init(at: sent.at, moment: written))
        }
        if let text = row.text("preparation") {
          operation.preparation = opened(text)
          operation.isSealed = operation.preparation == nil
        }
        return operation
      }
    )
    payment.writer = found.row.text("by")
    payment.mayShareIDs = found.mayShareIDs
    payment.isElsewhere = found.row.text("machine").map { $0 != station } ?? false
    return payment
  }

  /// Returns the payment of a row that will be written again.
  func payment(_ values: [Database.Value]?) throws(Fault) -> Payment? {
    guard let found = values.map(Found.init) else { return nil }
    let stored = try PaymentRow.whole(found.payment(), found.rows.payment)
    known[stored.row] = try self.stored(found.rows.payment, found.rows.operations)
    return shown(found, stored)
  }
}

/// Reads many payments in pages. Each page is a separate statement, so that nothing stays open in between.
extension SharedJournal {
  /// The sizes of pages. The first is small, because most readers want only the newest payments.
  private static let pages = (first: 60, further: 1000)

  package func each(_ filter: PaymentFilter, _ body: (Payment) -> Bool) throws(Fault) {
    var after: (created: Int, row: Int)?
    var size = Self.pages.first
    defer { raiseMarkToSeen() }
    while true {
      let rows = try query([page(filter, after: after, size)])[0]
      for row in rows {
        let found = try shown(row)
        after = (found.createdAt, found.row)
        guard !filter.lets(found) || body(found) else { return }
      }
      guard rows.count == size else { return }
      size = Self.pages.further
    }
  }

  /// Returns the newest payments that may pass a filter, after those of the page before.
  private func page(
    _ filter: PaymentFilter,
    after: (created: Int, row: Int)?,
    _ size: Int
  ) -> Statement {
    let columns = tests(filter)
    // An index on one term is ordered by time already, so nothing has to be sorted.
    if case .exactly(let term)? = filter.query {
      let place: Statement =
        after.map { " AND (t.created, t.payment) < (\($0.created), \($0.row))" } ?? ""
      return """
        \(select) JOIN tender.term t ON t.payment = a.row WHERE t.text = \(term)\(place)\(columns)
        ORDER BY t.created DESC, t.payment DESC LIMIT \(sql: size)
        """
    }
    let place: Statement =
      after.map { " AND (a.created, a.row) < (\($0.created), \($0.row))" } ?? ""
    return """
      \(select) WHERE true\(place)\(columns)\(SharedCondition.terms(filter))
      ORDER BY a.created DESC, a.row DESC LIMIT \(sql: size)
      """
  }

  package func totals(_ filter: PaymentFilter, by keys: Set<Total.Key>) throws(Fault) -> [Total] {
    let total = PaymentQuery(schema: Self.schema)
    let sums = total.sums.map { "least(sum(\($0)), \(Int.max))::bigint" }.joined(separator: ", ")
    let rows = try query([
      """
      SELECT \(sql: total.group(keys)), count(*), \(sql: sums)
      \(total.source)\(tests(filter)) GROUP BY 1
      """
    ])[0]
    var totals = Totals()
    for row in rows {
      totals.add(
        row[0].text ?? "",
        payments: row[1].integer ?? 0,
        charged: row[2].integer ?? 0,
        refunded: row[3].integer ?? 0,
        refunding: row[4].integer ?? 0,
        unknown: row[5].integer ?? 0
      )
    }
    return totals.all
  }

  package func fingerprints(
    of content: JSONObject,
    instrument: String?
  ) throws(Fault) -> JSONObject {
    let text = instrument.map { JSON.string($0).canonicalText }
    return try content.fingerprints(text, redactor) { () throws(Fault) in
      guard let key = settings.key else { throw .noFingerprints }
      return (key.name, key.fingerprints)
    }
  }
}

extension Fault {
  fileprivate static var noFingerprints: Fault {
    .state(
      "journal_key",
      "this order holds values that are stored as fingerprints only. Their key is not here; "
        + "nothing was sent",
      "set TENDER_JOURNAL_KEY_FILE; see: tender help shared-journal"
    )
  }
}
