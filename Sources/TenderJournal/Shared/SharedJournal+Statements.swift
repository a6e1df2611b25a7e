import TenderEngine
import TenderModel
import TenderSystem

/// The statements of every write: all that depends on the fence is one statement with it.
///
/// Rows go in as JSON by the names of their columns, however many there are.
extension SharedJournal {
  /// What is written of a payment.
  struct Write {
    /// As it will be, redacted.
    var payment: Payment
    /// The version that it is written over.
    var over: Int
    /// The columns of the payment, and of the operations that changed.
    var values: Row
    var operations: [Int: Row]
    /// The checksums of all its operations, by sequence, and of the payment itself.
    var sums: [Int: String]
    var sum: String
    var seen: [Observation]
    /// Lines of the history; the last one is about this write.
    var lines: [HistoryEntry]
    var terms: Set<String>
    /// Preparations that are new, as they are stored, and operations that no longer have one.
    var prepared: [Int: String]
    var unprepared: [Int]
    /// What must hold of other payments, and idempotency keys that none of them may have.
    var opening: OpeningTerms?
    var keys: [String]
    /// Nil for a write outside of a lock, which takes the reference for itself alone.
    var lease: Lease?
    /// How long the reference is lent from now on, in milliseconds: 0 gives it back.
    var lends: Int
    /// The user and machine of its line of history.
    var by: String
    /// Whether a lock of this machine's kernel is held: what another process of it left is taken over.
    var isLocked = false

    var key: ReferenceKey { payment.key }
  }

  /// What has to run before a write in its transaction: locks of the server, so that of two that would
  /// contradict each other the second sees the first.
  ///
  /// They end with the transaction, which a pooler gives one connection.
  func locks(for write: Write) -> [Statement] {
    var names = write.keys.sorted().map {
      "key \(write.key.env.rawValue) \(write.key.provider.text) \($0)"
    }
    if write.opening != nil {
      names.insert("reference \(write.key.env.rawValue) \(write.key.reference.text)", at: 0)
    }
    guard !names.isEmpty else { return [] }
    var statement = Statement("SELECT pg_advisory_xact_lock(hashtextextended(n, 28)) FROM unnest(")
    statement.add(statement.bind(names) + ") n")
    return [statement]
  }

  /// Writes a payment, and gives its row where it did.
  func writing(_ write: Write) -> Statement {
    writing(write) { statement in held(write, &statement) }
  }

  /// Writes the first attempt at a reference that was taken just before, where there is none.
  func opening(_ write: Write, _ holder: String) -> Statement {
    writing(write) { statement in
      "SELECT 1 FROM tender.lease l WHERE " + Self.condition(write.key, "l", &statement)
        + " AND l.holder = \(statement.bind(holder)) AND NOT EXISTS "
        + "(SELECT 1 FROM tender.payment a WHERE "
        + Self.condition(write.key, "a", &statement) + ")"
    }
  }

  private func writing(_ write: Write, held: (inout Statement) -> String) -> Statement {
    var statement = Statement("WITH ")
    statement.add("held AS (\(held(&statement))), made AS (")
    addPayment(write, &statement)
    statement.add(")")
    addOperations(write, &statement)
    addLines(write, &statement)
    addTerms(write, &statement)
    addPreparations(write, &statement)
    statement.add(" SELECT row FROM made")
    return statement
  }

  /// The part of a statement that gives a row only where the reference is this process's.
  private func held(_ write: Write, _ statement: inout Statement) -> String {
    let until = "clock_timestamp() + \(statement.bind(write.lends)) * interval '1 millisecond'"
    if let lease = write.lease {
      let key = Self.condition(write.key, "l", &statement)
      return "UPDATE tender.lease l SET until = \(until) WHERE \(key)"
        + Self.fence(lease, &statement) + " RETURNING 1"
    }
    let isFree = "l.until <= clock_timestamp()"
    return taking(
      write.key,
      holder: machine + "/alone",
      until: until,
      where: write.isLocked ? isFree + " OR l.machine = excluded.machine" : isFree,
      &statement
    )
  }

