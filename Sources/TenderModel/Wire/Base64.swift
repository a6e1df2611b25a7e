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
  static func letters(of bytes: [UInt8], behind offset: Int) -> [UInt8] {
    var bits: UInt32 = 0
    // The first letter begins after the bits that complete one of the text before.
    var held = -offset * 2
    return unsafe [UInt8](unsafeUninitializedCapacity: bytes.count * 4 / 3 + 1) { letters, count in
      unsafe standard.withUnsafeBufferPointer { alphabet in
        for byte in bytes {
          bits = bits << 8 | UInt32(byte)
          held += 8
          while held >= 6 {
            held -= 6
            unsafe letters[count] = alphabet[Int(bits >> UInt32(held) & 63)]
            count += 1
          }
        }
      }
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
    let size = padding ? (bytes.count + 2) / 3 * 4 : (bytes.count * 4 + 2) / 3
    return unsafe String(unsafeUninitializedCapacity: size) { text in
      let whole = bytes.count / 3
      unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe alphabet.withUnsafeBufferPointer { letters in
          for group in 0..<whole {
            let (start, place) = (group * 3, group * 4)
            let (one, two) = unsafe (Int(bytes[start]), Int(bytes[start + 1]))
            let bits = unsafe one << 16 | two << 8 | Int(bytes[start + 2])
            unsafe text[place] = letters[bits >> 18]
            unsafe text[place + 1] = letters[bits >> 12 & 63]
            unsafe text[place + 2] = letters[bits >> 6 & 63]
            unsafe text[place + 3] = letters[bits & 63]
          }
        }
      }
      if whole * 3 < bytes.count {
        let start = whole * 3
        func byte(_ place: Int) -> Int { place < bytes.count ? Int(bytes[place]) : 0 }
        let bits = byte(start) << 16 | byte(start + 1) << 8 | byte(start + 2)
        let place = start / 3 * 4
        for letter in place..<min(place + 4, size) {
          let isEmpty = letter - place > bytes.count - start
          let value = bits >> (18 - 6 * (letter - place)) & 63
          unsafe text[letter] = isEmpty ? UInt8(ascii: "=") : alphabet[value]
        }
      }
      return size
    }
  }

  private static func decode(_ text: [UInt8], values: [UInt8], padded: Bool) -> [UInt8]? {
    var letters = text[...]
    if padded {
      for _ in 0..<2 where letters.last == UInt8(ascii: "=") { letters.removeLast() }
    }
    guard letters.count % 4 != 1 else { return nil }
    var bits: UInt32 = 0
    var (count, isValid) = (0, true)
    let whole = letters.count / 4 * 4
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: letters.count * 3 / 4) { bytes, place in
      unsafe text.withUnsafeBufferPointer { text in
        unsafe values.withUnsafeBufferPointer { values in
          var all: UInt8 = 0
          for start in stride(from: 0, to: whole, by: 4) {
            let first = unsafe values[Int(text[start])]
            let second = unsafe values[Int(text[start + 1])]
            let third = unsafe values[Int(text[start + 2])]
            let last = unsafe values[Int(text[start + 3])]
            all |= first | second | third | last
            unsafe bytes[place] = first << 2 | second >> 4
            unsafe bytes[place + 1] = second << 4 | third >> 2
            unsafe bytes[place + 2] = third << 6 | last
            place += 3
          }
          // Only the value of another letter has the upper bits.
          isValid = all < 64
        }
      }
      for letter in letters[whole...] {
        let value = values[Int(letter)]
        if value == 0xff { isValid = false }
        bits = bits << 6 | UInt32(value & 63)
        count += 6
        guard count >= 8 else { continue }
        count -= 8
        unsafe bytes[place] = UInt8(truncatingIfNeeded: bits >> UInt32(count))
        place += 1
      }
    }
    // Unused bits must be zero, or two texts would decode to the same bytes.
    return isValid && bits & (1 << UInt32(count) - 1) == 0 ? bytes : nil
  }
}
