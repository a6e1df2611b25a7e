/// A regular expression from outside, matched in time linear in the text.
///
/// The subset: literals, `.`, classes (`[a-z]`, `[^…]`), `\d \w \s` and their opposites (ASCII), escaped
/// punctuation, `^`, `$`, groups without names, `|`, `* + ? {n} {n,} {n,m}`, also with a following `?`.
/// Look-around, back-references and modes are not in the subset. Such a pattern is not used, so that a
/// misread rule refuses no input. The matcher follows all alternatives at once (Thompson, 1968) and never
/// goes back.
package struct TextPattern: Sendable {
  /// The maximum number of instructions of a pattern, with its repetitions expanded.
  private static let largest = 1024
  /// The maximum length of a matched text, in characters.
  package static let longestText = 4096

  fileprivate enum Step: Sendable {
    case one(CharacterClass)
    case split(Int, Int)
    case jump(Int)
    case start
    case end
    case found
  }

  private let steps: [Step]

  /// Parses a pattern; nil if it is outside the subset or too large.
  package init?(_ text: String) {
    guard text.utf8.count <= 1000 else { return nil }
    var parser = PatternParser(text)
    guard let tree = parser.whole() else { return nil }
    var steps: [Step] = []
    guard Self.write(tree, to: &steps) else { return nil }
    self.steps = steps + [.found]
  }

  /// Returns whether the pattern matches anywhere in a text; nil if the text is too long.
  package func fits(_ text: String) -> Bool? {
    let scalars = Array(text.unicodeScalars)
    guard scalars.count <= Self.longestText else { return nil }
    // The states that are active at one place of the text, each once.
    var isAlive = Array(repeating: false, count: steps.count)
    var waiting: [Int] = []
    for place in 0...scalars.count {
      var alive: [Int] = []
      // A match may begin anywhere.
      waiting.append(0)
      while let state = waiting.popLast() {
        guard !isAlive[state] else { continue }
        isAlive[state] = true
        alive.append(state)
        switch steps[state] {
        case .found: return true
        case .jump(let next): waiting.append(next)
        case .split(let one, let other): waiting += [one, other]
        case .start where place == 0: waiting.append(state + 1)
        case .end where place == scalars.count: waiting.append(state + 1)
        case .start, .end, .one: break
        }
      }
      guard place < scalars.count else { break }
      for state in alive {
        isAlive[state] = false
        guard case .one(let wanted) = steps[state], wanted.holds(scalars[place]) else { continue }
        waiting.append(state + 1)
      }
    }
    return false
  }

  /// Writes the instructions of one part. Returns false if there are too many.
  private static func write(_ tree: PatternTree, to steps: inout [Step]) -> Bool {
    guard steps.count < largest else { return false }
    switch tree {
    case .one(let wanted): steps.append(.one(wanted))
    case .start: steps.append(.start)
    case .end: steps.append(.end)
    case .sequence(let parts):
      for part in parts where !write(part, to: &steps) { return false }
    case .choice(let one, let other):
      let split = steps.count
      steps.append(.split(split + 1, 0))
      guard write(one, to: &steps) else { return false }
      let jump = steps.count
      steps.append(.jump(0))
      steps[split] = .split(split + 1, steps.count)
      guard write(other, to: &steps) else { return false }
      steps[jump] = .jump(steps.count)
    case .repeated(let part, let least, let most):
      for _ in 0..<least {
        let before = steps.count
        guard write(part, to: &steps) else { return false }
        // A part that consumes nothing is not repeated.
        if steps.count == before { return true }
      }
      guard let most else {
        let split = steps.count
        steps.append(.split(split + 1, 0))
        guard write(part, to: &steps) else { return false }
        steps.append(.jump(split))
        steps[split] = .split(split + 1, steps.count)
        break
      }
      var splits: [Int] = []
      for _ in least..<most {
        splits.append(steps.count)
        steps.append(.jump(0))
        guard write(part, to: &steps) else { return false }
      }
      for split in splits { steps[split] = .split(split + 1, steps.count) }
    }
    return steps.count < largest
  }
}

/// The characters that one place of a pattern accepts.
private struct CharacterClass: Sendable {
  var ranges: [ClosedRange<UInt32>] = []
  var isInverted = false

  static let digits = CharacterClass(ranges: [0x30...0x39])
  static let words = CharacterClass(ranges: [0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a])
  static let spaces = CharacterClass(ranges: [0x09...0x0d, 0x20...0x20])

  func holds(_ scalar: Unicode.Scalar) -> Bool {
    ranges.contains { $0.contains(scalar.value) } != isInverted
  }

  /// The same class, with an inverted one written as the ranges between.
  var opposite: CharacterClass {
    var rest: [ClosedRange<UInt32>] = []
    var next: UInt32 = 0
    for range in ranges {
      if range.lowerBound > next { rest.append(next...(range.lowerBound - 1)) }
      next = range.upperBound + 1
    }
    return CharacterClass(ranges: rest + [next...0x10_ffff])
  }
}

