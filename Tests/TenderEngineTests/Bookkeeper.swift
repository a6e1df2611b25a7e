import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport

/// A provider with books. Its answers are lost at random, by a seed. Several journals can use it.
final class Bookkeeper: Provider {
  /// The books of one charge.
  struct Account: Sendable {
    var id: String
    var held = 0
    var captured = 0
    var refunded = 0
    var refunding = 0
    var isVoided = false
    var isReturned = false
    /// The provider's word for a dispute.
    var dispute: String?
    var left: Int { isVoided || isReturned ? 0 : captured - refunded - refunding }
  }

  struct Refund: Sendable {
    let account: Int
    /// The operation of a journal that made it; nil if it was made in the portal.
    let maker: String?
    let amount: Int
    var seen: Outcome.Seen
    /// Whether it voided the whole rest. The provider's list is without it.
    var isRest = false

    var isAlive: Bool { [.processing, .succeeded].contains(seen.state.name) }
  }

  struct Book: Sendable {
    var random: Seeded
    var accounts: [Int: Account] = [:]
    /// The answers by key, and by operation.
    var answers: [String: (amount: Int?, outcome: Outcome)] = [:]
    var acted: [String: Outcome] = [:]
    var refunds: [String: Refund] = [:]
    /// The ids of charges and refunds that a person accepted for the command under way, and whether a dispute was
    /// accepted.
    var accepted: Set<String> = []
    var acceptsDispute = false
    /// Requests that a correct engine never sends.
    var wrongs: [String] = []
    /// Whether no message is lost.
    var isCalm = false
    /// Whether the current process has died.
    var isDead = false
    var ids = 0

    /// The account of a charge's or replacement's id, whose last part is the account's number.
    static func account(_ id: String?) -> Int? {
      id?.split(separator: "-").last.flatMap { Int($0) }
    }

    mutating func id(_ account: Int) -> String {
      ids += 1
      return "id-\(ids)-\(account)"
    }
  }

  static let traits = Traits.scripted
  let traits: Traits
  /// Whether a partial refund is a void, which creates a payment for the rest.
  let voidsParts: Bool
  let book: Mutex<Book>

  /// Whether it lists each refund. Otherwise it gives their sum alone, and all are done at once.
  private var listsRefunds: Bool { traits.takesKeys || traits.refundsByVoid }

  init(_ traits: Traits, voidsParts: Bool, seed: Int) {
    self.traits = traits
    self.voidsParts = voidsParts
    book = Mutex(Book(random: Seeded(seed)))
  }

