import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

@Suite struct TextPatternTests {
  @Test(arguments: [
    ("^\\d{6}$", "123456", true), ("^\\d{6}$", "12345", false), ("^\\d{6}$", "１２３４５６", false),
    ("[0-9]{2}-[0-9]{2}", "ab12-34", true), ("^(a|b)+$", "abba", true), ("^(a|b)+$", "abca", false),
    ("^[^<>]*$", "a<b", false), ("^[\\w.-]+@[\\w-]+\\.[a-z]{2,}$", "jane.doe@example.com", true),
    ("^$", "", true), ("colou?r", "my color", true), ("^.{2,3}$", "abcd", false),
    ("^(?:)*x$", "x", true), ("^\\S+\\s\\S+$", "a b", true), ("a|b|", "zzz", true),
  ])
  func `matches the subset`(_ pattern: String, _ text: String, _ fits: Bool) throws {
    let read = try #require(TextPattern(pattern))
    #expect(read.fits(text) == fits)
  }

  @Test(arguments: [
    "(?=a)b", "(?!a)", "(?<=a)b", "(?<name>a)", "(?i)a", "(a)\\1", "\\bword\\b", "\\p{L}", "a++",
    "a**", "[[:alpha:]]", "[a&&b]", "[]", "(", ")", "a{", "a{2,1}", "a{1001}", "\\x41", "[b-a]",
    "(((((((((((((((((a)))))))))))))))))", "(.{100}){100}", "^*a",
    String(repeating: "a", count: 1001),
  ])
  func `reads nothing that it could misread`(_ pattern: String) {
    #expect(TextPattern(pattern) == nil)
  }

  @Test(.enabled(if: Judge.has("re"), "there is no python3"))
  func `agrees with another implementation`() throws {
    let judge = try Judge("patterns.py")
    var random = Seeded(20_261_121)
    var pieces = ["a", "b", ".", "[ab]", "[^a]", "\\d", "\\W", "1", "^", "$", "-"]
    pieces += ["(a|b1)", "(?:ab)", "(|a)", "[a-c1-3]", "\\."]
    let counts = ["", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"]
    var judged = 0
    for _ in 0..<1500 {
      var pattern = ""
      for _ in 0..<random.below(5) {
        let piece = pieces[random.below(pieces.count)]
        let isAnchor = piece == "^" || piece == "$"
        pattern += piece + (isAnchor ? "" : counts[random.below(counts.count)])
        if random.below(6) == 0 { pattern += "|" }
      }
      let text = String((0..<random.below(7)).map { _ in Array("ab1-.c")[random.below(6)] })
      let answer = try judge.ask(["pattern": .string(pattern), "text": .string(text)])
      guard let found = answer["found"]?.truth, let read = TextPattern(pattern) else { continue }
      judged += 1
      #expect(read.fits(text) == found, "\(pattern) on \(text)")
    }
    #expect(judged > 1000)
  }

  /// Patterns for which a matcher that goes back takes too long.
  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      String(repeating: ".?", count: 20) + String(repeating: ".", count: 20) + "$",
      "^" + String(repeating: "(.|.)", count: 38) + "!$", "^(a+)+$", "^(a*)*b$", "(a|aa)+$",
      "((){1000}){1000}", "(((a?){30}){30})",
    ]
  )
  func `takes bounded time over any pattern`(_ pattern: String) {
    _ = TextPattern(pattern)?.fits(String(repeating: "a", count: TextPattern.longestText))
    #expect(TextPattern(pattern)?.fits(String(repeating: "a", count: 5000)) == nil)
  }
}
