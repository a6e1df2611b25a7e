import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// A reference that another provider has, over a simulator in another process.
@Suite struct ElsewhereTests {
  private let shop: Shop

  init() throws { shop = try Shop() }

  /// A sale of 10.00 under a reference, at the provider that variables and options choose.
  private func pay(
    _ reference: String,
    _ more: String = "",
    provider: String? = nil
  ) throws -> Binary.Result {
    var binary = shop.binary
    binary.variables["TENDER_PROVIDER"] = provider
    let words = "transact --amount 10 --json --no-input --reference \(reference) " + more
    return try binary.run(words.split(separator: " ").map(String.init))
  }

  private static let card = "--provider paytheory --test-card visa "

  private func charges(_ reference: String) throws -> [Int] {
    [
      try LedgerAudit.charges(path: shop.books, reference: reference),
      try LedgerAudit.sales(path: shop.books, reference: reference).standing,
    ]
  }

  private func expectRefused(_ result: Binary.Result) {
    #expect(result.status == 6)
    #expect(result.output.isEmpty)
    #expect(result.errorRecord["error"]?["code"] == "reference_elsewhere")
    #expect(result.errorRecord["error"]?["effect"] == "none")
  }

  @Test func `a changed variable or profile does not pay again at another provider`() throws {
    #expect(try pay("R", "--test-card visa").record["provider"] == "paytheory")
    expectRefused(try pay("R", provider: "toro"))
    let config = shop.binary.home.appending(path: ".config/tender")
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    try Data(
      #"{"schema":1,"default_profile":"till","profiles":{"till":{"provider":"toro"}}}"#.utf8
    )
    .write(to: config.appending(path: "config.json"))
    expectRefused(try pay("R"))
    #expect(try charges("R") == [1, 0])
    // After a success, the provider must be named on the command line.
    let meant = try pay("R", "--provider toro")
    #expect(meant.status == 0, "\(meant.errors)")
    #expect(try charges("R") == [1, 1])
  }

  @Test func `a payment that is not over blocks its reference everywhere`() throws {
    #expect(try pay("H", Self.card + "--hold").status == 0)
    #expect(try pay("U", Self.card + "--sim-fault part2:reset-before").status == 9)
    for reference in ["H", "U"] {
      expectRefused(try pay(reference, "--provider toro"))
      #expect(try charges(reference) == [0, 0])
    }
    // A payment that ended without an effect never blocks another provider.
    #expect(try pay("D", Self.card + "--sim-scenario decline:do_not_honor").status == 3)
    #expect(try pay("D", provider: "toro").status == 0)
    #expect(try pay("F", Self.card + "--sim-fault token:http-500").status == 11)
    #expect(try pay("F", provider: "toro").status == 0)
    #expect(try charges("D") == [0, 1] && charges("F") == [0, 1])
  }

  @Test func `of two at once, one provider charges`() throws {
    for round in 0..<10 {
      let reference = "X\(round)"
      let words = ["transact", "--amount", "10", "--json", "--no-input", "--reference", reference]
      let sides = [("paytheory", ["--test-card", "visa"]), ("toro", [])]
      let started = try sides.map { provider, more in
        var binary = shop.binary
        binary.variables["TENDER_PROVIDER"] = provider
        return try binary.start(words + more)
      }
      let exits = started.map { process, output, errors in
        _ = output.fileHandleForReading.readDataToEndOfFile()
        _ = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return process.terminationStatus
      }
      #expect(exits.sorted() == [0, 6])
      #expect(try charges(reference) == exits.map { $0 == 0 ? 1 : 0 })
    }
  }
}
