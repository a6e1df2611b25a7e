/// International bank account numbers, by the registry of countries (ISO 13616-1; SWIFT's IBAN registry).
package enum IBAN {
  /// Returns whether capital letters and digits are an IBAN: of the length and structure of their country, with
  /// check digits modulo 97.
  package static func isValid(_ text: String) -> Bool { isValid(text.utf8) }

  static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
    let country = Array(bytes.prefix(2))
    guard country.allSatisfy(isCapital), let structure = structure(of: country) else {
      return false
    }
    var rest = bytes.dropFirst(2)
    // Two check digits come before the country's own parts.
    for part in [(count: 2, kind: UInt8(ascii: "n"))] + structure {
      guard rest.prefix(part.count).count == part.count,
        rest.prefix(part.count).allSatisfy({ isOf(part.kind, $0) })
      else { return false }
      rest = rest.dropFirst(part.count)
    }
    return rest.isEmpty
      && bytes.prefix(4).reduce(bytes.dropFirst(4).reduce(0, remainder), remainder) == 1
  }

  /// Returns the remainder modulo 97 after one more letter or digit. A letter counts as a two-digit number, from 10
  /// on. The first four characters of an IBAN count last.
  static func remainder(_ before: Int, _ byte: UInt8) -> Int {
    DigitRuns.isDigit(byte)
      ? (before * 10 + Int(byte - UInt8(ascii: "0"))) % 97
      : (before * 100 + Int(byte - UInt8(ascii: "A")) + 10) % 97
  }

  static func isCapital(_ byte: UInt8) -> Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte }

  /// Returns whether a character is of a kind: `n` a digit, `a` a letter, `c` either.
  private static func isOf(_ kind: UInt8, _ byte: UInt8) -> Bool {
    DigitRuns.isDigit(byte) && kind != UInt8(ascii: "a")
      || isCapital(byte) && kind != UInt8(ascii: "n")
  }

  /// Returns the parts of a country's account numbers; nil if the registry does not have the country.
  private static func structure(of country: [UInt8]) -> [(count: Int, kind: UInt8)]? {
    let row = registry.split(separator: " ").first { $0.utf8.starts(with: country) }
    guard let row else { return nil }
    var (parts, count): ([(count: Int, kind: UInt8)], Int) = ([], 0)
    for byte in row.utf8.dropFirst(2) {
      if DigitRuns.isDigit(byte) {
        count = count * 10 + Int(byte - UInt8(ascii: "0"))
      } else {
        parts.append((count, byte))
        count = 0
      }
    }
    return parts
  }

  /// The country, and the numbers and kinds of the characters after the check digits. Neighbours of one kind are
  /// joined.
  private static let registry = """
    AD8n12c AE19n AL8n16c AT16n AZ4a20c BA16n BE12n BG4a6n8c BH4a14c BI23n BR23n1a1c BY4c4n16c \
    CH5n12c CR18n CY8n16c CZ20n DE18n DJ23n DK14n DO4c20n EE16n EG25n ES20n FI14n FK2a12n FO14n \
    FR10n11c2n GB4a14n GE2a16n GI4a15c GL14n GR7n16c GT24c HN4a20n HR17n HU24n IE4a14n IL19n \
    IQ4a15n IS22n IT1a10n12c JO4a4n18c KW4a22c KZ3n13c LB4n20c LC4a24c LI5n12c LT16n LU3n13c \
    LV4a13c LY21n MC10n11c2n MD20c ME18n MK3n10c2n MN16n MR23n MT4a5n18c MU4a19n3a NI4a20n \
    NL4a10n NO11n OM3n16c PK4a16c PL24n PS4a21c PT21n QA4a21c RO4a16c RS18n RU14n15c SA2n18c \
    SC4a20n3a SD14n SE20n SI15n SK20n SM1a10n12c SO19n ST21n SV4a20n TL19n TN20n TR6n16c UA6n19c \
    VA18n VG4a16n XK16n YE4a4n18c
    """
}
