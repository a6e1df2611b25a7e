import TenderModel
import Testing

@Suite struct JSONTests {
  @Test(arguments: [
    "{}", "[]", "\"a\"", "1", "true", "null", #"{"a":[1,2,{"b":null}],"c":"d\"\\\n"}"#,
    #"{"big":123456789012345678901234567890}"#, #"{"x":1.5}"#, "\"ü😀\"",
  ])
  func `writes what it reads`(_ text: String) throws {
    let value = try #require(JSONReader.read(text))
    #expect(JSONWriter.text(value) == text)
  }

  @Test func `keeps integers and numbers exact`() {
    #expect(JSONReader.read("9007199254740993") == .integer(9_007_199_254_740_993))
    #expect(JSONReader.read("19.99") == .number("19.99"))
  }

  @Test func `survives every prefix, depth and garbage`() {
    let whole = #"{"type":"error","body":"tes\u0074","list":[1,2.5,true,null]}"#
    for length in 0..<whole.utf8.count {
      #expect(JSONReader.read(Array(whole.utf8.prefix(length))) == nil)
    }
    #expect(JSONReader.read(String(repeating: "[", count: 100_000)) == nil)
    #expect(JSONReader.read([0xff, 0xfe, 0x00]) == nil)
    #expect(JSONReader.read("[1]", limit: 2) == nil)
  }

  /// Tag characters hide text in a text. The printed text must equal the visible one.
  @Test(arguments: [
    ("\u{e0041}", #""\udb40\udc41""#), ("a\u{e0fff}b", #""a\udb43\udfffb""#),
    ("\u{f0000}", "\"\u{f0000}\""),
    ("\u{1f600}", "\"\u{1f600}\""), ("\u{200b}", #""\u200b""#),
  ])
  func `escapes what cannot be seen`(_ text: String, _ written: String) {
    #expect(JSONWriter.text(.string(text)) == written)
    #expect(JSONReader.read(written) == .string(text))
  }

  @Test func `writes secrets into memory of their own alone`() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("number")
    writer.write(SharedSecret("4111"))
    writer.name("raw")
    writer.verbatim(#"{"a": 1.50}"#)
    writer.name("phrase")
    writer.write(SharedSecret("a\"b\\c\n"))
    writer.endObject()
    var whole: [UInt8] = []
    writer.whole.append(to: &whole)
    #expect(
      String(decoding: whole, as: UTF8.self)
        == #"{"number":"4111","raw":{"a": 1.50},"phrase":"a\"b\\c\n"}"#
    )
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == #"{"number":"","raw":{"a": 1.50},"phrase":""}"#
    )
  }
}

@Suite struct Base64Tests {
  /// RFC 4648, section 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func `follows the published vectors`(_ plain: String, _ text: String) {
    #expect(Base64.encode(Array(plain.utf8)) == text)
    #expect(Base64.decode(text) == Array(plain.utf8))
  }

  @Test(arguments: ["Zg=", "Zg", "Z g==", "Zh==", "Zg==\n", "=Zg=", "Z===", "Zg==Zg=="])
  func `refuses anything else`(_ text: String) { #expect(Base64.decode(text) == nil) }

  @Test func `has the URL-safe alphabet without padding`() {
    #expect(Base64.encodeURL([0xfb, 0xff]) == "-_8")
    #expect(Base64.decodeURL("-_8") == [0xfb, 0xff])
    #expect(Base64.encodeURL([UInt8](repeating: 0, count: 128), padding: true).count == 172)
  }
}

