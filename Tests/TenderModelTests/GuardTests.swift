import TenderModel
import TenderTestSupport
import Testing

@Suite struct GuardTests {
  @Test(arguments: [
    ["transact", "4111111111111111"], ["--reference", "4111 1111 1111 1111"],
    ["--metadata", "card=4111-1111-1111-1111"], ["--metadata=card=4111111111111111"],
    ["--", "--id", "343434343434343"], ["confirm", "--id", "1", "5454545454545454"],
    ["--payor=first_name=x=6542154846623459"], ["--metadata", "4111111111111111=v"],
    ["--reference", "card4111111111111111"], ["--reference", "4111.1111.1111.1111"],
    ["--payor", "email=4111111111111111@x.de"], ["4111,1111,1111,1111"],
    ["R 4111:1111:1111:1111"], ["4111|1111|1111|1111"], ["4111+1111+1111+1111"],
    ["4111•1111•1111•1111"], ["4111·1111·1111·1111"], ["4111'1111'1111'1111"],
    ["4111\"1111\"1111\"1111"], ["4111“1111”1111“1111"], ["4111\n1111\n1111\n1111"],
    ["4111\\1111\\1111\\1111"], ["4111@1111@1111@1111"], ["4111{1111}1111`1111"],
    ["4111^1111!1111$1111"], ["4111%1111‚1111（1111"], ["4111\u{85}1111\u{1680}1111\u{200b}1111"],
    ["4111;1111;1111;1111"], ["4111*1111*1111*1111"], ["4,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"],
    ["--amount", "4111:1111:1111:1111"], ["--amount=4111|1111|1111|1111"],
    ["--fee", "4111,1111,1111,1111"], ["--amount-minor=4111=1111=1111=1111"],
    ["--gratuity", "4111&1111&1111&1111"], ["--amount", "4111?1111?1111?1111"],
    ["--amount", "4111 1111 1111 1111"],
    [String("4111111111111111".flatMap { "\($0)\u{332}" })],
    [String("4111111111111111".flatMap { "\($0)\u{20e3}" })],
  ])
  func `stops card numbers wherever they stand`(_ arguments: [String]) {
    let fault = #expect(throws: Fault.self) { try CardNumberGuard.check(arguments) }
    #expect(fault?.code == "card_number_on_command_line")
    for argument in arguments where argument.count > 12 {
      #expect(fault?.message.contains(argument) == false)
    }
  }

  @Test(arguments: [
    ["--id", "4111111111111111"], ["--id=4111111111111111"],
    ["--amount-minor", "4111111111111111"], ["--amount=4111111111111111"],
    ["--amount", "41111111111111.11"], ["--amount", "1,234,567.89"],
    ["4111111111111112"], ["123e4567-e89b-12d3-a456-426614174000"],
    ["2026-11-20T17:19:00Z"], ["9999999999999995"], ["4111,1111,1111,1112"],
    ["92790495707653137726991111"], ["81546965713270072827035603"],
    ["10,20,30,40,50,60,70"], ["2026-11-20T17:19:00+01:00"], ["--since=2026-11-20 17:19:00"],
  ])
  func `lets through what is none, and ids that were vouched for`(_ arguments: [String]) throws {
    try CardNumberGuard.check(arguments)
  }
}

/// Values of shops and banks, many of each kind, that the guard must not take for a card.
@Suite struct InnocentNumberTests {
  /// A number of digits with the given beginning.
  private static func number(_ beginning: String, _ count: Int, _ random: inout Seeded) -> String {
    beginning
      + (beginning.count..<count).map { _ in "\(Int.random(in: 0...9, using: &random))" }.joined()
  }

  private static func isRefused(_ arguments: [String]) -> Bool {
    (try? CardNumberGuard.check(arguments)) == nil
  }

  /// The digits with a check digit in the last place: every second one is weighed by `weight`.
  private static func checked(
    _ digits: String,
    _ sum: (_ value: Int, _ isSecond: Bool) -> Int
  ) -> String {
    let values = digits.compactMap(\.wholeNumberValue)
    let total = values.reversed().enumerated().reduce(0) {
      $0 + sum($1.element, $1.offset % 2 == 0)
    }
    return digits + "\((10 - total % 10) % 10)"
  }

  private static func luhn(_ digits: String) -> String {
    checked(digits) { value, isSecond in isSecond ? value * 2 - (value > 4 ? 9 : 0) : value }
  }

  @Test func `lets ids of shops and numbers of phones through`() {
    var random = Seeded(1)
    var refused = 0
    for _ in 0..<2000 {
      let shopify = Self.number("\(Int.random(in: 4...6, using: &random))", 13, &random)
      #expect(!Self.isRefused(["--reference", shopify]), "\(shopify)")
      let mobile = Self.number(
        ["151", "160", "170", "1520", "176"].randomElement(using: &random) ?? "",
        11,
        &random
      )
      for text in [
        "+49" + mobile, "0049 \(mobile)", "+49 (0) \(mobile.prefix(3)) \(mobile.dropFirst(3))",
        "0\(mobile)",
      ] {
        #expect(!Self.isRefused(["--payor", "phone=\(text)"]), "\(text)")
      }
      let amazon = [
        Self.number("", 3, &random), Self.number("", 7, &random), Self.number("", 7, &random),
      ]
      let gtin = Self.checked(Self.number("", 13, &random)) { $1 ? $0 * 3 : $0 }
      for text in [amazon.joined(separator: "-"), gtin]
      where Self.isRefused(["--metadata=order=\(text)"]) {
        refused += 1
      }
    }
    // A Diners card has 14 digits, too: one in three hundred of these is like one.
    #expect(refused < 40, "\(refused) of 4000")
  }

