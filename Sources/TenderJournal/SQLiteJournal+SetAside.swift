package import TenderEngine
package import TenderModel
import TenderSystem

/// Outcomes that the database could not store: set aside, and stored later.
extension SQLiteJournal {
  package func setAside(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String
  ) throws(Fault) {
    try checkPlace()
    try aside.write(&payment, sequence, note: note, by: by, in: name, redactor)
  }

  /// Writes a waiting outcome of a payment before anything else is written there.
  func makeRoom(for key: ReferenceKey) throws(Fault) {
    guard let outcome = aside.waiting[key] else { return }
    takeInWhatWaits()
    // Another process may have stored it meanwhile.
    if outcome.standing(in: try stored(key)) == .knows { aside.waiting[key] = nil }
    guard aside.waiting[key] == nil else {
      throw .unusable(folder + "/journal.db", "an earlier outcome could not be written there yet")
    }
  }

  /// Returns whether the stored payment has an outcome, and is on the disk. Another thread may have stored it, and
  /// may still wait for its commit or sync.
  private func isOnDisk(_ outcome: AsideOutcome) -> Bool {
    guard sharesWork else { return database.syncLog() }
    let isStored = try? database.transaction(isDurable: true) { () throws(Fault) in
      outcome.standing(in: try stored(outcome.key)) == .knows
    }
    return isStored == true
  }

  /// Stores set-aside outcomes if the database accepts them now.
  func takeInWhatWaits() {
    for (slot, sum, entry) in aside.entries() {
      guard let outcome = AsideOutcome(entry, in: name), let found = try? stored(outcome.key)
      else { continue }
      let key = outcome.key
      switch outcome.standing(in: found) {
      // An older copy of the database does not have that version.
      case .forgot: continue
      case .knows:
        aside.waiting[key] = nil
        if isOnDisk(outcome) { aside.clear(slot, sum) }
      case .lacks:
        do throws(Fault) {
          var next = found
          try outcome.add(to: &next)
          next.version += 1
          let written = try commit(.power) { () throws(Fault) in
            try write(next, outcome.sequence, outcome.note)
          }
          aside.clear(slot, sum)
          finish(written, &next)
        } catch {
          // Another process may have stored it first. The next process that opens the journal clears the slot.
          let isTakenIn = (try? stored(key)).map { outcome.standing(in: $0) == .knows } ?? false
          aside.waiting[key] = isTakenIn ? nil : outcome
        }
      }
    }
  }
}
