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
    ("^(?=.*\\d)(?!.*!)\\w+$", "ab1", true), ("^(?=.*\\d)(?!.*!)\\w+$", "ab", false),
    ("(?<=a)b", "cb", false), ("(?<!a)b", "cb", true), ("\\bword\\b", "a word", true),
    ("\\bword\\b", "words", false), ("^\\x41\\u00e9$", "Aé", true), ("^a{1001}$", "a", false),
    ("[]", "a", false), ("^[^]$", "\n", true), ("^.$", "é", true), ("^a$", "a\n", false),
    ("^[-/?:().,'+*]+$", "(?+*", true), ("^[a\\]b]+$", "]", true), ("^a}]$", "a}]", true),
    ("(((((((((((((((((a)))))))))))))))))", "a", true), ("^(.{100}){100}$", "a", false),
  ])
  func `matches what PCRE2 and ECMAScript read in the same way`(
    _ pattern: String,
    _ text: String,
    _ fits: Bool
  ) {
    #expect(TextPattern.fits(pattern, text) == fits)
  }

  @Test(arguments: [
    "(?<name>a)", "(?i)a", "(?>a)", "(?|a)", "(?#a)", "(?R)", "(?P<a>b)", "(*UTF)a", "(a)\\1",
    "\\p{L}",
    "\\Qa\\E", "\\Aa", "a\\z", "\\h", "\\v", "\\R", "\\K", "\\C", "\\0", "\\u{41}", "a++", "a?+",
    "a{2}+",
    "a**", "[[:alpha:]]", "[a&&b]", "(", ")", "a)(b", "[a", "a\\", "a{", "a{,2}", "a{ 2}", "a{2,1}",
    "a{70000}", "[b-a]", "^*a", "\\b+", "*a", "a|*", "(?<=a+)b",
    String(repeating: "a", count: 1001),
  ])
  func `uses nothing that it could misread`(_ pattern: String) {
    #expect(TextPattern.fits(pattern, "a") == nil)
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
      guard let found = answer["found"]?.truth, let fits = TextPattern.fits(pattern, text) else {
        continue
      }
      judged += 1
      #expect(fits == found, "\(pattern) on \(text)")
    }
    #expect(judged > 1000)
  }

  /// Patterns for which a matcher that goes back takes too long.
  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      String(repeating: ".?", count: 20) + String(repeating: ".", count: 20) + "$",
      "^" + String(repeating: "(.|.)", count: 38) + "!$", "^(a+)+$", "^(a*)*b$", "(a|aa)+$",
      "((){1000}){1000}", "(((a?){30}){30})", "^(?:[^b]*c|.)*$", "(?:a?){30}a*a*a*a*b",
      "(?=(a*)*b)",
      "(?:(?=a*(?!.)).)*b", "(?<=(?:a|b){200})b",
    ]
  )
  func `takes bounded time over any pattern`(_ pattern: String) {
    _ = TextPattern.fits(pattern, String(repeating: "a", count: TextPattern.longestText))
    #expect(TextPattern.fits(pattern, String(repeating: "a", count: 5000)) == nil)
  }
}
