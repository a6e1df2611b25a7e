private import Synchronization

/// Takes every secret it has been told, and everything that looks like a card number, out of text.
///
/// Each sink (records, faults, trace, journal) passes its text through one of these, so that a
/// provider that echoes a secret does not make this program print it.
package final class Redactor: Sendable {
  private struct Known {
    /// Replaced wherever they stand.
    ///
    /// The longest first, so that a secret within another does not leave the rest of it.
    var anywhere: [String] = []
    /// Short ones (a security code), replaced only where they stand alone, and only in text
    /// that a provider wrote.
    var standing: Set<String> = []
    /// Ids that the user vouched for with `--id`.
    var exempt: Set<String> = []
  }

  private let known = Mutex(Known())

  package init() {}

  /// Learns a secret of six or more characters, to be replaced wherever it stands.
  package func learn(_ secret: String) {
    guard secret.utf8.count >= 6 else { return learnShort(secret) }
    // The forms in which an echo may come back; padding may differ, so it is left off.
    known.withLock { known in
      for form in [secret, Self.hex(secret), Self.base64(secret)]
      where !known.anywhere.contains(form) {
        known.anywhere.append(form)
      }
      known.anywhere.sort { $0.utf8.count > $1.utf8.count }
    }
  }

  /// Learns a short secret, replaced where it stands alone in a provider's text.
  package func learnShort(_ secret: String) {
    guard !secret.isEmpty else { return }
    known.withLock { _ = $0.standing.insert(secret) }
  }

  /// Forgets every secret: another payment begins, and learns its own.
  package func forget() { known.withLock { $0 = Known() } }

  /// Lets an id through that only looks like a card number.
  package func exempt(_ id: String) { known.withLock { _ = $0.exempt.insert(id) } }

  /// Whether a learnt secret stands in a text.
  package func holdsSecret(_ text: String) -> Bool {
    let known = known.withLock { $0 }
    return known.anywhere.contains { text.replacingEvery($0, with: "") != text }
      || known.standing.contains { text.replacingEvery($0, with: "", standingAlone: true) != text }
  }

  /// The text with every secret in it replaced.
  ///
  /// `foreign` says that a provider wrote it, so that short secrets are looked for as well.
  package func redact(_ text: String, foreign: Bool = false) -> String {
    let known = known.withLock { $0 }
    if known.exempt.contains(text) { return text }
    var shown = text
    let length = text.utf8.count
    for secret in known.anywhere where secret.utf8.count <= length {
      shown = shown.replacingEvery(secret, with: "[redacted]")
    }
    shown = Self.withoutTokens(shown)
    shown = Self.withoutCardNumbers(shown, known: known.anywhere)
    guard foreign else { return shown }
    for secret in known.standing {
      shown = shown.replacingEvery(secret, with: "[redacted]", standingAlone: true)
    }
    return shown
  }

  /// The value with every text in it redacted, names included.
  package func redact(_ value: JSON, foreign: Bool = false) -> JSON {
    switch value {
    case .string(let text): .string(redact(text, foreign: foreign))
    case .array(let elements): .array(elements.map { redact($0, foreign: foreign) })
    case .object(let object): .object(redact(object, foreign: foreign))
    case .integer(let number): redactNumber(String(number), otherwise: value, foreign: foreign)
    case .number(let text): redactNumber(text, otherwise: value, foreign: foreign)
    case .bool, .null: value
    }
  }

  /// The object with every text in it redacted.
  package func redact(_ object: JSONObject, foreign: Bool = false) -> JSONObject {
    JSONObject(
      object.members.map { member in
        JSONObject.Member(
          key: redact(member.key, foreign: foreign),
          value: redact(member.value, foreign: foreign)
        )
      }
    )
  }

  /// The fault with its texts redacted.
  package func redact(_ fault: Fault) -> Fault {
    var shown = fault
    shown.message = redact(fault.message)
    shown.hint = fault.hint.map { redact($0) }
    shown.result = fault.result.map { redact($0, foreign: true) }
    return shown
  }

  private func redactNumber(_ text: String, otherwise value: JSON, foreign: Bool) -> JSON {
    let shown = redact(text, foreign: foreign && text.utf8.count >= 5)
    return shown == text ? value : .string(shown)
  }
}

