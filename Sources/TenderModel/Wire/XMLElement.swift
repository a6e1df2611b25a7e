private import CLibraries

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
      bytes.firstRange(of: Array("<!DOCTYPE".utf8)) == nil, XMLScanner.accepts(bytes)
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
      done.text = done.text.trimmed()
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
            name: unsafe localName(text(tender_xml_name(reader))),
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

  /// A part of a document may have lost the declaration of its prefix.
  private static func localName(_ name: String) -> String {
    name.split(separator: ":", maxSplits: 1).last.map(String.init) ?? name
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
    guard let pointer = unsafe pointer else { return "" }
    return unsafe String(cString: pointer).withBoundedMarks
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

  /// The bytes of the element of a name at a depth of a document (the root has 0), its own tags
  /// included.
  ///
  /// Found by tags alone: whoever trusts these bytes must read what they say from them, and not from
  /// the document. Nil where there is none, or more than one.
  package static func bytes(
    of name: String,
    at depth: Int,
    in document: [UInt8]
  ) -> [UInt8]? {
    var scanner = XMLScanner(document)
    var level = 0
    var start: Int?
    var found: Range<Int>?
    while let tag = scanner.next() {
      if tag.isEnd { level -= 1 }
      if level == depth, isNamed(name, document[tag.name]) {
        if !tag.isEnd {
          guard start == nil, found == nil else { return nil }
          start = tag.range.lowerBound
        }
        if tag.isEnd || tag.isEmpty, let begun = start {
          found = begun..<tag.range.upperBound
          start = nil
        }
      }
      if !tag.isEnd, !tag.isEmpty { level += 1 }
    }
    return scanner.isBroken ? nil : found.map { Array(document[$0]) }
  }

  /// Whether a tag's name is this one, whatever prefix stands before it.
  private static func isNamed(_ name: String, _ bytes: ArraySlice<UInt8>) -> Bool {
    let local = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1).last ?? bytes
    return local.elementsEqual(name.utf8)
  }
}

extension StringProtocol {
  /// The text without what is a space at either end.
  package func trimmed(
    _ isSpace: (Character) -> Bool = { $0.isWhitespace }
  ) -> String {
    guard let first = firstIndex(where: { !isSpace($0) }),
      let last = lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(self[first...last])
  }
}
