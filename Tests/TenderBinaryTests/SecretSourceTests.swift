import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The sources of a credential: their forms, their order, and the programs that print one.
@Suite struct SecretSourceTests {
  private static let staging = "acme-paytheorystudy-00112233445566778899aabbccddeeff"
  private static let lab = "shop-paytheorylab-00112233445566778899aabbccddeeff"
  private static let unreachable = [
    "TENDER_PAYTHEORY_TOKEN_URL": "http://127.0.0.1:1",
    "TENDER_PAYTHEORY_SOCKET_URL": "ws://127.0.0.1:1",
    "TENDER_PAYTHEORY_GRAPHQL_URL": "http://127.0.0.1:1",
  ]

  private static func write(_ text: String, _ mode: Int = 0o600, to path: URL) throws {
    try text.write(to: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path.path)
  }

  /// A program with a configuration of these profiles, and a script `print` that prints a staging key.
  private func binary(_ profiles: String, script: String? = nil) throws -> Binary {
    var binary = try Binary()
    let path = binary.home.appending(path: "config.json")
    let script = script ?? "echo ran >> \(binary.home.path)/runs\necho \(Self.staging)"
    try Self.write("#!/bin/sh\n\(script)\n", 0o700, to: binary.home.appending(path: "print"))
    try Self.write(Self.staging + "\n", to: binary.home.appending(path: "key"))
    let text = #"{"profiles":{\#(profiles)}}"#.replacing("HOME", with: binary.home.path)
    try Self.write(text, to: path)
    binary.variables = ["TENDER_CONFIG": path.path]
    return binary
  }

  /// How often the script has run.
  private func runs(_ binary: Binary) -> Int {
    let text = try? String(contentsOf: binary.home.appending(path: "runs"), encoding: .utf8)
    return text?.split(separator: "\n").count ?? 0
  }

  private static let rest = #""merchant_uid":"uid-1","secret_key":"secret-of-a-merchant""#

  private static func profile(_ key: String) -> String {
    #""a":{"provider":"paytheory","env":"sandbox","paytheory":{\#(key)\#(rest)}}"#
  }

