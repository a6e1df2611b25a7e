package import TenderEngine
package import TenderModel
import TenderSystem

/// Writes payments in one statement each: versioned, and under the fence of their lease.
extension SharedJournal {
  package func open(
    _ payment: Payment,
    _ terms: OpeningTerms,
    _ durability: Durability
  ) throws(Fault) -> Payment {
    let write = try opening(payment, terms)
    defer { (fresh, opened) = (nil, nil) }
    if let opened, payment.row == 0, opened.write.content.isSameOrder(as: write.content) {
      let times = opened.write.content.payment
      return settled(payment.at(times: times), opened.write, row: opened.row)
    }
    guard let row = try perform(write) else { throw try reason(for: write) }
    return settled(payment, write, row: row)
  }

  /// Returns the write of a new attempt.
  func opening(_ payment: Payment, _ terms: OpeningTerms) throws(Fault) -> LeasedWrite {
    try leased(payment, payment.attempt?.sequence ?? 0, "opened", terms, lends: leaseTime)
  }

  private func leased(
    _ payment: Payment,
    _ sequence: Int,
    _ note: String,
    _ terms: OpeningTerms?,
    lends: Int
  ) throws(Fault) -> LeasedWrite {
    if payment.row > 0, known[payment.row] == nil {
      _ = try remembered(rows(select("b.row = \(payment.row)")))
    }
    var write = LeasedWrite(
      try write(of: payment, over: known[payment.row], terms) { [line($0, sequence, note)] }
    )
    if terms != nil, payment.row == 0 { write.print = try print(of: payment.key) }
    write.lease = leases[payment.key]
    if write.lease != nil { write.lends = lends }
    return write
  }

  /// Returns the payment after the write, and records it as the database's state.
  private func settled(_ payment: Payment, _ write: LeasedWrite, row: Int) -> Payment {
    var written = payment.written(by: write.content, row)
    written.writer = settings.by
    written.isElsewhere = false
    raiseMark(write, row)
    known[row] = write.content.stored(at: clock.uptime)
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
    let isLast = durability == .last
    let isSending = !isLast && payment[sequence]?.state.name == .sent
    if !isSending { window?.lend(nil) }
    let begun = clock.moment
    fresh = nil
    let write = try leased(payment, sequence, note, nil, lends: isLast ? 0 : leaseTime)
    guard try perform(write) != nil else { throw try reason(for: write) }
    payment = settled(payment, write, row: payment.row)
    if isSending, leases[payment.key] != nil { lend(from: begun) }
    guard isLast else { return }
    // The last outcome released the lease.
    leases[payment.key]?.isOver = true
    known[payment.row] = nil
  }

  /// The time that a passing state of a sale must last before it is written alone, in milliseconds.
  private static let moment = 1000

  /// Returns whether only a state before any request is new, right after another write. The next write has it
  /// too.
  private func isPassing(_ payment: Payment) -> Bool {
    guard let written = known[payment.row], let time = written.writtenAt,
      clock.uptime - time < Self.moment, payment.unwritten.isEmpty
    else { return false }
    let redacted = payment.redacted(by: redactor)
    return PaymentRow.values(redacted).isAlike(written.row, but: ["updated", "version"])
      && payment.changed.allSatisfy { sequence in
        guard let before = written[sequence], let operation = redacted[sequence],
          operation.state == .prepared
        else { return false }
        return OperationRow.values(operation).isAlike(before.row, but: ["updated", "result"])
          && before.preparation.flatMap(opened) == operation.preparation
      }
  }

  /// Extends the send window of a lease that was written at a moment or later.
  private func lend(from begun: Moment) {
    let begin = Moment(boot: begun.boot, milliseconds: begun.milliseconds + slack)
    let end = Moment(boot: begun.boot, milliseconds: begun.milliseconds + leaseTime)
    window?.lend((begin, end))
  }
}

extension Write {
  /// Returns whether two writes open the same attempt, whenever they were created.
  fileprivate func isSameOrder(as other: Write) -> Bool {
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
