/// The payer's card, account or contact.
///
/// Its secret parts cannot be printed, and are wiped with the value.
package enum Instrument: Sendable {
  case card(Card)
  case bankAccount(BankAccount)
  case cash(CashPayer)

  /// The payment methods, as `--method` names them.
  package enum Method: String, Sendable, CaseIterable { case card, ach, cash }

  package var method: Method {
    switch self {
    case .card: .card
    case .bankAccount: .ach
    case .cash: .cash
    }
  }

  /// The last four digits, if the number is long enough to show them.
  package var identity: String? {
    switch self {
    case .card(let card):
      "card \(card.brand?.rawValue ?? "") \(card.lastFour) \(card.expiration.monthText)\(card.expiration.yearText)"
    case .bankAccount(let account):
      "ach \(account.routing) \(account.lastFour ?? "") \(account.kind.rawValue)"
    case .cash: nil
    }
  }

  /// The last four digits of card or account; nil for cash.
  package var lastFour: String? {
    switch self {
    case .card(let card): card.lastFour
    case .bankAccount(let account): account.lastFour
    case .cash: nil
    }
  }
}

/// A checked payment card.
package final class Card: Sendable {
  package let number: SharedSecret
  package let securityCode: SharedSecret
  package let expiration: Expiration
  package let name: String?
  package let address: Address
  package let brand: CardBrand?
  package let lastFour: String

  /// Checks number (13 to 19 digits, Luhn), security code (3 digits, American Express 4) and
  /// expiration (`MM/YY`, not before `today`).
  ///
  /// Throws a `usage` fault that names the field only.
  package init(
    number: SharedSecret,
    securityCode: SharedSecret,
    expiration: Expiration,
    name: String?,
    address: Address,
    today: YearMonth
  ) throws(Fault) {
    guard let number = Digits.only(in: number.secret), (13...19).contains(number.count) else {
      throw .badField("number", "must be 13 to 19 digits")
    }
    guard Digits.areCardNumber(number) else {
      throw .badField("number", "has a wrong check digit (Luhn); one digit is mistyped")
    }
    brand = unsafe number.withBytes { unsafe CardBrand(digits: $0.lazy.map(Digits.value)) }
    let length = brand == .amex ? 4 : 3
    guard Digits.plain(securityCode.secret, count: length...length) else {
      throw .badField("security_code", "must be \(length) digits for this card")
    }
    guard !expiration.month.isBefore(today) else {
      throw .badField("expiration", "is in the past")
    }
    lastFour = Digits.lastFour(of: number)
    self.number = SharedSecret(number)
    self.securityCode = securityCode
    self.expiration = expiration
    self.name = name
    self.address = address
  }
}

/// A month of a year.
package struct YearMonth: Sendable, Hashable {
  package let year: Int
  package let month: Int

  package init(year: Int, month: Int) {
    self.year = year
    self.month = month
  }

  /// Returns whether this month comes before another.
  package func isBefore(_ other: YearMonth) -> Bool { (year, month) < (other.year, other.month) }
}

/// A card's expiration, `MM/YY`.
package struct Expiration: Sendable, Hashable {
  package let month: YearMonth

  /// Reads `MM/YY`, `MMYY`, `MM/YYYY` or `YYYY-MM`.
  ///
  /// Throws a `usage` fault that names the field only.
  package init(_ typed: String) throws(Fault) {
    var text = typed
    // A date as ISO 8601 writes it.
    let parts = typed.split(separator: "-", omittingEmptySubsequences: false)
    if parts.count == 2, parts[0].utf8.count == 4 { text = "\(parts[1])/\(parts[0])" }
    let digits = text.utf8.filter { $0 != UInt8(ascii: "/") }
    guard text.utf8.count - digits.count <= 1, digits.count == 4 || digits.count == 6,
      digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      text.utf8.count == digits.count || text.utf8.dropFirst(2).first == UInt8(ascii: "/")
    else { throw .badField("expiration", "must be written MM/YY, MM/YYYY or YYYY-MM") }
    let values = digits.map { Int($0 - UInt8(ascii: "0")) }
    let month = values[0] * 10 + values[1]
    let year = values.dropFirst(2).reduce(0) { $0 * 10 + $1 }
    guard (1...12).contains(month) else { throw .badField("expiration", "has no such month") }
    self.month = YearMonth(year: year < 100 ? 2000 + year : year, month: month)
  }

  package var monthText: String { String(100 + month.month).suffix(2).description }

  package var yearText: String { String(month.year) }
}

