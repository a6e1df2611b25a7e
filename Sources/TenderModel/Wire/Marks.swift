extension String {
  /// The maximum number of consecutive combining marks (Unicode Standard Annex #15, section 13).
  private static let mostMarks = 30

  /// The text with excess combining marks replaced. No language has so many in a row.
  ///
  /// Each comparison of two texts sorts such a row, which would take very long.
  var withBoundedMarks: String {
    // The first mark is U+0300, which is CC 80 in UTF-8. Each mark takes at least two bytes.
    guard utf8.count > 2 * Self.mostMarks, mayHaveMarks else { return self }
    var shown = UnicodeScalarView()
    var count = 0
    var isWhole = true
    for scalar in unicodeScalars {
      let isMark =
        scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
      count = isMark ? count + 1 : 0
      guard count > Self.mostMarks else {
        shown.append(scalar)
        continue
      }
      isWhole = false
      if count == Self.mostMarks + 1 { shown.append("\u{fffd}") }
    }
    return isWhole ? self : String(shown)
  }

  private var mayHaveMarks: Bool {
    // Without an early end, several bytes are compared at a time.
    unsafe utf8.withContiguousStorageIfAvailable { unsafe $0.reduce(0, max) >= 0xcc } ?? true
  }
}