  @Test func `lets IBANs through and refuses cards of each length`() {
    var random = Seeded(2)
    for _ in 0..<2000 {
      let account = Self.number("", 12, &random)
      let rest = (account + "111400").reduce(0) { ($0 * 10 + ($1.wholeNumberValue ?? 0)) % 97 }
      let check = 98 - rest
      let iban = "BE\(check < 10 ? "0" : "")\(check)\(account)"
      #expect(IBAN.isValid(iban), "\(iban)")
      let groups = stride(from: 0, to: 16, by: 4).map { String(iban.dropFirst($0).prefix(4)) }
      for text in [iban, iban.lowercased(), groups.joined(separator: " ")] {
        #expect(!Self.isRefused(["--iban", text]), "\(text)")
        #expect(!Self.isRefused(["--iban=\(text)"]), "\(text)")
      }
      for (beginning, count) in [
        ("4", 16), ("4", 19), ("51", 16), ("2221", 16), ("34", 15), ("37", 15), ("36", 14),
        ("305", 14), ("6011", 16), ("3528", 16), ("62", 19), ("50", 16), ("6759", 19),
      ] {
        let card = Self.luhn(Self.number(beginning, count - 1, &random))
        #expect(Self.isRefused(["--reference", card]), "\(card)")
        let isIBAN = IBAN.isValid("BE" + card)
        #expect(Self.isRefused(["--iban", "BE" + card]) != isIBAN, "\(card)")
        #expect(Redactor().redact("a \(card) b") == "a [redacted] b", "\(card)")
      }
    }
  }

  /// The same value behind --id says that it is an id. Nothing else does.
  @Test func `lets a value through that is an id`() throws {
    var random = Seeded(3)
    for _ in 0..<500 {
      let id = Self.luhn(Self.number("4", 15, &random))
      try CardNumberGuard.check(["transact", "--reference", id, "--id", id])
      try CardNumberGuard.check(["transact", "--metadata", "order=\(id)", "--id=\(id)"])
      try CardNumberGuard.check(id, of: "reference", besides: [id])
      let other = Self.luhn(Self.number("5100", 15, &random))
      for arguments in [
        ["--reference", id, "--id", other], ["--reference", "\(other) \(id)", "--id", id],
        ["--metadata", "\(other)=\(id)", "--id", id], ["--reference", id, "--", "--id", id],
      ] { #expect(Self.isRefused(arguments), "\(arguments)") }
    }
  }

  /// One length and one structure for each country, also where the check digits fit.
  @Test(arguments: [
    "AD1200012030200359100100", "AE070331234567890123456", "AT611904300234573201",
    "BE68539007547034", "BG80BNBG96611020345678", "BR1800360305000010009795493C1",
    "CH9300762011623852957", "CY17002001280000001200527600", "CZ6508000000192000145399",
    "DE89370400440532013000", "DK5000400440116243", "EE382200221020145685",
    "ES9121000418450200051332", "FI2112345600000785", "FR1420041010050500013M02606",
    "GB29NWBK60161331926819", "GR1601101250000000012300695", "HR1210010051863000160",
    "HU42117730161111101800000000", "IE29AIBK93115212345678", "IS140159260076545510730339",
    "IT60X0542811101000000123456", "LT121000011101001000", "LU280019400644750000",
    "LV80BANK0000435195001", "MT84MALT011000012345MTLCAST001S", "MU17BOMM0101101030300200000MUR",
    "NL91ABNA0417164300", "NO9386011117947", "PL61109010140000071219812874",
    "PT50000201231234567890154", "RO49AAAA1B31007593840000", "SE4550000000058398257466",
    "SI56263300012039086", "SK3112000000198742637541", "TR330006100519786457841326",
  ])
  func `knows the IBANs of each country`(_ iban: String) {
    #expect(IBAN.isValid(iban))
    let (country, account) = (iban.prefix(2), iban.dropFirst(4))
    for changed in [
      account.dropLast(), account.dropFirst(), account + "0", account + "A", "0" + account,
      account.dropLast() + "-", account.dropLast() + "é",
    ] {
      for check in 2...98 {
        let text = "\(country)\(check < 10 ? "0" : "")\(check)\(changed)"
        #expect(!IBAN.isValid(text), "\(text)")
      }
    }
  }
}

@Suite struct RedactorTests {
  /// An id that a person vouched for is whole in a hint too. Another number beside it is not.
  @Test func `an allowed id is shown within a longer text`() {
    let redactor = Redactor()
    redactor.exempt("405-4111111111111111-9")
    #expect(
      redactor.redact("see: tender refund 405-4111111111111111-9 --rest, card 4111111111111111")
        == "see: tender refund 405-4111111111111111-9 --rest, card [redacted]"
    )
    #expect(redactor.redact("405-4111111111111111") == "405-[redacted]")
  }

