import TenderModel

/// A packet of Miura's MPI: NAD, PCB, LEN, APDU, LRC (README, 4.1).
package enum ReaderFrame {
  /// The node address of the reader. 2 is its peripheral unit.
  static let node: UInt8 = 1
  static let longest = 254

  /// Returns the packet for a command. It is always a single packet.
  package static func encode(command: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [node, 0, UInt8(command.count)] + command
    bytes.append(bytes.reduce(0, ^))
    return bytes
  }
}

/// A message from the reader: an answer to a command, or an unsolicited event.
package struct ReaderMessage: Sendable, Hashable {
  package let isUnsolicited: Bool
  /// The bytes before the status word.
  package let body: [UInt8]
  /// SW1 and SW2.
  package let status: UInt16
}

extension ReaderMessage {
  /// The outer template's tag and its data objects, including those in nested templates.
  ///
  /// The tag is 0 and there are no objects if the body is not BER-TLV.
  var template: (tag: UInt32, objects: [TLV]) {
    guard let outer = TLV.read(body)?.first else { return (0, []) }
    return (outer.tag, Self.flattened(outer, depth: 0))
  }

  /// The tags of templates (README, 4.4). Other constructed tags are treated as primitive.
  private static let templates: Set<UInt32> = [
    0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xed, 0xef,
  ]

  private static func flattened(_ object: TLV, depth: Int) -> [TLV] {
    guard templates.contains(object.tag), depth < 4 else { return [object] }
    return (object.objects ?? []).flatMap { flattened($0, depth: depth + 1) }
  }
}

/// The reason why bytes are not valid packets. Nothing after them can be read.
package struct FrameProblem: Error, Sendable, Hashable {
  package let text: String
}

/// Decodes a reader's bytes into messages, and joins chained packets.
package struct FrameDecoder: Sendable {
  private var buffer: [UInt8] = []
  /// The received parts of chains, by node and by solicited or unsolicited.
  private var chains: [UInt16: [UInt8]] = [:]
  private var problem: FrameProblem?
  /// The maximum length of a chain. The longest known is under a thousand bytes.
  private static let limit = 65_536

  package init() {}

  /// Whether an unfinished message was received.
  package var isInside: Bool { !buffer.isEmpty || !chains.isEmpty }

  /// Receives bytes and returns the messages that they complete.
  ///
  /// Throws if the bytes are invalid, and on every later call.
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
      // Complete messages before the invalid packet are returned first. The next call throws.
      if messages.isEmpty { throw error }
    }
    return messages
  }

  /// Reads a packet: nil if it is incomplete, an empty optional for a part of a chain.
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
