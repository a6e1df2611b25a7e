import TenderEngine
import TenderModel
import TenderWire

/// Does what a reader session asks for: commands, the acquirer, the signature, the end.
final class SaleRunner {
  private let context: ToroContext
  private let gateway: Gateway
  private let undoing: Undoing
  private let order: SaleOrder
  private let progress: Progress
  private var session: ReaderSession
  private var link: ReaderLink?
  private var sale: SaleIdentity
  private var answer: AuthorisationAnswer?
  /// What went wrong with the acquirer; thrown once the reader has been let go.
  private var trouble: Fault?
  /// What came of undoing a sale whose answer was lost.
  private var undone: Outcome?
  private var isStopTold = false
  private var state = TransactionState.ready

  init(
    _ context: ToroContext,
    _ gateway: Gateway,
    _ order: SaleOrder,
    _ progress: Progress
  ) {
    self.context = context
    self.gateway = gateway
    undoing = Undoing(context: context, gateway: gateway, progress: progress)
    self.order = order
    self.progress = progress
    let now = context.clock.now
    session = ReaderSession(
      ReaderSession.Terms(
        money: order.amount,
        isRefund: order.isRefund,
        menu: order.gratuityMenu,
        time: ReaderTime(now),
        cardTimeout: context.configuration.cardTimeout,
        signsOnDevice: context.options.signatureMode == .device && !order.isRefund
      )
    )
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

  /// Runs it to its end.
  ///
  /// Throws a documented error, with effect unknown where the acquirer may have been moved.
  func run() throws(Fault) -> Outcome {
    defer { link?.close() }
    var pending = session.receive(.begin)
    while true {
      while !pending.isEmpty {
        if case .end(let end) = pending[0] { return try finish(end) }
        let action = pending.removeFirst()
        if case .settle = action {
          // Outcome before word: what cannot be written down is undone, and told to nobody.
          if !conclude() { pending = session.receive(.unrecorded) }
          continue
        }
        do throws(Fault) {
          pending = try perform(action) + pending
        } catch {
          if error.kind == .state, answer?.isApproved == true {
            pending = session.receive(.unrecorded)
            continue
          }
          guard let lost = Self.loss(error) else { throw error }
          return try finish(session.end(lostBy: lost, error.message))
        }
      }
      do throws(Fault) {
        pending = session.receive(try next())
      } catch {
        guard let lost = Self.loss(error) else { throw error }
        return try finish(session.end(lostBy: lost, error.message))
      }
    }
  }

  /// The error of a fault of the reader's link; nil for any other.
  private static func loss(_ fault: Fault) -> ToroError? {
    guard fault.kind == .device else { return nil }
    return fault.result?.text("error").flatMap(ToroError.init(rawValue:)) ?? .deviceError
  }

  /// The next event: of the reader, or that somebody wants it to stop.
  private func next() throws(Fault) -> ReaderSession.Event {
    let deadline = Deadline(in: session.patience, on: context.clock)
    while true {
      if context.interruption.kind == .interrupted {
        // The wish is heard: what follows must not be stopped by it.
        context.interruption.acknowledge()
        return .stop
      }
      if !isStopTold, context.interruption.kind != nil || progress.isStopRequested {
        // It stays asked for, and is told once.
        isStopTold = true
        return .stop
      }
      let left = deadline.remaining
      guard left > 0 else { return .quiet }
      switch try link?.next(milliseconds: min(left, 200)) {
      case .answer(let command, let message)?: return .answer(command, message)
      case .unsolicited(let message)?: return .unsolicited(message)
      case .nothing?, nil: break
      }
    }
  }

  private func perform(_ action: ReaderSession.Action) throws(Fault) -> [ReaderSession.Action] {
    switch action {
    case .enter(let next):
      guard next != state else { break }
      state = next
      // What follows is written anyway, right before the request leaves.
      try progress.stand(at: next.rawValue, sendingNext: next == .authorising)
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

  /// What somebody was asked; nil where the question was stopped, which is an answer too.
  private func asked<Answer>(_ question: () throws(Fault) -> Answer?) throws(Fault) -> Answer? {
    do throws(Fault) {
      return try question()
    } catch {
      guard [.interrupted, .terminated, .refused].contains(error.kind) else { throw error }
      context.interruption.acknowledge()
      return nil
    }
  }

  /// Writes the acquirer's word down; false where an approval could not be.
  private func conclude() -> Bool {
    do throws(Fault) {
      try progress.conclude(word(receipt()))
      return true
    } catch {
      return answer?.isApproved != true
    }
  }

  /// The link, opened when it is first needed.
  private func connected() throws(Fault) -> ReaderLink {
    if let link { return link }
    let made = try ReaderLink.open(context)
    link = made
    return made
  }

  /// Asks the acquirer; whatever goes wrong is dealt with here, and told when the reader is free.
  private func authorise(_ card: PresentedCard) -> ReaderSession.Decision {
    sale.amount = session.money.minorUnits
    sale.entryMode = card.entryMode
    do throws(Fault) {
      let message = try gateway.messages.authorisation(gateway.header(), sale, card, terms)
      try progress.keep(Kept(sale).text, id: sale.reference, sendingNext: true, isSecret: false)
      try progress.willSend()
      let body = try gateway.exchange(
        message,
        by: Deadline(in: context.configuration.timeout, on: context.clock)
      )
      guard let answer = AuthorisationAnswer(body, for: sale) else {
        throw Fault.toro(
          .malformedResponse,
          "Toro's gateway answered what makes no sense for this sale",
          reason: "an answer that does not fit the sale"
        ).afterSending
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
      return answer.isApproved ? .approved(answer.decision) : .declined(answer.decision)
    } catch {
      trouble = error
      guard error.effect == .unknown else {
        if progress.hasSent, Gateway.isUnproven(error) { proveRefused(error) }
        return .unavailable
      }
      var lost = error
      if error.kind == .interrupted || error.kind == .terminated || context.interruption.kind != nil
      {
        // Heard: the undoing must not be stopped by it. The next one ends that as well.
        context.interruption.acknowledge()
        lost =
          Fault.toro(
            .operatorCancelled,
            "stopped while the acquirer was asked",
            reason: "stopped while the acquirer was asked"
          ).afterSending
      }
      // First of all: nobody may be charged for what nobody knows.
      do throws(Fault) {
        undone = try undoing.lost(sale, lost)
      } catch {
        trouble = error
      }
      return .unavailable
    }
  }

  /// Undoes what was refused: a refusal that nobody signed may come after the effect.
  ///
  /// Where the acquirer says that it is undone the refusal is what the sale came to; where it refuses
  /// all that this terminal sends, for the same reason, too. Else it is unknown.
  private func proveRefused(_ refusal: Fault) {
    do throws(Fault) {
      if try undoing.cancel(sale, reason: "TIMO") == "APPR" { return }
      trouble = refusal.afterSending
    } catch {
      if !Gateway.refusesTerminal(refusal, and: error) { trouble = refusal.afterSending }
    }
  }

  /// Lets the acquirer's own words through that only look like a card number: this card's number
  /// begins and ends otherwise, and they are needed to undo the sale.
  private func keepWhole(_ text: String?) {
    guard let text, let start = session.card?.start, let end = session.card?.lastFour else {
      return
    }
    let digits = text.filter { $0.isASCII && $0.isNumber }
    if !digits.contains(start.prefix(6)), !digits.hasSuffix(end) { context.redactor.exempt(text) }
  }

  private var terms: Messages.Terms {
    Messages.Terms(
      captures: order.captures,
      gratuity: gratuity,
      original: order.original.flatMap(SaleIdentity.init(receipt:)),
      additional: order.additional.members.map { member in
        (member.key, member.value.text ?? JSONWriter.text(member.value))
      },
      serial: session.serial
    )
  }

  private var gratuity: Int? { session.gratuity ?? order.gratuity }

  private func receipt() -> Receipt {
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
  private func finish(_ end: ReaderSession.End) throws(Fault) -> Outcome {
    var receipt = receipt()
    switch end {
    case .completed:
      if !progress.isConcluded, !conclude() {
        return try finish(
          .undo(.transactionError, "the approval could not be written down", reason: "UCMP")
        )
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
    case .released:
      if let undone { return undone }
      guard let trouble else {
        throw Fault(.internal, code: "internal", "a sale was released without a reason")
      }
      progress.enter(TransactionState.failed.rawValue)
      throw trouble
    case .refusedByCard:
      receipt.isDeclinedByCard = true
      try undoing.approved(sale, reason: "CDCL", .toro(.transactionError, "the card declined"))
      return declinedByCard(receipt)
    case .undo(let error, let why, let reason):
      try undoing.approved(sale, reason: reason, .toro(error, why, reason: why))
      return cancelled(
        receipt,
        error,
        Fault(
          .cancelled,
          code: "transaction_undone",
          "\(why); what had been authorised was undone",
          hint: "no money moved; a further try needs --new-attempt"
        ),
        reason: why
      )
    case .signatureFailed(let error):
      receipt.signatureVerificationFailed = true
      let why =
        error == .customerCancelled ? "the customer did not sign" : "the signature does not match"
      try undoing.approved(sale, reason: "CUCL", .toro(error, why, reason: why))
      return cancelled(
        receipt,
        error,
        Fault(
          .cancelled,
          code: "signature_verification_failed",
          "\(why); what had been authorised was undone",
          hint: "no money moved; a further try needs --new-attempt"
        ),
        reason: nil
      )
    }
  }

  private func cancelled(
    _ receipt: Receipt,
    _ error: ToroError,
    _ fault: Fault,
    reason: String?
  ) -> Outcome {
    progress.enter(TransactionState.cancelled.rawValue)
    var fields = receipt.fields
    fields["captured"] = false
    var result = error.result(reason, receipt: fields)
    result["state"] = .string(TransactionState.cancelled.rawValue)
    return outcome(.cancelled, receipt, result, fault)
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

  /// The acquirer's word.
  private func word(_ receipt: Receipt) -> Outcome {
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
    let amount = isApproved ? answer?.authorised ?? sale.amount : sale.amount
    let asked = order.amount.minorUnits
    return Outcome(
      status: status,
      id: sale.reference,
      amount: amount,
      requestedAmount: amount == asked ? nil : asked,
      currency: sale.currency.code,
      lastFour: session.card?.lastFour,
      brand: session.card?.label,
      result: result,
      fault: fault
    )
  }
}

extension Randomness {
  /// A name that nothing else has: 28 letters, of which one in 2^121 would come twice.
  ///
  /// Letters alone: one in a thousand names with digits would have a card number's in it, and be
  /// masked wherever it is kept.
  var transactionReference: String { text(28, from: "BCDFGHJKLMNPQRSTVWXZ") }
}

extension ReaderLink {
  /// Opens the reader and hears its greeting, where it gives one (USB serial does not; section 3.2).
  static func open(_ context: ToroContext) throws(Fault) -> ReaderLink {
    let configuration = context.configuration
    guard !configuration.device.isEmpty else {
      throw .toro(
        .deviceNotSelected,
        "no reader was named",
        hint: "add --device, such as tty:/dev/ttyACM0, or toro.device to the profile"
      )
    }
    var lock: (any AttemptLock)?
    if let reserve = context.reserve {
      guard let taken = try reserve(configuration.device) else {
        throw .readerInUse(configuration.device)
      }
      lock = taken
    }
    let stream: any ByteStream
    do throws(Fault) {
      stream = try context.devices.open(
        configuration.device,
        by: Deadline(in: min(configuration.timeout, 15_000), on: context.clock)
      )
    } catch {
      guard error.kind == .device else { throw error }
      if error.code == DeviceInUse.code { throw .readerInUse(configuration.device) }
      throw .toro(
        .deviceConnectionFailed,
        "no connection to the reader: \(error.message)",
        hint: "no money moved; check --device \(configuration.device)",
        reason: error.message
      )
    }
    let link = ReaderLink(stream, holding: lock, watch: context.watch)
    guard !configuration.device.hasPrefix("tty:") else { return link }
    let deadline = Deadline(in: 1500, on: context.clock)
    while deadline.remaining > 0, context.interruption.kind == nil {
      guard case .unsolicited(let message) = try link.next(milliseconds: deadline.remaining),
        message.template.objects[tag: 0xc3] == [1]
      else { continue }
      break
    }
    return link
  }
}
