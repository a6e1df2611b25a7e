import TenderEngine
import TenderModel

/// One client of Pay Theory's socket (PayTheory/README, 3, 4 and 12).
final class PayTheorySocket: SocketSession {
  private let parts: SimulatorParts
  private let token: String
  private let claims: JSONObject
  private let key: SimulatedKey
  private let box: ServerBox
  private let sessionKey: String

  private var world: SimulatorWorld { parts.world }

  private var steps: PayTheorySteps {
    PayTheorySteps(parts: parts, key: key, sessionKey: sessionKey)
  }

  /// Returns the reaction to an upgrade request at a path with a query; nil for another provider's path.
  static func open(path: String, query: String, _ parts: SimulatorParts) -> UpgradeReaction? {
    // Without the token, the owner of the socket is unknown.
    guard let token = QueryText.parameters(query)["pt_token"] else { return nil }
    switch parts.faults.strike("socket").what {
    case "refused": return .refuse(status: 403)
    case "unreachable": return .unreachable
    default: break
    }
    guard let claims = WebToken.verify(token, now: parts.world.now),
      let key = claims.text("api_key").flatMap(SimulatedKey.init)
    else { return .refuse(status: 401) }
    guard path == "/\(key.partner)" || path == "/\(key.partner)/" else {
      return .refuse(status: 403)
    }
    return .accept(PayTheorySocket(token, claims, key, parts))
  }

  private init(
    _ token: String,
    _ claims: JSONObject,
    _ key: SimulatedKey,
    _ parts: SimulatorParts
  ) {
    self.token = token
    self.claims = claims
    self.key = key
    self.parts = parts
    box = ServerBox(seed: parts.world.randomness.bytes(32))
    sessionKey = claims.text("session_key") ?? Base64.encode(parts.world.randomness.bytes(11))
  }

  func receive(_ text: String) throws(Fault) -> [SocketReaction] {
    guard let message = JSONReader.read(text)?.object, let action = message.text("action"),
      let encoded = message.text("encoded")
    else { return [.send(Self.error("Malformed request"))] }
    guard let step = Self.steps[action] else {
      return [.send(Self.error("Unknown action"))]
    }
    if step == "host-token", try steps.isExpired() { return [.close(code: 1001)] }
    let strike = parts.faults.strike(step) { plain(message, encoded) ?? [] }
    let fault = strike.what
    if let reaction = Self.before[fault ?? ""] { return [reaction] }
    let answer = try perform(action, message, encoded, fault)
    if let reaction = Self.after[fault ?? ""] { return [reaction] }
    let text = fault == "garbage" ? "<html>not JSON" : answer
    let late = strike.delay + (strike.rate.map { text.utf8.count * 1000 / $0 } ?? 0)
    let pauses: [SocketReaction] = late > 0 ? [.pause(milliseconds: late)] : []
    guard let cut = strike.cut, cut < text.utf8.count else { return pauses + [.send(text)] }
    return pauses + [.cut(text, bytes: cut)]
  }

