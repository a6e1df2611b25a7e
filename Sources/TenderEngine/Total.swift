import TenderModel

/// The sums of the payments of one group, in minor units of its currency.
package struct Total: Sendable, Hashable {
  /// A key by which payments are grouped, besides their env and currency.
  ///
  /// `day` groups by quarters of an hour since 1970, because the journal does not know the local time zone.
  package enum Key: String, Sendable, Hashable, CaseIterable { case day, provider, status }

  /// The env, the currency, and the values of the chosen keys in the order of `Key.allCases`.
  package fileprivate(set) var group: [String] = []
  package var payments = 1
  package var charged = 0
  /// The amount that payers got back: refunded, voided after capture, or returned by the bank.
  package var refunded = 0
  /// The amount of refunds on their way, unknown ones included.
  package var refunding = 0
  /// The number of payments with an unknown operation.
  package var unknown = 0

  package var net: Int { charged - refunded }

  package init() {}

  /// Adds another sum. A sum beyond 64 bits stays at the largest number.
  fileprivate mutating func add(_ other: Total) {
    func sum(_ one: Int, _ other: Int) -> Int {
      let (sum, isOver) = one.addingReportingOverflow(other)
      return isOver ? .max : sum
    }
    payments += other.payments
    charged = sum(charged, other.charged)
    refunded = sum(refunded, other.refunded)
    refunding = sum(refunding, other.refunding)
    unknown += other.unknown
  }
}

/// Totals by their groups, which are texts with a tab between two keys.
package struct Totals: Sendable {
  package private(set) var all: [Total] = []
  private var places: [String: Int] = [:]

  package init() {}

  package mutating func add(_ total: Total, to group: String) {
    if let place = places[group] { return all[place].add(total) }
    places[group] = all.count
    all.append(total)
    all[all.count - 1].group = group.split(separator: "\t", omittingEmptySubsequences: false)
      .map(String.init)
  }
}

extension Total {
  /// The length of a group of `Key.day`, in milliseconds. Every time zone's day begins with one.
  package static let quarter = 900_000
}
