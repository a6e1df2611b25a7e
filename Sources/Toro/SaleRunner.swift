import TenderEngine
import TenderModel

/// Does what a reader session asks for: commands, the acquirer, the signature, the end.
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
    advices = Advices(context: context, gateway: gateway, progress: progress)
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
        signsOnDevice: context.options.signatureMode == .device && !order.isRefund,
        refused: context.configuration.refusedReaders
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
          // The last moment for another shell's cancel: what is recorded from here on is approved.
          if answer?.isApproved == true, progress.isStopRequested {
            pending = session.receive(.abandoned(.operatorCancelled, Self.stopped))
          } else if !conclude() {
            // An outcome that cannot be recorded is undone, and not reported.
            pending = session.receive(.abandoned(.transactionError, Self.unrecorded))
          }
          continue
        }
        do throws(Fault) {
          pending = try perform(action) + pending
        } catch {
          if error.kind == .state, answer?.isApproved == true {
            pending = session.receive(.abandoned(.transactionError, Self.unrecorded))
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

  static let stopped = "the operator cancelled"
  static let unrecorded = "the approval could not be written down"

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
      context.attendant.waits(for: state.rawValue, left: left)
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

  /// What somebody was asked; nil where the question was stopped, which is an answer too.
  private func asked<Answer>(_ question: () throws(Fault) -> Answer?) throws(Fault) -> Answer? {
    do throws(Fault) {
      return try question()
    } catch {
      guard error.kind.isStop || error.kind == .refused else { throw error }
      context.interruption.acknowledge()
      return nil
    }
  }

  /// Writes the acquirer's word down; false where an approval could not be.
  func conclude() -> Bool {
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
      try progress.prepare(
        .plain(SalePreparation(sale).text),
        id: sale.reference,
        amount: sale.amount,
        sendingNext: true
      )
      try progress.willSend()
      let body = try gateway.exchange(
        message,
        progress.permit(),
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
      if answer.isApproved, progress.isStopRequested { return .unavailable(stoppedMeanwhile()) }
      return answer.isApproved ? .approved(answer.decision) : .declined(answer.decision)
    } catch {
      return .unavailable(recovered(error))
    }
  }

  /// Undoes at once what was approved while another shell cancelled it.
  private func stoppedMeanwhile() -> ReaderSession.Lost {
    do throws(Fault) {
      return .undone(try undone(receipt(), .operatorCancelled, Self.stopped))
    } catch {
      return .failed(error)
    }
  }

  /// What is done about a failure, before anything else; told once the reader has been let go.
  private func recovered(_ error: Fault) -> ReaderSession.Lost {
    guard error.effect == .unknown else {
      return .failed(progress.hasSent && error.cause == .refused ? proven(error) : error)
    }
    var lost = error
    if error.kind.isStop || context.interruption.kind != nil {
      // Heard: the undoing must not be stopped by it. The next one ends that as well.
      context.interruption.acknowledge()
      lost =
        Fault.toro(
          .operatorCancelled,
          "stopped while the acquirer was asked",
          reason: "stopped while the acquirer was asked"
        ).afterSending
    }
    // First of all: a cardholder must not be charged for a sale of which the till knows nothing.
    do throws(Fault) {
      return .undone(try advices.lost(sale, lost))
    } catch {
      return .failed(error)
    }
  }

  /// Undoes what was refused: a refusal without a signature may come after the effect.
  ///
  /// Where the acquirer says that it is undone the refusal is what the sale came to. Else it is unknown.
  private func proven(_ refusal: Fault) -> Fault {
    let isUndone = (try? advices.cancel(sale, reason: "TIMO"))?.isApproved == true
    return isUndone ? refusal : refusal.afterSending
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

  var gratuity: Int? { session.gratuity ?? order.gratuity }
}

extension Randomness {
  /// A name that nothing else has: 28 letters, of which one in 2^121 would come twice.
  ///
  /// Letters alone: one in a thousand names with digits would have a card number's in it, and be
  /// masked wherever it is kept.
  var transactionReference: String { text(28, from: "BCDFGHJKLMNPQRSTVWXZ") }
}
