private import CSodium

/// Secrets as keyed fingerprints: whether one of them stands in a text can be said, what they are
/// cannot be read out of here.
///
/// A fingerprint is a polynomial over the bytes, modulo 2^61 - 1, at a secret random point (Karp and
/// Rabin, 1987). Letters count as their small ones, the two
/// letters that base64's URL-safe alphabet has of its own as those of the standard one.
struct Fingerprints: Sendable {
  /// The shortest text that has a fingerprint, in bytes: a window of this size finds candidates.
  static let window = 6

  private struct Print: Sendable, Equatable {
    /// Of the first bytes, as many as a window has; of a word the same as `value`.
    let key: UInt64
    let count: Int
    let value: UInt64

    func isBefore(_ other: Print) -> Bool {
      key == other.key ? count > other.count : key < other.key
    }
  }

  private static let prime: UInt64 = 1 << 61 - 1
  /// The point, the same for all of a process.
  private static let point: UInt64 = {
    let raw = UInt64(randombytes_random()) << 32 | UInt64(randombytes_random())
    return raw % (prime - 256) + 256
  }()
  /// What the first bytes are multiplied by for the sieve.
  private static let factor = randombytes_random() | 1
  /// How many bytes the sieve looks at, fewer than a window has.
  private static let sieved = 4

  /// In the order of their windows' fingerprints, of one window the longest first.
  private var known: [Print] = []
  /// A bit for each value that the first bytes of one of them have under the factor: nearly all places
  /// of a text are passed over by it.
  private var sieve: [UInt64] = []

  var isEmpty: Bool { known.isEmpty }

  /// Those of any size that count only where they stand alone.
  private var standing: [Print] = []

  /// Takes the fingerprint of some bytes that count only where they are a whole word.
  mutating func insertWord(_ bytes: some Collection<UInt8>) {
    guard !bytes.isEmpty, !holdsWord(bytes) else { return }
    let value = Self.value(of: bytes)
    standing.append(Print(key: value, count: bytes.count, value: value))
  }

  /// Whether some bytes are one of the words.
  func holdsWord(_ bytes: some Collection<UInt8>) -> Bool {
    guard standing.contains(where: { $0.count == bytes.count }) else { return false }
    let value = Self.value(of: bytes)
    return standing.contains { $0.count == bytes.count && $0.value == value }
  }

  var hasWords: Bool { !standing.isEmpty }

  /// Takes the fingerprint of some bytes, which are not kept; too few are left out.
  ///
  /// Gives whether it is new.
  @discardableResult
  mutating func insert(_ bytes: some Collection<UInt8>) -> Bool {
    var bytes = bytes.makeIterator()
    return insert { bytes.next() }
  }

  /// Takes the fingerprint of bytes that are made one after the other; gives whether it is new.
  @discardableResult
  mutating func insert(_ next: () -> UInt8?) -> Bool {
    let point = Self.point
    var (count, value, key, word) = (0, UInt64(0), UInt64(0), UInt32(0))
    while let byte = next() {
      let small = Self.small(byte)
      value = Self.add(Self.multiply(value, point), small)
      if count < Self.sieved { word = word << 8 | UInt32(small) }
      count += 1
      if count == Self.window { key = value }
    }
    guard count >= Self.window else { return false }
    if sieve.isEmpty { sieve = Array(repeating: 0, count: 1024) }
    let slot = Self.slot(word)
    sieve[slot >> 6] |= 1 << UInt64(slot & 63)
    let print = Print(key: key, count: count, value: value)
    var place = first(key)
    while place < known.count, known[place].isBefore(print) { place += 1 }
    while place < known.count, known[place].key == key, known[place].count == count {
      if known[place].value == value { return false }
      place += 1
    }
    known.insert(print, at: place)
    return true
  }

  /// The place of the first one of a window, or where it would stand.
  private func first(_ key: UInt64) -> Int {
    var (low, high) = (0, known.count)
    while low < high {
      let middle = (low + high) / 2
      if known[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Where the known secrets stand in a text.
  func places(in bytes: [UInt8]) -> [Range<Int>] {
    guard !known.isEmpty, bytes.count >= Self.window else { return [] }
    var found: [Range<Int>] = []
    var word: UInt32 = 0
    for byte in bytes.prefix(Self.sieved - 1) { word = word << 8 | UInt32(Self.small(byte)) }
    for start in 0...(bytes.count - Self.window) {
      word = word << 8 | UInt32(Self.small(bytes[start + Self.sieved - 1]))
      let slot = Self.slot(word)
      guard sieve[slot >> 6] & 1 << UInt64(slot & 63) != 0 else { continue }
      let key = Self.value(of: bytes[start..<(start + Self.window)])
      for print in known[first(key)...].prefix(while: { $0.key == key })
      where start + print.count <= bytes.count {
        // The longest alone: a secret within another is covered by it.
        guard Self.value(of: bytes[start..<(start + print.count)]) == print.value else { continue }
        found.append(start..<(start + print.count))
        break
      }
    }
    return found
  }

  /// Whether one of them may begin among those of some bytes that count: no is certain.
  @inline(__always)
  func mayBegin(
    in bytes: UnsafeBufferPointer<UInt8>,
    where counts: (UInt8) -> Bool
  ) -> Bool {
    guard !known.isEmpty else { return false }
    var word: UInt32 = 0
    var seen = 0
    for index in 0..<bytes.count {
      let byte = unsafe bytes[index]
      guard counts(byte) else { continue }
      word = word << 8 | UInt32(Self.small(byte))
      seen += 1
      guard seen >= Self.sieved else { continue }
      let slot = Self.slot(word)
      if sieve[slot >> 6] & 1 << UInt64(slot & 63) != 0 { return true }
    }
    return false
  }

  /// 16 bits of some first bytes.
  private static func slot(_ word: UInt32) -> Int { Int((word &* factor) >> 16) }

  private static func value(of bytes: some Sequence<UInt8>) -> UInt64 {
    let point = point
    return bytes.reduce(0) { add(multiply($0, point), small($1)) }
  }

  private static func small(_ byte: UInt8) -> UInt64 {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt64(byte | 0x20)
    case UInt8(ascii: "-"): UInt64(UInt8(ascii: "+"))
    case UInt8(ascii: "_"): UInt64(UInt8(ascii: "/"))
    default: UInt64(byte)
    }
  }

  private static func add(_ one: UInt64, _ other: UInt64) -> UInt64 {
    let sum = one + other
    return sum >= prime ? sum - prime : sum
  }

  private static func multiply(_ one: UInt64, _ other: UInt64) -> UInt64 {
    let product = one.multipliedFullWidth(by: other)
    // 2^61 is 1: the upper bits are added to the lower ones.
    let sum = add(product.low & prime, product.high << 3 | product.low >> 61)
    return sum == prime ? 0 : sum
  }
}
