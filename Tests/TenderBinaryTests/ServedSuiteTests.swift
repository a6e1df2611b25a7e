import Foundation
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// Foreign programs with a served simulator: TrueLayer's acceptance tests, schemathesis, any HTTP client.
@Suite struct ServedSuiteTests {
  typealias Host = ServedClientTests.Host

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

  /// A client of TrueLayer's, with the credentials that the server printed.
  struct Client {
    let host: Host
    let token: String

    init(_ host: Host, scope: String = "payments mandates") throws {
      self.host = host
      let own = host.variables
      let grant =
        #"{"grant_type":"client_credentials","client_id":"\#(own["TL_CLIENT_ID"] ?? "")","#
        + #""client_secret":"\#(own["TL_CLIENT_SECRET"] ?? "")","scope":"\#(scope)"}"#
      token = try host.ask("POST /connect/token", [], body: grant).1?["access_token"]?.text ?? ""
    }

    /// The fields of a signed request.
    func fields(
      _ method: String,
      _ path: String,
      _ body: String,
      key: String
    ) throws -> [String] {
      let signature = try RequestSignature.value(
        method: method,
        path: path,
        headers: [("Idempotency-Key", key)],
        body: Array(body.utf8),
        keyID: host.variables["TL_SIGNING_KEY_ID"] ?? "",
        key: SharedSecret(host.variables["TL_SIGNING_PRIVATE_KEY"] ?? "")
      )
      return [
        "Authorization: Bearer \(token)", "Idempotency-Key: \(key)", "Tl-Signature: \(signature)",
      ]
    }

    /// Sends a signed request.
    func ask(
      _ method: String,
      _ path: String,
      _ body: String,
      key: String? = nil
    ) throws -> (String, JSON?) {
      let fields = try fields(method, path, body, key: key ?? "\(method) \(path)")
      return try host.ask("\(method) \(path)", fields, body: body)
    }
  }

  private static let payee =
    #""beneficiary":{"type":"external_account","account_holder_name":"Ben","reference":"R","#
    + #""account_identifier":{"type":"sort_code_account_number","sort_code":"560029","#
    + #""account_number":"26207729"}}"#
  private static let user = #""user":{"name":"Remi","email":"remi@example.com"}"#

  /// A payment's body, with more members.
  private static func payment(
    _ more: String,
    selection: String = #"{"type":"user_selected"}"#
  ) -> String {
    #"{"amount_in_minor":1000,"currency":"GBP",\#(user),"payment_method":{"type":"bank_transfer","#
      + #""provider_selection":\#(selection),\#(payee)}\#(more)}"#
  }

