extension String {
  /// The most combining marks that are read behind one another (Unicode Standard Annex #15, section 13).
  private static let mostMarks = 30

  /// The text with a replacement character for those of a row of combining marks that are more than any language
  /// has.
  ///
  /// Whoever compares two texts sorts each such row, at every comparison.
  var withBoundedMarks: String {
    // The first mark is U+0300, CC 80 in UTF-8; each takes two bytes or more.
    guard utf8.count > 2 * Self.mostMarks, utf8.contains(where: { $0 >= 0xcc }) else { return self }
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
}
