import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// A person who follows the answers does not charge, refund or expect the wrong thing.
@Suite struct GuidanceTests {
  private static let card = "transact --amount 10 --test-card visa"
  private static let bank =
    "transact --provider truelayer --amount 10 --bank mock-payments-gb-redirect "
    + "--user name=Ada --user email=ada@example.com"

  private func with(_ body: (Binary) throws -> Void) throws {
    let binary = try Binary()
    defer { binary.remove() }
    try body(binary)
  }

  @Test func `a payment of another journal warns of a second charge, and names the way`() throws {
    let shop = try Shop()
    let id = try #require(
      try shop.binary.run(line: "\(Self.card) --reference A").record.text("id")
    )
    var other = try Binary()
    defer { other.remove() }
    other.variables = shop.binary.variables
    for handle in [id, "A"] {
      let look = try other.run(line: "payment-status \(handle)")
      #expect(look.record["status"] == "succeeded")
      #expect(
        look.errorRecord.text("text")
          == "this journal does not have 'A'; to record it here: tender transact "
          + "--payment-id \(id) --reference A --provider paytheory",
        "\(look.errors)"
      )
      let refund = try other.run(line: "refund \(handle) --amount 1")
      #expect(refund.status == 5)
      #expect(refund.errorRecord["error"]?["hint"]?.text?.contains("--state-dir") == true)
    }
    let again = try other.run(line: "\(Self.card) --reference A")
    #expect(again.status == 6)
    #expect(again.errorRecord["error"]?["code"] == "reference_at_provider")
    // What the note suggests records it.
    let recorded = try other.run(
      line: "transact --provider paytheory --payment-id \(id) --reference A"
    )
    #expect(recorded.record["status"] == "succeeded", "\(recorded.errors)")
    #expect(try other.run(line: "refund A --amount 1").record["refunded_amount"] == 100)
    // The journal that made it says nothing of the kind.
    let own = try shop.binary.run(line: "payment-status \(id)")
    #expect(
      own.errorRecord.text("text")
        == "a refund was made at the provider and not by this journal",
      "\(own.errors)"
    )
  }

  /// A name alone does not make a cancel a further refund.
  @Test func `a cancel with a name stops no refund and refunds no rest`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try binary.run(line: "\(Self.card) --reference A").status == 0)
    #expect(try binary.run(line: "refund A --amount 1").status == 0)
    for words in [
      "cancel A", "cancel A --refund-reference z", "cancel A --yes --refund-reference z",
    ] {
      let cancel = try binary.run(line: words)
      #expect(cancel.status == 6)
      #expect(cancel.errorRecord["error"]?["code"] == "refund_not_stopped", "\(words)")
    }
    #expect(try binary.run(line: "journal show A").record["refunded_amount"] == 100)
    // A mistyped word for a part leads to no option that moves all.
    for word in ["half", "part", "al", "rst", "wiat", "yess", "amt", "some", "all"] {
      for command in ["refund", "cancel", "confirm"] {
        let typo = try binary.run(line: "\(command) A --\(word) 1")
        #expect(typo.status == 2)
        for option in ["--wait", "--rest", "--yes", "--dry-run", "--events"] {
          let hint = typo.errorRecord["error"]?["hint"]?.text ?? ""
          #expect(!hint.contains("did you mean \(option)"), "\(command) \(word): \(hint)")
        }
      }
    }
  }

  /// Pay Theory has nothing of a hold before its capture, which is the first charge.
  @Test func `a hold of two journals is charged once`() throws {
    let shop = try Shop()
    var other = try Binary()
    defer { other.remove() }
    other.variables = shop.binary.variables
    for till in [shop.binary, other] {
      let hold = try till.run(line: "\(Self.card) --reference H --hold")
      #expect(hold.record["status"] == "requires_confirmation", "\(hold.errors)")
    }
    let first = try shop.binary.run(line: "confirm H")
    let id = try #require(first.record.text("id"), "\(first.errors)")
    for _ in 0..<2 {
      let second = try other.run(line: "confirm H")
      #expect(second.status == 6)
      #expect(second.errorRecord["error"]?["code"] == "reference_at_provider")
      #expect(second.errorRecord["error"]?["message"]?.text?.contains(id) == true)
    }
    #expect(try shop.binary.run(line: "confirm H").record["status"] == "succeeded")
    let both = try other.run(line: "confirm H --despite-payment \(id)")
    #expect(both.record["status"] == "succeeded", "\(both.errors)")
    #expect(both.record.text("id") != id)
  }

  /// Another process charges while the batch runs: the refund must wait with its charge.
  @Test func `a line waits for an earlier line of its reference that waits`() throws {
    let shop = try Shop()
    let words =
      "\(Self.card) --reference A --sim-fault part1:latency=1500ms --events --json --no-input"
    let (process, output, _) = try shop.binary.start(
      words.split(separator: " ").map(String.init)
    )
    _ = output.read(until: "\n")
    let lines = [
      #"{"command":"transact","reference":"A","amount":"10","test_card":"visa"}"#,
      #"{"command":"refund","reference":"A"}"#,
      #"{"command":"transact","reference":"B","amount":"10","test_card":"visa"}"#,
    ]
    let file = shop.binary.home.appending(path: "lines.jsonl")
    try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    let batch = try shop.binary.run(line: "batch \(file.path)")
    process.waitUntilExit()
    #expect(batch.status == 0, "\(batch.output)")
    let shown = batch.records.dropLast().map { record in
      [record["line"]?.wholeNumber.map(String.init), record.text("command")].compactMap(\.self)
        .joined(separator: " ")
    }
    #expect(shown == ["3 transact", "1 transact", "2 refund"])
    #expect(try LedgerAudit.charges(path: shop.books, reference: "A") == 1)
  }

  @Test func `a command at another provider than the named one says so`() throws {
    try with { binary in
      var named = binary
      named.variables["TENDER_PROVIDER"] = "toro"
      #expect(try binary.run(line: "\(Self.card) --reference A").status == 0)
      let refund = try named.run(line: "refund A")
      #expect(refund.status == 0)
      #expect(refund.errorRecord["text"] == "'A' is a payment at paytheory, not at toro")
      let other = "transact --provider toro --amount 8 --reference A"
      #expect(try binary.run(line: other).status == 0)
      let several = try named.run(line: "refund A")
      #expect(several.status == 6)
      #expect(
        several.errorRecord["error"]?["hint"]?.text?.hasSuffix(
          "; TENDER_PROVIDER and profiles do not choose here"
        ) == true
      )
    }
  }

  @Test func `a hold names a partial capture only where one is possible`() throws {
    try with { binary in
      let card = try binary.run(line: "\(Self.card) --hold --reference A")
      #expect(card.status == 0)
      let steps =
        "to charge the 10.00 USD: tender confirm A; to release the 10.00 USD: tender cancel A"
      #expect(try binary.run(line: "find A").record["next"] == .string(steps))
      let part = try binary.run(line: "confirm A --amount 4")
      #expect(part.status == 15)
      #expect(
        part.errorRecord["error"]?["hint"]
          == "for a part, the hold needs --token: tender help confirm; to charge the 10.00 USD: tender confirm A"
      )
      let method = try binary.run(line: "tokenize --test-card visa --reference T").record.text("id")
      let token = "transact --amount 10 --hold --reference B --token \(method ?? "")"
      #expect(try binary.run(line: token).status == 0)
      let sale = "transact --provider toro --amount 10 --hold --reference C"
      #expect(try binary.run(line: sale).status == 0)
      for name in ["B", "C"] {
        #expect(
          try binary.run(line: "find \(name)").record.text("next")?
            .hasPrefix("--amount captures a part; to charge the 10.00 ") == true
        )
        #expect(try binary.run(line: "confirm \(name) --amount 4").record["captured_amount"] == 400)
      }
    }
  }

  @Test func `an unmet expectation says what there is, and what to do`() throws {
    try with { binary in
      let pay =
        "\(Self.bank) --beneficiary-name Shop --sort-code 010203 --account-number 12345678 "
        + "--reference A --wait=60s --expect provider_status=settled"
      let bank = try binary.run(line: pay)
      #expect(bank.status == 18)
      #expect(
        bank.record["error"]?["message"]
          == "the result is succeeded, exit:0, provider_status=executed, and provider_status=settled was expected"
      )
      #expect(
        bank.record["error"]?["hint"]
          == "it does not change by waiting; --expect succeeded names this result"
      )
      let held = try binary.run(line: "\(Self.card) --hold --reference B --expect succeeded")
      #expect(
        held.record["error"]?["hint"]
          == "to charge the 10.00 USD: tender confirm B; to release the 10.00 USD: tender cancel B"
      )
      let debit = "transact --amount 9 --test-account success --reference C --expect succeeded"
      let pending = try binary.run(line: debit)
      #expect(
        pending.record["error"]?["hint"]
          == "to wait for its end: tender payment-status C --wait"
      )
    }
  }

  @Test func `an expected code that no error has is refused`() throws {
    try with { binary in
      let unknown = try binary.run(line: "\(Self.card) --reference A --expect code:do_not_honour")
      #expect(unknown.status == 2)
      #expect(unknown.errorRecord["error"]?["message"] == "--expect cannot be 'code:do_not_honour'")
      #expect(unknown.errorRecord["error"]?["hint"] == "did you mean do_not_honor?")
      #expect(try binary.run(line: "find A").status == 5)
      let known = "\(Self.card) --reference A --expect code:do_not_honor"
      #expect(try binary.run(line: known + " --sim-scenario decline:do_not_honor").status == 0)
    }
  }

  @Test func `a variable that is not set is shown as not set`() throws {
    try with { binary in
      let file = binary.home.appending(path: "c.json")
      let text =
        #"{"schema":1,"default_profile":"e","profiles":{"e":{"paytheory":{"api_key_env":"SHOP_KEY"}}}}"#
      try text.write(to: file, atomically: true, encoding: .utf8)
      func value(_ binary: Binary) throws -> JSON? {
        try binary.run("config", "show", "--json", "--config", file.path).records
          .first { $0["name"] == "paytheory.api_key" }?["value"]
      }
      #expect(try value(binary) == "not set")
      var set = binary
      set.variables["SHOP_KEY"] = "study-key"
      #expect(try value(set) == "set")
    }
  }

  @Test(arguments: ["paytheory --test-card visa", "toro"])
  func `a repeated refund of a hold replays its void`(_ provider: String) throws {
    try with { binary in
      let hold = "transact --provider \(provider) --amount 10 --hold --reference A"
      #expect(try binary.run(line: hold).status == 0)
      let first = try binary.run(line: "refund A")
      let again = try binary.run(line: "refund A")
      #expect([first.status, again.status] == [0, 0], "\(again.errors)")
      #expect(first.record["status"] == "cancelled")
      #expect(again.record["replayed"] == true)
      #expect(again.record["status"] == "cancelled")
      // A part is another command.
      #expect(try binary.run(line: "refund A --amount 1").status == 6)
    }
  }

  @Test func `a failed refund is for a person, and can be made again`() throws {
    try with { binary in
      let pay =
        "\(Self.bank) --merchant-account 8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6 --reference A "
        + "--wait=60s"
      #expect(try binary.run(line: pay).status == 0)
      let refund = try binary.run(line: "refund A --wait=60s --sim-scenario refund:failed")
      let error = (refund.record["error"] ?? refund.errorRecord["error"])?.object ?? [:]
      #expect(error["code"] == "refund_failed", "\(refund.output)\(refund.errors)")
      #expect(error["retry"]?["class"] == "operator")
      #expect(
        error["hint"]
          == "nothing was refunded; once the reason is gone, the same command tries again"
      )
      #expect(
        try binary.run(line: "explain refund_failed").record["retry"] == "once it is corrected"
      )
      #expect(try binary.run(line: "refund A --wait=60s").status == 0)
    }
  }

  @Test func `the simulator shows no payment that no client made`() throws {
    try with { binary in
      let pay =
        "\(Self.bank) --merchant-account 8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6 --reference A"
      #expect(try binary.run(line: pay).status == 0)
      for _ in 0..<2 {
        let books = try binary.run(line: "simulator show").records
        #expect(
          books.filter { $0["kind"] == "payment" }.map { $0.text("reference") } == ["A"]
        )
      }
    }
  }

  @Test func `a missing raw value is named, and a provider finds its scenarios`() throws {
    try with { binary in
      #expect(try binary.run(line: "\(Self.card) --reference A").status == 0)
      let raw = try binary.run("find", "A", "-o", "raw", "--fields", "error.code")
      #expect(raw.status == 0)
      #expect(raw.output == "\n")
      #expect(raw.errorRecord["text"] == "a record has no error.code")
      #expect(try binary.run("find", "A", "-o", "raw", "--fields", "id,error.code").errors.isEmpty)
      let found = try binary.run(line: "simulator scenarios truelayer").records
      #expect(!found.isEmpty)
      #expect(
        found.count
          == (try binary.run(line: "simulator scenarios --provider truelayer").records.count)
      )
    }
  }

  @Test func `a file of duplicates has their group`() throws {
    try with { binary in
      for name in ["A", "B"] {
        #expect(try binary.run(line: "\(Self.card) --reference \(name)").status == 0)
      }
      let rows = try binary.run("find", "--duplicates", "-o", "csv").output
        .split(separator: "\r\n")
      #expect(rows.count == 3)
      #expect(rows.dropFirst().allSatisfy { $0.hasSuffix(",1") })
    }
  }

  @Test func `an amount that the provider's schema cannot hold is refused`() throws {
    try with { binary in
      let most = "transact --amount 21474836.47 --test-card visa --reference A"
      #expect(try binary.run(line: most).status == 0)
      let more = try binary.run(
        line: "transact --amount 21474836.48 --test-card visa --reference B"
      )
      #expect(more.status == 2)
      #expect(more.errorRecord["error"]?["code"] == "bad_amount")
    }
  }
}
