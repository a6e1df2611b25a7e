package import TenderModel

/// What a write must survive before it counts as written.
package enum Durability: Sendable, Hashable {
  /// The end of the process, however it ends; the power may take it.
  case process
  /// The end of the power: the bytes are on the disk.
  case power
}

/// Where every operation is written before it is sent.
///
/// Each write names the version of the payment that it was made from, and fails (`journal_conflict`)
/// where another has written since. Every function throws a `state` fault.
package protocol Journal: MaintainedJournal {
  /// Takes the lock on a reference, waiting until `deadline`; nil where another process holds it.
  /// The lock ends when the returned value is let go, or with the process.
  func lock(
    _ key: ReferenceKey,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)?
  /// Takes the lock on the reference of a payment that would be its first, as `lock` does.
  ///
  /// Where the reference is new the payment may be written at once, so that `open` of it does nothing more;
  /// `payment` says nothing of it before.
  func lock(
    opening payment: Payment,
    _ terms: OpeningTerms,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)?
  /// Takes the lock on a device of this machine, as `lock` does on a reference.
  func lockDevice(
    _ address: String,
    by deadline: Deadline,
    _ interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)?
  /// The payment of a reference.
  func payment(_ key: ReferenceKey) throws(Fault) -> Payment?
  /// Writes a new attempt, of a new reference or of one that has others, and gives it its rows.
  ///
  /// In one transaction with the check of `terms`. Throws `conflict`: `reference_elsewhere` where another provider
  /// has the reference in the same env, `key_reused` where another operation has its idempotency key.
  func open(
    _ payment: Payment,
    _ terms: OpeningTerms,
    _ durability: Durability
  ) throws(Fault) -> Payment
  /// Writes what changed of a payment and a line of its history about one operation, and raises its version.
  ///
  /// A preparation that an operation no longer has is erased from the files for good. Where an operation is
  /// `sent`, room for its outcome is taken first (see `setAside`), and the files are looked for at
  /// their paths: without either nothing is written. A new operation with a key of its own is written only where no
  /// other has that key (`key_reused`).
  func update(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    _ durability: Durability
  ) throws(Fault)
  /// Writes what a request came to where `update` cannot: into the room that was taken before it was sent. Every
  /// reader sees it from then on, and the next that can writes it in its place.
  func setAside(_ payment: inout Payment, _ sequence: Int, note: String) throws(Fault)
  /// Writes what a request that was sent came to: into the room taken for it where the journal fails.
  ///
  /// `isLast` says that nothing more is written of it under its lock. Gives why it had to be set aside.
  /// Throws the journal's own fault where neither was possible.
  func conclude(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    isLast: Bool
  ) throws(Fault) -> Fault?
  /// Throws (`journal_forgot`, `journal_copy`) where the journal is not all that was written here, or is a copy:
  /// then it cannot say that a reference is new.
  func checkWhole() throws(Fault)
  /// Says that requests are sent to others than the simulator in this process: they outlive the journal.
  func reachesOutside()
  /// Of the members that this journal does not keep as they were typed, what tells them apart: a keyed
  /// hash each, by name. `instrument` is what tells a card or account from another.
  func fingerprints(of content: JSONObject, instrument: String?) throws(Fault) -> JSONObject
  /// Asks the process that works on a reference to stop, where it still can.
  func requestStop(_ key: ReferenceKey) throws(Fault)
  /// Whether that was asked for, and not taken back.
  func isStopRequested(_ key: ReferenceKey) -> Bool
  /// Takes such a wish back, before new work begins or once the old has ended.
  func forgetStop(_ key: ReferenceKey)
  /// Who works on a reference, in words, as far as the journal knows.
  func worker(_ key: ReferenceKey) -> String?
  /// Until when a request that can move money may leave; nil where a lock lasts as long as its process.
  var window: SendWindow? { get }
  /// How many attempts there are, for names that a seed makes.
  func count() throws(Fault) -> Int

  /// The payments whose reference, or an operation's provider's id, is `handle`, newest first.
  func payments(matching handle: String, filter: PaymentFilter) throws(Fault) -> [Payment]
  /// The payments that a filter lets through, newest first, one by one; stops where `body` says no.
  func each(_ filter: PaymentFilter, _ body: (Payment) -> Bool) throws(Fault)
  /// How many payments a filter lets through; nothing is counted beyond `limit`.
  func count(_ filter: PaymentFilter, upTo limit: Int) throws(Fault) -> Int
  /// The sums of the payments that a filter lets through, in any order. The filter must be one of columns alone.
  func totals(_ filter: PaymentFilter, by keys: Set<Total.Key>) throws(Fault) -> [Total]
  /// When the oldest payment was recorded, in milliseconds since 1970; nil where there is none.
  func oldest() throws(Fault) -> Int?
  /// What happened to a payment, oldest first.
  func history(of payment: Payment) throws(Fault) -> [HistoryEntry]
}

