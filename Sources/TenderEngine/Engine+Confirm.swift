package import TenderModel

/// Capturing what an earlier process holds.
extension Engine {
  /// What a confirm would do with an attempt as it stands.
  ///
  /// Throws where it would be refused.
  package func planConfirm(_ found: Attempt?, handle: String) throws(Fault) -> Plan {
    guard let found, !found.isToken else { throw .nothingToConfirm(handle, found, provider) }
    if found.phase == .sent { return .findOut }
    if found.isCaptured { return .replay }
    guard found.phase == .done, found.status == .requiresConfirmation else {
      throw .nothingToConfirm(handle, found, provider)
    }
    return .capture
  }

  /// Captures what is held under a reference, or answers with what capturing it came to before.
  ///
  /// Throws `conflict` (`no_auth`) where nothing is held: never transacted, declined, cancelled.
  package func confirm(_ found: Attempt?, handle: String) throws(Fault) -> Report {
    if isAuthorizedByPayer { return try proceed(found, handle: handle) }
    guard let found, !found.isToken else { throw .nothingToConfirm(handle, found, provider) }
    let lock = try hold(found.reference)
    defer { withExtendedLifetime(lock) {} }
    var attempt = try reread(found)
    try checkOwner(of: attempt)
    if attempt.phase == .sent {
      let known = try findOut(attempt)
      attempt = known.attempt
      if known.doneNow { return Report(attempt, .confirm, replayed: false) }
    }
    guard try planConfirm(attempt, handle: handle) == .capture else {
      return Report(attempt, .confirm, replayed: true)
    }
    try provider.checkReady(for: .heldPayment)
    try checkSealed(attempt)
    attempt.operation = .confirm
    return try settle(attempt, .confirm) { progress throws(Fault) in
      try provider.confirm(attempt, progress)
    }
  }
}

extension Fault {
  /// A confirm of something that is not held, with the provider's documented words for it.
  fileprivate static func nothingToConfirm(
    _ handle: String,
    _ attempt: Attempt?,
    _ provider: any Provider
  ) -> Fault {
    let why = attempt.map { $0.isToken ? "is a token" : "is \($0.shownStatus.rawValue)" }
    return Fault(
      .conflict,
      code: "no_auth",
      "there is no authorization to capture: \(handle.quotedForMessage) "
        + (why ?? "was never transacted here"),
      hint: attempt == nil
        ? "start with: tender transact \(provider.holdOption); see: tender journal list"
        : "start anew with: tender transact \(provider.holdOption) --new-attempt",
      result: provider.nothingHeld
    )
  }
}
