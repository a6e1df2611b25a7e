import TenderEngine
import TenderModel
import TenderSystem

/// The statements of a write. All parts that depend on the fence are one statement with it.
///
/// Rows are passed as JSON by the names of their columns, however many there are.
extension SharedJournal {
  struct Write {
    /// The payment after the write, redacted.
    var payment: Payment
    /// The version that it replaces.
    var over: Int
    /// The columns of the payment, and of the changed operations.
    var values: Row
    var operations: [Int: Row]
    /// The checksums of all its operations, by sequence, and of the payment itself.
    var sums: [Int: String]
    var sum: String
    var seen: [Observation]
    /// Lines of the history. The last one is about this write.
    var lines: [HistoryEntry]
    var terms: Set<String>
    /// New preparations as stored, and operations that no longer have one.
    var prepared: [Int: String]
    var unprepared: [Int]
    /// The conditions on other payments, and idempotency keys that no other operation may have.
    var opening: OpeningTerms?
    /// The keyed hash of the reference, if it is new.
    var print: String?
    var keys: [String]
    /// The ids of all its operations, by sequence.
    var ids: [Int: String]
    var claims: Claims
    /// The lease; nil for a write without a lock, which takes the reference for itself.
    var lease: Lease?
    /// The length of the lease from now on, in milliseconds; 0 releases it.
    var lends: Int
    /// The user and machine in the line of the history.
    var by: String

    var key: ReferenceKey { payment.key }

    /// The things that changed operations have at the provider.
    struct Claims {
      /// Rows of `claim`, without the payment's number.
      var rows: [JSONObject] = []
      /// The ids that no other record may have.
      var new: [String] = []
      /// The ids that the payment loses.
      var gone: [String] = []
    }
  }

  /// Returns the statements that run before a write in its transaction: server locks, so that the second of
  /// two conflicting writes sees the first.
  ///
  /// They end with the transaction, during which a pooler uses one connection.
  func locks(for write: Write) -> [Statement] {
    var names = write.keys.sorted().map {
      "key \(write.key.env.rawValue) \(write.key.provider.text) \($0)"
    }
    if write.opening != nil {
      names.insert("reference \(write.key.env.rawValue) \(write.key.reference.text)", at: 0)
    }
    guard !names.isEmpty else { return [] }
    return ["SELECT pg_advisory_xact_lock(hashtextextended(n, 28)) FROM unnest(\(names)) n"]
  }

  /// Writes a payment, and selects its row if it was written.
  func writing(_ write: Write) -> Statement { writing(write, held: held(write)) }

  /// Writes the first attempt of a reference whose lease was just taken, if there is none.
  func opening(_ write: Write, _ holder: String) -> Statement {
    writing(
      write,
      held: """
        SELECT 1 FROM tender.lease l WHERE \("l", has: write.key) AND l.holder = \(holder)
        AND NOT EXISTS (SELECT 1 FROM tender.payment a WHERE \("a", has: write.key))
        """
    )
  }

  private func writing(_ write: Write, held: Statement) -> Statement {
    """
    WITH held AS (\(held)), made AS (\(payment(write)))\(operations(write))\(lines(write))\(terms(write))\
    \(preparations(write))\(claims(write)) SELECT row FROM made
    """
  }

