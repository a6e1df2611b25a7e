import TenderEngine
import TenderModel

/// What a request came to that the database could not take.
struct Spooled {
  /// What the database has of a payment, seen from here.
  enum Standing {
    /// It lacks this.
    case lacks
    /// It has learned as much in another way.
    case knows
    /// It does not have the payment as it was: it was put back to an earlier time.
    case forgot
  }

  /// The payment with the operations that changed, and no others.
  private(set) var payment: Payment
  private let row: Int
  /// The version of the payment in the database that this is written over; nil for an entry of version 1.
  let over: Int?
  /// The operation that it is about.
  let sequence: Int
  /// The operations, by sequence, whose preparations the database keeps.
  private let prepared: Set<Int>
  let note: String
  let by: String

  var key: ReferenceKey { payment.key }

  /// An outcome over one that waits already, where there is one.
  init(
    _ payment: Payment,
    _ sequence: Int,
    over earlier: Spooled?,
    note: String,
    by: String,
    _ redactor: Redactor
  ) {
    let sequences = payment.changed.union(earlier?.payment.operations.map(\.sequence) ?? [])
    let operations = payment.operations.filter { sequences.contains($0.sequence) }
    self.payment = payment.redacted(by: redactor)
    self.payment = self.payment.with(
      self.payment.operations.filter { sequences.contains($0.sequence) }
    )
    prepared = Set(operations.filter { $0.preparation != nil || $0.isSealed }.map(\.sequence))
    row = payment.row
    over = earlier?.over ?? payment.version
    self.sequence = sequence
    self.note = note
    self.by = by
  }

  /// An entry of the spool that was written for a journal of this name, also one of version 1.
  init?(_ entry: JSON, in name: String) {
    guard entry["journal"]?.text == name, let row = entry["row"]?.wholeNumber,
      let over = entry["over"]?.wholeNumber, let note = entry["note"]?.text,
      let by = entry["by"]?.text
    else { return nil }
    (self.row, self.note, self.by) = (row, note, by)
    if let values = entry["values"]?.array {
      guard let attempt = LegacyAttempt(values: values, preparation: nil) else { return nil }
      payment = attempt.payment
      self.over = nil
      sequence = payment.operations.last?.sequence ?? 0
      prepared = entry["isPrepared"] == true ? Set(payment.operations.map(\.sequence)) : []
      return
    }
    guard let found = entry["payment"]?.object.flatMap(PaymentRow.payment),
      let sequence = entry["sequence"]?.wholeNumber
    else { return nil }
    payment = found
    self.over = over
    self.sequence = sequence
    prepared = Set(entry["prepared"]?.array?.compactMap(\.wholeNumber) ?? [])
  }

  /// The entry of the spool, for a journal of this name.
  func entry(in name: String) -> JSON {
    [
      "journal": .string(name), "row": .integer(row), "over": .integer(over ?? 0),
      "sequence": .integer(sequence), "note": .string(note), "by": .string(by),
      "prepared": .array(prepared.sorted().map(JSON.integer)),
      "payment": .object(PaymentRow.object(payment)),
    ]
  }

  /// How much a database knows that has a payment, or none, at this reference.
  func standing(in found: Payment?) -> Standing {
    guard let found, found.key == key, found.createdAt == payment.createdAt || over == nil,
      found.version >= over ?? 0, let place = places(in: found)?[sequence],
      let current = found[place]
    else { return .forgot }
    return found.version == over || current.isUnknown ? .lacks : .knows
  }

  /// The sequences in a payment of the operations here; nil where it does not have them.
  private func places(in found: Payment) -> [Int: Int]? {
    let own = payment.operations.map(\.sequence)
    guard over == nil else {
      return own.allSatisfy { found[$0] != nil }
        ? Dictionary(uniqueKeysWithValues: own.map { ($0, $0) }) : nil
    }
    // One attempt and what followed it, which may have others before and after it by now.
    guard let attempt = payment.attempt,
      let begin = found.operations.firstIndex(where: {
        $0.isAttempt && $0.number == attempt.number && $0.createdAt == attempt.createdAt
      })
    else { return nil }
    let round = found.operations[begin...].map(\.sequence).prefix(own.count)
    return round.count == own.count ? Dictionary(uniqueKeysWithValues: zip(own, round)) : nil
  }

  /// Adds it to a payment that lacks it, to be written over the version that the payment has; gives the sequence of
  /// the operation there that it is about.
  func add(to found: inout Payment) throws(Fault) -> Int {
    let places = places(in: found) ?? [:]
    for known in payment.operations {
      guard let place = places[known.sequence] else { continue }
      let keeps = prepared.contains(known.sequence)
      try found.change(place) { operation throws(Fault) in
        var next = known
        (next.row, next.sequence, next.number) = (operation.row, place, operation.number)
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
    return places[sequence] ?? 0
  }
}
