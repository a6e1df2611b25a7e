private import Synchronization

/// Removes learned secrets, and everything that looks like a card number, from text.
///
/// Records, faults, traces and the journal pass their text through a redactor. So a secret that a provider
/// echoes is not printed. The redactor stores keyed fingerprints, not secrets. It takes linear time.
///
/// A text is searched once. Escapes of JSON and of web addresses are decoded before.
package final class Redactor: Sendable {
  private struct Known {
    var secrets = Fingerprints()
    /// Ids that the user allowed with `--id`.
    var exempt: Set<String> = []
  }

  static let mark = Array("[redacted]".utf8)

  /// Returns whether a part of a text was replaced.
  package static func isMasked(_ text: String) -> Bool { text.contains("[redacted]") }

  private let known = Mutex(Known())

  package init() {}

  /// Learns a secret of six or more characters, which is replaced everywhere. A shorter one is replaced as a whole
  /// word in a provider's text.
  package func learn(_ secret: String) {
    var text = secret
    text.withUTF8 { unsafe learn(UnsafeRawBufferPointer($0)) }
  }

  /// Learns a secret of six or more bytes, which is replaced everywhere.
  package func learn(_ secret: borrowing Secret) {
    unsafe secret.withBytes { unsafe learn($0) }
  }

  /// Learns the forms in which an echo may contain a secret. None of them is stored.
  private func learn(_ bytes: UnsafeRawBufferPointer) {
    known.withLock { known in
      guard bytes.count >= Fingerprints.window else {
        return unsafe known.secrets.insertWord(bytes)
      }
      guard unsafe known.secrets.insert(bytes) else { return }
      let isEscaped = { (byte: UInt8) in byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }
      if unsafe bytes.contains(where: isEscaped) {
        unsafe known.secrets.insert(
          bytes.lazy.flatMap { isEscaped($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
        )
      }
      // Many bytes are secret, and each in each payment: the beginning of what they are encoded to is found.
      var beginning = unsafe Array(bytes.prefix(36))
      for offset in 0..<3 {
        var letters = Base64.letters(of: beginning, behind: offset)
        known.secrets.insert(letters, beginningOf: (bytes.count * 4 - offset) / 3)
        letters.wipe()
      }
      beginning.wipe()
    }
  }

  /// Learns a short secret, such as a security code. It is replaced as a whole word in a provider's text.
  package func learnShort(_ secret: borrowing Secret) {
    known.withLock { known in
      unsafe secret.withBytes { bytes in unsafe known.secrets.insertWord(bytes) }
    }
  }

  /// Forgets every secret, before another payment begins.
  package func forget() { known.withLock { $0 = Known() } }

  /// Allows an id that only looks like a card number.
  package func exempt(_ id: String) { known.withLock { _ = $0.exempt.insert(id) } }

  /// Allows the texts and numbers of a value that look like a card number.
  package func exempt(in value: JSON) {
    switch value {
    case .object(let object): for member in object.members { exempt(in: member.value) }
    case .array(let elements): for element in elements { exempt(in: element) }
    case .string(let text), .number(let text):
      if text.utf8.count >= DigitRuns.least, Self.holdsCardNumber(text) { exempt(text) }
    case .integer(let number): exempt(in: .string(String(number)))
    case .bool, .null: return
    }
  }

  /// Returns whether a text contains a learned secret.
  package func holdsSecret(_ text: String) -> Bool {
    let known = known.withLock { $0.secrets }
    let bytes = Array(text.utf8)
    let plain = PlainText(bytes)
    return !Self.secrets(in: bytes, plain, known).isEmpty || !Self.words(in: plain, known).isEmpty
  }

  /// Returns true only if `redact` would change no value of a JSON text, whoever wrote them. False means that
  /// each value has to be searched.
  package func isClean(_ text: String) -> Bool {
    let known = known.withLock { $0.secrets }
    if Self.isPlain(text, true, known) { return true }
    let bytes = Array(text.utf8)
    return !PlainText.mayHaveEscapes(bytes) && Self.hidden(in: bytes, true, known).isEmpty
  }

  /// Returns the text with every secret replaced.
  ///
  /// If `foreign`, a provider wrote the text, and short secrets are replaced too.
  package func redact(_ text: String, foreign: Bool = false) -> String {
    Self.redact(text, foreign, known.withLock { $0 })
  }

  private static func redact(_ text: String, _ foreign: Bool, _ known: Known) -> String {
    if isPlain(text, foreign, known.secrets) { return text }
    let bytes = Array(text.utf8)
    // A shorter text contains neither a long secret nor a card number.
    guard bytes.count >= Fingerprints.window || foreign && known.secrets.hasWords else {
      return text
    }
    var hidden = hidden(in: bytes, foreign, known.secrets)
    if hidden.isEmpty || known.exempt.contains(text) { return text }
    hidden.removeAll { Self.isExempt($0, in: bytes, known.exempt) }
    var shown: [UInt8] = []
    var index = 0
    for range in hidden.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      // Overlapping ranges are one.
      if range.lowerBound >= index { shown += bytes[index..<range.lowerBound] + mark }
      index = max(index, range.upperBound)
    }
    return String(decoding: shown + bytes[index...], as: UTF8.self)
  }

  /// Returns whether a range is a part of an allowed id, which stands in a longer text.
  private static func isExempt(_ range: Range<Int>, in bytes: [UInt8], _ ids: Set<String>) -> Bool {
    ids.contains { id in
      let count = id.utf8.count
      let first = max(0, range.upperBound - count)
      let last = min(range.lowerBound, bytes.count - count)
      return first <= last
        && (first...last).contains { bytes[$0..<$0 + count].elementsEqual(id.utf8) }
    }
  }

  /// Returns an address, which may be malformed, without its password.
  package func redact(address: String) -> String {
    // Within quotes, an address needs no scheme.
    String(redact("'\(address)'", foreign: true).dropFirst().dropLast())
  }

  /// Returns the value with every text redacted, names included.
  package func redact(_ value: JSON, foreign: Bool = false) -> JSON {
    Self.redact(value, foreign, known.withLock { $0 })
  }

  /// Returns the object with every text redacted.
  package func redact(_ object: JSONObject, foreign: Bool = false) -> JSONObject {
    redact(.object(object), foreign: foreign).object ?? [:]
  }

  private static func redact(_ value: JSON, _ foreign: Bool, _ known: Known) -> JSON {
    switch value {
    case .string(let text): return .string(redact(text, foreign, known))
    // Secrets and card numbers are longer.
    case .integer(-999...9999), .bool, .null: return value
    case .integer(let number): return redact(String(number), of: value, foreign, known)
    case .number(let text): return redact(text, of: value, foreign, known)
    case .array(let elements): return .array(elements.map { redact($0, foreign, known) })
    case .object(let object):
      return .object(
        JSONObject(
          object.members.map { member in
            let value = redact(member.value, foreign, known)
            let isSecret = foreign && isNameOfSecret(member.key)
            return .init(
              key: redact(member.key, foreign, known),
              value: isSecret ? value.masked : value
            )
          }
        )
      )
    }
  }

  private static func redact(
    _ text: String,
    of value: JSON,
    _ foreign: Bool,
    _ known: Known
  ) -> JSON {
    let shown = redact(text, foreign, known)
    return shown == text ? value : .string(shown)
  }

  /// Returns the fault with its texts redacted.
  package func redact(_ fault: Fault) -> Fault {
    var shown = fault
    shown.message = redact(fault.message)
    shown.hint = fault.hint.map { redact($0) }
    shown.result = fault.result.map { redact($0, foreign: true) }
    return shown
  }
}

extension JSON {
  /// The value with each text and each number masked.
  fileprivate var masked: JSON {
    switch self {
    case .string, .integer, .number: "[redacted]"
    case .bool, .null: self
    case .array(let elements): .array(elements.map(\.masked))
    case .object(let object):
      .object(JSONObject(object.members.map { .init(key: $0.key, value: $0.value.masked) }))
    }
  }
}

/// Searches that return ranges of a text's bytes.
extension Redactor {
  /// Returns true only if no search would find anything, after one look at each byte. Nearly every text is so.
  private static func isPlain(_ text: String, _ foreign: Bool, _ known: Fingerprints) -> Bool {
    if foreign, known.hasWords { return false }
    let answer = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
      unsafe kinds.withUnsafeBufferPointer { kinds in
        unsafe isPlain(bytes, kinds, foreign, known)
      }
    }
    return answer ?? false
  }

  /// What a byte can end, as far as a search is concerned.
  private enum Kind {
    case other, digit, separator, space, dash, slash, underline, sign, token, name, escape
  }

  private static let kinds: [Kind] = (0...UInt8.max).map { byte in
    switch byte {
    case UInt8(ascii: "%"), UInt8(ascii: "\\"), 0x80...: .escape
    case UInt8(ascii: "J"): .token
    case UInt8(ascii: "="), UInt8(ascii: ":"): .name
    case UInt8(ascii: "-"): .dash
    case UInt8(ascii: " "): .space
    case UInt8(ascii: "/"): .slash
    case UInt8(ascii: "_"): .underline
    case UInt8(ascii: "@"): .sign
    default: DigitRuns.isDigit(byte) ? .digit : DigitRuns.isSeparator(byte) ? .separator : .other
    }
  }

  private static func isPlain(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ kinds: UnsafeBufferPointer<Kind>,
    _ foreign: Bool,
    _ known: Fingerprints
  ) -> Bool {
    let hasSecrets = !known.isEmpty
    var digits = DigitRuns.Count()
    var starts = Fingerprints.Starts()
    for index in bytes.indices {
      let byte = unsafe bytes[index]
      if hasSecrets, known.mayBegin(with: byte, &starts) { return false }
      switch unsafe kinds[Int(byte)] {
      case .other: digits = DigitRuns.Count()
      case .separator: continue
      case .digit:
        if digits.reaches(byte), unsafe DigitRuns.mayHold(bytes, around: index) { return false }
        if foreign, unsafe beginsAccount(index - 2, in: bytes) { return false }
      case .space:
        guard foreign else { continue }
        if unsafe isBearer(index, in: bytes) || bareDigits(after: index, in: bytes) != nil {
          return false
        }
      case .slash:
        if foreign, unsafe beginsAuthority(index, in: bytes) { return false }
      case .underline:
        if foreign, unsafe endsPrefix(index, in: bytes) { return false }
      case .sign:
        digits = DigitRuns.Count()
        if foreign, unsafe password(in: bytes, before: index) != nil { return false }
      case .dash:
        if foreign, unsafe isKey(index, in: bytes) { return false }
      case .token:
        digits = DigitRuns.Count()
        if index > 0, unsafe bytes[index - 1] == UInt8(ascii: "y") { return false }
      case .name:
        digits = DigitRuns.Count()
        guard foreign else { continue }
        if unsafe isNamed(index, in: bytes) { return false }
      case .escape: return false
      }
    }
    return true
  }

  /// Returns whether a text contains a card number, by the rule that masks it.
  package static func holdsCardNumber(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return !cardNumbers(in: bytes, PlainText(bytes)).isEmpty
  }

  private static func hidden(
    in bytes: [UInt8],
    _ foreign: Bool,
    _ known: Fingerprints
  ) -> [Range<Int>] {
    let plain = PlainText(bytes)
    var hidden = secrets(in: bytes, plain, known) + tokens(in: bytes)
    hidden += cardNumbers(in: bytes, plain)
    if foreign {
      hidden += words(in: plain, known) + named(in: plain)
      hidden += accounts(in: plain.bytes).map(plain.place)
    }
    return hidden
  }

  /// Finds card numbers: digits of a known range, an issued length and a Luhn digit, separated only between groups.
  ///
  /// The undecoded text is searched too: `%B4…` of a card's track 1 would be decoded as an escape.
  private static func cardNumbers(in bytes: [UInt8], _ plain: PlainText) -> [Range<Int>] {
    let asIs = plain.isChanged ? cardNumbers(in: bytes) : []
    return asIs + cardNumbers(in: plain.bytes).map(plain.place)
  }

  /// Finds card numbers outside of IBANs, whose digits can be such a number's.
  private static func cardNumbers(in bytes: [UInt8]) -> [Range<Int>] {
    let found = DigitRuns.cardNumbers(in: bytes)
    guard !found.isEmpty else { return [] }
    let accounts = accounts(in: bytes).filter { place in
      IBAN.isValid(bytes[place].filter { $0 != UInt8(ascii: " ") })
    }
    return found.filter { number in !accounts.contains { $0.contains(number) } }
  }

  /// Finds learned secrets: as written, decoded, and without what separates their letters and digits.
  private static func secrets(
    in bytes: [UInt8],
    _ plain: PlainText,
    _ known: Fingerprints
  ) -> [Range<Int>] {
    guard !known.isEmpty else { return [] }
    // Digits before a secret can make an escape with its first ones.
    let texts = plain.isChanged ? [PlainText(undecoded: bytes), plain] : [plain]
    let found = texts.flatMap { text in
      let codes = known.mayBegin(inCodesOf: text.bytes) ? text.codes : nil
      return [text, codes].compactMap(\.self).flatMap { known.places(in: $0.bytes).map($0.place) }
    }
    // A number may begin within a security code before it, whose rest would be shown.
    return found.map { range in
      let before = bytes[..<range.lowerBound].suffix(8).reversed().prefix(while: DigitRuns.isDigit)
      let after = bytes[range.upperBound...].prefix(8).prefix(while: DigitRuns.isDigit)
      return range.lowerBound - before.count..<range.upperBound + after.count
    }
  }

  /// Finds JSON Web Tokens (`eyJ….….…`) of any issuer.
  private static func tokens(in bytes: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var reach = 0
    for index in bytes.indices.dropFirst(2)
    where bytes[index] == UInt8(ascii: "J") && bytes[index - 2...index].elementsEqual("eyJ".utf8) {
      guard index > reach else { continue }
      let rest = bytes[index...].prefix { isOfName($0) || $0 == UInt8(ascii: ".") }
      reach = rest.endIndex
      if rest.count > 18, rest.contains(UInt8(ascii: ".")) { found.append(index - 2..<reach) }
    }
    return found
  }

  /// Finds short secrets with no letter, digit or dash next to them.
  private static func words(in plain: PlainText, _ known: Fingerprints) -> [Range<Int>] {
    guard known.hasWords else { return [] }
    return plain.bytes.indices.split { index in
      let byte = plain.bytes[index]
      return byte < 0x80 && byte != UInt8(ascii: "-") && !DigitRuns.isDigit(byte)
        && !DigitRuns.isLetter(byte)
    }
    .filter { known.holdsWord(plain.bytes[$0]) }
    .map { plain.place(of: $0.startIndex..<$0.endIndex) }
  }
}
