/// The account numbers that TrueLayer takes (README, 3.3).
package enum AccountNumbers {
  /// Six digits.
  static func isSortCode(_ text: String) -> Bool { isDigits(text, count: 6) }

  /// Eight digits.
  static func isAccount(_ text: String) -> Bool { isDigits(text, count: 8) }

  private static func isDigits(_ text: String, count: Int) -> Bool {
    text.utf8.count == count
      && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// Two letters, two check digits, 11 to 30 letters and digits, modulo 97 (ISO 13616-1, section 6).
  package static func isIBAN(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard (15...34).contains(bytes.count) else { return false }
    var remainder = 0
    for (index, byte) in (bytes[4...] + bytes[..<4]).enumerated() {
      // Where this byte stands in the text: the first four were moved behind the rest.
      let place = index < bytes.count - 4 ? index + 4 : index - (bytes.count - 4)
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        guard place >= 2 else { return false }
        remainder = (remainder * 10 + Int(byte - UInt8(ascii: "0"))) % 97
      case UInt8(ascii: "A")...UInt8(ascii: "Z"):
        guard place < 2 || place >= 4 else { return false }
        remainder = (remainder * 100 + Int(byte - UInt8(ascii: "A")) + 10) % 97
      default: return false
      }
    }
    return remainder == 1
  }
}
