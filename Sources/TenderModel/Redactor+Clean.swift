/// A fast check that lets nearly every text skip the slow one.
extension Redactor {
  /// Returns true only if `redact` would not change the text.
  ///
  /// False means that `redact` has to look closely.
  static func isClean(_ text: String, _ foreign: Bool, _ known: Known) -> Bool {
    if foreign, known.words.hasWords { return false }
    let answer = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
      unsafe isClean(bytes, known)
    }
    return answer ?? false
  }

  private static func isClean(_ bytes: UnsafeBufferPointer<UInt8>, _ known: Known) -> Bool {
    let isLong = bytes.count > 20
    // The number of digits, and that of the digits since the last byte that ends a number.
    var (digits, run, start) = (0, 0, 0)
    var before: UInt8 = 0
    for index in 0..<bytes.count {
      let byte = unsafe bytes[index]
      if DigitRuns.isDigit(byte) {
        if run == 0 { start = index }
        digits += 1
        run += 1
      } else if !DigitRuns.isSeparator(byte) {
        if run >= 13, unsafe holdsCard(bytes[start..<index]) { return false }
        run = 0
        // These bytes may begin an escape, which has to be decoded first.
        if byte >= 0x80 || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "&")
          || byte == UInt8(ascii: "\\")
        {
          return false
        }
        // A JSON Web Token may begin here.
        if byte == UInt8(ascii: "J"), before == UInt8(ascii: "y"), isLong { return false }
      }
      before = byte
    }
    if run >= 13, unsafe holdsCard(bytes[start...]) { return false }
    guard digits < part || known.digits.isEmpty else { return false }
    if known.anywhere.isEmpty { return true }
    return unsafe !known.anywhere.mayBegin(in: bytes, where: { _ in true })
      && !known.anywhere.mayBegin(in: bytes, where: isOfCodes)
  }
  private static func holdsCard(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    !DigitRuns.cardNumbers(in: unsafe Array(bytes)).isEmpty
  }
}
