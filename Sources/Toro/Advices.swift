import TenderEngine
import TenderModel

/// Completion and cancellation advices, repeated under the same identifiers until they are answered
/// (README, 3.5 and 7).
struct Advices {
  let context: ToroContext
  let gateway: Gateway
  let progress: Progress

  // MARK: Operations of their own

  /// Captures a held sale, or a part of it: the acquirer releases the rest.
  func capture() throws(Fault) -> Outcome {
    let (sale, advice, isRepeated) = try own()
    let amount = progress.operation.amount ?? sale.amount
    let answer = try answer(isRepeated) { header throws(Fault) in
      try gateway.messages.completion(header, advice, sale, amount: amount)
    }
    guard answer.isApproved else {
      throw refused(
        "completion",
        answer,
        isRepeated,
        "nothing was captured",
        hint: "try again later, or release it: tender cancel \(progress.payment.shellReference)"
      )
    }
    progress.enter(TransactionState.completed.rawValue)
    var receipt = progress.payment.receipt ?? [:]
    if amount < sale.amount { receipt["amount"] = .integer(amount) }
    receipt["captured"] = true
    return Outcome(
      status: .succeeded,
      id: advice.reference,
      amount: amount,
      currency: sale.currency,
      result: ["state": "completed", "receipt": .object(receipt)]
    )
  }

  /// Voids a sale, whole: held, captured, or under way at the acquirer.
  func void() throws(Fault) -> Outcome {
    let (sale, advice, isRepeated) = try own()
    let amount = progress.operation.amount ?? sale.amount
    let answer = try answer(isRepeated) { header throws(Fault) in
      try gateway.messages.cancellation(header, advice, sale, amount: amount)
    }
    guard answer.isApproved else {
      let left = progress.payment.state.leftToRefund
      throw refused(
        "cancellation",
        answer,
        isRepeated,
        "the sale is as it was",
        hint: left > 0 ? progress.payment.cardRefund(left) : "ask the acquirer"
      )
    }
    progress.enter(TransactionState.cancelled.rawValue)
    var result: JSONObject = ["state": "cancelled", "cancellationType": "attendant"]
    if var receipt = progress.payment.receipt {
      receipt["captured"] = false
      result["receipt"] = .object(receipt)
    }
    var outcome = Outcome(
      status: .cancelled,
      id: advice.reference,
      amount: amount,
      currency: sale.currency,
      result: result
    )
    outcome.isVoid = true
    return outcome
  }

  /// The sale, and the advice that is the operation, recorded as sent; one that was sent before is the same.
  private func own() throws(Fault) -> (
    sale: SaleIdentity, advice: Messages.Advice, isRepeated: Bool
  ) {
    let operation = progress.operation
    guard !operation.isUnknown else {
      guard let kept = SalePreparation(operation.preparation?.plain), let advice = kept.advice
      else {
        throw .saleLost(progress.payment, effect: .unknown)
      }
      guard operation.kind != .capture || !kept.cancels else {
        throw .beingCancelled(progress.payment)
      }
      try progress.willSend()
      return (kept.sale, advice, true)
    }
    guard let sale = progress.payment.sale else {
      throw .saleLost(progress.payment, effect: .none)
    }
    let advice = newAdvice(reason: nil)
    try progress.prepare(
      .plain(SalePreparation(sale, advice: advice).text),
      id: advice.reference,
      sendingNext: true
    )
    try progress.willSend()
    return (sale, advice, false)
  }

  private func newAdvice(reason: String?) -> Messages.Advice {
    Messages.Advice(
      reference: context.randomness.transactionReference,
      time: Timestamp.milliText(context.clock.now),
      reason: reason
    )
  }

  private func answer(
    _ isRepeated: Bool,
    _ make: (Messages.Header) throws(Fault) -> Messages.Message
  ) throws(Fault) -> Gateway.Advised {
    do throws(Fault) {
      return try gateway.advise(progress, repetition: isRepeated ? 1 : 0, make)
    } catch {
      // An earlier one, of another process, may have been processed whatever this one was told; and a refusal without
      // a trailer may come after the effect.
      throw isRepeated || error.cause == .refused
        ? error.afterSending : error.effect == .none ? error.proven : error
    }
  }

  /// An advice that was declined: what a first one did, whose answer was lost, is not known then.
  private func refused(
    _ name: String,
    _ answer: Gateway.Advised,
    _ isRepeated: Bool,
    _ consequence: String,
    hint: String
  ) -> Fault {
    let wasSent = isRepeated || answer.wasLost
    return Fault(
      .declined,
      effect: wasSent ? .unknown : .none,
      code: name + "_declined",
      "the acquirer answered \(answer.word) to the \(name); "
        + (wasSent ? "an earlier one, without an answer, may have been processed" : consequence),
      hint: wasSent ? "ask the acquirer" : hint,
      result: ["state": "completed", "response": .string(answer.word)]
    ).proven
  }

