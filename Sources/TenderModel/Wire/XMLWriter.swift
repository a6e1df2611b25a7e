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
    element(Array(name.utf8)[...], text)
  }

  /// An element by its path, such as `Hdr/InitgPty/Id`, with its text. An element with nil is left out.
  ///
  /// A number, as in `AddtlInf#1/Id`, separates neighbors with the same name.
  package typealias Row = (path: String, text: String?)

  /// Writes elements in order. Common parents of neighbors are opened once.
  package mutating func write(_ rows: [Row]) {
    var open: [ArraySlice<UInt8>] = []
    for row in rows {
      guard let text = row.text else { continue }
      var path = Array(row.path.utf8).split(separator: UInt8(ascii: "/"))
      let last = path.removeLast()
      var shared = 0
      while shared < min(open.count, path.count), open[shared] == path[shared] { shared += 1 }
      for step in open[shared...].reversed() { tag(step, isEnd: true) }
      for step in path[shared...] { tag(step) }
      open = path
      element(last, text)
    }
    for step in open.reversed() { tag(step, isEnd: true) }
  }

  private mutating func element(_ step: ArraySlice<UInt8>, _ text: String) {
    tag(step)
    bytes += MarkUp.escape(text, attribute: false).utf8
    tag(step, isEnd: true)
  }

  /// Writes a tag with the name of a step, without its number.
  private mutating func tag(_ step: ArraySlice<UInt8>, isEnd: Bool = false) {
    bytes.append(UInt8(ascii: "<"))
    if isEnd { bytes.append(UInt8(ascii: "/")) }
    bytes += step.prefix { $0 != UInt8(ascii: "#") }
    bytes.append(UInt8(ascii: ">"))
  }

  /// Writes markup unchanged.
  package mutating func raw(_ markup: String) { bytes += markup.utf8 }

  package mutating func raw(_ markup: [UInt8]) { bytes += markup }
}
