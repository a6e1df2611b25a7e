/// A web address taken apart as far as this program needs it: scheme, host, port, path.
package struct WebAddress: Sendable, Hashable {
  package let scheme: String
  package let host: String
  package let port: Int?
  /// The path and query, from the first `/` on; empty where there is none.
  package let target: String

  /// Reads `scheme://host[:port][/path]`; nil for anything else, user names included.
  package init?(_ text: String) {
    guard text.utf8.count <= 8192, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      let mark = text.firstRange(of: "://")
    else { return nil }
    let scheme = text[..<mark.lowerBound].lowercased()
    guard ["http", "https", "ws", "wss"].contains(scheme) else { return nil }
    let rest = text[mark.upperBound...]
    let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    let authority = rest[..<end]
    guard !authority.isEmpty, !authority.contains("@"), !rest[end...].contains("#") else {
      return nil
    }
    var name = authority
    var port: Int?
    if authority.hasPrefix("[") {
      guard let close = authority.firstIndex(of: "]") else { return nil }
      name = authority[...close]
      let tail = authority[authority.index(after: close)...]
      if !tail.isEmpty {
        guard tail.hasPrefix(":"), let number = Self.portNumber(tail.dropFirst()) else {
          return nil
        }
        port = number
      }
    } else if let colon = authority.firstIndex(of: ":") {
      name = authority[..<colon]
      guard let number = Self.portNumber(authority[authority.index(after: colon)...]) else {
        return nil
      }
      port = number
    }
    guard !name.isEmpty else { return nil }
    self.scheme = scheme
    host = name.lowercased()
    self.port = port
    target = String(rest[end...])
  }

  private static func portNumber(_ text: Substring) -> Int? {
    // Digits alone: `Int` would take a sign.
    guard text.utf8.count <= 5, text.utf8.allSatisfy(isDigit), let number = Int(text),
      (1...65_535).contains(number)
    else { return nil }
    return number
  }

  /// Host and port as a request's `Host` field writes them.
  package var authority: String { port.map { "\(host):\($0)" } ?? host }

  /// Whether the host is this machine: 127.0.0.0/8, `::1` or `localhost`.
  package var isLoopback: Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy {
        UInt8($0) != nil && $0.utf8.count <= 3 && $0.utf8.allSatisfy(Self.isDigit)
      }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  /// Whether the scheme keeps what is sent secret.
  package var isEncrypted: Bool { scheme == "https" || scheme == "wss" }
}
