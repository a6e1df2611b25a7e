import TenderModel
import Testing

@Suite struct CardTests {
  /// Published test numbers of the schemes; the first four are Pay Theory's (PayTheory/README, 11).
  @Test(arguments: [
    ("4111111111111111", CardBrand.visa), ("5454545454545454", .mastercard),
    ("343434343434343", .amex), ("6542154846623459", .discover), ("30569309025904", .diners),
    ("3530111333300000", .jcb), ("2223003122003222", .mastercard),
  ])
  func `recognises brands and the check digit`(_ number: String, _ brand: CardBrand) throws {
    let digits = try #require(Digits.only(in: number))
    #expect(CardBrand(digits: digits) == brand)
    #expect(Digits.passLuhn(digits))
    var wrong = digits
    wrong[wrong.count - 1] = (wrong[wrong.count - 1] + 1) % 10
    #expect(!Digits.passLuhn(wrong))
  }

  static func card(
    _ number: String = "4111 1111 1111 1111",
    code: String = "123",
    expiration: String = "12/30"
  ) throws -> Card {
    try Card(
      number: SharedSecret(number),
      securityCode: SharedSecret(code),
      expiration: Expiration(expiration),
      name: nil,
      address: Address(),
      today: YearMonth(year: 2026, month: 11)
    )
  }

  struct Bad: CustomTestStringConvertible {
    let number: String
    let code: String
    let expiration: String
    let field: String

    var testDescription: String { "\(field): \(code) \(expiration)" }
  }

  @Test(arguments: [
    Bad(number: "4111111111111112", code: "123", expiration: "12/30", field: "number"),
    Bad(number: "411111111111", code: "123", expiration: "12/30", field: "number"),
    Bad(number: "41111111111111111111", code: "123", expiration: "12/30", field: "number"),
    Bad(number: "4111x11111111111", code: "123", expiration: "12/30", field: "number"),
    Bad(number: "4111111111111111", code: "12", expiration: "12/30", field: "security_code"),
    Bad(number: "4111111111111111", code: "1234", expiration: "12/30", field: "security_code"),
    Bad(number: "343434343434343", code: "123", expiration: "12/30", field: "security_code"),
    Bad(number: "4111111111111111", code: "123", expiration: "13/30", field: "expiration"),
    Bad(number: "4111111111111111", code: "123", expiration: "00/30", field: "expiration"),
    Bad(number: "4111111111111111", code: "123", expiration: "10/26", field: "expiration"),
    Bad(number: "4111111111111111", code: "123", expiration: "1/30", field: "expiration"),
    Bad(number: "4111111111111111", code: "123", expiration: "12-30", field: "expiration"),
  ])
  func `names the bad field and never its value`(_ bad: Bad) throws {
    let fault = #expect(throws: Fault.self) {
      try Self.card(bad.number, code: bad.code, expiration: bad.expiration)
    }
    #expect(fault?.message.contains("instrument's \(bad.field) ") == true)
    #expect(fault?.message.contains(bad.number) == false)
    #expect(fault?.code == "no_fields")
  }

  @Test func `takes the month it expires in`() throws {
    #expect(try Self.card(expiration: "11/26").expiration.yearText == "2026")
    #expect(try Self.card(expiration: "0130").expiration.monthText == "01")
    for text in ["12/2029", "2029-12", "12/29", "1229"] {
      #expect(try Expiration(text).month == YearMonth(year: 2029, month: 12), "\(text)")
    }
    for text in ["12-2029", "2029/12", "2029-12-31", "2029-13", "29-12"] {
      #expect(throws: Fault.self, "\(text)") { try Expiration(text) }
    }
    #expect(try Self.card().lastFour == "1111")
  }

  @Test(arguments: [
    ("122105278", true), ("789456124", true), ("122105279", false), ("12210527", false),
    ("000000000", false),
  ])
  func `checks routing numbers`(_ routing: String, _ isGood: Bool) {
    let account = try? BankAccount(
      name: "A",
      number: SharedSecret("0000000016"),
      kind: "checking",
      routing: routing
    )
    #expect((account != nil) == isGood)
  }

  @Test(arguments: [
    ("12345", "US", true), ("12345-6789", "US", true), ("1234", "US", false),
    ("SW1A 1AA", "GB", true), ("M1 1AE", "GB", true), ("EC1A1BB", "GBR", true),
    ("12345", "GB", false), ("K1A 0B1", "CA", true), ("K1A-0B1", "CA", true),
    ("1K1 0B1", "CA", false), ("D02 X285", "IE", true), ("1012 AB", "NL", true),
    ("10115", "DE", true), ("1000", "CH", true), ("100-0001", "JP", true),
    ("01310-100", "BR", true), ("AB 12", "ZZ", true), ("!!", "ZZ", false),
    ("10115", "NL", false), ("12345", "GBR", false), ("AB12", "USA", false),
  ])
  func `takes the postal codes of all countries`(
    _ code: String,
    _ country: String,
    _ isGood: Bool
  ) {
    #expect(PostalCode.fits(code, country: country) == isGood)
  }
}
