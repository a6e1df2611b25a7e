import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// The rules for creations (TrueLayer/README, 3.1 to 3.4), and for the fields of a form.
@Suite struct RuleTests {
  struct Case: CustomTestStringConvertible {
    var name: String
    var word: String
    var change: @Sendable (inout Creation) -> Void

    var testDescription: String { name }
  }

  static let wrong: [Case] = [
    Case(name: "no payee", word: "--beneficiary-name") { $0.beneficiaryName = nil },
    Case(name: "a name that is too long", word: "--beneficiary-name") {
      $0.beneficiaryName = String(repeating: "a", count: 41)
    },
    Case(name: "parentheses", word: "--beneficiary-name") { $0.beneficiaryName = "Ben (Ltd)" },
    Case(name: "a sort code of five digits", word: "--sort-code '56-00-2'") {
      $0.sortCode = "56-00-2"
    },
    Case(name: "an account with letters", word: "--account-number") {
      $0.accountNumber = "2620772a"
    },
    Case(name: "two payees", word: "account is missing, or given twice") {
      $0.iban = "NL39ABNA8234998285"
    },
    Case(name: "a merchant account beside it", word: "exclude each other") {
      $0.merchantAccount = "m"
    },
    Case(name: "a merchant account that is a path", word: "--merchant-account cannot be '../x'") {
      $0.sortCode = nil
      $0.accountNumber = nil
      $0.merchantAccount = "../x"
    },
    Case(name: "an IBAN with a wrong check digit", word: "--iban") {
      $0.sortCode = nil
      $0.accountNumber = nil
      $0.iban = "NL38ABNA8234998285"
    },
    Case(name: "a statement that is too long", word: "--payment-reference") {
      $0.statement = "1234567890123456789"
    },
    Case(name: "a statement with other characters", word: "--payment-reference 'a_b'") {
      $0.statement = "a_b"
    },
    Case(name: "no payer", word: "--user name=") { $0.user = [:] },
    Case(name: "a payer without address", word: "e-mail or phone") { $0.user = ["name": "R"] },
    Case(name: "an e-mail that is none", word: "--user email='x'") {
      $0.user = ["name": "R", "email": "x"]
    },
    Case(name: "a birthday that is none", word: "date_of_birth='31.1.1990'") {
      $0.user = ["name": "R", "email": "r@example.com", "date_of_birth": "31.1.1990"]
    },
    Case(name: "metadata named reference", word: "--metadata reference=") {
      $0.metadata = ["reference": "x"]
    },
    Case(name: "too much metadata", word: "too much metadata") { creation in
      for number in 0..<10 { creation.metadata["k\(number)"] = "v" }
    },
    Case(name: "a name of metadata that is too long", word: "--metadata 'aaaa") {
      $0.metadata[String(repeating: "a", count: 41)] = "v"
    },
    Case(name: "nothing to pay", word: "at least one minor unit") {
      $0.amount = Money(minorUnits: 0, currency: $0.currency)
    },
    Case(name: "a mandate without its most", word: "--max-individual") { creation in
      creation.kind = .mandate
      creation.limits = [(period: "month", amount: 1, alignment: "consent")]
    },
    Case(name: "a mandate without limits", word: "--limit") { creation in
      creation.kind = .mandate
      creation.maximumIndividual = 100
    },
    Case(name: "an unknown period", word: "no period 'monht'") { creation in
      creation.kind = .mandate
      creation.maximumIndividual = 100
      creation.limits = [(period: "monht", amount: 200, alignment: "consent")]
    },
    Case(name: "a limit below one payment", word: "less than --max-individual") { creation in
      creation.kind = .mandate
      creation.maximumIndividual = 100
      creation.limits = [(period: "month", amount: 99, alignment: "consent")]
    },
    Case(name: "a fortnight by calendar", word: "fortnight") { creation in
      creation.kind = .mandate
      creation.maximumIndividual = 100
      creation.limits = [(period: "fortnight", amount: 200, alignment: "calendar")]
    },
    Case(name: "a commercial mandate without use", word: "--use-case") { creation in
      creation.kind = .mandate
      creation.mandateType = "commercial"
      creation.maximumIndividual = 100
      creation.limits = [(period: "month", amount: 200, alignment: "consent")]
    },
  ]

  @Test(arguments: wrong) func `names what cannot be made`(_ example: Case) throws {
    let world = try World()
    let fault = #expect(throws: Fault.self) { _ = try world.payment("A", change: example.change) }
    #expect(fault?.exitStatus == 2)
    #expect(fault?.message.contains(example.word) == true, "\(fault?.message ?? "")")
    #expect(fault?.hint != nil)
  }

  @Test func `a mandate's body`() throws {
    let order = try World().payment("M-1") { creation in
      creation.kind = .mandate
      creation.amount = nil
      creation.mandateType = "commercial"
      creation.useCase = "utilities"
      creation.maximumIndividual = 5000
      creation.validTo = "2027-01-31"
      creation.statement = "mandate-ref"
      creation.preselectedBank = "ob-natwest-vrp-sandbox"
      creation.limits = [
        (period: "month", amount: 50_000, alignment: "calendar"),
        (period: "day", amount: 5000, alignment: "consent"),
      ]
    }
    #expect(
      String(decoding: order.creation, as: UTF8.self)
        == #"{"mandate":{"type":"commercial","use_case":"utilities","provider_selection":"#
        + #"{"type":"user_selected","filter":{"provider_ids":["ob-natwest-vrp-sandbox"]}},"#
        + #""beneficiary":{"type":"external_account","account_holder_name":"Ben Eficiary","#
        + #""account_identifier":{"type":"sort_code_account_number","sort_code":"560029","#
        + #""account_number":"26207729"}},"statement_reference":"mandate-ref"},"#
        + #""currency":"GBP","user":{"name":"Remi Terr","email":"remi@example.com"},"#
        + #""constraints":{"valid_to":"2027-01-31T00:00:00Z","maximum_individual_amount":5000,"#
        + #""periodic_limits":{"month":{"maximum_amount":50000,"period_alignment":"calendar"},"#
        + #""day":{"maximum_amount":5000,"period_alignment":"consent"}}},"#
        + #""metadata":{"reference":"M-1"}}"#
    )
  }

  @Test func `content leaves out the way through the bank, and keeps payee and payer`() throws {
    let world = try World()
    let plain = try world.payment("A").content
    let chosen = try world.payment("A") { creation in
      creation.preselectedBank = "mock-payments-gb-redirect"
      creation.scheme = "faster_payments_service"
      creation.branch = "b"
      creation.retries = true
    }.content
    #expect(plain == chosen)
    let otherPayee = try world.payment("A") { $0.accountNumber = "26207728" }.content
    #expect(plain["payee"] != otherPayee["payee"])
    let otherPayer = try world.payment("A") { $0.user["name"] = "Someone" }.content
    #expect(plain["payer"] != otherPayer["payer"])
  }

  /// Published examples of the IBAN registry.
  @Test(arguments: [
    ("GB29NWBK60161331926819", true), ("DE89370400440532013000", true),
    ("NL91ABNA0417164300", true), ("NO9386011117947", true), ("GB29NWBK60161331926818", false),
    ("gb29NWBK60161331926819", false), ("GB2", false), ("G129NWBK60161331926819", false),
    ("GBA9NWBK60161331926819", false),
  ])
  func `an IBAN has a checksum`(_ text: String, _ isIBAN: Bool) {
    #expect(IBAN.isValid(text) == isIBAN)
  }
}
