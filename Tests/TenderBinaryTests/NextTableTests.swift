import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Runs every suggested step of every state, and compares the simulated books with the step's sentence.
///
/// A row is a provider, a currency, and the commands that lead to a state. Each row is told with references that
/// need quotes. A shell splits each command, as if a person pasted it.
@Suite(.serialized, .onOwnThread) struct NextTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let provider: String
    let currency: String
    /// Commands with `|` between two. The first one has the amount 9.
    let story: String

    var testDescription: String { "\(provider) \(currency): \(story)" }

    var commands: [[String]] {
      story.split(separator: "|").map { $0.split(separator: " ").map(String.init) }
    }
  }

  private static let openings = [
    "card": "--test-card visa", "debit": "--test-account success", "sale": "",
    "bank": payer + " --merchant-account 8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6",
    "transfer": payer + " --beneficiary-name Shop --sort-code 010203 --account-number 12345678",
  ]
  private static let payer =
    "--bank mock-payments-gb-redirect --user name=Ada --user email=ada@example.com"

  static let rows: [Row] =
    [
      "card", "card --hold", "card --hold | confirm", "card --hold | cancel",
      "card | refund --amount 4",
      "card | refund --amount 4 | refund --amount 3", "card | refund --amount 99",
      "card | refund --amount 4 | refund --amount 99", "card | refund", "card | cancel",
      "card | card --new-attempt", "card --hold | card --hold --new-attempt",
      "card --hold | confirm --amount 4", "card --hold | confirm --amount 99",
      "card --hold | refund --amount 4", "card --sim-scenario decline:do_not_honor",
      "card --sim-fault part1:close-before", "debit", "debit | cancel", "debit | refund --amount 4",
      "card --sim-fault part2:reset-after --sim-fault graphql:http-500",
      "card --sim-fault part2:reset-before --sim-fault graphql:http-500",
      "card --hold | confirm --sim-fault part2:reset-before --sim-fault graphql:http-500",
      "card --hold | cancel --sim-fault cancel:close-after --sim-fault graphql:http-500",
      "card | refund --amount 4 --sim-fault reversal:reset-before",
      "card | refund --sim-fault reversal:reset-before",
      "token", "token --hold", "token --hold | confirm --amount 4",
      "token --sim-fault stored:reset-before", "token --sim-fault stored:reset-after",
      "card --sim-scenario dispute | payment-status | refund",
    ].map { Row(provider: "paytheory", currency: "USD", story: $0) }
    + ["GBP", "JPY"].flatMap { currency in
      [
        "sale", "sale --hold", "sale --hold | confirm", "sale --hold | confirm --amount 4",
        "sale --hold | confirm --amount 99", "sale | cancel", "sale | refund --amount 4",
        "sale | sale --new-attempt", "sale --hold | cancel",
        "sale --sim-scenario gateway:suspended",
        "sale --sim-scenario card:customer_cancel", "sale --sim-scenario gateway:partial",
        "sale --sim-scenario gateway:insufficient_funds",
        "sale --sim-fault authorisation:close-after --sim-fault cancellation:close-after",
        "sale --hold | confirm --sim-fault completion:close-after",
        "sale | cancel --sim-fault cancellation:close-after",
        "sale --hold | confirm --sim-fault completion:declined",
      ].map { Row(provider: "toro", currency: currency, story: $0) }
    }
    + ["GBP", "EUR"].flatMap { currency in
      [
        "bank", "bank | refund --amount 4", "bank | refund", "bank | cancel",
        "bank | refund --amount 99", "bank | bank --new-attempt",
        "bank | refund --amount 4 --sim-fault refund:close-after",
        "bank --sim-fault create:close-after --sim-fault create:http-500",
        "bank --sim-scenario bank:failed:payment_limit_exceeded",
      ].map { Row(provider: "truelayer", currency: currency, story: $0) }
    }
    + [
      "transfer", "transfer | cancel", "transfer --redirect-url https://shop.example/back",
      "transfer --redirect-url https://shop.example/back | cancel",
      "transfer --redirect-url https://shop.example/back | transfer --new-attempt",
    ].map { Row(provider: "truelayer", currency: "GBP", story: $0) }

  static let references = ["it's", "-dash 1"]

  @Test(arguments: rows) func `each step does what its sentence says`(_ row: Row) throws {
    for reference in Self.references {
      let told = try Story(row, reference)
      defer { told.binary.remove() }
      for (number, step) in try told.steps().enumerated() {
        let story = try Story(row, reference)
        defer { story.binary.remove() }
        let again = try story.steps()
        guard again.indices.contains(number) else {
          Issue.record("another story: \(step) \(again)")
          continue
        }
        try story.judge(again[number])
      }
    }
  }

  /// A step as it was printed.
  struct Step: Hashable, CustomStringConvertible {
    let effect: String
    let command: String

    var description: String { "to \(effect): \(command)" }
  }

  /// One run of a row's commands, in a new home.
  struct Story {
    let binary: Binary
    private let row: Row
    private let reference: String
    private var results: [Binary.Result] = []

    init(_ row: Row, _ reference: String) throws {
      (self.row, self.reference) = (row, reference)
      binary = try Binary()
      for words in row.commands { results.append(try run(words, nil)) }
    }

    private func run(_ words: [String], _ more: [String]?) throws -> Binary.Result {
      guard let opening = try opening(words[0]) else {
        return try binary.run(words + ["--id=\(reference)", "--deadline", "6s", "--json"])
      }
      let place = ["--provider", row.provider, "--currency", row.currency]
      return try binary.run(
        ["transact", "--amount", "9", "--reference=\(reference)", "--deadline", "6s", "--json"]
          + place + opening + words.dropFirst() + (more ?? [])
      )
    }

    /// The options of a command that makes the payment; nil for another command.
    private func opening(_ word: String) throws -> [String]? {
      if word == "token" {
        let stored = try binary.run(line: "tokenize --test-card visa --reference CARD")
        return ["--token", stored.record.text("id") ?? ""]
      }
      return NextTableTests.openings[word].map { $0.split(separator: " ").map(String.init) }
    }

    /// The steps that the last command and `explain` print.
    func steps() throws -> [Step] {
      let explained = try binary.run("explain", "--json", "--", reference)
      var texts: [String] = []
      for result in [results.last, explained].compactMap(\.self) {
        for line in (result.output + "\n" + result.errors).split(separator: "\n") {
          guard let record = JSONReader.read(String(line))?.object else { continue }
          let told = [record["error"]?["hint"], record["next"], record["text"]]
          texts += told.compactMap { $0?.text }
        }
      }
      var found: [Step] = []
      let step =
        #/(?:^|; |: )(?:to )?([^:;]+): ((?:tender |the same )(?:'(?:[^']|'\\'')*'|[^;'])*)/#
      for text in texts {
        for match in text.matches(of: step) {
          let next = Step(effect: String(match.1), command: String(match.2))
          // A page of help is no step.
          if !found.contains(next), !next.command.hasPrefix("tender help") { found.append(next) }
        }
      }
      return found
    }

    /// The books of the payment. A refund at the reader is counted at its original.
    private func books() throws -> LedgerAudit.Money {
      let path = binary.home.appending(path: ".local/state/tender/simulator.db").path
      return switch row.provider {
      case "paytheory": try LedgerAudit.payTheoryMoney(path: path, reference: reference)
      case "toro": try LedgerAudit.saleMoney(path: path, reference: reference)
      default: try LedgerAudit.bankMoney(path: path, reference: reference)
      }
    }

    /// Runs a step, and compares the books before and after it.
    func judge(_ step: Step) throws {
      let before = try books()
      let result = try paste(step)
      let after = try books()
      let said = "\(step): exit \(result.status), \(before) became \(after): \(result.errors)"
      let money = try amount(in: step.effect)
      let (taken, back) = (after.captured - before.captured, after.returned - before.returned)
      let kept = after.kept - before.kept
      // Those are a bug, a usage error, an unknown payment and a conflict.
      #expect(![1, 2, 5, 6, 15, 16, 17, 127].contains(result.status), "\(said)")
      switch step.effect.split(separator: " ").first {
      case "look", "see", "wait", "record":
        // A payer goes on without this program.
        let isAlone = row.story.contains("--redirect-url")
        #expect(back == 0 && (taken == 0 || isAlone), "\(said)")
      case "charge":
        if step.command.hasPrefix("the same") || result.status == 0 {
          #expect(taken == money, "\(said)")
        }
      case "release": #expect(after.captured == 0 && taken == 0, "\(said)")
      case "refund", "void": #expect(-kept == money || after.kept == 0, "\(said)")
      case "undo": #expect(after.kept == 0, "\(said)")
      case "finish":
        let isBack = step.effect.contains("refund") || step.effect.contains("void")
        let isDone =
          isBack
          ? after.returned + after.refunding == money || after.kept == 0 : after.kept == money
        // It can be too early to send it again.
        if result.status != 9 { #expect(isDone, "\(said)") }
      case "send":
        // A person confirms it, and it happens once more at most.
        #expect(abs(kept) <= money ?? 0, "\(said)")
        #expect(step.effect.contains("a second time"), "\(said)")
      default: break
      }
    }

    private func amount(in effect: String) throws -> Int? {
      guard let match = effect.firstMatch(of: #/(\d+(?:\.\d+)?) ([A-Z]{3})/#),
        let currency = Currency(code: String(match.2))
      else { return nil }
      return try Money(decimal: String(match.1), currency: currency, named: "it").minorUnits
    }

    /// Runs the command of a step in a shell. Placeholders are filled in.
    private func paste(_ step: Step) throws -> Binary.Result {
      guard !step.command.hasPrefix("the same") else {
        let first = row.commands[0].filter { !$0.contains(":") && !$0.hasPrefix("--sim") }
        return try run(first, step.command.hasSuffix("--new-attempt") ? ["--new-attempt"] : nil)
      }
      var shell = binary
      shell.variables["PATH"] = Binary.products.path + ":/usr/bin:/bin"
      shell.program = "/bin/sh"
      let isSent = step.effect.hasPrefix("send")
      var line = step.command
      for (word, value) in [("NAME", "'n 1'"), ("STATUS", "succeeded"), ("TEXT", "seen")] {
        line = line.replacing(" " + word, with: " " + value)
      }
      if isSent || step.effect.hasPrefix("record") { line += " --yes" }
      if isSent { _ = try binary.run(line: "simulator advance 20m") }
      return try shell.run(["-c", line + " --deadline 6s --json </dev/null"])
    }
  }
}
