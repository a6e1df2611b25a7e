import Foundation
import TenderCommandLine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Exit status, one JSON line for an error, and no partial work.
@Suite struct UsageTests {
  struct Case: CustomTestStringConvertible {
    let line: String
    let status: Int32
    let code: String
    var variables: [String: String] = [:]

    var testDescription: String { line + (variables.isEmpty ? "" : " \(variables)") }
  }

  static let pay = "transact --amount 5 --test-card visa"
  static let bases = [
    "TENDER_PAYTHEORY_TOKEN_URL": "http://127.0.0.1:1",
    "TENDER_PAYTHEORY_SOCKET_URL": "ws://127.0.0.1:1",
    "TENDER_PAYTHEORY_GRAPHQL_URL": "http://127.0.0.1:1",
  ]
  static let lab = "acme-paytheorylab-00112233445566778899aabbccddeeff"

  static let ignored = [
    ("paytheory", "--currency=USD"), ("paytheory", "--idempotency-key=x"),
    ("toro", "--amount=4"), ("toro", "--amount-minor=400"), ("toro", "--currency=USD"),
    ("toro", "--idempotency-key=x"),
  ]

  @Test(arguments: ignored)
  func `undoes nothing where an amount would be ignored`(
    _ provider: String,
    _ option: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let sale = ["transact", "--provider", provider, "--amount", "10", "--reference", "A"]
    let card = provider == "toro" ? [] : ["--test-card", "visa"]
    #expect(try binary.run(sale + card + ["--no-input"]).status == 0)
    let cancelled = try binary.run("cancel", "A", option, "--json")
    #expect(cancelled.status == 2)
    #expect(cancelled.errorRecord["error"]?["code"] == "bad_options")
    let left = try binary.run("journal", "list", "--json").record
    #expect(left.text("status") == "succeeded")
  }

