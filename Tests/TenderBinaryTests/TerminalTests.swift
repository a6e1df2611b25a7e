import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The dialogs at a terminal: questions, corrected answers, a typed yes.
@Suite(.enabled(if: Judge.has("pty"), "python3 is not installed"))
struct TerminalTests {
  @Test func `asks for a card, says what is wrong with an answer, and never shows the number`()
    throws
  {
    let binary = try Binary()
    defer { binary.remove() }
    let (exit, screen) = try binary.onTerminal(
      ["transact", "--amount", "5", "--reference", "A"],
      [
        ("Card number", "4111111111111112\n"), ("Card number", "4111111111111111\n"),
        ("Expiration", "13/49\n"), ("Expiration", "12/49\n"), ("Security code", "999\n"),
      ]
    )
    #expect(exit == 0, "\(screen)")
    #expect(screen.contains("wrong check digit") || screen.contains("valid check digit"))
    #expect(screen.contains("succeeded"))
    // The simulator's ids may contain any digits.
    let typed = screen.split(separator: "\n").filter { !$0.contains("pt-tender-") }.joined()
    #expect(!typed.contains("4111"))
    #expect(!typed.contains("999"))
  }

  /// A person reads standard error, whatever a program reads.
  @Test func `notes on a terminal are text beside JSON lines`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let (exit, screen) = try binary.onTerminal(
      ["transact", "--amount", "5", "--test-card", "visa", "--json"],
      []
    )
    #expect(exit == 0, "\(screen)")
    #expect(screen.contains("tender: reference T-"), "\(screen)")
    #expect(!screen.contains("\"record\":\"note\"") && screen.contains("\"record\":\"payment\""))
  }

  @Test func `gives up after a third answer that cannot be`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let (exit, screen) = try binary.onTerminal(
      ["transact", "--amount", "5", "--reference", "A", "--method", "ach"],
      [("Account holder", "\n"), ("Account holder", " \n"), ("Account holder", "\n")]
    )
    #expect(exit == 2, "\(screen)")
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
  }

  @Test(arguments: [("yes\n", 0), ("no\n", 17), ("\u{4}", 17)])
  func `settles after a typed yes alone`(_ answer: String, _ status: Int) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lost = try binary.run(
      "transact",
      "--amount",
      "5",
      "--test-card",
      "visa",
      "--reference",
      "A",
      "--sim-fault",
      "part2:reset-before*1",
      "--json"
    )
    #expect(lost.status == 9)
    let (exit, screen) = try binary.onTerminal(
      ["journal", "settle", "A", "--as", "succeeded", "--reason", "seen in the portal"],
      [("Type yes", answer)]
    )
    #expect(exit == status, "\(screen)")
    let shown = try binary.run("journal", "show", "A", "--json").records.first
    #expect(shown?.text("status") == (status == 0 ? "succeeded" : "unknown"))
  }
}
