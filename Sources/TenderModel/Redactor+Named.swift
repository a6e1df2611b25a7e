/// Finds secrets in a provider's text by the name before them, and account numbers by their check digits.
extension Redactor {
  /// The names before a secret, without `_` and `-`. Any case counts.
  package static let namesOfSecrets = [
    "access_token", "refresh_token", "id_token", "resource_token", "client_secret", "api_key",
    "secret_key", "private_key", "password", "passphrase",
  ]

  private static let names = namesOfSecrets.map { Array($0.utf8.filter(DigitRuns.isLetter)) }

  /// Returns whether a member of an object has the name of a secret.
  static func isNameOfSecret(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return isName(bytes.count, in: bytes)
  }

  /// Returns whether the name of a secret ends before a place.
  private static func isName<Bytes: RandomAccessCollection<UInt8>>(
    _ end: Int,
    in bytes: Bytes
  ) -> Bool where Bytes.Index == Int {
    names.contains { name in
      var place = end
      /// Returns the letter or digit before the place, and moves there; nil at the beginning of the word.
      func before() -> UInt8? {
        while place > 0 {
          place -= 1
          guard isOfName(bytes[place]) else { return nil }
          if !isDash(bytes[place]) { return bytes[place] }
        }
        return nil
      }
      for letter in name.reversed() {
        guard before().map({ $0 | 0x20 }) == letter else { return false }
      }
      return before() == nil
    }
  }

  private static func isDash(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }

  /// Returns whether the sign at a place comes after the name of a secret, with quotes and gaps between.
  static func isNamed<Bytes: RandomAccessCollection<UInt8>>(
    _ place: Int,
    in bytes: Bytes
  ) -> Bool where Bytes.Index == Int {
    var end = place
    while end > 0, place - end < 64, isQuote(bytes[end - 1]) || isGap(bytes[end - 1]) { end -= 1 }
    return isName(end, in: bytes)
  }

  /// Returns whether the space at a place comes after the word `Bearer`.
  static func isBearer<Bytes: RandomAccessCollection<UInt8>>(
    _ place: Int,
    in bytes: Bytes
  ) -> Bool where Bytes.Index == Int {
    guard place >= 6, bytes[place - 1] | 0x20 == UInt8(ascii: "r") else { return false }
    return bytes[(place - 6)..<place].lazy.map { $0 | 0x20 }.elementsEqual("bearer".utf8)
      && (place == 6 || !isOfName(bytes[place - 7]))
  }

  static func isOfName(_ byte: UInt8) -> Bool {
    DigitRuns.isLetter(byte) || DigitRuns.isDigit(byte) || isDash(byte)
  }

