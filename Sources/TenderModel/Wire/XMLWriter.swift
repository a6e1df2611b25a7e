/// Writes compact XML: no space between elements, and escaped text.
package struct XMLWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Writes an element around the content that the closure writes.
  package mutating func element(_ name: String, _ content: (inout XMLWriter) -> Void) {
    raw("<\(name)>")
    content(&self)
    raw("</\(name)>")
  }

  /// Writes an element with text; nothing if the text is nil.
  package mutating func element(_ name: String, _ text: String?) {
    guard let text else { return }
    raw("<\(name)>")
    raw(MarkUp.escape(text, attribute: false))
    raw("</\(name)>")
  }

  /// An element by its path, such as `Hdr/InitgPty/Id`, with its text. An element with nil is left out.
  ///
  /// A number, as in `AddtlInf#1/Id`, separates neighbors with the same name.
  package typealias Row = (path: String, text: String?)

  /// Writes elements in order. Common parents of neighbors are opened once.
  package mutating func write(_ rows: [Row]) {
    var open: [Substring] = []
    func name(_ step: Substring) -> Substring { step.prefix(before: "#") }
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

  /// Writes markup unchanged.
  package mutating func raw(_ markup: String) { bytes += Array(markup.utf8) }

  package mutating func raw(_ markup: [UInt8]) { bytes += markup }
}