  var name: ProviderName { ProviderName("scripted") }
  var merchant: String { "m" }
  static var nothingHeld: JSONObject { [:] }

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
      _ = try act(progress)
      try die()
    case 3:
      try send(progress)
      _ = try act(progress)
      throw Fault(.providerError, code: "server_error", "it failed")
    case 4:
      try send(progress)
      _ = try act(progress)
      throw Fault(.unknown, effect: .unknown, code: "no_answer", "no answer")
    case 5 where !isFinish:
      try send(progress)
      throw Fault(.rejected, code: "refused", "refused").proven
    case 6 where !isFinish:
      try send(progress)
      // The capture ends the hold.
      if progress.operation.kind == .capture, let number = Book.account(progress.attempt.id) {
        book.withLock { $0.accounts[number]?.held = 0 }
      }
      return declined(progress.operation)
    default:
      try send(progress)
      return try act(progress)
    }
  }

  private func send(_ progress: Progress) throws(Fault) {
    try progress.willSend()
    try progress.permit().use()
  }

  private func seen(
    _ id: String,
    _ amount: Int,
    _ state: Operation.State
  ) -> Outcome.Seen {
    var seen = Outcome.Seen(id: id, state: state, amount: amount, result: [:])
    seen.isVoid = voidsParts
    return seen
  }

  private func declined(_ operation: Operation) -> Outcome {
    var outcome = Outcome(status: .declined, amount: operation.amount, result: [:])
    outcome.fault = Fault(.declined, code: "declined", "declined")
    return outcome
  }

  /// The identity of an operation: no two operations of any journal are made at the same moment.
  static func identity(_ operation: Operation) -> String {
    "\(operation.sequence)@\(operation.createdAt)"
  }

  /// Executes a request, unless it was executed with the same key before.
  private func act(_ progress: Progress) throws(Fault) -> Outcome {
    let (operation, payment) = (progress.operation, progress.payment)
    let done = operation.key.flatMap { key in book.withLock { $0.answers[key] } }
    if let done {
      guard done.amount == operation.amount else {
        throw Fault(.rejected, code: "key_reused", "another request had the key").proven
      }
      return done.outcome
    }
    return book.withLock { book in
      let amount = operation.amount ?? 0
      let number =
        operation.isAttempt
        ? book.accounts.count + 1
        : Book.account(progress.attempt.id ?? payment.state.id) ?? 0
      if operation.isAttempt {
        judgeCharge(&book)
      } else {
        judge(operation, payment, number, &book)
      }
      var outcome = Outcome(
        status: .succeeded,
        id: book.id(number),
        amount: operation.amount,
        result: [:]
      )
      var account = book.accounts[number] ?? Account(id: outcome.id ?? "")
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
        let isSlow = listsRefunds && !voidsParts && !book.isCalm && book.random.below(3) == 0
        outcome.isVoid = voidsParts
        if isSlow { account.refunding += amount } else { account.refunded += amount }
        if isSlow { outcome.status = .pending }
        let id = outcome.id ?? ""
        book.refunds[id] = Refund(
          account: number,
          maker: Self.identity(operation),
          amount: amount,
          seen: seen(id, amount, isSlow ? .processing : .succeeded)
        )
        // A void of the whole rest replaces nothing.
        if voidsParts, account.left == 0 {
          outcome.id = nil
          book.refunds[id]?.isRest = true
        }
      case .store, .createMandate, .revoke, .payout: break
      }
      book.accounts[number] = account
      if let key = operation.key { book.answers[key] = (operation.amount, outcome) }
      book.acted[Self.identity(operation)] = outcome
      return outcome
    }
  }

  /// A charge is wrong beside one that took money, or may take it, unless a person accepted that one.
  private func judgeCharge(_ book: inout Book) {
    for account in book.accounts.values
    where account.captured + account.held > 0 && !book.accepted.contains(account.id) {
      book.wrongs.append("a charge beside \(account.id)")
    }
  }

  /// Money never goes back after a return or a lost dispute. It goes back beside an open dispute or refunds
  /// of others only if a person accepted these.
  private func judge(
    _ operation: Operation,
    _ payment: Payment,
    _ number: Int,
    _ book: inout Book
  ) {
    guard operation.isReversal, let account = book.accounts[number], account.captured > 0 else {
      return
    }
    if account.isReturned { book.wrongs.append("a reversal of what was returned") }
    if account.dispute == "LOST" { book.wrongs.append("a reversal after a lost dispute") }
    if account.dispute == "PENDING", !book.acceptsDispute {
      book.wrongs.append("a reversal beside a dispute")
    }
    let made = Set(payment.operations.map(Self.identity))
    let alive = book.refunds.values.filter { $0.account == number && $0.isAlive }
    let others = alive.filter {
      $0.maker.map { !made.contains($0) } ?? true && !book.accepted.contains($0.seen.id)
    }
    // An operation that was refused explains a refund of its amount.
    let makers = Set(alive.compactMap(\.maker))
    let explaining = payment.reversals.filter { reversal in
      reversal.sequence != operation.sequence && reversal.isAlive && reversal.source == nil
        && !makers.contains(Self.identity(reversal))
    }
    let sum = others.reduce(0) { $0 + $1.amount }
    if sum > explaining.reduce(0, { $0 + $1.effectiveAmount }) {
      book.wrongs.append("a reversal beside \(sum) that others refunded")
    }
  }

  func look(_ progress: Progress) throws(Fault) -> Finding {
    switch draw(4) {
    case 0: return .absent
    case 1: throw Fault(.notSent, code: "not_sent", "no connection")
    default:
      let identity = Self.identity(progress.operation)
      if let outcome = book.withLock({ $0.acted[identity] }) { return .happened(outcome) }
      return draw(2) == 0
        ? .absent : .refuted(Fault(.rejected, code: "refused", "it was refused").proven)
    }
  }

  func canLook(at payment: Payment) -> Bool { traits.looksByReference || payment.state.id != nil }

  func lookUp(_ query: LookUp) throws(Fault) -> Outcome? {
    book.withLock { book in
      let number: Int?
      if let id = query.id {
        number = Book.account(id)
      } else {
        let made = book.accounts.filter { !query.others.contains($0.value.id) }
        number = traits.looksByReference ? made.keys.max() : nil
      }
      guard let number, let account = book.progressed(number) else { return nil }
      var outcome = account.outcome
      outcome.id = query.id ?? account.id
      if listsRefunds {
        outcome.refunds = book.refunds.values.filter { $0.account == number && !$0.isRest }
          .map(\.seen).sorted { $0.id < $1.id }
      }
      if query.isKnown, traits.looksByReference {
        outcome.charges = book.accounts.values.filter { $0.captured > 0 }.map(\.charge)
          .sorted { $0.id < $1.id }
      }
      return outcome
    }
  }

  func adopt(_ id: String) throws(Fault) -> (kind: Payment.Kind, outcome: Outcome)? {
    var query = LookUp()
    query.id = id
    return try lookUp(query).map { (.payment, $0) }
  }
}

