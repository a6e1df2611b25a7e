/// A complete, final WebSocket frame (RFC 6455, section 5.2).
package struct WebSocketFrame: Sendable, Hashable {
  /// The kinds of frame (RFC 6455, section 11.8).
  package enum Opcode: UInt8, Sendable, Hashable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10
  }

  package var opcode: Opcode
  package var payload: [UInt8]

  package init(_ opcode: Opcode, _ payload: [UInt8] = []) {
    self.opcode = opcode
    self.payload = payload
  }

  /// Returns a close frame with a status code and a reason, which is cut to fit a control frame.
  package static func close(code: Int, reason: String = "") -> WebSocketFrame {
    WebSocketFrame(
      .close,
      [UInt8(code >> 8 & 0xff), UInt8(code & 0xff)] + reason.utf8.prefix(120)
    )
  }

  /// Returns the bytes on the wire. A client passes a 4-byte `mask`.
  package func encoded(mask: [UInt8]?) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(payload.count + 14)
    bytes.append(0x80 | opcode.rawValue)
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    switch payload.count {
    case ..<126: bytes.append(maskBit | UInt8(payload.count))
    case ..<65_536:
      bytes.append(maskBit | 126)
      bytes.append(UInt8(payload.count >> 8))
      bytes.append(UInt8(payload.count & 0xff))
    default:
      bytes.append(maskBit | 127)
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: payload.count >> shift))
      }
    }
    guard let mask, mask.count == 4 else { return bytes + payload }
    bytes += mask
    let start = bytes.count
    bytes += payload
    WebSocketMask.apply(mask, to: &bytes, from: start, phase: 0)
    return bytes
  }
}

/// The masking of payloads (RFC 6455, section 5.3).
enum WebSocketMask {
  /// Masks or unmasks the bytes from `start` on. `phase` is the number of payload bytes before them.
  static func apply(_ mask: [UInt8], to bytes: inout [UInt8], from start: Int, phase: Int) {
    for index in start..<bytes.count { bytes[index] ^= mask[(phase + index - start) & 3] }
  }
}
