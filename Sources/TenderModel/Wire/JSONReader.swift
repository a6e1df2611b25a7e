/// Reads JSON text (RFC 8259) in one pass. Members stay in order, numbers exact, size and depth bounded.
package enum JSONReader {
  /// How to handle a name that occurs twice in an object.
  package enum Duplicates: Sendable {
    /// The last value counts.
    case lastCounts
    /// The text is refused, because readers differ in the value that counts (RFC 8259, section 4).
    case refused
    /// The same for a text that a user writes: half of a surrogate pair is refused too.
    case refusedStrictly
  }

  /// The maximum depth of arrays and objects.
  package static let depthLimit = 64

  /// Returns what is wrong with a text that is not an object by the strict rules, for a message.
  package static func flaw(_ bytes: some Collection<UInt8>) -> String {
    if read(bytes, duplicates: .refused)?.object != nil {
      return "has half of a surrogate pair (\\ud800 to \\udfff), which is no character"
    }
    // Readers differ in the value that counts. So neither does.
    return read(bytes)?.object == nil ? "is not a JSON object" : "has a key twice"
  }

  /// Reads a JSON text of at most `limit` bytes; nil if it is not JSON.
  package static func read(
    _ bytes: some Collection<UInt8>,
    duplicates: Duplicates = .lastCounts,
    limit: Int = 8 << 20
  ) -> JSON? {
    guard !bytes.isEmpty, bytes.count <= limit else { return nil }
    var text = JSONText(Array(bytes), duplicates)
    return text.whole()
  }

  /// Reads a JSON text; nil if it is not JSON.
  package static func read(
    _ text: String,
    duplicates: Duplicates = .lastCounts,
    limit: Int = 8 << 20
  ) -> JSON? {
    read(text.utf8, duplicates: duplicates, limit: limit)
  }
}

/// A JSON text and the current position. Each method returns nil if the text is malformed.
private struct JSONText {
  private let bytes: [UInt8]
  private let duplicates: JSONReader.Duplicates
  private var index = 0

  init(_ bytes: [UInt8], _ duplicates: JSONReader.Duplicates) {
    self.bytes = bytes
    self.duplicates = duplicates
  }

