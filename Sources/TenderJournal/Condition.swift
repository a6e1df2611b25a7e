import TenderDatabase
import TenderEngine
import TenderModel

/// A filter as SQL: all of it that columns decide, so that few rows are left for `AttemptFilter.lets`.
struct Condition {
  var and = ""
  var values: [Database.Value] = []

  init(_ filter: AttemptFilter) {
    add("env = ?", filter.env.map { .text($0.rawValue) })
    add("provider = ?", filter.provider.map { .text($0.text) })
    addStatuses(filter)
    add("last_four = ?", filter.lastFour.map(Database.Value.text))
    add("amount = ?", filter.amount.map(Database.Value.integer))
    add("currency = ?", filter.currency.map { .text($0.code) })
    add("created >= ?", filter.since.map(Database.Value.integer))
    add("created <= ?", filter.until.map(Database.Value.integer))
    if let by = filter.by {
      // The whole name, or the machine alone.
      and +=
        " AND a.row IN (SELECT attempt FROM history WHERE by = ? OR (by IS NOT NULL AND by GLOB ?))"
      values += [.text(by), .text(Self.glob("*@" + by))]
    }
    if let handle = filter.handle {
      let test = handle.contains("*") ? "GLOB" : "="
      and += " AND (reference \(test) ? OR a.id \(test) ?)"
      values += Array(repeating: .text(test == "=" ? handle : Self.glob(handle)), count: 2)
    }
  }

  /// A pattern in which `*` alone stands for others.
  private static func glob(_ handle: String) -> String {
    handle.map { "[?".contains($0) ? "[\($0)]" : String($0) }.joined()
  }

  /// The rows that may be meant and when they were created; nil where no index is narrower than a column's.
  ///
  /// `isSorted` says that the newest come first.
  static func candidates(
    _ filter: AttemptFilter
  ) -> (sql: String, values: [Database.Value], isSorted: Bool)? {
    switch filter.query {
    case .exactly(let term):
      let sql = "SELECT attempt FROM term WHERE text = ? ORDER BY created DESC, attempt DESC"
      return (sql, [.text(term)], true)
    case .range(let low, let high):
      return (
        "SELECT attempt, created FROM term WHERE text >= ? AND text < ?",
        [.text(low), .text(high)], false
      )
    case .anyOf(let terms, let low, let high):
      let marks = terms.map { _ in "?" }.joined(separator: ", ")
      return (
        "SELECT attempt, created FROM term WHERE text IN (\(marks)) OR (text >= ? AND text < ?)",
        terms.map(Database.Value.text) + [.text(low), .text(high)], false
      )
    case nil: break
    }
    guard let handle = filter.handle else { return ofSeveralStatuses(filter) }
    let select = "SELECT row, created FROM attempt WHERE"
    guard handle.contains("*") else {
      return (
        "\(select) reference = ? UNION \(select) id = ?", [.text(handle), .text(handle)], false
      )
    }
    let beginning = String(handle.prefix { $0 != "*" })
    if !beginning.isEmpty {
      let range: [Database.Value] = [.text(beginning), .text(SearchTerm.end(of: beginning))]
      return (
        "\(select) reference >= ? AND reference < ? UNION \(select) id >= ? AND id < ?",
        range + range, false
      )
    }
    // Both indexes are read from end to end, which is less than the rows.
    return (
      """
      \(select) row IN (
        SELECT row FROM attempt WHERE reference GLOB ?
        UNION SELECT row FROM attempt WHERE id IS NOT NULL AND id GLOB ?
      )
      """,
      Array(repeating: .text(glob(handle)), count: 2), false
    )
  }

  /// Sorting rows by time takes as much memory as they have; sorting their numbers does not.
  private static func ofSeveralStatuses(
    _ filter: AttemptFilter
  ) -> (sql: String, values: [Database.Value], isSorted: Bool)? {
    let isPartlyOpen = filter.isOpen || filter.statuses.contains(.unknown)
    let statuses = Status.allCases.filter { $0 != .unknown && filter.statuses.contains($0) }
    guard statuses.count > 1 || statuses.count == 1 && isPartlyOpen else { return nil }
    let marks = statuses.map { _ in "?" }.joined(separator: ", ")
    guard case .exactly(let open) = SearchTerm.queryOpen else { return nil }
    return (
      "SELECT row, created FROM attempt WHERE status IN (\(marks))"
        + (isPartlyOpen ? " UNION SELECT attempt, created FROM term WHERE text = ?" : ""),
      statuses.map { .text($0.rawValue) } + (isPartlyOpen ? [.text(open)] : []), false
    )
  }

  /// What may still change.
  private static let open: String = {
    let open = Status.allCases.filter { !$0.isFinal }.map { "'\($0.rawValue)'" }
    return
      "(phase = 'sent' OR status IN (\(open.sorted().joined(separator: ", "))) "
      + "OR next_action IS NOT NULL)"
  }()

  private mutating func addStatuses(_ filter: AttemptFilter) {
    guard filter.isOpen || !filter.statuses.isEmpty else { return }
    var tests: [String] = []
    if filter.isOpen { tests.append(Self.open) }
    if filter.statuses.contains(.unknown) { tests.append("phase = 'sent' OR status = 'unknown'") }
    for status in Status.allCases where status != .unknown && filter.statuses.contains(status) {
      tests.append("status = ? AND phase <> 'sent'")
      values.append(.text(status.rawValue))
    }
    and += " AND (\(tests.joined(separator: " OR ")))"
  }

  private mutating func add(_ text: String, _ value: Database.Value?) {
    guard let value else { return }
    and += " AND " + text
    values.append(value)
  }
}
