import TenderModel
import TenderTestSupport
import Testing

/// `refund`: one word for giving a payment back, whichever provider took it.
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
    #expect(planned["request"]?["amount"] == 300 && planned["request"]?["left"] == 700)
    #expect(planned["request"]?["whole"] == false)
    let first = try binary.run("refund", "A", "--amount", "3", "--reason", "duplicate", "--json")
    #expect(first.status == 0 && first.record["status"] == "partially_refunded")
    #expect(first.record["command"] == "refund")
    let again = try binary.run("refund", "A", "--amount", "3", "--json").record
    #expect(again["replayed"] == true)
    let other = try binary.run("refund", "A", "--amount", "2", "--json")
    #expect(other.status == 6 && other.errorRecord["error"]?["code"] == "refund_differs")
    let named = ["--new-attempt", "--refund-reference", "second", "--json"]
    let above = try binary.run(["refund", "A", "--amount", "7.01"] + named)
    #expect(above.status == 6 && above.errorRecord["error"]?["code"] == "refund_exceeds")
    let rest = try binary.run(["refund", "A"] + named).record
    #expect(rest["status"] == "refunded")
    let nothing = try binary.run("refund", "A", "--dry-run", "--json").record
    #expect(nothing["request"]?["left"] == 0)
  }

  @Test func `voids what is held`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try pay(binary, Self.card + ["--confirmation"], "H")
    let planned = try binary.run("refund", "H", "--dry-run", "--json").record["request"]
    #expect(planned?["plan"] == "release" && planned?["way"] == "void")
    #expect(try binary.run("refund", "H", "--json").record["status"] == "cancelled")
    #expect(try binary.run("confirm", "H", "--json").status == 6)
  }

  @Test func `refunds a settled bank payment`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try pay(binary, Self.bank, "B")
    let part = try binary.run("refund", "B", "--amount", "4", "--wait", "--json")
    #expect(part.status == 0, "\(part.errors)")
    #expect(part.record["result"]?["refund"]?["amount_in_minor"] == 400)
    // The older words mean the same.
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
    #expect(hint.hasSuffix("--type refund --original S --amount 2.00"))
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
        #"{"command":"refund","reference":"A","amount":"3"}"#,
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
}
