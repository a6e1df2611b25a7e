import TenderDatabase
import TenderEngine
import TenderModel

/// A filter as SQL: what columns and indexes can say of it, so that few rows are left for
/// `AttemptFilter.lets`, which decides.
struct Condition {
  var and = ""
  var values: [Database.Value] = []

  init(_ filter: AttemptFilter) {
    add("env = ?", filter.env.map { .text($0.rawValue) })
    add("provider = ?", filter.provider.map { .text($0.text) })
    addStatuses(filter)
    add("last_four = ?", filter.lastFour.map(Database.Value.text))
    if let amount = filter.amount {
      and += " AND (amount = ? OR requested = ?)"
      values += [.integer(amount), .integer(amount)]
    }
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
    guard !filter.isOpen, !filter.statuses.isEmpty else { return }
    var tests: [String] = []
    if filter.statuses.contains(.unknown) { tests.append("phase = 'sent'") }
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
