import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Operations after a card-present sale, as a user runs them: captures in part, cancels, refunds.
@Suite struct TillOperationTests {
  private static func run(_ binary: Binary, _ words: String) throws -> Binary.Result {
    try binary.run(
      words.split(separator: " ").map(String.init) + ["--provider", "toro", "--json", "--no-input"]
    )
  }

  private static func receipt(_ result: Binary.Result) -> JSONObject {
    result.record["result"]?["receipt"]?.object ?? [:]
  }

  @Test func `captures a part of a hold`() throws {
    let shop = try Shop()
    let binary = shop.binary
    func run(_ words: String) throws -> Binary.Result { try Self.run(binary, words) }
    let held = try run("transact --amount 10 --reference H --hold")
    #expect(held.record.text("status") == "requires_confirmation")
    #expect(try run("confirm H --amount 10.01").status == 6)
    let part = try run("confirm H --amount 7")
    #expect(part.status == 0, "\(part.errors)")
    #expect(part.record["captured_amount"] == 700)
    #expect(Self.receipt(part)["amount"] == 700 && Self.receipt(part)["authorisedAmount"] == 1000)
    let looked = try run("payment-status H")
    #expect(looked.record["captured_amount"] == 700)
    #expect(Self.receipt(looked)["captured"] == true && Self.receipt(looked)["amount"] == 700)
    #expect(try LedgerAudit.saleMoney(path: shop.books, reference: "H").kept == 700)
  }

  @Test func `shows one state after a cancel`() throws {
    let shop = try Shop()
    let binary = shop.binary
    #expect(try Self.run(binary, "transact --amount 10 --reference C").status == 0)
    #expect(try Self.run(binary, "cancel C").record.text("status") == "cancelled")
    let looked = try Self.run(binary, "payment-status C")
    #expect(looked.record.text("status") == "cancelled")
    #expect(looked.record["result"]?["state"] == "cancelled")
    #expect(Self.receipt(looked)["captured"] == false)
    #expect(try LedgerAudit.sales(path: shop.books, reference: "C") == (1, 0, 0))
  }

  /// `journal resolve` of the sale, and of the refund.
  @Test(arguments: ["finish", "resolve S", "resolve R"])
  func `a refund whose answer was lost is finished or resolved under both names`(
    _ way: String
  ) throws {
    let shop = try Shop()
    func run(_ words: String) throws -> Binary.Result { try Self.run(shop.binary, words) }
    _ = try run("transact --amount 10 --reference S")
    let lost = try run(
      "transact --type refund --original S --amount 4 --reference R --timeout 2s "
        + "--sim-fault authorisation:close-after*1 --sim-fault cancellation:close-before*9"
    )
    #expect(lost.status == 9)
    #expect(lost.errorRecord["error"]?["hint"]?.text?.contains("journal resume R") == true)
    if way == "finish" {
      let undone = try shop.binary.run(["journal", "resume", "R", "--finish", "--json"])
      #expect(undone.status == 12, "\(undone.errors)")
      #expect(undone.record.text("status") == "succeeded")
      #expect(undone.record["error"]?["code"] == "transaction_undone")
    } else {
      let words = ["journal"] + way.split(separator: " ").map(String.init)
      let resolved = try shop.binary.run(
        words + ["--as", "succeeded", "--reason", "acquirer", "--yes", "--json"]
      )
      #expect(resolved.status == 0, "\(resolved.errors)")
      #expect(try shop.binary.run(["journal", "resume", "--all", "--finish"]).status == 0)
    }
    let isDone = way != "finish"
    let sale = try run("payment-status S")
    #expect(sale.status == 0, "\(sale.errors)")
    #expect(sale.record.text("status") == (isDone ? "partially_refunded" : "succeeded"))
    let refund = try run("payment-status R")
    #expect(refund.record["reference"] == "S")
    let entry = refund.record["operations"]?.array?.last
    #expect(entry?["name"] == "R" && entry?["status"] == (isDone ? "succeeded" : "cancelled"))
    let money = try LedgerAudit.saleMoney(path: shop.books, reference: "S")
    #expect(money.returned == (isDone ? 400 : 0))
  }

