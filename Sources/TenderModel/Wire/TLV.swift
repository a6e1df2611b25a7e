/// A data object in BER-TLV (ISO/IEC 7816-4, section 5.2.2; EMV Book 3, annex B).
package struct TLV: Sendable, Hashable {
  /// The tag's bytes as one number, such as `0x9f02`.
  package let tag: UInt32
  package let value: [UInt8]

  package init(_ tag: UInt32, _ value: [UInt8]) {
    self.tag = tag
    self.value = value
  }

  package init(_ tag: UInt32, holding objects: [TLV]) {
    self.init(tag, objects.flatMap(\.encoded))
  }

  /// The encoded bytes, with the shortest length field.
  package var encoded: [UInt8] {
    var bytes = Self.bytes(of: tag)
    let count = value.count
    if count < 0x80 {
      bytes.append(UInt8(count))
    } else {
      let size = Self.bytes(of: UInt32(count))
      bytes.append(0x80 | UInt8(size.count))
      bytes += size
    }
    return bytes + value
  }

  package var name: String { Hex.encode(Self.bytes(of: tag)) }

  /// The objects inside the value; nil if it does not consist of objects.
  package var objects: [TLV]? { Self.read(value) }

  /// Reads consecutive objects; nil if the bytes are cut short or malformed.
  ///
  /// Tags have up to four bytes, lengths up to five, in any form. Zero bytes between objects are padding.
  package static func read(_ bytes: some Collection<UInt8>) -> [TLV]? {
    var rest = Array(bytes)[...]
    var objects: [TLV] = []
    while let first = rest.popFirst() {
      if first == 0 { continue }
      guard let tag = tag(first, &rest), let count = length(&rest), count <= rest.count else {
        return nil
      }
      objects.append(TLV(tag, Array(rest.prefix(count))))
      rest.removeFirst(count)
    }
    return objects
  }

  private static func tag(_ first: UInt8, _ rest: inout ArraySlice<UInt8>) -> UInt32? {
    var tag = UInt32(first)
    guard tag & 0x1f == 0x1f else { return tag }
    for _ in 0..<3 {
      guard let byte = rest.popFirst() else { return nil }
      tag = tag << 8 | UInt32(byte)
      if byte & 0x80 == 0 { return tag }
    }
    return nil
  }

  private static func length(_ rest: inout ArraySlice<UInt8>) -> Int? {
    guard let first = rest.popFirst() else { return nil }
    guard first & 0x80 != 0 else { return Int(first) }
    let size = Int(first & 0x7f)
    guard (1...4).contains(size), size <= rest.count else { return nil }
    defer { rest.removeFirst(size) }
    return rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
  }

  private static func bytes(of number: UInt32) -> [UInt8] {
    let all = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    let significant = all.drop { $0 == 0 }
    return significant.isEmpty ? [0] : Array(significant)
  }
}

extension [TLV] {
  /// The value of the first object with a tag.
  package subscript(tag tag: UInt32) -> [UInt8]? { first { $0.tag == tag }?.value }
}
