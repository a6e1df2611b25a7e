import TenderEngine
import TenderModel
import TenderSimulator
import TenderWire

/// A Miura reader with a customer in front of it (protocol note, section 3): bytes in, bytes out.
final class SimulatedReader: DeviceSession {
  private let world: SimulatorWorld
  private let faults: FaultPlan
  private let count: Int
  private var packets = ReaderPackets()
  private var sale: SimulatedSale?
  private var card = SimulatedCard.visa
  /// What runs until the customer or an abort ends it.
  private var running: UInt16?
  private var reactions: [DeviceReaction] = []
  private var isGone = false
  /// How often a card was presented.
  private var turn = 0
  private var hasSwiped = false
  /// What was drawn on the screen, and the file that it was written to.
  private var hasStrokes = false
  private var files: [String: [UInt8]] = [:]
  private var selected: String?
  /// What the clock was set to: date and time as EMV packs them.
  private var clock: (date: [UInt8], time: [UInt8])?

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
  func greet() -> [DeviceReaction] {
    guard !struck("reader-connect") else { return take() }
    event(TLV(0xe6, holding: [TLV(0xc3, [1]), TLV(0xc4, Array("Device powered on".utf8))]))
    return take()
  }

  /// Takes bytes from the host.
  func receive(_ bytes: [UInt8]) -> [DeviceReaction] {
    for reading in packets.take(bytes) where !isGone {
      switch reading {
      case .command(let command): handle(command)
      // Nothing is defined for a broken packet: the link is of no more use.
      case .broken: drop()
      }
    }
    return take()
  }

  private func take() -> [DeviceReaction] {
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
    case 0xd001: answer(Self.configuration)
    case 0xd010: tellTime(command)
    case 0xd061, 0xd201: answer()
    case 0xd062: answer(TLV(0xe1, holding: [TLV(0xdfa209, [2]), TLV(0xdfa20a, [100])]))
    case 0xd060: reportCards(command)
    case 0xd205: if !struck("reader-tip") { tip(command) }
    case 0xdec1: begin(command) { self.presentCard() }
    case 0xded1: begin(command) { self.readChip() }
    case 0xded2: if !struck("reader-finish") { proceed(command) }
    case 0xded6: if !struck("reader-pin") { takePIN() }
    case 0xd0ff: abort()
    case 0xdb00...0xdb04: if !struck("reader-touch") { touch(command) }
    case 0x00a4: selectFile(command)
    case 0x00b0: readFile(command)
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
          TLV(0x9f1e, Array(ToroCatalog.readerSerial.utf8)), Self.entry(0xef, "M000-MPI", "1-70"),
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

  /// The files of a configuration with their versions, more than fits one packet: names and order as
  /// a public log shows them.
  private static let configuration = TLV(
    0xe1,
    holding: [
      ("ARQCDOL.CFG", "1.26"), ("AACDOL.CFG", "1.26"), ("TCDOL.CFG", "1.26"),
      ("ONLINEDOL.CFG", "1.26"), ("CONTACTLESS.CFG", "1.26"), ("CTLSCAPK.CFG", "1.26"),
      ("TERMINAL.CFG", "1.26"), ("EMVCONF.CFG", "1.26"), ("PROMPTS.TXT", "1.26"),
      ("MSGTEXT.CFG", "1.26"), ("P2PEDOL.CFG", "1.26"), ("MPI.CFG", "1.26"),
    ].map { entry(0xed, $0.0, $0.1) }
  )

  /// SYSTEM CLOCK: the time where nothing is sent, set where date and time are.
  private func tellTime(_ command: ReaderPackets.Command) {
    guard !command.data.isEmpty else {
      let now = Timestamp.text(world.now).filter(\.isNumber).dropFirst(2)
      let date = clock?.date ?? Hex.decode(now.prefix(6)) ?? []
      let time = clock?.time ?? Hex.decode(now.dropFirst(6).prefix(6)) ?? []
      return answer(TLV(0xe1, holding: [TLV(0x9a, date), TLV(0x9f21, time)]))
    }
    let objects = TLV.read(command.data)?.first?.objects ?? []
    guard let date = objects[tag: 0x9a], let time = objects[tag: 0x9f21] else {
      return answer(status: 0x9f88)
    }
    let isPacked = (date + time).allSatisfy { $0 >> 4 < 10 && $0 & 15 < 10 }
    guard date.count == 3, time.count == 3, isPacked else { return answer(status: 0x9f21) }
    clock = (date, time)
    answer()
  }

  /// CARD STATUS: no answer but the event (protocol note, section 3.3); some firmware acknowledges.
  private func reportCards(_ command: ReaderPackets.Command) {
    if world.options.fault == "reader:acknowledges" { answer() }
    guard command.first & 1 != 0 else { return }
    cardEvent([0, 0])
  }

  private func selectFile(_ command: ReaderPackets.Command) {
    let name = String(decoding: command.data, as: UTF8.self)
    guard let file = files[name] else { return answer(status: 0x9f2a) }
    selected = name
    let size = (0..<4).map { UInt8(truncatingIfNeeded: file.count >> (24 - 8 * $0)) }
    answer(TLV(0xe1, holding: [TLV(0x80, size)]))
  }

  private func readFile(_ command: ReaderPackets.Command) {
    guard let file = selected.flatMap({ files[$0] }) else { return answer(status: 0x9f2a) }
    guard let count = command.expected, (1...0xfc).contains(count) else {
      return answer(status: 0x9f21)
    }
    var offset = Int(command.first) << 8 | Int(command.second)
    if offset >= 0x8000 {
      guard let low = command.data.first else { return answer(status: 0x9f21) }
      offset = (offset & 0x7fff) << 8 | Int(low)
    }
    guard offset + count <= file.count else { return answer(status: 0x9f21) }
    answerBytes(Array(file[offset..<(offset + count)]))
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

  /// A touch screen on which the customer signs, or not (protocol note, sections 3.3 and 3.4).
  private func touch(_ command: ReaderPackets.Command) {
    guard scenario != "no_touch" else { return answer(status: 0x9fce) }
    switch command.instruction {
    case 0xdb00: answer(TLV(0xe1, holding: [TLV(0xdfaf03, [1])]))
    case 0xdb01:
      let areas = TLV.read(command.data)?.first?.objects ?? []
      guard !areas.isEmpty, areas.allSatisfy(Self.isArea) else { return answer(status: 0x9f21) }
      answer()
      hasStrokes = true
      // Areas are numbered in the order in which they came.
      event(TLV(0xe1, holding: [TLV(0xdfaf02, [0])]))
      event(TLV(0xe1, holding: [TLV(0xdfaf02, [scenario == "signature_refused" ? 1 : 3])]))
    case 0xdb03:
      hasStrokes = false
      answer()
    case 0xdb04:
      let name = command.data
      let isName = name.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ".") }
      guard !name.isEmpty, isName else { return answer(status: 0x9f21) }
      guard hasStrokes else { return answer(status: 0x9f14) }
      files[String(decoding: name, as: UTF8.self) + ".png"] = Self.picture
      answer()
    default: answer()
    }
  }

  /// An area on a screen of 320 by 240: x, y, width, height, and what becomes of a touch.
  private static func isArea(_ area: TLV) -> Bool {
    guard area.tag == 0xdfaf01, area.value.count == 9 else { return false }
    let places = (0..<4).map { Int(area.value[$0 * 2]) << 8 | Int(area.value[$0 * 2 + 1]) }
    return places[0] + places[2] <= 320 && places[1] + places[3] <= 240
      && [4, 5].contains(area.value[8])
  }
}
