import TenderEngine
import TenderModel
import TenderSystem

/// Makes the write of a payment from what the database has.
extension TableJournal {
  /// Returns the write of a payment over the version on which it is based.
  ///
  /// Throws `conflict` (`key_reused`) if a new operation has the key of another one of the payment. Throws
  /// `state` if a preparation cannot be sealed.
  func write(
    of payment: Payment,
    over before: Stored?,
    _ opening: OpeningTerms? = nil,
    _ lines: (Payment) -> [HistoryEntry]
  ) throws(Fault) -> Write {
    var raised = payment.redacted(by: redactor)
    let entries = lines(raised)
    raised.version += entries.count
    var operations: [Int: Row] = [:]
    for operation in raised.operations
    where payment.changed.contains(operation.sequence)
      || before?[operation.sequence] == nil
    {
      operations[operation.sequence] = OperationRow.values(operation)
    }
    let stored = try preparations(of: payment, operations.keys.sorted(), before)
    let terms = SearchTerm.all(of: raised)
    var had = before?.terms ?? []
    if let before, before.terms == nil { had = SearchTerm.all(of: try before.payment()) }
    // A term has the time of the payment's creation.
    let isMoved = before.map { $0.row.time("created") != raised.createdAt } ?? false
    return Write(
      payment: raised,
      before: before,
      values: PaymentRow.values(raised),
      operations: operations,
      seen: payment.unwritten.map { $0.redacted(by: redactor) },
      lines: entries,
      terms: terms,
      newTerms: (isMoved ? terms : terms.subtracting(had)).sorted(),
      goneTerms: (isMoved ? had : had.subtracting(terms)).sorted(),
      prepared: stored.new,
      unprepared: stored.gone,
      keys: try newKeys(of: payment),
      claims: claims(of: raised, operations.keys, before),
      opening: opening
    )
  }

  /// Returns the changes of a write besides those of the payment's row and of its history. `row` is the payment's
  /// number.
  func changes(_ write: Write, _ row: Statement) -> [Change] {
    let dialect = Self.dialect
    let (schema, created) = (dialect.schema, write.payment.createdAt)
    var changes: [Change] = []
    var new: [Row] = []
    for (sequence, values) in write.operations.sorted(by: { $0.key < $1.key }) {
      guard let before = write.before?[sequence]?.row else {
        new.append(values)
        continue
      }
      // Only changed columns are set, because each indexed column that is set writes pages.
      guard let settings = values.settings(from: before) else { continue }
      changes.append(
        .run(
          """
          UPDATE \(sql: schema)operation SET \(settings)\(sql: dialect.touch)
          WHERE payment = \(row) AND sequence = \(sequence)
          """
        )
      )
    }
    changes.append(.insert("operation", new))
    changes += preparations(write, row)
    changes.append(.insert("observation", write.seen.map(ObservationRow.values)))
    if !write.claims.gone.isEmpty {
      let gone: Statement = "payment = \(row) AND id IN (\(each: write.claims.gone))"
      changes.append(.run("DELETE FROM \(sql: schema)claim WHERE \(gone)"))
    }
    // Of two writes at once with one new id, the second fails, because a claim needs a payment.
    let conflict: Statement =
      write.claims.new.isEmpty
      ? " ON CONFLICT DO NOTHING"
      : """
       ON CONFLICT (id, thing, provider, env, merchant) DO UPDATE SET payment = CASE
      WHEN (claim.payment, claim.sequence) = (excluded.payment, excluded.sequence)
      OR claim.id NOT IN (\(each: write.claims.new)) THEN claim.payment END
      """
    changes.append(.insert("claim", write.claims.rows, conflict))
    if let before = write.before, !write.goneTerms.isEmpty {
      changes.append(
        .run(
          """
          DELETE FROM \(sql: schema)term WHERE payment = \(row)
          AND created = \(before.row.time("created")) AND text IN (\(each: write.goneTerms))
          """
        )
      )
    }
    let terms = write.newTerms.map { term in
      Row(Write.terms, [.text(term), .integer(created)])
    }
    changes.append(.insert("term", terms, " ON CONFLICT DO NOTHING"))
    return changes
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
    _ before: Stored?
  ) -> Write.Claims {
    var claims = Write.Claims()
    guard payment.env != .simulator || isOutside else { return claims }
    for operation in payment.operations where changed.contains(operation.sequence) {
      let earlier = before?[operation.sequence]?.row.text("id")
      guard let id = operation.id, let thing = operation.thing else {
        if operation.id == nil, let earlier { claims.gone.append(earlier) }
        continue
      }
      if earlier != id { claims.new.append(id) }
      let texts = [
        id, thing.rawValue, payment.provider.text, payment.env.rawValue, payment.merchant,
      ]
      let sequence = Database.Value.integer(operation.claimedSequence)
      let row = Row(Write.Claims.columns, texts.map(Database.Value.text) + [sequence])
      // Two attempts may have one id, and so may an attempt and its surplus charge.
      if !claims.rows.contains(where: { $0.values == row.values }) { claims.rows.append(row) }
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
    _ before: Stored?
  ) throws(Fault) -> (new: [Int: String], gone: [Int]) {
    var new: [Int: String] = [:]
    var gone: [Int] = []
    for sequence in sequences {
      guard let operation = payment[sequence] else { continue }
      let had = before?[sequence]?.preparation
      let known = had.flatMap(opened)
      if let preparation = operation.preparation {
        if known != preparation { new[sequence] = try sealed(preparation) }
      } else if had != nil, known != nil || !operation.isUnfinished {
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
