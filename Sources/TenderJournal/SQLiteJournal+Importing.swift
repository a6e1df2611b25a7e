package import TenderEngine
package import TenderModel
import TenderSystem

/// Taking payments over from another journal.
extension SQLiteJournal {
  package func take(_ payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    try checkWhole()
    var taken = payment
    (taken.row, taken.version) = (0, max(1, payment.version))
    if let there = try self.payment(payment.key) {
      guard let merged = there.merged(with: payment) else { throw .taken(payment) }
      guard !PaymentRow.isSame(merged, there) else { return false }
      taken = merged
      taken.version = there.version + 1
      // Their places may be others now.
      for operation in merged.operations { try taken.change(operation.sequence) { _ in } }
    }
    let note = HistoryEntry(taken, taken.attempt?.sequence ?? 0, note: "taken over", by: nil)
    _ = try commit(.power) { () throws(Fault) in
      let written = try write(taken, 0, "", lines: history.isEmpty ? [note] : history)
      try database.query("DELETE FROM observation WHERE payment = ?", [.integer(written.payment)])
      if let seen = ObservationRow.all(of: taken) { try insert(seen, of: written.payment) }
      return written
    }
    return true
  }
}

extension Fault {
  /// A payment of another journal whose place has another.
  package static func taken(_ payment: Payment) -> Fault {
    Fault(
      .conflict,
      code: "import_conflict",
      "\(payment.reference.quotedForMessage) (\(payment.provider.text), \(payment.env.rawValue)) is in the "
        + "journal with other content",
      hint: "nothing was changed; compare: tender journal show \(payment.reference)"
    )
  }
}
