private import CLibraries
package import TenderModel

/// `Tl-Signature`, version 2: a detached JSON Web Signature with ES512 over method, path, some headers
/// and body (README, 2.1; RFC 7515, appendix F).
package enum RequestSignature {
  /// Returns the signed bytes: `METHOD path`, a line for each header, then the body as sent.
  package static func payload(
    method: String,
    path: String,
    headers: [(name: String, value: String)],
    body: [UInt8]
  ) -> [UInt8] {
    var text = "\(method.uppercased()) \(path)\n"
    for header in headers { text += "\(header.name): \(header.value)\n" }
    return Array(text.utf8) + body
  }

  /// Returns the header's value for a request. `key` is PEM text.
  ///
  /// Throws `usage` if the text is not a P-521 private key.
  package static func value(
    method: String,
    path: String,
    headers: [(name: String, value: String)],
    body: [UInt8],
    keyID: String,
    key: SharedSecret
  ) throws(Fault) -> String {
    let header: JSON = [
      "alg": "ES512", "kid": .string(keyID), "tl_version": "2",
      "tl_headers": .string(headers.map(\.name).joined(separator: ",")),
    ]
    let encodedHeader = Base64.encodeURL(JSONWriter.text(header).utf8)
    let payload = payload(method: method, path: path, headers: headers, body: body)
    let input = encodedHeader + "." + Base64.encodeURL(payload)
    let signature = try sign(Array(input.utf8), with: key)
    return encodedHeader + ".." + Base64.encodeURL(signature)
  }

  /// Signs with a key in PEM text. Returns r and s, 66 bytes each.
  static func sign(_ bytes: [UInt8], with key: SharedSecret) throws(Fault) -> [UInt8] {
    if let problem = unsafe tender_crypto_open() {
      throw .libraryMissing(unsafe String(cString: problem))
    }
    var pem: [UInt8] = []
    key.secret.append(to: &pem)
    defer { pem.wipe() }
    var signature = [UInt8](repeating: 0, count: Int(TENDER_ES512_SIZE))
    switch unsafe tender_crypto_sign_es512(pem, pem.count, bytes, bytes.count, &signature) {
    case 1: return signature
    case -1: throw .badKey("is on another curve than P-521")
    case 0: throw .badKey("is no private key in PEM text, or has a passphrase")
    default: throw .badKey("cannot sign")
    }
  }
}

extension Fault {
  fileprivate static func badKey(_ problem: String) -> Fault {
    Fault(
      .usage,
      code: "sdk_misconfigured",
      "the TrueLayer signing key \(problem)",
      hint: "openssl ecparam -genkey -name secp521r1 -noout makes one",
      result: ["error": "sdkNotConfigured", "reason": "the signing key cannot be used"]
    )
  }
}
