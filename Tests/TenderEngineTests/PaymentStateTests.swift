import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Properties of every list of operations and observations.
@Suite struct PaymentStateTests {
  static let unknown: PaymentFilter = {
    var filter = PaymentFilter()
    filter.statuses = [.unknown]
    return filter
  }()

  /// Returns the violated property; nil if there is none.
  static func wrong(_ payment: Payment, _ state: PaymentState) -> String? {
    let amounts = [
      state.asked, state.authorized, state.captured, state.released, state.reversed, state.refunded,
      state.refunding, state.returned, state.standing, state.leftToCapture, state.leftToRefund,
      state.amount ?? 0,
    ]
    if amounts.contains(where: { $0 < 0 }) { return "negative" }
    let attempt = payment.attempt
    if attempt?.kind == .refund {
      // A refund with a separate reference captures nothing.
      if state.captured > 0 || state.refunded + state.refunding + state.returned > state.asked {
        return "a refund of more than was asked"
      }
    } else if state.refunded + state.refunding + state.reversed > state.captured {
      return "more goes back than was captured"
    }
    if state.captured + state.released > state.authorized { return "more captured than authorized" }
    if state.authorized > state.asked { return "more authorized than asked" }
    if state.returned > max(state.captured, state.asked) { return "more returned than captured" }
    if state.standing > state.captured { return "more at the provider than captured" }
    let free = max(0, state.captured - state.refunded - state.refunding - state.reversed)
    if state.leftToRefund > free { return "more left to refund than there is" }
    if state.leftToCapture > state.authorized - state.captured - state.released {
      return "more left to capture than there is"
    }
    if state.returned > 0 || attempt?.state.name == .returned, state.leftToRefund > 0 {
      return "a returned charge can be refunded"
    }
    if [.cancelled, .declined, .expired, .failed].contains(state.status), state.leftToRefund > 0 {
      return "\(state.status.rawValue), and can be refunded"
    }
    if state.leftToCapture > 0, !state.isHeld { return "can be captured, and is not held" }
    let hasUnknown = payment.operations.contains { $0.state.name == .sent }
    if state.isUnknown != hasUnknown || unknown.lets(payment) != hasUnknown {
      return "--status unknown is not that an operation is sent"
    }
    if state.status == .unknown, !hasUnknown { return "unknown, and nothing is sent" }
    if state.isFinal, !state.status.isFinal || state.nextAction != nil { return "final too early" }
    if state.status == .refunded, state.refunded < state.captured { return "not all is refunded" }
    if state.status == .partiallyRefunded,
      !(1..<max(1, state.captured)).contains(state.refunded)
    {
      return "not a part is refunded"
    }
    return nil
  }

  /// Returns the same operations without those that had no effect.
  static func withoutUndone(_ payment: Payment) -> Payment {
    let gone: Set<Operation.State.Name> = [.failed, .declined, .cancelled, .expired, .returned]
    let operations = payment.operations.filter { operation in
      operation.isAttempt || operation.kind != .refund || !gone.contains(operation.state.name)
    }
    return payment.with(operations, Observed())
  }

  static func amounts(_ state: PaymentState) -> [Int] {
    [
      state.asked, state.authorized, state.captured, state.released, state.reversed, state.refunded,
      state.refunding, state.returned, state.standing, state.leftToCapture, state.leftToRefund,
    ]
  }

  @Test(arguments: 0..<4)
  func `holds for any list at all`(_ part: Int) {
    var random = Seeded(28 + part)
    var problems: [String] = []
    for number in 0..<25_000 {
      let payment = ArbitraryPayment.draw(&random)
      let state = payment.state
      if let wrong = Self.wrong(payment, state) { problems.append("\(number): \(wrong)") }
      // Operations without effect change nothing, returned refunds included.
      var bare = payment
      if payment.observed != Observed() {
        bare = payment.with(payment.operations, Observed())
      }
      if Self.amounts(bare.state) != Self.amounts(Self.withoutUndone(bare).state) {
        problems.append("\(number): a refund that came to nothing counts")
      }
      if problems.count > 5 { break }
    }
    #expect(problems == [])
  }

  /// After each step of a possible history, the provider's books and the journal agree.
  @Test(arguments: 0..<4)
  func `agrees with the provider's books after each step`(_ part: Int) throws {
    var problems: [String] = []
    var lists = 0
    for seed in 0..<3_000 {
      var history = try ValidHistory(seed * 4 + part)
      for _ in 0..<9 {
        lists += 1
        if let wrong = Self.wrong(history.payment, history.payment.state)
          ?? Self.disagreement(history) ?? Self.orderMatters(history)
        {
          problems.append("\(seed): \(wrong) after \(history.steps)")
        }
        guard try history.step() else { break }
      }
      if problems.count > 3 { break }
    }
    #expect(problems == [])
    #expect(lists > 12_000)
  }

