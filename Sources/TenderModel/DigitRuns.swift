/// Digits that belong together, with where each stands in the text.
struct DigitRuns {
  /// The most separators that people put between two digits of one number.
  private static let widest = 8

  var digits: [UInt8] = []
  var places: [Int] = []

  static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }

  /// Where a UUID ends that begins here (RFC 9562, section 4): 8-4-4-4-12 hexadecimal digits that
  /// stand alone, a version and a variant in their places.
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

  /// The runs of a text: between two digits of one stand a few separators and nothing else.
  static func find(in bytes: [UInt8]) -> [DigitRuns] {
    var runs: [DigitRuns] = []
    var run = DigitRuns()
    var index = 0
    func end() {
      if run.digits.count >= 13 { runs.append(run) }
      if !run.digits.isEmpty { run = DigitRuns() }
    }
    while index < bytes.count {
      // One UUID in forty thousand has a card number's digits in its first groups.
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

  /// Where card numbers stand that fill whole groups: that keeps times and UUIDs as they are.
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

  /// One of the separators that people and forms write between the groups of a card number.
  static func isSeparator(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
      UInt8(ascii: "_"), 9:
      true
    default: false
    }
  }
}
