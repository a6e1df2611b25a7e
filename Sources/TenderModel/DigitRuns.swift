/// Card numbers in a text: groups of digits with only a few separators between them.
enum DigitRuns {
  /// The number of digits of the shortest card number.
  static let least = 14

  /// The largest number of separators between two digits of one number.
  private static let widest = 8

  static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }

  /// Returns the ranges of card numbers that consist of whole groups of digits: times and UUIDs are left as they
  /// are. Some ranges can overlap.
  static func cardNumbers(in bytes: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var (count, start) = (Count(), 0)
    for (index, byte) in bytes.enumerated() where index >= start && count.reaches(byte) {
      if let number = lone(index, in: bytes) {
        if number.isCard { found.append(number.place) }
        start = number.place.upperBound
        continue
      }
      var (first, end) = (max(0, index - reach), index)
      while first > 0, isDigit(bytes[first - 1]) { first -= 1 }
      while end < bytes.count, isDigit(bytes[end]) || isSeparator(bytes[end]) { end += 1 }
      found += cardNumbers(in: bytes, first..<end)
      (count, start) = (Count(), end)
    }
    return found
  }

  /// Returns the number that begins so many digits before a place, and whether it is a card's; nil if separators are
  /// in it or beside it. Most long numbers are times, and stand alone.
  private static func lone<Bytes: RandomAccessCollection<UInt8>>(
    _ place: Int,
    in bytes: Bytes
  ) -> (place: Range<Int>, isCard: Bool)? where Bytes.Index == Int {
    let start = place - least + 1
    guard start >= 0, bytes[start...place].allSatisfy(isDigit),
      start == 0 || !isSeparator(bytes[start - 1])
    else { return nil }
    var end = place + 1
    while end < bytes.count, isDigit(bytes[end]) { end += 1 }
    guard end == bytes.count || !isSeparator(bytes[end]) else { return nil }
    let isCard =
      end - start <= 19
      && Digits.looksLikeCard(bytes[start..<end].lazy.map { $0 - UInt8(ascii: "0") })
    return (start..<end, isCard)
  }

  /// The bytes before the last digit of so many in which the number and a UUID around them begin.
  private static let reach = 160

  /// Returns false only if no card number ends near the last of so many digits.
  static func mayHold(_ bytes: UnsafeBufferPointer<UInt8>, around index: Int) -> Bool {
    if let number = unsafe lone(index, in: bytes) { return number.isCard }
    let end = min(bytes.count, index + reach)
    guard unsafe end == bytes.count || !isDigit(bytes[end]) && !isSeparator(bytes[end]) else {
      return true
    }
    return unsafe !cardNumbers(in: Array(bytes[max(0, index - reach)..<end])).isEmpty
  }

  private static func cardNumbers(in bytes: [UInt8], _ part: Range<Int>) -> [Range<Int>] {
    var found: [Range<Int>] = []
    // The digits of one run, their places, and the numbers of those that begin a group.
    var (digits, places, groups): ([UInt8], [Int], [Int]) = ([], [], [])
    var index = part.lowerBound
    while index < part.upperBound {
      defer { index += 1 }
      // One UUID in forty thousand has a card number's digits in its first groups.
      let end = uuidEnd(in: bytes, at: index)
      guard end == nil, isDigit(bytes[index]) else {
        let isFar = index - (places.last ?? index) > widest
        if end != nil || isFar || !isSeparator(bytes[index]) {
          (digits, places, groups) = ([], [], [])
        }
        if let end { index = end - 1 }
        continue
      }
      if places.last != index - 1 { groups.append(digits.count) }
      digits.append(bytes[index] - UInt8(ascii: "0"))
      places.append(index)
      guard index + 1 >= bytes.count || !isDigit(bytes[index + 1]) else { continue }
      for group in groups.reversed().prefix(while: { digits.count - $0 <= 19 })
      where Digits.looksLikeCard(digits[group...]) {
        found.append(places[group]..<(index + 1))
      }
    }
    return found
  }

  /// Returns the end of a UUID that begins at `start`: 8-4-4-4-12 hexadecimal digits, which no other one touches
  /// (RFC 9562, section 4); nil if there is none.
  private static func uuidEnd(in bytes: [UInt8], at start: Int) -> Int? {
    func isHex(_ place: Int) -> Bool {
      bytes.indices.contains(place) && Hex.value(bytes[place]) != nil
    }
    let end = start + 36
    guard end <= bytes.count, bytes[start + 8] == UInt8(ascii: "-"), !isHex(start - 1), !isHex(end)
    else { return nil }
    let isUUID = (0..<36).allSatisfy { offset in
      [8, 13, 18, 23].contains(offset)
        ? bytes[start + offset] == UInt8(ascii: "-") : isHex(start + offset)
    }
    return isUUID ? end : nil
  }

  /// The number of digits with only separators between. Nearly no text has as many as a card.
  struct Count {
    private var digits = 0

    /// Adds a byte. Returns whether it is the last of as many digits as the shortest card number has.
    mutating func reaches(_ byte: UInt8) -> Bool {
      if isDigit(byte) { digits += 1 } else if !isSeparator(byte) { digits = 0 }
      return digits == least
    }
  }

  /// Returns whether a byte separates the groups of a card number, as people, forms and pages write it. The
  /// characters beyond ASCII do, such as a space that does not break.
  static func isSeparator(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
      UInt8(ascii: "_"), 9, 0x80...:
      true
    default: false
    }
  }
}
