private import CLibraries

/// Keyed fingerprints of secrets. They find the secrets in a text, but do not reveal them.
///
/// A fingerprint is a polynomial over the bytes, modulo 2^61 - 1, at a secret random point (Karp and
/// Rabin, 1987). Case is ignored, and both alphabets of base64 count as the same.
struct Fingerprints: Sendable {
  /// The length of the shortest text that has a fingerprint, in bytes. Windows of this size find candidates.
  static let window = 6

  private struct Print: Sendable, Equatable {
    /// The fingerprint of the first window of bytes. For a word it equals `value`.
    let key: UInt64
    let count: Int
    let value: UInt64

    func isBefore(_ other: Print) -> Bool {
      key == other.key ? count > other.count : key < other.key
    }
  }

  private static let prime: UInt64 = 1 << 61 - 1
  /// The random point, the same for the whole process.
  private static let point: UInt64 = {
    let raw = UInt64(randombytes_random()) << 32 | UInt64(randombytes_random())
    return raw % (prime - 256) + 256
  }()
  /// The sieve multiplies the first bytes by this factor.
  private static let factor = randombytes_random() | 1
  /// The number of bytes that the sieve looks at. It is less than a window.
  private static let sieved = 4

  /// The fingerprints, ordered by their windows; for one window the longest is first.
  private var known: [Print] = []
  /// One bit for each hash of the first bytes of a secret. It skips nearly all places of a text.
  private var sieve: [UInt64] = []
  /// The number of bits of the sieve, as a power of two.
  private let power: UInt32

  init(power: UInt32 = 16) { self.power = power }

  var isEmpty: Bool { known.isEmpty }

  /// Fingerprints of any length that count only as a whole word.
  private var standing: [Print] = []

  /// Adds the fingerprint of bytes that count only as a whole word.
  mutating func insertWord(_ bytes: some Collection<UInt8>) {
    guard !bytes.isEmpty, !holdsWord(bytes) else { return }
    hasOtherWords = hasOtherWords || !bytes.allSatisfy(DigitRuns.isDigit)
    let value = Self.value(of: bytes)
    standing.append(Print(key: value, count: bytes.count, value: value))
  }

  func holdsWord(_ bytes: some Collection<UInt8>) -> Bool {
    guard standing.contains(where: { $0.count == bytes.count }) else { return false }
    let value = Self.value(of: bytes)
    return standing.contains { $0.count == bytes.count && $0.value == value }
  }

  var hasWords: Bool { !standing.isEmpty }

  /// Whether a word is not of digits alone.
  private(set) var hasOtherWords = false

  /// Adds the fingerprint of some bytes, which are not stored. Too few bytes are ignored.
  ///
  /// Returns whether it is new.
  @discardableResult
  mutating func insert(_ bytes: some Sequence<UInt8>) -> Bool {
    var sum = Sum()
    for byte in bytes { sum.add(Self.small(byte)) }
    return insert(sum)
  }

  /// The fingerprint of bytes that are produced one by one, and of their beginning.
  struct Sum {
    private let point = Fingerprints.point
    fileprivate private(set) var count = 0
    fileprivate private(set) var value: UInt64 = 0
    fileprivate private(set) var key: UInt64 = 0
    fileprivate private(set) var word: UInt32 = 0

    /// Adds a byte as `small` returns it.
    @inline(__always)
    mutating func add(_ small: UInt64) {
      value = Fingerprints.next(value, point, small)
      count &+= 1
      guard count <= Fingerprints.window else { return }
      if count <= Fingerprints.sieved { word = word << 8 | UInt32(small) }
      if count == Fingerprints.window { key = Fingerprints.reduced(value) }
    }
  }

