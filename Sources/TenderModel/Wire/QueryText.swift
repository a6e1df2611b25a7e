/// The query of a web address: names and values with percent escapes (WHATWG URL,
/// "application/x-www-form-urlencoded").
package enum QueryText {
  /// Returns the parameters by name, at most 64. If a name repeats, its first value counts.
  package static func parameters(_ query: String) -> [String: String] {
    var found: [String: String] = [:]
    // Bytes are used, because splitting a long text by characters is many times slower.
    for pair in query.utf8.split(separator: UInt8(ascii: "&")).prefix(64) {
      let mark = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      let name = decode(Substring(pair[..<mark]))
      if found[name] == nil { found[name] = decode(Substring(pair[mark...].dropFirst())) }
    }
    return found
  }

  /// Returns the text with percent escapes and plus signs decoded. Invalid escapes stay.
  package static func decode(_ text: some StringProtocol) -> String {
    let bytes = Array(text.utf8)
    var plain: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = Hex.value(bytes[index + 1]), let low = Hex.value(bytes[index + 2])
      {
        plain.append(high << 4 | low)
        index += 3
      } else {
        plain.append(bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
        index += 1
      }
    }
    return String(decoding: plain, as: UTF8.self)
  }

  /// Returns the text with all but unreserved characters escaped (RFC 3986, section 2.3).
  package static func encode(_ text: String) -> String {
    var shown: [UInt8] = []
    for byte in Array(text.utf8) {
      let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      if isLetter || isDigit || "-._~".utf8.contains(byte) {
        shown.append(byte)
      } else {
        shown += "%\(Hex.encode([byte]))".utf8
      }
    }
    return String(decoding: shown, as: UTF8.self)
  }
}
