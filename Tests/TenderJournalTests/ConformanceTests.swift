import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// The rules of every journal, independent of its storage.
@Suite final class ConformanceTests: JournalFolder {
  enum Kind: Sendable {
    case memory, sqlite, postgres

    /// The journals that this machine has.
    static let all: [Kind] =
      PostgresCluster.isAvailable ? [.memory, .sqlite, .postgres] : [.memory, .sqlite]
  }

  let provider = ProviderName("paytheory")

  func journal(_ kind: Kind) throws -> any Journal {
    switch kind {
    case .memory: MemoryJournal()
    case .sqlite: try SQLiteJournal(folder: state.path, redactor: Redactor())
    case .postgres:
      try SharedWorld.journal(at: PostgresCluster.shared().database(), state.path, clock: clock)
    }
  }

  @Test(arguments: Kind.all)
  func `gives back what was written, by reference and by id`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var written = try journal.open(payment())
    #expect(written.row > 0)
    #expect(written.version == 1)
    #expect(written.changed.isEmpty)
    written.charge.id = "pt-1"
    written.charge.state = .sent(at: clock.now, moment: clock.moment)
    try journal.update(&written, note: "sent")
    #expect(written.version == 2)
    let found = try #require(try journal.payment("A"))
    #expect(found.version == 2)
    #expect(found.charge.state == written.charge.state)
    #expect(found.charge.content == written.charge.content)
    #expect(found.currency?.code == "USD")
    for handle in ["A", "pt-1"] {
      let rows = try journal.payments(matching: handle, filter: PaymentFilter()).map(\.row)
      #expect(rows == [found.row])
    }
    #expect(try journal.payments(matching: "B", filter: PaymentFilter()).isEmpty)
    #expect(try journal.payment("A", .live) == nil)
    let history = try journal.history(of: found)
    #expect(history.map(\.note) == ["opened", "sent"])
    #expect(history.map(\.operation) == ["charge 1", "charge 1"])
    #expect(history.map(\.state) == ["prepared", "sent"])
    #expect(history.map(\.status) == ["pending", "unknown"])
    #expect(history.map(\.amount) == [1050, 1050])
    var filter = PaymentFilter()
    filter.statuses = [.unknown]
    #expect(try journal.references(filter) == ["A"])
  }

  /// Every stored property of an operation and of an observation, and the state computed from them.
  @Test(arguments: Kind.all)
  func `gives back every operation as it was`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var written = try journal.open(payment())
    try journal.end(&written) {
      $0.approved = 1000
      $0.key = "key-1"
      $0.id = "pt-1"
      $0.result = ["z": 1, "a": ["b": .null]]
      $0.fingerprints = ["instrument": "x"]
      $0.fault = Fault(
        .declined,
        code: "c",
        cause: .seenPaid,
        "m",
        hint: "h",
        result: ["r": true]
      )
    }
    (written.lastFour, written.brand) = ("1111", "VISA")
    var refund = Operation(.refund, amount: 300, at: clock.now)
    refund.name = "r1"
    refund.isRest = true
    refund.key = "key-2"
    refund.link = Reference(stored: "other")
    refund.preparation = .plain("{\"amount\":300}")
    let sequence = written.append(refund)
    try written.change(sequence) { $0.state = .waiting(PayerAction("redirect", ["url": "x"])) }
    var undo = Operation(.void, amount: 700, at: clock.now)
    undo.state = .processing
    written.append(undo)
    var seen = Observation(.webhook, at: clock.now, operation: 1, state: .returned)
    (seen.refunded, seen.providerStatus, seen.isRevoked) = (300, "RETURNED", true)
    written.add(seen)
    try journal.update(&written, sequence, note: "refund", .power)
    let found = try #require(try journal.payment("A"))
    #expect(found.operations.count == 3)
    for (one, other) in zip(written.operations, found.operations) {
      #expect(OperationRow.values(one).values == OperationRow.values(other).values)
      #expect(one.row == other.row)
    }
    #expect(found.charge.fault?.cause == .seenPaid)
    #expect(found.charge.result.members.map(\.key) == ["z", "a"])
    #expect(found[2]?.preparation == refund.preparation)
    #expect(found[2]?.number == 1)
    #expect(found[3]?.number == 2)
    #expect(found.observed == written.observed)
    #expect(found.observed.refunded == 300)
    #expect(found.state == written.state)
    #expect((found.lastFour, found.brand) == ("1111", "VISA"))
    #expect(try journal.verify() == [])
    let last = try #require(try journal.history(of: found).last)
    #expect((last.operation, last.state, last.amount) == ("refund 1", "waiting", 300))
  }

  /// For each state, with or without an open action, the filter finds and counts exactly its payments.
  @Test(arguments: Kind.all)
  func `finds and counts by status`(_ kind: Kind) throws {
    let journal = try journal(kind)
    let retry = PayerAction("retry")
    let states: [Operation.State] = [
      .prepared, .sent(at: 0, moment: nil), .waiting(nil), .waiting(retry), .processing,
      .succeeded, .declined, .cancelled, .expired, .failed, .returned,
    ]
    var all: [Payment] = []
    for state in states {
      for follower in [nil, Operation.State.sent(at: 0, moment: nil), .processing] {
        var written = payment("A\(all.count)")
        written.charge.state = state
        if let follower {
          var refund = Operation(.refund, amount: 100, at: clock.now)
          refund.state = follower
          written.append(refund)
        }
        written = try journal.open(written)
        all.append(written)
      }
    }
    for statuses in [[], [.unknown], [.pending, .unknown]] + Status.allCases.map({ [$0] }) {
      for isOpen in [false, true] {
        var filter = PaymentFilter()
        filter.statuses = Set(statuses)
        filter.isOpen = isOpen
        let expected = all.filter { payment in
          let state = payment.state
          return statuses.isEmpty && !isOpen || statuses.contains(state.status)
            || statuses.contains(.unknown) && state.isUnknown || isOpen && !state.isFinal
        }
        .map(\.reference.text)
        #expect(try journal.count(filter, upTo: .max) == expected.count, "\(statuses) \(isOpen)")
        #expect(try journal.references(filter) == expected.reversed(), "\(statuses) \(isOpen)")
      }
    }
  }

  /// The sums of columns equal the sums of the payments' states, for each state with each reversal after it.
  @Test(arguments: Kind.all)
  func `totals are what the payments' states say`(_ kind: Kind) throws {
    let journal = try journal(kind)
    let sent = Operation.State.sent(at: 0, moment: nil)
    let states: [Operation.State] = [
      .prepared, sent, .waiting(nil), .processing, .succeeded, .declined, .cancelled, .expired,
      .failed,
      .returned,
    ]
    var all: [Payment] = []
    for state in states {
      for reversal in [nil, Operation.Kind.refund, .void] {
        for follower in [sent, .processing, .succeeded, .returned] {
          var written = payment("A\(all.count)")
          if all.count % 3 == 0 { written.currency = Currency(code: "GBP") }
          written.charge.state = state
          if let reversal {
            var operation = Operation(
              reversal,
              amount: all.count % 2 == 0 ? nil : 100,
              at: clock.now
            )
            operation.state = follower
            written.append(operation)
          }
          all.append(try journal.open(written))
          clock.advance(3 * 60 * 60_000)
        }
      }
    }
    func sorted(_ totals: [Total]) -> [Total] {
      totals.sorted { $0.group.lexicographicallyPrecedes($1.group) }
    }
    for keys in [[], [.status], [.day], [.provider, .status, .day]] as [Set<Total.Key>] {
      var filters = [PaymentFilter(), PaymentFilter(env: .live), PaymentFilter()]
      filters[2].since = all[20].createdAt
      filters[2].statuses = [.succeeded, .unknown]
      for filter in filters {
        let totals = try journal.totals(filter, by: keys)
        #expect(sorted(totals) == sorted(try journal.summed(filter, by: keys)))
        if filter.env == .live { #expect(totals.isEmpty) }
      }
    }
    // Counted by hand: 10 states, 12 payments each.
    let totals = try journal.totals(PaymentFilter(), by: [])
    #expect(totals.map(\.payments).reduce(0, +) == 120)
    let captured = all.map(\.state.captured).reduce(0, +)
    #expect(captured == 36 * 1050)
    #expect(totals.map(\.charged).reduce(0, +) == captured)
  }

  @Test(arguments: Kind.all)
  func `totals count the money of a lost dispute as given back`(_ kind: Kind) throws {
    let journal = try journal(kind)
    for (number, word) in ["LOST", "WON", "INQUIRY"].enumerated() {
      var paid = payment("A\(number)")
      paid.charge.state = .succeeded
      paid.charge.result[Operation.dispute] = .string(word)
      if number == 0 {
        var refund = Operation(.refund, amount: 100, at: clock.now)
        refund.state = .succeeded
        paid.append(refund)
      }
      var seen = Observation(.lookup, at: clock.now, operation: 1, state: .succeeded)
      seen.providerStatus = "SUCCEEDED"
      paid.add(seen)
      _ = try journal.open(paid)
    }
    let total = try #require(try journal.totals(PaymentFilter(), by: []).first)
    #expect(total.charged == 3 * 1050 && total.refunded == 1050)
    #expect(try journal.summed(PaymentFilter(), by: []) == [total])
  }

  /// Rows of earlier versions can have no returned amount.
  @Test func `totals count a row without a returned amount`() throws {
    let journal = try journal(.sqlite)
    var paid = payment("A")
    paid.charge.state = .succeeded
    paid.charge.result[Operation.dispute] = "LOST"
    var seen = Observation(.lookup, at: clock.now, operation: 1, state: .succeeded)
    seen.providerStatus = "SUCCEEDED"
    paid.add(seen)
    _ = try journal.open(paid)
    let database = try Database(path: state.appending(path: "journal.db").path)
    try database.execute("UPDATE payment SET returned = NULL")
    let total = try #require(try journal.totals(PaymentFilter(), by: []).first)
    #expect(total.charged == 1050 && total.refunded == 1050)
  }

  /// A card refund with a separate reference is also an operation of the original payment. It counts once.
  @Test(arguments: Kind.all)
  func `totals count a linked refund once`(_ kind: Kind) throws {
    let journal = try journal(kind)
    func refund(_ name: String, of original: String?) throws -> Payment {
      var refund = payment(name)
      refund.charge.kind = .refund
      refund.charge.link = try original.map { try Reference($0) }
      refund.charge.state = .succeeded
      return refund
    }
    var sale = payment("SALE")
    sale.charge.state = .succeeded
    var mirrored = Operation(.refund, amount: 1050, at: clock.now)
    mirrored.link = try Reference("R1")
    mirrored.state = .succeeded
    sale.append(mirrored)
    _ = try journal.open(sale)
    for payment in [
      try refund("R1", of: "SALE"), try refund("R2", of: nil), try refund("R3", of: "ELSEWHERE"),
    ] {
      _ = try journal.open(payment)
    }
    let total = try #require(try journal.totals(PaymentFilter(), by: []).first)
    #expect(total.payments == 3)
    #expect(total.charged == 1050)
    #expect(total.refunded == 3 * 1050)
    #expect(try journal.summed(PaymentFilter(), by: []) == [total])
  }

  /// Money of an attempt before `--new-attempt` is money, too.
  @Test(arguments: Kind.all)
  func `totals count earlier attempts that were paid as well`(_ kind: Kind) throws {
    let journal = try journal(kind)
    func charge(_ amount: Int, _ state: Operation.State) -> Operation {
      var charge = Operation(.charge, amount: amount, at: clock.now)
      charge.content = payment("A").charge.content
      charge.state = state
      return charge
    }
    func follower(_ kind: Operation.Kind, _ amount: Int?) -> Operation {
      var follower = Operation(kind, amount: amount, at: clock.now)
      follower.state = .succeeded
      return follower
    }
    let earlier: [(followers: [Operation], state: Operation.State, charged: Int, refunded: Int)] = [
      ([], .succeeded, 1050, 0), ([follower(.refund, 300)], .succeeded, 1050, 300),
      ([follower(.void, 1050)], .succeeded, 1050, 1050),
      ([follower(.void, nil)], .succeeded, 1050, 1050), ([], .returned, 1050, 1050),
      ([], .declined, 0, 0), ([follower(.void, 1050)], .declined, 0, 0),
    ]
    for (number, one) in earlier.enumerated() {
      var paid = payment("P\(number)")
      paid.charge.state = one.state
      for follower in one.followers { paid.append(follower) }
      paid.append(charge(200, .succeeded))
      _ = try journal.open(paid)
      var filter = PaymentFilter()
      filter.handle = "P\(number)"
      let total = try #require(try journal.summed(filter, by: []).first)
      #expect(total.charged == one.charged + 200, "\(number)")
      #expect(total.refunded == one.refunded, "\(number)")
    }
    let total = try #require(try journal.totals(PaymentFilter(), by: []).first)
    #expect(total.charged == 5 * 1050 + 7 * 200 && total.refunded == 300 + 3 * 1050)
    #expect(try journal.summed(PaymentFilter(), by: []) == [total])
  }

  /// A payment that was approved in part is found by both amounts, newest first, with any other filter.
  @Test(arguments: Kind.all)
  func `finds and counts by amount and requested amount`(_ kind: Kind) throws {
    let journal = try journal(kind)
    for (number, (amount, approved)) in [(900, nil), (1800, 900), (900, 450), (500, nil)]
      .enumerated()
    {
      var written = payment("A\(number)")
      written.charge.amount = amount
      written.charge.content["amount"] = .integer(amount)
      written.charge.approved = approved
      written.charge.state = .succeeded
      written.lastFour = number == 0 ? "4242" : "1111"
      _ = try journal.open(written)
    }
    for (amount, lastFour, expected) in [
      (900, nil, ["A2", "A1", "A0"]), (1800, nil, ["A1"]), (450, nil, ["A2"]), (7, nil, []),
      (900, "1111", ["A2", "A1"]), (500, nil, ["A3"]),
    ] as [(Int, String?, [String])] {
      var filter = PaymentFilter()
      (filter.amount, filter.lastFour) = (.init(minorUnits: amount), lastFour)
      #expect(try journal.references(filter) == expected, "\(amount)")
      #expect(try journal.count(filter, upTo: .max) == expected.count, "\(amount)")
      filter.handle = "A*"
      #expect(try journal.references(filter) == expected, "\(amount)")
    }
    #expect(try journal.verify() == [])
  }

  @Test(arguments: Kind.all)
  func `keeps the attempts of a reference in one payment`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var first = try journal.open(payment())
    #expect(throws: Fault.self) { try journal.open(payment()) }
    try journal.end(&first, .declined)
    var second = Operation(.charge, amount: 900, at: clock.now)
    second.content = ["command": "transact", "amount": 900]
    first.append(second)
    let written = try journal.open(first)
    #expect(written.row == first.row)
    let found = try #require(try journal.payment("A"))
    #expect(found.attempts.map(\.number) == [1, 2])
    #expect(found.state.amount == 900)
    #expect(try journal.extent().attempts == 2)
    #expect(
      try journal.history(of: found).map(\.operation) == ["charge 1", "charge 1", "charge 2"]
    )
  }

  /// An export is imported again after the payment got further operations.
  @Test(arguments: Kind.all.filter { $0 != .memory })
  func `takes later operations over, and refuses one with other content`(_ kind: Kind) throws {
    let journal = try journal(kind)
    for count in [1, 3] {
      #expect(try journal.take(attempts(count), []))
      #expect(try !journal.take(attempts(count), []))
    }
    #expect(try !journal.take(attempts(2), []))
    let found = try #require(try journal.payment("A"))
    #expect(found.attempts.map(\.number) == [1, 2, 3])
    #expect(found.operations.map(\.kind) == [.charge, .refund, .charge, .refund, .charge, .refund])
    #expect(found.operations.filter { $0.kind == .refund }.map(\.number) == [1, 2, 3])
    #expect(found.operations.map(\.id) == ["pt-1", "r-1", "pt-2", "r-2", "pt-3", "r-3"])
    #expect(found.createdAt == clock.now + 3)
    #expect(found.observed.providerStatus == "S3")
    #expect(try journal.verify() == [])
    for count in [2, 4] {
      var other = attempts(count)
      try other.change(3) { $0.amount = 7 }
      #expect(code { _ = try journal.take(other, []) } == "import_conflict", "\(count)")
    }
    // A refund that was made elsewhere is taken over: the same refund here would be a second one.
    var refunded = attempts(3)
    refunded.append(Operation(.refund, amount: 1, at: clock.now))
    #expect(try journal.take(refunded, []))
    #expect(try !journal.take(refunded, []))
    #expect(try journal.payment("A")?.operations.count == 7)
    var another = attempts(3)
    another.append(Operation(.refund, amount: 2, at: clock.now))
    #expect(code { _ = try journal.take(another, []) } == "import_conflict")
    // An attempt in another currency, or of another merchant, is another one.
    for known in [attempts(3), refunded] {
      var foreign = known
      foreign.currency = Currency(code: "EUR")
      let refusal = #expect(throws: Fault.self) { _ = try journal.take(foreign, []) }
      #expect(refusal?.message.hasSuffix("in the journal in another currency") == true)
      foreign = known
      foreign.merchant = "other"
      #expect(code { _ = try journal.take(foreign, []) } == "import_conflict")
    }
    #expect(
      try journal.payments(matching: "r-2", filter: PaymentFilter()).map(\.row) == [found.row]
    )
    // A later attempt may be in another currency.
    refunded.append(attempts(1).charge)
    refunded.currency = Currency(code: "EUR")
    #expect(try journal.take(refunded, []))
    #expect(try journal.payment("A")?.currency?.code == "EUR")
  }

  @Test func `writes a payment with many refunds in a time that grows with them`() throws {
    let journal = try journal(.sqlite)
    var payments: [Int: Payment] = [:]
    for count in [500, 2000] {
      let made = payment("R\(count)")
      let refunds = (1...count).map { number in
        var refund = Operation(.refund, amount: 0, at: clock.now)
        (refund.sequence, refund.number, refund.state) = (number + 1, number, .succeeded)
        return refund
      }
      #expect(try journal.take(made.with(made.operations + refunds), []))
      payments[count] = try journal.payment("R\(count)")
    }
    var time = 0
    try Growth.expectLinear(base: 500) { count in
      var payment = try #require(payments[count])
      time += 1
      try payment.change(1) { $0.result = ["time": .integer(time)] }
      try journal.update(&payment, note: "seen", .process)
      payments[count] = payment
    }
    #expect(try journal.verify() == [])
  }

  /// What is needed to confirm a hold is in no export. Another attempt does not remove it.
  @Test(arguments: Kind.all.filter { $0 != .memory })
  func `keeps the secret of an attempt when a later one is taken over`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var held = payment()
    held.charge.preparation = .secret("kept")
    held = try journal.open(held)
    try journal.end(&held, .declined)
    var later = try #require(PaymentRow.payment(of: PaymentRow.object(held)))
    var second = Operation(.charge, amount: 900, at: clock.now)
    second.content = ["command": "transact", "amount": 900]
    later.append(second)
    #expect(try journal.take(later, []))
    let found = try #require(try journal.payment("A"))
    #expect(found.operations.map(\.amount) == [held.charge.amount, 900])
    #expect(found[1]?.preparation == .secret("kept"))
    #expect(try journal.verify() == [])
  }

  /// A payment with some attempts, each refunded in part.
  private func attempts(_ count: Int) -> Payment {
    var made = Payment.test("A", at: clock.now)
    let order = made.content
    for number in 1...count {
      if number > 1 {
        var attempt = Operation(.charge, amount: 1050, at: clock.now)
        attempt.content = order
        made.append(attempt)
      }
      made.charge.id = "pt-\(number)"
      made.charge.state = .succeeded
      let attempt = made.charge.sequence
      var refund = Operation(.refund, amount: 100 * number, at: clock.now)
      refund.state = .succeeded
      refund.id = "r-\(number)"
      made.append(refund)
      var seen = Observation(.lookup, at: clock.now + number, operation: attempt, state: .succeeded)
      seen.providerStatus = "S\(number)"
      made.add(seen)
    }
    made.createdAt = clock.now + count
    return made
  }

  @Test(arguments: Kind.all)
  func `refuses a write from an older version, and leaves the newer one`(_ kind: Kind) throws {
    let journal = try journal(kind)
    let first = try journal.open(payment())
    var mine = first
    var others = first
    try journal.end(&others)
    for durability in [Durability.process, .power] {
      mine.send()
      let fault = #expect(throws: Fault.self) {
        try journal.update(&mine, note: "sent", durability)
      }
      #expect(fault?.code == "journal_conflict")
      #expect(mine.version == 1)
    }
    #expect(try journal.payment("A")?.state.status == .succeeded)
    #expect(try journal.history(of: others).map(\.note) == ["opened", "outcome"])
  }

  @Test(arguments: Kind.all)
  func `gives a reference to one provider at a time`(_ kind: Kind) throws {
    let journal = try journal(kind)
    func other(_ env: Env = .simulator) -> Payment {
      let key = ReferenceKey(env: env, provider: ProviderName("toro"), reference: "A")
      return payment().with(payment().operations, key: key)
    }
    func refusal(named: Bool = false) -> String? {
      code { _ = try journal.open(other(), OpeningTerms(namesProvider: named), .process) }
    }
    var first = try journal.open(payment())
    #expect(refusal() == "reference_elsewhere")
    #expect(refusal(named: true) == "reference_elsewhere")
    first.send()
    try journal.update(&first, note: "sent")
    #expect(refusal(named: true) == "reference_elsewhere")
    try journal.end(&first)
    #expect(refusal() == "reference_elsewhere")
    _ = try journal.open(other(.live), OpeningTerms(), .process)
    _ = try journal.open(other(), OpeningTerms(namesProvider: true), .process)
    var declined = try journal.open(payment("B"))
    try journal.end(&declined, .declined)
    let key = ReferenceKey(env: .simulator, provider: ProviderName("toro"), reference: "B")
    let elsewhere = payment("B")
    _ = try journal.open(elsewhere.with(elsewhere.operations, key: key))
  }

  @Test(arguments: Kind.all)
  func `gives an idempotency key to one operation`(_ kind: Kind) throws {
    let journal = try journal(kind)
    func keyed(_ reference: String, _ merchant: String = "m") -> Payment {
      var made = payment(reference)
      made.merchant = merchant
      made.charge.key = "K"
      return made
    }
    let terms = OpeningTerms(hasOwnKey: true)
    var first = try journal.open(keyed("A"), terms, .process)
    #expect(code { _ = try journal.open(keyed("B"), terms, .process) } == "key_reused")
    _ = try journal.open(keyed("B", "other"), terms, .process)
    // An operation without effect passes its key to its repetition, and to no other operation.
    try journal.end(&first, .failed)
    #expect(code { _ = try journal.open(keyed("C"), terms, .process) } == "key_reused")
    var other = first
    other.append(keyed("A").charge)
    other.charge.content = ["amount": 7]
    #expect(code { _ = try journal.open(other, terms, .process) } == "key_reused")
    first.append(keyed("A").charge)
    first = try journal.open(first, terms, .process)
    try journal.end(&first)
    // A refund has one too.
    var refund = Operation(.refund, amount: 300, at: clock.now)
    refund.key = "R"
    refund.state = .succeeded
    let one = first.append(refund)
    try journal.update(&first, one, note: "refund", .power)
    var again = first
    let two = again.append(refund)
    #expect(code { try journal.update(&again, two, note: "refund", .power) } == "key_reused")
    #expect(try journal.payment("A")?.operations.count == 3)
  }

  @Test(arguments: Kind.all)
  func `locks a reference for one at a time`(_ kind: Kind) throws {
    let journal = try journal(kind)
    func take(_ reference: String) throws -> (any ReferenceLock)? {
      try journal.lock(
        .init(env: .simulator, provider: provider, reference: reference),
        by: Deadline(in: 0, on: clock),
        interruption: NeverInterrupted()
      )
    }
    var first = try take("A")
    #expect(first != nil)
    #expect(try take("A") == nil)
    #expect(try take("B") != nil)
    first = nil
    #expect(try take("A") != nil)
  }

  @Test(arguments: Kind.all)
  func `carries a wish to stop until it is taken back`(_ kind: Kind) throws {
    let journal = try journal(kind)
    let asks = {
      journal.isStopRequested(.init(env: .live, provider: self.provider, reference: "A"))
    }
    #expect(!asks())
    try journal.setStop(.init(env: .live, provider: provider, reference: "A"), isRequested: true)
    #expect(asks())
    #expect(!journal.isStopRequested(.init(env: .sandbox, provider: provider, reference: "A")))
    try journal.setStop(.init(env: .live, provider: provider, reference: "A"), isRequested: false)
    #expect(!asks())
  }

  @Test(arguments: Kind.all)
  func `forgets what is old and of no use, whole payments at a time`(_ kind: Kind) throws {
    let journal = try journal(kind)
    func write(
      _ reference: String,
      _ state: Operation.State = .succeeded,
      at time: Int = 1000,
      _ change: (inout Payment) -> Void = { _ in }
    ) throws {
      var written = payment(reference)
      written.charge.state = state
      written.updatedAt = time
      change(&written)
      _ = try journal.open(written)
    }
    try write("old")
    try write("declined", .declined)
    try write("young", at: 3000)
    try write("prepared", .prepared)
    try write("unknown", .sent(at: 0, moment: nil))
    try write("held", .waiting(nil)) { $0.charge.kind = .authorize }
    try write("waiting", .processing)
    try write("retryable", .waiting(PayerAction("retry")))
    try write("lost refund") { payment in
      var refund = Operation(.refund, amount: 100, at: 1000)
      refund.state = .sent(at: 0, moment: nil)
      payment.append(refund)
    }
    for (reference, state) in [("mandate", Operation.State.succeeded), ("ended", .expired)] {
      try write(reference, state) {
        $0.kind = .mandate
        $0.charge.kind = .createMandate
      }
    }
    try write("original", at: 3000)
    for original in ["original", "gone"] {
      try write("refund of " + original) {
        $0.charge.kind = .refund
        $0.charge.link = Reference(stored: original)
      }
    }
    var old = PaymentFilter()
    old.unneededBefore = 2000
    #expect(try journal.count(old, upTo: .max) == 4)
    #expect(try journal.prune(before: 2000, PaymentFilter()) == 4)
    #expect(
      try journal.references().sorted() == [
        "held", "lost refund", "mandate", "original", "prepared", "refund of original",
        "retryable", "unknown", "waiting", "young",
      ]
    )
    #expect(try journal.verify() == [])
  }
}

extension Payment {
  /// The same under another key.
  fileprivate func with(_ operations: [Operation], key: ReferenceKey) -> Payment {
    var made = self.with(operations)
    made.key = key
    return made
  }
}