  /// Takes a reference where a condition says that it may be taken; gives the fence.
  func taking(
    _ key: ReferenceKey,
    holder: String,
    until: String,
    where condition: String,
    _ statement: inout Statement
  ) -> String {
    let values = [
      statement.bind(key.env.rawValue), statement.bind(key.provider.text),
      statement.bind(key.reference.text), statement.bind(holder), statement.bind(machine),
      statement.bind(settings.by),
    ]
    return """
      INSERT INTO tender.lease AS l
        (env, provider, reference, holder, machine, by, fence, until)
      VALUES (\(values.joined(separator: ", ")), 1, \(until))
      ON CONFLICT (reference, provider, env) DO UPDATE
      SET holder = excluded.holder, machine = excluded.machine, by = excluded.by,
        fence = l.fence + 1, until = excluded.until
      WHERE \(condition)
      RETURNING fence
      """
  }

  private func addPayment(_ write: Write, _ statement: inout Statement) {
    var row = write.record
    row["machine"] = .string(station)
    let columns = PaymentRow.columns.names + ["sum", "by", "machine"]
    let rows = "json_populate_recordset(NULL::tender.payment, \(statement.bind([row]))) r"
    if write.payment.row == 0 {
      statement.add(
        "INSERT INTO tender.payment (\(columns.joined(separator: ", "))) SELECT "
          + columns.map { "r.\($0)" }.joined(separator: ", ") + " FROM held, \(rows) WHERE true"
      )
      addGuards(write, &statement)
      return statement.add(" RETURNING row")
    }
    let changes = columns.map { "\($0) = r.\($0)" }
    statement.add(
      "UPDATE tender.payment a SET \(changes.joined(separator: ", ")) FROM held, \(rows) "
        + "WHERE a.row = \(statement.bind(write.payment.row)) AND a.reference = r.reference "
        + "AND a.version = \(statement.bind(write.over))"
    )
    addGuards(write, &statement)
    statement.add(" RETURNING a.row")
  }

  /// Adds what must hold of other payments.
  private func addGuards(_ write: Write, _ statement: inout Statement) {
    if write.opening != nil {
      statement.add(" AND NOT EXISTS (SELECT 1 FROM tender.payment b WHERE ")
      addElsewhere(write, &statement)
      statement.add(")")
    }
    if !write.keys.isEmpty {
      statement.add(" AND NOT EXISTS (SELECT 1 FROM ")
      addKeys(write, &statement)
      statement.add(")")
    }
  }

  /// Adds that a payment `b` at another provider forbids a new one under the same reference.
  func addElsewhere(_ write: Write, _ statement: inout Statement) {
    let isNamed = write.opening?.namesProvider ?? false
    let statuses = [false, true].map { isUnknown in
      Status.allCases.filter { $0.blocksElsewhere(isUnknown: isUnknown, namesProvider: isNamed) }
        .map(\.rawValue)
    }
    statement.add(
      "b.reference = \(statement.bind(write.key.reference.text)) "
        + "AND b.env = \(statement.bind(write.key.env.rawValue)) "
        + "AND b.provider <> \(statement.bind(write.key.provider.text)) "
        + "AND (b.status = ANY (\(statement.bind(statuses[0]))) "
        + "OR b.is_unknown = 1 AND b.status = ANY (\(statement.bind(statuses[1]))))"
    )
  }

  /// Adds operations of other payments `b` that have an idempotency key of this write.
  func addKeys(_ write: Write, _ statement: inout Statement) {
    statement.add(
      "tender.operation o JOIN tender.payment b ON b.row = o.payment "
        + "WHERE o.key = ANY (\(statement.bind(write.keys))) "
        + "AND b.env = \(statement.bind(write.key.env.rawValue)) "
        + "AND b.provider = \(statement.bind(write.key.provider.text)) "
        + "AND b.merchant = \(statement.bind(write.payment.merchant)) "
        + "AND b.row <> \(statement.bind(write.payment.row))"
    )
  }

