import TenderModel
import Testing

@Suite struct WebSocketMachineTests {
  /// Feeds bytes whole, in two bursts, and byte by byte; the events must be the same.
  static func events(
    _ bytes: [UInt8],
    role: WebSocketMachine.Role = .client,
    limit: Int = 1000
  ) -> [WebSocketMachine.Event] {
    var whole = WebSocketMachine(role: role, messageLimit: limit)
    let expected = whole.receive(bytes)
    var drip = WebSocketMachine(role: role, messageLimit: limit)
    var dripped: [WebSocketMachine.Event] = []
    for byte in bytes { dripped += drip.receive([byte]) }
    #expect(dripped == expected)
    for cut in bytes.indices {
      var burst = WebSocketMachine(role: role, messageLimit: limit)
      #expect(burst.receive(Array(bytes[..<cut])) + burst.receive(Array(bytes[cut...])) == expected)
    }
    return expected
  }

  /// RFC 6455, section 5.7.
  @Test func `reads the examples of the RFC`() {
    #expect(Self.events([0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]) == [.message(.text("Hello"))])
    let masked: [UInt8] = [
      0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
    ]
    #expect(Self.events(masked, role: .server) == [.message(.text("Hello"))])
    let fragmented: [UInt8] = [0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f]
    #expect(Self.events(fragmented) == [.message(.text("Hello"))])
    let ping: [UInt8] = [0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]
    #expect(Self.events(ping) == [.reply(WebSocketFrame(.pong, Array("Hello".utf8)))])
    let frame = WebSocketFrame(.text, Array("Hello".utf8))
    #expect(frame.encoded(mask: [0x37, 0xfa, 0x21, 0x3d]) == masked)
    #expect(frame.encoded(mask: nil) == [0x81, 0x05] + Array("Hello".utf8))
  }

  @Test(arguments: [125, 126, 65_535, 65_536])
  func `round-trips every form of length`(_ count: Int) {
    let payload = [UInt8](repeating: 0x61, count: count)
    var server = WebSocketMachine(role: .server, messageLimit: 1 << 20)
    let bytes = WebSocketFrame(.binary, payload).encoded(mask: [1, 2, 3, 4])
    #expect(server.receive(bytes) == [.message(.binary(payload))])
  }

  struct Broken: CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let code: Int

    var testDescription: String { name }
  }

  @Test(arguments: [
    Broken(name: "reserved bit", bytes: [0xc1, 0x00], code: 1002),
    Broken(name: "unknown opcode", bytes: [0x83, 0x00], code: 1002),
    Broken(name: "masked by a server", bytes: [0x81, 0x80, 1, 2, 3, 4], code: 1002),
    Broken(name: "length that needs no two bytes", bytes: [0x82, 0x7e, 0x00, 0x7d], code: 1002),
    Broken(
      name: "length that needs no eight bytes",
      bytes: [0x82, 0x7f, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
      code: 1002
    ),
    Broken(name: "long control frame", bytes: [0x89, 0x7e, 0x00, 0x7e], code: 1002),
    Broken(name: "fragmented control frame", bytes: [0x09, 0x00], code: 1002),
    Broken(name: "continuation of nothing", bytes: [0x80, 0x00], code: 1002),
    Broken(name: "new message in another", bytes: [0x01, 0x00, 0x81, 0x00], code: 1002),
    Broken(name: "too large", bytes: [0x82, 0x7e, 0x10, 0x00], code: 1009),
    Broken(
      name: "negative length",
      bytes: [0x82, 0x7f, 0xff, 0, 0, 0, 0, 0, 0, 0],
      code: 1002
    ),
    Broken(name: "not UTF-8", bytes: [0x81, 0x02, 0xc3, 0x28], code: 1007),
    Broken(name: "half a character", bytes: [0x81, 0x01, 0xc3], code: 1007),
    Broken(name: "surrogate", bytes: [0x81, 0x03, 0xed, 0xa0, 0x80], code: 1007),
    Broken(name: "close of one byte", bytes: [0x88, 0x01, 0x03], code: 1002),
    Broken(name: "close code 1005", bytes: [0x88, 0x02, 0x03, 0xed], code: 1002),
  ])
  func `ends with the right code when the protocol is broken`(_ broken: Broken) {
    let events = Self.events(broken.bytes)
    guard case .failed(broken.code, _) = events.last else {
      Issue.record("\(events)")
      return
    }
    guard case .reply(let frame) = events.dropLast().last else {
      Issue.record("no close frame: \(events)")
      return
    }
    #expect(frame.opcode == .close)
    #expect(Array(frame.payload.prefix(2)) == [UInt8(broken.code >> 8), UInt8(broken.code & 0xff)])
  }

  @Test func `answers a close once and takes nothing after it`() {
    let close: [UInt8] = [0x88, 0x02, 0x03, 0xe8, 0x81, 0x01, 0x61]
    #expect(Self.events(close) == [.reply(.close(code: 1000)), .closed(code: 1000, reason: "")])
    var machine = WebSocketMachine(role: .client, messageLimit: 10)
    #expect(machine.close(code: 1000) == .close(code: 1000))
    #expect(machine.close(code: 1000) == nil)
    #expect(machine.receive([0x88, 0x00]) == [.closed(code: nil, reason: "")])
    #expect(machine.hasEnded)
  }

  @Test func `survives random bytes`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      var machine = WebSocketMachine(role: .client, messageLimit: 100)
      let count = Int.random(in: 0..<64, using: &generator)
      _ = machine.receive((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
  }
}
