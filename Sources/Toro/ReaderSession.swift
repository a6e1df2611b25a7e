import TenderEngine
import TenderModel

/// The state of one sale or refund on the reader. Events go in, actions come out, and it performs nothing.
///
/// The order of steps is inferred, the states are documented (README, 2).
struct ReaderSession: Sendable {
  enum Event: Sendable {
    case begin
    case answer(ReaderCommand, ReaderMessage)
    case unsolicited(ReaderMessage)
    /// The time limit `patience` passed without an event.
    case quiet
    /// The operator cancels the sale.
    case stop
    case decided(Decision)
    /// The customer's signature; nil if there is none.
    case signature([UInt8]?)
    case compared(Bool)
    /// The approval must be undone before it is shown. It has the error and a text with its reason.
    case abandoned(ToroError, String)
  }

  enum Action: Sendable {
    case enter(TransactionState)
    case send(ReaderCommand)
    case authorise(PresentedCard)
    case takeSignature
    case compare([UInt8])
    /// Record the acquirer's answer, before the next action shows it on the reader.
    case settle
    case end(End)
  }

  enum Decision: Sendable {
    case approved([TLV])
    case declined([TLV])
    /// There is no answer that can be trusted.
    case unavailable(Lost)
  }

  /// The result of a sale without a trusted answer: it was undone or refused, or is unknown.
  typealias Lost = Result<Outcome, Fault>

  enum End: Sendable {
    case completed
    /// The card declined before the acquirer was asked.
    case declinedByCard
    /// The sale failed before the acquirer was asked.
    case failed(ToroError, String)
    /// The sale was approved and must be undone.
    case undo(ToroError, String)
    /// The sale was approved, and then the card declined.
    case refusedByCard
    /// The sale was approved, and then the signature was missing or did not match.
    case signatureFailed(ToroError)
    /// The acquirer did not answer.
    case released(Lost)
  }

  enum Step: Sendable {
    case idle
    case settingUp([ReaderCommand])
    case menu
    /// The reader was told to report cards. The value is its report so far.
    case arming(Presented)
    /// Waiting for a card. `isTapping`: the reader's contactless command runs.
    case waiting(Presented, isTapping: Bool)
    case chip(Presented)
    case pin(PresentedCard)
    case deciding
    case finishing(Decision)
    case signing
    case touching(Touch)
    case comparing
    case leaving(End)
    case over
  }

  /// The steps of a signature on the reader.
  enum Touch: Sendable {
    case beginning, drawing, ending, exporting, selecting
    /// The received bytes, and the total size if the reader stated it.
    case reading([UInt8], size: Int?)
  }

  enum Slot: Sendable { case empty, chip, unreadable }

  /// The reported and still unused state of slot and stripe.
  struct Presented: Sendable {
    var slot = Slot.empty
    var stripe: PresentedCard?
    /// The reason why the stripe may be read instead of the chip.
    var fallback: ToroError?

    var isNothing: Bool { slot == .empty && stripe == nil }

    /// Records an unsolicited message. Returns false if it is not about a card.
    mutating func take(_ message: ReaderMessage) -> Bool {
      let objects = message.template.objects
      guard let status = objects[tag: 0x48], status.count == 2 else { return false }
      if status[1] & 1 != 0 {
        stripe = PresentedCard(.magswipe, objects)
      } else {
        slot = status[0] & 1 == 0 ? .empty : status[0] & 2 == 0 ? .unreadable : .chip
      }
      return true
    }
  }

  let order: SaleOrder
  let configuration: ToroConfiguration
  let signsOnDevice: Bool
  let time: ReaderTime
  var step = Step.idle
  /// The time limit of the current wait, in milliseconds. No event extends it.
  private(set) var patience = 5000
  private(set) var turn = 0
  /// The number of times that a card was asked for.
  var requests = 0
  var money: Money
  var gratuity: Int?
  var serial: String?
  var card: PresentedCard?
  var signature: [UInt8]?
  /// The acquirer's message for the cardholder at the end.
  var message: String?
  var hasContactless = true
  var isStopping = false

  /// Creates a session. `now` is in milliseconds since 1970.
  init(_ order: SaleOrder, _ context: ToroContext, now: Int) {
    self.order = order
    configuration = context.configuration
    signsOnDevice = context.options.signatureMode == .device && !order.isRefund
    time = ReaderTime(now)
    money = order.amount
  }

