/// Checks a stream of bytes for well-formed UTF-8 (Unicode 15, table 3-7).
struct UTF8Check {
  private var awaited = 0
  private var allowed: ClosedRange<UInt8> = 0x80...0xbf

  /// Whether the last character is complete.
  var isComplete: Bool { awaited == 0 }

  /// Checks more bytes. Returns false as soon as no continuation could be well formed.
  mutating func accept(_ bytes: some Sequence<UInt8>) -> Bool {
    // Nearly every text is ASCII. Without an early end, several bytes are compared at a time.
    let bits = bytes.withContiguousStorageIfAvailable { unsafe $0.reduce(0, |) }
    if awaited == 0, let bits, bits < 0x80 { return true }
    for byte in bytes {
      if awaited == 0 {
        if byte < 0x80 { continue }
        switch byte {
        case 0xc2...0xdf: (awaited, allowed) = (1, 0x80...0xbf)
        case 0xe0: (awaited, allowed) = (2, 0xa0...0xbf)
        case 0xed: (awaited, allowed) = (2, 0x80...0x9f)
        case 0xe1...0xef: (awaited, allowed) = (2, 0x80...0xbf)
        case 0xf0: (awaited, allowed) = (3, 0x90...0xbf)
        case 0xf1...0xf3: (awaited, allowed) = (3, 0x80...0xbf)
        case 0xf4: (awaited, allowed) = (3, 0x80...0x8f)
        default: return false
        }
      } else {
        guard allowed.contains(byte) else { return false }
        awaited -= 1
        allowed = 0x80...0xbf
      }
    }
    return true
  }
}
