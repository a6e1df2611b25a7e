/// Finds the tags of an XML document, and skips comments, instructions and character data.
///
/// The length of a tag is bounded, so that a parser never has to compare a hundred thousand attributes.
struct XMLScanner {
  /// A tag. `range` includes its angle brackets.
  struct Tag {
    let name: Range<Int>
    let range: Range<Int>
    let isEnd: Bool
    /// Whether the tag begins and ends an element, as in `<a/>`.
    let isEmpty: Bool
  }

  private let bytes: [UInt8]
  private var index = 0
  /// Whether the text is not a document, or exceeds the bounds.
  private(set) var isBroken = false
  private static let longest = 8192
  private static let mostAttributes = 64

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns whether every tag of a document is within the bounds.
  static func accepts(_ bytes: [UInt8]) -> Bool {
    var scanner = XMLScanner(bytes)
    while scanner.next() != nil {}
    return !scanner.isBroken
  }

  /// Returns the next tag; nil at the end or if the document is broken.
  mutating func next() -> Tag? {
    while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
      index = start
      if skip("<!--", to: "-->") || skip("<![CDATA[", to: "]]>") || skip("<?", to: "?>") {
        continue
      }
      guard !isBroken else { return nil }
      return tag()
    }
    return nil
  }

  /// Skips a part with this opening and closing. Marks the document as broken if it has no end.
  private mutating func skip(_ opening: String, to closing: String) -> Bool {
    guard bytes[index...].starts(with: opening.utf8) else { return false }
    let inside = bytes[(index + opening.utf8.count)...]
    guard let end = inside.range(ofText: closing) else {
      isBroken = true
      return false
    }
    index = end.upperBound
    return true
  }

  private mutating func tag() -> Tag? {
    let start = index
    var place = start + 1
    let isEnd = place < bytes.count && bytes[place] == UInt8(ascii: "/")
    if isEnd { place += 1 }
    let nameStart = place
    while place < bytes.count, Self.isName(bytes[place]) { place += 1 }
    let name = nameStart..<place
    var quote: UInt8?
    var attributes = 0
    while place < bytes.count, place - start <= Self.longest {
      let byte = bytes[place]
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
        attributes += 1
        guard attributes <= Self.mostAttributes else { break }
      } else if byte == UInt8(ascii: ">") {
        index = place + 1
        return Tag(
          name: name,
          range: start..<index,
          isEnd: isEnd,
          isEmpty: bytes[place - 1] == UInt8(ascii: "/")
        )
      }
      place += 1
    }
    isBroken = true
    return nil
  }

  private static func isName(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte != UInt8(ascii: ">") && byte != UInt8(ascii: "/")
      && byte != UInt8(ascii: "=")
  }
}

extension ArraySlice<UInt8> {
  /// Returns the first range of bytes that are a text; nil if there is none.
  ///
  /// `firstRange(of:)` is generic, and took a fifth of a sale's time.
  package func range(ofText text: String) -> Range<Int>? {
    let wanted = Array(text.utf8)
    guard let first = wanted.first else { return nil }
    var start = startIndex
    while let place = self[start...].firstIndex(of: first), place + wanted.count <= endIndex {
      let end = place + wanted.count
      if self[place..<end].elementsEqual(wanted) { return place..<end }
      start = place + 1
    }
    return nil
  }
}
