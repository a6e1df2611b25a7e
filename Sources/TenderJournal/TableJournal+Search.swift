package import TenderEngine
package import TenderModel

/// A query for payments that may match a filter: their numbers (`row`) and the times of their creation (`created`).
///
/// It has every test that the database can decide, so that few payments remain for `PaymentFilter.lets`.
package struct Search {
  let statement: Statement
  /// Whether an index has the results in the order of time. Other results are sorted by their
  /// numbers alone, because whole rows would need much memory.
  let isSorted: Bool

  init(_ parts: [Statement], isSorted: Bool = false) {
    (statement, self.isSorted) = ("\(parts, by: " UNION ")", isSorted)
  }

  /// The order of `each`, newest first.
  static let order: Statement = " ORDER BY created DESC, row DESC"

  /// The statement, with its order if an index has it.
  package var ordered: Statement { isSorted ? "\(statement)\(Self.order)" : statement }
}

extension TableJournal {
  /// Returns the query for the payments that may match a filter.
  package static func search(_ filter: PaymentFilter) -> Search {
    if let query = filter.query {
      let (terms, beginnings) = (query.exact, query.beginnings)
      guard terms.count > 1 || !beginnings.isEmpty else {
        return Search(terms.map { byTerm($0, filter) }, isSorted: true)
      }
      // With an empty list, SQLite would read all terms.
      let exact = terms.isEmpty ? [] : [byTerms("t.text IN (\(each: terms))", filter)]
      let ranges = beginnings.map { low in
        byTerms("t.text >= \(low) AND t.text < \(SearchTerm.end(of: low))", filter)
      }
      return Search(exact + ranges)
    }
    if let name = filter.name { return search(named: name, filter) }
    if let handle = filter.handle {
      return handle.contains("*") ? search(like: handle, filter) : search(named: handle, filter)
    }
    if let amount = filter.amount {
      // All parts are in the order of time, so they are merged, and nothing is sorted.
      var rest = filter
      rest.amount = nil
      let parts = amount.candidates.flatMap { units in
        [payments(" AND a.amount = \(units)", rest), byTerm(SearchTerm.requested(units), rest)]
      }
      return Search(parts, isSorted: true)
    }
    guard filter.isOpen || !filter.statuses.isEmpty else {
      return Search([payments("", filter)], isSorted: true)
    }
    // The index has payments with settled statuses. A term has all open payments.
    var settled = filter
    (settled.statuses, settled.isOpen) = (filter.statuses.filter(StoredTables.isIndexed), false)
    let isOpenToo = filter.isOpen || settled.statuses.count < filter.statuses.count
    guard settled.statuses.count > (isOpenToo ? 0 : 1) else {
      return Search([payments("", filter)], isSorted: true)
    }
    return Search([payments("", settled)] + (isOpenToo ? [byTerm(SearchTerm.open, filter)] : []))
  }

  /// Searches for a reference, also of a refund with the card, or a provider's id.
  private static func search(named name: String, _ filter: PaymentFilter) -> Search {
    let forms = Reference.forms(of: name)
    let terms = forms.flatMap { [SearchTerm.id($0), SearchTerm.refund($0)] }
    // Few payments have a name, so `PaymentFilter.lets` tests their columns.
    var rest = PaymentFilter()
    (rest.by, rest.unneededBefore) = (filter.by, filter.unneededBefore)
    return Search([
      payments(" AND a.reference IN (\(each: forms))", rest),
      byTerms("t.text IN (\(each: terms))", rest),
    ])
  }

  /// Searches for a reference or a provider's id in which `*` is a wildcard.
  private static func search(like handle: String, _ filter: PaymentFilter) -> Search {
    let beginning = String(handle.prefix(before: "*"))
    let term = SearchTerm.id(beginning)
    let (end, lastTerm) = (SearchTerm.end(of: beginning), SearchTerm.end(of: term))
    guard beginning.isEmpty else {
      return Search([
        payments(" AND a.reference >= \(beginning) AND a.reference < \(end)", filter),
        byTerms("t.text >= \(term) AND t.text < \(lastTerm)", filter),
      ])
    }
    // Reading both indexes completely is cheaper than reading the rows. An id longer than the indexed part is
    // compared in the operation.
    let parts = handle.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
    let references: Statement = """
       AND a.row IN (
        SELECT b.row FROM \(sql: schema)payment b WHERE \(dialect.matches("b.reference", parts))
      )
      """
    let ids: Statement = "t.text >= \(term) AND t.text < \(lastTerm)"
    let longer: Statement = """
      \(ids) AND length(t.text) >= \(sql: SearchTerm.longestID) AND EXISTS (
        SELECT 1 FROM \(sql: schema)operation o
        WHERE o.payment = t.payment AND \(dialect.matches("o.id", parts))
      )
      """
    let shorter = dialect.matches("t.text", [term] + parts.dropFirst())
    return Search([
      payments(references, filter), byTerms("\(ids) AND \(shorter)", filter),
      byTerms(longer, filter),
    ])
  }

