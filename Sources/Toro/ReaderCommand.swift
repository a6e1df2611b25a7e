package import TenderModel

/// A command to the reader (README, 4.3).
package struct ReaderCommand: Sendable, Hashable {
  /// The command's name in Miura's documents.
  package let name: String
  /// CLA INS P1 P2, then the length and the data.
  package let bytes: [UInt8]
  /// Whether the answer comes only when the customer has finished. Other commands are answered in between.
  package var isLong = false
  /// Whether the reader answers with an event only (CARD STATUS; README, 4.3).
  package var isSilent = false

  package var frame: [UInt8] { ReaderFrame.encode(command: bytes) }

  private init(_ name: String, _ head: [UInt8], _ data: [UInt8] = [], isLong: Bool = false) {
    self.name = name
    bytes = data.isEmpty ? head : head + [UInt8(truncatingIfNeeded: data.count)] + data
    self.isLong = isLong
  }

  private init(silent name: String, _ head: [UInt8]) {
    self.init(name, head)
    isSilent = true
  }

  private init(_ name: String, _ head: [UInt8], _ objects: [TLV], isLong: Bool = false) {
    self.init(name, head, TLV(0xe0, holding: objects).encoded, isLong: isLong)
  }
}

extension ReaderCommand {
  /// Resets the reader. The answer has its serial number.
  package static let reset = ReaderCommand("RESET DEVICE", [0xd0, 0, 0, 0])
  /// Lists the reader's parts: stripe, chip, contactless, display, keyboard.
  package static let deviceInfo = ReaderCommand("GET DEVICE INFO", [0xd0, 2, 0, 0])
  /// Asks whether card data and PIN can be encrypted.
  package static let encryptionStatus = ReaderCommand("P2PE STATUS", [0xee, 0xe0, 0, 0])
  /// Ends the command that the reader is waiting in.
  package static let abort = ReaderCommand("ABORT", [0xd0, 0xff, 0, 0])
  /// Turns on events of card slots and stripe, with the tracks.
  package static let cardEvents = ReaderCommand(silent: "CARD STATUS", [0xd0, 0x60, 0x0f, 0])
  /// Turns these events off.
  package static let noCardEvents = ReaderCommand(silent: "CARD STATUS", [0xd0, 0x60, 0, 0])
  /// Turns on keyboard events, for the cancel key while no long command listens to it.
  package static let keyEvents = ReaderCommand("KEYBOARD STATUS", [0xd0, 0x61, 1, 0])
  /// Asks whether the reader is charging, and for its level in per cent.
  package static let battery = ReaderCommand("BATTERY STATUS", [0xd0, 0x62, 0, 0])

  /// Sets the reader's clock. `time` is in UTC.
  package static func setClock(_ time: ReaderTime) -> ReaderCommand {
    ReaderCommand(
      "SYSTEM CLOCK",
      [0xd0, 0x10, 0, 0],
      [TLV(0x9a, time.date), TLV(0x9f21, time.time)]
    )
  }

  /// Shows text with the backlight on. Each line feed begins a new line.
  package static func display(_ text: String) -> ReaderCommand {
    let isPlain = text.utf8.allSatisfy { $0 < 0x80 }
    return ReaderCommand(
      "DISPLAY TEXT",
      [0xd2, 1, 0, isPlain ? 1 : 0x81],
      Array(text.utf8.prefix(200))
    )
  }

  /// Shows the gratuity menu, with at most four percentages. The other places stay blank.
  package static func gratuityMenu(_ percentages: [Int], of money: Money) -> ReaderCommand {
    var slots = percentages.prefix(4).map { UInt8(truncatingIfNeeded: $0) }
    while slots.count < 4 { slots.append(254) }
    return ReaderCommand(
      "GET DYNAMIC TIP",
      [0xd2, 5, 1, 1],
      [
        amount(money), TLV(0xdfa217, slots), currency(money),
        TLV(0x5f36, [UInt8(money.currency.exponent)]),
      ],
      isLong: true
    )
  }

  private static func amount(_ money: Money) -> TLV {
    TLV(0x9f02, Hex.packed(money.minorUnits, bytes: 6) ?? [])
  }

  private static func currency(_ money: Money) -> TLV {
    TLV(0x5f2a, Hex.packed(money.currency.number, bytes: 2) ?? [])
  }

