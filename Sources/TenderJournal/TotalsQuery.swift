import TenderEngine
import TenderModel

/// The parts of a statement that sums payments, which both journals share.
struct TotalsQuery {
  let alias: String
  /// The text before the name of a table.
  var schema = ""

  /// Returns the columns of a group as one text with tabs.
  func group(_ keys: Set<Total.Key>) -> String {
    let columns = Total.Key.allCases.filter(keys.contains).map { key in
      switch key {
      case .day: "(\(alias).created / \(Total.quarter))"
      case .provider: "\(alias).provider"
      case .status: "\(alias).status"
      }
    }
    return (["\(alias).env", "coalesce(\(alias).currency, '')"] + columns)
      .joined(separator: " || '\t' || ")
  }

  /// The summed columns of a payment: charged, refunded, refunding, unknown.
  var sums: [String] {
    [
      "coalesce(\(alias).captured, 0)",
      """
      coalesce(\(alias).refunded, 0) + coalesce(\(alias).returned, 0)
      + CASE WHEN \(alias).status = 'cancelled' AND \(alias).captured > 0
      THEN \(alias).captured - \(alias).refunded ELSE 0 END
      """,
      "coalesce(\(alias).refunding, 0)", "coalesce(\(alias).is_unknown, 0)",
    ]
  }

  /// The tables and the tests of the rows to sum.
  ///
  /// A card refund with a separate reference is also an operation of the original payment, and counts there,
  /// in any state.
  var source: Statement {
    let p = alias
    return """
      FROM \(sql: schema)payment \(sql: p) WHERE \(sql: p).kind = \(sql: Payment.Kind.payment.rawValue)
      AND NOT (
        \(sql: p).captured = 0 AND EXISTS (
          SELECT 1 FROM \(sql: schema)operation o JOIN \(sql: schema)payment q ON q.reference = o.link
          WHERE o.payment = \(sql: p).row AND o.content IS NOT NULL
          AND q.env = \(sql: p).env AND q.provider = \(sql: p).provider
        )
      )
      """
  }
}
