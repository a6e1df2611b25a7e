/// Base64 by RFC 4648, in both alphabets. Decoding is strict.
package enum Base64 {
  private static let standard = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
  )
  private static let urlSafe = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
  )

  /// Returns base64 in the standard alphabet, with padding (RFC 4648, section 4).
  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    encode(Array(bytes), alphabet: standard, padding: true)
  }

  /// Returns base64 in the URL-safe alphabet, without padding unless requested (section 5).
  package static func encodeURL(_ bytes: some Collection<UInt8>, padding: Bool = false) -> String {
    encode(Array(bytes), alphabet: urlSafe, padding: padding)
  }

  /// Decodes padded base64 in the standard alphabet; nil for anything else, spaces included.
  package static func decode(_ text: String) -> [UInt8]? {
    guard text.utf8.count % 4 == 0 else { return nil }
    return decode(Array(text.utf8), values: standardValues, padded: true)
  }

  /// Decodes unpadded base64 in the URL-safe alphabet; nil for anything else.
  package static func decodeURL(_ text: String) -> [UInt8]? {
    decode(Array(text.utf8), values: urlSafeValues, padded: false)
  }

  /// Returns the letters that depend on some bytes alone where so many others are before them. The outer letters
  /// also hold bits of the neighboring text, so they are left out.
  static func letters(of bytes: [UInt8], behind offset: Int) -> some Sequence<UInt8> {
    let letters = standard
    return ((offset * 8 + 5) / 6..<(offset + bytes.count) * 8 / 6).lazy.map { place in
      let bit = place * 6 - offset * 8
      let next = bit / 8 + 1 < bytes.count ? Int(bytes[bit / 8 + 1]) : 0
      return letters[(Int(bytes[bit / 8]) << 8 | next) >> (10 - bit % 8) & 63]
    }
  }

  private static let standardValues = values(of: standard)
  private static let urlSafeValues = values(of: urlSafe)

  private static func values(of alphabet: [UInt8]) -> [UInt8] {
    var table = [UInt8](repeating: 0xff, count: 256)
    for (value, letter) in alphabet.enumerated() { table[Int(letter)] = UInt8(value) }
    return table
  }

  // Takes an array: other modules would call a generic function unspecialized, at thirty times the cost.
  private static func encode(_ bytes: [UInt8], alphabet: [UInt8], padding: Bool) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var (bits, count): (UInt32, UInt32) = (0, 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(alphabet[Int(bits >> count & 63)])
      }
    }
    if count > 0 { text.append(alphabet[Int(bits << (6 - count) & 63)]) }
    while padding, text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func decode(_ text: [UInt8], values: [UInt8], padded: Bool) -> [UInt8]? {
    var letters = text[...]
    if padded {
      for _ in 0..<2 where letters.last == UInt8(ascii: "=") { letters.removeLast() }
    }
    guard letters.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(letters.count * 3 / 4)
    var (bits, count): (UInt32, UInt32) = (0, 0)
    for letter in letters {
      let value = values[Int(letter)]
      guard value < 64 else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> count))
    }
    // Unused bits must be zero, or two texts would decode to the same bytes.
    return bits & (1 << count - 1) == 0 ? bytes : nil
  }
}
