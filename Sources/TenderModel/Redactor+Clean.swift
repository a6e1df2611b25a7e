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
    var digits = 0
    // The number of digits since the last byte that ends a number, and the maximum so far.
    var run = 0
    var longest = 0
    var before: UInt8 = 0
    for index in 0..<bytes.count {
      let byte = unsafe bytes[index]
      // These bytes may begin an escape, which has to be decoded first.
      if byte >= 0x80 || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "&")
        || byte == UInt8(ascii: "\\")
      {
        return false
      }
      if DigitRuns.isDigit(byte) {
        digits += 1
        run += 1
        longest = max(longest, run)
      } else if !DigitRuns.isSeparator(byte) {
        run = 0
      }
      // A JSON Web Token may begin here.
      if isLong, byte == UInt8(ascii: "J"), before == UInt8(ascii: "y") { return false }
      before = byte
    }
    guard digits < part || known.digits.isEmpty else { return false }
    if longest >= 13, !DigitRuns.cardNumbers(in: unsafe Array(bytes)).isEmpty { return false }
    if known.anywhere.isEmpty { return true }
    return unsafe !known.anywhere.mayBegin(in: bytes, where: { _ in true })
      && !known.anywhere.mayBegin(in: bytes, where: isOfCodes)
  }
}
