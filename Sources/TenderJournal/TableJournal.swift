package import TenderEngine
package import TenderModel
package import TenderSystem

/// A journal in SQL tables. Both kinds have the same tables, rules and searches. They differ in how a write is made,
/// and in how many payments are read at once.
package protocol TableJournal: Journal {
  static var dialect: Dialect { get }
  var redactor: Redactor { get }
  /// The writer in the history: `USER@MACHINE`.
  var by: String { get }
  /// Whether requests go elsewhere than to the simulator in this process.
  var isOutside: Bool { get }
  /// The key that seals preparations; nil if it is not on this machine.
  var key: JournalKey? { get }

  /// Passes the rows of a statement to `body`, until it returns false.
  func each(_ statement: Statement, _ body: ([Database.Value]) -> Bool) throws(Fault)
  /// Returns the payment in a row.
  func payment(row: Int) throws(Fault) -> Payment?
  /// Returns the test that a user or a machine wrote a line `h` of the history.
  static func writer(_ by: String) -> Statement
  /// Returns the key of fingerprints, and its name; nil if it is not on this machine.
  func fingerprintKey() throws(Fault) -> (name: String, bytes: [UInt8])?
  /// Returns the changes of the stored preparations of a payment, whose number is `row`.
  func preparations(_ write: Write, _ row: Statement) -> [Change]
}

extension TableJournal {
  /// Returns the rows of a statement with few results.
  func rows(_ statement: Statement) throws(Fault) -> Rows {
    var rows: Rows = []
    try each(statement) { row in
      rows.append(row)
      return true
    }
    return rows
  }

  func number(_ statement: Statement) throws(Fault) -> Int? {
    try rows(statement).first?.first?.integer
  }

  package func extent() throws(Fault) -> (attempts: Int, oldest: Int?) {
    let row = try rows(
      """
      SELECT (\(sql: Self.dialect.attempts)), (SELECT min(created) FROM \(sql: Self.schema)payment)
      """
    )[0]
    return (row[0].integer ?? 0, row[1].integer)
  }

  package func history(of payment: Payment) throws(Fault) -> [HistoryEntry] {
    let list = EventRow.columns.names.list()
    return try rows(
      "SELECT \(sql: list) FROM \(sql: Self.schema)event WHERE payment = \(payment.row) ORDER BY line"
    )
    .compactMap { Row(EventRow.columns, read: $0).map(EventRow.entry) }
  }

  package func fingerprints(
    of content: JSONObject,
    instrument: String?
  ) throws(Fault) -> JSONObject {
    let text = instrument.map { Self.dialect.printsJSON ? JSON.string($0).canonicalText : $0 }
    return try content.fingerprints(text, redactor) { () throws(Fault) in
      guard let key = try fingerprintKey() else { throw .noFingerprints }
      return key
    }
  }

  /// Returns the keyed hash of a reference, in any form of its letters; nil without the key.
  func print(of key: ReferenceKey) throws(Fault) -> String? {
    let reference = Reference.composed(key.reference.text)
    let texts = [key.env.rawValue, key.provider.text, reference]
    return try fingerprintKey().map { Checksum.of(texts.map(Database.Value.text), key: $0.bytes) }
  }

  package func isPruned(_ key: ReferenceKey) throws(Fault) -> Bool {
    // Most journals have none, and then no hash is needed.
    guard try number("SELECT 1 FROM \(sql: Self.schema)pruned LIMIT 1") != nil,
      let print = try print(of: key)
    else { return false }
    let found: Statement = "\(sql: Self.schema)pruned d WHERE d.print = \(print)"
    return try number("SELECT 1 FROM \(found)") != nil
  }

  /// Returns rows that belong to a missing payment, and ids that several records have, as problems.
  func strayRows() throws(Fault) -> [String] {
    var problems: [String] = []
    for (table, things) in [
      ("event", "the history"), ("operation", "operations"), ("observation", "observations"),
    ] where problems.isEmpty {
      let count = try number(
        """
        SELECT count(DISTINCT h.payment) FROM \(sql: Self.schema)\(sql: table) h WHERE h.payment > 0
        AND NOT EXISTS (SELECT 1 FROM \(sql: Self.schema)payment a WHERE a.row = h.payment)
        """
      )
      if let count, count > 0 { problems.append("\(count) payments of \(things) are missing") }
    }
    return try problems
      + rows(StoredTables.sharedIDs(Self.schema)).map { row in
        let id = redactor.redact(row[0].text ?? "")
        return "\(id) is the id of \(row[1].integer ?? 0) records, which find shows; "
          + "journal resolve --as holder chooses one"
      }
  }

  /// The name of a stored payment in a problem.
  func name(_ row: Row) -> String {
    redactor.redact(row.text("reference") ?? "").quotedForMessage
  }

  // MARK: Preparations

  /// Returns a preparation as stored. One with a secret is sealed.
  ///
  /// Throws `state` if there is no key to seal it with. Nothing was sent then.
  func sealed(_ preparation: Operation.Preparation) throws(Fault) -> String {
    guard preparation.secret != nil else { return preparation.stored }
    guard let sealed = key?.seal(preparation.stored) else { throw .noKey }
    return sealed
  }

  /// Returns a preparation from its stored text; nil if its key is not on this machine.
  func opened(_ stored: String) -> Operation.Preparation? {
    if OldSeals.isSealed(stored) { return nil }
    guard JournalKey.isSealed(stored) else { return Operation.Preparation(stored: stored) }
    return key?.open(stored).map(Operation.Preparation.init(stored:))
  }

