package import TenderModel

/// What somebody says of an attempt whose outcome no question answers any more.
extension Journal {
  /// The statuses that an unknown attempt can be settled as.
  package static func settlements(of attempt: Attempt) -> [Status] {
    switch (attempt.operation, attempt.kind) {
    case (.cancel, .mandate): [.revoked, .authorized]
    case (.cancel, _): [.cancelled, .refunded, .partiallyRefunded, .succeeded]
    case (_, .mandate): [.authorized, .cancelled, .expired, .failed]
    default: [.succeeded, .declined, .cancelled, .expired, .failed]
    }
  }

  /// Ends an attempt in `sent` as somebody says it ended, with the reason in its history.
  ///
  /// `failed` says that nothing happened, and frees the reference. `refund` is the refund that was
  /// sent, where it was one of several. Throws `conflict` where the outcome is known, or another
  /// command works on it; `usage` for a status that it cannot have.
  package func settle(
    _ found: Attempt,
    as status: Status,
    reason: String,
    refund: Refund?,
    _ clock: any Clock,
    _ interruption: any Interruption
  ) throws(Fault) -> Attempt {
    try checkWhole()
    let lock = try lock(found.key, by: Deadline(in: 0, on: clock), interruption: interruption)
    guard let lock else { throw .inProgress(found.reference) }
    defer { withExtendedLifetime(lock) {} }
    let latest = try latest(found.key)
    guard var attempt = latest, attempt.row == found.row, attempt.phase == .sent else {
      throw Fault(
        .conflict,
        code: "nothing_to_settle",
        "the outcome of \(found.reference.quotedForMessage) is known: it is "
          + (latest ?? found).shownStatus.rawValue,
        hint: "only an unknown attempt can be settled; see: tender journal list --status unknown"
      )
    }
    let allowed = Self.settlements(of: attempt)
    guard allowed.contains(status) else {
      throw Fault(
        .usage,
        code: "bad_value",
        "\(found.reference.quotedForMessage) cannot be settled as \(status.rawValue)",
        hint: "one of " + allowed.map(\.rawValue).joined(separator: ", ")
      )
    }
    var reversal: Reversal?
    if attempt.operation == .cancel {
      if var refund, status != .succeeded {
        refund.status = "executed"
        reversal = .parts(attempt.refunds + [refund])
      } else if attempt.refunds.isEmpty, status != .succeeded, status != .authorized {
        reversal = .whole(["settled": .string(status.rawValue)])
      }
    }
    let driver = Driver(journal: self, clock: clock, namesItsStates: true, announce: { _ in })
    try driver.take(.settle(status, reversal: reversal, reason: reason), &attempt)
    return attempt
  }
}
