package import TenderEngine
package import TenderModel
import TenderSystem

/// Every write: versioned, checksummed, chained, and marked outside of the folder.
extension SQLiteJournal {
  package func open(
    _ payment: Payment,
    _ terms: OpeningTerms,
    _ durability: Durability
  ) throws(Fault) -> Payment {
    try checkWhole()
    try makeRoom(for: payment.row)
    var opened = payment
    opened.version += 1
    let written = try commit(durability) { () throws(Fault) in
      try checkElsewhere(opened, terms)
      return try write(opened, opened.attempt?.sequence ?? 0, "opened")
    }
    opened.row = written.payment
    finish(written, &opened)
    return opened
  }

  package func update(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    _ durability: Durability
  ) throws(Fault) {
    try makeRoom(for: payment.row)
    let isSent = payment[sequence]?.isUnknown == true
    if isSent || durability == .power { try checkPlace() }
    if isSent { try aside.take(for: payment.row) }
    var next = payment
    next.version += 1
    let written = try commit(durability) { () throws(Fault) in
      try write(next, sequence, note)
    }
    if !isSent { aside.leave(payment.row) }
    finish(written, &next)
    payment = next
  }

  /// What a write came to.
  struct Written {
    /// The row of the payment, and those of new operations by sequence.
    var payment = 0
    var rows: [Int: Int] = [:]
    /// Secrets that must go from the files.
    var gone: [String] = []
    /// What finds the payment by its version now.
    var version = 0
    var terms: Set<String> = []
  }

  /// Takes in what was committed.
  func finish(_ written: Written, _ payment: inout Payment) {
    payment.settled(rows: written.rows)
    indexed = Indexed(row: written.payment, version: written.version, terms: written.terms)
    waiting[written.payment] = nil
    for secret in written.gone { forget(secret) }
  }

  private func checkElsewhere(_ payment: Payment, _ terms: OpeningTerms) throws(Fault) {
    let values = [payment.reference.text, payment.env.rawValue, payment.provider.text]
    let others = try database.all(
      "SELECT row FROM payment WHERE reference = ? AND env = ? AND provider <> ?",
      values.map(Database.Value.text)
    )
    for number in others.compactMap(\.[0].integer) {
      guard let row = try row("p.row = \(number)") else { continue }
      let other = try self.payment(row)
      if other.blocksElsewhere(namesProvider: terms.namesProvider) {
        throw .referenceElsewhere(other, payment.provider)
      }
    }
  }

  /// Throws where another operation at the same provider, env and merchant has the key of a new one.
  private func checkKey(of operation: Operation, _ payment: Payment) throws(Fault) {
    guard let key = operation.key else { return }
    let others: Statement = """
      \(OperationRow.select) JOIN payment p ON p.row = o.payment WHERE o.key = \(key)
      AND p.env = \(payment.env.rawValue) AND p.provider = \(payment.provider.text)
      AND p.merchant = \(payment.merchant)
      """
    for row in try all(OperationRow.stored, others) {
      let other = try OperationRow.operation(row)
      let isRepetition =
        row.number("payment") == payment.row && other.leavesKey(to: operation)
      guard !isRepetition else { continue }
      let owner = try self.row("p.row = \(row.number("payment") ?? 0)")
      throw .keyReused(key, by: Reference(stored: owner?.text("reference") ?? ""))
    }
  }

