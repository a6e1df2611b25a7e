import TenderModel
import Testing

/// BER-TLV, hexadecimal and XML: valid and invalid texts.
@Suite struct BinaryFormatTests {
  static let objects: [(hex: String, objects: [TLV]?)] = [
    ("", []), ("9F0206000000001000", [TLV(0x9f02, [0, 0, 0, 0, 0x10, 0])]),
    // Lengths in a longer form than they need, as readers send them.
    ("84840000000141", [TLV(0x84, [0x41])]), ("50810141", [TLV(0x50, [0x41])]),
    ("DFAE0302FFEE9000", [TLV(0xdfae03, [0xff, 0xee]), TLV(0x90, [])]),
    ("000050014100", [TLV(0x50, [0x41])]), ("50", nil), ("5002", nil), ("500241", nil),
    ("9F", nil), ("9FFFFFFF00", nil), ("5085000000000141", nil), ("5080", nil),
    ("50847FFFFFFF41", nil),
  ]

  @Test(arguments: objects)
  func `reads data objects`(_ row: (hex: String, objects: [TLV]?)) throws {
    #expect(TLV.read(try #require(Hex.decode(row.hex))) == row.objects)
  }

  @Test(arguments: [0, 1, 127, 128, 255, 256, 70_000])
  func `writes lengths as short as they can be`(_ count: Int) throws {
    let object = TLV(0xdfae02, [UInt8](repeating: 7, count: count))
    let head = count < 128 ? 1 : count < 256 ? 2 : count < 65_536 ? 3 : 4
    #expect(object.encoded.count == 3 + head + count)
    #expect(TLV.read(object.encoded) == [object])
    let template = TLV(0xe0, holding: [object, TLV(0x9c, [0])])
    #expect(template.objects == [object, TLV(0x9c, [0])])
  }

  @Test func `survives any bytes as data objects`() {
    for _ in 0..<5000 {
      let bytes = (0..<Int.random(in: 0..<40)).map { _ in UInt8.random(in: .min ... .max) }
      for object in TLV.read(bytes) ?? [] { _ = object.objects }
    }
  }

  @Test func `writes digits and bytes`() {
    #expect(Hex.encode([0, 0xaf, 9]) == "00AF09")
    #expect(Hex.decode("00aF09") == [0, 0xaf, 9])
    #expect(Hex.decode("0") == nil && Hex.decode("0g") == nil)
    #expect(Hex.packed(1050, bytes: 6).map(Hex.encode) == "000000001050")
    #expect(Hex.packed(999, bytes: 1) == nil && Hex.packed(-1, bytes: 2) == nil)
  }

  @Test func `reads XML by local names`() throws {
    let text = """
      <?xml version="1.0"?><n:Document xmlns:n="urn:a" x="1"><n:A> b&amp;c <n:D/></n:A>\
      <n:A>é</n:A><!-- no --></n:Document>
      """
    let document = try #require(try XMLElement.read(Array(text.utf8)))
    #expect(document.name == "Document" && document.namespace == "urn:a")
    #expect(document.children.map(\.name) == ["A", "A"])
    #expect(document.text("A") == "b&c" && document.children[1].text == "é")
    #expect(document["A"]?["D"] != nil && document.text("A/E") == nil)
  }

  static let refused = [
    "", "<a>", "<a></b>", "<a/><b/>", "text", "<!DOCTYPE a><a/>",
    "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "<a>&b;</a>", "<a b=1/>", "\u{0}<a/>",
    String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100),
    "<a>" + String(repeating: "<b/>", count: 70_000) + "</a>",
  ]

  @Test(arguments: refused.indices)
  func `refuses what is no plain document`(_ index: Int) throws {
    #expect(try XMLElement.read(Array(Self.refused[index].utf8)) == nil)
  }

  @Test func `refuses bytes that are no UTF-8, and too many`() throws {
    #expect(try XMLElement.read(Array("<a>".utf8) + [0xff] + Array("</a>".utf8)) == nil)
    let large = Array("<a>".utf8) + [UInt8](repeating: 0x20, count: 4 << 20) + Array("</a>".utf8)
    #expect(try XMLElement.read(large) == nil)
  }

  @Test func `writes what it reads back`() throws {
    var writer = XMLWriter()
    writer.element("a") { writer in
      writer.element("b", "<&>\"'é\u{1}\r\n")
      writer.element("c", nil)
      writer.element("d", "")
    }
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == "<a><b>&lt;&amp;&gt;\"'é?&#13;\n</b><d></d></a>"
    )
    #expect(try XMLElement.read(writer.bytes)?.text("b")?.hasPrefix("<&>\"'é?") == true)
  }

  static let places: [(text: String, bytes: String?)] = [
    ("<R><AB>1</AB><A x=\"1\">2</A></R>", "<A x=\"1\">2</A>"),
    ("<n:R><n:A >2<b/></n:A ></n:R>", "<n:A >2<b/></n:A >"), ("<R><A/></R>", "<A/>"),
    ("<R><!--<A>1</A>--><A>2</A></R>", "<A>2</A>"),
    ("<R><b><![CDATA[<A>1</A>]]></b><A x='>'>2</A></R>", "<A x='>'>2</A>"),
    ("<R><b><A>1</A></b><A>2<A>3</A></A></R>", "<A>2<A>3</A></A>"),
    ("<?x <A> ?><R><A>2</A></R>", "<A>2</A>"), ("<R><A>1</A><A>2</A></R>", nil),
    ("<R><b><A>1</A></b></R>", nil), ("<R><A>", nil), ("<R><A>1</A><!-- </R>", nil),
    ("<A>1</A>", nil),
  ]

  @Test(arguments: places)
  func `finds the bytes of an element by its name and depth`(_ row: (text: String, bytes: String?))
  {
    let found = XMLElement.bytes(of: "A", at: 1, in: Array(row.text.utf8))
    #expect(found.map { String(decoding: $0, as: UTF8.self) } == row.bytes)
  }

  @Test func `refuses tags that take a parser's time`() throws {
    let many = "<a " + (0..<65).map { "b\($0)='1' " }.joined() + "/>"
    #expect(try XMLElement.read(Array(many.utf8)) == nil)
    let few = "<a " + (0..<64).map { "b\($0)='1' " }.joined() + "/>"
    #expect(try XMLElement.read(Array(few.utf8)) != nil)
    let long = "<a b='" + String(repeating: ">", count: 9000) + "'/>"
    #expect(try XMLElement.read(Array(long.utf8)) == nil)
  }
}
