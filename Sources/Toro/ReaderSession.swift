import TenderEngine
import TenderModel

/// One sale or refund on the reader: what comes in, what to do next, nothing done here
/// (README, 2: the order is inferred, the states are documented).
struct ReaderSession: Sendable {
  /// What happens to it.
  enum Event: Sendable {
    case begin
    case answer(ReaderCommand, ReaderMessage)
    case unsolicited(ReaderMessage)
    /// Nothing came for as long as `patience` says.
    case quiet
    /// The operator wants it to end.
    case stop
    case decided(Decision)
    /// The customer's signature; nil where there is none.
    case signature([UInt8]?)
    case compared(Bool)
    /// The approval must be undone before it is shown: the error, and why in words.
    case abandoned(ToroError, String)
  }

  /// What is to be done.
  enum Action: Sendable {
    case enter(TransactionState)
    case send(ReaderCommand)
    case authorise(PresentedCard)
    case takeSignature
    case compare([UInt8])
    /// To write the acquirer's word down: what follows tells it to the reader.
    case settle
    case end(End)
  }

  /// What the acquirer said.
  enum Decision: Sendable {
    case approved([TLV])
    case declined([TLV])
    /// Nothing that can be believed.
    case unavailable(Lost)
  }

  /// What came of a sale whose answer cannot be believed: it was undone, or it was refused or is not
  /// known.
  typealias Lost = Result<Outcome, Fault>

  /// How it ended.
  enum End: Sendable {
    /// With the acquirer's word.
    case completed
    /// With the card's own no, before the acquirer was asked.
    case declinedByCard
    /// Before the acquirer was asked.
    case failed(ToroError, String)
    /// After an approval that must be undone.
    case undo(ToroError, String)
    /// After an approval, by the card's own no.
    case refusedByCard
    /// After an approval: the signature was not given, or not the card's.
    case signatureFailed(ToroError)
    /// After no answer of the acquirer's.
    case released(Lost)
  }

  enum Step: Sendable {
    case idle
    case settingUp([ReaderCommand])
    case menu
    /// The reader is told to report cards; what it reported.
    case arming(Presented)
    /// A card is awaited; whether the reader's own command for a tap runs meanwhile.
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

  /// Where taking a signature on the reader stands.
  enum Touch: Sendable {
    case beginning, drawing, ending, exporting, selecting
    /// The bytes so far, and how many there are in all, where the reader has said so.
    case reading([UInt8], size: Int?)
  }

  /// What is in the slot.
  enum Slot: Sendable { case empty, chip, unreadable }

  /// What the reader reported of its slot and its stripe, and nobody has used yet.
  struct Presented: Sendable {
    var slot = Slot.empty
    var stripe: PresentedCard?
    /// Why the stripe may be read instead of the chip.
    var fallback: ToroError?

    var isNothing: Bool { slot == .empty && stripe == nil }

    /// Takes in what an unsolicited message says; false where it says nothing.
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
  /// How long the present wait may take in all, in milliseconds: no event makes it longer.
  private(set) var patience = 5000
  /// The number of that wait.
  private(set) var turn = 0
  /// How often a card was asked for.
  var requests = 0
  var money: Money
  var gratuity: Int?
  var serial: String?
  var card: PresentedCard?
  var signature: [UInt8]?
  /// What the acquirer wants the cardholder to read at the end.
  var message: String?
  var hasContactless = true
  var isStopping = false

  /// `now` in milliseconds since 1970.
  init(_ order: SaleOrder, _ context: ToroContext, now: Int) {
    self.order = order
    configuration = context.configuration
    signsOnDevice = context.options.signatureMode == .device && !order.isRefund
    time = ReaderTime(now)
    money = order.amount
  }

  /// Takes an event; gives what is to be done, in order.
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

  /// Begins another wait.
  mutating func wait(atMost milliseconds: Int) {
    patience = milliseconds
    turn += 1
  }

  /// Ends the present wait earlier.
  mutating func hurry(_ milliseconds: Int) { patience = min(patience, milliseconds) }

  /// What the loss of the reader means at this moment.
  func end(lostBy fault: ToroError, _ why: String) -> End {
    switch step {
    case .leaving(let end): end
    case .finishing(.approved), .touching: .undo(fault, why)
    case .finishing(.declined): .completed
    case .finishing(.unavailable(let lost)): .released(lost)
    default: .failed(fault, why)
    }
  }

  /// Says goodbye: a word on the display, no more events, and then the end.
  mutating func leave(_ end: End, _ text: String) -> [Action] {
    step = .leaving(end)
    wait(atMost: 1000)
    // What the acquirer has to say stands below our own word, as the end of what happened.
    let said = message.map { "\(text)\n\($0)" } ?? text
    let goodbye: [Action] = [.send(.display(said)), .send(.noCardEvents)]
    if case .completed = end { return [.settle] + goodbye }
    return goodbye
  }

  mutating func fail(_ error: ToroError, _ why: String) -> [Action] {
    let isCancelled = error.state == .cancelled
    return leave(.failed(error, why), isCancelled ? "Cancelled" : "Failed")
  }

  /// What a status word says that ends the work with a card (README, 4.6).
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

  /// A reader of a simulator, where live money is meant.
  mutating func refuseReader() -> [Action] {
    fail(.deviceNotSupported, "this reader is a simulator's, and the sale is live")
  }

  private mutating func stop() -> [Action] {
    switch step {
    case .deciding, .finishing, .leaving, .over: return []
    case .signing, .touching, .comparing:
      return leave(.signatureFailed(.operatorCancelled), "Cancelled")
    case .idle, .settingUp, .arming:
      return fail(.operatorCancelled, "the operator cancelled")
    case .menu, .waiting, .chip, .pin:
      if isStopping { return [] }
      guard isLongRunning else { return fail(.operatorCancelled, "the operator cancelled") }
      isStopping = true
      // With the goodbye behind it, two seconds at most.
      wait(atMost: 1000)
      return [.send(.abort)]
    }
  }

  private var isLongRunning: Bool {
    if case .waiting(_, let isTapping) = step { return isTapping }
    return true
  }
}
