import TenderEngine
import TenderModel
import TenderSystem

/// A payment as the database has it.
struct Known {
  /// The columns of the payment, and of its operations by sequence.
  var row: Row
  var operations: [Int: Row]
  var terms: Set<String>
  /// The preparations as stored, by sequence, with the content of those that can be unsealed here.
  var prepared: [Int: (text: String, preparation: Operation.Preparation?)]
  /// When this process wrote it, by the clock's uptime; nil if it was read.
  var writtenAt: Int?
}

/// The changes that one write makes, in either journal.
package struct Write {
  /// The payment after the write, redacted.
  let payment: Payment
  /// The payment that it replaces; nil for a new one.
  let before: Known?
  /// The columns of the payment, and of the changed operations by sequence.
  let values: Row
  let operations: [Int: Row]
  var seen: [Observation]
  /// Lines of the history. The last one is about this write.
  let lines: [HistoryEntry]
  let terms: Set<String>
  /// New preparations as stored, and operations that no longer have one.
  let prepared: [Int: String]
  let unprepared: [Int]
  /// Idempotency keys that no other operation may have.
  let keys: [String]
  let claims: Claims
  /// The conditions on other payments, for a new attempt.
  var opening: OpeningTerms?

  var key: ReferenceKey { payment.key }

  /// The things that changed operations have at the provider.
  struct Claims {
    static let columns = ["id", "thing", "provider", "env", "merchant", "sequence"]
    /// Rows of `claim`, without the payment's number.
    var rows: [JSONObject] = []
    /// The ids that no other record may have.
    var new: [String] = []
    /// The ids that the payment loses.
    var gone: [String] = []
  }

  /// Whether the payment got another time of creation, which is in its search terms.
  private var isMoved: Bool {
    before.map { $0.row.time("created") != payment.createdAt } ?? false
  }

  var newTerms: [String] {
    (isMoved ? terms : terms.subtracting(before?.terms ?? [])).sorted()
  }

  var goneTerms: [String] {
    let had = before?.terms ?? []
    return (isMoved ? had : had.subtracting(terms)).sorted()
  }

  /// Returns what the database has after the write, at an uptime.
  func known(at uptime: Int) -> Known {
    var prepared = before?.prepared ?? [:]
    for sequence in unprepared { prepared[sequence] = nil }
    for (sequence, text) in self.prepared {
      prepared[sequence] = (text, payment[sequence]?.preparation)
    }
    return Known(
      row: values,
      operations: (before?.operations ?? [:]).merging(operations) { $1 },
      terms: terms,
      prepared: prepared,
      writtenAt: uptime
    )
  }
}

extension Payment {
  /// Returns the payment after its write into a row.
  func written(by write: Write, _ row: Int) -> Payment {
    var written = self
    (written.row, written.version) = (row, write.payment.version)
    let new = operations.filter { $0.row == 0 }
    written.settled(rows: new.map { ($0.sequence, $0.sequence) })
    return written
  }
}