  @Test(arguments: [
    (#""api_key":"\#(staging)","#, "paytheory.api_key"),
    (#""api_key_file":"HOME/key","#, "paytheory.api_key_file"),
    (#""api_key_command":["HOME/print"],"#, "paytheory.api_key_command"),
    (#""api_key_command":["sh","-c","cat HOME/key"],"#, "paytheory.api_key_command"),
    (#""api_key_env":"STAGING_KEY","#, "paytheory.api_key_env"),
  ])
  func `reads a credential in each form, and doctor names the source`(
    _ member: String,
    _ name: String
  ) throws {
    var binary = try binary(Self.profile(member))
    defer { binary.remove() }
    binary.variables.merge(Self.unreachable) { $1 }
    binary.variables["STAGING_KEY"] = Self.staging
    let result = try binary.run("doctor", "--profile", "a", "--json", "--trace", "trace.jsonl")
    let check = try #require(result.records.first { $0.text("name") == "paytheory credentials" })
    #expect(
      check.text("detail")
        == "API key of acme, stage paytheorystudy, \(name); merchant paytheory.merchant_uid, "
        + "paytheory.secret_key"
    )
    for (file, bytes) in try binary.everyByte()
    where !["key", "config.json", "print"].contains(file) {
      #expect(!String(decoding: bytes, as: UTF8.self).contains(Self.staging), "\(file)")
    }
    #expect(!(result.output + result.errors).contains(Self.staging))
  }

  @Test func `each line of a batch is searched for the secrets of its own profile`() throws {
    func profile(_ name: String) -> String {
      #""\#(name)":{"provider":"paytheory","paytheory":{"api_key":"\#(Self.lab)","#
        + #""merchant_uid":"uid-1","secret_key":"secret-of-merchant-\#(name)"}}"#
    }
    let binary = try binary("\(profile("a")),\(profile("b"))")
    defer { binary.remove() }
    let lines = [("a", "b"), ("a", "a"), ("b", "none"), ("b", "b")].enumerated().map {
      line,
      words in
      #"{"command":"transact","reference":"R\#(line)","profile":"\#(words.0)","amount":"1","#
        + #""test_card":"visa","metadata":{"note":"secret-of-merchant-\#(words.1)"}}"#
    }
    let path = binary.home.appending(path: "lines")
    try Self.write(lines.joined(separator: "\n"), to: path)
    let result = try binary.run("batch", path.path, "--check", "--ordered", "--json")
    let codes = result.records.prefix(4).map { $0["error"]?["code"]?.text ?? "ok" }
    #expect(codes == ["ok", "secret_on_command_line", "ok", "secret_on_command_line"])
  }

  /// The source in use: that of the profile, else the variable.
  struct Order: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var inProfile = true
    var exported: String?
    var isDefault = false
    let uses: String
    let says: String
  }

  private static let both =
    "paytheory.api_key_file of profile 'a'; TENDER_PAYTHEORY_API_KEY is ignored: "
    + "the profile sets another value"

  @Test(arguments: [
    Order(testDescription: "none", inProfile: false, uses: "", says: ""),
    Order(
      testDescription: "environment",
      inProfile: false,
      exported: lab,
      uses: "shop, stage paytheorylab, TENDER_PAYTHEORY_API_KEY",
      says: "TENDER_PAYTHEORY_API_KEY"
    ),
    Order(
      testDescription: "environment, a profile by default",
      inProfile: false,
      exported: lab,
      isDefault: true,
      uses: "shop, stage paytheorylab, TENDER_PAYTHEORY_API_KEY",
      says: "TENDER_PAYTHEORY_API_KEY"
    ),
    Order(
      testDescription: "profile",
      uses: "acme, stage paytheorystudy, paytheory.api_key_file",
      says: "paytheory.api_key_file of profile 'a'"
    ),
    Order(
      testDescription: "both",
      exported: lab,
      uses: "acme, stage paytheorystudy, paytheory.api_key_file",
      says: both
    ),
    Order(
      testDescription: "both, a profile by default",
      exported: lab,
      isDefault: true,
      uses: "acme, stage paytheorystudy, paytheory.api_key_file",
      says: both
    ),
  ])
  func `takes the profile's credential before a variable`(_ order: Order) throws {
    let member = order.inProfile ? #""api_key_file":"HOME/key","# : ""
    var binary = try binary(Self.profile(member))
    defer { binary.remove() }
    binary.variables.merge(Self.unreachable) { $1 }
    binary.variables["TENDER_PAYTHEORY_API_KEY"] = order.exported
    if order.isDefault {
      let path = binary.home.appending(path: "config.json")
      let text = try String(contentsOf: path, encoding: .utf8)
      try Self.write(
        text.replacing("{\"profiles\"", with: "{\"default_profile\":\"a\",\"profiles\""),
        to: path
      )
    }
    let named = order.isDefault ? [] : ["--profile", "a"]
    let doctor = try binary.run(["doctor", "--json"] + named)
    let check = try #require(doctor.records.first { $0.text("name") == "paytheory credentials" })
    if order.uses.isEmpty {
      #expect(check["error"]?["code"] == "credentials_missing")
    } else {
      #expect(check.text("detail")?.hasPrefix("API key of \(order.uses);") == true, "\(check)")
    }
    let shown = try binary.run(["config", "show", "--json"] + named)
    let row = try #require(shown.records.first { $0.text("name") == "paytheory.api_key" })
    #expect(row.text("detail") ?? "" == order.says)
    #expect(row["value"] == (order.says.isEmpty ? "not set" : "set"))
    let origin = order.says.isEmpty ? "default" : order.inProfile ? "profile" : "environment"
    #expect(row.text("origin") == origin)
  }

  @Test func `shows which source of a setting is used`() throws {
    var binary = try binary(
      #""a":{"env":"sandbox","provider":"toro","timeout":"5s","toro":{"device":"tcp://127.0.0.1:9"}}"#
    )
    defer { binary.remove() }
    binary.variables["TENDER_ENV"] = "simulator"
    binary.variables["TENDER_TORO_DEVICE"] = "tcp://127.0.0.1:8"
    let shown = try binary.run(
      "config",
      "show",
      "--json",
      "--profile",
      "a",
      "--provider",
      "truelayer"
    ).records
    func row(_ name: String) -> [String?] {
      let row = shown.first { $0.text("name") == name } ?? [:]
      return [row.text("value"), row.text("origin"), row.text("detail")]
    }
    #expect(row("profile") == ["a", "option", "--profile"])
    #expect(
      row("env") == ["simulator", "environment", "TENDER_ENV; env of profile 'a' is ignored"]
    )
    #expect(
      row("provider") == ["truelayer", "option", "--provider; provider of profile 'a' is ignored"]
    )
    #expect(row("timeout") == ["5s", "profile", "timeout of profile 'a'"])
    #expect(row("output") == ["jsonl", "option", "--output"] || row("output")[1] == "default")
    #expect(
      row("toro.device")
        == [
          "tcp://127.0.0.1:8", "environment",
          "TENDER_TORO_DEVICE; toro.device of profile 'a' is ignored",
        ]
    )
  }

