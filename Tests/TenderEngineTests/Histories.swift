import TenderEngine
import TenderModel
import TenderTestSupport

/// Lists of operations and observations, drawn by a seed.
struct ArbitraryPayment {
  static let amounts: [Int?] = [
    nil, 0, 1, 5, 10, 10, 10, 100, 193, 1050, -1, -10, .max, .min, 1_000_000_000_000_000,
  ]

  /// What takes and gives back money comes more often.
  static let kinds =
    Operation.Kind.allCases + [.charge, .authorize, .capture, .void, .void, .refund, .refund]
  static let states =
    Operation.State.all + [.held, .held, .succeeded, .succeeded, .succeeded, .succeeded, .lost]

  /// Any list at all: most could never happen.
  static func draw(_ random: inout Seeded) -> Payment {
    var operations: [Operation] = []
    let count = random.below(7)
    for place in 0..<count {
      var operation = Operation(
        pick(kinds, &random),
        amount: pick(amounts, &random),
        at: 0
      )
      operation.state = pick(states, &random)
      if random.below(4) == 0 { operation.approved = pick(amounts, &random) }
      if random.below(3) == 0 { operation.id = pick(["a", "b"], &random) }
      if random.below(8) == 0 { operation.link = Reference(stored: "B") }
      if place == 0 || random.below(8) == 0 { operation.content = ["amount": 10] }
      // Rows of a damaged journal may be out of order.
      operation.sequence = random.below(16) == 0 ? random.below(8) : place + 1
      operations.append(operation)
    }
    var payment = Payment(
      key: Payment.testKey,
      kind: .payment,
      merchant: "m",
      operations: operations,
      at: 0
    )
    for _ in 0..<random.below(3) { payment.add(observation(of: count, &random)) }
    return payment
  }

  static func observation(of count: Int, _ random: inout Seeded) -> Observation {
    var seen = Observation(
      pick(Observation.Source.allCases, &random),
      at: random.below(4) - 1,
      operation: random.below(count + 2),
      state: pick(Operation.State.all, &random)
    )
    seen.providerStatus = random.below(2) == 0 ? nil : pick(["", "A", "B"], &random)
    seen.refunded = pick(amounts, &random)
    seen.isRevoked = random.below(8) == 0
    seen.elsewhere = seen.refunded.map { max(0, $0 / 2) }
    return seen
  }

  static func pick<Element>(_ list: [Element], _ random: inout Seeded) -> Element {
    list[random.below(list.count)]
  }
}

/// What the provider did with a payment's money: kept by the test, step by step, as a provider's books are.
struct Books: Equatable {
  var asked = 0
  var held = 0
  var captured = 0
  var refunded = 0
  /// Refunds that the provider accepted and has not finished.
  var refunding = 0
  var isVoided = false
  var isReturned = false
  /// What was refunded by voids of a part: the bank cannot take it back.
  var voided = 0
  /// Whether something was refunded in the provider's portal.
  var isRefundedElsewhere = false
  /// Whether the provider is done with the charge itself.
  var isSettled = false

  /// What the provider would give back.
  var left: Int { isVoided || isReturned ? 0 : captured - refunded - refunding }
}

/// A payment that goes through what can happen, with the provider's books beside it.
struct ValidHistory {
  private(set) var payment: Payment
  private(set) var books = Books()
  /// What the provider was seen to have refunded, in any order.
  private(set) var seen: [Observation] = []
  private(set) var steps: [String] = []
  /// What a request whose answer was lost did at the provider.
  private var lost: (sequence: Int, didAct: Bool)?
  private var time = 1
  private var random: Seeded

  init(_ seed: Int) throws(Fault) {
    random = Seeded(seed)
    let fee = random.below(3) == 0 ? random.below(50) : 0
    let amount = 1 + random.below(1000) + fee
    let isHold = random.below(3) == 0
    let attempt: Operation = isHold ? .authorize(amount, .prepared) : .charge(amount, .prepared)
    payment = .of(attempt.asAttempt(fee: fee))
    books.asked = amount
    try sendAttempt()
  }

  private mutating func say(_ step: String) { steps.append(step) }

  private mutating func chance(_ one: Int, in all: Int) -> Bool { random.below(all) < one }

