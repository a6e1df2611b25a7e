import Foundation
import TenderEngine
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// A value behind a lock that the thread sanitizer supports.
private final class Locked<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { body(&value) }
  }
}

/// The connections of requests over HTTP.
@Suite struct ConnectionTests {
  /// Answers each request with its path, after `delay`, and counts.
  private final class PathServer: Sendable {
    struct Counts: Sendable {
      var connections = 0
      var requests = 0
    }

    private let counts: Locked<Counts>
    let server: LoopbackServer

    /// Starts a server. `milliseconds` is the duration of each answer. `status` returns the answer's status
    /// by the number of the request.
    init?(milliseconds: Int32 = 0, status: @escaping @Sendable (Int) -> String = { _ in "200 OK" })
    {
      let counts = Locked(Counts())
      let server = LoopbackServer { descriptor in
        counts.withLock { $0.connections += 1 }
        while let head = LoopbackServer.head(descriptor) {
          let number = counts.withLock { counts in
            counts.requests += 1
            return counts.requests
          }
          if milliseconds > 0 { _ = poll(nil, 0, milliseconds) }
          let path = head.split(separator: " ")[1]
          let fields = "HTTP/1.1 \(status(number))\r\nContent-Length: \(path.utf8.count)\r\n\r\n"
          guard LoopbackServer.send(Array((fields + path).utf8), descriptor) else { return }
        }
      }
      guard let server else { return nil }
      self.counts = counts
      self.server = server
    }

    var now: Counts { counts.withLock { $0 } }
  }

  private static func http(
    _ clock: ManualClock = ManualClock(),
    _ interruption: any Interruption = NeverInterrupted()
  ) -> CurlHTTP {
    CurlHTTP(
      TransportSettings(
        clock: clock,
        randomness: CountingRandomness(),
        interruption: interruption,
        userAgent: "test"
      )
    )
  }

  @Test func `sends a request that can move money on a connection of its own`() throws {
    let server = try #require(PathServer())
    defer { server.server.stop() }
    let http = Self.http()
    for path in ["a", "b", "c"] {
      let request = HTTPRequest(
        method: .post,
        url: "http://127.0.0.1:\(server.server.port)/\(path)"
      )
      _ = try http.send(request, try .test(), by: Deadline(in: 5000, on: ManualClock()))
    }
    #expect(server.now.connections == 3)
  }

  @Test func `sends nothing with a permit that was used before`() throws {
    let server = try #require(PathServer())
    defer { server.server.stop() }
    let http = Self.http()
    let permit = try SendPermit.test()
    let request = HTTPRequest(method: .post, url: "http://127.0.0.1:\(server.server.port)/a")
    let deadline = Deadline(in: 5000, on: ManualClock())
    _ = try http.send(request, permit, by: deadline)
    let fault = #expect(throws: Fault.self) { try http.send(request, permit, by: deadline) }
    #expect(fault?.kind == .internal && fault?.effect == Fault.Effect.none)
    #expect(server.now.requests == 1)
  }

  @Test func `ends a request that is interrupted`() throws {
    /// An interruption that happens while the request is running.
    final class Interrupted: Interruption {
      let looks = Locked(0)
      var kind: Fault.Kind? {
        looks.withLock { looks in
          looks += 1
          return looks > 3 ? .interrupted : nil
        }
      }
      var descriptor: Int32? { nil }
    }
    let server = try #require(PathServer(milliseconds: 2000))
    defer { server.server.stop() }
    let http = Self.http(ManualClock(), Interrupted())
    let request = HTTPRequest(method: .get, url: "http://127.0.0.1:\(server.server.port)/x")
    let fault = #expect(throws: Fault.self) {
      try http.send(request, by: Deadline(in: 20_000, on: ManualClock()))
    }
    #expect(fault?.kind == .interrupted)
  }

  @Test(arguments: [true, false])
  func `comes back when the provider says, and never with a request that can move money`(
    _ canMoveMoney: Bool
  ) throws {
    let server = try #require(
      PathServer { number in
        switch number {
        case 1: "429 Too Many Requests\r\nRetry-After: 7"
        case 2: "503 Service Unavailable\r\nretry-after: 0"
        default: "200 OK"
        }
      }
    )
    defer { server.server.stop() }
    let clock = ManualClock()
    let start = clock.now
    let request = HTTPRequest(
      method: .post,
      url: "http://127.0.0.1:\(server.server.port)/x"
    )
    let permit = canMoveMoney ? try SendPermit.test() : nil
    let deadline = Deadline(in: 30_000, on: clock)
    let answer = try Self.http(clock).send(request, permit, by: deadline)
    #expect(answer.status == (canMoveMoney ? 429 : 200))
    #expect(server.now.requests == (canMoveMoney ? 1 : 3))
    #expect(clock.now - start == (canMoveMoney ? 0 : 7100))
  }

  @Test(arguments: ["31", "61", "Wed, 21 Oct 2026 07:28:00 GMT", "-1", ""])
  func `does not wait longer than a request may take, or for what is no time`(
    _ after: String
  ) throws {
    let server = try #require(PathServer { _ in "429 No\r\nRetry-After: \(after)" })
    defer { server.server.stop() }
    let clock = ManualClock()
    let request = HTTPRequest(method: .get, url: "http://127.0.0.1:\(server.server.port)/x")
    let answer = try Self.http(clock).send(request, by: Deadline(in: 30_000, on: clock))
    #expect(answer.status == 429 && server.now.requests == 1)
  }

  @Test func `gives up on a provider that always says later`() throws {
    let server = try #require(PathServer { _ in "503 No\r\nRetry-After: 1" })
    defer { server.server.stop() }
    let clock = ManualClock()
    let request = HTTPRequest(method: .get, url: "http://127.0.0.1:\(server.server.port)/x")
    let answer = try Self.http(clock).send(request, by: Deadline(in: 30_000, on: clock))
    #expect(answer.status == 503 && server.now.requests == 6)
  }
}
