import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Sentences that people took for more than they say.
@Suite struct MisleadingWordsTests {
  /// One payer gave a name, and then an e-mail address.
  @Test func `a search for duplicates says what alike means, and its time`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for (reference, payor) in [("A", "email=a@example.com"), ("B", "first_name=Ada")] {
      let line = "transact --amount 9 --test-account success --reference \(reference)"
      #expect(try binary.run(line: line, ["--payor", payor]).status == 0)
    }
    let alike = "the same amount, and the same last four digits, name, e-mail, phone or payer id"
    for words in [["find", "--duplicates"], ["find", "--duplicates", "--customer", "a@"]] {
      let errors = try binary.run(words + ["-o", "table"]).errors.replacing("\n", with: " ")
      #expect(errors.contains(alike), "\(errors)")
      #expect(errors.contains("within 10 min"), "\(errors)")
      #expect(errors.contains("--duplicates=24h"), "\(errors)")
    }
    // A payment that another filter leaves out can be the second one.
    for (filter, isNarrow) in [
      ([], false), (["--customer", "a@"], true), (["--amount", "8"], true),
    ] {
      let errors = try binary.run(["find", "--duplicates"] + filter + ["-o", "table"]).errors
        .split { $0 == "\n" || $0 == " " }.joined(separator: " ")
      #expect(errors.contains("match the other filters") == isNarrow, "\(errors)")
    }
    let help = try help(binary, "find")
    #expect(help.contains("The same payer with other fields is not found"), "\(help)")
  }

  /// Returns what a command prints on standard error beside a table.
  private func table(_ binary: Binary, _ words: String) throws -> String {
    try binary.run(words.split(separator: " ").map(String.init) + ["-o", "table"]).errors
  }

  private func help(_ binary: Binary, _ words: String...) throws -> String {
    try binary.run(words + ["--help"]).output.split { $0 == "\n" || $0 == " " }
      .joined(separator: " ")
  }

  /// The hold of a later attempt would be the second charge.
  @Test func `no step leads to a capture after an earlier attempt was paid`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let hold = "transact --amount 9 --test-card visa --hold --reference A"
    #expect(try binary.run(line: hold).status == 0)
    let declined = try binary.run(line: "confirm A --sim-scenario decline:generic_decline")
    #expect(declined.status == 3)
    let id = try #require(declined.record.text("id"))
    #expect(try binary.run(line: hold + " --new-attempt").status == 0)
    let held = try binary.run("explain", "A").output
    #expect(held.contains("to charge the 9.00 USD: tender confirm A"), "\(held)")
    let world = binary.home.appending(path: "world")
    #expect(try binary.run(line: "simulator save \(world.path)").status == 0)
    let paid = try String(contentsOf: world, encoding: .utf8)
      .replacing(#/"failure":"[^"]*",?/#, with: "")
    try paid.write(to: world, atomically: true, encoding: .utf8)
    #expect(try binary.run(line: "simulator load \(world.path) --yes").status == 0)
    #expect(try binary.run(line: "payment-status \(id)").status == 0)
    let told = try binary.run("explain", "A").output
    #expect(told.contains("do not charge it again") && !told.contains("tender confirm"), "\(told)")
    let refused = try binary.run(line: "confirm A")
    #expect(refused.status == 6)
    #expect(refused.errorRecord["error"]?["code"] == "attempt_paid")
  }

  @Test func `a dry run of a refund says that it is by the journal`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try binary.run(line: "transact --amount 9 --test-card visa --reference A").status == 0)
    for words in ["refund A", "refund A --amount 2", "cancel A"] {
      let shown = try binary.run(line: words + " --dry-run").record
      #expect(shown["request"]?["left_source"] == "journal", "\(words)")
    }
    let help = try help(binary, "refund")
    #expect(
      help.contains("what would happen by the journal alone: the provider may have refunded more"),
      "\(help)"
    )
  }

  /// The exit is 0: the acquirer accepted it. But no later command finds out how it ends.
  @Test func `a suspended sale says what to do`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let sale = try binary.run(
      line: "transact --provider toro --amount 10 --reference S --sim-scenario gateway:suspended"
    )
    #expect(sale.status == 0)
    #expect(
      sale.errorRecord.text("text")
        == "the acquirer has not processed it, and nothing was charged yet: "
        + "ask the acquirer; to void the 10.00 GBP: tender cancel S"
    )
    let paid = try binary.run(
      line: "transact --provider toro --amount 10 --reference T"
    )
    #expect(paid.errors == "")
    let debit = try binary.run(line: "transact --amount 9 --test-account success --reference D")
    #expect(debit.record["status"] == "pending")
    #expect(debit.errors == "")
    #expect(try help(binary, "transact", "--provider", "toro").contains("A suspended sale exits 0"))
  }

  @Test func `totals with pending charges say so`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let paid = try binary.run(line: "transact --amount 9 --test-card visa --reference A")
    #expect(paid.status == 0)
    // A suspended sale is pending, and nothing was charged.
    let suspended = try binary.run(
      line: "transact --provider toro --amount 9 --reference S --sim-scenario gateway:suspended"
    )
    #expect(suspended.record["status"] == "pending")
    #expect(try table(binary, "totals") == "")
    let debit = try binary.run(line: "transact --amount 9 --test-account success --reference B")
    #expect(debit.status == 0)
    let note = "CHARGED includes pending charges: tender find --status pending shows them"
    for (words, isNoted) in [
      ("totals", true), ("totals --status pending", true), ("totals --status succeeded", false),
      ("totals --by day,status", true), ("totals --until 2020-01-01", false),
    ] {
      let errors = try table(binary, words)
      #expect(errors.contains(note) == isNoted, "\(words): \(errors)")
    }
  }

  /// A look-up never moves money, so it need not say so.
  @Test func `a search that finds nothing says nothing of money`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for (words, isSaid) in [
      ("find NONE", false), ("payment-status NONE", false), ("journal show NONE", false),
      ("explain no_such_code", false), ("refund NONE", true), ("confirm NONE", true),
    ] {
      let errors = try table(binary, words)
      #expect(errors.contains("moved no money") == isSaid, "\(words): \(errors)")
      #expect(errors.contains("exit "), "\(words)")
    }
  }

  @Test func `help names the provider of served payments, and which hold is captured in part`()
    throws
  {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(
      try help(binary, "simulator", "serve").contains("tender --env sandbox --provider NAME pays")
    )
    let transact = try help(binary, "transact")
    #expect(transact.contains("captured as a whole; only one by --token in part"), "\(transact)")
  }
}
