import Foundation
import PayTheorySimulator
import TenderModel
import TenderSimulator
import TenderTestSupport
import TenderWire
import Testing
import ToroSimulator
import TrueLayerSimulator

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

  /// Runs a sale; checks its states, its exit and that its receipt is whole.
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
    #expect(events.compactMap { $0.text("state") } == states, "\(reference)")
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
    // The members of a receipt stand in the same order wherever it was kept.
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
    let part = try sale("S8", ["--sim-scenario", "gateway:partial"], states: pin)
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
    #expect(receipt(refund).text("type") == "refund" && refund.record["amount"] == 400)
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
        "config", "state", "containment", "toro credentials", "toro reader", "toro gateway",
        "toro terminal manager",
      ]
    )
  }
}

@Suite struct TillTests {
  @Test func `takes cards offline, one command each`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try TillStory(binary: binary).run()
  }

  @Test func `takes cards over TCP and HTTP with only the addresses changed`() throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables("TENDER_TORO_")
    #expect(binary.variables.count == 2)
    try TillStory(binary: binary).run()
  }

  static let wait = [
    "transact", "--provider", "toro", "--amount", "5", "--json", "--events", "--no-input",
  ]

  /// Reads events until a state is there.
  static func read(_ output: Pipe, until state: String) -> String {
    var said = ""
    while !said.contains("\"\(state)\"") {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { break }
      said += String(decoding: more, as: UTF8.self)
    }
    return said
  }

  @Test(arguments: [("card:no_card", "awaitingCard"), ("card:pin_slow", "awaitingPinEntry")])
  func `lets the reader go when another process cancels`(
    _ scenario: String,
    _ state: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let (process, output, _) = try binary.start(
      Self.wait + ["--reference", "W", "--sim-scenario", scenario]
    )
    _ = Self.read(output, until: state)
    let looked = try binary.run("payment-status", "W", "--json")
    #expect(looked.record.text("status") == "pending" && looked.record["final"] == false)
    #expect(looked.record["result"]?["state"]?.text == state)
    let cancelled = try binary.run("cancel", "W", "--json")
    #expect(cancelled.status == 0, "\(cancelled.errors)")
    #expect(cancelled.record.text("status") == "cancelled" && cancelled.record["error"] == nil)
    let rest = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 12)
    #expect(rest.contains("\"error\":\"operatorCancelled\""))
    #expect(rest.contains("\"cancellationType\":\"attendant\""))
    // Nothing was sent: the reference is free, and nobody's wish is left behind.
    let again = try binary.run(
      "transact",
      "--provider",
      "toro",
      "--amount",
      "6",
      "--json",
      "--reference",
      "W"
    )
    #expect(again.record.text("status") == "succeeded" && again.record["attempt"] == 2)
  }

  @Test(arguments: [(SIGINT, Int32(12)), (SIGTERM, Int32(143))])
  func `lets the reader go on a signal`(_ signal: Int32, _ exit: Int32) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let (process, output, _) = try binary.start(
      Self.wait + ["--reference", "W", "--sim-scenario", "card:no_card"]
    )
    _ = Self.read(output, until: "awaitingCard")
    kill(process.processIdentifier, signal)
    let rest = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == exit)
    #expect(rest.contains("\"state\":\"cancelled\""))
  }

  @Test func `never leaves two sales behind, or one that nobody was told of`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for round in 0..<12 {
      let reference = "K\(round)"
      let words = Self.wait + ["--reference", reference]
      let (process, output, _) = try binary.start(words)
      _ = Self.read(
        output,
        until: ["connectingToDevice", "awaitingPinEntry", "authorising", "completed"][round % 4]
      )
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      let again = try binary.run(words)
      let status = again.records.last?.text("status")
      #expect([0, 12].contains(again.status), "\(again.errors)")
      #expect(status == (again.status == 0 ? "succeeded" : "cancelled"))
      let path = binary.home.appending(path: ".local/state/tender/simulator.db").path
      let sales = try LedgerAudit.sales(path: path, reference: reference).standing
      #expect(sales == (again.status == 0 ? 1 : 0), "\(reference) \(status ?? "")")
    }
  }

  @Test func `prints both copies of a receipt`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let paid = try binary.run(
      "transact",
      "--provider",
      "toro",
      "--amount",
      "12.50",
      "--reference",
      "SALE-1",
      "--json",
      "--sim-clock",
      "2026-11-20T17:19:00Z",
      "--sim-seed",
      "7"
    )
    let code = try #require(paid.record["result"]?["receipt"]?["authCode"]?.text)
    let shown = try binary.run("journal", "show", "SALE-1", "--receipt")
    #expect(shown.status == 0)
    func copy(_ title: String, _ last: String) -> String {
      """
                   \(title)

                        SALE
      Date                 2026-11-20 17:19:00
      Reference                         SALE-1
      Terminal                        12345678

      Card                    ************0010
      Read                                chip
      Application                   VISA DEBIT
      AID                       A0000000031010

      TOTAL                          GBP 12.50

                      APPROVED
      Authorisation code                \(code)
      Response                              00
                    PIN VERIFIED
      \(last)
      """
    }
    let merchant = copy("MERCHANT COPY", "")
    let customer = copy("CUSTOMER COPY", "        Please keep this receipt\n")
    #expect(shown.output == merchant + "\n" + customer)
    let none = try binary.run("journal", "show", "NEVER", "--receipt")
    #expect(none.status == 5)
  }

  @Test func `leaves no card number behind`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    let passphrase = "a passphrase that nobody may see"
    binary.variables["TENDER_TORO_API_KEY"] = "key-that-nobody-may-see"
    let trace = binary.home.appending(path: "trace").path
    var shown = ""
    var number = 0
    for scenario in ["chip_pin", "tap", "swipe", "swipe_pin", "chip_unreadable", "pin_bypass"] {
      for fault in ["", "authorisation:garbage", "reader-finish:disconnect", "reader:chatter"] {
        for form in ["jsonl", "table"] {
          number += 1
          var words = [
            "transact", "--provider", "toro", "--amount", "10", "--reference", "R\(number)",
            "--sim-scenario", "card:\(scenario)", "--events", "--verbose", "--trace", trace,
            "--output", form, "--timeout", "2s",
          ]
          if !fault.isEmpty { words += ["--sim-fault", fault] }
          let result = try binary.run(words)
          shown += result.output + result.errors
        }
      }
    }
    binary.variables["TENDER_TORO_PASSPHRASE"] = passphrase
    let refused = try binary.run(
      "transact",
      "--provider",
      "toro",
      "--amount",
      "10",
      "--reference",
      "Z",
      "--trace",
      trace,
      "--verbose"
    )
    #expect(refused.status == 7)
    shown += refused.output + refused.errors
    #expect(try binary.run("journal", "list").records.count == number + 1)
    let files = try binary.everyByte() + [(file: "shown", bytes: Data(shown.utf8))]
    #expect(files.contains { $0.file == "trace" })
    for secret in [
      "4761739001010010", "5413330089010574", passphrase, "key-that-nobody-may-see",
    ] {
      for (file, bytes) in files {
        #expect(bytes.firstRange(of: Data(secret.utf8)) == nil, "\(secret) in \(file)")
      }
    }
  }

  static let wrong: [(words: [String], code: String)] = [
    (["--gratuity", "1", "--gratuity-menu", "10"], "bad_options"),
    (["--gratuity-menu", "10,15,20,25,30"], "bad_value"),
    (["--gratuity-menu", "10,x"], "bad_value"), (["--gratuity-menu", "101"], "bad_value"),
    (["--type", "refund"], "missing_option"), (["--original", "X"], "payment_not_found"),
    (["--type", "refund", "--gratuity", "1", "--original-file", "/dev/null"], "bad_file"),
    (["--device", "telnet://x"], "bad_value"), (["--device", "tcp://:6543"], "bad_value"),
    (["--device", "bluetooth:00:11"], "bad_value"), (["--additional", "x"], "bad_value"),
    (["--test-card", "visa"], "bad_options"), (["--metadata", "a=b"], "bad_options"),
    (["--env", "sandbox", "--device", "simulator"], "bad_options"),
    (["--signature-file", "/nowhere"], "bad_file"),
    (["--reference", "123456789012345678901234567890123456"], "bad_reference"),
  ]

  @Test(arguments: wrong)
  func `refuses what cannot be, and sends nothing`(_ row: (words: [String], code: String)) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run(
      ["transact", "--provider", "toro", "--amount", "10", "--json"] + row.words
    )
    #expect(result.output == "")
    #expect(result.errorRecord["error"]?["code"]?.text == row.code)
    #expect(result.status == (row.code == "payment_not_found" ? 5 : 2), "\(result.errors)")
    #expect(result.errorRecord["error"]?["effect"] == "none")
  }

  @Test func `asks for what no default can stand in for`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    let sale = [
      "transact", "--provider", "toro", "--amount", "1", "--env", "sandbox", "--device",
      "tcp://127.0.0.1:1", "--json", "--signature-matches", "yes", "--signature-file", "/etc/hosts",
    ]
    let none = try binary.run(sale)
    #expect(none.status == 2)
    #expect(
      none.errorRecord["error"]?["message"]?.text
        == "Toro needs toro.acquirer_id, toro.merchant_id, toro.poi_id, "
        + "toro.merchant_category_code, toro.key_id, toro.key_version, toro.kdf in the profile"
    )
    let config = binary.home.appending(path: "c.json")
    try Data(
      """
      {"default_profile":"till","profiles":{"till":{"toro":{"acquirer_id":"1","merchant_id":"2",
      "poi_id":"3","merchant_category_code":"5812","key_id":"K","key_version":"1",
      "kdf":{"prf":"hmac-sha256","salt":"s","iterations":1,"length":32}}}}}
      """.utf8
    ).write(to: config)
    let secret = try binary.run(sale + ["--config", config.path])
    #expect(secret.status == 4)
    #expect(secret.errorRecord["error"]?["code"] == "credentials_missing")
    binary.variables["TENDER_TORO_PASSPHRASE"] = "not the real one"
    let reader = try binary.run(sale + ["--config", config.path])
    #expect(reader.status == 19)
    #expect(reader.errorRecord["result"]?["error"] == "deviceConnectionFailed")
  }
}
