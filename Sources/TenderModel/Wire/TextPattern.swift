private import CLibraries

/// A regular expression from outside, matched by PCRE2 in bounded time and memory.
package enum TextPattern {
  /// The maximum length of a matched text, in characters.
  package static let longestText = 4096

  /// Returns whether a pattern matches anywhere in a text.
  ///
  /// Nil if the text is too long, a limit is reached, or the library is missing. Nil if the pattern is
  /// malformed or may mean something else in ECMAScript, so that a misread rule refuses no input.
  package static func fits(_ pattern: String, _ text: String) -> Bool? {
    guard pattern.utf8.count <= 1000, text.unicodeScalars.count <= longestText,
      hasOneMeaning(pattern), unsafe tender_pattern_open() == nil
    else { return nil }
    // The library's limits are those of one attempt. This makes one attempt of the whole search.
    let search = "(?s:.*?)(?:\(pattern))"
    let found = unsafe tender_pattern_fits(search, search.utf8.count, text, text.utf8.count)
    return found < 0 ? nil : found == 1
  }

  /// Returns whether a pattern has only constructs that PCRE2 and ECMAScript read in the same way.
  ///
  /// Back-references, names, modes, verbs, possessive quantifiers and properties are not among them.
  private static func hasOneMeaning(_ pattern: String) -> Bool {
    var rest = pattern.unicodeScalars[...]
    var (depth, isInClass, isRepeatable) = (0, false, false)
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\\":
        guard let escaped = rest.popFirst() else { return false }
        let isWord = escaped.isASCII && (escaped.properties.isAlphabetic || isDigit(escaped))
        if isWord, !"bBdDfnrsStuwWx".unicodeScalars.contains(escaped) { return false }
        if escaped == "u", rest.first == "{" { return false }
        isRepeatable = escaped != "b" && escaped != "B"
      case "]" where isInClass: (isInClass, isRepeatable) = (false, true)
      // Nested sets, intersections and POSIX names.
      case "[" where isInClass: return false
      case "&" where isInClass && rest.first == "&": return false
      case _ where isInClass: break
      case "[":
        isInClass = true
        if rest.first == "^" { rest.removeFirst() }
      case "(":
        (depth, isRepeatable) = (depth + 1, false)
        if rest.first == "*" { return false }
        guard rest.first == "?" else { break }
        let kinds = ["?:", "?=", "?!", "?<=", "?<!"]
        guard let kind = kinds.first(where: { rest.starts(with: $0.unicodeScalars) }) else {
          return false
        }
        rest.removeFirst(kind.count)
      case ")":
        (depth, isRepeatable) = (depth - 1, true)
        if depth < 0 { return false }
      case "^", "$", "|": isRepeatable = false
      case "*", "+", "?", "{":
        if scalar == "{" {
          let counts = rest.prefix { isDigit($0) || $0 == "," }
          rest = rest.dropFirst(counts.count)
          guard counts.first.map(isDigit) == true, rest.popFirst() == "}" else { return false }
        }
        guard isRepeatable else { return false }
        isRepeatable = false
        if rest.first == "?" { rest.removeFirst() }
      default: isRepeatable = true
      }
    }
    return true
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}
