import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// The simulated clock: `simulator advance`, `--sim-clock`, and waits that take no time.
@Suite struct SimulatedClockTests {
  private static let card = "transact --amount 10 --test-card visa --reference R"
  private static let ach = "transact --amount 10 --test-account success --reference R"
  private static let cash =
    "transact --amount 10 --method cash --instrument-file cash --reference R"
  private static let bank =
    "transact --provider truelayer --amount 10 --merchant-account 8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6 "
    + "--user name=Remi --user email=remi@example.com --bank mock-payments-gb-redirect --reference R"

  /// The effect of a time on a payment: its commands, the time, then a command, its exit and its status.
  private static let rows:
    [(
      name: String, before: [String], time: String, line: String, exit: Int32, status: String?
    )] = [
      ("a hold that is young", [card + " --hold"], "23h", "confirm R", 0, "succeeded"),
      ("a hold expires", [card + " --hold"], "26h", "confirm R", 13, "expired"),
      ("ACH settles", [ach], "12h", "payment-status R", 0, "succeeded"),
      (
        "ACH is returned", [ach + " --sim-scenario returned"], "12h", "payment-status R", 0,
        "returned"
      ),
      ("a barcode is still good", [cash], "6d", "payment-status R", 0, "requires_action"),
      ("a barcode expires", [cash], "9d", "payment-status R", 0, "expired"),
      ("a refund is executed", [bank, "refund R"], "1h", "payment-status R", 0, "refunded"),
      (
        "a key is forgotten", [bank + " --sim-fault create:reset-after"], "31d", bank, 9, nil
      ),
      ("a key is known", [bank + " --sim-fault create:reset-after"], "5m", bank, 0, "succeeded"),
    ]

  /// A home with an instrument of cash in it.
  private static func home() throws -> Binary {
    let binary = try Binary()
    let cash = #"{"type":"cash","name":"Ada","contact":"ada@example.com"}"#
    _ = FileManager.default.createFile(
      atPath: binary.home.appending(path: "cash").path,
      contents: Data(cash.utf8),
      attributes: [.posixPermissions: 0o600]
    )
    return binary
  }

  @Test func `a payment is resolved at the time of its world`() throws {
    let binary = try Self.home()
    defer { binary.remove() }
    #expect(try binary.run(line: Self.bank + " --sim-fault create:reset-after").status == 9)
    #expect(try binary.run(line: "simulator advance 30d").status == 0)
    let words = ["--as", "failed", "--reason", "seen", "--yes"]
    let resolved = try binary.run(line: "journal resolve R", words)
    #expect(resolved.status == 0, "\(resolved.errors)")
    let history = resolved.record["history"]?.array ?? []
    let times = history.compactMap { line in line["at"]?.text.flatMap { Timestamp.read($0) } }
    let (first, last) = (try #require(times.first), try #require(times.last))
    #expect(last - first >= 30 * 86_400_000, "\(resolved.output)")
  }

  @Test(arguments: rows.indices)
  func `time that is advanced has passed for the providers and for tender`(_ index: Int) throws {
    let row = Self.rows[index]
    let binary = try Self.home()
    defer { binary.remove() }
    for line in row.before { _ = try binary.run(line: line) }
    #expect(try binary.run(line: "simulator advance \(row.time)").status == 0)
    let after = try binary.run(line: row.line)
    #expect(after.status == row.exit, "\(row.name): \(after.output) \(after.errors)")
    #expect(row.status == nil || after.record.text("status") == row.status, "\(row.name): \(after)")
  }

  @Test(arguments: rows.indices)
  func `one command may run ahead alone`(_ index: Int) throws {
    let row = Self.rows[index]
    let binary = try Self.home()
    defer { binary.remove() }
    for line in row.before { _ = try binary.run(line: line) }
    let after = try binary.run(line: row.line, ["--sim-clock", "+" + row.time])
    #expect(after.status == row.exit, "\(row.name): \(after.output) \(after.errors)")
    let later = try binary.run(line: "simulator advance 1s")
    let shown = later.record.text("detail").flatMap(Timestamp.read) ?? 0
    #expect(abs(shown - Int(Date().timeIntervalSince1970 * 1000)) < 60_000, "\(later.output)")
  }

  /// A customer who never comes, a late answer, a payer who left: each took minutes in real time.
  @Test func `no scenario waits in real time`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let start = ContinuousClock.now
    let sale = "transact --provider toro --amount 5 --reference "
    for scenario in ["card:pin_slow", "card:no_card"] {
      let end = try binary.run(line: sale + "\(scenario.count) --sim-scenario \(scenario)")
      #expect(end.status == 13)
    }
    #expect(try binary.run(line: Self.bank + " --sim-scenario bank:abandon").status == 13)
    let late = try binary.run(line: Self.card + "2 --sim-fault part2:latency=20s")
    #expect(late.status == 0)
    #expect(ContinuousClock.now - start < .seconds(8))
    // For the next command, their waiting time has passed.
    let now = Timestamp.read(late.record.text("at") ?? "") ?? 0
    #expect(now > Int(Date().timeIntervalSince1970 * 1000) + 600_000)
    let next = try binary.run(line: Self.card + "3")
    #expect((Timestamp.read(next.record.text("at") ?? "") ?? 0) >= now)
  }

  /// The time that a line waited for the simulator does not count for a line that goes elsewhere.
  @Test func `a line that goes elsewhere has the machine's time`() throws {
    let shop = try Shop()
    var binary = shop.binary
    binary.variables = binary.variables.filter { $0.key.hasPrefix("TENDER_PAYTHEORY_") }
    let lines = [Works.sale("S", #","sim_scenario":"card:no_card""#), Works.card("C")]
    try Works.batch(lines, binary) { result in
      #expect(result.records.first?["error"]?["code"] == "transaction_timeout")
      let paid = try #require(result.records.dropFirst().first)
      #expect(paid.text("status") == "succeeded", "\(paid)")
      let at = Timestamp.read(paid.text("at") ?? "") ?? 0
      #expect(abs(at - Int(Date().timeIntervalSince1970 * 1000)) < 30_000, "\(paid)")
    }
  }

  @Test func `a served world is advanced by the command and over HTTP`() throws {
    let shop = try Shop()
    #expect(try shop.binary.run(line: Self.ach).record.text("status") == "pending")
    #expect(try shop.binary.run(line: Self.card + "2 --hold").status == 0)
    #expect(try shop.server.run(line: "simulator advance 12h").status == 0)
    #expect(try shop.binary.run(line: "payment-status R").record.text("status") == "succeeded")
    for (path, body, status) in [
      ("advance", "14h", "204"), ("advance", "yesterday", "400"), ("advance", "9999999d", "400"),
      ("nothing", "", "404"),
    ] {
      #expect(try Self.post(shop, path, body).hasPrefix("HTTP/1.1 \(status)"), "\(path) \(body)")
    }
    #expect(try shop.binary.run(line: "confirm R2").status == 13)
    #expect(try Self.post(shop, "reset", "").hasPrefix("HTTP/1.1 204"))
    #expect(try LedgerAudit.charges(path: shop.books, reference: "R") == 0)
  }

  private static func post(_ shop: Shop, _ path: String, _ body: String) throws -> String {
    let address = try #require(shop.binary.variables["TENDER_PAYTHEORY_GRAPHQL_URL"])
    let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
    let client = RawClient(port: port)
    client?.say(
      "POST /_simulator/\(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n"
        + "Connection: close\r\n\r\n\(body)"
    )
    return client?.hear(until: "\u{0}", milliseconds: 3000) ?? ""
  }
}
