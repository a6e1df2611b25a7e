import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The same story against the simulator in process and behind `simulator serve`.
struct Story {
  let binary: Binary

  func run() throws {
    let held = try binary.run(
      "transact",
      "--amount",
      "10.50",
      "--test-card",
      "visa",
      "--reference",
      "A",
      "--confirmation",
      "--json"
    )
    #expect(held.status == 0, "\(held.errors)")
    #expect(held.record.text("status") == "requires_confirmation")
    #expect(held.record["result"]?["type"] == "PT_CONFIRMATION")
    let receipt = try #require(held.record.text("id"))

    let confirmed = try binary.run("confirm", "A", "--json")
    #expect(confirmed.status == 0, "\(confirmed.errors)")
    #expect(confirmed.record["result"]?["type"] == "PT_COMPLETE")
    #expect(confirmed.record.text("id") == receipt)
    #expect(confirmed.record["replayed"] == false)

    let again = try binary.run("confirm", receipt, "--json")
    #expect(again.status == 0)
    #expect(again.record["replayed"] == true)
    #expect(again.record["result"] == confirmed.record["result"])

    let looked = try binary.run("payment-status", "A", "--json")
    #expect(looked.status == 0, "\(looked.errors)")
    #expect(looked.record.text("status") == "succeeded")
    #expect(looked.record["result"]?["transaction"]?["transaction_id"] == .string(receipt))

    let reversed = try binary.run("cancel", "A", "--json")
    #expect(reversed.status == 0, "\(reversed.errors)")
    #expect(reversed.record.text("status") == "refunded")
    #expect(reversed.record["result"]?["reversal"]?["is_void"] == false)

    for (amount, code) in [("1.02", "generic_decline"), ("1.93", "insufficient_funds")] {
      let declined = try binary.run(
        "transact",
        "--amount",
        amount,
        "--test-card",
        "mastercard",
        "--reference",
        "D\(amount)",
        "--json"
      )
      #expect(declined.status == 3)
      #expect(declined.errors == "")
      #expect(declined.record["error"]?["code"] == .string(code))
      #expect(declined.record["result"]?["state"] == "FAILURE")
    }

    let ach = try binary.run(
      "transact",
      "--amount",
      "5",
      "--test-account",
      "success",
      "--reference",
      "ACH",
      "--json"
    )
    #expect(ach.status == 0, "\(ach.errors)")
    #expect(ach.record.text("status") == "pending")
    let voided = try binary.run("cancel", "ACH", "--json")
    #expect(voided.record["result"]?["reversal"]?["is_void"] == true)

    let cash = try binary.run(
      ["transact", "--amount", "5", "--instrument-stdin", "--reference", "CASH", "--json"],
      input: #"{"type":"cash","name":"Ada","contact":"ada@example.com"}"#
    )
    #expect(cash.status == 0, "\(cash.errors)")
    #expect(cash.record["next_action"]?["type"] == "barcode")

    let token = try binary.run("tokenize", "--test-card", "amex", "--reference", "T", "--json")
    #expect(token.status == 0, "\(token.errors)")
    #expect(token.record.text("record") == "token")
    let charged = try binary.run(
      "transact",
      "--amount",
      "7",
      "--token",
      try #require(token.record.text("id")),
      "--reference",
      "P",
      "--json"
    )
    #expect(charged.status == 0, "\(charged.errors)")
    #expect(charged.record.text("status") == "succeeded")

    let missing = try binary.run("payment-status", "NEVER", "--json")
    #expect(missing.status == 5)
    #expect(missing.output == "")
    #expect(missing.errorRecord["error"]?["code"] == "payment_not_found")
  }
}

