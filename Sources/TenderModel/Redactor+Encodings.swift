/// The encodings in which an echo may contain a secret.
extension Redactor {
  /// The length of the longest secret, in bytes, whose base32, UTF-16 and double base64 forms are learned.
  private static let longestOfAllForms = 24

  /// Learns other forms of a secret: base32, hexadecimal and base64 of UTF-8 and UTF-16, and double
  /// base64.
  ///
  /// Base64 is learned for each offset in a longer text. The forms themselves are never stored. For secrets
  /// longer than a card or account number, such as tokens, the rare forms are left out: they would take half
  /// as long as the payment.
  static func learn(encodingsOf bytes: UnsafeRawBufferPointer, _ prints: inout Fingerprints) {
    func byte(_ place: Int) -> UInt8 { unsafe bytes[place] }
    // Both byte orders of UTF-16 contain this sequence.
    func unit(_ place: Int) -> UInt8 { unsafe place % 2 == 0 ? bytes[place / 2] : 0 }
    let count = bytes.count
    guard count > 0 else { return }
    learn(hexadecimalOf: count, byte, &prints)
    let isShort = count <= longestOfAllForms
    learn(base64Of: count, byte, &prints, isTwice: isShort)
    guard isShort else { return }
    learn(base32Of: count, byte, &prints)
    learn(hexadecimalOf: 2 * count - 1, unit, &prints)
    learn(base64Of: 2 * count - 1, unit, &prints, isTwice: false)
  }

  private static func learn(
    hexadecimalOf count: Int,
    _ byte: (Int) -> UInt8,
    _ prints: inout Fingerprints
  ) {
    let hex = hexDigits
    var sum = Fingerprints.Sum()
    for place in 0..<count {
      let byte = byte(place)
      sum.add(hex[Int(byte >> 4)])
      sum.add(hex[Int(byte & 15)])
    }
    prints.insert(sum)
  }

  private static let hexDigits = "0123456789abcdef".utf8.map(Fingerprints.small)
  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
  )
  private static let smallLetters = letters.map(Fingerprints.small)

  private static let base32 = "abcdefghijklmnopqrstuvwxyz234567".utf8.map(Fingerprints.small)

  /// Learns the base32 characters (RFC 4648) that depend on the secret alone.
  private static func learn(
    base32Of count: Int,
    _ byte: (Int) -> UInt8,
    _ prints: inout Fingerprints
  ) {
    let base32 = base32
    for offset in 0..<5 {
      var sum = Fingerprints.Sum()
      // The outer characters also hold bits of the neighboring text, so they are left out.
      for place in (offset * 8 + 4) / 5..<(offset + count) * 8 / 5 {
        let bit = place * 5 - offset * 8
        let pair = Int(byte(bit / 8)) << 8 | (bit / 8 + 1 < count ? Int(byte(bit / 8 + 1)) : 0)
        sum.add(base32[pair >> (11 - bit % 8) & 31])
      }
      prints.insert(sum)
    }
  }

  /// Learns the base64 characters (RFC 4648) that depend on the secret alone, for both alphabets at once.
  private static func learn(
    base64Of count: Int,
    _ byte: (Int) -> UInt8,
    _ prints: inout Fingerprints,
    isTwice: Bool
  ) {
    let (letters, smallLetters) = (letters, smallLetters)
    for offset in 0..<3 {
      // The outer characters also hold bits of the neighboring text, so they are left out.
      let own = (offset * 8 + 5) / 6..<(offset + count) * 8 / 6
      func letter(_ place: Int) -> UInt8 {
        let bit = place * 6 - offset * 8
        let pair = Int(byte(bit / 8)) << 8 | (bit / 8 + 1 < count ? Int(byte(bit / 8 + 1)) : 0)
        return letters[pair >> (10 - bit % 8) & 63]
      }
      // The letters come in order, so that each byte is read once.
      var (sum, next, bits) = (Fingerprints.Sum(), 1, UInt32(byte(0)))
      var room = UInt32(8 - (own.lowerBound * 6 - offset * 8))
      for _ in own {
        if room < 6 {
          bits = bits &<< 8 | (next < count ? UInt32(byte(next)) : 0)
          next &+= 1
          room &+= 8
        }
        room &-= 6
        sum.add(smallLetters[Int(bits &>> room & 63)])
      }
      prints.insert(sum)
      guard isTwice else { continue }
      learn(base64Of: own.count, { letter(own.lowerBound + $0) }, &prints, isTwice: false)
    }
  }
}
