// The standard library's own Unicode normal forms (annex 15). No other library is needed.
@_spi(_Unicode) private import Swift

extension StringProtocol {
  /// The text as searches compare it: without case, composition and accents, with a plain letter for each letter like
  /// `ø`, one sign for all apostrophes, one for all dashes, and one space for all white space.
  package var folded: String {
    let small = lowercased()
    if small.utf8.allSatisfy({ $0 < 0x80 && $0 > 0x20 && $0 != UInt8(ascii: "`") }) { return small }
    var folded = "".unicodeScalars
    for scalar in small._nfd {
      let facts = scalar.properties
      if let letters = FoldedLetters.all[scalar] {
        folded.append(contentsOf: letters.unicodeScalars)
      } else if facts.isWhitespace {
        if folded.last != " " { folded.append(" ") }
      } else if facts.generalCategory == .dashPunctuation {
        folded.append("-")
      } else if facts.canonicalCombiningClass < FoldedLetters.firstAccent,
        !facts.isDefaultIgnorableCodePoint
      {
        folded.append(scalar)
      }
    }
    return String(folded)
  }
}

private enum FoldedLetters {
  /// Marks of lower classes change a letter of Indic scripts and Kana into another one (Unicode Standard, 4.3).
  static let firstAccent = Unicode.CanonicalCombiningClass(rawValue: 10)

  /// The letters that have no decomposition, and the apostrophes.
  static let all: [Unicode.Scalar: String] = {
    var all: [Unicode.Scalar: String] = [
      "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h",
      "ŧ": "t", "ŋ": "n", "ı": "i", "ĸ": "k", "ſ": "s", "ς": "σ",
    ]
    for apostrophe in "`´ʹʻʼʽʾʿ‘’‛′＇׳".unicodeScalars { all[apostrophe] = "'" }
    return all
  }()
}
