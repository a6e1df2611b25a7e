import Foundation
import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Commands in any order, with lost answers and dying processes. No effect happens twice. At the end, books
/// and journal agree to the minor unit.
///
/// In half of the histories, other things happen beside the journal: refunds, voids and captures in the
/// provider's portal, a return, a dispute, commands of a second journal, and a restored backup.
///
/// `TENDER_HISTORIES` sets the number of histories, with new seeds. Without it the seeds are fixed.
@Suite struct BooksTests {
  /// The provider's traits, and whether it voids parts.
  static let kinds: [(Traits, Bool)] = [
    (.scripted, false), (Traits(kinds: Traits.allKinds) { $0.looksByReference = true }, false),
    (.voidsAndLooks, false),
    (.voidsAndLooks, true),
  ]

  @Test(arguments: kinds.indices)
  func `books and journal agree after any commands`(_ kind: Int) throws {
    var problems: [String] = []
    var (unknown, besides) = (0, 0)
    let asked = ProcessInfo.processInfo.environment["TENDER_HISTORIES"].flatMap { Int($0) }
    let first = asked == nil ? 0 : Int.random(in: 1..<1_000_000)
    let runs = asked ?? 250
    for seed in first..<first + runs {
      let history = BookHistory(kind, seed)
      try history.run()
      problems += history.problems.map { "\(seed): \($0): \(history.said)" }
      unknown += history.unknown
      besides += history.besides
    }
    print(
      "engine, provider \(kind): \(runs) histories, \(besides) events beside the journal, \(unknown) unknown in "
        + "the end, \(problems.count) contradictions (seeds from \(first))"
    )
    #expect(Array(problems.prefix(3)) == [])
    #expect(unknown == 0 && besides > runs / 2)
  }
}

/// One history of one reference.
private final class BookHistory {
  private let provider: Bookkeeper
  private let clock = ManualClock()
  private var random: Seeded
  private let isHold: Bool
  /// Whether things happen beside the journal.
  private let isShared: Bool
  private var memory = MemoryJournal()
  /// The ids of refunds that a person accepted for this journal.
  private var accepted: Set<String> = []
  private var backup: (memory: MemoryJournal, accepted: Set<String>)?
  private let otherMemory = MemoryJournal()
  private(set) var besides = 0
  private(set) var unknown = 0
  private(set) var said: [String] = []
  private(set) var problems: [String] = []

  init(_ kind: Int, _ seed: Int) {
    let (traits, voidsParts) = BooksTests.kinds[kind]
    provider = Bookkeeper(traits, voidsParts: voidsParts, seed: seed)
    random = Seeded(seed * 4 + kind)
    isHold = random.below(3) == 0
    isShared = seed % 2 == 1
  }

  private func till(_ memory: MemoryJournal) -> Till<Bookkeeper> {
    let provider = provider
    let journal = FailingJournal(memory) { _, _ in provider.book.withLock { $0.isDead } }
    return Till(provider, journal: journal, clock: clock)
  }

  private var looksByReference: Bool { provider.traits.looksByReference }
  private var till: Till<Bookkeeper> { till(memory) }
  private var other: Till<Bookkeeper> { till(otherMemory) }

  func run() throws {
    for _ in 0..<12 {
      clock.advance(1)
      if isShared, random.below(4) == 0 { try beside() } else { said.append(try command(till)) }
      try check()
    }
    provider.book.withLock { $0.isCalm = true }
    for _ in 0..<3 { said.append("finish: " + (try till.resume(finish: true))) }
    for _ in 0..<2 { said.append("status: " + (try till.status())) }
    let wrongs = provider.book.withLock { $0.wrongs }
    if !wrongs.isEmpty { problems.append("\(wrongs)") }
    guard let payment = try till.payment() else { return }
    if payment.state.isUnknown { unknown += 1 }
    if let difference = difference(payment) { problems.append(difference) }
  }

  /// Checks the sums of both journals after a command.
  private func check() throws {
    provider.book.withLock { book in
      (book.isDead, book.accepted, book.acceptsDispute) = (false, accepted, false)
    }
    for payment in try [till.payment(), other.payment()].compactMap(\.self) {
      if let wrong = PaymentStateTests.wrong(payment, payment.state) { problems.append(wrong) }
    }
  }

