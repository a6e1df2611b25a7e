import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Finds a payment by its properties.
@Suite struct FindTests {
  /// A home with payments by card, at the reader and by bank. Their two times are on both sides of a
  /// midnight.
  private func shop() throws -> Binary {
    var binary = try Binary()
    binary.variables["TZ"] = "Europe/Berlin"
    let card = ["transact", "--test-card", "visa", "--json"]
    for words in [
      card + [
        "--amount", "10.50", "--reference", "ORDER-1", "--payor", "first_name=Ada", "--payor",
        "last_name=Lovelace", "--payor", "email=ada@example.com", "--metadata", "table=7",
        "--account-code", "shop-1", "--sim-clock", "2026-03-29T21:30:00Z",
      ],
      card + [
        "--amount", "10.50", "--reference", "ORDER-2", "--sim-clock", "2026-03-29T22:30:00Z",
      ],
      card + ["--amount", "1.93", "--reference", "DECLINED-1"],
      card + ["--amount", "5", "--reference", "HELD-1", "--confirmation"],
      card + ["--amount", "6", "--reference", "LOST-1", "--sim-fault", "part2:reset-before*1"],
      [
        "transact", "--provider", "toro", "--amount", "10.50", "--reference", "SALE-1",
        "--no-input",
        "--json",
      ],
      [
        "transact", "--provider", "truelayer", "--amount", "10.50", "--beneficiary-name", "Ben",
        "--sort-code", "56-00-29", "--account-number", "26207729", "--user", "name=Remi Terr",
        "--user", "email=remi@example.com", "--bank", "mock-payments-gb-redirect", "--reference",
        "BANK-1", "--no-input", "--json",
      ],
    ] { _ = try binary.run(words) }
    return binary
  }

  func found(_ binary: Binary, _ words: [String]) throws -> [String] {
    let result = try binary.run(["find", "--json"] + words)
    // Without a match, a search for one payment or customer exits with 5. Any other search exits with 0.
    let asksForOne =
      words.contains { ["--customer", "--last-four", "--trace-id"].contains($0) }
      || words.first { !$0.hasPrefix("-") && $0 == words[0] && !$0.contains("*") } != nil
    #expect(result.status == (asksForOne && result.records.isEmpty ? 5 : 0), "\(result.errors)")
    return result.records.compactMap { $0.text("reference") }.sorted()
  }

  @Test func `finds by what people know of a payment`() throws {
    let binary = try shop()
    defer { binary.remove() }
    let all = ["BANK-1", "DECLINED-1", "HELD-1", "LOST-1", "ORDER-1", "ORDER-2", "SALE-1"]
    let bank = try binary.run("journal", "show", "BANK-1", "--json").record
    let id = try #require(bank.text("id"))
    let trace = try #require(bank["result"]?["trace_id"]?.text)
    for (words, references) in [
      ([], all), (["--amount", "10.50"], ["BANK-1", "ORDER-1", "ORDER-2", "SALE-1"]),
      (["--amount", "10.50", "--currency", "USD"], ["ORDER-1", "ORDER-2"]),
      (["--amount-minor", "500"], ["HELD-1"]),
      (["--customer", "LOVELACE"], ["ORDER-1"]), (["--customer", "ada love"], ["ORDER-1"]),
      (["--customer", "@example.com"], ["BANK-1", "ORDER-1"]),
      (["--metadata", "table=7"], ["ORDER-1"]), (["--account-code", "shop-1"], ["ORDER-1"]),
      (["--account-code", "shop"], []),
      (["--metadata", "table=8"], []), (["ORDER-*"], ["ORDER-1", "ORDER-2"]),
      (["*-1", "--amount", "10.50"], ["BANK-1", "ORDER-1", "SALE-1"]),
      (["*RDE*"], ["ORDER-1", "ORDER-2"]), (["*R*E*-2*"], ["ORDER-2"]),
      (["ORDER"], []), (["ORDER-1"], ["ORDER-1"]), ([id], ["BANK-1"]),
      (["--trace-id", trace], ["BANK-1"]), (["--status", "open"], ["HELD-1", "LOST-1"]),
      (["--status", "unknown"], ["LOST-1"]),
      (["--status", "declined", "--status", "requires_confirmation"], ["DECLINED-1", "HELD-1"]),
      (["--provider", "toro"], ["SALE-1"]), (["--env", "live"], []),
      (
        ["--last-four", "1111"],
        all.filter {
          $0 != "BANK-1" && $0 != "SALE-1"
        }
      ), (["--failure", "INSUFFICIENT"], ["DECLINED-1"]), (["--failure", "stolen"], []),
      (["--failure", "nsufficient"], []), (["--failure", "unds"], []),
      (["[A-Z]*"], []), (["ORDER-?"], []),
    ] {
      #expect(try found(binary, words) == references, "\(words)")
    }
  }

