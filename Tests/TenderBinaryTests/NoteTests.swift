import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The notes beside the output.
@Suite struct NoteTests {
  /// With JSON lines as output, standard error has only JSON lines. Notes and warnings are separate records.
  @Test func `says notes as records where output is JSON`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let bank = [
      "transact", "--provider", "truelayer", "--amount", "5", "--beneficiary-name", "Ben",
      "--sort-code", "56-00-29", "--account-number", "26207729", "--user", "name=Remi", "--user",
      "email=remi@example.com", "--bank", "mock-payments-gb-redirect", "--no-input",
    ]
    let file = try Works.write(
      [#"{"command":"transact","amount":"5"}"#, #"{"command":"transact","amount":"6"}"#],
      binary
    )
    for (words, text) in [
      (["transact", "--amount", "5", "--test-card", "visa"], "reference T-"),
      (bank, "consent given"),
      (["journal", "prune", "--before", "2020-01-01"], "0 payments deleted"),
      (["transact", "--amount", "1.93", "--test-card", "visa", "-v"], "declined"),
      (["batch", file, "--stop-on-error", "--jobs", "1"], "stopped with 1 line left"),
      (["simulator", "reset", "-v"], "empty"),
    ] {
      let result = try binary.run(words + ["--json"])
      let lines = result.errors.split(separator: "\n")
      let records = Binary.Result(status: 0, output: result.errors, errors: "").records
      #expect(records.count == lines.count, "\(result.errors)")
      for record in records {
        let kind = record.text("record")
        #expect(kind == "note" || kind == "error", "\(record)")
        if kind == "note" {
          #expect(
            record["schema"] == 2 && record.text("at") != nil && record.text("command") != nil
          )
          #expect(["note", "warning"].contains(record.text("level")))
        }
      }
      #expect(result.errors.contains(text), "\(words): \(result.errors)")
      let table = try binary.run(words + ["-o", "table"])
      #expect(!table.errors.contains("{"), "\(table.errors)")
    }
    #expect(
      try binary.run("transact", "--amount", "5", "--test-card", "visa", "--json", "-q").errors
        == ""
    )
  }

  /// A wrong folder must not read as "this customer was never charged".
  @Test func `a search without a match names the journal, its payments and the oldest`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for hasPayment in [false, true] {
      if hasPayment {
        _ = try binary.run(
          ["transact", "--amount", "5", "--test-card", "visa", "--reference", "A"]
            + ["--sim-clock", "2026-01-01T09:00:00Z", "--json"]
        )
      }
      let place =
        hasPayment
        ? "/tender/journal.db, which has 1 payment, the first of 2026-01-01T09:00:00"
        : "/tender, which has no journal"
      for (words, exit) in [
        ("find --duplicates", Int32(0)), ("find --status refunded", 0), ("find --since today", 0),
        ("journal list --amount 9", 0), ("totals --since today", 0), ("journal resume --all", 0),
        ("find NONE", 5), ("find --last4 4242", 5), ("find --customer ada", 5),
        ("find NONE --online --provider toro", 5), ("explain N-1", 5), ("payment-status N-1", 5),
        ("find --online --provider toro --since today", 0),
      ] {
        for output in ["--json", "--output=table"] {
          let result = try binary.run(words.split(separator: " ").map(String.init) + [output])
          #expect(result.status == exit, "\(words)")
          #expect(result.errors.contains(place), "\(words) \(output): \(result.errors)")
        }
      }
    }
    #expect(try binary.run("journal", "list", "--amount", "9", "--json", "-q").errors == "")
  }

  /// What must not be missed is said as a record too: here that nobody could read the payment.
  @Test func `warns in a record where its output is lost`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = [
      "-c", #"exec "$0" transact --amount 5 --test-card visa --reference A --json >/dev/full"#,
      Binary.path.path,
    ]
    shell.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
    let errors = Pipe()
    shell.standardError = errors
    try shell.run()
    let said = String(
      decoding: errors.fileHandleForReading.readDataToEndOfFile(),
      as: UTF8.self
    )
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    let warning = Binary.Result(status: 0, output: said, errors: "").record
    #expect(warning["record"] == "note" && warning["level"] == "warning", "\(said)")
    #expect(warning.text("text")?.hasPrefix("standard output cannot be written") == true)
    #expect(try binary.run("journal", "show", "A", "--json").record.text("status") == "succeeded")
  }
}
