private import CLibraries

/// Keyed fingerprints of secrets. They find the secrets in a text, but do not reveal them.
///
/// A fingerprint is a polynomial over the bytes, modulo 2^61 - 1, at a secret random point (Karp and
/// Rabin, 1987). Case is ignored, and both alphabets of base64 count as the same.
struct Fingerprints: Sendable {
  /// The length of the shortest secret that is found inside words, in bytes.
  static let window = 6

  private struct Print: Sendable, Equatable {
    /// The number of bytes that the fingerprint is of.
    var count = 0
    /// The first bytes, which the sieve looks at.
    var first: UInt32 = 0
    /// The fingerprint of the first bytes of a window, which finds candidates.
    var key: UInt64 = 0
    var value: UInt64 = 0
    /// The number of bytes of the whole form, which can be more.
    var length = 0

    init(of bytes: some Sequence<UInt8>) {
      let point = Fingerprints.point
      for byte in bytes {
        let small = Fingerprints.small(byte)
        value = Fingerprints.next(value, small, at: point)
        count += 1
        guard count <= Fingerprints.window else { continue }
        if count <= Fingerprints.sieved { first = first << 8 | UInt32(small) }
        key = value
      }
      length = count
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

  /// The fingerprints, the longest first: it covers any secret inside it.
  private var known: [Print] = []
  /// One bit for each hash of the first bytes of a secret. It skips nearly all places of a text.
  private var sieve = [UInt64](repeating: 0, count: 1 << 10)
  /// Fingerprints of any length that count only as a whole word.
  private var words: [Print] = []

  var isEmpty: Bool { known.isEmpty }
  var hasWords: Bool { !words.isEmpty }

  /// Adds the fingerprint of some bytes, which are not stored. Too few bytes are ignored.
  ///
  /// `length` is that of the whole form, whose first bytes are enough to find it. Returns whether it is new.
  @discardableResult
  mutating func insert(_ bytes: some Sequence<UInt8>, beginningOf length: Int = 0) -> Bool {
    var print = Print(of: bytes)
    print.length = max(print.count, length)
    guard print.count >= Self.window, !known.contains(print) else { return false }
    let slot = slot(print.first)
    sieve[slot >> 6] |= 1 << UInt64(slot & 63)
    known.insert(print, at: known.firstIndex { $0.length < print.length } ?? known.endIndex)
    return true
  }

  /// Adds the fingerprint of bytes that count only as a whole word.
  mutating func insertWord(_ bytes: some Collection<UInt8>) {
    if !bytes.isEmpty, !holdsWord(bytes) { words.append(Print(of: bytes)) }
  }

  func holdsWord(_ bytes: some Collection<UInt8>) -> Bool {
    words.contains { $0.count == bytes.count } && words.contains(Print(of: bytes))
  }

  /// Returns the places of known secrets in a text. Some can overlap, but not those of one secret: its end
  /// may be its beginning too.
  func places(in bytes: [UInt8]) -> [Range<Int>] {
    guard !known.isEmpty, bytes.count >= Self.window else { return [] }
    var found: [Range<Int>] = []
    var (first, last) = (UInt32(0), nil as Print?)
    for (index, byte) in bytes.enumerated() {
      first = first << 8 | UInt32(Self.small(byte))
      let start = index - Self.sieved + 1
      guard mayBegin(with: first), start >= 0, start + Self.window <= bytes.count else { continue }
      let key = Print(of: bytes[start..<(start + Self.window)]).value
      let match = known.first { print in
        print.key == key && start + print.count <= bytes.count
          && Print(of: bytes[start..<(start + print.count)]).value == print.value
      }
      guard let match, match != last || start >= found.last?.upperBound ?? 0 else { continue }
      found.append(start..<min(start + match.length, bytes.count))
      last = match
    }
    return found
  }

  /// Returns whether a secret may begin among the letters and digits of a text, whatever separates them. False
  /// is certain.
  func mayBegin(inCodesOf bytes: [UInt8]) -> Bool {
    var starts = Starts()
    return bytes.contains { mayBegin(with: $0, &starts) }
  }

  /// The last bytes of a text, all of them and its letters and digits alone.
  struct Starts {
    fileprivate var (bytes, codes): (UInt32, UInt32) = (0, 0)
  }

  /// Returns whether a secret may begin with the last bytes of a text, to which one is added.
  func mayBegin(with byte: UInt8, _ starts: inout Starts) -> Bool {
    guard !known.isEmpty else { return false }
    let small = UInt32(Self.small(byte))
    starts.bytes = starts.bytes << 8 | small
    if mayBegin(with: starts.bytes) { return true }
    guard DigitRuns.isLetter(byte) || DigitRuns.isDigit(byte) else { return false }
    starts.codes = starts.codes << 8 | small
    return mayBegin(with: starts.codes)
  }

  private func mayBegin(with first: UInt32) -> Bool {
    let slot = slot(first)
    return sieve[slot >> 6] & 1 << UInt64(slot & 63) != 0
  }

  /// A hash of the first bytes: the place of a bit of the sieve.
  private func slot(_ first: UInt32) -> Int { Int((first &* Self.factor) >> 16) }

  /// Returns a byte without its case, and a character of either alphabet of base64 as that of one.
  private static func small(_ byte: UInt8) -> UInt64 {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt64(byte | 0x20)
    case UInt8(ascii: "-"): UInt64(UInt8(ascii: "+"))
    case UInt8(ascii: "_"): UInt64(UInt8(ascii: "/"))
    default: UInt64(byte)
    }
  }

  /// Returns the fingerprint of one byte more.
  private static func next(_ value: UInt64, _ byte: UInt64, at point: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: point)
    // 2^61 equals 1 here, so the upper bits are added to the lower ones, twice. Nothing overflows 64 bits.
    let sum = (product.low & prime) &+ (product.high &<< 3 | product.low &>> 61) &+ byte
    let folded = (sum & prime) &+ sum &>> 61
    return folded >= prime ? folded - prime : folded
  }
}
