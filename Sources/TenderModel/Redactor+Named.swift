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
    let word = Array(name.utf8)
    return isName(endingAt: word.count) { word[$0] }
  }

  /// Returns whether the word before a place is the name of a secret.
  @inline(__always)
  private static func isName(endingAt end: Int, _ byte: (Int) -> UInt8) -> Bool {
    guard end > 5 else { return false }
    // Nearly every other name ends in other letters.
    switch (byte(end - 2) | 0x20, byte(end - 1) | 0x20) {
    case (UInt8(ascii: "e"), UInt8(ascii: "n")), (UInt8(ascii: "e"), UInt8(ascii: "t")),
      (UInt8(ascii: "e"), UInt8(ascii: "y")), (UInt8(ascii: "r"), UInt8(ascii: "d")),
      (UInt8(ascii: "s"), UInt8(ascii: "e")):
      break
    default: return false
    }
    var (start, word) = (end, [UInt8]())
    while start > 0, word.count < 16 {
      let byte = byte(start - 1)
      guard isOfName(byte) else { break }
      if DigitRuns.isLetter(byte) { word.append(byte | 0x20) }
      if DigitRuns.isDigit(byte) { return false }
      start -= 1
    }
    return names.contains { $0.elementsEqual(word.reversed()) }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
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

  /// Returns whether a name of a secret is before the `=` or `:` at a place.
  @inline(__always)
  static func isNamed(_ place: Int, _ byte: (Int) -> UInt8) -> Bool {
    var end = place
    // A text can hold JSON, whose quotes are escaped.
    func skip() { while end > 0, isQuote(byte(end - 1)) || isGap(byte(end - 1)) { end -= 1 } }
    skip()
    // Some languages write a key in brackets. With `:` that is a remark.
    if end > 0, byte(end - 1) == UInt8(ascii: "]"), byte(place) == UInt8(ascii: "=") {
      end -= 1
      skip()
    }
    return isName(endingAt: end, byte)
  }

  /// Returns whether the word `Bearer` is before the space, tab or opening quote at a place (RFC 6750, section
  /// 2.1).
  @inline(__always)
  static func isBearer(_ place: Int, _ byte: (Int) -> UInt8) -> Bool {
    guard place >= 6, byte(place - 1) | 0x20 == UInt8(ascii: "r") else { return false }
    let word = (place - 6..<place).map { byte($0) | 0x20 }
    guard word.elementsEqual("bearer".utf8) else { return false }
    // A quote before the word is closed behind it.
    return place == 6
      || !isOfName(byte(place - 7)) && !(isQuote(byte(place - 7)) && isOfQuote(byte(place)))
  }

  /// Returns whether a byte is a quote or the escape of one.
  private static func isOfQuote(_ byte: UInt8) -> Bool {
    isQuote(byte) || byte == UInt8(ascii: "\\")
  }

  /// Finds values after the names of secrets, words after `Bearer`, and private keys as PEM (RFC 7468).
  ///
  /// A text that is an address alone is left as it is: the payer needs it.
  static func named(in plain: PlainText) -> [Range<Int>] {
    let bytes = plain.bytes
    guard !isAddress(bytes) else { return [] }
    var found: [Range<Int>] = []
    var place = 0
    while place < bytes.count {
      let range: Range<Int>? =
        switch bytes[place] {
        case UInt8(ascii: "="), UInt8(ascii: ":"):
          isNamed(place, { bytes[$0] }) ? value(in: bytes, from: place + 1) : nil
        case UInt8(ascii: " "), 9, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"):
          isBearer(place, { bytes[$0] }) ? token(in: bytes, from: place) : nil
        case UInt8(ascii: "-"):
          keyStart(place, bytes.count, { bytes[$0] }).map { key(in: bytes, from: $0) }
        default: nil
        }
      if let range, !range.isEmpty, !bytes[range].elementsEqual(mark) {
        found.append(plain.place(of: range))
      }
      place = max(place + 1, range?.upperBound ?? 0)
    }
    return found
  }

  private static func isAddress(_ bytes: [UInt8]) -> Bool {
    (bytes.starts(with: "https://".utf8) || bytes.starts(with: "http://".utf8))
      && !bytes.contains { $0 <= 0x20 || isQuote($0) }
  }

  /// Returns the range of a value: what is between quotes or brackets, or up to a space or the next sign.
  private static func value(in bytes: [UInt8], from place: Int) -> Range<Int> {
    // Some languages write `=>`, `==` or `::`.
    let place = bytes[place...].firstIndex { !"=:>".utf8.contains($0) } ?? bytes.count
    let start = bytes[place...].firstIndex { !isGap($0) } ?? bytes.count
    guard start < bytes.count else { return start..<start }
    if isQuote(bytes[start]) { return start + 1..<endOfQuoted(in: bytes, from: start).inside }
    let isMasked = bytes[start...].starts(with: mark)
    // In round brackets a text is a value, and words are a remark.
    let isTuple =
      bytes[start] == UInt8(ascii: "(")
      && bytes[(start + 1)...].first { !isGap($0) }.map(isQuote) == true
    if "[{".utf8.contains(bytes[start]) && !isMasked || isTuple {
      return start..<endOfBrackets(in: bytes, from: start)
    }
    let end = bytes[start...].firstIndex { $0 <= 0x20 || ",;&<>\"'){}|".utf8.contains($0) }
    return start..<(end ?? bytes.count)
  }

  /// Returns where a text ends whose first quote is at a place: before its last quote, and behind it.
  ///
  /// By the rules of JSON, a quote within the text has more backslashes before it. In a text that is itself in
  /// a text, the first and the last quote have some too.
  private static func endOfQuoted(
    in bytes: [UInt8],
    from start: Int
  ) -> (inside: Int, after: Int) {
    func isEscape(_ place: Int) -> Bool { bytes[place] == UInt8(ascii: "\\") }
    var depth = 0
    while depth < 8, start - depth > 0, isEscape(start - depth - 1) { depth += 1 }
    var (place, escapes) = (start + 1, 0)
    while place < bytes.count {
      if bytes[place] == bytes[start], escapes % (2 * depth + 2) == depth {
        return (place - depth, place + 1)
      }
      escapes = isEscape(place) ? escapes + 1 : 0
      place += 1
    }
    return (bytes.count, bytes.count)
  }

  /// Returns the place behind the bracket that closes the one at a place; without one, the end of the text.
  private static func endOfBrackets(in bytes: [UInt8], from start: Int) -> Int {
    var (place, depth) = (start, 0)
    let isRound = bytes[start] == UInt8(ascii: "(")
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: "(") where isRound: depth += 1
      case UInt8(ascii: ")") where isRound: depth -= 1
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        // An apostrophe within a word opens nothing.
        if bytes[place] == UInt8(ascii: "'"), isOfName(bytes[place - 1]) { break }
        place = endOfQuoted(in: bytes, from: place).after
        continue
      default: break
      }
      place += 1
      if depth == 0 { return place }
    }
    return bytes.count
  }

  private static let keyHead = Array("-----begin ".utf8)
  private static let keyName = Array("private key".utf8)
  private static let keyEnd = Array("-----end".utf8)

  /// Returns where a private key's text begins if its first line (RFC 7468) begins at a place; else nil.
  @inline(__always)
  static func keyStart(_ place: Int, _ count: Int, _ byte: (Int) -> UInt8) -> Int? {
    func lower(_ place: Int) -> UInt8 {
      DigitRuns.isLetter(byte(place)) ? byte(place) | 0x20 : byte(place)
    }
    // Most dashes stand alone.
    guard place + keyHead.count < count, byte(place + 1) == UInt8(ascii: "-"),
      keyHead.indices.allSatisfy({ lower(place + $0) == keyHead[$0] })
    else { return nil }
    // The longest usual name is that of an encrypted key.
    let label = (place + keyHead.count)..<min(count, place + keyHead.count + 48)
    guard let end = label.first(where: { byte($0) == UInt8(ascii: "-") }) else { return nil }
    let name = (label.lowerBound..<end).map(lower)
    let isKey = name.indices.contains { name[$0...].starts(with: keyName) }
    return isKey
      ? (end..<min(count, end + 5)).first { byte($0) != UInt8(ascii: "-") } ?? min(count, end + 5)
      : nil
  }

  /// Returns the range of a private key up to its last line.
  private static func key(in bytes: [UInt8], from start: Int) -> Range<Int> {
    var place = start
    while place < bytes.count {
      if bytes[place] == UInt8(ascii: "-"), bytes.count - place >= keyEnd.count,
        keyEnd.indices.allSatisfy({
          let byte = bytes[place + $0]
          return (DigitRuns.isLetter(byte) ? byte | 0x20 : byte) == keyEnd[$0]
        })
      {
        break
      }
      place += 1
    }
    return start..<place
  }

  private static func token(in bytes: [UInt8], from space: Int) -> Range<Int> {
    var start =
      bytes[space...].firstIndex { $0 != UInt8(ascii: " ") && $0 != 9 && !isOfQuote($0) }
      ?? bytes.count
    let isInBrackets = start < bytes.count && bytes[start] == UInt8(ascii: "(")
    if isInBrackets { start += 1 }
    let end =
      bytes[start...].firstIndex { !isOfName($0) && !".~+/=".utf8.contains($0) } ?? bytes.count
    // Several words in brackets are a remark.
    let isRemark = isInBrackets && (end == bytes.count || bytes[end] != UInt8(ascii: ")"))
    return isRemark ? start..<start : start..<end
  }

  /// Finds IBANs in capital letters, in one piece or in groups (ISO 13616-1, section 6).
  static func accounts(in plain: PlainText) -> [Range<Int>] {
    let bytes = plain.bytes
    return bytes.indices.dropFirst(2).compactMap { place in
      guard DigitRuns.isDigit(bytes[place]), isCapital(bytes[place - 1]) else { return nil }
      return account(from: place - 2, bytes.count, { bytes[$0] }).map(plain.place)
    }
  }

  /// Returns the range of an IBAN that begins at a place; nil if there is none.
  @inline(__always)
  static func account(
    from start: Int,
    _ count: Int,
    _ byte: (Int) -> UInt8
  ) -> Range<Int>? {
    guard start + 15 <= count, isCapital(byte(start)), isCapital(byte(start + 1)),
      DigitRuns.isDigit(byte(start + 2)), DigitRuns.isDigit(byte(start + 3)),
      start == 0 || !isPart(byte(start - 1))
    else { return nil }
    // A letter counts as a two-digit number, from 10 on. The first four characters count last.
    func add(_ sum: Int, _ byte: UInt8) -> Int {
      DigitRuns.isDigit(byte)
        ? (sum * 10 + Int(byte - UInt8(ascii: "0"))) % 97
        : (sum * 100 + Int(byte - UInt8(ascii: "A")) + 10) % 97
    }
    var (place, length, sum) = (start + 4, 4, 0)
    var found: Range<Int>?
    while place < count, length < 34 {
      if byte(place) == UInt8(ascii: " "), place + 1 < count { place += 1 }
      guard isPart(byte(place)) else { break }
      sum = add(sum, byte(place))
      (place, length) = (place + 1, length + 1)
      let isEnd = place == count || !isPart(byte(place)) && !DigitRuns.isLetter(byte(place))
      if isEnd, length >= 15, (start..<start + 4).reduce(sum, { add($0, byte($1)) }) == 1 {
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