  /// Sends an operation: what the provider did with it, and whether the answer came back.
  private mutating func send(
    _ sequence: Int,
    _ act: (inout Books) -> (state: Operation.State, approved: Int?)?
  ) throws(Fault) {
    try change(sequence) { (operation: inout Operation) throws(Fault) in
      try operation.move(.send, to: .lost, at: 0)
    }
    let kind = payment[sequence]?.kind.rawValue ?? ""
    switch random.below(8) {
    case 0:
      // Lost on the way there: the provider has not seen it.
      lost = (sequence, false)
      say("\(kind) lost")
    case 1:
      guard let answer = act(&books) else {
        lost = (sequence, false)
        return say("\(kind) refused, answer lost")
      }
      lost = (sequence, true)
      missed[sequence] = answer
      say("\(kind) done, answer lost")
    case 2:
      try change(sequence) { (operation: inout Operation) throws(Fault) in
        try operation.move(.fail, to: .failed, at: 0)
      }
      say("\(kind) failed")
    default:
      guard let answer = act(&books) else {
        try change(sequence) { (operation: inout Operation) throws(Fault) in
          try operation.move(.answer, to: .declined, at: 0)
        }
        return say("\(kind) declined")
      }
      try take(answer, .answer, sequence)
      say("\(kind) \(answer.state.name.rawValue)")
    }
  }

  /// Answers that were lost.
  private var missed: [Int: (state: Operation.State, approved: Int?)] = [:]

  private mutating func change(
    _ sequence: Int,
    _ body: (inout Operation) throws(Fault) -> Void
  ) throws(Fault) { try payment.change(sequence, body) }

  /// What the engine does with an answer: the operation's state, and what that means for the attempt.
  private mutating func take(
    _ answer: (state: Operation.State, approved: Int?),
    _ event: Operation.Event,
    _ sequence: Int
  ) throws(Fault) {
    try change(sequence) { (operation: inout Operation) throws(Fault) in
      try operation.move(event, to: answer.state, at: 0)
      operation.approved = answer.approved
    }
    guard let ended = payment[sequence], let attempt = payment.attempt, !ended.isAttempt,
      attempt.state.name == .waiting
    else { return }
    switch (ended.kind, ended.state.name) {
    case (.capture, .succeeded), (.capture, .processing), (.void, .succeeded):
      try change(attempt.sequence) { (operation: inout Operation) throws(Fault) in
        try operation.move(.close, to: .succeeded, at: 0)
      }
    default: break
    }
  }

  private mutating func sendAttempt() throws(Fault) {
    guard let attempt = payment.attempt else { return }
    let isPart = chance(1, in: 6)
    let approved = isPart ? 1 + random.below(books.asked) : nil
    let isDeclined = chance(1, in: 6)
    let isSlow = chance(1, in: 3)
    try send(attempt.sequence) { books in
      guard !isDeclined else { return nil }
      if attempt.kind == .authorize {
        books.held = approved ?? books.asked
        return (.held, approved)
      }
      books.captured = approved ?? books.asked
      books.isSettled = !isSlow
      return (isSlow ? .processing : .succeeded, approved)
    }
  }

  /// One more thing that can happen now; false where the history is over.
  mutating func step() throws(Fault) -> Bool {
    if let lost { return try findOut(lost.sequence, didAct: lost.didAct) }
    guard let attempt = payment.attempt else { return false }
    switch attempt.state.name {
    case .failed, .declined:
      guard chance(1, in: 2) else { return false }
      // A new attempt of the same order.
      var again =
        attempt.kind == .authorize
        ? Operation.authorize(books.asked, .prepared) : .charge(books.asked, .prepared)
      again.content = attempt.content
      payment.append(again)
      seen = []
      books = Books(asked: books.asked)
      say("again")
      try sendAttempt()
      return true
    default: break
    }
    if books.held > 0 { return try endHold() }
    guard books.captured > 0, !books.isVoided, !books.isReturned else { return false }
    switch random.below(10) {
    case 0: return try settle()
    case 1: try comeBack(attempt)
    case 2: try void(books.left)
    case 3:
      refundElsewhere()
      look()
    case 4, 5: try endRefund()
    default: try refund()
    }
    return true
  }

  /// A hold is captured in whole or in part, or voided.
  private mutating func endHold() throws(Fault) -> Bool {
    let ended = payment.followers.last { $0.kind == .capture && $0.state.name != .failed }
    guard ended == nil else { return false }
    if chance(1, in: 3) {
      try void(books.held)
      return true
    }
    let amount = chance(1, in: 2) ? books.held : 1 + random.below(books.held)
    let isSlow = chance(1, in: 4)
    let isDeclined = chance(1, in: 5)
    try send(payment.append(.capture(amount, .prepared))) { books in
      guard !isDeclined else { return nil }
      books.captured = amount
      books.held = 0
      books.isSettled = !isSlow
      return (isSlow ? .processing : .succeeded, nil)
    }
    return true
  }

