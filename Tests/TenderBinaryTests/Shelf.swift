import TenderModel
import TenderSimulator
import TenderTestSupport

/// What may be asked for at a provider in a history of one reference: any command, in any order.
struct Shelf: Sendable {
  /// One command, as the words of a command line.
  typealias Draw = @Sendable (inout Seeded, _ reference: String) -> [String]

  let name: String
  /// The command that a history begins with; the same words again are the same order.
  let first: Draw
  /// What may come after, drawn one by one.
  let later: Draw
  /// What the other side may do to a command.
  let faults: @Sendable (_ command: String) -> [String]
  /// What the provider's own books have of a reference.
  let money: @Sendable (_ path: String, _ reference: String) throws -> LedgerAudit.Money
  /// Whether a refund has no key at the provider: what may be sent twice only `--finish` sends again.
  var isKeyless = false
  /// The references of refunds that the card makes.
  var refunds: @Sendable (_ reference: String) -> [String] = { _ in [] }

  static let all = [payTheory, toro, trueLayer]

  private static func look(_ random: inout Seeded, _ reference: String) -> [String] {
    random.below(2) == 0 ? ["payment-status", reference] : ["journal", "resume", reference]
  }

  /// A refund by name, or without one: each name has an amount of its own.
  private static func refund(_ random: inout Seeded, _ reference: String) -> [String] {
    switch random.below(6) {
    case 0: ["refund", reference, "--amount", "1.50"]
    case 1: ["refund", reference]
    case 2: ["refund", reference, "--rest"]
    case let name:
      ["refund", reference, "--amount", "\(name)", "--refund-reference", "r\(name)"]
    }
  }

  static let payTheory = Shelf(
    name: "paytheory",
    first: { random, reference in
      let words = [
        "transact", "--amount", "10.50", "--test-card", "visa", "--reference", reference,
      ]
      switch random.below(3) {
      case 0: return words + ["--hold"]
      case 1: return words + ["--sim-scenario", "pending"]
      default: return words
      }
    },
    later: { random, reference in
      switch random.below(10) {
      case 0, 1: look(&random, reference)
      case 2, 3: ["confirm", reference]
      case 4: ["cancel", reference]
      default: refund(&random, reference)
      }
    },
    faults: { command in
      switch command {
      case "transact":
        ["part2:drop-after", "part2:drop-before", "part1:close-after", "part2:garbage"]
      case "confirm": ["part2:drop-after", "part2:wrong-key"]
      default: ["reversal:close-after", "reversal:close-before", "reversal:garbage"]
      }
    },
    money: { try LedgerAudit.payTheoryMoney(path: $0, reference: $1) },
    isKeyless: true
  )

  static let toro = Shelf(
    name: "toro",
    first: { random, reference in
      let words = ["transact", "--amount", "10.50", "--reference", reference]
      return random.below(2) == 0 ? words + ["--hold"] : words
    },
    later: { random, reference in
      switch random.below(9) {
      case 0, 1: return look(&random, reference)
      case 2: return ["confirm", reference]
      case 3: return ["confirm", reference, "--amount", "7"]
      case 4: return ["cancel", reference]
      default:
        let number = 1 + random.below(3)
        return [
          "transact", "--type", "refund", "--original", reference, "--amount", "\(number)",
          "--reference", "\(reference)-R\(number)",
        ]
      }
    },
    faults: { command in
      switch command {
      case "transact":
        ["authorisation:close-after", "authorisation:bad-mac", "authorisation:close-before"]
      case "confirm": ["completion:close-after*1", "completion:wrong-exchange*1"]
      default: ["cancellation:close-after*1", "cancellation:truncated*1"]
      }
    },
    money: { try LedgerAudit.saleMoney(path: $0, reference: $1) },
    refunds: { reference in (1...3).map { "\(reference)-R\($0)" } }
  )

  static let trueLayer = Shelf(
    name: "truelayer",
    first: { _, reference in
      [
        "transact", "--amount", "10.50", "--bank", "mock-payments-gb-redirect",
        "--merchant-account", "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6",
        "--redirect-url", "https://shop.example/return", "--user", "name=Remi", "--user",
        "email=remi@example.com", "--reference", reference,
      ]
    },
    later: { random, reference in
      // A payment that its payer has authorized can be refunded once a look has seen that.
      switch random.below(9) {
      case 0, 1, 2: look(&random, reference)
      case 3: ["cancel", reference]
      default: refund(&random, reference)
      }
    },
    faults: { command in
      switch command {
      case "transact": ["create:close-after*1", "create:http-500*1", "consent:close-after*1"]
      case "cancel": ["bank-cancel:close-after*1", "refund:close-after*1"]
      default: ["refund:close-after*1", "refund:close-before*1", "refund:close-after"]
      }
    },
    money: { try LedgerAudit.bankMoney(path: $0, reference: $1) }
  )
}
