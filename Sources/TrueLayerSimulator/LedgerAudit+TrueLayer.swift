package import TenderModel
package import TenderSimulator

extension LedgerAudit {
  /// How many bank payments a reference has, and how many of them a payer authorized.
  package static func bankPayments(
    path: String,
    reference: String
  ) throws(Fault) -> (made: Int, authorized: Int) {
    let made = try Ledger(path: path).list("bank-payment", column: "reference", value: reference)
    return (made.count, made.count { $0["authorized_at"] != nil })
  }

  /// How many refunds the bank payments of a reference have.
  package static func bankRefunds(path: String, reference: String) throws(Fault) -> Int {
    try Ledger(path: path).list("bank-payment", column: "reference", value: reference)
      .reduce(0) { $0 + ($1["_refunds"]?.array?.count ?? 0) }
  }
}
