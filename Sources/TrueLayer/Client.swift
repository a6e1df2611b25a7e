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

    var isEffecting: Bool { progress != nil }
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
  /// A retry is harmless, because the request is a read or has an idempotency key. Each retry has a new
  /// permit. Throws with effect unknown if a request that can move money may have been executed.
  private func send(_ call: Call) throws(Fault) -> Answer {
    let deadline = Deadline(in: configuration.timeout, on: context.clock)
    // Pauses before retries are a wait, which --wait limits.
    let patience = Deadline(
      in: min(configuration.timeout, context.options.patience),
      on: context.clock
    )
    var pause = 500
    var wasLost = false
    var isFresh = false
    while true {
      let (request, isOwn, permit) = try prepare(call, fresh: isFresh, wasLost: wasLost)
      let answer: HTTPResponse
      do throws(Fault) {
        answer = try context.http.send(request, permit, by: deadline)
      } catch {
        if error.kind.isStop || error.kind == .usage {
          let mayBeDone = call.isEffecting && (wasLost || error.effect == .unknown)
          throw mayBeDone ? error.afterSendingAnyway : error.withoutEffect.proven
        }
        let isLost = error.effect == .unknown
        wasLost = wasLost || isLost
        if isLost, error.cause == .connectionClosed, pause < patience.remaining {
          try wait(&pause, mayBeDone: call.isEffecting)
          continue
        }
        let fault = Fault.connectionIssues(error)
        throw call.isEffecting && wasLost ? fault.afterSendingAnyway : fault.proven
      }
      let body =
        answer.body.isEmpty ? [:] : JSONReader.read(answer.body, duplicates: .refused)?.object
      let traceID = body?.text("trace_id") ?? answer.fields["tl-trace-id"]
      if (200..<300).contains(answer.status) {
        if !isOwn { hasTokenWorked.store(true, ordering: .relaxed) }
        if let body { return Answer(status: answer.status, body: body, traceID: traceID) }
        let fault = Fault.unexpectedBehaviour("an answer that is no JSON object", traceID: traceID)
        throw call.isEffecting ? fault.afterSending : fault
      }
      let problem = Problem(answer.status, body ?? [:])
      // Another request with this key is in progress, and may be executed although this one is not.
      let isAtWork = problem.fragment == "idempotency-key-concurrency-conflict"
      let isBusy =
        answer.status == 429 || answer.status >= 500
        || problem.fragment?.hasSuffix("concurrency-conflict") == true
        || answer.fields["tl-should-retry"]?.lowercased() == "true"
      if isBusy, pause < patience.remaining, pause <= 2000 {
        wasLost = wasLost || answer.status >= 500 || isAtWork
        try wait(&pause, mayBeDone: call.isEffecting && wasLost)
        continue
      }
      if answer.status == 401, !isFresh, isOwn || forget(call.credential) {
        // The token may have expired. A request that was refused for that was not executed.
        isFresh = true
        continue
      }
      let fault = Fault.answer(
        answer.status,
        body ?? [:],
        traceID: traceID,
        call.kind,
        isMade: call.isMade
      ).retried(after: answer.retryAfter(context.clock.now))
      // Only a plain refusal counts. After a lost answer, a later refusal proves nothing about it.
      let isNo = Self.refusals.contains(answer.status) && body?["id"] == nil && !isAtWork
      let isOpen = wasLost || !isNo
      throw call.isEffecting && isOpen ? fault.afterSending : fault.proven
    }
  }

  /// Waits before a retry, twice as long each time.
  ///
  /// A signal during the wait proves nothing about an earlier try: with `mayBeDone` its effect is unknown.
  private func wait(_ pause: inout Int, mayBeDone: Bool) throws(Fault) {
    do throws(Fault) {
      try context.clock.pause(milliseconds: pause)
    } catch {
      throw mayBeDone ? error.afterSendingAnyway : error
    }
    pause *= 2
  }

  /// Returns the request with its credential, whether the credential is the client's own, and the permit.
  ///
  /// Without them nothing is sent, which proves nothing about an earlier try.
  private func prepare(
    _ call: Call,
    fresh: Bool,
    wasLost: Bool
  ) throws(Fault) -> (HTTPRequest, isOwn: Bool, SendPermit?) {
    do throws(Fault) {
      let (token, isOwn) = try authorization(call.credential, fresh: fresh)
      let request = try request(call, bearer: token, isOwn: isOwn)
      return (request, isOwn, try call.progress?.permit())
    } catch {
      throw call.isEffecting && wasLost ? error.afterSendingAnyway : error.proven
    }
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
    _ credential: Credential,
    fresh: Bool
  ) throws(Fault) -> (token: String?, isOwn: Bool) {
    switch credential {
    case .nobody: return (nil, false)
    case .client(let scope): return (try accessToken(scope, fresh: fresh), true)
    case .resource(let id, let kind):
      if let token = made.withLock({ $0[id] }) { return (token, false) }
      if let token = configuration.resourceToken, !isTokenOver.load(ordering: .relaxed) {
        return (token.revealed, false)
      }
      return (try accessToken(Scopes.of(kind), fresh: fresh), true)
    }
  }

  /// Forgets the resource token from a creation of this run, if the client's own token can replace it.
  ///
  /// A resource token expires after 15 minutes, and the payer may take as long.
  private func forget(_ credential: Credential) -> Bool {
    guard case .resource(let id, _) = credential, configuration.hasClient, configuration.hasKey
    else { return false }
    if made.withLock({ $0.removeValue(forKey: id) }) != nil { return true }
    // A configured token that never worked is wrong; one that worked may have expired.
    return configuration.resourceToken != nil && hasTokenWorked.load(ordering: .relaxed)
      && isTokenOver.exchange(true, ordering: .relaxed) == false
  }

  /// Returns whether a request about a resource would use the client's own token.
  func usesClient(for id: String) -> Bool {
    made.withLock { $0[id] } == nil && configuration.resourceToken == nil
  }

  /// Returns an access token by client credentials (README, 1.2). It is cached until shortly before it
  /// expires.
  private func accessToken(_ scope: String, fresh: Bool) throws(Fault) -> String {
    let scope = configuration.scope ?? scope
    let name = "\(configuration.clientID ?? "") \(configuration.authURL) \(scope)"
    if !fresh, let known = context.tokens.token(name, at: context.clock.now) {
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
    let deadline = Deadline(in: configuration.timeout, on: context.clock)
    var pause = 500
    while true {
      let answer: HTTPResponse
      do throws(Fault) {
        answer = try context.http.send(
          HTTPRequest(
            method: .post,
            url: configuration.authURL + "/connect/token",
            fields: [
              HTTPRequest.Field("Content-Type", "application/json; charset=UTF-8"),
              HTTPRequest.Field("Accept", "application/json"),
            ],
            body: body
          ),
          by: deadline
        )
      } catch {
        guard error.kind == .notSent || error.kind == .providerError else {
          throw error.withoutEffect
        }
        throw .connectionIssues(error)
      }
      let object =
        answer.body.isEmpty ? [:] : JSONReader.read(answer.body, duplicates: .refused)?.object
      if answer.status == 200, let object { return object }
      let isBusy = answer.status == 429 || answer.status >= 500
      if isBusy, pause < deadline.remaining, pause <= 2000 {
        try wait(&pause, mayBeDone: false)
        continue
      }
      if isBusy {
        throw Fault.answer(answer.status, object ?? [:], traceID: answer.traceID, .payment)
          .retried(after: answer.retryAfter(context.clock.now))
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
