import TenderModel
import Testing

@Suite struct MoneyTests {
  struct Case: CustomTestStringConvertible {
    let text: String
    let code: String
    let minor: Int?

    var testDescription: String { "\(text) \(code)" }
  }

  static let decimals = [
    Case(text: "10.50", code: "USD", minor: 1050), Case(text: "10.5", code: "USD", minor: 1050),
    Case(text: "10", code: "USD", minor: 1000), Case(text: "0.01", code: "USD", minor: 1),
    Case(text: "19.99", code: "USD", minor: 1999), Case(text: "1.15", code: "USD", minor: 115),
    Case(text: "1500", code: "JPY", minor: 1500), Case(text: "1.234", code: "KWD", minor: 1234),
    Case(text: "0", code: "USD", minor: 0), Case(text: "10.505", code: "USD", minor: nil),
    Case(text: "1.5", code: "JPY", minor: nil), Case(text: "", code: "USD", minor: nil),
    Case(text: ".5", code: "USD", minor: nil), Case(text: "5.", code: "USD", minor: nil),
    Case(text: "-5", code: "USD", minor: nil), Case(text: "+5", code: "USD", minor: nil),
    Case(text: "1e3", code: "USD", minor: nil), Case(text: "1,000", code: "USD", minor: nil),
    Case(text: "1.2.3", code: "USD", minor: nil), Case(text: "٣", code: "USD", minor: nil),
    Case(text: "99999999999999999999", code: "USD", minor: nil),
  ]

  @Test(arguments: decimals)
  func `reads decimal amounts exactly or not at all`(_ example: Case) throws {
    let currency = try #require(Currency(code: example.code))
    let money = try? Money(decimal: example.text, currency: currency, named: "--amount")
    #expect(money?.minorUnits == example.minor)
  }

  @Test func `writes what it reads`() throws {
    for (minor, code, text) in [
      (1050, "USD", "10.50"), (5, "USD", "0.05"), (0, "USD", "0.00"), (1500, "JPY", "1500"),
      (1234, "KWD", "1.234"),
    ] {
      let currency = try #require(Currency(code: code))
      let money = Money(minorUnits: minor, currency: currency)
      #expect(money.decimalText == text)
      #expect(try Money(decimal: text, currency: currency, named: "--amount") == money)
    }
  }

  @Test func `names what was typed`() throws {
    let dollars = try #require(Currency(code: "usd"))
    let fault = #expect(throws: Fault.self) {
      try Money(decimal: "10.505", currency: dollars, named: "--amount")
    }
    #expect(fault?.message == "--amount '10.505' has more digits than USD has (2)")
    #expect(fault?.exitStatus == 2)
  }

  @Test func `knows no currency that is none`() {
    #expect(Currency(code: "UDS") == nil)
    #expect(Currency(code: "") == nil)
    #expect(Currency.codes.count > 150)
  }

  @Test(
    arguments: [
      (JSON.integer(0), 0), (1_000_000_000_000_000, 1_000_000_000_000_000),
      (1_000_000_000_000_001, nil), (-1, nil), (.integer(.max), nil), (.integer(.min), nil),
      ("1050", 1050), (.number("1.5"), nil), (.null, nil),
    ] as [(JSON, Int?)]
  )
  func `amounts of others are such that sums of them fit`(_ value: JSON, _ amount: Int?) {
    #expect(value.boundedNumber == amount)
  }
}
