import Foundation
import TenderJournal
import TenderModel
import TenderSimulator
import TenderSystem
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

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

  /// A part of the index of SQLite's log is mapped, and has no block on the disk: writing there is a SIGBUS.
  @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func `a full disk with small blocks is an error and no signal`() throws {
    let binary = try Binary().faulty("sparse:0")
    defer { binary.remove() }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/unshare")
    process.arguments = [
      "-m", "/bin/sh", "-c",
      """
      cd "$HOME" && mkdir -p .local/state && mount -t tmpfs -o mode=700,size=2m none .local/state || exit 77
      library=$LD_PRELOAD
      unset LD_PRELOAD
      pay() { LD_PRELOAD=$library "$TENDER" transact --amount 5 --test-card visa --reference "$1" > said 2>&1; }
      pay A || exit 1
      for free in 0 4 8; do
        rm .local/state/tender/*-shm
        head -c 4m /dev/zero > .local/state/filler 2> said
        truncate -s "-$((free * 4096))" .local/state/filler
        pay B
        printf '%s ' "$?"
        rm .local/state/filler
      done
      pay B
      echo "$?"
      """,
    ]
    process.environment = ["HOME": binary.home.path, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
      .merging(binary.variables) { $1 }
    process.environment?["TENDER"] = binary.executable.path
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(String(decoding: said, as: UTF8.self) == "16 16 16 0\n")
  }

  /// Another process cuts the index of SQLite's log, which is mapped.
  @Test(.timeLimit(.minutes(1))) func `says why it ends when a file is cut`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let books = binary.home.appending(path: ".local/state/tender/simulator.db").path
    #expect(try binary.run(Self.pay + ["FIRST"]).status == 0)
    let (process, output, errors) = try binary.start([
      "simulator", "requests", "--follow", "--json",
    ])
    _ = output.read(until: "\n")
    let index = try FileHandle(forWritingTo: URL(filePath: books + "-shm"))
    try index.truncate(atOffset: 0)
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGBUS)
    #expect(errors.read(until: "\n").hasPrefix("tender: a file of the state folder was shortened"))
    let again = try binary.run(Self.pay + ["FIRST"])
    #expect(again.record["replayed"] == true, "\(again.errors)")
    #expect(try LedgerAudit.charges(path: books, reference: "FIRST") == 1)
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
      fault: "part2:reset-after",
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
