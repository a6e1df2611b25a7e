import TenderEngine
import TenderModel
import TenderSystem
import Testing

@Suite struct HandshakeTests {
  static let address = WebAddress("ws://127.0.0.1:9000/acme/?pt_token=x")

  /// The key of RFC 6455, section 1.3, with its answer.
  static func handshake() throws -> WebSocketHandshake {
    try WebSocketHandshake(
      #require(address),
      nonce: Array("the sample nonce".utf8),
      fields: []
    )
  }

  static let good = [
    "HTTP/1.1 101 Switching Protocols", "Upgrade: WebSocket", "connection: keep-alive, Upgrade",
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
  ]

  static func bytes(_ lines: [String]) -> [UInt8] {
    Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  @Test func `asks as the RFC says`() throws {
    let text = String(decoding: try Self.handshake().requestBytes, as: UTF8.self)
    #expect(
      text == """
        GET /acme/?pt_token=x HTTP/1.1\r
        Host: 127.0.0.1:9000\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Version: 13\r
        \r

        """
    )
  }

  @Test func `opens on the answer of the RFC, however it arrives, and keeps what follows`() throws {
    let handshake = try Self.handshake()
    let answer = Self.bytes(Self.good)
    #expect(handshake.read(answer + [0x81, 0x00]) == .open(rest: [0x81, 0x00]))
    for length in 0..<answer.count {
      #expect(handshake.read(Array(answer.prefix(length))) == .incomplete)
    }
  }

  struct Bad: CustomTestStringConvertible {
    let name: String
    let lines: [String]

    var testDescription: String { name }
  }

  @Test(arguments: [
    Bad(name: "another key", lines: Array(good.dropLast()) + ["Sec-WebSocket-Accept: x"]),
    Bad(name: "no key", lines: Array(good.dropLast())),
    Bad(name: "no upgrade", lines: [good[0]] + Array(good[2...])),
    Bad(name: "no connection", lines: [good[0], good[1], good[3]]),
    Bad(name: "an extension", lines: good + ["Sec-WebSocket-Extensions: permessage-deflate"]),
    Bad(name: "a protocol", lines: good + ["Sec-WebSocket-Protocol: chat"]),
    Bad(name: "no field", lines: good + ["nonsense"]),
    Bad(name: "no HTTP", lines: ["SSH-2.0-x"]),
  ])
  func `refuses any other`(_ bad: Bad) throws {
    guard case .broken = try Self.handshake().read(Self.bytes(bad.lines)) else {
      Issue.record("taken")
      return
    }
  }

  @Test func `says with what status it was refused, and bounds the answer`() throws {
    let handshake = try Self.handshake()
    #expect(handshake.read(Self.bytes(["HTTP/1.1 403 Forbidden"])) == .refused(status: 403))
    let old = handshake.read(Self.bytes(["HTTP/1.0 101 Switching Protocols"]))
    #expect(old == .broken("it upgrades by HTTP/1.0"))
    let endless = [UInt8](repeating: 0x61, count: 20_000)
    #expect(handshake.read(endless) == .broken("its answer is too long"))
  }
}
