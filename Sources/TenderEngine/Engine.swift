package import TenderModel

/// The operations on payments, in their order, over one provider and the journal.
package struct Engine {
  let env: Env
  /// Who is asked.
  package let provider: any Provider
  let journal: any Journal
  let clock: any Clock
  let interruption: any Interruption
  /// How long to wait for another process that works on the same reference, in milliseconds.
  let patience: Int
  /// Asked before a sale of another machine is found out about by undoing it; throws where it must not be.
  let approveTakeover: (Attempt) throws(Fault) -> Void
  /// For how long after a send an effect may still appear at the provider, in milliseconds.
  let lateWindow: Int
  /// SHA-256 or better, for keys that repeat.
  let digest: ([UInt8]) -> [UInt8]
  let announce: (String) -> Void

  package init(
    env: Env,
    provider: any Provider,
    journal: any Journal,
    clock: any Clock,
    interruption: any Interruption,
    patience: Int,
    approveTakeover: @escaping (Attempt) throws(Fault) -> Void = { _ throws(Fault) in },
    lateWindow: Int = 0,
    digest: @escaping ([UInt8]) -> [UInt8],
    announce: @escaping (String) -> Void
  ) {
    self.env = env
    self.provider = provider
    self.journal = journal
    self.clock = clock
    self.interruption = interruption
    self.patience = patience
    self.approveTakeover = approveTakeover
    self.lateWindow = lateWindow
    self.digest = digest
    self.announce = announce
  }

  /// Takes a payment, or answers with what the same order came to before.
  ///
  /// Throws a fault of the exit that the contract names. An unknown earlier attempt is found out
  /// first; a new one is never opened beside it.
  package func transact(
    _ order: PaymentOrder,
    newAttempt: Bool,
    idempotencyKey: String?
  ) throws(Fault) -> Report {
    let payments = try payments()
    try payments.check(order)
    return try run(
      .transact,
      reference: order.reference,
      content: order.content,
      newAttempt: newAttempt,
      idempotencyKey: idempotencyKey,
      prepare: { attempt in
        attempt.amount = order.amount.minorUnits
        attempt.currency = order.amount.currency
        attempt.lastFour = order.instrument?.lastFour
      },
      need: .payment(byStoredMethod: order.storedMethod != nil),
      perform: { progress throws(Fault) in try payments.transact(order, progress) }
    )
  }

  /// Stores a payment method, or answers with what the same order came to before.
  package func tokenize(
    _ order: TokenOrder,
    newAttempt: Bool,
    idempotencyKey: String?
  ) throws(Fault) -> Report {
    let tokens = try having(provider.tokens, "stored payment methods")
    return try run(
      .tokenize,
      reference: order.reference,
      content: order.content,
      newAttempt: newAttempt,
      idempotencyKey: idempotencyKey,
      prepare: { attempt in
        attempt.kind = .token
        attempt.lastFour = order.instrument.lastFour
      },
      need: .payment(byStoredMethod: false),
      perform: { progress throws(Fault) in try tokens.tokenize(order, progress) }
    )
  }

  /// Opens an attempt or answers from the journal, by `Decision`.
  ///
  /// `takeUp` goes on with one that was made before and is not final; without it, that is the answer.
  func run(
    _ operation: Attempt.Operation,
    reference: Reference,
    content: JSONObject,
    newAttempt: Bool,
    idempotencyKey: String?,
    prepare: (inout Attempt) -> Void,
    need: Need,
    takeUp: ((Attempt, Progress) throws(Fault) -> Outcome)? = nil,
    perform: (Progress) throws(Fault) -> Outcome
  ) throws(Fault) -> Report {
    let typed = try journal.fingerprints(of: content)
    func attempt(_ number: Int) -> Attempt {
      var attempt = draft(operation, reference, number, content, idempotencyKey)
      prepare(&attempt)
      attempt.fingerprints = typed
      return attempt
    }
    let first = attempt(1)
    // What is not ready leaves no trace of it.
    let isReady = (try? provider.checkReady(for: need)) != nil
    let lock = try hold(reference, opening: isReady ? first : nil)
    defer { withExtendedLifetime(lock) {} }
    if provider.cardPresent != nil { journal.forgetStop(key(reference)) }
    var latest = try journal.latest(key(reference))
    try checkOwner(of: latest)
    var foundNow = false
    while true {
      switch Decision(
        latest: latest,
        content: content,
        fingerprints: typed,
        newAttempt: newAttempt
      ) {
      case .refuse(let fault): throw fault
      case .replay:
        guard var latest else { continue }
        guard let takeUp, !latest.isFinal else {
          return Report(latest, operation, replayed: !foundNow)
        }
        latest.operation = operation
        return try settle(latest, operation) { progress throws(Fault) in
          try takeUp(progress.attempt, progress)
        }
      case .findOut(let mayRepeat):
        guard let unknown = latest else { continue }
        let found = try findOut(unknown, mayRepeat: mayRepeat)
        latest = found.attempt
        foundNow = found.doneNow
      case .open(let number):
        try provider.checkReady(for: need)
        try closeDead(latest)
        let opened = try journal.insert(number == 1 ? first : attempt(number), .process)
        say("prepared")
        return try settle(opened, operation, perform)
      }
    }
  }

  /// An attempt that is not written yet; `idempotencyKey` is the operator's, where there is one.
  private func draft(
    _ operation: Attempt.Operation,
    _ reference: Reference,
    _ number: Int,
    _ content: JSONObject,
    _ idempotencyKey: String?
  ) -> Attempt {
    Attempt(
      key: key(reference),
      number: number,
      operation: operation,
      merchant: provider.merchant,
      content: content,
      idempotencyKey: idempotencyKey ?? derivedKey(operation, reference, number),
      at: clock.now
    )
  }

  /// Shows a state of the attempt, where the provider has no names of its own for them.
  func say(_ state: String) { if !provider.namesItsStates { announce(state) } }

  /// The state of a report for whoever watches: the provider's own name where it has names.
  package func state(of report: Report) -> String {
    guard provider.namesItsStates else { return report.status.rawValue }
    return report.result.text("state") ?? report.result.text("status")
      ?? report.result["refund"]?["status"]?.text ?? report.status.rawValue
  }

  /// Checks that the provider has what a command needs, before anything is opened or asked.
  package func checkReady(for need: Need) throws(Fault) { try provider.checkReady(for: need) }

  /// A flow that a command needs.
  ///
  /// Throws `unsupported` where the provider does not have it.
  func having<Flow>(_ flow: Flow?, _ what: String) throws(Fault) -> Flow {
    guard let flow else {
      throw Fault(
        .unsupported,
        code: "method_unsupported",
        "\(provider.name.text) has no \(what)",
        hint: "see: tender providers"
      )
    }
    return flow
  }

  private func payments() throws(Fault) -> any PaymentFlow {
    try having(provider.payments, "payments by an instrument")
  }

  /// What an order would send, secrets masked.
  func preview(_ order: PaymentOrder) throws(Fault) -> JSONObject {
    let payments = try payments()
    try payments.check(order)
    return try payments.preview(order)
  }

  /// What an order would come to under its reference: nil where it would be made, else why it would not.
  ///
  /// Throws what it would be refused for.
  package func plan(_ order: Order, newAttempt: Bool) throws(Fault) -> Plan? {
    let latest = try journal.latest(key(order.reference))
    guard latest != nil else { return nil }
    try checkOwner(of: latest)
    let decision = Decision(
      latest: latest,
      content: order.content,
      fingerprints: try journal.fingerprints(of: order.content),
      newAttempt: newAttempt
    )
    switch decision {
    case .open: return nil
    case .replay: return .replay
    case .findOut: return .findOut
    case .refuse(let fault): throw fault
    }
  }

  /// What an order would send, secrets masked.
  package func preview(_ order: TokenOrder) throws(Fault) -> JSONObject {
    try having(provider.tokens, "stored payment methods").preview(order)
  }

  /// Checks an order's own rules, before anything is asked or opened.
  package func check(_ order: Order) throws(Fault) {
    if case .payment(let order) = order { try payments().check(order) }
  }

  /// What an order would send, secrets masked.
  package func preview(_ order: Order) throws(Fault) -> JSONObject {
    switch order {
    case .payment(let order): try preview(order)
    case .sale(let order): try preview(order)
    case .authorization(let order): try preview(order)
    }
  }

  /// Does what an order says, or answers with what the same order came to before.
  package func transact(
    _ order: Order,
    newAttempt: Bool,
    idempotencyKey key: String?
  ) throws(Fault) -> Report {
    switch order {
    case .payment(let order): try transact(order, newAttempt: newAttempt, idempotencyKey: key)
    case .sale(let order): try transact(order, newAttempt: newAttempt, idempotencyKey: key)
    case .authorization(let order):
      try transact(order, newAttempt: newAttempt, idempotencyKey: key)
    }
  }

  /// The key that the next attempt at a reference would have.
  package func nextKey(
    _ operation: Attempt.Operation,
    _ reference: Reference
  ) throws(Fault) -> String {
    let latest = try journal.latest(key(reference))
    return derivedKey(operation, reference, (latest?.number ?? 0) + 1)
  }

  /// Closes an attempt whose process died before it sent anything, now that another is opened.
  ///
  /// Its lock must be held: nobody is at work on it.
  func closeDead(_ latest: Attempt?) throws(Fault) {
    guard var dead = latest, dead.phase == .prepared else { return }
    try driver.take(.die, &dead)
  }

  /// Checks that an attempt is of the merchant whose credentials these are; what was never sent is
  /// nobody's.
  ///
  /// Throws `conflict` (`other_merchant`).
  func checkOwner(of attempt: Attempt?) throws(Fault) {
    guard let attempt, !attempt.isFreed, attempt.phase != .prepared, !provider.owns(attempt) else {
      return
    }
    throw Fault(
      .conflict,
      code: "other_merchant",
      "reference \(attempt.reference.quotedForMessage) is of merchant "
        + "\(attempt.merchant.quotedForMessage), and these are the credentials of "
        + provider.merchant.quotedForMessage,
      hint: "use that merchant's credentials, or another --reference"
    )
  }

  /// Checks that what a held payment needs can be opened here, before anything is sent.
  ///
  /// Throws `state` (`journal_key`).
  func checkSealed(_ attempt: Attempt) throws(Fault) {
    guard attempt.isSealed else { return }
    throw Fault(
      .state,
      code: "journal_key",
      "what \(attempt.reference.quotedForMessage) needs is sealed under a key that is not here"
        + (attempt.writer.map { ", by \($0)" } ?? "") + "; nothing was sent",
      hint:
        "both machines need one key in TENDER_JOURNAL_KEY_FILE; tender doctor names each machine's"
    )
  }

  /// Takes the lock on a reference, or says who has it.
  ///
  /// A journal that has forgotten something has no say about any reference.
  ///
  /// `first` is the attempt that would be opened at it, were it new.
  func hold(
    _ reference: Reference,
    opening first: Attempt? = nil,
    patience: Int? = nil
  ) throws(Fault) -> any AttemptLock {
    try journal.checkWhole()
    let patience = patience ?? self.patience
    let lock =
      if let first {
        try journal.lock(
          opening: first,
          by: Deadline(in: patience, on: clock),
          interruption: interruption
        )
      } else {
        try lock(reference, within: patience)
      }
    guard let lock else {
      throw .inProgress(
        reference,
        journal.worker(key(reference))
      )
    }
    return lock
  }

  /// Takes the lock on a reference within some milliseconds; nil where another has it.
  func lock(
    _ reference: Reference,
    within milliseconds: Int = 0
  ) throws(Fault) -> (any AttemptLock)? {
    try journal.lock(
      key(reference),
      by: Deadline(in: milliseconds, on: clock),
      interruption: interruption
    )
  }

  /// What the attempts at a reference are numbered under.
  func key(_ reference: Reference) -> ReferenceKey {
    ReferenceKey(env: env, provider: provider.name, reference: reference)
  }

  /// An idempotency key that the same try always gets: from names, never from content alone.
  func derivedKey(
    _ operation: Attempt.Operation,
    _ reference: Reference,
    _ number: Int
  ) -> String {
    let parts = [
      env.rawValue, provider.name.text, provider.merchant, operation.rawValue, reference.text,
      String(number),
    ]
    var name: [UInt8] = []
    for part in parts { name += Array(part.utf8) + [0] }
    var bytes = Array(digest(name).prefix(16))
    // A version 8 UUID: the layout is ours (RFC 9562, section 5.8).
    bytes[6] = bytes[6] & 0x0f | 0x80
    bytes[8] = bytes[8] & 0x3f | 0x80
    return UUIDText.format(bytes).lowercased()
  }
}

extension Fault {
  static func inProgress(_ reference: Reference, _ worker: String? = nil) -> Fault {
    Fault(
      .conflict,
      code: "in_progress",
      cause: .inProgress,
      "another process is working on reference \(reference.quotedForMessage)"
        + (worker.map { ": \($0)" } ?? ""),
      hint: "wait for it to end, then run the same command again"
    )
  }
}
