import TenderEngine
import TenderModel

/// A filter as SQL for PostgreSQL, in parts that begin with ` AND`.
///
/// It has every test that columns and terms can decide, so that few rows remain for `PaymentFilter.lets`.
enum SharedCondition {
  /// Returns the tests on columns of payments `a`.
  static func columns(_ filter: PaymentFilter) -> Statement {
    var all = Statement(filter, of: "a")
    if let amount = filter.amount {
      let term = SearchTerm.requested(amount)
      // An array, not a subquery: then an index finds both halves.
      all += """
         AND (a.amount = \(amount)
        OR a.row = ANY (ARRAY(SELECT t.payment FROM tender.term t WHERE t.text = \(term))))
        """
    }
    all += statuses(filter)
    if let text = filter.handle { all += handle(text) }
    if let by = filter.by { all += writer(by) }
    return all
  }

  private static func statuses(_ filter: PaymentFilter) -> Statement {
    guard filter.isOpen || !filter.statuses.isEmpty else { return "" }
    let isOpen: Statement = filter.isOpen ? " OR a.is_final = 0" : ""
    let isUnknown: Statement = filter.statuses.contains(.unknown) ? " OR a.is_unknown = 1" : ""
    return """
       AND (a.status = ANY (\(filter.statuses.map(\.rawValue).sorted()))\(isOpen)\(isUnknown))
      """
  }

  /// Returns the test that a user or a machine wrote a line of the history.
  ///
  /// The text is the whole name, the machine, or the part before or after the slash. The server's user is
  /// before the slash. There are few names, so each is looked up in the index. No line is compared with a
  /// pattern.
  private static func writer(_ by: String) -> Statement {
    """
     AND EXISTS (SELECT 1 FROM tender.event h WHERE h.payment = a.row AND h.by = ANY (ARRAY(
      WITH RECURSIVE name (by) AS (
        SELECT min(by) FROM tender.event UNION ALL
        SELECT (SELECT min(f.by) FROM tender.event f WHERE f.by > n.by)
        FROM name n WHERE n.by IS NOT NULL
      ) SELECT n.by FROM name n WHERE n.by = \(by) OR n.by LIKE \("%@" + escaped(by))
        OR n.by LIKE \("%/" + escaped(by)) OR n.by LIKE \(escaped(by) + "/%"))))
    """
  }

  /// Returns the test on a reference or a provider's id, in which `*` is a wildcard.
  ///
  /// The part before the first `*` is looked up in an index.
  private static func handle(_ handle: String) -> Statement {
    guard handle.contains("*") else { return self.handle(exactly: handle) }
    let beginning = String(handle.prefix(before: "*"))
    let pattern = handle.split(separator: "*", omittingEmptySubsequences: false)
      .map { escaped(String($0)) }.joined(separator: "%")
    guard !beginning.isEmpty else { return either { "\(sql: $0) LIKE \(pattern)" } }
    let end = SearchTerm.end(of: beginning)
    return either {
      "\(sql: $0) >= \(beginning) AND \(sql: $0) < \(end) AND \(sql: $0) LIKE \(pattern)"
    }
  }

  /// Returns the test for an exact reference, also of a refund with the card, or an exact provider's id.
  static func handle(exactly handle: String) -> Statement {
    either(
      orIn: """
        UNION SELECT o.payment FROM tender.operation o JOIN tender.term t ON t.payment = o.payment
        WHERE t.text = \(SearchTerm.refund(handle)) AND o.link = \(handle) AND o.content IS NULL
        """
    ) { "\(sql: $0) = \(handle)" }
  }

  /// Returns the test that the reference or the id of an operation passes another test.
  private static func either(
    orIn others: Statement = "",
    _ test: (_ column: String) -> Statement
  ) -> Statement {
    """
     AND a.row IN (SELECT b.row FROM tender.payment b WHERE \(test("b.reference"))
    UNION SELECT o.payment FROM tender.operation o WHERE \(test("o.id")) \(others))
    """
  }

  /// Returns a text in which no character is a wildcard.
  private static func escaped(_ text: String) -> String {
    text.map { "%_\\".contains($0) ? "\\\($0)" : String($0) }.joined()
  }

  /// Returns the tests on search terms; empty if there are none.
  static func terms(_ filter: PaymentFilter) -> Statement {
    let test: Statement
    switch filter.query {
    case .exactly(let term): test = "t.text = \(term)"
    case .range(let low, let high): test = "t.text >= \(low) AND t.text < \(high)"
    case .anyOf(let terms, let low, let high):
      test = "t.text = ANY (\(terms)) OR t.text >= \(low) AND t.text < \(high)"
    case nil: return ""
    }
    return " AND a.row IN (SELECT t.payment FROM tender.term t WHERE \(test))"
  }
}