  /// Clocks went forward that Sunday: 22:30 UTC is half past midnight of the Monday in Berlin.
  @Test func `takes days and times of the local zone`() throws {
    var binary = try shop()
    defer { binary.remove() }
    func on(_ since: String, _ until: String) throws -> [String] {
      try found(binary, ["ORDER-*", "--since", since, "--until", until])
    }
    #expect(try on("2026-03-29", "2026-03-29") == ["ORDER-1"])
    #expect(try on("2026-03-30", "2026-03-30") == ["ORDER-2"])
    #expect(try on("2026-03-30T00:30", "2026-03-30T00:30") == ["ORDER-2"])
    #expect(try on("2026-03-29T23:30:01", "2026-03-31") == ["ORDER-2"])
    #expect(try on("2026-03-29T22:30:00Z", "2026-03-31") == ["ORDER-2"])
    #expect(try found(binary, ["--since", "today", "ORDER-*"]) == [])
    #expect(try found(binary, ["--since", "1h", "HELD-*"]) == ["HELD-1"])
    binary.variables["TZ"] = "UTC"
    #expect(try on("2026-03-29", "2026-03-29") == ["ORDER-1", "ORDER-2"])
    let bad = try binary.run("find", "--since", "tomorrow", "--json")
    #expect(bad.status == 2 && bad.errorRecord["error"]?["code"] == "bad_value")
  }