  @Test func `says how the rest is refunded, and when nothing is left`() throws {
    let shop = try Shop()
    let binary = shop.binary
    func run(_ words: String) throws -> Binary.Result { try Self.run(binary, words) }
    _ = try run("transact --amount 10 --reference S")
    #expect(try run("transact --type refund --original S --amount 4 --reference R1").status == 0)
    let rest = try run("refund S")
    #expect(rest.status == 15)
    let hint = try #require(rest.errorRecord["error"]?["hint"]?.text)
    let command = try #require(hint.firstRange(of: "tender ")).upperBound
    let words = hint[command...].split(separator: " ").map(String.init)
    #expect(try binary.run(words + ["--json", "--no-input"]).record["replayed"] == false)
    // Typed twice, it refunds once.
    #expect(try binary.run(words + ["--json", "--no-input"]).record["replayed"] == true)
    for words in ["refund S", "refund S --amount 1"] {
      let full = try run(words)
      #expect(full.status == 6)
      #expect(full.errorRecord["error"]?["message"]?.text?.contains("fully refunded") == true)
    }
    #expect(try run("payment-status S").record.text("status") == "refunded")
    let money = try LedgerAudit.saleMoney(path: shop.books, reference: "S")
    #expect(money.captured == 1000 && money.returned == 1000 && money.kept == 0)
  }

  @Test func `ends what the acquirer suspended, by a cancel or by hand`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    func run(_ words: String) throws -> Binary.Result { try Self.run(binary, words) }
    for reference in ["P1", "P2"] {
      let sale = try run("transact --amount 90.68 --reference \(reference)")
      #expect(sale.record.text("status") == "pending")
      #expect(sale.record["amount"] == 9068 && sale.record["captured_amount"] == 0)
      // Nothing was charged that could be refunded.
      #expect(try run("refund \(reference) --amount 4").status == 6)
      let card = "transact --type refund --amount 4 --original \(reference) --reference R"
      #expect(try run(card).status == 6)
    }
    let cancelled = try run("cancel P1").record
    #expect(cancelled["status"] == "cancelled" && cancelled["captured_amount"] == 0)
    #expect(try run("payment-status P1").record["final"] == true)
    let resolved = try binary.run(
      "journal",
      "resolve",
      "P2",
      "--as",
      "succeeded",
      "--reason",
      "the acquirer says so",
      "--yes",
      "--json"
    )
    #expect(resolved.status == 0, "\(resolved.errors)")
    let paid = try run("payment-status P2").record
    #expect(paid["status"] == "succeeded" && paid["captured_amount"] == 9068)
  }

  @Test func `what waited for its completion was never captured`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let held = "transact --amount 5 --reference W --sim-scenario gateway:completion_required"
    #expect(try Self.run(binary, held).record.text("status") == "requires_confirmation")
    let cancelled = try Self.run(binary, "cancel W").record
    #expect(cancelled["status"] == "cancelled" && cancelled["captured_amount"] == 0)
    // A sale that was captured and then cancelled is shown in that state, after any command.
    #expect(try Self.run(binary, "transact --amount 5 --reference V --hold").status == 0)
    #expect(try Self.run(binary, "confirm V").status == 0)
    let voided = try Self.run(binary, "cancel V").record
    #expect(voided["captured_amount"] == 500 && voided["voided_amount"] == 500)
    #expect(try Self.run(binary, "confirm V").status == 12)
  }

  @Test func `refuses a key that would not be sent`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try Self.run(binary, "transact --amount 1 --reference K --idempotency-key KK")
    #expect(result.status == 2)
    #expect(try Self.run(binary, "payment-status K").status == 5)
  }

  @Test func `a cancel while the acquirer is asked is what the till reports`() throws {
    let shop = try Shop()
    let binary = shop.binary
    for scenario in ["card:tap", "card:chip_pin"] {
      let reference = String(scenario.dropFirst(5).prefix(4))
      let (process, output, _) = try binary.start(
        TillTests.wait + [
          "--reference", reference, "--sim-scenario", scenario, "--sim-fault",
          "authorisation:latency=2s",
        ]
      )
      _ = TillTests.read(output, until: "authorising")
      let cancelled = try Self.run(binary, "cancel \(reference)")
      #expect(cancelled.status == 0, "\(cancelled.errors)")
      #expect(cancelled.record.text("status") == "cancelled")
      let rest = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 12)
      let record = rest.split(separator: "\n").last.flatMap { JSONReader.read(String($0))?.object }
      #expect(record?.text("status") == "cancelled")
      #expect(record?["result"]?["error"] == "operatorCancelled")
      #expect(record?["result"]?["receipt"]?["captured"] == false)
      #expect(!rest.contains("\"completed\""))
      let looked = try Self.run(binary, "payment-status \(reference)")
      #expect(looked.record.text("status") == "cancelled")
    }
  }
}