  /// Begins a transaction with a chip in the slot or a contactless card.
  ///
  /// For a chip with several applications, the reader lets the customer choose.
  package static func start(
    contactless: Bool,
    _ money: Money,
    isRefund: Bool,
    at time: ReaderTime
  ) -> ReaderCommand {
    ReaderCommand(
      contactless ? "START CONTACTLESS TRANSACTION" : "START TRANSACTION",
      [0xde, contactless ? 0xc1 : 0xd1, 0, 0],
      [
        TLV(0x9c, [isRefund ? 0x20 : 0]), amount(money), TLV(0x9a, time.date),
        TLV(0x9f21, time.time), currency(money),
      ],
      isLong: true
    )
  }

  /// Passes the issuer's decision to the chip: 8A, and 91, 71 and 72 if present.
  package static func proceed(_ decision: [TLV]) -> ReaderCommand {
    ReaderCommand("CONTINUE TRANSACTION", [0xde, 0xd2, 0, 0], decision, isLong: true)
  }

  /// Asks for the PIN of a swiped card.
  package static func onlinePIN(_ money: Money, label: String, track: [UInt8]) -> ReaderCommand {
    ReaderCommand(
      "ONLINE PIN",
      [0xde, 0xd6, 1, 0],
      [
        amount(money), TLV(0x50, Array(label.utf8)), currency(money), TLV(0xdfae22, track),
      ],
      isLong: true
    )
  }

  /// Tags of the touch screen (README, 4.4): a screen area, and a touched area.
  static let touchArea: UInt32 = 0xdfaf01
  static let touchedArea: UInt32 = 0xdfaf02

  /// Begins a signature: one area records it, with three buttons below.
  package static let beginTouch: ReaderCommand = {
    let areas: [[UInt16]] = [
      [3, 32, 312, 163, 5], [0, 199, 64, 41, 4], [127, 199, 64, 41, 4], [256, 199, 64, 41, 4],
    ]
    return ReaderCommand(
      "TOUCH BEGIN",
      [0xdb, 1, 0, 0],
      areas.map { area in
        let places = area.prefix(4).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        return TLV(touchArea, places + [UInt8(area[4])])
      }
    )
  }()

  /// Asks whether there is a touch screen.
  package static let touchStatus = ReaderCommand("TOUCH STATUS", [0xdb, 0, 0, 0])
  /// Stops recording strokes.
  package static let endTouch = ReaderCommand("TOUCH END", [0xdb, 2, 0, 0])
  /// Clears the recorded strokes.
  package static let clearTouch = ReaderCommand("TOUCH CLEAR", [0xdb, 3, 0, 0])

  /// The file name of the signature's picture on the reader, which appends `.png`.
  private static let signature = "sign"

  /// Writes the signature as PNG to a file on the reader. The data is the name alone, without Le (README,
  /// 4.3).
  package static let exportTouch = ReaderCommand(
    "TOUCH EXPORT",
    [0xdb, 4, 0, 0],
    Array(signature.utf8)
  )
  /// Selects the signature's file for reading. The answer has its size.
  package static let selectSignature = ReaderCommand(
    "SELECT FILE",
    [0, 0xa4, 0, 0],
    Array((signature + ".png").utf8)
  )

  /// The maximum number of bytes in an answer to READ BINARY.
  static let pieceLength = 0xfc

  /// Reads at most `count` bytes of the selected file. Offsets from 32,768 on need a third byte.
  package static func read(at offset: Int, count: Int = pieceLength) -> ReaderCommand {
    let high = UInt8(truncatingIfNeeded: offset >> 8)
    let low = UInt8(truncatingIfNeeded: offset)
    let head: [UInt8] =
      offset < 0x8000
      ? [0, 0xb0, high, low]
      : [0, 0xb0, 0x80 | UInt8(truncatingIfNeeded: offset >> 16), high, 1, low]
    return ReaderCommand("READ BINARY", head + [UInt8(max(1, min(count, pieceLength)))])
  }
}

/// A time in EMV format: six packed digits for the date and six for the time.
package struct ReaderTime: Sendable, Hashable {
  let date: [UInt8]
  let time: [UInt8]

  /// Creates a time from milliseconds since 1970, in UTC.
  package init(_ milliseconds: Int) {
    let digits = Timestamp.text(milliseconds).filter(\.isNumber).dropFirst(2)
    date = Hex.decode(digits.prefix(6)) ?? []
    time = Hex.decode(digits.dropFirst(6).prefix(6)) ?? []
  }
}
