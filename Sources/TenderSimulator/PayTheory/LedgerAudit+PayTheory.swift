internal import TenderEngine
package import TenderModel

extension LedgerAudit {
  /// What the simulated Pay Theory has of the payments under a reference, in cents.
  package struct PayTheorySums: Sendable, Hashable {
    /// Payments that took money.
    package var count = 0
    package var charged = 0
    package var voided = 0
    package var refunded = 0
    /// What is left of the charges, and the `gross_amount` of the transactions for that, refunds taken off.
    package var left = 0
    package var gross = 0
    /// Payments of which something is left.
    package var unreversed = 0
    /// Authorizations of stored methods, and those that were released.
    package var authorized = 0
    package var released = 0
  }

  /// What the books have of the payments under a reference.
  package static func payTheory(
    path: String,
    reference: String
  ) throws(Fault) -> PayTheorySums {
    var sums = PayTheorySums()
    for payment in try payments(path, reference) where payment.failure == nil {
      sums.count += 1
      sums.charged += payment.charged
      sums.voided += payment.voided
      sums.refunded += payment.refunded
      sums.left += payment.left
      sums.unreversed += payment.left > 0 ? 1 : 0
      for row in payment.rows(at: Int.max) where row.type == .debit && row.status != .voided {
        sums.gross += row.gross - row.refunded
      }
    }
    let authorizations = try Ledger(path: path).list(BookedAuthorization.self, reference: reference)
    sums.authorized = authorizations.count { $0.state != .failed }
    sums.released = authorizations.count { $0.state == .canceled }
    return sums
  }

  /// The money of the payments under a reference.
  package static func payTheoryMoney(path: String, reference: String) throws(Fault) -> Money {
    let sums = try payTheory(path: path, reference: reference)
    var money = Money()
    money.captured = sums.charged
    money.returned = sums.charged - sums.left
    money.standing = sums.unreversed
    return money
  }

  private static func payments(
    _ path: String,
    _ reference: String
  ) throws(Fault) -> [BookedPayment] {
    try Ledger(path: path).list(BookedPayment.self, reference: reference)
  }

  /// How often payments under a reference were refunded, in part or whole.
  package static func reversals(path: String, reference: String) throws(Fault) -> Int {
    try payments(path, reference).reduce(0) { sum, payment in
      sum + payment.rows(at: Int.max).count { $0.type == .reversal }
    }
  }

  /// How much was refunded of the payments under a reference, voids left out, in minor units.
  package static func refunded(path: String, reference: String) throws(Fault) -> Int {
    try payTheory(path: path, reference: reference).refunded
  }

  /// Reverses a part of a Pay Theory payment, as another than `tender` would; in minor units.
  package static func giveBack(
    _ amount: Int,
    of receipt: String,
    in world: SimulatorWorld
  ) throws(Fault) {
    let simulator = try InProcessSimulator(world)
    _ = try Fault.refusable { () throws(Fault) in
      try PayTheoryBooks(simulator.parts).reverse(receipt, amount: amount)
    }
  }

  /// How many payments under a reference took money, failures not counted.
  package static func charges(path: String, reference: String) throws(Fault) -> Int {
    try payTheory(path: path, reference: reference).count
  }
}
