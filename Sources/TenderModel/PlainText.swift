/// A text as a reader understands it: escapes decoded, digits of every script as ASCII, nothing invisible.
struct PlainText {
  private(set) var bytes: [UInt8] = []
  /// The place in the original text where the character of each byte begins; empty if nothing was decoded.
  private var origins: [UInt32] = []
  private let originalCount: Int

  /// Decodes percent-encoding, HTML entities and JSON escapes, twice.
  init(_ original: [UInt8]) {
    bytes = original
    originalCount = original.count
    for _ in 0..<2 {
      let isPlain = bytes.allSatisfy { byte in
        byte < 0x80 && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "&")
          && byte != UInt8(ascii: "\\")
      }
      if isPlain { return }
      if origins.isEmpty { origins = original.indices.map(UInt32.init) }
      let before = bytes.count
      simplify()
      if bytes.count == before { return }
    }
  }

  /// Whether anything was decoded.
  var isChanged: Bool { !origins.isEmpty }

  /// Returns the range in the original text that some bytes come from, up to where the next character begins.
  func place(of range: Range<Int>) -> Range<Int> {
    guard !origins.isEmpty else { return range }
    let last = origins[range.upperBound - 1]
    let next = origins[range.upperBound...].first { $0 != last }
    return Int(origins[range.lowerBound])..<(next.map { Int($0) } ?? originalCount)
  }

  /// Decodes in place: no character becomes longer.
  private mutating func simplify() {
    var (index, count) = (0, 0)
    while index < bytes.count {
      let (scalar, end) = unescaped(at: index) ?? decoded(at: index)
      let origin = origins[index]
      // A byte that is no character stays as it is.
      let byte = end == index + 1 ? bytes[index] : scalar < 0x80 ? UInt8(scalar) : nil
      if let byte {
        bytes[count] = byte
        origins[count] = origin
        count += 1
      } else {
        for byte in Self.plain(scalar) {
          bytes[count] = byte
          origins[count] = origin
          count += 1
        }
      }
      index = end
    }
    bytes.removeLast(bytes.count - count)
    origins.removeLast(origins.count - count)
  }

  /// Returns the character of an escape and the place after it; nil if there is no escape.
  private func unescaped(at index: Int) -> (UInt32, Int)? {
    switch bytes[index] {
    case UInt8(ascii: "%"):
      let isLong = index + 1 < bytes.count && bytes[index + 1] | 0x20 == UInt8(ascii: "u")
      return isLong
        ? hex(index + 2, 4).map { ($0, index + 6) } : hex(index + 1, 2).map { ($0, index + 3) }
    case UInt8(ascii: "\\"):
      guard index + 1 < bytes.count else { return nil }
      switch bytes[index + 1] {
      case UInt8(ascii: "u"):
        guard index + 2 < bytes.count, bytes[index + 2] == UInt8(ascii: "{") else {
          return hex(index + 2, 4).map { ($0, index + 6) }
        }
        let (value, end) = number(from: index + 3, radix: 16)
        guard let value, end < bytes.count, bytes[end] == UInt8(ascii: "}") else { return nil }
        return (value, end + 1)
      case UInt8(ascii: "U"): return hex(index + 2, 8).map { ($0, index + 10) }
      case UInt8(ascii: "x"): return hex(index + 2, 2).map { ($0, index + 4) }
      case UInt8(ascii: "0")...UInt8(ascii: "3"):
        let digits = bytes[(index + 1)...].prefix(3)
        guard digits.count == 3, digits.allSatisfy({ $0 & 0xf8 == UInt8(ascii: "0") }) else {
          return nil
        }
        return (digits.reduce(0) { $0 << 3 | UInt32($1 & 7) }, index + 4)
      default: return nil
      }
    case UInt8(ascii: "&"):
      if index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "#") {
        // Zero-padded and unterminated entities count as well.
        let isHex = index + 2 < bytes.count && bytes[index + 2] | 0x20 == UInt8(ascii: "x")
        let (value, end) = number(from: index + (isHex ? 3 : 2), radix: isHex ? 16 : 10)
        guard let value else { return nil }
        return (value, end < bytes.count && bytes[end] == UInt8(ascii: ";") ? end + 1 : end)
      }
      let name = bytes[(index + 1)...].prefix(10).prefix { $0 != UInt8(ascii: ";") }
      let end = index + 1 + name.count
      guard end < bytes.count, bytes[end] == UInt8(ascii: ";") else { return nil }
      return Self.entities[String(decoding: name, as: UTF8.self)].map { ($0, end + 1) }
    default: return nil
    }
  }

  private static let entities: [String: UInt32] = [
    "nbsp": 0x20, "ensp": 0x20, "emsp": 0x20, "thinsp": 0x20, "zwnj": 0x200c, "shy": 0xad,
    "hyphen": 0x2d, "dash": 0x2d, "sol": 0x2f, "period": 0x2e, "amp": 0x26, "equals": 0x3d,
    "plus": 0x2b, "lowbar": 0x5f, "colon": 0x3a, "quot": 0x22, "apos": 0x27, "gt": 0x3e,
  ]

  /// Returns the number at a place, at most 16 digits, and the place after it; nil if there is none.
  private func number(from start: Int, radix: UInt32) -> (value: UInt32?, end: Int) {
    var (value, end): (UInt32?, Int) = (nil, start)
    while end < bytes.count, end - start < 16, bytes[end] < 0x80,
      let digit = Character(Unicode.Scalar(bytes[end])).hexDigitValue, digit < Int(radix)
    {
      let (product, isLarge) = (value ?? 0).multipliedReportingOverflow(by: radix)
      guard !isLarge, product <= 0x10_ffff else { return (nil, end) }
      value = product + UInt32(digit)
      end += 1
    }
    return (value, end)
  }

  private func hex(_ start: Int, _ count: Int) -> UInt32? {
    guard start + count <= bytes.count else { return nil }
    var value: UInt32 = 0
    for byte in bytes[start..<(start + count)] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
        return nil
      }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  /// Returns the character at a place and the place after it. An invalid byte is returned as it is.
  private func decoded(at index: Int) -> (UInt32, Int) {
    let first = bytes[index]
    let count = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    let tail = bytes[(index + 1)...].prefix(count - 1)
    guard count > 1, tail.count == count - 1, tail.allSatisfy({ $0 & 0xc0 == 0x80 }) else {
      return (UInt32(first), index + 1)
    }
    let head = UInt32(first) & (0x7f >> UInt32(count))
    return (tail.reduce(head) { $0 << 6 | UInt32($1 & 0x3f) }, index + count)
  }

  /// Returns a character as bytes to compare. Characters without width are left out.
  private static func plain(_ value: UInt32) -> [UInt8] {
    if value < 0x80 { return [UInt8(value)] }
    // U+00A0, and the spaces in the blocks U+2000 and U+3000.
    if value == 0xa0 || (0x2000...0x200a).contains(value) || value == 0x202f || value == 0x3000 {
      return [0x20]
    }
    // Hyphens and dashes.
    if (0x2010...0x2015).contains(value) || value == 0x2212 { return [0x2d] }
    if Printable.isHarmful(value), value >= 0xa0 { return [] }
    // Full-width forms are 0xfee0 above ASCII.
    if (0xff01...0xff5e).contains(value) { return [UInt8(value - 0xfee0)] }
    guard let scalar = Unicode.Scalar(value) else { return [0xff] }
    // Digits of any script, also in circles or superscript.
    if let number = scalar.properties.numericValue, number >= 0, number <= 9,
      number == number.rounded()
    {
      return [UInt8(ascii: "0") + UInt8(number)]
    }
    return UTF8.encode(scalar).map(Array.init) ?? [0xff]
  }
}
