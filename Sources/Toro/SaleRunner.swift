import TenderEngine
import TenderModel

/// Performs the actions of a reader session: reader commands, the acquirer, the signature, the end.
final class SaleRunner {
  let context: ToroContext
  let gateway: Gateway
  let advices: Advices
  let order: SaleOrder
  let progress: Progress
  var session: ReaderSession
  private var link: ReaderLink?
  var sale: SaleIdentity
  var answer: AuthorisationAnswer?
  /// Whether the card itself declined, with any answer of the acquirer.
  private(set) var isDeclinedByCard = false
  private(set) var signatureVerificationFailed = false
  /// The journal's fault, if the approval could not be recorded.
  private var unrecorded: Fault?
  private var isStopTold = false
  private var state = TransactionState.ready
  /// The number, time limit and deadline of the session's current wait.
  private var wait: (turn: Int, patience: Int, deadline: Deadline)?

  init(
    _ context: ToroContext,
    _ gateway: Gateway,
    _ order: SaleOrder,
    _ progress: Progress
  ) {
    self.context = context
    self.gateway = gateway
    advices = Advices(context: context, gateway: gateway, progress: progress)
    self.order = order
    self.progress = progress
    let now = context.clock.now
    session = ReaderSession(order, context, now: now)
    sale = SaleIdentity(
      saleReference: order.reference.text,
      reference: context.randomness.transactionReference,
      time: Timestamp.milliText(now),
      initiator: context.randomness.transactionReference,
      isRefund: order.isRefund,
      amount: order.amount.minorUnits,
      currency: order.amount.currency
    )
  }

  /// Runs the sale to its end.
  ///
  /// Throws a documented error.
  func run() throws(Fault) -> Outcome {
    defer { link?.close() }
    let end: ReaderSession.End
    do throws(Fault) {
      end = try play()
    } catch {
      guard error.kind == .device else { throw error }
      let lost = error.result?.text("error").flatMap(ToroError.init(rawValue:)) ?? .deviceError
      end = session.end(lostBy: lost, error.message)
    }
    return try finish(end)
  }

  /// Performs actions until the session ends. Throws a fault of kind `device` if the connection breaks.
  private func play() throws(Fault) -> ReaderSession.End {
    progress.enter(state.rawValue)
    var pending = session.receive(.begin)
    while true {
      guard !pending.isEmpty else {
        pending = session.receive(try next())
        continue
      }
      switch pending.removeFirst() {
      case .end(let end): return end
      case .settle:
        // This is the last moment at which another process can cancel. The approval is recorded next.
        if answer?.isApproved == true, progress.isStopRequested {
          pending = session.receive(.abandoned(.operatorCancelled, Self.stopped))
        } else if !conclude() {
          // The journal may have it after all. The next command reads that, and undoes the sale if it is not there.
          if let unrecorded, unrecorded.cause == .journalUnconfirmed { throw unrecorded }
          // An outcome that cannot be recorded is undone and not reported.
          pending = session.receive(.abandoned(.transactionError, Self.unrecorded))
        }
      case let action:
        do throws(Fault) {
          pending = try perform(action) + pending
        } catch {
          guard error.kind == .state, answer?.isApproved == true else { throw error }
          unrecorded = error
          pending = session.receive(.abandoned(.transactionError, Self.unrecorded))
        }
      }
    }
  }

  static let stopped = "the operator cancelled"
  static let unrecorded = "the approval could not be recorded"

  /// Returns the next event: one from the reader, or a request to stop.
  private func next() throws(Fault) -> ReaderSession.Event {
    let deadline = currentDeadline()
    while true {
      if context.interruption.kind == .interrupted {
        // The signal was handled. It must not stop the steps that follow.
        context.interruption.acknowledge()
        return .stop
      }
      if !isStopTold, context.interruption.kind != nil || progress.isStopRequested {
        // The request to stop persists, but the session gets it once.
        isStopTold = true
        return .stop
      }
      let left = deadline.remaining
      guard left > 0 else { return .quiet }
      context.attendant.waits(for: state.rawValue, left: left)
      if let event = try link?.next(milliseconds: min(left, 200)) { return event }
    }
  }