  /// The reactions in place of an answer, before the message is handled and after.
  private static let before: [String: SocketReaction] = [
    "close-before": .close(code: 1001), "reset-before": .drop, "reset-amid": .drop,
    "silence-before": .silence, "error": .send(error("Simulated error")),
    "error-array": .send(#"{"error":["Simulated ","errors"]}"#),
    "gateway-error": .send(
      #"{"message": "Internal server error", "connectionId":"sim=", "requestId":"sim"}"#
    ),
  ]
  private static let after: [String: SocketReaction] = [
    "close-after": .close(code: 1001), "reset-after": .drop, "silence-after": .silence,
  ]

  /// Opens the sealed part of a message; nil if it cannot be opened.
  private func plain(_ message: JSONObject, _ encoded: String) -> [UInt8]? {
    message.text("publicKey").flatMap(Base64.decode).flatMap { open(encoded, from: $0) }
  }

  static let steps = [
    "host:hostToken": "host-token", "host:transfer_part1": "part1", "host:transfer_part2": "part2",
    "host:cancel_transfer": "cancel", "host:tokenize": "tokenize", "host:barcode": "barcode",
  ]

  private func perform(
    _ action: String,
    _ message: JSONObject,
    _ encoded: String,
    _ fault: String?
  ) throws(Fault) -> String {
    let echoes = fault == "echo"
    let wrongKey = fault == "wrong-key"
    if action == "host:hostToken" {
      if echoes { return Self.error("Cannot take \(token)") }
      return hostToken(encoded, wrongKey: wrongKey)
    }
    guard message.text("sessionKey") == sessionKey else {
      return Self.error("Unknown session")
    }
    guard let client = message.text("publicKey").flatMap(Base64.decode),
      let plain = open(encoded, from: client), let inner = JSONReader.read(plain)?.object
    else { return Self.error("Unable to decrypt request") }
    if echoes { return Self.error("Cannot take " + String(decoding: plain, as: UTF8.self)) }
    // Changes before a refusal stay, such as a spent host token.
    let result = try parts.ledger.transaction { () throws(Fault) in
      try Fault.refusable { () throws(Fault) in
        try steps.perform(action, inner, now: world.now)
      }
    }
    let answer: PayTheorySteps.Answer
    switch result {
    case .failure(let refusal): return Self.error(refusal.message)
    case .success(let made): answer = made
    }
    guard answer.isSealed else { return Self.envelope(answer.type, body: .object(answer.body)) }
    let shown = Self.body(answer.body, mistakenFor: fault)
    let box = wrongKey ? ServerBox(seed: world.randomness.bytes(32)) : self.box
    let text = Array(JSONWriter.text(.object(shown)).utf8)
    guard let sealed = box.seal(text, nonce: world.randomness.bytes(24), for: client) else {
      return Self.error("Unable to encrypt answer")
    }
    let key = Base64.encode(self.box.publicKey)
    let body = Base64.encode(sealed)
    return JSONWriter.text(["type": answer.type.json, "body": body.json, "public_key": key.json])
  }

  /// iOS sends base64 of `nonce ‖ box`; Android hexadecimal of a sealed box (PayTheory/README, 3.5).
  private func open(_ encoded: String, from client: [UInt8]) -> [UInt8]? {
    if encoded == encoded.uppercased(), let sealed = Hex.decode(encoded) {
      return box.openSealed(sealed)
    }
    return Base64.decode(encoded).flatMap { box.open($0, from: client) }
  }

  private func hostToken(_ encoded: String, wrongKey: Bool) -> String {
    guard let inner = Base64.decode(encoded).flatMap({ JSONReader.read($0)?.object }),
      inner.text("ptToken") == token
    else { return Self.error("Unable to validate connection token") }
    let mustAttest =
      inner["require_attestation"]?.truth == true || key.stage == "paytheory"
      || parts.faults.strike("attestation").what == "refused"
    if mustAttest, inner.text("attestation")?.isEmpty ?? true {
      return Self.error("App attestation failed")
    }
    let hostClaims: JSONObject = [
      "exp": (world.now / 1000 + 900).json, "hostToken": claims.json, "sessionKey": sessionKey.json,
      "jti": Base64.encodeURL(world.randomness.bytes(12)).json,
    ]
    let published = wrongKey ? world.randomness.bytes(32) : box.publicKey
    let body: JSON = [
      "hostToken": WebToken.sign(hostClaims).json, "publicKey": Base64.encode(published).json,
      "sessionKey": sessionKey.json, "merchantUid": PayTheoryCatalog.merchantUID.json,
    ]
    return Self.envelope("host_token", body: body)
  }

  /// Returns the answer, or that of another payment if a fault sends it by mistake.
  private static func body(_ body: JSONObject, mistakenFor fault: String?) -> JSONObject {
    var body = body
    switch fault {
    case "other-amount": body["amount"] = 1
    case "other-decline":
      body["receipt_number"] = "pt-tender-paytheorylab-another00001"
      body["state"] = "FAILURE"
      body["type"] = "DECLINED"
    case "other-receipt": body["receipt_number"] = "pt-tender-paytheorylab-another00001"
    default: break
    }
    return body
  }

  private static func envelope(_ type: String, body: JSON) -> String {
    JSONWriter.text(["type": .string(type), "body": body])
  }

  /// The texts are the simulator's. Those of the live server are not public.
  private static func error(_ text: String) -> String { envelope("error", body: .string(text)) }
}
