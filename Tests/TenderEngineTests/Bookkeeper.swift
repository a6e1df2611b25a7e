import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport

/// A provider with books. Its answers are lost at random, by a seed.
final class Bookkeeper: Provider {
  /// The books of one attempt.
  struct Account: Sendable {
    var held = 0
    var captured = 0
    var refunded = 0
    var refunding = 0
    var isVoided = false
    /// The amount refunded by partial voids. Each creates another payment in place of the one before.
    var replaced = 0

    var left: Int { isVoided ? 0 : captured - refunded - refunding }
  }

  struct Book: Sendable {
    var random: Seeded
    /// The accounts by the attempt's sequence.
    var accounts: [Int: Account] = [:]
    /// The answers by key, and by operation.
    var answers: [String: Outcome] = [:]
    var acted: [Int: Outcome] = [:]
    var refunds: [String: Outcome.SeenRefund] = [:]
    /// Requests that a correct engine never sends.
    var wrongs: [String] = []
    /// Whether no message is lost.
    var isCalm = false
    /// Whether the current process has died.
    var isDead = false
    var sent = 0
  }

  let traits: Traits
  /// Whether a partial refund is a void, which creates a payment for the rest.
  let voidsParts: Bool
  let book: Mutex<Book>

  init(_ traits: Traits, voidsParts: Bool, seed: Int) {
    self.traits = traits
    self.voidsParts = voidsParts
    book = Mutex(Book(random: Seeded(seed)))
  }

  var name: ProviderName { ProviderName("scripted") }
  var merchant: String { "m" }
  var nothingHeld: JSONObject { [:] }

  func isID(_ handle: String) -> Bool { handle.hasPrefix("id-") }

  func check(_ order: TestOrder) throws(Fault) {}

  func preview(_ order: TestOrder) throws(Fault) -> JSONObject { [:] }

  private func draw(_ limit: Int) -> Int {
    book.withLock { $0.isCalm ? limit - 1 : $0.random.below(limit) }
  }

  private func die() throws(Fault) -> Never {
    book.withLock { $0.isDead = true }
    throw Fault(.terminated, code: "terminated", "killed")
  }

  func perform(_ order: OrderOf<TestOrder>?, _ progress: Progress) throws(Fault) -> Outcome {
    let isFinish = progress.operation.isUnknown
    switch draw(isFinish ? 12 : 16) {
    case 12:
      try progress.prepare(.plain("step"))
      try die()
    case 13 where !isFinish: throw Fault(.notSent, code: "not_sent", "no connection")
    case 0:
      try send(progress)
      try die()
    case 1:
      try send(progress)
      throw Fault(.unknown, effect: .unknown, code: "no_answer", "no answer")
    case 2:
      try send(progress)
      _ = act(progress)
      try die()
    case 3:
      try send(progress)
      _ = act(progress)
      throw Fault(.providerError, code: "server_error", "it failed")
    case 4:
      try send(progress)
      _ = act(progress)
      throw Fault(.unknown, effect: .unknown, code: "no_answer", "no answer")
    case 5 where !isFinish:
      try send(progress)
      throw Fault(.rejected, code: "refused", "refused").proven
    case 6 where !isFinish:
      try send(progress)
      // The capture ends the hold.
      if progress.operation.kind == .capture {
        book.withLock { $0.accounts[progress.attempt.sequence]?.held = 0 }
      }
      return declined(progress.operation)
    default:
      try send(progress)
      return act(progress)
    }
  }

  private func send(_ progress: Progress) throws(Fault) {
    try progress.willSend()
    try progress.permit().use()
    book.withLock { $0.sent += 1 }
  }

  private func declined(_ operation: Operation) -> Outcome {
    var outcome = Outcome(status: .declined, amount: operation.amount, result: [:])
    outcome.fault = Fault(.declined, code: "declined", "declined")
    return outcome
  }

