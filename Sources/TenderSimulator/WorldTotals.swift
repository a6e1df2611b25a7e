package import TenderModel

/// The counts and sums of a simulated world, over all providers.
package struct WorldTotals: Sendable {
  package private(set) var payments = 0
  package private(set) var refunds = 0
  /// The payments that a provider, a bank or a card declined, or that failed.
  package private(set) var refused = 0
  /// The payments without an end: neither paid, refused, cancelled nor expired.
  package private(set) var unknown = 0
  /// The deliveries of events that were answered with 2xx, and the others.
  package fileprivate(set) var delivered = 0
  package fileprivate(set) var undelivered = 0
  /// The captured amounts, in minor units by currency.
  package private(set) var charged: [String: Int] = [:]
  /// The amounts that payers have back: refunds, voids, and payments that a bank returned.
  package private(set) var refunded: [String: Int] = [:]

  /// States in which a payment can still succeed, in each provider's own words.
  private static let open: Set = [
    "PENDING", "APPR", "authorization_required", "authorizing", "authorized",
  ]
  private static let cancelled: Set = ["VOIDED", "cancelled"]

  /// Adds an entry of the books.
  fileprivate mutating func add(_ entry: JSONObject) {
    guard ["payment", "sale"].contains(entry.text("kind")), let currency = entry.text("currency"),
      let status = entry.text("status")
    else { return }
    payments += 1
    let captured = entry["captured"]?.boundedNumber ?? 0
    if captured > 0 {
      charged[currency, default: 0] += captured
      refunded[currency, default: 0] += entry["returned"]?.boundedNumber ?? 0
    } else if Self.open.contains(status) {
      unknown += 1
    } else if !Self.cancelled.contains(status) {
      refused += 1
    }
    refunds += (entry["operations"]?.array ?? []).count { operation in
      ["refund", "void"].contains(operation["kind"]?.text)
        && !["failed", "DECL"].contains(operation["status"]?.text ?? operation["rspn"]?.text)
    }
  }
}

extension InProcessSimulator {
  /// Returns the counts and sums of all payments.
  package func totals() throws(Fault) -> WorldTotals {
    parts.ledger.mostListed = .max
    var totals = WorldTotals()
    for entry in try books(about: nil) { totals.add(entry) }
    let deliveries = try parts.ledger.deliveries()
    totals.delivered = deliveries.count(where: \.isDelivered)
    totals.undelivered = deliveries.count - totals.delivered
    return totals
  }
}
