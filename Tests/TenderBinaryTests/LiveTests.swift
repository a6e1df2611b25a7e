import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// The guards for live money, run against this machine. Only a debug build allows that, since a release has
/// no code for it.
@Suite struct LiveTests {
  struct Till {
    let shop: Shop
    var binary: Binary
    let method: String

    init() throws {
      shop = try Shop()
      let token = try shop.binary.run(
        "tokenize",
        "--test-card",
        "visa",
        "--reference",
        "CARD",
        "--json"
      )
      method = try #require(token.record.text("id"))
      binary = shop.binary
      binary.variables["TENDER_TEST_LIVE"] = "loopback"
      binary.variables["TENDER_PAYTHEORY_API_KEY"] =
        "acme-paytheory-00112233445566778899aabbccddeeff"
      binary.variables["TENDER_PAYTHEORY_MERCHANT_UID"] = PayTheoryCatalog.merchantUID
      binary.variables["TENDER_PAYTHEORY_SECRET_KEY"] = PayTheoryCatalog.secretKey
    }

    func charges(_ reference: String) throws -> Int {
      try LedgerAudit.charges(path: shop.books, reference: reference)
    }

    func pay(_ reference: String) -> [String] {
      [
        "transact", "--provider", "paytheory", "--token", method, "--amount", "10", "--reference",
        reference, "--json", "--no-input",
      ]
    }
  }

  static func code(_ result: Binary.Result) -> String? {
    result.errorRecord["error"]?["code"]?.text
  }

  @Test func `takes live money only where the command line says so, and somebody says yes`() throws
  {
    let till = try Till()
    let live = ["--env", "live"]
    let unsaid = try till.binary.run(till.pay("A") + live)
    #expect(unsaid.status == 17)
    #expect(Self.code(unsaid) == "live_not_confirmed")
    var configured = till.binary
    configured.variables["TENDER_ENV"] = "live"
    let unnamed = try configured.run(till.pay("A") + ["--yes"])
    #expect(unnamed.status == 17)
    #expect(Self.code(unnamed) == "live_not_named")
    #expect(try till.charges("A") == 0)
    let paid = try till.binary.run(till.pay("A") + live + ["--yes"])
    #expect(paid.status == 0, "\(paid.errors)")
    #expect(paid.record.text("env") == "live")
    #expect(try till.charges("A") == 1)
    let again = try till.binary.run(till.pay("A") + live + ["--yes"])
    #expect(again.record["replayed"] == true)
    #expect(try till.charges("A") == 1)
    for undo in [["cancel", "A"], ["cancel", "A", "--amount", "3"]] {
      let result = try till.binary.run(undo + ["--json", "--no-input"] + live)
      #expect(result.status == 17)
      #expect(Self.code(result) == "live_not_confirmed")
    }
    #expect(try LedgerAudit.refunded(path: till.shop.books, reference: "A") == 0)
    let part = try till.binary.run(
      ["cancel", "A", "--amount", "3", "--json", "--yes"] + live
    )
    #expect(part.status == 0)
    #expect(try LedgerAudit.refunded(path: till.shop.books, reference: "A") == 300)
    #expect(try till.binary.run("payment-status", "A", "--json").record.text("status") != nil)
  }

