import TenderEngine
import TenderModel
import TenderSystem

/// A filter as SQL: all of it that columns decide, so that few rows are left for `PaymentFilter.lets`.
struct Condition {
  var and = ""
  var values: [Database.Value] = []

  init(_ filter: PaymentFilter) {
    add("p.env = ?", filter.env.map { .text($0.rawValue) })
    add("p.provider = ?", filter.provider.map { .text($0.text) })
    addStatuses(filter)
    add("p.last_four = ?", filter.lastFour.map(Database.Value.text))
    add("p.amount = ?", filter.amount.map(Database.Value.integer))
    add("p.currency = ?", filter.currency.map { .text($0.code) })
    add("p.created >= ?", filter.since.map(Database.Value.integer))
    add("p.created <= ?", filter.until.map(Database.Value.integer))
    if let by = filter.by {
      and += Self.writer
      values += Self.values(writer: by)
    }
    if let handle = filter.handle {
      // `*` alone stands for others.
      let glob = Database.Value.text(Self.glob(handle))
      and += " AND (p.reference GLOB ? OR EXISTS (SELECT 1 FROM operation o "
      and += "WHERE o.payment = p.row AND o.id GLOB ?))"
      values += [glob, glob]
    }
  }

  /// That a user or a machine wrote a line about a payment: the whole name, or the machine alone.
  static let writer =
    " AND EXISTS (SELECT 1 FROM event e WHERE e.payment = p.row AND (e.by = ? OR e.by GLOB ?))"

  static func values(writer by: String) -> [Database.Value] {
    [.text(by), .text(glob("*@" + by))]
  }

  /// A pattern in which `*` alone stands for others.
  private static func glob(_ handle: String) -> String {
    handle.map { "[?".contains($0) ? "[\($0)]" : String($0) }.joined()
  }

  /// Statements for the rows that may be meant and when they were created.
  struct Candidates {
    let sql: String
    let values: [Database.Value]
    /// Whether the newest come first.
    var isSorted = false
  }

  /// The rows that a reference or a provider's id may mean.
  static func candidates(matching handle: String) -> Candidates {
    guard case .exactly(let term) = SearchTerm.query(id: handle) else {
      return Candidates(sql: byReference + " = ?", values: [.text(handle)])
    }
    return Candidates(
      sql: "\(byReference) = ? UNION \(byTerm) = ?",
      values: [.text(handle), .text(term)]
    )
  }

  private static let byReference = "SELECT row, created FROM payment WHERE reference"
  private static let byTerm = "SELECT payment, created FROM term WHERE text"

  /// The rows that may be meant; nil where no index is narrower than a column's.
  static func candidates(_ filter: PaymentFilter) -> Candidates? {
    switch filter.query {
    case .exactly(let term):
      return Candidates(
        sql: byTerm + " = ? ORDER BY created DESC, payment DESC",
        values: [.text(term)],
        isSorted: true
      )
    case .range(let low, let high):
      return Candidates(sql: byTerm + " >= ? AND text < ?", values: [.text(low), .text(high)])
    case .anyOf(let terms, let low, let high):
      let marks = terms.map { _ in "?" }.joined(separator: ", ")
      return Candidates(
        sql: byTerm + " IN (\(marks)) OR (text >= ? AND text < ?)",
        values: terms.map(Database.Value.text) + [.text(low), .text(high)]
      )
    case nil: break
    }
    guard let handle = filter.handle else { return ofSeveralStatuses(filter) }
    guard handle.contains("*") else { return candidates(matching: handle) }
    let beginning = String(handle.prefix { $0 != "*" })
    guard !beginning.isEmpty, case .exactly(let term) = SearchTerm.query(id: beginning) else {
      // Both indexes are read from end to end, which is less than the rows; of an id that is longer than what is
      // indexed of it, the operation is asked.
      let glob = Database.Value.text(glob(handle))
      return Candidates(
        sql: "SELECT row, created FROM payment WHERE row IN ("
          + "SELECT row FROM payment WHERE reference GLOB ?) UNION "
          + "SELECT t.payment, t.created FROM term t WHERE t.text GLOB 'i:*' AND (t.text GLOB 'i:' || ? "
          + "OR length(t.text) >= \(SearchTerm.longestID) AND EXISTS (SELECT 1 FROM operation o "
          + "WHERE o.payment = t.payment AND o.id GLOB ?))",
        values: [glob, glob, glob]
      )
    }
    let range = { (low: String) -> [Database.Value] in
      [.text(low), .text(SearchTerm.end(of: low))]
    }
    return Candidates(
      sql: "\(byReference) >= ? AND reference < ? UNION \(byTerm) >= ? AND text < ?",
      values: range(beginning) + range(term)
    )
  }

  /// Sorting rows by time takes as much memory as they have; sorting their numbers does not.
  private static func ofSeveralStatuses(_ filter: PaymentFilter) -> Candidates? {
    let isOpenToo = filter.isOpen || filter.statuses.contains { !$0.isFinal }
    let statuses = Status.allCases.filter { $0.isFinal && filter.statuses.contains($0) }
    guard statuses.count > 1 || statuses.count == 1 && isOpenToo else { return nil }
    let marks = statuses.map { _ in "?" }.joined(separator: ", ")
    guard case .exactly(let open) = SearchTerm.queryOpen else { return nil }
    return Candidates(
      sql: "SELECT row, created FROM payment WHERE status IN (\(marks)) "
        + "AND \(SQLiteJournal.settledStatus)" + (isOpenToo ? " UNION \(byTerm) = ?" : ""),
      values: statuses.map { .text($0.rawValue) } + (isOpenToo ? [.text(open)] : [])
    )
  }

  private mutating func addStatuses(_ filter: PaymentFilter) {
    guard filter.isOpen || !filter.statuses.isEmpty else { return }
    var tests = filter.isOpen ? ["p.is_final = 0"] : []
    if filter.statuses.contains(.unknown) { tests.append("p.is_unknown = 1") }
    for status in Status.allCases where filter.statuses.contains(status) {
      tests.append("p.status = ?")
      values.append(.text(status.rawValue))
    }
    and += " AND (\(tests.joined(separator: " OR ")))"
    // It says which index to use.
    if !filter.isOpen, filter.statuses.allSatisfy(\.isFinal) {
      and += " AND p." + SQLiteJournal.settledStatus
    }
  }

  private mutating func add(_ text: String, _ value: Database.Value?) {
    guard let value else { return }
    and += " AND " + text
    values.append(value)
  }
}
