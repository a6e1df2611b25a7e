package import TenderModel

/// The payment of one reference, at one provider, in one environment: a list of operations.
package struct Payment: Sendable, Priced {
  /// The kind of payment. The journal stores the number.
  package enum Kind: Int, Sendable {
    case payment, storedMethod, mandate

    /// The name in commands, in errors and in the paths of an API.
    package var noun: String { self == .mandate ? "mandate" : "payment" }
  }

  /// The journal's number for its row; 0 before it is written.
  package var row = 0
  /// The number of writes. A write from an older version fails.
  package var version = 0
  package var key: ReferenceKey
  package var kind: Kind
  /// The merchant of the credentials that made it; never a secret.
  package var merchant: String
  package var currency: Currency?
  package var lastFour: String?
  package var brand: String?
  /// The operations in the order in which they were recorded.
  package private(set) var operations: [Operation] = []
  /// The sequences of the operations with changes that are not written yet.
  package private(set) var changed: [Int] = []
  package private(set) var observed = Observed()
  package private(set) var unwritten: [Observation] = []
  /// When its current attempt was recorded, in milliseconds since 1970.
  package var createdAt: Int
  package var updatedAt: Int
  /// The last writer as `USER@MACHINE`; nil if the journal has none.
  package var writer: String?
  /// Whether another machine wrote it last.
  package var isElsewhere = false
  /// Whether another record may have one of its ids, as far as the journal knows from reading this one.
  package var mayShareIDs = true
  /// Whether it is only one charge of the payment that is not its newest attempt (`upTo`).
  package private(set) var isEarlier = false
  /// The last sequence of the whole payment, so that a part of it numbers its operations after all others.
  private var lastSequence = 0

  /// Creates a payment without operations. Without a time, it is one that the journal does not have.
  package init(
    key: ReferenceKey,
    kind: Kind = .payment,
    merchant: String = "",
    at time: Int = 0
  ) {
    self.key = key
    self.kind = kind
    self.merchant = merchant
    createdAt = time
    updatedAt = time
  }

  package var env: Env { key.env }
  package var provider: ProviderName { key.provider }
  package var reference: Reference { key.reference }

  package subscript(sequence: Int) -> Operation? {
    operations.first { $0.sequence == sequence }
  }

  /// Adds an operation and returns its sequence. `complete` runs once the operation has its numbers.
  @discardableResult
  package mutating func append(
    _ operation: Operation,
    _ complete: (inout Operation) -> Void = { _ in }
  ) -> Int {
    var added = operation
    added.sequence = max(lastSequence, operations.last?.sequence ?? 0) + 1
    let alike = operations.filter { $0.isNumbered(with: added) }
    added.number = (alike.map(\.number).max() ?? 0) + 1
    complete(&added)
    // Observations of an earlier attempt are no facts about a new one.
    if added.isAttempt { observed = Observed() }
    operations.append(added)
    changed.append(added.sequence)
    return added.sequence
  }

  /// Changes an operation and marks it for writing.
  package mutating func change(
    _ sequence: Int,
    _ body: (inout Operation) throws(Fault) -> Void
  ) throws(Fault) {
    guard let index = operations.firstIndex(where: { $0.sequence == sequence }) else {
      throw .bug("the payment has no operation \(sequence)")
    }
    var next = operations[index]
    try body(&next)
    operations[index] = next
    if !changed.contains(sequence) { changed.append(sequence) }
  }

  /// Moves an operation to another state by an event, as `Operation.move` does, and changes its other
  /// members.
  mutating func move(
    _ sequence: Int,
    _ event: Operation.Event,
    to next: Operation.State,
    at time: Int,
    _ body: (inout Operation) -> Void = { _ in }
  ) throws(Fault) {
    try change(sequence) { operation throws(Fault) in
      try operation.move(event, to: next, at: time)
      body(&operation)
    }
  }

  /// Adds an observation and marks it for writing. One of an earlier attempt does not change the current one.
  package mutating func add(_ seen: Observation) {
    var seen = seen
    if let refunded = seen.refunded, seen.elsewhere == nil {
      let own = PaymentState(operations, Observed())
      // A sum above the captured amount is no evidence. The provider may count refunds that are still
      // processing here.
      let isPossible = refunded <= own.captured
      seen.elsewhere = isPossible ? max(0, refunded - own.refunded - own.refunding) : 0
    }
    if seen.operation >= attempt?.sequence ?? 0 { observed.join(seen) }
    unwritten.append(seen)
  }

  /// Marks all changes as written. `rows` has the rows of new operations, by sequence.
  package mutating func settled(rows: [(sequence: Int, row: Int)] = []) {
    for (sequence, row) in rows {
      if let index = operations.firstIndex(where: { $0.sequence == sequence }) {
        operations[index].row = row
      }
    }
    changed = []
    unwritten = []
  }

  /// Returns the payment with other operations, which count as written.
  package func with(_ operations: [Operation], _ observed: Observed? = nil) -> Payment {
    var made = self
    (made.operations, made.observed) = (operations, observed ?? self.observed)
    (made.changed, made.unwritten) = ([], [])
    return made
  }

  /// Returns the charge of the operation with an id, as if the payment had no other. Any other handle means the
  /// newest attempt.
  package func named(by handle: String) -> Payment {
    guard handle != reference.text, let named = operations.last(where: { $0.id == handle }) else {
      return self
    }
    return upTo(named.sequence)
  }

  /// Returns the operation with an id; nil for an id or reference of the payment itself.
  func operation(named handle: String) -> Operation? {
    guard handle != reference.text, ![attempt?.id, state.id].contains(handle) else { return nil }
    return operations.last { $0.id == handle }
  }

  /// Returns the charge that an operation is, or is on, with all operations on it, as if the payment had no other.
  package func upTo(_ sequence: Int) -> Payment {
    let groups = operations.byCharge
    let group = groups.last { group in
      group.charge.sequence == sequence || group.followers.contains { $0.sequence == sequence }
    }
    guard var charge = group?.charge, let followers = group?.followers,
      charge.sequence != groups.last(where: { !$0.charge.isSurplus })?.charge.sequence
    else { return self }
    if charge.isSurplus { charge.content = ["command": "transact", "id": .string(charge.handle)] }
    var earlier = with([charge] + followers, Observed())
    (earlier.isEarlier, earlier.lastSequence) = (true, operations.last?.sequence ?? 0)
    earlier.createdAt = charge.createdAt
    earlier.currency = earlier.content.text("currency").flatMap(Currency.init(code:)) ?? currency
    // They may be those of another card.
    (earlier.lastFour, earlier.brand) = (nil, nil)
    return earlier
  }

  /// Returns the payment of an operation: with a surplus charge alone if it is about that one.
  func subject(of sequence: Int) -> Payment {
    guard let parent = self[sequence]?.parent, self[parent]?.isSurplus == true else { return self }
    return upTo(parent)
  }

  /// The surplus charge with an id; nil for any other handle.
  func surplus(named handle: String) -> Operation? {
    handle == reference.text ? nil : operations.last { $0.isSurplus && $0.id == handle }
  }

  /// Takes over what a look-up changed in this payment, or in one of its charges.
  mutating func takeOver(_ looked: Payment) throws(Fault) {
    for sequence in looked.changed {
      guard var now = looked[sequence] else { continue }
      if self[sequence] == nil {
        if looked.isEarlier, !now.isSurplus { now.parent = looked.attempt?.sequence }
        append(now)
      } else {
        try change(sequence) { operation in
          let content = operation.content
          operation = now
          operation.content = content
        }
      }
    }
    for seen in looked.unwritten { add(seen) }
    updatedAt = looked.updatedAt
  }

  /// The provider's name for the status; nil if an operation changed the payment since.
  package var providerStatus: String? {
    let changed = followers.filter { $0.effect == .done }.map(\.updatedAt).max() ?? 0
    return observed.at >= changed ? observed.providerStatus : nil
  }

  package var state: PaymentState { PaymentState(operations, observed) }

  /// The current attempt: the last one.
  package var attempt: Operation? { operations.last { $0.isAttempt } }

  /// The attempts, oldest first.
  package var attempts: [Operation] { operations.filter(\.isAttempt) }

  /// The operations on the current attempt, in their order.
  package var followers: [Operation] {
    operations.byCharge.last { !$0.charge.isSurplus }?.followers ?? []
  }

  /// The refunds and voids of the current attempt, without the voids of its refunds.
  package var reversals: [Operation] { followers.filter { $0.isReversal && !isAboutRefund($0) } }

  /// Whether an operation is about a refund with the card.
  package func isAboutRefund(_ operation: Operation) -> Bool {
    operation.parent.flatMap { self[$0] }?.kind == .refund
  }

  /// The newest refund with the card that has a reference; nil if none has it. The payment's own reference
  /// names no refund.
  package func cardRefund(named handle: String) -> Operation? {
    guard handle != reference.text else { return nil }
    return operations.last { $0.ownReference?.text == handle && $0.state.name != .failed }
      ?? operations.last { $0.ownReference?.text == handle }
  }

  package var unknowns: [Operation] { operations.filter(\.isUnknown) }

  /// The order of the current attempt.
  package var content: JSONObject { attempt?.content ?? [:] }

  package var amount: Int? { state.amount }

  /// The state of a dispute of its money, in the provider's words; nil without one.
  package var dispute: String? { operations.lazy.compactMap(\.dispute).first }

  /// The refunds that others made.
  package var refundsElsewhere: [Operation] {
    reversals.filter { $0.source != nil && $0.isAlive }
  }

  /// The original payment of a refund that version 0.2.0 recorded as a payment.
  package var original: Reference? { attempt?.kind == .refund ? attempt?.link : nil }

  /// Whether it has the same row and version, so that no process wrote it in between.
  func isVersion(of other: Payment) -> Bool { row == other.row && version == other.version }
}

/// A value with the amount that a payer pays.
package protocol Priced {
  /// The amount in minor units. The currency may be only in the order.
  var amount: Int? { get }
  var currency: Currency? { get }
}

extension Priced {
  /// The amount with its currency; nil if one of them is unknown.
  package var money: Money? {
    guard let amount, let currency else { return nil }
    return Money(minorUnits: amount, currency: currency)
  }

  /// Returns an amount of this payment with its currency. If the currency is unknown, it says "minor units".
  package func text(ofMinorUnits amount: Int) -> String {
    guard let currency else { return "\(amount) in minor units" }
    return Money(minorUnits: amount, currency: currency).text
  }
}

extension Operation {
  /// The member of a result with the state of a dispute.
  package static let dispute = "dispute_status"

  /// The state of a dispute in the provider's words, from the last look-up; nil without one.
  var dispute: String? { result.text(Self.dispute) }

  /// Whether both have one numbering: attempts and surplus charges, reversals, or others of one kind.
  fileprivate func isNumbered(with other: Operation) -> Bool {
    let isCharge = isAttempt || isSurplus
    guard isCharge == (other.isAttempt || other.isSurplus) else { return false }
    return isCharge || kind == other.kind || isReversal && other.isReversal
  }
}