  /// Returns the part of a statement that selects a row only if this process holds the lease.
  private func held(_ write: Write) -> Statement {
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

  private func payment(_ write: Write) -> Statement {
    var row = write.record
    row["machine"] = .string(station)
    let columns = PaymentRow.columns.names + ["sum", "by", "machine"]
    let rows: Statement = "json_populate_recordset(NULL::tender.payment, \([row])) r"
    if write.payment.row == 0 {
      return """
        INSERT INTO tender.payment (\(sql: columns.list())) SELECT \(sql: columns.list("r"))
        FROM held, \(rows) WHERE true\(guards(write)) RETURNING row
        """
    }
    return """
      UPDATE tender.payment a SET \(sql: columns.settings(from: "r")) FROM held, \(rows)
      WHERE a.row = \(write.payment.row) AND a.reference = r.reference AND a.version = \(write.over)\
      \(guards(write)) RETURNING a.row
      """
  }

  /// Returns the conditions on other payments.
  private func guards(_ write: Write) -> Statement {
    var guards: Statement = ""
    if write.opening != nil {
      guards += " AND NOT EXISTS (SELECT 1 FROM tender.payment b WHERE \(elsewhere(write)))"
    }
    if let print = write.print {
      guards += " AND NOT EXISTS (SELECT 1 FROM tender.pruned d WHERE d.print = \(print))"
    }
    if !write.keys.isEmpty { guards += " AND NOT EXISTS (SELECT 1 FROM \(keys(write)))" }
    if !write.claims.new.isEmpty {
      guards += " AND NOT EXISTS (SELECT 1 FROM \(holders(write)))"
    }
    return guards
  }

  /// Returns the condition that a payment `b` at another provider forbids a new one with the same reference.
  func elsewhere(_ write: Write) -> Statement {
    let isNamed = write.opening?.namesProvider ?? false
    let statuses = [false, true].map { isUnknown in
      Status.allCases.filter { $0.blocksElsewhere(isUnknown: isUnknown, namesProvider: isNamed) }
        .map(\.rawValue)
    }
    return """
      b.reference = \(write.key.reference.text) AND b.env = \(write.key.env.rawValue)
      AND b.provider <> \(write.key.provider.text) AND (b.status = ANY (\(statuses[0]))
      OR b.is_unknown = 1 AND b.status = ANY (\(statuses[1])))
      """
  }

  /// Selects operations of other payments `b` with an idempotency key of this write.
  func keys(_ write: Write) -> Statement {
    """
    tender.operation o JOIN tender.payment b ON b.row = o.payment WHERE o.key = ANY (\(write.keys))
    AND b.env = \(write.key.env.rawValue) AND b.provider = \(write.key.provider.text)
    AND b.merchant = \(write.payment.merchant) AND b.row <> \(write.payment.row)
    """
  }

  /// Selects claims `c` of other records on new ids of this write.
  func holders(_ write: Write) -> Statement {
    """
    tender.claim c JOIN json_populate_recordset(NULL::tender.claim, \(write.claims.rows)) r
    USING (id, thing, provider, env, merchant)
    WHERE c.id = ANY (\(write.claims.new)) AND (c.payment, c.sequence) <> (\(write.payment.row), r.sequence)
    """
  }

  /// Claims the ids of changed operations. Of two writes at once with one new id, the second fails, because a
  /// claim needs a payment.
  private func claims(_ write: Write) -> Statement {
    var statement: Statement = ""
    let claims = write.claims
    if !claims.gone.isEmpty {
      statement += """
        , unclaimed AS (DELETE FROM tender.claim c USING made WHERE c.payment = made.row
          AND c.id = ANY (\(claims.gone)))
        """
    }
    guard !claims.rows.isEmpty else { return statement }
    let columns = "id, thing, provider, env, merchant, sequence"
    statement += """
      , claimed AS (INSERT INTO tender.claim AS c (payment, \(sql: columns))
        SELECT made.row, \(sql: columns)
        FROM made, json_populate_recordset(NULL::tender.claim, \(claims.rows)) r WHERE true
        ON CONFLICT (id, thing, provider, env, merchant) DO UPDATE SET payment =
          CASE WHEN (c.payment, c.sequence) = (excluded.payment, excluded.sequence)
            OR c.id <> ALL (\(claims.new)) THEN c.payment END)
      """
    return statement
  }

  private func operations(_ write: Write) -> Statement {
    let columns = OperationRow.columns.names + ["sum"]
    return putting(
      write.operationRecords,
      into: "operation",
      columns,
      """
       ON CONFLICT (payment, sequence)
      DO UPDATE SET \(sql: columns.settings(from: "excluded")), written = clock_timestamp()
      """
    )
  }

  private func lines(_ write: Write) -> Statement {
    let columns = EventRow.columns.names.filter { $0 != "payment" }
    let seen = putting(write.seenRecords, into: "observation", ObservationRow.columns.names)
    return "\(putting(write.lineRecords, into: "event", columns))\(seen)"
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
        FROM made, json_populate_recordset(NULL::tender.\(sql: table), \(rows)) r WHERE true\(conflict))
      """
  }

  private func terms(_ write: Write) -> Statement {
    var statement: Statement = ""
    let before = known[write.payment.row]
    let isMoved = before.map { $0.createdAt != write.payment.createdAt } ?? false
    let had = before?.terms ?? []
    let gone = isMoved ? had : had.subtracting(write.terms)
    if let before, !gone.isEmpty {
      statement += """
        , gone AS (DELETE FROM tender.term t USING made WHERE t.payment = made.row
          AND t.created = \(before.createdAt) AND t.text = ANY (\(gone.sorted())))
        """
    }
    let new = isMoved ? write.terms : write.terms.subtracting(had)
    guard !new.isEmpty else { return statement }
    statement += """
      , terms AS (INSERT INTO tender.term (text, created, payment)
        SELECT t, \(write.payment.createdAt), row FROM made, unnest(\(new.sorted())) t
        ON CONFLICT DO NOTHING)
      """
    return statement
  }

  private func preparations(_ write: Write) -> Statement {
    var statement: Statement = ""
    if !write.unprepared.isEmpty {
      statement += """
        , unprepared AS (DELETE FROM tender.preparation p USING made WHERE p.payment = made.row
          AND p.sequence = ANY (\(write.unprepared)))
        """
    }
    statement += putting(
      write.preparedRecords,
      into: "preparation",
      ["sequence", "text"],
      " ON CONFLICT (payment, sequence) DO UPDATE SET text = excluded.text"
    )
    return statement
  }
}

/// The rows of a write by the names of their columns. Rows of other tables lack the payment's number.
extension SharedJournal.Write {
  var record: JSONObject {
    var row = values.record
    row["sum"] = .string(sum)
    row["by"] = .string(by)
    return row
  }

  var operationRecords: [JSONObject] {
    operations.sorted { $0.key < $1.key }.map { sequence, values in
      var row = values.record
      row["sum"] = sums[sequence]?.json
      return row
    }
  }

  var lineRecords: [JSONObject] {
    let first = payment.version - lines.count + 1
    return lines.enumerated().map { index, line in
      let isLast = index == lines.count - 1
      return EventRow.values(first + index, 0, line, isLast ? sum : nil).storable.record
    }
  }

  var seenRecords: [JSONObject] { seen.map { ObservationRow.values($0).storable.record } }

  var preparedRecords: [JSONObject] {
    prepared.map { ["sequence": .integer($0), "text": .string($1)] }
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
  /// The row as JSON with the columns' values. Texts stay texts.
  var record: JSONObject {
    JSONObject(
      zip(columns.names, values).filter { $1 != .null }.map { .init(key: $0, value: $1.json) }
    )
  }
}
