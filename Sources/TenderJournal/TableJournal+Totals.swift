package import TenderEngine
package import TenderModel
import TenderSystem

/// Sums payments by their columns and operations.
extension TableJournal {
  package func totals(_ filter: PaymentFilter, by keys: Set<Total.Key>) throws(Fault) -> [Total] {
    // SQLite would sort all payments for GROUP BY, which takes three times as long as adding them here.
    let adds = Self.dialect.addsSums
    let sums = Self.sums.map { adds ? "least(sum(\($0)), \(Int.max))::bigint" : $0 }
    var totals = Totals()
    // A card refund with a separate reference is also an operation of the original payment, and counts there, in
    // any state.
    try each(
      """
      SELECT \(sql: Self.group(keys)), \(sql: adds ? "count(*)" : "1"), \(sql: sums.list())
      FROM \(sql: Self.schema)payment a WHERE a.kind = \(sql: Payment.Kind.payment.rawValue)
      AND NOT (a.captured = 0 AND \(sql: Self.isOfOriginal))\(Self.columns(filter))\(sql: adds ? " GROUP BY 1" : "")
      """
    ) { row in
      var total = Total()
      total.payments = row[1].integer ?? 0
      total.charged = row[2].integer ?? 0
      total.refunded = row[3].integer ?? 0
      total.refunding = row[4].integer ?? 0
      total.unknown = row[5].integer ?? 0
      totals.add(total, to: row[0].text ?? "")
      return true
    }
    return totals.all
  }

  /// Returns the columns of a group as one text with tabs.
  private static func group(_ keys: Set<Total.Key>) -> String {
    let columns = Total.Key.allCases.filter(keys.contains).map { key in
      switch key {
      case .day: "(a.created / \(Total.quarter))"
      case .provider: "a.provider"
      case .status: "a.status"
      }
    }
    return (["a.env", "coalesce(a.currency, '')"] + columns)
      .joined(separator: " || '\t' || ")
  }

  /// The summed columns of a payment: charged, refunded, refunding, unknown.
  private static var sums: [String] {
    // Operations that took money, and those that gave money back. A void did so only if its attempt took money.
    let charges =
      "o.kind IN ('charge', 'capture') AND o.state IN ('processing', 'succeeded', 'returned')"
    let returns = """
      o.content IS NULL AND o.kind = 'refund' AND o.state = 'succeeded'
      OR o.kind IN ('charge', 'capture') AND o.state = 'returned'
      OR o.kind = 'void' AND o.state = 'succeeded' AND c.sequence IS NOT NULL
      """
    // Surplus charges that took money, and what went back of those and of earlier attempts.
    let surplus = "o.content IS NULL AND o.kind = 'charge' AND " + charges
    let givenBack = """
      o.content IS NULL AND o.kind = 'charge' AND o.state = 'returned'
      OR o.kind IN ('refund', 'void') AND o.state = 'succeeded' AND s.kind IN ('charge', 'authorize')
      """
    return [
      "coalesce(a.captured, 0) + \(earlier(charges)) + \(beside(surplus))",
      """
      \(earlier(returns)) + \(beside(givenBack)) + coalesce(a.refunded, 0) + coalesce(a.returned, 0)
      + CASE WHEN a.captured > a.refunded AND (a.status = 'cancelled' OR coalesce(a.returned, 0) = 0 AND \(lost))
      THEN a.captured - a.refunded ELSE 0 END
      """,
      "coalesce(a.refunding, 0)", "coalesce(a.is_unknown, 0)",
    ]
  }

  private static var operation: String { "\(schema)operation" }

  /// The sequence of the newest attempt of a payment `a`.
  private static var newest: String {
    """
    (
      SELECT max(newest.sequence) FROM \(operation) newest
      WHERE newest.payment = a.row AND newest.content IS NOT NULL
    )
    """
  }

  /// The test that the payer has the money of the newest attempt back by a dispute, as a look showed.
  private static var lost: String {
    """
    a.observed > 0 AND EXISTS (
      SELECT 1 FROM \(operation) o
      WHERE o.payment = a.row AND o.result LIKE '%"\(Operation.dispute)":"LOST"%'
      AND (o.content IS NOT NULL OR o.kind <> 'charge') AND o.sequence >= \(newest)
    )
    """
  }

  /// The amount of later operations that are not about the newest attempt and pass a test.
  private static func beside(_ test: String) -> String {
    """
    coalesce((
      SELECT sum(coalesce(o.approved, o.amount, 0)) FROM \(operation) o
      LEFT JOIN \(operation) s ON s.payment = o.payment AND s.sequence = o.parent
      WHERE o.payment = a.row AND (o.source IS NOT NULL OR o.parent IS NOT NULL) AND (\(test))
      AND o.sequence > \(newest)
    ), 0)
    """
  }

  /// The amount of the operations of earlier attempts that pass a test. Few payments have any.
  private static func earlier(_ test: String) -> String {
    // The operation `c` took the money that the void `o` gave back: no attempt begins between them.
    """
    CASE WHEN a.attempt > 1 THEN coalesce((
      SELECT sum(coalesce(o.approved, o.amount, c.approved, c.amount, 0)) FROM \(operation) o
      LEFT JOIN \(operation) c ON o.kind = 'void' AND c.payment = o.payment
      AND c.kind IN ('charge', 'capture') AND c.state IN ('processing', 'succeeded')
      AND c.sequence < o.sequence AND NOT EXISTS (
        SELECT 1 FROM \(operation) b WHERE b.payment = o.payment AND b.content IS NOT NULL
        AND b.sequence > c.sequence AND b.sequence < o.sequence
      )
      WHERE o.payment = a.row AND (\(test)) AND o.sequence < \(newest)
    ), 0) ELSE 0 END
    """
  }
}
