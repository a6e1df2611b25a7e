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
        "--amount", "6", "--reference", "E", "--sim-fault", "part2:reset-before", "--sim-clock",
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

  /// The money of a new attempt moves on the day of that attempt.
  @Test func `a new attempt counts on its own day`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let card = ["transact", "--test-card", "visa", "--reference", "A", "--json"]
    _ = try binary.run(card + ["--amount", "1.93", "--sim-clock", "2026-03-01T10:00:00Z"])
    let again = card + ["--amount", "6", "--new-attempt", "--sim-clock"]
    #expect(try binary.run(again + ["2026-03-02T10:00:00Z"]).status == 0)
    // The same command on the next day charges nothing.
    let repeated = try binary.run(again + ["2026-03-03T10:00:00Z"])
    #expect(repeated.status == 0)
    #expect(repeated.record["replayed"] == true)
    #expect(try rows(binary, "--until", "2026-03-01") == [])
    #expect(
      try rows(binary, "--since", "2026-03-02", "--until", "2026-03-02") == [
        "simulator USD 1 600 0 600 - -"
      ]
    )
    let found = try binary.run("find", "A", "--since", "2026-03-02", "--json")
    #expect(found.record["created_at"] == "2026-03-02T10:00:00Z")
    #expect(try binary.run("find", "--last-four", "1111", "--since", "2026-03-02").status == 0)
    #expect(try binary.run("journal", "verify", "--json").status == 0)
  }

  /// A refund at the reader is no payment, whatever came of it.
  @Test func `a refund at the reader is a part of its payment`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let sale = ["transact", "--provider", "toro", "--json", "--no-input"]
    _ = try binary.run(sale + ["--amount", "50", "--reference", "S"])
    let back = sale + ["--type", "refund", "--original", "S", "--amount"]
    #expect(try binary.run(back + ["20", "--reference", "B"]).status == 0)
    let above = try binary.run(back + ["43", "--reference", "C"]).errorRecord["error"]
    #expect(above?["message"] == "at most 30.00 GBP of 'S' can be refunded")
    #expect(above?["hint"] == "give --amount with at most that")
    #expect(try rows(binary) == ["simulator GBP 1 5000 2000 3000 - -"])
    func line(_ reference: String) throws -> String {
      try binary.run("find", reference, "--json").record.text("says") ?? ""
    }
    #expect(try binary.run("find", "C", "--json").records.isEmpty)
    #expect(try line("B") == "50.00 GBP paid, 20.00 GBP refunded (30.00 GBP left)")
    #expect(try binary.run("cancel", "B", "--json").status == 0)
    #expect(try line("B").hasPrefix("50.00 GBP paid"))
    let confirm = try binary.run("confirm", "B", "--json").errorRecord["error"]
    #expect(
      confirm?["message"]
        == "there is nothing to refund or capture: the refund 'B' of 20.00 GBP is returned"
    )
    #expect(confirm?["hint"] == "to see it: tender journal show S")
    #expect(try rows(binary) == ["simulator GBP 1 5000 0 5000 - -"])
  }

  @Test func `a disputed payment does not read as paid alone`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    _ = try binary.run(
      "transact",
      "--test-card",
      "visa",
      "--amount",
      "10",
      "--reference",
      "A",
      "--sim-scenario",
      "dispute",
      "--json"
    )
    let seen = try binary.run("payment-status", "A", "--output", "table").output
    #expect(seen.hasPrefix("10.00 USD paid, disputed (INQUIRY)\n"), "\(seen)")
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
    #expect(none.errors.contains("/tender, which has no journal"))
    let wrong = try binary.run("totals", "--by", "dya", "--output", "table")
    #expect(wrong.status == 2)
    #expect(wrong.errors.contains("did you mean day?"))
  }
}
