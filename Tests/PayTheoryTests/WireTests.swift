import PayTheory
import Synchronization
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// A scripted provider with separate keys. Requests are compared byte by byte, and answers have unusual
/// formats.
final class ScriptedServer: HTTPExchange, SocketExchange {
  struct Seen {
    var requests: [HTTPRequest] = []
    /// Whether each request had a permit.
    var permits: [Bool] = []
    var urls: [String] = []
    /// The servers that were connected when the token was asked for.
    var early: [String] = []
    var envelopes: [JSONObject] = []
    var inner: [String] = []
  }

  let seen = Mutex(Seen())
  let preparation: String
  let graphQL: @Sendable (String) -> HTTPResponse

  /// The body of `transfer_complete`.
  static let completion =
    #"{"state":"SUCCEEDED","receipt_number":"pt-1","amount":"1050","fee":"0","card_brand":"VISA","last_four":"1111","created_at":null,"new":{"x":null}}"#

  let completion: String
  /// Whether part 1 is answered with a confirmation. If not, it charges at once.
  let confirms: Bool

  init(
    preparation: String = "",
    completion: String = completion,
    confirms: Bool = true,
    graphQL: @escaping @Sendable (String) -> HTTPResponse = { _ in HTTPResponse(status: 500) }
  ) {
    self.preparation = preparation
    self.completion = completion
    self.confirms = confirms
    self.graphQL = graphQL
  }

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    try permit?.use()
    seen.withLock {
      $0.requests.append(request)
      $0.permits.append(permit != nil)
    }
    guard request.method == .get else {
      return graphQL(JSONReader.read(request.body)?["query"]?.text ?? "")
    }
    return HTTPResponse(status: 200, body: Array(#"{"pt-token":"a.b+c"}"#.utf8))
  }

  func connectAhead(to url: String, by deadline: Deadline) {
    seen.withLock { if $0.requests.isEmpty { $0.early.append(url) } }
  }

  func open(
    url: String,
    fields: [HTTPRequest.Field],
    by deadline: Deadline
  ) throws(Fault) -> any MessageSocket {
    seen.withLock { $0.urls.append(url) }
    return ScriptedSocket(self)
  }
}

private final class ScriptedSocket: MessageSocket {
  static let seed = (101...132).map { UInt8($0) }
  private let server: ScriptedServer
  private var answers: [String] = []

  init(_ server: ScriptedServer) { self.server = server }

  func send(_ text: String, _ permit: SendPermit?, by deadline: Deadline) throws(Fault) {
    try permit?.use()
    let envelope = JSONReader.read(text)?.object ?? [:]
    server.seen.withLock { $0.envelopes.append(envelope) }
    let encoded = envelope.text("encoded").flatMap(Base64.decode) ?? []
    let serverKey = Base64.encode(BoxVectors.publicKey(seed: Self.seed))
    guard envelope.text("action") != "host:hostToken" else {
      server.seen.withLock { $0.inner.append(String(decoding: encoded, as: UTF8.self)) }
      answers.append(
        #"{"type":"host_token","body":{"hostToken":"h","sessionKey":"s=","publicKey":"\#(serverKey)"}}"#
      )
      return
    }
    let client = envelope.text("publicKey").flatMap(Base64.decode) ?? []
    let plain = BoxVectors.open(encoded, from: client, seed: Self.seed) ?? []
    server.seen.withLock { $0.inner.append(String(decoding: plain, as: UTF8.self)) }
    let (type, body) =
      envelope.text("action") == "host:transfer_part1" && server.confirms
      ? ("transfer_confirmation", server.preparation)
      : ("transfer_complete", server.completion)
    let sealed =
      BoxVectors.seal(
        Array(body.utf8),
        nonce: [UInt8](repeating: 7, count: 24),
        to: client,
        seed: Self.seed
      ) ?? []
    answers.append(
      #"{"public_key":"\#(serverKey)","body":"\#(Base64.encode(sealed))","type":"\#(type)"}"#
    )
  }

  func receive(by deadline: Deadline) throws(Fault) -> SocketMessage {
    .text(answers.removeFirst())
  }

  func close(waiting: Bool) {}
}

@Suite struct WireTests {
  static let preparation = """
    { "idempotency":"pt-1","amount":1050, "fee" : 30,"fee_mode":"merchant_fee","currency":"USD",
      "payment_intent_id":"pi_1","odd":[1.10,1E+2,-0.0,"\\u0000\\/"],"zz":1,"aa":2 }
    """

