package import TenderEngine
package import TenderModel

/// The rules of an order, between `transact`'s parameters (README, 5), and of what may follow it.
extension PayTheoryProvider {
  package func check(_ order: Order) throws(Fault) {
    switch order {
    case .payment(let order): try check(order)
    case .token(let order): if case .cash = order.instrument { throw .cashToken }
    case .capture, .cancel, .refund: break
    case .sale, .authorization: throw .unsupportedOperation(name, "orders of this kind")
    }
  }

  private func check(_ order: PaymentOrder) throws(Fault) {
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
    if order.stored["invoice_id"] != nil, order.stored["recurring_id"] != nil {
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
        "--send-receipt needs an address",
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
    guard order.stopsAtConfirmation else { return }
    if order.instrument?.method == .cash {
      throw .rule(
        "bad_options",
        "--hold is for cards, bank accounts and --token",
        "leave it out with cash"
      )
    }
    if order.storedMethod != nil,
      order.sendsReceipt || order.receiptDescription != nil || order.stored["recurring_id"] != nil
    {
      throw .rule(
        "bad_options",
        "--send-receipt, --receipt-description and --recurring-id do not go with --token --hold",
        "an authorization has none of them"
      )
    }
  }

  package func check(_ draft: Operation, of payment: Payment) throws(Fault) {
    guard draft.kind == .capture, let amount = draft.amount, amount < payment.state.leftToCapture,
      let attempt = payment.attempt
    else { return }
    let isService = attempt.content.text("fee_mode") == FeeMode.service.rawValue
    guard attempt.content.text("token") == nil || isService else { return }
    throw Fault(
      .unsupported,
      code: "method_unsupported",
      isService
        ? "a hold with a service fee is captured as a whole"
        : "only a hold by a stored method (--token) can be captured in part",
      hint: "to capture all of it: tender confirm \(payment.shellReference)"
    )
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
    guard order.fee != nil || order.stopsAtConfirmation || order.storedMethod != nil else {
      throw .rule(
        "bad_options",
        "--fee-mode service_fee needs --fee, unless --hold or --token is given",
        "with --hold or --token the fee is read from Pay Theory"
      )
    }
  }
}

extension Fault {
  fileprivate static func rule(_ code: String, _ message: String, _ hint: String) -> Fault {
    Fault(.usage, code: code, message, hint: hint)
  }
}
