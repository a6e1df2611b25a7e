/// A card's brand, recognized by its first digits (ISO/IEC 7812 ranges, as the schemes publish them).
package enum CardBrand: String, Sendable, Hashable, CaseIterable {
  case visa = "VISA"
  case mastercard = "MASTERCARD"
  case amex = "AMEX"
  case discover = "DISCOVER"
  case diners = "DINERS"
  case jcb = "JCB"
  case maestro = "MAESTRO"
  case unionPay = "UNIONPAY"

  /// Finds the brand of a card number, given as decimal digits; nil if it is in no known range.
  package init?(digits: some Collection<UInt8>) {
    var six = 0
    var place = 0
    for digit in digits {
      if place < 6 { six = six * 10 + Int(digit) }
      place += 1
    }
    if place < 6 { six = 0 }
    switch (six / 100_000, six / 10_000, six / 1000, six / 100) {
    case (4, _, _, _): self = .visa
    case (_, 51...55, _, _), (_, _, _, 2221...2720): self = .mastercard
    case (_, 34, _, _), (_, 37, _, _): self = .amex
    case (_, _, _, 6011), (_, 65, _, _), (_, _, 644...649, _): self = .discover
    case (_, _, 300...305, _), (_, 36, _, _), (_, 38...39, _, _): self = .diners
    case (_, _, _, 3528...3589): self = .jcb
    case (_, 62, _, _), (_, 81, _, _): self = .unionPay
    case (_, 50, _, _), (_, 56...69, _, _): self = .maestro
    default: return nil
    }
  }

  /// Returns whether cards of the brand are issued with so many digits. Older and planned lengths would make one in
  /// ten order ids and phone numbers look like a card.
  func issues(_ count: Int) -> Bool {
    switch self {
    case .amex: count == 15
    case .mastercard: count == 16
    case .diners: [14, 16, 19].contains(count)
    case .visa, .discover, .jcb, .maestro, .unionPay: count == 16 || count == 19
    }
  }
}

/// Checks on digits that payments share.
package enum Digits {
  /// Returns whether the digits pass the Luhn check (ISO/IEC 7812-1, annex B).
  package static func passLuhn(_ digits: some Sequence<UInt8>) -> Bool {
    // Which digits are doubled depends on their number, which is known only at the end. Both sums are computed.
    var plain = 0
    var doubled = 0
    for digit in digits {
      let twice = Int(digit) * 2
      (plain, doubled) = (doubled + Int(digit), plain + (twice > 9 ? twice - 9 : twice))
    }
    return plain % 10 == 0 && plain > 0
  }

  /// Returns whether nine digits are a routing number: with weights 3, 7, 1 their sum is divisible by ten (ABA).
  package static func passRouting(_ digits: some Collection<UInt8>) -> Bool {
    guard digits.count == 9 else { return false }
    let sum = zip(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]).reduce(0) { $0 + Int($1.0) * $1.1 }
    return sum > 0 && sum % 10 == 0
  }

  /// Returns the digits of a text without spaces and dashes; nil if it contains anything else.
  package static func only(in text: String) -> [UInt8]? {
    var digits: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(byte - UInt8(ascii: "0"))
      case UInt8(ascii: " "), UInt8(ascii: "-"): continue
      default: return nil
      }
    }
    return digits
  }

  /// Returns whether digits look like a card number: a known range, a length that its brand issues, a valid Luhn
  /// digit.
  package static func looksLikeCard(_ digits: some RandomAccessCollection<UInt8>) -> Bool {
    let count = digits.count
    return (14...19).contains(count) && CardBrand(digits: digits.prefix(6))?.issues(count) == true
      && passLuhn(digits)
  }
}
