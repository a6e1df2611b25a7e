/// A parsed web address: scheme, host, port, path.
package struct WebAddress: Sendable, Hashable {
  package let scheme: String
  package let host: String
  package let port: Int?
  /// The path and query from the first `/` on; may be empty.
  package let target: String

  /// Parses `scheme://host[:port][/path]`; nil for anything else, user names included.
  package init?(_ text: String) {
    // Bytes are enough, because all of them must be ASCII.
    let bytes = Array(text.utf8)
    guard bytes.count <= 8192, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      let mark = bytes.firstIndex(of: UInt8(ascii: ":")),
      bytes[(mark + 1)...].starts(with: "//".utf8),
      let scheme = Self.schemes.first(where: {
        $0.utf8.elementsEqual(bytes[..<mark].map(Self.small))
      })
    else { return nil }
    let rest = bytes[(mark + 3)...]
    let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    let authority = rest[..<end]
    guard !authority.isEmpty, !authority.contains(UInt8(ascii: "@")),
      !rest[end...].contains(UInt8(ascii: "#"))
    else { return nil }
    var name = authority
    var port: Int?
    var tail = authority[end...]
    if authority.first == UInt8(ascii: "[") {
      guard let close = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      name = authority[...close]
      tail = authority[(close + 1)...]
    } else if let colon = authority.firstIndex(of: UInt8(ascii: ":")) {
      name = authority[..<colon]
      tail = authority[colon...]
    }
    if !tail.isEmpty {
      guard tail.first == UInt8(ascii: ":"), let number = Self.portNumber(tail.dropFirst()) else {
        return nil
      }
      port = number
    }
    guard !name.isEmpty else { return nil }
    self.scheme = scheme
    host = String(decoding: name.map(Self.small), as: UTF8.self)
    self.port = port
    target = String(decoding: rest[end...], as: UTF8.self)
  }

  private static let schemes = ["http", "https", "ws", "wss"]

  private static func small(_ byte: UInt8) -> UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
  }

  private static func portNumber(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard (1...5).contains(bytes.count), bytes.allSatisfy(isDigit) else { return nil }
    let number = bytes.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return (1...65_535).contains(number) ? number : nil
  }

  /// The host and port, as the `Host` header has them.
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

  package var isEncrypted: Bool { scheme == "https" || scheme == "wss" }
}