  @Test func `says what became of it and what comes next`() throws {
    let binary = try shop()
    defer { binary.remove() }
    func words(_ reference: String) throws -> [String?] {
      let record = try binary.run("find", reference, "--json").record
      return [record.text("says"), record.text("next")]
    }
    #expect(try words("ORDER-1") == ["10.50 USD paid", nil])
    let steps =
      "to charge the 5.00 USD: tender confirm HELD-1; to release the 5.00 USD: tender cancel HELD-1"
    #expect(try words("HELD-1") == ["5.00 USD held, not captured", steps])
    #expect(
      try words("LOST-1")[1]
        == "do not make another payment; to look only: tender journal resume LOST-1; to finish the "
        + "charge of 6.00 USD, which happens only once: tender journal resume LOST-1 --finish"
    )
    #expect(try words("DECLINED-1")[0]?.hasPrefix("1.93 USD declined: ") == true)
    let table = try binary.run("find", "HELD-1", "-o", "table").output
    #expect(table.hasPrefix("HELD-1  5.00 USD held, not captured · "))
    #expect(table.contains("\n    next: \(steps)\n"))
    #expect(table.contains("paytheory · simulator · …1111 · Test Payer visa · pt-"))
  }

  @Test func `says what became of a payment before its details`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    func firstLine(_ words: [String]) throws -> String? {
      let result = try binary.run(["transact", "--test-card", "visa", "-o", "table"] + words)
      return result.output.split(separator: "\n").first.map(String.init)
    }
    #expect(try firstLine(["--amount", "10.50", "--reference", "A"]) == "10.50 USD paid")
    #expect(
      try firstLine(["--amount", "1.93", "--reference", "B"])
        == "1.93 USD declined: the account has insufficient funds · next: another card, account or "
        + "bank may be accepted; to charge 1.93 USD again: the same transact command with --new-attempt"
    )
    let held = ["--amount", "5", "--reference", "C", "--confirmation"]
    #expect(
      try firstLine(held)
        == "5.00 USD held, not captured · next: to charge the 5.00 USD: tender confirm C; "
        + "to release the 5.00 USD: tender cancel C"
    )
    #expect(try firstLine(held + ["--fields", "status"])?.hasPrefix("status") == true)
  }

  @Test func `leaves nothing out in silence`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = (1...53).map { number in
      #"{"command":"transact","reference":"R\#(number)","amount":"5","test_card":"visa"}"#
    }
    #expect(try binary.run("batch", try Works.write(lines, binary), "--json").status == 0)
    for command in [["journal", "list"], ["find"]] {
      #expect(try binary.run(command + ["--json"]).records.count == 53)
      let table = try binary.run(command + ["-o", "table"])
      #expect(table.errors.contains("the latest 50 of 53; --all shows all"))
      let all = try binary.run(command + ["-o", "table", "--all"])
      #expect(!all.errors.contains("the latest"))
      #expect(all.output.contains("R1 "))
    }
  }

  @Test func `explains a payment by its reference or id`() throws {
    let binary = try shop()
    defer { binary.remove() }
    let declined = try binary.run("explain", "DECLINED-1", "--json").records
    #expect(declined.map { $0.text("record") } == ["journal_entry", "explanation"])
    #expect(declined.first?.text("says")?.hasPrefix("1.93 USD declined: ") == true)
    #expect(declined.last?.text("code") == "insufficient_funds")
    let id = try #require(declined.first?.text("id"))
    #expect(try binary.run("explain", id, "--json").records.count == 2)
    #expect(try binary.run("explain", "ORDER-1", "--json").records.count == 1)
    #expect(try binary.run("explain", "NOTHING-1", "--json").status == 5)
    // A payment comes before a code of the same name, which a note names.
    _ = try binary.run("transact", "--amount", "3", "--test-card", "visa", "--reference", "51")
    let named = try binary.run("explain", "51", "--json")
    #expect(named.records.map { $0.text("record") } == ["journal_entry"])
    let all = try binary.run("explain", "--json").output
    #expect(
      try binary.run("explain", "--list", "--json").records.count
        == all.split(separator: "\n").count
    )
    #expect(try binary.run("explain", "--list", "ORDER-1", "--json").status == 2)
  }

  @Test func `finds scenarios by a word, whole`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let found = try binary.run("simulator", "scenarios", "PIN", "--json").records
    let all = try binary.run("simulator", "scenarios", "--json").records
    #expect(found.count > 1 && found.count < all.count)
    #expect(
      found.allSatisfy {
        (($0.text("name") ?? "") + ($0.text("meaning") ?? "")).lowercased().contains("pin")
      }
    )
    let options = all.compactMap { $0.text("option") }
    #expect(options == options.sorted(by: >))
    let table = try binary.run("simulator", "scenarios", "-o", "table").output
    #expect(!table.contains("…"))
    for record in all { #expect(table.contains(record.text("meaning") ?? "?")) }
    let none = try binary.run("simulator", "scenarios", "PIN", "--exit", "99", "--json")
    #expect(none.output.isEmpty && none.errors.contains("no scenario or fault"), "\(none)")
  }

  /// A barcode is paid in a shop, so the next command waits for it.
  @Test func `names a next command that can go on`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let cash = #"{"type":"cash","name":"Ada","contact":"ada@example.com"}"#
    let made = try binary.run(
      ["transact", "--amount", "5", "--instrument-stdin", "--reference", "C 1", "--json"],
      input: cash
    )
    #expect(made.record["status"] == "requires_action", "\(made.errors)")
    let next = try binary.run("find", "C 1", "--json").record.text("next")
    #expect(next == "to wait for its end: tender payment-status 'C 1' --wait")
  }
}

/// Searches with a limit, another order, a holder's name, and payments that may have been paid twice.
extension FindTests {
  private static let day = "2026-03-02T"

  /// Payments by card at given times, in UTC.
  private static func pay(
    _ binary: Binary,
    _ reference: String,
    _ amount: String,
    at time: String,
    _ more: [String] = [],
    card: String? = nil
  ) throws {
    let instrument = card.map {
      #"{"type":"card","number":"\#($0)","security_code":"123","expiration":"12/39","name":"Grace Hopper"}"#
    }
    let words = [
      "transact", "--amount", amount, "--reference", reference, "--sim-clock", "\(day)\(time)Z",
      "--json",
    ]
    _ = try binary.run(
      words + (card == nil ? ["--test-card", "visa"] : ["--instrument-stdin"]) + more,
      input: instrument
    )
  }

  @Test func `finds the holder of a card by name, and nothing else of the card`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try Self.pay(binary, "G-1", "5", at: "09:00:00", card: "5454545454545454")
    try Self.pay(binary, "G-2", "5", at: "09:00:01")
    #expect(try found(binary, ["--customer", "hopper"]) == ["G-1"])
    #expect(try found(binary, ["--customer", "Test Payer"]) == ["G-2"])
    for number in ["123", "12/39"] { #expect(try found(binary, ["--customer", number]) == []) }
    #expect(try binary.run("find", "--customer", "5454545454545454", "--json").status == 2)
    let table = try binary.run("find", "--card", "5454", "-o", "table").output
    #expect(table.contains("paytheory · simulator · …5454 · Grace Hopper · pt-"))
    #expect(try binary.run("find", "--last4=5454", "--json").record.text("reference") == "G-1")
    #expect(try binary.run("find", "--card", "5454545454545454", "--json").status == 2)
    // The holder's name does not distinguish orders, because older payments have none.
    let words = ["transact", "--amount", "5", "--reference", "G-1", "--instrument-stdin", "--json"]
    let unnamed =
      #"{"type":"card","number":"5454545454545454","security_code":"123","expiration":"12/39"}"#
    let again = try binary.run(words, input: unnamed)
    #expect(again.status == 0 && again.record["replayed"] == true, "\(again.errors)")
  }

