import TenderDatabase
import TenderEngine
import TenderModel

/// A filter as SQL of PostgreSQL: all of it that columns and terms decide, so that few rows are left for
/// `AttemptFilter.lets`.
enum SharedCondition {
  /// Adds what columns decide.
  static func add(_ filter: AttemptFilter, to statement: inout Statement) {
    add("env =", filter.env.map { $0.rawValue }, &statement)
    add("provider =", filter.provider.map { $0.text }, &statement)
    addStatuses(filter, to: &statement)
    add("last_four =", filter.lastFour, &statement)
    if let amount = filter.amount { statement.add(" AND a.amount = \(statement.bind(amount))") }
    add("currency =", filter.currency?.code, &statement)
    if let since = filter.since { statement.add(" AND a.created >= \(statement.bind(since))") }
    if let until = filter.until { statement.add(" AND a.created <= \(statement.bind(until))") }
    if let handle = filter.handle { addHandle(handle, to: &statement) }
    if let by = filter.by {
      let mark = statement.bind(by)
      // The whole name, or the machine alone.
      let pattern = statement.bind("%@" + escaped(by))
      // There are few names: each is found by a step in the index, and no line is compared with a pattern.
      statement.add(
        """
         AND EXISTS (SELECT 1 FROM tender.history h WHERE h.attempt = a.row AND h.by = ANY (ARRAY(
          WITH RECURSIVE name (by) AS (
            SELECT min(by) FROM tender.history UNION ALL
            SELECT (SELECT min(f.by) FROM tender.history f WHERE f.by > n.by)
            FROM name n WHERE n.by IS NOT NULL
          ) SELECT n.by FROM name n WHERE n.by = \(mark) OR n.by LIKE \(pattern))))
        """
      )
    }
  }

  private static func add(_ text: String, _ value: String?, _ statement: inout Statement) {
    guard let value else { return }
    statement.add(" AND a.\(text) \(statement.bind(value))")
  }

  /// A reference or an id; what stands before the first `*` is looked up in an index.
  private static func addHandle(_ handle: String, to statement: inout Statement) {
    guard handle.contains("*") else {
      let mark = statement.bind(handle)
      return statement.add(" AND (a.reference = \(mark) OR a.id = \(mark))")
    }
    let pattern = statement.bind(
      handle.split(separator: "*", omittingEmptySubsequences: false).map { escaped(String($0)) }
        .joined(separator: "%")
    )
    statement.add(" AND (a.reference LIKE \(pattern) OR a.id LIKE \(pattern))")
    let beginning = String(handle.prefix { $0 != "*" })
    guard !beginning.isEmpty else { return }
    let low = statement.bind(beginning)
    let high = statement.bind(SearchTerm.end(of: beginning))
    statement.add(
      " AND a.row IN (SELECT b.row FROM tender.attempt b "
        + "WHERE b.reference >= \(low) AND b.reference < \(high) UNION "
        + "SELECT b.row FROM tender.attempt b WHERE b.id >= \(low) AND b.id < \(high))"
    )
  }

  /// A text in which no character stands for others.
  private static func escaped(_ text: String) -> String {
    text.map { "%_\\".contains($0) ? "\\\($0)" : String($0) }.joined()
  }

  /// What may still change.
  private static let open: String = {
    let open = Status.allCases.filter { !$0.isFinal }.map { "'\($0.rawValue)'" }
    return
      "(a.phase = 'sent' OR a.status IN (\(open.sorted().joined(separator: ", "))) "
      + "OR a.next_action IS NOT NULL)"
  }()

  private static func addStatuses(_ filter: AttemptFilter, to statement: inout Statement) {
    guard filter.isOpen || !filter.statuses.isEmpty else { return }
    var tests: [String] = []
    if filter.isOpen { tests.append(open) }
    if filter.statuses.contains(.unknown) {
      tests.append("a.phase = 'sent' OR a.status = 'unknown'")
    }
    for status in Status.allCases where status != .unknown && filter.statuses.contains(status) {
      tests.append("a.status = \(statement.bind(status.rawValue)) AND a.phase <> 'sent'")
    }
    statement.add(" AND (\(tests.joined(separator: " OR ")))")
  }

  /// Adds that terms find an attempt; gives nothing where no term does.
  static func addTerms(_ filter: AttemptFilter, to statement: inout Statement) {
    var test: String
    switch filter.query {
    case .exactly(let term): test = "t.text = \(statement.bind(term))"
    case .range(let low, let high):
      test = "t.text >= \(statement.bind(low)) AND t.text < \(statement.bind(high))"
    case .anyOf(let terms, let low, let high):
      test = "t.text = ANY (\(statement.bind(terms)))"
      test += " OR t.text >= \(statement.bind(low)) AND t.text < \(statement.bind(high))"
    case nil: return
    }
    statement.add(" AND a.row IN (SELECT t.attempt FROM tender.term t WHERE \(test))")
  }
}
