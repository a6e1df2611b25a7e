import TenderEngine
import TenderModel

/// Sends completion and cancellation advices, repeated with the same identifiers until they are answered
/// (README, 3.5 and 7).
struct Advices {
  let context: ToroContext
  let gateway: Gateway
  let progress: Progress

  // MARK: Advices that are operations

  /// Captures an authorized sale, or a part of it. The acquirer releases the rest.
  func capture() throws(Fault) -> Outcome {
    let (sale, advice, amount) = try sent(
      .completion,
      "nothing was captured",
      hint: "try again later",
      next: progress.payment.next(.void)
    )
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

  /// Voids the whole sale, whether it is authorized, captured or still at the acquirer.
  func void() throws(Fault) -> Outcome {
    let left = progress.payment.state.leftToRefund
    let (sale, advice, amount) = try sent(
      .cancellation,
      "the sale is as it was",
      hint: left > 0 ? nil : "ask the acquirer",
      next: left > 0 ? progress.payment.cardRefund(left) : []
    )
    progress.enter(TransactionState.cancelled.rawValue)
    var result: JSONObject = ["state": "cancelled", "cancellationType": "attendant"]
    if var receipt = undone?.receipt ?? progress.payment.receipt {
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

  /// Sends the operation's advice until it is approved. Returns the sale.
  ///
  /// Throws if the acquirer declined it, with `consequence`, `hint` and `next`, or if no answer came.
  private func sent(
    _ kind: Messages.Kind,
    _ consequence: String,
    hint: String?,
    next: [Next]
  ) throws(Fault) -> (sale: SaleIdentity, advice: Messages.Advice, amount: Int) {
    let (sale, advice, isRepeated) = try own()
    let amount = progress.operation.amount ?? sale.amount
    do throws(Fault) {
      try gateway.advise(progress, repetition: isRepeated ? 1 : 0) { header throws(Fault) in
        try gateway.messages.advice(kind, header, advice, sale, amount: amount)
      }
    } catch {
      guard error.cause == .adviceDeclined else { throw error }
      var fault = error
      // An earlier advice without an answer may have been processed. That may be one of an earlier process.
      let isAlone = error.isProven && !isRepeated
      fault.effect = isAlone ? .none : .unknown
      fault.message +=
        "; "
        + (isAlone ? consequence : "an earlier one, without an answer, may have been processed")
      (fault.hint, fault.next) = isAlone ? (hint, next) : ("ask the acquirer", [])
      // The hold stays, and its capture may be accepted later.
      if kind == .completion { fault.again = .later }
      throw fault
    }
    return (sale, advice, amount)
  }

  /// The refund with the card that the operation undoes; nil if it is about the sale.
  private var undone: Operation? { progress.operation.parent.flatMap { progress.payment[$0] } }

  /// Returns the sale and the operation's advice, and records it as sent. A repetition uses the recorded
  /// advice.
  private func own() throws(Fault) -> (
    sale: SaleIdentity, advice: Messages.Advice, isRepeated: Bool
  ) {
    let operation = progress.operation
    guard !operation.isUnknown else {
      guard let kept = SalePreparation(operation.preparation?.plain), let advice = kept.advice
      else {
        throw .saleLost(progress.payment, effect: .unknown)
      }
      try progress.willSend()
      return (kept.sale, advice, true)
    }
    guard let sale = undone?.sale ?? progress.payment.sale else {
      throw .saleLost(progress.payment, effect: .none)
    }
    let advice = newAdvice(reason: nil)
    try progress.prepare(
      .plain(SalePreparation(sale: sale, advice: advice).text),
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

  // MARK: Undoing the attempt

  /// Undoes the sale of this operation. Throws if the acquirer does not approve that.
  func cancel(_ sale: SaleIdentity, reason: String) throws(Fault) {
    let kept = SalePreparation(progress.operation.preparation?.plain)?.advice
    let advice = kept ?? newAdvice(reason: reason)
    if kept == nil {
      do throws(Fault) {
        try progress.prepare(.plain(SalePreparation(sale: sale, advice: advice).text))
      } catch {
        // The journal knows that the sale was sent, so a later process undoes it again with another advice.
        // Without this advice, the cardholder would stay charged until then.
        guard error.kind == .state else { throw error }
      }
    }
    try gateway.advise(progress, repetition: kept == nil ? 0 : 1) { header throws(Fault) in
      try gateway.messages.advice(.cancellation, header, advice, sale, amount: sale.amount)
    }
  }

  /// Undoes a sale whose answer was lost. Returns its outcome.
  ///
  /// Throws with effect unknown if the sale is not certainly undone.
  func lost(_ sale: SaleIdentity, _ fault: Fault) throws(Fault) -> Outcome {
    try undo(sale, reason: "TIMO", fault)
    progress.enter(TransactionState.cancelled.rawValue)
    let reason = SalePreparation(progress.operation.preparation?.plain)?.advice?.reason
    let what =
      reason == nil || reason == "TIMO"
      ? "the answer was lost, and what it may have authorized was undone"
      : "the sale could not be finished, and what had been authorized was undone"
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

  /// Undoes a sale that was approved, or may have been.
  ///
  /// Throws with effect unknown if the sale is not certainly undone.
  func undo(_ sale: SaleIdentity, reason: String, _ fault: Fault) throws(Fault) {
    do throws(Fault) {
      try cancel(sale, reason: reason)
    } catch {
      throw fault.stillUnknown(progress.payment, error.message)
    }
  }
}

extension Payment {
  /// Returns the step that refunds an amount in minor units to the card at the reader.
  ///
  /// Its command has a fixed reference, so that it refunds once even if it is run twice.
  func cardRefund(_ amount: Int) -> [Next] {
    // If a refund of this amount was begun, the command continues it.
    let same = reversals.last { $0.isAlive && $0.link != nil && $0.effectiveAmount == amount }
    let next = "\(reference.text)-refund-\(reversals.count + 1)"
    let own = (same?.link?.text ?? next).shellOption("reference")
    return [
      Next(
        .refund(amount, name: own),
        of: place,
        to: "refund \(text(ofMinorUnits: amount)) with the card at the reader",
        "transact --type refund \(reference.text.shellOption("original")) "
          + "\(options(forMinorUnits: amount)) \(own)"
      )
    ]
  }
}

extension Fault {
  static func undone(code: String, _ why: String) -> Fault {
    Fault(.cancelled, code: code, why, hint: "the sale was undone")
  }

  /// An approval could not be recorded, and its sale was undone.
  static func undoneUnrecorded(_ failure: Fault) -> Fault {
    Fault.state(
      failure.code,
      "the approval could not be recorded, so the sale was undone. Nothing was charged; keep the goods: "
        + failure.message,
      "make the journal writable; then add --new-attempt to the same command"
    ).proven
  }

  /// The fault of a sale whose identifiers are not in the journal.
  static func saleLost(_ payment: Payment, effect: Fault.Effect) -> Fault {
    let isResolved = effect == .none && payment.attempt?.state.name == .succeeded
    return Fault(
      effect == .unknown ? .unknown : .conflict,
      effect: effect,
      code: "sale_lost",
      "the journal has no \(isResolved ? "receipt" : "details") of the sale "
        + "\(payment.reference.quotedForMessage)\(isResolved ? ", which was resolved by hand" : ""); "
        + "nothing was sent",
      hint: isResolved
        ? "refund it at the acquirer, or by its receipt: --type refund --original-file FILE"
        : "ask the acquirer",
      next: isResolved ? [] : payment.next(.resolve("--as STATUS"))
    )
  }

  /// The fault of a sale that stays unknown because it could not be undone.
  fileprivate func stillUnknown(_ payment: Payment, _ why: String) -> Fault {
    .outcomeUnknown(
      "the sale may have been authorized, and could not be undone: \(why)",
      result: result
    )
  }
}

/// The stored identity of a sale and its current advice, for a later process.
struct SalePreparation {
  var sale: SaleIdentity
  var advice: Messages.Advice?
}

extension SalePreparation {
  /// The text for the journal, without card data and secrets.
  var text: String {
    let object: JSON = [
      "sale": sale.stored.json, "advice": advice?.reference.json, "advice_at": advice?.time.json,
      "reason": advice?.reason?.json,
    ]
    return JSONWriter.text(object)
  }

  /// Reads the text that `text` returned; nil for anything else.
  init?(_ text: String?) {
    guard let object = text.flatMap({ JSONReader.read($0)?.object }),
      let sale = object.text("sale").flatMap(SaleIdentity.init(stored:))
    else { return nil }
    self.sale = sale
    if let reference = object.text("advice"), let time = object.text("advice_at") {
      advice = .init(reference: reference, time: time, reason: object.text("reason"))
    }
  }
}

extension Payment {
  /// The newest receipt of the current attempt. A capture or void has a separate receipt, and so has a refund with
  /// the card, which is not the sale's.
  var receipt: JSONObject? {
    ([attempt].compactMap(\.self) + followers).filter {
      $0.ownReference == nil && !isAboutRefund($0)
    }
    .compactMap(\.receipt).last
  }

  var sale: SaleIdentity? { attempt?.sale }
}

extension Operation {
  var receipt: JSONObject? { result["receipt"]?.object }

  /// The identity of the sale or refund, from its receipt or from the data stored before it was sent.
  var sale: SaleIdentity? {
    receipt.flatMap(SaleIdentity.init(receipt:)) ?? SalePreparation(preparation?.plain)?.sale
  }
}
