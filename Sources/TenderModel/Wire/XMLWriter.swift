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
    raw(MarkUp.escape(text, attribute: false))
    raw("</\(name)>")
  }

  /// Markup as it is.
  package mutating func raw(_ markup: String) { bytes += Array(markup.utf8) }

  /// Markup as it is.
  package mutating func raw(_ markup: [UInt8]) { bytes += markup }
}
