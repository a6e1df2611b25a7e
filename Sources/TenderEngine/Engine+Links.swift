import TenderModel

/// Refunds at the reader. Each has a separate reference, and the original payment counts it too.
///
/// The refund is the attempt of its reference. The original payment has an operation that mirrors it, by
/// `link`.
extension Engine {
  /// Records at the original payment that a refund begins. Throws if the amount exceeds what is left.
  func reserve(_ draft: Operation, of refund: Payment, on reference: Reference) throws(Fault) {
    let lock = try hold(reference)
    defer { withExtendedLifetime(lock) {} }
    guard let found = try journal.payment(key(reference)) else {
      throw .unknownHandle(reference.text)
    }
    var original = try synced(found)
    let now = clock.now
    // An earlier run reserved the same refund, and its process died before anything was sent.
    for dead in original.reversals where dead.link == refund.reference && dead.state == .prepared {
      try original.move(dead.sequence, .fail, to: .failed, at: now)
    }
    guard original.state.isCaptured else { throw original.nothingToRefund }
    let amount = draft.amount ?? 0
    if let excess = original.refundExceeds(amount) { throw excess }
    var mirrored = Operation(.refund, amount: amount, at: now)
    mirrored.link = refund.reference
    mirrored.name = refund.reference.text
    let sequence = original.append(mirrored)
    try driver.write(&original, sequence, note: "refund \(refund.reference.text) begins")
  }

  /// Updates the original payment of a refund.
  ///
  /// A failure here loses nothing, since the refund itself is in the journal. The next command counts again.
  func mirror(_ refund: Payment) {
    guard let attempt = refund.attempt, attempt.kind == .refund, let reference = attempt.link,
      let lock = try? hold(reference)
    else { return }
    defer { withExtendedLifetime(lock) {} }
    guard let found = try? journal.payment(key(reference)) else { return }
    _ = try? synced(found)
  }

  /// Returns a payment whose mirrored refunds have the current states of those refunds. Writes it if one
  /// changed.
  func synced(_ payment: Payment) throws(Fault) -> Payment {
    var synced = payment
    // An earlier version stored masked ids. They name nothing at the provider.
    for operation in payment.operations where operation.id.map(Redactor.isMasked) == true {
      try synced.change(operation.sequence) { $0.id = nil }
    }
    var changed: Int?
    for mirrored in payment.reversals where mirrored.isAlive {
      guard let reference = mirrored.link,
        let refund = try journal.payment(key(reference)), let attempt = refund.attempt
      else { continue }
      var next = attempt.state.kept
      if attempt.state.name == .prepared {
        // If the lock is free, the refund's process is gone, and nothing was sent.
        guard try lock(reference) != nil else { continue }
        next = .failed
      }
      // A refund that was undone later no longer counts.
      if refund.state.status == .cancelled {
        next = mirrored.state.name == .succeeded ? .returned : .cancelled
      }
      if case .sent(let sent) = next { next = .sent(Operation.Sent(at: sent.at, moment: nil)) }
      // A result that was reported stays.
      guard next.name != mirrored.state.name,
        next.name != .sent || [.prepared, .waiting, .processing].contains(mirrored.state.name)
      else { continue }
      let event: Operation.Event =
        switch next.name {
        // An operator resolved a refund that had been accepted.
        case .failed: [.prepared, .sent].contains(mirrored.state.name) ? .fail : .resolve
        case .returned: .observe
        case .sent: .send
        default: .answer
        }
      try synced.move(mirrored.sequence, event, to: next, at: clock.now) { operation in
        operation.approved = attempt.approved
        operation.id = attempt.id
      }
      changed = mirrored.sequence
    }
    guard let changed else { return synced }
    try driver.write(&synced, changed, note: "refund at the reader")
    return synced
  }
}
