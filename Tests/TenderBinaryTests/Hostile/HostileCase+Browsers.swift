extension HostileCase {
  private static let letters = String(repeating: "a", count: 1000)
  private static let ask = "GET /callback?payment_id=x HTTP/1.1\r\nHost: 127.0.0.1\r\n"

  private static let acts: [(name: String, times: Int, act: HostilePeer.Act)] = [
    ("silence", 100, { $0.hush() }),
    ("half a request", 100, { if $0.say("GET /call") { $0.hush() } }),
    ("half a header", 100, { if $0.say(ask + "X-A: ") { $0.hush() } }),
    ("endless headers", 4, { if $0.say(ask) { $0.flood("X-A: \(letters)\r\n") } }),
    ("an endless address", 4, { if $0.say("GET /") { $0.flood(letters) } }),
    ("endless arguments", 4, { if $0.say("GET /callback?") { $0.flood("a=b&") } }),
    (
      "an endless body", 4,
      {
        if $0.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999\r\n\r\n") {
          $0.flood(letters)
        }
      }
    ),
    (
      "endless chunks", 4,
      {
        if $0.say("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n") {
          $0.flood("3e8\r\n\(letters)\r\n")
        }
      }
    ),
    ("endless requests", 4, { $0.flood(ask + "\r\n") }),
    ("a byte a second", 50, { $0.drip("G") }),
    ("noise", 4, { $0.flood([0xff]) }),
  ]

  static let browsers: [HostileCase] =
    acts.map { row in
      HostileCase(
        peer: .browser,
        name: row.name,
        exits: [8, 12],
        times: row.times,
        isSample: row.name == "endless requests",
        act: row.act
      )
    }
    + acts.map { row in
      HostileCase(
        peer: .visitor,
        name: row.name,
        exits: [],
        times: row.times,
        isSample: row.name == "endless headers",
        act: row.act
      )
    }
}
