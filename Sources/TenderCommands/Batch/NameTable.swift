/// Numbers for very many names, with some 30 bytes each. The names themselves are not stored.
///
/// A keyed hash of 64 bits represents a name. Among a million names, two have the same hash in one of 37
/// million runs.
struct NameTable {
  /// Each part grows separately. Doubling one large table needs three times the memory for a moment.
  private var parts = [[UInt64: UInt64]](repeating: [:], count: 64)

  /// The number of a name; nil without one.
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
