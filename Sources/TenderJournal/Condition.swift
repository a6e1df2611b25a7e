import TenderDatabase
import TenderEngine
import TenderModel

/// A filter as SQL.
struct Condition {
  var and = ""
  var values: [Database.Value] = []

  init(_ filter: AttemptFilter) {
    add("env = ?", filter.env.map { .text($0.rawValue) })
    add("provider = ?", filter.provider.map { .text($0.text) })
    if filter.status == .unknown {
      and += " AND phase = 'sent'"
    } else {
      add("status = ? AND phase <> 'sent'", filter.status.map { .text($0.rawValue) })
    }
    add("last_four = ?", filter.lastFour.map(Database.Value.text))
    add("amount = ?", filter.amount.map(Database.Value.integer))
    add("created >= ?", filter.since.map(Database.Value.integer))
    add("created <= ?", filter.until.map(Database.Value.integer))
  }

  private mutating func add(_ text: String, _ value: Database.Value?) {
    guard let value else { return }
    and += " AND " + text
    values.append(value)
  }
}
