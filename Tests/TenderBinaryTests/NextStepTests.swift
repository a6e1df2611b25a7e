import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The next step in an error fits its case: the retry class, the effect and the hint.
@Suite struct NextStepTests {
  private static let bank = [
    "transact", "--provider", "truelayer", "--amount", "10", "--bank", "mock-payments-gb-redirect",
    "--merchant-account", "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6", "--user", "name=Ada",
    "--user", "email=ada@example.com", "--reference", "A",
  ]

  private func run(_ binary: Binary, _ words: String) throws -> Binary.Result {
    try binary.run(words.split(separator: " ").map(String.init) + ["--json"])
  }

  @Test(arguments: [
    (
      "transact --test-card visa --amount 9 --reference A", "--sim-fault part1:close-before",
      "same_command", Int32(13)
    ),
    (
      "transact --provider toro --amount 9 --reference A", "--sim-scenario card:pin_cancel",
      "operator", 12
    ),
  ])
  func `a payment that never left can be made by the same command`(
    _ words: String,
    _ trouble: String,
    _ again: String,
    _ exit: Int32
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let first = try run(binary, "\(words) \(trouble)")
    #expect(first.status == exit)
    #expect(first.record["error"]?["retry"]?["class"]?.text == again)
    let resumed = try run(binary, "journal resume A")
    #expect(resumed.record["error"]?["retry"]?["class"]?.text == again)
    #expect(try run(binary, words).status == 0)
    // A payment that was declined is not charged again by the same command.
    let declined = words.replacing("--reference A", with: "--reference D --amount-minor 900")
      .replacing("--amount 9 ", with: "")
    let scenario =
      words.contains("toro") ? "gateway:insufficient_funds" : "decline:do_not_honor"
    let refused = try run(binary, "\(declined) --sim-scenario \(scenario)")
    #expect(refused.record["error"]?["retry"]?["class"] == "never")
    #expect(try run(binary, declined).record["replayed"] == true)
  }

