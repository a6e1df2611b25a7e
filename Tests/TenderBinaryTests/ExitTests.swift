import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The exit of a payment that ended without its money, or with a part (man/tender-exit-codes.7).
@Suite struct ExitTests {
  private func exits(_ binary: Binary, _ lines: [(words: String, exit: Int32)]) throws {
    for line in lines {
      let result = try binary.run(line.words.split(separator: " ").map(String.init) + ["--json"])
      #expect(result.status == line.exit, "\(line.words): \(result.output) \(result.errors)")
    }
  }

  @Test func `a returned payment is not paid`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --test-account success --amount 7 --reference A"
    let later = " --sim-clock 2026-01-02T00:00:00Z"
    try exits(
      binary,
      [
        (pay + " --sim-scenario returned --sim-clock 2026-01-01T00:00:00Z", 0),
        ("payment-status A" + later, 0),
        ("payment-status A --wait=1s" + later, 3),
        (pay + later, 3),
        ("journal resume A" + later, 3),
      ]
    )
    let record = try binary.run(
      ["transact"] + pay.split(separator: " ").dropFirst().map(String.init) + ["--json"]
    )
    #expect(record.record["error"]?["code"] == "payment_returned")
    #expect(record.record["status"] == "returned")
  }

  @Test func `a part of the amount is 20, unless a part will do`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --provider toro --amount 90.10 --sim-scenario gateway:partial --reference "
    try exits(
      binary,
      [
        (pay + "A", 20), (pay + "A", 20), (pay + "A --allow-partial", 0),
        (pay + "B --allow-partial", 0),
        (pay + "H --hold", 20), ("confirm H", 0),
        ("payment-status A", 0), ("payment-status A --wait=1s", 20), ("journal resume A", 20),
        ("refund A", 0),
      ]
    )
    let record = try binary.run(pay.split(separator: " ").map(String.init) + ["B", "--json"]).record
    #expect(record["error"]?["code"] == "part_paid")
    #expect(
      record["error"]?["message"] == "45.05 GBP of 90.10 GBP was approved and is charged"
    )
    #expect(
      record["error"]?["hint"]?.text
        == "to take the rest, charge 45.05 GBP under another --reference; to refund the 45.05 GBP: "
        + "tender refund B"
    )
  }

  /// A program that reads `error.effect` does not charge again what stands.
  @Test func `an error about a payment that stands has effect done`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    func effect(_ words: String) throws -> [String?] {
      let error = try binary.run(words.split(separator: " ").map(String.init) + ["--json"])
        .record["error"]
      return [error?["effect"]?.text, error?["retry"]?["class"]?.text]
    }
    let card = "transact --amount 10 --test-card visa --reference "
    #expect(
      try effect(
        "transact --provider toro --amount 90.10 --sim-scenario gateway:partial --reference P"
      ) == ["done", "operator"]
    )
    #expect(try effect(card + "Q --expect provider_status=SETTLED") == ["done", "never"])
    #expect(
      try effect(
        "transact --amount 10 --test-account success --reference A --wait=1s --expect succeeded"
      ) == ["done", "look"]
    )
    #expect(try effect(card + "H --hold --expect succeeded") == ["done", "operator"])
    #expect(
      try effect("transact --amount 1.93 --test-card visa --reference D") == ["none", "never"]
    )
    #expect(try effect(card + "C --hold") == [nil, nil])
    #expect(try effect("cancel C --expect succeeded") == ["done", "never"])
  }

  /// The mark beside the folder remembers that there were payments.
  @Test(arguments: ["refund A", "cancel A", "confirm A", "refund A --dry-run"])
  func `a lost journal is no missing payment`(_ words: String) throws {
    let shop = try Shop()
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference", "A"]
    #expect(try shop.binary.run(pay).status == 0)
    for end in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: shop.journal + end)
    }
    let result = try shop.binary.run(words.split(separator: " ").map(String.init) + ["--json"])
    #expect(result.status == 16, "\(result.errors)")
    #expect(result.errorRecord["error"]?["code"] == "journal_forgot")
  }

  @Test func `no ids are not an expected result`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let words = ["payment-status", "-", "--json"]
    #expect(try binary.run(words, input: "\n").status == 0)
    let expected = try binary.run(words + ["--expect", "succeeded"], input: "\n")
    #expect(expected.status == 18)
    #expect(expected.errorRecord["error"]?["code"] == "unexpected_status")
  }

  /// The merchant chose to capture a part of a hold. A fee is not a part.
  @Test func `what the merchant asked for is paid`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try exits(
      binary,
      [
        ("transact --provider toro --amount 9 --hold --reference A", 0),
        ("confirm A --amount 4", 0), ("confirm A --amount 4", 0), ("journal resume A", 0),
        ("transact --amount 9 --fee 0.56 --fee-mode service_fee --test-card visa --reference B", 0),
      ]
    )
  }

  @Test func `a wait for a hold ends at once`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try exits(
      binary,
      [
        ("transact --hold --wait --amount 5 --test-card visa --reference H", 0),
        ("payment-status H", 0), ("payment-status H --wait", 8),
      ]
    )
    let hint = try binary.run("payment-status", "H", "--wait", "--json").record["error"]?["hint"]
    #expect(
      hint == "to charge the 5.00 USD: tender confirm H; to release the 5.00 USD: tender cancel H"
    )
  }

  @Test func `a look that waits and a resume end as the payment did`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try exits(
      binary,
      [
        (
          "transact --amount 5 --test-card visa --reference D --sim-scenario decline:do_not_honor",
          3
        ),
        ("payment-status D", 0), ("payment-status D --wait=1s", 3), ("journal resume D", 3),
        ("transact --hold --amount 5 --test-card visa --reference V", 0), ("cancel V", 0),
        ("payment-status V --wait=1s", 12), ("journal resume V", 12),
      ]
    )
  }

  /// A half-paid order is not shipped on `--expect succeeded`, and not after a wait.
  @Test func `a part is not what a status alone expects`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --provider toro --amount 90.10 --sim-scenario gateway:partial --reference A"
    try exits(
      binary,
      [
        (pay + " --expect succeeded", 18), (pay + " --expect succeeded,exit:20", 0),
        (pay + " --expect code:part_paid", 0), ("payment-status A --wait=1s", 20),
        ("payment-status A --wait=1s --allow-partial", 0),
        (pay + "H --hold", 20), ("confirm AH --expect succeeded", 18), ("confirm AH", 0),
        ("confirm AH --amount 45.05 --expect succeeded", 0),
        // What the payment's own command accepts, a later look accepts too.
        (pay + "P --allow-partial", 0), ("journal resume AP", 0), ("payment-status AP --wait", 0),
        ("payment-status AP --expect succeeded", 0), (pay + "P", 20),
        ("payment-status A --expect succeeded", 18), ("payment-status A", 0),
        ("payment-status A --expect succeeded --allow-partial", 0),
        (pay.replacing("--reference A", with: "--reference H --hold"), 20),
        ("confirm H --expect succeeded", 18), ("confirm H --expect succeeded --allow-partial", 0),
        // A part that the merchant chose is what was asked for.
        ("transact --provider toro --amount 10 --reference P --hold", 0),
        ("confirm P --amount 4 --expect succeeded", 0),
      ]
    )
    let status = try binary.run("payment-status", "A", "--expect", "succeeded", "--json")
    #expect(
      status.record["error"]?["message"]
        == "the result is succeeded for a part of the amount, exit:0, and succeeded was expected"
    )
  }

  @Test func `an empty operand is a usage error`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for words in [["find", ""], ["refund", ""], ["explain", ""], ["journal", "resume", ""]] {
      let result = try binary.run(words + ["--json"])
      #expect(
        result.status == 2 && result.errors.contains("is empty"),
        "\(words): \(result.errors)"
      )
    }
  }

  /// An empty variable in a script puts the next option in the place of a value.
  @Test func `takes no option for a value`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --amount 5 --test-card visa --reference"
    try exits(
      binary,
      [
        (pay, 2), (pay + " --dry-run", 2), (pay + " -n", 2), (pay + "=--odd", 0),
        ("refund --reason --dry-run -- --odd", 2), ("find --by -x", 2),
      ]
    )
    #expect(try binary.run("find", "--json").records.count == 1)
  }

  @Test func `a search for one payment that finds none is 5, and names the journal`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try exits(
      binary,
      [
        ("transact --amount 5 --test-card visa --reference A", 0), ("find A", 0), ("find B", 5),
        ("find --customer nobody", 5), ("find --last-four 9999", 5), ("find --trace-id x", 5),
        ("find --status unknown", 0), ("find --amount 7", 0), ("journal list --amount 7", 0),
        ("find B --online", 5),
      ]
    )
    for words in [["find", "B"], ["payment-status", "B"], ["refund", "B"]] {
      let error = try binary.run(words + ["--json"]).errorRecord["error"]
      let text = (error?["message"]?.text ?? "") + (error?["hint"]?.text ?? "")
      #expect(text.contains("journal.db, which has 1 payment, the first of 20"), "\(text)")
    }
  }

  /// The payment would be made, and without a look-up the wait could only end in 8.
  @Test func `a confirm that cannot wait captures nothing`() throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables(scheme: "http", port: server.port)
    let hold = "transact --amount 5 --test-account success --hold --reference A --json"
    let held = try binary.run(hold.split(separator: " ").map(String.init))
    #expect(held.status == 0, "\(held.errors)")
    binary.variables["TENDER_PAYTHEORY_GRAPHQL_URL"] = nil
    let refused = try binary.run("confirm", "A", "--wait=1s", "--json")
    #expect(refused.status == 2, "\(refused.output) \(refused.errors)")
    #expect(try binary.run("journal", "show", "A", "--json").record["captured_amount"] == 0)
  }

  /// Swift has no arguments if a preloaded library has changed the environment.
  @Test(.enabled(if: FileManager.default.fileExists(atPath: faketime)))
  func `keeps its arguments beside a preloaded library`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["LD_PRELOAD"] = Self.faketime
    let result = try binary.run("explain", "part_paid", "--json")
    #expect(result.record["code"] == "part_paid", "\(result.output) \(result.errors)")
  }

  private static let faketime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"

  /// A script that ships goods on `succeeded` must not ship during a refund.
  @Test func `a payment that is being refunded is not what succeeded expects`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay =
      ["transact", "--provider", "truelayer", "--amount", "10", "--reference", "Z"]
      + ["--beneficiary-name", "Ben", "--merchant-account", "00000000-0000-4000-8000-000000000001"]
      + BankStory.payer + ["--bank", "mock-payments-gb-redirect", "--json"]
    #expect(try binary.run(pay + ["--expect", "succeeded"]).status == 0)
    #expect(try binary.run("refund", "Z", "--expect", "succeeded", "--json").status == 0)
    for words in [pay, ["payment-status", "Z", "--json"]] {
      let again = try binary.run(words + ["--expect", "succeeded"])
      #expect(again.status == 18, "\(again.output)")
      #expect(again.record["refunding_amount"] == 1000)
      #expect(try binary.run(words).status == 0)
    }
  }

  @Test func `an error says what a program that repeats commands does`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --test-card visa --amount "
    let cases = [
      ("transact --amount 1x", "operator"), (pay + "9 --reference A", nil),
      (pay + "8 --reference A", "never"), (pay + "1.93 --reference B", "never"),
      (pay + "9 --reference C --sim-fault token:http-500", "later"),
      ("payment-status NOBODY", "never"),
      ("transact --test-account success --amount 9 --reference E --wait=1ms", "look"),
      ("transact --amount 9 --reference F", "operator"),
    ]
    for (words, expected) in cases {
      let result = try binary.run(words.split(separator: " ").map(String.init) + ["--json"])
      let record = result.output.isEmpty ? result.errorRecord : result.record
      #expect(
        record["error"]?["retry"]?["class"]?.text == expected,
        "\(words): \(result.output) \(result.errors)"
      )
    }
  }
}
