import TenderEngine
import TenderModel
import TenderWire

/// Cancellation advices: whole, repeated until they are answered (protocol note, section 1.3).
struct Undoing {
  let context: ToroContext
  let gateway: Gateway
  let progress: Progress

  /// The advice's identity, in the journal before it leaves: a later process sends the same one.
  private func advice(_ sale: SaleIdentity) throws(Fault) -> Messages.Advice {
    if let advice = Kept(progress.attempt.plainPreparation)?.advice { return advice }
    let advice = Messages.Advice(
      reference: context.randomness.transactionReference,
      time: Timestamp.milliText(context.clock.now)
    )
    try progress.keep(Kept(sale, advice: advice).text, id: nil, isSecret: false)
    return advice
  }

  /// Undoes a sale; gives what the acquirer said, in ISO 20022's `Response9`.
  ///
  /// Throws with effect unknown where nothing was said.
  func cancel(_ sale: SaleIdentity, reason: String?) throws(Fault) -> String {
    let advice = try advice(sale)
    let body = try gateway.advise(
      by: Deadline(in: context.configuration.timeout, on: context.clock)
    ) { header throws(Fault) in
      try gateway.messages.cancellation(header, advice, sale, reason: reason)
    }
    return body.text("Tx/Rspn") ?? ""
  }

  /// Undoes a sale whose answer was lost; what came of that is an outcome of its own.
  ///
  /// Throws with effect unknown where it could not be undone, or not for certain.
  func lost(_ sale: SaleIdentity, _ fault: Fault) throws(Fault) -> Outcome {
    let response: String
    do throws(Fault) {
      response = try cancel(sale, reason: "TIMO")
    } catch {
      throw fault.stillUnknown(error.message)
    }
    guard response == "APPR" else {
      throw fault.stillUnknown("the acquirer answered \(response) to undoing it")
    }
    progress.enter(TransactionState.cancelled.rawValue)
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
        "the answer was lost, and what it may have authorised was undone",
        hint: "no money moved; a further try needs --new-attempt"
      )
    )
  }

  /// Undoes what was approved.
  ///
  /// Throws with effect unknown where that is not certain.
  func approved(_ sale: SaleIdentity, reason: String, _ fault: Fault) throws(Fault) {
    let response: String
    do throws(Fault) {
      response = try cancel(sale, reason: reason)
    } catch {
      throw fault.stillUnknown(error.message)
    }
    guard response == "APPR" else {
      throw fault.stillUnknown("the acquirer answered \(response) to undoing it")
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
    fault.message = "\(message); it could not be undone: \(why)"
    fault.hint = "the same command or tender journal resume goes on undoing it"
    return fault
  }
}