  /// The question before a refund shows its way, its amount, and the rest.
  @Test(.enabled(if: Judge.has("pty"), "python3 is not installed"))
  func `asks before it gives live money back`() throws {
    let till = try Till()
    let live = ["--env", "live"]
    #expect(try till.binary.run(till.pay("A") + live + ["--yes"]).status == 0)
    let refund = ["refund", "A", "--amount", "3", "-o", "jsonl"] + live
    let (no, asked) = try till.binary.onTerminal(refund, [("Type yes", "no\n")], width: 200)
    #expect(no == 17)
    #expect(
      asked.contains(
        "LIVE: refund A by reversal (void while it is pending, else refund), 3.00 USD of 10.00 USD "
          + "(7.00 USD left then)? Type yes: "
      ),
      "\(asked)"
    )
    #expect(try LedgerAudit.refunded(path: till.shop.books, reference: "A") == 0)
    let (yes, _) = try till.binary.onTerminal(refund, [("Type yes", "yes\n")])
    #expect(yes == 0)
    #expect(try LedgerAudit.refunded(path: till.shop.books, reference: "A") == 300)
  }

  @Test func `takes no test data and no card on live`() throws {
    let till = try Till()
    let card = [
      "transact", "--provider", "paytheory", "--amount", "10", "--reference", "C", "--json",
      "--env", "live", "--yes", "--no-input",
    ]
    let test = try till.binary.run(card + ["--test-card", "visa"])
    // It is already refused as a card on this stage.
    #expect(test.status == 4)
    #expect(Self.code(test) == "invalid_app")
    let real = try till.binary.run(
      card + ["--instrument-stdin"],
      input: """
        {"type":"card","number":"4111111111111111","security_code":"123","expiration":"12/29"}
        """
    )
    #expect(real.status == 4)
    #expect(Self.code(real) == "invalid_app")
    let simulated = try till.binary.run(
      till.pay("C") + ["--env", "live", "--yes", "--sim-seed", "1"]
    )
    #expect(simulated.status == 2)
    var lab = till.binary
    lab.variables["TENDER_PAYTHEORY_API_KEY"] = nil
    #expect(try lab.run(till.pay("C") + ["--env", "live", "--yes"]).status == 4)
    lab.variables["TENDER_PAYTHEORY_API_KEY"] = PayTheoryCatalog.apiKey
    #expect(try lab.run(till.pay("C") + ["--env", "live", "--yes"]).status == 2)
    // Without the variable of a test, only the provider's real hosts can be used.
    lab = till.binary
    lab.variables["TENDER_TEST_LIVE"] = nil
    let redirected = try lab.run(till.pay("C") + ["--env", "live", "--yes"])
    #expect(redirected.status == 2)
    #expect(Self.code(redirected) == "bad_address")
    #expect(try till.charges("C") == 0)
  }

  #if os(Linux)
  @Test func `finds nothing out on live before somebody says yes`() throws {
    let till = try Till()
    // Killed a few calls before its end: the effect of its request is unknown.
    var calls = 0
    for reference in ["U0", "U1"] {
      let report = till.binary.home.appending(path: "calls")
      var counted = till.binary.faulty("count:0")
      counted.variables["TENDER_FAULT_REPORT"] = report.path
      #expect(try counted.run(till.pay(reference) + ["--env", "live", "--yes"]).status == 0)
      let text = try String(contentsOf: report, encoding: .utf8)
      calls = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }
    var lost: String?
    while lost == nil {
      let reference = "L\(calls)"
      _ = try till.binary.faulty("kill:\(calls)").run(
        till.pay(reference) + ["--env", "live", "--yes"]
      )
      let unknown = try till.binary.run("journal", "list", "--status", "unknown", "--json")
      if try till.charges(reference) == 1, unknown.output.contains(reference) { lost = reference }
      calls -= 1
      try #require(calls > 0)
    }
    let reference = try #require(lost)
    let finish = ["journal", "resume", reference, "--finish", "--json", "--no-input"]
    let unsaid = try till.binary.run(finish)
    #expect(unsaid.status == 17)
    let said = try till.binary.run(
      "journal",
      "resume",
      reference,
      "--finish",
      "--env",
      "live",
      "--yes",
      "--json",
      "--no-input"
    )
    #expect(said.status == 0)
    #expect(said.record.text("status") == "succeeded")
    #expect(try till.charges(reference) == 1)
  }

  #endif

  @Test func `a batch takes live money only by its own options`() throws {
    let till = try Till()
    let file = till.binary.home.appending(path: "live.jsonl")
    let line = """
      {"command":"transact","provider":"paytheory","env":"live","reference":"B","amount":"10",\
      "token":"\(till.method)"}
      """
    try Data(line.utf8).write(to: file)
    let unsaid = try till.binary.run("batch", file.path, "--json", "--no-input")
    #expect(unsaid.status != 0)
    #expect(try till.charges("B") == 0)
    let said = try till.binary.run(
      "batch",
      file.path,
      "--env",
      "live",
      "--yes",
      "--json",
      "--no-input"
    )
    #expect(said.status == 0, "\(said.output)")
    #expect(try till.charges("B") == 1)
  }
}
