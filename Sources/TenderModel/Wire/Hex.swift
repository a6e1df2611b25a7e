package enum Hex {
  /// Returns two upper-case digits for each byte.
  package static func encode(_ bytes: [UInt8]) -> String {
    var digits: [UInt8] = []
    digits.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      digits.append(digit(byte >> 4))
      digits.append(digit(byte & 15))
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Decodes pairs of digits in either case; nil for anything else.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// Packs two decimal digits into a byte, with leading zeros (EMV's format n); nil if they do not fit.
  package static func packed(_ number: Int, bytes count: Int) -> [UInt8]? {
    var rest = number
    var bytes = [UInt8](repeating: 0, count: count)
    guard number >= 0 else { return nil }
    for index in bytes.indices.reversed() {
      bytes[index] = UInt8(rest % 10) | UInt8(rest / 10 % 10) << 4
      rest /= 100
    }
    return rest == 0 ? bytes : nil
  }

  private static func digit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? nibble + 48 : nibble + 55 }

  /// Returns the value of a digit in either case; nil for any other byte.
  static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
