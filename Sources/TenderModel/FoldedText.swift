// The standard library's own Unicode normal forms (annex 15). No other library is needed.
@_spi(_Unicode) private import Swift

extension StringProtocol {
  /// The text as searches compare it: without case, composition and accents, with a plain letter for each letter like
  /// `ø`, one sign for all apostrophes, one for all dashes, and one space for all white space.
  package var folded: String {
    let small = lowercased()
    var last: UInt8 = 0
    let isPlain = small.utf8.allSatisfy { byte in
      defer { last = byte }
      return 0x20..<0x7f ~= byte && byte != UInt8(ascii: "`") && !(byte == 0x20 && last == 0x20)
    }
    if isPlain { return small }
    var folded = "".unicodeScalars
    for scalar in small._nfd {
      let facts = scalar.properties
      if let letters = scalar.plainLetters {
        folded.append(contentsOf: letters.unicodeScalars)
      } else if facts.isWhitespace {
        if folded.last != " " { folded.append(" ") }
      } else if facts.generalCategory == .dashPunctuation {
        folded.append("-")
      } else if facts.canonicalCombiningClass < .firstAccent, !facts.isDefaultIgnorableCodePoint {
        folded.append(scalar)
      }
    }
    return String(folded)
  }
}

extension Unicode.CanonicalCombiningClass {
  /// Marks of lower classes change a letter of Indic scripts and Kana into another one (Unicode Standard, 4.3).
  fileprivate static let firstAccent = Self(rawValue: 10)
}

extension Unicode.Scalar {
  /// The plain letters for a letter that has no decomposition, and the plain apostrophe for each other one.
  fileprivate var plainLetters: String? {
    switch self {
    case "ß": "ss"
    case "æ": "ae"
    case "œ": "oe"
    case "ø": "o"
    case "ł": "l"
    case "đ", "ð": "d"
    case "þ": "th"
    case "ħ": "h"
    case "ŧ": "t"
    case "ŋ": "n"
    case "ı": "i"
    case "ĸ": "k"
    case "ſ": "s"
    case "ς": "σ"
    case "`", "´", "ʹ", "ʻ", "ʼ", "ʽ", "ʾ", "ʿ", "‘", "’", "‛", "′", "＇", "׳": "'"
    default: nil
    }
  }
}
