extension HostileCase {
  /// A frame of RFC 6455 from a server, with its length in the fewest bytes.
  private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let count = payload.count
    if count < 126 { return [first, UInt8(count)] + payload }
    if count < 65_536 { return [first, 126, UInt8(count >> 8), UInt8(count & 0xff)] + payload }
    return [first, 127] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
      + payload
  }

  private static func text(_ text: String) -> [UInt8] { frame(0x81, Array(text.utf8)) }

  /// The actions of a WebSocket server after it received a message.
  private static let acts: [(name: String, act: HostilePeer.Act)] = [
    ("silence", { $0.hush() }),
    ("endless small messages", { $0.flood(text("{}")) }),
    ("endless messages of another type", { $0.flood(text("{\"type\":\"other\",\"body\":{}}")) }),
    ("endless binary messages", { $0.flood(frame(0x82, [0])) }),
    ("endless empty messages", { $0.flood(frame(0x81, [])) }),
    ("endless pings", { $0.flood(frame(0x89, [])) }),
    ("endless pongs", { $0.flood(frame(0x8a, [])) }),
    ("endless long pings", { $0.flood(frame(0x89, [UInt8](repeating: 1, count: 125))) }),
    ("endless fragments", { if $0.say([0x01, 0x01, 0x20]) { $0.flood([0x00, 0x01, 0x20]) } }),
    ("endless empty fragments", { if $0.say([0x01, 0x00]) { $0.flood([0x00, 0x00]) } }),
    ("a valid message a second", { $0.drip(text("{}")) }),
    ("a ping a second", { $0.drip(frame(0x89, [])) }),
    ("half a frame's head", { if $0.say([0x81]) { $0.hush() } }),
    ("half a frame", { if $0.say([0x81, 0x7e, 0x10, 0x00, 0x7b]) { $0.hush() } }),
    (
      "a frame as long as memory",
      { if $0.say([0x82, 127, 0x7f, 255, 255, 255, 255, 255, 255, 255]) { $0.hush() } }
    ),
    (
      "a frame of a gigabyte",
      { if $0.say([0x82, 127, 0, 0, 0, 0, 0x40, 0, 0, 0]) { $0.flood([0]) } }
    ),
    (
      "a long frame, drop by drop",
      { if $0.say([0x81, 127, 0, 0, 0, 0, 0, 0x30, 0, 0]) { $0.drip([0x20]) } }
    ),
    ("compressed messages", { $0.flood(frame(0xc1, [0xec, 0xfd, 0x07])) }),
    ("a close, and then more", { if $0.say([0x88, 0x02, 3, 232]) { $0.flood(text("{}")) } }),
    ("endless closes", { $0.flood([0x88, 0x02, 3, 232]) }),
    ("the end at once", { _ in }),
    ("noise", { $0.flood([0xff]) }),
    (
      "combining marks",
      {
        let marks = String(repeating: "\u{301}", count: 1_900_000)
        if $0.say(text("{\"type\":\"error\",\"body\":\"e\(marks)\"}")) { $0.hush() }
      }
    ),
  ]

  private static let sampled: Set<String> = [
    "endless small messages", "endless pings", "a valid message a second", "endless fragments",
  ]

  static let sockets: [HostileCase] =
    acts.map { row in
      // The upgrade is the first question, the host's token the second.
      HostileCase(
        peer: .socket,
        name: row.name,
        question: 2,
        exits: [9, 10, 11, 13],
        isSample: sampled.contains(row.name),
        act: row.act
      )
    } + [
      // The message that moves money.
      HostileCase(peer: .socket, name: "late: endless small messages", question: 4, exits: [9]) {
        $0.flood(text("{}"))
      },
      HostileCase(peer: .socket, name: "late: a ping a second", question: 4, exits: [9]) {
        $0.drip(frame(0x89, []))
      },
      HostileCase(peer: .socket, name: "an upgrade that does not come", exits: [10, 11]) {
        $0.hush()
      },
      HostileCase(peer: .socket, name: "an upgrade with endless headers", exits: [10, 11]) {
        if $0.say("HTTP/1.1 101 Switching Protocols\r\n") { $0.flood("X-A: b\r\n") }
      },
      HostileCase(peer: .socket, name: "an upgrade, a byte a second", exits: [10, 11]) {
        $0.drip("H")
      },
    ]
}
