import TenderEngine
import TenderModel
import TenderSystem

/// A filter as SQL of SQLite: all of it that columns decide, so that few rows are left for `PaymentFilter.lets`.
enum Condition {
  /// What columns decide of payments `p`: tests that begin with ` AND`.
  static func columns(_ filter: PaymentFilter) -> Statement {
    var all = Statement(filter, of: "p")
    all += statuses(filter)
    if let by = filter.by { all += writer(by) }
    if let handle = filter.handle {
      // `*` alone stands for others.
      let glob = glob(handle)
      all += """
         AND (p.reference GLOB \(glob)
        OR EXISTS (SELECT 1 FROM operation o WHERE o.payment = p.row AND o.id GLOB \(glob)))
        """
    }
    return all
  }

  private static func statuses(_ filter: PaymentFilter) -> Statement {
    guard filter.isOpen || !filter.statuses.isEmpty else { return "" }
    let isOpen: Statement = filter.isOpen ? " OR p.is_final = 0" : ""
    let isUnknown: Statement = filter.statuses.contains(.unknown) ? " OR p.is_unknown = 1" : ""
    let statuses = Status.allCases.filter(filter.statuses.contains)
    // It says which index to use.
    let index: Statement =
      !filter.isOpen && statuses.allSatisfy(SQLiteJournal.isIndexed)
      ? " AND p.\(sql: SQLiteJournal.settledStatus)" : ""
    return " AND (p.status IN (\(each: statuses.map(\.rawValue)))\(isOpen)\(isUnknown))\(index)"
  }

  /// That a user or a machine wrote a line about a payment: the whole name, or the machine alone.
  static func writer(_ by: String) -> Statement {
    """
     AND EXISTS (
      SELECT 1 FROM event e WHERE e.payment = p.row AND (e.by = \(by) OR e.by GLOB \("*@" + glob(by, except: "[?*")))
    )
    """
  }

  /// A pattern in which `*` alone stands for others.
  private static func glob(_ handle: String, except special: String = "[?") -> String {
    handle.map { special.contains($0) ? "[\($0)]" : String($0) }.joined()
  }

  /// The rows that may be meant and when they were created.
  struct Candidates {
    let statement: Statement
    /// Whether the newest come first.
    var isSorted = false
  }

  /// The rows that a reference or a provider's id may mean.
  static func candidates(matching handle: String) -> Candidates {
    guard case .exactly(let term) = SearchTerm.query(id: handle) else {
      return Candidates(statement: "\(byReference) = \(handle)")
    }
    return Candidates(statement: "\(byReference) = \(handle) UNION \(byTerm) = \(term)")
  }

  private static let byReference: Statement = "SELECT row, created FROM payment WHERE reference"
  private static let byTerm: Statement = "SELECT payment, created FROM term WHERE text"

  /// The rows that may be meant; nil where no index is narrower than a column's.
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
    guard let handle = filter.handle else { return ofSeveralStatuses(filter) }
    guard handle.contains("*") else { return candidates(matching: handle) }
    let beginning = String(handle.prefix { $0 != "*" })
    guard !beginning.isEmpty, case .exactly(let term) = SearchTerm.query(id: beginning) else {
      // Both indexes are read from end to end, which is less than the rows; of an id that is longer than what is
      // indexed of it, the operation is asked.
      let glob = glob(handle)
      return Candidates(
        statement: """
          SELECT row, created FROM payment WHERE row IN (
            SELECT row FROM payment WHERE reference GLOB \(glob)
          ) UNION SELECT t.payment, t.created FROM term t
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

  /// Sorting rows by time takes as much memory as they have; sorting their numbers does not.
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
