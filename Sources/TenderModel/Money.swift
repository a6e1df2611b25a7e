/// An amount of money: a whole number of a currency's minor units.
package struct Money: Sendable, Hashable {
  package let minorUnits: Int
  package let currency: Currency

  package init(minorUnits: Int, currency: Currency) {
    self.minorUnits = minorUnits
    self.currency = currency
  }

  /// With fifteen digits, sums are exact, also in JSON readers with 53-bit numbers.
  package static let limit = 1_000_000_000_000_000

  /// Reads a decimal amount such as `10.50`, without any floating point.
  ///
  /// The amount is digits, then at most one point and as many digits as the currency has. It has no sign and
  /// no grouping. Throws a `usage` fault that names the typed value.
  package init(decimal text: String, currency: Currency, named option: String) throws(Fault) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let digits = { (part: Substring) in
      !part.isEmpty && part.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }
    guard (1...2).contains(parts.count), parts.allSatisfy(digits) else {
      throw .notAnAmount(text, option: option, currency: currency)
    }
    let fraction = parts.count == 2 ? parts[1] : ""
    guard fraction.count <= currency.exponent else {
      throw .tooManyDigits(text, option: option, currency: currency)
    }
    let padding = String(repeating: "0", count: currency.exponent - fraction.count)
    guard let units = Int(String(parts[0]) + String(fraction) + padding), units < Self.limit else {
      throw .amountTooLarge(text, option: option)
    }
    self.init(minorUnits: units, currency: currency)
  }

  /// Reads an amount in minor units such as `1050`.
  ///
  /// Throws a `usage` fault that names it.
  package init(
    minorUnits text: some StringProtocol,
    currency: Currency,
    named option: String
  ) throws(Fault) {
    let allDigits = text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    guard allDigits, !text.isEmpty else {
      throw .notMinorUnits(String(text), option: option)
    }
    guard let value = Int(text), value < Self.limit else {
      throw .amountTooLarge(String(text), option: option)
    }
    self.init(minorUnits: value, currency: currency)
  }

  /// The amount with its currency, such as `10.50 USD`.
  package var text: String { "\(decimalText) \(currency.code)" }

  /// The amount as decimal text, such as `10.50`.
  package var decimalText: String {
    let sign = minorUnits < 0 ? "-" : ""
    var digits = String(minorUnits.magnitude)
    guard currency.exponent > 0 else { return sign + digits }
    if digits.count <= currency.exponent {
      digits = String(repeating: "0", count: currency.exponent + 1 - digits.count) + digits
    }
    return sign + digits.dropLast(currency.exponent) + "." + digits.suffix(currency.exponent)
  }
}

extension Fault {
  fileprivate static func notAnAmount(_ text: String, option: String, currency: Currency) -> Fault {
    .usage(
      "bad_amount",
      "\(option) \(text.quotedForMessage) is not an amount",
      "write digits with at most one point, such as \(currency.sample)"
    )
  }

  fileprivate static func tooManyDigits(
    _ text: String,
    option: String,
    currency: Currency
  )
    -> Fault
  {
    .usage(
      "bad_amount",
      "\(option) \(text.quotedForMessage) has more digits than \(currency.code) has "
        + "(\(currency.exponent))",
      "at most \(currency.exponent) digits behind the point, such as \(currency.sample)"
    )
  }

  fileprivate static func notMinorUnits(_ text: String, option: String) -> Fault {
    .usage(
      "bad_amount",
      "\(option) \(text.quotedForMessage) is not a whole number of minor units",
      "10.50 USD is 1050"
    )
  }

  fileprivate static func amountTooLarge(_ text: String, option: String) -> Fault {
    .usage(
      "bad_amount",
      "\(option) \(text.quotedForMessage) is too large",
      "at most 15 digits of minor units"
    )
  }
}

extension Currency {
  /// An amount in this currency that shows its digits, for hints.
  fileprivate var sample: String {
    Money(minorUnits: exponent == 3 ? 10_500 : 1050, currency: self).decimalText
  }
}