  mutating func whole() -> JSON? {
    var check = UTF8Check()
    guard check.accept(bytes[...]), check.isComplete else { return nil }
    // Some writers begin with a byte order mark, which may be ignored (RFC 8259, section 8.1).
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
    guard let value = value(depth: 0) else { return nil }
    skipSpace()
    return index == bytes.count ? value : nil
  }

  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipSpace() {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09, 0x0a, 0x0d: index += 1
      default: return
      }
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    index += 1
    return true
  }

  private mutating func take(_ word: String) -> Bool {
    guard bytes[index...].starts(with: word.utf8) else { return false }
    index += word.utf8.count
    return true
  }

  private mutating func value(depth: Int) -> JSON? {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map(JSON.string)
    case UInt8(ascii: "t"): return take("true") ? true : nil
    case UInt8(ascii: "f"): return take("false") ? false : nil
    case UInt8(ascii: "n"): return take("null") ? .null : nil
    default: return number()
    }
  }

  private mutating func array(depth: Int) -> JSON? {
    guard depth < JSONReader.depthLimit else { return nil }
    index += 1
    var elements: [JSON] = []
    skipSpace()
    if take(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      guard let element = value(depth: depth + 1) else { return nil }
      elements.append(element)
      skipSpace()
      if take(UInt8(ascii: "]")) { return .array(elements) }
      guard take(UInt8(ascii: ",")) else { return nil }
    }
  }

  private mutating func object(depth: Int) -> JSON? {
    guard depth < JSONReader.depthLimit else { return nil }
    index += 1
    var members: [JSONObject.Member] = []
    var places: [[UInt8]: Int] = [:]
    skipSpace()
    if take(UInt8(ascii: "}")) { return .object(JSONObject(members)) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\""), let name = string() else { return nil }
      skipSpace()
      guard take(UInt8(ascii: ":")), let value = value(depth: depth + 1) else { return nil }
      if let place = Self.place(of: name, in: members, &places) {
        guard duplicates == .lastCounts else { return nil }
        members[place].value = value
      } else {
        if !places.isEmpty { places[Array(name.utf8)] = members.count }
        members.append(JSONObject.Member(key: name, value: value))
      }
      skipSpace()
      if take(UInt8(ascii: "}")) { return .object(JSONObject(members)) }
      guard take(UInt8(ascii: ",")) else { return nil }
    }
  }

  /// Returns the index of a name. For a long object `places` maps names to indexes, so that reading stays
  /// linear; for a short one it is empty.
  private static func place(
    of name: String,
    in members: [JSONObject.Member],
    _ places: inout [[UInt8]: Int]
  ) -> Int? {
    guard members.count >= 64 else {
      let length = name.utf8.count
      return members.firstIndex {
        $0.key.utf8.count == length && $0.key.utf8.elementsEqual(name.utf8)
      }
    }
    if places.isEmpty {
      for (index, member) in members.enumerated() { places[Array(member.key.utf8)] = index }
    }
    return places[Array(name.utf8)]
  }

  private mutating func string() -> String? {
    index += 1
    let start = index
    let end = unsafe bytes.withUnsafeBufferPointer { bytes in
      var end = start
      while end < bytes.count {
        let byte = unsafe bytes[end]
        if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
        end += 1
      }
      return end
    }
    index = end
    if next == UInt8(ascii: "\\") { return escaped(from: start) }
    guard take(UInt8(ascii: "\"")) else { return nil }
    return String(decoding: bytes[start..<end], as: UTF8.self).withBoundedMarks
  }

  /// Reads a string that has an escape, from its first byte on.
  private mutating func escaped(from start: Int) -> String? {
    var text = Array(bytes[start..<index])
    while let byte = next {
      index += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self).withBoundedMarks
      case UInt8(ascii: "\\"):
        guard let scalar = escape() else { return nil }
        text += Array(String(scalar).utf8)
      case 0..<0x20: return nil
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    guard let byte = next else { return nil }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return unicode()
    default: return nil
    }
  }

  /// Reads four digits, and the second half of a surrogate pair if they are the first.
  private mutating func unicode() -> Unicode.Scalar? {
    guard let first = codeUnit() else { return nil }
    if let scalar = Unicode.Scalar(UInt32(first)) { return scalar }
    let behind = index
    if (0xd800..<0xdc00).contains(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
      guard let second = codeUnit() else { return nil }
      if (0xdc00..<0xe000).contains(second) {
        return Unicode.Scalar(
          0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00)
        )
      }
    }
    guard duplicates != .refusedStrictly else { return nil }
    // Half of a surrogate pair is dropped. The text after it is read as usual.
    index = behind
    return "\u{fffd}"
  }

  private mutating func codeUnit() -> UInt16? {
    guard index + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for byte in bytes[index..<(index + 4)] {
      guard let digit = Hex.value(byte) else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    index += 4
    return unit
  }

  private mutating func digits() -> Range<Int>? {
    let start = index
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
    return index > start ? start..<index : nil
  }

  private mutating func number() -> JSON? {
    let start = index
    let isNegative = take(UInt8(ascii: "-"))
    guard let whole = digits(), whole.count == 1 || bytes[whole.lowerBound] != UInt8(ascii: "0")
    else { return nil }
    var fraction = index..<index
    if take(UInt8(ascii: ".")) {
      guard let digits = digits() else { return nil }
      fraction = digits
    }
    var exponent = 0
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      let isDown = take(UInt8(ascii: "-"))
      if !isDown { _ = take(UInt8(ascii: "+")) }
      guard let power = digits() else { return nil }
      // With a larger exponent, every number but 0 is far beyond 64 bits.
      exponent = bytes[power].reduce(0) { min($0 * 10 + Int($1 - UInt8(ascii: "0")), 1_000_000) }
      if isDown { exponent = -exponent }
    }
    if let integer = integer(isNegative, whole, fraction, exponent) { return .integer(integer) }
    return .number(String(decoding: bytes[start..<index], as: UTF8.self))
  }

  /// Returns the 64-bit integer that a number equals, in any notation; nil for any other.
  private func integer(
    _ isNegative: Bool,
    _ whole: Range<Int>,
    _ fraction: Range<Int>,
    _ exponent: Int
  ) -> Int? {
    if fraction.isEmpty, exponent == 0, whole.count < 19 {
      // Nearly every number. It cannot overflow.
      let value = bytes[whole].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
      return isNegative ? -value : value
    }
    var behind = bytes[fraction]
    while behind.last == UInt8(ascii: "0") { behind = behind.dropLast() }
    let shift = exponent - behind.count
    var value = 0
    for byte in [bytes[whole], behind].joined() {
      let digit = Int(byte - UInt8(ascii: "0"))
      let (tenfold, isOver) = value.multipliedReportingOverflow(by: 10)
      let (next, isOut) = tenfold.addingReportingOverflow(isNegative ? -digit : digit)
      guard !isOver, !isOut else { return nil }
      value = next
    }
    guard value != 0 else { return 0 }
    for _ in 0..<min(abs(shift), 40) {
      if shift > 0 {
        let (tenfold, isOver) = value.multipliedReportingOverflow(by: 10)
        guard !isOver else { return nil }
        value = tenfold
      } else {
        guard value % 10 == 0 else { return nil }
        value /= 10
      }
    }
    return abs(shift) > 40 ? nil : value
  }
}
