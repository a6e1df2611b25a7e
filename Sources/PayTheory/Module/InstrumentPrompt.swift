internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// Prompts for an instrument, one member at a time, each up to three times.
struct InstrumentPrompt {
  let terminal: Terminal
  let interruption: Signals
  let today: YearMonth
  /// Called with each secret as soon as it was typed.
  let learn: (_ member: String, _ secret: SharedSecret) -> Void
  /// The answers as the members of an instrument. Secret members are empty here.
  private(set) var object: JSONObject = [:]
  private(set) var secrets: [String: SharedSecret] = [:]

  /// Prompts for everything that a method needs.
  ///
  /// Throws `usage` after a third invalid answer, `refused` at the end of the input.
  mutating func ask(for method: Instrument.Method) throws(Fault) {
    let today = today
    switch method {
    case .card:
      try askSecret("number", "Card number (hidden): ") { answer throws(Fault) in
        guard Digits.areCardNumber(answer) else {
          throw .badField("number", "must be 13 to 19 digits with a valid check digit")
        }
      }
      try ask("expiration", "Expiration MM/YY: ") { answer throws(Fault) in
        guard try !Expiration(answer).month.isBefore(today) else {
          throw .badField("expiration", "is in the past")
        }
      }
      try askSecret("security_code", "Security code (hidden): ") { answer throws(Fault) in
        guard Digits.plain(answer, count: 3...4) else {
          throw .badField("security_code", "must be 3 digits, 4 for American Express")
        }
      }
    case .ach:
      try ask("name", "Account holder: ", Self.isThere)
      try ask("routing_number", "Routing number: ") { answer throws(Fault) in
        guard Digits.passRouting(Digits.only(in: answer) ?? []) else {
          throw .badField("routing_number", "must be 9 digits with a valid ABA check digit")
        }
      }
      try askSecret("account_number", "Account number (hidden): ") { answer throws(Fault) in
        guard Digits.plain(answer, count: 4...17) else {
          throw .badField("account_number", "must be 4 to 17 digits")
        }
      }
      try ask("account_type", "CHECKING or SAVINGS: ") { answer throws(Fault) in
        guard BankAccount.Kind(rawValue: answer.uppercased()) != nil else {
          throw .badField("account_type", "must be CHECKING or SAVINGS")
        }
      }
    case .cash:
      try ask("name", "Payer's name: ", Self.isThere)
      try ask("contact", "E-mail or phone: ") { answer throws(Fault) in
        _ = try CashPayer(name: "x", contact: answer)
      }
    }
  }

  private static func isThere(_ name: String) throws(Fault) {
    if name.isBlank { throw .badField("name", "is missing") }
  }

  private mutating func ask(
    _ member: String,
    _ text: String,
    _ check: (String) throws(Fault) -> Void
  ) throws(Fault) {
    try Self.repeated(terminal) { () throws(Fault) in
      let answer = try terminal.ask(text, hidden: false, interruption: interruption)
      try check(answer)
      object[member] = .string(answer)
    }
  }

  /// Prompts for a secret with echo off.
  private mutating func askSecret(
    _ member: String,
    _ text: String,
    _ check: (borrowing Secret) throws(Fault) -> Void
  ) throws(Fault) {
    try Self.repeated(terminal) { () throws(Fault) in
      let answer = SharedSecret(try terminal.askSecret(text, interruption: interruption))
      try check(answer.secret)
      secrets[member] = answer
      object[member] = ""
      learn(member, answer)
    }
  }

  /// Reports an invalid answer at once, and prompts again.
  private static func repeated(
    _ terminal: Terminal,
    _ question: () throws(Fault) -> Void
  ) throws(Fault) {
    for turn in 1...3 {
      do throws(Fault) {
        return try question()
      } catch {
        guard error.kind == .usage, turn < 3 else { throw error }
        terminal.say("  \(error.message)")
      }
    }
  }
}
