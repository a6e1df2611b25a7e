import Foundation
import Synchronization
import TenderEngine
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// A server on loopback that passes every connection to a function, on a separate thread.
final class LoopbackServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let serve: @Sendable (Int32) -> Void

  init?(_ serve: @escaping @Sendable (Int32) -> Void) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        unsafe bind(descriptor, raw, size) == 0 && listen(descriptor, 8) == 0
          && getsockname(descriptor, raw, &size) == 0
      }
    }
    guard isBound else { return nil }
    listener = descriptor
    port = UInt16(bigEndian: address.sin_port)
    self.serve = serve
    Thread.detachNewThread { [self] in accept() }
  }

  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  private func accept() {
    while true {
      let descriptor = Glibc.accept(listener, nil, nil)
      guard descriptor >= 0 else { return }
      Thread.detachNewThread { [self] in
        serve(descriptor)
        close(descriptor)
      }
    }
  }

  /// The head of a request; nil at the end of the connection.
  static func head(_ descriptor: Int32) -> String? {
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !text.contains("\r\n\r\n") {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return nil }
      text += String(decoding: buffer.prefix(count), as: UTF8.self)
    }
    return text
  }

  /// Sends bytes; false if the client does not accept them.
  static func send(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
    unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }
}

/// A server that answers the first request of a connection, and closes it right after it has read the second.
/// At that moment, libcurl by default sends a POST again.
final class ClosingServer: Sendable {
  let port: UInt16
  private let server: LoopbackServer
  private let seen: Seen

  private final class Seen: Sendable {
    let heads = Mutex<[String]>([])
  }

  init?() {
    let seen = Seen()
    let server = LoopbackServer { descriptor in
      let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".utf8)
      for number in 0..<2 {
        guard let head = LoopbackServer.head(descriptor) else { return }
        seen.heads.withLock { $0.append(head) }
        if number == 0 { _ = LoopbackServer.send(answer, descriptor) }
      }
    }
    guard let server else { return nil }
    self.server = server
    self.seen = seen
    port = server.port
  }

  /// The received requests, up to the end of their fields.
  var heads: [String] { seen.heads.withLock { $0 } }

  /// The first lines of the received requests.
  var requests: [String] {
    heads.map { $0.prefix { $0 != "\r\n" && $0 != "\r" }.description }
  }

  func stop() { server.stop() }
}

@Suite struct KeptConnectionTests {
  @Test func `sends an effecting request once, whatever becomes of a kept connection`() throws {
    let server = try #require(ClosingServer())
    defer { server.stop() }
    let http = Self.http()
    func send(_ path: String, _ permit: SendPermit?) throws -> HTTPResponse {
      try http.send(
        HTTPRequest(
          method: .post,
          url: "http://127.0.0.1:\(server.port)\(path)",
          body: Array("{}".utf8)
        ),
        permit,
        by: Deadline(in: 5000, on: ManualClock())
      )
    }
    #expect(try send("/token", nil).status == 200)
    for number in 0..<5 { #expect(try send("/pay/\(number)", try .test()).status == 200) }
    // Each came once, on a separate connection.
    let expected = ["POST /token HTTP/1.1"] + (0..<5).map { "POST /pay/\($0) HTTP/1.1" }
    #expect(server.requests == expected)
  }

  private static func http() -> CurlHTTP {
    CurlHTTP(
      TransportSettings(
        clock: ManualClock(),
        randomness: CountingRandomness(),
        interruption: NeverInterrupted(),
        userAgent: "test"
      )
    )
  }

  @Test func `says nothing of a content type where there is no body`() throws {
    let server = try #require(ClosingServer())
    defer { server.stop() }
    for fields in [[], [HTTPRequest.Field("Content-Type", "application/xml")]] {
      _ = try Self.http().send(
        HTTPRequest(
          method: .post,
          url: "http://127.0.0.1:\(server.port)/cancel",
          fields: fields
        ),
        by: Deadline(in: 5000, on: ManualClock())
      )
    }
    let heads = server.heads.map { $0.lowercased() }
    #expect(heads.map { $0.contains("content-type") } == [false, true])
    #expect(heads.allSatisfy { !$0.contains("urlencoded") && $0.contains("content-length: 0") })
  }
}
