import TenderModel
import TenderTestSupport
import Testing

@Suite struct SecretJSONTests {
  private static let open: Set<String> = ["type", "name", "address", "city"]

  private static func read(_ text: String) -> (object: JSONObject, secrets: [String: String])? {
    guard let read = SecretJSON(Secret(text), open: open) else { return nil }
    return (read.object, read.secrets.mapValues(\.revealed))
  }

  @Test func `takes secrets out and leaves the rest`() throws {
    let text = #"""
       { "type":"card", "number" : "4000 0566 5566 5556","security_code":"\u0031\/\t9",
         "name":"A \"B\" ü","address":{"city":"Köln","number":"12345678901234"},"n":1.5,"l":[true,null]}
      """#
    let read = try #require(Self.read(text))
    #expect(read.secrets == ["number": "4000 0566 5566 5556", "security_code": "1/\t9"])
    #expect(
      read.object == [
        "type": "card", "number": "", "security_code": "", "name": #"A "B" ü"#,
        "address": ["city": "Köln", "number": ""], "n": .number("1.5"), "l": [true, .null],
      ]
    )
  }

  /// A number in the wrong place must not pass, either.
  @Test(arguments: [
    #"{"number":4000056655665556}"#, #"{"4000056655665556":"x"}"#, #"{"name":"4000056655665556"}"#,
    #"{"nmber":"4000056655665556"}"#, #"{"type":{"type":["4000056655665556"]}}"#,
  ])
  func `lets no number through that is where it should not be`(_ text: String) {
    let shown = Self.read(text).map { JSONWriter.text(.object($0.object)) } ?? ""
    #expect(!shown.contains("40000566"), "\(shown)")
  }

  @Test(arguments: [
    "", "[]", "4", "\"a\"", "{", #"{"a":"#, #"{"a":"b}"#, #"{"a":"b\"}"#, #"{"a":"\q"}"#,
    #"{"a":"\u12"}"#,
    #"{"a":"b","a":"c"}"#, #"{"a":"b"}}"#, "{\"a\":\"b\nc\"}", #"{"a":"b",}"#, #"{"a" "b"}"#,
  ])
  func `refuses what is no object`(_ text: String) {
    #expect(Self.read(text) == nil)
  }

  /// The scanner gives the same result as the reader with everything open, for any text.
  @Test func `agrees with the reader on every broken text`() {
    let whole = #"{"type":"a\u0062","name":"c","address":{"city":["d",12,true]}}"#
    var random = Seeded(7)
    for _ in 0..<4000 {
      var bytes = Array(whole.utf8)
      for _ in 0...random.below(2) {
        bytes[random.below(bytes.count)] = Array(#""\{}[]:,ax1 "#.utf8)[random.below(12)]
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let expected = JSONReader.read(text, duplicates: .refusedStrictly)?.object
      let everything: Set<String> = Set(
        (expected?.members.map(\.key) ?? []) + ["type", "name", "address", "city"]
      )
      let found = SecretJSON(Secret(text), open: everything)?.object
      // A text within an array or under another name is a secret, but the shape is the same.
      #expect((found == nil) == (expected == nil), "\(text)")
    }
  }
}
