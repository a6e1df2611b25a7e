/// Finds secrets in a provider's text by the name before them, and account numbers by their check digits.
extension Redactor {
  /// A name before a secret, and what is secret behind it.
  private struct Named {
    /// Any case counts. For each `_` there can be a dash, a space or nothing.
    let name: String
    let letters: [UInt8]
    /// Whether words can be before it, joined by `_` or `-`, as in `DB_PASSWORD`.
    let joins: Bool
    /// Whether such words are before it always. Alone it is a word of messages and results.
    let isSuffix: Bool
    /// Whether the rest of the line is secret, as of a header.
    let isLine: Bool
    /// The number of digits that are secret without `=` or `:` before them.
    let digits: ClosedRange<Int>?
    /// Whether only digits are secret. The word is also one of messages and results.
    let isNumber: Bool

    init(
      _ name: String,
      joins: Bool = false,
      isSuffix: Bool = false,
      isLine: Bool = false,
      digits: ClosedRange<Int>? = nil,
      isNumber: Bool = false
    ) {
      (self.name, letters) = (name, Array(name.utf8))
      (self.joins, self.isSuffix) = (joins || isSuffix, isSuffix)
      (self.isLine, self.digits, self.isNumber) = (isLine, digits, isNumber)
    }
  }

  private static let table = [
    Named("access_token", joins: true),
    Named("refresh_token", joins: true),
    Named("id_token"),
    Named("resource_token"),
    Named("auth_token"),
    Named("session_token"),
    Named("token"),
    Named("client_secret", joins: true),
    Named("secret_key", joins: true),
    Named("secret_access_key", joins: true),
    Named("secret", isSuffix: true),
    Named("api_key", joins: true),
    Named("private_key", joins: true),
    Named("password", joins: true),
    Named("passwd", joins: true),
    Named("pwd", joins: true),
    Named("sslpassword"),
    Named("pgpassword"),
    Named("passphrase", joins: true),
    Named("authorization"),
    Named("proxy_authorization"),
    Named("cookie", isLine: true),
    Named("set_cookie", isLine: true),
    Named("security_code", digits: 3...4),
    Named("cvv", digits: 3...4),
    Named("cvv2", digits: 3...4),
    Named("cvc", digits: 3...4),
    Named("cvc2", digits: 3...4),
    Named("account_number", digits: 6...17, isNumber: true),
  ]

  /// The rows by the last letter of their names. Nearly every word before a sign ends with another one, or differs soon.
  private static let rows: [[Named]] = {
    var rows = [[Named]](repeating: [], count: 32)
    for row in table { rows[row.letters.last.map { Int($0 & 31) } ?? 0].append(row) }
    return rows
  }()

  /// The names that need no other word before them, as the manual lists them.
  package static let namesOfSecrets = table.filter { !$0.isSuffix }.map(\.name)

  /// The beginnings of keys that say themselves that they are secret.
  private static let prefixes = [
    "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "ghp_", "github_pat_",
  ].map { Array($0.utf8) }

  /// Returns whether a member of an object has the name of a secret.
  static func isNameOfSecret(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return named(bytes.count, in: bytes).map { !$0.isNumber } ?? false
  }

  /// Returns the name of a secret that ends before a place; nil without one.
  private static func named<Bytes: RandomAccessCollection<UInt8>>(
    _ end: Int,
    in bytes: Bytes
  ) -> Named? where Bytes.Index == Int {
    guard end > 0, isOfName(bytes[end - 1]) else { return nil }
    return rows[Int(bytes[end - 1] & 31)].first { row in
      var place = end
      func skipDashes() { while place > 0, isDash(bytes[place - 1]) { place -= 1 } }
      for letter in row.letters.reversed() {
        let before = place
        skipDashes()
        if letter == UInt8(ascii: "_") {
          let isSpace = place == before && place > 1 && bytes[place - 1] == UInt8(ascii: " ")
          if isSpace { place -= 1 }
        } else {
          guard place > 0, bytes[place - 1] | 0x20 == letter else { return false }
          place -= 1
        }
      }
      let begin = place
      skipDashes()
      let isAlone = place == 0 || !isOfName(bytes[place - 1])
      return isAlone ? !row.isSuffix : row.joins && place < begin
    }
  }

  private static func isDash(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }

  /// Returns whether the sign at a place comes after the name of a secret, with quotes and gaps between.
  static func isNamed<Bytes: RandomAccessCollection<UInt8>>(
    _ place: Int,
    in bytes: Bytes
  ) -> Bool where Bytes.Index == Int { name(before: place, in: bytes) != nil }

  private static func name<Bytes: RandomAccessCollection<UInt8>>(
    before place: Int,
    in bytes: Bytes
  ) -> Named? where Bytes.Index == Int {
    var end = place
    while end > 0, place - end < 64, isQuote(bytes[end - 1]) || isGap(bytes[end - 1]) { end -= 1 }
    return named(end, in: bytes)
  }

  /// Returns the range of digits after the space at a place that are secret by the name before it; nil without any.
  static func bareDigits<Bytes: RandomAccessCollection<UInt8>>(
    after place: Int,
    in bytes: Bytes
  ) -> Range<Int>? where Bytes.Index == Int {
    let start = place + 1
    guard start < bytes.endIndex, DigitRuns.isDigit(bytes[start]),
      let digits = named(place, in: bytes)?.digits
    else { return nil }
    let end = bytes[start...].firstIndex { !DigitRuns.isDigit($0) } ?? bytes.endIndex
    let isWhole = end == bytes.endIndex || !isOfName(bytes[end])
    return isWhole && digits.contains(end - start) ? start..<end : nil
  }

