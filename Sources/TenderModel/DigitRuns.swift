/// Runs of digits that belong together. Between two digits of a run are only a few separators.
///
/// A text can be one run of millions of digits. Only the last ones are stored, since a card number has 19 at
/// most.
struct DigitRuns {
  /// The largest number of separators between two digits of one number.
  private static let widest = 8
  /// The lengths of card numbers.
  private static let least = 13
  private static let most = 19

  private var digits: [UInt8] = []
  private var places: [Int] = []
  /// Whether each digit begins a group: no other digit is directly before it.
  private var beginsGroup: [Bool] = []
  /// The sums of the Luhn check over the run before each digit: with the digits at even places doubled, and with
  /// the others. The sum of any part is a difference of two of them.
  private var sums: [(even: Int, odd: Int)] = []
  private var sum = (even: 0, odd: 0)
  /// The number of digits of the run.
  private var count = 0
  private var found: [Range<Int>] = []

  static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }

  /// Returns the end of a UUID that begins at `start`; nil if there is none (RFC 9562, section 4).
  ///
  /// A UUID is 8-4-4-4-12 hexadecimal digits with a valid version and variant. No hexadecimal digit may touch
  /// it.
  static func uuidEnd(in bytes: [UInt8], at start: Int) -> Int? {
    let end = start + 36
    guard end <= bytes.count, bytes[start + 8] == UInt8(ascii: "-"),
      start == 0 || !isHex(bytes[start - 1]), end == bytes.count || !isHex(bytes[end])
    else { return nil }
    for (offset, byte) in bytes[start..<end].enumerated() {
      let isDash = offset == 8 || offset == 13 || offset == 18 || offset == 23
      guard isDash ? byte == UInt8(ascii: "-") : isHex(byte) else { return nil }
    }
    let isVersion = (UInt8(ascii: "1")...UInt8(ascii: "8")).contains(bytes[start + 14])
    let isVariant = [UInt8(ascii: "8"), UInt8(ascii: "9"), UInt8(ascii: "a"), UInt8(ascii: "b")]
      .contains(bytes[start + 19] | (isDigit(bytes[start + 19]) ? 0 : 0x20))
    return isVersion && isVariant ? end : nil
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  /// Returns the ranges of card numbers that consist of whole groups of digits: times and UUIDs are left as they are.
  ///
  /// Ranges that overlap are one.
  static func cardNumbers(in bytes: [UInt8]) -> [Range<Int>] {
    var runs = DigitRuns()
    var index = 0
    while index < bytes.count {
      // One UUID in forty thousand has a card number's digits in its first groups.
      if let next = uuidEnd(in: bytes, at: index) {
        runs.endRun()
        index = next
        continue
      }
      let byte = bytes[index]
      if isDigit(byte) {
        runs.add(byte - UInt8(ascii: "0"), at: index)
      } else if !isSeparator(byte) || index - (runs.places.last ?? index) > widest {
        runs.endRun()
      } else if runs.places.last == index - 1 {
        runs.endGroup()
      }
      index += 1
    }
    runs.endRun()
    return runs.found
  }

  private mutating func add(_ digit: UInt8, at place: Int) {
    if digits.count > 64 * Self.most {
      let old = digits.count - Self.most
      digits.removeFirst(old)
      places.removeFirst(old)
      beginsGroup.removeFirst(old)
      sums.removeFirst(old)
    }
    sums.append(sum)
    let (value, twice) = (Int(digit), digit > 4 ? 2 * Int(digit) - 9 : 2 * Int(digit))
    let isEven = count % 2 == 0
    sum = (sum.even + (isEven ? twice : value), sum.odd + (isEven ? value : twice))
    count += 1
    beginsGroup.append(places.last != place - 1)
    digits.append(digit)
    places.append(place)
  }

  private mutating func endRun() {
    guard !digits.isEmpty else { return }
    endGroup()
    digits.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    beginsGroup.removeAll(keepingCapacity: true)
    sums.removeAll(keepingCapacity: true)
    (sum, count) = ((0, 0), 0)
  }

  /// Finds the card numbers that end with the last digit.
  private mutating func endGroup() {
    guard digits.count >= Self.least, let last = places.last else { return }
    // The last digit is not doubled.
    let isEven = count % 2 == 0
    let whole = isEven ? sum.even : sum.odd
    for start in max(0, digits.count - Self.most)...(digits.count - Self.least)
    // No brand begins with 0 or 1.
    where beginsGroup[start] && digits[start] > 1
      && (whole - (isEven ? sums[start].even : sums[start].odd)) % 10 == 0
      && Digits.looksLikeCard(digits[start...])
    {
      var range = places[start]..<(last + 1)
      if let other = found.last, other.upperBound > range.lowerBound {
        range = min(other.lowerBound, range.lowerBound)..<range.upperBound
        found.removeLast()
      }
      found.append(range)
    }
  }

  /// Returns whether a byte is a separator that people and forms write between the groups of a card number.
  static func isSeparator(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
      UInt8(ascii: "_"), 9:
      true
    default: false
    }
  }
}
