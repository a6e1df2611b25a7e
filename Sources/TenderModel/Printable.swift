/// Text from outside that is printed on a terminal.
package enum Printable {
  /// Returns the text with each character that controls a terminal or hides text replaced by a question mark.
  ///
  /// These are control characters, bidirectional overrides and characters without width.
  package static func text(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      if isHarmful(scalar.value) { shown += "?" } else { shown.unicodeScalars.append(scalar) }
    }
    return shown
  }

  /// Returns whether a code point controls a terminal or hides text.
  package static func isHarmful(_ value: UInt32) -> Bool {
    switch value {
    case 0..<0x20, 0x7f..<0xa0, 0xad, 0x34f, 0x61c, 0x115f...0x1160, 0x17b4...0x17b5, 0x180e,
      0x200b...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0x3164, 0xfeff, 0xffa0,
      0xfff0...0xfffb, 0x1bca0...0x1bca3, 0xe0000...0xe0fff:
      true
    default: false
    }
  }
}
