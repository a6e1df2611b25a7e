import CLibraries
import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// A client of `simulator serve` that uses only its output.
@Suite struct ServedClientTests {
  /// A server with a separate home, and its output.
  final class Host {
    let binary: Binary
    let process: Process
    let record: JSONObject

    init(_ binary: Binary, _ words: String...) throws {
      self.binary = binary
      let (process, output, _) = try binary.start(["simulator", "serve", "--json"] + words)
      self.process = process
      record = JSONReader.read(output.read(until: "\n"))?.object ?? [:]
    }

    deinit { stop() }

    func stop() {
      guard process.isRunning else { return }
      process.terminate()
      process.waitUntilExit()
    }

    var variables: [String: String] {
      let members = record["variables"]?.object?.members ?? []
      return Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value.text ?? "") })
    }

    var books: String { binary.home.appending(path: ".local/state/tender/simulator.db").path }

    /// The status and the body of the answer to a request.
    func ask(_ request: String, _ fields: [String], body: String = "") throws -> (String, JSON?) {
      let (status, text) = try answer(request, fields, body)
      return (status, JSONReader.read(text))
    }

    /// The body of the answer to a request, as text.
    func text(_ request: String) throws -> String { try answer(request, [], "").text }

    private func answer(
      _ request: String,
      _ fields: [String],
      _ body: String
    ) throws -> (status: String, text: String) {
      let port = record.text("address")?.split(separator: ":").last.flatMap { Int($0) }
      let client = try #require(RawClient(port: port ?? 0))
      let head =
        [
          request + " HTTP/1.1", "Host: localhost", "Connection: close",
          "Content-Length: \(body.utf8.count)",
        ] + fields
      client.say(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
      let answer = client.hear(until: "\u{0}")
      let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
      return (
        String(answer.dropFirst("HTTP/1.1 ".count).prefix(3)),
        parts.count > 1 ? String(parts[1]) : ""
      )
    }
  }

  /// Runs a program with only these variables. Returns its exit and standard output.
  private static func run(
    _ program: String,
    _ words: [String],
    _ variables: [String: String] = [:]
  ) throws -> (status: Int32, output: Data) {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = words
    process.environment = ["PATH": "/usr/bin:/bin"].merging(variables) { $1 }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, data)
  }

  private static var sales: [(provider: String, words: [String])] {
    [
      ("paytheory", ["--amount", "10.50", "--test-card", "visa"]),
      ("toro", ["--amount", "5", "--currency", "GBP", "--signature-matches", "yes"]),
      (
        "truelayer",
        ["--amount", "10", "--interval", "100ms"] + BankStory.payee + BankStory.payer
          + BankStory.bank + BankStory.anyPort()
      ),
    ]
  }

  @Test func `pays by every provider on sandbox from a file that a shell sources`() throws {
    let home = try Binary()
    defer { home.remove() }
    let file = home.home.appending(path: "it's a file.env").path
    let host = try Host(home, "--env-file", file, "--sim-scenario", "bank:execute")
    #expect(host.record.text("env_file") == file)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    var client = try Binary()
    defer { client.remove() }
    for (provider, words) in Self.sales {
      let script = #". "$0" && exec "$@""#
      let command =
        [Binary.path.path, "transact", "--provider", provider, "--env", "sandbox", "--json"]
        + ["--no-input", "--reference", "S-\(provider)"] + words
      let paid = try Self.run(
        "/bin/sh",
        ["-c", script, file] + command,
        ["HOME": client.home.path]
      )
      let record = JSONReader.read(String(decoding: paid.output, as: UTF8.self))
      #expect(paid.status == 0, "\(provider): \(String(decoding: paid.output, as: UTF8.self))")
      #expect(record?["status"] == "succeeded")
      #expect(record?["env"] == "sandbox")
    }
    #expect(try LedgerAudit.payTheoryMoney(path: host.books, reference: "S-paytheory").kept == 1050)
    #expect(try LedgerAudit.saleMoney(path: host.books, reference: "S-toro").kept == 500)
    #expect(try LedgerAudit.bankMoney(path: host.books, reference: "S-truelayer").kept == 1000)
    // Live must never be used by mistake.
    client.variables = host.variables
    for (provider, words) in Self.sales {
      let live = ["transact", "--provider", provider, "--env", "live", "--yes", "--json"]
      #expect(try client.run(live + ["--reference", "L"] + words).status == 2, "\(provider)")
    }
  }

  @Test func `prints the same as it writes, whatever the values have in them`() throws {
    let home = try Binary()
    defer { home.remove() }
    let file = home.home.appending(path: "client.env").path
    let host = try Host(home, "--env-file", file)
    let seen = try Self.run("/bin/sh", ["-c", #". "$0" && env -0"#, file]).output
    let lines = seen.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    for (name, value) in host.variables { #expect(lines.contains("\(name)=\(value)"), "\(name)") }
    // The keys are in the file alone.
    #expect(lines.count { $0.contains("PRIVATE KEY") } == 2)
    #expect(!host.variables.values.contains { $0.contains("PRIVATE KEY") })
    #expect(host.variables.count == 31)
    let books = try host.ask("GET /_simulator/show", []).1?.array ?? []
    for currency in ["EUR", "GBP", "PLN"] {
      let account = host.variables["TENDER_TRUELAYER_MERCHANT_ACCOUNT_\(currency)"]
      let shown = books.filter { $0["id"]?.text == account && $0["kind"] == "merchant_account" }
      #expect(shown.map { $0["currency"]?.text } == [currency])
    }
    #expect(host.variables["TL_SIGNING_KEY_ID"] == host.variables["TENDER_TRUELAYER_KEY_ID"])
    #expect(host.variables["TENDER_TORO_KDF"]?.contains("\"prf\":\"hmac-sha256\"") == true)
    host.stop()
    let (process, output, _) = try home.start(["simulator", "serve", "-o", "table"])
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    let said = output.read(until: "TL_SIGNING_PRIVATE_KEY")
    #expect(said.hasPrefix("export TENDER_PAYTHEORY_TOKEN_URL='http://127.0.0.1:"))
    #expect(said.contains("\nexport TENDER_TORO_MERCHANT_NAME='Test Merchant'\n"))
  }

  @Test func `keeps its signing key, which is each folder's own`() throws {
    let home = try Binary()
    defer { home.remove() }
    let other = try Binary()
    defer { other.remove() }
    func key(_ binary: Binary) throws -> [String?] {
      let variables = try Host(binary).variables
      return [variables["TL_SIGNING_KEY_ID"], variables["TL_SIGNING_PRIVATE_KEY"]]
    }
    let first = try key(home)
    #expect(first[1]?.hasPrefix("-----BEGIN PRIVATE KEY-----\n") == true)
    #expect(try key(home) == first)
    #expect(try home.run("simulator", "reset").status == 0)
    #expect(try key(home) == first)
    let another = try key(other)
    #expect(another[0] != first[0] && another[1] != first[1])
  }

  @Test func `refuses other credentials as each provider does`() throws {
    let home = try Binary()
    defer { home.remove() }
    let host = try Host(home)
    let key = "other-paytheorylab-00112233445566778899aabbccddeeff"
    let token = try host.ask("GET /pt-token-service/", ["X-API-Key: \(key)"])
    #expect(token == ("404", ["message": "Not Found"]))
    for credentials in ["a;b", "", (host.variables["TENDER_PAYTHEORY_MERCHANT_UID"] ?? "") + ";b"] {
      let query = try host.ask(
        "POST /graphql",
        ["Authorization: \(credentials)"],
        body: #"{"query":"{ transactions { total_row_count } }"}"#
      )
      let error: JSON = [
        "errorType": "UnauthorizedException",
        "message": "You are not authorized to make this call.",
      ]
      #expect(query == ("401", ["errors": [error]]), "\(credentials)")
    }
    for secret in ["wrong", ""] {
      let grant = try host.ask(
        "POST /connect/token",
        ["Content-Type: application/json"],
        body: """
          {"grant_type":"client_credentials","client_id":"\(host.variables["TL_CLIENT_ID"] ?? "")",\
          "client_secret":"\(secret)"}
          """
      )
      #expect(grant == ("400", ["error": "invalid_client"]))
    }
    let unknown = try host.ask("POST /v3/payments", ["Authorization: Bearer other"], body: "{}")
    #expect(unknown.0 == "401" && unknown.1?["title"] == "Unauthenticated")
    for field in ["Api-Key: other", "Accept: application/xml"] {
      let path = "POST /v1/caaa/diagnostic-request"
      #expect(try host.ask(path, [field], body: "<Document/>").0 == "401", "\(field)")
    }
    let named = "X-Key: " + (host.variables["TENDER_TORO_API_KEY"] ?? "")
    #expect(try host.ask("POST /v1/caaa/diagnostic-request", [named], body: "<D/>").0 == "200")
    var client = try Binary()
    defer { client.remove() }
    let sale = "transact --provider toro --env sandbox --json --amount 5 --signature-matches yes"
    for (name, reference) in [("MERCHANT_ID", "M"), ("POI_ID", "P")] {
      client.variables = host.variables
      client.variables["TENDER_TORO_" + name] = "99000099"
      let words = sale.split(separator: " ").map(String.init) + ["--reference", reference]
      let refused = try client.run(words)
      // The following cancellation is rejected as well.
      #expect(refused.status == 9, "\(refused.output) \(refused.errors)")
      #expect(refused.errorRecord["result"]?["reason"] == "INTP")
      #expect(try LedgerAudit.sales(path: host.books, reference: reference).authorised == 0)
    }
  }

  /// A P-521 key: its private and its public half.
  private static func makeKey() -> (secret: String, known: String) {
    var secret = [CChar](repeating: 0, count: Int(TENDER_ES512_PEM_SIZE))
    var known = secret
    guard unsafe tender_crypto_open() == nil else { return ("", "") }
    #expect(unsafe tender_crypto_make_es512(&secret, &known) == 1)
    func text(_ buffer: [CChar]) -> String {
      String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    return (text(secret), text(known))
  }

  @Test func `takes signatures of a key that it is told to trust, and of no other`() throws {
    let home = try Binary()
    defer { home.remove() }
    let (secret, known) = Self.makeKey()
    let file = home.home.appending(path: "public.pem").path
    try known.write(toFile: file, atomically: true, encoding: .utf8)
    let host = try Host(home, "--trust-key", "mine=\(file)", "--sim-scenario", "bank:execute")
    var client = try Binary()
    defer { client.remove() }
    let words = ["transact", "--provider", "truelayer", "--env", "sandbox", "--json", "--no-input"]
    client.variables = host.variables
    client.variables["TENDER_TRUELAYER_KEY_ID"] = "mine"
    client.variables["TENDER_TRUELAYER_PRIVATE_KEY"] = secret
    let paid = try client.run(words + ["--reference", "A"] + Self.sales[2].words)
    #expect(paid.status == 0, "\(paid.errors)")
    for (id, key) in [("mine", Self.makeKey().secret), ("yours", secret)] {
      client.variables["TENDER_TRUELAYER_KEY_ID"] = id
      client.variables["TENDER_TRUELAYER_PRIVATE_KEY"] = key
      let refused = try client.run(words + ["--reference", "B"] + Self.sales[2].words)
      #expect(refused.status == 4, "\(refused.errors)")
    }
    #expect(try LedgerAudit.bankBooks(path: host.books, reference: "B").made == 0)
    let wrong = home.home.appending(path: "private.pem").path
    try secret.write(toFile: wrong, atomically: true, encoding: .utf8)
    for value in ["mine", "=\(file)", "mine=\(wrong)", "mine=/nowhere.pem", "mine="] {
      let refused = try home.run("simulator", "serve", "--json", "--trust-key", value)
      #expect(refused.status == 2, "\(value): \(refused.errors)")
    }
  }

  @Test func `reads each key of a provider's section from a variable, and checks it`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["TENDER_TORO_MERCHANT_ID"] = "M-42"
    let words = ["transact", "--provider", "toro", "--amount", "5", "--json", "--reference"]
    #expect(try binary.run(words + ["A"]).status == 0)
    binary.variables["TENDER_TRUELAYER_REDIRECT_URL"] = "http://localhost:4000/back"
    let shown = try binary.run("config", "show", "--json").records
      .first { $0.text("name") == "truelayer.redirect_url" }
    #expect(shown?.text("value") == "http://localhost:4000/back")
    #expect(shown?.text("origin") == "environment")
    for (name, value) in [
      ("TENDER_TORO_KDF", "{"), ("TENDER_TORO_KDF", #"{"prf":"md5"}"#),
      ("TENDER_TORO_CURRENCY", "XYZ"), ("TENDER_PAYTHEORY_TWO_STEP", "yes"),
    ] {
      var wrong = try Binary()
      defer { wrong.remove() }
      wrong.variables[name] = value
      let refused = try wrong.run(words + ["B"])
      #expect(refused.status == 2)
      #expect(refused.errorRecord["error"]?["message"]?.text?.hasPrefix(name) == true)
    }
  }

  /// The programs of help, saved as it says.
  @Test(
    .enabled(if: Judge.has("ctypes"), "python3 is not installed"),
    arguments: [
      ("truelayer", "executed"), ("paytheory", "SUCCEEDED"), ("toro", "APPR"), ("toro", "DECL"),
    ]
  )
  func `serves a program in another language`(_ provider: String, _ result: String) throws {
    let home = try Binary()
    defer { home.remove() }
    let host = try Host(home, "--sim-scenario", "bank:execute")
    let page = try home.run("help", "\(provider)-client").output.split(separator: "\n")
    let program = page.filter { $0.hasPrefix("  ") }.map { $0.dropFirst(2) }
    let path = home.home.appending(path: "pay.py").path
    // The amount decides at Toro.
    let amount = result == "DECL" ? " 9051\n" : " 800\n"
    let text = program.joined(separator: "\n").replacing(" 800\n", with: amount)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let (status, output) = try Self.run("/usr/bin/python3", [path], host.variables)
    #expect(status == 0)
    #expect(String(decoding: output, as: UTF8.self) == result + "\n")
  }

  /// A CI job of a shop, in an empty folder, with only the program of this project.
  @Test(.enabled(if: Judge.has("uuid"), "python3 is not installed"))
  func `serves a job that tests a shop's program`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let script = binary.home.appending(path: "job.sh").path
    try Project.text("Tests/Judges/shop_ci.sh")
      .write(toFile: script, atomically: true, encoding: .utf8)
    let path = "\(Binary.products.path):/usr/bin:/bin"
    let start = ContinuousClock.now
    let variables = ["PATH": path, "HOME": binary.home.path]
    let (status, output) = try Self.run("/bin/sh", [script], variables)
    let shown = String(decoding: output, as: UTF8.self)
    #expect(status == 0, "\(shown)")
    #expect(shown.split(separator: "\n").count { $0.hasPrefix("ok ") } == 15, "\(shown)")
    // Less than 10 s on an idle machine.
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  /// As root, a file beside `/dev/stdout` once replaced the system's link.
  @Test func `an environment file replaces no link`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let target = binary.home.appending(path: "kept").path
    let link = binary.home.appending(path: "link").path
    for there in [true, false] {
      if there { try Data("kept".utf8).write(to: URL(filePath: target)) }
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
      let refused = try binary.run("simulator", "serve", "--env-file", link, "--json")
      #expect(refused.status == 2)
      #expect(refused.errorRecord["error"]?["code"] == "bad_file")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
      try FileManager.default.removeItem(atPath: link)
      try? FileManager.default.removeItem(atPath: target)
    }
  }
}