  @Test func `shows as many as asked for, in the order asked for`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for (reference, amount, time) in [
      ("A", "7", "09:00:00"), ("B", "30", "09:00:01"), ("C", "5", "09:00:02"),
      ("D", "7", "09:00:03"),
    ] { try Self.pay(binary, reference, amount, at: time) }
    _ = try binary.run("refund", "A", "--sim-clock", "2026-03-02T10:00:00Z", "--json")
    func found(_ words: String...) throws -> [String] {
      try binary.run(["find", "--json"] + words).records.compactMap { $0.text("reference") }
    }
    #expect(try found() == ["D", "C", "B", "A"])
    #expect(try found("--order-by", "created") == ["D", "C", "B", "A"])
    #expect(try found("--order-by", "changed", "--limit", "2") == ["A", "D"])
    #expect(try found("--order-by", "amount", "--limit", "9") == ["B", "D", "A", "C"])
    let cut = try binary.run("find", "--limit", "3", "--json")
    #expect(cut.records.count == 3)
    #expect(cut.errorRecord.text("text") == "the latest 3 of 4; --all shows all")
    let sorted = try binary.run(
      "find",
      "--order-by",
      "amount",
      "--limit",
      "1",
      "-o",
      "table"
    )
    #expect(sorted.output.hasPrefix("B  30.00 USD paid"))
    #expect(sorted.errors == "tender: the largest 1 of 4; --limit N shows more\n")
    let list = try binary.run("journal", "list", "--limit", "1", "--json")
    #expect(list.record.text("reference") == "D")
    #expect(list.errorRecord.text("text") == "the latest 1 of 4; --all shows all")
    for words in [
      ["--order-by", "amount"], ["--limit", "2", "--all"], ["--limit", "0"],
      ["--order-by", "size"], ["--duplicates", "--limit", "2"], ["--online", "--duplicates"],
      ["--online", "--limit", "1"],
    ] { #expect(try binary.run(["find", "--json"] + words).status == 2, "\(words)") }
  }

