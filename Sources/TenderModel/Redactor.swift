private import Synchronization

/// Removes learned secrets, and everything that looks like a card number, from text.
///
/// Records, faults, traces and the journal pass their text through a redactor. So a secret that a provider
/// echoes is not printed. The redactor stores keyed fingerprints, not secrets. It takes linear time.
package final class Redactor: Sendable {
  struct Known {
    /// Secrets that are replaced everywhere, in each form in which an echo may contain them.
    var anywhere = Fingerprints()
    /// Digits of long secrets, which are compared with the digits of a text only.
    var digits = Fingerprints(power: 10)
    /// Longer digit parts, which are compared across several fields. A provider may show the first six
    /// and the last four digits: together they are not a secret.
    var split = Fingerprints(power: 10)
    /// Short secrets, such as a security code. They are replaced only as whole words in a provider's text.
    var words = Fingerprints()
    /// Ids that the user allowed with `--id`.
    var exempt: Set<String> = []
  }

  /// The number of digits of a card or account number that must not be shown together.
  static let part = 9
  /// The same for digits in several fields.
  private static let splitPart = 12
  /// The number of times that a text is checked again after something was removed.
  private static let passes = 8
  static let mark = Array("[redacted]".utf8)

  /// Returns whether a part of a text was replaced.
  package static func isMasked(_ text: String) -> Bool { text.contains("[redacted]") }

  private let known = Mutex(Known())

  package init() {}

  /// Learns a secret of six or more characters, which is replaced everywhere.
  package func learn(_ secret: String) {
    var text = secret
    text.withUTF8 { unsafe learn(UnsafeRawBufferPointer($0)) }
  }

  /// Learns a number that the provider already knows. Only its written form is replaced.
  package func learn(number: String) { known.withLock { _ = $0.anywhere.insert(number.utf8) } }

  /// Learns a secret of six or more bytes, which is replaced everywhere.
  package func learn(_ secret: borrowing Secret) {
    unsafe secret.withBytes { unsafe learn($0) }
  }

  private func learn(_ bytes: UnsafeRawBufferPointer) {
    let count = bytes.count
    known.withLock { known in
      guard count >= Fingerprints.window else { return unsafe known.words.insertWord(bytes) }
      guard unsafe known.anywhere.insert(bytes) else { return }
      unsafe Self.learn(encodingsOf: bytes, &known.anywhere)
      let isNumber = unsafe bytes.allSatisfy(DigitRuns.isDigit)
      let reversed = (1...count).lazy.map { unsafe bytes[count - $0] }
      guard isNumber else {
        known.anywhere.insert(reversed)
        return
      }
      guard count > Self.part else { return }
      // A match may end inside the next number, as that of a part may.
      known.digits.insert(reversed)
      for start in 0...(count - Self.part) {
        unsafe known.digits.insert(bytes[start..<(start + Self.part)])
      }
      let part = min(count, Self.splitPart)
      for start in 0...(count - part) { unsafe known.split.insert(bytes[start..<(start + part)]) }
    }
  }

  /// Learns a short secret, which is replaced as a whole word in a provider's text.
  package func learnShort(_ secret: borrowing Secret) {
    known.withLock { known in
      unsafe secret.withBytes { bytes in unsafe known.words.insertWord(bytes) }
    }
  }

  /// Forgets every secret, before another payment begins.
  package func forget() { known.withLock { $0 = Known() } }

  /// Allows an id that only looks like a card number.
  package func exempt(_ id: String) { known.withLock { _ = $0.exempt.insert(id) } }

  /// Returns whether a text contains a learned secret.
  package func holdsSecret(_ text: String) -> Bool {
    let known = known.withLock { $0 }
    let bytes = Array(text.utf8)
    return !Self.secrets(in: bytes, PlainText(bytes), known).isEmpty
      || !Self.words(in: PlainText(bytes), known.words).isEmpty
  }

  /// Returns true only if `redact` would change no value of a JSON text, whoever wrote them. False means that `redact`
  /// has to look closely.
  package func isClean(_ text: String) -> Bool {
    known.withLock { $0.split.isEmpty && Self.isClean(text, true, $0) }
  }

  /// Whether `isClean` can be true of any text.
  package var mayBeClean: Bool { known.withLock { $0.split.isEmpty } }

  /// Returns the text with every secret replaced.
  ///
  /// If `foreign`, a provider wrote the text, and short secrets are replaced too.
  package func redact(_ text: String, foreign: Bool = false) -> String {
    Self.whole(text, foreign, known.withLock { $0 })
  }

  private static func whole(_ text: String, _ foreign: Bool, _ known: Known) -> String {
    if isClean(text, foreign, known) || known.exempt.contains(text) { return text }
    var shown = text
    // A replacement can join the parts around it into another secret, so the text is checked again.
    for _ in 0..<passes {
      let next = redact(shown, foreign, known)
      if next == shown { break }
      shown = next
    }
    return shown
  }

  private static func redact(_ text: String, _ foreign: Bool, _ known: Known) -> String {
    // A shorter text contains neither a long secret nor a card number.
    let isShort = text.utf8.count < Fingerprints.window
    if isShort, !foreign || !known.words.hasWords { return text }
    let bytes = Array(text.utf8)
    let plain = PlainText(bytes)
    var hidden = isShort ? [] : secrets(in: bytes, plain, known)
    if !isShort { hidden += tokens(in: bytes) + cardNumbers(in: bytes, plain) }
    if foreign {
      hidden += words(in: plain, known.words) + named(in: plain) + accounts(in: plain)
    }
    return hidden.isEmpty ? text : Self.text(bytes, without: hidden)
  }

  /// Returns the value with every text redacted, names included.
  package func redact(_ value: JSON, foreign: Bool = false) -> JSON {
    let split = splitSecrets(in: value)
    var leaf = 0
    return Self.redact(value, foreign, split, &leaf, known.withLock { $0 })
  }

  /// Returns the object with every text redacted.
  package func redact(_ object: JSONObject, foreign: Bool = false) -> JSONObject {
    redact(.object(object), foreign: foreign).object ?? [:]
  }

  private static func redact(
    _ value: JSON,
    _ foreign: Bool,
    _ split: [Bool],
    _ leaf: inout Int,
    _ known: Known
  ) -> JSON {
    let isPart = leaf < split.count && split[leaf]
    switch value {
    case .string(let text):
      leaf += 1
      return .string(isPart ? "[redacted]" : whole(text, foreign, known))
    case .integer(let number):
      leaf += 1
      if isPart { return "[redacted]" }
      // Secrets and card numbers are longer.
      if (-999...9999).contains(number) { return value }
      return redactNumber(String(number), otherwise: value, foreign, known)
    case .number(let text):
      leaf += 1
      if isPart { return "[redacted]" }
      return redactNumber(text, otherwise: value, foreign, known)
    case .bool, .null: return value
    case .array(let elements):
      var shown: [JSON] = []
      for element in elements { shown.append(redact(element, foreign, split, &leaf, known)) }
      return .array(shown)
    case .object(let object):
      var members: [JSONObject.Member] = []
      for member in object.members {
        let key = whole(member.key, foreign, known)
        let value = redact(member.value, foreign, split, &leaf, known)
        let isSecret = foreign && isNameOfSecret(member.key)
        members.append(.init(key: key, value: isSecret ? value.masked : value))
      }
      return .object(JSONObject(members))
    }
  }

  /// Returns the path of the first member with a secret, a card number or the data of a chip; nil without one.
  ///
  /// A name that has one is not in the path.
  package func placeOfSecret(in value: JSON) -> String? {
    func isSecret(_ text: String) -> Bool {
      redact(text) != text
        || text.utf8.count(where: DigitRuns.isDigit) >= 13 && Self.holdsCardNumber(text)
    }
    func place(_ name: String, _ value: JSON) -> String? {
      placeOfSecret(in: value).map { $0.isEmpty ? name : "\(name).\($0)" }
    }
    return switch value {
    case .string(let text), .number(let text): isSecret(text) ? "" : nil
    case .integer(let number): isSecret(String(number)) ? "" : nil
    case .bool, .null: nil
    case .array(let elements):
      elements.indices.lazy.compactMap { place(String($0), elements[$0]) }.first
    case .object(let object):
      object.members.lazy.compactMap { isSecret($0.key) ? "name" : place($0.key, $0.value) }.first
    }
  }

  /// Returns the fault with its texts redacted.
  package func redact(_ fault: Fault) -> Fault {
    var shown = fault
    shown.message = redact(fault.message)
    shown.hint = fault.hint.map { redact($0) }
    shown.result = fault.result.map { redact($0, foreign: true) }
    return shown
  }

  private static func redactNumber(
    _ text: String,
    otherwise value: JSON,
    _ foreign: Bool,
    _ known: Known
  ) -> JSON {
    let shown = whole(text, foreign && text.utf8.count >= 5, known)
    return shown == text ? value : .string(shown)
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
  /// Returns whether a text contains a card number, by the rules that mask it, or in the data of a chip.
  package static func holdsCardNumber(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count >= 13
      && (Digits.holdsChipData(text) || !cardNumbers(in: bytes, PlainText(bytes)).isEmpty)
  }

  /// Finds card numbers: 13 to 19 digits with a known range and Luhn digit, separated only between groups.
  ///
  /// The undecoded text is searched too: `%B4…` of a card's track 1 would be decoded as an escape.
  private static func cardNumbers(in bytes: [UInt8], _ plain: PlainText) -> [Range<Int>] {
    let asIs = plain.isChanged ? DigitRuns.cardNumbers(in: bytes) : []
    return asIs + cardNumbers(in: plain)
  }

  private static func cardNumbers(in plain: PlainText) -> [Range<Int>] {
    guard plain.bytes.count(where: DigitRuns.isDigit) >= 13 else { return [] }
    return DigitRuns.cardNumbers(in: plain.bytes).map(plain.place)
  }

  /// Finds learned secrets: as written, decoded, without separators, and in parts of the digits alone.
  private static func secrets(
    in bytes: [UInt8],
    _ plain: PlainText,
    _ known: Known
  ) -> [Range<Int>] {
    guard !known.anywhere.isEmpty else { return [] }
    var found = known.anywhere.places(in: bytes)
    func look(_ prints: Fingerprints, least: Int, where isWanted: (UInt8) -> Bool) {
      let some = plain.bytes.filter(isWanted)
      // If nothing was left out, this text was searched before.
      guard some.count >= least, some.count < bytes.count || plain.isChanged else { return }
      let ranges = prints.places(in: some)
      if ranges.isEmpty { return }
      // The position of the last wanted byte, and the number of wanted bytes before it.
      var (index, seen) = (-1, -1)
      func place(of number: Int) -> Int {
        while seen < number {
          index += 1
          if isWanted(plain.bytes[index]) { seen += 1 }
        }
        return index
      }
      found += ranges.map { range in
        let start = place(of: range.lowerBound)
        return plain.place(of: start..<(place(of: range.upperBound - 1) + 1))
      }
    }
    if plain.isChanged { look(known.anywhere, least: Fingerprints.window) { _ in true } }
    look(known.anywhere, least: Fingerprints.window, where: Fingerprints.isOfCodes)
    guard !known.digits.isEmpty else { return found }
    let digits = plain.bytes.count(where: DigitRuns.isDigit)
    let others = found
    found = []
    if digits == bytes.count, !plain.isChanged {
      found = known.digits.places(in: bytes)
    } else if digits >= part {
      look(known.digits, least: part, where: DigitRuns.isDigit)
    }
    return others + wholeDigits(found, in: bytes)
  }

  /// Extends ranges to the digits next to them: one may end inside the next number, such as a security code, whose
  /// rest would be shown.
  private static func wholeDigits(_ ranges: [Range<Int>], in bytes: [UInt8]) -> [Range<Int>] {
    var reach = 0
    var whole: [Range<Int>] = []
    for range in ranges where range.upperBound > reach {
      var (start, end) = (range.lowerBound, range.upperBound)
      while start > reach, DigitRuns.isDigit(bytes[start - 1]) { start -= 1 }
      while end < bytes.count, DigitRuns.isDigit(bytes[end]) { end += 1 }
      whole.append(start..<end)
      reach = end
    }
    return whole
  }

  /// Finds JSON Web Tokens (`eyJ….….…`) of any issuer.
  private static func tokens(in bytes: [UInt8]) -> [Range<Int>] {
    guard bytes.count > 20 else { return [] }
    let head = Array("eyJ".utf8)
    var found: [Range<Int>] = []
    var index = 0
    while index + head.count <= bytes.count {
      guard bytes[index] == head[0], bytes[index + 1] == head[1], bytes[index + 2] == head[2] else {
        index += 1
        continue
      }
      let token = bytes[index...].prefix { byte in
        DigitRuns.isDigit(byte) || DigitRuns.isLetter(byte) || "-_.=".utf8.contains(byte)
      }
      if token.count > 20, token.contains(UInt8(ascii: ".")) {
        found.append(index..<token.endIndex)
      }
      index = token.endIndex
    }
    return found
  }

  /// Finds short secrets with no letter, digit or dash next to them.
  private static func words(in plain: PlainText, _ words: Fingerprints) -> [Range<Int>] {
    guard words.hasWords else { return [] }
    let bytes = plain.bytes
    var found: [Range<Int>] = []
    var index = 0
    while index < bytes.count {
      let word = bytes[index...].prefix { byte in
        byte == UInt8(ascii: "-") || byte >= 0x80 || DigitRuns.isDigit(byte)
          || DigitRuns.isLetter(byte)
      }
      if words.holdsWord(word) {
        found.append(plain.place(of: index..<word.endIndex))
      }
      index = max(word.endIndex, index + 1)
    }
    return found + spaced(in: plain, words)
  }

  /// Finds short secrets with one or two signs between their digits.
  private static func spaced(in plain: PlainText, _ words: Fingerprints) -> [Range<Int>] {
    let bytes = plain.bytes
    var found: [Range<Int>] = []
    var digits: [UInt8] = []
    var places: [Int] = []
    func end() {
      if digits.count > 2, words.holdsWord(digits), let first = places.first, let last = places.last
      {
        found.append(plain.place(of: first..<(last + 1)))
      }
      digits = []
      places = []
    }
    for (index, byte) in bytes.enumerated() {
      let isPart = DigitRuns.isDigit(byte) || DigitRuns.isLetter(byte) || byte >= 0x80
      guard isPart else { continue }
      let gap = index - (places.last ?? index - 2) - 1
      if !(1...2).contains(gap) { end() }
      let isAlone = index + 1 == bytes.count || !isWord(bytes[index + 1])
      guard DigitRuns.isDigit(byte), isAlone, index == 0 || !isWord(bytes[index - 1]) else {
        end()
        continue
      }
      // A run of so many digits is no short secret, however many follow.
      if digits.count < 64 {
        digits.append(byte)
        places.append(index)
      } else {
        places[places.count - 1] = index
      }
    }
    end()
    return found
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    DigitRuns.isDigit(byte) || DigitRuns.isLetter(byte) || byte >= 0x80
  }

  /// Returns for each value, in reading order, whether it holds a secret's digits together with others. Empty
  /// means that none does.
  private func splitSecrets(in value: JSON) -> [Bool] {
    let prints = known.withLock { $0.split }
    guard !prints.isEmpty else { return [] }
    var digits: [UInt8] = []
    var leaves: [Int] = []
    var leaf = 0
    func walk(_ value: JSON) {
      func take(_ text: String) {
        defer { leaf += 1 }
        // A text with letters is an id or a sentence, and was searched alone.
        guard text.utf8.count <= 200, !text.utf8.contains(where: DigitRuns.isLetter) else { return }
        let plain = PlainText(Array(text.utf8)).bytes
        guard plain.count <= 40, !plain.contains(where: DigitRuns.isLetter) else { return }
        for byte in plain where DigitRuns.isDigit(byte) {
          digits.append(byte)
          leaves.append(leaf)
        }
      }
      switch value {
      case .string(let text), .number(let text): take(text)
      case .integer(let number): take(String(number))
      case .bool, .null: break
      case .array(let elements): for element in elements { walk(element) }
      case .object(let object): for member in object.members { walk(member.value) }
      }
    }
    walk(value)
    let places = prints.places(in: digits)
    var parts = [Bool](repeating: false, count: places.isEmpty ? 0 : leaf)
    for range in places {
      for leaf in leaves[range] { parts[leaf] = true }
    }
    return parts
  }

  /// Returns the text with ranges replaced. Overlapping ranges are merged.
  private static func text(_ bytes: [UInt8], without hidden: [Range<Int>]) -> String {
    var shown: [UInt8] = []
    var index = 0
    var merged: [Range<Int>] = []
    for range in hidden.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound < last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    for range in merged {
      shown += bytes[index..<range.lowerBound] + mark
      index = range.upperBound
    }
    return String(decoding: shown + bytes[index...], as: UTF8.self)
  }
}