  private func transact(_ till: Till<Bookkeeper>, newAttempt: Bool = false) throws -> String {
    try till.transact(
      hold: isHold,
      newAttempt: newAttempt,
      looksFirst: looksByReference
    )
  }

  private func command(_ till: Till<Bookkeeper>, charges: Bool = true) throws -> String {
    let names: [String?] = [nil, "r1", "r2"]
    switch charges ? random.below(12) : 3 + random.below(9) {
    case 0, 1: return "transact: " + (try transact(till))
    case 2: return "new attempt: " + (try transact(till, newAttempt: true))
    case 3, 4, 5:
      let amount = (1 + random.below(4)) * 100
      let name = ArbitraryPayment.pick(names, &random)
      return "refund \(amount) \(name ?? ""): " + (try till.refund(amount, name: name))
    case 6: return "refund rest: " + (try till.refund())
    case 7: return random.below(3) > 0 ? "-" : "cancel: " + (try till.cancel())
    case 8, 9:
      return isHold ? "confirm: " + (try till.confirm(random.below(2) == 0 ? nil : 600)) : "-"
    case 10: return "status: " + (try till.status())
    default:
      let finish = random.below(2) == 0
      return "resume \(finish): " + (try till.resume(finish: finish))
    }
  }

  // MARK: Beside the journal

  private func beside() throws {
    besides += 1
    switch random.below(10) {
    case 0, 1:
      provider.book.withLock { $0.accepted = [] }
      said.append("other journal, " + (try command(other, charges: looksByReference)))
    case 2: said.append(try accept())
    case 3:
      if let backup {
        (memory, accepted) = (backup.memory.copy(), backup.accepted)
        said.append("restored")
      } else if try looksByReference || till.payment()?.state.id != nil {
        // Without a search by reference, only the journal stops another charge.
        backup = (memory.copy(), accepted)
        said.append("backup")
      }
    default:
      let event = ArbitraryPayment.pick(Bookkeeper.Event.allCases, &random)
      said.append(provider.happen(event, &random) ?? "-")
    }
  }

  /// A person refunds a part after a look, and accepts all that the look showed.
  private func accept() throws -> String {
    _ = try till.status()
    let found = try till.payment()
    let ids = Set(found?.refundsElsewhere.map(\.handle) ?? [])
    provider.book.withLock { book in
      // The person sees the sum, and the provider may have several refunds in it.
      if !ids.isEmpty { accepted.formUnion(book.refunds.filter { $0.value.isAlive }.map(\.key)) }
      (book.accepted, book.acceptsDispute) = (accepted, true)
    }
    return "accept \(ids.sorted()): "
      + (try till.refund(20, name: "despite \(clock.now)", despite: ids, despiteDispute: true))
  }

  // MARK: The end

  /// Returns the difference between journal and books.
  private func difference(_ payment: Payment) -> String? {
    let state = payment.state
    let accounts = provider.book.withLock { $0.accounts }
    let account = Bookkeeper.Book.account(state.id).flatMap { accounts[$0] } ?? .init(id: "")
    // A hold that was captured and then voided in the portal has ended, and the answer names no capture.
    let captured = account.isVoided && state.captured == 0 ? 0 : account.captured
    let books = [account.isVoided ? 0 : account.held, captured, account.refunded, account.left]
    let said = [state.leftToCapture, state.captured, state.refunded, state.leftToRefund]
    if books != said { return "books \(books), journal \(said), \(state.status.rawValue)" }
    if account.isVoided || state.status == .cancelled,
      state.status != .cancelled || !account.isVoided
    {
      return state.status.rawValue
    }
    if (state.status == .returned) != account.isReturned { return state.status.rawValue }
    guard looksByReference else { return isShared ? nil : state.warning }
    let kept = state.leftToRefund + state.refunding + state.surplus
    let all = accounts.values.reduce(0) {
      $0 + $1.left + ($1.isVoided || $1.isReturned ? 0 : $1.refunding)
    }
    if kept != all { return "books have \(all) in all, journal \(kept)" }
    return isShared ? nil : state.warning
  }
}
