/// One share of many: the lines of a file that one runner takes, by their references.
package struct Shard: Sendable, Hashable {
  private static let most = 10_000
  /// From 1 on.
  let number: Int
  let count: Int

  /// The share that `K/N` names; nil where it names none.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Int(parts[0]), let count = Int(parts[1]),
      (1...Self.most).contains(count), (1...count).contains(number)
    else { return nil }
    self.number = number
    self.count = count
  }

  /// Whether a line about this reference is of this share: the same on every machine and in every version.
  package func holds(_ reference: String) -> Bool {
    // FNV-1a, 64 bits; its high half, which is mixed best.
    let hash = reference.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return Int((hash ^ (hash >> 32)) % UInt64(count)) == number - 1
  }
}
