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
    if let handle = filter.handle {
      // The other characters of a pattern stand for themselves.
      let glob = handle.map { "[?".contains($0) ? "[\($0)]" : String($0) }.joined()
      let test = handle.contains("*") ? "GLOB" : "="
      and += " AND (reference \(test) ? OR a.id \(test) ?)"
      values += Array(repeating: .text(test == "=" ? handle : glob), count: 2)
    }
  }

  private mutating func addStatuses(_ filter: AttemptFilter) {
    guard filter.isOpen || !filter.statuses.isEmpty else { return }
    var tests: [String] = []
    if filter.isOpen || filter.statuses.contains(.unknown) {
      tests.append("phase = 'sent' OR status = 'unknown'")
    }
    if filter.isOpen {
      let open = Status.allCases.filter { !$0.isFinal }.map { "'\($0.rawValue)'" }
      tests.append("status IN (\(open.joined(separator: ", ")))")
      tests.append("next_action IS NOT NULL")
    }
    for status in filter.statuses.subtracting([.unknown]) {
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
