import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Card-present sales as a user runs them, one command each.
struct TillStory {
  let binary: Binary

  private func run(_ words: String...) throws -> Binary.Result {
    try binary.run(words + ["--provider", "toro", "--json", "--no-input"])
  }

  private static let fields: Set<String> = [
    "saleReferenceId", "amount", "authorisedAmount", "type", "currency", "authCode",
    "responseCode", "responseReason", "additionalResponseInformation", "paymentInterface",
    "panStart", "panLastFour", "recipientTransactionId", "initiatorTransactionId",
    "transactionReference", "dateTime", "terminalSerialNumber", "signatureVerificationFailed",
    "captured",
  ]

  private func receipt(_ result: Binary.Result) -> JSONObject {
    result.records.last?["result"]?["receipt"]?.object ?? [:]
  }

  /// Runs a sale. Checks its states, its exit and its complete receipt.
  @discardableResult
  private func sale(
    _ reference: String,
    _ more: [String] = [],
    states: [String],
    exit: Int32 = 0,
    status: String = "succeeded"
  ) throws -> Binary.Result {
    let result = try binary.run(
      ["transact", "--amount", "10.00", "--reference", reference, "--events"] + more
        + ["--provider", "toro", "--json", "--no-input"]
    )
    #expect(result.status == exit, "\(result.errors)")
    let events = result.records.filter { $0.text("record") == "event" }
    #expect(events.compactMap { $0.text("state") } == ["ready"] + states, "\(reference)")
    let record = result.records.last ?? [:]
    #expect(record.text("status") == status)
    #expect(record["result"]?["state"]?.text == states.last)
    if status == "succeeded" {
      #expect(Self.fields.isSubset(of: receipt(result).members.map(\.key)), "\(reference)")
    }
    return result
  }

  func run() throws {
    let begin = ["connectingToDevice", "awaitingCard"]
    let end = ["authorising", "completed"]
    let pin = begin + ["awaitingPinEntry"] + end
    let chip = try sale("S1", states: pin)
    #expect(receipt(chip).text("authenticationMethod") == "FPIN")
    #expect(chip.records.last?["amount"] == 1000 && chip.records.last?["currency"] == "GBP")
    let again = try binary.run(
      "transact",
      "--amount",
      "10.00",
      "--reference",
      "S1",
      "--provider",
      "toro",
      "--json"
    )
    #expect(again.record["replayed"] == true)
    // The members of a receipt have the same order wherever it was stored.
    #expect(receipt(again).members.map(\.key) == receipt(chip).members.map(\.key))

    try sale("S2", ["--sim-scenario", "card:tap"], states: begin + end)
    let swipe = try sale(
      "S3",
      ["--sim-scenario", "card:swipe", "--signature-matches", "yes"],
      states: begin + ["authorising", "awaitingSignature", "completed"]
    )
    #expect(receipt(swipe).text("signatureBase64")?.isEmpty == false)
    try sale(
      "S4",
      ["--sim-scenario", "card:swipe", "--signature-matches", "no"],
      states: begin + ["authorising", "awaitingSignature", "cancelled"],
      exit: 12,
      status: "cancelled"
    )
    let tip = try sale(
      "S5",
      ["--gratuity-menu", "10,15,20", "--sim-scenario", "card:tip_2"],
      states: ["connectingToDevice", "awaitingGratuity"] + pin.dropFirst()
    )
    #expect(receipt(tip)["gratuityAmount"] == 150 && receipt(tip)["amount"] == 1150)
    #expect(tip.records.last?["amount"] == 1150 && tip.records.last?["requested_amount"] == 1000)
    try sale(
      "S6",
      ["--sim-scenario", "card:pin_bypass"],
      states: pin,
      exit: 3,
      status: "declined"
    )
    let declined = try sale(
      "S7",
      ["--sim-scenario", "gateway:decline"],
      states: pin,
      exit: 3,
      status: "declined"
    )
    #expect(receipt(declined).text("responseCode") == "declined")
    let part = try sale("S8", ["--sim-scenario", "gateway:partial"], states: pin, exit: 20)
    #expect(receipt(part)["authorisedAmount"] == 500 && part.records.last?["amount"] == 500)
    #expect(part.records.last?["requested_amount"] == 1000)
    try sale(
      "S9",
      ["--sim-scenario", "card:customer_cancel"],
      states: begin + ["cancelled"],
      exit: 12,
      status: "cancelled"
    )

    let refund = try run(
      "transact",
      "--type",
      "refund",
      "--original",
      "S1",
      "--amount",
      "4",
      "--reference",
      "R1"
    )
    #expect(refund.status == 0, "\(refund.errors)")
    #expect(receipt(refund).text("type") == "refund" && refund.record["this_refund"] == 400)
    #expect(try run("payment-status", "S1").record.text("status") == "partially_refunded")
    let saved = binary.home.appending(path: "receipt.json")
    let line = try #require(chip.output.split(separator: "\n").last)
    try Data(line.utf8).write(to: saved)
    let above = try run(
      "transact",
      "--type",
      "refund",
      "--original-file",
      saved.path,
      "--amount",
      "6.01",
      "--reference",
      "R2"
    )
    #expect(above.status == 6 && above.errorRecord["error"]?["code"] == "refund_exceeds")
    let rest = try run(
      "transact",
      "--type",
      "refund",
      "--original-file",
      saved.path,
      "--amount",
      "6",
      "--reference",
      "R3"
    )
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(try run("payment-status", "S1").record.text("status") == "refunded")

    let held = try sale("H1", ["--no-capture"], states: pin, status: "requires_confirmation")
    #expect(receipt(held)["captured"] == false)
    let captured = try run("confirm", "H1")
    #expect(captured.status == 0 && receipt(captured)["captured"] == true)
    #expect(try run("confirm", "H1").record["replayed"] == true)
    let undone = try run("cancel", "H1")
    #expect(undone.status == 0 && undone.record.text("status") == "cancelled")
    #expect(undone.record["error"] == nil)
    #expect(Self.fields.isSubset(of: receipt(undone).members.map(\.key)))

    let looked = try run("payment-status", "S2")
    #expect(looked.record.text("source") == "journal")
    #expect(looked.record["result"]?["state"] == "completed")
    #expect(try run("payment-status", "NEVER").status == 5)
    #expect(try run("mandate-status", "S2").status == 15)
    #expect(try run("tokenize", "--reference", "T").status == 15)

    let doctor = try run("doctor")
    #expect(doctor.status == 0, "\(doctor.output)")
    #expect(doctor.records.allSatisfy { $0.text("outcome") == "ok" })
    #expect(
      doctor.records.compactMap { $0.text("name") } == [
        "config", "state", "disk", "libraries", "containment", "toro credentials", "toro reader",
        "toro gateway",
        "toro terminal manager",
      ]
    )
  }
}
