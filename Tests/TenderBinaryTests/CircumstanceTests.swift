import Foundation
import TenderJournal
import TenderModel
import TenderSimulator
import TenderSystem
import TenderTestSupport
import Testing

/// A full disk, a locked journal, a clock that jumps: no request leaves without a record, and each payment is
/// charged once.
@Suite struct CircumstanceTests {
  static let pay = [
    "transact", "--amount", "10.50", "--test-card", "visa", "--json", "--reference",
  ]

  @Test func `sends nothing where the disk is full`() throws {
    let shop = try Shop()
    #expect(try shop.binary.run(Self.pay + ["FIRST"]).status == 0)
    var shell = shop.binary
    shell.variables["TENDER"] = Binary.path.path
    // No file may grow above some blocks of 512 bytes. A write then fails as on a full disk.
    for blocks in [0, 8, 64, 96, 128] {
      let reference = "FULL\(blocks)"
      let process = Process()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments =
        [
          "-c", "ulimit -f \(blocks); exec \"$TENDER\" \"$@\"", "sh",
        ] + Self.pay + [reference]
      process.environment = ["HOME": shop.binary.home.path, "PATH": "/usr/bin:/bin"]
        .merging(shell.variables) { $1 }
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      let charges = try LedgerAudit.charges(path: shop.books, reference: reference)
      if process.terminationStatus == 16 { #expect(charges == 0, "\(reference)") }
      #expect([0, 9, 16].contains(process.terminationStatus), "\(reference)")
      let again = try shop.binary.run(Self.pay + [reference])
      #expect(again.status == 0, "\(again.errors)")
      #expect(try LedgerAudit.charges(path: shop.books, reference: reference) == 1)
    }
  }

  @Test func `sends nothing where the journal is locked`() throws {
    let shop = try Shop()
    #expect(try shop.binary.run(Self.pay + ["FIRST"]).status == 0)
    let database = try Database(path: shop.journal)
    var result = Binary.Result(status: 0, output: "", errors: "")
    try database.transaction { () throws(Fault) in
      try database.execute("UPDATE payment SET provider = provider")
      result = (try? shop.binary.run(Self.pay + ["LOCKED"])) ?? result
    }
    #expect(result.status == 16)
    #expect(result.errorRecord["error"]?["effect"] == "none")
    #expect(try LedgerAudit.charges(path: shop.books, reference: "LOCKED") == 0)
    let again = try shop.binary.run(Self.pay + ["LOCKED"])
    #expect(again.status == 0, "\(again.errors)")
    #expect(try LedgerAudit.charges(path: shop.books, reference: "LOCKED") == 1)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var words: [String]
    var fault: String
    /// The possible exits of a second run.
    var exits: [Int32]

    var testDescription: String { fault }
  }

  static let rows = [
    Row(
      words: ["transact", "--amount", "10", "--test-card", "visa"],
      fault: "part2:drop-after",
      exits: [0]
    ),
    Row(
      words: ["transact", "--provider", "toro", "--amount", "10"],
      fault: "cancellation:http-500",
      exits: [0]
    ),
    Row(
      words: [
        "transact", "--provider", "truelayer", "--amount", "10", "--merchant-account",
        "acc00000-0000-4000-8000-000000000826",
        "--user", "name=Remi", "--user", "email=remi@example.com", "--bank",
        "mock-payments-gb-redirect",
      ],
      fault: "create:close-after",
      // An hour later, the payer can no longer authorize it.
      exits: [0, 13]
    ),
  ]

  /// An answer is lost at one time, and looked up at another: a year earlier, an hour later.
  @Test(arguments: rows) func `charges once where the clock jumps`(_ row: Row) throws {
    for later in ["2025-11-20T12:00:00Z", "2026-11-20T13:00:00Z"] {
      let binary = try Binary()
      defer { binary.remove() }
      let words = row.words + ["--reference", "A", "--json", "--timeout", "2s"]
      let first = try binary.run(
        words + ["--sim-clock", "2026-11-20T12:00:00Z", "--sim-fault", row.fault]
      )
      #expect([0, 9].contains(first.status), "\(first.errors)")
      let second = try binary.run(words + ["--sim-clock", later])
      #expect(row.exits.contains(second.status), "\(second.errors)")
      let path = binary.home.appending(path: ".local/state/tender/simulator.db").path
      let made =
        try LedgerAudit.charges(path: path, reference: "A")
        + LedgerAudit.sales(path: path, reference: "A").standing
        + LedgerAudit.bankBooks(path: path, reference: "A").made
      #expect(made == 1)
    }
  }
}