  private func addOperations(_ write: Write, _ statement: inout Statement) {
    guard !write.operations.isEmpty else { return }
    let columns = OperationRow.columns.names + ["sum"]
    add("operation", columns, write.operationRecords, "operations", &statement)
    let changes = columns.map { "\($0) = excluded.\($0)" } + ["written = clock_timestamp()"]
    statement.add(
      " ON CONFLICT (payment, sequence) DO UPDATE SET \(changes.joined(separator: ", ")))"
    )
  }

  private func addLines(_ write: Write, _ statement: inout Statement) {
    let columns = EventRow.columns.names.filter { $0 != "payment" }
    add("event", columns, write.lineRecords, "lines", &statement)
    statement.add(")")
    guard !write.seen.isEmpty else { return }
    add("observation", ObservationRow.columns.names, write.seenRecords, "seen", &statement)
    statement.add(")")
  }

  /// Adds the beginning of a part that puts rows of a payment into a table.
  private func add(
    _ table: String,
    _ columns: [String],
    _ rows: [JSONObject],
    _ name: String,
    _ statement: inout Statement
  ) {
    statement.add(
      ", \(name) AS (INSERT INTO tender.\(table) (payment, \(columns.joined(separator: ", "))) "
        + "SELECT made.row, " + columns.map { "r.\($0)" }.joined(separator: ", ")
        + " FROM made, json_populate_recordset(NULL::tender.\(table), \(statement.bind(rows))) r"
    )
    // Without a condition `ON CONFLICT` would be read as that of a join.
    statement.add(" WHERE true")
  }

  private func addTerms(_ write: Write, _ statement: inout Statement) {
    let before = known[write.payment.row]
    let isMoved = before.map { $0.createdAt != write.payment.createdAt } ?? false
    let had = before?.terms ?? []
    let gone = isMoved ? had : had.subtracting(write.terms)
    if let before, !gone.isEmpty {
      statement.add(
        ", gone AS (DELETE FROM tender.term t USING made WHERE t.payment = made.row "
          + "AND t.created = \(statement.bind(before.createdAt)) "
          + "AND t.text = ANY (\(statement.bind(gone.sorted()))))"
      )
    }
    let new = isMoved ? write.terms : write.terms.subtracting(had)
    guard !new.isEmpty else { return }
    let created = statement.bind(write.payment.createdAt)
    statement.add(
      ", terms AS (INSERT INTO tender.term (text, created, payment) SELECT t, \(created), row "
        + "FROM made, unnest(\(statement.bind(new.sorted()))) t ON CONFLICT DO NOTHING)"
    )
  }

  private func addPreparations(_ write: Write, _ statement: inout Statement) {
    if !write.unprepared.isEmpty {
      statement.add(
        ", unprepared AS (DELETE FROM tender.preparation p USING made WHERE p.payment = made.row "
          + "AND p.sequence = ANY (\(statement.bind(write.unprepared))))"
      )
    }
    guard !write.prepared.isEmpty else { return }
    add("preparation", ["sequence", "text"], write.preparedRecords, "prepared", &statement)
    statement.add(" ON CONFLICT (payment, sequence) DO UPDATE SET text = excluded.text)")
  }
}

/// The rows of a write, by the names of their columns; those of other tables lack the payment's number.
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
      row["sum"] = sums[sequence].map(JSON.string)
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

extension Row {
  /// The row with texts that PostgreSQL takes.
  var storable: Row {
    var row = self
    for name in columns.names {
      if case .text(let text) = row[name] { row[name] = .text(text.withoutNUL) }
    }
    return row
  }

  /// The row as JSON whose members are what the columns hold: texts stay texts.
  var record: JSONObject {
    JSONObject(
      zip(columns.names, values).filter { $1 != .null }.map { .init(key: $0, value: $1.json) }
    )
  }
}
