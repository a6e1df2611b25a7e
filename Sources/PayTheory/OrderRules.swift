package import TenderEngine
package import TenderModel

/// The rules between `transact`'s parameters (protocol note, sections 5.3 and 5.6).
extension PayTheoryProvider {
  package func check(_ order: PaymentOrder) throws(Fault) {
    guard order.amount.minorUnits > 0 else {
      throw .rule("bad_amount", "--amount must be more than zero", "such as --amount 10.50")
    }
    guard order.amount.currency.code == "USD" else {
      throw .rule(
        "bad_currency",
        "Pay Theory takes USD, not \(order.amount.currency.code)",
        "leave --currency out"
      )
    }
    if order.payorID != nil, !order.payor.members.isEmpty {
      throw .rule("bad_options", "--payor and --payor-id exclude each other", "give one of them")
    }
    if order.invoiceID != nil, order.recurringID != nil {
      throw .rule(
        "bad_options",
        "--invoice-id and --recurring-id exclude each other",
        "give one of them"
      )
    }
    try checkFee(order)
    if order.sendsReceipt, order.payor["email"] == nil,
      order.payorID == nil, order.storedMethod == nil
    {
      throw .rule(
        "bad_options",
        "--send-receipt needs somebody to send it to",
        "add --payor email=ADDRESS"
      )
    }
    if order.storedMethod != nil,
      order.payorID != nil || !order.payor.members.isEmpty || order.paymentParameters != nil
    {
      throw .rule(
        "bad_options",
        "--payor, --payor-id and --payment-parameters do not go with --token",
        "a stored method has its payer already"
      )
    }
    if order.stopsAtConfirmation, order.storedMethod != nil || order.instrument?.method == .cash {
      throw .rule(
        "bad_options",
        "--confirmation is for cards and bank accounts",
        "leave it out with --token and cash"
      )
    }
  }

  private func checkFee(_ order: PaymentOrder) throws(Fault) {
    guard order.feeMode == .service else {
      guard order.fee == nil else {
        throw .rule(
          "bad_options",
          "--fee goes with --fee-mode service_fee",
          "leave --fee out, or add --fee-mode service_fee"
        )
      }
      return
    }
    guard order.fee != nil || order.stopsAtConfirmation else {
      throw .rule(
        "bad_options",
        "--fee-mode service_fee needs --fee where there is no --confirmation",
        "with --confirmation the fee is learnt"
      )
    }
  }
}

extension Fault {
  fileprivate static func rule(_ code: String, _ message: String, _ hint: String) -> Fault {
    Fault(.usage, code: code, message, hint: hint)
  }
}