  @Test func `says what giving a part back would do, and does it once`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --amount 10 --test-card visa --reference A --json".split(separator: " ")
    #expect(try binary.run(pay.map(String.init)).status == 0)
    let plan = try binary.run("cancel", "A", "--amount", "4", "--dry-run", "--json")
    #expect(plan.status == 0)
    #expect(plan.record["request"]?["plan"] == "refund")
    #expect(plan.record["request"]?["amount"] == 400)
    let path = binary.home.appending(path: ".local/state/tender/simulator.db").path
    #expect(try LedgerAudit.refunded(path: path, reference: "A") == 0)
    for words in [
      ["--amount", "0"], ["--amount", "4.001"], ["--amount", "4", "--currency", "EUR"],
    ] {
      #expect(try binary.run(["cancel", "A", "--json"] + words).status == 2, "\(words)")
    }
    #expect(try binary.run("cancel", "A", "--amount", "10.01", "--json").status == 6)
    for replayed in [false, true] {
      let part = try binary.run("cancel", "A", "--amount", "4", "--currency", "USD", "--json")
      #expect(part.status == 0)
      #expect(part.record.text("status") == "partially_refunded")
      #expect(part.record["replayed"]?.truth == replayed)
      #expect(part.record["result"]?["reversal"]?["is_void"] == false)
    }
    #expect(try LedgerAudit.refunded(path: path, reference: "A") == 400)
    // Without an amount, it would refund the whole rest, and does not stop the refund.
    let stopping = try binary.run("cancel", "A", "--json")
    #expect(stopping.status == 6)
    #expect(stopping.errorRecord["error"]?["code"] == "refund_not_stopped")
    #expect(try LedgerAudit.refunded(path: path, reference: "A") == 400)
    for replayed in [false, true] {
      let rest = try binary.run("refund", "A", "--rest", "--json")
      #expect(rest.status == 0)
      #expect(rest.record.text("status") == "refunded")
      #expect(rest.record["replayed"]?.truth == replayed)
    }
    #expect(try LedgerAudit.refunded(path: path, reference: "A") == 1000)
    // A hold can only be released as a whole.
    let hold = "transact --amount 10 --test-card visa --confirmation --reference H --json"
    #expect(try binary.run(hold.split(separator: " ").map(String.init)).status == 0)
    #expect(try binary.run("cancel", "H", "--amount", "4", "--json").status == 6)
    #expect(
      try binary.run("payment-status", "H", "--json").record.text("status")
        == "requires_confirmation"
    )
  }

  @Test func `refuses arguments that are not UTF-8`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    // Two names that would be equal after a repair.
    for byte in ["374", "366"] {
      for words in [
        "transact --amount 5 --test-card visa --reference", "payment-status", "explain",
      ] {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = [
          "-c", #"exec "$0" \#(words) "$(printf 'M\\#(byte)ller')""#, Binary.path.path,
        ]
        shell.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
        let errors = Pipe()
        shell.standardError = errors
        shell.standardOutput = FileHandle.nullDevice
        try shell.run()
        let said = String(
          decoding: errors.fileHandleForReading.readDataToEndOfFile(),
          as: UTF8.self
        )
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 2, "\(words)")
        #expect(said.contains("is not UTF-8: 'M\u{fffd}ller'"), "\(said)")
      }
    }
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
  }

  @Test(arguments: [
    Case(line: "transact --test-card visa", status: 2, code: "missing_option"),
    Case(line: "transact --amount 10.505 --test-card visa", status: 2, code: "bad_amount"),
    Case(line: "transact --amount 0 --test-card visa", status: 2, code: "bad_amount"),
    Case(
      line: "transact --amount 5 --amount-minor 500 --test-card visa",
      status: 2,
      code: "bad_options"
    ),
    Case(
      line: "transact --amount 5 --currency EUR --test-card visa",
      status: 2,
      code: "bad_currency"
    ),
    Case(line: "transact --amount 5 --currency YEN", status: 2, code: "bad_currency"),
    Case(line: "transact --amount 5 --test-card visa --token x", status: 2, code: "bad_options"),
    Case(line: "transact --amount 5 --no-input", status: 17, code: "no_instrument"),
    Case(line: "transact --amount 5", status: 17, code: "no_instrument"),
    Case(line: pay + " --fee 1", status: 2, code: "bad_options"),
    Case(line: pay + " --fee-mode service_fee", status: 2, code: "bad_options"),
    Case(line: pay + " --payor email=x", status: 2, code: "bad_value"),
    Case(line: pay + " --payor colour=x", status: 2, code: "bad_value"),
    Case(line: pay + " --payor email=a@b.c --payor-id 1", status: 2, code: "bad_options"),
    Case(line: pay + " --reference a\u{7}b", status: 2, code: "bad_reference"),
    Case(line: pay + " --sim-fault part3:x", status: 2, code: "bad_value"),
    Case(line: pay + " --timeout 5x", status: 2, code: "bad_value"),
    Case(line: pay + " --fields nothing", status: 2, code: "bad_value"),
    Case(line: pay + " --fields ,", status: 2, code: "bad_value"),
    Case(line: "help transact --amount 5", status: 2, code: "unknown_option"),
    Case(line: "help --wait", status: 2, code: "unknown_option"),
    Case(line: "version --fields version", status: 2, code: "unknown_option"),
    Case(line: "version --state-dir x", status: 2, code: "unknown_option"),
    Case(line: "simulator reset --provider toro --yes", status: 2, code: "unknown_option"),
    Case(line: pay + " --provider toro", status: 2, code: "bad_options"),
    Case(line: pay + " --provider paytheory --env sandbox", status: 4, code: "credentials_missing"),
    Case(line: pay + " --env live", status: 2, code: "missing_option"),
    Case(
      line: pay + " --provider paytheory --env live",
      status: 2,
      code: "stage_mismatch",
      variables: ["TENDER_PAYTHEORY_API_KEY": lab]
    ),
    Case(
      line: pay + " --provider paytheory --env sandbox --sim-seed 1",
      status: 2,
      code: "bad_options",
      variables: ["TENDER_PAYTHEORY_API_KEY": lab]
    ),
    Case(
      line: "payment-status x --provider paytheory --env sandbox",
      status: 4,
      code: "credentials_missing",
      variables: ["TENDER_PAYTHEORY_API_KEY": lab]
    ),
    Case(line: "confirm NEVER", status: 5, code: "payment_not_found"),
    Case(line: "cancel NEVER", status: 5, code: "payment_not_found"),
    Case(line: "confirm", status: 2, code: "bad_operand"),
    Case(line: "payment-status - -", status: 2, code: "bad_operand"),
    Case(
      line: "payment-status - --provider truelayer --resource-token-file -",
      status: 2,
      code: "bad_operand"
    ),
    Case(
      line: "transact --amount 5 --provider truelayer --resource-token-file - --form-file -",
      status: 2,
      code: "bad_operand"
    ),
    Case(line: "mandate-status M", status: 5, code: "mandate_not_found"),
    Case(line: "mandate-status M --provider paytheory", status: 15, code: "mandates_unsupported"),
    Case(line: "explain nonsense", status: 5, code: "code_not_found"),
    Case(line: "journal prune", status: 2, code: "missing_option"),
    Case(line: "journal prune --before tomorrow", status: 2, code: "bad_value"),
    Case(line: "journal show NEVER", status: 5, code: "payment_not_found"),
    Case(line: pay, status: 10, code: "no_token_unreachable", variables: bases),
    Case(
      line: pay,
      status: 2,
      code: "bad_address",
      variables: ["TENDER_PAYTHEORY_TOKEN_URL": "http://127.0.0.1:1"]
    ),
    Case(
      line: pay,
      status: 2,
      code: "bad_address",
      variables: bases.merging(["TENDER_PAYTHEORY_TOKEN_URL": "http://example.com"]) { $1 }
    ),
    Case(
      line: pay,
      status: 2,
      code: "bad_credential",
      variables: ["TENDER_PAYTHEORY_API_KEY": lab, "TENDER_PAYTHEORY_API_KEY_FILE": "/dev/null"]
    ),
  ])
  func `ends with its status, one JSON line and nothing on standard output`(_ example: Case) throws
  {
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = example.variables
    let words = example.line.split(separator: " ").map(String.init)
    let result = try binary.run(words + ["--quiet"])
    #expect(result.status == example.status, "\(result.errors)")
    #expect(result.output == "")
    #expect(result.errors.split(separator: "\n").count == 1)
    #expect(result.errorRecord["error"]?["code"] == .string(example.code))
    #expect(result.errorRecord["error"]?["exit"] == .integer(Int(example.status)))
    #expect(result.errorRecord["error"]?["effect"] == "none")
    let table = try binary.run(words + ["--output", "table", "--quiet"])
    #expect(table.status == example.status)
    #expect(table.errors.split(separator: "\n").count <= 3)
    #expect(table.errors.hasPrefix("tender: "))
  }

  @Test func `shows help, topics and versions on standard output`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for words in [
      [], ["help"], ["--help"], ["help", "transact"], ["transact", "-h"],
      ["help", "exit-status"], ["completion", "bash"], ["--version"], ["providers"], ["schema"],
      ["simulator", "scenarios"], ["explain"], ["config", "show"], ["config", "check"],
    ] {
      let result = try binary.run(words)
      #expect(result.status == 0, "\(words): \(result.errors)")
      #expect(!result.output.isEmpty, "\(words)")
      #expect(result.errors == "", "\(words)")
    }
    #expect(try binary.run("--version").output == "tender \(Catalogue.version)\n")
  }

  @Test func `refuses a configuration that is wrong or open`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let path = binary.home.appending(path: "c.json")
    func check(_ text: String, mode: Int = 0o600) throws -> Binary.Result {
      try text.write(to: path, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path.path)
      return try binary.run("config", "check", "--config", path.path, "--json")
    }
    #expect(try check(#"{"schema":1,"profiles":{"a":{"provider":"paytheory"}}}"#).status == 0)
    let typo = try check(#"{"schema":1,"profiles":{"a":{"provder":"paytheory"}}}"#)
    #expect(typo.status == 2)
    #expect(typo.errorRecord["error"]?["hint"] == "did you mean provider?")
    let secret = #"{"schema":1,"profiles":{"a":{"paytheory":{"secret_key":"x"}}}}"#
    #expect(try check(secret).status == 0)
    let open = try check(secret, mode: 0o644)
    #expect(open.status == 2)
    #expect(open.errorRecord["error"]?["code"] == "file_too_open")
    #expect(try check("[]").status == 2)
    #expect(try check(#"{"default_profile":"b","profiles":{}}"#).status == 2)
  }

  @Test func `refuses writes on a read-only profile, and live writes without a yes`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    let path = binary.home.appending(path: "c.json")
    try """
    {"profiles":{"ro":{"provider":"paytheory","mode":"read-only"},
    "live":{"provider":"paytheory","env":"live"}}}
    """.write(to: path, atomically: true, encoding: .utf8)
    binary.variables = [
      "TENDER_CONFIG": path.path, "TENDER_PAYTHEORY_SECRET_KEY": "s",
      "TENDER_PAYTHEORY_MERCHANT_UID": "u",
    ]
    let words = ["transact", "--amount", "5", "--token", "pt_pmt_1", "--json"]
    #expect(try binary.run(words + ["--profile", "ro"]).status == 17)
    #expect(try binary.run("journal", "migrate", "--profile", "ro").status == 17)
    binary.variables["TENDER_PAYTHEORY_API_KEY"] =
      "acme-paytheory-00112233445566778899aabbccddeeff"
    let unnamed = try binary.run(words + ["--profile", "live", "--yes"])
    #expect(unnamed.status == 17)
    #expect(unnamed.errorRecord["error"]?["code"] == "live_not_named")
    let unconfirmed = try binary.run(words + ["--provider", "paytheory", "--env", "live"])
    #expect(unconfirmed.status == 17)
    let card = try binary.run(
      "transact",
      "--amount",
      "5",
      "--instrument-stdin",
      "--provider",
      "paytheory",
      "--env",
      "live",
      "--yes",
      "--json",
      input: "{}"
    )
    #expect(card.status == 4)
    #expect(card.errorRecord["error"]?["code"] == "invalid_app")
  }

  @Test(arguments: [
    "card", "idempotency", "read-only", "support", "upgrade", "uninstall", "keys", "exit", "retry",
    "credentials", "secrets", "signing-key",
  ])
  func `help finds a topic by the words that people look for`(_ word: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try binary.run("help", word).status == 0)
  }

  @Test func `a read-only profile lets a dry run through, and keeps the simulated world`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    let path = binary.home.appending(path: "c.json")
    try #"{"profiles":{"ro":{"provider":"paytheory","mode":"read-only"}}}"#
      .write(to: path, atomically: true, encoding: .utf8)
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference", "A", "--json"]
    #expect(try binary.run(pay).status == 0)
    binary.variables = ["TENDER_CONFIG": path.path, "TENDER_PROFILE": "ro"]
    let dry = try binary.run("refund", "A", "--dry-run", "--json")
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(dry.record["record"] == "request")
    for words in [["refund", "A"], ["simulator", "reset"]] {
      let refused = try binary.run(words + ["--json"])
      #expect(refused.status == 17)
      #expect(refused.errorRecord["error"]?["code"] == "read_only")
    }
    binary.variables = [:]
    #expect(try binary.run("payment-status", "A", "--json").record["status"] == "succeeded")
  }

  /// A line may name any profile. A read-only batch pays with none.
  @Test(arguments: [[], ["--check"]])
  func `no line of a read-only batch writes`(_ check: [String]) throws {
    var binary = try Binary()
    defer { binary.remove() }
    let path = binary.home.appending(path: "c.json")
    try #"{"profiles":{"ro":{"mode":"read-only"},"w":{"provider":"paytheory"}}}"#
      .write(to: path, atomically: true, encoding: .utf8)
    binary.variables = ["TENDER_CONFIG": path.path]
    let line =
      #"{"command":"transact","profile":"w","amount":"5","test_card":"visa","reference":"A"}"#
    let result = try binary.run(["batch", "-", "--profile", "ro", "--json"] + check, input: line)
    #expect(result.status == 14, "\(result.output)")
    #expect(result.records.first?["error"]?["code"] == "read_only")
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
  }

  @Test func `looks several up, each in its place`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for reference in ["A", "B"] {
      _ = try binary.run(
        "transact",
        "--amount",
        "5",
        "--test-card",
        "visa",
        "--reference",
        reference
      )
    }
    let result = try binary.run(["payment-status", "A", "-", "--json"], input: "NEVER\n\nB\r\n")
    #expect(result.status == 14)
    #expect(result.records.map { $0.text("record") } == ["payment", "error", "payment"])
    #expect(result.records.map { $0["line"]?.wholeNumber } == [1, 2, 3])
    #expect(result.errors == "")
    #expect(try binary.run("payment-status", "A", "B", "--json").status == 0)
    let one = try binary.run(["payment-status", "-", "--json"], input: "NEVER")
    #expect(one.status == 5)
    #expect(one.output == "")
    #expect(one.errorRecord["error"]?["code"] == "payment_not_found")
  }

  @Test func `leaves everything as it is on a dry run`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run(
      "transact",
      "--amount",
      "5",
      "--test-card",
      "visa",
      "--reference",
      "A",
      "--dry-run",
      "--json"
    )
    #expect(result.status == 0)
    #expect(result.record.text("record") == "request")
    #expect(result.record["request"]?["payload"]?["payment_method_data"]?["number"] == "[redacted]")
    let paid = try binary.run(
      "transact",
      "--amount",
      "5",
      "--test-card",
      "visa",
      "--reference",
      "A",
      "--json"
    )
    #expect(paid.record["attempt"] == 1)
    #expect(paid.record["idempotency_key"] == result.record["idempotency_key"])
  }

  /// A script whose variable for the command is empty must not read help as a success.
  @Test(arguments: [
    ("--amount 10 --test-card visa --reference Q1", Int32(2)), ("--env live --yes", 2), ("", 0),
    ("--help", 0), ("--version", 0), ("--color never", 0), ("--provider toro --help", 0),
  ])
  func `options without a command are refused`(_ line: String, _ exit: Int32) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run(line.split(separator: " ").map(String.init))
    #expect(result.status == exit, "\(result.output)\(result.errors)")
    if exit == 2 { #expect(result.errors.contains("is given without a command")) }
  }
}

