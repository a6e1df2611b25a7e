import TenderModel
import Testing

/// References that look alike are one reference, and no character in them is invisible.
@Suite struct ReferenceTests {
  @Test func `letters that look alike are one reference`() throws {
    let typed = ["Caf\u{e9}", "Cafe\u{301}"]
    for text in typed { #expect(try Array(Reference(text).text.utf8) == [67, 97, 102, 195, 169]) }
    #expect(Reference.forms(of: typed[1]).map { Array($0.utf8).count } == [6, 5])
    #expect(Reference.forms(of: typed[0]).map { Array($0.utf8).count } == [5, 6])
    #expect(Reference.forms(of: "ORDER-1") == ["ORDER-1"])
    // A stored reference has the same bytes as before.
    #expect(Array(Reference(stored: typed[1]).text.utf8).count == 6)
  }

  @Test(
    arguments: [
      0x200b, 0x200c, 0x200d, 0x2060, 0x2062, 0xfeff, 0xad, 0x34f, 0x115f, 0x3164, 0x180e, 0xfe0f,
      0xe0041, 0xa0, 0x2003, 0x2028, 0x202e, 0x200e, 0x7f, 0x9,
    ] as [UInt32]
  )
  func `an invisible character is refused`(_ scalar: UInt32) throws {
    let character = Character(try #require(Unicode.Scalar(scalar)))
    let fault = #expect(throws: Fault.self) { try Reference("A\(character)B") }
    #expect(fault?.code == "bad_reference")
  }

  @Test(arguments: ["ORDER 1042", "Zürich", "注文", "a/b:c#1"])
  func `what can be seen is allowed`(_ text: String) throws {
    #expect(try Reference(text).text == text)
  }
}
