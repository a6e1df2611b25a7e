private import CLibraries
import TenderEngine
import TenderModel

/// The simulated TrueLayer's HTTP side: tokens, signatures, keys and endpoints (TrueLayer/README, 1.4 and
/// 10).
struct BankHTTP {
  private enum Caller {
    /// The client, with the scopes of its token.
    case client(Set<String>)
    /// A token of one resource; nil for the simulator's token, which is valid for all.
    case resource(String?)

    var isClient: Bool { if case .client = self { true } else { false } }
  }

  /// An answer before it is bytes.
  private typealias Reply = (status: Int, body: JSONObject?)

  private let bank: BankWorld
  private let faults: FaultPlan

  init(_ parts: SimulatorParts) {
    bank = BankWorld(parts)
    faults = parts.faults
  }

  /// Handles a request; nil for a path of another provider.
  func handle(_ request: SimulatedRequest) throws(Fault) -> HTTPReaction? {
    var parts = request.path.split(separator: "/").map(String.init)
    if request.path == "/connect/token" {
      return try faults.react("bank-token", forced: forced) { answer(request, token) }
    }
    if request.path == "/test-signature" {
      faults.matched = "test-signature"
      return .answer(answer(request, testSignature))
    }
    if parts.first != "v3" {
      do throws(BankProblem) {
        if let page = try BankPages(bank: bank).handle(request, parts) {
          faults.matched = "page"
          return .answer(page)
        }
      } catch {
        return .answer(error.answer(traceID: traceID))
      }
      parts.insert("v3", at: 0)
      guard BankRoute.of(parts) != nil else { return nil }
    }
    guard let route = BankRoute.of(parts) else {
      return .answer(answer(request) { _ throws(BankProblem) in throw .notFound })
    }
    guard let step = route.methods.first(where: { $0.name == request.method })?.step else {
      var refused = answer(request) { _ throws(BankProblem) in throw .method }
      refused.fields["allow"] = route.methods.map(\.name).joined(separator: ", ")
      return .answer(refused)
    }
    return try faults.react(step, forced: forced) {
      answer(request) { request throws(BankProblem) in try reply(request, parts, route) }
    }
  }

  private func forced(_ status: Int) -> HTTPResponse {
    var answer = BankProblem.of(status).answer(traceID: traceID)
    answer.fields["tl-should-retry"] = status >= 500 ? "true" : "false"
    return answer
  }

  private var traceID: String { Hex.encode(bank.world.randomness.bytes(16)).lowercased() }