@Suite struct TracelessTests {
  /// A refused command line leaves no journal and no simulated world.
  @Test(
    arguments: [
      "transact --amount 5", "transact --amount 5 --instrument-file none.json",
      "transact --amount 5 --test-card visa --idempotency-key k",
      "transact --provider truelayer --amount 5", "tokenize",
      "tokenize --test-card visa --metadata-file none.json",
      "transact --provider toro --amount 5 --signature-file none.png",
      "transact --provider toro --amount 5 --additional-file none.json",
      "transact --provider toro --type refund --amount 5 --original-file none.json",
      "batch none.jsonl", "batch --csv none.csv", "simulator load none.jsonl",
      "journal import none.jsonl",
      "transact --provider truelayer --amount 5 --beneficiary-name Ben --sort-code 560029 "
        + "--account-number 26207729 --user name=Ada --user email=ada@example.com "
        + "--form-file none.json",
    ],
    ["", " --sim-seed 5"]
  )
  func `a usage error writes nothing`(_ line: String, _ seed: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let refused = try binary.run(line: line + seed)
    #expect([2, 17].contains(refused.status), "\(refused.errors)")
    let state = binary.home.appending(path: ".local/state/tender").path
    let files = (try? FileManager.default.contentsOfDirectory(atPath: state)) ?? []
    #expect(files.isEmpty, "\(line): \(files)")
  }
}