  /// A void of all, or of a part of what has not settled.
  private mutating func void(_ most: Int) throws(Fault) {
    let isWhole = books.held > 0 || books.refunded + books.refunding == 0 && chance(1, in: 3)
    guard most > 0 else { return }
    let amount = isWhole ? most : 1 + random.below(most)
    let name = "pt-\(payment.operations.count + 1)"
    var draft = Operation.void(amount, .prepared)
    draft.id = name
    try send(payment.append(draft)) { books in
      if amount >= max(books.held, books.captured) {
        books.isVoided = true
        books.held = 0
      } else {
        books.refunded += amount
        books.voided += amount
      }
      return (.succeeded, nil)
    }
  }

  private mutating func refund() throws(Fault) {
    guard books.left > 0 else { return }
    let amount = chance(1, in: 3) ? books.left : 1 + random.below(books.left)
    let isSlow = chance(1, in: 2)
    try send(payment.append(.refund(amount, .prepared))) { books in
      if isSlow { books.refunding += amount } else { books.refunded += amount }
      return (isSlow ? .processing : .succeeded, nil)
    }
  }

  /// A refund on its way ends, or one that had succeeded comes back.
  private mutating func endRefund() throws(Fault) {
    let refunds = payment.reversals.filter { $0.kind == .refund }
    if let slow = refunds.first(where: { $0.state.name == .processing }) {
      let amount = slow.effectiveAmount
      let isDeclined = chance(1, in: 3)
      books.refunding -= amount
      if !isDeclined { books.refunded += amount }
      try take((isDeclined ? .declined : .succeeded, nil), .observe, slow.sequence)
      say("refund \(isDeclined ? "declined" : "executed")")
    } else if let done = refunds.last(where: { $0.state.name == .succeeded }), chance(1, in: 3) {
      books.refunded -= done.effectiveAmount
      try take((.returned, nil), .observe, done.sequence)
      say("refund came back")
    }
  }

  /// The provider is done with the charge or the capture.
  private mutating func settle() throws(Fault) -> Bool {
    guard
      let slow = payment.operations.last(where: {
        ($0.kind == .charge || $0.kind == .capture) && $0.state.name == .processing
      })
    else { return true }
    books.isSettled = true
    try take((.succeeded, slow.approved), .observe, slow.sequence)
    say("settled")
    return true
  }

  /// The bank takes the money back.
  private mutating func comeBack(_ attempt: Operation) throws(Fault) {
    guard books.isSettled else { return }
    let taken = payment.followers.last { $0.kind == .capture && $0.state.name == .succeeded }
    books.isReturned = true
    let operation = taken ?? attempt
    try take((.returned, operation.approved), .observe, operation.sequence)
    say("returned")
  }

  /// Somebody refunds in the provider's portal; one that is on its way here could be taken for it.
  private mutating func refundElsewhere() {
    guard books.left > 0, books.refunding == 0, chance(1, in: 2) else { return }
    let amount = 1 + random.below(books.left)
    books.refunded += amount
    books.isRefundedElsewhere = true
    say("refunded elsewhere: \(amount)")
  }

  /// A look-up gives the sum of what the provider has refunded.
  private mutating func look() {
    guard let attempt = payment.attempt else { return }
    time += 1
    var observation = Observation.refunded(books.refunded, of: attempt.sequence, at: time)
    observation.providerStatus = "S\(random.below(3))"
    payment.add(observation)
    seen.append(payment.unwritten.last ?? observation)
    say("looked: \(books.refunded)")
  }

  /// What became of a request whose answer was lost: a look finds it, or proves that nothing was done.
  private mutating func findOut(_ sequence: Int, didAct: Bool) throws(Fault) -> Bool {
    if chance(1, in: 3) {
      look()
      return true
    }
    lost = nil
    if didAct, let answer = missed[sequence] {
      try take(answer, .find, sequence)
    } else {
      try change(sequence) { (operation: inout Operation) throws(Fault) in
        try operation.move(.fail, to: .failed, at: 0)
      }
    }
    say("found out")
    return true
  }
}
