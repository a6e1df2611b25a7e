import Foundation
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// Foreign programs with a served simulator: TrueLayer's acceptance tests, schemathesis, any HTTP client.
@Suite struct ServedSuiteTests {
  private typealias Host = ServedClientTests.Host

  /// A program that runs acceptance tests of TrueLayer's clients. It uses the address and the credentials in
  /// the variables of `simulator serve`, and exits with 0 if all pass.
  private static let suite = ProcessInfo.processInfo.environment["TENDER_TRUELAYER_SUITE"]

  private static func run(
    _ program: [String],
    _ host: ServedClientTests.Host
  ) throws -> (Int32, String) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = program
    let own = ProcessInfo.processInfo.environment
    process.environment = own.merging(host.variables) { $1 }
    process.currentDirectoryURL = host.binary.home
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  @Test(.enabled(if: suite != nil, "TENDER_TRUELAYER_SUITE names no program"))
  func `TrueLayer's own acceptance tests hold`() throws {
    let home = try Binary()
    defer { home.remove() }
    let (status, text) = try Self.run([#require(Self.suite)], Host(home))
    print(text.split(separator: "\n").suffix(12).joined(separator: "\n"))
    #expect(status == 0)
  }

  @Test(.enabled(if: Judge.has("schemathesis"), "schemathesis 4.32.5 is not installed"))
  func `schemathesis finds no answer that TrueLayer's document does not have`() throws {
    let home = try Binary()
    defer { home.remove() }
    var words = ["SCHEMATHESIS_HOOKS=schemathesis_hooks", "PYTHONWARNINGS=ignore"]
    let judges = Project.path("Tests/Judges")
    let path = ProcessInfo.processInfo.environment["PYTHONPATH"].map { ":" + $0 } ?? ""
    words.append("PYTHONPATH=" + judges + path)
    let document = Project.path("Tests/TrueLayerTests/Schema/payments-api-v3.json")
    let host = try Host(home)
    let (status, text) = try Self.run(
      words + ["/usr/bin/python3", "-m", "schemathesis.cli", "run", document]
        + [
          "--url", host.variables["TENDER_TRUELAYER_API_URL"] ?? "", "--phases", "coverage,fuzzing",
        ]
        + ["--max-examples", "10", "--seed", "33", "--no-color", "--checks"]
        + [
          "not_a_server_error,status_code_conformance,content_type_conformance,"
            + "response_schema_conformance"
        ],
      host
    )
    let line = text.split(separator: "\n").first { $0.contains(" generated, ") } ?? ""
    print("schemathesis: \(line)")
    #expect(status == 0, "\(text.suffix(4000))")
    #expect(line.split(separator: " ").first.flatMap { Int($0) } ?? 0 >= 2000)
  }

  @Test func `merchant accounts are served under both paths, in every method`() throws {
    let home = try Binary()
    defer { home.remove() }
    let host = try Host(home)
    let account = "/merchant-accounts/acc00000-0000-4000-8000-000000000826"
    let grant =
      #"{"grant_type":"client_credentials","client_id":"\#(host.variables["TL_CLIENT_ID"] ?? "")","#
      + #""client_secret":"\#(host.variables["TL_CLIENT_SECRET"] ?? "")"}"#
    let token = try host.ask("POST /connect/token", [], body: grant).1?["access_token"]?.text ?? ""
    func ask(_ method: String, _ path: String, _ body: String = "") throws -> (String, JSON?) {
      let signature = try RequestSignature.value(
        method: method,
        path: path,
        headers: [("Idempotency-Key", "\(method) \(path)")],
        body: Array(body.utf8),
        keyID: host.variables["TL_SIGNING_KEY_ID"] ?? "",
        key: SharedSecret(host.variables["TL_SIGNING_PRIVATE_KEY"] ?? "")
      )
      let fields = [
        "Authorization: Bearer \(token)", "Idempotency-Key: \(method) \(path)",
        "Tl-Signature: \(signature)",
      ]
      return try host.ask("\(method) \(path)", fields, body: body)
    }
    let terms = #"{"max_amount_in_minor":100,"frequency":"daily"}"#
    for version in ["", "/v3"] {
      let sweeping = version + account + "/sweeping"
      #expect(try ask("GET", sweeping).0 == "404")
      #expect(try ask("POST", sweeping, terms).0 == "200")
      #expect(try ask("GET", sweeping).1?["frequency"] == "daily")
      #expect(try ask("DELETE", sweeping).0 == "204")
      #expect(try ask("GET", sweeping).0 == "404")
      let times = "?from=2024-02-01T00%3A00%3A00%2B01%3A00&to=2024-03-01T00:00:00Z"
      let rows = try ask("GET", version + account + "/transactions" + times)
      #expect(rows.1?["items"]?.array?.count == 1, "\(rows)")
    }
    let unsigned = try host.ask(
      "DELETE \(account)/sweeping",
      ["Authorization: Bearer \(token)", "Idempotency-Key: k"]
    )
    #expect(unsigned.0 == "401")
    // Without a token, a browser gets the page. A program gets its answer.
    for path in ["/payments", "/payouts", "/mandates"] {
      let page = try host.ask("GET \(path)", [])
      #expect(page == ("200", nil), "\(path)")
    }
    #expect(try host.ask("GET /v3/payments", []).0 == "405")
  }
}