  /// Adds a fingerprint. Returns whether it is new.
  @discardableResult
  mutating func insert(_ sum: Sum) -> Bool {
    guard sum.count >= Self.window else { return false }
    let (key, count, value) = (sum.key, sum.count, Self.reduced(sum.value))
    if sieve.isEmpty { sieve = Array(repeating: 0, count: 1 << Int(power - 6)) }
    let slot = slot(sum.word)
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

  /// Returns the index of the first fingerprint of a window, or the place to insert it.
  private func first(_ key: UInt64) -> Int {
    var (low, high) = (0, known.count)
    while low < high {
      let middle = (low + high) / 2
      if known[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the places of known secrets in a text, in their order; those that overlap are one.
  func places(in bytes: [UInt8]) -> [Range<Int>] {
    guard !known.isEmpty, bytes.count >= Self.window else { return [] }
    var found: [Range<Int>] = []
    var word: UInt32 = 0
    for byte in bytes.prefix(Self.sieved - 1) { word = word << 8 | UInt32(Self.small(byte)) }
    for start in 0...(bytes.count - Self.window) {
      word = word << 8 | UInt32(Self.small(bytes[start + Self.sieved - 1]))
      let slot = slot(word)
      guard sieve[slot >> 6] & 1 << UInt64(slot & 63) != 0 else { continue }
      let key = Self.value(of: bytes[start..<(start + Self.window)])
      for print in known[first(key)...].prefix(while: { $0.key == key })
      where start + print.count <= bytes.count {
        // Only the longest counts, because it covers any secret inside it.
        guard Self.value(of: bytes[start..<(start + print.count)]) == print.value else { continue }
        let end = start + print.count
        if let last = found.last, start < last.upperBound {
          found[found.count - 1] = last.lowerBound..<max(last.upperBound, end)
        } else {
          found.append(start..<end)
        }
        break
      }
    }
    return found
  }

  /// Returns whether a byte is a letter or digit of a secret, and not a separator between its parts.
  static func isOfCodes(_ byte: UInt8) -> Bool {
    DigitRuns.isDigit(byte) || DigitRuns.isLetter(byte) || byte == UInt8(ascii: "+")
  }

  /// Returns whether a secret may begin anywhere in some bytes, or in those of codes alone. False is certain.
  func mayBegin(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard !known.isEmpty, bytes.count >= Self.window else { return false }
    return unsafe sieve.withUnsafeBufferPointer { sieve in
      func holds(_ word: UInt32) -> Bool {
        let slot = slot(word)
        return unsafe sieve[slot >> 6] & 1 << UInt64(slot & 63) != 0
      }
      // The last bytes, and the last ones of codes.
      var (all, codes): (UInt32, UInt32) = (0, 0)
      for index in 0..<bytes.count {
        let byte = unsafe bytes[index]
        let small = UInt32(Self.small(byte))
        all = all << 8 | small
        if holds(all) { return true }
        guard Self.isOfCodes(byte) else { continue }
        codes = codes << 8 | small
        // Soon after a separator, both are the same again.
        if codes != all, holds(codes) { return true }
      }
      return false
    }
  }

  /// A hash of the first bytes: the place of a bit of the sieve.
  private func slot(_ word: UInt32) -> Int { Int((word &* Self.factor) >> (32 - power)) }

  private static func value(of bytes: some Sequence<UInt8>) -> UInt64 {
    let point = point
    return reduced(bytes.reduce(0) { next($0, point, small($1)) })
  }

  /// Returns a byte without its case, and a character of either alphabet of base64 as that of one.
  static func small(_ byte: UInt8) -> UInt64 {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt64(byte | 0x20)
    case UInt8(ascii: "-"): UInt64(UInt8(ascii: "+"))
    case UInt8(ascii: "_"): UInt64(UInt8(ascii: "/"))
    default: UInt64(byte)
    }
  }

  /// Returns the fingerprint of one byte more, at most the prime and 1.
  private static func next(_ value: UInt64, _ point: UInt64, _ byte: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: point)
    // 2^61 equals 1 here, so the upper bits are added to the lower ones, twice. Nothing overflows 64 bits.
    let sum = (product.low & prime) &+ (product.high &<< 3 | product.low &>> 61) &+ byte
    return (sum & prime) &+ sum &>> 61
  }

  private static func reduced(_ value: UInt64) -> UInt64 { value >= prime ? value - prime : value }
}
