/// A card's brand, recognised by the first digits (ISO/IEC 7812 ranges as the schemes publish them).
package enum CardBrand: String, Sendable, Hashable, CaseIterable {
  case visa = "VISA"
  case mastercard = "MASTERCARD"
  case amex = "AMEX"
  case discover = "DISCOVER"
  case diners = "DINERS"
  case jcb = "JCB"
  case maestro = "MAESTRO"
  case unionPay = "UNIONPAY"

  /// The brand of a number of decimal digits; nil where no known range has it.
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
}

/// Checks on digits that payments share.
package enum Digits {
  /// Whether the digits pass the Luhn check (ISO/IEC 7812-1, annex B).
  package static func passLuhn(_ digits: some Sequence<UInt8>) -> Bool {
    // Which digits are doubled is known at the end alone, so both sums are made.
    var plain = 0
    var doubled = 0
    for digit in digits {
      let twice = Int(digit) * 2
      (plain, doubled) = (doubled + Int(digit), plain + (twice > 9 ? twice - 9 : twice))
    }
    return plain % 10 == 0 && plain > 0
  }

  /// Whether nine digits are a routing number: weights 3, 7, 1 make a multiple of ten (ABA).
  package static func passRouting(_ digits: some Collection<UInt8>) -> Bool {
    guard digits.count == 9 else { return false }
    let sum = zip(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]).reduce(0) { $0 + Int($1.0) * $1.1 }
    return sum > 0 && sum % 10 == 0
  }

  /// The digits of a text, spaces and dashes dropped; nil where anything else is in it.
  package static func only(in text: some StringProtocol) -> [UInt8]? {
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

  /// Whether digits look like a payer's card number: 13 to 19 of them, a known range, Luhn.
  package static func looksLikeCard(_ digits: [UInt8]) -> Bool {
    (13...19).contains(digits.count) && CardBrand(digits: digits) != nil && passLuhn(digits)
  }
}
