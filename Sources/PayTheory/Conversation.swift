import TenderEngine
import TenderModel

/// A parsed text message of the socket (README, 3.2).
enum Reply {
  /// `{"type":T,"body":{…}}`, not encrypted.
  case plain(type: String, body: JSONObject)
  /// `{"type":T,"body":"<base64>","public_key":"<base64>"}`.
  case sealed(type: String, body: [UInt8], publicKey: [UInt8])

  /// Parses a message. Throws the error that it reports, and `provider_error` for one that cannot be read.
  init(_ text: String) throws(Fault) {
    guard let message = JSONReader.read(text, duplicates: .refused)?.object else {
      throw .socketError("an answer that is not JSON")
    }
    if let errors = message["error"], errors != .null {
      throw Self.refusal(errors.array?.compactMap(\.text).joined() ?? errors.text ?? "")
    }
    guard let type = message.text("type") else {
      let text = message.text("message")
      let why = text.map { "the gateway says \($0.quotedForMessage)" }
      throw .socketError(why ?? "an answer without a type", text: text)
    }
    if type == "error" { throw Self.refusal(message["body"]?.text ?? "") }
    if let body = message["body"]?.object {
      self = .plain(type: type, body: body)
    } else if let body = message.text("body").flatMap(Base64.decode),
      let key = message.text("public_key").flatMap(Base64.decode)
    {
      self = .sealed(type: type, body: body, publicKey: key)
    } else {
      throw .socketError("an answer whose body cannot be read")
    }
  }

  private static func refusal(_ text: String) -> Fault {
    if text.lowercased().contains("attestation") {
      return .invalidApp("Pay Theory refused the app's attestation")
    }
    guard !text.isEmpty else { return .socketError("an error without a text") }
    return .socketError(text, text: text).with { $0.cause = .refused }
  }
}

/// A connection to Pay Theory: a token, a socket, a host token, then one request at a time.
final class Conversation {
  private let socket: any MessageSocket
  private let keys: KeyPair
  private let clock: any Clock
  private let randomness: any Randomness
  private let timeout: Int
  private var serverKey: [UInt8] = []
  /// The caller's own session id.
  let session: String
  private(set) var hostToken = ""
  /// The session key of this socket, which requests carry.
  private(set) var sessionKey = ""

  /// Whether a request without an answer was sent. It must be delivered before the connection closes.
  private var hasTold = false

  private init(
    _ socket: any MessageSocket,
    _ session: String,
    _ context: PayTheoryContext
  ) {
    self.socket = socket
    self.session = session
    clock = context.clock
    randomness = context.randomness
    timeout = context.configuration.timeout
    var seed = context.randomness.bytes(Box.keyLength)
    keys = KeyPair(seed: seed)
    seed.wipe()
  }

  deinit { socket.close(waiting: hasTold) }

  /// Connects: token, socket, host token.
  ///
  /// `session` is the caller's session id, which stays the same over reconnections (README, 2.1). Nothing
  /// here can move money.
  static func open(session: String, _ context: PayTheoryContext) throws(Fault) -> Conversation {
    try context.configuration.checkBases()
    // The upgrade needs the token, the connection does not.
    context.sockets.connectAhead(to: context.configuration.socketURL, by: context.deadline)
    let token = try fetchToken(session: session, context)
    for secret in [token, session] { context.redactor.learn(secret) }
    let socket: any MessageSocket
    do throws(Fault) {
      socket = try context.sockets.open(
        url: context.configuration.socketURL + "?pt_token=" + QueryText.encode(token),
        fields: [],
        by: context.deadline
      )
    } catch {
      throw asSocketFault(error)
    }
    let conversation = Conversation(socket, session, context)
    try conversation.authenticate(ptToken: token, context.redactor)
    return conversation
  }

  /// Sends an encrypted request and returns the decrypted answer, which must be of an expected type.
  ///
  /// `write` writes the members of the inner object, whose bytes are wiped. With `progress`, the request can
  /// move money or creates something. Then it is recorded as sent first.
  func ask(
    _ action: String,
    wanting types: [String],
    _ progress: Progress?,
    _ write: (inout JSONWriter) -> Void
  ) throws(Fault) -> (type: String, body: [UInt8]) {
    let message = try sealed(action, write)
    let permit = try Self.permit(progress)
    do throws(Fault) {
      let deadline = Deadline(in: timeout, on: clock)
      try socket.send(message, permit, by: deadline)
      let reply = try receive(by: deadline)
      guard case .sealed(let type, let body, let publicKey) = reply, types.contains(type) else {
        throw .socketError("an answer of another kind than \(types.joined(separator: " or "))")
      }
      guard let opened = Box.open(body, from: publicKey, to: keys) else {
        throw .socketError("an answer that cannot be decrypted")
      }
      return (type, opened)
    } catch {
      // Storing a method moves no money, so a refusal as a text is believed.
      let isStoring = progress?.operation.kind == .store
      throw isStoring && error.cause == .refused ? error.proven : Self.asSocketFault(error)
    }
  }

  /// Records that a request is about to be sent. Returns the permit to send it; nil for one without
  /// `progress`.
  private static func permit(_ progress: Progress?) throws(Fault) -> SendPermit? {
    try progress?.willSend()
    return try progress?.permit()
  }

