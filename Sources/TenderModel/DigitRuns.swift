/// Card numbers in a text: groups of digits with only a few separators between them.
enum DigitRuns {
  /// The largest number of separators between two digits of one number.
  private static let widest = 8

  static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }

  /// Returns the ranges of card numbers that consist of whole groups of digits: times and UUIDs are left as they
  /// are. Some ranges can overlap.
  static func cardNumbers(in bytes: [UInt8]) -> [Range<Int>] {
    guard mayHold(bytes) else { return [] }
    var found: [Range<Int>] = []
    // The digits of one run, their places, and the numbers of those that begin a group.
    var (digits, places, groups): ([UInt8], [Int], [Int]) = ([], [], [])
    var index = 0
    while index < bytes.count {
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
      guard index + 1 == bytes.count || !isDigit(bytes[index + 1]) else { continue }
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

  /// Returns whether so many digits are anywhere with only separators between. Nearly no text has them.
  private static func mayHold(_ bytes: [UInt8]) -> Bool {
    var digits = 0
    return bytes.contains { byte in
      if isDigit(byte) { digits += 1 } else if !isSeparator(byte) { digits = 0 }
      return digits == 13
    }
  }

  /// Returns whether a byte separates the groups of a card number, as people, forms and pages write it. The
  /// characters beyond ASCII do, such as a space that does not break.
  private static func isSeparator(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
      UInt8(ascii: "_"), 9, 0x80...:
      true
    default: false
    }
  }
}
