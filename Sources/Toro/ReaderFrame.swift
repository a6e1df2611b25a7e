import TenderModel

/// A packet of Miura's MPI: NAD, PCB, LEN, APDU, LRC (README, 4.1).
package enum ReaderFrame {
  /// The reader itself; 2 is its companion for peripherals.
  static let node: UInt8 = 1
  static let longest = 254

  /// A command as the bytes to send: always one packet.
  package static func encode(command: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [node, 0, UInt8(command.count)] + command
    bytes.append(bytes.reduce(0, ^))
    return bytes
  }
}

/// What the reader says: an answer to a command, or something unasked.
package struct ReaderMessage: Sendable, Hashable {
  package let isUnsolicited: Bool
  /// Everything before the status word.
  package let body: [UInt8]
  /// SW1 and SW2.
  package let status: UInt16
}

extension ReaderMessage {
  /// The template around its objects, and these, those of templates within included.
  ///
  /// Zero and none where the body is no BER-TLV.
  var template: (tag: UInt32, objects: [TLV]) {
    guard let outer = TLV.read(body)?.first else { return (0, []) }
    return (outer.tag, Self.flattened(outer, depth: 0))
  }

  /// Templates (README, 4.4); others that look constructed are primitive here.
  private static let templates: Set<UInt32> = [
    0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xed, 0xef,
  ]

  private static func flattened(_ object: TLV, depth: Int) -> [TLV] {
    guard templates.contains(object.tag), depth < 4 else { return [object] }
    return (object.objects ?? []).flatMap { flattened($0, depth: depth + 1) }
  }
}

/// Why the bytes of a stream cannot be packets; nothing after them can be read either.
package struct FrameProblem: Error, Sendable, Hashable {
  package let text: String
}

/// Takes a reader's bytes as they come and gives its messages, chained packets put together.
package struct FrameDecoder: Sendable {
  private var buffer: [UInt8] = []
  /// What has come of the chains of each node, solicited and not.
  private var chains: [UInt16: [UInt8]] = [:]
  private var problem: FrameProblem?
  /// A chain is bounded: the longest that is known has under a thousand bytes.
  private static let limit = 65_536

  package init() {}

  /// Whether bytes of an unfinished message are there.
  package var isInside: Bool { !buffer.isEmpty || !chains.isEmpty }

  /// Takes bytes; gives the messages that they complete.
  ///
  /// Throws what is wrong with them; then and from then on.
  package mutating func receive(
    _ bytes: some Collection<UInt8>
  ) throws(FrameProblem)
    -> [ReaderMessage]
  {
    if let problem { throw problem }
    buffer += bytes
    var messages: [ReaderMessage] = []
    do throws(FrameProblem) {
      while let message = try next() { if let whole = message { messages.append(whole) } }
    } catch {
      problem = error
      // What came before the broken packet was whole; the break is told with the next call.
      if messages.isEmpty { throw error }
    }
    return messages
  }

  /// One packet: nil where there is none yet, an empty optional for a part of a chain.
  private mutating func next() throws(FrameProblem) -> ReaderMessage?? {
    guard let node = buffer.first else { return nil }
    guard node == 1 || node == 2 else {
      throw FrameProblem(text: "a packet for node \(node), which does not exist")
    }
    guard buffer.count > 1 else { return nil }
    let control = buffer[1]
    guard control & ~0x41 == 0 else {
      throw FrameProblem(text: "a packet with the control byte \(control)")
    }
    guard buffer.count > 2 else { return nil }
    let count = Int(buffer[2])
    guard (1...ReaderFrame.longest).contains(count) else {
      throw FrameProblem(text: "a packet of \(count) bytes")
    }
    guard buffer.count >= count + 4 else { return nil }
    let packet = buffer.prefix(count + 4)
    guard packet.reduce(0, ^) == 0 else {
      throw FrameProblem(text: "a packet whose checksum (LRC) is wrong")
    }
    let apdu = packet.dropFirst(3).dropLast()
    buffer.removeFirst(count + 4)
    let key = UInt16(node) << 8 | UInt16(control & 0x40)
    let whole = chains[key, default: []] + apdu
    guard whole.count <= Self.limit else { throw FrameProblem(text: "a chain without an end") }
    guard control & 1 == 0 else {
      chains[key] = whole
      return .some(nil)
    }
    chains[key] = nil
    guard whole.count >= 2 else { throw FrameProblem(text: "a message without a status word") }
    return ReaderMessage(
      isUnsolicited: control & 0x40 != 0,
      body: Array(whole.dropLast(2)),
      status: UInt16(whole[whole.count - 2]) << 8 | UInt16(whole[whole.count - 1])
    )
  }
}
