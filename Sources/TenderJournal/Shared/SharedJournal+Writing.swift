package import TenderEngine
package import TenderModel
import TenderSystem

/// Writes payments in one statement each: versioned, with checksums, and under the fence of their lease.
extension SharedJournal {
  /// Returns the write of a payment over the version on which it is based.
  ///
  /// Throws `conflict` (`key_reused`) if a new operation has the key of another one of the payment. Throws
  /// `state` if a preparation cannot be sealed.
  func write(
    of payment: Payment,
    _ lines: (Payment) -> [HistoryEntry],
    lends: Int
  ) throws(Fault) -> Write {
    var raised = payment.redacted(by: redactor)
    let before = known[payment.row]
    let entries = lines(raised)
    raised.version += entries.count
    var operations: [Int: Row] = [:]
    var sums = before?.sums ?? [:]
    for operation in raised.operations {
      let isChanged = payment.changed.contains(operation.sequence)
      guard isChanged || sums[operation.sequence] == nil else { continue }
      let values = OperationRow.values(operation).storable
      operations[operation.sequence] = values
      // The checksum excludes the preparation, because not every role may read it.
      sums[operation.sequence] = values.sum([nil])
    }
    let values = PaymentRow.values(raised).storable
    let stored = try preparations(of: payment, operations.keys.sorted(), before)
    let lease = leases[payment.key]
    return Write(
      payment: raised,
      over: payment.version,
      values: values,
      operations: operations,
      sums: sums,
      sum: values.sum(raised.operations.map { sums[$0.sequence] ?? "" }),
      seen: payment.unwritten,
      lines: entries,
      terms: SearchTerm.all(of: raised),
      prepared: stored.new,
      unprepared: stored.gone,
      keys: try newKeys(of: payment),
      ids: Dictionary(raised.operations.compactMap { o in o.id.map { (o.sequence, $0) } }) { $1 },
      claims: claims(of: raised, operations.keys, before),
      lease: lease,
      lends: lease == nil ? 0 : lends,
      by: settings.by
    )
  }

