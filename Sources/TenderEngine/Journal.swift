package import TenderModel

/// The failure that a write must survive before it counts as written.
package enum Durability: Sendable, Hashable {
  /// The end of the process, however it ends. A power failure may lose the write.
  case process
  /// A power failure: the bytes are on the disk.
  case power
  /// A power failure, and it is the last write under the lock.
  case last
}

/// The store in which every operation is written before it is sent.
///
/// Each write names the version of the payment that it was made from. If another process has written since,
/// it fails (`journal_conflict`). Every function throws `state` faults.
package protocol Journal: Sendable {
  /// Takes the lock on a reference, and waits for it until `deadline`; nil if another process holds it.
  ///
  /// The lock ends when the returned value is released, or with the process. A device has such a key too
  /// (`ReferenceKey.device`), and its lock is one of this machine. If the reference is new, `first` may be written
  /// at once, and `open` then writes nothing more. Until `open`, `payment` does not return it.
  func lock(
    _ key: ReferenceKey,
    opening first: Opening?,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)?
  func payment(_ key: ReferenceKey) throws(Fault) -> Payment?
  /// Writes a new attempt of a new or an existing reference. Returns the payment with its rows.
  ///
  /// The check of `terms` is in the same transaction. Throws `conflict`: `reference_elsewhere` if another
  /// provider has the reference in the same env, `key_reused` if another operation has its idempotency key,
  /// `reference_pruned` if the reference's payment was deleted.
  func open(
    _ payment: Payment,
    _ terms: OpeningTerms,
    _ durability: Durability
  ) throws(Fault) -> Payment
  /// Writes the changes of a payment, and a line of history about one operation. Raises the payment's
  /// version.
  ///
  /// A preparation that an operation no longer has is erased from the files. For an operation in `sent`, the
  /// files must exist at their paths. If they do not, nothing is written. A new operation with a key is written
  /// only if no other has that key (`key_reused`), and a new id only if no other record has it (`id_held`).
  func update(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    _ durability: Durability
  ) throws(Fault)
  /// The reason (`journal_forgot`, `journal_copy`) for which the journal cannot tell whether a reference is new: it
  /// lost entries, or is a copy. Nil if it is whole.
  ///
  /// `isRefused` is false if all requests go to the simulator in this process. Then it is only a warning. What a
  /// copy lacks can be looked up before it is accepted.
  func loss() throws(Fault) -> JournalLoss?
  /// Records that requests go to real or served providers, which remember them if the journal is lost. `env`
  /// says whether they move money.
  func reachesOutside(_ env: Env)
  /// Returns a keyed hash of each member that this journal does not store as typed, by name.
  ///
  /// `instrument` is the text that identifies a card or account.
  func fingerprints(of content: JSONObject, instrument: String?) throws(Fault) -> JSONObject
  /// Asks the process that works on a reference to stop, if it still can; or withdraws the request, before new work
  /// begins or after the old work ended.
  func setStop(_ key: ReferenceKey, isRequested: Bool) throws(Fault)
  /// Whether a stop was requested and not withdrawn.
  func isStopRequested(_ key: ReferenceKey) -> Bool
  /// A description of the process that works on a reference, if the journal knows it.
  func worker(_ key: ReferenceKey) -> String?
  /// The time in which a request that can move money may be sent; nil if a lock lasts as long as its process.
  var window: SendWindow? { get }
  /// Whether `prune` deleted the payment of a reference. Such a reference stays used.
  func isPruned(_ key: ReferenceKey) throws(Fault) -> Bool
  /// The number of attempts, for names that a seed generates, and the time when the oldest payment was recorded, in
  /// milliseconds since 1970; nil without any.
  func extent() throws(Fault) -> (attempts: Int, oldest: Int?)

  /// Passes the payments that match a filter to `body`, newest first, until it returns false.
  func each(_ filter: PaymentFilter, _ body: (Payment) -> Bool) throws(Fault)
  /// The number of payments that match a filter. Counting stops at `limit`.
  func count(_ filter: PaymentFilter, upTo limit: Int) throws(Fault) -> Int
  /// The sums of the payments that match a filter, in any order. The filter must be one of columns alone.
  func totals(_ filter: PaymentFilter, by keys: Set<Total.Key>) throws(Fault) -> [Total]
  /// The history of a payment, oldest first.
  func history(of payment: Payment) throws(Fault) -> [HistoryEntry]
  // Maintenance and import.

  /// Deletes the payments of a filter with `unneededBefore`, with their operations and history. A keyed hash of each
  /// reference stays. Returns the number of payments.
  func prune(_ filter: PaymentFilter) throws(Fault) -> Int
  /// Compares each payment's columns with its operations, and the lines of the history with each other. Returns a
  /// description of each error.
  func verify() throws(Fault) -> [String]
  /// Writes a consistent copy to a new file and marks it as a copy, while other processes continue.
  func backUp(to path: String) throws(Fault)
  /// Accepts the journal as complete and as the original, at a time in milliseconds since 1970.
  func accept(reason: String, at time: Int) throws(Fault)
  /// The reason why no mark can be written; nil if it can. Without a mark, the loss of the whole journal is
  /// not noticed.
  var markProblem: String? { get }
  /// Writes a payment of another journal, with its history; false if it is already here.
  ///
  /// The attempts of one reference may come one by one. Throws `conflict` if another payment has its place.
  func take(_ payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Bool
}

/// A problem of a whole journal, and its effect (`Journal.loss`).
package typealias JournalLoss = (fault: Fault, isRefused: Bool, isCopy: Bool)

/// A payment to open if its reference is new, and the conditions.
package typealias Opening = (payment: Payment, terms: OpeningTerms)

extension ReferenceKey {
  /// The key of a device of this machine. No provider has that name.
  package static func device(_ address: String) -> ReferenceKey {
    .init(env: .simulator, provider: devices, reference: Reference(stored: address))
  }

  /// Whether it is the key of a device.
  package var isDevice: Bool { provider == Self.devices }

  private static let devices = ProviderName("device")
}

/// The conditions under which an attempt may be opened.
package struct OpeningTerms: Sendable, Hashable {
  /// Whether the operator named the provider for this command. Then a reference that has succeeded at another
  /// provider may be used here too.
  package var namesProvider: Bool
  /// Whether the operator gave the key, which no other operation may have.
  package var hasOwnKey: Bool

  package init(namesProvider: Bool = false, hasOwnKey: Bool = false) {
    self.namesProvider = namesProvider
    self.hasOwnKey = hasOwnKey
  }
}

extension Journal {
  package func lock(
    _ key: ReferenceKey,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    try lock(key, opening: nil, by: deadline, interruption: interruption)
  }

  /// Throws the reason for which the journal cannot tell whether a reference is new.
  package func checkWhole() throws(Fault) {
    if let loss = try loss(), loss.isRefused { throw loss.fault }
  }

  /// Returns the payments of a filter with `handle` as their reference, or as the provider's id of an operation,
  /// newest first.
  package func payments(matching handle: String, filter: PaymentFilter) throws(Fault) -> [Payment] {
    var filter = filter
    filter.name = handle
    var found: [Payment] = []
    try each(filter) { payment in
      found.append(payment)
      return true
    }
    return found
  }

  /// Counts the payments that match a filter, one by one.
  package func counted(_ filter: PaymentFilter, upTo limit: Int) throws(Fault) -> Int {
    var count = 0
    try each(filter) { _ in
      count += 1
      return count < limit
    }
    return count
  }
}

extension Fault {
  /// Another provider has the reference in the same env.
  package static func referenceElsewhere(_ other: Payment, _ provider: ProviderName) -> Fault {
    let isOver = other.state.isCaptured
    return .conflict(
      "reference_elsewhere",
      "\(other.reference.quotedForMessage) is a payment at \(other.provider.text), which is "
        + "\(other.state.status.rawValue); nothing was sent",
      isOver ? "to pay with \(provider.text) as well, name it: --provider \(provider.text)" : nil
    ).then(isOver ? [] : other.next(.show))
  }

  /// `prune` deleted the payment of the reference.
  package static func referencePruned(_ reference: Reference) -> Fault {
    .conflict(
      "reference_pruned",
      "\(reference.quotedForMessage) was a payment that journal prune deleted; nothing was sent",
      "use another --reference"
    )
  }

  /// Another operation has the idempotency key.
  package static func keyReused(_ key: String, by reference: Reference) -> Fault {
    .conflict(
      "key_reused",
      "the idempotency key \(key.quotedForMessage) was used for another request "
        + "(\(reference.quotedForMessage)); nothing was sent",
      "use another --idempotency-key, or leave it out"
    )
  }
}

extension Status {
  /// Whether a payment with this status forbids one under the same reference at another provider.
  /// `isUnknown`: an operation of it is unknown.
  package func blocksElsewhere(isUnknown: Bool, namesProvider: Bool) -> Bool {
    switch end {
    case nil: true
    case .declined, .cancelled, .failed: isUnknown
    case .succeeded, .refunded, .returned: !namesProvider
    }
  }
}

/// A held lock. It ends when its last reference is released.
package protocol ReferenceLock: AnyObject {}

/// One line of a payment's history.
package struct HistoryEntry: Sendable, Hashable {
  /// Milliseconds since 1970.
  package var at: Int
  /// The kind and number of the operation, such as `refund 2`; empty for the journal itself.
  package var operation = ""
  package var state = ""
  /// The operation's amount, in minor units.
  package var amount: Int?
  package var status = ""
  package var note: String
  /// The writer as `USER@MACHINE`; nil in lines of earlier versions.
  package var by: String?

  package init(at: Int, note: String, by: String? = nil) {
    self.at = at
    self.note = note
    self.by = by
  }

  /// Creates a line about one operation of a payment as it is now.
  package init(_ payment: Payment, _ sequence: Int, note: String, by: String?) {
    self.init(at: payment.updatedAt, note: note, by: by)
    status = payment.state.status.rawValue
    guard let operation = payment[sequence] else { return }
    self.operation = "\(operation.kind.rawValue) \(operation.number)"
    state = operation.state.name.rawValue
    amount = operation.approved ?? operation.amount
  }
}
