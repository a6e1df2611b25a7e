private import CSodium
import TenderEngine
import TenderModel
import TenderWire

/// The simulated TrueLayer's HTTP side: tokens, signatures, keys, and the endpoints (protocol note,
/// sections 1 and 6.4).
struct BankHTTP {
  let bank: BankWorld
  let faults: FaultPlan

  private var world: SimulatorWorld { bank.world }
  private var ledger: Ledger { bank.ledger }

  init(world: SimulatorWorld, ledger: Ledger, faults: FaultPlan) {
    bank = BankWorld(world: world, ledger: ledger)
    self.faults = faults
  }

  /// Who asks.
  private enum Caller: Equatable {
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
    guard let step = Self.step(request.method, parts) else { return nil }
    return try faults.react(step, forced: forced) { () throws(Fault) in
      try answer(request) { request throws(BankProblem) in try self.route(request, parts) }
    }
  }

  /// The name of a step, for its faults.
  private static func step(_ method: String, _ parts: [String]) -> String? {
    guard parts.count >= 2 else { return nil }
    if parts[1] == "payments-provider-return" { return "return" }
    guard ["payments", "mandates"].contains(parts[1]) else { return nil }
    if method == "GET" { return parts.count > 3 && parts[3] == "refunds" ? "refunds" : "status" }
    switch parts.dropFirst(3).joined(separator: "/") {
    case "": return "create"
    case "authorization-flow": return "start"
    case "authorization-flow/actions/consent": return "consent"
    case "authorization-flow/actions/form": return "form"
    case "actions/cancel": return "bank-cancel"
    case "revoke": return "revoke"
    case "refunds": return "refund"
    default: return "selection"
    }
  }

  private func forced(_ status: Int) -> HTTPResponse {
    var answer = BankProblem.forced(status).answer(traceID: traceID)
    answer.fields["tl-should-retry"] = status >= 500 ? "true" : "false"
    return answer
  }

