import TenderEngine
package import TenderModel
import TenderSystem

/// Upgrades files of older versions in one transaction.
extension SQLiteJournal {
  func migrate() throws(Fault) {
    try database.transaction { () throws(Fault) in
      let found = try number("PRAGMA user_version") ?? 0
      // Another process may have upgraded it first.
      guard found < Self.version else { return }
      if found < 7 {
        try takeOverAttempts(found)
      } else {
        for table in StoredTables.all { try addColumns(table.columns, to: table.name) }
      }
      try database.execute("PRAGMA user_version = \(Self.version)")
    }
  }

  /// Adds the columns that were added later and that a table lacks.
  package func addColumns(_ columns: Columns, to table: String) throws(Fault) {
    let known = try names(of: table)
    for name in columns.added where !known.contains(name) {
      let definition = Self.dialect.definition(name, columns)
      try database.execute("ALTER TABLE \(table) ADD COLUMN \(definition)")
    }
  }

  private func names(of table: String) throws(Fault) -> Set<String> {
    let found = try database.all("SELECT name FROM pragma_table_info(?)", [.text(table)])
    return Set(found.compactMap(\.[0].text))
  }

  /// Converts the attempts of versions 1 to 6 to payments.
  private func takeOverAttempts(_ found: Int) throws(Fault) {
    for index in ["id", "time", "status", "last_four", "amount"] {
      try database.execute("DROP INDEX IF EXISTS attempt_by_\(index)")
    }
    try database.execute(
      """
      DROP INDEX IF EXISTS history_of_attempt;
      DROP INDEX IF EXISTS history_by_who;
      DROP TABLE IF EXISTS term;
      ALTER TABLE attempt RENAME TO old_attempt;
      ALTER TABLE history RENAME TO old_history
      """
    )
    // Version 2 had no name and no chain.
    let hasChain = found > 2
    if hasChain { try database.execute("ALTER TABLE journal RENAME TO old_journal") }
    try database.execute(Self.tables + Self.sealing)
    if hasChain {
      try database.execute(
        """
        INSERT INTO journal (name, forgotten, loss, earlier_line, earlier_link)
          SELECT name, forgotten, loss, (SELECT max(line) FROM old_history),
            (SELECT link FROM old_history ORDER BY line DESC LIMIT 1) FROM old_journal;
        DROP TABLE old_journal
        """
      )
    } else {
      try database.execute(
        "INSERT INTO journal (name, forgotten) VALUES (lower(hex(randomblob(16))), 0)"
      )
    }
    try takeOverPayments()
    try takeOverHistory(hasChain: hasChain)
    try database.execute("DROP TABLE old_attempt; DROP TABLE old_history")
  }

  /// Returns a select list with the columns of an old version under the newest names.
  private func select(_ columns: [String], from table: String) throws(Fault) -> String {
    let there = try names(of: table)
    return columns.map { name in
      // Version 1 distinguished only tokens (1) and payments (0), with the numbers of `Payment.Kind`.
      let known = name == "kind" && there.contains("token") ? "token" : name
      return there.contains(known) ? "a.\(known)" : "NULL"
    }
    .joined(separator: ", ")
  }

  /// The columns of an old attempt, with its row, checksum and preparation.
  private static let old = LegacyAttempt.columns.with(
    first: [("row", .number)],
    last: [("sum", .text), ("preparation", .text)]
  )

