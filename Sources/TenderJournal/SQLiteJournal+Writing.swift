package import TenderEngine
package import TenderModel
import TenderSystem

/// Writes payments: versioned, with checksums, chained, and marked outside of the folder.
extension SQLiteJournal {
  package func open(
    _ payment: Payment,
    _ terms: OpeningTerms,
    _ durability: Durability
  ) throws(Fault) -> Payment {
    try checkWhole()
    var opened = payment
    opened.version += 1
    let written = try commit(durability) { () throws(Fault) in
      try checkElsewhere(opened, terms)
      if opened.row == 0, try isPruned(opened.key) { throw .referencePruned(opened.reference) }
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
    if durability == .power || payment[sequence]?.isUnknown == true { try checkPlace() }
    var next = payment
    next.version += 1
    let written = try commit(durability) { () throws(Fault) in
      try write(next, sequence, note)
    }
    finish(written, &next)
    payment = next
  }

  struct Written {
    /// The row of the payment, and the rows of new operations by sequence.
    var payment = 0
    var rows: [(sequence: Int, row: Int)] = []
    /// Secrets that must be erased from the files.
    var gone: [String] = []
    /// The new version and its search terms.
    var version = 0
    var terms: Set<String> = []
  }

  /// Updates a payment after a commit.
  func finish(_ written: Written, _ payment: inout Payment) {
    payment.settled(rows: written.rows)
    indexed = Indexed(row: written.payment, version: written.version, terms: written.terms)
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

  /// Throws if another operation with the same provider, env and merchant has a new operation's key.
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

  /// Writes a payment over the version before it, with its changed operations, its observations and a line of
  /// the history.
  ///
  /// `lines` are those of another journal, from which the payment is imported.
  func write(
    _ payment: Payment,
    _ sequence: Int,
    _ note: String,
    lines: [HistoryEntry]? = nil
  ) throws(Fault) -> Written {
    var written = Written(payment: payment.row)
    let before = try found(payment, over: payment.version - 1)
    let redacted = payment.redacted(by: redactor)
    var drafts: [Draft] = []
    let known = Set(payment.operations.map(\.row))
    let stored = (before?.operations ?? []).map { ($0.number("row") ?? 0, $0) }
    let rows = Dictionary(stored) { first, _ in first }
    for operation in redacted.operations {
      var own = rows[operation.row]
      if own == nil, operation.row == 0 {
        // A waiting outcome of an earlier version may be of an operation without a row.
        own =
          stored.first { row, values in
            values.number("sequence") == operation.sequence && !known.contains(row)
          }?.1
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
    for (operation, draft) in zip(redacted.operations, drafts) where draft.values != nil {
      try claim(operation, over: draft.before?.text("id"), redacted, written.payment)
    }
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
    // Another process may write the same payment.
    return try commit(.power) { () throws(Fault) in
      var taken = payment
      (taken.row, taken.version) = (0, max(1, payment.version))
      if let there = try self.payment(payment.key) {
        guard let merged = there.merged(with: payment) else { throw .taken(payment, over: there) }
        guard !PaymentRow.isSame(merged, there) else { return false }
        taken = merged
        taken.version = there.version + 1
      }
      let note = HistoryEntry(taken, taken.attempt?.sequence ?? 0, note: "taken over", by: nil)
      let written = try write(taken, 0, "", lines: history.isEmpty ? [note] : history)
      try database.query("DELETE FROM observation WHERE payment = ?", [.integer(written.payment)])
      if let seen = ObservationRow.all(of: taken) { try insert(seen, of: written.payment) }
      return true
    }
  }

  private typealias Found = (row: Row, operations: [Row])

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

  /// Records that the thing of an operation belongs to the payment in a row. Throws `conflict` (`id_held`) if
  /// the id is new here, and another record or refund has it.
  private func claim(
    _ operation: Operation,
    over before: String?,
    _ payment: Payment,
    _ row: Int
  ) throws(Fault) {
    guard payment.env != .simulator || isOutside else { return }
    if operation.id == nil, let before {
      return try database.query(
        "DELETE FROM claim WHERE id = ? AND payment = ? AND sequence = ?",
        [.text(before), .integer(row), .integer(operation.claimedSequence)]
      )
    }
    guard let id = operation.id, let thing = operation.thing else { return }
    let place = [id, thing.rawValue, payment.provider.text, payment.env.rawValue, payment.merchant]
      .map(Database.Value.text)
    let own: [Database.Value] = [
      .integer(row), .integer(operation.claimedSequence),
    ]
    let holder = try database.first(
      "SELECT payment, sequence FROM claim WHERE id = ? AND thing = ? AND provider = ? AND env = ? AND merchant = ?",
      place
    )
    guard let holder else {
      return try database.query("INSERT INTO claim VALUES (?, ?, ?, ?, ?, ?, ?)", place + own)
    }
    guard holder != own, before != id else { return }
    if holder[0] == .integer(row), let other = holder[1].integer, other > 0,
      payment[other]?.id != id
    {
      // The same write takes the id from another refund of the payment.
      return try database.query(
        "UPDATE claim SET sequence = ? WHERE id = ? AND payment = ? AND thing = ?",
        [.integer(operation.claimedSequence), .text(id), .integer(row), .text(thing.rawValue)]
      )
    }
    let other = try self.row("p.row = \(holder[0].integer ?? 0)")?.text("reference")
    throw .idHeld(id, by: Reference(stored: other ?? ""), not: payment.reference)
  }

  private struct Draft {
    let sequence: Int
    /// The stored row.
    let before: Row?
    var sum: String
    /// The new values; nil if nothing changed.
    var values: Row?
    /// The new text of its preparation, if it changed.
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

  /// Returns the text to store for a preparation in place of another.
  private func preparation(
    _ preparation: Operation.Preparation?,
    over stored: String?,
    _ written: inout Written
  ) throws(Fault) -> String? {
    let before = stored.map(Operation.Preparation.init(stored:))
    if let preparation, let before, try opened(before) == preparation { return stored }
    if let secret = before?.secret {
      try burn(secret)
      // If the mark file cannot be created, only the erasure after the commit is left.
      if !SealingKeys.isSealed(secret) { try? PlainFile.touch(unfinished) }
      written.gone.append(secret)
    }
    return try preparation.map { made throws(Fault) in try sealed(made) }
  }

  private func write(_ draft: Draft, _ written: inout Written) throws(Fault) {
    guard let values = draft.values else { return }
    let row: Int
    if let before = draft.before {
      row = before.number("row") ?? 0
      // Only changed columns are set, because each indexed column that is set writes pages.
      try update(.operation, row, values.changes(from: before), draft.sum)
    } else {
      row = try insert(.operation, values, draft.sum, of: written.payment)
      written.rows.append((draft.sequence, row))
    }
    guard let text = draft.preparation else { return }
    try store(text, of: row)
  }

  /// Makes a deleted secret unreadable: destroys its key, or erases its bytes if it was not sealed.
  func forget(_ secret: String) {
    guard !SealingKeys.isSealed(secret) else { return keys.destroy(of: secret) }
    // Another process may have finished its erasure meanwhile.
    try? PlainFile.touch(unfinished)
    mustEraseLater = true
    // The state is already written. It does not fail if a reader delays the erasure of old bytes.
    if !sharesWork { try? finishErasing() }
  }

  /// Replaces the search terms of a payment.
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

  /// Returns the search terms of a stored payment. They are cached for the payment written last.
  private func terms(of found: Found) throws(Fault) -> Set<String> {
    if let indexed, indexed.row == found.row.number("row"),
      indexed.version == found.row.number("version")
    {
      return indexed.terms
    }
    return SearchTerm.all(of: try PaymentRow.payment(found.row, found.operations))
  }

  func index(_ terms: Set<String>, _ payment: Int, _ created: Int) throws(Fault) {
    for term in terms.sorted() {
      try database.query(
        "INSERT OR IGNORE INTO term (text, created, payment) VALUES (?, ?, ?)",
        [.text(term), .integer(created), .integer(payment)]
      )
    }
  }

  func forget(_ terms: Set<String>, _ payment: Int, _ created: Int) throws(Fault) {
    for term in terms.sorted() {
      try database.query(
        "DELETE FROM term WHERE text = ? AND created = ? AND payment = ?",
        [.text(term), .integer(created), .integer(payment)]
      )
    }
  }

  /// Runs a transaction. A durable one is on the disk and marked when this returns.
  func commit<Result>(
    _ durability: Durability,
    _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    let setsSync = durability == .process && !sharesWork
    if setsSync { try database.execute("PRAGMA synchronous = NORMAL") }
    defer { if setsSync { try? database.execute("PRAGMA synchronous = \(ownSync)") } }
    let isDurable = durability == .power
    let (result, head) = try database.transaction(isDurable: isDurable) { () throws(Fault) in
      let result = try body()
      return (result, isDurable && mark != nil ? try self.head() : nil)
    }
    if let head { mark?.raise(to: head) }
    return result
  }
}

extension Fault {
  /// An imported payment's place belongs to another payment.
  package static func taken(_ payment: Payment, over there: Payment) -> Fault {
    let difference =
      there.currency != payment.currency
      ? "in another currency"
      : there.merchant != payment.merchant ? "of another merchant" : "with other content"
    return .conflict(
      "import_conflict",
      "\(payment.reference.quotedForMessage) (\(payment.provider.text), \(payment.env.rawValue)) is in the "
        + "journal \(difference)",
      "nothing was changed; compare: tender journal show \(payment.shellReference)"
    )
  }

  /// Another process wrote the payment after it was read.
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