  // MARK: Undoing of the attempt itself

  /// Undoes the sale that the operation itself is; gives what the acquirer said.
  ///
  /// Throws with effect unknown where nothing was said.
  func cancel(_ sale: SaleIdentity, reason: String) throws(Fault) -> Gateway.Advised {
    let kept = SalePreparation(progress.operation.preparation?.plain)?.advice
    let advice = kept ?? newAdvice(reason: reason)
    if kept == nil {
      do throws(Fault) {
        try progress.prepare(.plain(SalePreparation(sale, advice: advice).text))
      } catch {
        // That the sale was sent is in the journal: a later process undoes it once more, by another
        // advice. Not to send this one now would leave the cardholder charged until then.
        guard error.kind == .state else { throw error }
      }
    }
    return try gateway.advise(progress, repetition: kept == nil ? 0 : 1) { header throws(Fault) in
      try gateway.messages.cancellation(header, advice, sale, amount: sale.amount)
    }
  }

  /// Undoes a sale whose answer was lost; gives what it came to.
  ///
  /// Throws with effect unknown where it could not be undone, or not for certain.
  func lost(_ sale: SaleIdentity, _ fault: Fault) throws(Fault) -> Outcome {
    try undo(sale, reason: "TIMO", fault)
    progress.enter(TransactionState.cancelled.rawValue)
    let reason = SalePreparation(progress.operation.preparation?.plain)?.advice?.reason
    let what =
      reason == nil || reason == "TIMO"
      ? "the answer was lost, and what it may have authorised was undone"
      : "the sale could not be finished, and what had been authorised was undone"
    let error =
      fault.result?.text("error").flatMap(ToroError.init(rawValue:)) ?? .transactionAborted
    var result = error.result(fault.result?.text("reason"))
    result["state"] = .string(TransactionState.cancelled.rawValue)
    return Outcome(
      status: .cancelled,
      id: sale.reference,
      result: result,
      fault: .undone(code: "transaction_undone", what)
    )
  }

  /// Undoes what was approved, or may have been.
  ///
  /// Throws with effect unknown where that is not certain.
  func undo(_ sale: SaleIdentity, reason: String, _ fault: Fault) throws(Fault) {
    let answer: Gateway.Advised
    do throws(Fault) {
      answer = try cancel(sale, reason: reason)
    } catch {
      throw fault.stillUnknown(error.message)
    }
    guard answer.isApproved else {
      throw fault.stillUnknown("the acquirer answered \(answer.word) to undoing it")
    }
  }
}

extension Payment {
  /// The command that refunds an amount in minor units to the card at the reader.
  ///
  /// It has a reference of its own: typed twice, it refunds once.
  func cardRefund(_ amount: Int) -> String {
    let money = currency.map { Money(minorUnits: amount, currency: $0).decimalText }
    // A refund of this amount that was begun is the one that is meant.
    let same = reversals.last { $0.isAlive && $0.link != nil && $0.effectiveAmount == amount }
    let next = "\(reference.text)-refund-\(reversals.count + 1)"
    let own = (same?.link?.text ?? next).shellQuoted
    return "with the card at the reader: tender transact --provider toro --type refund --original "
      + "\(shellReference) --amount \(money ?? "AMOUNT") --reference \(own)"
  }
}

extension Fault {
  /// A sale that was undone.
  static func undone(code: String, _ why: String) -> Fault {
    Fault(
      .cancelled,
      code: code,
      why,
      hint: "no money moved; a further try needs --new-attempt"
    )
  }

  /// A sale of which the journal has not enough to name it.
  static func saleLost(_ payment: Payment, effect: Fault.Effect) -> Fault {
    Fault(
      effect == .unknown ? .unknown : .conflict,
      effect: effect,
      code: "sale_lost",
      "the journal has no details of the sale \(payment.reference.quotedForMessage); nothing was sent",
      hint: "ask the acquirer, then: tender journal resolve \(payment.shellReference)"
    )
  }

  /// A capture that an earlier version went on to cancel.
  fileprivate static func beingCancelled(_ payment: Payment) -> Fault {
    Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "the cancellation of \(payment.reference.quotedForMessage) was sent, and has no answer yet",
      hint: "to go on cancelling it: tender cancel \(payment.shellReference)"
    )
  }

  /// What is left unknown because it could not be undone.
  fileprivate func stillUnknown(_ why: String) -> Fault {
    var fault = afterSending
    fault.kind = .unknown
    fault.effect = .unknown
    fault.code = "outcome_unknown"
    fault.message = "the sale may have been authorised, and could not be undone: \(why)"
    fault.hint = "the same command, or tender journal resume --finish, goes on undoing it"
    return fault
  }
}
