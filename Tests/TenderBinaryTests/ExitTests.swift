import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The exit of a payment that ended without its money, or with less of it (contract, 4.2).
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
        ("payment-status A", 0), ("payment-status A --wait=1s", 0), ("journal resume A", 20),
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
        == "to take the rest, charge 45.05 GBP under another --reference; to give back the 45.05 GBP: "
        + "tender refund B"
    )
  }

  /// A part of a hold is captured by choice, and a fee is no part.
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
    #expect(hint == "to charge it: tender confirm H; to release it: tender cancel H")
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
}
