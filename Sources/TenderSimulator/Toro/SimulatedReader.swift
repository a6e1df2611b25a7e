import TenderEngine
import TenderModel
import TenderWire

/// A Miura reader with a customer in front of it (protocol note, section 3): bytes in, bytes out.
final class SimulatedReader {
  /// What it does.
  enum Reaction: Equatable {
    case send([UInt8])
    /// The link breaks.
    case drop
  }

  static let serial = "12345678"

  private let world: SimulatorWorld
  private let faults: FaultPlan
  private let count: Int
  private var packets = ReaderPackets()
  private var sale: SimulatedSale?
  private var card = SimulatedCard.visa
  /// What runs until the customer or an abort ends it.
  private var running: UInt16?
  private var reactions: [Reaction] = []
  private var isGone = false
  /// How often a card was presented.
  private var turn = 0
  private var hasSwiped = false
  private var touchTag: UInt32?

  private let scenario: String

  /// `count` numbers the sales of a world, for keys that are never used twice.
  init(world: SimulatorWorld, faults: FaultPlan, count: Int) {
    self.world = world
    self.faults = faults
    self.count = count
    let name = world.options.scenario ?? ""
    scenario = name.hasPrefix("card:") ? String(name.dropFirst("card:".count)) : "chip_pin"
  }

  /// What it says when somebody connects.
  func greet() -> [Reaction] {
    guard !struck("reader-connect") else { return take() }
    event(TLV(0xe6, holding: [TLV(0xc3, [1]), TLV(0xc4, Array("Device powered on".utf8))]))
    return take()
  }

  /// Takes bytes from the host.
  func receive(_ bytes: [UInt8]) -> [Reaction] {
    for reading in packets.take(bytes) where !isGone {
      switch reading {
      case .command(let command): handle(command)
      // Nothing is defined for a broken packet: the link is of no more use.
      case .broken: drop()
      }
    }
    return take()
  }

  private func take() -> [Reaction] {
    defer { reactions = [] }
    return reactions
  }

  private func drop() {
    reactions.append(.drop)
    isGone = true
  }

  private func answer(_ body: TLV? = nil, status: UInt16 = 0x9000) {
    chatter()
    reactions.append(.send(ReaderPackets.write(body?.encoded ?? [], status: status)))
  }

  private func event(_ body: TLV) {
    reactions.append(.send(ReaderPackets.write(body.encoded, status: 0x9000, unsolicited: true)))
  }

  /// Events that nobody asked for, between all others.
  private func chatter() {
    guard world.options.fault == "reader:chatter" else { return }
    event(TLV(0xe6, holding: [TLV(0xc3, [0xcb]), TLV(0xc4, Array("Beep".utf8))]))
    event(TLV(0xe1, holding: [TLV(0xdfa209, [0]), TLV(0xdfa20a, [80])]))
  }

  private func cardEvent(_ status: [UInt8], _ more: [TLV] = []) {
    event(TLV(0xe1, holding: [TLV(0x48, status)] + more))
  }

  private func pinEvent(_ text: String) {
    event(TLV(0xe6, holding: [TLV(0xc3, [2]), TLV(0xc4, Array(text.utf8))]))
  }

  /// Whether a fault strikes at a step; it has then been played.
  private func struck(_ step: String) -> Bool {
    switch faults.strike(step) {
    case "disconnect": drop()
    case "busy": answer(status: 0x9f22)
    case "error": answer(status: 0x9fff)
    case "silence": break
    case "garbage":
      reactions.append(.send([0x01, 0x00, 0x02, 0x90, 0x00, 0x00, 0xff, 0x17]))
    case "bad-lrc":
      var packet = ReaderPackets.write([], status: 0x9000)
      packet[packet.count - 1] ^= 1
      reactions.append(.send(packet))
    default: return false
    }
    return true
  }

  private func handle(_ command: ReaderPackets.Command) {
    switch command.instruction {
    case 0xd000: if !struck("reader-setup") { reset() }
    case 0xd002: answer(Self.abilities)
    case 0xeee0:
      let hasKeys = world.options.fault != "reader:no-keys"
      answer(TLV(0xe1, holding: [TLV(0xdfae01, [hasKeys ? 6 : 0])]))
    case 0xd010, 0xd061: answer()
    case 0xd201: answer()
    case 0xd062: answer(TLV(0xe1, holding: [TLV(0xdfa209, [2]), TLV(0xdfa20a, [100])]))
    case 0xd060: reportCards(command)
    case 0xd205: if !struck("reader-tip") { tip(command) }
    case 0xdec1: begin(command) { self.presentCard() }
    case 0xded1: begin(command) { self.readChip() }
    case 0xded2: if !struck("reader-finish") { proceed(command) }
    case 0xded6: if !struck("reader-pin") { takePIN() }
    case 0xd0ff: abort()
    case 0xdb00...0xdb04: if !struck("reader-touch") { touch(command) }
    case 0x00a4: answer()
    case 0x00b0: answerBytes(Self.picture)
    default: answer(status: 0x9f26)
    }
  }

