private import Platform

/// Searches and splits text by its bytes.
///
/// The standard library compares Characters. A combining mark after a separator hides the separator, and each step
/// takes ten times as long. The compiler prefers these methods in each file that imports this room, because a
/// literal is a `String` first.
extension StringProtocol where SubSequence == Substring {
  /// The whole text. With `...`, other rooms would work out a generic type at each call.
  private var whole: Substring { self[startIndex..<endIndex] }

  /// Returns the texts between separators. After `maxSplits` of them, the last one is the rest.
  package func split(
    separator: String,
    maxSplits: Int = .max,
    omittingEmptySubsequences: Bool = true
  ) -> [Substring] {
    let text = whole
    return unsafe ByteSearch.withBytes(text, separator) { bytes, separator in
      var parts: [Substring] = []
      var (start, place) = (text.startIndex, 0)
      while parts.count < maxSplits,
        let found = unsafe ByteSearch.place(of: separator, in: bytes, place)
      {
        let end = text.utf8.index(start, offsetBy: found - place)
        if found > place || !omittingEmptySubsequences { parts.append(text[start..<end]) }
        start = text.utf8.index(end, offsetBy: separator.count)
        place = found + separator.count
      }
      if place < bytes.count || !omittingEmptySubsequences { parts.append(text[start...]) }
      return parts
    }
  }

  /// Returns the range of the first occurrence of another text.
  package func firstRange(of other: String) -> Range<Index>? { whole.range(of: other) }

  /// Returns the start of the first occurrence of another text.
  package func firstIndex(of other: String) -> Index? { firstRange(of: other)?.lowerBound }

  /// Returns the start of the last occurrence of another text.
  package func lastIndex(of other: String) -> Index? {
    var (rest, last) = (self[...], nil as Index?)
    while !rest.isEmpty, let found = rest.firstRange(of: other) {
      (rest, last) = (rest[found.upperBound...], found.lowerBound)
    }
    return last
  }

  /// Returns the text before the first occurrence of another one, or the whole text.
  package func prefix(before other: String) -> Substring {
    let text = whole
    return text.range(of: other).map { text[..<$0.lowerBound] } ?? text
  }

  /// Returns whether another text occurs.
  package func contains(_ other: String) -> Bool { firstRange(of: other) != nil }

  /// Returns the text with every occurrence of another text replaced.
  package func replacing(_ other: String, with replacement: String) -> String {
    let parts = split(separator: other, omittingEmptySubsequences: false)
    return parts.count == 1 ? String(self) : parts.joined(separator: replacement)
  }
}

extension Substring {
  /// The search itself is no generic function: other rooms would work out its types at each call.
  fileprivate func range(of other: String) -> Range<Index>? {
    guard !other.isEmpty else { return startIndex..<startIndex }
    return unsafe ByteSearch.withBytes(self, other) { bytes, other in
      unsafe ByteSearch.place(of: other, in: bytes, 0).map { place in
        let start = utf8.index(startIndex, offsetBy: place)
        return start..<utf8.index(start, offsetBy: other.count)
      }
    }
  }
}

extension [String] {
  /// Returns the texts with a separator between.
  ///
  /// The standard library's function works out generic types at each call.
  package func joined(separator: String = "") -> String {
    var joined = first ?? ""
    joined.reserveCapacity(reduce(0) { $0 + $1.utf8.count + separator.utf8.count })
    for text in dropFirst() {
      joined += separator
      joined += text
    }
    return joined
  }
}

private enum ByteSearch {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// Calls a function with the bytes of two texts. They are copied only if they are not contiguous.
  static func withBytes<Result>(
    _ text: Substring,
    _ other: String,
    _ body: (Bytes, Bytes) -> Result
  ) -> Result {
    unsafe withBytes(text) { bytes in
      unsafe withBytes(other[...]) { unsafe body(bytes, $0) }
    }
  }

  private static func withBytes<Result>(_ text: Substring, _ body: (Bytes) -> Result) -> Result {
    if let result = unsafe text.utf8.withContiguousStorageIfAvailable(body) { return result }
    return unsafe Array(text.utf8).withUnsafeBufferPointer(body)
  }

  /// Returns the first position of some bytes in others, from `start` on; nil if `sought` is empty.
  static func place(of sought: Bytes, in bytes: Bytes, _ start: Int) -> Int? {
    guard let first = unsafe sought.first, let base = bytes.baseAddress else { return nil }
    let end = bytes.count - sought.count + 1
    var place = start
    while place < end, let found = unsafe memchr(base + place, Int32(first), end - place) {
      place = unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
      if sought.indices.allSatisfy({ unsafe bytes[place + $0] == sought[$0] }) { return place }
      place += 1
    }
    return nil
  }
}