  private static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
  }

  /// Returns whether a byte can be between a name and its value: white space, or the escape of a quote.
  private static func isGap(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: "\\")
  }

  /// Finds values after the names of secrets, and words after `Bearer` (RFC 6750, section 2.1).
  ///
  /// A text that is an address alone is left as it is: the payer needs it.
  static func named(in plain: PlainText) -> [Range<Int>] {
    let bytes = plain.bytes
    var found: [Range<Int>] = []
    var place = 0
    while place < bytes.count {
      defer { place += 1 }
      let range: Range<Int>
      switch bytes[place] {
      case UInt8(ascii: "="), UInt8(ascii: ":"):
        guard isNamed(place, in: bytes) else { continue }
        range = value(in: bytes, from: place + 1)
      case UInt8(ascii: " "):
        guard isBearer(place, in: bytes) else { continue }
        let start = bytes[place...].firstIndex { $0 != UInt8(ascii: " ") } ?? bytes.count
        range = start..<(bytes[start...].firstIndex { !isOfToken($0) } ?? bytes.count)
      default: continue
      }
      guard !range.isEmpty else { continue }
      if !bytes[range].elementsEqual(mark) { found.append(plain.place(of: range)) }
      place = range.upperBound - 1
    }
    return found.isEmpty || isAddress(bytes) ? [] : found
  }

  private static func isAddress(_ bytes: [UInt8]) -> Bool {
    (bytes.starts(with: "https://".utf8) || bytes.starts(with: "http://".utf8))
      && !bytes.contains { $0 <= 0x20 || isQuote($0) }
  }

  private static func isOfToken(_ byte: UInt8) -> Bool {
    isOfName(byte) || ".~+/=".utf8.contains(byte)
  }

  /// Returns the range of a value: a quoted text, or up to a space or the next sign. A list or an object reaches to
  /// the end of the text.
  private static func value(in bytes: [UInt8], from place: Int) -> Range<Int> {
    let start = bytes[place...].firstIndex { !isGap($0) } ?? bytes.count
    guard start < bytes.count else { return start..<start }
    if isQuote(bytes[start]) { return start + 1..<endOfQuoted(in: bytes, from: start) }
    if "[{".utf8.contains(bytes[start]), !bytes[start...].starts(with: mark) {
      return start..<bytes.count
    }
    let end = bytes[start...].firstIndex { $0 <= 0x20 || ",;&<>\"'){}|".utf8.contains($0) }
    return start..<(end ?? bytes.count)
  }

  /// Returns where a text ends whose first quote is at a place. In a text that is itself in a text, both quotes
  /// have the same number of backslashes before them, and a quote within has more.
  private static func endOfQuoted(in bytes: [UInt8], from start: Int) -> Int {
    func escapes(before place: Int) -> Int {
      bytes[..<place].suffix(8).reversed().prefix { $0 == UInt8(ascii: "\\") }.count
    }
    let depth = escapes(before: start)
    let end = bytes[(start + 1)...].indices.first { place in
      bytes[place] == bytes[start] && escapes(before: place) == depth
    }
    return end.map { $0 - depth } ?? bytes.count
  }

  /// Finds IBANs in capital letters, in one piece or in groups (ISO 13616-1, section 6).
  static func accounts(in plain: PlainText) -> [Range<Int>] {
    let bytes = plain.bytes
    return bytes.indices.dropFirst(2).compactMap { place in
      DigitRuns.isDigit(bytes[place]) && isCapital(bytes[place - 1])
        ? account(in: bytes, from: place - 2).map(plain.place) : nil
    }
  }

  /// Returns the range of an IBAN that begins at a place; nil if there is none.
  private static func account(in bytes: [UInt8], from start: Int) -> Range<Int>? {
    guard start + 15 <= bytes.count, isCapital(bytes[start]), DigitRuns.isDigit(bytes[start + 3]),
      start == 0 || !isPart(bytes[start - 1])
    else { return nil }
    // A letter counts as a two-digit number, from 10 on. The first four characters count last.
    func add(_ sum: Int, _ byte: UInt8) -> Int {
      DigitRuns.isDigit(byte)
        ? (sum * 10 + Int(byte - UInt8(ascii: "0"))) % 97
        : (sum * 100 + Int(byte - UInt8(ascii: "A")) + 10) % 97
    }
    var (place, length, sum) = (start + 4, 4, 0)
    var found: Range<Int>?
    while place < bytes.count, length < 34 {
      if bytes[place] == UInt8(ascii: " "), place + 1 < bytes.count { place += 1 }
      guard isPart(bytes[place]) else { break }
      sum = add(sum, bytes[place])
      (place, length) = (place + 1, length + 1)
      let isEnd = place == bytes.count || !isPart(bytes[place]) && !DigitRuns.isLetter(bytes[place])
      if isEnd, length >= 15, bytes[start..<start + 4].reduce(sum, add) == 1 {
        found = start..<place
      }
    }
    return found
  }

  static func isCapital(_ byte: UInt8) -> Bool {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
  }

  private static func isPart(_ byte: UInt8) -> Bool { isCapital(byte) || DigitRuns.isDigit(byte) }
}
