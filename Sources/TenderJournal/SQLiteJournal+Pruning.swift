package import TenderEngine
package import TenderModel
import TenderSystem

extension SQLiteJournal {
  /// Payments are deleted in slices: other processes write in between, and a killed run leaves whole
  /// payments.
  package func prune(_ filter: PaymentFilter) throws(Fault) -> Int {
    // Without a time, no payment is unneeded.
    guard filter.unneededBefore != nil else { return 0 }
    let rows = try rows(Self.search(filter).statement).compactMap(\.[0].integer)
    guard !rows.isEmpty else { return 0 }
    // The log of a slice is longer than that of a command, and each copy into the file waits for the disk.
    try database.execute("PRAGMA wal_autocheckpoint = 1000")
    try? PlainFile.touch(unfinished)
    var count = 0
    for start in stride(from: 0, to: rows.count, by: Self.slice) {
      if start > 0 { database.pause(milliseconds: Self.respite) }
      let slice = rows[start...].prefix(Self.slice)
      count += try commit(slice.endIndex == rows.count ? .power : .process) { () throws(Fault) in
        if start == 0 {
          // The newest line is not deleted, because the chain and the mark continue from it.
          let last = try number("SELECT max(at) FROM event") ?? 0
          try addLine("\(rows.count) payments forgotten", at: last)
        }
        return try forget(slice, filter)
      }
    }
    try? giveBack()
    try? PlainFile.touch(unfinished)
    // The rows are deleted. At the latest, the next command erases their bytes.
    try? erase()
    return count
  }

  /// Shrinks the file by its free pages, in slices.
  private func giveBack() throws(Fault) {
    var free = Int.max
    while let left = try number("PRAGMA freelist_count"), left > 0, left < free {
      free = left
      try commit(.process) { () throws(Fault) in
        try database.query("PRAGMA incremental_vacuum(\(Self.pages))")
      }
      database.pause(milliseconds: Self.respite)
    }
  }

  /// The number of pages freed under one lock.
  private static let pages = 200

  /// The number of payments deleted under one lock, for which other processes wait.
  private static let slice = 100
  /// The time for other writers between two slices, in milliseconds.
  private static let respite = 2

  /// Deletes the payments of a slice that may still be deleted. A process may have used one meanwhile.
  private func forget(_ slice: ArraySlice<Int>, _ filter: PaymentFilter) throws(Fault) -> Int {
    let tests = Self.columns(filter)
    var (count, lines) = (0, 0)
    for row in slice
    where try number("SELECT 1 FROM payment a WHERE a.row = \(row)\(tests)") != nil {
      count += 1
      lines += try number("SELECT count(*) FROM event WHERE payment = \(row)") ?? 0
      let found = try stored(row)
      if let key = found?.row.key, let print = try print(of: key) {
        try run("INSERT OR IGNORE INTO pruned (print) VALUES (\(print))")
      }
      // A damaged row does not show its search terms.
      let terms = found.flatMap { try? $0.payment() }.map { payment -> Statement in
        "created = \(payment.createdAt) AND text IN (\(each: SearchTerm.all(of: payment).sorted()))"
      }
      try run("DELETE FROM term WHERE payment = \(row) AND \(terms ?? "true")")
      for table in ["claim", "event", "observation", "operation"] {
        try run("DELETE FROM \(sql: table) WHERE payment = \(row)")
      }
      try run("DELETE FROM payment WHERE row = \(row)")
    }
    try run("UPDATE journal SET forgotten = forgotten + \(lines)")
    return count
  }
}
