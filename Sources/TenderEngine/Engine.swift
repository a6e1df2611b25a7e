package import TenderModel

/// Changes payments and looks them up, with one provider and the journal.
package struct Engine {
  let env: Env
  package let provider: any Provider
  let driver: Driver
  let interruption: any Interruption
  /// The longest wait for another process that works on the same reference, in milliseconds.
  let patience: Int
  /// Asks for consent before a sale of another machine is undone. Throws if it must not be undone.
  let approveTakeover: (Payment) throws(Fault) -> Void
  /// The time after a send in which an effect may still appear at the provider, in milliseconds.
  let lateWindow: Int
  /// Whether the provider never gives an id twice.
  let remembersIDs: Bool
  /// SHA-256 or better, for derived keys.
  let digest: ([UInt8]) -> [UInt8]

  package init(
    env: Env,
    provider: any Provider,
    journal: any Journal,
    clock: any Clock,
    interruption: any Interruption,
    patience: Int,
    approveTakeover: @escaping (Payment) throws(Fault) -> Void = { _ throws(Fault) in },
    lateWindow: Int = 0,
    remembersIDs: Bool = true,
    digest: @escaping ([UInt8]) -> [UInt8],
    announce: @escaping (String) -> Void
  ) {
    self.env = env
    self.provider = provider
    self.interruption = interruption
    self.patience = patience
    self.approveTakeover = approveTakeover
    self.lateWindow = max(lateWindow, provider.traits.lateWindow)
    self.remembersIDs = remembersIDs
    self.digest = digest
    driver = Driver(
      journal: journal,
      clock: clock,
      namesItsStates: provider.traits.namesItsStates,
      announce: announce
    )
  }

  /// Whether the provider can be asked about payments with these credentials.
  package var canLookUp: Bool {
    provider.traits.canLookUp && (try? provider.checkReady(for: nil, of: nil)) != nil
  }

  var traits: Traits { provider.traits }

  var journal: any Journal { driver.journal }

  var clock: any Clock { driver.clock }

  /// The state of a report for its reader: the provider's name for it, or the status.
  package func state(of report: Report) -> String {
    guard provider.traits.namesItsStates else { return report.status.rawValue }
    return report.result.text("state") ?? report.result.text("status")
      ?? report.result["refund"]?["status"]?.text ?? report.status.rawValue
  }

  func key(_ reference: Reference) -> ReferenceKey {
    ReferenceKey(env: env, provider: provider.name, reference: reference)
  }

  func newPayment(_ reference: Reference) -> Payment {
    Payment(key: key(reference), kind: .payment, merchant: provider.merchant, at: clock.now)
  }

  /// Takes the lock on a reference. Throws `conflict` (`in_progress`) if another process has it.
  ///
  /// `first` is the payment to open if the reference is new. A journal that lost entries cannot tell whether
  /// a reference is new, so this throws.
  func hold(
    _ reference: Reference,
    opening first: Opening? = nil,
    patience: Int? = nil
  ) throws(Fault) -> any ReferenceLock {
    try journal.checkWhole()
    let wait = patience ?? self.patience
    guard let lock = try lock(reference, opening: first, within: wait) else {
      throw .inProgress(reference, journal.worker(key(reference)))
    }
    return lock
  }

  /// Takes the lock on a reference within some milliseconds; nil if another process has it.
  func lock(
    _ reference: Reference,
    opening first: Opening? = nil,
    within milliseconds: Int = 0
  ) throws(Fault) -> (any ReferenceLock)? {
    let deadline = Deadline(in: milliseconds, on: clock)
    let name = key(reference)
    return try journal.lock(name, opening: first, by: deadline, interruption: interruption)
  }

  /// Checks that these credentials belong to the merchant of a payment. A payment that was never sent has no
  /// merchant.
  ///
  /// Throws `conflict` (`other_merchant`).
  func checkOwner(of payment: Payment?) throws(Fault) {
    guard let payment, !provider.owns(payment),
      payment.operations.contains(where: { ![.prepared, .failed].contains($0.state.name) })
    else { return }
    throw .conflict(
      "other_merchant",
      "reference \(payment.reference.quotedForMessage) is of merchant "
        + "'\(payment.merchant)', and these are the credentials of '\(provider.merchant)'",
      "use that merchant's credentials, or another --reference"
    )
  }

  /// Checks, before anything is sent, that the sealed data of a held payment can be opened here.
  ///
  /// Throws `state` (`journal_key`).
  func checkSealed(_ payment: Payment) throws(Fault) {
    guard payment.operations.contains(where: \.isSealed) else { return }
    throw Fault(
      .state,
      code: "journal_key",
      "what \(payment.reference.quotedForMessage) needs is sealed under a key that is not here"
        + (payment.writer.map { ", by \($0)" } ?? "") + "; nothing was sent",
      hint:
        "put the key back: journal.key in the state folder, or journal.seals for a hold of version 0.2.0; "
        + "machines that share a journal need one key in TENDER_JOURNAL_KEY_FILE"
    )
  }

  // MARK: Keys

  /// Returns an idempotency key that depends on names, not on content. A repetition gets the same key.
  private func derivedKey(_ operation: Operation, of reference: Reference) -> String {
    let parts = [
      env.rawValue, provider.name.text, provider.merchant,
      operation.isAttempt
        ? (operation.kind == .store ? "tokenize" : "transact") : operation.kind.rawValue,
      reference.text, String(operation.number),
    ]
    var name: [UInt8] = []
    for part in parts { name += Array(part.utf8) + [0] }
    // The layout of version 8 is ours (RFC 9562, section 5.8).
    return UUIDText.format(digest(name), version: 8).lowercased()
  }

  /// Adds an operation with its idempotency key, if the provider takes one. `own` is the operator's key.
  func append(_ draft: Operation, to payment: inout Payment, own: String?) {
    let known = payment
    payment.append(draft) { added in
      guard provider.traits.takesKeys, ![.capture, .store].contains(added.kind) else { return }
      // A failed operation passes its key to its repetition. If it acted after all, the provider recognizes
      // the repetition.
      let earlier = known.operations.last { $0.key != nil && $0.leavesKey(to: added) }
      added.key = own ?? earlier?.key ?? derivedKey(added, of: known.reference)
    }
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