/// A checked bank account for ACH.
package final class BankAccount: Sendable {
  /// The two account types of ACH.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case checking = "CHECKING"
    case savings = "SAVINGS"
  }

  package let name: String
  package let number: SharedSecret
  package let kind: Kind
  package let routing: String
  package let lastFour: String?

  /// Checks name, account number (4 to 17 digits), account type and routing number (ABA check
  /// digit).
  ///
  /// Throws a `usage` fault that names the field only.
  package init(name: String, number: SharedSecret, kind: String, routing: String) throws(Fault) {
    guard !name.isBlank else { throw .badField("name", "is missing") }
    guard Digits.plain(number.secret, count: 4...17) else {
      throw .badField("account_number", "must be 4 to 17 digits")
    }
    guard let kind = Kind(rawValue: kind.uppercased()) else {
      throw .badField("account_type", "must be CHECKING or SAVINGS")
    }
    guard Digits.plain(routing, count: 9...9), Digits.passRouting(Digits.only(in: routing) ?? [])
    else {
      throw .badField("routing_number", "must be 9 digits with a valid ABA check digit")
    }
    self.name = name
    self.kind = kind
    self.routing = routing
    lastFour = number.secret.count > 5 ? Digits.lastFour(of: number.secret) : nil
    self.number = number
  }
}

/// A payer of cash at a barcode.
package struct CashPayer: Sendable, Hashable {
  package let name: String
  package let contact: String

  /// Checks the name and that the contact is an e-mail address or a phone number.
  ///
  /// Throws a `usage` fault that names the field only.
  package init(name: String, contact: String) throws(Fault) {
    guard !name.isBlank else { throw .badField("name", "is missing") }
    guard Contact.isEmail(contact) || Contact.isPhone(contact) else {
      throw .badField("contact", "must be an e-mail address or a phone number")
    }
    self.name = name
    self.contact = contact
  }
}

/// Checks of contact details.
package enum Contact {
  /// Returns whether a text has the shape of an e-mail address: one `@`, a dot after it, no spaces.
  package static func isEmail(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, text.utf8.count <= 254 else { return false }
    let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
      && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7f && $0 != "," }
  }

  /// Returns whether a text is a phone number: 5 to 15 digits with the usual punctuation.
  package static func isPhone(_ text: String) -> Bool {
    let digits = text.utf8.filter { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    let rest = text.utf8.filter { !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0) }
    return (5...15).contains(digits.count) && rest.allSatisfy { "+() .-".utf8.contains($0) }
      && !text.dropFirst().contains("+")
  }
}

extension Digits {
  /// Returns the digits of a secret without spaces and dashes; nil if it contains anything else.
  package static func only(in secret: borrowing Secret) -> Secret? {
    unsafe secret.withBytes { bytes in
      unsafe Secret(capacity: bytes.count) { room in
        var count = 0
        for place in 0..<bytes.count {
          let byte = unsafe bytes[place]
          if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-") { continue }
          guard DigitRuns.isDigit(byte) else { return nil }
          unsafe room[count] = byte
          count += 1
        }
        return count
      }
    }
  }

  /// Returns whether a secret has only digits, and an allowed number of them.
  package static func plain(_ secret: borrowing Secret, count: ClosedRange<Int>) -> Bool {
    count.contains(secret.count)
      && (unsafe secret.withBytes { unsafe $0.allSatisfy(DigitRuns.isDigit) })
  }

  /// Returns whether a secret is 13 to 19 digits with a valid check digit, without its spaces and dashes.
  package static func areCardNumber(_ secret: borrowing Secret) -> Bool {
    guard let number = only(in: secret), (13...19).contains(number.count) else { return false }
    return unsafe number.withBytes { unsafe passLuhn($0.lazy.map(value)) }
  }

  fileprivate static func value(_ byte: UInt8) -> UInt8 { byte - UInt8(ascii: "0") }

  fileprivate static func lastFour(of secret: borrowing Secret) -> String {
    unsafe secret.withBytes { unsafe String(decoding: $0.suffix(4), as: UTF8.self) }
  }

  /// Returns whether a text has only digits, and an allowed number of them.
  package static func plain(_ text: String, count: ClosedRange<Int>) -> Bool {
    count.contains(text.utf8.count)
      && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }
}

extension String {
  package var isBlank: Bool { allSatisfy(\.isWhitespace) }
}

extension Fault {
  /// A field of an instrument that cannot be used. The fault never contains the value.
  package static func badField(_ field: String, _ problem: String) -> Fault {
    Fault(
      .usage,
      code: "no_fields",
      cause: .noFields,
      "the instrument's \(field) \(problem)",
      hint: "see: tender help instruments"
    )
  }
}
