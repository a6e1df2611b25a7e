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
    if durability != .process || payment[sequence]?.isUnknown == true { try checkPlace() }
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
    last = (row, made.stored())
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
  private func known(_ payment: Payment) throws(Fault) -> Stored? {
    guard payment.row > 0 else { return nil }
    if let last, last.row == payment.row, last.stored.row.number("version") == payment.version {
      let place: Statement = "a.row = \(payment.row) AND \("a", has: payment.key)"
      let version = try number("SELECT a.version FROM payment a WHERE \(place)")
      if version == payment.version { return last.stored }
    }
    guard let stored = try stored(payment.row) else {
      throw .changedMeanwhile(
        "the journal has no payment at \(payment.reference.quotedForMessage) any more"
      )
    }
    guard stored.row.number("version") == payment.version else {
      throw .changed(payment.reference)
    }
    return stored
  }

  /// Makes a write in the open transaction. Returns the payment's row.
  private func perform(_ write: Write) throws(Fault) -> Int {
    if let refusal = try refusal(of: write) { throw refusal }
    var row = write.payment.row
    if let before = write.before {
      if let settings = write.values.settings(from: before.row) {
        try run("UPDATE payment SET \(settings) WHERE row = \(row)")
      }
    } else {
      try insert("payment", write.values)
      row = database.lastRow
    }
    for change in changes(write, "\(row)") {
      switch change {
      case .insert(let table, let rows, let conflict):
        for values in rows { try insert(table, values, of: row, conflict) }
      case .run(let statement): try run(statement)
      }
    }
    for line in write.lines { try addLine(row, line) }
    return row
  }

  package func preparations(_ write: Write, _ row: Statement) -> [Change] {
    func operation(_ sequence: Int) -> Statement {
      "FROM operation WHERE payment = \(row) AND sequence = \(sequence)"
    }
    return write.unprepared.map { sequence in
      .run("DELETE FROM preparation WHERE row = (SELECT row \(operation(sequence)))")
    }
      + write.prepared.map { sequence, text in
        .run(
          """
          INSERT INTO preparation (row, text) SELECT row, \(text) \(operation(sequence))
          ON CONFLICT (row) DO UPDATE SET text = excluded.text
          """
        )
      }
  }

  /// Adds a row, of a payment or not.
  private func insert(
    _ table: String,
    _ values: Row,
    of payment: Int? = nil,
    _ conflict: Statement = ""
  ) throws(Fault) {
    let (column, mark) = payment == nil ? ("", "") : ("payment, ", "?, ")
    let owner: [Database.Value] = payment.map { [.integer($0)] } ?? []
    let names = values.columns.names
    let marks = "?" + String(repeating: ", ?", count: names.count - 1)
    try database.query(
      """
      INSERT INTO \(table) (\(column)\(names.joined(separator: ", "))) VALUES (\(mark)\(marks))\
      \(conflict.sql)
      """,
      owner + values.values + conflict.values
    )
  }

  /// Adds a line to the history, chained to the one before. Payment 0 is the journal itself.
  private func addLine(_ payment: Int, _ entry: HistoryEntry) throws(Fault) {
    let last = try database.first("SELECT line, link FROM event ORDER BY line DESC LIMIT 1")
    let row = EventRow.values((last?[0].integer ?? 0) + 1, payment, entry)
    let link = EventRow.link(of: row, after: last?[1].text)
    try insert("event", Row(EventRow.linked, row.values + [.text(link)]))
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
    let isDurable = durability != .process
    let setsSync = !isDurable && !sharesWork
    if setsSync { try database.execute("PRAGMA synchronous = NORMAL") }
    defer { if setsSync { try? database.execute("PRAGMA synchronous = \(ownSync)") } }
    let (result, head) = try database.transaction(isDurable: isDurable) { () throws(Fault) in
      _ = try versionFound()
      let result = try body()
      return (result, isDurable && mark != nil ? try self.head() : nil)
    }
    if let head { mark?.raise(to: head) }
    return result
  }
}
