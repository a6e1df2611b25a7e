import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// `simulator serve` with unexpected clients.
@Suite struct ServeTests {
  private static func port(_ shop: Shop) throws -> Int {
    let address = try #require(shop.binary.variables["TENDER_PAYTHEORY_GRAPHQL_URL"])
    return try #require(address.split(separator: ":").last.flatMap { Int($0) })
  }

  private static func ask(_ port: Int, _ fields: [String]) -> String {
    let head = (["GET /v3/payments HTTP/1.1"] + fields + ["Connection: close", "", ""])
    let client = RawClient(port: port)
    client?.say(head.joined(separator: "\r\n"))
    return client?.hear(until: "\u{0}", milliseconds: 3000) ?? ""
  }

  /// A page in a browser can direct its host name to this address, and would read payments.
  @Test func `answers under its own names alone`() throws {
    let shop = try Shop()
    let port = try Self.port(shop)
    for host in [
      "evil.example", "evil.example:\(port)", "127.0.0.1.evil.example", "127.0.0.+1", "",
    ] {
      #expect(Self.ask(port, ["Host: \(host)"]).hasPrefix("HTTP/1.1 421"), "\(host)")
    }
    for host in ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"] {
      #expect(Self.ask(port, ["Host: \(host)"]).hasPrefix("HTTP/1.1 405"), "\(host)")
    }
  }

  /// A body of megabytes is not read for a page of another site.
  @Test func `refuses a foreign page before it reads the body`() throws {
    let shop = try Shop()
    let port = try Self.port(shop)
    for (path, field, status) in [
      ("load", "Host: evil.example", "421"), ("load", "Origin: https://evil.example", "403"),
      ("none", "X: 1", "404"), ("save", "X: 1", "405"),
    ] {
      let client = try #require(RawClient(port: port))
      let host = field.hasPrefix("Host") ? "" : "Host: localhost\r\n"
      client.say(
        "POST /_simulator/\(path) HTTP/1.1\r\n\(host)\(field)\r\nContent-Length: 60000000\r\n\r\n{"
      )
      let answer = client.hear(until: "\r\n", milliseconds: 3000)
      #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
    }
  }

  /// The second load is read after the first one ended.
  @Test func `reads one world at a time`() throws {
    let shop = try Shop()
    let port = try Self.port(shop)
    let head = "POST /_simulator/load HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\n"
    let clients = try (0..<24).map { _ in try #require(RawClient(port: port)) }
    for client in clients { client.say(head) }
    clients[0].say("no")
    #expect(clients[1].hear(until: "\r\n", milliseconds: 200) == "")
    for client in clients { client.say("no world".dropFirst(client === clients[0] ? 2 : 0) + "") }
    for client in clients {
      #expect(client.hear(until: "\r\n", milliseconds: 5000).hasPrefix("HTTP/1.1 400"))
    }
  }

  /// A request in the body of another one would be answered.
  @Test(arguments: [("2", "2", false), ("2", "52", true), ("52", "2", true), ("2", "2, 52", true)])
  func `takes one length of a body alone`(_ one: String, _ other: String, _ isRefused: Bool) throws
  {
    let shop = try Shop()
    let client = try #require(RawClient(port: try Self.port(shop)))
    client.say(
      "POST /connect/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + "Content-Length: \(one)\r\nContent-Length: \(other)\r\n\r\n{}"
        + "GET /v3/payments HTTP/1.1\r\nHost: localhost\r\nX: 1\r\n\r\n"
    )
    let answer = client.hear(until: "\u{0}", milliseconds: 1500)
    // In both cases the first answer is 400, because the body is not a request for a token.
    #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
    #expect(answer.components(separatedBy: "HTTP/1.1 ").count == (isRefused ? 2 : 3), "\(answer)")
  }

  /// Numbers too large for any amount, in every place of a request.
  @Test(arguments: [
    "clock=-9223372036854775808", "clock=9223372036854775807", "seed=-9223372036854775808",
    "clock=253402300799999", "fault=slow*9223372036854775807", "clock=-1;seed=9223372036854775807",
  ])
  func `survives any number in its header`(_ header: String) throws {
    let shop = try Shop()
    let port = try Self.port(shop)
    for path in ["/v3/payments", "/pt-token-service/", "/connect/token", "/"] {
      let client = RawClient(port: port)
      client?.say(
        "POST \(path) HTTP/1.1\r\nHost: localhost\r\nX-Tender-Simulator: \(header)\r\n"
          + "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
      )
      #expect(client?.hear(until: "\u{0}", milliseconds: 3000).hasPrefix("HTTP/1.1 ") == true)
    }
    #expect(shop.process.isRunning)
    let paid = try shop.binary.run("transact", "--amount", "5", "--test-card", "visa")
    #expect(paid.status == 0, "\(paid.errors)")
  }

  /// The view of a foreign client for each fault on its connection.
  @Test(arguments: [
    ("close-before", "", false), ("close-after", "", false), ("reset-before", "", true),
    ("reset-amid", "", true), ("reset-after", "", true), ("garbage", "200", false),
    ("http-500", "500", false), ("latency=100ms", "400", false), ("bandwidth=2000", "400", false),
    ("cut=7", "400", false),
  ])
  func `plays faults on real connections`(_ what: String, _ status: String, _ isReset: Bool) throws
  {
    let shop = try Shop()
    let client = RawClient(port: try Self.port(shop))
    client?.say(
      "POST /connect/token HTTP/1.1\r\nHost: localhost\r\nX-Tender-Simulator: "
        + "fault=bank-token:\(what)\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
    )
    let said = client?.hear(until: "\u{0}", milliseconds: 3000) ?? "-"
    #expect(said.hasPrefix(status.isEmpty ? "" : "HTTP/1.1 \(status)") && !said.hasPrefix("-"))
    #expect(said.isEmpty == status.isEmpty, "\(said)")
    #expect(client?.isReset == isReset)
    let body = said.components(separatedBy: "\r\n\r\n").dropFirst().joined()
    let whole = #"{"error":"invalid_client"}"#
    if status == "400" { #expect(body == (what == "cut=7" ? String(whole.prefix(7)) : whole)) }
    if status == "400" { #expect(said.lowercased().contains("content-length: \(whole.count)")) }
  }

  /// Some bytes of a body of 1,000 have come.
  @Test(arguments: [
    ("reset-before", 0, true), ("reset-amid", 0, false), ("reset-amid", 500, true),
    ("reset-amid;fault=bank-token:http-500", 500, true),
    ("http-500;fault=bank-token:reset-amid", 500, false),
    ("reset-amid+1", 500, false), ("reset-before,for=x", 500, false), ("reset-after", 500, false),
  ])
  func `resets a connection before, amid or after a request`(
    _ fault: String,
    _ sent: Int,
    _ isReset: Bool
  ) throws {
    let shop = try Shop()
    let client = RawClient(port: try Self.port(shop))
    client?.say(
      "POST /connect/token HTTP/1.1\r\nHost: localhost\r\nX-Tender-Simulator: "
        + "fault=bank-token:\(fault);payment=A\r\n"
        + "Connection: close\r\nContent-Length: 1000\r\n\r\n" + String(repeating: "x", count: sent)
    )
    #expect(client?.hear(until: "\u{0}", milliseconds: isReset ? 10_000 : 300) == "")
    #expect(client?.isReset == isReset)
    let log = try shop.server.run("simulator", "requests", "--json").records
    #expect(log.map { $0.text("end") } == (isReset ? ["reset"] : []), "\(log)")
    guard !isReset else { return }
    // A fault that was drawn early counts one time.
    client?.say(String(repeating: "x", count: 1000 - sent))
    let said = client?.hear(until: "\u{0}", milliseconds: 10_000) ?? ""
    let status = fault.contains("http-500") ? "500" : fault.contains("+1") ? "400" : ""
    #expect(said.split(separator: " ").dropFirst().first ?? "" == status, "\(said)")
  }

  /// A fault of the server counts over all requests.
  @Test func `counts a fault that it was started with`() throws {
    let home = try Binary()
    defer { home.remove() }
    let words = ["simulator", "serve", "--json", "--sim-fault", "bank-token:http-500*2"]
    let (process, output, _) = try home.start(words)
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    let address = try #require(try Served.addresses(output)["TENDER_TRUELAYER_AUTH_URL"])
    let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
    let statuses = (0..<4).map { _ in
      let client = RawClient(port: port)
      client?.say(
        "POST /connect/token HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
          + "Content-Length: 2\r\n\r\n{}"
      )
      return client?.hear(until: "\u{0}", milliseconds: 3000).prefix(12).suffix(3)
    }
    #expect(statuses == ["500", "500", "400", "400"])
  }

  @Test(arguments: [
    ["--trace", "t"], ["--sim-fault", "token:unreachable"], ["--sim-fault", "part2:http-500"],
  ])
  func `refuses what it would not do`(_ words: [String]) throws {
    let home = try Binary()
    defer { home.remove() }
    let refused = try home.run(["simulator", "serve", "--json"] + words)
    #expect(refused.status == 2, "\(refused.output)")
  }

  @Test func `a fault that only the simulator inside can play sends nothing elsewhere`() throws {
    let shop = try Shop()
    let words = "transact --amount 5 --test-card visa --json --sim-fault token:unreachable"
    let refused = try shop.binary.run(words.split(separator: " ").map(String.init))
    #expect(refused.status == 2, "\(refused.errors)")
  }

  @Test func `serves beside hundreds of connections that say nothing`() throws {
    let shop = try Shop()
    let port = try Self.port(shop)
    let idle = (0..<450).compactMap { _ in RawClient(port: port) }
    #expect(idle.count > 400)
    let paid = try shop.binary.run(
      "transact",
      "--amount",
      "5",
      "--test-card",
      "visa",
      "--timeout",
      "5s"
    )
    #expect(paid.status == 0, "\(paid.errors)")
    withExtendedLifetime(idle) {}
  }

  /// Above 600 connections, those that wait for another request are ended first.
  @Test func `ends no connection before its first request`() throws {
    let shop = try Shop()
    let port = try Self.port(shop)
    let asked = "GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let late = try #require(RawClient(port: port))
    let others = try (0..<620).map { _ in
      let client = try #require(RawClient(port: port))
      client.say(asked)
      #expect(client.hear(until: "\r\n\r\n").hasPrefix("HTTP/1.1 404"))
      return client
    }
    late.say(asked)
    #expect(late.hear(until: "\r\n\r\n").hasPrefix("HTTP/1.1 404"))
    withExtendedLifetime(others) {}
  }
}

@Suite struct ServedFolderTests {
  /// Another state folder gets all files.
  @Test func `writes nothing outside of its state folder`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let folder = binary.home.appending(path: "other").path
    let (process, output, _) = try binary.start([
      "simulator", "serve", "--json", "--state-dir", folder,
    ])
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    _ = try Served.addresses(output)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/serving").count == 2)
    let home = try FileManager.default.contentsOfDirectory(atPath: binary.home.path)
    #expect(!home.contains(".local"), "\(home)")
  }
}

/// Live money is never taken at a simulated reader.
@Suite struct SimulatedReaderOnLiveTests {
  private static let sale = [
    "transact", "--provider", "toro", "--amount", "5", "--currency", "GBP", "--env", "live",
    "--yes",
    "--reference", "L", "--json", "--signature-matches", "yes",
  ]

  /// A profile with all ids, so that a sale reaches the reader.
  private static func till(_ home: URL) throws -> String {
    let path = home.appending(path: "till.json")
    try #"""
    {"profiles":{"till":{"provider":"toro","toro":{"currency":"GBP","acquirer_id":"1","merchant_id":"M",
    "merchant_name":"M","merchant_category_code":"5812","poi_id":"P","key_id":"K","key_version":"1",
    "card_key_id":"C","card_key_version":"1","recipient_id":"R","passphrase":"a-passphrase",
    "kdf":{"prf":"hmac-sha256","salt":"s","iterations":1000,"length":32}}}}}
    """#
    .write(to: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.path)
    return path.path
  }

  @Test func `refuses what a running server printed, and its reader behind any address`() throws {
    let home = try Binary()
    defer { home.remove() }
    let (process, output, _) = try home.start(["simulator", "serve", "--json"])
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    let addresses = try Served.addresses(output)
    let device = try #require(addresses["TENDER_TORO_DEVICE"])
    var same = home
    same.variables["TENDER_TORO_DEVICE"] = device
    let words = Self.sale + ["--config", try Self.till(home.home), "--profile", "till"]
    let refused = try same.run(words)
    #expect(refused.status == 2)
    #expect(refused.errorRecord["error"]?["code"] == "test_data_on_live")
    let port = device.split(separator: ":").last ?? ""
    for host in ["localhost", "127.0.0.2", "[::1]", "reader.localhost"] {
      same.variables["TENDER_TORO_DEVICE"] = "tcp://\(host):\(port)"
      #expect(try same.run(words).errorRecord["error"]?["code"] == "test_data_on_live", "\(host)")
    }
    // The server may be another user's, or behind a relay. The reader itself identifies as simulated.
    var other = try Binary()
    defer { other.remove() }
    other.variables["TENDER_TORO_DEVICE"] = device
    let known = try other.run(
      Self.sale + ["--config", try Self.till(other.home), "--profile", "till"]
    )
    #expect(known.status == 19, "\(known.errors)")
    #expect(known.errorRecord["error"]?["code"] == "device_not_supported")
    #expect(known.errorRecord["error"]?["effect"] == "none")
    // Sandboxes may use it.
    same.variables["TENDER_TORO_DEVICE"] = device
    let sandbox = try same.run(words.map { $0 == "live" ? "sandbox" : $0 } + ["--timeout", "1s"])
    #expect(sandbox.errorRecord["error"]?["code"] != "test_data_on_live")
    #expect(sandbox.errorRecord["error"]?["code"] != "device_not_supported")
  }

  /// After its end, its port is an ordinary port.
  @Test func `forgets a server that has ended`() throws {
    let home = try Binary()
    defer { home.remove() }
    let (process, output, _) = try home.start(["simulator", "serve", "--json"])
    let device = try #require(try Served.addresses(output)["TENDER_TORO_DEVICE"])
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    var same = home
    same.variables["TENDER_TORO_DEVICE"] = device
    let result = try same.run(
      Self.sale + ["--config", try Self.till(home.home), "--profile", "till", "--timeout", "2s"]
    )
    #expect(result.errorRecord["error"]?["code"] == "device_connection_failed", "\(result.errors)")
  }
}

/// Many clients at once.
@Suite struct CrowdTests {
  /// The server must survive a socket that closes while the library works on its connection.
  @Test func `survives sockets that close at once`() throws {
    let shop = try Shop()
    let address = try #require(shop.binary.variables["TENDER_PAYTHEORY_TOKEN_URL"])
    let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
    let asking = RawClient(port: port)
    asking?.say(
      "GET /pt-token-service/ HTTP/1.1\r\nHost: localhost\r\nX-API-Key: "
        + "\(PayTheoryCatalog.apiKey)\r\nConnection: close\r\n\r\n"
    )
    let answer = asking?.hear(until: "\u{0}", milliseconds: 3000) ?? ""
    let body = answer.components(separatedBy: "\r\n\r\n").last ?? ""
    let token = try #require(JSONReader.read(body)?["pt-token"]?.text, "\(answer)")
    let upgrade =
      "GET /tender/?pt_token=\(token) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
      + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
      + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    // The client is gone before the answer.
    DispatchQueue.concurrentPerform(iterations: 16) { _ in
      for _ in 0..<250 {
        let client = RawClient(port: port)
        client?.say(upgrade)
      }
    }
    #expect(shop.process.isRunning)
    // Until the server has noticed all closed connections, it may have no free one. That is a valid answer,
    // too.
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference", "A"]
    var paid = try shop.binary.run(pay)
    for _ in 0..<20 where paid.status == 11 || paid.status == 10 { paid = try shop.binary.run(pay) }
    #expect(paid.status == 0, "\(paid.errors)")
  }

  @Test func `takes no socket that is for nobody`() throws {
    let shop = try Shop()
    let address = try #require(shop.binary.variables["TENDER_PAYTHEORY_TOKEN_URL"])
    let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
    let client = RawClient(port: port)
    client?.say(
      "GET /tender/ HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    #expect(client?.hear(until: "\r\n\r\n").hasPrefix("HTTP/1.1 401") == true)
  }

  /// There is one reader. Sales of a batch use it one after the other, with any number of parallel lines.
  @Test func `sells one at a time at one reader`() throws {
    let shop = try Shop()
    let lines = try Works.write(
      (0..<6).map { number in
        """
        {"command":"transact","provider":"toro","reference":"S\(number)","amount":"5.00"}
        """
      },
      shop.binary
    )
    let batch = try shop.binary.run("batch", lines, "--jobs", "4", "--json")
    #expect(batch.status == 0, "\(batch.output)")
    #expect(batch.records.last?["ok"] == 6)
  }
}
