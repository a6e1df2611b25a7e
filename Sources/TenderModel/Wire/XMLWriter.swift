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

  /// An element by its path, `Hdr/InitgPty/Id`, with its text; nil where it is left out.
  ///
  /// A number, as in `AddtlInf#1/Id`, tells an element from a neighbor of the same name.
  package typealias Row = (path: String, text: String?)

  /// Elements in their order; what neighbors have in common is opened once.
  package mutating func write(_ rows: [Row]) {
    var open: [Substring] = []
    func name(_ step: Substring) -> Substring { step.prefix { $0 != "#" } }
    for row in rows where row.text != nil {
      var path = row.path.split(separator: "/")
      let last = path.removeLast()
      let shared = zip(open, path).prefix { $0 == $1 }.count
      for step in open[shared...].reversed() { raw("</\(name(step))>") }
      for step in path[shared...] { raw("<\(name(step))>") }
      open = path
      element(String(name(last)), row.text)
    }
    for step in open.reversed() { raw("</\(name(step))>") }
  }

  /// Markup as it is.
  package mutating func raw(_ markup: String) { bytes += Array(markup.utf8) }

  /// Markup as it is.
  package mutating func raw(_ markup: [UInt8]) { bytes += markup }
}
