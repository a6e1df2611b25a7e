import TenderModel

/// Refunds with the card that version 0.2.0 recorded twice: as a payment, and as an operation of the original.
extension Engine {
  /// Returns the payment that version 0.2.0 recorded for a refund with the card; nil for any other operation.
  func record(of operation: Operation) throws(Fault) -> Payment? {
    guard let reference = operation.ownReference,
      let record = try journal.payment(key(reference)), record.original != nil
    else { return nil }
    return record
  }

  /// Updates the original payment of such a record. The next command on the original does it too.
  func followOriginal(of record: Payment) {
    guard let reference = record.original, let lock = try? hold(reference),
      let found = try? journal.payment(key(reference))
    else { return }
    defer { withExtendedLifetime(lock) {} }
    _ = try? followed(found)
  }

  /// Returns a payment whose open refunds have the results of their own records. Writes it if one changed.
  func followed(_ payment: Payment) throws(Fault) -> Payment {
    var followed = payment
    // An earlier version stored masked ids. They name nothing at the provider.
    for operation in payment.operations where operation.id.map(Redactor.isMasked) == true {
      try followed.change(operation.sequence) { $0.id = nil }
    }
    var changed: Int?
    for open in payment.operations
    where [.prepared, .sent, .processing, .succeeded].contains(open.state.name) {
      guard let record = try record(of: open), let attempt = record.attempt else { continue }
      let isUndone = record.state.status == .cancelled
      let isDone = open.state.name == .succeeded
      guard !isDone || isUndone else { continue }
      let next = isUndone ? (isDone ? Operation.State.returned : .cancelled) : attempt.state.kept
      guard next.name != open.state.name, next != .prepared else { continue }
      let event: Operation.Event =
        switch next.name {
        case .failed: open.state == .processing ? .resolve : .fail
        case .sent: .send
        case .returned: .observe
        default: .answer
        }
      try followed.move(open.sequence, event, to: next, at: clock.now) { operation in
        (operation.approved, operation.id) = (attempt.approved, attempt.id)
      }
      changed = open.sequence
    }
    guard let changed else { return followed }
    try driver.write(&followed, changed, note: "refund at the reader")
    return followed
  }
}