  /// Returns the deadline of the session's current wait. Events can bring it nearer but never extend it.
  private func currentDeadline() -> Deadline {
    var deadline = Deadline(in: session.patience, on: context.clock)
    if let wait, wait.turn == session.turn,
      wait.patience == session.patience || wait.deadline.remaining < deadline.remaining
    {
      deadline = wait.deadline
    }
    wait = (session.turn, session.patience, deadline)
    return deadline
  }

  private func perform(_ action: ReaderSession.Action) throws(Fault) -> [ReaderSession.Action] {
    switch action {
    case .enter(let next):
      guard next != state else { break }
      state = next
      // The state before a request is recorded together with the request.
      try progress.recordState(next.rawValue, sendingNext: next == .authorising)
    case .send(let command): try connected().send(command)
    case .authorise(let card): return session.receive(.decided(authorise(card)))
    case .takeSignature:
      if let signature = context.options.signature { return session.receive(.signature(signature)) }
      let given = try asked { () throws(Fault) in try context.attendant.signature() }
      return session.receive(.signature(given))
    case .compare:
      if let matches = context.options.signatureMatches {
        return session.receive(.compared(matches))
      }
      let matches = try asked { () throws(Fault) in try context.attendant.signatureMatches() }
      return session.receive(.compared(matches ?? false))
    case .settle, .end: break
    }
    return []
  }

  /// Returns the answer to a question; nil if a signal stopped it, which counts as an answer.
  private func asked<Answer>(_ question: () throws(Fault) -> Answer?) throws(Fault) -> Answer? {
    do throws(Fault) {
      return try question()
    } catch {
      guard error.kind.isStop || error.kind == .refused else { throw error }
      context.interruption.acknowledge()
      return nil
    }
  }

  /// Records the acquirer's answer. Returns false if an approval could not be recorded.
  func conclude() -> Bool {
    do throws(Fault) {
      try progress.conclude(word)
      return true
    } catch {
      guard answer?.isApproved == true else { return true }
      unrecorded = error
      return false
    }
  }

  /// Returns the connection to the reader, which is opened on first use.
  private func connected() throws(Fault) -> ReaderLink {
    if let link { return link }
    let made = try ReaderLink.open(context)
    link = made
    return made
  }

  /// Asks the acquirer. Failures are handled here at once, and reported after the reader is released.
  private func authorise(_ card: PresentedCard) -> ReaderSession.Decision {
    sale.amount = session.money.minorUnits
    sale.entryMode = card.entryMode
    do throws(Fault) {
      let message = try gateway.messages.authorisation(
        gateway.header(),
        sale,
        card,
        order,
        gratuity: gratuity,
        serial: session.serial
      )
      try progress.prepare(
        .plain(SalePreparation(sale: sale).text),
        id: sale.reference,
        amount: sale.amount,
        sendingNext: true
      )
      try progress.willSend()
      let body = try gateway.exchange(message, progress.permit(), by: context.deadline)
      guard let answer = AuthorisationAnswer(body, for: sale) else {
        throw Fault.toro(
          .malformedResponse,
          "Toro's gateway answered what makes no sense for this sale",
          reason: "an answer that does not fit the sale"
        )
      }
      self.answer = answer
      keepWhole(answer.recipient)
      keepWhole(answer.additional)
      sale.recipient = answer.recipient
      sale.response = answer.response
      sale.responseReason = answer.reason
      sale.additionalResponse = answer.additional
      sale.authorisationCode = answer.code
      session.message = answer.displayText
      if answer.isApproved, progress.isStopRequested {
        // Another process cancelled the sale meanwhile, so it is undone at once.
        return .unavailable(
          .init { () throws(Fault) in try undone(.operatorCancelled, Self.stopped) }
        )
      }
      return answer.isApproved ? .approved(answer.decision) : .declined(answer.decision)
    } catch {
      return .unavailable(recovered(error))
    }
  }

  /// Handles a failure before anything else. It is reported after the reader is released.
  private func recovered(_ error: Fault) -> ReaderSession.Lost {
    guard progress.isUnderWay else { return .failure(error) }
    if error.cause == .refused { return .failure(undone(error)) }
    var lost = error
    if error.kind.isStop || context.interruption.kind != nil {
      // The signal was handled. It must not stop the undoing; another one does.
      context.interruption.acknowledge()
      lost =
        Fault.toro(
          .operatorCancelled,
          "stopped while the acquirer was asked",
          reason: "stopped while the acquirer was asked"
        )
    }
    // This comes first: a cardholder must not be charged for a sale that the till does not know.
    return .init { () throws(Fault) in try advices.lost(sale, lost) }
  }

