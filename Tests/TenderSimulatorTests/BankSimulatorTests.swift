import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// The rules of the simulated TrueLayer (TrueLayer/README, 1 and 10).
@Suite final class BankSimulatorTests {
  let folder: URL
  let clock = ManualClock()

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "sim-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  struct Answer {
    var status: Int
    var body: JSON
    var fields: [String: String]
  }

  func send(
    _ method: String,
    _ path: String,
    token: String? = nil,
    fields: [String: String] = [:],
    body: String = ""
  ) throws -> Answer {
    let simulator = try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: folder.path + "/simulator.db",
        clock: clock,
        randomness: CountingRandomness(),
        options: SimulatorOptions(),
        providers: [SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer()]
      )
    )
    var all = fields.map { HTTPRequest.Field($0.key, $0.value) }
    if let token { all.append(HTTPRequest.Field("Authorization", "Bearer \(token)")) }
    let answer = try simulator.send(
      HTTPRequest(
        method: HTTPMethod(rawValue: method) ?? .get,
        url: "https://simulator" + path,
        fields: all,
        body: Array(body.utf8)
      ),
      by: Deadline(in: 1000, on: clock)
    )
    return Answer(
      status: answer.status,
      body: JSONReader.read(answer.body) ?? .null,
      fields: answer.fields
    )
  }

  static let demo = "/v3/payments/00000000-0000-4000-8000-000000001050"
  static let resource = BankCatalog.resourceToken

  func clientToken(
    secret: String = BankCatalog.clientSecret,
    scope: String = "payments"
  ) throws -> Answer {
    try send(
      "POST",
      "/connect/token",
      fields: ["Content-Type": "application/x-www-form-urlencoded"],
      body: "grant_type=client_credentials&client_id=\(BankCatalog.clientID)"
        + "&client_secret=\(secret)&scope=\(scope.replacing(" ", with: "+"))"
    )
  }

  @Test func `takes client credentials as a form too, and refuses wrong ones`() throws {
    let good = try clientToken()
    #expect(good.status == 200)
    #expect(good.body["expires_in"] == 3600)
    #expect(good.body["token_type"] == "Bearer")
    let bad = try clientToken(secret: "wrong")
    #expect(bad.status == 400)
    #expect(bad.body == ["error": "invalid_client"])
  }

  @Test func `lets each token do its own, in the order of the checks`() throws {
    #expect(try send("GET", Self.demo).status == 401)
    #expect(try send("GET", Self.demo, token: "nonsense").status == 401)
    let seen = try send("GET", Self.demo, token: Self.resource)
    #expect(seen.status == 200)
    #expect(seen.body["status"] == "authorization_required")
    #expect(seen.body["created_at"] == nil)
    #expect(seen.fields["tl-trace-id"]?.count == 32)
    // A resource token creates nothing. The client's token writes nothing without a signature.
    #expect(try send("POST", "/v3/payments", token: Self.resource, body: "{}").status == 403)
    let own = try #require(try clientToken().body["access_token"]?.text)
    #expect(try send("GET", Self.demo, token: own).body["created_at"] != nil)
    let unsigned = try send("POST", "/v3/payments", token: own, body: "{}")
    #expect(unsigned.status == 401)
    #expect(unsigned.body["detail"] == "Invalid request signature.")
    // The token ends after an hour.
    clock.advance(3_600_000)
    #expect(try send("GET", Self.demo, token: own).status == 401)
  }

  /// The scopes are those of TrueLayer's clients, and `mandates` of its document.
  @Test(arguments: [
    ("payments", 200, 403), ("recurring_payments:sweeping", 403, 200), ("mandates", 403, 200),
    ("recurring_payments:commercial payments", 200, 200), ("signupplus", 403, 403),
  ])
  func `lets a token do what its scopes allow`(
    _ scope: String,
    _ payment: Int,
    _ mandate: Int
  ) throws {
    let token = try #require(try clientToken(scope: scope).body["access_token"]?.text)
    let own = Self.demo.replacing("payments", with: "mandates")
    #expect(try send("GET", Self.demo, token: token).status == payment)
    #expect(try send("GET", own, token: token).status == mandate)
    #expect(try send("GET", "/v3/merchant-accounts", token: token).status == payment)
    let refused = try send(
      "GET",
      payment == 403 ? Self.demo : "/v3/signup-plus/payments",
      token: token
    )
    #expect(payment == 200 || refused.body["title"] == "Forbidden")
  }

  @Test func `offers no bank whose way the client does not support`() throws {
    let start = Self.demo + "/authorization-flow"
    let flow = try send("POST", start, token: Self.resource, body: #"{"provider_selection":{}}"#)
    #expect(flow.status == 200)
    // In pounds, every bank redirects.
    #expect(flow.body["status"] == "failed" && flow.body["failure_reason"] == "provider_error")
  }

  @Test func `refuses settings of the mock bank that it does not honor`() throws {
    let start = Self.demo + "/authorization-flow"
    _ = try send(
      "POST",
      start,
      token: Self.resource,
      body: #"{"provider_selection":{},"redirect":{"return_uri":"http://localhost:3000/callback"}}"#
    )
    let chosen = try send(
      "POST",
      start + "/actions/provider-selection",
      token: Self.resource,
      body: #"{"provider_id":"mock-payments-gb-redirect"}"#
    )
    let uri = chosen.body["authorization_flow"]?["actions"]?["next"]?["uri"]?.text ?? ""
    let parts = uri.components(separatedBy: "#token=")
    let path = "/api/single-immediate-payments/\(parts[0].split(separator: "/").last ?? "")/action"
    for (body, status) in [
      (#"{"action":"Execute","settlement_delay_in_seconds":30}"#, 400),
      (#"{"action":"Execute","redirect":true}"#, 400), (#"{"action":"Execute","delay":1}"#, 400),
      (#"{"action":"Execute","redirect":false,"settlement_delay_in_seconds":0}"#, 202),
    ] {
      #expect(try send("POST", path, token: parts[1], body: body).status == status, "\(body)")
    }
  }

  @Test func `pages the list of mandates`() throws {
    let token = try #require(try clientToken(scope: "mandates").body["access_token"]?.text)
    for number in 1...30 {
      _ = try send(
        "GET",
        "/v3/mandates/00000000-0000-4000-8000-0000000001\(number + 10)",
        token: Self.resource
      )
    }
    func page(_ query: String) throws -> (items: [String], next: String?) {
      let answer = try send("GET", "/v3/mandates" + query, token: token)
      let items = answer.body["items"]?.array?.compactMap { $0["id"]?.text } ?? []
      return (items, answer.body["pagination"]?["next_cursor"]?.text)
    }
    let first = try page("")
    #expect(first.items.count == 25)
    let cursor = try #require(first.next)
    let second = try page("?limit=3&cursor=\(cursor)")
    #expect(second.items.count == 3 && second.next != nil)
    let last = try page("?limit=50&cursor=\(second.next ?? "")")
    #expect(last.items.count == 2 && last.next == nil)
    #expect(Set(first.items + second.items + last.items).count == 30)
    let shown = try send("GET", "/v3/mandates?limit=1", token: token).body["items"]?.array?.first
    let user = shown?["user"]?["id"]?.text ?? ""
    #expect(try page("?user_id=\(user)").items.contains(shown?["id"]?.text ?? ""))
    #expect(try page("?user_id=nobody").items.isEmpty)
    for wrong in ["?limit=0", "?limit=51", "?limit=x", "?cursor=nothing"] {
      #expect(try send("GET", "/v3/mandates" + wrong, token: token).status == 400, "\(wrong)")
    }
  }

  @Test func `wants the action that is next, and repeats an answer under its key`() throws {
    let start = Self.demo + "/authorization-flow"
    let capabilities =
      #"{"provider_selection":{},"redirect":{"return_uri":"http://localhost:3000/callback"}}"#
    let early = try send("POST", start + "/actions/consent", token: Self.resource, body: "{}")
    #expect(early.status == 400)
    #expect(early.body["type"]?.text?.hasSuffix("#invalid-state") == true)
    let key = ["Idempotency-Key": "k1"]
    let first = try send("POST", start, token: Self.resource, fields: key, body: capabilities)
    #expect(first.status == 200)
    #expect(first.body["authorization_flow"]?["actions"]?["next"]?["type"] == "provider_selection")
    let again = try send("POST", start, token: Self.resource, fields: key, body: capabilities)
    #expect(again.body == first.body)
    let other = try send("POST", start, token: Self.resource, fields: key, body: "{}")
    #expect(other.status == 422)
    let twice = try send("POST", start, token: Self.resource, body: capabilities)
    #expect(twice.status == 400)
    let unknown = try send(
      "POST",
      start + "/actions/provider-selection",
      token: Self.resource,
      body: #"{"provider_id":"no-bank"}"#
    )
    #expect(unknown.status == 400)
    #expect(unknown.body["errors"]?["provider_id"] == ["Unknown provider."])
    let chosen = try send(
      "POST",
      start + "/actions/provider-selection",
      token: Self.resource,
      body: #"{"provider_id":"mock-payments-gb-redirect"}"#
    )
    #expect(chosen.body["authorization_flow"]?["actions"]?["next"]?["type"] == "redirect")
    // After fifteen minutes it is over.
    clock.advance(900_000)
    let late = try send("GET", Self.demo, token: Self.resource)
    #expect(late.body["status"] == "failed")
    #expect(late.body["failure_reason"] == "expired")
    #expect(late.body["failure_stage"] == "authorizing")
  }

  @Test func `offers the machines' way through the bank`() throws {
    let start = Self.demo + "/authorization-flow"
    _ = try send(
      "POST",
      start,
      token: Self.resource,
      body: #"{"provider_selection":{},"redirect":{"return_uri":"http://localhost:3000/callback"}}"#
    )
    let chosen = try send(
      "POST",
      start + "/actions/provider-selection",
      token: Self.resource,
      body: #"{"provider_id":"mock-payments-gb-redirect"}"#
    )
    let uri = try #require(chosen.body["authorization_flow"]?["actions"]?["next"]?["uri"]?.text)
    let parts = uri.components(separatedBy: "#token=")
    let session = try #require(parts[0].split(separator: "/").last.map(String.init))
    let path = "/api/single-immediate-payments/\(session)/action"
    #expect(try send("POST", path, token: "wrong", body: #"{"action":"Execute"}"#).status == 401)
    let acted = try send("POST", path, token: parts[1], body: #"{"action":"RejectExecution"}"#)
    #expect(acted.status == 202)
    let state = Self.demo.split(separator: "/").last.map(String.init) ?? ""
    let returned = try send(
      "POST",
      "/v3/payments-provider-return",
      body: #"{"query":"state=\#(state)&code=x","fragment":""}"#
    )
    #expect(returned.status == 200)
    #expect(returned.body["resource"]?["payment_id"] == .string(state))
    let seen = try send("GET", Self.demo, token: Self.resource)
    #expect(seen.body["failure_reason"] == "provider_rejected")
    #expect(seen.body["failure_stage"] == "authorized")
  }
}