  private func answerBytes(_ bytes: [UInt8]) {
    reactions.append(.send(ReaderPackets.write(bytes, status: 0x9000)))
  }

  /// One black line as a PNG file, which stands for the signature.
  private static let picture =
    Base64.decode(
      "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAEAQAAAACbtkNdAAAAEElEQVR42mP4z/CfgYHhPwAM+wL+DxerTQAAAABJRU5ErkJggg=="
    ) ?? []

  private func reset() {
    running = nil
    answer(
      TLV(
        0xe1,
        holding: [
          TLV(0x9f1e, Array(Self.serial.utf8)), Self.entry(0xef, "M000-MPI", "1-70"),
          Self.entry(0xef, "M000-OS", "7-9"),
        ]
      )
    )
  }

  private static func entry(_ tag: UInt32, _ name: String, _ value: String) -> TLV {
    TLV(tag, holding: [TLV(0xdf0d, Array(name.utf8)), TLV(0xdf7f, Array(value.utf8))])
  }

  private static let abilities = TLV(
    0xe1,
    holding: [
      entry(0xed, "Smartcard", "1"), entry(0xed, "Contactless", "1"),
      entry(0xed, "Display", "128x64"), entry(0xed, "Keyboard", "1"),
    ]
  )

  private func reportCards(_ command: ReaderPackets.Command) {
    answer()
    guard command.first != 0 else { return }
    cardEvent([0, 0])
  }

  /// The gratuity menu: the customer takes the choice that the scenario names, else the first.
  private func tip(_ command: ReaderPackets.Command) {
    if scenario == "tip_cancel" { return answer(status: 0x9f41) }
    if scenario == "tip_timeout" { return answer(status: 0x9f42) }
    let objects = TLV.read(command.data)?.first?.objects ?? []
    guard let slots = objects[tag: 0xdfa217], slots.count == 4,
      let amount = objects[tag: 0x9f02], amount.count == 6
    else { return answer(status: 0x9f88) }
    let choice = scenario.hasPrefix("tip_") ? Int(scenario.dropFirst("tip_".count)) ?? 1 : 1
    guard (1...4).contains(choice), slots[choice - 1] < 254 else { return answer(status: 0x9f21) }
    answer(TLV(0xe1, holding: [TLV(0xdfa208, Array(String(choice).utf8))]))
  }

  private func begin(_ command: ReaderPackets.Command, _ body: () -> Void) {
    guard !struck("reader-card") else { return }
    guard running == nil else { return answer(status: 0x9f26) }
    guard let sale = SimulatedSale(command.data, world: world, counter: count) else {
      return answer(status: 0x9f27)
    }
    self.sale = sale
    running = command.instruction
    body()
  }

  /// Ends what runs with its answer.
  private func end(_ body: TLV? = nil, status: UInt16 = 0x9000) {
    running = nil
    answer(body, status: status)
  }

  private func abort() {
    answer()
    guard running != nil else { return }
    end(status: 0x9f41)
  }

  /// What the customer does while a card is awaited.
  private func presentCard() {
    guard let sale else { return }
    turn += 1
    switch scenario {
    case "tap", "tap_mobile":
      card = .mastercard
      end(
        card.answer(
          0xe4,
          sale,
          method: [0x1f, 3, 2],
          kernel: [2, 1],
          device: scenario == "tap_mobile" ? [0, 0x80] : nil
        )
      )
    case "swipe", "swipe_pin", "signature_refused":
      cardEvent([0, 7], stripe(service: scenario == "swipe_pin" ? "100" : "101", sale))
      end(status: 0x9f44)
    case "chip_swiped" where !hasSwiped:
      hasSwiped = true
      cardEvent([0, 7], stripe(service: "201", sale))
      end(status: 0x9f44)
      // Told that the card has a chip, the customer inserts it.
      cardEvent([3, 0])
    case "chip_unreadable":
      cardEvent([1, 0])
      end(status: 0x9f43)
      swipeInstead(sale)
    case "customer_cancel": end(status: 0x9f41)
    case "timeout": end(status: 0x9f42)
    case "no_card": break
    case "try_contact":
      end(status: 0x9fc1)
      cardEvent([3, 0])
    default:
      cardEvent([3, 0])
      end(status: 0x9f43)
    }
  }

