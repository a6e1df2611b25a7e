import TenderModel
import TenderTestSupport
import Testing

/// `refund`: one command for refunding a payment of any provider.
@Suite struct RefundTests {
  private static let card = ["transact", "--amount", "10", "--test-card", "visa", "--json"]
  private static let bank = [
    "transact", "--provider", "truelayer", "--amount", "10", "--beneficiary-name", "Ben",
    "--merchant-account", "00000000-0000-4000-8000-000000000077", "--user", "name=Remi", "--user",
    "email=remi@example.com", "--bank", "mock-payments-gb-redirect", "--no-input", "--json",
  ]

  private func pay(_ binary: Binary, _ words: [String], _ reference: String) throws {
    let paid = try binary.run(words + ["--reference", reference])
    #expect(paid.status == 0, "\(paid.errors)")
  }

  @Test func `gives a card payment back in parts, each once, and never above the rest`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try pay(binary, Self.card, "A")
    let planned = try binary.run("refund", "A", "--amount", "3", "--dry-run", "--json").record
    #expect(planned["request"]?["plan"] == "refund")
    #expect(planned["request"]?["amount"] == 300 && planned["request"]?["left"] == 1000)
    #expect(planned["request"]?["whole"] == false)
    let first = try binary.run("refund", "A", "--amount", "3", "--reason", "duplicate", "--json")
    #expect(first.status == 0 && first.record["status"] == "partially_refunded")
    #expect(first.record["command"] == "refund")
    let again = try binary.run("refund", "A", "--amount", "3", "--json").record
    #expect(again["replayed"] == true)
    let other = try binary.run("refund", "A", "--amount", "2", "--json")
    #expect(other.status == 6 && other.errorRecord["error"]?["code"] == "refund_needs_name")
    let named = ["--refund-reference", "second", "--json"]
    let above = try binary.run(["refund", "A", "--amount", "7.01"] + named)
    #expect(above.status == 6 && above.errorRecord["error"]?["code"] == "refund_exceeds")
    let second = try binary.run(["refund", "A", "--amount", "2"] + named).record
    #expect(second["refunded_amount"] == 500)
    let differs = try binary.run(["refund", "A", "--amount", "1"] + named)
    #expect(differs.errorRecord["error"]?["code"] == "refund_differs")
    let old = try binary.run(["refund", "A", "--new-attempt"] + named)
    #expect(old.status == 2)
    // The rest needs no name. Its amount is fixed once it is recorded, and a repetition replays it.
    for isAgain in [false, true] {
      let rest = try binary.run("refund", "A", isAgain ? "--rest" : "--yes", "--json").record
      #expect(rest["status"] == "refunded" && rest["replayed"] == .bool(isAgain))
      #expect(rest["refunded_amount"] == 1000)
    }
    let nothing = try binary.run("refund", "A", "--amount", "1", "--dry-run", "--json")
    #expect(nothing.errorRecord["error"]?["code"] == "refund_exceeds")
  }

  @Test func `voids what is held`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try pay(binary, Self.card + ["--confirmation"], "H")
    let planned = try binary.run("refund", "H", "--dry-run", "--json").record["request"]
    #expect(planned?["plan"] == "void" && planned?["way"] == "void")
    let part = try binary.run("refund", "H", "--amount", "3", "--json").errorRecord["error"]
    #expect(part?["message"]?.text?.contains("is held, not captured") == true)
    #expect(try binary.run("refund", "H", "--json").record["status"] == "cancelled")
    #expect(try binary.run("confirm", "H", "--json").status == 6)
  }

  /// The payment went to an external account, so TrueLayer has nothing to refund. The error is reported
  /// before any request.
  @Test(arguments: [[], ["--dry-run"]])
  func `refuses to refund what an account outside was paid`(_ more: [String]) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let account = ["--sort-code", "56-00-29", "--account-number", "26207729"]
    let words = Self.bank.filter { $0 != "--merchant-account" && !$0.hasPrefix("0000") } + account
    try pay(binary, words, "E")
    let refused = try binary.run(["refund", "E", "--json"] + more)
    #expect(refused.status == 6)
    #expect(refused.errorRecord["error"]?["code"] == "nothing_to_refund")
  }

  @Test func `refunds a settled bank payment`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try pay(binary, Self.bank, "B")
    let part = try binary.run("refund", "B", "--amount", "4", "--wait", "--json")
    #expect(part.status == 0, "\(part.errors)")
    #expect(part.record["result"]?["refund"]?["amount_in_minor"] == 400)
    // The older options mean the same.
    let again = try binary.run("cancel", "B", "--refund", "--amount", "4", "--json").record
    #expect(again["replayed"] == true)
  }

  @Test func `undoes a sale without its card as a whole, and names the command for a part`() throws
  {
    let binary = try Binary()
    defer { binary.remove() }
    let sale = ["transact", "--provider", "toro", "--amount", "5", "--no-input", "--json"]
    try pay(binary, sale, "S")
    let part = try binary.run("refund", "S", "--amount", "2", "--json")
    #expect(part.status == 15)
    let hint = part.errorRecord["error"]?["hint"]?.text ?? ""
    let command = "--type refund --original S --amount 2.00 --currency GBP --reference S-refund-1"
    #expect(hint.hasSuffix(command + " --provider toro"))
    #expect(try binary.run("refund", "S", "--reason", "x", "--json").status == 2)
    let planned = try binary.run("refund", "S", "--amount", "5", "--dry-run", "--json").record
    #expect(planned["request"]?["way"] == "cancellation advice")
    #expect(try binary.run("refund", "S", "--json").record["status"] == "cancelled")
    #expect(try binary.run("refund", "S", "--json").record["replayed"] == true)
  }

  @Test func `is a line of a batch`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try Works.write(
      [
        #"{"command":"transact","reference":"A","amount":"10","test_card":"visa"}"#,
        #"{"command":"refund","reference":"A","amount":"3","refund_reference":"r1"}"#,
      ],
      binary
    )
    let rows = try binary.run("batch", file, "--json").records
    #expect(rows.map { $0.text("status") } == ["succeeded", "partially_refunded", nil])
  }

  @Test func `needs a payment that is known`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let missing = try binary.run("refund", "nothing", "--json")
    #expect(missing.status == 5)
    #expect(try binary.run("refund", "--json").status == 2)
  }

  /// 400 yen are not 4.00 pounds: the same digits in another currency are another amount.
  @Test func `takes an amount in the payment's own currency alone`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try pay(binary, Self.bank, "B")
    try pay(binary, Self.card, "A")
    let sale = ["transact", "--provider", "toro", "--amount", "5", "--no-input", "--json"]
    try pay(binary, sale, "S")
    for reference in ["A", "B", "S"] {
      for words in [
        ["--amount", "400", "--currency", "JPY"], ["--amount", "4", "--currency", "EUR"],
      ] {
        let other = try binary.run(["refund", reference, "--json"] + words)
        #expect(other.status == 2, "\(reference) \(words)")
        #expect(other.errorRecord["error"]?["code"] == "bad_currency")
      }
      let alone = try binary.run("refund", reference, "--currency", "XXX", "--json")
      #expect(alone.status == 2)
      let own = reference == "A" ? "USD" : "GBP"
      let ignored = try binary.run("refund", reference, "--currency", own, "--json")
      #expect(ignored.errorRecord["error"]?["code"] == "bad_options", "\(ignored.output)")
    }
    let older = try binary.run(
      "cancel",
      "B",
      "--refund",
      "--amount",
      "400",
      "--currency",
      "JPY",
      "--json"
    )
    #expect(older.status == 2)
    for reference in ["A", "B", "S"] {
      let shown = try binary.run("journal", "show", reference, "--json").record
      #expect(shown.text("status") == "succeeded" && shown["reversal"] == nil)
    }
  }

  @Test func `says before it sends what it would refuse or only show again`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try pay(binary, Self.card, "A")
    #expect(try binary.run("refund", "A", "--amount", "3", "--json").status == 0)
    let again = try binary.run("refund", "A", "--amount", "3", "--dry-run", "--json").record
    #expect(again["request"]?["plan"] == "replay" && again["request"]?["amount"] == nil)
    let other = try binary.run("refund", "A", "--dry-run", "--json", "--amount", "4")
    #expect(other.errorRecord["error"]?["code"] == "refund_needs_name", "\(other.output)")
    let more = ["refund", "A", "--refund-reference", "two", "--dry-run", "--json"]
    let rest = try binary.run(more).record["request"]
    #expect(rest?["amount"] == 700 && rest?["left_afterwards"] == 0 && rest?["plan"] == "refund")
    let above = try binary.run(more + ["--amount", "7.01"])
    #expect(above.errorRecord["error"]?["code"] == "refund_exceeds")
    let unnamed = try binary.run(
      "refund",
      "A",
      "--amount",
      "1",
      "--new-attempt",
      "--dry-run",
      "--json"
    )
    #expect(unnamed.status == 2)
  }

  @Test func `refuses a reason that nobody would read`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try pay(binary, Self.card + ["--confirmation"], "H")
    let refused = try binary.run("refund", "H", "--reason", "x", "--json")
    #expect(refused.status == 2 && refused.errorRecord["error"]?["code"] == "bad_options")
    #expect(
      try binary.run("journal", "show", "H", "--json").record["status"] == "requires_confirmation"
    )
  }

  @Test func `says how much was given back, and what gives money back by itself`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let card = ["transact", "--amount", "10", "--test-card", "visa", "--reference", "A", "--json"]
    #expect(try binary.run(card).status == 0)
    let table = try binary.run("refund", "A", "--amount", "3", "-o", "table").output
    #expect(table.contains("this_refund       3.00 USD\n"))
    let sale = ["transact", "--provider", "toro", "--no-input", "--json", "--amount"]
    #expect(try binary.run(sale + ["12", "--reference", "S"]).status == 0)
    let back = ["--type", "refund", "--original", "S", "--reference", "B"]
    #expect(try binary.run(sale + ["5"] + back).status == 0)
    let says = try binary.run("find", "B", "--json").record.text("says")
    #expect(says == "12.00 GBP paid, 5.00 GBP refunded (7.00 GBP left)")
    let partial = ["20", "--reference", "P", "--sim-scenario", "gateway:partial"]
    #expect(try binary.run(sale + partial).status == 20)
    let paid = try binary.run("find", "P", "--json").record.text("says")
    #expect(paid == "10.00 GBP of 20.00 GBP paid")
  }

  @Test func `an id that is the reference of another payment names no payment alone`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = ["transact", "--test-card", "visa", "--json", "--amount"]
    let first = try binary.run(pay + ["10", "--reference", "ID1"]).record
    let id = try #require(first.text("id"))
    #expect(try binary.run(pay + ["7", "--reference", id]).status == 0)
    for command in ["payment-status", "cancel", "refund"] {
      let result = try binary.run(command, id, "--json")
      #expect(result.status == 6, "\(command): \(result.output)")
      #expect(result.errorRecord["error"]?["code"] == "ambiguous_reference")
    }
    let refunded = try binary.run("refund", "--id", id, "--json").record
    #expect(refunded["reference"] == "ID1" && refunded["refunded_amount"] == 1000)
  }

  @Test func `a dry run leaves out the amounts of an unknown payment`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lost = try binary.run([
      "transact", "--amount", "10", "--test-card", "visa", "--reference", "PL1", "--json",
      "--sim-fault", "part2:close-after*1", "--sim-fault", "graphql:http-500*5",
    ])
    #expect(lost.status == 9, "\(lost.errors)")
    let plan = try binary.run("refund", "PL1", "--dry-run", "--json").record["request"]
    #expect(plan?["plan"] == "look", "\(String(describing: plan))")
    for name in ["amount", "left", "left_afterwards", "whole"] { #expect(plan?[name] == nil) }
  }
}
