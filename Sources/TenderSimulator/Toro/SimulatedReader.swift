import TenderEngine
import TenderModel

/// A Miura reader with its customer (Toro/README, 4): bytes in, bytes out.
final class SimulatedReader: DeviceSession {
  let world: SimulatorWorld
  let faults: FaultPlan
  let count: Int
  var packets = ReaderPackets()
  var sale: SimulatedSale?
  var card = SimulatedCard.visa
  /// The command that runs until the customer or an abort ends it.
  var running: UInt16?
  var reactions: [DeviceReaction] = []
  var isGone = false
  var hasSwiped = false
  /// Whether something was drawn on the screen, and the written files.
  var hasStrokes = false
  var files: [String: [UInt8]] = [:]
  var selected: String?
  /// The date and time that the clock was set to, as EMV packs them.
  var clock: (date: [UInt8], time: [UInt8])?

  let scenario: String

  /// Creates a reader. `count` numbers the sales of a world, so that no key is used twice.
  init(world: SimulatorWorld, faults: FaultPlan, count: Int) {
    self.world = world
    self.faults = faults
    self.count = count
    let name = world.options.scenario ?? ""
    scenario = name.hasPrefix("card:") ? String(name.dropFirst("card:".count)) : "chip_pin"
  }

  func greet() -> [DeviceReaction] {
    guard !struck("reader-connect") else { return take() }
    notice("Device powered on", 1)
    return take()
  }

  func receive(_ bytes: [UInt8]) -> [DeviceReaction] {
    for reading in packets.take(bytes) where !isGone {
      switch reading {
      case .command(let command): handle(command)
      // The protocol defines nothing for a broken packet, so the connection is closed.
      case .broken: drop()
      }
    }
    return take()
  }

  func take() -> [DeviceReaction] {
    defer { reactions = [] }
    return reactions
  }

  func drop() {
    reactions.append(.drop)
    isGone = true
  }

  func answer(_ body: TLV? = nil, status: UInt16 = 0x9000) {
    chatter()
    reactions.append(.send(ReaderPackets.write(body?.encoded ?? [], status: status)))
  }

  func event(_ body: TLV) {
    reactions.append(.send(ReaderPackets.write(body.encoded, status: 0x9000, unsolicited: true)))
  }

  /// Sends unsolicited events between the others.
  func chatter() {
    guard faults.has("reader:chatter") else { return }
    notice("Beep", 0xcb)
    event(TLV(0xe1, holding: [TLV(0xdfa209, [0]), TLV(0xdfa20a, [80])]))
  }

  func cardEvent(_ status: [UInt8], _ more: [TLV] = []) {
    event(TLV(0xe1, holding: [TLV(0x48, status)] + more))
  }

  /// Sends a text of the reader's display with its kind: by default, a text about the PIN.
  func notice(_ text: String, _ kind: UInt8 = 2) {
    event(TLV(0xe6, holding: [TLV(0xc3, [kind]), TLV(0xc4, Array(text.utf8))]))
  }

