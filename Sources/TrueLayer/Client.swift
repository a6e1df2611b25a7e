private import Synchronization
import TenderEngine
import TenderModel

/// A client of TrueLayer's API: tokens, signatures, idempotency keys and retries.
final class Client: Sendable {
  let context: TrueLayerContext
  /// The resource tokens that creations of this run returned, by id.
  private let made = Mutex<[String: String]>([:])
  /// Whether the configured resource token was refused.
  private let isTokenOver = Atomic(false)
  private let hasTokenWorked = Atomic(false)
  private let refusal = Mutex<Fault?>(nil)

  init(_ context: TrueLayerContext) { self.context = context }

  enum Credential {
    /// The token of one resource if there is one, else the client's own.
    case resource(String, Payment.Kind)
    /// The client's own token with this scope.
    case client(String)
    case nobody
  }

  private struct Call {
    var method = HTTPMethod.get
    var path: String
    var body: [UInt8] = []
    var key: String?
    var credential: Credential
    /// The source of send permits for a request that can move money; nil for any other.
    var progress: Progress?
    /// The kind of resource, which determines the names of errors.
    var kind = Payment.Kind.payment
    /// Whether the resource was made, so that a 404 only means that the provider does not know it yet.
    var isMade = false
  }

  /// Sends a write. Without a key, a new one is generated.
  func post(
    _ path: String,
    _ body: [UInt8] = [],
    key: String? = nil,
    _ credential: Credential,
    _ progress: Progress?,
    about kind: Payment.Kind = .payment
  ) throws(Fault) -> Answer {
    let call = Call(
      method: .post,
      path: path,
      body: body,
      key: key ?? context.randomness.uuid().lowercased(),
      credential: credential,
      progress: progress,
      kind: kind,
      isMade: path.hasPrefix(Paths.resource(kind, ""))
    )
    return try send(call)
  }

  /// A readable answer: a JSON object, which is empty if the body is.
  struct Answer {
    var status: Int
    var body: JSONObject
    var traceID: String?
  }

  private var configuration: TrueLayerConfiguration { context.configuration }

  /// The statuses with which a request was not executed.
  ///
  /// The published document lists them for requests that change something (README, 6.2). If the body names a
  /// created resource, the answer is not a refusal.
  private static let refusals: Set<Int> = [400, 401, 403, 404, 409, 422, 429]

  /// Returns whether a text can be a bearer token: visible ASCII (RFC 6750, section 2.1).
  static func isToken(_ text: String) -> Bool {
    (1...8192).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }

  /// Remembers the token of a new resource. It is never stored.
  func learn(token: String, of id: String) {
    context.redactor.learn(token)
    made.withLock { $0[id] = token }
  }

  func get(
    _ path: String,
    _ credential: Credential,
    about kind: Payment.Kind = .payment,
    isMade: Bool = false
  ) throws(Fault) -> Answer {
    try send(Call(path: path, credential: credential, kind: kind, isMade: isMade))
  }

  /// Sends a request, with retries while there is time, and returns the answer.
  ///
  /// A retry is harmless, because the request is a read or has an idempotency key.
  private func send(_ call: Call) throws(Fault) -> Answer {
    let deadline = Deadline(in: configuration.timeout, on: context.clock)
    // Pauses before retries are a wait, which --wait limits.
    let patience = Deadline(
      in: min(configuration.timeout, context.options.patience),
      on: context.clock
    )
    return try context.clock.repeating(call.progress, within: patience, every: 500...Int.max) {
      permit throws(Fault) in
      let (token, isOwn) = try authorization(call.credential)
      let request = try request(call, bearer: token, isOwn: isOwn)
      let response: HTTPResponse
      do throws(Fault) {
        response = try context.http.send(request, permit, by: deadline)
      } catch {
        if error.kind.isStop || error.kind == .usage { throw error }
        let fault = Fault.connectionIssues(error)
        guard error.kind != .notSent, error.cause == .connectionClosed else { throw fault }
        return .again(fault)
      }
      if (200..<300).contains(response.status), !isOwn {
        hasTokenWorked.store(true, ordering: .relaxed)
      }
      return try read(response, to: call)
    }
  }

  /// Returns the answer that a response carries, or what a retry may change.
  private func read(_ response: HTTPResponse, to call: Call) throws(Fault) -> Try<Answer> {
    let status = response.status
    let body =
      response.body.isEmpty ? [:] : JSONReader.read(response.body, duplicates: .refused)?.object
    let traceID = body?.text("trace_id") ?? response.fields["tl-trace-id"]
    if (200..<300).contains(status) {
      if let body { return .answer(Answer(status: status, body: body, traceID: traceID)) }
      throw .unexpectedBehaviour("an answer that is no JSON object", traceID: traceID)
    }
    let problem = Problem(status, body ?? [:])
    var fault = Fault.answer(status, body ?? [:], traceID: traceID, call.kind, isMade: call.isMade)
      .retried(after: response.retryAfter(context.clock.now))
    // Another request with this key may be in progress, and may be executed although this one is not.
    if Self.refusals.contains(status), body?["id"] == nil,
      problem.fragment != "idempotency-key-concurrency-conflict"
    {
      fault = fault.proven
    }
    if status == 429 || status >= 500 || problem.fragment?.hasSuffix("concurrency-conflict") == true
      || response.fields["tl-should-retry"]?.lowercased() == "true"
    {
      return .again(fault, longest: 2000)
    }
    // The token may have expired. A request that was refused for that was not executed.
    if status == 401, forget(call.credential) { return .atOnce(fault) }
    throw fault
  }