  @Test func `a creation is answered and refused as TrueLayer's document says`() throws {
    let home = try Binary()
    defer { home.remove() }
    let client = try Client(Host(home))
    let page = #","hosted_page":{"return_uri":"https://shop.example/back"}"#
    let flow =
      #","authorization_flow":{"provider_selection":{},"redirect":{"return_uri":"https://shop.example/"}}"#
    let bank =
      #"{"type":"preselected","provider_id":"mock-payments-gb-redirect","#
      + #""scheme_selection":{"type":"instant_preferred"}}"#
    let rows: [(body: String, status: String, place: String?)] = [
      (Self.payment(""), "201", nil), (Self.payment(page), "201", nil),
      (Self.payment(flow), "201", nil), (Self.payment(page + flow), "400", "hosted_page"),
      (Self.payment(#","metadata":{"a":null}"#), "400", "metadata"),
      (Self.payment(#","metadata":null"#), "201", nil),
      (
        Self.payment(
          #","authorization_flow":{"form":{"input_types":["text"]}}"#,
          selection: bank
        ), "400", "redirect"
      ),
    ]
    for (index, row) in rows.enumerated() {
      let (status, answer) = try client.ask("POST", "/v3/payments", row.body, key: "k\(index)")
      #expect(status == row.status, "\(row.body): \(answer as Any)")
      if let place = row.place { #expect(answer?["errors"]?[place] != nil, "\(answer as Any)") }
      let uri = answer?["hosted_page"]?["uri"]?.text
      #expect((uri != nil) == (row.body == Self.payment(page)), "\(row.body)")
      guard let uri, let id = answer?["id"]?.text else { continue }
      #expect(uri.contains("#payment_id=\(id)&resource_token="), "\(uri)")
      let shown = try client.host.text("GET /payments")
      #expect(uri.contains("/payments#") && shown.contains("<!doctype html>"), "\(shown)")
    }
  }

  @Test func `a request is refused while one of its key is at work`() throws {
    let home = try Binary()
    defer { home.remove() }
    let client = try Client(Host(home))
    let body = Self.payment("")
    // Its answer is late, and this client does not wait for it.
    let port = client.host.record.text("address")?.split(separator: ":").last.flatMap { Int($0) }
    let raw = try #require(RawClient(port: port ?? 0))
    let head =
      ["POST /v3/payments HTTP/1.1", "Host: localhost", "Content-Length: \(body.utf8.count)"]
      + (try client.fields("POST", "/v3/payments", body, key: "k"))
      + ["X-Tender-Simulator: fault=create:latency=20s", "", body]
    raw.say(head.joined(separator: "\r\n"))
    func requests() throws -> Int {
      let all = try client.host.ask("GET /_simulator/requests", []).1?.array ?? []
      return all.count { $0["path"] == "/v3/payments" }
    }
    while try requests() == 0 {}
    let second = try client.ask("POST", "/v3/payments", body, key: "k")
    #expect(second.0 == "409")
    #expect(second.1?["type"]?.text?.hasSuffix("#idempotency-key-concurrency-conflict") == true)
    #expect(try client.host.ask("POST /_simulator/advance", [], body: "20s").0 == "204")
    #expect(try client.ask("POST", "/v3/payments", body, key: "k").0 == "201")
    withExtendedLifetime(raw) { client.host.stop() }
  }

  @Test func `forgets a key after 30 days`() throws {
    let home = try Binary()
    defer { home.remove() }
    let host = try Host(home)
    func id(after time: String) throws -> String? {
      #expect(try host.ask("POST /_simulator/advance", [], body: time).0 == "204")
      let answer = try Client(host).ask("POST", "/v3/payments", Self.payment(""), key: "k")
      return answer.1?["id"]?.text
    }
    let first = try #require(try id(after: "1s"))
    #expect(try id(after: "29d") == first)
    #expect(try id(after: "2d") != first)
  }

  /// Calendar periods begin with the day, on Monday, and with the first of a month.
  @Test func `counts calendar periods by the calendar`() throws {
    let home = try Binary()
    defer { home.remove() }
    // 2027-08-18 is a Wednesday.
    let client = try Client(Host(home, "--sim-clock", "2027-08-18T10:00:00Z"))
    func limits(_ alignment: String) throws -> JSON? {
      let periods = ["day", "week", "month", "half_year", "year"].map {
        #""\#($0)":{"maximum_amount":5000,"period_alignment":"\#(alignment)"}"#
      }
      let payee = Self.payee.replacing(#""reference":"R","#, with: "")
      let body =
        #"{"currency":"GBP",\#(Self.user),"mandate":{"type":"sweeping",\#(payee),"#
        + #""provider_selection":{"type":"user_selected"}},"constraints":{"#
        + #""maximum_individual_amount":5000,"periodic_limits":{\#(periods.joined(separator: ","))}}}"#
      let made = try client.ask("POST", "/v3/mandates", body, key: alignment)
      #expect(made.0 == "201", "\(made)")
      let path = "/v3/mandates/\(made.1?["id"]?.text ?? "")/constraints"
      return try client.ask("GET", path, "").1?["periodic_limits"]
    }
    let calendar = try limits("calendar")
    let consent = try limits("consent")
    for (period, first, last, end) in [
      ("day", "2027-08-18", "2027-08-18", "2027-08-19"),
      ("week", "2027-08-16", "2027-08-22", "2027-08-25"),
      ("month", "2027-08-01", "2027-08-31", "2027-09-18"),
      ("half_year", "2027-07-01", "2027-12-31", "2028-02-18"),
      ("year", "2027-01-01", "2027-12-31", "2028-08-18"),
    ] {
      let shown = calendar?[period]
      #expect(
        shown?["start_date"]?.text == first && shown?["end_date"]?.text == last,
        "\(shown as Any)"
      )
      #expect(consent?[period]?["start_date"] == "2027-08-18")
      #expect(consent?[period]?["end_date"]?.text == end, "\(consent?[period] as Any)")
    }
  }

  @Test func `merchant accounts are served under both paths, in every method`() throws {
    let home = try Binary()
    defer { home.remove() }
    let host = try Host(home)
    let client = try Client(host)
    let ask = { try client.ask($0, $1, $2) }
    let account = "/merchant-accounts/acc00000-0000-4000-8000-000000000826"
    let terms = #"{"max_amount_in_minor":100,"frequency":"daily"}"#
    for version in ["", "/v3"] {
      let sweeping = version + account + "/sweeping"
      #expect(try ask("GET", sweeping, "").0 == "404")
      #expect(try ask("POST", sweeping, terms).0 == "200")
      #expect(try ask("GET", sweeping, "").1?["frequency"] == "daily")
      #expect(try ask("DELETE", sweeping, "").0 == "204")
      #expect(try ask("GET", sweeping, "").0 == "404")
      let times = "?from=2024-02-01T00%3A00%3A00%2B01%3A00&to=2024-03-01T00:00:00Z"
      let rows = try ask("GET", version + account + "/transactions" + times, "")
      #expect(rows.1?["items"]?.array?.count == 1, "\(rows)")
    }
    let unsigned = try host.ask(
      "DELETE \(account)/sweeping",
      ["Authorization: Bearer \(client.token)", "Idempotency-Key: k"]
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
