import TenderDatabase
package import TenderEngine
package import TenderModel

/// What may be forgotten, and forgetting it.
extension SQLiteJournal {
  package func prunable(before time: Int, _ filter: AttemptFilter) throws(Fault) -> Int {
    let (rows, values) = Self.prunable(before: time, filter)
    return try database.first("SELECT count(*) FROM (\(rows))", values)?.first?.integer ?? 0
  }

  /// Goes in slices: others write in between, and a run that is killed leaves whole references behind.
  package func prune(before time: Int, _ filter: AttemptFilter) throws(Fault) -> Int {
    let slices = try slices(before: time, filter)
    guard !slices.isEmpty else { return 0 }
    try? unfinished.make()
    let planned = slices.reduce(0) { $0 + $1.count }
    var count = 0
    for (index, slice) in slices.enumerated() {
      if index > 0 { database.pause(milliseconds: Self.respite) }
      count += try commit(index == slices.count - 1 ? .power : .process) { () throws(Fault) in
        if index == 0 {
          // The newest line stays the newest: the chain and the mark go on from it.
          let last = try database.first("SELECT max(at) FROM history")?.first?.integer
          try addLine(0, nil, "\(planned) attempts forgotten", "", at: last)
        }
        return try forget(slice, before: time, filter)
      }
    }
    try? giveBack()
    try? unfinished.make()
    // The rows are gone; their bytes are by the next command at the latest.
    try? erase()
    return count
  }

  /// Makes the file shorter by the pages that are free, in slices as well; a file of a version before 5 uses
  /// them again instead.
  private func giveBack() throws(Fault) {
    var free = try freePages()
    while free > 0 {
      try commit(.process) { () throws(Fault) in
        try database.query("PRAGMA incremental_vacuum(\(Self.pages))")
      }
      let left = try freePages()
      guard left < free else { return }
      free = left
      database.pause(milliseconds: Self.respite)
    }
  }

  /// Pages that are given back under one lock.
  private static let pages = 200

  private func freePages() throws(Fault) -> Int {
    try database.first("PRAGMA freelist_count")?.first?.integer ?? 0
  }

  /// Attempts that are forgotten under one lock, which others wait for.
  private static let slice = 50
  /// How long others have for writing between two slices, in milliseconds.
  private static let respite = 2

  /// The rows that may go, no reference in two slices.
  private func slices(before time: Int, _ filter: AttemptFilter) throws(Fault) -> [[Int]] {
    let (rows, values) = Self.prunable(before: time, filter)
    var slices: [[Int]] = []
    var reference: [Database.Value] = []
    try database.query(
      """
      SELECT row, reference, provider, env FROM attempt WHERE row IN (\(rows))
      ORDER BY reference, provider, env
      """,
      values
    ) { row in
      guard let number = row[0].integer else { return true }
      let own = Array(row.dropFirst())
      if own != reference, slices.last.map({ $0.count >= Self.slice }) ?? true { slices.append([]) }
      reference = own
      slices[slices.count - 1].append(number)
      return true
    }
    return slices
  }

  /// Takes out those of a slice that may still go: somebody may have used a reference meanwhile.
  private func forget(
    _ slice: [Int],
    before time: Int,
    _ filter: AttemptFilter
  ) throws(Fault) -> Int {
    let (rows, values) = Self.prunable(before: time, filter)
    var going: [Int] = []
    for row in slice
    where try database.first(rows + " AND a.row = ?", values + [.integer(row)]) != nil {
      going.append(row)
    }
    for row in going {
      let value = [Database.Value.integer(row)]
      let lines = try database.first("SELECT count(*) FROM history WHERE attempt = ?", value)
      try database.query("DELETE FROM history WHERE attempt = ?", value)
      if let found = try database.first(AttemptRow.select + " WHERE a.row = ?", value),
        let attempt = try? AttemptRow.attempt(found)
      {
        try forget(SearchTerm.all(of: attempt), of: attempt)
      } else {
        // Of a damaged row nobody knows what it was found by.
        try database.query("DELETE FROM term WHERE attempt = ?", value)
      }
      try database.query("DELETE FROM attempt WHERE row = ?", value)
      try database.query(
        "UPDATE journal SET forgotten = forgotten + ?",
        [.integer(lines?.first?.integer ?? 0)]
      )
    }
    return going.count
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
