import TenderEngine
package import TenderModel
import TenderSystem

/// Creates the tables, or upgrades those of older versions.
extension SharedJournal {
  /// Creates the tables, or upgrades them to this version. Returns a description of the changes.
  ///
  /// After an interruption, running it again continues. Throws `state` (`journal_newer`) for a newer version.
  package func migrate() throws(Fault) -> String {
    let version = try run(["SELECT version FROM tender.journal"], orMissing: true).first?.first?[0]
    guard let found = version?.integer else {
      // If two processes migrate at once, the second finds the tables and changes nothing.
      try run(
        ["CREATE SCHEMA IF NOT EXISTS tender"] + SharedSchema.all + [
          """
          INSERT INTO tender.journal (one, version, name)
          VALUES (1, \(SharedSchema.version), \(Checksum.random()))
          """
        ]
      )
      return "the tables were made, version \(SharedSchema.version)"
    }
    guard found <= SharedSchema.version else {
      throw fault(PostgresConnection.Failure(code: Self.newer, text: "version \(found)"))
    }
    guard found < SharedSchema.version else {
      return "the tables are of version \(found), which is this one's: nothing to do"
    }
    if found > 1 {
      try run(SharedSchema.additions + [SharedSchema.raiseVersion])
      return "the tables were brought from version \(found) to \(SharedSchema.version)"
    }
    // An older program may have been interrupted in a conversion.
    let isInterrupted = found == SharedSchema.converting
    try run(isInterrupted ? SharedSchema.additions : SharedSchema.setOldAside + SharedSchema.tables)
    var count = 0
    var after: ReferenceKey?
    while let batch = try convert(after: after) {
      count += batch.count
      after = batch.last
    }
    try run(SharedSchema.finish)
    return
      "the tables were brought from version 1 to \(SharedSchema.version): \(count) payments converted"
  }

  /// Runs statements on tables of any version. Returns nothing if tables are missing and that is allowed.
  @discardableResult
  private func run(
    _ statements: [Statement],
    orMissing: Bool = false
  ) throws(Fault) -> [Rows] {
    let deadline = deadline()
    do throws(PostgresConnection.Failure) {
      return try connected(by: deadline).run(statements, by: deadline)
    } catch {
      guard orMissing, error.isMissing else { throw fault(error) }
      return []
    }
  }

  /// The number of references converted in one transaction.
  private static let batch = 200

  /// Converts the attempts of the references after the last one. Returns their number; nil if there are no
  /// more.
  private func convert(
    after last: ReferenceKey?
  ) throws(Fault) -> (count: Int, last: ReferenceKey)? {
    let rows = try run([old(after: last)])[0].map { values in
      var row = values[0].text.flatMap { JSONReader.read($0)?.object } ?? [:]
      row["prepared"] = values[1].text.map(JSON.string)
      row["lines"] = values[2].text.flatMap { JSONReader.read($0) }
      return row
    }
    var groups: [[JSONObject]] = []
    for row in rows {
      let isSame = groups.last?.first.map { first in
        ["reference", "provider", "env"].allSatisfy { first[$0] == row[$0] }
      }
      if isSame == true { groups[groups.count - 1].append(row) } else { groups.append([row]) }
    }
    var records: [String: [JSONObject]] = [:]
    var newest = last
    for group in groups {
      newest = try convert(group, to: &records)
    }
    guard let newest, !groups.isEmpty else { return nil }
    try run(Self.puts.compactMap { put(records[$0.table] ?? [], into: $0.table, $0.columns) })
    return (groups.count, newest)
  }

  /// Returns the attempts of the next unconverted references, with their preparations and histories.
  private func old(after last: ReferenceKey?) -> Statement {
    let place: Statement =
      last.map { last in
        """
         AND (b.reference, b.provider, b.env)
          > (\(last.reference.text), \(last.provider.text), \(last.env.rawValue))
        """
      } ?? ""
    return """
      SELECT to_json(a), p.text,
        (SELECT json_agg(h ORDER BY h.number) FROM tender.history_1 h WHERE h.attempt = a.row)
      FROM tender.attempt_1 a LEFT JOIN tender.preparation_1 p ON p.row = a.row
      WHERE (a.reference, a.provider, a.env) IN (
        SELECT DISTINCT b.reference, b.provider, b.env FROM tender.attempt_1 b WHERE NOT EXISTS (
          SELECT 1 FROM tender.payment n
          WHERE n.reference = b.reference AND n.provider = b.provider AND n.env = b.env
        )\(place) ORDER BY 1, 2, 3 LIMIT \(sql: Self.batch)
      ) ORDER BY a.reference, a.provider, a.env, a.number
      """
  }

