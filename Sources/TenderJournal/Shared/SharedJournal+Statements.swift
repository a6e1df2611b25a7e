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
    return ["SELECT pg_advisory_xact_lock(hashtextextended(n, 28)) FROM unnest(\(names)) n"]
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
    """
    WITH held AS (\(held)), made AS (\(payment(write)))\(operations(write))\(lines(write))\(terms(write))\
    \(preparations(write))\(claims(write)) SELECT row FROM made
    """
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
    var row = write.content.values.record
    row["sum"] = .string(write.name)
    row["by"] = .string(settings.by)
    row["machine"] = .string(station)
    let columns = PaymentRow.columns.names + ["sum", "by", "machine"]
    let rows = records([row], of: "payment", columns)
    let payment = write.content.payment
    if payment.row == 0 {
      return """
        INSERT INTO tender.payment (\(sql: columns.list())) SELECT \(sql: columns.list("r"))
        FROM held, \(rows) WHERE true\(guards(write)) RETURNING row
        """
    }
    return """
      UPDATE tender.payment a SET \(sql: columns.settings(from: "r")) FROM held, \(rows)
      WHERE a.row = \(payment.row) AND a.reference = r.reference
      AND a.version = \(payment.version - write.content.lines.count)\(guards(write)) RETURNING a.row
      """
  }

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

  /// Claims the ids of changed operations. Of two writes at once with one new id, the second fails, because a
  /// claim needs a payment.
  private func claims(_ write: LeasedWrite) -> Statement {
    var statement: Statement = ""
    let claims = write.content.claims
    if !claims.gone.isEmpty {
      statement += """
        , unclaimed AS (DELETE FROM tender.claim c USING made WHERE c.payment = made.row
          AND c.id = ANY (\(claims.gone)))
        """
    }
    guard !claims.rows.isEmpty else { return statement }
    let columns = Write.Claims.columns.list()
    statement += """
      , claimed AS (INSERT INTO tender.claim AS c (payment, \(sql: columns))
        SELECT made.row, \(sql: columns)
        FROM made, \(records(claims.rows, of: "claim", Write.Claims.columns)) WHERE true
        ON CONFLICT (id, thing, provider, env, merchant) DO UPDATE SET payment =
          CASE WHEN (c.payment, c.sequence) = (excluded.payment, excluded.sequence)
            OR c.id <> ALL (\(claims.new)) THEN c.payment END)
      """
    return statement
  }

  private func operations(_ write: LeasedWrite) -> Statement {
    let rows = write.content.operations.sorted { $0.key < $1.key }.map(\.value.record)
    return putting(
      rows,
      into: "operation",
      OperationRow.columns.names,
      """
       ON CONFLICT (payment, sequence)
      DO UPDATE SET \(sql: OperationRow.columns.names.settings(from: "excluded")), written = clock_timestamp()
      """
    )
  }

  private func lines(_ write: LeasedWrite) -> Statement {
    let lines = write.content.lines
    let first = write.content.payment.version - lines.count + 1
    let rows = lines.enumerated().map { index, line in
      let name = index == lines.count - 1 ? write.name : nil
      return EventRow.values(first + index, 0, line, write: name).record
    }
    let seen = write.content.seen.map { ObservationRow.values($0).record }
    let columns = EventRow.columns.names.filter { $0 != "payment" }
    return """
      \(putting(rows, into: "event", columns))\
      \(putting(seen, into: "observation", ObservationRow.columns.names))
      """
  }

  /// Returns a part that writes rows of a payment into a table, with the action on existing ones; empty
  /// without rows.
  private func putting(
    _ rows: [JSONObject],
    into table: String,
    _ columns: [String],
    _ conflict: Statement = ""
  ) -> Statement {
    guard !rows.isEmpty else { return "" }
    // Without a condition, PostgreSQL would read `ON CONFLICT` as part of a join.
    return """
      , \(sql: table)s AS (INSERT INTO tender.\(sql: table) (payment, \(sql: columns.list()))
        SELECT made.row, \(sql: columns.list("r"))
        FROM made, \(records(rows, of: table, columns)) WHERE true\(conflict))
      """
  }

  private func terms(_ write: LeasedWrite) -> Statement {
    let content = write.content
    var statement: Statement = ""
    if let before = content.before, !content.goneTerms.isEmpty {
      statement += """
        , gone AS (DELETE FROM tender.term t USING made WHERE t.payment = made.row
          AND t.created = \(before.row.time("created")) AND t.text = ANY (\(content.goneTerms)))
        """
    }
    guard !content.newTerms.isEmpty else { return statement }
    statement += """
      , terms AS (INSERT INTO tender.term (text, created, payment)
        SELECT t, \(content.payment.createdAt), row FROM made, unnest(\(content.newTerms)) t
        ON CONFLICT DO NOTHING)
      """
    return statement
  }

  private func preparations(_ write: LeasedWrite) -> Statement {
    var statement: Statement = ""
    if !write.content.unprepared.isEmpty {
      statement += """
        , unprepared AS (DELETE FROM tender.preparation p USING made WHERE p.payment = made.row
          AND p.sequence = ANY (\(write.content.unprepared)))
        """
    }
    statement += putting(
      write.content.prepared.map { ["sequence": .integer($0), "text": .string($1)] },
      into: "preparation",
      ["sequence", "text"],
      " ON CONFLICT (payment, sequence) DO UPDATE SET text = excluded.text"
    )
    return statement
  }
}

extension [String] {
  /// Returns assignments of a row's values to these columns, without those that identify the row.
  fileprivate func settings(from row: String) -> String {
    filter { !SharedSchema.keys.contains($0) }.map { "\($0) = \(row).\($0)" }
      .joined(separator: ", ")
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
