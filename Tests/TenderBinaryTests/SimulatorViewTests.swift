import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// What `simulator show`, `requests`, `save`, `load` and `reset` do, and the same below `/_simulator/`.
@Suite struct SimulatorViewTests {
  private static let card = "transact --amount 10 --test-card visa --reference CARD"
  private static let bank =
    "transact --provider truelayer --amount 10 --merchant-account acc00000-0000-4000-8000-000000000826 "
    + "--user name=Remi --user email=remi@example.com --bank mock-payments-gb-redirect --reference BANK"
  private static let sale = "transact --provider toro --amount 5 --reference SALE"
  private static let ach =
    "transact --amount 7 --test-account success --sim-scenario returned --reference ACH"

  @discardableResult
  private static func run(_ binary: Binary, _ line: String) throws -> Binary.Result {
    try binary.run(line.split(separator: " ").map(String.init) + ["--json", "--no-input"])
  }

  private static func paid() throws -> Binary {
    let binary = try Binary()
    for line in [
      card, bank, sale, ach, "refund BANK --amount 4", card + "-2 --hold", "simulator advance 1m",
    ] {
      #expect([0, 8].contains(try run(binary, line).status), "\(line)")
    }
    return binary
  }

  @Test(arguments: [
    ("CARD", "payment", "SUCCEEDED", 1000, 0), ("BANK", "payment", "settled", 1000, 400),
    ("SALE", "sale", "APPR", 500, 0), ("ACH", "payment", "RETURNED", 700, 700),
  ])
  func `shows what the provider's books have`(
    _ name: String,
    _ kind: String,
    _ status: String,
    _ captured: Int,
    _ returned: Int
  ) throws {
    let binary = try Self.paid()
    defer { binary.remove() }
    let shown = try Self.run(binary, "simulator show \(name)").record
    #expect(shown.text("kind") == kind && shown.text("status") == status, "\(shown)")
    #expect(shown["captured"]?.wholeNumber == captured, "\(shown)")
    #expect(shown["returned"]?.wholeNumber == returned, "\(shown)")
    let byID = try Self.run(binary, "simulator show \(shown.text("id") ?? "")").record
    #expect(byID.text("reference") == name)
    #expect(try Self.run(binary, "simulator show NOTHING").status == 5)
  }

  @Test func `shows all books, holds and balances of accounts too`() throws {
    let binary = try Self.paid()
    defer { binary.remove() }
    let all = try Self.run(binary, "simulator show").records
    let kinds = Set(all.compactMap { $0.text("kind") })
    #expect(kinds == ["payment", "hold", "sale", "merchant_account"])
    let account = all.first { $0.text("id") == "acc00000-0000-4000-8000-000000000826" }
    let others = all.filter {
      $0.text("kind") == "merchant_account" && $0.text("currency") == "EUR"
    }
    let opening = others.first?["amount"]?.wholeNumber ?? 0
    #expect(account?["amount"]?.wholeNumber == opening + 600, "\(all)")
  }

  @Test func `shows every request, what it matched and what struck it, without secrets`() throws {
    let binary = try Self.paid()
    defer { binary.remove() }
    #expect(try Self.run(binary, Self.card + "-3 --sim-fault part2:reset-after").status == 0)
    let shown = try Self.run(binary, "simulator requests")
    let matched = shown.records.compactMap { $0.text("matched") }
    for point in [
      "token", "socket", "host-token", "part1", "part2", "create", "refund", "authorisation",
    ] {
      #expect(matched.contains(point), "\(point)")
    }
    let numbers = shown.records.compactMap { $0["number"]?.wholeNumber }
    #expect(numbers == Array(1...numbers.count))
    let struck = shown.records.filter { $0["fault"] != nil }
    #expect(struck.map { $0.text("fault") } == ["part2:reset-after"], "\(struck)")
    #expect(struck.first?.text("end") == "reset")
    let create = shown.records.first { $0.text("matched") == "create" }
    #expect(create?["request"]?["amount_in_minor"] == 1000 && create?["status"] == 201)
    #expect(create?["request"]?["user"]?["name"] == "[redacted]")
    for secret in ["Remi", "remi@", "4111", "Bearer", "eyJ", "sim_secret", "127.0.0.1/callback?"] {
      #expect(!shown.output.contains(secret), "\(secret)")
    }
    for (file, bytes) in try binary.everyByte() where file.hasPrefix("simulator.db") {
      #expect(bytes.range(of: Data("4111111111".utf8)) == nil, "\(file)")
    }
  }

