import TenderEngine
import TenderModel
import TenderSystem

/// The statements of a write. All parts that depend on the fence are one statement with it.
///
/// Rows are passed as JSON by the names of their columns, however many there are.
extension SharedJournal {
  /// A write under a lease.
  struct LeasedWrite {
    let content: Write
    /// A name that no other write has. The payment and the last line of its history have it, in their columns `sum`.
    let name = Checksum.random()
    /// The keyed hash of the reference, if it is new.
    var print: String?
    /// The lease; nil for a write without a lock, which takes the reference for itself.
    var lease: Lease?
    /// The length of the lease from now on, in milliseconds; 0 releases it.
    var lends = 0

    init(_ content: Write) { self.content = content }

    var key: ReferenceKey { content.key }
  }

  /// Returns the statements that run before a write in its transaction: server locks, so that the second of
  /// two conflicting writes sees the first.
  ///
  /// They end with the transaction, during which a pooler uses one connection.
  func locks(for write: LeasedWrite) -> [Statement] {
    var names = write.content.keys.sorted().map {
      "key \(write.key.env.rawValue) \(write.key.provider.text) \($0)"
    }
    if write.content.opening != nil {
      names.insert("reference \(write.key.env.rawValue) \(write.key.reference.text)", at: 0)
    }
    guard !names.isEmpty else { return [] }
    return [
      """
      SELECT pg_advisory_xact_lock(hashtextextended(name, 28))
      FROM json_array_elements_text(\(json: names.map(JSON.string))) n (name)
      """
    ]
  }

  /// Writes a payment, and selects its row if it was written.
  func writing(_ write: LeasedWrite) -> Statement { writing(write, held: held(write)) }

  /// Writes the first attempt of a reference whose lease was just taken, if there is none.
  func opening(_ write: LeasedWrite, _ holder: String) -> Statement {
    writing(
      write,
      held: """
        SELECT 1 FROM tender.lease l WHERE \("l", has: write.key) AND l.holder = \(holder)
        AND NOT EXISTS (SELECT 1 FROM tender.payment a WHERE \("a", has: write.key))
        """
    )
  }

  private func writing(_ write: LeasedWrite, held: Statement) -> Statement {
    var parts: [Statement] = ["held AS (\(held))", "made AS (\(payment(write)))"]
    for change in changes(write.content, "(SELECT row FROM made)") + [lines(write)] {
      let statement: Statement
      switch change {
      case .insert(_, let rows, _) where rows.isEmpty: continue
      case .insert(let table, let rows, let conflict):
        let columns = rows[0].columns.names.filter { $0 != "payment" }
        // Without a condition, PostgreSQL would read `ON CONFLICT` as part of a join.
        statement = """
          INSERT INTO tender.\(sql: table) (payment, \(sql: columns.list()))
          SELECT made.row, \(sql: columns.list("r")) FROM made, \(records(rows, of: table))
          WHERE true\(conflict)
          """
      case .run(let run): statement = run
      }
      parts.append("part\(sql: parts.count) AS (\(statement))")
    }
    return "WITH \(parts, by: ", ") SELECT row FROM made"
  }

  /// Selects rows of a table, given as JSON by the names of their columns, as `r`.
  private func records(_ rows: [Row], of table: String) -> Statement {
    "json_populate_recordset(NULL::tender.\(sql: table), \(json: rows.map { .object($0.record) })) r"
  }

  /// Returns the part of a statement that selects a row only if this process holds the lease.
  private func held(_ write: LeasedWrite) -> Statement {
    if let lease = write.lease {
      return """
        UPDATE tender.lease l SET until = \(Self.until(write.lends))
        WHERE \("l", has: write.key)\(Self.fence(lease)) RETURNING 1
        """
    }
    return taking(
      write.key,
      holder: machine + "/alone",
      for: write.lends,
      where: "l.until <= clock_timestamp()"
    )
  }

