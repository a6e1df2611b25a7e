/// Reads a JSON object whose texts are secrets. Each secret is copied once, straight into protected memory.
/// All other values are read as usual.
package struct SecretJSON {
  /// The object, with empty text in place of each secret and 0 in place of each long number.
  package let object: JSONObject
  /// The secrets that are direct members of the object, by name.
  package let secrets: [String: SharedSecret]

  /// Reads an object. `open` names members, at any depth, that are not secret.
  ///
  /// Nil if the text is not a JSON object, or if a name occurs twice.
  package init?(_ text: borrowing Secret, open: Set<String>) {
    var scanner = SecretScanner(open: open)
    let isWhole = unsafe text.withBytes { bytes in unsafe scanner.scan(bytes) }
    guard isWhole, let object = JSONReader.read(scanner.shown, duplicates: .refusedStrictly)?.object
    else {
      return nil
    }
    self.object = object
    secrets = scanner.secrets
  }
}

/// Copies a JSON text without its secrets.
///
/// It does not validate: malformed input gives a malformed copy.
private struct SecretScanner {
  /// Longer numbers and names may be card numbers.
  private static let mostDigits = 5

  let open: Set<String>
  private(set) var shown: [UInt8] = []
  private(set) var secrets: [String: SharedSecret] = [:]
  private var depth = 0

  init(open: Set<String>) { self.open = open }

  /// Scans a text. Returns false if a string in it has no end, or is not UTF-8.
  mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    var name: String?
    while index < bytes.count {
      let byte = unsafe bytes[index]
      switch byte {
      case UInt8(ascii: "\""):
        guard let end = unsafe Self.end(of: index, in: bytes) else { return false }
        let text = unsafe UnsafeRawBufferPointer(rebasing: bytes[(index + 1)..<end])
        index = end + 1
        if unsafe Self.isName(behind: index, in: bytes) {
          guard let found = unsafe copy(text) else { return false }
          name = found
        } else if name.map(open.contains) == true {
          guard unsafe copy(text) != nil else { return false }
          name = nil
        } else {
          guard let secret = unsafe Self.unescaped(text) else { return false }
          if depth == 1, let name, secrets[name] == nil { secrets[name] = secret }
          shown += "\"\"".utf8
          name = nil
        }
        continue
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let number = unsafe bytes[index...].prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        if unsafe number.count <= Self.mostDigits {
          unsafe shown.append(contentsOf: number)
        } else {
          // A malformed number stays malformed in the copy.
          shown += unsafe number.first == UInt8(ascii: "0") ? [0x30, 0x30] : [0x30]
        }
        index = unsafe number.endIndex
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      shown.append(byte)
      index += 1
    }
    return true
  }

  /// Returns the place of the quote that ends a string.
  private static func end(of start: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
    var index = start + 1
    while index < bytes.count {
      switch unsafe bytes[index] {
      case UInt8(ascii: "\\"): index += 2
      case UInt8(ascii: "\""): return index
      default: index += 1
      }
    }
    return nil
  }

  private static func isName(behind start: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
    unsafe bytes[start...].first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } == UInt8(ascii: ":")
  }

  /// Copies a name or an open text, unless it has too many digits to be shown.
  ///
  /// Returns the decoded text; nil if it is malformed.
  private mutating func copy(_ text: UnsafeRawBufferPointer) -> String? {
    let digits = unsafe text.count { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    let isSafe = digits < 12
    shown.append(UInt8(ascii: "\""))
    if isSafe { unsafe shown.append(contentsOf: text) } else { shown += "?".utf8 }
    shown.append(UInt8(ascii: "\""))
    guard isSafe else { return unsafe Self.unescaped(text) == nil ? nil : "?" }
    var quoted = [UInt8(ascii: "\"")]
    unsafe quoted.append(contentsOf: text)
    quoted.append(UInt8(ascii: "\""))
    return JSONReader.read(quoted)?.text
  }

  /// Returns the decoded bytes of a quoted text (RFC 8259, section 7); nil if it is malformed.
  private static func unescaped(_ text: UnsafeRawBufferPointer) -> SharedSecret? {
    var check = UTF8Check()
    guard unsafe check.accept(text), check.isComplete else { return nil }
    let secret = unsafe Secret(capacity: text.count) { room in
      var written = 0
      var index = 0
      func put(_ byte: UInt8) {
        unsafe room[written] = byte
        written += 1
      }
      while index < text.count {
        let byte = unsafe text[index]
        index += 1
        guard byte == UInt8(ascii: "\\") else {
          guard byte >= 0x20 else { return nil }
          put(byte)
          continue
        }
        guard index < text.count else { return nil }
        let kind = unsafe text[index]
        index += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): put(kind)
        case UInt8(ascii: "t"): put(9)
        case UInt8(ascii: "n"): put(10)
        case UInt8(ascii: "r"): put(13)
        case UInt8(ascii: "b"): put(8)
        case UInt8(ascii: "f"): put(12)
        case UInt8(ascii: "u"):
          guard let value = unsafe hex(text, index), value & 0xfc00 != 0xdc00 else { return nil }
          index += 4
          if value & 0xfc00 == 0xd800 {
            // The first half of a surrogate pair must be followed by the second.
            guard index + 1 < text.count, unsafe text[index] == UInt8(ascii: "\\"),
              unsafe text[index + 1] == UInt8(ascii: "u"),
              let low = unsafe hex(text, index + 2), low & 0xfc00 == 0xdc00
            else { return nil }
            index += 6
          }
          // Secrets of an instrument are ASCII. A field with anything else is refused later.
          put(value < 0x80 ? UInt8(value) : UInt8(ascii: "?"))
        default: return nil
        }
      }
      return written
    }
    guard let secret else { return nil }
    return SharedSecret(secret)
  }

  private static func hex(_ text: UnsafeRawBufferPointer, _ start: Int) -> UInt32? {
    guard start + 4 <= text.count else { return nil }
    var value: UInt32 = 0
    for place in start..<(start + 4) {
      guard let digit = unsafe Hex.value(text[place]) else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return value
  }
}
