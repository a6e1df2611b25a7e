import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Runs every command that a message suggests, in the state in which it was printed.
///
/// Chosen stories come first. With `TENDER_HINTS` that many commands of seeded stories are run too; `TENDER_HINT_SEED`
/// is their seed.
@Suite(.serialized, .onOwnThread) final class HintTests {
  /// Exits that a suggested command never has, such as those of a bug, a usage error or a conflict.
  static let avoidable: Set<Int32> = [1, 2, 5, 6, 15, 16, 17, 18, 126, 127]

  /// The beginnings of the chosen stories.
  private static let openings = [
    "card": "--provider paytheory --test-card visa",
    "hold": "--provider paytheory --test-card visa --hold",
    "debit": "--provider paytheory --test-account success", "till": "--provider toro",
    "sale": "--provider toro --hold",
    "bank": payer + " --merchant-account 8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6",
    "transfer": payer + " --beneficiary-name Shop --sort-code 010203 --account-number 12345678",
  ]
  private static let payer =
    "--provider truelayer --bank mock-payments-gb-redirect --user name=Ada --user email=ada@example.com"

  private static let chosen = [
    "hold | find | payment-status --wait=1s | confirm --amount-minor 400 | refund --amount 4",
    "sale | confirm --amount 99 | find",
    "sale | confirm --sim-fault completion:declined | confirm | confirm --amount 4",
    "sale | confirm --sim-fault completion:http-503 | payment-status",
    "card | card --new-attempt | refund --amount 99 | refund --amount 4 | refund --amount 3 | confirm",
    "card | card --metadata a=b | refund | refund | refund --amount 1",
    "card --sim-fault part2:reset-after --sim-fault graphql:http-500 | find | journal resume --all",
    "card --sim-scenario decline:do_not_honor | refund | cancel | card",
    "card --sim-fault part1:close-before | find | card",
    "debit | find | debit --expect succeeded", "bank | cancel | refund --amount 4 | find",
    "bank | refund --amount 4 --sim-fault refund:close-after | find | refund --amount 3",
    "transfer | cancel | refund | payment-status --expect declined",
    "transfer --redirect-url https://shop.example/back | find | refund",
    "transfer --sim-fault create:close-after --sim-fault create:http-500 | payment-status | "
      + "simulator advance 31d | journal resume --finish",
    "till --sim-fault authorisation:close-after --sim-fault cancellation:close-after | find | "
      + "journal resolve --as failed --reason x --yes",
    "till --sim-scenario gateway:suspended | find | till --new-attempt",
    "till --sim-scenario gateway:partial | payment-status",
  ]
  private var commands = 0
  private var exits: [String: Set<Int32>] = [:]
  private var judged: Set<String> = []

