import TenderEngine
import TenderModel

/// A filter as SQL of PostgreSQL: all of it that columns and terms decide, so that few rows are left for
/// `PaymentFilter.lets`.
enum SharedCondition {
  /// Adds what columns decide of payments `a`.
  static func add(_ filter: PaymentFilter, to statement: inout Statement) {
    add("env =", filter.env.map { $0.rawValue }, &statement)
    add("provider =", filter.provider.map { $0.text }, &statement)
    addStatuses(filter, to: &statement)
    add("last_four =", filter.lastFour, &statement)
    add("amount =", filter.amount, &statement)
    add("currency =", filter.currency?.code, &statement)
    add("created >=", filter.since, &statement)
    add("created <=", filter.until, &statement)
    if let handle = filter.handle { addHandle(handle, to: &statement) }
    if let by = filter.by { addWriter(by, to: &statement) }
  }

  private static func add(_ text: String, _ value: String?, _ statement: inout Statement) {
    guard let value else { return }
    statement.add(" AND a.\(text) \(statement.bind(value))")
  }

  private static func add(_ text: String, _ value: Int?, _ statement: inout Statement) {
    guard let value else { return }
    statement.add(" AND a.\(text) \(statement.bind(value))")
  }

  /// Adds that a user or a machine wrote a line of the history.
  private static func addWriter(_ by: String, to statement: inout Statement) {
    let mark = statement.bind(by)
    // The whole name, or the machine alone.
    let pattern = statement.bind("%@" + escaped(by))
    // There are few names: each is found by a step in the index, and no line is compared with a pattern.
    statement.add(
      """
       AND EXISTS (SELECT 1 FROM tender.event h WHERE h.payment = a.row AND h.by = ANY (ARRAY(
        WITH RECURSIVE name (by) AS (
          SELECT min(by) FROM tender.event UNION ALL
          SELECT (SELECT min(f.by) FROM tender.event f WHERE f.by > n.by)
          FROM name n WHERE n.by IS NOT NULL
        ) SELECT n.by FROM name n WHERE n.by = \(mark) OR n.by LIKE \(pattern))))
      """
    )
  }

  /// Adds a reference or a provider's id, in which `*` stands for any characters.
  ///
  /// What is before the first `*` is looked up in an index.
  private static func addHandle(_ handle: String, to statement: inout Statement) {
    guard handle.contains("*") else { return addHandle(exactly: handle, to: &statement) }
    let beginning = String(handle.prefix { $0 != "*" })
    let pattern = statement.bind(
      handle.split(separator: "*", omittingEmptySubsequences: false).map { escaped(String($0)) }
        .joined(separator: "%")
    )
    guard !beginning.isEmpty else { return addUnion("LIKE \(pattern)", to: &statement) }
    let low = statement.bind(beginning)
    let high = statement.bind(SearchTerm.end(of: beginning))
    addUnion(">= \(low) AND VALUE < \(high) AND VALUE LIKE \(pattern)", to: &statement)
  }

  /// Adds a reference or a provider's id.
  static func addHandle(exactly handle: String, to statement: inout Statement) {
    addUnion("= \(statement.bind(handle))", to: &statement)
  }

  /// Adds that the reference or the id of an operation passes a test; `VALUE` stands for either.
  private static func addUnion(_ test: String, to statement: inout Statement) {
    statement.add(
      " AND a.row IN (SELECT b.row FROM tender.payment b WHERE b.reference "
        + test.replacing("VALUE", with: "b.reference")
        + " UNION SELECT o.payment FROM tender.operation o WHERE o.id "
        + test.replacing("VALUE", with: "o.id") + ")"
    )
  }

  /// A text in which no character stands for others.
  private static func escaped(_ text: String) -> String {
    text.map { "%_\\".contains($0) ? "\\\($0)" : String($0) }.joined()
  }

  private static func addStatuses(_ filter: PaymentFilter, to statement: inout Statement) {
    guard filter.isOpen || !filter.statuses.isEmpty else { return }
    var tests = ["a.status = ANY (\(statement.bind(filter.statuses.map(\.rawValue).sorted())))"]
    if filter.isOpen { tests.append("a.is_final = 0") }
    if filter.statuses.contains(.unknown) { tests.append("a.is_unknown = 1") }
    statement.add(" AND (\(tests.joined(separator: " OR ")))")
  }

  /// Adds that terms find a payment; adds nothing where no term does.
  static func addTerms(_ filter: PaymentFilter, to statement: inout Statement) {
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
    statement.add(" AND a.row IN (SELECT t.payment FROM tender.term t WHERE \(test))")
  }
}