  /// Until the request can no longer arrive, the same command would charge a second time.
  @Test func `nothing ends without an effect by hand while it may still have one`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --test-card visa --amount 9 --reference A"
    #expect(try run(binary, pay + " --sim-fault part2:reset-before").status == 9)
    for status in ["failed", "declined", "cancelled", "expired"] {
      let early = try run(binary, "journal resolve A --as \(status) --reason console --yes")
      #expect(early.status == 6, "\(early.output)")
      #expect(early.errorRecord["error"]?["code"] == "may_still_appear")
      #expect(early.errorRecord["error"]?["retry"]?["class"] == "later")
      #expect(
        (880...900).contains(early.errorRecord["error"]?["retry"]?["after"]?.wholeNumber ?? 0)
      )
      #expect(
        early.errorRecord["error"]?["message"]?.text?.hasPrefix(
          "the 9.00 USD charge of 'A' can still appear at paytheory until 20"
        ) == true
      )
    }
    #expect(try run(binary, "find A").record["status"] == "unknown")
    let paid = try run(binary, "journal resolve A --as succeeded --reason console --yes")
    #expect(paid.record["status"] == "succeeded", "\(paid.errors)")
    #expect(try run(binary, pay).record["replayed"] == true)
  }

  /// The journal has no receipt and no id of it.
  @Test func `a payment that was resolved by hand says how it can be refunded`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lost =
      "--timeout 2s --sim-fault authorisation:close-after*1 --sim-fault cancellation:close-before*9"
    #expect(
      try run(binary, "transact --provider toro --amount 9 --reference S \(lost)").status == 9
    )
    #expect(
      try binary.run(Self.bank + ["--json", "--sim-fault", "create:close-after*9"]).status == 9
    )
    for reference in ["S", "A"] {
      let words = "journal resolve \(reference) --as succeeded --reason console --yes"
      #expect(try run(binary, words).status == 0)
    }
    for words in ["refund S", "cancel S", "transact --type refund --original S --amount 4"] {
      let refused = try run(binary, "\(words) --provider toro")
      #expect(refused.status == 6)
      #expect(refused.errorRecord["error"]?["code"] == "sale_lost")
      #expect(
        refused.errorRecord["error"]?["message"]
          == "the journal has no receipt of the sale 'S', which was resolved by hand; nothing was sent"
      )
      let hint = refused.errorRecord["error"]?["hint"]?.text ?? ""
      #expect(hint.contains("--type refund --original-file FILE"), "\(hint)")
    }
    let refund = try run(binary, "refund A")
    #expect(refund.status == 6)
    #expect(refund.errorRecord["error"]?["code"] == "id_unknown")
    // The provider's id makes it possible.
    let books = try run(binary, "simulator show A").records
    #expect(books.first?["reference"] == "A")
    let cancelled = try run(binary, "cancel A")
    #expect(
      cancelled.errorRecord["error"]?["hint"] == "to look only: tender payment-status A",
      "\(cancelled.errors)"
    )
  }

  /// The payment is known, so an answer that it is not found is no answer.
  @Test func `a refund or revocation that is not found can be repeated`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try binary.run(Self.bank + ["--json"]).status == 0)
    let mandate = Self.bank.map { $0 == "A" ? "M" : $0 } + ["--mandate", "--wait", "--json"]
    let place = try #require(mandate.firstIndex(of: "--amount"))
    let limits = ["--mandate-type", "sweeping", "--max-individual", "5", "--limit", "month:9"]
    let made = try binary.run(mandate[..<place] + mandate[(place + 2)...] + limits)
    #expect(made.record["status"] == "authorized", "\(made.errors)")
    for (words, fault) in [("refund A", "refund"), ("cancel M", "revoke")] {
      let lost = try run(binary, "\(words) --sim-fault \(fault):http-404")
      #expect(lost.status == 11)
      #expect(lost.errorRecord["error"]?["code"] == "unexpected_behaviour")
      #expect(lost.errorRecord["error"]?["effect"] == "none")
      #expect(lost.errorRecord["error"]?["retry"]?["class"] != "never")
      #expect(try run(binary, words).status == 0)
    }
  }

  @Test func `an unknown operation is unknown after a wait and an expectation too`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try binary.run(Self.bank + ["--json"]).status == 0)
    let lost = try run(binary, "refund A --sim-fault refund:close-after --deadline 4s")
    #expect(lost.status == 9)
    let hint = lost.errorRecord["error"]?["hint"]?.text ?? ""
    #expect(
      hint.hasPrefix("do not make another refund; to look only: tender journal resume A;"),
      "\(hint)"
    )
    let expected = try run(binary, "payment-status A --expect declined")
    #expect(expected.status == 9)
    #expect(expected.record["error"]?["effect"] == "unknown")
    #expect(expected.record["error"]?["retry"]?["class"] == "look")
  }

  @Test func `an expectation keeps the retry class of what happened`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --test-card visa --amount 9 --expect succeeded --reference "
    let declined = try run(binary, pay + "A --sim-scenario decline:do_not_honor")
    #expect(declined.status == 18)
    #expect(declined.record["error"]?["retry"]?["class"] == "never")
    let closed = try run(binary, pay + "B --sim-fault part1:close-before")
    #expect(closed.record["error"]?["retry"]?["class"] == "same_command")
  }

  @Test func `suggested commands name the folder that they need`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let folder = binary.home.appending(path: "my state").path
    let place = ["--state-dir", folder, "--json"]
    let paid = try binary.run(
      ["transact", "--amount", "9", "--hold", "--reference=-x", "--provider", "toro"] + place
    )
    #expect(paid.status == 0, "\(paid.errors)")
    let wait = ["payment-status", "--id=-x", "--wait", "--provider", "toro"]
    let held = try binary.run(wait + place).record["error"]?["hint"]?.text ?? ""
    let end = "--state-dir='\(folder)'"
    #expect(
      held
        == "--amount captures a part; to charge the 9.00 GBP: tender confirm --id='-x' \(end); "
        + "to release the 9.00 GBP: tender cancel --id='-x' \(end)"
    )
  }

  @Test func `a payment that cannot be refunded offers no refund`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let account = "--beneficiary-name Shop --sort-code 010203 --account-number 12345678"
    let place = try #require(Self.bank.firstIndex(of: "--merchant-account"))
    let pay = Self.bank[..<place] + account.split(separator: " ").map(String.init)
    let elsewhere = Array(pay + Self.bank[(place + 2)...])
    #expect(try binary.run(elsewhere + ["--json"]).status == 0)
    let refused = try run(binary, "refund A --amount 99")
    #expect(refused.status == 6)
    #expect(refused.errorRecord["error"]?["code"] == "nothing_to_refund", "\(refused.errors)")
  }

  @Test func `a command that a read-only profile refuses is suggested for another one`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(
      try run(binary, "transact --test-card visa --amount 9 --hold --reference A").status == 0
    )
    let config = binary.home.appending(path: "read-only.json")
    let text = #"{"schema":1,"profiles":{"desk":{"provider":"paytheory","mode":"read-only"}}}"#
    try Data(text.utf8).write(to: config)
    let found = try run(binary, "find A --config \(config.path) --profile desk")
    let end = "--config=\(config.path)"
    #expect(
      found.record.text("next")
        == "to charge the 9.00 USD: tender confirm A \(end); to release the 9.00 USD: tender cancel A "
        + "\(end); "
        + "this needs a profile that is not read-only"
    )
  }

  @Test func `a look at everything asks the bank about payments that wait`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let account = "--beneficiary-name Shop --sort-code 010203 --account-number 12345678"
    let place = try #require(Self.bank.firstIndex(of: "--merchant-account"))
    let pay = Self.bank[..<place] + account.split(separator: " ").map(String.init)
    let lost = ["--sim-fault", "status:close-after", "--json"]
    #expect(try binary.run(Array(pay + Self.bank[(place + 2)...]) + lost).status == 9)
    #expect(try run(binary, "find A").record.text("status") == "unknown")
    let resumed = try run(binary, "journal resume --all")
    #expect(resumed.status == 0 && resumed.record.text("status") == "succeeded", "\(resumed)")
    #expect(try run(binary, "find A").record.text("status") == "succeeded")
  }

  @Test func `a refund that was made says how to make another one`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try run(binary, "transact --test-card visa --amount 9 --reference A").status == 0)
    let refund = ["refund", "A", "--amount", "4", "--output", "table"]
    _ = try binary.run(refund)
    let again = try binary.run(refund).output
    #expect(again.contains("to refund another amount, add --refund-reference with a new name"))
  }

  @Test func `a folder without a journal is not called whole`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let none = binary.home.appending(path: "none").path
    for words in [["verify"], ["backup", "copy.db"]] {
      let result = try binary.run(["journal"] + words + ["--state-dir", none, "--json"])
      #expect(result.status == 2)
      #expect(result.errorRecord["error"]?["message"]?.text == "there is no journal in \(none)")
      #expect(!FileManager.default.fileExists(atPath: none))
    }
  }

  @Test func `an expected unknown line is counted as unknown`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let line = #"{"command":"refund","reference":"A","expect":"unknown"}"#
    #expect(try binary.run(Self.bank + ["--json"]).status == 0)
    let options = ["batch", "-", "--json", "--sim-fault", "refund:close-after", "--timeout", "2s"]
    let result = try binary.run(options, input: line + "\n")
    #expect(result.status == 9 && result.records.last?["unknown"] == 1, "\(result.output)")
  }
}
