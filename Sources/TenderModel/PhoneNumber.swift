/// A phone number as people write it, with or without its country's code (ITU-T E.164).
package struct PhoneNumber {
  /// Shorter numbers are found as texts only.
  private static let least = 7

  /// The digits without the zeros before an area or a country.
  private let digits: String
  private let hasCountry: Bool

  /// Reads a number of digits with the usual punctuation; nil for any other text.
  package init?(_ text: String) {
    // Nearly every other text has a letter.
    guard !text.utf8.contains(where: DigitRuns.isLetter) else { return nil }
    let text = text.folded.replacing("(0)", with: "")
    let digits = text.utf8.filter(DigitRuns.isDigit)
    guard text.utf8.allSatisfy({ DigitRuns.isDigit($0) || "+() .-/".utf8.contains($0) }) else {
      return nil
    }
    let zeros = digits.prefix { $0 == UInt8(ascii: "0") }.count
    hasCountry = text.drop { "( ".contains($0) }.hasPrefix("+") || zeros == 2
    self.digits = String(decoding: digits.dropFirst(zeros), as: UTF8.self)
    guard self.digits.utf8.count >= Self.least else { return nil }
  }

  /// The last digits, which each way to write the number has.
  package var end: String { String(digits.suffix(Self.least)) }

  /// Returns whether two numbers are the same, if one of them lacks its country's code.
  package func isSame(as other: PhoneNumber) -> Bool {
    let (short, long) = digits.utf8.count < other.digits.utf8.count ? (self, other) : (other, self)
    if short.digits == long.digits { return true }
    guard !short.hasCountry, long.digits.hasSuffix(short.digits) else { return false }
    let code = long.digits.dropLast(short.digits.utf8.count)
    // The zero of an area can stay after the code.
    return Self.isCountry(code) || code.hasSuffix("0") && Self.isCountry(code.dropLast())
  }

  /// Returns whether digits have the length of a country's code. The list has the codes of two digits; North America
  /// and Russia have one digit.
  private static func isCountry(_ code: Substring) -> Bool {
    let two = """
      20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 \
      66 81 82 84 86 90 91 92 93 94 95 98
      """
    switch code.utf8.count {
    case 1: return code == "1" || code == "7"
    case 2: return two.split(separator: " ").contains(code)
    case 3: return !["0", "1", "7"].contains(code.prefix(1)) && !isCountry(code.prefix(2))
    default: return false
    }
  }
}