  /// Adds the rows of a payment from the attempts of one reference. Returns its key.
  private func convert(
    _ attempts: [JSONObject],
    to records: inout [String: [JSONObject]]
  ) throws(Fault) -> ReferenceKey {
    var payment: Payment?
    var lines: [HistoryEntry] = []
    var isDamaged = false
    for row in attempts {
      let prepared = row.text("prepared")
      let text = prepared.map { stored in
        FleetKey.isSealed(stored) ? settings.key?.open(stored) ?? stored : stored
      }
      let values = Row(LegacyAttempt.columns, json: row)
      guard let attempt = LegacyAttempt(values, preparation: text) else { throw .unconverted(row) }
      // A damaged row stays unusable, and `verify` reports it.
      isDamaged =
        isDamaged
        || row.text("sum").map { $0 != LegacyAttempt.sum(values, preparation: nil) } ?? false
      let made = attempt.payment
      guard let merged = payment.map({ $0.merged(with: made) }) ?? made else {
        throw .unconverted(row)
      }
      payment = merged
      let operation = made.attempt.map { "\($0.kind.rawValue) \($0.number)" } ?? ""
      lines += (row["lines"]?.array ?? []).map { line in
        LegacyAttempt.entry(
          of: operation,
          made.attempt?.approved ?? made.attempt?.amount,
          Row(LegacyAttempt.lineColumns, json: line.object ?? [:])
        )
      }
    }
    guard let payment, let last = attempts.last, let row = attempts[0]["row"] else {
      throw .unconverted(attempts.first ?? [:])
    }
    var named = payment.with(payment.operations.map { $0.naming(key(of: last)) })
    (named.row, named.version) = (0, 0)
    var write = try write(of: named, lines)
    write.by = last.text("by") ?? ""
    if isDamaged { write.sum = "damaged" }
    var record = write.record
    record["row"] = row
    record["machine"] = last["machine"]
    records["payment", default: []].append(record)
    let terms = write.terms.map { text -> JSONObject in
      ["text": .string(text.withoutNUL), "created": .integer(payment.createdAt)]
    }
    for (table, rows) in [
      ("operation", write.operationRecords), ("event", write.lineRecords),
      ("observation", write.seenRecords), ("preparation", write.preparedRecords), ("term", terms),
    ] {
      records[table, default: []] += rows.map { values in
        var values = values
        values["payment"] = row
        // The time since the last request counts from there.
        if table == "operation" { values["written"] = last["written"] }
        return values
      }
    }
    return payment.key
  }

  /// Returns the name of the key of an attempt's fingerprints, which version 1 did not store.
  private func key(of attempt: JSONObject) -> String {
    guard let key = settings.key, !hasOwnKey || attempt.text("machine") == station else {
      return "-"
    }
    return key.name
  }

  private static let puts: [(table: String, columns: [String])] = [
    ("payment", ["row"] + PaymentRow.columns.names + ["sum", "by", "machine"]),
    ("operation", ["payment"] + OperationRow.columns.names + ["sum", "written"]),
    ("event", EventRow.columns.names),
    ("observation", ["payment"] + ObservationRow.columns.names),
    ("preparation", ["payment", "sequence", "text"]), ("term", ["text", "created", "payment"]),
  ]

  private func put(
    _ rows: [JSONObject],
    into table: String,
    _ columns: [String]
  ) -> Statement? {
    guard !rows.isEmpty else { return nil }
    return """
      INSERT INTO tender.\(sql: table) (\(sql: columns.list())) SELECT \(sql: columns.list("r"))
      FROM json_populate_recordset(NULL::tender.\(sql: table), \(rows)) r
      """
  }
}

extension Operation {
  /// Returns the operation with the key's name added to fingerprints that lack it.
  fileprivate func naming(_ key: String) -> Operation {
    var operation = self
    for member in fingerprints.members {
      guard let print = member.value.text, !print.contains(":") else { continue }
      operation.fingerprints[member.key] = .string("\(key):\(print)")
    }
    return operation
  }
}

extension Fault {
  /// An attempt of version 1 is invalid.
  fileprivate static func unconverted(_ row: JSONObject) -> Fault {
    .state(
      "journal_damaged",
      "attempt \(row["row"]?.wholeNumber ?? 0) in tender.attempt_1, of "
        + "\((row.text("reference") ?? "").quotedForMessage), cannot be converted",
      "correct that row, then: tender journal migrate"
    )
  }
}
