import TenderEngine
import TenderModel
import TenderSystem

/// A change besides those of the payment's row and of its history.
package enum Change {
  /// Adds rows of the payment to a table. The statement is the action for existing ones.
  case insert(String, [Row], Statement = "")
  case run(Statement)
}

/// The changes that one write makes, in either journal.
package struct Write {
  /// The payment after the write, redacted.
  let payment: Payment
  /// The payment that it replaces; nil for a new one.
  let before: Stored?
  /// The columns of the payment, and of the changed operations by sequence.
  let values: Row
  let operations: [Int: Row]
  var seen: [Observation]
  /// Lines of the history. The last one is about this write.
  let lines: [HistoryEntry]
  let terms: Set<String>
  /// Search terms that are new, and that the payment loses.
  let newTerms: [String]
  let goneTerms: [String]
  /// New preparations as stored, and operations that no longer have one.
  let prepared: [Int: String]
  let unprepared: [Int]
  /// Idempotency keys that no other operation may have.
  let keys: [String]
  let claims: Claims
  /// The conditions on other payments, for a new attempt.
  var opening: OpeningTerms?

  var key: ReferenceKey { payment.key }

  /// The columns of search terms, without the payment's number.
  static let terms = Columns([("text", .text), ("created", .number)])

  /// The things that changed operations have at the provider.
  struct Claims {
    static let columns = Columns([
      ("id", .text), ("thing", .text), ("provider", .text), ("env", .text), ("merchant", .text),
      ("sequence", .number),
    ])
    /// Rows of `claim`, without the payment's number.
    var rows: [Row] = []
    /// The ids that no other record may have.
    var new: [String] = []
    /// The ids that the payment loses.
    var gone: [String] = []
  }

  /// Returns what the database has after the write, at an uptime.
  func stored(at uptime: Int = 0) -> Stored {
    var stored = before ?? Stored(row: values)
    (stored.row, stored.writtenAt, stored.terms) = (values, uptime, terms)
    stored.operations = payment.operations.compactMap { operation in
      let (sequence, old) = (operation.sequence, before?[operation.sequence])
      guard let row = operations[sequence] ?? old?.row else { return nil }
      let isGone = unprepared.contains(sequence)
      let preparation = prepared[sequence] ?? (isGone ? nil : old?.preparation)
      return .init(sequence: sequence, row: row, preparation: preparation)
    }
    return stored
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
