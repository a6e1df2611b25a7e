import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Sums of the payments in a journal.
@Suite struct TotalsTests {
  /// A home with payments in two currencies, on both sides of a midnight in Berlin.
  private func shop() throws -> Binary {
    var binary = try Binary()
    binary.variables["TZ"] = "Europe/Berlin"
    let card = ["transact", "--test-card", "visa", "--json", "--no-input"]
    let sale = ["transact", "--provider", "toro", "--json", "--no-input"]
    for words in [
      card + ["--amount", "10.50", "--reference", "A", "--sim-clock", "2026-03-29T21:30:00Z"],
      card + ["--amount", "20", "--reference", "B", "--sim-clock", "2026-03-29T22:30:00Z"],
      card + ["--amount", "1.93", "--reference", "C", "--sim-clock", "2026-03-29T22:30:00Z"],
      card + [
        "--amount", "5", "--reference", "D", "--hold", "--sim-clock", "2026-03-29T22:30:00Z",
      ],
      card + [
        "--amount", "6", "--reference", "E", "--sim-fault", "part2:drop-before", "--sim-clock",
        "2026-03-29T22:30:00Z",
      ],
      sale + ["--amount", "8", "--reference", "S", "--sim-clock", "2026-03-29T22:30:00Z"],
      sale + [
        "--type", "refund", "--original", "S", "--amount", "3", "--reference", "T", "--sim-clock",
        "2026-03-29T22:31:00Z",
      ],
      ["refund", "B", "--amount", "4", "--json", "--sim-clock", "2026-03-29T22:40:00Z"],
    ] { _ = try binary.run(words) }
    return binary
  }

  private func rows(_ binary: Binary, _ words: String...) throws -> [String] {
    let result = try binary.run(["totals", "--json"] + words)
    #expect(result.status == 0, "\(result.errors)")
    return result.records.map { record in
      ["day", "provider", "status", "env", "currency"].compactMap { record.text($0) }
        .joined(separator: " ") + " "
        + ["payments", "charged", "refunded", "net", "refunding", "unknown"]
        .map { record[$0]?.wholeNumber.map(String.init) ?? "-" }.joined(separator: " ")
    }
  }

  @Test func `sums payments by env and currency, and by what was asked for`() throws {
    let binary = try shop()
    defer { binary.remove() }
    // E is unknown: not charged. T is a refund of S: it counts there.
    #expect(
      try rows(binary) == [
        "simulator GBP 1 800 300 500 - -", "simulator USD 5 3050 400 2650 - 1",
      ]
    )
    #expect(try rows(binary, "--by", "currency") == rows(binary))
    #expect(
      try rows(binary, "--by", "day") == [
        "2026-03-29 simulator USD 1 1050 0 1050 - -", "2026-03-30 simulator GBP 1 800 300 500 - -",
        "2026-03-30 simulator USD 4 2000 400 1600 - 1",
      ]
    )
    #expect(
      try rows(binary, "--by", "provider,status", "--currency", "USD") == [
        "paytheory declined simulator USD 1 0 0 0 - -",
        "paytheory partially_refunded simulator USD 1 2000 400 1600 - -",
        "paytheory requires_confirmation simulator USD 1 0 0 0 - -",
        "paytheory succeeded simulator USD 1 1050 0 1050 - -",
        "paytheory unknown simulator USD 1 0 0 0 - 1",
      ]
    )
    #expect(try rows(binary, "--until", "2026-03-29") == ["simulator USD 1 1050 0 1050 - -"])
    #expect(try rows(binary, "--env", "live") == [])
  }

  @Test func `a table has a bar on a terminal alone`() throws {
    let binary = try shop()
    defer { binary.remove() }
    let words = ["totals", "--by", "day", "--currency", "USD", "--output", "table"]
    let piped = try binary.run(words)
    #expect(
      piped.output == """
        DAY         ENV        PAYMENTS  CHARGED    REFUNDED  NET        UNKNOWN
        2026-03-29  simulator  1         10.50 USD  0.00 USD  10.50 USD
        2026-03-30  simulator  4         20.00 USD  4.00 USD  16.00 USD  1

        """
    )
    guard Judge.has("pty") else { return }
    // With 80 columns, the table leaves 6 for the bars; with 77, too few.
    let narrow = try binary.onTerminal(words, [], width: 80).screen
    #expect(narrow.contains("10.50 USD           ███▏"), "\(narrow)")
    #expect(
      narrow.contains("16.00 USD  1        ██████") && !narrow.contains("███████"),
      "\(narrow)"
    )
    #expect(try !binary.onTerminal(words, [], width: 77).screen.contains("█"))
    // A table that does not fit is a list of names and figures.
    let list = try binary.onTerminal(words, [], width: 60).screen
    #expect(list.contains("net") && list.contains("16.00 USD") && !list.contains("NET"), "\(list)")
    let (exit, screen) = try binary.onTerminal(words, [], width: 100)
    #expect(exit == 0)
    // 1050 of 2000 is 10.5 of 20 columns.
    #expect(screen.contains("10.50 USD           ██████████▌"), "\(screen)")
    #expect(screen.contains("16.00 USD  1        ████████████████████"), "\(screen)")
  }

  @Test func `says where it looked, and what it cannot group by`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let none = try binary.run("totals", "--output", "table")
    #expect(none.status == 0)
    #expect(none.errors.contains("no matching payments in "))
    #expect(none.errors.contains("/journal.db, which has no payments"))
    let wrong = try binary.run("totals", "--by", "dya", "--output", "table")
    #expect(wrong.status == 2)
    #expect(wrong.errors.contains("did you mean day?"))
  }
}