  @Test(arguments: [
    ["transact", "--amount", "5", "--test-card", "visa", "--reference", "A"],
    ["transact", "--amount", "5", "--token", "pt_pmt_1", "--reference", "A"],
    ["tokenize", "--test-card", "visa", "--reference", "A"],
    ["payment-status", "A", "--provider", "paytheory"],
    ["transact", "--amount", "5", "--token", "pt_pmt_1", "--reference", "A", "--dry-run"],
    ["doctor"],
  ])
  func `sends an exported staging key to no live host`(_ words: [String]) throws {
    var binary = try binary(
      #""a":{"provider":"paytheory","env":"live","paytheory":{\#(Self.rest)}}"#
    )
    defer { binary.remove() }
    binary.variables["TENDER_PAYTHEORY_API_KEY"] = Self.staging
    let live = ["--profile", "a", "--env", "live", "--json", "--yes"]
    let result = try binary.run(
      words + (words[0] == "doctor" ? ["--profile", "a", "--json"] : live)
    )
    if words[0] == "doctor" {
      let codes = result.records.compactMap { $0["error"]?["code"]?.text }
      #expect(codes == ["stage_mismatch", "stage_mismatch", "stage_mismatch"])
      #expect(result.status == 2)
    } else {
      #expect(result.status == 2, "\(result.errors)")
      #expect(
        ["stage_mismatch", "bad_options"].contains(result.errorRecord["error"]?["code"]?.text)
      )
    }
  }

  @Test(arguments: [
    (#"["HOME/none"]"#, "there is no program"), (#"["none"]"#, "there is no program 'none'"),
    (#"["./print"]"#, "there is no program './print'"),
    (#"["/bin/sh","-c","echo secret-word; exit 3"]"#, "the program ended with 3"),
    (#"["/bin/sh","-c","echo secret-word >&2; exit 3"]"#, "the program ended with 3"),
    (#"["/bin/sh","-c","kill -9 $$"]"#, "the program ended with 137"),
    (#"["/bin/true"]"#, "the program printed nothing"),
    (#"["/bin/sh","-c","head -c 70000 /dev/zero"]"#, "printed more than 64 KiB"),
  ])
  func `says what is wrong with a program, never what it printed`(
    _ list: String,
    _ says: String
  ) throws {
    let binary = try binary(Self.profile(#""api_key_command":\#(list),"#))
    defer { binary.remove() }
    let result = try binary.run("payment-status", "X", "--profile", "a", "--json")
    #expect(result.status == 2, "\(result.errors)")
    let message = result.errorRecord["error"]?["message"]?.text ?? ""
    #expect(message.hasPrefix("paytheory.api_key_command: "), "\(message)")
    #expect(message.contains(says), "\(message)")
    #expect(!(result.errors + result.output).contains("secret-word"))
  }

  @Test(arguments: [
    ("print", 0o720, "others can write"), ("print", 0o702, "others can write"),
    ("bin", 0o770, "can be written by others"),
  ])
  func `runs no program that others can change`(
    _ changed: String,
    _ mode: Int,
    _ says: String
  ) throws {
    let binary = try binary(Self.profile(#""api_key_command":["HOME/bin/print"],"#))
    defer { binary.remove() }
    let folder = binary.home.appending(path: "bin")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Self.write("#!/bin/sh\necho \(Self.staging)\n", 0o700, to: folder.appending(path: "print"))
    let path = changed == "bin" ? folder : folder.appending(path: changed)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path.path)
    for words in [
      ["payment-status", "X", "--profile", "a", "--json"], ["config", "check", "--json"],
    ] {
      let result = try binary.run(words)
      #expect(result.errorRecord["error"]?["code"] == "file_too_open", "\(result.errors)")
      #expect(result.errorRecord["error"]?["message"]?.text?.contains(says) == true)
    }
  }

  @Test func `gives the program no variable of this one, and none of its files`() throws {
    let script = """
      env | grep -c '^TENDER_' > HERE/seen
      ls /proc/self/fd | wc -l >> HERE/seen
      grep NoNewPrivs /proc/self/status >> HERE/seen
      echo \(Self.staging)
      """
    var binary = try binary(Self.profile(#""api_key_command":["HOME/print"],"#))
    defer { binary.remove() }
    try Self.write(
      "#!/bin/sh\n" + script.replacing("HERE", with: binary.home.path),
      0o700,
      to: binary.home.appending(path: "print")
    )
    binary.variables["TENDER_PAYTHEORY_SECRET_KEY"] = "secret-of-a-merchant"
    _ = try binary.run(
      "transact",
      "--amount",
      "5",
      "--test-card",
      "visa",
      "--dry-run",
      "--profile",
      "a"
    )
    let seen = try String(contentsOf: binary.home.appending(path: "seen"), encoding: .utf8)
    // Standard input, output and errors, and the listed folder itself.
    #expect(seen == "0\n4\nNoNewPrivs:\t0\n")
  }

  @Test func `runs a program once for a batch, and for no command that needs none`() throws {
    var binary = try binary(
      Self.profile(#""api_key_command":["HOME/print"],"#).replacing(
        "\"sandbox\"",
        with: "\"simulator\""
      )
    )
    defer { binary.remove() }
    for words in [
      ["config", "show"], ["config", "check"], ["journal", "list"], ["help", "transact"],
      ["simulator", "scenarios"], ["find", "X"],
    ] {
      _ = try binary.run(words + (words[0] == "help" ? [] : ["--profile", "a"]))
      #expect(runs(binary) == 0, "\(words)")
    }
    let lines = (1...5).map {
      #"{"command":"transact","reference":"R\#($0)","amount":"5","test_card":"visa","profile":"a"}"#
    }
    let batch = try binary.run(["batch", "-", "--json"], input: lines.joined(separator: "\n"))
    #expect(batch.status == 0, "\(batch.output)")
    #expect(runs(binary) == 1)
    binary.variables.merge(Self.unreachable) { $1 }
    _ = try binary.run("doctor", "--profile", "a")
    #expect(runs(binary) == 2)
  }

  @Test func `runs no program for a secret in a dry run`() throws {
    let binary = try binary(
      #""a":{"provider":"truelayer","truelayer":{"client_id":"c","key_id":"k","#
        + #""client_secret_command":["HOME/print"],"private_key_command":["HOME/print"]}}"#
    )
    defer { binary.remove() }
    let result = try binary.run(
      ["transact", "--amount", "5", "--reference", "A", "--dry-run", "--profile", "a", "--json"]
        + BankStory.payee + BankStory.payer + BankStory.bank
    )
    #expect(result.status == 0, "\(result.errors)")
    #expect(runs(binary) == 0)
  }

  /// The process group ends with the program: at the deadline, at a signal, and when the command is killed.
  @Test(.timeLimit(.minutes(1)), arguments: [SIGINT, SIGTERM, SIGKILL])
  func `ends the program and its group with the command`(_ number: Int32) throws {
    let binary = try binary(Self.profile(#""api_key_command":["HOME/print"],"#))
    defer { binary.remove() }
    let said = binary.home.appending(path: "said").path
    #expect(unsafe mkfifo(said, 0o600) == 0)
    try Self.write(
      "#!/bin/sh\nsleep 300 &\nexec 3> \(said)\necho started >&3\nwait\n",
      0o700,
      to: binary.home.appending(path: "print")
    )
    let (process, _, _) = try binary.start(["doctor", "--profile", "a", "--json"])
    // The pipe ends once every process that has it open is gone.
    let heard = try #require(FileHandle(forReadingAtPath: said))
    #expect(String(decoding: heard.availableData, as: UTF8.self) == "started\n")
    kill(process.processIdentifier, number)
    process.waitUntilExit()
    #expect(try heard.readToEnd()?.isEmpty ?? true)
    if number != SIGKILL { #expect(process.terminationStatus == 128 + number) }
  }

  @Test(.timeLimit(.minutes(1))) func `ends a program after ten seconds`() throws {
    let binary = try binary(
      Self.profile(#""api_key_command":["HOME/print"],"#),
      script: "sleep 300"
    )
    defer { binary.remove() }
    let result = try binary.run("payment-status", "X", "--profile", "a", "--json")
    #expect(result.status == 2)
    #expect(
      result.errorRecord["error"]?["message"]
        == "paytheory.api_key_command: the program did not end within 10 s and was stopped"
    )
  }

  @Test func `reads no more than the syntax of a profile that is not used`() throws {
    let broken =
      #""live":{"provider":"paytheory","env":"live","mode":"careful","paytheory":{"secret_key_file":"/none"}}"#
    let binary = try binary(#""staging":{"provider":"paytheory"},\#(broken)"#)
    defer { binary.remove() }
    let paid = try binary.run(
      "transact",
      "--amount",
      "5",
      "--test-card",
      "visa",
      "--reference",
      "A",
      "--profile",
      "staging"
    )
    #expect(paid.status == 0, "\(paid.errors)")
    #expect(try binary.run("payment-status", "A", "--profile", "live").status == 2)
    let doctor = try binary.run("doctor", "--profile", "staging", "--json")
    #expect(doctor.status == 0)
    let check = try #require(doctor.records.first { $0.text("name") == "config" })
    #expect(check["outcome"] == "warn")
    #expect(check.text("remedy")?.contains("profiles.live.mode is neither read-only nor") == true)
  }

  @Test func `names an unset variable, and a missing file, where they are used`() throws {
    for (member, says) in [
      (#""api_key_env":"LIVE_KEY","#, "paytheory.api_key_env: the variable LIVE_KEY is not set"),
      (#""api_key_file":"/none","#, "paytheory.api_key_file: cannot read '/none'"),
    ] {
      let binary = try binary(Self.profile(member))
      defer { binary.remove() }
      let result = try binary.run("payment-status", "X", "--profile", "a", "--json")
      #expect(result.status == 2)
      #expect(result.errorRecord["error"]?["message"]?.text == says)
      let doctor = try binary.run("doctor", "--profile", "a", "--json")
      let check = doctor.records.first { $0.text("name") == "paytheory credentials" }
      #expect(check?.text("detail") == says)
    }
  }

  #if os(Linux)
  @Test(
    .enabled(if: getuid() == 0, "only root can give files away"),
    arguments: ["file", "command"]
  )
  func `root uses nothing of another user's`(_ form: String) throws {
    let member =
      form == "file" ? #""api_key_file":"HOME/key","# : #""api_key_command":["HOME/print"],"#
    let binary = try binary(Self.profile(member))
    defer { binary.remove() }
    let path = binary.home.appending(path: form == "file" ? "key" : "print").path
    #expect(unsafe chown(path, 65534, 65534) == 0)
    let result = try binary.run("payment-status", "X", "--profile", "a", "--json")
    #expect(result.errorRecord["error"]?["code"] == "file_too_open")
    #expect(result.errorRecord["error"]?["message"]?.text?.contains("another user owns") == true)
  }
  #endif
}