  /// Returns the difference between the journal and the provider's books.
  static func disagreement(_ history: ValidHistory) -> String? {
    let (state, books) = (history.payment.state, history.books)
    guard !state.isUnknown else {
      // Until a lost answer is known, the refundable amount is never too large.
      return state.leftToRefund > books.left ? "would refund more than is left" : nil
    }
    let voided = books.isVoided ? books.captured - books.refunded : 0
    var expected = [
      books.captured, books.refunded, books.isVoided ? 0 : books.refunding, voided, books.left,
    ]
    var said = [
      state.captured, state.refunded, state.refunding, state.reversed, state.leftToRefund,
    ]
    // A hold whose capture was declined has ended.
    if state.isHeld || books.held == 0 {
      expected.append(books.held)
      said.append(state.leftToCapture)
    }
    if expected != said { return "books \(expected), journal \(said)" }
    let returned = books.isReturned ? books.captured - books.voided : 0
    if state.returned != returned { return "returned \(state.returned), books: \(returned)" }
    if state.warning != nil, !books.isRefundedElsewhere {
      return "a warning: \(state.warning ?? "")"
    }
    let status = status(history)
    return state.status == status ? nil : "\(state.status.rawValue) instead of \(status.rawValue)"
  }

  /// Returns the payment's status by the provider's books.
  static func status(_ history: ValidHistory) -> Status {
    let books = history.books
    if books.isVoided { return .cancelled }
    if books.isReturned { return .returned }
    if books.captured > 0 {
      if books.refunded == books.captured { return .refunded }
      if books.refunded > 0 { return .partiallyRefunded }
      return books.isSettled ? .succeeded : .pending
    }
    let payment = history.payment
    let capture = payment.followers.last { $0.kind == .capture && $0.state.name != .failed }
    if capture?.state.name == .declined { return .declined }
    if books.held > 0 { return .requiresConfirmation }
    return payment.attempt?.state.name == .failed ? .failed : .declined
  }

  /// Returns how the result depends on the order of observations or on repetitions; nil if it does not.
  static func orderMatters(_ history: ValidHistory) -> String? {
    guard !history.seen.isEmpty else { return nil }
    func with(_ seen: [Observation]) -> PaymentState {
      var payment = history.payment.with(history.payment.operations, Observed())
      for observation in seen { payment.add(observation) }
      return payment.state
    }
    let state = history.payment.state
    if with(history.seen.reversed()) != state { return "the order of observations matters" }
    return with(history.seen + history.seen) == state ? nil : "an observation counts twice"
  }

  @Test func `joins what was observed in any order, grouping and number`() {
    var random = Seeded(5)
    var problems: [Int] = []
    for number in 0..<5_000 {
      let seen = (0..<3).map { _ in ArbitraryPayment.observation(of: 3, &random) }
      func joined(_ list: [Observation]) -> Observed {
        var observed = Observed()
        for observation in list { observed.join(observation) }
        return observed
      }
      let all = joined(seen)
      let isSame = StateTableTests.permutations(seen).allSatisfy {
        joined($0) == all && joined($0 + $0) == all
      }
      var again = all
      again.join(seen[random.below(3)])
      if !isSame || again != all { problems.append(number) }
    }
    #expect(problems == [])
  }

  /// Possible observations of operations lead to the same state in any order.
  @Test func `comes to the same however observations of its operations arrive`() throws {
    let ends: [[Operation.State]] = [
      [.processing, .succeeded, .returned], [.processing, .succeeded], [.processing, .declined],
      [.processing, .cancelled], [.expired, .processing, .succeeded], [.processing],
    ]
    var random = Seeded(9)
    for number in 0..<5_000 {
      let payment = Payment.of(
        .charge(100, .lost),
        .refund(30, .lost),
        .refund(20, random.below(2) == 0 ? .lost : .processing),
        .void(10, .lost, id: "pt-2")
      )
      var said: [Observation] = []
      for operation in payment.operations {
        for state in ArbitraryPayment.pick(ends, &random) where random.below(3) > 0 {
          var seen = Observation(
            .webhook,
            at: random.below(3),
            operation: operation.sequence,
            state: state
          )
          seen.refunded = random.below(2) == 0 ? nil : random.below(60)
          seen.elsewhere = random.below(5)
          seen.providerStatus = random.below(2) == 0 ? nil : "S\(random.below(3))"
          said.append(seen)
        }
      }
      func arrived(_ list: [Observation]) throws -> PaymentState {
        var payment = payment
        for seen in list {
          payment.add(seen)
          guard payment[seen.operation]?.state.allows(seen.state) == true else { continue }
          try payment.change(seen.operation) { (operation: inout Operation) throws(Fault) in
            try operation.move(.observe, to: seen.state, at: 0)
          }
        }
        return payment.state
      }
      let state = try arrived(said)
      var shuffled = said
      for place in shuffled.indices.reversed() {
        shuffled.swapAt(place, random.below(place + 1))
      }
      try #require(try arrived(shuffled) == state, "\(number)")
      try #require(try arrived(shuffled + said) == state, "\(number)")
    }
  }
}
