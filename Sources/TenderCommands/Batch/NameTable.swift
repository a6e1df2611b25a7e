/// Numbers by name for very many names, in some 30 bytes each: the names themselves are not kept.
///
/// What stands for a name is 64 bits of a keyed hash. Among a million names two have the same in one of
/// 37 million runs.
struct NameTable {
  /// Each grows by itself: doubling all at once takes three times the room for a moment.
  private var parts = [[UInt64: UInt64]](repeating: [:], count: 64)

  /// The number of a name; nil where it has none.
  subscript(name: String) -> UInt64? {
    get {
      let key = Self.key(name)
      return parts[Int(key & 63)][key]
    }
    set {
      let key = Self.key(name)
      parts[Int(key & 63)][key] = newValue
    }
  }

  /// The numbers of all names, in no order.
  var values: some Sequence<UInt64> { parts.lazy.flatMap(\.values) }

  private static func key(_ name: String) -> UInt64 { UInt64(truncatingIfNeeded: name.hashValue) }
}