  @Test(arguments: [
    ("card 4111111111111111 refused", "card [redacted] refused"),
    ("4111 1111 1111 1111", "[redacted]"), ("4111\u{a0}1111/1111_1111.", "[redacted]."),
    ("x4111-1111-1111-1111y", "x[redacted]y"),
    ("token eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl end", "token [redacted] end"),
    ("pt-tender-paytheorylab-f9gxe4z29bax", "pt-tender-paytheorylab-f9gxe4z29bax"),
    ("2026-11-20T17:19:00Z", "2026-11-20T17:19:00Z"),
    ("123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
    ("1700000000000", "1700000000000"),
  ])
  func `takes out what looks like a secret and nothing else`(_ text: String, _ shown: String) {
    #expect(Redactor().redact(text) == shown)
  }

  @Test func `takes out what it was told, and short codes only where they stand alone`() {
    let redactor = Redactor()
    redactor.learn("0000000016")
    redactor.learn("super-secret")
    redactor.learnShort(Secret("123"))
    #expect(redactor.redact("no 0000000016 super-secret") == "no [redacted] [redacted]")
    for echo in [
      "000-000-0016", "0, 0, 0, 0, 0, 0, 0, 0, 1, 6", "00000000160000000016", "0000%20000016",
      "MDAwMDAwMDAxNg==", "SUPER-SECRET",
    ] { #expect(redactor.redact(echo).contains("[redacted]"), "\(echo)") }
    #expect(
      redactor.redact("code 123 bad, pt-123 fine", foreign: true)
        == "code [redacted] bad, pt-123 fine"
    )
    #expect(redactor.redact("ORDER 123") == "ORDER 123")
    #expect(redactor.redact(.integer(4_111_111_111_111_111)) == .string("[redacted]"))
    #expect(redactor.redact(.integer(1050)) == .integer(1050))
  }

  @Test func `keeps thousands of ids and times as they are`() {
    let redactor = Redactor()
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      var hex = (0..<32).map { _ in String(Int.random(in: 0..<16, using: &generator), radix: 16) }
      hex[12] = "4"
      hex[16] = ["8", "9", "a", "b"].randomElement(using: &generator) ?? "8"
      let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
      let uuid = groups.map { hex[$0].joined() }.joined(separator: "-")
      #expect(redactor.redact(uuid) == uuid)
    }
    // Its first groups are a test card's digits with a valid check digit.
    let unlucky = "42424242-4242-4242-8abc-def012345678"
    #expect(redactor.redact(unlucky) == unlucky)
    #expect(redactor.redact("id=\(unlucky.uppercased()).") == "id=\(unlucky.uppercased()).")
    #expect(redactor.redact("42424242-4242-4242-zabc") == "[redacted]-zabc")
    #expect(redactor.redact("no \(unlucky) 4111111111111111") == "no \(unlucky) [redacted]")
  }
}

@Suite struct FaultTests {
  @Test func `what is not known is looked at, whatever the error is called`() {
    for kind in Fault.Kind.allCases {
      let fault = Fault(kind, effect: .unknown, code: "lost", "lost")
      #expect(fault.record["retry"] == ["class": "look"], "\(kind)")
    }
    var busy = Fault(.providerError, code: "busy", "busy")
    busy.after = 30
    #expect(busy.record["retry"] == ["class": "later", "after": 30])
    #expect(Fault(.conflict, code: "a", cause: .inProgress, "a").retry == .later)
    #expect(Fault(.state, code: "a", cause: .changedMeanwhile, "a").retry == .sameCommand)
  }

  @Test func `has one exit status for each kind`() {
    let statuses = Fault.Kind.allCases.map(\.exitStatus)
    #expect(Set(statuses).count == statuses.count)
    #expect(Fault(.declined, effect: .unknown, code: "x", "y").exitStatus == 9)
    #expect(Fault(.notSent, code: "x", "y").exitStatus == 10)
  }

  @Test(arguments: [
    ("transcat", "transact"), ("--amuont", "--amount"), ("confrim", "confirm"),
  ])
  func `suggests the nearest name`(_ typed: String, _ meant: String) {
    let names = ["transact", "confirm", "cancel", "--amount", "--account-code"]
    #expect(Suggestion.nearest(to: typed, among: names) == meant)
    #expect(Suggestion.nearest(to: "zzzzzz", among: names) == nil)
  }
}

@Suite struct GuardGrowthTests {
  /// Each `=` may begin a value. The guard must stay linear with any number of them.
  @Test(arguments: ["4=", "4111=", "=", "4 ", "k=4111 1111 ", "5A", "5A08", "5713"])
  func `grows with the arguments alone`(_ piece: String) {
    Growth.expectLinear(base: 4000) { size in
      try? CardNumberGuard.check([String(repeating: piece, count: size / piece.utf8.count)])
    }
  }
}