extension Redactor {
  /// Base64 without its end, which depends on what follows (RFC 4648, section 4).
  private static func base64(_ text: String) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    let bytes = Array(text.utf8)
    var encoded: [UInt8] = []
    for start in stride(from: 0, through: bytes.count - 3, by: 3) {
      let bits = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
      for shift in [18, 12, 6, 0] { encoded.append(alphabet[bits >> shift & 63]) }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  private static func hex(_ text: String) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: text.utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
      as: UTF8.self
    )
  }

  /// Replaces JSON Web Tokens (`eyJ….….…`), whoever made them.
  private static func withoutTokens(_ text: String) -> String {
    guard text.utf8.count > 20, text.contains("eyJ") else { return text }
    var shown = ""
    var rest = Substring(text)
    while let start = rest.firstRange(of: "eyJ") {
      let token = rest[start.lowerBound...].prefix { character in
        character.isASCII
          && (character.isLetter || character.isNumber || "-_.=".contains(character))
      }
      shown += rest[..<start.lowerBound]
      shown += token.contains(".") && token.utf8.count > 20 ? "[redacted]" : String(token)
      rest = rest[token.endIndex...]
    }
    return shown + rest
  }

  /// Whether a text has a card number in it, by the same rules that would mask it.
  package static func holdsCardNumber(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count(where: DigitRuns.isDigit) >= 13 else { return false }
    return DigitRuns.find(in: bytes).contains { !$0.cardNumbers(in: bytes).isEmpty }
  }

  /// Masks card numbers (13 to 19 digits by range and Luhn, single separators between them), and
  /// every secret made of digits, whatever a provider put between its digits.
  private static func withoutCardNumbers(_ text: String, known: [String]) -> String {
    let bytes = Array(text.utf8)
    guard bytes.count(where: DigitRuns.isDigit) >= 6 else { return text }
    let secrets = known.filter { $0.utf8.allSatisfy(DigitRuns.isDigit) }.map { secret in
      secret.utf8.map { $0 - UInt8(ascii: "0") }
    }
    var hidden: [ClosedRange<Int>] = []
    for run in DigitRuns.find(in: bytes) {
      for secret in secrets { hidden += run.places(of: secret) }
      hidden += run.cardNumbers(in: bytes)
    }
    guard !hidden.isEmpty else { return text }
    var shown: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if let range = hidden.filter({ $0.contains(index) }).max(by: { $0.upperBound < $1.upperBound }
      ) {
        if shown.suffix(10) != Array("[redacted]".utf8)[...]
          || hidden.contains(where: { $0.lowerBound == index })
        {
          shown += Array("[redacted]".utf8)
        }
        index = range.upperBound + 1
      } else {
        shown.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: shown, as: UTF8.self)
  }
}

/// Digits that belong together, with where each stands in the text.
private struct DigitRuns {
  var digits: [UInt8] = []
  var places: [Int] = []