extension Bookkeeper.Book {
  /// Returns an account after its refunds in progress were executed, or failed.
  fileprivate mutating func progressed(_ number: Int) -> Bookkeeper.Account? {
    for (id, refund) in refunds.sorted(by: { $0.key < $1.key })
    where refund.account == number && refund.seen.state == .processing {
      guard isCalm || random.below(2) == 0 else { continue }
      let fails = random.below(4) == 0
      refunds[id]?.seen.state = fails ? .declined : .succeeded
      accounts[number]?.refunding -= refund.amount
      if !fails { accounts[number]?.refunded += refund.amount }
    }
    return accounts[number]
  }
}

extension Bookkeeper.Account {
  fileprivate var outcome: Outcome {
    guard captured > 0 else {
      return Outcome(
        status: held > 0 ? .requiresConfirmation : isVoided ? .cancelled : .declined,
        amount: held > 0 ? held : nil,
        result: [:]
      )
    }
    var outcome = Outcome(
      status: isVoided
        ? .cancelled
        : isReturned
          ? .returned
          : refunded == 0 ? .succeeded : refunded == captured ? .refunded : .partiallyRefunded,
      amount: captured,
      result: [:]
    )
    outcome.isVoided = isVoided
    outcome.refundedAmount = isVoided ? nil : refunded
    outcome.dispute = dispute
    return outcome
  }

  fileprivate var charge: Outcome.Seen {
    let state: Operation.State = isVoided ? .cancelled : isReturned ? .returned : .succeeded
    var charge = Outcome.Seen(id: id, state: state, amount: captured, result: [:])
    charge.refunded = refunded
    return charge
  }
}

// MARK: Beside the journal

extension Bookkeeper {
  /// What happens at the provider without a command of any journal.
  enum Event: CaseIterable { case refund, void, capture, comeBack, dispute }

  /// Makes an event with the newest charge, if it is possible. Returns its name.
  func happen(_ event: Event, _ random: inout Seeded) -> String? {
    book.withLock { book in
      guard let number = book.accounts.keys.max(), var account = book.accounts[number],
        !account.isVoided, !account.isReturned
      else { return nil }
      defer { book.accounts[number] = account }
      switch event {
      case .refund:
        // No command refunds such an amount.
        let amount = [31, 47, 59][random.below(3)]
        guard account.left > amount else { return nil }
        account.refunded += amount
        let id = book.id(number)
        book.refunds[id] = Refund(
          account: number,
          maker: nil,
          amount: amount,
          seen: seen(id, amount, .succeeded)
        )
        return "portal refunds \(amount)"
      case .void:
        guard account.held > 0 || account.captured > 0 && account.left == account.captured else {
          return nil
        }
        (account.held, account.isVoided) = (0, true)
        return "portal voids"
      case .capture:
        guard account.held > 0 else { return nil }
        account.captured = random.below(2) == 0 ? account.held : 700
        account.held = 0
        return "portal captures \(account.captured)"
      case .comeBack:
        guard account.captured > 0, account.refunding == 0, account.refunded == 0 else {
          return nil
        }
        account.isReturned = true
        return "returned"
      case .dispute:
        guard account.captured > 0 else { return nil }
        let words = ["PENDING", "LOST", "WON"]
        account.dispute = words[random.below(words.count)]
        return "dispute \(account.dispute ?? "")"
      }
    }
  }
}