/// What maintenance and import need of a journal.
package protocol MaintainedJournal: Sendable {
  /// How many payments `prune` would take out.
  func prunable(before time: Int, _ filter: PaymentFilter) throws(Fault) -> Int
  /// Takes payments out, with every operation and their history, and says how many.
  ///
  /// A payment stays where it changed at `time` (milliseconds since 1970) or later, is not final, has an unknown
  /// operation, is a mandate that can still be revoked, or is a refund that an original payment counts.
  func prune(before time: Int, _ filter: PaymentFilter) throws(Fault) -> Int
  /// Reads everything and compares it with its checksums, and each payment's columns with its operations; gives
  /// what is wrong, in words.
  func verify() throws(Fault) -> [String]
  /// Writes a consistent copy into a new file, marked as one, while others go on.
  func backUp(to path: String) throws(Fault)
  /// Takes the journal as it is for whole, and for the original, at a time in milliseconds since 1970.
  func accept(reason: String, at time: Int) throws(Fault)
  /// That it is a copy, where only the simulator in this process is spoken to and nothing is refused for it.
  var copyWarning: Fault? { get }
  /// Why there can be no mark, without which a loss of the whole journal is not noticed; nil where there can.
  var markProblem: String? { get }
  /// Takes out of the files what is to be gone for good, where that was put off.
  func finishErasing() throws(Fault)
  /// Writes a payment as another journal had it, with its history; false where it is there already.
  ///
  /// Attempts of one reference may come one by one. Throws `conflict` where another has its place.
  func take(_ payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Bool
}

/// What must hold when an attempt is opened.
package struct OpeningTerms: Sendable, Hashable {
  /// Whether the operator named the provider for this very command: then a reference that has succeeded elsewhere
  /// may be used here too.
  package var namesProvider: Bool
  /// Whether its key is the operator's own, and must be no other operation's.
  package var hasOwnKey: Bool

  package init(namesProvider: Bool = false, hasOwnKey: Bool = false) {
    self.namesProvider = namesProvider
    self.hasOwnKey = hasOwnKey
  }
}

extension Journal {
  package func oldest() throws(Fault) -> Int? { nil }

  package func totals(_ filter: PaymentFilter, by keys: Set<Total.Key>) throws(Fault) -> [Total] {
    try summed(filter, by: keys)
  }

  package func count(_ filter: PaymentFilter, upTo limit: Int) throws(Fault) -> Int {
    try counted(filter, upTo: limit)
  }

  /// Whether an operation of another payment, at the same provider in the same env, has a provider's id.
  func isKnown(_ id: String, otherThan payment: Payment) throws(Fault) -> Bool {
    var filter = PaymentFilter()
    (filter.env, filter.provider) = (payment.env, payment.provider)
    return try payments(matching: id, filter: filter).contains { other in
      other.reference != payment.reference && other.operations.contains { $0.id == id }
    }
  }

  /// Counts one by one what a filter lets through.
  package func counted(_ filter: PaymentFilter, upTo limit: Int) throws(Fault) -> Int {
    var count = 0
    try each(filter) { _ in
      count += 1
      return count < limit
    }
    return count
  }

  package func conclude(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    isLast: Bool
  ) throws(Fault) -> Fault? {
    do throws(Fault) {
      try update(&payment, sequence, note: note, .power)
      return nil
    } catch {
      do throws(Fault) {
        try setAside(&payment, sequence, note: note)
        return .setAside(error)
      } catch let second {
        _ = second
        throw error
      }
    }
  }

  package func lock(
    opening payment: Payment,
    _ terms: OpeningTerms,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    try lock(payment.key, by: deadline, interruption: interruption)
  }

  package func lockDevice(
    _ address: String,
    by deadline: Deadline,
    _ interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    // No provider has that name.
    let name = ProviderName("device")
    let key = ReferenceKey(env: .simulator, provider: name, reference: Reference(stored: address))
    return try lock(key, by: deadline, interruption: interruption)
  }

  package func worker(_ key: ReferenceKey) -> String? { nil }

  package var window: SendWindow? { nil }
}

extension MaintainedJournal {
  package func verify() throws(Fault) -> [String] { [] }

  package var copyWarning: Fault? { nil }

  package var markProblem: String? { nil }

  package func finishErasing() throws(Fault) {}

  package func backUp(to path: String) throws(Fault) { throw .unsupported("copied") }

  package func accept(reason: String, at time: Int) throws(Fault) { throw .unsupported("accepted") }

  package func take(_ payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    throw .unsupported("written to from another")
  }
}

extension Fault {
  /// What a journal cannot do.
  fileprivate static func unsupported(_ what: String) -> Fault {
    Fault(.unsupported, code: "journal_unsupported", "this journal cannot be \(what)")
  }

  /// Another provider has the reference in the same env.
  package static func referenceElsewhere(_ other: Payment, _ provider: ProviderName) -> Fault {
    let isOver = other.state.isCaptured
    return .conflict(
      "reference_elsewhere",
      "\(other.reference.quotedForMessage) is a payment at \(other.provider.text), which is "
        + "\(other.state.status.rawValue); nothing was sent",
      isOver
        ? "to pay with \(provider.text) as well, name it: --provider \(provider.text)"
        : "see: tender explain \(other.reference)"
    )
  }

  /// An idempotency key that another operation has.
  package static func keyReused(_ key: String, by reference: Reference) -> Fault {
    .conflict(
      "key_reused",
      "the idempotency key \(key.quotedForMessage) was used for another request "
        + "(\(reference.quotedForMessage)); nothing was sent",
      "use another --idempotency-key, or leave it out"
    )
  }
}

extension Payment {
  /// Whether a payment at another provider forbids a new one under the same reference.
  package func blocksElsewhere(namesProvider: Bool) -> Bool {
    state.status.blocksElsewhere(isUnknown: state.isUnknown, namesProvider: namesProvider)
  }
}

extension Status {
  /// Whether a payment with this status forbids one under the same reference at another provider; `isUnknown` says
  /// that the result of an operation is.
  package func blocksElsewhere(isUnknown: Bool, namesProvider: Bool) -> Bool {
    switch end {
    case nil: true
    case .declined, .cancelled, .failed: isUnknown
    case .succeeded, .refunded, .returned: !namesProvider
    }
  }
}

/// A held lock; it ends with the last reference to it.
package protocol ReferenceLock: AnyObject {}

/// One line of a payment's history.
package struct HistoryEntry: Sendable, Hashable {
  /// Milliseconds since 1970.
  package let at: Int
  /// The kind and number of the operation that it is about, such as `refund 2`; empty for the journal itself.
  package let operation: String
  /// The operation's state, by its name.
  package let state: String
  /// What the operation is about, in minor units.
  package let amount: Int?
  /// The payment's status after it.
  package let status: String
  package let note: String
  /// Who wrote it, as `USER@MACHINE`; nil where the journal did not write that down yet.
  package let by: String?

  package init(
    at: Int,
    operation: String,
    state: String,
    amount: Int?,
    status: String,
    note: String,
    by: String? = nil
  ) {
    self.at = at
    self.operation = operation
    self.state = state
    self.amount = amount
    self.status = status
    self.note = note
    self.by = by
  }

  /// A line about one operation of a payment as it is now.
  package init(_ payment: Payment, _ sequence: Int, note: String, by: String?) {
    let operation = payment[sequence]
    self.init(
      at: payment.updatedAt,
      operation: operation.map { "\($0.kind.rawValue) \($0.number)" } ?? "",
      state: operation?.state.name.rawValue ?? "",
      amount: operation?.approved ?? operation?.amount,
      status: payment.state.status.rawValue,
      note: note,
      by: by
    )
  }
}