  /// Undoes a refused sale. A refusal without a signature may come after the effect.
  ///
  /// If the acquirer confirms the undoing, the refusal is the outcome. Otherwise the sale is unknown.
  private func undone(_ refusal: Fault) -> Fault {
    (try? advices.cancel(sale, reason: "TIMO")) == nil ? refusal : refusal.proven
  }

  /// Exempts an identifier of the acquirer that only looks like a card number.
  ///
  /// It differs from this card's number, and is needed to undo the sale.
  private func keepWhole(_ text: String?) {
    guard let text, let number = session.card?.number else { return }
    let digits = text.filter { $0.isASCII && $0.isNumber }
    if !digits.contains(String(number.start.prefix(6))), !digits.hasSuffix(number.lastFour) {
      context.redactor.exempt(text)
    }
  }

  var gratuity: Int? { session.gratuity ?? order.gratuity }
}

extension Randomness {
  /// A new unique name of 28 letters. Two are equal with a chance of one in 2^121.
  ///
  /// It has no digits: in one of a thousand names they would look like a card number and be masked in the
  /// journal.
  var transactionReference: String { text(28, from: "BCDFGHJKLMNPQRSTVWXZ") }
}

/// The result of a session: receipt, outcome, and the undoing if needed.
extension SaleRunner {
  func finish(_ end: ReaderSession.End) throws(Fault) -> Outcome {
    switch end {
    case .completed:
      if !progress.isConcluded, !conclude() {
        return try finish(.undo(.transactionError, Self.unrecorded))
      }
      progress.enter(TransactionState.completed.rawValue)
      return word
    case .declinedByCard:
      return declinedByCard()
    case .failed(let error, let why):
      progress.enter(error.state.rawValue)
      if error == .operatorCancelled, let kind = context.interruption.kind {
        throw .stopped(by: kind, underWay: "the reader was let go")
      }
      throw .toro(error, why, hint: "no money moved; run the same command again", reason: why)
    case .released(.success(let outcome)): return outcome
    case .released(.failure(let fault)):
      progress.enter(TransactionState.failed.rawValue)
      throw fault
    case .refusedByCard:
      try undo(reason: "CDCL", .toro(.transactionError, "the card declined"))
      return declinedByCard()
    case .undo(let error, let why): return try undone(error, why)
    case .signatureFailed(let error):
      signatureVerificationFailed = true
      let why =
        error == .customerCancelled ? "the customer did not sign" : "the signature does not match"
      return try undone(error, why, reason: "CUCL", code: "signature_verification_failed")
    }
  }

  /// Undoes an approved sale. `reason` is from ISO 20022's `FailureReason3`.
  func undone(
    _ error: ToroError,
    _ why: String,
    reason: String = "UCMP",
    code: String = "transaction_undone"
  ) throws(Fault) -> Outcome {
    try undo(reason: reason, .toro(error, why, reason: why))
    progress.enter(TransactionState.cancelled.rawValue)
    var fields = receipt
    fields["captured"] = false
    var result = error.result(signatureVerificationFailed ? nil : why, receipt: fields)
    result["state"] = .string(TransactionState.cancelled.rawValue)
    let fault = Fault.undone(code: code, "\(why); the authorization was undone")
    let undone = outcome(.cancelled, result, fault)
    // A journal that could not record the approval may not record the undoing either.
    guard unrecorded != nil else { return undone }
    do throws(Fault) {
      try progress.conclude(undone)
      return undone
    } catch {
      throw .undoneUnrecorded(error)
    }
  }

  /// Undoes the sale of this session. The session has handled a signal; another one stops the undoing.
  private func undo(reason: String, _ fault: Fault) throws(Fault) {
    context.interruption.acknowledge()
    try advices.undo(sale, reason: reason, fault)
  }