  /// Writes the attempts of each reference as one payment.
  private func takeOverPayments() throws(Fault) {
    let columns = ["row"] + LegacyAttempt.columns.names + ["sum"]
    let list = try select(columns, from: "old_attempt")
    var payment: Payment?
    var damaged: String?
    var next = (try number("SELECT max(row) FROM old_attempt") ?? 0) + 1
    try rows(
      Self.old,
      """
      SELECT \(sql: list), x.text FROM old_attempt a LEFT JOIN preparation x ON x.row = a.row
      ORDER BY a.reference, a.provider, a.env, a.number
      """
    ) { row throws(Fault) in
      let preparation = row.text("preparation")
      let values = row.only(LegacyAttempt.columns)
      // The preparation's content shows to which operation it belongs.
      let plain =
        try preparation.flatMap { text throws(Fault) in try keys.open(text) } ?? preparation
      guard var made = LegacyAttempt(values, preparation: plain)?.payment else {
        throw .damagedRow(row.text("reference") ?? "")
      }
      for operation in made.operations {
        // The row number of the attempt does not change, so its preparation stays with it.
        let own = operation.isAttempt ? row.number("row") ?? 0 : next
        if !operation.isAttempt { next += 1 }
        try made.change(operation.sequence) { $0.row = own }
      }
      made.row = row.number("row") ?? 0
      let isDamaged =
        row.text("sum").map { $0 != LegacyAttempt.sum(values, preparation: preparation) } ?? false
      if let before = payment, before.key == made.key, let merged = before.merged(with: made) {
        payment = merged
        payment?.version = made.version
      } else {
        if let payment { try write(payment, as: damaged) }
        (payment, damaged) = (made, nil)
      }
      if isDamaged { damaged = "damaged" }
      return true
    }
    if let payment { try write(payment, as: damaged) }
  }

  /// Writes a converted payment. `sum` is an invalid checksum for one that was damaged.
  private func write(_ payment: Payment, as sum: String?) throws(Fault) {
    var sums: [String] = []
    for operation in payment.operations {
      let text =
        try operation.preparation == nil ? nil : movePreparation(to: operation, of: payment)
      let values = OperationRow.values(operation)
      sums.append(values.sum([text]))
      try insert(
        .operation,
        values,
        sums[sums.count - 1],
        of: payment.row,
        row: operation.row
      )
    }
    let values = PaymentRow.values(payment)
    try insert(
      .payment,
      values,
      sum ?? values.sum(sums),
      row: payment.row
    )
    if let seen = ObservationRow.all(of: payment) { try insert(seen, of: payment.row) }
    try index(SearchTerm.all(of: payment), payment.row, payment.createdAt)
  }

  /// Moves an attempt's stored preparation to the operation that needs it. Returns its text, which may be
  /// sealed.
  private func movePreparation(
    to operation: Operation,
    of payment: Payment
  ) throws(Fault) -> String? {
    let attempt = payment.operations.last { $0.isAttempt && $0.sequence <= operation.sequence }
    let row = Database.Value.integer(attempt?.row ?? 0)
    let text = try database.first("SELECT text FROM preparation WHERE row = ?", [row])?.first?.text
    if operation.row != attempt?.row {
      try database.query(
        "UPDATE preparation SET row = ? WHERE row = ?",
        [.integer(operation.row), row]
      )
    }
    return text
  }

  /// Writes the lines of the history again, each for its attempt.
  private func takeOverHistory(hasChain: Bool) throws(Fault) {
    let more = ["payment", "kind", "number", "amount", "sum"]
    let columns = LegacyAttempt.lineColumns.with(last: more.map { ($0, .text) })
    var link: String?
    var line = 0
    let list = try select(LegacyAttempt.lineColumns.names, from: "old_history")
    let order = hasChain ? "a.line" : "a.at, a.attempt, a.number"
    try rows(
      columns,
      """
      SELECT \(sql: list), o.payment, o.kind, o.number, coalesce(o.approved, o.amount), p.sum
      FROM old_history a LEFT JOIN operation o ON o.row = a.attempt
      LEFT JOIN payment p ON p.row = o.payment ORDER BY \(sql: order)
      """
    ) { row throws(Fault) in
      line = row.number("line") ?? line + 1
      let operation = row.text("kind").map { "\($0) \(row.number("number") ?? 1)" } ?? ""
      let entry = LegacyAttempt.entry(of: operation, row.number("amount"), row)
      let payment = row.number("payment") ?? row.number("attempt") ?? 0
      link = try append(EventRow.values(line, payment, entry, row.text("sum")), after: link)
      return true
    }
  }
}
