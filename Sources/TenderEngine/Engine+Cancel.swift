package import TenderModel

/// Undoing what an earlier process left: a hold, a payment, a sale under way.
extension Engine {
  /// What a cancel would do with an attempt as it stands.
  ///
  /// Throws where it would be refused.
  package func planCancel(_ found: Attempt?, handle: String) throws(Fault) -> Plan {
    guard let found else { throw .unknownHandle(handle) }
    if found.phase == .sent { return .findOut }
    if found.isUndone { return .replay }
    guard found.phase == .done, !found.isToken, !found.isFreed, found.refunds.isEmpty else {
      throw .nothingToCancel(found)
    }
    switch found.status {
    case .requiresConfirmation: return .release
    case .succeeded, .pending: return .reverse
    case .requiresAction:
      throw Fault(
        .unsupported,
        code: "cancel_unsupported",
        "\(handle.quotedForMessage) waits for the payer and cannot be cancelled",
        hint: "it expires by itself at the provider"
      )
    case .authorized, .declined, .cancelled, .refunded, .partiallyRefunded, .returned, .expired,
      .revoked, .failed, .unknown:
      throw .nothingToCancel(found)
    }
  }

  /// Voids what is held, reverses what is captured, or answers with what undid it before.
  ///
  /// Throws `not_found` for an unknown handle, `conflict` where there is nothing to undo.
  package func cancel(_ found: Attempt?, handle: String) throws(Fault) -> Report {
    if isAuthorizedByPayer { return try withdraw(found, handle: handle) }
    guard let found else { throw .unknownHandle(handle) }
    try checkOwner(of: found)
    let isUnderWay = try stopUnderWay(found)
    let lock = isUnderWay ? try holdStopping(found.reference) : try hold(found.reference)
    defer { withExtendedLifetime(lock) {} }
    var attempt = try newest(found, handle: handle)
    try checkOwner(of: attempt)
    if isUnderWay {
      journal.forgetStop(key(found.reference))
      // It was stopped before anything was sent.
      if attempt.isFreed, attempt.status == .cancelled {
        return Report(attempt, .cancel, replayed: false)
      }
    }
    if attempt.phase == .sent {
      let wasReversal = attempt.operation == .cancel
      // Who wants it undone does not want it done first.
      let known = try findOut(attempt, mayRepeat: false)
      attempt = known.attempt
      if wasReversal || attempt.status == .cancelled, known.doneNow {
        return Report(attempt, .cancel, replayed: false)
      }
    }
    switch try planCancel(attempt, handle: handle) {
    case .release:
      try provider.checkReady(for: .heldPayment)
      try checkSealed(attempt)
      attempt.operation = .cancel
      return try settle(attempt, .cancel) { progress throws(Fault) in
        try provider.release(attempt, progress)
      }
    case .reverse:
      try provider.checkReady(for: .reversal)
      attempt.operation = .cancel
      return try settle(attempt, .cancel) { progress throws(Fault) in
        try provider.reverse(attempt, progress)
      }
    case .replay, .capture, .refund, .findOut: return Report(attempt, .cancel, replayed: true)
    }
  }

  /// Takes the lock of a reference whose work is asked to stop, again and again: whoever waited for it
  /// too begins new work, and must hear it as well.
  private func holdStopping(_ reference: Reference) throws(Fault) -> any AttemptLock {
    // Whoever is at work hears it within moments, and a reader takes some seconds to let go.
    let deadline = Deadline(in: max(patience, 15_000), on: clock)
    while true {
      let lock = try lock(reference, within: min(500, deadline.remaining))
      if let lock { return lock }
      guard deadline.remaining > 0 else { throw .inProgress(reference) }
      try journal.requestStop(key(reference))
    }
  }

  /// The attempt as it is now that its lock is held; the newest of its reference, where that was meant:
  /// another command may have opened one meanwhile.
  private func newest(_ found: Attempt, handle: String) throws(Fault) -> Attempt {
    let latest = try journal.latest(found.key)
    guard let latest, handle == found.reference.text, latest.phase != .prepared else {
      return try reread(found)
    }
    return latest
  }
}

extension Fault {
  /// A cancel of something that is undone already, or never was.
  static func nothingToCancel(_ attempt: Attempt) -> Fault {
    Fault(
      .conflict,
      code: "nothing_to_cancel",
      "reference \(attempt.reference.quotedForMessage) is "
        + (attempt.isToken ? "a token" : attempt.shownStatus.rawValue)
        + ": there is nothing to cancel",
      hint: "see: tender journal show \(attempt.reference)"
    )
  }

  /// No payment by that reference or id.
  package static func unknownHandle(_ handle: String) -> Fault {
    Fault(
      .notFound,
      code: "payment_not_found",
      "no payment \(handle.quotedForMessage)",
      hint: "a reference or a receipt number; see: tender journal list"
    )
  }
}
