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
    let slash = UInt8(ascii: "/")
    // The open elements: each step of their path, and a slash.
    var open: [UInt8] = []
    func close(from start: Int, _ writer: inout XMLWriter) {
      while open.count > start {
        open.removeLast()
        let step = (open.lastIndex(of: slash) ?? -1) + 1
        writer.tag(open[step...], isEnd: true)
        open.removeSubrange(step...)
      }
    }
    for row in rows {
      guard let text = row.text else { continue }
      let path = Array(row.path.utf8)
      var (shared, place) = (0, 0)
      while place < min(open.count, path.count), open[place] == path[place] {
        place += 1
        if path[place - 1] == slash { shared = place }
      }
      close(from: shared, &self)
      while let end = path[shared...].firstIndex(of: slash) {
        tag(path[shared..<end])
        open += path[shared...end]
        shared = end + 1
      }
      element(path[shared...], text)
    }
    close(from: 0, &self)
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
    bytes += step[..<(step.firstIndex(of: UInt8(ascii: "#")) ?? step.endIndex)]
    bytes.append(UInt8(ascii: ">"))
  }

  /// Writes markup unchanged.
  package mutating func raw(_ markup: String) { bytes += markup.utf8 }

  package mutating func raw(_ markup: [UInt8]) { bytes += markup }
}
