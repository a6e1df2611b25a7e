import CLibraries
import Foundation
import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// The bytes on the wire: requests, headers and signatures (TrueLayer/README, 1 and 2).
@Suite struct WireTests {
  static let id = "0cd1b0f7-71bc-4d24-b209-95259dadcc20"
  static let token = #"{"access_token":"the-access-token","expires_in":3600,"token_type":"Bearer"}"#
  static let created =
    #"{"id":"0cd1b0f7-71bc-4d24-b209-95259dadcc20","resource_token":"the-resource-token","#
    + #""status":"authorization_required"}"#
  static let redirect =
    #"{"status":"authorizing","authorization_flow":{"actions":{"next":{"type":"redirect","#
    + #""uri":"https://bank.example/login#token=eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2ln"}}}}"#

  static func fields(_ request: HTTPRequest) -> [String: String] {
    Dictionary(request.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
  }

  static func body(_ request: HTTPRequest) -> String {
    String(decoding: request.body, as: UTF8.self)
  }

  /// Returns whether a request's signature is valid for its bytes, with the public key.
  static func isSigned(_ request: HTTPRequest, _ path: String, _ publicKey: String) -> Bool {
    let fields = fields(request)
    guard let value = fields["Tl-Signature"], let key = fields["Idempotency-Key"] else {
      return false
    }
    let parts = value.components(separatedBy: "..")
    let payload = Array("POST \(path)\nIdempotency-Key: \(key)\n".utf8) + request.body
    return parts.count == 2
      && SignatureTests.verifies(
        parts[1],
        parts[0] + "." + Base64.encodeURL(payload),
        key: publicKey
      )
  }

  @Test func `creates with a signature and a key, then goes on with the resource token alone`()
    throws
  {
    let (privateKey, publicKey) = try SignatureTests.newKey()
    let path = "/v3/payments/\(Self.id)"
    let stub = StubHTTP([
      .init("POST", "/connect/token", 200, Self.token),
      .init("POST", "/v3/payments", 201, Self.created),
      .init("POST", path + "/authorization-flow", 200, Self.redirect),
    ])
    let world = try World()
    let engine = world.engine(over: stub, env: .sandbox) { _, configuration in
      configuration.privateKey = SharedSecret(privateKey)
      configuration.redirectURL = "https://shop.example/return"
    }
    let order = try world.payment("ORDER-1042") { creation in
      creation.metadata = ["order": "1042"]
    }
    let report = try engine.pay(order, key: "key-of-the-test")
    #expect(report.status == .requiresAction)
    #expect(report.result == ["state": "redirect"])
    let sent = stub.requests
    try #require(sent.count == 3)
    #expect(sent[0].url == "https://auth.truelayer-sandbox.com/connect/token")
    #expect(
      JSONReader.read(sent[0].body)?.object?.sorted
        == [
          "client_id": "sandbox-tender-0000",
          "client_secret": "bank-simulator-opens-nothing-else", "grant_type": "client_credentials",
          "scope": "payments",
        ]
    )
    #expect(sent[1].url == "https://api.truelayer-sandbox.com/v3/payments")
    #expect(
      Self.body(sent[1])
        == #"{"amount_in_minor":1000,"currency":"GBP","payment_method":{"type":"bank_transfer","#
        + #""provider_selection":{"type":"user_selected","scheme_selection":"#
        + #"{"type":"instant_preferred"}},"beneficiary":{"type":"external_account","#
        + #""account_holder_name":"Ben Eficiary","account_identifier":"#
        + #"{"type":"sort_code_account_number","sort_code":"560029","account_number":"26207729"},"#
        + #""reference":"ORDER-1042"}},"user":{"name":"Remi Terr","email":"remi@example.com"},"#
        + #""metadata":{"reference":"ORDER-1042","order":"1042"}}"#
    )
    let fields = Self.fields(sent[1])
    #expect(fields["Authorization"] == "Bearer the-access-token")
    #expect(fields["Idempotency-Key"] == "key-of-the-test")
    #expect(fields["Content-Type"] == "application/json; charset=UTF-8")
    #expect(Self.isSigned(sent[1], "/v3/payments", publicKey))
    #expect(stub.permitted == [false, true, false])
    let start = Self.fields(sent[2])
    #expect(start["Authorization"] == "Bearer the-resource-token")
    #expect(start["Tl-Signature"] == nil)
    #expect(
      Self.body(sent[2])
        == #"{"provider_selection":{},"scheme_selection":{},"branch_selection":{},"#
        + #""redirect":{"return_uri":"https://shop.example/return"},"#
        + #""form":{"input_types":["text","text_with_image","select"]},"#
        + #""consent":{"action_type":"explicit","requirements":{"pis":{}}}}"#
    )
    for request in sent where request.fields.contains(where: { $0.name == "Authorization" }) {
      #expect(request.fields.allSatisfy { $0.name != "Authorization" || $0.isSecret })
    }
  }

  @Test func `a later process signs what it writes where it has no resource token`() throws {
    let (privateKey, publicKey) = try SignatureTests.newKey()
    let path = "/v3/payments/\(Self.id)"
    let stub = StubHTTP([
      .init("POST", "/connect/token", 200, Self.token),
      .init("GET", path, 200, #"{"status":"authorization_required"}"#),
      .init("POST", path + "/authorization-flow", 200, Self.redirect),
    ])
    let world = try World()
    let engine = world.engine(over: stub) { _, configuration in
      configuration.privateKey = SharedSecret(privateKey)
    }
    _ = try engine.pay(try world.existing(Self.id))
    #expect(Self.fields(stub.requests[1])["Tl-Signature"] == nil)
    #expect(Self.isSigned(stub.requests[2], path + "/authorization-flow", publicKey))
  }

  @Test func `revokes and refunds sign an empty body and their own`() throws {
    let (privateKey, publicKey) = try SignatureTests.newKey()
    let path = "/v3/mandates/\(Self.id)"
    let stub = StubHTTP([
      .init("POST", "/connect/token", 200, Self.token),
      .init("GET", "/v3/payments/\(Self.id)", 404, "{}"),
      .init("POST", "/connect/token", 200, Self.token),
      .init("GET", path, 200, #"{"status":"authorized"}"#),
      .init("GET", path, 200, #"{"status":"authorized"}"#),
      .init("POST", path + "/revoke", .bytes(204, [], [:])),
      .init("GET", path, 200, #"{"id":"\#(Self.id)","status":"revoked"}"#),
    ])
    let world = try World()
    let engine = world.engine(over: stub) { _, configuration in
      configuration.privateKey = SharedSecret(privateKey)
    }
    let report = try engine.cancel(nil, handle: Self.id)
    #expect(report.status == .revoked)
    #expect(report.result == ["status": "revoked"])
    let revoke = try #require(stub.requests.last { $0.method == .post })
    #expect(revoke.body.isEmpty)
    #expect(Self.isSigned(revoke, path + "/revoke", publicKey))
    #expect(
      JSONReader.read(stub.requests[2].body)?["scope"]
        == "recurring_payments:sweeping recurring_payments:commercial"
    )
  }

  /// A repeated request and its key.
  struct Again: CustomTestStringConvertible {
    var name: String
    var answers: [StubHTTP.Step.Answer]
    /// The number of times that the creation is sent.
    var count: Int
    var exit: Int32
    var effect: Fault.Effect = .none

    var testDescription: String { name }
  }

  static let problem = #"{"type":"https://docs.truelayer.com/docs/error-types#"#

  static let again: [Again] = [
    Again(
      name: "500 and then 201",
      answers: [.json(500, "{}"), .json(201, created)],
      count: 2,
      exit: 0
    ),
    Again(
      name: "429 and then 201",
      answers: [.json(429, "{}"), .json(201, created)],
      count: 2,
      exit: 0
    ),
    Again(
      name: "Tl-Should-Retry and then 201",
      answers: [.bytes(409, [], ["tl-should-retry": "true"]), .json(201, created)],
      count: 2,
      exit: 0
    ),
    Again(
      name: "the key is in use, and then 201",
      answers: [
        .json(409, problem + #"idempotency-key-concurrency-conflict"}"#), .json(201, created),
      ],
      count: 2,
      exit: 0
    ),
    Again(
      name: "500 for ever",
      answers: (0..<9).map { _ in .json(500, "{}") },
      count: 4,
      exit: 9,
      effect: .unknown
    ),
    Again(
      name: "429 for ever",
      answers: (0..<9).map { _ in .json(429, "{}") },
      count: 4,
      exit: 11
    ),
    Again(
      name: "an answer that is lost, and then nothing",
      answers: [.lost],
      count: 1,
      exit: 9,
      effect: .unknown
    ),
    Again(name: "no connection", answers: [.unreachable], count: 1, exit: 10),
    Again(name: "refused", answers: [.json(400, "{}")], count: 1, exit: 7),
    Again(
      name: "500, and then a refusal: the first may have been heeded",
      answers: [.json(500, "{}"), .json(400, "{}")],
      count: 2,
      exit: 9,
      effect: .unknown
    ),
    Again(
      name: "a redirect, which nobody follows",
      answers: [.json(302, "{}")],
      count: 1,
      exit: 9,
      effect: .unknown
    ),
    Again(
      name: "a proxy that gave up",
      answers: [.json(499, "{}")],
      count: 1,
      exit: 9,
      effect: .unknown
    ),
    Again(
      name: "500, and then another request works on it",
      answers: [.json(500, "{}")]
        + (0..<9).map { _ in .json(409, problem + #"concurrency-conflict"}"#) },
      count: 4,
      exit: 9,
      effect: .unknown
    ),
  ]

  @Test(arguments: again) func `sends a creation again only under its key`(_ example: Again) throws
  {
    let world = try World()
    let stub = StubHTTP(
      [.init("POST", "/connect/token", 200, Self.token)]
        + example.answers.map { .init("POST", "/v3/payments", $0) }
        + [.init("POST", "/v3/payments/\(Self.id)/authorization-flow", 200, Self.redirect)]
    )
    let engine = world.engine(over: stub)
    var exit: Int32 = 0
    let order = try world.payment("A")
    do throws(Fault) {
      let report = try engine.pay(order)
      exit = report.fault?.exitStatus ?? 0
    } catch {
      exit = error.exitStatus
      #expect(error.effect == example.effect)
    }
    let creations = stub.requests.filter { $0.url.hasSuffix("/v3/payments") }
    #expect(exit == example.exit)
    #expect(creations.count == example.count)
    #expect(Set(creations.map { Self.fields($0)["Idempotency-Key"] ?? "" }).count == 1)
    #expect(Set(creations.map(\.body)).count == 1)
  }

  /// A payment with the members without which its end decides nothing.
  static func whole(_ status: String, _ id: String = id) -> String {
    #"{"id":"\#(id)","status":"\#(status)","amount_in_minor":1000,"currency":"GBP","#
      + #""payment_method":{"type":"bank_transfer","beneficiary":{"type":"external_account"}}}"#
  }

  /// The result of a cancel or revoke if the resource shows another state afterwards.
  @Test(arguments: [
    ("executed", Int32(6), "nothing_to_cancel"), ("authorized", 6, "nothing_to_cancel"),
    ("authorizing", 8, "cancel_pending"),
  ])
  func `a cancel believes what it sees`(_ status: String, _ exit: Int32, _ code: String) throws {
    let path = "/v3/payments/\(Self.id)"
    let seen = Self.whole(status)
    let world = try World()
    _ = try world.engine(
      over: StubHTTP([.init("GET", path, 200, Self.redirect)])
    ) { _, configuration in configuration.resourceToken = SharedSecret("resource-token") }
    .pay(try world.existing(Self.id))
    let stub = StubHTTP(
      [.init("POST", path + "/actions/cancel", .bytes(202, [], [:]))]
        + (0..<5).map { _ in .init("GET", path, 200, seen) }
    )
    let engine = world.engine(over: stub) { _, configuration in
      configuration.resourceToken = SharedSecret("resource-token")
    }
    let known = try world.latest(Self.id)
    do throws(Fault) {
      let report = try engine.cancel(known, handle: Self.id)
      #expect(report.fault?.exitStatus == exit)
      #expect(report.fault?.code == code)
    } catch {
      #expect(error.exitStatus == exit)
      #expect(error.code == code)
      #expect(error.effect == Fault.Effect.none)
    }
    #expect(try world.latest(Self.id)?.state.isFinal == (status == "executed"))
    // In each case, no other payment can be created beside it.
    let again = #expect(throws: Fault.self) {
      _ = try engine.pay(try world.existing(Self.id), newAttempt: true)
    }
    #expect(again?.code == "attempt_stands")
  }
}
