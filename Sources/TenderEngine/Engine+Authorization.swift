package import TenderModel

/// The operations on payments and mandates that a payer authorizes at a bank.
extension Engine {
  /// The provider, where its payers authorize at a bank.
  private func bank() throws(Fault) -> any AuthorizingProvider {
    guard let bank = provider as? any AuthorizingProvider else {
      throw Fault(
        .unsupported,
        code: "method_unsupported",
        "\(provider.name.text) has no payments that are authorized at a bank",
        hint: "see: tender providers"
      )
    }
    return bank
  }

  /// Whether this provider's payers authorize at a bank.
  package var isAuthorizedByPayer: Bool { provider is any AuthorizingProvider }

  /// What an order would send, secrets masked.
  package func preview(_ order: AuthorizationOrder) throws(Fault) -> JSONObject {
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
    let lock = try hold(order.reference.text)
    defer { withExtendedLifetime(lock) {} }
    var latest = try journal.latest(
      env: env,
      provider: provider.name,
      reference: order.reference.text
    )
    try checkOwner(of: latest)
    let typed = try journal.fingerprints(of: order.content)
    while true {
      switch Decision(
        latest: latest,
        content: order.content,
        fingerprints: typed,
        newAttempt: newAttempt
      ) {
      case .refuse(let fault): throw fault
      case .findOut:
        guard let unknown = latest else { continue }
        latest = try findOut(unknown).attempt
      case .replay:
        guard var attempt = latest else { continue }
        guard !attempt.isFinal else { return Report(attempt, .transact, replayed: true) }
        attempt.operation = .transact
        return try settle(attempt, .transact) { progress throws(Fault) in
          try bank.proceed(attempt, progress)
        }
      case .open(let number):
        try provider.checkReady(for: order.existingID == nil ? .creation : .authorization)
        var attempt = Attempt(
          env: env,
          provider: provider.name,
          reference: order.reference.text,
          number: number,
          operation: .transact,
          merchant: provider.merchant,
          content: order.content,
          idempotencyKey: idempotencyKey ?? key(.transact, order.reference.text, number),
          at: clock.now
        )
        attempt.kind = order.kind
        attempt.amount = order.amount?.minorUnits
        attempt.currency = order.amount?.currency.code ?? order.currency
        try closeDead(latest)
        attempt.fingerprints = typed
        attempt = try journal.insert(attempt, .process)
        say("prepared")
        return try settle(attempt, .transact) { progress throws(Fault) in
          try bank.authorize(order, progress)
        }
      }
    }
  }

  /// Takes an authorization up where it stands, or answers with what it came to.
  package func proceed(_ found: Attempt?, handle: String) throws(Fault) -> Report {
    let bank = try bank()
    let lock = try hold(found?.reference ?? handle)
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
    let lock = try hold(found?.reference ?? handle)
    defer { withExtendedLifetime(lock) {} }
    var attempt = try known(found, handle: handle)
    if attempt.phase == .sent { attempt = try findOut(attempt, mayRepeat: false).attempt }
    if attempt.reversal != nil, [.cancelled, .revoked].contains(attempt.status) {
      return Report(attempt, .cancel, replayed: true)
    }
    try provider.checkReady(for: .withdrawal)
    attempt.operation = .cancel
    return try settle(attempt, .cancel) { progress throws(Fault) in
      try bank.withdraw(attempt, progress)
    }
  }

