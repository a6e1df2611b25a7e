import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// `simulator learn`: a trace becomes faults that play the same.
@Suite struct LearnTests {
  private static let card = "transact --amount 10 --test-card visa --reference R"
  private static let bank =
    "transact --provider truelayer --amount 10 --beneficiary-name Ben --sort-code 56-00-29 "
    + "--account-number 26207729 --user name=Remi --user email=remi@example.com "
    + "--bank mock-payments-gb-redirect --reference R"

  /// The bank takes some time, which is looked for.
  private static let slow = " --sim-scenario bank:slow --wait"

  /// A command, the fault that it met, and what is learned of that.
  private static let rows: [(line: String, fault: String, learned: [String])] = [
    (card, "part2:reset-after", ["part2:close-after*1"]),
    (card, "part1:error", ["part1:error*1"]),
    (card, "token:http-503", ["GET/pt-token-service/:http-503*1"]),
    (card, "token:unreachable", ["GET/pt-token-service/:unreachable*1"]),
    (card, "socket:refused", ["socket:refused*1"]),
    (bank, "create:http-500*1", ["POST/v3/payments:http-500*1"]),
    (bank, "create:http-422", ["POST/v3/payments:http-422*1"]),
    (bank + slow, "status:http-502+1*1", ["GET/v3/payments/*:http-502+1*1"]),
    (card, "token:latency=10ms", []),
  ]

  @Test(arguments: rows.indices)
  func `what is learned of a trace plays the same`(_ index: Int) throws {
    let row = Self.rows[index]
    let (binary, other) = (try Binary(), try Binary())
    defer {
      binary.remove()
      other.remove()
    }
    let trace = binary.home.appending(path: "t").path
    let first = try binary.run(line: row.line, ["--sim-fault", row.fault, "--trace", trace])
    let learned = try binary.run(line: "simulator learn \(trace)").records
    let names = learned.compactMap { $0.text("name") }
    #expect(names == row.learned, "\(learned)")
    let again = try other.run(line: row.line, names.flatMap { ["--sim-fault", $0] })
    #expect(again.status == first.status, "\(again.output) \(again.errors)")
    let text = try binary.run("simulator", "learn", trace, "-o", "table").output
    #expect(text == names.map { "--sim-fault '\($0)'\n" }.joined())
  }

  /// The words of a fault, and whether it strikes a card payment.
  @Test(arguments: [
    ("reversal:http-500", false), ("part2:close-after", true), ("token:latency=10ms", true),
    ("part2:close-after*1,for=OTHER", false), ("token:http-500+9", false),
  ])
  func `warns of a fault that strikes nothing`(_ fault: String, _ strikes: Bool) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let paid = try binary.run(line: Self.card, ["--sim-fault", fault])
    #expect(paid.status == 0)
    #expect(paid.errors.contains("did not strike") != strikes, "\(paid.errors)")
  }

  @Test func `refuses what is no trace`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = binary.home.appending(path: "t").path
    try "no trace\n".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try binary.run(line: "simulator learn \(file)").status == 2)
    #expect(try binary.run(line: "simulator learn \(file)2").status == 2)
  }
}
