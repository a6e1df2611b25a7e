import Foundation
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// The meaning of every term: errors, a provider's reasons, states and members of results.
@Suite struct ExplainTests {
  /// Pay Theory's documentation, page "Failed Transactions": its 43 codes.
  static let processorCodes = """
    ADDRESS_VERIFICATION_FAILED_RISK_RULES AUTHORIZATION_EXPIRED_OR_ALREADY_CAPTURED
    BANK_ACCOUNT_CLOSED BANK_ACCOUNT_FROZEN CALL_ISSUER CARDHOLDER_PREVENTED_RECURRING_TRANSACTION
    CARD_ACCOUNT_CLOSED CARD_NETWORK_ERROR CARD_NOT_SUPPORTED COMMUNICATION_ERROR
    CVV_FAILED_RISK_RULES DEVICE_IN_USE DEVICE_NOT_CONNECTED DO_NOT_HONOR DUPLICATE_TRANSACTION
    EXCEEDS_APPROVAL_LIMIT EXCEEDS_WITHDRAWAL_FREQUENCY_LIMIT EXPIRED_CARD FRAUD_DETECTED
    GENERIC_DECLINE INACTIVE_CARD INCOMPLETE_TRANSACTION INSUFFICIENT_FUNDS INVALID_ACCOUNT_NUMBER
    INVALID_AMOUNT INVALID_BANK_ACCOUNT_NUMBER INVALID_CARD INVALID_CVV INVALID_ISSUER
    INVALID_ROUTING_NUMBER INVALID_TRANSACTION LOST_OR_STOLEN_CARD MAX_TRANSACTION_AMOUNT_EXCEEDED
    NON_TRANSACTION_ACCOUNT NO_BANK_ACCOUNT_FOUND PAYMENT_STOPPED PICK_UP_CARD RESTRICTED_CARD
    RESUBMIT_TRANSACTION SYSTEM_ERROR TIMEOUT TRANSACTION_NOT_PERMITTED UNKNOWN_ERROR
    """

  /// TrueLayer's Android library, `PaymentFailureReason`: its 28 values on the wire.
  static let failureReasons = """
    authorization_failed blocked canceled constraint_violation expired insufficient_funds
    internal_server_error invalid_account_details invalid_account_holder_name
    invalid_beneficiary_account invalid_credentials invalid_mandate_state invalid_otp
    invalid_remitter_account invalid_request invalid_sort_code mandate_revoked not_authorized
    payment_limit_exceeded provider_error provider_expired provider_rejected rejected
    scheme_unavailable unknown_error user_canceled_at_provider verification_declined unknown
    """

  /// ISO 8583:1987, data element 39: the codes that are not left to national or private use.
  static let responseCodes = """
    00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 75
    90 91 92 93 94 95 96
    """

  /// A page is also found by the provider's name for its error, and shows it.
  @Test(arguments: [
    ("SOCKET_ERROR", "socket_error", 11), ("paymentExpired", "payment_expired", 13),
    ("cardReadError", "card_read_error", 19),
  ])
  func `finds an error by the provider's own name`(
    _ name: String,
    _ code: String,
    _ exit: Int
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let page = try binary.run("explain", name, "--json").records.first { $0.text("code") == code }
    #expect(page?.text("provider_error") == name)
    #expect(page?["exit"] == .integer(exit))
    #expect(page?.text("meaning")?.isEmpty == false)
    #expect(page?.text("advice")?.isEmpty == false)
  }

