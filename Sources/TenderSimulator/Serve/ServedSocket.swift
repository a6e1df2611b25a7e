private import CLibraries
import TenderEngine
import TenderModel

/// One WebSocket of `simulator serve`, on the thread of its connection.
@safe
final class ServedSocket: @unchecked Sendable {
  // Unchecked: one thread uses it.
  private let session: any SocketSession
  private let simulator: InProcessSimulator
  private let server: SimulatorServer
  private var machine = WebSocketMachine(role: .server, messageLimit: 4 << 20)
  private var connection = ServedConnection(descriptor: -1)

  /// The longest silence of a client, in milliseconds: the gateway's documented default.
  private static let idleLimit = 600_000

  init(_ session: any SocketSession, _ simulator: InProcessSimulator, server: SimulatorServer) {
    self.session = session
    self.simulator = simulator
    self.server = server
  }

  /// Serves the socket until it ends, on the thread of its connection.
  ///
  /// It must not run on another thread. The library frees the connection once it is closed and the
  /// connection's thread has ended. If another thread closes it earlier, the first one writes into freed
  /// memory (libmicrohttpd, `MHD_upgrade_action`).
  func run(descriptor: Int32, first: [UInt8], handle: OpaquePointer) {
    connection = ServedConnection(descriptor: descriptor)
    defer { _ = unsafe tender_httpd_close_upgraded(handle) }
    guard process(first) else { return }
    let isGone = connection.read(
      idleLimit: Self.idleLimit,
      alarm: server.alarm,
      { server.shouldStop },
      process
    )
    if !isGone, let frame = machine.close(code: 1001) { _ = write(frame) }
  }

  /// Processes bytes; false if the connection must end.
  private func process(_ bytes: [UInt8]) -> Bool {
    for event in machine.receive(bytes) {
      switch event {
      case .message(.text(let text)):
        let reactions = try? server.handle(simulator) { () throws(Fault) in
          try session.receive(text)
        }
        guard let reactions, react(reactions) else { return false }
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
      case .cut(let text, let bytes):
        let frame = WebSocketFrame(.text, Array(text.utf8)).encoded(mask: nil)
        _ = connection.write(Array(frame.prefix(frame.count - text.utf8.count + bytes)))
        return false
      case .drop: return false
      case .silence: break
      }
    }
    return true
  }

  private func write(_ frame: WebSocketFrame) -> Bool {
    connection.write(frame.encoded(mask: nil))
  }
}
