private import CLibraries

/// An element of a parsed XML document, with local names and without attributes.
package struct XMLElement: Sendable, Hashable {
  package let name: String
  /// The name of the namespace; may be empty.
  package let namespace: String
  /// The character data directly inside the element, without spaces at both ends.
  package var text: String
  package var children: [XMLElement]

  /// Parses a document with libxml2: UTF-8, no document type, at most 4 MiB, 64 levels and 65,536 nodes.
  ///
  /// Nil if it is malformed or exceeds these bounds. Throws `internal` if the library is missing.
  package static func read(_ bytes: [UInt8]) throws(Fault) -> XMLElement? {
    if let problem = unsafe tender_xml_open() {
      throw Fault(.internal, code: "library_missing", unsafe String(cString: problem))
    }
    var check = UTF8Check()
    guard bytes.count <= 4 << 20, check.accept(bytes[...]), check.isComplete,
      // Entities and default attributes are refused: they would add content that the message does not show.
      bytes[...].range(ofText: "<!DOCTYPE") == nil, XMLScanner.accepts(bytes)
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

  /// In a part of a document, the declaration of the prefix may be missing.
  private static func localName(_ name: String) -> String {
    name.split(separator: ":", maxSplits: 1).last.map(String.init) ?? name
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
    guard let pointer = unsafe pointer else { return "" }
    return unsafe String(cString: pointer).withBoundedMarks
  }

  package subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

  /// Returns the text at a path of names separated by `/`; nil if there is none.
  package func text(_ path: String) -> String? {
    var element = self
    for name in path.split(separator: "/") {
      guard let next = element[String(name)] else { return nil }
      element = next
    }
    return element.text
  }

  /// Returns the bytes of an element, its tags included, by its name and depth (the root has depth 0).
  ///
  /// Only tags are examined. A caller that verifies these bytes must read values from them, and not from
  /// the document. Nil if there is no such element, or more than one.
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

  /// Returns whether a tag has this name, with any prefix.
  private static func isNamed(_ name: String, _ bytes: ArraySlice<UInt8>) -> Bool {
    let local = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1).last ?? bytes
    return local.elementsEqual(name.utf8)
  }
}

extension StringProtocol {
  /// Returns the text without white space at either end.
  package func trimmed(
    _ isSpace: (Character) -> Bool = { $0.isWhitespace }
  ) -> String {
    guard let first = firstIndex(where: { !isSpace($0) }),
      let last = lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(self[first...last])
  }
}