  private func request(_ call: Call, bearer: String?, isOwn: Bool) throws(Fault) -> HTTPRequest {
    let json = "application/json; charset=UTF-8"
    var fields = [HTTPRequest.Field("Accept", json)]
    if let bearer { fields.append(.init("Authorization", "Bearer \(bearer)", isSecret: true)) }
    if !call.body.isEmpty { fields.append(.init("Content-Type", json)) }
    if let key = call.key { fields.append(.init("Idempotency-Key", key)) }
    // With a resource token no signature is needed. With the client's token every write needs one (README,
    // 1.5).
    if call.method != .get, isOwn {
      guard let keyID = configuration.keyID, let privateKey = configuration.privateKey else {
        throw .sdkNotConfigured(configuration.missing(key: true), for: "a signed request")
      }
      let signature = try RequestSignature.value(
        method: call.method.rawValue,
        path: call.path,
        headers: call.key.map { [("Idempotency-Key", $0)] } ?? [],
        body: call.body,
        keyID: keyID,
        key: privateKey
      )
      fields.append(.init("Tl-Signature", signature))
    }
    return HTTPRequest(
      method: call.method,
      url: configuration.apiURL + call.path,
      fields: fields,
      body: call.body
    )
  }

  /// Returns the bearer token of a credential, and whether it is the client's own.
  private func authorization(
    _ credential: Credential
  ) throws(Fault) -> (token: String?, isOwn: Bool) {
    switch credential {
    case .nobody: return (nil, false)
    case .client(let scope): return (try accessToken(scope), true)
    case .resource(let id, let kind):
      if let token = made.withLock({ $0[id] }) { return (token, false) }
      if let token = configuration.resourceToken, !isTokenOver.load(ordering: .relaxed) {
        return (token.revealed, false)
      }
      return (try accessToken(Scopes.of(kind)), true)
    }
  }

  /// Forgets the refused token of a credential, if another one can replace it.
  ///
  /// A resource token expires after 15 minutes, and the payer may take as long.
  private func forget(_ credential: Credential) -> Bool {
    switch credential {
    case .nobody: return false
    case .client(let scope):
      context.tokens.forget(name(of: scope))
      return true
    case .resource(let id, let kind):
      guard usesClient(for: id) || isTokenOver.load(ordering: .relaxed) else {
        guard configuration.hasClient, configuration.hasKey else { return false }
        if made.withLock({ $0.removeValue(forKey: id) }) != nil { return true }
        // A configured token that never worked is wrong; one that worked may have expired.
        return hasTokenWorked.load(ordering: .relaxed)
          && isTokenOver.exchange(true, ordering: .relaxed) == false
      }
      context.tokens.forget(name(of: Scopes.of(kind)))
      return true
    }
  }

  /// Returns whether a request about a resource would use the client's own token.
  func usesClient(for id: String) -> Bool {
    made.withLock { $0[id] } == nil && configuration.resourceToken == nil
  }

  /// The name under which the client's token for a scope is cached.
  private func name(of scope: String) -> String {
    "\(configuration.clientID ?? "") \(configuration.authURL) \(configuration.scope ?? scope)"
  }

