import TenderEngine
import TenderModel

/// What the end of a session comes to: receipt, outcome, and what must be undone.
extension SaleRunner {
  func receipt() -> Receipt {
    var receipt = Receipt(sale: sale)
    receipt.gratuity = gratuity
    receipt.card = session.card
    receipt.serial = session.serial
    receipt.answer = answer
    receipt.captures = order.captures
    receipt.signature = session.signature
    receipt.latitude = context.configuration.latitude
    receipt.longitude = context.configuration.longitude
    receipt.additional = order.additional
    return receipt
  }

  /// What the end of a session comes to.
  func finish(_ end: ReaderSession.End) throws(Fault) -> Outcome {
    var receipt = receipt()
    switch end {
    case .completed:
      if !progress.isConcluded, !conclude() {
        return try finish(.undo(.transactionError, Self.unrecorded, reason: "UCMP"))
      }
      progress.enter(TransactionState.completed.rawValue)
      return word(receipt)
    case .declinedByCard:
      receipt.isDeclinedByCard = true
      return declinedByCard(receipt)
    case .failed(let error, let why):
      progress.enter(error.state.rawValue)
      if error == .operatorCancelled, let kind = context.interruption.kind {
        throw .stopped(by: kind, underWay: "the reader was let go")
      }
      throw .toro(error, why, hint: "no money moved; run the same command again", reason: why)
    case .released(.undone(let outcome)): return outcome
    case .released(.failed(let fault)):
      progress.enter(TransactionState.failed.rawValue)
      // A refusal that proves nothing was undone, or is unknown, by now.
      throw fault.effect == .none ? fault.proven : fault
    case .refusedByCard:
      receipt.isDeclinedByCard = true
      try advices.undo(sale, reason: "CDCL", .toro(.transactionError, "the card declined"))
      return declinedByCard(receipt)
    case .undo(let error, let why, let reason):
      return try undone(receipt, error, why, reason: reason)
    case .signatureFailed(let error):
      receipt.signatureVerificationFailed = true
      let why =
        error == .customerCancelled ? "the customer did not sign" : "the signature does not match"
      return try undone(
        receipt,
        error,
        why,
        reason: "CUCL",
        code: "signature_verification_failed"
      )
    }
  }

  /// Undoes what the acquirer approved; `reason` is of ISO 20022's `FailureReason3`.
  func undone(
    _ receipt: Receipt,
    _ error: ToroError,
    _ why: String,
    reason: String = "UCMP",
    code: String = "transaction_undone"
  ) throws(Fault) -> Outcome {
    try advices.undo(sale, reason: reason, .toro(error, why, reason: why))
    progress.enter(TransactionState.cancelled.rawValue)
    var fields = receipt.fields
    fields["captured"] = false
    var result = error.result(receipt.signatureVerificationFailed ? nil : why, receipt: fields)
    result["state"] = .string(TransactionState.cancelled.rawValue)
    return outcome(
      .cancelled,
      receipt,
      result,
      .undone(code: code, "\(why); what had been authorised was undone")
    )
  }

  private func declinedByCard(_ receipt: Receipt) -> Outcome {
    progress.enter(TransactionState.completed.rawValue)
    return outcome(
      .declined,
      receipt,
      ["state": "completed", "receipt": .object(receipt.fields)],
      Fault(
        .declined,
        code: "declined_by_card",
        "the card declined",
        hint: "no money moved; --new-attempt tries again, perhaps with another card"
      )
    )
  }

  /// What the acquirer's answer comes to.
  func word(_ receipt: Receipt) -> Outcome {
    let result: JSONObject = ["state": "completed", "receipt": .object(receipt.fields)]
    guard let answer else { return outcome(.failed, receipt, result, nil) }
    switch answer.response {
    case "APPR", "PART":
      let isHeld = !receipt.isCaptured && !order.isRefund
      return outcome(isHeld ? .requiresConfirmation : .succeeded, receipt, result, nil)
    case "SUSP": return outcome(.pending, receipt, result, nil)
    case "TECH":
      return outcome(
        .declined,
        receipt,
        result,
        Fault(
          .declined,
          code: "technical_decline",
          "the acquirer could not process it" + Self.why(answer),
          hint: "no money moved; --new-attempt tries again"
        )
      )
    default:
      return outcome(
        .declined,
        receipt,
        result,
        Fault(
          .declined,
          code: "acquirer_declined",
          "the acquirer declined" + Self.why(answer),
          hint: "no money moved; --new-attempt tries again, perhaps with another card"
        )
      )
    }
  }

  private static func why(_ answer: AuthorisationAnswer) -> String {
    answer.reason.map { " (\($0))" } ?? ""
  }

  private func outcome(
    _ status: Status,
    _ receipt: Receipt,
    _ result: JSONObject,
    _ fault: Fault?
  ) -> Outcome {
    var result = result
    if let actions = answer?.actions, !actions.isEmpty {
      result["actions"] = .array(actions.map(JSON.object))
    }
    let isApproved = answer?.isApproved == true && !receipt.isDeclinedByCard
    let asked = order.amount.minorUnits
    // What is suspended was received and not processed: nothing is charged, and nothing can be refunded.
    let isSuspended = status == .pending && !order.isRefund
    let amount = isSuspended ? 0 : isApproved ? answer?.authorised ?? sale.amount : sale.amount
    return Outcome(
      status: status,
      id: sale.reference,
      amount: amount,
      requestedAmount: amount == asked ? nil : asked,
      currency: sale.currency,
      lastFour: session.card?.lastFour,
      brand: session.card?.label,
      result: result,
      fault: fault
    )
  }
}