  /// The card is taken out and its stripe is read.
  private func swipeInstead(_ sale: SimulatedSale) {
    cardEvent([0, 0])
    cardEvent([0, 7], stripe(service: "201", sale))
  }

  private func stripe(service: String, _ sale: SimulatedSale) -> [TLV] {
    [TLV(0xdfae22, Array(card.track(service: service).utf8))]
      + card.encrypted(sale.keySerial, service: service)
  }

  /// What the card and its customer do once the chip is in the slot.
  private func readChip() {
    guard let sale else { return }
    switch scenario {
    case "card_removed":
      cardEvent([0, 0])
      return end(status: 0x9f23)
    case "unsupported_card": return end(status: 0x9f25)
    case "fallback":
      end(status: 0x9f28)
      return swipeInstead(sale)
    case "chip_error":
      end(status: 0x9f30)
      return swipeInstead(sale)
    case "card_declines": return end(card.answer(0xe5, sale, method: [0x1f, 0, 0]))
    case "application_choice":
      event(
        TLV(0xe6, holding: [TLV(0xc3, [3]), TLV(0xc4, Array("Select application".utf8))])
      )
      if struck("reader-choice") { return }
    case "chip_signature": return end(card.answer(0xe4, sale, method: [0x1e, 3, 0]))
    case "pin_slow":
      // Somebody who never gets to the end of the PIN.
      return pinEvent("Enter PIN")
    default: break
    }
    pinEvent("Enter PIN")
    if struck("reader-pin") { return }
    switch scenario {
    case "pin_cancel": return end(status: 0x9f41)
    case "pin_bypass":
      // The terminal's results say that the PIN was not entered (EMV Book 3, annex C.5).
      end(card.answer(0xe4, sale, method: [0x44, 3, 1], results: [0, 0, 8, 0x80, 0]))
    case "wrong_pin":
      pinEvent("Incorrect PIN")
      pinEvent("Last PIN try")
      pinEvent("PIN OK")
      end(card.answer(0xe4, sale, method: [0x44, 3, 2]))
    case "online_pin": end(card.answer(0xe4, sale, method: [0x42, 3, 0]))
    default:
      pinEvent("PIN OK")
      end(card.answer(0xe4, sale, method: [0x44, 3, 2]))
    }
  }

  /// The chip hears what the issuer said.
  private func proceed(_ command: ReaderPackets.Command) {
    guard let sale, let objects = TLV.read(command.data)?.first?.objects else {
      return answer(status: 0x9f27)
    }
    if objects[tag: 0xc0] != nil {
      running = 0xded2
      return end(card.answer(0xe4, sale, method: [0x44, 3, 2]))
    }
    guard let code = objects[tag: 0x8a], code.count == 2 else { return answer(status: 0x9f27) }
    let isApproved = code == Array("00".utf8) && scenario != "declines_after"
    if scenario == "removed_after" {
      cardEvent([0, 0])
      return answer(status: 0x9f23)
    }
    answer(
      TLV(
        isApproved ? 0xe3 : 0xe5,
        holding: [
          TLV(0x9f26, sale.cryptogram), TLV(0x9f27, [isApproved ? 0x40 : 0]),
          TLV(0x95, [0, 0, 0, 0x80, 0]), TLV(0x9b, [0xf8, 0]), TLV(0x8a, code),
        ]
      )
    )
  }

  /// The PIN of a swiped card, as an ISO 9564 format 0 block under the reader's PIN key.
  private func takePIN() {
    guard let sale else { return answer(status: 0x9f26) }
    switch scenario {
    case "pin_bypass": return answerBytes([0x0c])
    case "pin_cancel": return answerBytes([0x08])
    default: break
    }
    let number = card.number.dropLast().suffix(12)
    let account = Hex.decode("0000" + number) ?? []
    let pin = Hex.decode("041234FFFFFFFFFF") ?? []
    let key = CardKeys.key(CardKeys.current(CardKeys.base, serial: sale.keySerial), for: .pin)
    let block = CardKeys.tdes(key, zip(pin, account).map { $0 ^ $1 })
    answer(TLV(0xe1, holding: [TLV(0xdfae04, block), TLV(0xdfae05, sale.keySerial)]))
  }

  /// A touch screen on which the customer signs, or not.
  private func touch(_ command: ReaderPackets.Command) {
    guard command.instruction != 0xdb00 else {
      return answer(status: scenario == "no_touch" ? 0x9fce : 0x9000)
    }
    answer()
    guard command.instruction == 0xdb01,
      let area = TLV.read(command.data)?.first?.objects?.first, area.value.count == 9
    else { return }
    event(TLV(0xe1, holding: [TLV(area.tag, [scenario == "signature_refused" ? 1 : 3])]))
  }
}
