import TenderEngine
import TenderModel
import TenderSystem

/// Makes the write of a payment from what the database has.
extension TableJournal {
  /// Returns what the database has, from rows.
  func stored(_ row: Row, _ operations: [Row]) throws(Fault) -> Known {
    var known = Known(
      row: row,
      operations: [:],
      terms: SearchTerm.all(of: try PaymentRow.payment(row, operations)),
      prepared: [:]
    )
    for operation in operations {
      guard let sequence = operation.number("sequence") else { continue }
      known.operations[sequence] = operation
      known.prepared[sequence] = operation.text("preparation").map { ($0, opened($0)) }
    }
    return known
  }

  /// Returns the write of a payment over the version on which it is based.
  ///
  /// Throws `conflict` (`key_reused`) if a new operation has the key of another one of the payment. Throws
  /// `state` if a preparation cannot be sealed.
  func write(
    of payment: Payment,
    over before: Known?,
    _ opening: OpeningTerms? = nil,
    _ lines: (Payment) -> [HistoryEntry]
  ) throws(Fault) -> Write {
    var raised = payment.redacted(by: redactor)
    let entries = lines(raised)
    raised.version += entries.count
    var operations: [Int: Row] = [:]
    for operation in raised.operations
    where payment.changed.contains(operation.sequence)
      || before?.operations[operation.sequence] == nil
    {
      operations[operation.sequence] = OperationRow.values(operation)
    }
    let stored = try preparations(of: payment, operations.keys.sorted(), before)
    return Write(
      payment: raised,
      before: before,
      values: PaymentRow.values(raised),
      operations: operations,
      seen: payment.unwritten.map { $0.redacted(by: redactor) },
      lines: entries,
      terms: SearchTerm.all(of: raised),
      prepared: stored.new,
      unprepared: stored.gone,
      keys: try newKeys(of: payment),
      claims: claims(of: raised, operations.keys, before),
      opening: opening
    )
  }

  /// Returns a line of the history about one operation.
  func line(_ payment: Payment, _ sequence: Int, _ note: String) -> HistoryEntry {
    HistoryEntry(payment, sequence, note: note, by: by.isEmpty ? nil : by)
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
      let earlier = before?.operations[operation.sequence]?.text("id")
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
        if had?.preparation != preparation { new[sequence] = try sealed(preparation) }
      } else if let had, had.preparation != nil || !operation.isUnfinished {
        // A preparation that another machine sealed is not deleted because its key is missing here.
        gone.append(sequence)
      }
    }
    return (new, gone)
  }
}

extension Operation {
  /// Whether a later step may still need its preparation.
  fileprivate var isUnfinished: Bool { [.prepared, .sent, .waiting].contains(state.name) }
}

extension Observation {
  /// Returns the observation with a provider's texts redacted.
  fileprivate func redacted(by redactor: Redactor) -> Observation {
    var seen = self
    seen.providerStatus = providerStatus.map { redactor.redact($0, foreign: true) }
    seen.id = redactor.storable(id)
    return seen
  }
}