  /// Sends an encrypted request without a documented answer. With `progress`, it is recorded as sent first.
  func tell(
    _ action: String,
    _ progress: Progress?,
    _ write: (inout JSONWriter) -> Void
  ) throws(Fault) {
    let message = try sealed(action, write)
    let permit = try Self.permit(progress)
    hasTold = true
    do throws(Fault) {
      try socket.send(message, permit, by: Deadline(in: timeout, on: clock))
    } catch {
      throw Self.asSocketFault(error)
    }
  }

  static func fetchToken(session: String, _ context: PayTheoryContext) throws(Fault) -> String {
    let configuration = context.configuration
    try configuration.checkBases()
    let answer: HTTPResponse
    do throws(Fault) {
      answer = try context.http.send(
        HTTPRequest(
          method: .get,
          url: configuration.tokenURL,
          fields: [
            HTTPRequest.Field("X-API-Key", configuration.key.text, isSecret: true),
            HTTPRequest.Field("Content-Type", "application/json"),
            HTTPRequest.Field("X-Session-Key", session, isSecret: true),
          ]
        ),
        by: context.deadline
      )
    } catch {
      throw tokenFault(error)
    }
    switch answer.status {
    case 200..<300: break
    case 429, 300..<400, 500...:
      throw Fault.noToken("it answered \(answer.status)").retried(
        after: answer.retryAfter(context.clock.now)
      )
    default:
      throw .noToken(
        "it answered \(answer.status)",
        .auth,
        code: "no_token_refused",
        hint: "check TENDER_PAYTHEORY_API_KEY and that its stage is the one you mean"
      )
    }
    guard let token = JSONReader.read(answer.body, duplicates: .refused)?["pt-token"]?.text,
      !token.isEmpty,
      token.utf8.count <= 16_384
    else { throw .noToken("an answer without a token") }
    return token
  }

  private static func tokenFault(_ fault: Fault) -> Fault {
    switch fault.kind {
    case .notSent:
      .noToken(
        fault.message,
        .notSent,
        code: "no_token_unreachable",
        hint: fault.hint ?? "nothing was sent; it is safe to retry"
      )
    case .interrupted, .terminated, .hungUp, .internal, .state, .usage: fault
    default: .noToken(fault.message)
    }
  }

  private func authenticate(ptToken: String, _ redactor: Redactor) throws(Fault) {
    var inner = JSONWriter()
    inner.write([
      "ptToken": .string(ptToken), "origin": "apple", "attestation": "",
      "timing": .integer(clock.now), "appleEnvironment": "appattestdevelop",
      "require_attestation": false,
    ])
    let message = JSONWriter.text([
      "action": "host:hostToken", "encoded": .string(Base64.encode(inner.bytes)),
    ])
    do throws(Fault) {
      let deadline = Deadline(in: timeout, on: clock)
      try socket.send(message, by: deadline)
      guard case .plain(type: "host_token", let body) = try receive(by: deadline),
        let hostToken = body.text("hostToken"), let sessionKey = body.text("sessionKey"),
        let key = body.text("publicKey").flatMap(Base64.decode), key.count == Box.keyLength
      else { throw .socketError("no host token in its answer") }
      self.hostToken = hostToken
      self.sessionKey = sessionKey
      for secret in [hostToken, sessionKey] { redactor.learn(secret) }
      serverKey = key
    } catch {
      throw Self.asSocketFault(error)
    }
  }

  /// Writes the envelope of an encrypted request (README, 3.1).
  private func sealed(
    _ action: String,
    _ write: (inout JSONWriter) -> Void
  ) throws(Fault) -> String {
    var inner = JSONWriter(reserving: 2048)
    inner.beginObject()
    write(&inner)
    inner.endObject()
    defer { inner.wipe() }
    let nonce = randomness.bytes(Box.nonceLength)
    guard let box = Box.seal(inner.whole, nonce: nonce, to: serverKey, from: keys) else {
      throw .socketError("a public key that nothing can be encrypted to")
    }
    // A card is encrypted once. From here on only the encrypted message holds it.
    inner.eraseSecrets()
    return JSONWriter.text([
      "action": .string(action), "encoded": .string(Base64.encode(box)),
      "sessionKey": .string(sessionKey), "publicKey": .string(Base64.encode(keys.publicKey)),
    ])
  }

  private func receive(by deadline: Deadline) throws(Fault) -> Reply {
    switch try socket.receive(by: deadline) {
    case .text(let text): return try Reply(text)
    case .binary: throw .socketError("a binary message")
    case .closed: throw .sessionExpired
    }
  }

  /// Returns the transport's fault as a socket error.
  private static func asSocketFault(_ fault: Fault) -> Fault {
    guard fault.result == nil, fault.cause != .leaseOver else { return fault }
    switch fault.kind {
    case .notSent:
      var shown = Fault.socketError(fault.message, .notSent, code: "socket_unreachable")
      shown.hint = fault.hint ?? "nothing was sent; it is safe to retry"
      return shown
    case .interrupted, .terminated, .hungUp, .internal, .state, .usage: return fault
    default: return .socketError(fault.message)
    }
  }
}
