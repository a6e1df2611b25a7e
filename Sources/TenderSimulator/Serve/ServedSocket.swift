private import CLibraries
import TenderEngine
import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// What a server answers to a client's handshake key (RFC 6455, section 4.2.2).
enum WebSocketAccept {
  static func value(for key: String) -> String? {
    guard unsafe tender_crypto_open() == nil else { return nil }
    let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    guard unsafe tender_crypto_sha1(text, text.count, &digest) == 1 else { return nil }
    return Base64.encode(digest)
  }
}

/// One WebSocket that `simulator serve` talks to, on the thread of its connection.
@safe
final class ServedSocket: @unchecked Sendable {
  // Unchecked: one thread uses it.
  private let session: any SocketSession
  private let simulator: InProcessSimulator
  private let server: SimulatorServer
  private var machine = WebSocketMachine(role: .server, messageLimit: 4 << 20)
  private var descriptor: Int32 = -1
  private var first: [UInt8] = []
  private var handle: OpaquePointer?

  /// How long a silent client may stay, in milliseconds; the gateway's documented default.
  private static let idleLimit = 600_000

  init(_ session: any SocketSession, _ simulator: InProcessSimulator, server: SimulatorServer) {
    self.session = session
    self.simulator = simulator
    self.server = server
  }

  /// Serves the socket until it ends, on the thread of its connection.
  ///
  /// Not on one of its own: the library frees the connection once it was closed and its own thread is
  /// done with it, and a thread that closes it first goes on to write into what is freed
  /// (libmicrohttpd, `MHD_upgrade_action`).
  func run(descriptor: Int32, first: [UInt8], handle: OpaquePointer) {
    self.descriptor = descriptor
    self.first = first
    unsafe self.handle = handle
    serve()
  }

  private func end() {
    if let handle = unsafe handle { _ = unsafe tender_httpd_close_upgraded(handle) }
    unsafe handle = nil
  }

  private func serve() {
    defer { end() }
    guard process(first) else { return }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var idle = 0
    while !server.shouldStop {
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = unsafe poll(&polled, 1, 100)
      guard ready > 0 else {
        idle += 100
        if idle >= Self.idleLimit {
          if let frame = machine.close(code: 1001) { _ = write(frame) }
          return
        }
        continue
      }
      idle = 0
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count > 0, process(Array(buffer.prefix(count))) else { return }
    }
    if let frame = machine.close(code: 1001) { _ = write(frame) }
  }

  /// Takes bytes; false where the connection is to end.
  private func process(_ bytes: [UInt8]) -> Bool {
    for event in machine.receive(bytes) {
      switch event {
      case .message(.text(let text)):
        guard let reactions = try? session.receive(text), react(reactions) else { return false }
      case .message(.binary):
        if let frame = machine.close(code: 1003) { _ = write(frame) }
      case .reply(let frame): guard write(frame) else { return false }
      case .closed, .failed: return false
      }
    }
    return true
  }

  private func react(_ reactions: [SocketReaction]) -> Bool {
    for reaction in reactions {
      switch reaction {
      case .send(let text):
        guard write(WebSocketFrame(.text, Array(text.utf8))) else { return false }
      case .pause(let milliseconds): server.pause(upTo: milliseconds)
      case .close(let code): if let frame = machine.close(code: code) { return write(frame) }
      case .drop: return false
      case .silence: break
      }
    }
    return true
  }

  private static func transmit(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
    unsafe send(descriptor, bytes.baseAddress, bytes.count, 0)
    #else
    unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }

  private func write(_ frame: WebSocketFrame) -> Bool {
    var rest = frame.encoded(mask: nil)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { bytes in
        unsafe Self.transmit(descriptor, bytes)
      }
      if count < 0 {
        guard errno == EAGAIN || errno == EINTR else { return false }
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&polled, 1, 10_000) > 0 else { return false }
        continue
      }
      rest.removeFirst(count)
    }
    return true
  }
}
