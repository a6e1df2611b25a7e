import TenderModel

/// Checks a payment method, and reduces it for the books: never a whole number.
enum PayTheoryChecks {
  /// Refuses an invalid method.
  ///
  /// The texts are the simulator's.
  static func check(_ method: JSONObject, now: Int) throws(Fault) {
    switch method.text("type") {
    case "card":
      guard let number = method.text("number").flatMap(Digits.only(in:)),
        (13...19).contains(number.count), Digits.passLuhn(number)
      else { throw .simulatedRefusal("Invalid card number") }
      guard let code = method.text("security_code"), Digits.plain(code, count: 3...4) else {
        throw .simulatedRefusal("Invalid security code")
      }
      guard let month = method.text("expiration_month").flatMap({ Int($0) }),
        let year = method.text("expiration_year").flatMap({ Int($0) }), (1...12).contains(month),
        year > 2000
      else { throw .simulatedRefusal("Invalid expiration") }
      let today = Timestamp.yearAndMonth(now)
      guard (year, month) >= (today.year, today.month) else {
        throw .simulatedRefusal("Card is expired")
      }
    case "ach":
      guard let routing = method.text("bank_code").flatMap(Digits.only(in:)),
        Digits.passRouting(routing)
      else { throw .simulatedRefusal("Invalid routing number") }
      guard let account = method.text("account_number"), Digits.plain(account, count: 4...17),
        let name = method.text("name"), !name.isEmpty
      else { throw .simulatedRefusal("Invalid bank account") }
    default: throw .simulatedRefusal("Unknown payment method type")
    }
  }

  /// Returns the stored part of a request's method: last four, brand, outcome. It has no number and no
  /// security code.
  static func booked(_ inner: JSONObject, _ method: JSONObject) -> BookedMethod {
    var booked = BookedMethod()
    booked.payor = inner["pay_theory_data"]?["payor_id"]?.text ?? ""
    let payor = inner["payor_info"]?.object ?? [:]
    let names = ["first_name", "last_name"].compactMap { payor.text($0) }.filter { !$0.isEmpty }
    booked.payorName = names.isEmpty ? nil : names.joined(separator: " ")
    booked.email = payor.text("email")
    booked.phone = payor.text("phone")
    if method.text("type") == "card" {
      let number = method.text("number").flatMap(Digits.only(in:)) ?? []
      let digits = number.map { String($0) }.joined()
      booked.lastFour = String(digits.suffix(4))
      booked.firstSix = String(digits.prefix(6))
      booked.brand = CardBrand(digits: number)?.rawValue ?? ""
      let year = method.text("expiration_year") ?? ""
      booked.expiration = (method.text("expiration_month") ?? "") + year.suffix(2)
    } else {
      let account = method.text("account_number") ?? ""
      booked.type = .ach
      booked.lastFour = String(account.suffix(4))
      booked.brand = "ACH"
      booked.fails = account == PayTheoryCatalog.failingAccount
    }
    return booked
  }
}
