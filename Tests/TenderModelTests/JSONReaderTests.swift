import TenderModel
import Testing

/// The rules of RFC 8259, each with valid and invalid texts.
@Suite struct JSONReaderTests {
  @Test(arguments: [
    "[1,]", "[1,,2]", "[,1]", "{\"a\":1,}", "{,}", "[1", "{\"a\"", "{\"a\":", "{\"a\":1", "[1}",
    "{\"a\" 1}", "{a:1}", "{'a':1}", "{1:1}", "01", "-", "-01", "+1", "1.", ".5", "1e", "1e+",
    "1.e1", "0x1", "NaN", "Infinity", "-Infinity", "tru", "TRUE", "nul", "\"a", "\"\\x\"",
    "\"\\u12\"", "\"\\u12g4\"", "\"\t\"", "\"\n\"", "1 2", "[] []", "", " ", "[1]x", "// a\n1",
    "/* a */ 1", "\u{feff}", "[\u{a0}1]", "\u{c}1", "]", "}", ":", ",",
  ])
  func `refuses what is not JSON`(_ text: String) {
    #expect(JSONReader.read(text) == nil)
  }

  static let numbers: [(String, JSON)] = [
    ("0", 0), ("-0", 0), ("1.0", 1), ("100e-2", 1), ("1e3", 1000), ("12.50e1", 125),
    ("0e999999999999", 0), ("9223372036854775807", .integer(.max)),
    ("-9223372036854775808", .integer(.min)),
    ("9223372036854775808", .number("9223372036854775808")),
    ("1e19", .number("1e19")), ("1e400", .number("1e400")), ("-1.5E-400", .number("-1.5E-400")),
    ("1e99999999999999999999", .number("1e99999999999999999999")),
    ("0.1", .number("0.1")), ("19.990", .number("19.990")),
  ]

  @Test(arguments: numbers)
  func `numbers are exact, whatever their notation`(_ text: String, _ value: JSON) {
    #expect(JSONReader.read(text) == value)
  }

  @Test func `members come in the order in which they were sent`() throws {
    let text = #"{"z":1,"a":{"y":2,"b":3},"m":[{"k":4,"c":5}]}"#
    #expect(JSONWriter.text(try #require(JSONReader.read(text))) == text)
  }

  @Test func `of a name that comes twice the last counts in answers; users are told`() {
    #expect(JSONReader.read(#"{"a":1,"b":2,"a":3}"#) == ["a": 3, "b": 2])
    #expect(JSONReader.read(#"{"a":1,"b":2,"a":3}"#, duplicates: .refused) == nil)
    #expect(JSONReader.read(#"{"a":{"b":1,"\u0062":2}}"#, duplicates: .refused) == nil)
    let long = (0..<40).map { "\"n\($0)\":\($0)" } + ["\"n7\":-7"]
    let text = "{" + long.joined(separator: ",") + "}"
    #expect(JSONReader.read(text)?["n7"] == -7)
    #expect(JSONReader.read(text)?["n39"] == 39)
    #expect(JSONReader.read(text)?.object?.members.count == 40)
    #expect(JSONReader.read(text, duplicates: .refused) == nil)
    // They look the same, but have other bytes: two names.
    #expect(JSONReader.read("{\"\u{e9}\":1,\"e\u{301}\":2}", duplicates: .refused) != nil)
  }

  @Test func `reads escapes, pairs and halves of them`() {
    #expect(JSONReader.read(#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#) == "\"\\/\u{8}\u{c}\n\r\té😀")
    #expect(JSONReader.read(#""\ud83dx""#) == "\u{fffd}x")
    #expect(JSONReader.read(#""\ud83d\u0041""#) == "\u{fffd}A")
    #expect(JSONReader.read(#""\ud83dx""#, duplicates: .refused) == "\u{fffd}x")
    #expect(JSONReader.read(#""\ud83dx""#, duplicates: .refusedStrictly) == nil)
    #expect(JSONReader.read([0xef, 0xbb, 0xbf] + Array("[1]".utf8)) == [1])
    #expect(JSONReader.read(Array("\"".utf8) + [0xc0, 0xaf] + Array("\"".utf8)) == nil)
  }

  @Test(arguments: [
    (#"{"a":1,"a":2}"#, "has a key twice"), (#"{"a":"\ud83d","a":2}"#, "has a key twice"),
    (#"{"a":"\ud83d"}"#, "has half of a surrogate pair"), (#"{"\udc00":1}"#, "has half of"),
    ("[1]", "is not a JSON object"), ("{", "is not a JSON object"), ("", "is not a JSON object"),
  ])
  func `says what is wrong with an object that a user wrote`(_ text: String, _ flaw: String) {
    #expect(JSONReader.flaw(text.utf8).hasPrefix(flaw))
  }

  @Test func `is as deep as its limit and no deeper`() {
    func nested(_ depth: Int) -> String {
      String(repeating: "[{\"a\":", count: depth / 2) + "1"
        + String(repeating: "}]", count: depth / 2)
    }
    #expect(JSONReader.read(nested(JSONReader.depthLimit)) != nil)
    #expect(JSONReader.read(nested(JSONReader.depthLimit + 2)) == nil)
  }
}
