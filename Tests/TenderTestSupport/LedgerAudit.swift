package import TenderModel
import TenderSimulator

/// Reads the simulated providers' books from their file, for tests that compare them with the journal.
///
/// It computes from the stored data, without the simulator's types.
package enum LedgerAudit {
  /// The money of the payments under one reference, in minor units.
  package struct Money: Sendable, Hashable, CustomStringConvertible {
    /// Taken from the payer, with amounts that were returned later.
    package var captured = 0
    /// Returned to the payer, by refunds and by voids after a capture.
    package var returned = 0
    /// Refunds that are not finished.
    package var refunding = 0
    /// The number of payments with an amount that the merchant retains.
    package var standing = 0

    /// The amount that the merchant retains at the end.
    package var kept: Int { captured - returned - refunding }

    package var description: String {
      "captured \(captured), returned \(returned), refunding \(refunding), \(standing) standing"
    }
  }

  private static func list(
    _ path: String,
    _ kind: String,
    reference: String
  ) throws(Fault) -> [JSONObject] {
    try Ledger(path: path).list(kind, column: "reference", value: reference)
  }

  // MARK: Pay Theory

  /// The payments of a reference in the simulated Pay Theory's books, in cents.
  package struct PayTheorySums: Sendable, Hashable {
    /// Payments that took money.
    package var count = 0
    package var charged = 0
    package var voided = 0
    package var refunded = 0
    /// The rest of the charges, and the `gross_amount` of its transactions, without refunds.
    package var left = 0
    package var gross = 0
    /// The number of refunds of payments, in part or whole.
    package var reversals = 0
    /// Payments with a rest.
    package var unreversed = 0
    /// Authorizations of stored methods, and those that were released.
    package var authorized = 0
    package var released = 0
    /// The receipt numbers of payments that took money.
    package var receipts: [String] = []
  }

  /// Returns the payments of a reference in the books.
  package static func payTheory(path: String, reference: String) throws(Fault) -> PayTheorySums {
    var sums = PayTheorySums()
    for payment in try list(path, "payment", reference: reference) where payment["failure"] == nil {
      let amount = payment["terms"]?["amount"]?.boundedNumber ?? 0
      var left = amount
      // A void replaces the transaction by one for the rest, if any.
      var gross = amount
      for operation in payment["operations"]?.array?.compactMap(\.object) ?? [] {
        let part = operation["amount"]?.boundedNumber ?? 0
        left -= part
        if operation["refund"] != nil {
          sums.refunded += part
          sums.reversals += 1
          gross -= part
        } else {
          sums.voided += part
          gross = operation["replacement"] == nil ? 0 : gross - part
        }
      }
      sums.count += 1
      sums.receipts += [payment.text("receipt")].compactMap(\.self)
      sums.charged += amount
      sums.left += left
      sums.gross += gross
      sums.unreversed += left > 0 ? 1 : 0
    }
    let states = try list(path, "authorization", reference: reference).map { $0.text("state") }
    sums.authorized = states.count { $0 != "FAILED" }
    sums.released = states.count { $0 == "CANCELED" }
    return sums
  }

  /// The money of the payments under a reference.
  package static func payTheoryMoney(path: String, reference: String) throws(Fault) -> Money {
    let sums = try payTheory(path: path, reference: reference)
    return Money(
      captured: sums.charged,
      returned: sums.charged - sums.left,
      standing: sums.unreversed
    )
  }

  /// The number of refunds of the payments under a reference, in part or whole.
  package static func reversals(path: String, reference: String) throws(Fault) -> Int {
    try payTheory(path: path, reference: reference).reversals
  }

  /// The refunded amount of the payments under a reference without voids, in minor units.
  package static func refunded(path: String, reference: String) throws(Fault) -> Int {
    try payTheory(path: path, reference: reference).refunded
  }

  /// The number of payments under a reference that took money, without failures.
  package static func charges(path: String, reference: String) throws(Fault) -> Int {
    try payTheory(path: path, reference: reference).count
  }

  // MARK: Toro

  /// The numbers of sales under a reference: the authorized ones, those of them that were not cancelled, and
  /// those that are captured.
  package static func sales(
    path: String,
    reference: String
  ) throws(Fault) -> (authorised: Int, standing: Int, captured: Int) {
    let sales = try self.sales(path, reference)
    return (
      sales.count(where: \.isAuthorised), sales.count(where: \.stands),
      sales.count { $0.captured > 0 }
    )
  }

  /// The money of the sales under a reference in the acquirer's books. A cancelled sale was never captured.
  ///
  /// A refund at the reader counts as captured under its reference, and as returned at its original.
  package static func saleMoney(path: String, reference: String) throws(Fault) -> Money {
    try sales(path, reference).reduce(into: Money()) { money, sale in
      money.captured += sale.captured
      money.returned += sale.refunded
      money.standing += sale.stands ? 1 : 0
    }
  }

  private struct Sale {
    var isAuthorised: Bool
    var stands: Bool
    var captured = 0
    var refunded = 0
  }

  private static func sales(_ path: String, _ reference: String) throws(Fault) -> [Sale] {
    try list(path, "toro-sale", reference: reference).map { sale in
      let operations = sale["operations"]?.array?.filter { $0["rspn"]?.text == "APPR" } ?? []
      func amounts(_ kind: String) -> [Int] {
        operations.filter { $0["kind"]?.text == kind }.map { $0["amount"]?.boundedNumber ?? 0 }
      }
      let authorised = sale["authorised"]?.boundedNumber
      // An earlier version has a state and a sum instead of operations.
      let isCancelled = !amounts("cancellation").isEmpty || sale.text("state") == "gone"
      var audited = Sale(isAuthorised: authorised != nil, stands: authorised != nil && !isCancelled)
      if audited.stands {
        let isCaptured = sale["captured"]?.truth == true
        audited.captured = isCaptured ? authorised ?? 0 : amounts("completion").reduce(0, +)
      }
      audited.refunded = amounts("refund").reduce(sale["refunded"]?.boundedNumber ?? 0, +)
      return audited
    }
  }

  // MARK: TrueLayer

  /// The bank payments of a reference in the simulated TrueLayer's books. Amounts are in minor units.
  package struct BankBooks: Sendable, Hashable {
    /// The number of created payments, and the number of those that a payer authorized.
    package var made = 0
    package var authorized = 0
    /// The amount that was authorized, executed or settled.
    package var paid = 0
    /// The number of refunds, without failed ones.
    package var refunds = 0
    package var refunded = 0
    package var refunding = 0
  }

  /// Returns the books of a reference at a time in milliseconds since 1970, or at the end.
  package static func bankBooks(
    path: String,
    reference: String,
    at now: Int = .max
  ) throws(Fault) -> BankBooks {
    var books = BankBooks()
    for payment in try list(path, "bank-payment", reference: reference) {
      books.made += 1
      if payment["times"]?["authorized"] != nil { books.authorized += 1 }
      if ["authorized", "executed", "settled"].contains(payment.text("status")) {
        books.paid += payment["order"]?["amount_in_minor"]?.boundedNumber ?? 0
      }
      let id = payment.text("id") ?? ""
      for refund in try Ledger(path: path).list("bank-refund", column: "parent", value: id) {
        // A refund ends after two seconds. One that is returned fails after two more.
        let amount = refund["amount"]?.boundedNumber ?? 0
        let age = now - (refund["created"]?.boundedNumber ?? 0)
        let course = refund.text("course")
        if age < 2000 {
          books.refunding += amount
        } else if course == "executed" || course == "returned" && age < 4000 {
          books.refunded += amount
        } else {
          continue
        }
        books.refunds += 1
      }
    }
    return books
  }

  /// The money of the bank payments of a reference at a time in milliseconds since 1970, or at the end.
  package static func bankMoney(
    path: String,
    reference: String,
    at now: Int = .max
  ) throws(Fault) -> Money {
    let books = try bankBooks(path: path, reference: reference, at: now)
    return Money(
      captured: books.paid,
      returned: books.refunded,
      refunding: books.refunding,
      standing: books.authorized
    )
  }
}
