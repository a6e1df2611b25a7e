/// A text with the escapes of JSON and of web addresses decoded.
///
/// Escaped quotes and line ends stay as they are: they show where a value in a text ends.
struct PlainText {
  let bytes: [UInt8]
  /// The range in the original text of the character that each byte is of; nil if the bytes are those of the
  /// original. A text of megabytes needs small numbers.
  private let origins: [Range<UInt32>]?

  private init(_ bytes: [UInt8], _ origins: [Range<UInt32>]?) {
    (self.bytes, self.origins) = (bytes, origins)
  }

  init(undecoded bytes: [UInt8]) { self.init(bytes, nil) }

  init(_ original: [UInt8]) {
    guard Self.mayHaveEscapes(original) else {
      self.init(original, nil)
      return
    }
    var bytes: [UInt8] = []
    var origins: [Range<UInt32>] = []
    var index = 0
    while index < original.count {
      let (decoded, end) = Self.unescaped(original, at: index) ?? ([original[index]], index + 1)
      bytes += decoded
      origins += repeatElement(UInt32(index)..<UInt32(end), count: decoded.count)
      index = end
    }
    self.init(bytes, bytes.count == original.count ? nil : origins)
  }

  static func mayHaveEscapes(_ bytes: [UInt8]) -> Bool {
    bytes.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\\") }
  }

  /// Whether anything was decoded.
  var isChanged: Bool { origins != nil }

  /// The letters and digits, without what separates them; nil if nothing does.
  var codes: PlainText? {
    let isOfCode = { (byte: UInt8) in DigitRuns.isDigit(byte) || DigitRuns.isLetter(byte) }
    let count = bytes.count(where: isOfCode)
    guard count < bytes.count else { return nil }
    var (codes, origins): ([UInt8], [Range<UInt32>]) = ([], [])
    codes.reserveCapacity(count)
    origins.reserveCapacity(count)
    for index in bytes.indices where isOfCode(bytes[index]) {
      let place = place(of: index..<(index + 1))
      codes.append(bytes[index])
      origins.append(UInt32(place.lowerBound)..<UInt32(place.upperBound))
    }
    return PlainText(codes, origins)
  }

  /// Returns the range in the original text that some bytes come from.
  func place(of range: Range<Int>) -> Range<Int> {
    guard let origins else { return range }
    return Int(origins[range.lowerBound].lowerBound)..<Int(origins[range.upperBound - 1].upperBound)
  }

  /// Returns the bytes of the character that an escape stands for, and the place after it; nil if there is no
  /// escape.
  private static func unescaped(_ bytes: [UInt8], at index: Int) -> ([UInt8], Int)? {
    func number(_ digits: Int, from start: Int) -> UInt32? {
      guard start + digits <= bytes.count else { return nil }
      return bytes[start..<(start + digits)].reduce(0) { value, byte in
        guard let value, let digit = Hex.value(byte) else { return nil }
        return value << 4 | UInt32(digit)
      }
    }
    if bytes[index] == UInt8(ascii: "%") {
      return number(2, from: index + 1).map { ([UInt8($0)], index + 3) }
    }
    guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else { return nil }
    if bytes[index + 1] == UInt8(ascii: "/") { return ([UInt8(ascii: "/")], index + 2) }
    guard bytes[index + 1] == UInt8(ascii: "u"), let value = number(4, from: index + 2),
      let scalar = Unicode.Scalar(value)
    else { return nil }
    return UTF8.encode(scalar).map { (Array($0), index + 6) }
  }
}
