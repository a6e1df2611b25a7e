/// A run of digits that belong together, and the place of each in the text.
struct DigitRuns {
  /// The largest number of separators between two digits of one number.
  private static let widest = 8

  var digits: [UInt8] = []
  var places: [Int] = []

  static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }

  /// Returns the end of a UUID that begins at `start`; nil if there is none (RFC 9562, section 4).
  ///
  /// A UUID is 8-4-4-4-12 hexadecimal digits that stand alone, with a valid version and variant.
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

  /// Finds the runs of digits in a text. Two digits of one run have only a few separators between them.
  static func find(in bytes: [UInt8]) -> [DigitRuns] {
    var runs: [DigitRuns] = []
    var run = DigitRuns()
    var index = 0
    func end() {
      if run.digits.count >= 13 { runs.append(run) }
      if !run.digits.isEmpty { run = DigitRuns() }
    }
    while index < bytes.count {
      // The first groups of one UUID in forty thousand look like a card number.
      if let next = uuidEnd(in: bytes, at: index) {
        end()
        index = next
        continue
      }
      let byte = bytes[index]
      if isDigit(byte) {
        run.digits.append(byte - UInt8(ascii: "0"))
        run.places.append(index)
      } else if !isSeparator(byte) || index - (run.places.last ?? index) > widest {
        end()
      }
      index += 1
    }
    end()
    return runs
  }

  /// Returns the places of card numbers that fill whole groups of digits. So times and UUIDs are not masked.
  func cardNumbers() -> [ClosedRange<Int>] {
    guard digits.count >= 13 else { return [] }
    var found: [ClosedRange<Int>] = []
    for start in 0...(digits.count - 13)
    where start == 0 || places[start] - places[start - 1] > 1 {
      for end in (start + 12)..<min(digits.count, start + 19) where isGroupEnd(end) {
        if Digits.looksLikeCard(Array(digits[start...end])) {
          found.append(places[start]...places[end])
        }
      }
    }
    return found
  }

  private func isGroupEnd(_ index: Int) -> Bool {
    index == places.count - 1 || places[index + 1] - places[index] > 1
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
