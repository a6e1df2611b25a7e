internal import TenderEngine
package import TenderModel
package import TenderSimulator

extension LedgerAudit {
  /// How often a payment under a reference was reversed, refunded in part or whole.
  package static func reversals(path: String, reference: String) throws(Fault) -> Int {
    try Ledger(path: path).list("transaction", column: "reference", value: reference)
      .filter { $0.text("transaction_type") == "REVERSAL" }.count
  }

  /// How much was given back of the payments under a reference, voids left out, in minor units.
  package static func refunded(path: String, reference: String) throws(Fault) -> Int {
    try Ledger(path: path).list("transaction", column: "reference", value: reference)
      .filter { $0.text("transaction_type") == "REVERSAL" }
      .reduce(0) { $0 + ($1["gross_amount"]?.boundedNumber ?? 0) }
  }

  /// Gives a part of a Pay Theory payment back, as another than `tender` would; in minor units.
  package static func giveBack(
    _ amount: Int,
    of receipt: String,
    in world: SimulatorWorld
  ) throws(Fault) {
    let ledger = try Ledger(path: world.ledgerPath)
    _ = try PayTheoryTransactions(world: world, ledger: ledger)
      .reverse(receipt, amount: amount, now: world.clock.now)
  }

  /// How many payments under a reference took money, refunds and failures not counted.
  package static func charges(path: String, reference: String) throws(Fault) -> Int {
    try Ledger(path: path).list("transaction", column: "reference", value: reference)
      .filter { $0.text("transaction_type") == "DEBIT" }.count
  }
}
