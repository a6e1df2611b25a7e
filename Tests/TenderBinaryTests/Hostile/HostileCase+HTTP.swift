extension HostileCase {
  private static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
  private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
  private static let letters = String(repeating: "a", count: 1000)

  /// The actions of an HTTP server instead of an answer.
  private static let acts: [(name: String, act: HostilePeer.Act)] = [
    ("silence", { $0.hush() }),
    ("half a status line", { if $0.say("HTTP/1.1 20") { $0.hush() } }),
    ("half a header", { if $0.say(head + "X-A: b") { $0.hush() } }),
    ("half a body", { if $0.say(head + "Content-Length: 50\r\n\r\n{\"status\":") { $0.hush() } }),
    ("endless headers", { if $0.say(head) { $0.flood("X-A: \(letters)\r\n") } }),
    ("one endless header", { if $0.say(head + "X-A: ") { $0.flood(letters) } }),
    ("endless small headers", { if $0.say(head) { $0.flood("a:\r\n") } }),
    ("an endless status line", { if $0.say("HTTP/1.1 200 ") { $0.flood(letters) } }),
    ("endless interim answers", { $0.flood("HTTP/1.1 100 Continue\r\n\r\n") }),
    ("endless early hints", { $0.flood("HTTP/1.1 103 Early Hints\r\nLink: \(letters)\r\n\r\n") }),
    ("an endless body", { if $0.say(head + "\r\n") { $0.flood(letters) } }),
    ("endless chunks", { if $0.say(chunked) { $0.flood("3e8\r\n\(letters)\r\n") } }),
    ("endless small chunks", { if $0.say(chunked) { $0.flood("1\r\na\r\n") } }),
    ("endless chunk extensions", { if $0.say(chunked + "1;") { $0.flood(letters) } }),
    ("endless trailers", { if $0.say(chunked + "0\r\n") { $0.flood("X-A: \(letters)\r\n") } }),
    ("one endless trailer", { if $0.say(chunked + "0\r\nX-A: ") { $0.flood(letters) } }),
    (
      "a chunk as long as memory",
      { if $0.say(chunked + "7fffffffffffffff\r\n") { $0.flood(letters) } }
    ),
    (
      "a chunk that is longer than numbers",
      { if $0.say(chunked + "ffffffffffffffffff\r\n") { $0.flood(letters) } }
    ),
    ("a length that is too long", { $0.say(head + "Content-Length: 5000\r\n\r\n{}") }),
    (
      "a length that is too short",
      { if $0.say(head + "Content-Length: 2\r\n\r\n{}") { $0.flood(letters) } }
    ),
    ("a negative length", { if $0.say(head + "Content-Length: -1\r\n\r\n") { $0.flood(letters) } }),
    (
      "an immense length",
      { if $0.say(head + "Content-Length: 9223372036854775807\r\n\r\n") { $0.flood(letters) } }
    ),
    (
      "redirects for ever",
      { $0.say("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n") }
    ),
    (
      "back later, for ever",
      { $0.say("HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n") }
    ),
    (
      "back much later",
      { $0.say("HTTP/1.1 429 Busy\r\nRetry-After: 59\r\nContent-Length: 0\r\n\r\n") }
    ),
    ("a byte a second", { if $0.say(head + "\r\n") { $0.drip(" ") } }),
    ("a header a second", { if $0.say(head) { $0.drip("X-A: b\r\n") } }),
    (
      "a compressed body that nobody asked for",
      {
        if $0.say(head + "Content-Encoding: gzip\r\n\r\n") {
          $0.flood([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
        }
      }
    ),
    ("the end at once", { _ in }),
    ("an answer of HTTP/0.9", { $0.flood("{}") }),
    (
      "another protocol",
      { if $0.say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n") { $0.flood(letters) } }
    ),
    ("deep JSON", { $0.answer(String(repeating: "[", count: 4_000_000)) }),
    (
      "many members",
      { $0.answer("{" + String(repeating: "\"a\":0,", count: 600_000) + "\"a\":0}") }
    ),
    (
      "combining marks",
      { $0.answer("{\"status\":\"e\(String(repeating: "\u{301}", count: 2_000_000))\"}") }
    ),
    (
      "escaped marks",
      { $0.answer("{\"status\":\"e\(String(repeating: "\\u0301", count: 600_000))\"}") }
    ),
    (
      "a long number",
      { $0.answer("{\"amount_in_minor\":\(String(repeating: "9", count: 4_000_000))}") }
    ),
    ("joined emoji", { $0.answer("{\"error\":\"\(String(repeating: "👩‍", count: 500_000))\"}") }),
  ]

  private static let sampled: Set<String> = [
    "endless trailers", "combining marks", "endless interim answers", "half a header",
  ]

  /// Statuses of a payment that are unknown but valid.
  private static let answered: Set<String> = ["combining marks", "escaped marks"]

  /// Four megabytes of text that may hide a card number, in the status of a payment.
  private static let digits = [
    ("spaced digits", "4 0 0 0 0 "), ("digits without an end", "4111111111"),
    ("escaped digits", "%34%30%30%30"), ("digits twice escaped", "%2534&#52;\\\\u0034"),
    ("cards", "4000 0566 5566 5556, "),
  ].map { name, text in
    let times = 4_000_000 / text.utf8.count
    return HostileCase(peer: .api, name: name, exits: [0], isSample: name.contains("twice")) {
      $0.answer("{\"status\":\"\(String(repeating: text, count: times))\"}")
    }
  }

  /// A payment whose flow never goes on (TrueLayer answers so while a bank prepares it).
  private static let stalled = [
    ("no flow", ""), ("an empty flow", #","authorization_flow":{}"#),
    ("no actions", #","authorization_flow":{"configuration":{}}"#),
    ("empty actions", #","authorization_flow":{"actions":{}}"#),
    ("an action without a type", #","authorization_flow":{"actions":{"next":{}}}"#),
  ].map { name, flow in
    HostileCase(
      peer: .api,
      name: "authorizing for ever, \(name)",
      words: ["--wait=2s"],
      exits: [8],
      isSample: name == "no actions"
    ) { wire in
      repeat { wire.answer(#"{"status":"authorizing"\#(flow)}"#, for: 0) } while wire.hear() != nil
    }
  }

  static let http: [HostileCase] =
    acts.flatMap { row -> [HostileCase] in
      [
        // A look-up asks another server for a token first.
        HostileCase(
          peer: .api,
          name: row.name,
          exits: answered.contains(row.name) ? [0] : [10, 11],
          isSample: sampled.contains(row.name),
          act: row.act
        ),
        HostileCase(peer: .gateway, name: row.name, exits: [9, 11, 7, 4], act: row.act),
      ]
    }
    + acts.prefix(3).flatMap { row -> [HostileCase] in
      [
        HostileCase(peer: .token, name: row.name, exits: [10, 11], act: row.act),
        HostileCase(peer: .graph, name: row.name, exits: [10, 11], act: row.act),
      ]
    } + digits + stalled
}

extension Wire {
  /// A whole answer of HTTP.
  func answer(_ body: String, for milliseconds: Int = 1000) {
    let bytes = Array(body.utf8)
    say(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(bytes.count)\r\n\r\n"
    )
    say(bytes)
    hush(milliseconds)
  }
}
