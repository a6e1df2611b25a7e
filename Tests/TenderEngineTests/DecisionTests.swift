import TenderEngine
import TenderModel
import Testing

/// The contract's table "The same command again" (section 4).
@Suite struct DecisionTests {
  static let content: JSONObject = ["command": "transact", "amount": 1050]
  static let other: JSONObject = ["command": "transact", "amount": 2000]

  static func attempt(_ phase: Attempt.Phase, _ status: Status, freed: Bool = false) -> Attempt {
    var attempt = Attempt(
      key: .init(env: .simulator, provider: ProviderName("p"), reference: Reference(stored: "A")),
      number: 1,
      operation: .transact,
      merchant: "m",
      content: content,
      idempotencyKey: "k",
      at: 0
    )
    attempt.phase = phase
    attempt.status = status
    attempt.isFreed = freed
    return attempt
  }

  static func word(_ decision: Decision) -> String {
    switch decision {
    case .open(let number): "open \(number)"
    case .replay: "replay"
    case .findOut(let mayRepeat): mayRepeat ? "find out" : "look"
    case .refuse(let fault): fault.code
    }
  }

  struct Case: CustomTestStringConvertible {
    let name: String
    let attempt: Attempt?
    /// Same content, other content, same content with --new-attempt.
    let words: [String]

    var testDescription: String { name }
  }

  @Test(arguments: [
    Case(name: "nothing yet", attempt: nil, words: ["open 1", "open 1", "open 1"]),
    Case(
      name: "died before sending",
      attempt: attempt(.prepared, .pending),
      words: ["open 2", "open 2", "open 2"]
    ),
    Case(
      name: "ended with no effect",
      attempt: attempt(.done, .failed, freed: true),
      words: ["open 2", "open 2", "open 2"]
    ),
    Case(
      name: "session expired before sending",
      attempt: attempt(.done, .expired, freed: true),
      words: ["open 2", "open 2", "open 2"]
    ),
    Case(
      name: "sent, never answered",
      attempt: attempt(.sent, .pending),
      words: ["find out", "look", "look"]
    ),
    Case(
      name: "declined",
      attempt: attempt(.done, .declined),
      words: ["replay", "reference_reused", "open 2"]
    ),
    Case(
      name: "cancelled",
      attempt: attempt(.done, .cancelled),
      words: ["replay", "reference_reused", "open 2"]
    ),
    Case(
      name: "held",
      attempt: attempt(.done, .requiresConfirmation),
      words: ["replay", "reference_reused", "attempt_stands"]
    ),
    Case(
      name: "pending",
      attempt: attempt(.done, .pending),
      words: ["replay", "reference_reused", "attempt_stands"]
    ),
    Case(
      name: "succeeded",
      attempt: attempt(.done, .succeeded),
      words: ["replay", "reference_reused", "attempt_stands"]
    ),
    Case(
      name: "refunded",
      attempt: attempt(.done, .refunded),
      words: ["replay", "reference_reused", "attempt_stands"]
    ),
  ])
  func `decides as the contract says`(_ example: Case) {
    let same = Decision(latest: example.attempt, content: Self.content, newAttempt: false)
    let other = Decision(latest: example.attempt, content: Self.other, newAttempt: false)
    let again = Decision(latest: example.attempt, content: Self.content, newAttempt: true)
    #expect([same, other, again].map(Self.word) == example.words)
  }

  @Test func `names what differs`() {
    let latest = Self.attempt(.done, .succeeded)
    guard case .refuse(let fault) = Decision(latest: latest, content: Self.other, newAttempt: false)
    else {
      Issue.record("not refused")
      return
    }
    #expect(fault.message == "reference 'A' was used with another amount")
    #expect(fault.exitStatus == 6)
  }
}
