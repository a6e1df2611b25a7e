private import Synchronization
package import TenderEngine
package import TenderModel

/// Opens WebSockets (RFC 6455) over libcurl's connected streams.
package final class WebSocketClient: SocketExchange {
  private let settings: TransportSettings
  /// The stream to the server of the next socket.
  private let ahead = Mutex<StreamAhead?>(nil)

  package init(_ settings: TransportSettings) { self.settings = settings }

  package func connectAhead(to url: String, by deadline: Deadline) {
    guard let address = WebAddress(url) else { return }
    let begun = StreamAhead(address, settings, by: deadline)
    ahead.withLock { $0 = begun }
  }

  package func open(
    url: String,
    fields: [HTTPRequest.Field],
    by deadline: Deadline
  ) throws(Fault) -> any MessageSocket {
    try connect(url: url, fields: fields, by: deadline)
  }

  /// Opens a `WebSocket`, which also transports binary messages.
  package func connect(
    url: String,
    fields: [HTTPRequest.Field] = [],
    by deadline: Deadline
  ) throws(Fault) -> WebSocket {
    guard let address = WebAddress(url) else {
      throw .badAddress("\(url.quotedForMessage) is not a web address")
    }
    let begun = ahead.withLock { known in
      defer { known = nil }
      return known
    }
    let stream: CurlStream
    if let made = try begun?.take(for: address) {
      stream = made
    } else {
      stream = try CurlStream(address, settings, by: deadline)
    }
    return try WebSocket.open(
      over: stream,
      to: address,
      settings,
      fields: fields,
      by: deadline
    )
  }
}

/// One open WebSocket.
package final class WebSocket: MessageSocket {
  private let stream: any ConnectedStream
  private let settings: TransportSettings
  private var machine: WebSocketMachine
  private var events: [WebSocketMachine.Event] = []
  private var isBroken = false

  private init(_ stream: any ConnectedStream, _ settings: TransportSettings, first bytes: [UInt8]) {
    self.stream = stream
    self.settings = settings
    machine = WebSocketMachine(role: .client, messageLimit: settings.answerLimit)
    events = machine.receive(bytes)
  }

  /// Requests the upgrade on a stream, and returns the socket.
  package static func open(
    over stream: any ConnectedStream,
    to address: WebAddress,
    _ settings: TransportSettings,
    fields: [HTTPRequest.Field],
    by deadline: Deadline
  ) throws(Fault) -> WebSocket {
    let userAgent = HTTPRequest.Field("User-Agent", settings.userAgent)
    let handshake = try WebSocketHandshake(
      address,
      nonce: settings.randomness.bytes(16),
      fields: [userAgent] + fields + settings.extraFields
    )
    try stream.send(handshake.requestBytes, nil, by: deadline)
    var answer: [UInt8] = []
    while true {
      let bytes = try stream.receive(by: deadline)
      answer += bytes
      switch handshake.read(answer) {
      case .incomplete:
        if bytes.isEmpty { throw .noUpgrade("\(address.authority) closed the connection") }
      case .open(let rest):
        return WebSocket(stream, settings, first: rest)
      case .refused(let status):
        throw .noUpgrade("the upgrade to WebSocket was answered \(status)")
      case .broken(let why): throw .noUpgrade("\(address.authority): \(why)")
      }
    }
  }

  package func send(
    _ text: String,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) {
    try send(WebSocketFrame(.text, Array(text.utf8)), permit, by: deadline)
  }

  /// Sends one frame.
  ///
  /// A close that has already arrived means that nothing left.
  package func send(
    _ frame: WebSocketFrame,
    _ permit: SendPermit? = nil,
    by deadline: Deadline
  ) throws(Fault) {
    try permit?.use()
    do throws(Fault) {
      guard drain(by: deadline) else {
        try settings.interruption.check()
        throw .closed("the socket was closed by the other side")
      }
      try permit?.checkLeaving()
    } catch {
      permit?.giveBack()
      throw error
    }
    let bytes = frame.encoded(mask: settings.randomness.bytes(4))
    try stream.send(bytes, permit, by: deadline)
  }

  package func receive(by deadline: Deadline) throws(Fault) -> SocketMessage {
    while true {
      while !events.isEmpty {
        switch events.removeFirst() {
        case .message(.text(let text)): return .text(text)
        case .message(.binary(let bytes)): return .binary(bytes)
        case .closed(let code, let reason): return .closed(code: code, reason: reason)
        case .reply(let frame): reply(frame, by: deadline)
        case .failed(_, let reason):
          throw Fault(
            .providerError,
            code: "unreadable_answer",
            "the socket broke the WebSocket protocol: \(reason)"
          )
        }
      }
      guard !isBroken else { throw .broken("the socket's connection") }
      let bytes = try stream.receive(by: deadline)
      guard !bytes.isEmpty else {
        isBroken = true
        throw .broken("the socket's connection")
      }
      events += machine.receive(bytes)
    }
  }

  /// The most messages that may wait to be read.
  private static let mostWaiting = 1000

  /// Reads the bytes that have arrived. Returns whether the socket can still be used.
  ///
  /// A server that never stops sending is disconnected at `answerLimit` bytes, at the deadline, or at a
  /// signal.
  private func drain(by deadline: Deadline) -> Bool {
    var left = settings.answerLimit
    do throws(Fault) {
      while !isBroken, !machine.hasEnded, let bytes = try stream.receiveNow() {
        left -= bytes.count
        if bytes.isEmpty || left < 0 || events.count > Self.mostWaiting || deadline.remaining <= 0
          || settings.interruption.kind != nil
        {
          isBroken = true
          continue
        }
        for event in machine.receive(bytes) {
          if case .reply(let frame) = event {
            reply(frame, by: deadline)
          } else {
            events.append(event)
          }
        }
      }
    } catch {
      isBroken = true
    }
    return !isBroken && !machine.hasEnded
  }

  private func reply(_ frame: WebSocketFrame, by deadline: Deadline) {
    // A failed pong or close changes nothing, since the next read reports the problem.
    try? stream.send(frame.encoded(mask: settings.randomness.bytes(4)), nil, by: deadline)
  }

  package func close(waiting: Bool) {
    guard !isBroken, !machine.hasEnded, let frame = machine.close(code: 1000) else { return }
    let deadline = Deadline(in: 500, on: settings.clock)
    reply(frame, by: deadline)
    guard waiting else { return }
    // The server's close confirms that it read everything before our close.
    while !machine.hasEnded, let bytes = try? stream.receive(by: deadline), !bytes.isEmpty {
      _ = machine.receive(bytes)
    }
    isBroken = true
  }
}

extension Fault {
  fileprivate static func noUpgrade(_ why: String) -> Fault {
    Fault(.providerError, code: "upgrade_refused", why)
  }
}
