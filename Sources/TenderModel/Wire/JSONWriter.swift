/// Writes JSON text on one line, with members in order and only the necessary escapes.
package struct JSONWriter {
  /// The text so far as UTF-8, without its secrets.
  package private(set) var bytes: [UInt8] = []
  /// The secrets, each with the byte position where it belongs.
  private var secrets: [(place: Int, secret: SharedSecret)] = []
  private var needsComma = false

  package init(reserving capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  /// Returns the text of a value.
  package static func text(_ value: JSON) -> String {
    var writer = JSONWriter()
    writer.write(value)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  package mutating func write(_ value: JSON) {
    separate()
    switch value {
    case .null: append("null")
    case .bool(let truth): append(truth ? "true" : "false")
    case .integer(let number): append(number)
    case .number(let text): append(text)
    case .string(let text): appendQuoted(text.utf8)
    case .array(let elements):
      open(UInt8(ascii: "["))
      for element in elements { write(element) }
      close(UInt8(ascii: "]"))
      return
    case .object(let object):
      open(UInt8(ascii: "{"))
      write(members: object)
      close(UInt8(ascii: "}"))
      return
    }
    needsComma = true
  }

  package mutating func beginObject() {
    separate()
    open(UInt8(ascii: "{"))
  }

  package mutating func endObject() { close(UInt8(ascii: "}")) }

  /// Writes a member's name; its value follows.
  package mutating func name(_ name: String) {
    separate()
    appendQuoted(name.utf8)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func write(members: JSONObject) {
    for member in members.members {
      name(member.key)
      write(member.value)
    }
  }

  /// Writes existing JSON text byte for byte.
  package mutating func verbatim(_ text: String) {
    separate()
    bytes += text.utf8
    needsComma = true
  }

  /// Writes a secret as a string. It is added to the text by `whole`.
  package mutating func write(_ secret: SharedSecret) {
    separate()
    append("\"")
    secrets.append((bytes.count, Self.escaped(secret)))
    append("\"")
    needsComma = true
  }

  /// Returns the secret with JSON escapes. Most secrets need none.
  private static func escaped(_ secret: SharedSecret) -> SharedSecret {
    let isPlain = unsafe secret.secret.withBytes { bytes in
      unsafe bytes.allSatisfy { (0x20...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }
    }
    if isPlain { return secret }
    var copy: [UInt8] = []
    secret.secret.append(to: &copy)
    var quoted = JSONWriter(reserving: 6 * copy.count + 2)
    quoted.appendQuoted(copy)
    copy.wipe()
    var inner = Array(quoted.bytes.dropFirst().dropLast())
    quoted.wipe()
    return SharedSecret(consuming: &inner)
  }

  /// The text with its secrets inserted.
  package var whole: Secret {
    let count = secrets.reduce(bytes.count) { $0 + $1.secret.secret.count }
    let text = unsafe Secret(capacity: count) { room in
      var written = 0
      var taken = 0
      for (place, secret) in secrets {
        unsafe Self.copy(bytes[taken..<place], to: room, at: written)
        written += place - taken
        taken = place
        unsafe secret.secret.withBytes { unsafe Self.copy($0, to: room, at: written) }
        written += secret.secret.count
      }
      unsafe Self.copy(bytes[taken...], to: room, at: written)
      return count
    }
    // The closure always returns a length, so this is never nil.
    return text ?? Secret("")
  }

  /// Erases the secrets for every owner.
  package func eraseSecrets() { for (_, secret) in secrets { secret.secret.erase() } }

  private static func copy(
    _ bytes: some Collection<UInt8>,
    to room: UnsafeMutableRawBufferPointer,
    at place: Int
  ) {
    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[place...])
    unsafe target.copyBytes(from: bytes)
  }

  package mutating func wipe() { bytes.wipe() }

  private mutating func append(_ text: String) { bytes += text.utf8 }

  private mutating func append(_ number: Int) {
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    var (first, left) = (bytes.count, number.magnitude)
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(left % 10))
      left /= 10
    } while left > 0
    var last = bytes.count - 1
    while first < last {
      bytes.swapAt(first, last)
      (first, last) = (first + 1, last - 1)
    }
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = false
  }

  private mutating func open(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func appendQuoted(_ text: some Sequence<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    let start = bytes.count
    let isPlain = text.withContiguousStorageIfAvailable { text in
      // Nearly every text is plain, and is appended at once.
      guard unsafe Self.isPlain(text) else { return false }
      unsafe bytes.append(contentsOf: text)
      return true
    }
    if isPlain != true { appendEscaped(text, from: start) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Returns whether no byte needs an escape. Eight bytes are compared at a time.
  private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard bytes.count >= 8 else {
      return unsafe bytes.allSatisfy {
        $0 &- 0x20 < 0x5f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
      }
    }
    let ones: UInt64 = 0x0101_0101_0101_0101
    let raw = UnsafeRawBufferPointer(bytes)
    var marks: UInt64 = 0
    for place in stride(from: 0, to: bytes.count, by: 8) {
      let word = unsafe raw.loadUnaligned(
        fromByteOffset: min(place, bytes.count - 8),
        as: UInt64.self
      )
      // Each subtraction sets the highest bit of a byte below 0x20, or of one that equals another.
      marks |= word | (word &- 0x20 * ones) | ((word ^ 0x22 * ones) &- ones)
      marks |= ((word ^ 0x5c * ones) &- ones) | ((word ^ 0x7f * ones) &- ones)
    }
    return marks & (0x80 * ones) == 0
  }

  private mutating func appendEscaped(_ text: some Sequence<UInt8>, from start: Int) {
    for byte in text {
      switch byte {
      case 0x80...0xbf:
        bytes.append(byte)
        escapeInvisible(from: start)
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case UInt8(ascii: "\n"): append("\\n")
      case UInt8(ascii: "\r"): append("\\r")
      case UInt8(ascii: "\t"): append("\\t")
      case 0..<0x20, 0x7f:
        append("\\u00")
        bytes += [Self.hex(byte >> 4), Self.hex(byte & 15)]
      default: bytes.append(byte)
      }
    }
  }

  /// Escapes the character that just ended if it controls a terminal or hides text.
  ///
  /// Every reader gets the same value, and the printed text shows its contents.
  private mutating func escapeInvisible(from start: Int) {
    var (place, width, value) = (bytes.count - 1, 1, UInt32(0))
    while place > start, width < 4, bytes[place] & 0xc0 == 0x80 {
      value |= UInt32(bytes[place] & 0x3f) << UInt32(6 * (width - 1))
      (place, width) = (place - 1, width + 1)
    }
    value |= UInt32(bytes[place] & (0x7f >> UInt8(width))) << UInt32(6 * (width - 1))
    guard width > 1, (~bytes[place]).leadingZeroBitCount == width, Printable.isHarmful(value),
      let scalar = Unicode.Scalar(value)
    else { return }
    bytes.removeLast(width)
    // Beyond U+FFFF it is a pair of surrogates (RFC 8259, section 7).
    for unit in String(scalar).utf16 {
      append("\\u")
      for shift in [12, 8, 4, 0] { bytes.append(Self.hex(UInt8(unit >> shift & 15))) }
    }
  }

  private static func hex(_ nibble: UInt8) -> UInt8 {
    nibble + (nibble < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
  }
}
