import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

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

  /// Reads events until a state appears.
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
    let shop = try Shop()
    let binary = shop.binary
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
    // Nothing was sent: the reference is free, and no request to stop is left.
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

  @Test(arguments: [(SIGINT, Int32(12)), (SIGTERM, Int32(143)), (SIGHUP, Int32(129))])
  func `lets the reader go on a signal`(_ signal: Int32, _ exit: Int32) throws {
    let shop = try Shop()
    let binary = shop.binary
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

  @Test func `a deadline ends the last step of a chip, and undoes the sale`() throws {
    let server = try Server()
    defer { server.stop() }
    let shop = try Shop()
    shop.binary.variables = server.variables("TENDER_TORO_")
    let start = ContinuousClock.now
    let late = try shop.binary.run(
      Self.wait + ["--reference", "W", "--sim-fault", "reader-finish:silence", "--deadline", "2s"]
    )
    // The reader's own limit is 15 s.
    #expect(start.duration(to: .now) < .seconds(10))
    #expect(late.status == 12)
    #expect(late.records.last?["error"]?["code"] == "transaction_undone")
    #expect(late.records.last?["result"]?["error"] == "operatorCancelled")
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
    // The rejection has no trailer, so the gateway may have executed the request.
    #expect(refused.status == 9)
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
