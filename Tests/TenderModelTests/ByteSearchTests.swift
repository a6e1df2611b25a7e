import TenderModel
import Testing

@Suite struct ByteSearchTests {
  struct Split: Sendable, CustomTestStringConvertible {
    let text: String
    var separator = ","
    var most = Int.max
    var omits = true
    let parts: [String]

    var testDescription: String { "\(text.debugDescription) by \(separator.debugDescription)" }
  }

  @Test(arguments: [
    Split(text: "a,b,,c", parts: ["a", "b", "c"]),
    Split(text: "a,b,,c", omits: false, parts: ["a", "b", "", "c"]),
    Split(text: ",a,", omits: false, parts: ["", "a", ""]),
    Split(text: "", parts: []),
    Split(text: "", omits: false, parts: [""]),
    Split(text: "a=b=c", separator: "=", most: 1, parts: ["a", "b=c"]),
    Split(text: "==a=b", separator: "=", most: 1, parts: ["a", "b"]),
    Split(text: "a,b", most: 0, parts: ["a,b"]),
    Split(text: "a; b;c", separator: "; ", parts: ["a", "b;c"]),
    Split(text: "a\r\nb\n", separator: "\n", parts: ["a\r", "b"]),
    Split(text: "a\r\nb\r\n", separator: "\r\n", parts: ["a", "b"]),
    // A mark after a separator does not hide it.
    Split(text: "a,\u{301}b", parts: ["a", "\u{301}b"]),
    Split(text: "é,ü", parts: ["é", "ü"]),
    Split(text: "aéb", separator: "é", parts: ["a", "b"]),
    Split(text: "ab", separator: "abc", parts: ["ab"]),
  ])
  func `splits`(_ split: Split) {
    for text in [split.text[...], "<\(split.text)>".dropFirst().dropLast()] {
      let parts = text.split(
        separator: split.separator,
        maxSplits: split.most,
        omittingEmptySubsequences: split.omits
      )
      #expect(parts == split.parts.map { $0[...] })
    }
  }

  @Test func `finds the first and the last place`() {
    let text = "a://b://c"
    #expect(text.firstRange(of: "://").map { text[$0.upperBound...] } == "b://c")
    #expect(text.lastIndex(of: "://").map { text[..<$0] } == "a://b")
    #expect(text.firstIndex(of: ":").map { text[..<$0] } == "a")
    #expect(text.firstRange(of: "x") == nil && text.lastIndex(of: "x") == nil)
    #expect("".firstRange(of: "a") == nil && "".lastIndex(of: "a") == nil)
    #expect("ab".firstRange(of: "").map { "ab"[$0] } == "")
  }

  @Test func `contains and replaces`() {
    let text: Substring = "one_two_three"
    #expect(text.contains("_t") && !text.contains("_x") && !text.contains("three_"))
    #expect(text.replacing("_", with: "-") == "one-two-three")
    #expect(text.replacing("two", with: "") == "one__three")
    #expect(text.replacing("x", with: "y") == "one_two_three")
    #expect("aaa".replacing("aa", with: "b") == "ba")
    #expect("=\u{301}".contains("="))
  }
}
