/// The state of a WebSocket connection after its handshake (RFC 6455): bytes in, events out.
///
/// It does no input or output. The caller writes the replies, masked if it is the client. A message
/// over the limit ends the connection with code 1009.
package struct WebSocketMachine {
  /// The side of the connection. A client masks its frames, a server does not.
  package enum Role: Sendable { case client, server }

  /// A complete message.
  package enum Message: Sendable, Hashable {
    case text(String)
    case binary([UInt8])
  }

  /// The result of received bytes.
  package enum Event: Sendable, Hashable {
    case message(Message)
    /// A frame to write: a pong, or the close that answers or reports one.
    case reply(WebSocketFrame)
    /// The peer closed the connection; the code is nil if it gave none.
    case closed(code: Int?, reason: String)
    /// The peer broke the protocol. A reply with the close frame came before this event.
    case failed(code: Int, reason: String)
  }

  /// The state. `closing`: our close frame is sent. `ended`: theirs was received, or the protocol was broken.
  private enum State { case open, closing, ended }

  /// A frame whose header was read and whose payload is incomplete.
  private struct Pending {
    var opcode: WebSocketFrame.Opcode
    var isFinal: Bool
    var remaining: Int
    var mask: [UInt8]?
    var taken = 0
  }

  private let role: Role
  private let messageLimit: Int
  private var state = State.open
  private var header: [UInt8] = []
  private var frame: Pending?
  private var control: [UInt8] = []
  private var message: [UInt8] = []
  private var messageOpcode: WebSocketFrame.Opcode?
  private var check = UTF8Check()

  /// Creates the state. `messageLimit` is the maximum size of a message in bytes, over all its fragments.
  package init(role: Role, messageLimit: Int) {
    self.role = role
    self.messageLimit = messageLimit
  }

  /// Whether nothing more can be received.
  package var hasEnded: Bool { state == .ended }

  /// Returns the close frame that begins an orderly close; nil if one was already sent.
  package mutating func close(code: Int, reason: String = "") -> WebSocketFrame? {
    guard state == .open else { return nil }
    state = .closing
    return .close(code: code, reason: reason)
  }

  /// Receives bytes, in chunks of any size.
  package mutating func receive(_ bytes: [UInt8]) -> [Event] {
    var events: [Event] = []
    var rest = bytes[...]
    while state != .ended {
      if frame == nil {
        guard readHeader(&rest, &events) else { break }
      }
      guard state != .ended, readPayload(&rest, &events) else { break }
    }
    return events
  }

  /// Reads header bytes. Returns false if more are needed.
  private mutating func readHeader(_ rest: inout ArraySlice<UInt8>, _ events: inout [Event]) -> Bool
  {
    while true {
      if let problem = headerProblem {
        fail(1002, problem, &events)
        return true
      }
      let needed = headerLength
      if header.count == needed, needed >= 2 { break }
      guard let byte = rest.popFirst() else { return false }
      header.append(byte)
    }
    let length = payloadLength
    let masked = header[1] & 0x80 != 0
    guard length >= 0, let opcode = WebSocketFrame.Opcode(rawValue: header[0] & 0x0f) else {
      fail(1002, "bad length", &events)
      return true
    }
    let isData = opcode.rawValue < 8
    if isData, length > messageLimit - message.count {
      fail(1009, "message too large", &events)
      return true
    }
    if opcode == .text || opcode == .binary {
      messageOpcode = opcode
      check = UTF8Check()
    }
    frame = Pending(
      opcode: opcode,
      isFinal: header[0] & 0x80 != 0,
      remaining: length,
      mask: masked ? Array(header.suffix(4)) : nil
    )
    header = []
    return true
  }

  /// The length of the header, as far as the received bytes tell.
  private var headerLength: Int {
    guard header.count >= 2 else { return 2 }
    let mask = header[1] & 0x80 != 0 ? 4 : 0
    return switch header[1] & 0x7f {
    case 126: 4 + mask
    case 127: 10 + mask
    default: 2 + mask
    }
  }

  /// The payload length in a complete header; -1 if it is too large or not in its shortest form (RFC 6455,
  /// section 5.2).
  private var payloadLength: Int {
    switch header[1] & 0x7f {
    case 126:
      let length = Int(header[2]) << 8 | Int(header[3])
      return length > 125 ? length : -1
    case 127:
      let length = header[2] & 0x80 == 0 ? header[2..<10].reduce(0) { $0 << 8 | Int($1) } : -1
      return length > 0xffff ? length : -1
    case let short: return Int(short)
    }
  }

  /// The error in the first two bytes, once they are received.
  private var headerProblem: String? {
    guard let first = header.first else { return nil }
    guard first & 0x70 == 0 else { return "reserved bits are set" }
    guard let opcode = WebSocketFrame.Opcode(rawValue: first & 0x0f) else { return "bad opcode" }
    let isControl = opcode.rawValue >= 8
    if isControl, first & 0x80 == 0 { return "fragmented control frame" }
    if opcode == .continuation, messageOpcode == nil { return "continuation of nothing" }
    if opcode == .text || opcode == .binary, messageOpcode != nil {
      return "new message within a fragmented one"
    }
    guard header.count >= 2 else { return nil }
    if isControl, header[1] & 0x7f > 125 { return "control frame too long" }
    if (header[1] & 0x80 != 0) != (role == .server) { return "wrong masking" }
    return nil
  }

  /// Reads payload bytes. Returns false if more are needed.
  private mutating func readPayload(
    _ rest: inout ArraySlice<UInt8>,
    _ events: inout [Event]
  ) -> Bool {
    guard var frame else { return false }
    let count = min(frame.remaining, rest.count)
    if count > 0 {
      let isData = frame.opcode.rawValue < 8
      var bytes = Array(rest.prefix(count))
      if let mask = frame.mask {
        WebSocketMask.apply(mask, to: &bytes, from: 0, phase: frame.taken)
      }
      if isData { message += bytes } else { control += bytes }
      rest.removeFirst(count)
      frame.taken += count
      frame.remaining -= count
      self.frame = frame
      if isData, messageOpcode == .text, !check.accept(bytes) {
        fail(1007, "text is not UTF-8", &events)
        return true
      }
    }
    guard frame.remaining == 0 else { return false }
    self.frame = nil
    if frame.opcode.rawValue < 8 {
      if frame.isFinal { finishMessage(&events) }
    } else {
      finishControl(frame.opcode, &events)
    }
    return true
  }

  private mutating func finishMessage(_ events: inout [Event]) {
    let isText = messageOpcode == .text
    guard !isText || check.isComplete else { return fail(1007, "text is not UTF-8", &events) }
    // A message that arrives after our close frame still counts.
    events.append(
      .message(isText ? .text(String(decoding: message, as: UTF8.self)) : .binary(message))
    )
    message = []
    messageOpcode = nil
  }

  private mutating func finishControl(
    _ opcode: WebSocketFrame.Opcode,
    _ events: inout [Event]
  ) {
    let payload = control
    control = []
    switch opcode {
    case .ping: if state == .open { events.append(.reply(WebSocketFrame(.pong, payload))) }
    case .close: finishClose(payload, &events)
    default: break
    }
  }

  private mutating func finishClose(_ payload: [UInt8], _ events: inout [Event]) {
    guard payload.count != 1 else { return fail(1002, "bad close frame", &events) }
    var code: Int?
    var reason = ""
    if payload.count >= 2 {
      let given = Int(payload[0]) << 8 | Int(payload[1])
      guard Self.isSendable(given) else { return fail(1002, "bad close code", &events) }
      var check = UTF8Check()
      guard check.accept(payload[2...]), check.isComplete else {
        return fail(1007, "close reason is not UTF-8", &events)
      }
      code = given
      reason = String(decoding: payload[2...], as: UTF8.self)
    }
    if state == .open {
      events.append(.reply(code.map { .close(code: $0) } ?? WebSocketFrame(.close)))
    }
    state = .ended
    events.append(.closed(code: code, reason: reason))
  }

  /// Returns whether a code is allowed in a close frame (RFC 6455, section 7.4, and IANA's registry).
  private static func isSendable(_ code: Int) -> Bool {
    (1000...1003).contains(code) || (1007...1014).contains(code) || (3000...4999).contains(code)
  }

  private mutating func fail(_ code: Int, _ reason: String, _ events: inout [Event]) {
    if state == .open { events.append(.reply(.close(code: code, reason: reason))) }
    state = .ended
    events.append(.failed(code: code, reason: reason))
  }
}
