private import CLibraries
import TenderEngine
import TenderModel

/// Signs events as TrueLayer does: ES512, detached, over path, time and body (TrueLayer/README, 10.9). The key is made at
/// each start of a server.
struct BankEventSigner: EventSigner {
  private static let path = "/.well-known/jwks"
  /// The spelling of TrueLayer's newest published vector.
  private static let timeField = "x-tl-webhook-timestamp"

  private let key: SimulatedSigner
  /// The address of the set of keys (`jku`).
  private let address: String

  /// Makes a key for a server at an address.
  ///
  /// Throws `internal` without libcrypto.
  init(at base: String, _ randomness: any Randomness) throws(Fault) {
    key = try SimulatedSigner.make(id: randomness.uuid().lowercased())
    address = base + Self.path
  }

  var keySet: (path: String, body: [UInt8]) {
    let lines = key.publicKey.split(separator: "\n").filter { !$0.hasPrefix("-") }
    // The point is at the end of SubjectPublicKeyInfo: two coordinates of 66 bytes.
    let point = (Base64.decode(lines.joined()) ?? []).suffix(132)
    let own: JSONObject = [
      "kty": "EC", "alg": "ES512", "kid": key.key.json, "crv": "P-521",
      "x": Base64.encodeURL(point.prefix(66)).json, "y": Base64.encodeURL(point.suffix(66)).json,
    ]
    let set: JSON = ["keys": .array([.object(own)])]
    return (Self.path, Array(JSONWriter.text(set).utf8))
  }

  func fields(
    of event: PublishedEvent,
    to path: String,
    isWrong: Bool
  ) throws(Fault) -> [HTTPRequest.Field] {
    let time = Timestamp.text(event.at)
    // TrueLayer's libraries write the header again from its members, in this order.
    let header: JSON = [
      "alg": "ES512", "kid": key.key.json, "tl_version": "2", "tl_headers": Self.timeField.json,
      "jku": address.json,
    ]
    let head = Base64.encodeURL(JSONWriter.text(header).utf8)
    let signed = "POST \(path)\n\(Self.timeField): \(time)\n\(event.body)" + (isWrong ? " " : "")
    let input = Array("\(head).\(Base64.encodeURL(signed.utf8))".utf8)
    let pem = Array(key.privateKey.utf8)
    var signature = [UInt8](repeating: 0, count: Int(TENDER_ES512_SIZE))
    guard unsafe tender_crypto_sign_es512(pem, pem.count, input, input.count, &signature) == 1
    else { throw Fault(.internal, code: "library_missing", "libcrypto does not sign") }
    return [
      HTTPRequest.Field("Tl-Signature", head + ".." + Base64.encodeURL(signature)),
      HTTPRequest.Field("X-Tl-Webhook-Timestamp", time),
    ]
  }
}
