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
    if let loss = try loss() { problems.append(loss.fault.message) }
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
    var last = 0
    while problems.count < Self.most,
      let number = try self.number("SELECT min(row) FROM payment WHERE row > \(last)"),
      let stored = try stored(number)
    {
      last = number
      guard let found = try? stored.payment() else {
        problems.append("the row of \(name(stored.row)) cannot be read")
        continue
      }
      var observed = Observed()
      let list = ObservationRow.columns.names.list()
      for values in try rows("SELECT \(sql: list) FROM observation WHERE payment = \(number)") {
        // An observation of an earlier attempt does not concern the current one.
        if let seen = Row(ObservationRow.columns, read: values).flatMap(ObservationRow.observation),
          seen.operation >= found.attempt?.sequence ?? 0
        {
          observed.join(seen)
        }
      }
      let computed = PaymentRow.values(found.with(found.operations, observed))
      if !computed.changes(from: stored.row).isEmpty {
        let name = name(stored.row)
        problems.append("the stored status or amounts of \(name) do not match its operations")
      }
      let terms = SearchTerm.all(of: found)
      let there = try rows(
        """
        SELECT text FROM term WHERE created = \(found.createdAt) AND payment = \(number)
        AND text IN (\(each: terms.sorted()))
        """
      ).compactMap(\.[0].text)
      count += there.count
      // Payments from before a term lack it.
      if !terms.subtracting(there).allSatisfy(SearchTerm.isLater) {
        problems.append("what \(name(stored.row)) is searched by is not what its row says")
      }
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
    let list = EventRow.linked.names.list()
    try each("SELECT \(sql: list) FROM event ORDER BY line") { values in
      guard let row = Row(EventRow.linked, read: values) else { return true }
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
