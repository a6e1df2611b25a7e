/// Finds secrets in a provider's text by the name before them, and account numbers by their check digits.
extension Redactor {
  /// The names before a secret, without `_` and `-`. Any case counts.
  package static let namesOfSecrets = [
    "access_token", "refresh_token", "id_token", "resource_token", "client_secret", "api_key",
    "secret_key", "private_key", "password", "sslpassword", "passphrase", "token", "x_api_key",
    "authorization",
    "proxy_authorization", "security_code", "cvv", "cvv2", "cvc", "cvc2",
  ]

  /// The names by their last letter. Nearly every word before a sign ends with another one, or differs soon.
  private static let names: [[[UInt8]]] = {
    var names = [[[UInt8]]](repeating: [], count: 32)
    for name in namesOfSecrets.map({ $0.utf8.filter { !isDash($0) } }) {
      names[name.last.map { Int($0 & 31) } ?? 0].append(name)
    }
    return names
  }()

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
    guard end > 0 else { return false }
    return names[Int(bytes[end - 1] & 31)].contains { name in
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

  /// Finds values after the names of secrets, and words after `Bearer` (RFC 6750, section 2.1). Also finds the
  /// passwords of addresses, and private keys (RFC 7468).
  ///
  /// A text that is an address alone is left as it is, but for a password: the payer needs it.
  static func named(in plain: PlainText) -> [Range<Int>] {
    let bytes = plain.bytes
    let isAddress = isAddress(bytes)
    var found: [Range<Int>] = []
    var place = 0
    while place < bytes.count {
      defer { place += 1 }
      let range: Range<Int>
      switch bytes[place] {
      case UInt8(ascii: ":") where beginsAuthority(place, in: bytes):
        guard let password = password(in: bytes, from: place + 3) else { continue }
        range = password
      case _ where isAddress: continue
      case UInt8(ascii: "-"):
        guard isKey(place, in: bytes) else { continue }
        let start = place + 5
        range = start..<(bytes.indices[start...].first { isDashes($0, in: bytes) } ?? bytes.count)
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
    return found
  }

  private static func isDashes(_ place: Int, in bytes: [UInt8]) -> Bool {
    bytes[place] == UInt8(ascii: "-") && bytes[place...].starts(with: "-----".utf8)
  }

  /// Returns whether the dashes at a place end the first line of a private key.
  static func isKey<Bytes: RandomAccessCollection<UInt8>>(
    _ place: Int,
    in bytes: Bytes
  ) -> Bool where Bytes.Index == Int {
    place > 10 && bytes[place - 1] == UInt8(ascii: "Y")
      && bytes[(place - 11)...].starts(with: "PRIVATE KEY-----".utf8)
  }

  /// Returns whether the colon at a place begins `://`.
  static func beginsAuthority<Bytes: RandomAccessCollection<UInt8>>(
    _ place: Int,
    in bytes: Bytes
  ) -> Bool where Bytes.Index == Int {
    place + 2 < bytes.endIndex && bytes[place + 1] == UInt8(ascii: "/")
      && bytes[place + 2] == UInt8(ascii: "/")
  }

  /// Returns the range of a password between the user and the last `@` of an address, encoded or not; nil if there is
  /// none. A number before a slash is a port.
  private static func password(in bytes: [UInt8], from start: Int) -> Range<Int>? {
    let end = bytes.indices[start...].first { place in
      bytes[place] <= 0x20 || isQuote(bytes[place]) || "<>\\".utf8.contains(bytes[place])
        || bytes[place] == UInt8(ascii: ":") && beginsAuthority(place, in: bytes)
    }
    let address = bytes[start..<(end ?? bytes.count)]
    guard let colon = address.firstIndex(where: { ":/@?#".utf8.contains($0) }),
      address[colon] == UInt8(ascii: ":"), let sign = address.lastIndex(of: UInt8(ascii: "@")),
      colon + 1 < sign
    else { return nil }
    let rest = address[(colon + 1)..<sign].drop(while: DigitRuns.isDigit)
    let isPort = rest.startIndex > colon + 1 && rest.first.map { "/?#".utf8.contains($0) } == true
    return isPort ? nil : colon + 1..<sign
  }

  private static func isAddress(_ bytes: [UInt8]) -> Bool {
    (bytes.starts(with: "https://".utf8) || bytes.starts(with: "http://".utf8))
      && !bytes.contains { $0 <= 0x20 || isQuote($0) }
  }

  private static func isOfToken(_ byte: UInt8) -> Bool {
    isOfName(byte) || ".~+/=".utf8.contains(byte)
  }

  /// Returns the range of a value: a quoted text, a list or an object, or up to a space or the next sign. The name of
  /// a way to authenticate is part of the value (RFC 9110, section 11.4).
  private static func value(in bytes: [UInt8], from place: Int) -> Range<Int> {
    let start = bytes[place...].firstIndex { !isGap($0) } ?? bytes.count
    guard start < bytes.count else { return start..<start }
    if isQuote(bytes[start]) { return start + 1..<endOfQuoted(in: bytes, from: start) }
    if "[{".utf8.contains(bytes[start]), !bytes[start...].starts(with: mark) {
      return start..<endOfBrackets(in: bytes, from: start)
    }
    let end = endOfWord(in: bytes, from: start)
    let isScheme =
      bytes[start..<end].count == 5
      && bytes[start..<end].lazy.map { $0 | 0x20 }.elementsEqual("basic".utf8)
    guard isScheme, end + 1 < bytes.count, bytes[end] == UInt8(ascii: " ") else {
      return start..<end
    }
    return start..<endOfWord(in: bytes, from: end + 1)
  }

  private static func endOfWord(in bytes: [UInt8], from start: Int) -> Int {
    bytes[start...].firstIndex { $0 <= 0x20 || ",;&<>\"'){}|".utf8.contains($0) } ?? bytes.count
  }

  /// Returns where a list or an object ends that begins at a place; the end of the text if it does not.
  private static func endOfBrackets(in bytes: [UInt8], from start: Int) -> Int {
    var (place, depth) = (start, 0)
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: "\""), UInt8(ascii: "'"): place = closingQuote(in: bytes, from: place)
      default: break
      }
      place += 1
      if depth == 0 { return place }
    }
    return bytes.count
  }

