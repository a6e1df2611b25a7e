/// A server of PostgreSQL's protocol (PostgreSQL's manual, "Message Formats").
extension HostileCase {
  private static func message(_ type: Character, _ payload: [UInt8], length: Int? = nil) -> [UInt8]
  {
    let size = length ?? payload.count + 4
    return [type.asciiValue ?? 0] + (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
      + payload
  }

  private static func fields(_ severity: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for field in ["S" + severity, "V" + severity, "C01000", "Mnothing"] {
      bytes += Array(field.utf8) + [0]
    }
    return bytes + [0]
  }

  private static let notice = message("N", fields("WARNING"))
  private static let error = message("E", fields("ERROR"))
  private static let letIn =
    message("R", [0, 0, 0, 0]) + message("S", Array("server_version\u{0}17.0\u{0}".utf8))
    + message("S", Array("client_encoding\u{0}UTF8\u{0}".utf8))
    + message("K", [0, 0, 0, 1, 0, 0, 0, 1])
    + message("Z", [0x49])
  /// One column of text.
  private static let description = message(
    "T",
    [0, 1, 0x61, 0] + [0, 0, 0, 0, 0, 0] + [0, 0, 0, 25] + [
      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0,
    ]
  )
  private static let answered = message("1", []) + message("2", []) + description
  private static let row = message("D", [0, 1, 0, 0, 0, 1, 0x61])
  private static let emptyRow = message("D", [0, 0])
  private static let longRow = message(
    "D",
    [0, 1, 0, 0, 0x40, 0] + [UInt8](repeating: 0x61, count: 16_384)
  )

  /// Accepts a client, and acts at its first question.
  private static func later(_ act: @escaping HostilePeer.Act) -> HostilePeer.Act {
    { wire in
      guard wire.hear() != nil, wire.say(letIn), wire.hear() != nil else { return }
      act(wire)
    }
  }

  private static let acts: [(name: String, act: HostilePeer.Act)] = [
    ("silence", { $0.hush() }),
    ("half a message", { if $0.say([0x52, 0, 0]) { $0.hush() } }),
    ("endless notices before the start", { $0.flood(notice) }),
    ("a notice a second before the start", { $0.drip(notice) }),
    ("endless parameters", { $0.flood(message("S", Array("a\u{0}b\u{0}".utf8))) }),
    (
      "a message of a gigabyte before the start",
      {
        if $0.say(message("S", [], length: 0x3fff_ffff)) { $0.flood([0x61]) }
      }
    ),
    ("endless requests for a password", { $0.flood(message("R", [0, 0, 0, 3])) }),
    (
      "endless requests for a hashed password",
      { $0.flood(message("R", [0, 0, 0, 5, 1, 2, 3, 4])) }
    ),
    ("a negative length", { if $0.say(message("R", [], length: -5)) { $0.flood([0]) } }),
    ("noise", { $0.flood([0xff]) }),
    ("endless errors before the start", { $0.flood(error) }),
    ("the end at once", { _ in }),
    ("late: silence", later { $0.hush() }),
    ("late: endless notices", later { $0.flood(notice) }),
    ("late: a notice a second", later { $0.drip(notice) }),
    (
      "late: a copy without end",
      later { if $0.say(message("H", [0, 0, 0])) { $0.flood(message("d", [0x61])) } }
    ),
    (
      "late: endless notifications",
      later {
        $0.flood(message("A", [0, 0, 0, 1] + Array("channel\u{0}payload\u{0}".utf8)))
      }
    ),
    ("late: endless rows", later { if $0.say(answered) { $0.flood(row) } }),
    ("late: endless empty rows", later { if $0.say(answered) { $0.flood(emptyRow) } }),
    ("late: endless long rows", later { if $0.say(answered) { $0.flood(longRow) } }),
    ("late: a row a second", later { if $0.say(answered) { $0.drip(row) } }),
    (
      "late: endless descriptions",
      later { if $0.say(message("1", []) + message("2", [])) { $0.flood(description) } }
    ),
    (
      "late: a row without columns",
      later { wire in
        let end = message("C", Array("SELECT 1\u{0}".utf8))
        let answer = message("1", []) + message("2", []) + message("T", [0, 0]) + emptyRow + end
        wire.say(answer + answer + answer + message("Z", [0x49]))
      }
    ),
    ("late: endless errors", later { $0.flood(error) }),
    ("late: endless ends", later { $0.flood(message("Z", [0x49])) }),
    (
      "late: a row of a gigabyte",
      later {
        if $0.say(answered + message("D", [0, 1], length: 0x3fff_ffff)) { $0.flood([0x61]) }
      }
    ),
    (
      "late: a row of fifty megabytes",
      later { if $0.say(answered + message("D", [0, 1], length: 50 << 20)) { $0.flood([0x61]) } }
    ),
    (
      "late: an error of a gigabyte",
      later { if $0.say(message("E", [0x4d], length: 0x3fff_ffff)) { $0.flood([0x61]) } }
    ),
    ("late: half a row", later { if $0.say(answered + row.prefix(8)) { $0.hush() } }),
  ]

  private static let exits: Set<Int32> = [16, 8, 10]

  static let databases: [HostileCase] =
    acts.map { row in
      HostileCase(
        peer: .postgres,
        name: row.name,
        question: 0,
        exits: exits,
        isSample: [
          "endless requests for a hashed password",
          "late: endless rows", "late: endless notices", "late: a row of a gigabyte",
          "endless requests for a password", "late: endless ends", "late: a copy without end",
          "late: a row without columns",
        ].contains(row.name),
        act: row.act
      )
    }
    + acts.filter { $0.name.contains("row") || $0.name.contains("notif") }.map { row in
      HostileCase(
        peer: .postgresHere,
        name: row.name,
        question: 0,
        exits: exits,
        isSample: row.name == "late: endless empty rows",
        act: row.act
      )
    }
}
