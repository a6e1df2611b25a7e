import TenderModel
import TenderTestSupport
import Testing

/// Every parser and writer takes four times as long for four times the text, for any text.
@Suite(.serialized) struct GrowthTests {
  private static func text(_ piece: String, _ size: Int) -> String {
    String(repeating: piece, count: max(1, size / piece.utf8.count))
  }

  @Test(arguments: [
    ("[", "1,", "1]"), ("[", "[],", "[]]"), ("{", #""a":1,"#, #""z":1}"#),
    ("[\"", "\\u0041", "\"]"),
    ("[\"", "é", "\"]"), ("[", "-1.5e3,", "0]"), ("", " ", "1"), ("[\"", "\\", ""), ("", "[", ""),
    ("{", #""a":{"#, ""), ("[\"", "\u{200b}", "\"]"), ("", "9", ""),
  ])
  func `JSON texts`(_ head: String, _ piece: String, _ tail: String) {
    Growth.expectLinear(base: 32_768) { size in
      let bytes = Array((head + Self.text(piece, size) + tail).utf8)
      _ = JSONReader.read(bytes)
      _ = JSONReader.read(bytes, duplicates: .refused)
    }
  }

  @Test(arguments: [
    "a", "\u{200b}", "\u{ad}", "\u{202e}", "\u{ffff}", "\"", "\\", "\u{1}", "é", "\u{3164}",
  ])
  func `writing JSON`(_ piece: String) {
    Growth.expectLinear(base: 32_768) { size in _ = JSONWriter.text(.string(Self.text(piece, size)))
    }
  }

  @Test(arguments: ["\"a\":\"b\",", "\"a\":1234567,", "\"\\u0041\":\"\\u0041\",", "[", "\"", "{"])
  func `JSON with secrets`(_ piece: String) {
    Growth.expectLinear(base: 8192) { size in
      _ = SecretJSON(Secret("{" + Self.text(piece, size) + "\"z\":\"\"}"), open: [])
    }
  }

  @Test(arguments: [
    ("<a>", "<b/>", "</a>"), ("<a>", "<b>", ""), ("<a>", "x", "</a>"), ("<a>", "&amp;", "</a>"),
    ("<a>", "<![CDATA[x]]>", "</a>"), ("<a>", "<!-- -->", "</a>"), ("<a ", "b='c' ", "/>"),
    ("<a>", "&#x41;", "</a>"), ("", "<?x?>", "<a/>"),
  ])
  func `XML documents`(_ head: String, _ piece: String, _ tail: String) {
    Growth.expectLinear(base: 16_384) { size in
      _ = try? XMLElement.read(Array((head + Self.text(piece, size) + tail).utf8))
    }
  }

  @Test(
    arguments: [[0x9f, 0x02, 0x01, 0x05], [0x00], [0xe4, 0x00], [0xdf, 0xae, 0x02, 0x00]]
      as [[UInt8]]
  )
  func `TLV objects`(_ piece: [UInt8]) {
    Growth.expectLinear(base: 16_384) { size in
      let bytes = (0..<(size / piece.count)).flatMap { _ in piece }
      _ = TLV.read(bytes)
    }
  }

  /// Small frames, fragments of one message, and a large frame in small pieces.
  @Test(
    arguments: [
      ([0x81, 0x01, 0x61], 3), ([0x89, 0x00], 2), ([0x00, 0x01, 0x61], 3),
      ([0x82, 0x7f, 0, 0, 0, 0, 0, 0x10, 0, 0], 1),
    ] as [([UInt8], Int)]
  )
  func `WebSocket frames`(_ piece: [UInt8], _ step: Int) {
    Growth.expectLinear(base: 8192) { size in
      var machine = WebSocketMachine(role: .client, messageLimit: 1 << 22)
      _ = machine.receive([0x01, 0x01, 0x61])
      let bytes = (0..<(size / piece.count)).flatMap { _ in piece }
      var rest = bytes[...]
      while !rest.isEmpty {
        _ = machine.receive(Array(rest.prefix(step)))
        rest = rest.dropFirst(step)
      }
    }
  }

  @Test(arguments: ["a=b&", "%41", "+", "&", "=", "%"])
  func `queries`(_ piece: String) {
    Growth.expectLinear(base: 16_384) { size in
      let text = Self.text(piece, size)
      _ = QueryText.parameters(text)
      _ = QueryText.encode(QueryText.decode(text))
    }
  }

  @Test(arguments: ["QUFB", "=", "A", "-_", "\n", "é"])
  func `base64 and hexadecimal`(_ piece: String) {
    Growth.expectLinear(base: 16_384) { size in
      let text = Self.text(piece, size)
      _ = (Base64.decode(text), Base64.decodeURL(text), Hex.decode(text))
      _ = (Base64.encode(text.utf8), Hex.encode(Array(text.utf8)))
    }
  }

  @Test(arguments: ["<", "&", "\"", "é", "\u{1}"])
  func `escaping markup`(_ piece: String) {
    Growth.expectLinear(base: 16_384) { size in _ = MarkUp.escape(Self.text(piece, size)) }
  }
}