  static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  /// Where a UUID ends that begins here (RFC 9562, section 4): 8-4-4-4-12 hexadecimal digits that
  /// stand alone, a version and a variant in their places.
  private static func uuidEnd(in bytes: [UInt8], at start: Int) -> Int? {
    let end = start + 36
    guard end <= bytes.count, bytes[start + 8] == UInt8(ascii: "-"),
      start == 0 || !isHex(bytes[start - 1]), end == bytes.count || !isHex(bytes[end])
    else { return nil }
    for (offset, byte) in bytes[start..<end].enumerated() {
      let isDash = [8, 13, 18, 23].contains(offset)
      guard isDash ? byte == UInt8(ascii: "-") : isHex(byte) else { return nil }
    }
    let isVersion = (UInt8(ascii: "1")...UInt8(ascii: "8")).contains(bytes[start + 14])
    let isVariant = [UInt8(ascii: "8"), UInt8(ascii: "9"), UInt8(ascii: "a"), UInt8(ascii: "b")]
      .contains(bytes[start + 19] | (isDigit(bytes[start + 19]) ? 0 : 0x20))
    return isVersion && isVariant ? end : nil
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  /// The runs of a text: at most three bytes that are no letters stand between two digits.
  static func find(in bytes: [UInt8]) -> [DigitRuns] {
    var runs: [DigitRuns] = []
    var run = DigitRuns()
    var index = 0
    func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
    while index < bytes.count {
      // One UUID in forty thousand has a card number's digits in its first groups.
      if let end = uuidEnd(in: bytes, at: index) {
        if !run.digits.isEmpty {
          runs.append(run)
          run = DigitRuns()
        }
        index = end
        continue
      }
      // `%20` is a separator, not the digits 2 and 0.
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, isDigit(bytes[index + 1]) {
        index += 3
        continue
      }
      let byte = bytes[index]
      if isDigit(byte) {
        if let last = run.places.last, index - last > 4 {
          runs.append(run)
          run = DigitRuns()
        }
        run.digits.append(byte - UInt8(ascii: "0"))
        run.places.append(index)
      } else if isLetter(byte), !run.digits.isEmpty {
        runs.append(run)
        run = DigitRuns()
      }
      index += 1
    }
    return run.digits.isEmpty ? runs : runs + [run]
  }

  /// Where a secret's digits stand, as ranges of the text.
  func places(of secret: [UInt8]) -> [ClosedRange<Int>] {
    guard !secret.isEmpty, secret.count <= digits.count else { return [] }
    return (0...(digits.count - secret.count)).compactMap { start in
      digits[start..<(start + secret.count)].elementsEqual(secret)
        ? places[start]...places[start + secret.count - 1] : nil
    }
  }

  /// Where card numbers stand that fill whole groups: that keeps times and UUIDs as they are.
  func cardNumbers(in bytes: [UInt8]) -> [ClosedRange<Int>] {
    guard digits.count >= 13 else { return [] }
    var found: [ClosedRange<Int>] = []
    let starts = places.indices.filter { start in
      start + 13 <= digits.count && (start == 0 || places[start] - places[start - 1] > 1)
    }
    for start in starts {
      for end in (start + 12)..<min(digits.count, start + 19) where isGroupEnd(end) {
        let gaps = zip(places[start..<end], places[(start + 1)...end])
        let isPlain = gaps.allSatisfy { left, right in
          right - left == 1 || Self.isSeparator(bytes[(left + 1)..<right])
        }
        if isPlain, Digits.looksLikeCard(Array(digits[start...end])) {
          found.append(places[start]...places[end])
        }
      }
    }
    return found
  }

  private func isGroupEnd(_ index: Int) -> Bool {
    index == places.count - 1 || places[index + 1] - places[index] > 1
  }

  /// One of the separators that people and forms write between the groups of a card number.
  private static func isSeparator(_ bytes: ArraySlice<UInt8>) -> Bool {
    switch Array(bytes) {
    case [UInt8(ascii: " ")], [UInt8(ascii: "-")], [UInt8(ascii: ".")], [UInt8(ascii: "/")],
      [UInt8(ascii: "_")], [9], [0xc2, 0xa0], [0xe2, 0x80, 0x8b], Array("%20".utf8):
      true
    default: false
    }
  }
}

extension String {
  /// The text with each occurrence of another replaced; `standingAlone` wants no letter, digit
  /// or dash beside it.
  fileprivate func replacingEvery(
    _ secret: String,
    with replacement: String,
    standingAlone: Bool = false
  ) -> String {
    guard utf8.count >= secret.utf8.count, !secret.isEmpty, holds(secret) else { return self }
    let bytes = Array(utf8)
    let wanted = Array(secret.utf8)
    let part = { (byte: UInt8) in
      byte == UInt8(ascii: "-") || byte >= 0x80
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }
    var shown: [UInt8] = []
    var index = 0
    var changed = false
    while index < bytes.count {
      let end = index + wanted.count
      if end <= bytes.count, Self.same(bytes[index], wanted[0]),
        zip(bytes[index..<end], wanted).allSatisfy(Self.same),
        !standingAlone
          || (index == 0 || !part(bytes[index - 1])) && (end == bytes.count || !part(bytes[end]))
      {
        shown += Array(replacement.utf8)
        index = end
        changed = true
      } else {
        shown.append(bytes[index])
        index += 1
      }
    }
    return changed ? String(decoding: shown, as: UTF8.self) : self
  }

  /// Whether another text stands in this one, whatever its case: most texts hold no secret, and
  /// nothing is copied to see that.
  private func holds(_ other: String) -> Bool {
    let wanted = other.utf8
    guard let first = wanted.first else { return true }
    var rest = utf8[...]
    while rest.count >= wanted.count, let start = rest.firstIndex(where: { Self.same($0, first) }) {
      rest = rest[start...]
      guard rest.count >= wanted.count else { return false }
      if zip(rest, wanted).allSatisfy(Self.same) { return true }
      rest.removeFirst()
    }
    return false
  }

  /// Whether two bytes are the same letter, whatever their case.
  private static func same(_ one: UInt8, _ other: UInt8) -> Bool {
    one == other || UInt8(ascii: "a")...UInt8(ascii: "z") ~= one | 0x20 && one ^ other == 0x20
  }
}
