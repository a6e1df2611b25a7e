private import Synchronization

/// Takes every secret it has been told, and everything that looks like a card number, out of text.
///
/// Each sink (records, faults, trace, journal) passes its text through one of these, so that a
/// provider that echoes a secret does not make this program print it.
package final class Redactor: Sendable {
  private struct Known {
    /// Replaced wherever they stand.
    var anywhere: Set<String> = []
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
    known.withLock { _ = $0.anywhere.insert(secret) }
  }

  /// Learns a short secret, replaced where it stands alone in a provider's text.
  package func learnShort(_ secret: String) {
    guard !secret.isEmpty else { return }
    known.withLock { _ = $0.standing.insert(secret) }
  }

  /// Lets an id through that only looks like a card number.
  package func exempt(_ id: String) { known.withLock { _ = $0.exempt.insert(id) } }

  /// The text with every secret in it replaced.
  ///
  /// `foreign` says that a provider wrote it, so that short secrets are looked for as well.
  package func redact(_ text: String, foreign: Bool = false) -> String {
    let known = known.withLock { $0 }
    if known.exempt.contains(text) { return text }
    var shown = text
    for secret in known.anywhere.sorted(by: { $0.utf8.count > $1.utf8.count }) {
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

  /// Masks runs of 13 to 19 digits, spaces and dashes between them allowed, that are a card number
  /// by range and Luhn, and any run that spells a secret made of digits.
  private static func withoutCardNumbers(_ text: String, known: Set<String>) -> String {
    let bytes = Array(text.utf8)
    var digitCount = 0
    for byte in bytes where isDigit(byte) { digitCount += 1 }
    let secrets = known.compactMap { secret in
      secret.utf8.allSatisfy(isDigit) ? Array(secret.utf8) : nil
    }
    guard digitCount >= 6 else { return text }
    var shown: [UInt8] = []
    var index = 0
    while index < bytes.count {
      guard isDigit(bytes[index]) else {
        shown.append(bytes[index])
        index += 1
        continue
      }
      let run = digitRun(in: bytes, from: index)
      shown += masked(run, secrets: secrets)
      index += run.count
    }
    return String(decoding: shown, as: UTF8.self)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  /// Digits with single spaces, dashes or dots between them.
  private static func digitRun(in bytes: [UInt8], from start: Int) -> ArraySlice<UInt8> {
    var end = start
    while end < bytes.count {
      if isDigit(bytes[end]) {
        end += 1
      } else if " -.".utf8.contains(bytes[end]), end + 1 < bytes.count, isDigit(bytes[end + 1]) {
        end += 1
      } else {
        break
      }
    }
    return bytes[start..<end]
  }

  /// The run with each card number or known secret in it masked.
  ///
  /// A card number must fill whole groups of the run: that keeps timestamps and UUIDs as they are.
  private static func masked(_ run: ArraySlice<UInt8>, secrets: [[UInt8]]) -> [UInt8] {
    let groups = run.split { !isDigit($0) }
    var hidden = Set<Int>()
    for first in groups.indices {
      var digits: [UInt8] = []
      for last in first..<groups.count {
        digits += groups[last]
        guard digits.count <= 19 || !secrets.isEmpty else { break }
        let values = digits.map { $0 - UInt8(ascii: "0") }
        let isCard = Digits.looksLikeCard(values)
        if isCard || secrets.contains(digits) || (first == last && hides(digits, secrets)) {
          hidden.formUnion(first...last)
        }
      }
    }
    guard !hidden.isEmpty else { return Array(run) }
    var shown: [UInt8] = []
    var group = -1
    var previousWasDigit = false
    for byte in run {
      if isDigit(byte) {
        if !previousWasDigit {
          group += 1
          if hidden.contains(group) { shown += Array("[redacted]".utf8) }
        }
        if !hidden.contains(group) { shown.append(byte) }
        previousWasDigit = true
      } else {
        shown.append(byte)
        previousWasDigit = false
      }
    }
    return shown
  }

  /// Whether a longer group of digits carries a secret of digits, or a card number within it.
  private static func hides(_ group: [UInt8], _ secrets: [[UInt8]]) -> Bool {
    secrets.contains { secret in
      group.count > secret.count
        && (0...(group.count - secret.count)).contains { start in
          group[start..<(start + secret.count)].elementsEqual(secret)
        }
    }
  }
}

extension String {
  /// The text with each occurrence of another replaced; `standingAlone` wants no letter, digit,
  /// dash or underscore beside it.
  fileprivate func replacingEvery(
    _ secret: String,
    with replacement: String,
    standingAlone: Bool = false
  ) -> String {
    guard utf8.count >= secret.utf8.count, !secret.isEmpty else { return self }
    let bytes = Array(utf8)
    let wanted = Array(secret.utf8)
    let part = { (byte: UInt8) in
      byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte >= 0x80
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }
    var shown: [UInt8] = []
    var index = 0
    var changed = false
    while index < bytes.count {
      let end = index + wanted.count
      if end <= bytes.count, bytes[index] == wanted[0], bytes[index..<end].elementsEqual(wanted),
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
}