@Suite struct AcceptanceTests {
  @Test func `tells the whole story offline`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    try Story(binary: binary).run()
  }

  @Test func `tells it over simulator serve with only the addresses changed`() throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables(scheme: "http", port: server.port)
    try Story(binary: binary).run()
    #expect(server.terminate() == 0)
  }

  @Test func `repeats its output byte for byte under a seed and a clock`() throws {
    let runs = try (0..<2).map { _ in
      let binary = try Binary()
      defer { binary.remove() }
      let options = ["--sim-seed", "7", "--sim-clock", "2026-01-01T00:00:00Z", "--json"]
      var text = ""
      for line in [
        ["transact", "--amount", "10.50", "--test-card", "visa"],
        ["transact", "--amount", "5", "--test-account", "success", "--reference", "B", "--events"],
        ["payment-status", "B"], ["cancel", "B"],
        ["tokenize", "--test-card", "visa", "--reference", "T"],
        ["transact", "--amount", "1.93", "--test-card", "visa", "--reference", "C"],
      ] {
        let result = try binary.run(line + options)
        text += result.output + result.errors
      }
      return text
    }
    #expect(runs[0] == runs[1])
    #expect(runs[0].contains("2026-01-01T00:00:00Z"))
  }

  @Test func `waits for the final state, and says when it did not come`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let clock = ["--sim-clock", "2026-01-01T00:00:00Z", "--json"]
    let paid = try binary.run(
      ["transact", "--amount", "5", "--test-account", "success", "--reference", "A", "--wait=1m"]
        + clock
    )
    #expect(paid.status == 0, "\(paid.errors)")
    #expect(paid.record.text("status") == "succeeded")
    let pending = try binary.run(
      ["transact", "--amount", "5", "--test-account", "success", "--reference", "B", "--wait=3s"]
        + clock
    )
    #expect(pending.status == 8)
    #expect(pending.record["error"]?["code"] == "still_pending")
    // A payment that was made is printed, even if the look-up fails.
    for (reference, fault, status) in [
      ("C", "graphql:http-503*2", Int32(0)), ("D", "graphql:http-503", 8),
      ("E", "graphql:refused", 8),
    ] {
      let result = try binary.run(
        ["transact", "--amount", "5", "--test-account", "success", "--reference", reference]
          + ["--wait=1m", "--sim-fault", fault] + clock
      )
      #expect(result.status == status, "\(fault): \(result.errors)")
      #expect(result.record.text("id")?.hasPrefix("pt-") == true)
    }
  }

  @Test func `judges by --expect`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let declined = try binary.run(
      "transact",
      "--amount",
      "1.93",
      "--test-card",
      "visa",
      "--reference",
      "A",
      "--expect",
      "declined",
      "--json"
    )
    #expect(declined.status == 0)
    #expect(declined.record["error"]?["exit"] == 3)
    let other = try binary.run(
      "transact",
      "--amount",
      "1",
      "--test-card",
      "visa",
      "--reference",
      "B",
      "--expect",
      "declined",
      "--json"
    )
    #expect(other.status == 18)
    #expect(other.record["error"]?["code"] == "unexpected_status")
    let wrong = try binary.run("payment-status", "B", "--expect", "decline", "--json")
    #expect(wrong.status == 2)
  }
}

/// `tender simulator serve` in a separate process.
final class Server {
  private let binary: Binary
  private let process: Process
  let port: Int
  /// The variables that it prints, with their addresses.
  let announced: [String: String]

  init() throws {
    binary = try Binary()
    let (process, output, _) = try binary.start(["simulator", "serve", "--json"])
    self.process = process
    announced = try Served.addresses(output)
    let address = try #require(announced["TENDER_TRUELAYER_AUTH_URL"])
    port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
  }

  /// The variables with a prefix.
  func variables(_ prefix: String) -> [String: String] {
    announced.filter { $0.key.hasPrefix(prefix) }
  }

  func variables(scheme: String, port: Int, host: String = "127.0.0.1") -> [String: String] {
    let socket = scheme == "https" ? "wss" : "ws"
    return [
      "TENDER_PAYTHEORY_TOKEN_URL": "\(scheme)://\(host):\(port)",
      "TENDER_PAYTHEORY_SOCKET_URL": "\(socket)://\(host):\(port)",
      "TENDER_PAYTHEORY_GRAPHQL_URL": "\(scheme)://\(host):\(port)",
      "TENDER_TRUELAYER_API_URL": "\(scheme)://\(host):\(port)",
      "TENDER_TRUELAYER_AUTH_URL": "\(scheme)://\(host):\(port)",
    ]
  }

  /// Asks the server to stop. Returns its exit status.
  func terminate() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }

  func stop() {
    if process.isRunning { _ = terminate() }
    binary.remove()
  }
}
