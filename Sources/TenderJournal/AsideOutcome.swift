import TenderEngine
import TenderModel

/// An outcome that the database could not store.
struct AsideOutcome {
  /// The database's knowledge of an outcome.
  enum Standing {
    /// It lacks the outcome.
    case lacks
    /// It has the outcome from another source.
    case knows
    /// It lacks the payment's earlier state, so it was restored to an earlier time.
    case forgot
  }

  /// The payment with only its changed operations.
  private(set) var payment: Payment
  private let row: Int
  /// When the payment's first operation was recorded. It tells the payment from a later one with its reference.
  private let first: Int
  /// The database's version that it replaces.
  let over: Int
  let sequence: Int
  /// The operations, by sequence, whose stored preparations stay.
  private let prepared: [Int]
  let note: String
  let by: String

  var key: ReferenceKey { payment.key }

  /// Creates an outcome, based on one that already waits if there is one.
  init(
    _ payment: Payment,
    _ sequence: Int,
    over earlier: AsideOutcome?,
    note: String,
    by: String,
    _ redactor: Redactor
  ) {
    let sequences = payment.changed + (earlier?.payment.operations.map(\.sequence) ?? [])
    let operations = payment.operations.filter { sequences.contains($0.sequence) }
    self.payment = payment.redacted(by: redactor)
    self.payment = self.payment.with(
      self.payment.operations.filter { sequences.contains($0.sequence) }
    )
    prepared = operations.filter { $0.preparation != nil || $0.isSealed }.map(\.sequence)
    row = payment.row
    first = payment.operations.first?.createdAt ?? 0
    over = earlier?.over ?? payment.version
    self.sequence = sequence
    self.note = note
    self.by = by
  }

  /// Reads an entry for a journal with this name; nil if it is invalid or of another journal.
  init?(_ entry: JSON, in name: String) {
    guard entry["journal"]?.text == name, let row = entry["row"]?.wholeNumber,
      let first = entry["first"]?.wholeNumber,
      let over = entry["over"]?.wholeNumber, let note = entry["note"]?.text,
      let found = entry["payment"]?.object.flatMap(PaymentRow.payment),
      let sequence = entry["sequence"]?.wholeNumber
    else { return nil }
    (payment, self.row, self.first) = (found, row, first)
    (self.over, self.sequence) = (over, sequence)
    (self.note, by) = (note, entry["by"]?.text ?? "")
    prepared = (entry["prepared"]?.array ?? []).compactMap(\.wholeNumber)
  }

  func entry(in name: String) -> JSON {
    [
      "journal": .string(name), "row": .integer(row), "first": .integer(first),
      "over": .integer(over),
      "sequence": .integer(sequence), "note": .string(note), "by": .string(by),
      "prepared": .array(prepared.map(JSON.integer)),
      "payment": .object(PaymentRow.object(payment)),
    ]
  }

  /// Returns how much of this outcome a payment of a database has. `found` is the payment of the reference,
  /// or nil.
  func standing(in found: Payment?) -> Standing {
    guard let found, found.key == key, found.operations.first?.createdAt == first,
      found.version >= over
    else { return .forgot }
    guard found.version != over, let current = found[sequence] else { return .lacks }
    // An outcome that is unknown itself adds nothing to a later version.
    return current.isUnknown && payment[sequence]?.isUnknown == false ? .lacks : .knows
  }

  /// Returns a payment with this outcome, which counts as written, unless the payment has it already.
  func added(to payment: Payment) -> Payment {
    var known = payment
    guard standing(in: payment) == .lacks, (try? add(to: &known)) != nil else { return payment }
    known.version += 1
    known.settled()
    return known
  }

  /// Adds the outcome to a payment that lacks it, based on the payment's version.
  func add(to found: inout Payment) throws(Fault) {
    for known in payment.operations {
      // It may have been begun while the database could not store anything.
      if found[known.sequence] == nil { found.append(known) }
      let keeps = prepared.contains(known.sequence)
      try found.change(known.sequence) { operation throws(Fault) in
        var next = known
        (next.row, next.number) = (operation.row, operation.number)
        next.fingerprints = operation.fingerprints
        if keeps, next.preparation == nil {
          (next.preparation, next.isSealed) = (operation.preparation, operation.isSealed)
        }
        operation = next
      }
    }
    PaymentRow.learn(from: payment, &found)
    found.updatedAt = max(found.updatedAt, payment.updatedAt)
    if payment.observed != found.observed, let seen = ObservationRow.all(of: payment) {
      found.add(seen)
    }
  }
}