  /// Writes a payment over the version before its own, with the operations that changed, its observations and
  /// a line of the history.
  ///
  /// `lines` are those of another journal, from which it is taken over.
  func write(
    _ payment: Payment,
    _ sequence: Int,
    _ note: String,
    over version: Int? = nil,
    lines: [HistoryEntry]? = nil
  ) throws(Fault) -> Written {
    var written = Written(payment: payment.row)
    let before = try found(payment, over: version ?? payment.version - 1)
    let redacted = payment.redacted(by: redactor)
    var drafts: [Draft] = []
    let known = Set(payment.operations.map(\.row))
    for operation in redacted.operations {
      // One that was set aside before it had a row has one by now.
      let own = before?.operations.first {
        $0.number("row") == operation.row
          || operation.row == 0 && $0.number("sequence") == operation.sequence
            && !known.contains($0.number("row") ?? 0)
      }
      let isChanged = own == nil || payment.changed.contains(operation.sequence)
      if own == nil, lines == nil { try checkKey(of: operation, payment) }
      drafts.append(try draft(operation, over: own, isChanged: isChanged, &written))
    }
    let values = PaymentRow.values(redacted)
    let sum = values.sum(drafts.map(\.sum))
    if let before {
      try update(.payment, written.payment, values.changes(from: before.row), sum)
    } else {
      written.payment = try insert(.payment, values, sum)
    }
    for draft in drafts { try write(draft, &written) }
    for seen in payment.unwritten { try insert(seen, of: written.payment) }
    (written.version, written.terms) = (payment.version, SearchTerm.all(of: redacted))
    try index(written, redacted.createdAt, instead: before)
    if let lines {
      for (index, line) in lines.enumerated() {
        try addLine(written.payment, line, index == lines.count - 1 ? sum : nil)
      }
    } else {
      let line = HistoryEntry(redacted, sequence, note: note, by: by.isEmpty ? nil : by)
      try addLine(written.payment, line, sum)
    }
    return written
  }

  package func take(_ payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    try checkWhole()
    var taken = payment
    (taken.row, taken.version) = (0, max(1, payment.version))
    if let there = try self.payment(payment.key) {
      guard let merged = there.merged(with: payment) else { throw .taken(payment) }
      guard !PaymentRow.isSame(merged, there) else { return false }
      taken = merged
      taken.version = there.version + 1
      // Their places may be others now.
      for operation in merged.operations { try taken.change(operation.sequence) { _ in } }
    }
    let note = HistoryEntry(taken, taken.attempt?.sequence ?? 0, note: "taken over", by: nil)
    _ = try commit(.power) { () throws(Fault) in
      let written = try write(taken, 0, "", lines: history.isEmpty ? [note] : history)
      try database.query("DELETE FROM observation WHERE payment = ?", [.integer(written.payment)])
      if let seen = ObservationRow.all(of: taken) { try insert(seen, of: written.payment) }
      return written
    }
    return true
  }

  /// What the file has of a payment.
  private typealias Found = (row: Row, operations: [Row])

  /// What the file has of a payment; nil for a new one.
  private func found(_ payment: Payment, over version: Int) throws(Fault) -> Found? {
    guard payment.row > 0 else { return nil }
    guard let row = try row("p.row = \(payment.row)") else {
      throw .conflict(
        "the journal has no payment at \(payment.reference.quotedForMessage) any more"
      )
    }
    let operations = try operations(of: payment.row)
    try PaymentRow.check(row, operations)
    guard row.number("version") == version else {
      throw .changed(payment.reference)
    }
    return (row, operations)
  }

  /// An operation as it is to be written.
  private struct Draft {
    let sequence: Int
    /// What the file has of it.
    let before: Row?
    var sum: String
    /// What is to be written; nil where nothing changed.
    var values: Row?
    /// The text of its preparation, where that is another.
    var preparation: String??
  }

  private func draft(
    _ operation: Operation,
    over before: Row?,
    isChanged: Bool,
    _ written: inout Written
  ) throws(Fault) -> Draft {
    var draft = Draft(
      sequence: operation.sequence,
      before: before,
      sum: before?.text("sum") ?? ""
    )
    guard isChanged else { return draft }
    let values = OperationRow.values(operation)
    let stored = before?.text("preparation")
    let text = try preparation(operation.preparation, over: stored, &written)
    (draft.values, draft.sum) = (values, values.sum([text]))
    if text != stored { draft.preparation = .some(text) }
    return draft
  }

  /// The text that the file is to have of a preparation, in the place of another.
  private func preparation(
    _ preparation: Operation.Preparation?,
    over stored: String?,
    _ written: inout Written
  ) throws(Fault) -> String? {
    let before = stored.map(Operation.Preparation.init(stored:))
    if let preparation, let before, try opened(before) == preparation { return stored }
    if let secret = before?.secret {
      try burn(secret)
      // Where the mark cannot be made, the erasing after the commit is all there is.
      if !SealingKeys.isSealed(secret) { try? unfinished.make() }
      written.gone.append(secret)
    }
    return try preparation.map { made throws(Fault) in try sealed(made) }
  }

