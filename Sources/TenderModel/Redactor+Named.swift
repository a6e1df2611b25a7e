/// Finds secrets in a provider's text by the name before them, and account numbers by their check digits.
extension Redactor {
  /// The names before a secret, without `_` and `-`. Any case counts.
  package static let namesOfSecrets = [
    "access_token", "refresh_token", "id_token", "resource_token", "client_secret", "api_key",
    "secret_key", "private_key", "password", "passphrase",
  ]

  private static let names = namesOfSecrets.map { Array($0.utf8.filter(DigitRuns.isLetter)) }

  /// Returns whether a member of an object has the name of a secret.
  static func isNameOfSecret(_ name: String) -> Bool { isName(Array(name.utf8)[...]) }

  /// Returns whether some bytes end with the name of a secret.
  private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
    // A word with one more letter than the longest name is another one.
    let word = bytes.suffix(20).reversed().prefix(while: isOfName).filter {
      !"_-".utf8.contains($0)
    }
    return names.contains { name in
      name.count == word.count && zip(name.reversed(), word).allSatisfy { $0 == $1 | 0x20 }
    }
  }

  static func isOfName(_ byte: UInt8) -> Bool {
    DigitRuns.isLetter(byte) || DigitRuns.isDigit(byte) || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "-")
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
        let gap = bytes[..<place].suffix(64).reversed().prefix { isQuote($0) || isGap($0) }
        guard isName(bytes[..<(place - gap.count)]) else { continue }
        range = value(in: bytes, from: place + 1)
      case UInt8(ascii: " "):
        guard isBearer(bytes[..<place].suffix(7)) else { continue }
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

  private static func isBearer(_ word: ArraySlice<UInt8>) -> Bool {
    word.suffix(6).map { $0 | 0x20 }.elementsEqual("bearer".utf8)
      && (word.count < 7 || word.first.map { !isOfName($0) } == true)
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

  private static func isCapital(_ byte: UInt8) -> Bool {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
  }

  private static func isPart(_ byte: UInt8) -> Bool { isCapital(byte) || DigitRuns.isDigit(byte) }
}
