/// The reader's side of the packets: commands in, answers out (Toro/README, 4.1). It shares no code with the
/// adapter, so that one misreading cannot cancel itself.
struct ReaderPackets {
  private var bytes: [UInt8] = []

  /// A command: CLA INS P1 P2 and its data.
  struct Command: Equatable {
    let instruction: UInt16
    let first: UInt8
    let second: UInt8
    let data: [UInt8]
    /// The number of expected bytes (Le); nil if the command has none.
    let expected: Int?
  }

  enum Reading: Equatable {
    case command(Command)
    case broken
  }

  /// Adds bytes. Returns the commands that are now complete.
  mutating func take(_ more: [UInt8]) -> [Reading] {
    bytes += more
    var found: [Reading] = []
    while bytes.count >= 3 {
      let size = Int(bytes[2])
      guard bytes[0] == 1, bytes[1] == 0, size >= 4, size <= 254 else { return found + [.broken] }
      guard bytes.count >= size + 4 else { break }
      var check: UInt8 = 0
      for byte in bytes.prefix(size + 3) { check ^= byte }
      guard check == bytes[size + 3] else { return found + [.broken] }
      let apdu = Array(bytes[3..<(size + 3)])
      bytes.removeFirst(size + 4)
      let rest = Array(apdu.dropFirst(4))
      let count = rest.first.map(Int.init) ?? 0
      // After the data, there may be one more byte: the expected length (Le).
      let hasData = count > 0 && rest.count > count
      let data = hasData ? Array(rest[1...count]) : []
      let behind = hasData ? rest.dropFirst(count + 1) : rest[...]
      found.append(
        .command(
          Command(
            instruction: UInt16(apdu[0]) << 8 | UInt16(apdu[1]),
            first: apdu[2],
            second: apdu[3],
            data: data,
            expected: behind.first.map { Int($0) }
          )
        )
      )
    }
    return found
  }

  /// An answer or event as packets of at most 254 bytes, the status word in the last.
  static func write(_ body: [UInt8], status: UInt16, unsolicited: Bool = false) -> [UInt8] {
    var rest = (body + [UInt8(status >> 8), UInt8(status & 0xff)])[...]
    var stream: [UInt8] = []
    repeat {
      let part = rest.prefix(254)
      rest = rest.dropFirst(part.count)
      var control: UInt8 = unsolicited ? 0x40 : 0
      if !rest.isEmpty { control |= 1 }
      var packet: [UInt8] = [1, control, UInt8(part.count)] + part
      var check: UInt8 = 0
      for byte in packet { check ^= byte }
      packet.append(check)
      stream += packet
    } while !rest.isEmpty
    return stream
  }
}
