private import CSodium
import TenderEngine
import TenderModel

/// The simulated TrueLayer's HTTP side: tokens, signatures, keys, and the endpoints
/// (TrueLayer/README, 1.4 and 10).
struct BankHTTP {
  let bank: BankWorld
  let faults: FaultPlan

  var world: SimulatorWorld { bank.world }
  var ledger: Ledger { bank.ledger }

  init(world: SimulatorWorld, ledger: Ledger, faults: FaultPlan) {
    bank = BankWorld(world: world, ledger: ledger)
    self.faults = faults
  }

  /// Who asks.
  enum Caller: Equatable {
    case client
    /// A token of one resource; nil for the simulator's own, which is good for all.
    case resource(String?)
  }

  /// Handles a request; nil where the path is not one of TrueLayer's.
  func handle(_ request: SimulatedRequest) throws(Fault) -> HTTPReaction? {
    let parts = request.path.split(separator: "/").map(String.init)
    if request.path == "/connect/token" {
      return try faults.react("bank-token", forced: forced) { () throws(Fault) in
        try answer(request) { request throws(BankProblem) in try token(request) }
      }
    }
    if request.path == "/test-signature" {
      return .answer(
        try answer(request) { request throws(BankProblem) in
          _ = try client(request)
          guard BankSignature.fits(request.fields["tl-signature"] ?? "", request) else {
            throw .badSignature
          }
          return Reply(204, nil)
        }
      )
    }
    guard parts.first == "v3" else {
      return try BankPages(bank: bank).handle(request, parts)
    }
    guard let route = BankRoute(parts) else {
      return .answer(try answer(request) { _ throws(BankProblem) in throw .notFound })
    }
    guard route.methods.contains(request.method) else {
      var refused = try answer(request) { _ throws(BankProblem) in throw .method }
      refused.fields["allow"] = route.methods.joined(separator: ", ")
      return .answer(refused)
    }
    return try faults.react(route.step(request.method), forced: forced) { () throws(Fault) in
      try answer(request) { request throws(BankProblem) in try self.answer(request, parts, route) }
    }
  }

  func forced(_ status: Int) -> HTTPResponse {
    var answer = BankProblem.forced(status).answer(traceID: traceID)
    answer.fields["tl-should-retry"] = status >= 500 ? "true" : "false"
    return answer
  }

