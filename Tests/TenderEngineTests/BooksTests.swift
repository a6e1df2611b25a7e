import Foundation
import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Commands in any order, with lost answers and dying processes. No effect happens twice. At the end, books
/// and journal agree to the minor unit.
///
/// `TENDER_HISTORIES` sets the number of histories, with new seeds. Without it the seeds are fixed.
@Suite struct BooksTests {
  /// The provider's traits, and whether it voids parts.
  static let kinds: [(Traits, Bool)] = [
    (.scripted, false), (.keyless, false),
    (Traits(kinds: Traits.allKinds, refundsByVoid: true), false),
    (Traits(kinds: Traits.allKinds, refundsByVoid: true), true),
  ]

  @Test(arguments: kinds.indices)
  func `books and journal agree after any commands`(_ kind: Int) throws {
    let (traits, voidsParts) = Self.kinds[kind]
    var problems: [String] = []
    var unknown = 0
    let asked = ProcessInfo.processInfo.environment["TENDER_HISTORIES"].flatMap { Int($0) }
    let first = asked == nil ? 0 : Int.random(in: 1..<1_000_000)
    let runs = asked ?? 250
    for seed in first..<first + runs {
      let provider = Bookkeeper(traits, voidsParts: voidsParts, seed: seed)
      let journal = FailingJournal(MemoryJournal()) { _, _ in provider.book.withLock { $0.isDead } }
      let till = Till(provider, journal: journal)
      var random = Seeded(seed * 4 + kind)
      let isHold = random.below(3) == 0
      var said: [String] = []
      for _ in 0..<12 {
        said.append(try command(&random, till, isHold: isHold))
        provider.book.withLock { $0.isDead = false }
        if let payment = try till.payment(),
          let wrong = PaymentStateTests.wrong(payment, payment.state)
        {
          problems.append("\(seed): \(wrong): \(said)")
        }
      }
      provider.book.withLock { $0.isCalm = true }
      for _ in 0..<3 { said.append("finish: " + (try till.resume(finish: true))) }
      for _ in 0..<2 { said.append("status: " + (try till.status())) }
      let wrongs = provider.book.withLock { $0.wrongs }
      if !wrongs.isEmpty { problems.append("\(seed): \(wrongs): \(said)") }
      guard let payment = try till.payment() else { continue }
      if payment.state.isUnknown { unknown += 1 }
      if let difference = Self.difference(payment, provider) {
        problems.append("\(seed): \(difference): \(said)")
      }
    }
    print(
      "engine, provider \(kind): \(runs) histories, \(unknown) unknown in the end, "
        + "\(problems.count) contradictions (seeds from \(first))"
    )
    #expect(Array(problems.prefix(3)) == [])
    #expect(unknown == 0)
  }

  private func command(
    _ random: inout Seeded,
    _ till: Till<Bookkeeper>,
    isHold: Bool
  ) throws -> String {
    let names: [String?] = [nil, "r1", "r2"]
    switch random.below(12) {
    case 0, 1: return "transact: " + (try till.transact(hold: isHold))
    case 2: return "new attempt: " + (try till.transact(hold: isHold, newAttempt: true))
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

  /// Returns the difference between journal and books.
  static func difference(_ payment: Payment, _ provider: Bookkeeper) -> String? {
    let state = payment.state
    let account = provider.book.withLock { $0.accounts[payment.attempt?.sequence ?? 0] } ?? .init()
    let books = [
      account.isVoided ? 0 : account.held, account.captured, account.refunded, account.left,
    ]
    let said = [state.leftToCapture, state.captured, state.refunded, state.leftToRefund]
    if books != said { return "books \(books), journal \(said), \(state.status.rawValue)" }
    if (state.status == .cancelled) != account.isVoided { return "\(state.status.rawValue)" }
    return state.warning
  }
}