  private func write(_ draft: Draft, _ written: inout Written) throws(Fault) {
    guard let values = draft.values else { return }
    let row: Int
    if let before = draft.before {
      row = before.number("row") ?? 0
      // The columns that changed: an index costs pages for every column of its that is set.
      try update(.operation, row, values.changes(from: before), draft.sum)
    } else {
      row = try insert(.operation, values, draft.sum, of: written.payment)
      written.rows[draft.sequence] = row
    }
    guard let text = draft.preparation else { return }
    try store(text, of: row)
  }

  /// Makes a secret that was taken out unreadable: its key goes, or its bytes where it was not sealed.
  func forget(_ secret: String) {
    guard !SealingKeys.isSealed(secret) else { return keys.destroy(of: secret) }
    // Another process may have finished its own meanwhile.
    try? unfinished.make()
    mustEraseLater = true
    // The state is written by now: a reader that keeps the bytes of the old one from being erased does not
    // make it fail.
    if !sharesWork { try? finishErasing() }
  }

  /// Writes the terms by which a payment is found, instead of those that it had.
  private func index(
    _ written: Written,
    _ created: Int,
    instead before: Found?
  ) throws(Fault) {
    guard let before else { return try index(written.terms, written.payment, created) }
    let known = try terms(of: before)
    let isMoved = before.row.time("created") != created
    try forget(
      isMoved ? known : known.subtracting(written.terms),
      written.payment,
      before.row.time("created")
    )
    try index(isMoved ? written.terms : written.terms.subtracting(known), written.payment, created)
  }

  /// The terms of a payment as the file has it: they are known where this process wrote it last.
  private func terms(of found: Found) throws(Fault) -> Set<String> {
    if let indexed, indexed.row == found.row.number("row"),
      indexed.version == found.row.number("version")
    {
      return indexed.terms
    }
    return SearchTerm.all(of: try PaymentRow.payment(found.row, found.operations))
  }

  /// Adds terms of a payment.
  func index(_ terms: Set<String>, _ payment: Int, _ created: Int) throws(Fault) {
    for term in terms.sorted() {
      try database.query(
        "INSERT OR IGNORE INTO term (text, created, payment) VALUES (?, ?, ?)",
        [.text(term), .integer(created), .integer(payment)]
      )
    }
  }

  /// Takes out terms of a payment.
  func forget(_ terms: Set<String>, _ payment: Int, _ created: Int) throws(Fault) {
    for term in terms.sorted() {
      try database.query(
        "DELETE FROM term WHERE text = ? AND created = ? AND payment = ?",
        [.text(term), .integer(created), .integer(payment)]
      )
    }
  }

  /// Runs a transaction; what must survive the power is on the disk and marked when it returns.
  func commit<Result>(
    _ durability: Durability,
    _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    let setsSync = durability == .process && !sharesWork
    if setsSync { try database.execute("PRAGMA synchronous = NORMAL") }
    defer { if setsSync { try? database.execute("PRAGMA synchronous = \(ownSync)") } }
    let sharesSync = durability == .power && sharesWork
    let (result, head) = try database.transaction(sharesSync: sharesSync) { () throws(Fault) in
      let result = try body()
      return (result, durability == .power && mark != nil ? try self.head() : nil)
    }
    if let head { mark?.raise(to: head) }
    return result
  }
}

extension Fault {
  /// A payment of another journal whose place has another.
  package static func taken(_ payment: Payment) -> Fault {
    Fault(
      .conflict,
      code: "import_conflict",
      "\(payment.reference.quotedForMessage) (\(payment.provider.text), \(payment.env.rawValue)) is in the "
        + "journal with other content",
      hint: "nothing was changed; compare: tender journal show \(payment.reference)"
    )
  }

  /// Another has written a payment since it was read.
  static func changed(_ reference: Reference) -> Fault {
    .conflict("another command changed \(reference.quotedForMessage) meanwhile")
  }

  fileprivate static func conflict(_ why: String) -> Fault {
    Fault(
      .state,
      code: "journal_conflict",
      cause: .changedMeanwhile,
      why,
      hint: "run the same command again"
    )
  }
}
