extension HostileCase {
  /// A packet of a reader: node, control, length, body and check.
  private static func packet(_ body: [UInt8], control: UInt8 = 0) -> [UInt8] {
    let packet = [1, control, UInt8(body.count)] + body
    return packet + [packet.reduce(0, ^)]
  }

  private static let battery = packet([0xe1, 3, 0xc4, 1, 5, 0x90, 0], control: 0x40)
  private static let card = packet([0xe1, 4, 0x48, 2, 3, 0, 0x90, 0], control: 0x40)
  private static let noCard = packet([0xe1, 4, 0x48, 2, 0, 0, 0x90, 0], control: 0x40)

  private static let acts: [(name: String, act: HostilePeer.Act)] = [
    ("silence", { $0.hush() }),
    ("endless bytes", { $0.flood([0]) }),
    ("endless events", { $0.flood(battery) }),
    ("an event a second", { $0.drip(battery) }),
    ("endless cards", { $0.flood(card + noCard) }),
    ("endless successes", { $0.flood(packet([0x90, 0])) }),
    ("endless refusals", { $0.flood(packet([0x9f, 0x28])) }),
    ("half a packet", { if $0.say([1, 0, 200, 0xe1]) { $0.hush() } }),
    ("an endless chain", { $0.flood(packet([UInt8](repeating: 0x20, count: 200), control: 1)) }),
    ("an endless chain of small packets", { $0.flood(packet([0x20], control: 0x41)) }),
    ("a wrong check", { $0.flood([1, 0, 2, 0x90, 0, 0]) }),
    ("the end at once", { _ in }),
  ]

  private static let exits: Set<Int32> = [19, 12, 13, 8, 3, 6]

  static let readers: [HostileCase] =
    acts.map { row in
      HostileCase(
        peer: .reader,
        name: row.name,
        exits: exits,
        isSample: ["endless events", "an event a second"].contains(row.name),
        act: row.act
      )
    }
    // After CARD STATUS, it is asked for a card.
    + acts.prefix(6).map { row in
      HostileCase(peer: .reader, name: "late: " + row.name, question: 5, exits: exits, act: row.act)
    }
    + acts.prefix(9).map { row in
      HostileCase(
        peer: .line,
        name: row.name,
        question: 0,
        exits: exits,
        isSample: row.name == "endless events",
        act: row.act
      )
    }
}
