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

@Suite struct RedactorTests {
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
