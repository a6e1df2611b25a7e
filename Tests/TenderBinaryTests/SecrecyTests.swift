import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// No file of a run contains a card number, security code, account number, key or token.
@Suite struct SecrecyTests {
  /// Ids on standard input have the same guard as arguments.
  @Test(arguments: [
    "4000056655665556", "id-4000 0566 5566 5556", "4000\u{a0}0566\u{a0}5566\u{a0}5556",
  ])
  func `stops card numbers on standard input`(_ id: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run("payment-status", "-", "--json", input: id + "\n")
    #expect(result.status == 2)
    #expect((result.output + result.errors).contains("card_number_on_standard_input"))
    #expect(!(result.output + result.errors).contains("5556"))
  }

  static let card = "5555555555554444"
  static let account = "000123456789"
  static let secret = "sk-live-very-secret-4711"

  static let instrument = """
    {"type":"card","number":"5555 5555 5555 4444","security_code":"987","expiration":"12/49",
    "name":"Ada","address":{"postal_code":"45209","country":"US"}}
    """
  static let bank = """
    {"type":"ach","name":"Ada","account_number":"000123456789","account_type":"SAVINGS",
    "routing_number":"122105278"}
    """

  @Test func `leaves none behind, whatever happens`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["TENDER_PAYTHEORY_SECRET_KEY"] = Self.secret
    let trace = binary.home.appending(path: "trace").path
    var shown = ""
    var number = 0
    func take(_ arguments: [String], _ input: String? = nil) throws {
      for form in ["jsonl", "table"] {
        number += 1
        var words = arguments + ["--output", form, "--verbose", "--trace", trace]
        if arguments[0] == "transact" || arguments[0] == "tokenize" {
          words += ["--reference", "R\(number)", "--events"]
        }
        let result = try binary.run(words, input: input)
        shown += result.output + result.errors
      }
    }
    for input in [Self.instrument, Self.bank] {
      let pay = ["transact", "--amount", "10.50", "--instrument-stdin"]
      try take(pay, input)
      try take(pay + ["--confirmation"], input)
      try take(pay + ["--dry-run"], input)
      try take(["tokenize", "--instrument-stdin"], input)
      for fault in [
        "token:garbage", "host-token:error", "part1:garbage", "part2:wrong-key",
        "part2:silence-after",
        "part1:gateway-error", "part1:echo", "host-token:echo", "part2:echo",
      ] { try take(pay + ["--sim-fault", fault], input) }
      try take(["transact", "--amount", "1.93", "--instrument-stdin"], input)
      // Wrong texts that an error message might quote.
      for (good, bad) in [
        ("12/49", "13/49"), ("4444", "4445"), ("987", "98"), ("122105278", "122105279"),
      ] {
        try take(pay, input.replacing(good, with: bad))
      }
      try take(pay, input + "x")
    }
    try take(["confirm", "R3"])
    try take(["cancel", "R5"])
    try take(["payment-status", "R1", "--sim-fault", "graphql:echo"])
    try take(["cancel", "R1", "--sim-fault", "graphql:echo"])
    try take(["tokenize", "--instrument-stdin", "--sim-fault", "tokenize:echo"], Self.instrument)
    try take(["payment-status", "R1", "R2", "nothing"])
    try take(["journal", "list"])
    try take(["journal", "show", "R1"])
    try take(["config", "show"])
    let files = try binary.everyByte()
    #expect(files.contains { $0.file == "journal.db" })
    #expect(files.contains { $0.file == "trace" })
    #expect(number > 40)
    for wanted in [Self.card, "5555 5555 5555 4444", Self.account, Self.secret, "eyJhbGci"] {
      #expect(!shown.contains(wanted), "\(wanted) was printed")
      for (file, bytes) in files {
        #expect(bytes.range(of: Data(wanted.utf8)) == nil, "\(wanted) is in \(file)")
      }
    }
    #expect(!shown.contains("\"987\"") && !shown.contains(" 987 "))
  }

  @Test func `takes no card number as an argument, and never echoes it`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for words in [
      ["confirm", Self.card], ["transact", "--reference", Self.card],
      ["transact", "--metadata", "pan=" + Self.card, "--json"], [Self.card],
    ] {
      let result = try binary.run(words)
      #expect(result.status == 2)
      #expect(result.output == "")
      #expect(!result.errors.contains(Self.card))
      #expect(result.errorRecord["error"]?["code"] == "card_number_on_command_line")
    }
    let vouched = try binary.run("payment-status", "--id", Self.card, "--json")
    #expect(vouched.status == 5)
  }

  /// A key of any provider, from a variable, the profile or a file, in any option.
  @Test(arguments: [
    ["transact", "--amount", "5", "--test-card", "visa", "--reference", "KEY"],
    ["transact", "--amount", "5", "--test-card", "visa", "--metadata", "note=is KEY here"],
    ["transact", "--provider", "toro", "--amount", "5", "--additional", "a=KEY"],
    ["journal", "show", "KEY"],
  ])
  func `takes no configured key as an argument, and never echoes it`(_ words: [String]) throws {
    var binary = try Binary()
    defer { binary.remove() }
    let key = "tender-paytheorylab-0f1e2d3c4b5a"
    let file = binary.home.appending(path: "key")
    try Data(key.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    let config = binary.home.appending(path: "config.json")
    for variables in [
      ["TENDER_TORO_API_KEY": key], ["TENDER_TRUELAYER_CLIENT_SECRET": key],
      ["TENDER_PAYTHEORY_API_KEY": key], ["TENDER_CONFIG": config.path, "OWN": key],
      ["TENDER_PAYTHEORY_API_KEY_FILE": file.path, "TENDER_TORO_API_KEY_FILE": file.path],
    ] {
      if variables.count == 2, words[0] == "journal", variables["OWN"] == nil { continue }
      let text =
        #"{"schema":1,"default_profile":"a","profiles":{"a":{"toro":{"api_key_env":"OWN"}}}}"#
      try Data(text.utf8).write(to: config)
      binary.variables = variables
      let typed = words.map { $0.replacing("KEY", with: key) }
      let result = try binary.run(typed + ["--json"])
      #expect(result.status == 2, "\(variables.keys) \(result.output)")
      #expect(result.output == "")
      #expect(!result.errors.contains(key))
      #expect(result.errorRecord["error"]?["code"] == "secret_on_command_line")
      let option = words.last { $0.hasPrefix("--") } ?? "an operand"
      let message = result.errorRecord["error"]?["message"]?.text ?? ""
      #expect(message.hasPrefix(option + " contains a configured key"), "\(message)")
      for (name, bytes) in try binary.everyByte() where !["key", "config.json"].contains(name) {
        #expect(bytes.range(of: Data(key.utf8)) == nil, "\(name)")
      }
    }
  }

  @Test func `keeps its files to their owner`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    _ = try binary.run("transact", "--amount", "1", "--test-card", "visa", "--reference", "A")
    let state = binary.home.appending(path: ".local/state/tender")
    let folder = try FileManager.default.attributesOfItem(atPath: state.path)
    #expect(folder[.posixPermissions] as? Int == 0o700)
    for file in try FileManager.default.contentsOfDirectory(atPath: state.path) {
      let path = state.appending(path: file).path
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600, "\(file)")
    }
  }
}
