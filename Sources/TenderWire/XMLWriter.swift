/// Writes compact XML: no space between elements, text escaped.
package struct XMLWriter: Sendable {
  /// What has been written, as UTF-8.
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// An element around whatever `content` writes.
  package mutating func element(_ name: String, _ content: (inout XMLWriter) -> Void) {
    raw("<\(name)>")
    content(&self)
    raw("</\(name)>")
  }

  /// An element with text in it; nothing where there is no text.
  package mutating func element(_ name: String, _ text: String?) {
    guard let text else { return }
    raw("<\(name)>")
    write(text)
    raw("</\(name)>")
  }

  /// Markup as it is.
  package mutating func raw(_ markup: String) { bytes += Array(markup.utf8) }

  /// Markup as it is.
  package mutating func raw(_ markup: [UInt8]) { bytes += markup }

  /// Characters that XML 1.0 has no place for (section 2.2) become question marks.
  private mutating func write(_ text: String) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": raw("&amp;")
      case "<": raw("&lt;")
      case ">": raw("&gt;")
      case "\r": raw("&#13;")
      case "\t", "\n": raw(String(scalar))
      default:
        let isAllowed = scalar.value >= 0x20 && scalar.value != 0xfffe && scalar.value != 0xffff
        raw(isAllowed ? String(scalar) : "?")
      }
    }
  }
}
