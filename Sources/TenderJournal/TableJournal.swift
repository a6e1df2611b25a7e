package import TenderEngine
package import TenderModel
import TenderSystem

/// A journal in SQL tables. Both kinds have the same tables and rules. They differ in how a write is made, and in how
/// they search.
package protocol TableJournal: Journal {
  /// The text before the name of a table.
  static var schema: String { get }
  var redactor: Redactor { get }
  /// The writer in the history: `USER@MACHINE`.
  var by: String { get }
  /// Whether requests go elsewhere than to the simulator in this process.
  var isOutside: Bool { get }

  /// Returns the rows of a statement with few results.
  func rows(_ statement: Statement) throws(Fault) -> Rows
  /// Returns the payment in a row.
  func payment(row: Int) throws(Fault) -> Payment?
  /// Returns the tests of a filter on columns of payments `a`. Each begins with ` AND`.
  func tests(_ filter: PaymentFilter) -> Statement
  /// Returns the rows of payments that `prune` may delete.
  func prunableRows(before time: Int, _ filter: PaymentFilter) -> Statement
  /// Selects rows of a table, given as JSON by the names of their columns, as `r`.
  func records(_ rows: [JSONObject], of table: String, _ columns: [String]) -> Statement
  /// The key that seals preparations; nil if it is not on this machine.
  var key: JournalKey? { get }
}

extension TableJournal {
  func number(_ statement: Statement) throws(Fault) -> Int? {
    try rows(statement).first?.first?.integer
  }

  package func oldest() throws(Fault) -> Int? {
    try number("SELECT min(created) FROM \(sql: Self.schema)payment")
  }

  package func history(of payment: Payment) throws(Fault) -> [HistoryEntry] {
    let list = EventRow.columns.names.list()
    return try rows(
      "SELECT \(sql: list) FROM \(sql: Self.schema)event WHERE payment = \(payment.row) ORDER BY line"
    )
    .compactMap { Row(EventRow.columns, read: $0).map(EventRow.entry) }
  }

  package func count(_ filter: PaymentFilter, upTo limit: Int) throws(Fault) -> Int {
    let source: Statement
    if filter.isOfOneTerm, case .exactly(let term)? = filter.query {
      source = "term WHERE text = \(term)"
    } else {
      guard filter.isOfColumns else { return try counted(filter, upTo: limit) }
      source = "payment a WHERE true\(tests(filter))"
    }
    return try number(
      "SELECT count(*) FROM (SELECT 1 FROM \(sql: Self.schema)\(source) LIMIT \(limit)) counted"
    ) ?? 0
  }

  package func prunable(before time: Int, _ filter: PaymentFilter) throws(Fault) -> Int {
    try number("SELECT count(*) FROM (\(prunableRows(before: time, filter))) going") ?? 0
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
        redactor.sharedID(row[0].text, row[1].integer)
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
    """
    \(records(write.claims.rows, of: "claim", Write.Claims.columns))
    JOIN \(sql: Self.schema)claim c USING (id, thing, provider, env, merchant)
    WHERE c.id IN (\(each: write.claims.new))
    AND (c.payment, c.sequence) <> (\(write.payment.row), r.sequence)
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
    over before: Known?
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