  /// Receives an event and returns the actions to perform, in order.
  mutating func receive(_ event: Event) -> [Action] {
    if case .stop = event { return stop() }
    if case .abandoned(let error, let why) = event {
      return leave(.undo(error, why), "Cancelled")
    }
    switch step {
    case .idle:
      guard case .begin = event else { return [] }
      var commands = [
        ReaderCommand.reset, .deviceInfo, .encryptionStatus, .setClock(time),
      ]
      if signsOnDevice { commands.append(.touchStatus) }
      step = .settingUp(commands)
      return [.enter(.connectingToDevice), .send(commands[0])]
    case .settingUp(let commands): return setUp(commands, event)
    case .menu: return chooseGratuity(event)
    case .arming(let presented): return arm(presented, event)
    case .waiting(let presented, let isTapping): return wait(presented, isTapping, event)
    case .chip(let presented): return readChip(presented, event)
    case .pin(let card): return takePIN(card, event)
    case .deciding:
      guard case .decided(let decision) = event else { return [] }
      return finish(decision)
    case .finishing(let decision): return finished(decision, event)
    case .signing:
      guard case .signature(let signature) = event else { return [] }
      return compare(signature)
    case .touching(let touch): return take(touch, event)
    case .comparing:
      guard case .compared(let matches) = event else { return [] }
      return matches
        ? leave(.completed, "Approved") : leave(.signatureFailed(.operatorCancelled), "Cancelled")
    case .leaving(let end):
      switch event {
      case .answer(let command, _) where !command.isSilent: break
      case .quiet: break
      default: return []
      }
      step = .over
      return [.end(end)]
    case .over: return []
    }
  }

  mutating func wait(atMost milliseconds: Int) {
    patience = milliseconds
    turn += 1
  }

  /// Enters a step, with the time limit of its wait.
  mutating func go(to next: Step, atMost milliseconds: Int) {
    step = next
    wait(atMost: milliseconds)
  }

  /// Shortens the current wait.
  mutating func hurry(_ milliseconds: Int) { patience = min(patience, milliseconds) }

  /// Returns how the session ends if the reader is lost at this moment.
  func end(lostBy fault: ToroError, _ why: String) -> End {
    switch step {
    case .leaving(let end): end
    case .finishing(.approved), .touching: .undo(fault, why)
    case .finishing(.declined): .completed
    case .finishing(.unavailable(let lost)): .released(lost)
    default: .failed(fault, why)
    }
  }

  /// Ends the session with a last text on the display and all events turned off.
  mutating func leave(_ end: End, _ text: String) -> [Action] {
    go(to: .leaving(end), atMost: 1000)
    // The acquirer's message is shown below our own text.
    let said = message.map { "\(text)\n\($0)" } ?? text
    let goodbye: [Action] = [.send(.display(said)), .send(.noCardEvents)]
    if case .completed = end { return [.settle] + goodbye }
    return goodbye
  }

  mutating func fail(_ error: ToroError, _ why: String) -> [Action] {
    let isCancelled = error.state == .cancelled
    return leave(.failed(error, why), isCancelled ? "Cancelled" : "Failed")
  }

  /// Returns the error for a status word that ends the work with a card (README, 4.6).
  func meaning(of status: UInt16, during what: String) -> (error: ToroError, why: String) {
    switch status {
    case 0x9f41:
      return isStopping
        ? (.operatorCancelled, "the operator cancelled")
        : (.customerCancelled, "the customer cancelled on the reader")
    case 0x9f42: return (.transactionTimeout, "no card was presented in time")
    case 0x9f22, 0x9f26: return (.deviceBusy, "the reader is busy")
    case 0x9f23: return (.cardReadError, "the card was removed")
    case 0x9f30: return (.cardReadError, "the card's chip could not be read")
    case 0x9f25, 0x9f28: return (.unsupportedCard, "the reader does not take this card")
    case 0x9fce: return (.deviceNotSupported, "the reader has no touch screen to sign on")
    default:
      let code = Hex.encode([UInt8(status >> 8), UInt8(status & 0xff)])
      return (.deviceError, "the reader answered \(code) to \(what)")
    }
  }

  mutating func fail(status: UInt16, during what: String) -> [Action] {
    let (error, why) = meaning(of: status, during: what)
    return fail(error, why)
  }

  /// Refuses a simulated reader for live money.
  mutating func refuseReader() -> [Action] {
    fail(.deviceNotSupported, "this reader is a simulator's, and the sale is live")
  }

  private mutating func stop() -> [Action] {
    switch step {
    case .deciding, .leaving, .over: return []
    case .signing, .touching, .comparing:
      return leave(.signatureFailed(.operatorCancelled), "Cancelled")
    case .idle, .settingUp, .arming:
      return fail(.operatorCancelled, "the operator cancelled")
    case .menu, .waiting, .chip, .pin, .finishing:
      if isStopping { return [] }
      guard isLongRunning else { return fail(.operatorCancelled, "the operator cancelled") }
      isStopping = true
      // Together with the farewell, this takes at most two seconds.
      wait(atMost: 1000)
      return [.send(.abort)]
    }
  }

  private var isLongRunning: Bool {
    if case .waiting(_, let isTapping) = step { return isTapping }
    return true
  }
}
