import Foundation
import TenderTestSupport
import Testing

/// The terminal's screen for each command and outcome. `make generate` records the screens.
@Suite struct ScreenTests {
  private static let bank = [
    "transact", "--provider", "truelayer", "--beneficiary-name", "Ben", "--sort-code", "56-00-29",
    "--account-number", "26207729", "--user", "name=Remi", "--user", "email=remi@example.com",
  ]
  private static let card = ["transact", "--test-card", "visa", "--amount"]

  /// Each screen with its name, in the order of recording.
  private static let story: [(name: String, words: [String])] = [
    ("start", []), ("transact-paid", card + ["10.50", "--reference", "ORDER-1"]),
    ("transact-replayed", card + ["10.50", "--reference", "ORDER-1"]),
    ("transact-all", card + ["10.50", "--reference", "ORDER-1", "--all-fields"]),
    ("transact-declined", card + ["1.93", "--reference", "ORDER-2"]),
    ("transact-held", card + ["5", "--reference", "ORDER-3", "--confirmation"]),
    ("confirm", ["confirm", "ORDER-3"]), ("cancel", ["cancel", "ORDER-3"]),
    (
      "transact-unknown",
      card + ["7", "--reference", "ORDER-4", "--sim-fault", "part2:reset-before"]
    ), ("journal-resume", ["journal", "resume", "ORDER-4"]),
    ("journal-resume-finish", ["journal", "resume", "ORDER-4", "--finish"]),
    ("refund-dry-run", ["refund", "ORDER-1", "--amount", "4", "--dry-run"]),
    ("refund-part", ["refund", "ORDER-1", "--amount", "4"]),
    (
      "refund-too-much",
      ["refund", "ORDER-1", "--amount", "9", "--refund-reference", "B"]
    ), ("tokenize", ["tokenize", "--test-card", "amex", "--reference", "CARD-1"]),
    (
      "bank-paid",
      bank + ["--amount", "10", "--bank", "mock-payments-gb-redirect", "--reference", "BANK-1"]
    ),
    (
      "bank-failed",
      bank + [
        "--amount", "11", "--bank", "mock-payments-gb-redirect", "--reference", "BANK-2",
        "--sim-scenario", "bank:failed:invalid_sort_code",
      ]
    ),
    (
      "mandate",
      bank + [
        "--mandate", "--max-individual", "50", "--limit", "month:500", "--bank",
        "ob-natwest-vrp-sandbox", "--reference", "MANDATE-1",
      ]
    ), ("mandate-status", ["mandate-status", "MANDATE-1"]),
    ("sale", ["transact", "--provider", "toro", "--amount", "12.50", "--reference", "SALE-1"]),
    (
      "sale-declined",
      ["transact", "--provider", "toro", "--amount", "90.51", "--reference", "SALE-2"]
    ), ("receipt", ["journal", "show", "SALE-1", "--receipt"]),
    ("payment-status", ["payment-status", "ORDER-1"]),
    (
      "payment-status-several",
      ["payment-status", "ORDER-1", "ORDER-2", "BANK-2", "SALE-1", "NONE"]
    ),
    ("find", ["find", "--status", "declined"]), ("find-nothing", ["find", "--amount", "999"]),
    ("find-largest", ["find", "--order-by", "amount", "--limit", "1"]),
    ("find-online", ["find", "--online", "--amount", "1.93"]),
    ("journal-list", ["journal", "list"]),
    ("journal-show", ["journal", "show", "ORDER-1"]), ("journal-verify", ["journal", "verify"]),
    ("explain-payment", ["explain", "BANK-2"]), ("explain-code", ["explain", "51"]),
    ("explain-unknown", ["explain", "insuficient_funds"]),
    ("scenarios", ["simulator", "scenarios", "expire"]), ("providers", ["providers"]),
    ("batch", ["batch", "lines.jsonl", "--ordered", "--jobs", "1"]),
    ("find-duplicates", ["find", "--duplicates"]), ("totals", ["totals", "--by", "provider"]),
    ("batch-check", ["batch", "lines.jsonl", "--check", "--ordered"]),
    ("missing", ["transact", "--provider", "truelayer", "--no-input"]),
    ("wrong-option", ["transact", "--amout", "5"]), ("wrong-command", ["charge", "5"]),
  ]

  @Test(arguments: [(60, 24), (80, 24), (200, 50)])
  func `shows what it showed`(_ width: Int, _ height: Int) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = [
      #"{"command":"transact","reference":"B-1","amount":"10.50","test_card":"visa"}"#,
      #"{"command":"transact","reference":"B-2","amount":"1.93","test_card":"visa"}"#,
      #"{"command":"confirm","reference":"B-3"}"#,
    ]
    let file = try Works.write(lines, binary)
    let folder = Project.path("Tests/TenderBinaryTests/Screens/\(width)x\(height)")
    let isRecording = ProcessInfo.processInfo.environment["TENDER_RECORD"] == "1"
    if isRecording {
      try? FileManager.default.removeItem(atPath: folder)
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    let fixed = ["--sim-seed", "7", "--sim-clock", "2026-01-01T09:00:00Z"]
    for (name, words) in Self.story {
      var words = words.map { $0 == "lines.jsonl" ? file : $0 }
      let takesClock =
        ["transact", "confirm", "cancel", "refund", "tokenize", "batch", "find"]
        + ["payment-status", "mandate-status"]
      let isOffline = words.first == "find" && !words.contains("--online")
      if let first = words.first, takesClock.contains(first) {
        words += isOffline ? Array(fixed.suffix(2)) : fixed
      }
      if words.prefix(2) == ["journal", "resume"] { words += fixed }
      let shown = try binary.onTerminal(words, [], width: width, height: height).screen
      let screen =
        shown
        .replacing(/\u{1b}\[[0-9;]*[A-Za-z]/, with: "")
        .replacing(/[^\n]*\r(?!\n)/, with: "")
        .replacing(binary.home.path, with: "HOME")
        // These differ in length, and end what may be broken before them.
        .replacing(/(?m)(?:[ ]{2}|\n[ ]{19})[\w.-]+@[\w.-]+$/, with: "  WHO")
        .replacing(/(?:\n[ ]{3})? · \d+ (days|h|min|s) ago/, with: " · N days ago")
        .replacing(/"?at +20[2-9]\d-\d\d-\d\dT[0-9:]+Z/, with: "at  TIME")
        .replacing(/20(2[6-9]|[3-9]\d)-(?!01-01T09)\d\d-\d\dT[0-9:.]+Z/, with: "TIME")
      let path = "\(folder)/\(name).txt"
      if isRecording { try screen.write(toFile: path, atomically: true, encoding: .utf8) }
      let expected = try String(contentsOfFile: path, encoding: .utf8)
      #expect(screen == expected, "\(name) is another; look at it, then run: make generate")
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(files.count == Self.story.count)
  }
}