  /// Refunds a settled payment, whole or in part, or answers with what the last refund came to.
  ///
  /// `amount` in minor units; nil for all that is left. `name` is the operator's own for a further
  /// refund (`--refund-reference`): the same one is the same refund. A refund whose answer was lost is
  /// found out, and nothing is opened beside it. Throws `conflict` for more than what is left.
  package func refund(
    _ found: Attempt?,
    handle: String,
    amount: Int?,
    statement: String?,
    name: String? = nil,
    newAttempt: Bool,
    idempotencyKey: String?
  ) throws(Fault) -> Report {
    let bank = try bank()
    guard !newAttempt || name != nil else { throw .unnamedRefund }
    let lock = try hold(found?.reference ?? handle)
    defer { withExtendedLifetime(lock) {} }
    var attempt = try known(found, handle: handle)
    if attempt.phase == .sent {
      // Finding out sends the lost one again: never for the sake of another.
      if let lost = bank.pendingRefund(of: attempt) {
        guard lost.name == name, amount.map({ $0 == lost.amount }) ?? lost.isRest else {
          throw .otherRefundUnknown(attempt, lost.amount, lost.name)
        }
        return Report(try findOut(attempt, mayRepeat: false).attempt, .cancel, replayed: false)
      }
      attempt = try findOut(attempt, mayRepeat: false).attempt
    }
    try provider.checkReady(for: .withdrawal)
    attempt.operation = .cancel
    if let index = attempt.refunds.lastIndex(where: { $0.text("refund_reference") == name }) {
      let earlier = attempt.refunds[index]
      let isSame = amount.map { $0 == earlier["amount"]?.wholeNumber } ?? (earlier["rest"] == true)
      guard isSame else { throw .otherRefund(attempt) }
      let query = LookUp.refund(of: attempt, at: index)
      var report = try settle(attempt, .cancel) { _ throws(Fault) in
        guard let outcome = try provider.lookUp(query) else {
          throw .unknownHandle(handle)
        }
        return outcome
      }
      report.replayed = true
      return report
    }
    let number = (attempt.refunds.compactMap { $0["attempt"]?.wholeNumber }.max() ?? 0) + 1
    let left = (attempt.amount ?? 0) - attempt.refunded
    guard left > 0, amount ?? left <= left else { throw .tooMuch(attempt, left: left) }
    let tries = try journal.history(of: attempt).count
    let order = RefundOrder(
      number: number,
      amount: amount ?? left,
      isRest: amount == nil,
      // A refusal is remembered under its key: what is asked for afterwards has another.
      key: idempotencyKey ?? key(.cancel, "\(attempt.reference)/refund/\(tries)", number),
      statement: statement,
      name: name
    )
    return try settle(attempt, .cancel) { progress throws(Fault) in
      try bank.refund(order, of: attempt, progress)
    }
  }

  /// The attempt as it is now that its lock is held; what was made elsewhere is taken in first.
  private func known(_ found: Attempt?, handle: String) throws(Fault) -> Attempt {
    if let found {
      let attempt = try reread(found)
      try checkOwner(of: attempt)
      return attempt
    }
    guard provider.isID(handle) else { throw .unknownHandle(handle) }
    try provider.checkReady(for: .authorization)
    guard let adoption = try bank().adopt(handle) else { throw .unknownHandle(handle) }
    var attempt = Attempt(
      env: env,
      provider: provider.name,
      reference: handle,
      number: 1,
      operation: .transact,
      merchant: provider.merchant,
      content: ["command": "transact", "id": .string(handle)],
      idempotencyKey: key(.transact, handle, 1),
      at: clock.now
    )
    attempt.kind = adoption.kind
    attempt = try journal.insert(attempt, .process)
    attempt.apply(adoption.outcome, at: clock.now)
    try journal.update(&attempt, note: "made elsewhere", .power)
    return attempt
  }
}

extension Attempt {
  /// What was refunded or is on its way, in minor units.
  fileprivate var refunded: Int {
    refunds.filter { $0.text("status") != "failed" }
      .reduce(0) { $0 + ($1["amount"]?.wholeNumber ?? 0) }
  }
}

extension LookUp {
  /// A look at the refunds of a payment, the one at `index` last: the answer is in its words.
  static func refund(of attempt: Attempt, at index: Int) -> LookUp {
    var query = LookUp(id: attempt.id, kind: attempt.kind)
    query.purpose = .refund
    query.refunds = attempt.refunds
    query.refunds.append(query.refunds.remove(at: index))
    query.amount = attempt.amount
    return query
  }
}

extension Fault {
  fileprivate static func otherRefund(_ attempt: Attempt) -> Fault {
    Fault(
      .conflict,
      code: "refund_differs",
      "\(attempt.reference.quotedForMessage) was refunded with another amount",
      hint: "a further refund needs --new-attempt and its own --refund-reference; see: "
        + "tender journal show \(attempt.reference)"
    )
  }

  fileprivate static var unnamedRefund: Fault {
    Fault(
      .usage,
      code: "bad_options",
      "--new-attempt on a refund needs --refund-reference",
      hint: "a name of yours for this further refund; the same one never refunds twice"
    )
  }

  fileprivate static func otherRefundUnknown(
    _ attempt: Attempt,
    _ amount: Int,
    _ name: String?
  ) -> Fault {
    Fault(
      .conflict,
      code: "refund_differs",
      "what became of a refund of \(amount) \(attempt.currency ?? "") in minor units"
        + (name.map { " (\($0.quotedForMessage))" } ?? "") + " is not known yet",
      hint: "find out first, with its amount and name or: tender journal resume "
        + attempt.reference
    )
  }

  fileprivate static func tooMuch(_ attempt: Attempt, left: Int) -> Fault {
    Fault(
      .conflict,
      code: "refund_exceeds",
      "\(max(0, left)) \(attempt.currency ?? "") in minor units are left to refund of "
        + attempt.reference.quotedForMessage,
      hint: "name at most that with --amount-minor"
    )
  }
}
