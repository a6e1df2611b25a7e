package import TenderModel

/// The operations on payments and mandates that a payer authorizes at a bank.
extension Engine {
  /// The provider's flow, where its payers authorize at a bank.
  private func bank() throws(Fault) -> any PayerAuthorizationFlow {
    try having(provider.authorization, "payments that are authorized at a bank")
  }

  /// Whether this provider's payers authorize at a bank.
  package var isAuthorizedByPayer: Bool { provider.authorization != nil }

  /// What an order would send, secrets masked.
  func preview(_ order: AuthorizationOrder) throws(Fault) -> JSONObject {
    try bank().preview(order)
  }

  /// Makes a payment or mandate and goes through its authorization; one that was made before and
  /// awaits something is taken up where it stands.
  package func transact(
    _ order: AuthorizationOrder,
    newAttempt: Bool,
    idempotencyKey: String?
  ) throws(Fault) -> Report {
    let bank = try bank()
    try bank.check(order)
    return try run(
      .transact,
      reference: order.reference,
      content: order.content,
      newAttempt: newAttempt,
      idempotencyKey: idempotencyKey,
      prepare: { attempt in
        attempt.kind = order.kind
        attempt.amount = order.amount?.minorUnits
        attempt.currency = order.amount?.currency ?? order.currency
      },
      need: order.existingID == nil ? .creation : .authorization,
      takeUp: { attempt, progress throws(Fault) in try bank.proceed(attempt, progress) },
      perform: { progress throws(Fault) in try bank.authorize(order, progress) }
    )
  }

  /// Takes an authorization up where it stands, or answers with what it came to.
  package func proceed(_ found: Attempt?, handle: String) throws(Fault) -> Report {
    let bank = try bank()
    let lock = try hold(found?.reference ?? Reference(stored: handle))
    defer { withExtendedLifetime(lock) {} }
    var attempt = try known(found, handle: handle)
    if attempt.phase == .sent { attempt = try findOut(attempt).attempt }
    guard !attempt.isFinal else { return Report(attempt, .confirm, replayed: true) }
    try provider.checkReady(for: .authorization)
    attempt.operation = .confirm
    return try settle(attempt, .confirm) { progress throws(Fault) in
      try bank.proceed(attempt, progress)
    }
  }

  /// Cancels a payment or revokes a mandate, or answers with what was cancelled before.
  package func withdraw(_ found: Attempt?, handle: String) throws(Fault) -> Report {
    let bank = try bank()
    let lock = try hold(found?.reference ?? Reference(stored: handle))
    defer { withExtendedLifetime(lock) {} }
    var attempt = try known(found, handle: handle)
    if attempt.phase == .sent {
      let isAgain = attempt.operation == .cancel && attempt.preparation == nil
      attempt = try findOut(attempt, mayRepeat: false, goesOn: isAgain).attempt
    }
    if attempt.reversal != nil, [.cancelled, .revoked].contains(attempt.status) {
      return Report(attempt, .cancel, replayed: true)
    }
    guard !attempt.isFreed else { throw .nothingToCancel(attempt) }
    try provider.checkReady(for: .withdrawal)
    attempt.operation = .cancel
    return try settle(attempt, .cancel) { progress throws(Fault) in
      try bank.withdraw(attempt, progress)
    }
  }

  /// The attempt as it is now that its lock is held; what was made elsewhere is taken in first.
  func known(_ found: Attempt?, handle: String) throws(Fault) -> Attempt {
    if let found {
      let attempt = try reread(found)
      try checkOwner(of: attempt)
      return attempt
    }
    guard let bank = provider.authorization, provider.isID(handle) else {
      throw .unknownHandle(handle)
    }
    try provider.checkReady(for: .authorization)
    guard let adoption = try bank.adopt(handle) else { throw .unknownHandle(handle) }
    var attempt = Attempt(
      key: key(Reference(stored: handle)),
      number: 1,
      operation: .transact,
      merchant: provider.merchant,
      content: ["command": "transact", "id": .string(handle)],
      idempotencyKey: derivedKey(.transact, Reference(stored: handle), 1),
      at: clock.now
    )
    attempt.kind = adoption.kind
    attempt = try journal.insert(attempt, .process)
    try driver.take(.record(adoption.outcome, note: "made elsewhere"), &attempt)
    return attempt
  }
}