  private func declinedByCard() -> Outcome {
    isDeclinedByCard = true
    progress.enter(TransactionState.completed.rawValue)
    return outcome(
      .declined,
      ["state": "completed", "receipt": .object(receipt)],
      Fault(
        .declined,
        code: "declined_by_card",
        "the card declined",
        hint: "no money moved; --new-attempt tries again, perhaps with another card"
      )
    )
  }

  /// The outcome that follows from the acquirer's answer.
  var word: Outcome {
    let result: JSONObject = ["state": "completed", "receipt": .object(receipt)]
    guard let answer else { return outcome(.failed, result, nil) }
    switch answer.response {
    case "APPR", "PART":
      let isHeld = !isCaptured && !order.isRefund
      return outcome(isHeld ? .requiresConfirmation : .succeeded, result, nil)
    case "SUSP": return outcome(.pending, result, nil)
    default:
      let isTechnical = answer.response == "TECH"
      let what = isTechnical ? "the acquirer could not process it" : "the acquirer declined"
      return outcome(
        .declined,
        result,
        Fault(
          .declined,
          code: isTechnical ? "technical_decline" : "acquirer_declined",
          what + (answer.reason.map { " (\($0))" } ?? ""),
          hint: "no money moved; --new-attempt tries again"
            + (isTechnical ? "" : ", perhaps with another card")
        )
      )
    }
  }

  /// Whether the sale is captured: it was approved with capture, and no completion is needed.
  var isCaptured: Bool {
    guard let answer else { return false }
    return order.captures && answer.isApproved && !answer.isCompletionRequired && !isDeclinedByCard
  }

  /// The documented receipt, field by field (README, 5.2). Absent values are left out.
  var receipt: JSONObject {
    let card = session.card
    let configuration = context.configuration
    let code = isDeclinedByCard ? nil : ResponseCode.names[answer?.response ?? ""]
    // The documented receipt always has a gratuity; 0 if there is none (README, 5.2).
    return [
      "saleReferenceId": sale.saleReference.json, "amount": sale.amount.json,
      "authorisedAmount": answer?.isApproved == true
        ? answer?.authorised?.json ?? sale.amount.json : nil,
      "type": sale.isRefund ? "refund" : "purchase", "gratuityAmount": gratuity?.json ?? 0,
      "currency": sale.currency.code.json, "authCode": answer?.code?.json,
      "responseCode": code?.json ?? "declined",
      "responseReason": isDeclinedByCard ? "declined by the card" : answer?.reason?.json,
      "authenticationMethod": card?.authentication?.json,
      "additionalResponseInformation": answer?.additional?.json,
      "actionCode": answer?.actionCode?.json, "aid": card?.aid?.json,
      "applicationLabel": card?.label?.json, "paymentInterface": card?.interface.rawValue.json,
      "panStart": card?.number?.start.json, "panLastFour": card?.number?.lastFour.json,
      "recipientTransactionId": answer?.recipient?.json,
      "initiatorTransactionId": sale.initiator.json, "transactionReference": sale.reference.json,
      "dateTime": sale.time.json, "terminalSerialNumber": (session.serial ?? card?.serial)?.json,
      "signatureBase64": session.signature.map { Base64.encode($0).json },
      "signatureVerificationFailed": signatureVerificationFailed.json, "captured": isCaptured.json,
      "longitude": configuration.longitude?.json, "latitude": configuration.latitude?.json,
      "additionalInformation": order.additional.members.isEmpty ? nil : order.additional.json,
    ]
  }

  private func outcome(_ status: Status, _ result: JSONObject, _ fault: Fault?) -> Outcome {
    var result = result
    if let actions = answer?.actions, !actions.isEmpty {
      result["actions"] = .array(actions.map(JSON.object))
    }
    let isApproved = answer?.isApproved == true && !isDeclinedByCard
    let asked = order.amount.minorUnits
    // A suspended sale was received but not processed: nothing is charged, and nothing can be refunded.
    let isSuspended = status == .pending && !order.isRefund
    let amount = isSuspended ? 0 : isApproved ? answer?.authorised ?? sale.amount : sale.amount
    return Outcome(
      status: status,
      id: sale.reference,
      amount: amount,
      requestedAmount: amount == asked ? nil : asked,
      currency: sale.currency,
      lastFour: session.card?.number?.lastFour,
      brand: session.card?.label,
      result: result,
      fault: fault
    )
  }
}
