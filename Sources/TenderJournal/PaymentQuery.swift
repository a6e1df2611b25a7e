import TenderEngine
import TenderModel

/// The parts of statements about payments that both journals share.
struct PaymentQuery {
  /// The text before the name of a table. Payments have the alias `a`.
  let schema: String

  /// Returns the columns of a group as one text with tabs.
  func group(_ keys: Set<Total.Key>) -> String {
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
  var sums: [String] {
    [
      "coalesce(a.captured, 0) + \(earlier(Self.charges)) + \(beside(Self.surplus))",
      """
      \(earlier(Self.returns)) + \(beside(Self.givenBack)) + coalesce(a.refunded, 0) + coalesce(a.returned, 0)
      + CASE WHEN a.captured > a.refunded AND (a.status = 'cancelled' OR a.returned = 0 AND \(lost))
      THEN a.captured - a.refunded ELSE 0 END
      """,
      "coalesce(a.refunding, 0)", "coalesce(a.is_unknown, 0)",
    ]
  }

  /// The test that the payer has the money of the newest attempt back by a dispute, as a look showed.
  private var lost: String {
    let operation = "\(schema)operation"
    return """
      a.observed > 0 AND EXISTS (
        SELECT 1 FROM \(operation) o
        WHERE o.payment = a.row AND o.result LIKE '%"\(Operation.dispute)":"LOST"%'
        AND (o.content IS NOT NULL OR o.kind <> 'charge') AND o.sequence >= (
          SELECT max(newest.sequence) FROM \(operation) newest
          WHERE newest.payment = a.row AND newest.content IS NOT NULL
        )
      )
      """
  }

  /// Operations that took money.
  private static let charges = """
    o.kind IN ('charge', 'capture') AND o.state IN ('processing', 'succeeded', 'returned')
    """

  /// Operations that gave money back. A void did so only if its attempt took money.
  private static let returns = """
    o.content IS NULL AND o.kind = 'refund' AND o.state = 'succeeded'
    OR o.kind IN ('charge', 'capture') AND o.state = 'returned'
    OR o.kind = 'void' AND o.state = 'succeeded' AND c.sequence IS NOT NULL
    """

  /// Surplus charges that took money.
  private static let surplus = """
    o.content IS NULL AND o.kind = 'charge' AND o.state IN ('processing', 'succeeded', 'returned')
    """

  /// What went back of surplus charges and of earlier attempts.
  private static let givenBack = """
    o.content IS NULL AND o.kind = 'charge' AND o.state = 'returned'
    OR o.kind IN ('refund', 'void') AND o.state = 'succeeded' AND s.kind IN ('charge', 'authorize')
    """

  /// The amount of later operations that are not about the newest attempt and pass a test.
  private func beside(_ test: String) -> String {
    let operation = "\(schema)operation"
    return """
      coalesce((
        SELECT sum(coalesce(o.approved, o.amount, 0)) FROM \(operation) o
        LEFT JOIN \(operation) s ON s.payment = o.payment AND s.sequence = o.parent
        WHERE o.payment = a.row AND (o.source IS NOT NULL OR o.parent IS NOT NULL) AND (\(test))
        AND o.sequence > (
          SELECT max(newest.sequence) FROM \(operation) newest
          WHERE newest.payment = a.row AND newest.content IS NOT NULL
        )
      ), 0)
      """
  }

  /// The amount of the operations of earlier attempts that pass a test. Few payments have any.
  private func earlier(_ test: String) -> String {
    let operation = "\(schema)operation"
    // The operation `c` took the money that the void `o` gave back: no attempt begins between them.
    return """
      CASE WHEN a.attempt > 1 THEN coalesce((
        SELECT sum(coalesce(o.approved, o.amount, c.approved, c.amount, 0)) FROM \(operation) o
        LEFT JOIN \(operation) c ON o.kind = 'void' AND c.payment = o.payment
        AND c.kind IN ('charge', 'capture') AND c.state IN ('processing', 'succeeded')
        AND c.sequence < o.sequence AND NOT EXISTS (
          SELECT 1 FROM \(operation) b WHERE b.payment = o.payment AND b.content IS NOT NULL
          AND b.sequence > c.sequence AND b.sequence < o.sequence
        )
        WHERE o.payment = a.row AND (\(test)) AND o.sequence < (
          SELECT max(newest.sequence) FROM \(operation) newest
          WHERE newest.payment = a.row AND newest.content IS NOT NULL
        )
      ), 0) ELSE 0 END
      """
  }

  /// The tables and the tests of the rows to sum.
  ///
  /// A card refund with a separate reference is also an operation of the original payment, and counts there,
  /// in any state.
  var source: Statement {
    """
    FROM \(sql: schema)payment a WHERE a.kind = \(sql: Payment.Kind.payment.rawValue)
    AND NOT (a.captured = 0 AND \(isOfOriginal))
    """
  }

  /// The tests that `Journal.prune` may delete a payment: it is old enough, finished and no longer needed.
  ///
  /// What is left to refund of an original is counted by its refunds.
  func isPrunable(before time: Int) -> Statement {
    """
    a.updated < \(time) AND a.is_final = 1 AND a.is_unknown = 0
    AND NOT (a.kind = \(sql: Payment.Kind.mandate.rawValue) AND a.status = 'authorized')
    AND NOT \(isOfOriginal)
    """
  }

  /// The test that a payment is a refund of another one.
  private var isOfOriginal: Statement {
    """
    EXISTS (
      SELECT 1 FROM \(sql: schema)operation o JOIN \(sql: schema)payment q ON q.reference = o.link
      WHERE o.payment = a.row AND o.content IS NOT NULL
      AND q.env = a.env AND q.provider = a.provider
    )
    """
  }
}
