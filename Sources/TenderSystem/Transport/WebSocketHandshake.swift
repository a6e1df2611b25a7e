private import CLibraries
package import TenderEngine
package import TenderModel

/// The opening handshake of a WebSocket client (RFC 6455, section 4): pure.
package struct WebSocketHandshake {
  /// The largest accepted answer, in bytes.
  static let limit = 16_384

  package let requestBytes: [UInt8]
  private let accept: String

  /// Creates a handshake; `nonce` is 16 random bytes.
  ///
  /// Throws `internal` without libcrypto.
  package init(
    _ address: WebAddress,
    nonce: [UInt8],
    fields: [HTTPRequest.Field]
  ) throws(Fault) {
    let key = Base64.encode(nonce)
    accept = try Self.accept(for: key)
    var lines = [
      "GET \(address.target.isEmpty ? "/" : address.target) HTTP/1.1", "Host: \(address.authority)",
      "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: \(key)",
      "Sec-WebSocket-Version: 13",
    ]
    lines += fields.map { "\($0.name): \($0.value)" }
    requestBytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// The server's answer to a key: base64 of SHA-1 over key and GUID (section 4.2.2).
  package static func accept(for key: String) throws(Fault) -> String {
    try unsafe Libraries.need(tender_crypto_open())
    let bytes = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    guard unsafe tender_crypto_sha1(bytes, bytes.count, &digest) == 1 else {
      throw Fault(.internal, code: "library_missing", "libcrypto has no SHA-1")
    }
    return Base64.encode(digest)
  }

  /// The state of an answer that has arrived in part.
  package enum Progress: Sendable, Equatable {
    case incomplete
    /// The handshake is complete. `rest` are the first bytes of the connection.
    case open(rest: [UInt8])
    case refused(status: Int)
    case broken(String)
  }

  /// Reads the bytes of the answer that have arrived.
  package func read(_ answer: [UInt8]) -> Progress {
    guard let end = Self.endOfHead(answer) else {
      return answer.count > Self.limit ? .broken("its answer is too long") : .incomplete
    }
    let head = String(decoding: answer[..<end], as: UTF8.self)
    var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
    let status = lines.removeFirst().split(separator: " ", maxSplits: 2)
    guard status.count >= 2, status[0] == "HTTP/1.1" || status[0] == "HTTP/1.0",
      let code = Int(status[1]), (100...599).contains(code)
    else { return .broken("its answer is not HTTP") }
    guard code == 101 else { return .refused(status: code) }
    // HTTP/1.0 has no upgrade (RFC 6455, section 4.1).
    guard status[0] == "HTTP/1.1" else { return .broken("it upgrades by HTTP/1.0") }
    var fields: [String: [String]] = [:]
    for line in lines {
      guard let colon = line.firstIndex(of: ":") else {
        return .broken("its answer has a line that is no field")
      }
      let value = line[line.index(after: colon)...].trimmed(Self.isSpace)
      fields[line[..<colon].lowercased(), default: []].append(value)
    }
    guard fields["upgrade"]?.contains(where: { $0.lowercased() == "websocket" }) == true else {
      return .broken("it did not upgrade to WebSocket")
    }
    let connection = fields["connection"]?.joined(separator: ",").lowercased() ?? ""
    let words = connection.split(separator: ",").map { $0.trimmed(Self.isSpace) }
    guard words.contains("upgrade") else {
      return .broken("it did not upgrade the connection")
    }
    guard fields["sec-websocket-accept"] == [accept] else {
      return .broken("it answered another key")
    }
    for name in ["sec-websocket-extensions", "sec-websocket-protocol"] where fields[name] != nil {
      return .broken("it chose what was not offered (\(name))")
    }
    return .open(rest: Array(answer[(end + 4)...]))
  }

  private static func isSpace(_ character: Character) -> Bool {
    character == " " || character == "\t"
  }

  /// The start of the empty line that ends the head.
  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    let mark: [UInt8] = [13, 10, 13, 10]
    return (0...(min(bytes.count, limit) - 4)).first { bytes[$0..<($0 + 4)].elementsEqual(mark) }
  }
}
