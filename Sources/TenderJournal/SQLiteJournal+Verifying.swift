import TenderEngine
package import TenderModel
import TenderSystem

/// Reads the whole journal, and compares it with its checksums and computed columns.
extension SQLiteJournal {
  package func verify() throws(Fault) -> [String] {
    var problems: [String] = []
    try database.query("PRAGMA integrity_check(10)") { row in
      if let text = row.first?.text, text != "ok" { problems.append("the database: \(text)") }
      return problems.count < Self.most
    }
    // The rows are read at one moment. Otherwise a payment written meanwhile would look inconsistent.
    problems += try database.atOneMoment { () throws(Fault) in
      let found = try rowProblems() + chainProblems() + orphans()
      return try found.isEmpty ? termProblems() : found
    }
    problems += try database.all(StoredTables.sharedIDs("").sqlite)
      .map { redactor.sharedID($0[0].text, $0[1].integer) }
    if let problem = try problem() { problems.append(problem.message) }
    if let mark, mark.read() == nil, try head() != nil {
      problems.append("there is no mark at \(mark.path): a loss of the whole folder is not noticed")
    }
    return problems
  }

  /// The maximum number of reported problems of a kind.
  private static let most = 100

  private func name(_ row: Row) -> String {
    redactor.redact(row.text("reference") ?? "").quotedForMessage
  }

  /// Returns payments that do not match their checksums, or whose computed columns do not match their
  /// operations and observations.
  private func rowProblems() throws(Fault) -> [String] {
    var problems: [String] = []
    try rows(PaymentRow.stored, PaymentRow.select) { row throws(Fault) in
      let number = row.number("row") ?? 0
      guard let found = try? PaymentRow.payment(row, try operations(of: number)) else {
        problems.append("the row of \(name(row)) does not match its checksum")
        return problems.count < Self.most
      }
      var observed = Observed()
      let columns = ObservationRow.columns.with(last: [("sum", .text)])
      try rows(
        columns,
        """
        SELECT \(sql: ObservationRow.columns.names.list()), sum FROM observation
        WHERE payment = \(number)
        """
      ) { said in
        guard let seen = ObservationRow.observation(said),
          said.text("sum") == said.sum()
        else {
          problems.append("an observation of \(name(row)) does not match its checksum")
          return false
        }
        // An observation of an earlier attempt does not concern the current one.
        if seen.operation >= found.attempt?.sequence ?? 0 { observed.join(seen) }
        return true
      }
      let computed = PaymentRow.values(found.with(found.operations, observed))
      if !computed.changes(from: row).isEmpty {
        problems.append("the stored status or amounts of \(name(row)) do not match its operations")
      }
      return problems.count < Self.most
    }
    return problems
  }

  /// Returns rows that belong to a missing payment.
  private func orphans() throws(Fault) -> [String] {
    var problems: [String] = []
    for (table, what) in [
      ("event", "payments of the history are missing"),
      ("operation", "payments of operations are missing"),
      ("observation", "payments of observations are missing"),
    ] where problems.isEmpty {
      let count = try number(
        """
        SELECT count(DISTINCT payment) FROM \(sql: table)
        WHERE payment > 0 AND payment NOT IN (SELECT row FROM payment)
        """
      )
      if let count, count > 0 { problems.append("\(count) \(what)") }
    }
    return problems
  }

  /// Returns payments with missing or wrong search terms.
  private func termProblems() throws(Fault) -> [String] {
    var problems: [String] = []
    var count = 0
    try rows(PaymentRow.stored, PaymentRow.select) { row throws(Fault) in
      let number = row.number("row") ?? 0
      let found = try PaymentRow.payment(row, try operations(of: number))
      for term in SearchTerm.all(of: found) {
        let there = try database.first(
          "SELECT 1 FROM term WHERE text = ? AND created = ? AND payment = ?",
          [.text(term), .integer(found.createdAt), .integer(number)]
        )
        if there != nil { count += 1 }
        // Payments from before this term lack it.
        guard there == nil, !SearchTerm.isLater(term) else { continue }
        problems.append("what \(name(row)) is searched by is not what its row says")
        break
      }
      return problems.count < Self.most
    }
    let all = try number("SELECT count(*) FROM term") ?? 0
    if problems.isEmpty, all != count {
      problems.append("\(all - count) terms that are searched belong to no payment")
    }
    return problems
  }

  private func chainProblems() throws(Fault) -> [String] {
    var problems: [String] = []
    var count = 0
    var newest = 0
    var link: String?
    var latest: [Int: String] = [:]
    let columns = EventRow.columns.with(last: [("link", .text)])
    let list = EventRow.columns.names.list()
    try rows(columns, "SELECT \(sql: list), link FROM event ORDER BY line") { row in
      let line = row.number("line") ?? 0
      if line == newest + 1, row.text("link") != row.sum([link]) {
        problems.append("line \(line) of the history does not follow the one before")
      }
      if let sum = row.text("sum"), let payment = row.number("payment") { latest[payment] = sum }
      (newest, link) = (line, row.text("link"))
      count += 1
      return problems.count < Self.most
    }
    try rows(PaymentRow.stored, PaymentRow.select) { row in
      if row.text("sum") != latest[row.number("row") ?? 0] {
        problems.append("the row of \(name(row)) is not what its history says was written last")
      }
      return problems.count < Self.most
    }
    let forgotten = try number("SELECT forgotten FROM journal") ?? 0
    if !(0...max(0, newest)).contains(forgotten) {
      problems.append("the number of lines that were pruned is damaged")
    }
    if problems.isEmpty, count + forgotten != newest {
      problems.append("\(newest - count - forgotten) lines of the history are missing")
    }
    return problems
  }
}
