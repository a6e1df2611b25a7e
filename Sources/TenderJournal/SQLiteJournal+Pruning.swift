import TenderDatabase
package import TenderEngine
package import TenderModel

/// What may be forgotten, and forgetting it.
extension SQLiteJournal {
  package func prunable(before time: Int, _ filter: AttemptFilter) throws(Fault) -> Int {
    let (rows, values) = Self.prunable(before: time, filter)
    return try database.first("SELECT count(*) FROM (\(rows))", values)?.first?.integer ?? 0
  }

  package func prune(before time: Int, _ filter: AttemptFilter) throws(Fault) -> Int {
    let (rows, values) = Self.prunable(before: time, filter)
    let count = try commit(.power) { () throws(Fault) in
      let count = try prunable(before: time, filter)
      guard count > 0 else { return 0 }
      try? unfinished.make()
      // The newest line stays the newest: the chain and the mark go on from it.
      let last = try database.first("SELECT max(at) FROM history")?.first?.integer
      try addLine(0, nil, "\(count) attempts forgotten", "", at: last)
      let lines = "FROM history WHERE attempt IN (\(rows))"
      let gone = try database.first("SELECT count(*) \(lines)", values)?.first?.integer ?? 0
      try database.query("DELETE \(lines)", values)
      try database.query("DELETE FROM term WHERE attempt IN (\(rows))", values)
      try database.query("DELETE FROM attempt WHERE row IN (\(rows))", values)
      try database.query("UPDATE journal SET forgotten = forgotten + ?", [.integer(gone)])
      return count
    }
    if count > 0 {
      try? unfinished.make()
      // The rows are gone; their bytes are by the next command at the latest.
      try? erase()
    }
    return count
  }

  /// The rows that may go: of references at which no attempt is young, unfinished or of use.
  private static func prunable(
    before time: Int,
    _ filter: AttemptFilter
  ) -> (sql: String, values: [Database.Value]) {
    let condition = Condition(filter)
    let unfinished = Status.allCases.filter { !$0.isFinal }.map { "'\($0.rawValue)'" }
    let sql = """
      SELECT row FROM attempt a WHERE a.updated < ?\(condition.and) AND NOT EXISTS (
        SELECT 1 FROM attempt b
        WHERE b.reference = a.reference AND b.provider = a.provider AND b.env = a.env AND (
          b.updated >= ? OR b.phase <> 'done' OR b.next_action IS NOT NULL
          OR b.status IN (\(unfinished.joined(separator: ", ")))
          OR (b.kind = \(Attempt.Kind.mandate.rawValue) AND b.status = 'authorized')
          -- What is left to refund of an original is counted by its refunds.
          OR (json_extract(b.content, '$.type') = 'refund' AND EXISTS (
            SELECT 1 FROM attempt o WHERE o.env = b.env AND o.provider = b.provider
            AND o.reference = json_extract(b.content, '$.original')
          ))
        )
      )
      """
    return (sql, [.integer(time)] + condition.values + [.integer(time)])
  }
}
