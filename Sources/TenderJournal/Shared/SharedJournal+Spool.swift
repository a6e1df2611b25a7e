package import TenderEngine
package import TenderModel

/// Outcomes that the database could not store: written durably to a file of this machine, and delivered by
/// its next command.
extension SharedJournal {
  package func setAside(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String
  ) throws(Fault) {
    try aside.write(&payment, sequence, note: note, by: settings.by, in: name, redactor)
    // The lease is released: the next process has the outcome, or looks.
    leases[payment.key]?.isOver = true
  }

  /// Delivers this machine's waiting outcomes if the database accepts them.
  ///
  /// An outcome that another process found out meanwhile is dropped. `held` is a reference that this process
  /// has already locked on this machine.
  func deliver(holding held: ReferenceKey? = nil) throws(Fault) {
    guard !isDelivering else { return }
    let entries = aside.entries()
    guard !entries.isEmpty else { return }
    isDelivering = true
    defer { isDelivering = false }
    if name.isEmpty { _ = try query(["SELECT 1"]) }
    for (slot, sum, entry) in entries {
      guard let outcome = AsideOutcome(entry, in: name) else { continue }
      let key = outcome.key
      aside.waiting[key] = outcome
      // The process that set it aside may still be working on it.
      let isOurs = key == held || leases[key] != nil
      let local =
        isOurs
        ? nil
        : try locks.take(
          key.description,
          by: Deadline(in: 0, on: clock),
          interruption: NeverInterrupted()
        )
      guard isOurs || local != nil else { continue }
      defer { withExtendedLifetime(local) {} }
      aside.waiting[key] = nil
      do throws(Fault) {
        if try deliver(outcome) { aside.clear(slot, sum) } else { aside.waiting[key] = outcome }
      } catch {
        // Another process has the reference, or the database is unreachable again. The outcome still waits.
        aside.waiting[key] = outcome
      }
    }
  }

  /// Writes a set-aside outcome, unless it is known. Returns false if the database was restored to an earlier
  /// time.
  private func deliver(_ outcome: AsideOutcome) throws(Fault) -> Bool {
    let found = try payment(query([select(outcome.key)])[0].first)
    switch outcome.standing(in: found) {
    case .forgot: return false
    case .knows: return true
    case .lacks: break
    }
    guard var payment = found else { return false }
    try outcome.add(to: &payment)
    var write = try write(
      of: payment,
      { [HistoryEntry($0, outcome.sequence, note: outcome.note, by: outcome.by)] },
      lends: leaseTime
    )
    write.by = outcome.by
    write.isLocked = true
    guard try perform(write) != nil else { throw try lost(write) }
    known[payment.row] = nil
    leases[payment.key]?.isOver = false
    return true
  }

  /// Waits until a waiting outcome is written, before anything else is written there.
  func makeRoom(for key: ReferenceKey) throws(Fault) {
    guard aside.waiting[key] != nil else { return }
    try deliver()
    guard aside.waiting[key] == nil else {
      throw .unusable(aside.path, "an earlier outcome could not be delivered yet")
    }
  }
}
