import TenderEngine
package import TenderModel
import TenderSystem

/// Reads the whole journal, and computes again what can be computed.
extension SQLiteJournal {
  package func verify() throws(Fault) -> [String] {
    var problems: [String] = []
    try database.query("PRAGMA integrity_check(10)") { row in
      if let text = row.first?.text, text != "ok" { problems.append("the database: \(text)") }
      return problems.count < Self.most
    }
    // The rows are read at one moment. Otherwise a payment written meanwhile would look inconsistent.
    problems += try database.atOneMoment { () throws(Fault) in
      let found = try chainProblems() + strayRows()
      return try found + rowProblems(countsTerms: found.isEmpty)
    }
    if let problem = try problem() { problems.append(problem.message) }
    if let mark, mark.read() == nil, try head() != nil {
      problems.append("there is no mark at \(mark.path): a loss of the whole folder is not noticed")
    }
    return problems
  }

  /// The maximum number of reported problems of a kind.
  private static let most = 100

  /// Returns payments whose computed columns or search terms do not match their operations and observations. With
  /// `countsTerms`, the terms of no payment are a problem too.
  private func rowProblems(countsTerms: Bool) throws(Fault) -> [String] {
    var problems: [String] = []
    var count = 0
    try rows(PaymentRow.stored, PaymentRow.select) { row throws(Fault) in
      let number = row.number("row") ?? 0
      guard let found = try? PaymentRow.payment(row, try operations(of: number)) else {
        problems.append("the row of \(name(row)) cannot be read")
        return problems.count < Self.most
      }
      var observed = Observed()
      let list = ObservationRow.columns.names.list()
      try rows(
        ObservationRow.columns,
        "SELECT \(sql: list) FROM observation WHERE payment = \(number)"
      ) { said in
        // An observation of an earlier attempt does not concern the current one.
        if let seen = ObservationRow.observation(said),
          seen.operation >= found.attempt?.sequence ?? 0
        {
          observed.join(seen)
        }
        return true
      }
      let computed = PaymentRow.values(found.with(found.operations, observed))
      if !computed.changes(from: row).isEmpty {
        problems.append("the stored status or amounts of \(name(row)) do not match its operations")
      }
      let terms = SearchTerm.all(of: found)
      var there: Set<String> = []
      for term in terms {
        let count = try self.number(
          """
          SELECT count(*) FROM term WHERE text = \(term) AND created = \(found.createdAt)
          AND payment = \(number)
          """
        )
        if count == 1 { there.insert(term) }
      }
      count += there.count
      // Payments from before a term lack it.
      if !terms.subtracting(there).allSatisfy(SearchTerm.isLater) {
        problems.append("what \(name(row)) is searched by is not what its row says")
      }
      return problems.count < Self.most
    }
    let all = try number("SELECT count(*) FROM term") ?? 0
    if countsTerms, problems.isEmpty, all != count {
      problems.append("\(all - count) terms that are searched belong to no payment")
    }
    return problems
  }

  private func chainProblems() throws(Fault) -> [String] {
    var problems: [String] = []
    var count = 0
    var newest = 0
    var link: String?
    let columns = EventRow.columns.with(last: [("link", .text)])
    let list = columns.names.list()
    try rows(columns, "SELECT \(sql: list) FROM event ORDER BY line") { row in
      let line = row.number("line") ?? 0
      if line == newest + 1, row.text("link") != EventRow.link(of: row, after: link) {
        problems.append("line \(line) of the history does not follow the one before")
      }
      (newest, link) = (line, row.text("link"))
      count += 1
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