  @Test func `keeps the latest thousand requests`() throws {
    let shop = try Shop()
    let address = try #require(shop.binary.variables["TENDER_PAYTHEORY_GRAPHQL_URL"])
    let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
    let client = try #require(RawClient(port: port))
    for _ in 0..<1005 {
      client.say("GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(client.hear(until: "\r\n\r\n").hasPrefix("HTTP/1.1 404"))
    }
    let shown = try Self.run(shop.server, "simulator requests --unmatched").records
    #expect(shown.count == 1000)
    #expect(shown.first?["number"] == 6 && shown.last?["number"] == 1005)
    #expect(shown.first?.text("provider") == nil)
  }

  @Test func `follows the requests of a server`() throws {
    let shop = try Shop()
    let words = ["simulator", "requests", "--follow", "--json", "--fields", "matched"]
    let (process, output, _) = try shop.server.start(words)
    #expect(try Self.run(shop.binary, Self.card).status == 0)
    #expect(output.read(until: "part2").contains("token"))
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test func `saves a world and loads it again`() throws {
    let binary = try Self.paid()
    defer { binary.remove() }
    let file = binary.home.appending(path: "world").path
    #expect(try Self.run(binary, "simulator save \(file)").status == 0)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let saved = try String(contentsOfFile: file, encoding: .utf8)
    #expect(!saved.contains("PRIVATE KEY"))
    let shown = try Self.run(binary, "simulator show").output
    #expect(try Self.run(binary, "simulator reset").status == 0)
    #expect(try Self.run(binary, "simulator show CARD").status == 5)
    // What is not a whole world changes nothing.
    let lines = saved.split(separator: "\n", omittingEmptySubsequences: true)
    for (name, text) in [
      ("cut", lines.dropLast().joined(separator: "\n")), ("empty", ""),
      ("other", "{\"tender_simulator\":9,\"things\":0}"),
      (
        "key",
        "{\"tender_simulator\":1,\"things\":1}\n{\"kind\":\"bank-signer\",\"id\":\"x\",\"body\":{}}"
      ),
    ] {
      let path = binary.home.appending(path: name).path
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      #expect(try Self.run(binary, "simulator load \(path)").status == 2, "\(name)")
      #expect(try Self.run(binary, "simulator show CARD").status == 5, "\(name)")
    }
    #expect(try Self.run(binary, "simulator load \(file)").status == 0)
    #expect(try Self.strip(Self.run(binary, "simulator show").output) == Self.strip(shown))
    #expect(
      try Self.run(binary, "payment-status BANK").record.text("status") == "partially_refunded"
    )
  }

  private static func strip(_ output: String) -> [JSONObject] {
    output.split(separator: "\n").compactMap { JSONReader.read(String($0))?.object }.map { record in
      var record = record
      record["at"] = nil
      return record
    }
  }

  /// The first command of a machine. Its folder must be there before its files are bounded.
  @Test(arguments: ["reset", "load"])
  func `asks at a terminal before a world is lost`(_ command: String) throws {
    let binary = try Self.paid()
    defer { binary.remove() }
    let file = binary.home.appending(path: "world").path
    #expect(try Self.run(binary, "simulator save \(file)").status == 0)
    let words = ["simulator", command] + (command == "load" ? [file] : [])
    let refused = try binary.onTerminal(words, [("Type yes", "no\n")])
    #expect(refused.exit == 17, "\(refused.screen)")
    #expect(try Self.run(binary, "simulator show CARD").status == 0)
    #expect(try binary.onTerminal(words, [("Type yes", "yes\n")]).exit == 0)
    #expect(try binary.onTerminal(words + ["--yes"], []).exit == 0)
    // An empty world is no loss.
    #expect(try Self.run(binary, "simulator reset").status == 0)
    #expect(try binary.onTerminal(words, []).exit == 0)
  }

  @Test func `offers all of it over HTTP`() throws {
    let home = try Binary()
    defer { home.remove() }
    let host = try ServedClientTests.Host(home)
    var client = try Binary()
    defer { client.remove() }
    for (name, value) in host.variables { client.variables[name] = value }
    #expect(try Self.run(client, Self.card).status == 0)
    func books() throws -> [String] {
      try host.ask("GET /_simulator/show", []).1?.array?.compactMap { $0["reference"]?.text } ?? []
    }
    #expect(try books() == ["CARD"])
    #expect(try host.ask("GET /_simulator/show?ref=NONE", []).1 == [])
    let requests = try host.ask("GET /_simulator/requests?after=2", []).1?.array ?? []
    #expect(requests.first?["number"] == 3 && requests.last?["matched"] == "part2")
    #expect(try host.ask("GET /none", []).0 == "404")
    let unmatched = try host.ask("GET /_simulator/requests?unmatched=true", []).1?.array ?? []
    #expect(unmatched.map { $0["path"]?.text } == ["/none"])
    let saved = try host.text("GET /_simulator/save")
    let last = try host.ask("GET /_simulator/requests", []).1?.array?.last?["number"]?.wholeNumber
    #expect(try host.ask("POST /_simulator/reset", []).0 == "204")
    #expect(try books() == [])
    #expect(try host.ask("POST /_simulator/load", [], body: "no world").0 == "400")
    // A loaded world replaces the one before.
    #expect(try Self.run(client, Self.card + "-3").status == 0)
    // A client that asks for what came after a request goes on after a reset.
    let number = try #require(last)
    let later = try host.ask("GET /_simulator/requests?after=\(number)", []).1?.array ?? []
    #expect(later.first?["number"] == .integer(number + 1))
    #expect(try host.ask("POST /_simulator/load", [], body: saved).0 == "204")
    #expect(try books() == ["CARD"])
    for (request, fields, status) in [
      ("GET /_simulator/reset", [], "405"), ("POST /_simulator/show", [], "405"),
      ("GET /_simulator/requests?after=x", [], "400"), ("GET /_simulator/none", [], "404"),
      ("GET /_simulator/requests?unmatched=1", [], "400"),
      ("GET /_simulator/show?reference=CARD", [], "400"),
      ("POST /_simulator/reset", ["Origin: https://evil.example"], "403"),
      ("GET /_simulator/show", ["Origin: http://localhost:3000"], "200"),
    ] as [(String, [String], String)] {
      #expect(try host.ask(request, fields).0 == status, "\(request)")
    }
    #expect(try books() == ["CARD"])
  }

  /// Ids by a seed stay different, and what was stored for later stays.
  @Test func `keeps the latest payments alone where it is told to`() throws {
    let home = try Binary()
    defer { home.remove() }
    let host = try ServedClientTests.Host(home, "--retain", "20", "--sim-seed", "7")
    var client = try Binary()
    defer { client.remove() }
    for (name, value) in host.variables { client.variables[name] = value }
    let token = try Self.run(client, "tokenize --test-card visa").record.text("id")
    let lines = (0..<60).map { Works.card("R\($0)") }
    let paid = try client.run("batch", Works.write(lines, client), "--jobs", "8", "--json")
    let ids = Set(paid.records.compactMap { $0.text("id") })
    #expect(ids.count == 60)
    let books = try host.ask("GET /_simulator/show", []).1?.array ?? []
    let kept = books.filter { $0["kind"] == "payment" }
    #expect((20...21).contains(kept.count), "\(kept.count)")
    #expect(try host.ask("GET /_simulator/show?ref=R0", []).1 == [])
    let stored = try Self.run(client, "transact --amount 5 --token \(token ?? "")")
    #expect(stored.status == 0, "\(stored.errors)")
  }
}
