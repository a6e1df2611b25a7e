package import TenderEngine
package import TenderModel
import TenderWire

/// Toro: card-present sales on a Miura reader, through the Toro gateway over ISO 20022 messages.
package struct ToroProvider: Provider, CardPresentFlow {
  /// What it is called in options, records and journals.
  package static let name = ProviderName("toro")
  let context: ToroContext

  package init(_ context: ToroContext) { self.context = context }

  package var name: ProviderName { Self.name }

  package var merchant: String { context.configuration.merchantID }

  package var nothingHeld: JSONObject { ["state": "ready"] }

  package var undoesToFindOut: Bool { true }

  package var holdOption: String { "--no-capture" }

  package func isID(_ handle: String) -> Bool { false }

  package func checkReady(for need: Need) throws(Fault) {
    switch need {
    case .sale, .heldPayment, .reversal: _ = try context.configuration.checked()
    case .payment, .lookUp, .creation, .authorization, .withdrawal: break
    }
  }

  package func check(_ order: SaleOrder) throws(Fault) {
    try OrderCheck(context: context, order: order).run()
  }

  package func sell(_ order: SaleOrder, _ progress: Progress) throws(Fault) -> Outcome {
    try SaleRunner(context, try Gateway(context), order, progress).run()
  }

  package func confirm(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    guard let sale = identity(of: held) else { throw .noReceipt(held) }
    let advice = try newAdvice(for: sale, progress)
    return try complete(sale, advice, held, progress)
  }

  package func release(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    try undo(held, progress)
  }

  package func reverse(_ captured: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    try undo(captured, progress)
  }

  package func lookUp(_ query: LookUp) throws(Fault) -> Outcome? { nil }

  package func preview(_ order: SaleOrder) throws(Fault) -> JSONObject {
    let configuration = context.configuration
    var request: JSONObject = [
      "method": "POST",
      "url": .string(configuration.gatewayURL + Messages.Kind.authorisation.path),
      "message": "caaa.001.001.12", "device": .string(configuration.device),
      "type": order.isRefund ? "refund" : "purchase", "capture": .bool(order.captures),
      "amount": .integer(order.amount.minorUnits),
      "currency": .string(order.amount.currency.code),
      "sale_reference": .string(order.reference.text),
    ]
    request["gratuity"] = order.gratuity.map(JSON.integer)
    if !order.gratuityMenu.isEmpty {
      request["gratuity_menu"] = .array(order.gratuityMenu.map(JSON.integer))
    }
    request["original"] = order.original?["transactionReference"]
    return request
  }

  /// Finds out by cancellation: a sale cannot be asked for (contract, section 4, "Finding out").
  package func findOut(
    _ attempt: Attempt,
    _ progress: Progress,
    mayRepeat: Bool
  ) throws(Fault) -> Finding {
    let prepared = SalePreparation(attempt.preparation?.plain)
    guard let sale = prepared?.sale ?? identity(of: attempt) else { throw .noReceipt(attempt) }
    try checkReady(for: .reversal)
    switch attempt.operation {
    case .confirm where prepared?.cancels == true:
      // Somebody ordered it to be undone since: that is gone on with, whoever asks.
      return .undone(try undo(attempt, progress, isSent: true))
    case .confirm where mayRepeat:
      guard let advice = prepared?.advice else { throw .noReceipt(attempt) }
      return .happened(try complete(sale, advice, attempt, progress, isSent: true))
    case .confirm:
      // Whether it was captured is not known; undoing it is the same either way.
      try progress.prepare(.plain(SalePreparation(sale).text), id: nil)
      return .undone(try undo(attempt, progress, isSent: true))
    case .cancel: return .happened(try undo(attempt, progress, isSent: true))
    case .transact, .tokenize:
      let cancellation = Cancellation(
        context: context,
        gateway: try Gateway(context),
        progress: progress
      )
      let lost =
        attempt.fault
        ?? Fault(
          .unknown,
          effect: .unknown,
          code: "outcome_unknown",
          "its process ended before an answer came",
          result: ToroError.transactionAborted.result("the process ended before an answer came")
        )
      return .happened(try cancellation.lost(sale, lost))
    }
  }

  private func identity(of attempt: Attempt) -> SaleIdentity? {
    attempt.result["receipt"]?.object.flatMap(SaleIdentity.init(receipt:))
      ?? SalePreparation(attempt.preparation?.plain)?.sale
  }

  /// A new advice about a sale, in the journal and marked as sent before it leaves.
  private func newAdvice(
    for sale: SaleIdentity,
    _ progress: Progress,
    cancels: Bool = false
  ) throws(Fault) -> Messages.Advice {
    let advice = Messages.Advice(
      reference: context.randomness.transactionReference,
      time: Timestamp.milliText(context.clock.now)
    )
    try progress.prepare(
      .plain(SalePreparation(sale, advice: advice, cancels: cancels).text),
      id: nil,
      sendingNext: true
    )
    try progress.willSend()
    return advice
  }

  /// Captures; what the acquirer says to it is the outcome.
  private func complete(
    _ sale: SaleIdentity,
    _ advice: Messages.Advice,
    _ attempt: Attempt,
    _ progress: Progress,
    isSent: Bool = false
  ) throws(Fault) -> Outcome {
    let gateway = try Gateway(context)
    let response: Gateway.Advised
    do throws(Fault) {
      response = try gateway.advise(
        by: Deadline(in: context.configuration.timeout, on: context.clock),
        repetition: isSent ? 1 : 0
      ) { header throws(Fault) in try gateway.messages.completion(header, advice, sale) }
    } catch {
      // What was sent before by another process may have been heeded, whatever this one was told.
      throw isSent ? error.afterSending : error.effect == .none ? error.proven : error
    }
    guard response.isApproved else {
      let wasSent = isSent || response.wasLost
      throw Fault(
        .declined,
        effect: wasSent ? .unknown : .none,
        code: "completion_declined",
        "the acquirer answered \(response.word) to the completion"
          + (wasSent ? "; what an earlier one did is not known" : ": nothing was captured"),
        hint: "cancel it, or try again later",
        result: ["state": "completed", "response": .string(response.word)]
      ).proven
    }
    progress.enter(TransactionState.completed.rawValue)
    var receipt = attempt.result["receipt"]?.object ?? [:]
    receipt["captured"] = true
    return Outcome(
      status: .succeeded,
      id: attempt.id,
      result: ["state": "completed", "receipt": .object(receipt)]
    )
  }

  private func undo(
    _ attempt: Attempt,
    _ progress: Progress,
    isSent: Bool = false
  ) throws(Fault) -> Outcome {
    guard let sale = SalePreparation(attempt.preparation?.plain)?.sale ?? identity(of: attempt)
    else {
      throw .noReceipt(attempt)
    }
    let cancellation = Cancellation(
      context: context,
      gateway: try Gateway(context),
      progress: progress
    )
    if !isSent { _ = try newAdvice(for: sale, progress, cancels: true) }
    let response: Gateway.Advised
    do throws(Fault) {
      response = try cancellation.cancel(sale, reason: nil, isRepeated: isSent)
    } catch {
      throw isSent ? error.afterSending : error.effect == .none ? error.proven : error
    }
    guard response.isApproved else {
      // A no to a repetition says nothing about the first, whose answer was lost.
      let wasSent = isSent || response.wasLost
      throw Fault(
        .declined,
        effect: wasSent ? .unknown : .none,
        code: "cancellation_declined",
        "the acquirer answered \(response.word) to the cancellation"
          + (wasSent ? "; what an earlier one did is not known" : ": the sale stands"),
        hint: wasSent
          ? "ask the acquirer"
          : "refund it: tender transact --provider toro --type refund --original "
            + attempt.reference.text,
        result: ["state": "completed", "response": .string(response.word)]
      ).proven
    }
    progress.enter(TransactionState.cancelled.rawValue)
    var result: JSONObject = ["state": "cancelled", "cancellationType": "attendant"]
    if var receipt = attempt.result["receipt"]?.object {
      receipt["captured"] = false
      result["receipt"] = .object(receipt)
    }
    return Outcome(status: .cancelled, id: attempt.id, result: result)
  }
}

extension Fault {
  fileprivate static func noReceipt(_ attempt: Attempt) -> Fault {
    Fault(
      attempt.phase == .sent ? .unknown : .conflict,
      effect: attempt.phase == .sent ? .unknown : .none,
      code: "sale_lost",
      "the journal has no details of the sale \(attempt.reference.quotedForMessage)",
      hint: "settle it with the acquirer by hand"
    )
  }
}
