package import TenderEngine
package import TenderModel
package import TenderSystem

/// Reads payments and their history, and searches with filters.
extension SQLiteJournal {
  /// Runs a statement and passes its rows to `body`, by the names of `columns`. `body` returns false to stop.
  func rows(
    _ columns: Columns,
    _ statement: Statement,
    _ body: (Row) throws(Fault) -> Bool
  ) throws(Fault) {
    var problem: Fault?
    try database.query(statement.sqlite, statement.values) { values in
      guard let row = Row(columns, read: values) else { return true }
      do throws(Fault) {
        return try body(row)
      } catch {
        problem = error
        return false
      }
    }
    if let problem { throw problem }
  }

  /// Returns the rows of a statement with few results.
  func all(_ columns: Columns, _ statement: Statement) throws(Fault) -> [Row] {
    try database.all(statement.sqlite, statement.values).compactMap { Row(columns, read: $0) }
  }

  package func rows(_ statement: Statement) throws(Fault) -> Rows {
    try database.all(statement.sqlite, statement.values)
  }

  /// Runs a statement without rows.
  func run(_ statement: Statement) throws(Fault) {
    try database.query(statement.sqlite, statement.values)
  }

  package func records(
    _ rows: [JSONObject],
    of table: String,
    _ columns: [String]
  ) -> Statement {
    let members = columns.map { "value ->> '\($0)' AS \($0)" }.list()
    return "(SELECT \(sql: members) FROM json_each(\(rows))) r"
  }

  package func payment(row: Int) throws(Fault) -> Payment? {
    try self.row("a.row = \(row)").map { row throws(Fault) in try payment(row) }
  }

  func row(_ condition: Statement) throws(Fault) -> Row? {
    try all(PaymentRow.stored, "\(PaymentRow.select) WHERE \(condition)").first
  }

  func operations(of payment: Int) throws(Fault) -> [Row] {
    try database.all(Self.operationsOfPayment, [.integer(payment)])
      .compactMap { Row(OperationRow.stored, read: $0) }
  }

  // It is not made again for each payment.
  private static let operationsOfPayment =
    OperationRow.select.sqlite + " WHERE o.payment = ? ORDER BY o.sequence"

  /// Returns the payment of a row with its preparations unsealed. Those whose key is not here stay sealed.
  func payment(_ row: Row) throws(Fault) -> Payment {
    let stored = try PaymentRow.payment(row, try operations(of: row.number("row") ?? 0))
    return stored.with(
      stored.operations.map { operation in
        var operation = operation
        guard let prepared = operation.preparation else { return operation }
        operation.preparation = opened(prepared.stored)
        operation.isSealed = operation.preparation == nil
        return operation
      }
    )
  }

  package func payment(_ key: ReferenceKey) throws(Fault) -> Payment? {
    for form in Reference.forms(of: key.reference.text) {
      let form = Reference(stored: form)
      let key = ReferenceKey(env: key.env, provider: key.provider, reference: form)
      if let found = try stored(key) { return found }
    }
    return nil
  }

  /// Returns the payment of a reference in exactly this form.
  private func stored(_ key: ReferenceKey) throws(Fault) -> Payment? {
    // A statement with all columns is compiled once, for every row that is read by its number.
    try database.atOneMoment { () throws(Fault) -> Payment? in
      let number = try number(
        """
        SELECT row FROM payment WHERE reference = \(key.reference.text)
        AND provider = \(key.provider.text) AND env = \(key.env.rawValue)
        """
      )
      guard let number, let row = try row("a.row = \(number)") else { return nil }
      return try PaymentRow.whole(payment(row), row)
    }
  }

  package func payments(
    matching handle: String,
    filter: PaymentFilter
  ) throws(Fault) -> [Payment] {
    var found: [Payment] = []
    for form in Reference.forms(of: handle) {
      try each(of: Condition.candidates(matching: form)) { payment in
        if payment.handles.contains(handle), filter.lets(payment) { found.append(payment) }
        return true
      }
    }
    return found
  }

  /// Returns the statement for a filter. If an index has candidates, it selects only row numbers.
  package static func selection(
    _ filter: PaymentFilter
  ) -> (sql: String, values: [Database.Value], isCandidates: Bool) {
    let candidates = Condition.candidates(filter)?.statement
    let statement = candidates ?? all(filter)
    return (statement.sqlite, statement.values, candidates != nil)
  }

  package func tests(_ filter: PaymentFilter) -> Statement { Condition.columns(filter) }

  private static func all(_ filter: PaymentFilter) -> Statement {
    """
    \(PaymentRow.select) WHERE 1\(Condition.columns(filter)) ORDER BY a.created DESC, a.row DESC
    """
  }

  package func each(_ filter: PaymentFilter, _ body: (Payment) -> Bool) throws(Fault) {
    if let found = Condition.candidates(filter) {
      return try each(of: found, filter.by) { filter.lets($0) ? body($0) : true }
    }
    try rows(PaymentRow.stored, Self.all(filter)) { row throws(Fault) in
      let found = try payment(row)
      return filter.lets(found) ? body(found) : true
    }
  }

  /// Goes through candidates by their rows, newest first. Unsorted candidates are sorted by two numbers each.
  private func each(
    of candidates: Condition.Candidates,
    _ writer: String? = nil,
    _ body: (Payment) -> Bool
  ) throws(Fault) {
    let condition = writer.map(Condition.writer) ?? ""
    func look(_ number: Int) throws(Fault) -> Bool {
      let found = try database.atOneMoment { () throws(Fault) -> Payment? in
        try row("a.row = \(number)\(condition)").map { row throws(Fault) in try payment(row) }
      }
      return found.map(body) ?? true
    }
    var found: [(created: Int, row: Int)] = []
    let columns = Columns([("row", .number), ("created", .number)])
    try rows(columns, candidates.statement) { row throws(Fault) in
      guard let number = row.number("row") else { return true }
      if candidates.isSorted { return try look(number) }
      found.append((row.time("created"), number))
      return true
    }
    var last: Int?
    for candidate in found.sorted(by: >) where candidate.row != last {
      last = candidate.row
      guard try look(candidate.row) else { break }
    }
  }

  package func count() throws(Fault) -> Int { try number("SELECT max(row) FROM operation") ?? 0 }

  package func totals(_ filter: PaymentFilter, by keys: Set<Total.Key>) throws(Fault) -> [Total] {
    // Rows are added here, because SQLite sorts all of them for GROUP BY, which takes three times as long.
    let query = PaymentQuery(schema: Self.schema)
    let statement: Statement = """
      SELECT \(sql: query.group(keys)), \(sql: query.sums.joined(separator: ", "))
      \(query.source)\(tests(filter))
      """
    var totals = Totals()
    try database.query(statement.sqlite, statement.values) { row in
      totals.add(
        row[0].text ?? "",
        charged: row[1].integer ?? 0,
        refunded: row[2].integer ?? 0,
        refunding: row[3].integer ?? 0,
        unknown: row[4].integer ?? 0
      )
      return true
    }
    return totals.all
  }
}
