import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// Checks every request of the adapter and every answer of the simulator against TrueLayer's published
/// schema.
@Suite(
  .serialized,
  .onOwnThread,
  .enabled(if: Judge.has("jsonschema"), "python3-jsonschema is not installed")
)
struct SchemaTests {
  func simulator(
    _ world: World,
    scenario: String? = nil,
    fault: String? = nil,
    playsPayer: Bool = true
  ) throws -> InProcessSimulator {
    var options = SimulatorOptions()
    if let scenario { try options.set(scenario: scenario, among: [SimulatedTrueLayer()]) }
    if let fault { try options.set(fault: fault, among: [SimulatedTrueLayer()]) }
    return try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: world.folder.path + "/simulator.db",
        clock: world.clock,
        randomness: SeededRandomness(seed: Int.random(in: 0..<1_000_000), label: "sim"),
        options: options,
        providers: [SimulatedTrueLayer()]
      ),
      playsPayer: playsPayer
    )
  }

  /// Runs a sequence of commands, whatever their results.
  func run(
    _ judge: Judge,
    scenario: String?,
    fault: String? = nil,
    _ body: (World, Engine) throws -> Void
  ) throws -> JudgedHTTP {
    let world = try World(form: Self.form)
    let http = JudgedHTTP(try simulator(world, scenario: scenario, fault: fault), judge)
    let engine = world.engine(over: http, listens: true) { options, _ in
      options.bank = "mock-payments-gb-redirect"
      options.patience = 20_000
    }
    try body(world, engine)
    return http
  }

  static let form = [
    "psu-branch-code": "123", "psu-account-number": "1234567", "psu-sub-account": "01",
    "psu-id": "remi", "psu-password": "secret", "embedded-auth-flow-sca-select": "Sms",
    "embedded-auth-flow-sms-input": "123456", "remitter-iban": "NL39ABNA8234998285",
  ]

  func attempt(_ body: () throws -> Void) {
    // Other tests check the result. Here every exchange counts.
    do { try body() } catch {}
  }

  /// Payment, look-up, cancel, refund, mandate, look-up, revoke.
  func wholeStory(_ world: World, _ engine: Engine) throws {
    attempt {
      _ = try engine.pay(world.payment("A"))
    }
    attempt { _ = try engine.lookUp("A", known: world.latest("A")) }
    attempt { _ = try engine.cancel(world.latest("A"), handle: "A") }
    attempt {
      let order = try world.payment("R", amount: 2000) { creation in
        creation.sortCode = nil
        creation.accountNumber = nil
        creation.merchantAccount = "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6"
      }
      _ = try engine.pay(order)
    }
    for _ in 0..<2 {
      attempt {
        _ = try engine.refund(
          world.latest("R"),
          handle: "R",
          try .test(500),
          idempotencyKey: nil
        )
      }
      world.clock.advance(3000)
    }
    attempt { _ = try engine.lookUp("R", known: world.latest("R")) }
    attempt {
      _ = try engine.pay(world.mandate("M"))
    }
    attempt { _ = try engine.lookUp("M", known: world.latest("M"), kind: .mandate) }
    attempt { _ = try engine.cancel(world.latest("M"), handle: "M") }
    attempt { _ = try engine.lookUp("M", known: world.latest("M"), kind: .mandate) }
  }

  @Test func `every request and answer of every scenario`() throws {
    let judge = try JudgedHTTP.judge()
    let scenarios = [SimulatedTrueLayer()].flatMap(\.scenarios).map(\.name).filter { name in
      ["bank:", "mandate:", "refund:"].contains { name.hasPrefix($0) }
    }
    var operations: Set<String> = []
    for scenario in [nil] + scenarios.map(Optional.some) {
      let http = try run(judge, scenario: scenario, wholeStory)
      #expect(http.problems == [], "\(scenario ?? "none")")
      operations.formUnion(http.operations.keys)
    }
    #expect(scenarios.count > 35)
    #expect(
      operations == [
        "create-payment", "get-payment", "start-payment-authorization-flow",
        "submit-provider-selection", "submit-consent", "cancel-payment", "create-payment-refund",
        "get-payment-refunds", "get-payment-refund", "create-mandate", "get-mandate",
        "start-mandate-authorization-flow", "submit-mandate-provider-selection",
        "submit-mandate-consent", "revoke-mandate",
      ]
    )
  }

  @Test func `every request and answer of every fault`() throws {
    let judge = try JudgedHTTP.judge()
    let steps = [
      "bank-token", "create", "start", "selection", "consent", "form", "return", "status",
      "bank-cancel", "revoke", "refund", "refunds",
    ]
    let faults = SimulatedTrueLayer().faults.words.map(\.name).filter { name in
      steps.contains { name.hasPrefix($0 + ":") } && !name.contains(":latency=")
    }
    #expect(faults.count > 130)
    for fault in faults {
      let http = try run(judge, scenario: nil, fault: fault + "*1", wholeStory)
      #expect(http.problems == [], "\(fault)")
    }
  }

  /// Every bank: forms, branches, schemes, embedded, decoupled.
  @Test(arguments: [
    ("mock-payments-de-redirect", "EUR"), ("mock-payments-de-embedded", "EUR"),
    ("mock-payments-de-redirect-additional-input-text", "EUR"),
    ("mock-payments-de-embedded-ais-pis", "EUR"), ("mock-payments-de-decoupled", "EUR"),
    ("mock-payments-fr-redirect", "EUR"), ("mock-payments-nl-redirect", "EUR"),
    ("mock-payments-gb-redirect-unhealthy", "GBP"),
  ])
  func `every step of every bank`(_ bank: String, _ currency: String) throws {
    let judge = try JudgedHTTP.judge()
    for preselects in [false, true] {
      let world = try World(form: Self.form)
      let http = JudgedHTTP(try simulator(world), judge)
      let engine = world.engine(over: http, listens: true) { options, _ in
        options.bank = bank
        options.branch = "main-branch"
        options.scheme = currency == "EUR" ? "sepa_credit_transfer" : nil
        options.consentsToAccountData = true
        options.account = preselects ? nil : "new"
      }
      let order = try world.payment("A", currency: currency) { creation in
        if preselects { creation.preselectedBank = bank }
      }
      attempt {
        let report = try engine.pay(order)
        #expect(report.status == .succeeded || report.result["state"] == "wait", "\(report.result)")
      }
      #expect(http.problems == [], "\(bank) \(preselects)")
      #expect(http.operations["create-payment"] == 1)
    }
  }

  /// Sends a request to the simulator, as another client does.
  func ask(
    _ world: World,
    _ simulator: InProcessSimulator,
    _ method: HTTPMethod,
    _ path: String,
    body: String = "",
    key: String? = nil
  ) throws -> (response: HTTPResponse, json: JSON) {
    let token = try simulator.send(
      HTTPRequest(
        method: .post,
        url: "https://simulator/connect/token",
        body: Array(
          JSONWriter.text([
            "grant_type": "client_credentials", "client_id": .string(BankCatalog.clientID),
            "client_secret": .string(BankCatalog.clientSecret), "scope": "payments mandates",
          ]).utf8
        )
      ),
      by: Deadline(in: 1000, on: world.clock)
    )
    let bearer = JSONReader.read(token.body)?["access_token"]?.text ?? ""
    var fields = [HTTPRequest.Field("Authorization", "Bearer \(bearer)")]
    if method == .post {
      let key = key ?? UUID().uuidString
      fields.append(HTTPRequest.Field("Idempotency-Key", key))
      fields.append(
        HTTPRequest.Field(
          "Tl-Signature",
          try RequestSignature.value(
            method: method.rawValue,
            path: String(path.prefix { $0 != "?" }),
            headers: [("Idempotency-Key", key)],
            body: Array(body.utf8),
            keyID: BankCatalog.keyID,
            key: SharedSecret(BankCatalog.privateKey)
          )
        )
      )
    }
    let response = try simulator.send(
      HTTPRequest(
        method: method,
        url: "https://simulator" + path,
        fields: fields,
        body: Array(body.utf8)
      ),
      by: Deadline(in: 1000, on: world.clock)
    )
    return (response, JSONReader.read(response.body) ?? .null)
  }

  func verdict(
    _ judge: Judge,
    _ method: HTTPMethod,
    _ path: String,
    body: String,
    _ response: HTTPResponse,
    checksRequest: Bool = true
  ) throws -> [String] {
    try judge.ask([
      "method": .string(method.rawValue), "path": .string(String(path.prefix { $0 != "?" })),
      "key": true, "checks_request": .bool(checksRequest), "signature": true,
      "request": .string(body), "status": .integer(response.status),
      "response": .string(String(decoding: response.body, as: UTF8.self)),
      "trace_id": response.fields["tl-trace-id"].map(JSON.string) ?? .null,
    ])["problems"]?.array?.compactMap(\.text) ?? ["no verdict"]
  }

  @Test func `what no command asks for is there as well`() throws {
    let world = try World()
    let judge = try JudgedHTTP.judge()
    let simulator = try simulator(world, scenario: "mandate:authorise")
    let engine = world.engine(over: simulator, listens: true) { options, _ in
      options.bank = "mock-payments-gb-redirect"
    }
    let made = try engine.pay(world.mandate("M"))
    let id = try #require(made.id)
    for path in [
      "/v3/mandates", "/v3/mandates/\(id)/funds?amount_in_minor=100&currency=GBP",
      "/v3/mandates/\(id)/constraints", "/v3/payments-providers/mock-payments-gb-redirect",
      "/v3/payments-providers/nowhere", "/v3/mandates/\(id)/funds?currency=GBP",
    ] {
      let (response, _) = try ask(world, simulator, .get, path)
      #expect(try verdict(judge, .get, path, body: "", response) == [], "\(path)")
    }
    let funds = "/v3/mandates/\(id)/funds?currency=GBP&amount_in_minor="
    #expect(try ask(world, simulator, .get, funds + "5000").json["confirmed"] == true)
    #expect(try ask(world, simulator, .get, funds + "5001").json["confirmed"] == false)
    let list = try ask(world, simulator, .get, "/v3/mandates").json
    #expect(list["items"]?.array?.first?["id"] == .string(id))
    #expect(list["items"]?.array?.first?["reference"]?.text?.isEmpty == false)
    #expect(list["items"]?.array?.first?["created_at"] != nil)
    let search = #"{"countries":["DE"],"authorization_flow":{"configuration":{}}}"#
    let found = try ask(world, simulator, .post, "/v3/payments-providers/search", body: search)
    #expect(
      try verdict(judge, .post, "/v3/payments-providers/search", body: search, found.response) == []
    )
    #expect(found.json["items"]?.array?.count == 5)
    #expect(found.json["items"]?.array?.allSatisfy { $0["country_code"] == "DE" } == true)
  }

  @Test func `other methods and unknown paths are answered as problems`() throws {
    let world = try World()
    let simulator = try simulator(world)
    let wrong = try ask(world, simulator, .get, "/v3/payments")
    #expect(wrong.response.status == 405)
    #expect(wrong.response.fields["allow"] == "POST")
    #expect(wrong.json["trace_id"]?.text == wrong.response.fields["tl-trace-id"])
    for path in [
      "/v3/nothing", "/v3/payments/x/nothing", "/v3/mandates/x/authorization-flow/actions/form",
    ] {
      let unknown = try ask(world, simulator, .post, path)
      #expect(unknown.response.status == 404)
      #expect(unknown.json["title"] == "Not Found")
      #expect(unknown.json["trace_id"]?.text == unknown.response.fields["tl-trace-id"])
    }
  }
}