  @Test(arguments: [
    (processorCodes, "error", "paytheory", 43), (failureReasons, "failure reason", "truelayer", 28),
    (responseCodes, "response code", "toro", 71),
    ("UNPR IMSG PARS SECU INTP RCPP DPMG VERS MSGT", "rejection", "toro", 9),
    (Status.allCases.map(\.rawValue).joined(separator: " "), "status", "", 14),
  ])
  func `knows every word, and says what helps`(
    _ words: String,
    _ subject: String,
    _ provider: String,
    _ count: Int
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pages = try binary.run("explain", "--list", "--json").records
    let names = words.split { $0 == " " || $0 == "\n" }.map(String.init)
    #expect(names.count == count)
    for name in names {
      let found = pages.filter { page in
        page.text("subject") == subject && (page.text("provider") ?? "") == provider
          && [page.text("code"), page.text("provider_error")].contains(name)
      }
      #expect(found.count == 1, "\(name)")
      let page = try #require(found.first)
      #expect(page.text("meaning")?.isEmpty == false && page.text("source")?.isEmpty == false)
      // A page that only repeats its name explains nothing.
      let plain = name.lowercased().replacing("_", with: " ")
      #expect(page.text("meaning")?.lowercased().hasSuffix(": " + plain) == false, "\(name)")
      // An approval is not a failure, so there is no advice.
      let approvals: Set = ["00", "08", "10", "11", "16"]
      guard subject != "status", !approvals.contains(name) else { continue }
      for member in ["side", "retry", "tell_payer", "quote", "advice"] {
        #expect(page.text(member)?.isEmpty == false, "\(name) \(member)")
      }
    }
  }

  /// Of several meanings, one may be no failure: its payer would hear that nothing was taken.
  @Test(
    arguments: [("unknown", false), ("20", false), ("51", true), ("insufficient_funds", true)]
  )
  func `has words for the payer where each meaning has them`(
    _ word: String,
    _ tells: Bool
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pages = try binary.run("explain", word, "--json").records
    #expect(!pages.isEmpty)
    #expect(pages.contains { $0.text("tell_payer") != nil } == tells)
  }

  @Test(arguments: [("YEN", "JPY"), ("euro", "EUR"), ("£", "GBP"), ("rmb", "CNY"), ("USS", "USD")])
  func `names the currency that is meant`(_ typed: String, _ code: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let words = ["transact", "--amount", "5", "--test-card", "visa", "--currency", typed, "--json"]
    let hint = try binary.run(words).errorRecord["error"]?["hint"]?.text
    #expect(hint == "did you mean \(code)?")
  }