  private static func payments(_ test: Statement, _ filter: PaymentFilter) -> Statement {
    "SELECT a.row AS row, a.created AS created FROM \(sql: schema)payment a WHERE true\(test)\(columns(filter))"
  }

  private static func byTerm(_ term: String, _ filter: PaymentFilter) -> Statement {
    "SELECT t.payment AS row, t.created AS created FROM \(ofTerms("t.text = \(term)", filter))"
  }

  /// Several terms may be of one payment.
  private static func byTerms(_ test: Statement, _ filter: PaymentFilter) -> Statement {
    "SELECT DISTINCT t.payment AS row, t.created AS created FROM \(ofTerms(test, filter))"
  }

  /// In SQLite, a cross join begins with its first table.
  private static func ofTerms(_ test: Statement, _ filter: PaymentFilter) -> Statement {
    let tests = columns(filter)
    guard !tests.isEmpty else { return "\(sql: schema)term t WHERE \(test)" }
    return """
      \(sql: schema)term t CROSS JOIN \(sql: schema)payment a
      WHERE a.row = t.payment AND (\(test))\(tests)
      """
  }

  /// Returns the tests on columns of payments `a`. Each begins with ` AND`.
  static func columns(_ filter: PaymentFilter) -> Statement {
    let tests: [(String, Statement?)] = [
      ("env =", filter.env.map { "\($0.rawValue)" }),
      ("provider =", filter.provider.map { "\($0.text)" }),
      ("last_four =", filter.lastFour.map { "\($0)" }),
      ("currency =", filter.currency.map { "\($0.code)" }),
      ("created >=", filter.since.map { "\($0)" }), ("created <=", filter.until.map { "\($0)" }),
    ]
    var all: Statement = ""
    for case (let test, let value?) in tests { all += " AND a.\(sql: test) \(value)" }
    if let amount = filter.amount {
      let units = amount.candidates.map(String.init).joined(separator: ", ")
      let terms: Statement = """
        SELECT t.payment FROM \(sql: schema)term t
        WHERE t.text IN (\(each: amount.candidates.map(SearchTerm.requested)))
        """
      all += " AND (a.amount IN (\(sql: units)) OR a.row IN (\(terms)))"
    }
    all += statuses(filter)
    if let by = filter.by {
      all += """
         AND EXISTS (
          SELECT 1 FROM \(sql: schema)event h WHERE h.payment = a.row AND \(writer(by))
        )
        """
    }
    if let time = filter.unneededBefore { all += unneeded(before: time) }
    return all
  }

  private static func statuses(_ filter: PaymentFilter) -> Statement {
    guard filter.isOpen || !filter.statuses.isEmpty else { return "" }
    let statuses = Status.allCases.filter(filter.statuses.contains)
    var tests: [Statement] = []
    if !statuses.isEmpty { tests.append("a.status IN (\(each: statuses.map(\.rawValue)))") }
    if filter.isOpen { tests.append("a.is_final = 0") }
    if statuses.contains(.unknown) { tests.append("a.is_unknown = 1") }
    // For SQLite, this names the index to use.
    let index: Statement =
      !filter.isOpen && statuses.allSatisfy(StoredTables.isIndexed)
      ? " AND a.\(sql: StoredTables.settledStatus)" : ""
    return " AND (\(tests, by: " OR "))\(index)"
  }

  /// Returns the tests that a payment is old enough, finished and no longer needed.
  ///
  /// What is left to refund of an original is counted by its refunds.
  private static func unneeded(before time: Int) -> Statement {
    """
     AND a.updated < \(time) AND a.is_final = 1 AND a.is_unknown = 0
    AND NOT (a.kind = \(sql: Payment.Kind.mandate.rawValue) AND a.status = 'authorized')
    AND NOT \(sql: isOfOriginal)\(sql: dialect.idle)
    """
  }

  /// The test that a payment is a refund of another one.
  static var isOfOriginal: String {
    """
    EXISTS (
      SELECT 1 FROM \(schema)operation o JOIN \(schema)payment q ON q.reference = o.link
      WHERE o.payment = a.row AND o.content IS NOT NULL
      AND q.env = a.env AND q.provider = a.provider
    )
    """
  }

  static var schema: String { dialect.schema }

  package func count(_ filter: PaymentFilter, upTo limit: Int) throws(Fault) -> Int {
    guard filter.isOfColumns else { return try counted(filter, upTo: limit) }
    let found: Statement = "SELECT row FROM (\(Self.search(filter).statement)) found LIMIT \(limit)"
    return try number("SELECT count(*) FROM (\(found)) counted") ?? 0
  }
}