  /// Whether a fault strikes at a step. Then it is executed here.
  func struck(_ step: String) -> Bool {
    switch faults.strike(step).what {
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

  func handle(_ command: ReaderPackets.Command) {
    switch command.instruction {
    case 0xd000: if !struck("reader-setup") { reset() }
    case 0xd002: answer(Self.abilities)
    case 0xeee0:
      let hasKeys = !faults.has("reader:no-keys")
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

  func answerBytes(_ bytes: [UInt8]) {
    reactions.append(.send(ReaderPackets.write(bytes, status: 0x9000)))
  }

  /// One black line as a PNG file, in place of a signature.
  static let picture =
    Base64.decode(
      "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAEAQAAAACbtkNdAAAAEElEQVR42mP4z/CfgYHhPwAM+wL+DxerTQAAAABJRU5ErkJggg=="
    ) ?? []

  func reset() {
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

  static func entry(_ tag: UInt32, _ name: String, _ value: String) -> TLV {
    TLV(tag, holding: [TLV(0xdf0d, Array(name.utf8)), TLV(0xdf7f, Array(value.utf8))])
  }

  static let abilities = TLV(
    0xe1,
    holding: [
      entry(0xed, "Smartcard", "1"), entry(0xed, "Contactless", "1"),
      entry(0xed, "Display", "128x64"), entry(0xed, "Keyboard", "1"),
    ]
  )

  /// The files of a configuration with their versions. The list needs more than one packet. Names and order
  /// are those of a public log.
  static let configuration = TLV(
    0xe1,
    holding: [
      ("ARQCDOL.CFG", "1.26"), ("AACDOL.CFG", "1.26"), ("TCDOL.CFG", "1.26"),
      ("ONLINEDOL.CFG", "1.26"), ("CONTACTLESS.CFG", "1.26"), ("CTLSCAPK.CFG", "1.26"),
      ("TERMINAL.CFG", "1.26"), ("EMVCONF.CFG", "1.26"), ("PROMPTS.TXT", "1.26"),
      ("MSGTEXT.CFG", "1.26"), ("P2PEDOL.CFG", "1.26"), ("MPI.CFG", "1.26"),
    ].map { entry(0xed, $0.0, $0.1) }
  )

  /// Answers SYSTEM CLOCK: it returns the time without data, and sets it with date and time.
  func tellTime(_ command: ReaderPackets.Command) {
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

  /// Answers CARD STATUS: only the event comes (Toro/README, 4.3). Some firmware acknowledges.
  func reportCards(_ command: ReaderPackets.Command) {
    if faults.has("reader:acknowledges") { answer() }
    guard command.first & 1 != 0 else { return }
    cardEvent([0, 0])
  }

  func selectFile(_ command: ReaderPackets.Command) {
    let name = String(decoding: command.data, as: UTF8.self)
    guard let file = files[name] else { return answer(status: 0x9f2a) }
    selected = name
    let size = (0..<4).map { UInt8(truncatingIfNeeded: file.count >> (24 - 8 * $0)) }
    answer(TLV(0xe1, holding: [TLV(0x80, size)]))
  }

  func readFile(_ command: ReaderPackets.Command) {
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

  /// Shows the gratuity menu. The customer takes the choice of the scenario, else the first.
  func tip(_ command: ReaderPackets.Command) {
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

  func begin(_ command: ReaderPackets.Command, _ body: () -> Void) {
    guard !struck("reader-card") else { return }
    guard running == nil else { return answer(status: 0x9f26) }
    guard let sale = SimulatedSale(command.data, world: world, counter: count) else {
      return answer(status: 0x9f27)
    }
    self.sale = sale
    running = command.instruction
    body()
  }

  func end(_ body: TLV? = nil, status: UInt16 = 0x9000) {
    running = nil
    answer(body, status: status)
  }

  func abort() {
    answer()
    guard running != nil else { return }
    end(status: 0x9f41)
  }

  /// Shows a touch screen, which the customer signs or not (Toro/README, 4.3 and 4.4).
  func touch(_ command: ReaderPackets.Command) {
    guard scenario != "no_touch" else { return answer(status: 0x9fce) }
    switch command.instruction {
    case 0xdb00: answer(TLV(0xe1, holding: [TLV(0xdfaf03, [1])]))
    case 0xdb01:
      let areas = TLV.read(command.data)?.first?.objects ?? []
      guard !areas.isEmpty, areas.allSatisfy(Self.isArea) else { return answer(status: 0x9f21) }
      answer()
      hasStrokes = true
      // Areas are numbered in their order.
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

  /// Whether an object is an area on a screen of 320 by 240: x, y, width, height, and the effect of a touch.
  static func isArea(_ area: TLV) -> Bool {
    guard area.tag == 0xdfaf01, area.value.count == 9 else { return false }
    let places = (0..<4).map { Int(area.value[$0 * 2]) << 8 | Int(area.value[$0 * 2 + 1]) }
    return places[0] + places[2] <= 320 && places[1] + places[3] <= 240
      && [4, 5].contains(area.value[8])
  }

  // MARK: Cards

  /// Plays the customer while the reader waits for a card.
  func presentCard() {
    guard let sale else { return }
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
      // The card has a chip, so the customer inserts it.
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

  /// The customer removes the card, and its stripe is read.
  func swipeInstead(_ sale: SimulatedSale) {
    cardEvent([0, 0])
    cardEvent([0, 7], stripe(service: "201", sale))
  }

  func stripe(service: String, _ sale: SimulatedSale) -> [TLV] {
    [TLV(0xdfae22, Array(card.track(service: service).utf8))]
      + card.encrypted(sale.keySerial, service: service)
  }

  /// Plays the card and its customer after the chip is inserted.
  func readChip() {
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
      notice("Select application", 3)
      if struck("reader-choice") { return }
    case "chip_signature": return end(card.answer(0xe4, sale, method: [0x1e, 3, 0]))
    case "pin_slow":
      // This customer never finishes the PIN.
      return notice("Enter PIN")
    default: break
    }
    notice("Enter PIN")
    if struck("reader-pin") { return }
    switch scenario {
    case "pin_cancel": return end(status: 0x9f41)
    case "pin_bypass":
      // The terminal's results show that the PIN was not entered (EMV Book 3, annex C.5).
      end(card.answer(0xe4, sale, method: [0x44, 3, 1], results: [0, 0, 8, 0x80, 0]))
    case "wrong_pin":
      notice("Incorrect PIN")
      notice("Last PIN try")
      notice("PIN OK")
      end(card.answer(0xe4, sale, method: [0x44, 3, 2]))
    case "online_pin": end(card.answer(0xe4, sale, method: [0x42, 3, 0]))
    default:
      notice("PIN OK")
      end(card.answer(0xe4, sale, method: [0x44, 3, 2]))
    }
  }

  /// Passes the issuer's answer to the chip.
  func proceed(_ command: ReaderPackets.Command) {
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
  func takePIN() {
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
}
