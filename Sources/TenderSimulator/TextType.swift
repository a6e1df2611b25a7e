import TenderModel

/// The types of texts in the providers' published schemas: a name, or a set of characters with the least and the
/// largest number of them, such as `digit/4-8`.
enum TextType {
  static func fits(_ text: String, _ type: String) -> Bool {
    let parts = type.split(separator: "/").map(String.init)
    let bounds = parts.count > 1 ? parts[1].split(separator: "-").compactMap { Int($0) } : []
    let length = (bounds.first ?? 0)...(bounds.count > 1 ? bounds[1] : Int.max)
    switch parts[0] {
    case "boolean": return ["true", "false", "1", "0"].contains(text)
    case "amount": return isDecimal(text, fraction: 5, from: 0)
    case "number": return isDecimal(text, fraction: 0, from: nil)
    case "positive": return isDecimal(text, fraction: 0, from: 1)
    case "date": return text.utf8.count == 10 && Timestamp.read(text) != nil
    case "time": return isTime(text)
    case "base64": return Base64.decode(text).map { length.contains($0.count) } ?? false
    case "ibanText": return isIBAN(text)
    case "uuid": return isUUID(text)
    case "email": return isEmail(text)
    case "token": return isToken(text)
    default:
      return length.contains(text.unicodeScalars.count)
        && characters[parts[0]].map { text.unicodeScalars.allSatisfy($0) } ?? false
    }
  }

  private static let digits: ClosedRange<Unicode.Scalar> = "0"..."9"
  private static let capitals: ClosedRange<Unicode.Scalar> = "A"..."Z"
  private static let smalls: ClosedRange<Unicode.Scalar> = "a"..."z"

  private static let characters: [String: @Sendable (Unicode.Scalar) -> Bool] = [
    "text": { _ in true }, "name": { $0 != "(" && $0 != ")" }, "line": { $0 != "\n" },
    "digit": digits.contains, "capital": capitals.contains, "small": smalls.contains,
    "letter": { capitals.contains($0) || smalls.contains($0) }, "word": isWord,
    "reference": { isWord($0) || "-:().,'+ ?/".unicodeScalars.contains($0) },
  ]

  @Sendable
  private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    digits.contains(scalar) || capitals.contains(scalar) || smalls.contains(scalar)
  }

  /// A decimal number of at most 18 digits (XML Schema, `decimal`).
  private static func isDecimal(_ text: String, fraction: Int, from least: Int?) -> Bool {
    let isNegative = text.hasPrefix("-")
    let number = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
    let parts = number.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard number.contains(where: { $0 != "." }),
      parts.allSatisfy({ $0.unicodeScalars.allSatisfy(digits.contains) })
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

  /// Two capital letters, two digits, capital letters and digits.
  private static func isIBAN(_ text: String) -> Bool {
    (15...34).contains(text.unicodeScalars.count)
      && text.unicodeScalars.enumerated().allSatisfy { index, scalar in
        index < 2
          ? capitals.contains(scalar)
          : digits.contains(scalar) || index > 3 && capitals.contains(scalar)
      }
  }

  /// Five groups of hexadecimal digits (RFC 9562, section 4).
  private static func isUUID(_ text: String) -> Bool {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    return groups.map(\.count) == [8, 4, 4, 4, 12]
      && groups.joined().allSatisfy { $0.isASCII && $0.isHexDigit }
  }

  /// Some text, an at sign, and a host with a dot.
  private static func isEmail(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return false }
    let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    return labels.count > 1 && labels.allSatisfy { !$0.isEmpty }
      && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7f }
  }

  /// Two or three parts of base64url, separated by dots.
  private static func isToken(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return text.utf8.count <= 10_000 && parts.count >= 2 && !parts[0].isEmpty && !parts[1].isEmpty
      && text.unicodeScalars.allSatisfy { isWord($0) || "-_=.+/".unicodeScalars.contains($0) }
  }
}
