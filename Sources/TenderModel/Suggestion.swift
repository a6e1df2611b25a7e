/// Finds the name that the user probably meant.
package enum Suggestion {
  /// Returns the nearest name within a third of the typed length, but at least 2 edits; nil if there is none.
  package static func nearest(to typed: String, among names: [String]) -> String? {
    guard typed.utf8.count <= 64 else { return nil }
    // If the typed text is the beginning of names, the shortest of them is meant.
    if typed.utf8.count >= 3,
      let whole = names.filter({ $0.hasPrefix(typed) }).min(by: { $0.utf8.count < $1.utf8.count })
    {
      return whole
    }
    let limit = max(2, typed.utf8.count / 3)
    let ranked = names.map { ($0, distance(typed.lowercased(), $0.lowercased())) }
    guard let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= limit else { return nil }
    return best.0
  }

  /// Returns a hint to the name that was probably meant, else another hint.
  package static func hint(for typed: String, among names: [String], else hint: String) -> String {
    nearest(to: typed, among: names).map { "did you mean \($0)?" } ?? hint
  }

  /// Returns the fewest insertions, removals, replacements and swaps of neighbors between two words.
  package static func distance(_ first: String, _ second: String) -> Int {
    let a = Array(first.utf8)
    let b = Array(second.utf8)
    guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
    var rows = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
    for i in 0...a.count { rows[i][0] = i }
    for j in 0...b.count { rows[0][j] = j }
    for i in 1...a.count {
      for j in 1...b.count {
        let same = a[i - 1] == b[j - 1] ? 0 : 1
        rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + same)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
        }
      }
    }
    return rows[a.count][b.count]
  }
}
