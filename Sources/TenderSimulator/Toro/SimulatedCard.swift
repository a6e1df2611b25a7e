import TenderEngine
import TenderModel

/// A card of the simulated world, and its customer's choices.
struct SimulatedCard {
  let number: String
  let application: [UInt8]
  let label: String
  var expiry = "3012"

  static let visa = SimulatedCard(
    number: "4761739001010010",
    application: [0xa0, 0, 0, 0, 3, 0x10, 0x10],
    label: "VISA DEBIT"
  )
  static let mastercard = SimulatedCard(
    number: "5413330089010574",
    application: [0xa0, 0, 0, 0, 4, 0x10, 0x10],
    label: "Debit Mastercard"
  )

  /// The number with its middle hidden, as readers show it.
  var masked: String {
    String(number.prefix(6)) + String(repeating: "*", count: number.count - 10) + number.suffix(4)
  }

  /// The masked second track of the stripe. `service` is the service code.
  func track(service: String) -> String { ";\(masked)=\(expiry)\(service)************?" }

  /// The masked second track of the chip, with hidden digits as F.
  var chipTrack: [UInt8] {
    let hidden = masked.map { $0 == "*" ? "F" : String($0) }.joined()
    return Hex.decode(hidden + "D\(expiry)2010000000000") ?? []
  }

  /// The data that the reader encrypts, with the names of ISO 20022.
  func plain(service: String) -> [UInt8] {
    Array(
      ("<PlainCardData><PAN>\(number)</PAN><XpryDt>20\(expiry.prefix(2))-\(expiry.suffix(2))</XpryDt>"
        + "<SvcCd>\(service)</SvcCd><Trck2>\(number)D\(expiry)\(service)</Trck2></PlainCardData>")
        .utf8
    )
  }

  /// Returns the reader's answer for a card that goes online, or ends offline.
  ///
  /// The objects have the order of a captured answer (Toro/README, 4.4).
  func answer(
    _ template: UInt32,
    _ sale: SimulatedSale,
    method: [UInt8],
    results: [UInt8] = [0, 0, 0, 0x80, 0],
    kernel: [UInt8]? = nil,
    device: [UInt8]? = nil
  ) -> TLV {
    var objects = [
      TLV(0x5f2a, sale.currency), TLV(0x82, [0x19, 0x80]), TLV(0x50, Array(label.utf8)),
      TLV(0x9f06, application), TLV(0x5f28, [8, 0x26]), TLV(0x5f34, [1]),
      TLV(0x5f24, Hex.decode(expiry + "31") ?? []), TLV(0x84, application),
      TLV(0x95, results), TLV(0x9a, sale.date), TLV(0x9b, [0xe8, 0]), TLV(0x9c, [sale.type]),
      TLV(0x9f02, sale.amount), TLV(0x9f03, [0, 0, 0, 0, 0, 0]), TLV(0x9f09, [0, 0x8c]),
      TLV(0x9f10, [6, 1, 0x0a, 3, 0xa0, 0xa0, 0]), TLV(0x9f12, Array(label.utf8)),
      TLV(0x9f11, [1]), TLV(0x9f1a, [8, 0x26]), TLV(0x9f1e, Array(ToroCatalog.readerSerial.utf8)),
      TLV(0x9f26, sale.cryptogram), TLV(0x9f27, [template == 0xe4 ? 0x80 : 0]),
      TLV(0x9f33, [0xe0, 0xb0, 0xc8]), TLV(0x9f34, method), TLV(0x9f35, [0x22]),
      TLV(0x9f36, [0, sale.counter]), TLV(0x9f37, sale.unpredictable),
      TLV(0x9f41, [0, 0, 0, sale.counter]),
    ]
    if let device { objects.append(TLV(0x9f6c, device)) }
    if let kernel { objects += [TLV(0xdf28, [0]), TLV(0xdf30, kernel)] }
    objects += [TLV(0xdfae5a, Array(masked.utf8)), TLV(0xdfae57, chipTrack)]
    if template == 0xe4 { objects += encrypted(sale.keySerial, service: "201") }
    return TLV(template, holding: objects)
  }

  /// DFAE02 and DFAE03: the data, and the serial number of its key.
  func encrypted(_ serial: [UInt8], service: String) -> [TLV] {
    let current = CardKeys.current(CardKeys.base, serial: serial)
    let data = CardKeys.encrypt(
      plain(service: service),
      key: CardKeys.key(current, for: .data),
      vector: [UInt8](repeating: 0, count: 8)
    )
    return [TLV(0xdfae02, data), TLV(0xdfae03, serial)]
  }
}

/// The data of a sale that the reader received.
struct SimulatedSale {
  var amount: [UInt8] = []
  var currency: [UInt8] = []
  var date: [UInt8] = []
  var type: UInt8 = 0
  var cryptogram: [UInt8] = []
  var unpredictable: [UInt8] = []
  var counter: UInt8 = 0
  var keySerial: [UInt8] = []

  /// Reads the data of a command that begins a sale; nil without a mandatory object.
  init?(_ data: [UInt8], world: SimulatorWorld, counter: Int) {
    guard let outer = TLV.read(data)?.first, outer.tag == 0xe0, let objects = outer.objects,
      let amount = objects[tag: 0x9f02], let currency = objects[tag: 0x5f2a],
      let date = objects[tag: 0x9a], objects[tag: 0x9f21]?.isEmpty == false,
      let type = objects[tag: 0x9c]?.last
    else { return nil }
    self.amount = amount
    self.currency = currency
    self.date = date
    self.type = type
    cryptogram = world.randomness.bytes(8)
    unpredictable = world.randomness.bytes(4)
    self.counter = UInt8(truncatingIfNeeded: counter)
    // A serial number of the sample's reader, with this sale's counter of 21 bits.
    let count = UInt32(counter % 100_000 + 1)
    keySerial =
      ToroCatalog.readerKeySet + [
        0xe2, 0x90, 0x20 | UInt8(count >> 16 & 0x1f), UInt8(count >> 8 & 0xff),
        UInt8(count & 0xff),
      ]
  }
}
