/// The parsed address of a reader.
package enum DeviceAddress: Sendable, Hashable {
  case network(host: String, port: UInt16)
  case terminal(String)
  /// Six address bytes in written order, and the RFCOMM channel.
  case bluetooth([UInt8], channel: UInt8)

  /// The TCP port that networked readers listen on.
  static let defaultPort: UInt16 = 6543

  /// The port, if the address is on this machine; nil for any other address.
  package var loopbackPort: UInt16? {
    guard case .network(let host, let port) = self else { return nil }
    let name = host.contains(":") ? "[\(host)]" : host
    let isOwn = WebAddress("http://\(name)/")?.isLoopback ?? false
    return isOwn || name.lowercased().hasSuffix(".localhost") ? port : nil
  }

  /// Parses an address; nil if it is invalid.
  package init?(_ text: String) {
    if text.hasPrefix("tcp://") {
      var rest = text.dropFirst("tcp://".count)
      if rest.hasSuffix("/") { rest = rest.dropLast() }
      var host = rest
      var port = Self.defaultPort
      if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
        host = rest[rest.index(after: rest.startIndex)..<end]
        let tail = rest[rest.index(after: end)...]
        if !tail.isEmpty {
          guard tail.hasPrefix(":"), let number = UInt16(tail.dropFirst()) else { return nil }
          port = number
        }
      } else if let colon = rest.lastIndex(of: ":") {
        guard let number = UInt16(rest[rest.index(after: colon)...]) else { return nil }
        host = rest[..<colon]
        port = number
      }
      let isName = host.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 < 0x7f }
      guard !host.isEmpty, host.count <= 253, port > 0, isName else { return nil }
      self = .network(host: String(host), port: port)
    } else if text.hasPrefix("tty:") {
      let path = String(text.dropFirst("tty:".count))
      guard path.hasPrefix("/") else { return nil }
      self = .terminal(path)
    } else if text.hasPrefix("bluetooth:") {
      let parts = text.dropFirst("bluetooth:".count)
        .split(separator: "/", omittingEmptySubsequences: false)
      let pairs = parts[0].split(separator: ":", omittingEmptySubsequences: false)
      let bytes = pairs.compactMap { $0.count == 2 ? UInt8($0, radix: 16) : nil }
      guard pairs.count == 6, bytes.count == 6, parts.count <= 2 else { return nil }
      var channel: UInt8 = 1
      if parts.count == 2 {
        guard let number = UInt8(parts[1]), (1...30).contains(number) else { return nil }
        channel = number
      }
      self = .bluetooth(bytes, channel: channel)
    } else {
      return nil
    }
  }
}