  var traceID: String {
    world.randomness.bytes(16).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// An answer before it is bytes.
  struct Reply {
    var status: Int
    var body: JSONObject?

    init(_ status: Int, _ body: JSONObject?) {
      self.status = status
      self.body = body
    }
  }

  func answer(
    _ request: SimulatedRequest,
    _ body: (SimulatedRequest) throws(BankProblem) -> Reply
  ) throws(Fault) -> HTTPResponse {
    var response: HTTPResponse
    do throws(BankProblem) {
      let reply = try body(request)
      response = HTTPResponse(
        status: reply.status,
        body: reply.body.map { Array(JSONWriter.text(.object($0)).utf8) } ?? [],
        fields: ["tl-trace-id": traceID]
      )
      if reply.body != nil {
        response.fields["content-type"] = "application/json; charset=UTF-8"
      }
    } catch {
      response = error.answer(traceID: traceID)
    }
    if request.method == "POST" { response.fields["tl-should-retry"] = "false" }
    return response
  }

  func token(_ request: SimulatedRequest) throws(BankProblem) -> Reply {
    let body: [String: String]
    if request.fields["content-type"]?.contains("x-www-form-urlencoded") == true {
      body = QueryText.parameters(String(decoding: request.body, as: UTF8.self))
    } else {
      let members = JSONReader.read(request.body)?.object?.members ?? []
      body = Dictionary(
        members.compactMap { member in member.value.text.map { (member.key, $0) } },
        uniquingKeysWith: { $1 }
      )
    }
    guard body["grant_type"] == "client_credentials", body["client_id"] == BankCatalog.clientID,
      body["client_secret"] == BankCatalog.clientSecret
    else { return Reply(400, ["error": "invalid_client"]) }
    let scope = body["scope"] ?? "payments"
    let token = WebToken.sign([
      "client_id": .string(BankCatalog.clientID), "scope": .string(scope),
      "exp": .integer(bank.now / 1000 + 3600), "jti": .string(bank.uuid()),
    ])
    return Reply(
      200,
      [
        "access_token": .string(token), "expires_in": 3600, "token_type": "Bearer",
        "scope": .string(scope),
      ]
    )
  }

  func caller(_ request: SimulatedRequest) throws(BankProblem) -> Caller {
    let header = request.fields["authorization"] ?? ""
    guard header.hasPrefix("Bearer ") else { throw .noToken }
    let token = String(header.dropFirst("Bearer ".count))
    if token == BankCatalog.resourceToken { return .resource(nil) }
    guard let claims = WebToken.verify(token, now: bank.now) else { throw .noToken }
    if claims["scope"] != nil { return .client }
    guard let id = claims.text("jti") else { throw .noToken }
    return .resource(id)
  }

  func client(_ request: SimulatedRequest) throws(BankProblem) -> Caller {
    let caller = try caller(request)
    guard caller == .client else { throw .forbidden }
    return caller
  }

  func answer(
    _ request: SimulatedRequest,
    _ parts: [String],
    _ route: BankRoute
  ) throws(BankProblem) -> Reply {
    switch route.endpoint {
    case .providerReturn:
      return try keyed(request, route) { body throws(BankProblem) in try providerReturn(body) }
    case .provider:
      guard let found = BankCatalog.bank(parts[2]) else { throw .notFound }
      return Reply(
        200,
        BankLookUps(screens: BankScreens(bank: bank, pages: pages(request))).provider(found)
      )
    default: break
    }
    let caller = try caller(request)
    let isWrite = request.method == "POST"
    if case .resource(let id) = caller {
      guard !route.isForClient, id == nil || parts.count > 2 && id == parts[2] else {
        throw .forbidden
      }
    }
    // A search changes nothing and is not signed.
    if isWrite, caller == .client, route.endpoint != .search {
      guard BankSignature.fits(request.fields["tl-signature"] ?? "", request) else {
        throw .badSignature
      }
    }
    guard isWrite else { return Reply(200, try read(route, parts, caller, request)) }
    if route.wantsKey, request.fields["idempotency-key"] == nil {
      throw .invalid("Idempotency-Key", "Value is required.")
    }
    return try keyed(request, route) { body throws(BankProblem) in
      try write(route, parts, body, pages: pages(request))
    }
  }

  func pages(_ request: SimulatedRequest) -> String {
    request.fields["host"].map { "http://\($0)" } ?? "https://bank.simulator.invalid"
  }

  /// Runs a write once for each idempotency key, and repeats its answer afterwards (TrueLayer/README, 7.1).
  ///
  /// A member that is null is one that is not there; some clients write an empty list for nothing.
  func keyed(
    _ request: SimulatedRequest,
    _ route: BankRoute,
    _ perform: (JSONObject) throws(BankProblem) -> Reply
  ) throws(BankProblem) -> Reply {
    let given = request.body.isEmpty ? [:] : JSONReader.read(request.body)
    guard let body = given == [] ? [:] : given?.object?.withoutNulls else {
      throw .invalid("$", "The body is no JSON object.")
    }
    func run(_ body: JSONObject) throws(BankProblem) -> Reply {
      if let violation = route.body.violation(in: .object(body)) {
        throw .invalid(violation.place.isEmpty ? "$" : violation.place, violation.reason)
      }
      return try perform(body)
    }
    guard let key = request.fields["idempotency-key"] else { return try run(body) }
    // A form holds passwords: what was sent is remembered by its hash.
    let content = Self.hash("\(request.method) \(request.path)\n", request.body)
    let known = try stored { () throws(Fault) in
      try ledger.find(BankKey.table, key).flatMap(BankKey.init)
    }
    if let known, bank.now - known.used < BankKey.life {
      guard known.content == content else { throw .keyReuse }
      var body = known.body
      if known.hasToken, let id = body?.text("id") {
        body?["resource_token"] = .string(resourceToken(id))
      }
      return Reply(known.status, body)
    }
    let reply = try run(body)
    let entry = BankKey(content: content, status: reply.status, body: reply.body, at: bank.now)
    _ = try stored { () throws(Fault) in try ledger.put(BankKey.table, key, entry.stored) }
    return reply
  }

  /// The ledger's faults end as the server's own.
  func stored<Value>(_ body: () throws(Fault) -> Value) throws(BankProblem) -> Value {
    do throws(Fault) {
      return try body()
    } catch {
      throw .forced(500)
    }
  }

  func find(
    _ kind: BankOrder.Kind,
    _ id: String,
    isAwaited: Bool = false
  ) throws(BankProblem) -> BankResource {
    let found = try stored { () throws(Fault) in
      try bank.find(kind, id, isAwaited: isAwaited)
    }
    guard let found else { throw .notFound }
    return found
  }

  func read(
    _ route: BankRoute,
    _ parts: [String],
    _ caller: Caller,
    _ request: SimulatedRequest
  ) throws(BankProblem) -> JSONObject {
    let screens = BankScreens(bank: bank, pages: pages(request))
    let lookUps = BankLookUps(screens: screens)
    guard parts.count >= 3 else { return try stored { () throws(Fault) in try lookUps.mandates() } }
    let resource = try find(route.kind, parts[2], isAwaited: true)
    switch route.endpoint {
    case .refunds, .refund:
      let refunds = try stored { () throws(Fault) in try bank.refunds(of: resource.id) }
      guard route.endpoint == .refund else {
        return ["items": .array(refunds.map { .object($0.shown(at: bank.now)) })]
      }
      guard let refund = refunds.first(where: { $0.id == parts[4] }) else { throw .notFound }
      return refund.shown(at: bank.now)
    case .funds: return try lookUps.funds(resource, request.query)
    case .constraints:
      return try stored { () throws(Fault) in try lookUps.constraints(resource) }
    default: return screens.shown(resource, toClient: caller == .client)
    }
  }

  func write(
    _ route: BankRoute,
    _ parts: [String],
    _ body: JSONObject,
    pages: String
  ) throws(BankProblem) -> Reply {
    let screens = BankScreens(bank: bank, pages: pages)
    let steps = BankSteps(bank: bank)
    if route.endpoint == .search { return Reply(200, BankLookUps(screens: screens).search(body)) }
    if route.endpoint == .collection {
      var made = try BankCreation(bank: bank).make(body)
      if let capabilities = body["authorization_flow"]?.object {
        try steps.start(&made, capabilities)
      }
      try save(made)
      return Reply(201, screens.created(made, token: resourceToken(made.id)))
    }
    var resource = try find(route.kind, parts[2])
    let reply: Reply
    switch route.endpoint {
    case .start:
      try steps.start(&resource, body)
      reply = Reply(200, screens.progress(resource))
    case .cancel:
      guard resource.isOpen else { throw .state }
      resource.fail("canceled", at: bank.now)
      reply = Reply(202, nil)
    case .revoke:
      guard resource.status == .authorized else { throw .state }
      resource.revoke(at: bank.now)
      reply = Reply(204, nil)
    case .refunds: return try refund(resource, body)
    case .submission(let action):
      try steps.submit(action, body, &resource)
      reply = Reply(200, screens.progress(resource))
    default: throw .notFound
    }
    try save(resource)
    return reply
  }

  private func save(_ resource: BankResource) throws(BankProblem) {
    try stored { () throws(Fault) in try bank.save(resource) }
  }

  /// A token for one resource, good for 15 minutes (TrueLayer/README, 1.3).
  func resourceToken(_ id: String) -> String {
    WebToken.sign([
      "client_id": .string(BankCatalog.clientID), "jti": .string(id),
      "nbf": .integer(bank.now / 1000), "exp": .integer(bank.now / 1000 + 900),
    ])
  }

  static func hash(_ head: String, _ body: [UInt8]) -> String {
    let bytes = Array(head.utf8) + body
    var digest = [UInt8](repeating: 0, count: 32)
    _ = unsafe crypto_generichash(&digest, 32, bytes, UInt64(bytes.count), nil, 0)
    return Base64.encodeURL(digest)
  }
}
