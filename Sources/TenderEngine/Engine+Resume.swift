package import TenderModel

/// Taking up what an earlier process left.
extension Engine {
  /// Finds out what an attempt in `sent` did; any other is answered as it stands.
  package func resume(_ found: Attempt) throws(Fault) -> Report {
    // Whoever holds the lock is at work on it: that is an answer, and nothing to wait for.
    let lock = try hold(found.reference, patience: 0)
    defer { withExtendedLifetime(lock) {} }
    let attempt = try reread(found)
    try checkOwner(of: attempt)
    guard attempt.phase == .sent else { return Report(attempt, attempt.operation, replayed: true) }
    let known = try findOut(attempt)
    return Report(known.attempt, known.attempt.operation, replayed: !known.doneNow)
  }

  /// The attempt as it is now that its lock is held.
  func reread(_ found: Attempt) throws(Fault) -> Attempt {
    let latest = try journal.latest(
      found.key
    )
    // An older attempt can only be a finished one, which nobody changes any more.
    return latest?.row == found.row ? latest ?? found : found
  }
}
