import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Tests the statements of the providers' published documents, one by one, with the built program.
@Suite struct RealProviderTests {
  private func states(_ result: Binary.Result) -> [String] {
    let events = result.records.filter { $0.text("record") == "event" }
    #expect(events.allSatisfy { $0["provider"] != nil && $0.text("env") == "simulator" })
    return events.compactMap { $0.text("state") }
  }

  private static let bank = [
    "--provider", "truelayer", "--bank", "mock-payments-gb-redirect", "--user", "name=Remi",
    "--user", "email=remi@example.com", "--events", "--json", "--no-input",
  ]
  private static let payee = [
    "--beneficiary-name", "Ben", "--sort-code", "56-00-29", "--account-number", "26207729",
  ]

  @Test func `events have one vocabulary for each provider, each state once`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let card = ["transact", "--amount", "5", "--test-card", "visa", "--events", "--json"]
    #expect(
      states(try binary.run(card + ["--reference", "P1"]))
        == ["prepared", "connecting", "preparing", "sent", "succeeded"]
    )
    #expect(
      states(try binary.run(card + ["--reference", "P2", "--confirmation"]))
        == ["prepared", "connecting", "preparing", "requires_confirmation"]
    )
    let paid = try binary.run(
      ["transact", "--amount", "5", "--reference", "B1", "--wait"] + Self.bank + Self.payee
    )
    #expect(states(paid) == ["authorizationRequired", "authorizing", "redirect", "executed"])
    let redirect = paid.records.first { $0.text("state") == "redirect" }
    #expect(redirect?["next_action"]?["type"] == "redirect")
    let slow = try binary.run(
      ["transact", "--amount", "5", "--reference", "B2", "--wait", "--interval", "1s"]
        + ["--sim-scenario", "bank:slow"] + Self.bank + Self.payee
    )
    #expect(
      states(slow) == [
        "authorizationRequired", "authorizing", "redirect", "authorized", "executed",
      ]
    )
    let settled = try binary.run(
      ["transact", "--amount", "5", "--reference", "B3"] + Self.bank
        + ["--merchant-account", "acc00000-0000-4000-8000-000000000826"]
    )
    #expect(states(settled).last == "settled")
    let refund = try binary.run(
      "cancel",
      "B3",
      "--refund",
      "--wait",
      "--interval",
      "1s",
      "--events",
      "--json"
    )
    #expect(states(refund) == ["executed"])
    let schema = try binary.run("schema", "event", "--json").record
    #expect(schema["json_schema"]?["properties"]?["next_action"] != nil)
  }

  @Test func `NO_FIELDS is named where there is no instrument at all`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let none = try binary.run("transact", "--amount", "5", "--json", "--no-input")
    #expect(none.status == 17)
    #expect(
      none.errorRecord["result"]?["type"]
        == "NO_FIELDS: No Visible and Valid PayTheory Fields to Transact"
    )
    let cash = #"{"type":"cash","name":"Ada","contact":"ada@example.com"}"#
    let piped = try binary.run("tokenize", "--instrument-stdin", "--json", input: cash)
    let named = try binary.run("tokenize", "--method", "cash", "--json", "--no-input")
    for result in [piped, named] {
      #expect(result.status == 2)
      #expect(result.errorRecord["error"]?["message"] == "cash cannot be tokenized")
      #expect(
        result.errorRecord["result"]?["type"]
          == "NO_FIELDS: No Visible and Valid PayTheory Fields to Tokenize"
      )
    }
    #expect(try !binary.run("help", "tokenize").output.contains("cash"))
    #expect(try binary.run("help", "transact").output.contains("card, ach, cash"))
  }

  @Test func `a stored method takes a receipt for its payer`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let token = try binary.run("tokenize", "--test-card", "visa", "--json").record
    let paid = try binary.run(
      "transact",
      "--amount",
      "5",
      "--token",
      token.text("id") ?? "",
      "--send-receipt",
      "--receipt-description",
      "Thanks",
      "--json"
    )
    #expect(paid.status == 0, "\(paid.errors)")
    #expect(paid.record["result"]?["type"] == "PT_COMPLETE")
  }

  @Test func `a hold grows old by the simulated clock`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let made = try binary.run(
      "transact",
      "--amount",
      "5",
      "--test-card",
      "visa",
      "--confirmation",
      "--reference",
      "H",
      "--sim-clock",
      "2026-11-21T00:00:00Z",
      "--json"
    )
    #expect(made.status == 0)
    let late = try binary.run("confirm", "H", "--sim-clock", "2026-11-22T00:00:00Z", "--json")
    #expect(late.status == 13)
    #expect(late.record["result"]?["type"] == "SESSION_EXPIRED: Socket session has expired")
    #expect(late.record["error"]?["code"] == "hold_expired")
    #expect(late.record.text("status") == "expired")
    // The hold has ended, so there is nothing to cancel. The hint suggests another attempt.
    let cancelled = try binary.run("cancel", "H", "--sim-clock", "2026-11-22T00:00:00Z", "--json")
    #expect(cancelled.status == 6)
  }

  @Test(arguments: [
    (["--payor", "country=XX"], "--payor country"),
    (["--payor", "country=US", "--payor", "postal_code=123"], "--payor postal_code"),
    (["--payor", "country=GB", "--payor", "postal_code=45202"], "--payor postal_code"),
  ])
  func `addresses are checked before anything is sent`(_ options: [String], _ name: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run(
      ["transact", "--amount", "5", "--test-card", "visa", "--reference", "A", "--json"] + options
    )
    #expect(result.status == 2)
    #expect(result.errorRecord["error"]?["message"]?.text?.hasPrefix(name) == true)
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
  }

  @Test func `ids of TrueLayer's are UUIDs`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for words in [
      ["--payment-id", "12345"], ["--mandate-id", "0cd1b0f7-71bc-4d24-b209"],
      ["--payment-id", "0cd1b0f7-71bc-4d24-b209-95259dadcc2g"],
    ] {
      let result = try binary.run(["transact", "--json", "--no-input"] + words + Self.provider)
      #expect(result.status == 2, "\(words)")
      #expect(try binary.run("journal", "list", "--json").records.isEmpty)
    }
    let account = try binary.run(
      ["transact", "--amount", "5", "--merchant-account", "till", "--json"]
        + Self.bank
        .filter { $0 != "--json" }
    )
    #expect(account.status == 2)
    #expect(account.errorRecord["error"]?["message"] == "--merchant-account cannot be 'till'")
  }

  private static let provider = ["--provider", "truelayer"]

  @Test func `offers in JSON the banks of the country, as at the prompt`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    func countries(_ reference: String, _ more: [String]) throws -> [String] {
      let words = ["--user", "name=Remi", "--user", "email=r@example.com", "--json", "--no-input"]
      let result = try binary.run(
        ["transact", "--amount", "5", "--currency", "EUR", "--iban", "NL39ABNA8234998285"]
          + ["--beneficiary-name", "Ben", "--reference", reference] + Self.provider + words + more
      )
      #expect(result.status == 8)
      let action = result.record["next_action"]
      #expect(action?["type"] == "provider_selection")
      return action?["providers"]?.array?.compactMap { $0["country_code"]?.text } ?? []
    }
    #expect(try Set(countries("A", ["--country", "FR"])) == ["FR"])
    let all = try countries("B", [])
    #expect(Set(all).count > 5 && all == all.sorted())
    binary.variables = ["LC_ALL": "nl_NL.UTF-8"]
    #expect(try Set(countries("C", [])) == ["NL"])
    #expect(try Set(countries("D", ["--country", "ZZ"])) == ["NL"])
  }

  @Test func `touch_area_tag is taken, not used, and said to be so`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let folder = binary.home.appending(path: ".config/tender")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let config =
      #"{"schema":1,"profiles":{"till":{"provider":"toro","toro":{"touch_area_tag":"none"}}}}"#
    try Data(config.utf8).write(to: folder.appending(path: "config.json"))
    let sale = try binary.run(
      "transact",
      "--profile",
      "till",
      "--amount",
      "10",
      "--signature",
      "device",
      "--sim-scenario",
      "card:chip_signature",
      "--no-input",
      "--all-fields",
      "-o",
      "table"
    )
    #expect(sale.status == 0, "\(sale.errors)")
    #expect(sale.errors.contains("toro.touch_area_tag is not used any more"))
    #expect(sale.output.contains("signatureBase64"))
  }

  @Test func `a reader that another process has is transactionAlreadyStarted`() throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables("TENDER_TORO_")
    let sale = ["transact", "--provider", "toro", "--amount", "10", "--json", "--no-input"]
    let (first, output, _) = try binary.start(
      sale + ["--reference", "W1", "--events", "--sim-scenario", "card:no_card"]
    )
    var seen = Data()
    while !String(decoding: seen, as: UTF8.self).contains("awaitingCard") {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { break }
      seen += more
    }
    let second = try binary.run(sale + ["--reference", "W2"])
    #expect(second.status == 6, "\(second.errors)")
    #expect(second.errorRecord["error"]?["code"] == "transaction_already_started")
    #expect(second.errorRecord["result"]?["error"] == "transactionAlreadyStarted")
    first.interrupt()
    first.waitUntilExit()
    #expect(first.terminationStatus == 12)
    #expect(try binary.run(sale + ["--reference", "W2"]).status == 0)
  }
}
