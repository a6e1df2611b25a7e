import TenderEngine
import TenderModel

/// One client of Pay Theory's socket (PayTheory/README, 3, 4 and 12).
final class PayTheorySocket: SocketSession {
  private let world: SimulatorWorld
  private let ledger: Ledger
  private let faults: FaultPlan
  private let token: String
  private let claims: JSONObject
  private let key: SimulatedKey
  private let box: ServerBox
  private let sessionKey: String
  private var steps: PayTheorySteps

  /// What an upgrade request at a path with a query comes to; nil where it is not Pay Theory's.
  static func open(
    path: String,
    query: String,
    world: SimulatorWorld,
    ledger: Ledger,
    faults: FaultPlan
  ) -> UpgradeReaction? {
    // Without it nobody knows whose socket it is to be.
    guard let token = QueryText.parameters(query)["pt_token"] else { return nil }
    if faults.strike("socket") == "refused" { return .refuse(status: 403) }
    guard let claims = WebToken.verify(token, now: world.now),
      let key = claims.text("api_key").flatMap(SimulatedKey.init)
    else { return .refuse(status: 401) }
    guard path == "/\(key.partner)" || path == "/\(key.partner)/" else {
      return .refuse(status: 403)
    }
    return .accept(
      PayTheorySocket(
        token: token,
        claims: claims,
        key: key,
        world: world,
        ledger: ledger,
        faults: faults
      )
    )
  }

  private init(
    token: String,
    claims: JSONObject,
    key: SimulatedKey,
    world: SimulatorWorld,
    ledger: Ledger,
    faults: FaultPlan
  ) {
    self.token = token
    self.claims = claims
    self.key = key
    self.world = world
    self.ledger = ledger
    self.faults = faults
    box = ServerBox(seed: world.randomness.bytes(32))
    sessionKey = claims.text("session_key") ?? Base64.encode(world.randomness.bytes(11))
    steps = PayTheorySteps(
      world: world,
      ledger: ledger,
      key: key,
      sessionKey: sessionKey
    )
  }

  func receive(_ text: String) throws(Fault) -> [SocketReaction] {
    guard let message = JSONReader.read(text)?.object, let action = message.text("action"),
      let encoded = message.text("encoded")
    else { return [.send(Self.error("Malformed request"))] }
    guard let step = Self.steps[action] else {
      return [.send(Self.error("Unknown action"))]
    }
    if step == "host-token",
      try PayTheorySteps.isExpired(session: sessionKey, world, ledger)
    {
      return [.close(code: 1001)]
    }
    let fault = faults.strike(step)
    switch fault {
    case "close-before": return [.close(code: 1001)]
    case "drop-before": return [.drop]
    case "gateway-error":
      return [
        .send(
          #"{"message": "Internal server error", "connectionId":"sim=", "requestId":"sim"}"#
        )
      ]
    case "error": return [.send(Self.error("Simulated error"))]
    case "error-array": return [.send(#"{"error":["Simulated ","errors"]}"#)]
    default: break
    }
    let answer = try perform(
      action,
      message,
      encoded,
      wrongKey: fault == "wrong-key",
      echoes: fault == "echo",
      mistakenFor: fault.flatMap { $0.hasPrefix("other-") ? $0 : nil }
    )
    return switch fault {
    case "close-after": [.close(code: 1001)]
    case "drop-after": [.drop]
    case "silence": [.silence]
    case "garbage": [.send("<html>not JSON")]
    case "slow": [.pause(milliseconds: 2000), .send(answer)]
    default: [.send(answer)]
    }
  }

  private static let steps = [
    "host:hostToken": "host-token", "host:transfer_part1": "part1", "host:transfer_part2": "part2",
    "host:cancel_transfer": "cancel", "host:tokenize": "tokenize", "host:barcode": "barcode",
  ]

  private func perform(
    _ action: String,
    _ message: JSONObject,
    _ encoded: String,
    wrongKey: Bool,
    echoes: Bool,
    mistakenFor other: String?
  ) throws(Fault) -> String {
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
    let result = try ledger.transaction { () throws(Fault) in
      try steps.perform(action, inner, now: world.now)
    }
    switch result {
    case .failure(let text): return Self.error(text)
    case .plain(let type, let body): return Self.envelope(type, body: .object(body))
    case .sealed(let type, let body):
      let shown = other.map { Self.body(body, mistakenFor: $0) } ?? body
      let box = wrongKey ? ServerBox(seed: world.randomness.bytes(32)) : self.box
      let plain = Array(JSONWriter.text(.object(shown)).utf8)
      guard let sealed = box.seal(plain, nonce: world.randomness.bytes(24), for: client) else {
        return Self.error("Unable to encrypt answer")
      }
      return JSONWriter.text([
        "type": .string(type), "body": .string(Base64.encode(sealed)),
        "public_key": .string(Base64.encode(self.box.publicKey)),
      ])
    }
  }

  /// iOS sends base64 of `nonce ‖ box`; Android hexadecimal of a sealed box (PayTheory/README, 3.5).
  private func open(_ encoded: String, from client: [UInt8]) -> [UInt8]? {
    let isHex = encoded.utf8.allSatisfy { byte in
      UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "F") ~= byte
    }
    if isHex, encoded.utf8.count % 2 == 0 {
      let digits = Array(encoded)
      let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { index in
        UInt8(String(digits[index...(index + 1)]), radix: 16)
      }
      return box.openSealed(bytes)
    }
    return Base64.decode(encoded).flatMap { box.open($0, from: client) }
  }

  private func hostToken(_ encoded: String, wrongKey: Bool) -> String {
    guard let inner = Base64.decode(encoded).flatMap({ JSONReader.read($0)?.object }),
      inner.text("ptToken") == token
    else { return Self.error("Unable to validate connection token") }
    let mustAttest =
      inner["require_attestation"]?.truth == true || key.stage == "paytheory"
      || faults.strike("attestation") == "refused"
    if mustAttest, inner.text("attestation")?.isEmpty ?? true {
      return Self.error("App attestation failed")
    }
    let hostClaims: JSONObject = [
      "exp": .integer(world.now / 1000 + 900), "hostToken": .object(claims),
      "sessionKey": .string(sessionKey),
      "jti": .string(Base64.encodeURL(world.randomness.bytes(12))),
    ]
    let published = wrongKey ? world.randomness.bytes(32) : box.publicKey
    return Self.envelope(
      "host_token",
      body: [
        "hostToken": .string(WebToken.sign(hostClaims)),
        "publicKey": .string(Base64.encode(published)), "sessionKey": .string(sessionKey),
        "merchantUid": .string(PayTheoryCatalog.merchantUID),
      ]
    )
  }

  /// The answer to another payment, which is sent by mistake.
  private static func body(_ body: JSONObject, mistakenFor other: String) -> JSONObject {
    var body = body
    switch other {
    case "other-amount": body["amount"] = 1
    case "other-decline":
      body["receipt_number"] = "pt-tender-paytheorylab-another00001"
      body["state"] = "FAILURE"
      body["type"] = "DECLINED"
    default: body["receipt_number"] = "pt-tender-paytheorylab-another00001"
    }
    return body
  }

  private static func envelope(_ type: String, body: JSON) -> String {
    JSONWriter.text(["type": .string(type), "body": body])
  }

  /// Texts are the simulator's own: the live server's are not public.
  private static func error(_ text: String) -> String { envelope("error", body: .string(text)) }
}
