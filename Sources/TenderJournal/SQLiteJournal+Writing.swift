package import TenderEngine
package import TenderModel
import TenderSystem

/// Writes payments: versioned, chained, and marked outside of the folder.
extension SQLiteJournal {
  package func open(
    _ payment: Payment,
    _ terms: OpeningTerms,
    _ durability: Durability
  ) throws(Fault) -> Payment {
    try checkWhole()
    return try write(payment, payment.attempt?.sequence ?? 0, "opened", terms, durability)
  }

  package func update(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    _ durability: Durability
  ) throws(Fault) {
    if durability == .power || payment[sequence]?.isUnknown == true { try checkPlace() }
    payment = try write(payment, sequence, note, nil, durability)
  }

  private func write(
    _ payment: Payment,
    _ sequence: Int,
    _ note: String,
    _ terms: OpeningTerms?,
    _ durability: Durability
  ) throws(Fault) -> Payment {
    let (made, row) = try commit(durability) { () throws(Fault) -> (Write, Int) in
      let before = try known(payment)
      let made = try write(of: payment, over: before, terms) { [line($0, sequence, note)] }
      return (made, try perform(made))
    }
    return payment.written(by: made, row)
  }

  package func take(_ payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    try checkWhole()
    // Another process may write the same payment.
    return try commit(.power) { () throws(Fault) in
      guard let taken = try merged(payment) else { return false }
      // The merged payment has one observation of all that is known.
      try run("DELETE FROM observation WHERE payment = \(taken.row)")
      let before = try known(taken)
      _ = try perform(try write(importing: taken, history, over: before))
      return true
    }
  }

  /// Returns what the database has of a payment; nil if it is new. Throws `journal_conflict` for another version.
  private func known(_ payment: Payment) throws(Fault) -> Known? {
    guard payment.row > 0 else { return nil }
    guard let row = try row("a.row = \(payment.row)") else {
      throw .changedMeanwhile(
        "the journal has no payment at \(payment.reference.quotedForMessage) any more"
      )
    }
    guard row.number("version") == payment.version else { throw .changed(payment.reference) }
    return try stored(row, try operations(of: payment.row))
  }

  /// Makes a write in the open transaction. Returns the payment's row.
  private func perform(_ write: Write) throws(Fault) -> Int {
    if let refusal = try refusal(of: write) { throw refusal }
    var row = write.payment.row
    if let before = write.before {
      try update("payment", write.values.changes(from: before.row), where: "row = \(row)")
    } else {
      try insert("payment", write.values)
      row = database.lastRow
    }
    for (sequence, values) in write.operations.sorted(by: { $0.key < $1.key }) {
      guard let before = write.before?.operations[sequence] else {
        try insert("operation", values, of: row)
        continue
      }
      // Only changed columns are set, because each indexed column that is set writes pages.
      try update(
        "operation",
        values.changes(from: before),
        where: "payment = \(row) AND sequence = \(sequence)"
      )
    }
    for sequence in write.unprepared {
      try run(
        """
        DELETE FROM preparation WHERE row = (
          SELECT row FROM operation WHERE payment = \(row) AND sequence = \(sequence)
        )
        """
      )
    }
    for (sequence, text) in write.prepared {
      try run(
        """
        INSERT INTO preparation (row, text)
        SELECT row, \(text) FROM operation WHERE payment = \(row) AND sequence = \(sequence)
        ON CONFLICT (row) DO UPDATE SET text = excluded.text
        """
      )
    }
    for seen in write.seen { try insert("observation", ObservationRow.values(seen), of: row) }
    try claim(write.claims, row)
    let (before, created) = (write.before?.row.time("created"), write.payment.createdAt)
    for term in write.goneTerms { try forget(term, row, before ?? created) }
    for term in write.newTerms {
      try run(
        "INSERT OR IGNORE INTO term (text, created, payment) VALUES (\(term), \(created), \(row))"
      )
    }
    for line in write.lines { try addLine(row, line) }
    return row
  }

  /// Writes the ids that belong to a payment from now on. No other record has them.
  private func claim(_ claims: Write.Claims, _ row: Int) throws(Fault) {
    for id in claims.gone { try run("DELETE FROM claim WHERE id = \(id) AND payment = \(row)") }
    guard !claims.rows.isEmpty else { return }
    let columns = Write.Claims.columns.list()
    try run(
      """
      INSERT INTO claim (payment, \(sql: columns)) SELECT \(row), \(sql: columns)
      FROM \(records(claims.rows, of: "claim", Write.Claims.columns)) WHERE true ON CONFLICT DO NOTHING
      """
    )
  }

  private func insert(_ table: String, _ values: Row, of payment: Int? = nil) throws(Fault) {
    let owner: [(String, Database.Value)] = payment.map { [("payment", .integer($0))] } ?? []
    try insert(table, owner + zip(values.columns.names, values.values))
  }

  private func insert(_ table: String, _ values: [(String, Database.Value)]) throws(Fault) {
    let marks = values.map { _ in "?" }.list()
    try database.query(
      "INSERT INTO \(table) (\(values.map(\.0).list())) VALUES (\(marks))",
      values.map(\.1)
    )
  }

  private func update(
    _ table: String,
    _ changes: [(column: String, value: Database.Value)],
    where condition: String
  ) throws(Fault) {
    guard !changes.isEmpty else { return }
    try database.query(
      "UPDATE \(table) SET \(changes.map { "\($0.column) = ?" }.list()) WHERE \(condition)",
      changes.map(\.value)
    )
  }

  /// Deletes a search term of a payment.
  func forget(_ term: String, _ payment: Int, _ created: Int) throws(Fault) {
    try run(
      "DELETE FROM term WHERE text = \(term) AND created = \(created) AND payment = \(payment)"
    )
  }

  /// Adds a line to the history, chained to the one before. Payment 0 is the journal itself.
  private func addLine(_ payment: Int, _ entry: HistoryEntry) throws(Fault) {
    let last = try database.first("SELECT line, link FROM event ORDER BY line DESC LIMIT 1")
    let row = EventRow.values((last?[0].integer ?? 0) + 1, payment, entry)
    let link = EventRow.link(of: row, after: last?[1].text)
    try insert("event", zip(row.columns.names, row.values) + [("link", .text(link))])
  }

  /// Adds a line about the journal itself, at a time in milliseconds since 1970.
  func addLine(_ note: String, at time: Int) throws(Fault) {
    try addLine(0, HistoryEntry(at: time, note: note, by: by.isEmpty ? nil : by))
  }

  /// Runs a transaction. A durable one is on the disk and marked when this returns.
  ///
  /// Throws `journal_newer` if another program has upgraded the file meanwhile.
  func commit<Result>(
    _ durability: Durability,
    _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    let setsSync = durability == .process && !sharesWork
    if setsSync { try database.execute("PRAGMA synchronous = NORMAL") }
    defer { if setsSync { try? database.execute("PRAGMA synchronous = \(ownSync)") } }
    let isDurable = durability == .power
    let (result, head) = try database.transaction(isDurable: isDurable) { () throws(Fault) in
      _ = try versionFound()
      let result = try body()
      return (result, isDurable && mark != nil ? try self.head() : nil)
    }
    if let head { mark?.raise(to: head) }
    return result
  }
}
