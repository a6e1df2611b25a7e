import TenderEngine
import TenderModel
import TenderSystem

/// A filter as SQL for SQLite. It has every test that columns can decide, so that few rows remain for
/// `PaymentFilter.lets`.
enum Condition {
  /// Returns the tests on columns of payments `a`. Each begins with ` AND`.
  static func columns(_ filter: PaymentFilter) -> Statement {
    var all = Statement(filter, of: "a")
    if let amount = filter.amount {
      all +=
        " AND (a.amount = \(amount) OR a.row IN (SELECT payment FROM term WHERE text = \(SearchTerm.requested(amount))))"
    }
    all += statuses(filter)
    if let by = filter.by { all += writer(by) }
    if let handle = filter.handle {
      // In a handle, only `*` is a wildcard.
      let glob = glob(handle)
      all += """
         AND (a.reference GLOB \(glob)
        OR EXISTS (SELECT 1 FROM operation o WHERE o.payment = a.row AND o.id GLOB \(glob)))
        """
    }
    return all
  }

  private static func statuses(_ filter: PaymentFilter) -> Statement {
    guard filter.isOpen || !filter.statuses.isEmpty else { return "" }
    let isOpen: Statement = filter.isOpen ? " OR a.is_final = 0" : ""
    let isUnknown: Statement = filter.statuses.contains(.unknown) ? " OR a.is_unknown = 1" : ""
    let statuses = Status.allCases.filter(filter.statuses.contains)
    // The hint names the index to use.
    let index: Statement =
      !filter.isOpen && statuses.allSatisfy(SQLiteJournal.isIndexed)
      ? " AND a.\(sql: SQLiteJournal.settledStatus)" : ""
    return " AND (a.status IN (\(each: statuses.map(\.rawValue)))\(isOpen)\(isUnknown))\(index)"
  }

  /// Returns the test that a user or a machine wrote a line about a payment: by the whole name, or the
  /// machine.
  static func writer(_ by: String) -> Statement {
    """
     AND EXISTS (
      SELECT 1 FROM event e WHERE e.payment = a.row AND (e.by = \(by) OR e.by GLOB \("*@" + glob(by, except: "[?*")))
    )
    """
  }

  /// Returns a pattern in which only `*` is a wildcard.
  private static func glob(_ handle: String, except special: String = "[?") -> String {
    handle.map { special.contains($0) ? "[\($0)]" : String($0) }.joined()
  }

  /// A query for rows that may match, with the times of their creation.
  struct Candidates {
    let statement: Statement
    /// Whether the newest rows come first.
    var isSorted = false
  }

  /// Returns the rows with a reference or a provider's id.
  static func candidates(matching handle: String) -> Candidates {
    guard case .exactly(let term) = SearchTerm.query(id: handle) else {
      return Candidates(statement: "\(byReference) = \(handle)")
    }
    let terms = [term, SearchTerm.refund(handle)]
    return Candidates(statement: "\(byReference) = \(handle) UNION \(byTerm) IN (\(each: terms))")
  }

  private static let byReference: Statement = "SELECT row, created FROM payment WHERE reference"
  private static let byTerm: Statement = "SELECT payment, created FROM term WHERE text"

  /// Returns the rows that may match; nil if no index is narrower than a column's.
  static func candidates(_ filter: PaymentFilter) -> Candidates? {
    switch filter.query {
    case .exactly(let term):
      return Candidates(
        statement: "\(byTerm) = \(term) ORDER BY created DESC, payment DESC",
        isSorted: true
      )
    case .range(let low, let high):
      return Candidates(statement: "\(byTerm) >= \(low) AND text < \(high)")
    case .anyOf(let terms, let low, let high):
      return Candidates(
        statement: "\(byTerm) IN (\(each: terms)) OR (text >= \(low) AND text < \(high))"
      )
    case nil: break
    }
    guard let handle = filter.handle else {
      return filter.amount.map { ofAmount($0, filter) } ?? ofSeveralStatuses(filter)
    }
    guard handle.contains("*") else { return candidates(matching: handle) }
    let beginning = String(handle.prefix(before: "*"))
    guard !beginning.isEmpty, case .exactly(let term) = SearchTerm.query(id: beginning) else {
      // Reading both indexes completely is cheaper than reading the rows. An id longer than the indexed part
      // is compared in the operation.
      let glob = glob(handle)
      let part = String(handle.dropFirst().dropLast())
      // For a part between two wildcards, this takes half as long as a pattern.
      let isMatch: Statement =
        beginning.isEmpty && handle.hasSuffix("*") && !part.contains("*")
        ? "instr(reference, \(part))" : "reference GLOB \(glob)"
      return Candidates(
        statement: """
          SELECT row, created FROM payment WHERE row IN (SELECT row FROM payment WHERE \(isMatch))
          UNION SELECT t.payment, t.created FROM term t
          WHERE t.text GLOB 'i:*' AND (t.text GLOB 'i:' || \(glob)
            OR length(t.text) >= \(sql: SearchTerm.longestID) AND EXISTS (
              SELECT 1 FROM operation o WHERE o.payment = t.payment AND o.id GLOB \(glob)
            ))
          """
      )
    }
    return Candidates(
      statement: """
        \(byReference) >= \(beginning) AND reference < \(SearchTerm.end(of: beginning))
        UNION \(byTerm) >= \(term) AND text < \(SearchTerm.end(of: term))
        """
    )
  }

  /// Returns the payments of an amount or a requested amount.
  ///
  /// Both halves are in the order of time: SQLite merges them and sorts nothing.
  private static func ofAmount(_ amount: Int, _ filter: PaymentFilter) -> Candidates {
    var rest = filter
    rest.amount = nil
    return Candidates(
      statement: """
        SELECT a.row, a.created FROM payment a WHERE a.amount = \(amount)\(columns(rest))
        UNION \(byTerm) = \(SearchTerm.requested(amount)) ORDER BY 2 DESC, 1 DESC
        """,
      isSorted: true
    )
  }

  /// Row numbers are sorted instead of rows, which would need as much memory as the rows have.
  private static func ofSeveralStatuses(_ filter: PaymentFilter) -> Candidates? {
    let statuses = Status.allCases.filter {
      SQLiteJournal.isIndexed($0) && filter.statuses.contains($0)
    }
    let isOpenToo = filter.isOpen || statuses.count < filter.statuses.count
    guard statuses.count > 1 || statuses.count == 1 && isOpenToo,
      case .exactly(let open) = SearchTerm.queryOpen
    else { return nil }
    let others: Statement = isOpenToo ? " UNION \(byTerm) = \(open)" : ""
    return Candidates(
      statement: """
        SELECT row, created FROM payment WHERE status IN (\(each: statuses.map(\.rawValue)))
        AND \(sql: SQLiteJournal.settledStatus)\(others)
        """
    )
  }
}