  func engine(_ world: World, _ server: ScriptedServer) throws -> Engine {
    let key = try APIKey("acme-paytheorystudy-0123")
    var configuration = PayTheoryConfiguration(env: .sandbox, key: key)
    (configuration.merchantUID, configuration.secretKey) = ("UID", SharedSecret("SECRET"))
    let provider = PayTheoryProvider(
      PayTheoryContext(
        configuration: configuration,
        http: server,
        sockets: server,
        clock: world.clock,
        randomness: CountingRandomness(),
        redactor: world.redactor
      )
    )
    return Engine(
      env: .sandbox,
      provider: provider,
      journal: world.journal,
      clock: world.clock,
      interruption: NeverInterrupted(),
      patience: 500,
      digest: { $0 + [UInt8](repeating: 0, count: 16) },
      announce: { _ in }
    )
  }

  @Test func `sends each message as documented, and the preparation byte for byte`() throws {
    let world = try World()
    let server = ScriptedServer(preparation: Self.preparation)
    let engine = try engine(world, server)
    let report = try engine.pay(world.order())
    #expect(report.status == .succeeded)
    #expect(report.result["body"]?["brand"] == "VISA")
    #expect(report.result["body"]?["amount"] == 1050)
    #expect(report.result["body"]?["service_fee"] == 0)
    let seen = server.seen.withLock { $0 }
    let token = try #require(seen.requests.first)
    #expect(token.url == "https://acme.paytheorystudy.com/pt-token-service/")
    #expect(token.fields.map(\.name) == ["X-API-Key", "Content-Type", "X-Session-Key"])
    #expect(seen.early == ["wss://acme.secure.socket.paytheorystudy.com/acme/"])
    #expect(
      seen.urls == ["wss://acme.secure.socket.paytheorystudy.com/acme/?pt_token=a.b%2Bc"]
    )
    #expect(
      seen.envelopes.map { $0.members.map(\.key) } == [
        ["action", "encoded"], ["action", "encoded", "sessionKey", "publicKey"],
        ["action", "encoded", "sessionKey", "publicKey"],
      ]
    )
    let host = try #require(JSONReader.read(seen.inner[0])?.object)
    #expect(host.text("ptToken") == "a.b+c")
    #expect(host.text("origin") == "apple")
    #expect(host.text("attestation") == "")
    #expect(host["require_attestation"] == false)
    let part1 = try #require(JSONReader.read(seen.inner[1])?.object)
    #expect(part1["confirmation_needed"] == true)
    #expect(part1["payment_method_data"]?["number"] == "4111111111111111")
    #expect(part1["payment_method_data"]?["expiration_month"] == "12")
    #expect(part1["payor_info"] == ["personal_address": [:]])
    #expect(seen.inner[2].contains(#""payment_prep":"# + Self.preparation + ","))
    #expect(!seen.inner[2].contains("hostToken"))
  }

  @Test(arguments: [
    #"{"idempotency":"pt-1","amount":1051}"#, #"{"idempotency":"pt-1"}"#,
    #"{"idempotency":"pt-1","amount":null}"#, #"{"idempotency":"pt-1","amount":1050.5}"#,
    #"{"idempotency":"pt-1","amount":1050,"currency":"EUR"}"#,
    #"{"idempotency":"pt-1","amount":1050,"fee_mode":"service_fee"}"#,
  ])
  func `captures nothing but what was ordered`(_ preparation: String) throws {
    let world = try World()
    let server = ScriptedServer(preparation: preparation)
    let engine = try engine(world, server)
    let fault = #expect(throws: Fault.self) {
      try engine.pay(world.order())
    }
    #expect(fault?.code == "amount_mismatch")
    #expect(fault?.effect == Fault.Effect.none)
    let actions = server.seen.withLock { $0.envelopes.compactMap { $0.text("action") } }
    #expect(actions == ["host:hostToken", "host:transfer_part1", "host:cancel_transfer"])
  }

  /// A hold of another payment of the account.
  @Test(arguments: [#""last_four":"4242""#, #""pay_theory_data":{"reference":"B"}"#])
  func `a confirmation of another payment is neither captured nor released`(_ more: String) throws {
    let world = try World()
    let server = ScriptedServer(preparation: #"{"idempotency":"pt-1","amount":1050,\#(more)}"#)
    let fault = #expect(throws: Fault.self) { try engine(world, server).pay(world.order()) }
    #expect(fault?.exitStatus == 11)
    #expect(fault?.effect == Fault.Effect.none)
    let actions = server.seen.withLock { $0.envelopes.compactMap { $0.text("action") } }
    #expect(actions == ["host:hostToken", "host:transfer_part1"])
  }

  /// A look-up that shows nothing.
  private static let nothing: @Sendable (String) -> HTTPResponse = { _ in
    HTTPResponse(status: 200, body: Array(#"{"data":{"transactions":{"items":[]}}}"#.utf8))
  }

  /// The first request charged, and look-ups lag.
  @Test(arguments: ["DUPLICATE_TRANSACTION", "AUTHORIZATION_EXPIRED_OR_ALREADY_CAPTURED"])
  func `a refused repetition decides nothing`(_ type: String) throws {
    let world = try World()
    func pay(_ completion: String) throws -> Fault? {
      let server = ScriptedServer(
        preparation: Self.preparation,
        completion: completion,
        graphQL: Self.nothing
      )
      return #expect(throws: Fault.self) { try engine(world, server).pay(world.order()) }
    }
    #expect(try pay("{}")?.exitStatus == 9)
    let refusal = #"{"state":"FAILURE","type":"\#(type)","receipt_number":"pt-1"}"#
    for _ in 1...2 {
      let refused = try pay(refusal)
      #expect(refused?.exitStatus == 9)
      #expect(refused?.message.contains("refused the repetition (\(type))") == true)
    }
    #expect(try world.latest(env: .sandbox)?.state.isUnknown == true)
  }

  /// Part 1 charges at once, although a confirmation was asked for, and its answer is not clear.
  @Test(arguments: ["{}", #"{"state":"SUCCEEDED","receipt_number":"pt-1","amount":900}"#])
  func `an unclear charge in one step is unknown, and is not made again`(
    _ completion: String
  ) throws {
    let world = try World()
    let server = ScriptedServer(completion: completion, confirms: false, graphQL: Self.nothing)
    for _ in 1...2 {
      let fault = #expect(throws: Fault.self) { try engine(world, server).pay(world.order()) }
      #expect(fault?.exitStatus == 9)
      #expect(try world.latest(env: .sandbox)?.state.isUnknown == true)
    }
    let actions = server.seen.withLock { $0.envelopes.compactMap { $0.text("action") } }
    #expect(actions == ["host:hostToken", "host:transfer_part1"])
  }

  /// An answer must name its payment, its amount and a possible state of a new payment.
  @Test(arguments: [
    #"{"state":"FAILURE"}"#, #"{"state":"FAILURE","type":"GENERIC_DECLINE"}"#,
    #"{"state":"FAILURE","receipt_number":""}"#, #"{"state":"FAILURE","receipt_number":"pt-9"}"#,
    #"{"state":"SUCCEEDED","receipt_number":"pt-1"}"#,
    #"{"state":"SUCCEEDED","receipt_number":"pt-1","amount":-1050}"#,
    #"{"state":"SUCCEEDED","receipt_number":"pt-1","amount":1050.5}"#,
    #"{"state":"SUCCEEDED","receipt_number":"pt-1","amount":1e30}"#,
    #"{"state":"SUCCEEDED","receipt_number":"pt-1","amount":[1050]}"#,
    #"{"state":"SUCCEEDED","amount":1050}"#,
    #"{"state":"SUCCEEDED","receipt_number":null,"amount":1050}"#,
    #"{"state":"","receipt_number":"pt-1","amount":1050}"#,
    #"{"state":"CANCELED","receipt_number":"pt-1","amount":1050}"#,
    #"{"state":"ERROR","receipt_number":"pt-1","amount":1050}"#,
    #"{"state":"VOIDED","receipt_number":"pt-1","amount":1050}"#,
  ])
  func `an answer that names too little decides nothing`(_ completion: String) throws {
    let world = try World()
    let server = ScriptedServer(preparation: Self.preparation, completion: completion)
    let fault = #expect(throws: Fault.self) { try engine(world, server).pay(world.order()) }
    #expect(fault?.exitStatus == 9)
    #expect(fault?.effect == .unknown)
    #expect(try world.latest(env: .sandbox)?.state.isUnknown == true)
  }

  @Test func `a decline that names its payment is one`() throws {
    let world = try World()
    let completion = #"{"state":"FAILURE","type":"GENERIC_DECLINE","receipt_number":"pt-1"}"#
    let server = ScriptedServer(preparation: Self.preparation, completion: completion)
    #expect(try engine(world, server).pay(world.order()).fault?.exitStatus == 3)
  }

  struct Answer: CustomTestStringConvertible {
    let status: Int
    let body: String
    let lookUp: Int32
    let effecting: Int32

    var testDescription: String { "\(status) \(body)" }
  }

  @Test(arguments: [
    Answer(status: 401, body: "{}", lookUp: 4, effecting: 9),
    Answer(status: 403, body: "", lookUp: 4, effecting: 9),
    Answer(status: 429, body: "", lookUp: 11, effecting: 9),
    Answer(status: 500, body: "", lookUp: 11, effecting: 9),
    Answer(status: 200, body: "<html>", lookUp: 11, effecting: 9),
    Answer(status: 200, body: "{}", lookUp: 11, effecting: 9),
    Answer(status: 200, body: #"{"data":null}"#, lookUp: 11, effecting: 9),
    // A refusal may come after the effect, unless its code refuses the document.
    Answer(status: 200, body: #"{"errors":[{"message":"no"}]}"#, lookUp: 7, effecting: 9),
    Answer(status: 400, body: #"{"errors":[{"message":"no"}]}"#, lookUp: 7, effecting: 9),
    Answer(status: 409, body: "{}", lookUp: 7, effecting: 9),
    Answer(
      status: 200,
      body: #"{"errors":[{"message":"Unknown argument 'x' on field 'Mutation.y'."}]}"#,
      lookUp: 7,
      effecting: 9
    ),
    Answer(
      status: 400,
      body: #"{"errors":[{"message":"no","extensions":{"code":"GRAPHQL_PARSE_FAILED"}}]}"#,
      lookUp: 7,
      effecting: 7
    ),
    Answer(
      status: 200,
      body: #"{"data":null,"errors":[{"message":"no","#
        + #""extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}"#,
      lookUp: 7,
      effecting: 7
    ),
    Answer(
      status: 500,
      body: #"{"errors":[{"message":"no","extensions":{"code":"GRAPHQL_PARSE_FAILED"}}]}"#,
      lookUp: 11,
      effecting: 9
    ),
    Answer(
      status: 200,
      body: #"{"errors":[{"message":"no","path":["createTransaction"],"#
        + #""extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}"#,
      lookUp: 7,
      effecting: 9
    ),
    Answer(
      status: 200,
      body: #"{"errors":[{"message":"no","extensions":{"code":"GRAPHQL_PARSE_FAILED"}},"#
        + #"{"message":"no"}]}"#,
      lookUp: 7,
      effecting: 9
    ),
    Answer(
      status: 200,
      body: #"{"data":{"createTransaction":null},"errors":[{"message":"no"}]}"#,
      lookUp: 11,
      effecting: 9
    ),
    Answer(
      status: 200,
      body: #"{"errors":[{"message":"no","errorType":"UnauthorizedException"}]}"#,
      lookUp: 4,
      effecting: 9
    ),
  ])
  func `tells a refusal from an answer that leaves the money open`(_ answer: Answer) throws {
    let world = try World()
    let method = """
      {"data":{"paymentMethodTokens":{"items":[{"payment_method_id":"pt_pmt_1"}]}}}
      """
    let server = ScriptedServer { query in
      query.contains("paymentMethodTokens")
        ? HTTPResponse(status: 200, body: Array(method.utf8))
        : HTTPResponse(status: answer.status, body: Array(answer.body.utf8))
    }
    let engine = try engine(world, server)
    let looked = #expect(throws: Fault.self) { try engine.lookUp("pt-9", known: nil) }
    #expect(looked?.exitStatus == answer.lookUp)
    var order = try world.order()
    order.instrument = nil
    order.storedMethod = "pt_pmt_1"
    let charged = #expect(throws: Fault.self) {
      try engine.pay(order)
    }
    #expect(charged?.exitStatus == answer.effecting)
    let (requests, permits) = server.seen.withLock { ($0.requests, $0.permits) }
    // The payment is looked up once, by its reference, if the result is unknown.
    let looks = answer.effecting == 9
    #expect(permits == [false, false, true] + (looks ? [false] : []))
    #expect(requests.allSatisfy { $0.url == "https://api.acme.paytheorystudy.com/graphql" })
    #expect(
      requests[1].fields.first { $0.name == "Authorization" }?.value == "UID;SECRET"
    )
  }

  @Test func `escapes what stands in a query`() throws {
    let world = try World()
    let server = ScriptedServer { _ in
      HTTPResponse(
        status: 200,
        body: Array(#"{"data":{"transactions":{"items":[],"total_row_count":0}}}"#.utf8)
      )
    }
    let engine = try engine(world, server)
    let evil = #"x", operator: EQUAL}]}) { a } # \"#
    _ = try? engine.lookUp(evil, known: nil)
    let body = server.seen.withLock { $0.requests[0].body }
    let query = try #require(JSONReader.read(body)?["query"]?.text)
    #expect(query.contains(#"value: "x\", operator: EQUAL}]}) { a } # \\","#))
  }
}