  /// Returns the write of a payment from another journal, with its history.
  func write(of payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Write {
    var lines = history
    if lines.isEmpty {
      let sequence = payment.operations.last?.sequence ?? 0
      lines = [HistoryEntry(payment, sequence, note: "taken over", by: nil)]
    }
    var write = try write(of: payment, { _ in lines }, lends: 0)
    write.keys = []
    write.seen = ObservationRow.all(of: payment).map { [$0] } ?? []
    return write
  }

  /// Returns the keys of operations that are not written yet.
  private func newKeys(of payment: Payment) throws(Fault) -> [String] {
    var keys: [String] = []
    for operation in payment.operations where operation.row == 0 {
      guard let key = operation.key else { continue }
      let isTaken = payment.operations.contains { other in
        other.sequence != operation.sequence && other.key == key && !other.leavesKey(to: operation)
      }
      guard !isTaken else { throw .keyReused(key, by: payment.reference) }
      keys.append(key)
    }
    return keys
  }

  /// Returns the rows of `claim` for changed operations, and the ids that are new or gone.
  private func claims(
    of payment: Payment,
    _ changed: some Collection<Int>,
    _ before: Known?
  ) -> Write.Claims {
    var claims = Write.Claims()
    guard payment.env != .simulator || isOutside else { return claims }
    for operation in payment.operations where changed.contains(operation.sequence) {
      let earlier = before?.ids[operation.sequence]
      guard let id = operation.id, let thing = operation.thing else {
        if operation.id == nil, let earlier { claims.gone.append(earlier) }
        continue
      }
      if earlier != id { claims.new.append(id) }
      let row: JSONObject = [
        "id": .string(id), "thing": .string(thing.rawValue),
        "provider": .string(payment.provider.text), "env": .string(payment.env.rawValue),
        "merchant": .string(payment.merchant),
        "sequence": .integer(operation.claimedSequence),
      ]
      // Two attempts may have one id, and so may an attempt and its surplus charge.
      if !claims.rows.contains(where: { $0 == row }) { claims.rows.append(row) }
    }
    // An id that moves from one refund of the payment to another stays claimed.
    let moved = Set(claims.gone).intersection(claims.new)
    claims.gone.removeAll(where: moved.contains)
    claims.new.removeAll(where: moved.contains)
    return claims
  }

  /// Returns the preparations to store, and the operations that no longer have one.
  private func preparations(
    of payment: Payment,
    _ sequences: [Int],
    _ before: Known?
  ) throws(Fault) -> (new: [Int: String], gone: [Int]) {
    var new: [Int: String] = [:]
    var gone: [Int] = []
    for sequence in sequences {
      guard let operation = payment[sequence] else { continue }
      let had = before?.prepared[sequence]
      if let preparation = operation.preparation {
        if had?.preparation != preparation { new[sequence] = try stored(preparation) }
      } else if let had, had.preparation != nil || !operation.isUnfinished {
        // A preparation that another machine sealed is not deleted because its key is missing here.
        gone.append(sequence)
      }
    }
    return (new, gone)
  }

  /// Returns a preparation as stored. One with a secret is sealed.
  ///
  /// Throws `state` if there is no key to seal it with. Nothing was sent then.
  private func stored(_ preparation: Operation.Preparation) throws(Fault) -> String {
    guard preparation.secret != nil else { return preparation.stored }
    guard let sealed = settings.key?.seal(preparation.stored) else {
      throw .sealed(settings.address.masked)
    }
    return sealed
  }

  // MARK: Opening

  package func open(
    _ payment: Payment,
    _ terms: OpeningTerms,
    _ durability: Durability
  ) throws(Fault) -> Payment {
    let write = try opening(payment, terms)
    defer { (fresh, opened) = (nil, nil) }
    if let opened, payment.row == 0, opened.write.isSameOrder(as: write) {
      return settled(payment.at(times: opened.write.payment), opened.write, row: opened.row)
    }
    guard let row = try perform(write) else { throw try refusal(of: write) }
    return settled(payment, write, row: row)
  }

  /// Returns the write of a new attempt.
  func opening(_ payment: Payment, _ terms: OpeningTerms) throws(Fault) -> Write {
    let sequence = payment.attempt?.sequence ?? 0
    var write = try write(of: payment, { line($0, sequence, "opened") }, lends: leaseTime)
    write.opening = terms
    write.print = payment.row == 0 ? print(of: payment.key) : nil
    return write
  }

  private func line(_ payment: Payment, _ sequence: Int, _ note: String) -> [HistoryEntry] {
    [HistoryEntry(payment, sequence, note: note, by: settings.by)]
  }

  /// Returns the payment after the write, and records it as the database's state.
  private func settled(_ payment: Payment, _ write: Write, row: Int) -> Payment {
    var written = payment
    written.row = row
    written.version = write.payment.version
    written.writer = settings.by
    written.isElsewhere = false
    written.settled(rows: payment.operations.map { ($0.sequence, $0.sequence) })
    raiseMark(write, row)
    var prepared = known[row]?.prepared ?? [:]
    for sequence in write.unprepared { prepared[sequence] = nil }
    for (sequence, text) in write.prepared {
      prepared[sequence] = (text, payment[sequence]?.preparation)
    }
    known[row] = Known(
      createdAt: write.payment.createdAt,
      terms: write.terms,
      sums: write.sums,
      ids: write.ids,
      prepared: prepared,
      written: (write.values, write.operations, clock.uptime)
    )
    return written
  }

  // MARK: Updating

  package func update(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    _ durability: Durability
  ) throws(Fault) {
    if durability == .process, isPassing(payment) { return }
    let isSending = payment[sequence]?.state.name == .sent
    let begun = clock.moment
    try update(&payment, sequence, note, lends: leaseTime)
    if isSending {
      if leases[payment.key] != nil { lend(from: begun) }
    } else {
      window?.lend(nil)
    }
  }

  /// The time that a passing state of a sale must last before it is written alone, in milliseconds.
  private static let moment = 1000

  /// Returns whether only a state before any request is new, right after another write. The next write has it
  /// too.
  private func isPassing(_ payment: Payment) -> Bool {
    guard let written = known[payment.row]?.written, payment.unwritten.isEmpty,
      clock.uptime - written.at < Self.moment
    else { return false }
    let redacted = payment.redacted(by: redactor)
    let values = PaymentRow.values(redacted).storable
    return values.isAlike(written.payment, but: ["updated", "version"])
      && payment.changed.allSatisfy { sequence in
        guard let before = written.operations[sequence], let operation = redacted[sequence],
          operation.state == .prepared
        else { return false }
        return OperationRow.values(operation).storable.isAlike(before, but: ["updated", "result"])
          && known[payment.row]?.prepared[sequence]?.preparation == operation.preparation
      }
  }

  package func conclude(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    isLast: Bool
  ) throws(Fault) {
    window?.lend(nil)
    try update(&payment, sequence, note, lends: isLast ? 0 : leaseTime)
    guard isLast else { return }
    // The last outcome released the lease.
    leases[payment.key]?.isOver = true
    known[payment.row] = nil
  }

  /// Extends the send window of a lease that was written at a moment or later.
  private func lend(from begun: Moment) {
    let begin = Moment(boot: begun.boot, milliseconds: begun.milliseconds + slack)
    let end = Moment(boot: begun.boot, milliseconds: begun.milliseconds + leaseTime)
    window?.lend(SendWindow.Loan(begin: begin, end: end))
  }

  /// Writes a payment over the version on which it is based.
  private func update(
    _ payment: inout Payment,
    _ sequence: Int,
    _ note: String,
    lends: Int
  ) throws(Fault) {
    fresh = nil
    if known[payment.row] == nil { _ = try reread(payment.row) }
    let write = try write(of: payment, { line($0, sequence, note) }, lends: lends)
    guard try perform(write) != nil else { throw try refusal(of: write) }
    payment = settled(payment, write, row: payment.row)
  }

  /// Reads a payment again, and records it as the database's state.
  func reread(_ row: Int) throws(Fault) -> Payment? {
    try payment(query(["\(select) WHERE a.row = \(row)"])[0].first)
  }
}

extension SharedJournal.Write {
  /// Returns whether two writes open the same attempt, whenever they were created.
  fileprivate func isSameOrder(as other: SharedJournal.Write) -> Bool {
    key == other.key && opening == other.opening && keys == other.keys
      && values.isAlike(other.values, but: ["created", "updated"])
      && operations.keys == other.operations.keys
      && operations.allSatisfy { sequence, values in
        other.operations[sequence].map { values.isAlike($0, but: ["created", "updated"]) } ?? false
      }
  }
}

extension Row {
  /// Returns whether two rows have the same values, without some columns.
  func isAlike(_ other: Row, but names: Set<String>) -> Bool {
    changes(from: other).allSatisfy { names.contains($0.column) }
  }
}

extension Payment {
  /// Returns the payment with the times of an equal one.
  fileprivate func at(times other: Payment) -> Payment {
    var same = with(
      operations.map { operation in
        var operation = operation
        operation.createdAt = other[operation.sequence]?.createdAt ?? operation.createdAt
        operation.updatedAt = other[operation.sequence]?.updatedAt ?? operation.updatedAt
        return operation
      }
    )
    (same.createdAt, same.updatedAt) = (other.createdAt, other.updatedAt)
    return same
  }
}

extension Operation {
  /// Whether a later step may still need its preparation.
  fileprivate var isUnfinished: Bool { [.prepared, .sent, .waiting].contains(state.name) }
}

extension Fault {
  /// A preparation cannot be sealed here.
  fileprivate static func sealed(_ key: String) -> Fault {
    .state(
      "journal_key",
      "data that this payment needs later is sealed under the key of the fleet \(key). That key is not "
        + "here; nothing was sent",
      "set TENDER_JOURNAL_KEY_FILE; see: tender help shared-journal"
    )
  }
}
