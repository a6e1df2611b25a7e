package import TenderEngine
package import TenderModel
import TenderSystem

extension SQLiteJournal {
  /// Payments are deleted in slices: other processes write in between, and a killed run leaves whole
  /// payments.
  package func prune(before time: Int, _ filter: PaymentFilter) throws(Fault) -> Int {
    let slices = try slices(before: time, filter)
    guard !slices.isEmpty else { return 0 }
    // The log of a slice is longer than that of a command, and each copy into the file waits for the disk.
    try database.execute("PRAGMA wal_autocheckpoint = 1000")
    try? PlainFile.touch(unfinished)
    let planned = slices.reduce(0) { $0 + $1.count }
    var count = 0
    for (index, slice) in slices.enumerated() {
      if index > 0 { database.pause(milliseconds: Self.respite) }
      count += try commit(index == slices.count - 1 ? .power : .process) { () throws(Fault) in
        if index == 0 {
          // The newest line is not deleted, because the chain and the mark continue from it.
          let last = try number("SELECT max(at) FROM event") ?? 0
          try addLine("\(planned) payments forgotten", at: last)
        }
        return try forget(slice, before: time, filter)
      }
    }
    try? giveBack()
    try? PlainFile.touch(unfinished)
    // The rows are deleted. At the latest, the next command erases their bytes.
    try? erase()
    return count
  }

  package func isPruned(_ key: ReferenceKey) throws(Fault) -> Bool {
    // Most journals have none, and then no hash is needed.
    guard try number("SELECT 1 FROM pruned LIMIT 1") != nil else { return false }
    return try number("SELECT 1 FROM pruned WHERE print = \(try print(of: key))") != nil
  }

  /// Shrinks the file by its free pages, in slices.
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

  /// The number of pages freed under one lock.
  private static let pages = 200

  private func freePages() throws(Fault) -> Int {
    try number("PRAGMA freelist_count") ?? 0
  }

  /// The number of payments deleted under one lock, for which other processes wait.
  private static let slice = 100
  /// The time for other writers between two slices, in milliseconds.
  private static let respite = 2

  /// Returns the rows that may be deleted.
  private func slices(before time: Int, _ filter: PaymentFilter) throws(Fault) -> [[Int]] {
    let rows = prunableRows(before: time, filter)
    var slices: [[Int]] = []
    try database.query(rows.sqlite, rows.values) { row in
      guard let number = row[0].integer else { return true }
      if slices.last.map({ $0.count >= Self.slice }) ?? true { slices.append([]) }
      slices[slices.count - 1].append(number)
      return true
    }
    return slices
  }

  /// Deletes the payments of a slice that may still be deleted. A process may have used one meanwhile.
  private func forget(
    _ slice: [Int],
    before time: Int,
    _ filter: PaymentFilter
  ) throws(Fault) -> Int {
    let rows = prunableRows(before: time, filter)
    var (count, lines) = (0, 0)
    for row in slice where try number("\(rows) AND a.row = \(row)") != nil {
      count += 1
      lines += try number("SELECT count(*) FROM event WHERE payment = \(row)") ?? 0
      let found = try self.row("a.row = \(row)")
      if let key = found.flatMap(\.key) {
        try run("INSERT OR IGNORE INTO pruned (print) VALUES (\(print(of: key)))")
      }
      if let found, let payment = try? payment(found) {
        for term in SearchTerm.all(of: payment) { try forget(term, row, payment.createdAt) }
      } else {
        // A damaged row does not show its search terms.
        try run("DELETE FROM term WHERE payment = \(row)")
      }
      for table in ["claim", "event", "observation", "operation"] {
        try run("DELETE FROM \(sql: table) WHERE payment = \(row)")
      }
      try run("DELETE FROM payment WHERE row = \(row)")
    }
    try run("UPDATE journal SET forgotten = forgotten + \(lines)")
    return count
  }

  package func prunableRows(before time: Int, _ filter: PaymentFilter) -> Statement {
    """
    SELECT a.row FROM payment a
    WHERE \(PaymentQuery(schema: Self.schema).isPrunable(before: time))\(tests(filter))
    """
  }
}

extension Row {
  /// The key of a payment's row; nil if it is damaged.
  var key: ReferenceKey? {
    guard let env = text("env").flatMap(Env.init(rawValue:)), let provider = text("provider"),
      let reference = text("reference")
    else { return nil }
    return ReferenceKey(
      env: env,
      provider: ProviderName(provider),
      reference: Reference(stored: reference)
    )
  }
}
