import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Bank payments and mandates as a user runs them, one command each.
struct BankStory {
  let binary: Binary
  /// Further options of each run: the payer's part, and the address of the return.
  var options: [String] = []

  static let payee = [
    "--beneficiary-name", "Ben Eficiary", "--sort-code", "56-00-29", "--account-number",
    "26207729",
  ]
  static let payer = ["--user", "name=Remi Terr", "--user", "email=remi@example.com"]
  static let bank = ["--bank", "mock-payments-gb-redirect"]

  /// An address for the payer's return that no other test uses.
  static func anyPort() -> [String] {
    (try? FreePort.next()).map { ["--redirect-url", "http://127.0.0.1:\($0)/callback"] } ?? []
  }

  private func run(_ words: [String]) throws -> Binary.Result {
    let isPayment = words[0] == "transact" || words[0] == "confirm"
    return try binary.run(
      words + ["--provider", "truelayer", "--json", "--no-input"] + (isPayment ? options : [])
    )
  }

  private func pay(_ reference: String, _ more: [String] = []) throws -> Binary.Result {
    try run(
      ["transact", "--amount", "10.00", "--reference", reference] + Self.payee + Self.payer
        + Self.bank + more
    )
  }

  func run() throws {
    let paid = try pay("B1")
    #expect(paid.status == 0, "\(paid.errors)")
    #expect(paid.record.text("status") == "succeeded")
    #expect(paid.record["final"] == true)
    #expect(paid.record["result"]?["state"] == "executed")
    #expect(paid.record["amount"] == 1000)
    #expect(paid.record["currency"] == "GBP")
    let id = try #require(paid.record.text("id"))

    let again = try pay("B1")
    #expect(again.record["replayed"] == true)
    #expect(again.record.text("id") == id)

    let looked = try run(["payment-status", id])
    #expect(looked.status == 0, "\(looked.errors)")
    #expect(looked.record["result"]?["status"] == "executed")
    #expect(looked.record.text("reference") == "B1")

    let existing = "00000000-0000-4000-8000-000000001999"
    let processed = try run(["transact", "--payment-id", existing] + Self.bank)
    #expect(processed.status == 0, "\(processed.errors)")
    #expect(processed.record["result"]?["state"] == "executed")
    #expect(processed.record["amount"] == 1999)
    #expect(processed.record.text("reference") == existing)

    let foreign = ["--redirect-url", "https://shop.example/return"]
    let held = try binary.run(
      ["transact", "--amount", "10.00", "--reference", "B2"] + Self.payee + Self.payer + Self.bank
        + ["--provider", "truelayer", "--json", "--no-input"] + foreign
    )
    #expect(held.status == 0, "\(held.errors)")
    #expect(held.record["result"]?["state"] == "redirect")
    #expect(held.record["next_action"]?["type"] == "redirect")
    let cancelled = try run(["cancel", "B2"])
    #expect(cancelled.status == 0, "\(cancelled.errors)")
    #expect(cancelled.record.text("status") == "cancelled")
    #expect(cancelled.record["result"]?["failure_reason"] == "canceled")
    #expect(cancelled.record["error"] == nil)

    let mandate = try run(
      ["transact", "--mandate", "--max-individual", "50", "--limit", "month:500"] + Self.payee
        + Self.payer + ["--bank", "ob-natwest-vrp-sandbox", "--reference", "M1"]
    )
    #expect(mandate.status == 0, "\(mandate.errors)")
    #expect(mandate.record.text("record") == "mandate")
    #expect(mandate.record["result"]?["state"] == "authorized")
    let status = try run(["mandate-status", "M1"])
    #expect(status.record["result"]?["status"] == "authorized")
    let revoked = try run(["cancel", "M1"])
    #expect(revoked.status == 0, "\(revoked.errors)")
    #expect(revoked.record.text("status") == "revoked")
    let wrong = try run(["payment-status", "M1"])
    #expect(wrong.status == 5)

    let missing = try run(["payment-status", "0cd1b0f7-71bc-4d24-b209-95259dadcc20"])
    #expect(missing.status == 5)
    #expect(missing.output == "")
    #expect(missing.errorRecord["result"]?["error"] == "paymentNotFound")

    let settled = try run(
      [
        "transact", "--amount", "20", "--merchant-account", "acc00000-0000-4000-8000-000000000826",
        "--reference", "R1",
      ]
        + Self.payer + Self.bank
    )
    #expect(settled.record["result"]?["state"] == "settled")
    let refund = try run(["cancel", "R1", "--refund", "--amount", "5"])
    #expect(refund.status == 0, "\(refund.errors)")
    #expect(refund.record.text("status") == "succeeded")
    #expect(refund.record["refunding_amount"] == 500)
    #expect(refund.record["result"]?["refund"]?["amount_in_minor"] == 500)

    let several = try binary.run(
      ["payment-status", "-", "--provider", "truelayer", "--json"],
      input: "B1\n\(id)\nNEVER\n\(existing)\n"
    )
    #expect(several.status == 14)
    #expect(several.records.map { $0["line"] } == [1, 2, 3, 4])
    #expect(
      several.records.map { $0.text("record") } == ["payment", "payment", "error", "payment"]
    )
  }
}