  /// Returns an access token by client credentials (README, 1.2). It is cached until shortly before it
  /// expires.
  private func accessToken(_ scope: String) throws(Fault) -> String {
    let name = name(of: scope)
    let scope = configuration.scope ?? scope
    if let known = context.tokens.token(name, at: context.clock.now) {
      context.redactor.learn(known)
      return known
    }
    // After a refusal, the same credentials are not tried again for other ids.
    if let refusal = refusal.withLock({ $0 }) { throw refusal }
    guard let id = configuration.clientID, let secret = configuration.clientSecret else {
      throw .sdkNotConfigured(configuration.missing(key: false), for: "this command")
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.write(members: ["grant_type": "client_credentials", "client_id": .string(id)])
    writer.name("client_secret")
    writer.write(secret)
    writer.write(members: ["scope": .string(scope)])
    writer.endObject()
    var body: [UInt8] = []
    writer.whole.append(to: &body)
    defer { body.wipe() }
    let answer = try sendForToken(body)
    guard let token = answer.text("access_token"), Self.isToken(token) else {
      throw .unexpectedBehaviour("a token answer without a usable access_token")
    }
    context.redactor.learn(token)
    let life = min(max(answer["expires_in"]?.boundedNumber ?? 0, 0), 86_400)
    let until = context.clock.now + (life - 60) * 1000
    context.tokens.keep(token, name, until: until)
    return token
  }

  private func sendForToken(_ body: [UInt8]) throws(Fault) -> JSONObject {
    let request = HTTPRequest(
      method: .post,
      url: configuration.authURL + "/connect/token",
      fields: [
        HTTPRequest.Field("Content-Type", "application/json; charset=UTF-8"),
        HTTPRequest.Field("Accept", "application/json"),
      ],
      body: body
    )
    let deadline = Deadline(in: configuration.timeout, on: context.clock)
    return try context.clock.repeating(nil, within: deadline, every: 500...Int.max) {
      _ throws(Fault) in
      let response: HTTPResponse
      do throws(Fault) {
        response = try context.http.send(request, by: deadline)
      } catch {
        guard error.kind == .notSent || error.kind == .providerError else { throw error }
        throw .connectionIssues(error)
      }
      return try readToken(response)
    }
  }

  private func readToken(_ answer: HTTPResponse) throws(Fault) -> Try<JSONObject> {
    let object =
      answer.body.isEmpty ? [:] : JSONReader.read(answer.body, duplicates: .refused)?.object
    if answer.status == 200, let object { return .answer(object) }
    guard answer.status < 500, answer.status != 429 else {
      let fault = Fault.answer(answer.status, object ?? [:], traceID: answer.traceID, .payment)
      return .again(fault.retried(after: answer.retryAfter(context.clock.now)), longest: 2000)
    }
    guard [400, 401, 403].contains(answer.status) else {
      throw .unexpectedBehaviour(
        answer.status == 200
          ? "the token service answered 200 with a body that is no JSON object"
          : "the token service answered \(answer.status)",
        traceID: answer.traceID
      )
    }
    let fault = Fault(
      .auth,
      code: "invalid_token",
      cause: .tokenRefused,
      "TrueLayer refused the client credentials: \(Problem(answer.status, object ?? [:]).text)",
      hint: "check TENDER_TRUELAYER_CLIENT_ID and TENDER_TRUELAYER_CLIENT_SECRET, and --env",
      result: ["error": "invalidToken", "reason": .string(object?.text("error") ?? "refused")]
    )
    refusal.withLock { $0 = fault }
    throw fault
  }

  // MARK: Payments and mandates

  /// Reads a resource that was created elsewhere. The journal has nothing to compare it with. It is read
  /// twice, because one answer may be about another payment.
  ///
  /// Throws `provider_error` if the two differ in amount or currency.
  func adopted(_ kind: Payment.Kind, _ id: String) throws(Fault) -> Resource {
    let first = try resource(kind, id, isMade: false)
    guard first.amount != nil else { return first }
    let second = try resource(kind, id)
    guard first.amount == second.amount, first.currency == second.currency else {
      throw .unexpectedBehaviour(
        "two answers about \(id) name different amounts or currencies",
        traceID: second.traceID
      )
    }
    return second
  }

  /// Reads the current state of a payment or mandate.
  ///
  /// To decide an attempt, the answer must name that attempt. A look-up of an id shows any answer. `isMade`: an
  /// earlier answer named it, so it is not missing.
  func resource(
    _ kind: Payment.Kind,
    _ id: String,
    decides: Bool = true,
    isMade: Bool = true
  ) throws(Fault) -> Resource {
    let path = Paths.resource(kind, id)
    let answer = try get(path, .resource(id, kind), about: kind, isMade: decides && isMade)
    guard answer.body.text("status") != nil else {
      throw .unexpectedBehaviour("a \(kind.noun) without status")
    }
    let seen = Resource(kind: kind, id: id, body: answer.body, traceID: answer.traceID)
    guard decides else { return seen.masked }
    if let other = answer.body["id"], other.text != id {
      throw .unexpectedBehaviour("the answer is about another \(kind.noun)")
    }
    // An end must name the payment completely. It would otherwise stand, or allow another payment.
    let isWhole =
      answer.body["id"] != nil && (kind == .mandate || seen.amount != nil && seen.currency != nil)
    guard !seen.isEnd || isWhole else {
      throw .unexpectedBehaviour("an end that does not name its payment, amount and currency")
    }
    try seen.checkReadable()
    return seen.masked
  }
}

extension HTTPResponse {
  fileprivate var traceID: String? { fields["tl-trace-id"] ?? fields["x-tl-correlation-id"] }
}

extension TrueLayerConfiguration {
  /// Returns the missing variables that the client's own requests need.
  func missing(key: Bool) -> [String] {
    var names: [String] = []
    if clientID == nil { names.append("TENDER_TRUELAYER_CLIENT_ID") }
    if clientSecret == nil { names.append("TENDER_TRUELAYER_CLIENT_SECRET") }
    if key, keyID == nil { names.append("TENDER_TRUELAYER_KEY_ID") }
    if key, privateKey == nil { names.append("TENDER_TRUELAYER_PRIVATE_KEY") }
    return names
  }
}

/// The scopes that official clients request (README, 1.2).
enum Scopes {
  static let payments = "payments"

  static func of(_ kind: Payment.Kind) -> String {
    kind == .mandate ? "recurring_payments:sweeping recurring_payments:commercial" : payments
  }

  /// Returns the scope of a mandate with a known type.
  static func mandate(_ type: String) -> String { "recurring_payments:\(type)" }
}
