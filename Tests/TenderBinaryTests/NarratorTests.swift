import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Sentences about payments that have a history.
@Suite struct NarratorTests {
  private static let card = "transact --amount 9 --test-card visa --reference A"

  private func with(_ body: (Binary) throws -> Void) throws {
    let binary = try Binary()
    defer { binary.remove() }
    try body(binary)
  }

  /// The lines that a command prints for a person.
  private func lines(_ binary: Binary, _ words: String) throws -> [String] {
    let result = try binary.run(words.split(separator: " ").map(String.init) + ["-o", "table"])
    return (result.output + result.errors).split(separator: "\n").map(String.init)
  }

  @Test func `a repeated payment says so, and warns of options without effect`() throws {
    try with { binary in
      let pay = Self.card + " --payor email=ada@example.com"
      #expect(try binary.run(line: pay).errors == "")
      let again = try lines(binary, pay + " --send-receipt --receipt-description Lunch")
      let day = #/^already paid 9\.00 USD on \d+ [A-Z][a-z]{2} \d{4}; nothing was sent$/#
      #expect(again.first?.firstMatch(of: day) != nil, "\(again)")
      for option in ["send-receipt", "receipt-description"] {
        let warning = "tender: --\(option) had no effect: the payment was made before"
        #expect(again.contains(warning), "\(again)")
      }
      #expect(try lines(binary, "find A").first?.contains("already") == false)
    }
  }

  @Test func `each part of a sentence has its own age`() throws {
    try with { binary in
      let start = "2026-11-20T12:00:00Z"
      #expect(try binary.run(line: Self.card + " --sim-clock " + start).status == 0)
      let paid = try lines(binary, "find A --sim-clock 2026-11-27T12:00:00Z")[0]
      #expect(paid.hasSuffix("· 7 days ago"), "\(paid)")
      let refund = "refund A --amount 3 --sim-clock 2026-11-27T11:59:59Z"
      #expect(try binary.run(line: refund).status == 0)
      let told = try lines(binary, "find A --sim-clock 2026-11-27T12:00:00Z")[0]
      #expect(
        told == "A  9.00 USD paid 7 days ago, 3.00 USD refunded 1 s ago (6.00 USD left)"
      )
      #expect(try binary.run(line: "refund A --sim-clock 2026-11-27T11:59:30Z").status == 0)
      let whole = try lines(binary, "find A --sim-clock 2026-11-27T12:00:00Z")[0]
      #expect(whole == "A  9.00 USD paid and refunded · 30 s ago")
    }
  }

  @Test func `a void is not called a refund, and a pending debit not paid`() throws {
    try with { binary in
      let debit = "transact --amount 9 --test-account success --reference D"
      #expect(try binary.run(line: debit).record["status"] == "pending")
      #expect(try binary.run(line: "cancel D --amount 3 --refund-reference p").status == 0)
      let part = try binary.run(line: "find D").record.text("says")
      #expect(part == "9.00 USD pending, 3.00 USD voided (6.00 USD left)")
      #expect(try binary.run(line: "refund D --rest").status == 0)
      let whole = try binary.run(line: "find D").record.text("says") ?? ""
      #expect(whole.contains("voided") && !whole.contains("refunded"), "\(whole)")
    }
  }

  @Test func `explain says that a restored journal is a copy`() throws {
    try with { binary in
      #expect(try binary.run(line: Self.card).status == 0)
      #expect(try lines(binary, "explain A").allSatisfy { !$0.contains("is a copy") })
      let journal = binary.home.appending(path: ".local/state/tender/journal.db")
      let copy = journal.appendingPathExtension("old")
      try FileManager.default.copyItem(at: journal, to: copy)
      try FileManager.default.removeItem(at: journal)
      try FileManager.default.moveItem(at: copy, to: journal)
      let told = try lines(binary, "explain A")
      #expect(told.contains { $0.contains("is a copy") }, "\(told)")
    }
  }

  @Test func `a list shows a dispute`() throws {
    try with { binary in
      #expect(try binary.run(line: Self.card + " --sim-scenario dispute").status == 0)
      #expect(try binary.run(line: "payment-status A").status == 0)
      let rows = try lines(binary, "journal list")
      #expect(rows.contains { $0.hasSuffix("disputed (INQUIRY)") }, "\(rows)")
    }
  }

  @Test func `an unknown refund is not counted in what is left`() throws {
    try with { binary in
      #expect(try binary.run(line: Self.card).status == 0)
      let lost = try binary.run(line: "refund A --amount 4 --sim-fault reversal:reset-before")
      #expect(lost.status == 9, "\(lost)")
      let says = try binary.run(line: "find A").record.text("says")
      #expect(says == "9.00 USD paid, the result of a refund is unknown")
    }
  }
}
