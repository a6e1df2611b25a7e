private import CXML2
package import TenderModel

/// An element of a parsed XML document: local names, attributes left out.
package struct XMLElement: Sendable, Hashable {
  package let name: String
  /// The namespace's name; empty for none.
  package let namespace: String
  /// The character data right below it, spaces at both ends taken off.
  package var text: String
  package var children: [XMLElement]

  /// Reads a document by libxml2: UTF-8, no document type, at most 4 MiB, 64 levels and 65,536 nodes.
  ///
  /// Nil for what is not well formed, or beyond these bounds. Throws `internal` where the library is
  /// not there.
  package static func read(_ bytes: [UInt8]) throws(Fault) -> XMLElement? {
    if let problem = unsafe tender_xml_open() {
      throw Fault(.internal, code: "library_missing", unsafe String(cString: problem))
    }
    var check = UTF8Check()
    guard bytes.count <= 4 << 20, check.accept(bytes[...]), check.isComplete,
      // Neither entities nor defaults: nothing in a message may mean more than it says.
      bytes.firstRange(of: Array("<!DOCTYPE".utf8)) == nil
    else { return nil }
    return unsafe bytes.withUnsafeBytes { raw in
      let start = unsafe raw.baseAddress?.assumingMemoryBound(to: CChar.self)
      guard let start = unsafe start,
        let reader = unsafe tender_xml_begin(start, Int32(raw.count))
      else { return nil }
      defer { unsafe tender_xml_end(reader) }
      return unsafe tree(reader)
    }
  }

  private static func tree(_ reader: OpaquePointer) -> XMLElement? {
    var open: [XMLElement] = []
    var root: XMLElement?
    var count = 0
    func close() {
      guard var done = open.popLast() else { return }
      done.text = done.text.trimmed
      if open.isEmpty { root = done } else { open[open.count - 1].children.append(done) }
    }
    while true {
      let status = unsafe tender_xml_next(reader)
      guard status == 1 else { return status == 0 ? root : nil }
      count += 1
      guard count <= 65_536, open.count <= 64 else { return nil }
      switch unsafe tender_xml_kind(reader) {
      case TENDER_XML_ELEMENT:
        open.append(
          XMLElement(
            name: unsafe text(tender_xml_name(reader)),
            namespace: unsafe text(tender_xml_namespace(reader)),
            text: "",
            children: []
          )
        )
        if unsafe tender_xml_is_empty(reader) == 1 { close() }
      case TENDER_XML_END: close()
      case TENDER_XML_TEXT, TENDER_XML_CDATA:
        if !open.isEmpty { open[open.count - 1].text += unsafe text(tender_xml_value(reader)) }
      case TENDER_XML_SPACE, TENDER_XML_SIGNIFICANT_SPACE, TENDER_XML_COMMENT,
        TENDER_XML_INSTRUCTION:
        break
      default: return nil
      }
    }
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
    guard let pointer = unsafe pointer else { return "" }
    return unsafe String(cString: pointer)
  }

  /// The first child of a name.
  package subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

  /// The text at the end of a path of names separated by `/`; nil where there is none.
  package func text(_ path: String) -> String? {
    var element = self
    for name in path.split(separator: "/") {
      guard let next = element[String(name)] else { return nil }
      element = next
    }
    return element.text
  }

  /// The bytes of the first element of a name in a document, its own tags included.
  ///
  /// Found by its tags alone: whoever trusts these bytes must read what they say from them, and not
  /// from the document. Nil where there is no such element.
  package static func bytes(of name: String, in document: [UInt8]) -> [UInt8]? {
    let opening = Array("<\(name)".utf8)
    var place = document.startIndex
    while let found = document[place...].firstRange(of: opening) {
      place = found.upperBound
      // `<Plan` also begins `<PlanReplacement`.
      let after = document[place...].first ?? 0
      guard [UInt8(ascii: ">"), UInt8(ascii: " "), 9, 10, 13].contains(after) else { continue }
      guard let end = document[place...].firstRange(of: Array("</\(name)>".utf8)) else {
        return nil
      }
      return Array(document[found.lowerBound..<end.upperBound])
    }
    return nil
  }
}

extension String {
  fileprivate var trimmed: String {
    let isSpace = { (character: Character) in character.isWhitespace }
    guard let first = firstIndex(where: { !isSpace($0) }),
      let last = lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(self[first...last])
  }
}
