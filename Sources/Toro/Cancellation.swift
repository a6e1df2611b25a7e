import TenderEngine
import TenderModel
import TenderWire

/// Cancellation advices: whole, repeated until they are answered (protocol note, section 1.3).
struct Cancellation {
  let context: ToroContext
  let gateway: Gateway
  let progress: Progress

  /// The advice's identity, in the journal before it leaves: a later process sends the same one.
  ///
  /// `isNew` says that nobody has sent it yet, as far as anybody knows.
  private func advice(
    _ sale: SaleIdentity,
    _ reason: String?
  ) throws(Fault) -> (advice: Messages.Advice, isNew: Bool) {
    // An advice to capture is none of these.
    let prepared = SalePreparation(progress.attempt.preparation?.plain)
    if let advice = prepared?.advice,
      prepared?.cancels == true || progress.attempt.operation != .confirm
    {
      return (advice, false)
    }
    let advice = Messages.Advice(
      reference: context.randomness.transactionReference,
      time: Timestamp.milliText(context.clock.now),
      reason: reason
    )
    do throws(Fault) {
      try progress.prepare(
        .plain(SalePreparation(sale, advice: advice, cancels: true).text),
        id: nil
      )
    } catch {
      // That the sale was sent is in the journal: a later process undoes it once more, by another
      // advice. Not to send this one now would leave the cardholder charged until then.
      guard error.kind == .state else { throw error }
    }
    return (advice, true)
  }

  /// Undoes a sale; gives what the acquirer said, in ISO 20022's `Response9`.
  ///
  /// Throws with effect unknown where nothing was said.
  func cancel(
    _ sale: SaleIdentity,
    reason: String?,
    isRepeated: Bool = true
  ) throws(Fault) -> Gateway.Advised {
    let (advice, isNew) = try advice(sale, reason)
    return try gateway.advise(
      by: Deadline(in: context.configuration.timeout, on: context.clock),
      repetition: isNew || !isRepeated ? 0 : 1
    ) { header throws(Fault) in try gateway.messages.cancellation(header, advice, sale) }
  }

  /// Undoes a sale whose answer was lost; what came of that is an outcome of its own.
  ///
  /// Throws with effect unknown where it could not be undone, or not for certain.
  func lost(_ sale: SaleIdentity, _ fault: Fault) throws(Fault) -> Outcome {
    let response: Gateway.Advised
    do throws(Fault) {
      response = try cancel(sale, reason: "TIMO")
    } catch {
      throw fault.stillUnknown(error.message)
    }
    guard response.isApproved else {
      throw fault.stillUnknown("the acquirer answered \(response.word) to undoing it")
    }
    progress.enter(TransactionState.cancelled.rawValue)
    let reason = SalePreparation(progress.attempt.preparation?.plain)?.advice?.reason
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
      fault: Fault(
        .cancelled,
        code: "transaction_undone",
        what,
        hint: "no money moved; a further try needs --new-attempt"
      )
    )
  }

  /// Undoes what was approved.
  ///
  /// Throws with effect unknown where that is not certain.
  func approved(_ sale: SaleIdentity, reason: String, _ fault: Fault) throws(Fault) {
    let response: Gateway.Advised
    do throws(Fault) {
      response = try cancel(sale, reason: reason)
    } catch {
      throw fault.stillUnknown(error.message)
    }
    guard response.isApproved else {
      throw fault.stillUnknown("the acquirer answered \(response.word) to undoing it")
    }
  }
}

extension Fault {
  /// What is left unknown because it could not be undone.
  fileprivate func stillUnknown(_ why: String) -> Fault {
    var fault = afterSending
    fault.kind = .unknown
    fault.effect = .unknown
    fault.code = "outcome_unknown"
    fault.message = "the sale may have been authorised, and could not be undone: \(why)"
    fault.hint = "the same command or tender journal resume goes on undoing it"
    return fault
  }
}