  /// Returns whether a key's secret part begins after a place.
  static func endsPrefix<Bytes: RandomAccessCollection<UInt8>>(
    _ place: Int,
    in bytes: Bytes
  ) -> Bool where Bytes.Index == Int {
    prefixes.contains { prefix in
      let start = place + 1 - prefix.count
      return start >= 0 && bytes[place - 1] == prefix[prefix.count - 2]
        && bytes[start...place].elementsEqual(prefix)
        && (start == 0 || !isOfName(bytes[start - 1]))
    }
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
      case UInt8(ascii: "/") where beginsAuthority(place, in: bytes):
        let start = bytes[place...].firstIndex { $0 != UInt8(ascii: "/") } ?? bytes.count
        guard let password = password(in: bytes, from: start) else { continue }
        range = password
      case UInt8(ascii: "@"):
        guard let password = password(in: bytes, before: place) else { continue }
        range = password
      case _ where isAddress: continue
      case UInt8(ascii: "-"):
        guard isKey(place, in: bytes) else { continue }
        let start = place + 5
        range = start..<(bytes.indices[start...].first { isDashes($0, in: bytes) } ?? bytes.count)
      case UInt8(ascii: "="), UInt8(ascii: ":"):
        guard let name = name(before: place, in: bytes) else { continue }
        range = value(of: name, in: bytes, from: place + 1)
      case UInt8(ascii: "_"):
        guard endsPrefix(place, in: bytes) else { continue }
        range = place + 1..<(bytes[(place + 1)...].firstIndex { !isOfToken($0) } ?? bytes.count)
      case UInt8(ascii: " "):
        if let digits = bareDigits(after: place, in: bytes) {
          range = digits
          break
        }
        guard isBearer(place, in: bytes) else { continue }
        let start = bytes[place...].firstIndex { $0 != UInt8(ascii: " ") } ?? bytes.count
        range = start..<(bytes[start...].firstIndex { !isOfToken($0) } ?? bytes.count)
      default: continue
      }
      guard !range.isEmpty else { continue }
      if !bytes[range].elementsEqual(mark) { found.append(plain.place(of: range)) }
      // The sign of an address is behind its password.
      place = max(place, range.upperBound - 1)
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

  /// Returns whether the slash at a place begins `//` with or without a scheme before it, or ends a scheme alone.
  static func beginsAuthority<Bytes: RandomAccessCollection<UInt8>>(
    _ place: Int,
    in bytes: Bytes
  ) -> Bool where Bytes.Index == Int {
    if place > 0, bytes[place - 1] == UInt8(ascii: "/") { return false }
    if place > 0, bytes[place - 1] == UInt8(ascii: ":") { return true }
    return place + 1 < bytes.endIndex && bytes[place + 1] == UInt8(ascii: "/")
  }

  /// Returns the range of a password before the `@` at a place, in a quoted address without slashes: `'u:p@h'`. Nil
  /// without one. A word such as `mailto` has an e-mail address behind its colon.
  static func password<Bytes: RandomAccessCollection<UInt8>>(
    in bytes: Bytes,
    before sign: Int
  ) -> Range<Int>? where Bytes.Index == Int {
    var start = sign
    while start > 0, sign - start < 512, !isEndOfAddress(bytes[start - 1]) { start -= 1 }
    guard start > 0, isQuote(bytes[start - 1]),
      let colon = bytes[start..<sign].firstIndex(of: UInt8(ascii: ":")), colon > start,
      colon + 1 < sign, bytes[colon + 1] != UInt8(ascii: "/"),
      !bytes[start..<colon].lazy.map({ $0 | 0x20 }).elementsEqual("mailto".utf8)
    else { return nil }
    return isPort(bytes[(colon + 1)..<sign]) ? nil : colon + 1..<sign
  }

  /// Returns whether a text behind a colon begins with a port.
  private static func isPort<Bytes: RandomAccessCollection<UInt8>>(_ text: Bytes) -> Bool {
    let rest = text.drop(while: DigitRuns.isDigit)
    return rest.count < text.count && rest.first.map { "/?#".utf8.contains($0) } == true
  }

  private static func isEndOfAddress(_ byte: UInt8) -> Bool {
    byte <= 0x20 || isQuote(byte) || "<>\\".utf8.contains(byte)
  }

  /// Returns the range of a password between the user and the last `@` of an address, encoded or not; nil if there is
  /// none. A number before a slash is a port.
  private static func password(in bytes: [UInt8], from start: Int) -> Range<Int>? {
    let end = bytes.indices[start...].first { place in
      isEndOfAddress(bytes[place])
        || bytes[place] == UInt8(ascii: ":") && bytes[place...].starts(with: "://".utf8)
    }
    let address = bytes[start..<(end ?? bytes.count)]
    guard let colon = address.firstIndex(where: { ":/@?#".utf8.contains($0) }),
      address[colon] == UInt8(ascii: ":"), let sign = address.lastIndex(of: UInt8(ascii: "@")),
      colon + 1 < sign
    else { return nil }
    return isPort(address[(colon + 1)..<sign]) ? nil : colon + 1..<sign
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
  private static func value(of name: Named, in bytes: [UInt8], from place: Int) -> Range<Int> {
    let start = bytes[place...].firstIndex { !isGap($0) } ?? bytes.count
    guard start < bytes.count else { return start..<start }
    if name.isNumber {
      let text = bytes[start...].drop(while: isQuote)
      let end = text.firstIndex { !DigitRuns.isDigit($0) } ?? bytes.count
      return text.startIndex..<(end - text.startIndex < 6 ? text.startIndex : end)
    }
    if name.isLine, !isQuote(bytes[start]) {
      return start..<(bytes[start...].firstIndex { $0 < 0x20 || isQuote($0) } ?? bytes.count)
    }
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