@Suite struct BankTests {
  @Test func `tells the story of bank payments offline`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try BankStory(binary: binary).run()
  }

  @Test func `tells it over simulator serve with only the addresses changed`() throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables(scheme: "http", port: server.port)
    let port = try FreePort.next()
    try BankStory(
      binary: binary,
      options: [
        "--sim-scenario", "bank:execute", "--redirect-url", "http://127.0.0.1:\(port)/callback",
        "--interval", "100ms",
      ]
    ).run()
  }

  @Test func `has a documented exit for each way to fail`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay =
      ["transact", "--provider", "truelayer", "--amount", "3", "--json", "--no-input"]
      + BankStory.payee + BankStory.payer + BankStory.bank
    let clock = ["--sim-clock", "2026-01-01T00:00:00Z"]
    for (option, value, name, exit) in [
      ("--sim-scenario", "bank:reject_authorisation", "authorizationFailed", Int32(3)),
      ("--sim-scenario", "bank:reject_execution", "paymentRejected", 3),
      ("--sim-scenario", "bank:expire", "paymentExpired", 13),
      ("--sim-scenario", "bank:abandon", "paymentExpired", 13),
      ("--sim-scenario", "bank:failed:canceled", "userCanceled", 12),
      ("--sim-scenario", "bank:failed:insufficient_funds", "generic", 3),
      ("--sim-scenario", "bank:failed:internal_server_error", "serverError", 3),
      ("--sim-fault", "start:http-500", "serverError", 11),
      ("--sim-fault", "start:garbage", "unexpectedBehaviour", 11),
      ("--sim-fault", "create:http-401", "invalidToken", 4),
      ("--sim-fault", "create:http-422", "generic", 6),
      ("--sim-fault", "create:http-429", "generic", 11),
      ("--sim-fault", "create:silence-after", "connectionIssues", 9),
      // The payer was already sent to the bank, so the unknown effect decides the exit.
      ("--sim-fault", "status:http-404", "paymentNotFound", 9),
    ] {
      let result = try binary.run(pay + [option, value] + clock)
      #expect(result.status == exit, "\(value): \(result.output)\(result.errors)")
      let record = result.output.isEmpty ? result.errorRecord : result.record
      #expect(record["result"]?["error"] == .string(name), "\(value)")
      #expect(record["error"]?["exit"] == .integer(Int(exit)))
    }
    var poor = binary
    poor.variables["TENDER_TRUELAYER_CLIENT_ID"] = "only-this"
    let missing = try poor.run(pay + ["--env", "sandbox"])
    #expect(missing.status == 4)
    #expect(missing.errorRecord["result"]?["error"] == "sdkNotConfigured")
    #expect(missing.errorRecord["error"]?["code"] == "sdk_not_configured")
  }

  @Test func `names options of another provider, and a taken port, before anything is sent`() throws
  {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = ["transact", "--amount", "3", "--json", "--no-input", "--provider"]
    for words in [
      ["truelayer", "--test-card", "visa"], ["paytheory", "--bank", "x"],
      ["truelayer", "--payment-id", "a", "--mandate-id", "b"],
      ["truelayer", "--bank", "x", "--resource-token-file", "-", "--form-file", "-"],
    ] {
      let result = try binary.run(pay + words)
      #expect(result.status == 2, "\(words): \(result.errors)")
      #expect(result.output == "")
    }
    #expect(try binary.run("journal", "list", "--json").output == "")
    // The process with the port does not lose it, and no payment is made.
    let server = try Server()
    defer { server.stop() }
    var served = binary
    served.variables = server.variables(scheme: "http", port: server.port)
    let busy = try served.run(
      pay + ["truelayer", "--reference", "BUSY", "--redirect-url"]
        + ["http://127.0.0.1:\(server.port)/callback"] + BankStory.payee + BankStory.payer
    )
    #expect(busy.status == 2)
    #expect(busy.errorRecord["error"]?["code"] == "port_busy")
    let journal = try binary.run("journal", "show", "BUSY", "--json")
    #expect(journal.record["id"] == nil)
    #expect(journal.record["status"] == "failed")
  }

  @Test func `shows a dry run, and asks before live money`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay =
      ["transact", "--provider", "truelayer", "--amount", "3", "--reference", "L", "--json"]
      + BankStory.payee + BankStory.payer
    let dry = try binary.run(pay + ["--dry-run"])
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(dry.record["request"]?["method"] == "POST")
    #expect(dry.record["request"]?["body"]?["amount_in_minor"] == 300)
    let key = try #require(dry.record.text("idempotency_key"))
    // The payment itself is sent with this key.
    _ = try binary.run(pay)
    let made = try binary.run("journal", "show", "L", "--json")
    #expect(made.record.text("idempotency_key") == key, "\(made.errors)")
    var live = binary
    for (name, value) in [
      ("CLIENT_ID", "c"), ("CLIENT_SECRET", "s"), ("KEY_ID", "k"), ("PRIVATE_KEY", "p"),
    ] {
      live.variables["TENDER_TRUELAYER_" + name] = value
    }
    live.variables["TENDER_ENV"] = "live"
    for words in [pay + ["--no-input", "--yes"], pay + ["--no-input", "--env", "live"]] {
      let refused = try live.run(words)
      #expect(refused.status == 17, "\(refused.errors)")
    }
  }

  @Test func `prints no token, secret or account, whatever happens`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    let trace = binary.home.appending(path: "trace").path
    binary.variables["TENDER_TRUELAYER_RESOURCE_TOKEN"] = "simulator-resource-token"
    let form = binary.home.appending(path: "form.json")
    let answers =
      #"{"psu-id":"remi","psu-password":"hunter2-hunter2","embedded-auth-flow-sca-select":"Sms","#
      + #""embedded-auth-flow-sms-input":"86420975"}"#
    try Data(answers.utf8).write(to: form)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: form.path)
    var shown = ""
    let common = [
      "--provider", "truelayer", "--no-input", "--verbose", "--events", "--trace", trace,
      "--sim-clock", "2026-01-01T00:00:00Z",
    ]
    for (number, words) in [
      ["--bank", "mock-payments-gb-redirect"], ["--bank", "mock-payments-gb-redirect", "--wait"],
      ["--bank", "nothing"], ["--sim-fault", "start:http-500"], ["--sim-fault", "create:http-401"],
      ["--sim-fault", "create:close-after"], ["--sim-scenario", "bank:reject_execution"],
    ].enumerated() {
      for output in ["jsonl", "table"] {
        let result = try binary.run(
          ["transact", "--amount", "5", "--reference", "S\(number)\(output)", "--output", output]
            + BankStory.payee + BankStory.payer + words + common
        )
        shown += result.output + result.errors
      }
    }
    let embedded = try binary.run(
      ["transact", "--amount", "5", "--currency", "EUR", "--iban", "NL39ABNA8234998285"]
        + ["--beneficiary-name", "Ben", "--bank", "mock-payments-de-embedded", "--form-file"]
        + [form.path, "--reference", "E", "--json"] + BankStory.payer + common
    )
    #expect(embedded.status == 0, "\(embedded.errors)")
    shown += embedded.output + embedded.errors
    try FileManager.default.removeItem(at: form)
    let secrets = [
      "simulator-resource-token", "bank-simulator-opens", "BEGIN EC", "MIHcAgEBBEIBtfFc",
      "hunter2-hunter2", "86420975", "12345601",
    ]
    for secret in secrets { #expect(!shown.contains(secret), "\(secret)") }
    for (file, bytes) in try binary.everyByte() where !file.hasPrefix("simulator.db") {
      for secret in secrets {
        #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) in \(file)")
      }
    }
  }
}
