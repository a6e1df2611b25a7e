private import CLibraries
package import TenderModel

/// JSON Web Tokens under HS256 (RFC 7515, RFC 7518 section 3.2), in the provider's form.
package enum WebToken {
  /// Signs claims.
  ///
  /// The key protects nothing: it is in the binary.
  package static func sign(_ claims: JSONObject) -> String {
    let header = Base64.encodeURL(JSONWriter.text(["alg": "HS256", "typ": "JWT"]).utf8)
    let signed = header + "." + Base64.encodeURL(JSONWriter.text(.object(claims)).utf8)
    return signed + "." + Base64.encodeURL(mac(signed))
  }

  /// Returns the claims of a token that this simulator signed and that has not expired. `now` is in
  /// milliseconds.
  package static func verify(_ token: String, now: Int) -> JSONObject? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, Base64.decodeURL(parts[2]) == mac(parts[0] + "." + parts[1]),
      let claims = Base64.decodeURL(parts[1]).flatMap({ JSONReader.read($0)?.object }),
      let expiry = claims["exp"]?.boundedNumber, expiry * 1000 > now
    else { return nil }
    return claims
  }

  private static func mac(_ text: String) -> [UInt8] {
    let key = [UInt8](repeating: 0x5a, count: 32)
    let bytes = Array(text.utf8)
    var mac = [UInt8](repeating: 0, count: 32)
    _ = unsafe crypto_auth_hmacsha256(&mac, bytes, UInt64(bytes.count), key)
    return mac
  }
}