  @Test func `finds a payment in part by what was asked for`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let sale = ["transact", "--provider", "toro", "--no-input", "--json", "--allow-partial"]
    let part = try binary.run(
      sale + ["--amount", "90.00", "--reference", "PART", "--sim-scenario", "gateway:partial"]
    )
    #expect(part.record["requested_amount"] == 9000, "\(part.errors)")
    // An amount that ends in 10 would be approved in part.
    let whole = try binary.run(sale + ["--amount", "90.00", "--reference", "WHOLE"])
    #expect(whole.status == 0, "\(whole.errors)")
    #expect(try found(binary, ["--amount", "90.00"]) == ["PART", "WHOLE"])
    #expect(
      try found(binary, ["--amount", "90.00", "--status", "succeeded"]) == ["PART", "WHOLE"]
    )
    let approved = try #require(part.record["amount"]?.boundedNumber)
    #expect(try found(binary, ["--amount-minor", "\(approved)"]) == ["PART"])
    let table = try binary.run("find", "--amount", "90.00", "--limit", "1", "-o", "table")
    #expect(table.errors == "tender: the latest 1 of 2; --all shows all\n")
    #expect(try binary.run("journal", "verify", "--json").status == 0)
  }

  @Test func `groups what may have been paid twice`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let ada = ["--payor", "email=ada@example.com"]
    for (reference, amount, time, more) in [
      ("A-1", "10.50", "09:00:00", ada), ("A-2", "10.50", "09:08:00", ada),
      // Far from the first one, and within the time of the second.
      ("A-3", "10.50", "09:16:00", []), ("B-1", "10.51", "09:01:00", ada),
      ("C-1", "10.50", "10:30:00", ada), ("D-1", "1.93", "11:00:00", ada),
      ("D-2", "1.93", "11:00:30", ada), ("E-1", "20", "12:00:00", []),
      ("E-2", "20", "12:00:01", []),
    ] { try Self.pay(binary, reference, amount, at: time, more) }
    func groups(_ words: String...) throws -> [String] {
      let result = try binary.run(["find", "--json"] + words)
      #expect(result.status == 0, "\(result.errors)")
      return result.records.map {
        "\($0["group"]?.boundedNumber ?? 0) \($0.text("reference") ?? "")"
      }
    }
    let all = ["1 E-2", "1 E-1", "2 A-3", "2 A-2", "2 A-1"]
    #expect(try groups("--duplicates") == all)
    #expect(try groups("--duplicates=7m") == ["1 E-2", "1 E-1"])
    #expect(
      try groups("--duplicates=2h") == ["1 E-2", "1 E-1", "2 C-1", "2 A-3", "2 A-2", "2 A-1"]
    )
    #expect(try groups("--duplicates", "--customer", "ada@") == ["1 A-2", "1 A-1"])
    #expect(try groups("--duplicates", "--customer", "nobody") == [])
    let at60 = """
      GROUP  CREATED AT            REFERENCE  AMOUNT     STATUS
      1      2026-03-02T12:00:01Z  E-2        20.00 USD  succeeded
      1      2026-03-02T12:00:00Z  E-1        20.00 USD  succeeded
      2      2026-03-02T09:16:00Z  A-3        10.50 USD  succeeded
      2      2026-03-02T09:08:00Z  A-2        10.50 USD  succeeded
      2      2026-03-02T09:00:00Z  A-1        10.50 USD  succeeded

      """
    for width in [60, 80] {
      var narrow = binary
      narrow.variables["COLUMNS"] = String(width)
      let table = try narrow.run("find", "--duplicates", "-o", "table")
      #expect(table.output.split(separator: "\n").allSatisfy { $0.count <= width })
      if width == 60 { #expect(table.output == at60) }
      #expect(table.errors.contains("\ntender: 5 payments in 2 groups in "), "\(table.errors)")
    }
  }
}

/// The width of tables.
@Suite struct NarrowTests {
  @Test(arguments: [60, 80], [["find"], ["journal", "show", "A"], ["payment-status", "A"]])
  func `no line is too long for its words`(_ width: Int, _ words: [String]) throws {
    var binary = try Binary()
    defer { binary.remove() }
    let card = "--test-card visa --payor email=someone.with.a.long.name@example.com"
    for line in [
      "transact --amount 9 \(card) --reference A", "refund A --amount 2 --refund-reference part-1",
      "refund A --amount 3 --refund-reference part-2",
    ] {
      #expect(try binary.run(line: line).status == 0)
    }
    binary.variables["COLUMNS"] = String(width)
    let table = try binary.run(words + ["--output", "table"])
    #expect(table.status == 0)
    for line in table.output.split(separator: "\n") {
      #expect(line.count <= width, "\(line)")
    }
    #expect(table.output.contains("paytheory"))
  }
}

/// The same searches in a journal in PostgreSQL.
@Suite(
  .enabled(if: PostgresCluster.isAvailable, Comment(rawValue: PostgresCluster.isMissing)),
  .serialized,
  .onOwnThread
)
struct SharedFindTests {
  @Test func `finds with a limit, another order, a holder and twice`() throws {
    let fleet = try Fleet(machines: 1, timeout: 5)
    let binary = fleet.machines[0]
    for (reference, amount) in [("A", "5"), ("B", "30"), ("C", "5")] {
      let paid = try binary.run(
        ["transact", "--amount", amount, "--test-card", "visa", "--reference", reference, "--json"]
      )
      #expect(paid.status == 0, "\(paid.errors)")
    }
    func found(_ words: String...) throws -> [String] {
      let result = try binary.run(["find", "--json"] + words)
      #expect(result.status == 0, "\(result.errors)")
      return result.records.compactMap { $0.text("reference") }
    }
    #expect(try found("--order-by", "amount", "--limit", "2") == ["B", "C"])
    #expect(try found("--amount", "5") == ["C", "A"])
    #expect(try found("--customer", "Test Payer", "--limit", "1") == ["C"])
    #expect(try found("--duplicates") == ["C", "A"])
    let cut = try binary.run("find", "--limit", "1", "--json")
    #expect(cut.errorRecord.text("text") == "the latest 1 of 3; --all shows all")
    let check = try binary.run(
      ["batch", "-", "--check", "--json"],
      input: #"{"command":"refund","reference":"NONE"}"#
    )
    #expect(check.records.first?["error"]?["code"] == "payment_not_found", "\(check.output)")
  }
}