  private func answer(
    _ request: SimulatedRequest,
    _ body: (SimulatedRequest) throws(BankProblem) -> Reply
  ) -> HTTPResponse {
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

  private func testSignature(_ request: SimulatedRequest) throws(BankProblem) -> Reply {
    guard try caller(request).isClient else { throw .forbidden }
    try checkSignature(request)
    return (204, nil)
  }

  private func checkSignature(_ request: SimulatedRequest) throws(BankProblem) {
    let signature = request.fields["tl-signature"] ?? ""
    guard BankSignature.fits(signature, request, key: bank.publicKey) else { throw .badSignature }
  }

  private func token(_ request: SimulatedRequest) -> Reply {
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
    else { return (400, ["error": "invalid_client"]) }
    let scope = JSON.string(body["scope"] ?? "payments")
    let claims: JSONObject = [
      "client_id": BankCatalog.clientID.json, "scope": scope, "exp": (bank.now / 1000 + 3600).json,
      "jti": bank.uuid().json,
    ]
    let token = WebToken.sign(claims).json
    let answer: JSONObject = [
      "access_token": token, "expires_in": 3600, "token_type": "Bearer", "scope": scope,
    ]
    return (200, answer)
  }

  private func caller(_ request: SimulatedRequest) throws(BankProblem) -> Caller {
    let header = request.fields["authorization"] ?? ""
    guard header.hasPrefix("Bearer ") else { throw .noToken }
    let token = String(header.dropFirst("Bearer ".count))
    if token == BankCatalog.resourceToken { return .resource(nil) }
    guard let claims = WebToken.verify(token, now: bank.now) else { throw .noToken }
    if let scope = claims.text("scope") {
      return .client(Set(scope.split(separator: " ").map(String.init)))
    }
    guard let id = claims.text("jti") else { throw .noToken }
    return .resource(id)
  }

  private func reply(
    _ request: SimulatedRequest,
    _ parts: [String],
    _ route: BankRoute
  ) throws(BankProblem) -> Reply {
    switch route.endpoint {
    case .providerReturn: return try keyed(request, route, providerReturn)
    case .provider:
      let found = try BankCatalog.bank(parts[2]).found()
      let screens = BankScreens(bank: bank, pages: request.pages)
      return (200, BankLookUps(screens: screens).provider(found))
    default: break
    }
    let caller = try caller(request)
    let isAllowed =
      switch caller {
      case .client(let scopes): route.isAllowed(by: scopes)
      case .resource(let id): !route.isForClient && (id == nil || parts.count > 2 && id == parts[2])
      }
    guard isAllowed else { throw .forbidden }
    guard request.method != "GET" else { return (200, try read(route, parts, caller, request)) }
    // A search changes nothing and is not signed. Clients do not sign for an address of Signup+, either.
    if caller.isClient, ![.search, .signupAddress].contains(route.endpoint) {
      try checkSignature(request)
    }
    if route.wantsKey, request.fields["idempotency-key"] == nil {
      throw .invalid("Idempotency-Key", "Value is required.")
    }
    return try keyed(request, route) { body throws(BankProblem) in
      try write(route, parts, body, request)
    }
  }

  /// Executes a write once for each idempotency key, and repeats its answer afterwards (TrueLayer/README,
  /// 7.1).
  ///
  /// A null member counts as absent. Some clients write an empty list for that.
  private func keyed(
    _ request: SimulatedRequest,
    _ route: BankRoute,
    _ perform: (JSONObject) throws(BankProblem) -> Reply
  ) throws(BankProblem) -> Reply {
    let given = request.body.isEmpty ? [:] : JSONReader.read(request.body)
    guard let body = given == [] ? [:] : given?.object?.withoutNulls else {
      throw .invalid("$", "The body is no JSON object.")
    }
    // A form contains passwords, so only the hash of the request is stored.
    let content = Self.hash("\(request.method) \(request.path)\n", request.body)
    let key = request.fields["idempotency-key"]
    if let known = try key.map(bank.key) ?? nil, bank.now - known.used < BankKey.life {
      guard known.content == content else { throw .keyReuse }
      guard known.answered ?? 0 <= bank.now else { throw .keyAtWork }
      var body = known.body
      if known.hasToken, let id = body?.text("id") {
        body?["resource_token"] = .string(resourceToken(id))
        body?["hosted_page"] = try hostedPage(id, request)
      }
      return (known.status, body)
    }
    if let metadata = given?["metadata"]?.object, metadata != metadata.withoutNulls {
      throw .invalid("metadata", "A value must be text.")
    }
    if let shape = route.body, request.method == "POST" { try BankSchema.check(body, shape) }
    let reply = try perform(body)
    if let key {
      var kept = reply.body
      kept?["resource_token"] = nil
      kept?["hosted_page"] = nil
      let hasToken = reply.body?["resource_token"] != nil
      try bank.save(
        BankKey(
          key: key,
          content: content,
          status: reply.status,
          body: kept,
          hasToken: hasToken,
          used: bank.now,
          answered: faults.delay > 0 ? bank.now + faults.delay : nil
        )
      )
    }
    return reply
  }

  private func read(
    _ route: BankRoute,
    _ parts: [String],
    _ caller: Caller,
    _ request: SimulatedRequest
  ) throws(BankProblem) -> JSONObject {
    let screens = BankScreens(bank: bank, pages: request.pages)
    let lookUps = BankLookUps(screens: screens)
    let statements = BankStatements(screens: screens)
    if let shown = try statements.read(route.endpoint, parts, request.query) { return shown }
    guard parts.count >= 3 else { return try lookUps.mandates(request.query) }
    var resource = try bank.find(route.kind, parts[2]).found()
    // The client waits for its payer.
    try bank.sendPayer(to: resource, isAwaited: true)
    resource = try bank.find(route.kind, parts[2]).found()
    switch route.endpoint {
    case .refunds:
      let refunds = try bank.refunds(of: resource.id)
      return ["items": .array(refunds.map { .object($0.shown) })]
    case .refund:
      let refunds = try bank.refunds(of: resource.id)
      return try refunds.first { $0.id == parts[4] }.found().shown
    case .funds: return try lookUps.funds(resource, request.query)
    case .constraints: return try lookUps.constraints(resource)
    default: return screens.shown(resource, toClient: caller.isClient)
    }
  }

  private func write(
    _ route: BankRoute,
    _ parts: [String],
    _ body: JSONObject,
    _ request: SimulatedRequest
  ) throws(BankProblem) -> Reply {
    let screens = BankScreens(bank: bank, pages: request.pages)
    let steps = BankSteps(bank: bank)
    let statements = BankStatements(screens: screens)
    if var reply = try statements.write(route.endpoint, request.method, parts, body) {
      if let id = reply.body?.text("id"), reply.body?["user"] != nil {
        reply.body?["resource_token"] = .string(resourceToken(id))
      }
      return reply
    }
    if route.endpoint == .search { return (200, BankLookUps(screens: screens).search(body)) }
    if route.endpoint == .collection {
      guard body["hosted_page"] == nil || body["authorization_flow"] == nil else {
        throw .invalid("hosted_page", "It excludes authorization_flow.")
      }
      var made = try BankCreation(bank: bank).make(body)
      if let capabilities = body["authorization_flow"]?.object {
        try steps.start(&made, capabilities)
      }
      try bank.save(&made)
      try bank.sendPayer(to: made)
      var created = screens.created(made, token: resourceToken(made.id))
      created["hosted_page"] = try hostedPage(made.id, request)
      return (201, created)
    }
    var resource = try bank.find(route.kind, parts[2]).found()
    let reply: Reply
    switch route.endpoint {
    case .start:
      try steps.start(&resource, body)
      reply = (200, screens.progress(resource))
    case .cancel:
      guard resource.isOpen else { throw .state }
      resource.fail("canceled", at: bank.now)
      reply = (202, nil)
    case .revoke:
      guard resource.status == .authorized else { throw .state }
      resource.revoke(at: bank.now)
      reply = (204, nil)
    case .refunds: return try refund(resource, body)
    case .submission:
      try steps.submit(parts.last, body, &resource)
      reply = (200, screens.progress(resource))
    default: throw .notFound
    }
    try bank.save(&resource)
    try bank.sendPayer(to: resource)
    return reply
  }

  private func refund(_ payment: BankResource, _ body: JSONObject) throws(BankProblem) -> Reply {
    guard payment.status == .settled else { throw .state }
    let known = try bank.refunds(of: payment.id)
    let refunded = known.filter { $0.status != .failed }.reduce(0) { $0 + $1.amount }
    let left = payment.order.amount - refunded
    let amount = body["amount_in_minor"]?.boundedNumber ?? left
    guard amount > 0, amount <= left else {
      throw .invalid("amount_in_minor", "More than is left of the payment.")
    }
    let account = try payment.order.payee?.account.flatMap(bank.account)
    var refund = BankTransfer(
      id: bank.uuid(),
      payment: payment.id,
      account: account?.id,
      amount: amount,
      currency: payment.order.currency,
      reference: body.text("reference") ?? "",
      metadata: body["metadata"]?.object,
      course: try bank.course(amount, from: account, isPayout: false),
      created: bank.now
    )
    try bank.begin(&refund)
    return (202, ["id": .string(refund.id)])
  }

  /// Handles the bank's parameters on the payer's return (TrueLayer/README, 4.6).
  private func providerReturn(_ body: JSONObject) throws(BankProblem) -> Reply {
    guard body.text("query")?.isEmpty == false || body.text("fragment")?.isEmpty == false else {
      throw .invalid("query", "Either query or fragment is required.")
    }
    // Clients may write `?` and `#` before the values.
    func values(_ name: String, _ mark: String) -> [String: String] {
      let text = body.text(name) ?? ""
      return QueryText.parameters(String(text.dropFirst(text.hasPrefix(mark) ? 1 : 0)))
    }
    let parameters = values("query", "?").merging(values("fragment", "#")) { first, _ in first }
    guard let state = parameters["state"] else {
      throw .invalid("query.state", "Value is required.")
    }
    let returned = try BankPages(bank: bank).takeReturn(state: state).found()
    let kind = returned.kind
    let resource: JSON = ["type": kind.rawValue.json, kind.parameter: returned.id.json]
    return (200, ["resource": resource])
  }

  /// Returns the address of a payment's hosted page; nil if its creation asked for none.
  private func hostedPage(_ id: String, _ request: SimulatedRequest) throws(BankProblem) -> JSON? {
    guard let address = try bank.find(.payment, id)?.order.hostedReturn else { return nil }
    let members = [
      ("payment_id", id), ("resource_token", resourceToken(id)), ("return_uri", address),
    ]
    let values = members.map { "\($0.0)=\(QueryText.encode($0.1))" }.joined(separator: "&")
    return ["uri": .string("\(request.pages)/payments#\(values)")]
  }

  /// Returns a token for one resource, valid for 15 minutes (TrueLayer/README, 1.3).
  private func resourceToken(_ id: String) -> String {
    let claims: JSONObject = [
      "client_id": BankCatalog.clientID.json, "jti": id.json, "nbf": (bank.now / 1000).json,
      "exp": (bank.now / 1000 + 900).json,
    ]
    return WebToken.sign(claims)
  }

  private static func hash(_ head: String, _ body: [UInt8]) -> String {
    let bytes = Array(head.utf8) + body
    var digest = [UInt8](repeating: 0, count: 32)
    _ = unsafe crypto_generichash(&digest, 32, bytes, UInt64(bytes.count), nil, 0)
    return Base64.encodeURL(digest)
  }
}
