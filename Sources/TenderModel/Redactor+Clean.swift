/// A fast check that lets nearly every text skip the slow one.
extension Redactor {
  /// Returns true only if `redact` would not change the text.
  ///
  /// False means that `redact` has to look closely.
  static func isClean(_ text: String, _ foreign: Bool, _ known: Known) -> Bool {
    let seeksWords = foreign && known.words.hasWords
    if seeksWords, known.words.hasOtherWords { return false }
    let answer = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
      unsafe isClean(bytes, known, foreign, mayHaveDigits: !seeksWords)
    }
    return answer ?? false
  }

  /// The number of digits of the shortest card number.
  private static let leastDigits = 13

  /// Without `mayHaveDigits`, any digit may belong to a short secret, such as a security code.
  private static func isClean(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ known: Known,
    _ foreign: Bool,
    mayHaveDigits: Bool
  ) -> Bool {
    // Without an early end, several bytes are compared at a time.
    let suspicious = unsafe bytes.reduce(0) { $0 | suspicion(of: $1) }
    guard suspicious == 0, unsafe bytes.count <= 20 || !mayHoldToken(bytes) else { return false }
    if foreign, unsafe mayHoldNamed(bytes) { return false }
    if !mayHaveDigits || !known.digits.isEmpty {
      let digits = unsafe bytes.reduce(0) { $0 &+ (DigitRuns.isDigit($1) ? 1 : 0) }
      guard digits < (mayHaveDigits ? part : 1) else { return false }
    }
    return unsafe !holdsCard(bytes) && !known.anywhere.mayBegin(in: bytes)
  }

  /// Returns 0 unless a byte may begin an escape, which has to be decoded first. It has no jumps.
  private static func suspicion(of byte: UInt8) -> UInt8 {
    byte & 0x80 | (byte == UInt8(ascii: "%") ? 1 : 0) | (byte == UInt8(ascii: "&") ? 1 : 0)
      | (byte == UInt8(ascii: "\\") ? 1 : 0)
  }

  /// Returns whether a JSON Web Token may begin anywhere.
  private static func mayHoldToken(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var found: UInt8 = 0
    for index in 1..<bytes.count {
      let (first, second) = unsafe (bytes[index - 1], bytes[index])
      found |= (first == UInt8(ascii: "y") ? 1 : 0) & (second == UInt8(ascii: "J") ? 1 : 0)
    }
    return found != 0
  }

  /// Returns whether a secret after its name, or an account's number, is anywhere.
  private static func mayHoldNamed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    func byte(_ place: Int) -> UInt8 { unsafe bytes[place] }
    // Letters are nearly everything, and begin nothing.
    for index in 0..<bytes.count where byte(index) < UInt8(ascii: "@") {
      switch byte(index) {
      case UInt8(ascii: "="), UInt8(ascii: ":"): if isNamed(index, byte) { return true }
      case UInt8(ascii: " "), 9, UInt8(ascii: "\""), UInt8(ascii: "'"):
        if isBearer(index, byte) { return true }
      case UInt8(ascii: "-"): if keyStart(index, bytes.count, byte) != nil { return true }
      case let digit where DigitRuns.isDigit(digit):
        guard index > 1, byte(index - 1) >= UInt8(ascii: "@") else { continue }
        if account(from: index - 2, bytes.count, byte) != nil { return true }
      default: break
      }
    }
    return false
  }

  /// Returns whether bytes without escapes hold a card number.
  private static func holdsCard(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    func isOfNumber(_ index: Int) -> Bool {
      let byte = unsafe bytes[index]
      return DigitRuns.isDigit(byte) || DigitRuns.isSeparator(byte)
    }
    // A number has one of every so many bytes.
    var index = leastDigits - 1
    while index < bytes.count {
      var (start, end) = (index, index)
      while end < bytes.count, isOfNumber(end) { end += 1 }
      while end > index, start > 0, isOfNumber(start - 1) { start -= 1 }
      index = end + leastDigits
      guard end - start >= leastDigits else { continue }
      while start < end, unsafe !DigitRuns.isDigit(bytes[start]) { start += 1 }
      let run = unsafe bytes[start..<end]
      let digits = unsafe run.count(where: DigitRuns.isDigit)
      if digits >= leastDigits, unsafe holdsCard(run, isWhole: digits == run.count) { return true }
    }
    return false
  }

  /// Returns whether bytes from a digit on hold a card number. `isWhole`: all are digits.
  private static func holdsCard(
    _ bytes: Slice<UnsafeBufferPointer<UInt8>>,
    isWhole: Bool
  ) -> Bool {
    guard isWhole else { return !DigitRuns.cardNumbers(in: unsafe Array(bytes)).isEmpty }
    // They are one group, such as a time.
    return unsafe Digits.looksLikeCard(bytes.lazy.map { $0 - UInt8(ascii: "0") })
  }
}
