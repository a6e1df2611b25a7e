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

  /// What a byte means for the check, by its value.
  private enum Kind: UInt8 { case plain, digit, space, separator, equals, suspicious, tokenMark }

  private static let kinds: [Kind] = (UInt8.min...UInt8.max).map { byte -> Kind in
    switch byte {
    case _ where DigitRuns.isDigit(byte): .digit
    case UInt8(ascii: " "): .space
    case _ where DigitRuns.isSeparator(byte): .separator
    case UInt8(ascii: "="), UInt8(ascii: ":"): .equals
    // These bytes may begin an escape, which has to be decoded first.
    case 0x80..., UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "\\"): .suspicious
    case UInt8(ascii: "J"): .tokenMark
    default: .plain
    }
  }

  /// Without `mayHaveDigits`, any digit may belong to a short secret, such as a security code.
  private static func isClean(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ known: Known,
    _ foreign: Bool,
    mayHaveDigits: Bool
  ) -> Bool {
    func byte(_ place: Int) -> UInt8 { unsafe bytes[place] }
    // The number of digits, and that of the digits since the last byte that ends a number.
    var (digits, run, start) = (0, 0, 0)
    let isReadable = unsafe kinds.withUnsafeBufferPointer { kinds in
      for index in 0..<bytes.count {
        switch unsafe kinds[Int(bytes[index])] {
        case .digit:
          if run == 0 { start = index }
          run += 1
          if foreign, run == 1, index > 1, account(from: index - 2, bytes.count, byte) != nil {
            return false
          }
          continue
        case .space:
          if foreign, isBearer(index, byte) { return false }
          continue
        case .separator: continue
        case .equals: if foreign, isNamed(index, byte) { return false }
        case .suspicious: return false
        // A JSON Web Token may begin here.
        case .tokenMark:
          if index > 0, unsafe bytes[index - 1] == UInt8(ascii: "y"), bytes.count > 20 {
            return false
          }
        case .plain: break
        }
        guard run > 0 else { continue }
        if run >= 13, unsafe holdsCard(bytes[start..<index], isWhole: run == index - start) {
          return false
        }
        digits += run
        run = 0
      }
      return true
    }
    guard isReadable else { return false }
    if run >= 13, unsafe holdsCard(bytes[start...], isWhole: run == bytes.count - start) {
      return false
    }
    digits += run
    guard mayHaveDigits || digits == 0 else { return false }
    guard digits < part || known.digits.isEmpty else { return false }
    if known.anywhere.isEmpty { return true }
    return unsafe !known.anywhere.mayBegin(in: bytes, where: { _ in true })
      && !known.anywhere.mayBegin(in: bytes, where: isOfCodes)
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
