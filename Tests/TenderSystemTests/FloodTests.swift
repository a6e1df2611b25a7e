import Foundation
import Synchronization
import TenderEngine
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// The nonce of RFC 6455, section 1.3, and any other bytes.
private struct SampleNonce: Randomness {
  func bytes(_ count: Int) -> [UInt8] {
    count == 16 ? Array("the sample nonce".utf8) : [UInt8](repeating: 7, count: count)
  }
}

/// An interruption from a look `after` on.
private final class Stopper: Interruption, @unchecked Sendable {
  // Unchecked: a test works on one thread.
  private var left: Int

  init(after looks: Int) { left = looks }

  var kind: Fault.Kind? {
    left -= 1
    return left < 0 ? .terminated : nil
  }

  var descriptor: Int32? { nil }
}

@Suite struct FloodTests {
  /// Opens a socket to a server that sends the same frame for ever.
  private func receive(
    _ frame: [UInt8],
    _ interruption: any Interruption,
    milliseconds: Int
  ) throws -> Fault? {
    try open(frame, interruption) { socket, clock in
      #expect(throws: Fault.self) {
        _ = try socket.receive(by: Deadline(in: milliseconds, on: clock))
      }
    }
  }

  private func open<Result>(
    _ frame: [UInt8],
    _ interruption: any Interruption,
    _ counter: Counter = Counter(),
    _ body: (WebSocket, ManualClock) throws -> Result
  ) throws -> Result {
    let server = try #require(
      LoopbackServer { descriptor in
        guard LoopbackServer.head(descriptor) != nil else { return }
        let answer = Array(
          ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n").utf8
        )
        guard LoopbackServer.send(answer, descriptor) else { return }
        let many = Array(repeatElement(frame, count: 500).joined())
        // It is limited, so that a client that never stops fails the test instead of blocking it.
        for _ in 0..<20_000 {
          guard LoopbackServer.send(many, descriptor) else { return }
          counter.bytes.add(many.count, ordering: .relaxed)
        }
      }
    )
    defer { server.stop() }
    let clock = ManualClock()
    let client = WebSocketClient(
      TransportSettings(
        clock: clock,
        randomness: SampleNonce(),
        interruption: interruption,
        userAgent: "test"
      )
    )
    let socket = try client.connect(
      url: "ws://127.0.0.1:\(server.port)/",
      by: Deadline(in: 1_000_000, on: clock)
    )
    return try body(socket, clock)
  }

  /// The number of bytes that a server has sent.
  private final class Counter: Sendable {
    let bytes = Atomic(0)
  }

  /// The client reads what has arrived before it sends something, up to a bound.
  @Test func `whoever never stops sending is cut off before the next message`() throws {
    let counter = Counter()
    try open([0x82, 0x01, 0x00], NeverInterrupted(), counter) { socket, clock in
      let fault = #expect(throws: Fault.self) {
        for _ in 0..<1_000_000 { try socket.send("x", nil, by: Deadline(in: 1_000_000, on: clock)) }
      }
      #expect(fault?.kind == .notSent)
    }
    // What the client may read, and what the kernel holds for it.
    #expect(counter.bytes.load(ordering: .relaxed) < 16 << 20)
  }

  /// Unsolicited pongs and a fragment without bytes: frames that are not messages.
  private static let frames: [[UInt8]] = [[0x8a, 0x00], [0x89, 0x00]]

  @Test(arguments: frames)
  func `whoever never stops sending does not outlive the deadline`(_ frame: [UInt8]) throws {
    let fault = try receive(frame, NeverInterrupted(), milliseconds: 20)
    #expect(fault?.code == "no_answer")
  }

  @Test(arguments: frames)
  func `whoever never stops sending is left on a signal`(_ frame: [UInt8]) throws {
    let fault = try receive(frame, Stopper(after: 20), milliseconds: 1_000_000)
    #expect(fault?.kind == .terminated)
  }

  /// The endless parts of an HTTP answer, besides its body.
  private static let endless: [(head: String, line: String)] = [
    ("Transfer-Encoding: chunked\r\n\r\n0\r\n", "X-A: "), ("", "X-A: "),
    ("Transfer-Encoding: chunked\r\n\r\n0\r\n", ""), ("\r\n", ""),
  ]

  /// Fields before and after the body count like the body.
  @Test(arguments: endless)
  func `endless fields are cut off`(_ row: (head: String, line: String)) throws {
    let line = Array((row.line + String(repeating: "a", count: 1000) + "\r\n").utf8)
    let many = Array(repeatElement(line, count: 64).joined())
    let server = try #require(
      LoopbackServer { descriptor in
        guard LoopbackServer.head(descriptor) != nil else { return }
        let head = Array("HTTP/1.1 200 OK\r\n\(row.head)".utf8)
        guard LoopbackServer.send(head, descriptor) else { return }
        // It is limited, so that a client that never stops fails the test instead of blocking it.
        for _ in 0..<200 { guard LoopbackServer.send(many, descriptor) else { return } }
        _ = LoopbackServer.send(Array("\r\n".utf8), descriptor)
      }
    )
    defer { server.stop() }
    let settings = TransportSettings(
      clock: ManualClock(),
      randomness: SampleNonce(),
      interruption: NeverInterrupted(),
      userAgent: "test"
    )
    let request = HTTPRequest(method: .get, url: "http://127.0.0.1:\(server.port)/")
    let fault = #expect(throws: Fault.self) {
      try CurlHTTP(settings).send(request, nil, by: Deadline(in: 20_000, on: settings.clock))
    }
    #expect(["answer_too_large", "unreadable_answer", "connection_closed"].contains(fault?.code))
    // The message is not libcurl's.
    let message = fault?.message ?? ""
    let isOurs = ["larger than", "too long", "is not HTTP"].contains { message.contains($0) }
    #expect(isOurs, "\(message)")
  }
}