  /// Executes a request, unless it was executed with the same key before.
  private func act(_ progress: Progress) -> Outcome {
    let (operation, attempt) = (progress.operation, progress.attempt.sequence)
    return book.withLock { book in
      if let key = operation.key, let answer = book.answers[key] { return answer }
      let amount = operation.amount ?? 0
      var account = book.accounts[attempt] ?? Account()
      var outcome = Outcome(
        status: .succeeded,
        id: "id-\(operation.sequence)-\(attempt)",
        amount: operation.amount,
        result: [:]
      )
      switch operation.kind {
      case .authorize:
        account.held = amount
        outcome.status = .requiresConfirmation
      case .charge: account.captured += amount
      case .capture:
        if amount > account.held { book.wrongs.append("a capture of more than is held") }
        account.captured += amount
        account.held = 0
      case .void:
        if account.isVoided || account.held + account.left < amount {
          book.wrongs.append("a void of what is not there")
        }
        (account.held, account.isVoided) = (0, true)
        outcome.status = .cancelled
      case .refund:
        if amount > account.left {
          book.wrongs.append("a refund of \(amount) with \(account.left) left")
        }
        let isSlow = !voidsParts && !book.isCalm && book.random.below(3) == 0
        outcome.isVoid = voidsParts
        if voidsParts { account.replaced += amount }
        if isSlow { account.refunding += amount } else { account.refunded += amount }
        if isSlow { outcome.status = .pending }
        let state: Operation.State = isSlow ? .processing : .succeeded
        let id = outcome.id ?? ""
        book.refunds[id] = Outcome.SeenRefund(id: id, state: state, amount: amount, result: [:])
      case .store, .createMandate, .revoke, .payout: break
      }
      book.accounts[attempt] = account
      if book.accounts.values.count(where: { $0.held + $0.captured > 0 && !$0.isVoided }) > 1 {
        book.wrongs.append("two payments under one reference")
      }
      if let key = operation.key { book.answers[key] = outcome }
      book.acted[operation.sequence] = outcome
      return outcome
    }
  }

  func look(_ progress: Progress) throws(Fault) -> Finding {
    switch draw(4) {
    case 0: return .absent
    case 1: throw Fault(.notSent, code: "not_sent", "no connection")
    default:
      if let outcome = book.withLock({ $0.acted[progress.sequence] }) { return .happened(outcome) }
      return draw(2) == 0
        ? .absent : .refuted(Fault(.rejected, code: "refused", "it was refused").proven)
    }
  }

  func lookUp(_ query: LookUp) throws(Fault) -> Outcome? {
    let attempt = query.id?.split(separator: "-").last.flatMap { Int($0) }
    return book.withLock { book in
      // Refunds in progress are executed, or fail.
      for (id, refund) in book.refunds where refund.state == .processing {
        guard let attempt, book.isCalm || book.random.below(2) == 0 else { continue }
        let fails = book.random.below(4) == 0
        let amount = refund.amount ?? 0
        book.refunds[id]?.state = fails ? .declined : .succeeded
        book.accounts[attempt]?.refunding -= amount
        if !fails { book.accounts[attempt]?.refunded += amount }
      }
      guard let attempt, let account = book.accounts[attempt], account.captured > 0 else {
        return nil
      }
      var outcome = Outcome(
        status: account.refunded == 0
          ? .succeeded : account.refunded == account.captured ? .refunded : .partiallyRefunded,
        id: query.id,
        amount: account.captured - account.replaced,
        result: [:]
      )
      if account.isVoided { outcome.status = .cancelled }
      outcome.refundedAmount = account.isVoided ? nil : account.refunded - account.replaced
      outcome.refunds = query.refunds.compactMap { book.refunds[$0] }
      return outcome
    }
  }

  func recovery(of operation: Operation, in payment: Payment) -> Recovery {
    operation.key == nil ? .byHand(canResend: false) : .sameKey()
  }
}