  /// Returns where a text ends whose first quote is at a place. In a text that is itself in a text, both quotes
  /// have the same number of backslashes before them, and a quote within has more.
  private static func endOfQuoted(in bytes: [UInt8], from start: Int) -> Int {
    let end = closingQuote(in: bytes, from: start)
    return end < bytes.count ? end - escapes(in: bytes, before: start) : end
  }

  /// Returns the place of the quote that belongs to the one at a place; the end of the text without one.
  private static func closingQuote(in bytes: [UInt8], from start: Int) -> Int {
    let depth = escapes(in: bytes, before: start)
    return bytes[(start + 1)...].indices.first { place in
      bytes[place] == bytes[start] && escapes(in: bytes, before: place) == depth
    } ?? bytes.count
  }

  private static func escapes(in bytes: [UInt8], before place: Int) -> Int {
    bytes[..<place].suffix(8).reversed().prefix { $0 == UInt8(ascii: "\\") }.count
  }

  /// Finds IBANs in capital letters, in one piece or in groups (ISO 13616-1, section 6).
  static func accounts(in bytes: [UInt8]) -> [Range<Int>] {
    bytes.indices.compactMap { place in
      beginsAccount(place, in: bytes) ? account(in: bytes, from: place) : nil
    }
  }

  /// Returns whether the two letters and two digits of an IBAN are at a place, and room for the rest.
  static func beginsAccount<Bytes: RandomAccessCollection<UInt8>>(
    _ start: Int,
    in bytes: Bytes
  ) -> Bool where Bytes.Index == Int {
    start >= 0 && start + 15 <= bytes.count && IBAN.isCapital(bytes[start])
      && IBAN.isCapital(bytes[start + 1]) && DigitRuns.isDigit(bytes[start + 2])
      && DigitRuns.isDigit(bytes[start + 3]) && (start == 0 || !isPart(bytes[start - 1]))
  }

  /// Returns the range of an IBAN whose first characters are at a place; nil if there is none. Any country counts.
  private static func account(in bytes: [UInt8], from start: Int) -> Range<Int>? {
    var (place, length, sum) = (start + 4, 4, 0)
    var found: Range<Int>?
    while place < bytes.count, length < 34 {
      if bytes[place] == UInt8(ascii: " "), place + 1 < bytes.count { place += 1 }
      guard isPart(bytes[place]) else { break }
      sum = IBAN.remainder(sum, bytes[place])
      (place, length) = (place + 1, length + 1)
      let isEnd = place == bytes.count || !isPart(bytes[place]) && !DigitRuns.isLetter(bytes[place])
      if isEnd, length >= 15, bytes[start..<start + 4].reduce(sum, IBAN.remainder) == 1 {
        found = start..<place
      }
    }
    return found
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    IBAN.isCapital(byte) || DigitRuns.isDigit(byte)
  }
}
