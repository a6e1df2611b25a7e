import TenderModel
import TenderSimulator
import TenderTestSupport

/// The possible commands of a provider in a history of one reference, in any order.
struct Shelf: Sendable {
  /// One command, as arguments of a command line.
  typealias Draw = @Sendable (inout Seeded, _ reference: String) -> [String]

  let name: String
  /// The first command of a history. The same arguments again are the same order.
  let first: Draw
  /// The later commands, drawn one by one.
  let later: Draw
  /// The faults of the provider for a command.
  let faults: @Sendable (_ command: String) -> [String]
  /// The money of a reference in the provider's books.
  let money: @Sendable (_ path: String, _ reference: String) throws -> LedgerAudit.Money
  /// Whether a refund has no key at the provider. Then only `--finish` sends again, since it could act twice.
  var isKeyless = false
  /// The references of refunds that the card makes.
  var refunds: @Sendable (_ reference: String) -> [String] = { _ in [] }

  static let all = [payTheory, toro, trueLayer]

  private static func look(_ random: inout Seeded, _ reference: String) -> [String] {
    random.below(2) == 0 ? ["payment-status", reference] : ["journal", "resume", reference]
  }

  /// Draws a refund by name, or without one. Each name has a different amount.
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
        ["part2:reset-after", "part2:reset-before", "part1:close-after", "part2:garbage"]
      case "confirm": ["part2:reset-after", "part2:wrong-key"]
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
        "--merchant-account", "acc00000-0000-4000-8000-000000000826",
        "--redirect-url", "https://shop.example/return", "--user", "name=Remi", "--user",
        "email=remi@example.com", "--reference", reference,
      ]
    },
    later: { random, reference in
      // A payment that its payer has authorized can be refunded after a look-up.
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
