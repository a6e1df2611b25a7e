import TenderModel

/// The simple types of the published schemas: lengths, patterns and ranges (the V12 set).
enum GatewayTypes {
  private static func isOf(_ name: String, _ scalar: Unicode.Scalar) -> Bool {
    switch name {
    case "text": true
    case "digit": isDigit(scalar)
    case "capital": ("A"..."Z" as ClosedRange<Unicode.Scalar>).contains(scalar)
    case "letter": isLetter(scalar)
    case "word": isDigit(scalar) || isLetter(scalar)
    default: false
    }
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
    ("0"..."9" as ClosedRange<Unicode.Scalar>).contains(scalar)
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII && scalar.properties.isAlphabetic
  }

  /// Whether a text is of a type: a name, or a set of characters with the least and the largest length.
  static func fits(_ text: String, _ type: String) -> Bool {
    let parts = type.unicodeScalars.split { $0 == "/" || $0 == "-" }.map { String($0) }
    let length = parts.count == 3 ? (Int(parts[1]) ?? 0)...(Int(parts[2]) ?? 0) : 0...Int.max
    switch parts[0] {
    case "boolean": return ["true", "false", "1", "0"].contains(text)
    case "amount": return isDecimal(text, fraction: 5, from: 0)
    case "number": return isDecimal(text, fraction: 0, from: nil)
    case "positive": return isDecimal(text, fraction: 0, from: 1)
    case "date": return text.utf8.count == 10 && Timestamp.read(text) != nil
    case "time": return isTime(text)
    case "base64": return Base64.decode(text).map { length.contains($0.count) } ?? false
    default:
      return length.contains(text.unicodeScalars.count)
        && text.unicodeScalars.allSatisfy { isOf(parts[0], $0) }
    }
  }

  /// A decimal number of at most 18 digits (XML Schema, `decimal`).
  private static func isDecimal(_ text: String, fraction: Int, from least: Int?) -> Bool {
    let isNegative = text.hasPrefix("-")
    let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
    let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard digits.contains(where: { $0 != "." }),
      parts.allSatisfy({ $0.unicodeScalars.allSatisfy(isDigit) })
    else { return false }
    // Zeros at both ends do not count.
    let whole = parts[0].drop { $0 == "0" }
    let rest = parts.count > 1 ? String(parts[1].reversed().drop { $0 == "0" }) : ""
    guard rest.count <= fraction, whole.count + rest.count <= 18 else { return false }
    let isZero = whole.isEmpty && rest.isEmpty
    return least.map { !(isNegative && !isZero) && ($0 == 0 || !whole.isEmpty) } ?? true
  }

  /// A date and a time, with or without a zone (XML Schema, `dateTime`).
  private static func isTime(_ text: String) -> Bool {
    guard text.utf8.count >= 19, text.utf8.dropFirst(10).first == UInt8(ascii: "T") else {
      return false
    }
    let zone = text.dropFirst(19).drop { $0 == "." || $0.isNumber }
    return Timestamp.read(zone.isEmpty ? text + "Z" : text) != nil
  }
}
