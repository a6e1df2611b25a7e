import TenderModel

/// A card as the reader reports it. Its number is encrypted, the rest is in the clear.
package struct PresentedCard: Sendable {
  /// How the card was read, with the receipt's documented names.
  package enum Interface: String, Sendable { case contact, contactless, magswipe }

  package let interface: Interface
  /// The reader's data objects, including those inside templates.
  let objects: [TLV]
  /// Whether the stripe was read because the chip could not be read.
  var isFallback = false
  /// The result of the PIN prompt for a swiped card.
  var pin = PINEntry.notAsked

  /// The result of a PIN prompt for a swiped card.
  package enum PINEntry: Sendable {
    case notAsked
    case entered(block: [UInt8], serial: [UInt8])
    case bypassed
  }

  init(_ interface: Interface, _ objects: [TLV], isFallback: Bool = false) {
    self.interface = interface
    self.objects = objects
    self.isFallback = isFallback
  }

  private func value(_ tag: UInt32) -> [UInt8]? { objects[tag: tag] }

  private func text(_ tag: UInt32) -> String? {
    value(tag).map { bytes in
      // In ISO 8859-1, each byte is a code point.
      var text = ""
      for byte in bytes where byte >= 0x20 && !(0x7f..<0xa0).contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      }
      return text.trimmed { $0 == " " }
    }
  }

  /// The encrypted card data, and the serial number of the key.
  package var encrypted: (data: [UInt8], serial: [UInt8])? {
    guard let data = value(0xdfae02), let serial = value(0xdfae03), serial.count == 10,
      !data.isEmpty
    else { return nil }
    return (data, serial)
  }

  var maskedTrack: String? {
    if let text = text(0xdfae22) { return text }
    return value(0xdfae57).map(Hex.encode)
  }

  /// The visible first digits (six or eight; README, 4.7), the last four, and the number with stars between.
  var number: (start: String, lastFour: String, shown: String)? {
    let source = text(0xdfae5a) ?? maskedTrack
    guard let source else { return nil }
    let number = Substring(
      source.unicodeScalars.drop { $0 == ";" || $0 == "%" || $0 == "B" }
        .prefix { !"=D^ ".unicodeScalars.contains($0) }
    )
    let isDigit = { (letter: Character) in letter.isASCII && letter.isNumber }
    let start = number.prefix(while: isDigit)
    let end = String(number.reversed().prefix(while: isDigit).reversed())
    guard start.count < number.count, start.count >= 6, end.count >= 4, number.count <= 19 else {
      return nil
    }
    let first = String(start.prefix(start.count >= 8 ? 8 : 6))
    let stars = String(repeating: "*", count: number.count - first.count - 4)
    return (first, String(end.suffix(4)), first + stars + end.suffix(4))
  }

  /// The application identifier (AID) in upper-case hexadecimal.
  var aid: String? { (value(0x84) ?? value(0x9f06) ?? value(0x4f)).map(Hex.encode) }

  /// The application's preferred name if its alphabet is ISO 8859-1, else its label.
  var label: String? {
    if value(0x9f11) == [1], let name = text(0x9f12), !name.isEmpty { return name }
    return text(0x50)
  }

  var serial: String? { text(0x9f1e) }

  /// The entry mode, from ISO 20022's `CardDataReading8`.
  var entryMode: String {
    switch interface {
    case .contact: "CICC"
    case .magswipe: "MGST"
    // DF30 has the kernel, then the mode. Mode 2 is contactless magnetic-stripe data.
    case .contactless: value(0xdf30)?.last == 2 ? "CTLS" : "ECTL"
    }
  }

  /// The cardholder verification method (9F34; EMV Book 3, annex C.3).
  private var method: UInt8? { value(0x9f34)?.first.map { $0 & 0x3f } }

  /// Whether a PIN pad was present and the customer skipped it (95, byte 3, bit 4).
  private var isPINBypassed: Bool {
    guard interface == .contact, let results = value(0x95), results.count == 5 else { return false }
    return results[2] & 0x08 != 0
  }

  /// Whether a signature is required: the chip asked for one, or a stripe's PIN was not asked for.
  var wantsSignature: Bool {
    switch interface {
    case .contact, .contactless: !isPINBypassed && [0x03, 0x05, 0x1e].contains(method ?? 0)
    case .magswipe: if case .notAsked = pin { true } else { false }
    }
  }

  /// The verification method, from ISO 20022's `AuthenticationMethod8`; nil for none.
  ///
  /// A signature is always electronic (CPSG), because none is taken on paper.
  var authentication: String? {
    guard interface != .magswipe else {
      return switch pin {
      case .entered: "NPIN"
      case .bypassed: "BYPS"
      case .notAsked: "CPSG"
      }
    }
    if isPINBypassed { return "BYPS" }
    switch method {
    case 0x00: return "UKNW"
    case 0x01, 0x03, 0x04, 0x05: return "FPIN"
    case 0x02: return "NPIN"
    case 0x1e: return "CPSG"
    default:
      // 9F6C, byte 2, bit 8: the customer was verified on a phone or watch.
      if let qualifiers = value(0x9f6c), qualifiers.count > 1, qualifiers[1] & 0x80 != 0 {
        return "MOBL"
      }
      return nil
    }
  }

  /// The service code of a stripe: the three digits after the expiry.
  private var serviceCode: [Int]? {
    guard let track = maskedTrack,
      let mark = track.unicodeScalars.firstIndex(where: { $0 == "=" || $0 == "D" })
    else { return nil }
    let digits = track[track.index(after: mark)...].dropFirst(4).prefix(3)
      .compactMap { $0.wholeNumberValue }
    return digits.count == 3 ? digits : nil
  }

  /// Whether a swiped card has a chip, which must be tried first (ISO/IEC 7813: 2 and 6).
  var hasChip: Bool { serviceCode.map { [2, 6].contains($0[0]) } ?? false }

  /// Whether a PIN is required (README, 4.5).
  var needsPIN: Bool { serviceCode.map { [0, 3, 5].contains($0[2]) } ?? false }

  /// The chip tags that are sent to the acquirer. No other tag leaves this machine.
  private static let issuerTags: [UInt32] = [
    0x4f, 0x5f2a, 0x5f34, 0x82, 0x84, 0x95, 0x9a, 0x9b, 0x9c, 0x9f02, 0x9f03, 0x9f06, 0x9f09,
    0x9f10,
    0x9f1a, 0x9f1e, 0x9f21, 0x9f26, 0x9f27, 0x9f33, 0x9f34, 0x9f35, 0x9f36, 0x9f37, 0x9f39, 0x9f40,
    0x9f41, 0x9f4c, 0x9f53, 0x9f66, 0x9f6c, 0x9f6e,
  ]

  /// The chip's data for the acquirer; empty for a stripe.
  var issuerData: [UInt8] {
    guard interface != .magswipe else { return [] }
    return objects.filter { Self.issuerTags.contains($0.tag) }.flatMap(\.encoded)
  }
}
