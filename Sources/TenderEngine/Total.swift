import TenderModel

/// The sums of the payments of one group, in minor units of its currency.
package struct Total: Sendable, Hashable {
  /// A key by which payments are grouped, besides their env and currency.
  ///
  /// `day` groups by quarters of an hour since 1970, because the journal does not know the local time zone.
  package enum Key: String, Sendable, Hashable, CaseIterable { case day, provider, status }

  /// The env, the currency, and the values of the chosen keys in the order of `Key.allCases`.
  package let group: [String]
  package private(set) var payments = 0
  package private(set) var charged = 0
  /// The amount that payers got back: refunded, voided after capture, or returned by the bank.
  package private(set) var refunded = 0
  /// The amount of refunds on their way, unknown ones included.
  package private(set) var refunding = 0
  /// The number of payments with an unknown operation.
  package private(set) var unknown = 0

  package var net: Int { charged - refunded }

  package init(group: [String]) { self.group = group }

  /// Adds another sum. A sum beyond 64 bits stays at the largest number.
  package mutating func add(
    payments: Int,
    charged: Int,
    refunded: Int,
    refunding: Int,
    unknown: Int
  ) {
    func sum(_ one: Int, _ other: Int) -> Int {
      let (sum, isOver) = one.addingReportingOverflow(other)
      return isOver ? .max : sum
    }
    self.payments += payments
    self.charged = sum(self.charged, charged)
    self.refunded = sum(self.refunded, refunded)
    self.refunding = sum(self.refunding, refunding)
    self.unknown += unknown
  }
}

/// Totals by their groups, which are texts with a tab between two keys.
package struct Totals: Sendable {
  package private(set) var all: [Total] = []
  private var places: [String: Int] = [:]

  package init() {}

  package mutating func add(
    _ group: String,
    payments: Int = 1,
    charged: Int,
    refunded: Int,
    refunding: Int,
    unknown: Int
  ) {
    let place = places[group] ?? all.count
    if place == all.count {
      places[group] = place
      all.append(
        Total(
          group: group.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        )
      )
    }
    all[place].add(
      payments: payments,
      charged: charged,
      refunded: refunded,
      refunding: refunding,
      unknown: unknown
    )
  }
}

extension Total {
  /// The length of a group of `Key.day`, in milliseconds. Every time zone's day begins with one.
  package static let quarter = 900_000
}