@Suite struct TimestampTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0), ("2026-11-20T17:19:00Z", 1_795_195_140_000),
    ("2000-02-29T12:00:00Z", 951_825_600_000), ("1969-12-31T23:59:59Z", -1000),
  ])
  func `writes what it reads`(_ text: String, _ milliseconds: Int) {
    #expect(Timestamp.read(text) == milliseconds)
    #expect(Timestamp.text(milliseconds) == text)
  }

  @Test(arguments: [
    ("2026-11-20T18:19:00+01:00", "2026-11-20T17:19:00Z"),
    ("2026-11-20t17:19:00.999z", "2026-11-20T17:19:00Z"), ("2026-11-20", "2026-11-20T00:00:00Z"),
  ])
  func `reads offsets, fractions and dates`(_ text: String, _ utc: String) {
    #expect(Timestamp.read(text).map(Timestamp.text) == utc)
  }

  @Test(arguments: [
    "2026-02-29T00:00:00Z", "2026-13-01", "2026-11-20T25:00:00Z", "2026-11-20T17:19:00",
    "20261120", "", "2026-11-20T17:19:00Zx", "2026-11-20 17:19", "2026-11-20T17:19:00.Z",
  ])
  func `refuses anything else`(_ text: String) { #expect(Timestamp.read(text) == nil) }
}

@Suite struct WebAddressTests {
  @Test(arguments: [
    ("http://127.0.0.1:8085", true, false), ("ws://localhost:1/x", true, false),
    ("http://[::1]:80", true, false), ("wss://example.com", false, true),
    ("http://127.0.0.1.evil.example", false, false), ("http://localhost.example", false, false),
    ("http://127.1", false, false),
  ])
  func `knows this machine and encryption`(
    _ text: String,
    _ loopback: Bool,
    _ encrypted: Bool
  ) throws {
    let address = try #require(WebAddress(text))
    #expect(address.isLoopback == loopback)
    #expect(address.isEncrypted == encrypted)
  }

  @Test(arguments: [
    "127.0.0.1:80", "ftp://x", "http://", "http://u:p@x", "http://x:0", "http://x:99999",
    "http://x y", "http://x/#f", "http://[::1", "http://x:1x",
  ])
  func `refuses anything else`(_ text: String) { #expect(WebAddress(text) == nil) }

  @Test(arguments: [
    ("a\u{61c}b", "a?b", #""a\u061cb""#), ("a\u{3164}b", "a?b", #""a\u3164b""#),
    ("a\u{115f}b", "a?b", #""a\u115fb""#), ("a\u{fff9}b", "a?b", #""a\ufff9b""#),
    ("a\u{202e}b", "a?b", #""a\u202eb""#), ("a\u{e0041}b", "a?b", #""a\udb40\udc41b""#),
    ("a\u{180e}b", "a?b", #""a\u180eb""#), ("a\u{34f}b", "a?b", #""a\u034fb""#),
    ("a\u{1160}b", "a?b", #""a\u1160b""#), ("a\u{ffa0}b", "a?b", #""a\uffa0b""#),
    ("a\u{1bca0}b", "a?b", #""a\ud82f\udca0b""#), ("a\u{1bca3}b", "a?b", #""a\ud82f\udca3b""#),
    ("x\r\u{1b}[2Ky", "x??[2Ky", #""x\r\u001b[2Ky""#),
    ("é العربية 漢字 ❤️", "é العربية 漢字 ❤️", "\"é العربية 漢字 ❤️\""),
  ])
  func `shows nothing that steers or hides`(_ text: String, _ shown: String, _ json: String) {
    #expect(Printable.text(text) == shown)
    #expect(JSONWriter.text(.string(text)) == json)
  }

  @Test(arguments: ["a\u{202e}b", "a\u{2066}b", "a\u{61c}b", "a\u{200f}b"])
  func `a reference has no characters of direction`(_ text: String) {
    #expect(throws: Fault.self) { try Reference(text) }
  }
}

@Suite struct TimeRangeTests {
  /// Any number as a time is written as the first or the last possible time.
  @Test(arguments: [(Int.min, "0000-01-01T00:00:00"), (Int.max, "9999-12-31T23:59:59")])
  func `writes any number as a time`(_ number: Int, _ text: String) {
    let rest = number < 0 ? ("00", "000") : ("99", "999")
    #expect(Timestamp.text(number) == text + "Z")
    #expect(Timestamp.preciseText(number) == "\(text).\(rest.0)Z")
    #expect(Timestamp.milliText(number) == "\(text).\(rest.1)Z")
    #expect(Timestamp.yearAndMonth(number).year == (number < 0 ? 0 : 9999))
  }
}