  /// Returns a payment as it is stored. Its reference and metadata may look like a card number: the operator said
  /// that they are none, so they are printed.
  func read(_ found: Stored) throws(Fault) -> Payment {
    let payment = try found.payment(opened)
    redactor.exempt(in: .string(payment.reference.text))
    for operation in payment.operations {
      if let metadata = operation.content["metadata"] { redactor.exempt(in: metadata) }
    }
    return payment
  }

  // MARK: Conditions on other payments

  /// Returns why a write is refused, because of other payments; nil if it is not.
  func refusal(of write: Write) throws(Fault) -> Fault? {
    if write.opening != nil {
      if let row = try number("SELECT b.row FROM \(elsewhere(write))"),
        let other = try payment(row: row)
      {
        return .referenceElsewhere(other, write.key.provider)
      }
      if write.payment.row == 0, try isPruned(write.key) {
        return .referencePruned(write.key.reference)
      }
    }
    if !write.keys.isEmpty,
      let row = try rows("SELECT b.reference, o.key FROM \(users(ofKeysOf: write))").first
    {
      return .keyReused(row[1].text ?? "", by: Reference(stored: row[0].text ?? ""))
    }
    if !write.claims.new.isEmpty,
      let row = try rows(
        """
        SELECT c.id, (SELECT b.reference FROM \(sql: Self.schema)payment b WHERE b.row = c.payment)
        FROM \(holders(write)) LIMIT 1
        """
      ).first
    {
      let holder = Reference(stored: row[1].text ?? "")
      let (env, provider) = (write.key.env, write.key.provider)
      let key = ReferenceKey(env: env, provider: provider, reference: holder)
      return .idHeld(row[0].text ?? "", by: key, not: write.key.reference)
    }
    return nil
  }

  /// Selects payments `b` at another provider that forbid a new one with the same reference.
  func elsewhere(_ write: Write) -> Statement {
    let isNamed = write.opening?.namesProvider ?? false
    let statuses = [false, true].map { isUnknown in
      Status.allCases.filter { $0.blocksElsewhere(isUnknown: isUnknown, namesProvider: isNamed) }
        .map(\.rawValue)
    }
    return """
      \(sql: Self.schema)payment b WHERE b.reference = \(write.key.reference.text)
      AND b.env = \(write.key.env.rawValue) AND b.provider <> \(write.key.provider.text)
      AND (b.status IN (\(each: statuses[0])) OR b.is_unknown = 1 AND b.status IN (\(each: statuses[1])))
      """
  }

  /// Selects operations `o` of other payments `b` with an idempotency key of a write.
  func users(ofKeysOf write: Write) -> Statement {
    """
    \(sql: Self.schema)operation o JOIN \(sql: Self.schema)payment b ON b.row = o.payment
    WHERE o.key IN (\(each: write.keys)) AND b.env = \(write.key.env.rawValue)
    AND b.provider = \(write.key.provider.text) AND b.merchant = \(write.payment.merchant)
    AND b.row <> \(write.payment.row)
    """
  }

  /// Selects claims `c` of other records on new ids of a write.
  func holders(_ write: Write) -> Statement {
    let claims: [Statement] = write.claims.rows.map { row in
      """
      c.id = \(row.text("id") ?? "") AND c.thing = \(row.text("thing") ?? "")
      AND (c.payment, c.sequence) <> (\(write.payment.row), \(row.number("sequence") ?? 0))
      """
    }
    return """
      \(sql: Self.schema)claim c WHERE c.provider = \(write.key.provider.text)
      AND c.env = \(write.key.env.rawValue) AND c.merchant = \(write.payment.merchant)
      AND c.id IN (\(each: write.claims.new)) AND (\(claims, by: " OR "))
      """
  }

  // MARK: Import

  /// Returns an imported payment, merged with the one that has its place; nil if the journal has all of it.
  func merged(_ payment: Payment) throws(Fault) -> Payment? {
    var taken = payment
    (taken.row, taken.version) = (0, 0)
    if let there = try self.payment(payment.key) {
      guard let merged = there.merged(with: payment) else { throw .taken(payment, over: there) }
      guard !PaymentRow.isSame(merged, there) else { return nil }
      taken = merged
    }
    return taken
  }

  /// Returns the write of an imported payment, with its history.
  func write(
    importing payment: Payment,
    _ history: [HistoryEntry],
    over before: Stored?
  ) throws(Fault) -> Write {
    let note = HistoryEntry(
      payment,
      payment.operations.last?.sequence ?? 0,
      note: "taken over",
      by: nil
    )
    var write = try write(of: payment, over: before) { _ in history.isEmpty ? [note] : history }
    write.seen = ObservationRow.all(of: payment).map { [$0] } ?? []
    return write
  }
}

extension Fault {
  fileprivate static let noFingerprints = Fault.state(
    "journal_key",
    "this order holds values that are stored as fingerprints only. Their key is not here; "
      + "nothing was sent",
    "set TENDER_JOURNAL_KEY_FILE; see: tender help shared-journal"
  )

  /// A preparation cannot be sealed here.
  fileprivate static let noKey = Fault.state(
    "journal_key",
    "data that this payment needs later would be sealed under the journal's key. That key is not here; "
      + "nothing was sent",
    "set TENDER_JOURNAL_KEY_FILE; see: tender help shared-journal"
  )

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
      "nothing was changed"
    ).then(there.next(.show))
  }

  /// Another process wrote the payment after it was read.
  static func changed(_ reference: Reference) -> Fault {
    .changedMeanwhile("another command changed \(reference.quotedForMessage) meanwhile")
  }

  static func changedMeanwhile(_ why: String) -> Fault {
    Fault(
      .state,
      code: "journal_conflict",
      cause: .changedMeanwhile,
      why,
      hint: "run the same command again"
    )
  }
}
