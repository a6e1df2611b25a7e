import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// What people meet at a terminal: questions, answers that are corrected, a yes that is typed.
@Suite(.enabled(if: Judge.has("pty"), "python3 is not installed"))
struct TerminalTests {
  /// What was on the screen at the end, and the exit status.
  private func run(
    _ binary: Binary,
    _ words: [String],
    _ steps: [(wait: String, type: String)]
  ) throws -> (exit: Int?, screen: String) {
    let judge = try Judge("terminal.py")
    let answer = try judge.ask([
      "argv": .array(([binary.executable.path] + words).map(JSON.string)),
      "env": [
        "HOME": .string(binary.home.path), "PATH": "/usr/bin:/bin", "TERM": "xterm",
        "LC_ALL": "C.UTF-8",
      ], "steps": .array(steps.map { .array([.string($0.wait), .string($0.type)]) }),
    ])
    #expect(answer["left"] == 0, "\(answer)")
    return (answer["exit"]?.boundedNumber, answer.text("screen") ?? "")
  }

  @Test func `asks for a card, says what is wrong with an answer, and never shows the number`()
    throws
  {
    let binary = try Binary()
    defer { binary.remove() }
    let (exit, screen) = try run(
      binary,
      ["transact", "--amount", "5", "--reference", "A"],
      [
        ("Card number", "4111111111111112\n"), ("Card number", "4111111111111111\n"),
        ("Expiration", "13/49\n"), ("Expiration", "12/49\n"), ("Security code", "999\n"),
      ]
    )
    #expect(exit == 0, "\(screen)")
    #expect(screen.contains("wrong check digit") || screen.contains("valid check digit"))
    #expect(screen.contains("succeeded"))
    #expect(!screen.contains("4111"))
    #expect(!screen.contains("999"))
  }

  @Test func `gives up after a third answer that cannot be`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let (exit, screen) = try run(
      binary,
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
      "part2:drop-before*1",
      "--json"
    )
    #expect(lost.status == 9)
    let (exit, screen) = try run(
      binary,
      ["journal", "settle", "A", "--as", "succeeded", "--reason", "seen in the portal"],
      [("Type yes", answer)]
    )
    #expect(exit == status, "\(screen)")
    let shown = try binary.run("journal", "show", "A", "--json").records.first
    #expect(shown?.text("status") == (status == 0 ? "succeeded" : "unknown"))
  }
}
