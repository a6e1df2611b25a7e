/// The width of texts on a terminal, in columns.
package enum DisplayWidth {
  /// Blocks whose characters are wide (Unicode Standard Annex #11, East Asian Width W and F).
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x3247, 0x3250...0x4dbf,
    0x4e00...0xa4cf, 0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19,
    0xfe30...0xfe6f, 0xff01...0xff60, 0xffe0...0xffe6, 0x16fe0...0x1b2ff, 0x1f200...0x1f2ff,
    0x20000...0x3fffd,
  ]

  /// Returns the columns of a text: two for a wide character or an emoji, none for a combining mark.
  package static func columns(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + columns($1) }
  }

  private static func columns(_ character: Character) -> Int {
    var width = 0
    for scalar in character.unicodeScalars {
      // This selector requests the emoji form of the character before it.
      if scalar.value == 0xfe0f { return 2 }
      width = max(width, columns(scalar))
    }
    return width
  }

  private static func columns(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }
}
