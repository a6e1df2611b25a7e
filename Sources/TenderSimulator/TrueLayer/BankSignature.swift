private import CLibraries
import TenderModel

/// Checks `Tl-Signature` as TrueLayer does (TrueLayer/README, 2.3).
enum BankSignature {
  /// Whether a detached signature matches a request. Header names in `fields` are in lower case.
  ///
  /// `key` returns the PEM text of a public key by its id.
  static func fits(
    _ value: String,
    _ request: SimulatedRequest,
    key: (String) -> String?
  ) -> Bool {
    // A payload between or after the dots is refused.
    guard let mark = value.firstRange(of: "..") else { return false }
    let head = value[..<mark.lowerBound]
    let tail = value[mark.upperBound...]
    guard !head.contains("."), !tail.contains("."),
      let header = Base64.decodeURL(String(head)).flatMap({ JSONReader.read($0)?.object }),
      let signature = Base64.decodeURL(String(tail)), signature.count == 132,
      header.text("alg") == "ES512", let key = header.text("kid").flatMap(key),
      header.text("tl_version") == "2"
    else { return false }
    let names = (header.text("tl_headers") ?? "").split(separator: ",").map(String.init)
    let isKeySigned = names.contains { $0.lowercased() == "idempotency-key" }
    guard isKeySigned || request.fields["idempotency-key"] == nil else { return false }
    var lines = ""
    for name in names {
      guard let text = request.fields[name.lowercased()] else { return false }
      lines += "\(name): \(text)\n"
    }
    let other = request.path.hasSuffix("/") ? String(request.path.dropLast()) : request.path + "/"
    guard unsafe tender_crypto_open() == nil else { return false }
    return [request.path, other].contains { path in
      let payload = Array("\(request.method) \(path)\n\(lines)".utf8) + request.body
      let input = Array("\(head).\(Base64.encodeURL(payload))".utf8)
      let (key, count) = (Array(key.utf8), key.utf8.count)
      return unsafe tender_crypto_verify_es512(key, count, input, input.count, signature) == 1
    }
  }
}
