import TenderCommandLine
import TenderCommands
import TenderModel
import TenderSystem
import Toro
import TrueLayer

extension FuzzTarget {
  /// The readers of foreign bytes, with their rules: a written value is read back unchanged.
  static let parsers: [FuzzTarget] = [
    FuzzTarget(
      "json",
      seeds: [
        #"{"a":[1,-2.50e3,true,null,"é\ud83d\ude00\n"],"b":{"c":""}}"#, "[[[[]]]]", #""\u0000""#,
        "-0",
        "9223372036854775808", "\u{feff}{}",
      ],
      words: ["{", "}", "[", "]", "\"", "\\u", "\\ud800", "true", "null", "1e999", ":", ","]
    ) { bytes in
      for duplicates in [JSONReader.Duplicates.lastCounts, .refused, .refusedStrictly] {
        guard let value = JSONReader.read(bytes, duplicates: duplicates) else { continue }
        let text = JSONWriter.text(value)
        guard let again = JSONReader.read(text) else { return "what was written is no JSON" }
        guard again == value else { return "written and read again it is another value" }
        guard JSONWriter.text(again) == text else { return "written twice it differs" }
      }
      return nil
    },
    FuzzTarget(
      "secretjson",
      seeds: [#"{"type":"card","number":"4000 0566","security_code":"9\u00337","x":{"y":["z"]}}"#],
      words: ["\"number\"", "\"type\"", "\\\"", "\\u0034", "4000056655665556"]
    ) { bytes in
      var copy = bytes
      let read = SecretJSON(Secret(consuming: &copy), open: ["type"])
      let whole = JSONReader.read(bytes, duplicates: .refusedStrictly)?.object
      if read != nil, whole == nil { return "it takes what is no JSON object" }
      return nil
    },
    FuzzTarget(
      "xml",
      seeds: [
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a xmlns=\"urn:x\"><b>1 &amp; 2</b><c/></a>",
        "<a><![CDATA[x]]><!-- c --></a>", "<a b='c'>&#x41;</a>",
      ],
      words: ["<", "</", "/>", "&lt;", "<![CDATA[", "]]>", "<!--", "-->", "<!DOCTYPE", "<?", "?>"]
    ) { bytes in
      _ = try? XMLElement.read(bytes)
      return nil
    },
    FuzzTarget(
      "tlv",
      bytes: [[0x9f, 0x02, 0x01, 0x05], [0xe4, 0x81, 0x80], [0x5f, 0x20, 0x82, 0, 1, 65, 0, 0]]
    ) { bytes in
      guard let objects = TLV.read(bytes) else { return nil }
      guard TLV.read(objects.flatMap(\.encoded)) == objects else { return "encoded it is another" }
      return nil
    },
    FuzzTarget(
      "reader-frames",
      bytes: [[1, 0, 2, 0x90, 0, 0x93], [1, 0x40, 4, 0xe6, 0, 0x90, 0, 0x33], [1, 1, 1, 5, 5]]
    ) { bytes in
      var whole = FrameDecoder()
      let all = try? whole.receive(bytes)
      var pieces = FrameDecoder()
      var some: [ReaderMessage]? = []
      for byte in bytes {
        guard let more = try? pieces.receive([byte]) else {
          some = nil
          break
        }
        some? += more
      }
      if let all, let some, all != some { return "byte by byte it reads other messages" }
      return nil
    },
    FuzzTarget(
      "websocket",
      bytes: [
        [0x81, 2, 0x68, 0x69], [0x88, 2, 3, 0xe8], [0x89, 0], [0x01, 1, 0x61, 0x80, 1, 0x62],
        [0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6b], [0x82, 0x7e, 0, 200],
      ]
    ) { bytes in
      for role in [WebSocketMachine.Role.client, .server] {
        var whole = WebSocketMachine(role: role, messageLimit: 4096)
        var pieces = WebSocketMachine(role: role, messageLimit: 4096)
        let all = whole.receive(bytes)
        let some = bytes.flatMap { pieces.receive([$0]) }
        guard all == some else { return "byte by byte it tells of other events" }
        for case .message(.text(let text)) in all where text.utf8.count > 4096 {
          return "a message is longer than the limit"
        }
      }
      return nil
    },
    FuzzTarget(
      "handshake",
      seeds: [
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          + "Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI=\r\n\r\nrest",
        "HTTP/1.1 403 No\r\n\r\n",
      ],
      words: ["\r\n", "Upgrade", "Connection", ": ", "HTTP/1.1 101 ", "Sec-WebSocket-Accept"]
    ) { bytes in
      guard let address = WebAddress("ws://localhost/x"),
        let handshake = try? WebSocketHandshake(
          address,
          nonce: [UInt8](repeating: 0, count: 16),
          fields: []
        )
      else { return nil }
      _ = handshake.read(bytes)
      return nil
    },
    FuzzTarget(
      "texts",
      seeds: [
        "MTIz", "eyJ9", "00ff", "a=b&c=%20d", "http://[::1]:80/x?y", "2026-11-21T17:32:21.5+01:00",
        "10.50",
        "tcp://h:1", "90s",
      ],
      words: ["%", "=", "&", "://", "127.0.0.1", "T", "Z", "+", "."]
    ) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      guard Base64.decode(Base64.encode(bytes)) == bytes else { return "base64 changes it" }
      guard Base64.decodeURL(Base64.encodeURL(bytes)) == bytes else {
        return "base64url changes it"
      }
      guard Hex.decode(Hex.encode(bytes)) == bytes else { return "hexadecimal changes it" }
      guard QueryText.decode(QueryText.encode(text)) == text else { return "a query changes it" }
      _ = (Base64.decode(text), Base64.decodeURL(text), Hex.decode(text))
      _ = (QueryText.parameters(text), DeviceAddress(text), Currency(code: text))
      if let address = WebAddress(text), address.host.contains(where: \.isWhitespace) {
        return "a host has spaces"
      }
      if let time = Timestamp.read(text) {
        guard Timestamp.range.contains(time) else { return "a time is out of range" }
        guard Timestamp.read(Timestamp.milliText(time)) == time else { return "a time changes" }
      }
      if let dollars = Currency(code: "USD"),
        let money = try? Money(decimal: text, currency: dollars, named: "--amount")
      {
        let again = try? Money(decimal: money.decimalText, currency: dollars, named: "--amount")
        guard again == money else { return "an amount changes" }
      }
      _ = try? TimeText.milliseconds(text, option: "--timeout")
      return nil
    },
    FuzzTarget(
      "arguments",
      seeds: [
        "transact\0--amount\010.50\0--test-card=visa\0--reference\0A",
        "payment-status\0--id\04111111111111111",
        "batch\0-\0--jobs=4", "help\0transact", "cancel\0A\0--amount\05", "--version",
      ],
      words: ["--", "=", "--id", "--amount", "--metadata", "transact", "journal", "-o", "--json"]
    ) { bytes in
      let arguments = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      try? CardNumberGuard.check(arguments)
      guard case .run(let invocation) = try? parser.parse(arguments), let config,
        let settings = try? Settings(invocation, Environment(), modules, config: config)
      else { return nil }
      for module in modules { _ = module.resources(settings) }
      _ = (try? settings.env(), try? settings.timeout(), settings.journal())
      for name in ["USD", "JPY"] {
        let options = OptionReader(invocation, currency: name)
        _ = try? options.part(of: nil)
      }
      return nil
    },
    FuzzTarget(
      "redactor",
      seeds: [
        "4000 0566 5566 5556 x", "NDAwMDA1NjY1NTY2NTU1Ng==", "%30\\u0030", "eyJh.b.c",
        "123e4567-e89b-12d3-a456-426614174000",
      ],
      words: ["4000056655665556", "%34", "\\u003", "937", "eyJ", "token-of-42", "\u{200b}"]
    ) { bytes in
      let redactor = Redactor()
      redactor.learn("4000056655665556")
      redactor.learn("token-of-42")
      redactor.learnShort(Secret("937"))
      let text = String(decoding: bytes, as: UTF8.self)
      let shown = redactor.redact(text, foreign: true)
      for secret in ["4000056655665556", "token-of-42", "4000 0566 5566 5556"]
      where shown.lowercased().contains(secret) {
        return "a secret is shown"
      }
      let twice = redactor.redact(shown, foreign: true)
      guard !redactor.holdsSecret(twice) else { return "what was redacted holds a secret" }
      _ = Redactor.holdsCardNumber(text)
      _ = Printable.text(text)
      return nil
    },
    FuzzTarget(
      "instruments",
      seeds: [
        #"{"number":"4000056655665556","security_code":"937"}"#,
        #"{"number":"4","security_code":""}"#,
      ],
      words: ["4000056655665556", "343434343434343", "1234"]
    ) { bytes in
      var copy = bytes
      guard let read = SecretJSON(Secret(consuming: &copy), open: []) else { return nil }
      let nothing = SharedSecret("")
      guard let expiration = try? Expiration("12/39") else { return "a date is none" }
      let card = try? Card(
        number: read.secrets["number"] ?? nothing,
        securityCode: read.secrets["security_code"] ?? nothing,
        expiration: expiration,
        name: nil,
        address: Address(),
        today: YearMonth(year: 2026, month: 11)
      )
      if let card, !(13...19).contains(card.number.secret.count) {
        return "a card number has another length"
      }
      return nil
    },
  ]
}

private let parser = Parser(Providers().catalogue)
private let modules = Providers().modules
/// An empty configuration.
private let config = try? ConfigFile(path: "", isNamed: false, modules)