  /// The page of a word would be read as the end of the payment.
  @Test func `a payment with the name of a word is explained alone`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference", "51", "--json"]
    #expect(try binary.run(pay).status == 0)
    let explained = try binary.run("explain", "51", "--json")
    #expect(explained.records.map { $0.text("record") } == ["journal_entry"], "\(explained.output)")
    #expect(explained.errors.contains("'51' is also a word of a record"))
  }

  @Test func `keeps to the provider that is named`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for words in [["--list"], ["insufficient_funds"]] {
      let pages = try binary.run(["explain", "--provider", "truelayer", "--json"] + words).records
      #expect(!pages.isEmpty)
      #expect(pages.allSatisfy { ["truelayer", nil].contains($0.text("provider")) })
    }
    let pay = ["transact", "--amount", "1.93", "--test-card", "visa", "--reference", "A", "--json"]
    #expect(try binary.run(pay).status == 3)
    #expect(try binary.run("explain", "A", "--provider", "toro", "--json").status == 5)
    #expect(try binary.run("explain", "A", "--provider", "paytheory", "--json").status == 0)
  }

  @Test func `names a source for every page`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for page in try binary.run("explain", "--json").records {
      #expect(page.text("source")?.isEmpty == false)
      #expect(page.text("meaning")?.contains("|") == false)
    }
  }

  private static let bank = [
    "transact", "--provider", "truelayer", "--amount", "10", "--beneficiary-name", "Ben",
    "--sort-code", "56-00-29", "--account-number", "26207729", "--user", "name=Remi", "--user",
    "email=remi@example.com", "--bank", "mock-payments-gb-redirect", "--no-input", "--json",
  ]

  @Test(arguments: [
    (
      ["transact", "--amount", "1.93", "--test-card", "visa", "--json"],
      ["insufficient_funds error paytheory"], "the account has insufficient funds"
    ),
    (
      bank + ["--sim-scenario", "bank:failed:insufficient_funds"],
      ["generic_declined error truelayer", "insufficient_funds failure reason truelayer"],
      "the account has insufficient funds"
    ),
    (
      ["transact", "--provider", "toro", "--amount", "90.51", "--no-input", "--json"],
      ["acquirer_declined error toro", "51 response code toro"], "insufficient funds"
    ),
  ])
  func `says why a payment failed with one sentence everywhere`(
    _ words: [String],
    _ pages: [String],
    _ sentence: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let paid = try binary.run(words + ["--reference", "A"])
    #expect(paid.status == 3, "\(paid.output)")
    #expect(paid.record["error"]?["explanation"]?.text == sentence)
    let explained = try binary.run("explain", "A", "--json").records
    #expect(
      explained.dropFirst().map { page in
        ["code", "subject", "provider"].compactMap { page[$0]?.text }.joined(separator: " ")
      } == pages
    )
    let says = try binary.run("find", "--json").record.text("says")
    #expect(says?.hasSuffix(" declined: \(sentence)") == true)
    let table = try binary.run("payment-status", "A", "A", "-o", "table").output
    #expect(table.contains(sentence))
    let shown = try binary.run("journal", "show", "A", "--json").record
    #expect(shown["error"]?["explanation"]?.text == sentence)
  }

  @Test func `reports the same sentence to JUnit`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try Works.write(
      [#"{"command":"transact","reference":"A","amount":"1.93","test_card":"visa"}"#],
      binary
    )
    let report = binary.home.appending(path: "report.xml")
    _ = try binary.run("batch", file, "--junit", report.path, "--json")
    let text = try String(contentsOf: report, encoding: .utf8)
    #expect(text.contains("line 1, exit 3: the account has insufficient funds"))
  }

  /// Every member of every result that the simulator gives has its page.
  @Test(arguments: [
    ("paytheory", ["transact", "--amount", "5", "--test-card", "visa", "--json"]),
    (
      "paytheory", ["transact", "--amount", "5", "--test-card", "visa", "--confirmation", "--json"]
    ),
    ("paytheory", ["transact", "--amount", "1.93", "--test-card", "visa", "--json"]),
    ("paytheory", ["tokenize", "--test-card", "visa", "--json"]),
    ("toro", ["transact", "--provider", "toro", "--amount", "5", "--no-input", "--json"]),
    ("toro", ["transact", "--provider", "toro", "--amount", "90.51", "--no-input", "--json"]),
    ("truelayer", bank + ["--sim-scenario", "bank:failed:insufficient_funds"]),
    ("truelayer", bank + ["--sim-scenario", "bank:execute"]),
  ])
  func `explains each member of a result`(_ provider: String, _ words: [String]) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let record = try binary.run(words).record
    let result = try #require(record["result"]?.object)
    #expect(!result.members.isEmpty)
    let schema = try binary.run("schema", "payment", "--json").record
    let known = try #require(schema["vocabulary"]?[provider]?["member"]?.object)
    for member in result.members {
      if let inner = member.value.object, ["body", "receipt"].contains(member.key) {
        for one in inner.members where known["\(member.key).\(one.key)"] == nil {
          Issue.record("\(member.key).\(one.key)")
        }
      } else {
        #expect(known[member.key] != nil, "\(member.key)")
      }
    }
    for name in ["type", "state"] {
      guard let word = result[name]?.text ?? result["body"]?[name]?.text, provider != "truelayer",
        record["error"] == nil
      else { continue }
      #expect(schema["vocabulary"]?[provider]?[name]?[word] != nil, "\(name) \(word)")
    }
  }

  /// The names and the fixed values in a JSON Schema.
  private static func words(in schema: JSON) -> Set<String> {
    var words = Set(schema["properties"]?.object?.members.map(\.key) ?? [])
    words.formUnion((schema["enum"]?.array ?? []).compactMap(\.text))
    if let word = schema["const"]?.text { words.insert(word) }
    for member in schema.object?.members ?? [] { words.formUnion(Self.words(in: member.value)) }
    for item in schema.array ?? [] { words.formUnion(Self.words(in: item)) }
    return words
  }

  /// The names of the members of a record, at any depth. A request has the provider's terms.
  private static func names(in record: JSON) -> Set<String> {
    var names: Set<String> = []
    for member in record.object?.members ?? [] where member.key != "request" {
      names.insert(member.key)
      names.formUnion(Self.names(in: member.value))
    }
    for item in record.array ?? [] { names.formUnion(Self.names(in: item)) }
    return names
  }

  /// The names and enumerated values in Pay Theory's published schema that a look-up asks for.
  private static func payTheoryWords() throws -> Set<String> {
    let asked = try Project.text("Sources/PayTheory/Transactions.swift")
    let fields = asked.split(separator: "static let shape").last?.prefix(
      before: "static let needed"
    )
    let names = Set((fields ?? "").split { !($0.isLetter || $0 == "_") }.map(String.init))
    let schema = try Project.text("Tests/PayTheoryTests/Schema/graphql-2026.graphql")
    var enumerations: [String: [String]] = [:]
    var types: [String: Set<String>] = [:]
    for line in schema.split(separator: "\n") {
      let words = line.split { " {}:!()[],".contains($0) }.map(String.init)
      if line.hasPrefix("enum ") { enumerations[words[1]] = Array(words.dropFirst(2)) }
      guard
        line.hasPrefix("type Transaction ") || line.hasPrefix("type Authorization ")
          || line.hasPrefix("type AchReturnDetails ") || line.hasPrefix("type RefundReason ")
          || line.hasPrefix("type PaymentMethodToken ") || line.hasPrefix("type Barcode ")
      else { continue }
      for (name, type) in zip(words, words.dropFirst()) where names.contains(name) {
        types[name, default: []].insert(type)
      }
    }
    var found = Set(types.keys)
    for type in types.values.joined() { found.formUnion(enumerations[type] ?? []) }
    return found
  }

  /// The statuses, reasons and next actions in TrueLayer's published document.
  private static func trueLayerWords() throws -> Set<String> {
    let text = try Project.text("Tests/TrueLayerTests/Schema/payments-api-v3.json")
    let schemas = JSONReader.read(text)?["components"]?["schemas"]?.object?.members ?? []
    var found: Set<String> = []
    func walk(_ value: JSON, _ names: Set<String>) {
      for member in value.object?.members ?? [] {
        if names.contains(member.key) {
          found.formUnion((member.value["enum"]?.array ?? []).compactMap(\.text))
        }
        walk(member.value, names)
      }
      for item in value.array ?? [] { walk(item, names) }
    }
    for schema in schemas {
      let name = schema.key
      if name.hasPrefix("Payment") || name.hasPrefix("Mandate") || name.hasPrefix("Refund") {
        walk(schema.value, ["status", "failure_stage", "failure_reason", "reversal_reason"])
      }
      let isShown = name.hasPrefix("PaymentDestination") && name.hasSuffix("Response")
      if name.hasPrefix("ActionSpec") || isShown { walk(schema.value, ["type"]) }
    }
    return found
  }

  @Test func `knows the words of the published schemas`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pages = try binary.run("explain", "--list", "--json").records
    let known = pages.flatMap { page in
      [page.text("code") ?? "", page.text("provider_error") ?? ""].flatMap { code in
        [code, code.split(separator: ".").last.map(String.init) ?? ""]
      }
    }
    let (payTheory, trueLayer) = (try Self.payTheoryWords(), try Self.trueLayerWords())
    #expect(payTheory.count > 50 && trueLayer.count > 20)
    #expect(payTheory.subtracting(known) == [])
    #expect(trueLayer.subtracting(known) == [])
    // Nacha's reasons of a return.
    let reasons = (1...39).map { "R" + String(100 + $0).dropFirst() }
    #expect(Set(reasons).subtracting(known) == [])
    for word in ["R01", "INQUIRY", "dispute_status", "return_code", "CUSTOM_FEE", "corrected"] {
      let page = try binary.run("explain", word, "--json")
      #expect(page.status == 0, "\(word)")
      #expect(page.records.first?.text("meaning")?.isEmpty == false)
    }
  }

  @Test func `knows every word that a record can hold`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    var words = Set(
      Status.allCases.map(\.rawValue) + Operation.Kind.allCases.map(\.rawValue)
        + Operation.State.Name.allCases.map(\.rawValue) + Env.allCases.map(\.rawValue)
        + Operation.Source.allCases.map(\.rawValue) + Record.Kind.allCases.map(\.rawValue)
    )
    for record in try binary.run("schema", "--json").records {
      words.formUnion(Self.words(in: record["json_schema"] ?? [:]))
    }
    #expect(words.count > 200)
    // Commands can print members that no schema lists.
    for line in Self.commands {
      let run = try binary.run(line.split(separator: " ").map(String.init) + ["--json"])
      for record in run.records {
        words.formUnion(Self.names(in: .object(record)))
        for name in ["status", "provider_status"] {
          if let word = record.text(name) { words.insert(word) }
        }
      }
    }
    let known = try binary.run("explain", "--list", "--json").records.flatMap { page in
      let code = page.text("code") ?? ""
      return [code, code.split(separator: ".").last.map(String.init) ?? ""]
    }
    let unknown = words.subtracting(known)
    #expect(unknown == [], "\(unknown.count) of \(words.count)")
  }

  /// Commands whose records have every member that a provider fills in.
  private static let commands = [
    "transact --amount 10.50 --test-card visa --reference A",
    "transact --amount 10.50 --test-card visa --reference A",
    "refund A --amount 1",
    "transact --amount 5 --test-card visa --hold --reference B", "confirm B",
    "transact --amount 5 --test-account success --reference C",
    "tokenize --test-card visa --reference T",
    "transact --amount 1.93 --test-card visa --reference D",
    "payment-status A B C D", "find", "find --online", "journal show A", "journal verify",
    "transact --provider toro --amount 12.50 --reference S --events", "payment-status S",
    "transact --provider toro --amount 90.51 --reference U", "refund S",
    "transact --provider truelayer --amount 10 --beneficiary-name Ben --sort-code 56-00-29 "
      + "--account-number 26207729 --user name=Remi --user email=remi@example.com "
      + "--bank mock-payments-gb-redirect --reference P",
    "payment-status P", "transact --dry-run --amount 5 --test-card visa --reference E",
    "explain declined", "providers", "config show", "doctor", "version", "simulator scenarios",
  ]

  @Test func `help and the manual have the same words`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let help = try ["paytheory-words", "toro", "truelayer"].map {
      try binary.run("help", $0).output
    }
    .joined()
    for word in ["PT_CONFIRMATION", "body.first_six", "attempt_failed", "receipt.authCode"] {
      #expect(help.contains("  \(word): "))
      #expect(try binary.run("explain", word, "--json").status == 0)
    }
    let manual = try String(contentsOfFile: Project.path("man/tender-jsonl.5"), encoding: .utf8)
    #expect(manual.contains("receipt.authCode"))
    for alias in ["formatting", "exit-codes", "journal", "config", "providers"] {
      #expect(try binary.run("help", alias).status == 0, "\(alias)")
    }
  }

  @Test func `starts on one screen of 24 lines`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = try binary.run().output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 24)
    #expect(lines.allSatisfy { $0.count <= 80 })
    let full = try binary.run("help").output
    for command in ["transact", "journal resume", "simulator scenarios", "version"] {
      #expect(full.contains("\n  \(command) "))
    }
    #expect(try binary.run("--help").output == full)
  }

  @Test(arguments: [
    ("tr a-z A-Z", "COMMANDS:"), ("/no/such/pager", "Commands:"), ("cat", "Commands:"),
  ])
  func `shows long help through the pager, and without one plainly`(
    _ pager: String,
    _ shown: String
  ) throws {
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["PAGER"] = pager
    #expect(try binary.onTerminal(["help"], []).screen.contains(shown))
  }
}