  @Test func `each suggested command can be run, and exits are listed`() throws {
    for line in Self.chosen { try tell(line.split(separator: "|").map(Self.words)) }
    var random = Seeded(Works.setting("TENDER_HINT_SEED", 31))
    let count = commands + Works.setting("TENDER_HINTS", 0)
    while commands < count { try tell(Story(&random).commands) }
    for (name, found) in exits {
      let help = try Binary().run(["help"] + name.split(separator: " ").map(String.init)).output
      let listed = help.split(separator: "\n").compactMap { line in
        line.firstMatch(of: #/^(?:Exit status:| ) +(\d+) /#).flatMap { Int32($0.1) }
      }
      let missing = found.subtracting(listed)
      #expect(missing.isEmpty, "help \(name) does not list \(missing.sorted())")
    }
    print("\(commands) commands, \(judged.count) kinds of hints")
  }

  /// The words of a chosen command. Its reference needs quotes.
  private static func words(_ text: Substring) -> [String] {
    let words = text.split(separator: " ").map(String.init)
    guard let opening = openings[words[0]] else {
      let isForAll = words[0] == "simulator" || words.contains("--all")
      return words + (isForAll ? [] : ["--id=it's"])
    }
    return ["transact", "--amount", "9", "--reference=it's", "--deadline", "6s"]
      + opening.split(separator: " ").map(String.init) + words.dropFirst()
  }

  /// `Payment.next` writes every command about a payment.
  @Test func `no literal of the source has a command about a payment`() throws {
    #expect(try Self.hintsInSource() == [])
  }

  /// Runs a story, and each new kind of hint of its commands.
  private func tell(_ story: [[String]]) throws {
    let binary = try Binary()
    defer { binary.remove() }
    for (number, words) in story.enumerated() {
      let result = try run(words, binary)
      commands += 1
      let name = words.prefix(["journal", "simulator"].contains(words[0]) ? 2 : 1).joined(
        separator: " "
      )
      exits[name, default: []].insert(result.status)
      for (index, hint) in Self.hints(result).enumerated() {
        // Of hints of one command that differ only in the reference, one is run.
        let kind = name + ": " + hint.replacing(#/'(?:[^']|'\\'')*'|\b[AB]\b/#, with: "R")
        if judged.insert(kind).inserted { try judge(story.prefix(number + 1), index) }
      }
    }
  }

  /// The hints with a reference in the source: the text before it.
  private static func hintsInSource() throws -> Set<String> {
    let folder = URL(filePath: Project.path("Sources"))
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var found: Set<String> = []
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      where !line.contains("///") {
        for match in line.matches(of: #/([^"\\)]*tender [a-z-]+(?: [a-z]+)? )\\\(/#) {
          let text = String(match.1)
          if !text.contains(#/tender (help|explain|simulator)/#) { found.insert(text) }
        }
      }
    }
    return found
  }

  /// Repeats a story in a new home, and runs one of the commands that its last command suggests.
  private func judge(_ story: ArraySlice<[String]>, _ index: Int) throws {
    let binary = try Binary()
    defer { binary.remove() }
    var last: Binary.Result?
    for words in story { last = try run(words, binary) }
    let hints = last.map(Self.hints) ?? []
    guard hints.indices.contains(index) else { return }
    var shell = binary
    shell.variables["PATH"] = Binary.products.path + ":/usr/bin:/bin"
    let isHelp = hints[index].hasPrefix("tender help")
    let line = hints[index] + (isHelp ? "" : " --deadline 5s") + " --json </dev/null"
    shell.program = "/bin/sh"
    let result = try shell.run(["-c", line])
    #expect(
      !Self.avoidable.contains(result.status),
      "\(result.status): \(hints[index]): \(result.output)\(result.errors) \(story)"
    )
  }

  private func run(_ words: [String], _ binary: Binary) throws -> Binary.Result {
    let cash = #"{"type":"cash","name":"Ada","contact":"ada@example.com"}"#
    return try binary.run(
      words + ["--json"],
      input: words.contains("--instrument-stdin") ? cash : nil
    )
  }

  /// The commands that messages suggest, as a person would copy them.
  static func hints(_ result: Binary.Result) -> [String] { texts(result).flatMap(commands) }

  private static func texts(_ result: Binary.Result) -> [String] {
    let lines = (result.output + "\n" + result.errors).split(separator: "\n")
    return lines.compactMap { JSONReader.read(String($0))?.object }
      .flatMap { record in
        [record["error"]?["hint"], record["text"], record["next"]].compactMap { $0?.text }
      }
  }

  /// The commands in a text. Each ends before punctuation outside quotes. A command with a placeholder in
  /// capitals is left out.
  private static func commands(_ text: String) -> [String] {
    let end = #/(?:'(?:[^']|'\\'')*'|[^;'(,]|,(?! ))*/#
    return text.ranges(of: "tender ").compactMap { range in
      let before = text[..<range.lowerBound].last
      guard before == nil || before == " ",
        let match = text[range.lowerBound...].prefixMatch(of: end)
      else { return nil }
      var command = String(match.0)
      for stop in [". ", " shows ", " says ", " and "] {
        if let found = command.firstRange(of: stop) {
          command = String(command[..<found.lowerBound])
        }
      }
      command = command.trimmingCharacters(in: .whitespaces)
      return command.contains(#/ (?:STATUS|TEXT|NAME|FILE)\b/#) ? nil : command
    }
  }

  /// One payment and up to four commands about it.
  struct Story {
    private(set) var commands: [[String]] = []

    private static let references = ["A", "B", "A", "-dash", "two words", "it's", "$(id)", "a\"b"]
    private static let faults = [
      "paytheory": [
        "part1:close-before", "part1:close-after", "part2:close-before", "part2:close-after",
        "reversal:http-500", "reversal:close-after", "graphql:http-500", "host-token:error-array",
        "token:http-500", "cancel:close-after", "stored:close-after",
      ],
      "toro": [
        "authorisation:close-after", "authorisation:http-404", "completion:close-after",
        "cancellation:http-503", "cancellation:close-after", "reader-connect:error",
        "authorisation:reject-secu", "status-report:http-404",
      ],
      "truelayer": [
        "create:http-422", "create:close-after", "create:http-500", "start:http-422",
        "consent:close-after", "consent:http-404", "status:http-500", "bank-cancel:close-after",
        "refund:close-after", "refund:http-429", "form:http-403",
      ],
    ]
    private static let scenarios = [
      "paytheory": ["decline:do_not_honor", "pending", "returned", "approve"],
      "toro": ["card:pin_cancel", "gateway:partial", "gateway:insufficient_funds"],
      "truelayer": ["bank:failed:payment_limit_exceeded"],
    ]
    private static let more = [
      ["confirm"], ["confirm", "--amount", "4"], ["confirm", "--amount", "99"], ["cancel"],
      ["cancel", "--dry-run"], ["refund"], ["refund", "--amount", "4"],
      ["refund", "--amount", "3"], ["refund", "--amount-minor", "100"], ["cancel", "--refund"],
      ["journal", "resolve", "--as", "failed", "--reason", "x", "--yes"],
      ["journal", "resolve", "--as", "succeeded", "--reason", "x", "--yes"],
      ["refund", "--amount", "99"], ["refund", "--amount", "2", "--refund-reference", "r 1"],
      ["refund", "--dry-run"], ["payment-status"], ["payment-status", "--wait=1s"],
      ["payment-status", "--expect", "declined"], ["journal", "resume"],
      ["journal", "resume", "--finish"], ["journal", "resume", "--finish", "--yes"], ["find"],
      ["find", "--online"],
      ["journal", "show"], ["mandate-status"], ["journal", "resume", "--all"],
    ]

    init(_ random: inout Seeded) {
      func pick<Value>(_ values: [Value], _ random: inout Seeded) -> Value {
        values[random.below(values.count)]
      }
      let reference = pick(Self.references, &random)
      let provider = pick(["paytheory", "toro", "truelayer"], &random)
      func payment(_ provider: String, _ random: inout Seeded) -> [String] {
        var words = ["transact", "--provider", provider, "--reference=" + reference]
        words += ["--amount", pick(["9", "9", "9", "10"], &random), "--deadline", "6s"]
        switch provider {
        case "paytheory":
          words += pick(
            [
              ["--test-card", "visa"], ["--test-card", "visa"], ["--test-card", "visa", "--hold"],
              ["--test-account", "success"], ["--method", "cash", "--instrument-stdin"],
            ],
            &random
          )
        case "toro": words += pick([[], [], ["--hold"]], &random)
        default:
          words += ["--bank", "mock-payments-gb-redirect", "--user", "name=Ada"]
          words += ["--user", "email=ada@example.com"]
          words += pick(
            [
              ["--merchant-account", "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6"],
              [
                "--beneficiary-name", "Shop", "--sort-code", "010203", "--account-number",
                "12345678",
              ],
            ],
            &random
          )
        }
        switch random.below(10) {
        case 0..<3:
          words += ["--sim-scenario", pick(Self.scenarios[provider] ?? [], &random)]
        case 3..<6: words += ["--sim-fault", pick(Self.faults[provider] ?? [], &random)]
        case 6: words += ["--new-attempt"]
        case 7: words += ["--expect", "declined"]
        default: break
        }
        return words
      }
      commands = [payment(provider, &random)]
      for _ in 0...random.below(4) {
        switch random.below(8) {
        case 0:
          commands.append(payment(pick([provider, "toro", "paytheory"], &random), &random))
        case 1: commands.append(commands[0])
        default:
          var words = pick(Self.more, &random)
          if !words.contains("--all") { words.append("--id=" + reference) }
          let isLocal =
            words[0] == "find" && !words.contains("--online")
            || words[0] == "journal" && ["show", "resolve"].contains(words[1])
          if !words.contains("--dry-run"), !isLocal, random.below(3) == 0 {
            words += ["--sim-fault", pick(Self.faults[provider] ?? [], &random)]
          }
          commands.append(words)
        }
      }
    }
  }
}