  /// Returns a time some milliseconds from now, by the server's clock.
  static func until(_ time: Int) -> Statement {
    "clock_timestamp() + \(time) * interval '1 millisecond'"
  }

  /// Takes the lease of a reference for some milliseconds if a condition holds. Selects the fence.
  func taking(
    _ key: ReferenceKey,
    holder: String,
    for time: Int,
    where condition: Statement
  ) -> Statement {
    """
    INSERT INTO tender.lease AS l
      (env, provider, reference, holder, machine, by, fence, until)
    VALUES (\(key.env.rawValue), \(key.provider.text), \(key.reference.text), \(holder), \(machine),
      \(settings.by), 1, \(Self.until(time)))
    ON CONFLICT (reference, provider, env) DO UPDATE
    SET holder = excluded.holder, machine = excluded.machine, by = excluded.by,
      fence = l.fence + 1, until = excluded.until
    WHERE \(condition)
    RETURNING fence
    """
  }

  private func payment(_ write: LeasedWrite) -> Statement {
    let payment = write.content.payment
    let own = Row(Self.own, [.text(write.name), .text(settings.by), .text(station)])
    guard let before = write.content.before else {
      let columns = PaymentRow.columns.names.list()
      return """
        INSERT INTO tender.payment (\(sql: columns), \(sql: Self.own.names.list()))
        SELECT \(sql: PaymentRow.columns.names.list("r")), \(values: own)
        FROM held, \(records([write.content.values], of: "payment")) WHERE true\(guards(write)) RETURNING row
        """
    }
    let changes = [write.content.values, own].compactMap { $0.settings(from: before.row) }
    return """
      UPDATE tender.payment a SET \(changes, by: ", ") FROM held
      WHERE a.row = \(payment.row) AND a.reference = \(payment.reference.text)
      AND a.version = \(payment.version - write.content.lines.count)\(guards(write)) RETURNING a.row
      """
  }

  /// The columns of a payment besides the common ones. The name of the write is another one each time.
  private static let own = Columns([("sum", .text), ("by", .text), ("machine", .text)])

  /// Returns the conditions on other payments.
  private func guards(_ write: LeasedWrite) -> Statement {
    let content = write.content
    var guards: Statement = ""
    func forbid(_ rows: Statement) { guards += " AND NOT EXISTS (SELECT 1 FROM \(rows))" }
    if content.opening != nil { forbid(elsewhere(content)) }
    if let print = write.print { forbid("tender.pruned d WHERE d.print = \(print)") }
    if !content.keys.isEmpty { forbid(users(ofKeysOf: content)) }
    if !content.claims.new.isEmpty { forbid(holders(content)) }
    return guards
  }

  /// Returns the lines of the history. The last one has the name of the write.
  private func lines(_ write: LeasedWrite) -> Change {
    let lines = write.content.lines
    let first = write.content.payment.version - lines.count + 1
    return .insert(
      "event",
      lines.enumerated().map { index, line in
        let name = index == lines.count - 1 ? write.name : nil
        return EventRow.values(first + index, 0, line, write: name)
      }
    )
  }

  package func preparations(_ write: Write, _ row: Statement) -> [Change] {
    let columns = Columns([("sequence", .number), ("text", .text)])
    let rows = write.prepared.map { Row(columns, [.integer($0), .text($1)]) }
    return write.unprepared.map { sequence in
      .run(
        "DELETE FROM tender.preparation WHERE payment = \(row) AND sequence = \(sequence)"
      )
    } + [
      .insert(
        "preparation",
        rows,
        " ON CONFLICT (payment, sequence) DO UPDATE SET text = excluded.text"
      )
    ]
  }
}

extension Row {
  /// The row as JSON with the columns' values. Texts stay texts, without what PostgreSQL cannot store.
  fileprivate var record: JSONObject {
    JSONObject(
      zip(columns.names, values).filter { $1 != .null }.map { name, value in
        .init(key: name, value: value.text.map { .string($0.withoutNUL) } ?? value.json)
      }
    )
  }
}
