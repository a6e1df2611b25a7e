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

  func clientToken(secret: String = BankCatalog.clientSecret) throws -> Answer {
    try send(
      "POST",
      "/connect/token",
      fields: ["Content-Type": "application/x-www-form-urlencoded"],
      body: "grant_type=client_credentials&client_id=\(BankCatalog.clientID)"
        + "&client_secret=\(secret)&scope=payments"
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
