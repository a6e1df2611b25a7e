package import TenderModel

/// One try at a reference, as the journal has it.
package struct Attempt: Sendable, HasFacts {
  /// How far it has come.
  ///
  /// prepared (nothing effecting sent) → sent (written before an effecting request leaves) → done;
  /// a confirm or reversal takes it from done to sent and back.
  package enum Phase: String, Sendable { case prepared, sent, done }

  /// What is being done to it, or was last.
  package enum Operation: String, Sendable { case transact, confirm, cancel, tokenize }

  /// What it makes: the number is the journal's.
  package enum Kind: Int, Sendable { case payment, token, mandate }

  /// The journal's own number for it; 0 before it is written.
  package var row: Int = 0
  /// How often it was written: a write from an older version fails.
  package var version: Int = 0
  package var key: ReferenceKey
  package var number: Int
  package var operation: Operation
  package var phase: Phase
  package var status: Status
  /// Whether it ended before anything effecting was sent, so that its reference is free.
  package var isFreed = false
  package var kind = Kind.payment
  package var facts = PaymentFacts()
  package var merchant: String
  package var content: JSONObject
  /// Keyed hashes of the members of `content` that are not in it as they were typed.
  package var fingerprints: JSONObject = [:]
  package var idempotencyKey: String
  package var result: JSONObject = [:]
  /// What undid it, where something did.
  package var reversal: Reversal?
  package var nextAction: PayerAction?
  package var fault: Fault?
  /// What a later step needs of the provider (never card data, never a key); erased at the end.
  package var preparation: Preparation?
  /// Milliseconds since 1970.
  package var createdAt: Int
  package var updatedAt: Int
  /// Who wrote it last, as `USER@MACHINE`; nil where the journal does not say.
  package var writer: String?
  /// Whether another machine wrote it last.
  package var isElsewhere = false
  /// Whether what a later step needs is there and cannot be opened here: it was sealed under another key.
  package var isSealed = false
  /// When the effecting request was recorded as sent.
  package var sentAt: Int?
  /// The same moment on the machine's own clock, which nobody sets.
  package var sentMoment: Moment?
  /// By when it was written last, on this machine's own clock, where `sentMoment` is another machine's.
  package var writtenMoment: Moment?

  package init(
    key: ReferenceKey,
    number: Int,
    operation: Operation,
    merchant: String,
    content: JSONObject,
    idempotencyKey: String,
    at time: Int
  ) {
    self.key = key
    self.number = number
    self.operation = operation
    self.merchant = merchant
    self.content = content
    self.idempotencyKey = idempotencyKey
    phase = .prepared
    status = .pending
    createdAt = time
    updatedAt = time
  }

  /// What a later step needs of the provider.
  package enum Preparation: Sendable, Hashable {
    /// Erased from the disk for good once nobody needs it.
    case secret(String)
    /// Not worth the time that erasing for good takes.
    case plain(String)

    package var text: String {
      switch self {
      case .secret(let text), .plain(let text): text
      }
    }

    /// The text of one that holds a secret.
    package var secret: String? { if case .secret(let text) = self { text } else { nil } }

    /// The text of one that holds none.
    package var plain: String? { if case .plain(let text) = self { text } else { nil } }
  }

  package var env: Env { key.env }

  package var provider: ProviderName { key.provider }

  package var reference: Reference { key.reference }

  /// The status to show: unknown for as long as nobody has found out.
  package var shownStatus: Status { phase == .sent ? .unknown : status }

  package var isToken: Bool { kind == .token }

  /// Whether nothing more is awaited: some failures can be gone on from, and say how.
  package var isFinal: Bool { shownStatus.isFinal && nextAction == nil }

  /// Whether what the payer paid for is captured: a confirm of it is a replay.
  package var isCaptured: Bool {
    guard phase == .done, !isToken else { return false }
    return switch status {
    case .succeeded, .pending, .refunded, .partiallyRefunded, .returned: true
    case .requiresConfirmation, .requiresAction, .authorized, .declined, .cancelled, .expired,
      .revoked, .failed, .unknown:
      false
    }
  }

  /// The refunds of a payment, in the order in which they were asked for.
  package var refunds: [Refund] {
    if case .parts(let refunds) = reversal { refunds } else { [] }
  }

  /// Whether it was undone as a whole.
  var isUndone: Bool { reversal != nil && refunds.isEmpty }

  /// Whether nobody has changed it since it was `other`.
  func isVersion(of other: Attempt) -> Bool {
    row == other.row && version == other.version
  }

  /// Takes in what came of an operation.
  package mutating func apply(_ outcome: Outcome, at time: Int) {
    phase = .done
    status = outcome.status
    facts.take(outcome.facts)
    let recorded = outcome.recorded ?? Outcome.Recorded(outcome)
    nextAction = recorded.nextAction
    fault = recorded.fault
    if operation == .cancel {
      reversal = Reversal(recorded.result)
      if let undone = outcome.undone {
        result = undone.result
        fault = undone.fault
      }
    } else {
      result = recorded.result
    }
    if status != .requiresConfirmation { preparation = nil }
    updatedAt = time
  }
}
