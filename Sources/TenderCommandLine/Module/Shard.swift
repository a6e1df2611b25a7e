import TenderModel

/// One share of many: the lines of a file that one runner processes, chosen by their references.
package struct Shard: Sendable, Hashable {
  private static let most = 10_000
  /// The number of the share, from 1.
  let number: Int
  let count: Int

  /// Reads a share from `K/N`; nil if the text is not one.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Int(parts[0]), let count = Int(parts[1]),
      (1...Self.most).contains(count), (1...count).contains(number)
    else { return nil }
    self.number = number
    self.count = count
  }

  /// Whether a line with this reference is in this share. The answer is the same on every machine and in
  /// every version.
  package func holds(_ reference: String) -> Bool {
    // FNV-1a with 64 bits. The high half is mixed best.
    let hash = reference.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return Int((hash ^ (hash >> 32)) % UInt64(count)) == number - 1
  }
}
