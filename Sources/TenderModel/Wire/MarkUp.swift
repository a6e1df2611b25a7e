package enum MarkUp {
  /// Returns the text with markup characters escaped; in an attribute, quotes too.
  ///
  /// Characters that XML 1.0 does not allow (section 2.2) become question marks.
  package static func escape(_ text: some StringProtocol, attribute: Bool = true) -> String {
    // Nearly every text has nothing to escape.
    if text.utf8.allSatisfy(isPlain) { return String(text) }
    var shown = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": shown += "&amp;"
      case "<": shown += "&lt;"
      case ">": shown += "&gt;"
      case "\"" where attribute: shown += "&quot;"
      case "'" where attribute: shown += "&#39;"
      case "\r": shown += "&#13;"
      case "\t", "\n": shown += attribute ? "&#\(scalar.value);" : String(scalar)
      default:
        let isAllowed = scalar.value >= 0x20 && scalar.value != 0xfffe && scalar.value != 0xffff
        shown.unicodeScalars.append(isAllowed ? scalar : "?")
      }
    }
    return shown
  }

  /// Returns whether a byte is a character that never changes: visible ASCII, or a space.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""),
      UInt8(ascii: "'"):
      false
    default: (0x20..<0x80).contains(byte)
    }
  }
}