  private var traceID: String {
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

  private func answer(
    _ request: SimulatedRequest,
    _ body: (SimulatedRequest) throws(BankProblem) -> Reply
  ) throws(Fault) -> HTTPResponse {
    var response: HTTPResponse
    do throws(BankProblem) {
      let reply = try body(request)
      response = HTTPResponse(
        status: reply.status,
        body: reply.body.map { Array(JSONWriter.text(.object($0)).utf8) } ?? [],
        fields: ["content-type": "application/json; charset=UTF-8"]
      )
    } catch {
      response = error.answer(traceID: traceID)
    }
    response.fields["tl-trace-id"] = traceID
    if request.method == "POST" { response.fields["tl-should-retry"] = "false" }
    return response
  }

  private func token(_ request: SimulatedRequest) throws(BankProblem) -> Reply {
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

  private func caller(_ request: SimulatedRequest) throws(BankProblem) -> Caller {
    let header = request.fields["authorization"] ?? ""
    guard header.hasPrefix("Bearer ") else { throw .noToken }
    let token = String(header.dropFirst("Bearer ".count))
    if token == BankCatalog.resourceToken { return .resource(nil) }
    guard let claims = WebToken.verify(token, now: bank.now) else { throw .noToken }
    if claims["scope"] != nil { return .client }
    guard let id = claims.text("jti") else { throw .noToken }
    return .resource(id)
  }

  private func client(_ request: SimulatedRequest) throws(BankProblem) -> Caller {
    let caller = try caller(request)
    guard caller == .client else { throw .forbidden }
    return caller
  }

  private func route(_ request: SimulatedRequest, _ parts: [String]) throws(BankProblem) -> Reply {
    if parts[1] == "payments-provider-return" {
      return try keyed(request) { body throws(BankProblem) in try providerReturn(body) }
    }
    let kind: BankWorld.Kind = parts[1] == "mandates" ? .mandate : .payment
    let caller = try caller(request)
    let isWrite = request.method == "POST"
    let tail = parts.dropFirst(3).joined(separator: "/")
    let isForClient = parts.count == 2 || tail == "revoke" || tail.hasPrefix("refunds")
    if case .resource(let id) = caller {
      guard !isForClient, id == nil || id == parts[2] else { throw .forbidden }
    }
    if isWrite, caller == .client {
      guard BankSignature.fits(request.fields["tl-signature"] ?? "", request) else {
        throw .badSignature
      }
    }
    guard isWrite else {
      return Reply(200, try read(kind, parts, tail, caller))
    }
    let wantsKey = isForClient || tail == "actions/cancel"
    if wantsKey, request.fields["idempotency-key"] == nil {
      throw .invalid("Idempotency-Key", "Value is required.")
    }
    return try keyed(request) { body throws(BankProblem) in
      try write(kind, parts, tail, body, pages: pages(request))
    }
  }

  private func pages(_ request: SimulatedRequest) -> String {
    request.fields["host"].map { "http://\($0)" } ?? "https://bank.simulator.invalid"
  }

  /// Runs a write once for each idempotency key, and repeats its answer afterwards (section 1.6).
  private func keyed(
    _ request: SimulatedRequest,
    _ run: (JSONObject) throws(BankProblem) -> Reply
  ) throws(BankProblem) -> Reply {
    let body = request.body.isEmpty ? [:] : JSONReader.read(request.body)?.object
    guard let body else { throw .invalid("$", "The body is no JSON object.") }
    guard let key = request.fields["idempotency-key"] else { return try run(body) }
    // A form holds passwords: what was sent is remembered by its hash.
    let content = Self.hash("\(request.method) \(request.path)\n", request.body)
    let known = try stored { () throws(Fault) in try ledger.find("bank-key", key) }
    if let known, bank.now - (known["at"]?.wholeNumber ?? 0) < 30 * 86_400_000 {
      guard known.text("content") == content else { throw .keyReuse }
      var body = known["body"]?.object
      if known["token"] == true, let id = body?.text("id") {
        body?["resource_token"] = .string(resourceToken(id))
      }
      return Reply(known["status"]?.wholeNumber ?? 200, body)
    }
    let reply = try run(body)
    try stored { () throws(Fault) in
      var entry: JSONObject = [
        "content": .string(content), "status": .integer(reply.status), "at": .integer(bank.now),
      ]
      var kept = reply.body
      if kept?["resource_token"] != nil { entry["token"] = true }
      kept?["resource_token"] = nil
      entry["body"] = kept.map(JSON.object)
      try ledger.put("bank-key", key, entry)
    }
    return reply
  }

  /// The ledger's faults end as the server's own.
  private func stored<Value>(_ body: () throws(Fault) -> Value) throws(BankProblem) -> Value {
    do throws(Fault) {
      return try body()
    } catch {
      throw .forced(500)
    }
  }

  private func find(
    _ kind: BankWorld.Kind,
    _ id: String,
    isAwaited: Bool = false
  ) throws(BankProblem) -> JSONObject {
    let found = try stored { () throws(Fault) in
      try bank.find(kind, id, isAwaited: isAwaited)
    }
    guard let found else { throw .notFound }
    return found
  }

  private func read(
    _ kind: BankWorld.Kind,
    _ parts: [String],
    _ tail: String,
    _ caller: Caller
  ) throws(BankProblem) -> JSONObject {
    guard parts.count >= 3 else { throw .notFound }
    let resource = try find(kind, parts[2], isAwaited: true)
    switch tail {
    case "": return bank.shown(resource, toClient: caller == .client)
    case "refunds":
      let refunds = resource["_refunds"]?.array?.compactMap(\.object) ?? []
      return ["items": .array(refunds.map { .object(aged($0)) })]
    default:
      let refunds = resource["_refunds"]?.array?.compactMap(\.object) ?? []
      guard parts.count == 5, parts[3] == "refunds",
        let refund = refunds.first(where: { $0.text("id") == parts[4] })
      else { throw .notFound }
      return aged(refund)
    }
  }

  private func write(
    _ kind: BankWorld.Kind,
    _ parts: [String],
    _ tail: String,
    _ body: JSONObject,
    pages: String
  ) throws(BankProblem) -> Reply {
    let flow = BankFlow(bank: bank, kind: kind, pages: pages)
    if parts.count == 2 {
      let creation = BankCreation(bank: bank)
      var made = kind == .payment ? try creation.payment(body) : try creation.mandate(body)
      if let capabilities = body["authorization_flow"]?.object {
        try flow.start(&made, capabilities)
      }
      try stored { () throws(Fault) in try bank.save(kind, made) }
      return Reply(201, created(made))
    }
    var resource = try find(kind, parts[2])
    var reply: Reply
    switch tail {
    case "authorization-flow":
      try flow.start(&resource, body)
      reply = Reply(200, flowAnswer(resource))
    case "actions/cancel" where kind == .payment:
      let isOpen = ["authorization_required", "authorizing", "attempt_failed"]
        .contains(resource.text("status"))
      guard isOpen else { throw .state }
      if resource.text("status") == "attempt_failed" { resource["status"] = "authorizing" }
      bank.fail(&resource, "canceled")
      reply = Reply(202, nil)
    case "revoke" where kind == .mandate:
      guard resource.text("status") == "authorized" else { throw .state }
      resource["status"] = "revoked"
      resource["revoked_at"] = .string(bank.time)
      resource["revocation_source"] = "client"
      reply = Reply(204, nil)
    case "refunds" where kind == .payment: reply = try refund(&resource, body)
    default:
      guard parts.count == 6, tail.hasPrefix("authorization-flow/actions/") else { throw .notFound }
      let isForPayments = [
        "branch-selection", "scheme-selection", "user-account-selection", "form",
      ]
      guard kind == .payment || !isForPayments.contains(parts[5]) else { throw .notFound }
      try flow.submit(parts[5], body, &resource)
      reply = Reply(200, flowAnswer(resource))
    }
    let changed = resource
    try stored { () throws(Fault) in try bank.save(kind, changed) }
    return reply
  }

  private func created(_ resource: JSONObject) -> JSONObject {
    let id = resource.text("id") ?? ""
    var answer: JSONObject = ["id": .string(id)]
    answer["user"] = resource["user"]
    answer["resource_token"] = .string(resourceToken(id))
    for name in ["status", "authorization_flow", "failure_stage", "failure_reason"] {
      answer[name] = resource[name]
    }
    return answer
  }

  /// A token for one resource, good for 15 minutes (note, section 1.3).
  private func resourceToken(_ id: String) -> String {
    WebToken.sign([
      "client_id": .string(BankCatalog.clientID), "jti": .string(id),
      "nbf": .integer(bank.now / 1000), "exp": .integer(bank.now / 1000 + 900),
    ])
  }

  private static func hash(_ head: String, _ body: [UInt8]) -> String {
    let bytes = Array(head.utf8) + body
    var digest = [UInt8](repeating: 0, count: 32)
    _ = unsafe crypto_generichash(&digest, 32, bytes, UInt64(bytes.count), nil, 0)
    return Base64.encodeURL(digest)
  }

  private func flowAnswer(_ resource: JSONObject) -> JSONObject {
    var answer: JSONObject = [:]
    for name in ["status", "failure_stage", "failure_reason"] { answer[name] = resource[name] }
    if let actions = resource["authorization_flow"]?["actions"] {
      answer["authorization_flow"] = ["actions": actions]
    }
    return answer
  }

  private func refund(
    _ payment: inout JSONObject,
    _ body: JSONObject
  ) throws(BankProblem) -> Reply {
    guard payment.text("status") == "settled" else { throw .state }
    let known = payment["_refunds"]?.array ?? []
    let paid = payment["amount_in_minor"]?.wholeNumber ?? 0
    let gone = known.compactMap(\.object).map(aged).filter { $0.text("status") != "failed" }
      .reduce(0) { $0 + ($1["amount_in_minor"]?.wholeNumber ?? 0) }
    let amount = body["amount_in_minor"]?.wholeNumber ?? paid - gone
    guard amount > 0, amount <= paid - gone else {
      throw .invalid("amount_in_minor", "More than is left of the payment.")
    }
    guard let reference = body.text("reference"), (1...18).contains(reference.count) else {
      throw .invalid("reference", "Value is required.")
    }
    let id = bank.uuid()
    var refund: JSONObject = [
      "id": .string(id), "amount_in_minor": .integer(amount),
      "currency": payment["currency"] ?? "GBP", "reference": .string(reference),
      "status": "pending", "created_at": .string(bank.time), "_created": .integer(bank.now),
    ]
    refund["metadata"] = body["metadata"]
    if world.options.scenario == "refund:failed" { refund["_fails"] = true }
    payment["_refunds"] = .array(known + [.object(refund)])
    return Reply(202, ["id": .string(id)])
  }

  /// A refund as it stands now: two seconds after it was asked for it is executed.
  private func aged(_ refund: JSONObject) -> JSONObject {
    var shown = JSONObject(refund.members.filter { !$0.key.hasPrefix("_") })
    let created = refund["_created"]?.wholeNumber ?? bank.now
    guard bank.now - created >= 2000 else { return shown }
    if refund["_fails"] == true {
      shown["status"] = "failed"
      shown["failed_at"] = .string(bank.microseconds(created + 2000))
      shown["failure_reason"] = "insufficient_funds"
    } else {
      shown["status"] = "executed"
      shown["executed_at"] = .string(bank.microseconds(created + 2000))
    }
    return shown
  }

  /// What the bank said on the payer's way back (note, section 2.8).
  private func providerReturn(_ body: JSONObject) throws(BankProblem) -> Reply {
    guard body.text("query")?.isEmpty == false || body.text("fragment")?.isEmpty == false else {
      throw .invalid("query", "Either query or fragment is required.")
    }
    let parameters = QueryText.parameters(body.text("query") ?? "")
      .merging(QueryText.parameters(body.text("fragment") ?? "")) { first, _ in first }
    guard let state = parameters["state"] else {
      throw .invalid("query.state", "Value is required.")
    }
    let returned = try stored { () throws(Fault) in
      try BankPages(bank: bank).takeReturn(state: state)
    }
    guard let returned else { throw .notFound }
    return Reply(
      200,
      [
        "resource": [
          "type": .string(returned.kind.rawValue), returned.kind.parameter: .string(returned.id),
        ]
      ]
    )
  }
}
