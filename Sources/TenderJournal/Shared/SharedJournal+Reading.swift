package import TenderEngine
package import TenderModel
package import TenderSystem

/// Reads one payment, the payment of a reference, and many in pages.
extension SharedJournal {
  /// The server's dialect.
  package static var dialect: Dialect { .postgres }

  /// Selects payments. For look-ups alone there is no right to read preparations.
  static func selection(isReading: Bool) -> Selection {
    // The last column of a payment tells whether another record may have one of its ids. It is true unless asked.
    Selection(
      dialect.schema,
      payment: [
        ("sum", .text, "a.sum"), ("by", .text, "a.by"), ("machine", .text, "a.machine"),
        ("shares", .number, "a.shares"),
      ],
      operation: [
        (
          "age", .number,
          "floor(extract(epoch FROM clock_timestamp() - o.written) * 1000)::bigint"
        )
      ],
      preparation: isReading ? nil : "x.payment = o.payment AND x.sequence = o.sequence"
    )
  }

  package func each(
    _ statement: Statement,
    _ body: ([Database.Value]) -> Bool
  ) throws(Fault) {
    for row in try query([statement])[0] { guard body(row) else { return } }
  }

  package func payment(_ key: ReferenceKey) throws(Fault) -> Payment? {
    if let fresh, fresh.key == key {
      self.fresh = nil
      return fresh.payment
    }
    return try remembered(query([select(key)])[0])
  }

  package func payment(row: Int) throws(Fault) -> Payment? {
    try selection.stored(rows(select("b.row = \(row)"))).first.map { found throws(Fault) in
      try shown(found)
    }
  }

  /// Selects the payment of a reference, and whether another record may have one of its ids.
  func select(_ key: ReferenceKey) -> Statement {
    select(
      "\("b", has: key)",
      shares: """
        EXISTS (
          SELECT 1 FROM tender.operation o JOIN tender.operation q
          ON q.id = o.id AND q.payment <> o.payment WHERE o.payment = b.row
        )::int
        """
    )
  }

  /// Selects payments `b` that pass a test, or end a statement in another way.
  func select(_ test: Statement, shares: Statement = "1") -> Statement {
    selection.from("(SELECT b.*, \(shares) AS shares FROM tender.payment b WHERE \(test))")
  }

  /// Returns a payment of `select` as it is now.
  func shown(_ found: Stored) throws(Fault) -> Payment {
    let stored = try read(found)
    let moment = clock.moment
    if stored.updatedAt > seen?.time ?? 0, let write = found.row.text("sum") {
      seen = position(of: stored, write)
    }
    var payment = stored.with(
      stored.operations.map { operation in
        guard let sent = operation.state.sent, let made = sent.moment, made.boot != moment.boot,
          let age = found[operation.sequence]?.row.number("age")
        else { return operation }
        // Another machine's clock is not used: the age is by the server's clock.
        let milliseconds = max(0, moment.milliseconds - max(0, age))
        let written = Moment(boot: moment.boot, milliseconds: milliseconds)
        var operation = operation
        operation.state = .sent(at: sent.at, moment: written)
        return operation
      }
    )
    payment.writer = found.row.text("by")
    payment.mayShareIDs = found.row.number("shares") == 1
    payment.isElsewhere = found.row.text("machine").map { $0 != station } ?? false
    return payment
  }

  /// Returns the payment of `select` that will be written again, and remembers the database's state.
  func remembered(_ rows: Rows) throws(Fault) -> Payment? {
    guard let found = selection.stored(rows).first else { return nil }
    let stored = try PaymentRow.whole(found.payment(), found.row)
    known[stored.row] = found
    return try shown(found)
  }

  // MARK: Pages

  /// The sizes of pages. The first is small, because most readers want only the newest payments.
  private static let pages = (first: 60, further: 1000)

  /// Each page is a separate statement, so that nothing stays open in between.
  package func each(_ filter: PaymentFilter, _ body: (Payment) -> Bool) throws(Fault) {
    let search = Self.search(filter).statement
    var place: Statement = "true"
    var size = Self.pages.first
    defer { raiseMarkToSeen() }
    while true {
      let page: Statement = """
        b.row IN (
          SELECT row FROM (\(search)) found WHERE \(place)\(Search.order) LIMIT \(sql: size)
        )
        """
      let found = try selection.stored(
        rows("\(select(page)) ORDER BY a.created DESC, a.row DESC")
      )
      for stored in found {
        let payment = try shown(stored)
        place = "(created, row) < (\(payment.createdAt), \(payment.row))"
        guard !filter.lets(payment) || body(payment) else { return }
      }
      guard found.count == size else { return }
      size = Self.pages.further
    }
  }

  /// The text is the whole name, the machine, or the part before or after the slash. The server's user is
  /// before the slash. There are few names, so each is looked up in the index. No line is compared with a
  /// pattern.
  package static func writer(_ by: String) -> Statement {
    """
    h.by = ANY (ARRAY(
      WITH RECURSIVE name (by) AS (
        SELECT min(by) FROM tender.event UNION ALL
        SELECT (SELECT min(f.by) FROM tender.event f WHERE f.by > n.by)
        FROM name n WHERE n.by IS NOT NULL
      ) SELECT n.by FROM name n WHERE n.by = \(by) OR \(dialect.matches("n.by", ["", "@" + by]))
        OR \(dialect.matches("n.by", ["", "/" + by])) OR \(dialect.matches("n.by", [by + "/", ""]))))
    """
  }

  package func fingerprintKey() throws(Fault) -> (name: String, bytes: [UInt8])? {
    settings.key.map { ($0.name, $0.fingerprints) }
  }
}