private indirect enum PatternTree {
  case one(CharacterClass)
  case start
  case end
  case sequence([PatternTree])
  case choice(PatternTree, PatternTree)
  /// `most` is nil if there is no upper limit.
  case repeated(PatternTree, least: Int, most: Int?)
}

/// Parses the subset, with at most 16 nested groups.
private struct PatternParser {
  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var depth = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    index += 1
    return true
  }

  mutating func whole() -> PatternTree? {
    guard let tree = alternatives(), next == nil else { return nil }
    return tree
  }

  private mutating func alternatives() -> PatternTree? {
    guard var tree = sequence() else { return nil }
    while take("|") {
      guard let other = sequence() else { return nil }
      tree = .choice(tree, other)
    }
    return tree
  }

  private mutating func sequence() -> PatternTree? {
    var parts: [PatternTree] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      guard let part = piece() else { return nil }
      parts.append(part)
    }
    return .sequence(parts)
  }

  private mutating func piece() -> PatternTree? {
    guard let part = atom() else { return nil }
    let counts: (least: Int, most: Int?)
    if let scalar = next, let found = Self.quantifiers[scalar] {
      index += 1
      counts = found
    } else if take("{") {
      guard let written = writtenCounts() else { return nil }
      counts = written
    } else {
      return part
    }
    switch part {
    // Dialects disagree on a repeated anchor.
    case .start, .end: return nil
    default: break
    }
    _ = take("?")
    // Possessive and doubled quantifiers are outside the subset.
    if let after = next, after == "{" || Self.quantifiers[after] != nil { return nil }
    return .repeated(part, least: counts.least, most: counts.most)
  }

  private static let quantifiers: [Unicode.Scalar: (least: Int, most: Int?)] = [
    "*": (0, nil), "+": (1, nil), "?": (0, 1),
  ]

  /// Reads the counts of `{n}`, `{n,}` or `{n,m}` from the first digit on; nil if they are malformed.
  private mutating func writtenCounts() -> (least: Int, most: Int?)? {
    guard let least = number() else { return nil }
    var most: Int? = least
    if take(",") { most = next == "}" ? nil : number() ?? -1 }
    guard take("}"), most.map({ $0 >= least }) ?? true else { return nil }
    return (least, most)
  }

  private mutating func number() -> Int? {
    var value: Int?
    while let scalar = next, ("0"..."9").contains(scalar) {
      value = (value ?? 0) * 10 + Int(scalar.value - 0x30)
      guard let value, value <= 1000 else { return nil }
      index += 1
    }
    return value
  }

  private mutating func atom() -> PatternTree? {
    guard let scalar = next else { return nil }
    index += 1
    switch scalar {
    case "^": return .start
    case "$": return .end
    case ".": return .one(CharacterClass(ranges: [0x0a...0x0a], isInverted: true))
    case "(":
      if take("?"), !take(":") { return nil }
      depth += 1
      defer { depth -= 1 }
      guard depth <= 16, let inside = alternatives(), take(")") else { return nil }
      return inside
    case "[": return bracket().map(PatternTree.one)
    case "\\": return escape().map(PatternTree.one)
    case "*", "+", "?", "{", "}", "]": return nil
    default: return .one(CharacterClass(scalar))
    }
  }

  private mutating func escape() -> CharacterClass? {
    guard let scalar = next else { return nil }
    index += 1
    switch scalar {
    case "d": return .digits
    case "D": return CharacterClass.digits.opposite
    case "w": return .words
    case "W": return CharacterClass.words.opposite
    case "s": return .spaces
    case "S": return CharacterClass.spaces.opposite
    case "t": return CharacterClass("\t")
    case "n": return CharacterClass("\n")
    case "r": return CharacterClass("\r")
    default:
      // A letter or digit after a backslash is another construct.
      guard scalar.isASCII, !CharacterClass.words.holds(scalar) || scalar == "_" else { return nil }
      return CharacterClass(scalar)
    }
  }

  private mutating func bracket() -> CharacterClass? {
    var found = CharacterClass()
    found.isInverted = take("^")
    var isFirst = true
    while let scalar = next {
      index += 1
      if scalar == "]" {
        // Dialects disagree on an empty class.
        return isFirst ? nil : found
      }
      isFirst = false
      // Nested sets, intersections and POSIX names are outside the subset.
      if scalar == "[" || scalar == "&" && next == "&" { return nil }
      guard let lower = scalar == "\\" ? escape() : CharacterClass(scalar) else { return nil }
      guard next == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
        found.ranges += lower.ranges
        continue
      }
      index += 1
      guard let end = next else { return nil }
      index += 1
      guard let upper = end == "\\" ? escape() : CharacterClass(end), end != "[",
        let first = lower.single, let last = upper.single, first <= last
      else { return nil }
      found.ranges.append(first...last)
    }
    return nil
  }
}

extension CharacterClass {
  fileprivate init(_ scalar: Unicode.Scalar) { self.init(ranges: [scalar.value...scalar.value]) }

  /// The only character that the class accepts; nil if it accepts several.
  fileprivate var single: UInt32? {
    guard ranges.count == 1, ranges[0].count == 1 else { return nil }
    return ranges[0].lowerBound
  }
}
