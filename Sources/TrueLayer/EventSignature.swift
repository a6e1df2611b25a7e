private import CLibraries
import TenderModel

/// An event as it was received, for its signature. Names of fields are compared without case.
package struct SignedEvent: Sendable {
  /// The path of the request, with its query.
  package var target: String
  package var fields: [(name: String, value: String)]
  package var body: [UInt8]

  package init(target: String, fields: [(name: String, value: String)], body: [UInt8]) {
    self.target = target
    self.fields = fields
    self.body = body
  }

  /// The value of a field; nil without one, and if it was given twice.
  package func field(_ name: String) -> String? {
    let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    return values.count == 1 ? values[0] : nil
  }
}

/// `Tl-Signature` of an event: a detached JSON Web Signature with ES512 over path, some header fields and body (README,
/// 10.9).
package struct EventSignature: Sendable {
  /// Why a signature is refused.
  package struct Refusal: Error, Hashable {
    /// A text that follows "the signature".
    package let text: String
  }

  /// The field with the time of the event. Without it among the signed fields, the time could be anyone's.
  package static let timeField = "X-Tl-Webhook-Timestamp"

  package let keyID: String
  /// The address of the set of keys (`jku`). It is compared with the known one, and never visited because of this text.
  package let keySet: String
  /// The signed fields, in their order and spelling.
  package let names: [String]
  private let head: String
  private let bytes: [UInt8]

  /// Reads the value of the field `Tl-Signature`.
  package init(_ text: String) throws(Refusal) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, parts[1].isEmpty, text.utf8.count <= 4096 else {
      throw Refusal(text: "is not HEADER..SIGNATURE")
    }
    guard let header = Base64.decodeURL(parts[0]).flatMap({ JSONReader.read($0)?.object }) else {
      throw Refusal(text: "has a header that is not JSON")
    }
    guard header.text("alg") == "ES512" else { throw Refusal(text: "has another alg than ES512") }
    guard header.text("tl_version") == "2" else {
      throw Refusal(text: "has another tl_version than \"2\"")
    }
    guard let key = header.text("kid"), let set = header.text("jku") else {
      throw Refusal(text: "has no kid or no jku: it is that of a request, not of an event")
    }
    names = (header.text("tl_headers") ?? "").split(separator: ",").map(String.init)
    guard names.contains(where: { $0.lowercased() == Self.timeField.lowercased() }) else {
      throw Refusal(text: "does not cover \(Self.timeField)")
    }
    guard let bytes = Base64.decodeURL(parts[2]), bytes.count == Int(TENDER_ES512_SIZE) else {
      throw Refusal(text: "does not have 132 bytes")
    }
    (keyID, keySet, head, self.bytes) = (key, set, parts[0], bytes)
  }

  /// The forms of a target that can have been signed, and what each is. Which one TrueLayer signs is not public.
  package static func forms(of target: String) -> [(path: String, meaning: String)] {
    let path = String(target.prefix(before: "?"))
    let query = target.dropFirst(path.count)
    let other = path.hasSuffix("/") ? String(path.dropLast()) : path + "/"
    let slash = path.hasSuffix("/") ? "without its last slash" : "with a slash at its end"
    let plain = [(path, "the path"), (other, "the path \(slash)")]
    guard !query.isEmpty else { return plain }
    return plain
      + [
        (path + query, "the path and its query"),
        (other + query, "the path \(slash), and its query"),
      ]
  }

  /// Verifies an event with a public key in PEM text. Returns the meaning of the signed form of its target.
  package func verify(_ event: SignedEvent, key: String) throws(Refusal) -> String {
    var lines = ""
    for name in names {
      guard let value = event.field(name) else {
        throw Refusal(text: "covers \(name.quotedForMessage), which the event does not have once")
      }
      lines += "\(name): \(value)\n"
    }
    if let problem = unsafe tender_crypto_open() {
      throw Refusal(text: "cannot be checked: \(unsafe String(cString: problem))")
    }
    let pem = Array(key.utf8)
    for form in Self.forms(of: event.target) {
      let payload = Array("POST \(form.path)\n\(lines)".utf8) + event.body
      let input = Array("\(head).\(Base64.encodeURL(payload))".utf8)
      if unsafe tender_crypto_verify_es512(pem, pem.count, input, input.count, bytes) == 1 {
        return form.meaning
      }
    }
    throw Refusal(text: "does not fit path, signed fields and body under its key")
  }
}

/// A set of public keys (RFC 7517), as a provider publishes it for its events.
package struct KeySet: Sendable {
  /// The P-521 keys as PEM texts, by their ids. Keys of other kinds in the set are left out.
  package let keys: [String: String]

  /// The most bytes of a set, and the most keys.
  package static let mostBytes = 1 << 18
  private static let mostKeys = 100

  /// Reads a set; nil for a text that is none.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.mostBytes, let list = JSONReader.read(bytes)?["keys"]?.array,
      list.count <= Self.mostKeys
    else { return nil }
    var keys: [String: String] = [:]
    for key in list {
      guard key["kty"]?.text == "EC", key["crv"]?.text == "P-521", let id = key["kid"]?.text,
        let x = Self.coordinate(key["x"]), let y = Self.coordinate(key["y"])
      else { continue }
      // SubjectPublicKeyInfo of an uncompressed point (RFC 5480, section 2; SEC 1, section 2.3.3).
      keys[id] =
        "-----BEGIN PUBLIC KEY-----\n\(Base64.encode(Self.prefix + x + y))\n"
        + "-----END PUBLIC KEY-----\n"
    }
    self.keys = keys
  }

  private static let prefix: [UInt8] = [
    0x30, 0x81, 0x9b, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05,
    0x2b, 0x81, 0x04, 0x00, 0x23, 0x03, 0x81, 0x86, 0x00, 0x04,
  ]

  /// Returns a coordinate of 66 bytes. A publisher may have left out zeros at its beginning.
  private static func coordinate(_ value: JSON?) -> [UInt8]? {
    guard let bytes = value?.text.flatMap(Base64.decodeURL), bytes.count <= 66, !bytes.isEmpty
    else {
      return nil
    }
    return [UInt8](repeating: 0, count: 66 - bytes.count) + bytes
  }
}
