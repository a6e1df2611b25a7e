package import TenderModel

/// One try at a reference, as the journal keeps it.
package struct Attempt: Sendable {
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
  package var env: Env
  package var provider: ProviderName
  package var reference: String
  package var number: Int
  package var operation: Operation
  package var phase: Phase
  package var status: Status
  /// Whether it ended before anything effecting was sent, so that its reference is free.
  package var isFreed = false
  package var kind = Kind.payment
  /// The provider's own id: a receipt number, a payment method.
  package var id: String?
  package var amount: Int?
  package var requestedAmount: Int?
  package var currency: String?
  package var lastFour: String?
  package var brand: String?
  package var merchant: String
  package var content: JSONObject
  /// Keyed hashes of the members of `content` that are not in it as they were typed.
  package var fingerprints: JSONObject = [:]
  package var idempotencyKey: String
  package var result: JSONObject = [:]
  /// The result of what undid it, where something did.
  package var reversal: JSONObject?
  package var nextAction: JSON?
  package var fault: Fault?
  /// What a later step needs of the provider (never card data, never a key); erased at the end.
  package var preparation: String?
  /// Milliseconds since 1970.
  package var createdAt: Int
  package var updatedAt: Int
  /// When the effecting request was recorded as sent.
  package var sentAt: Int?
  /// The same moment on the machine's own clock, which nobody sets.
  package var sentMoment: Moment?

  package init(
    env: Env,
    provider: ProviderName,
    reference: String,
    number: Int,
    operation: Operation,
    merchant: String,
    content: JSONObject,
    idempotencyKey: String,
    at time: Int
  ) {
    self.env = env
    self.provider = provider
    self.reference = reference
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

  /// What stands before a preparation that holds no secret.
  package static let plainMark = "plain:"

  /// A preparation that holds no secret, without its mark.
  package var plainPreparation: String? {
    guard let preparation, preparation.hasPrefix(Self.plainMark) else { return nil }
    return String(preparation.dropFirst(Self.plainMark.count))
  }

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

  /// Whether nobody has changed it since it was `other`.
  func isVersion(of other: Attempt) -> Bool {
    row == other.row && version == other.version
  }

  /// Takes in what came of an operation.
  package mutating func apply(_ outcome: Outcome, at time: Int) {
    phase = .done
    status = outcome.status
    id = outcome.id ?? id
    amount = outcome.amount ?? amount
    requestedAmount = outcome.requestedAmount ?? requestedAmount
    lastFour = outcome.lastFour ?? lastFour
    brand = outcome.brand ?? brand
    currency = outcome.currency ?? currency
    let kept = outcome.kept ?? Outcome.Recorded(outcome)
    nextAction = kept.nextAction
    fault = kept.fault
    if operation == .cancel {
      reversal = kept.result
      if let undone = outcome.undone {
        result = undone.result
        fault = undone.fault
      }
    } else {
      result = kept.result
    }
    if status != .requiresConfirmation { preparation = nil }
    updatedAt = time
  }
}

/// What came of an operation at a provider.
package struct Outcome: Sendable {
  package var status: Status
  package var id: String?
  /// What the payer pays, in minor units.
  package var amount: Int?
  package var requestedAmount: Int?
  package var currency: String?
  package var lastFour: String?
  package var brand: String?
  package var result: JSONObject
  package var nextAction: JSON?
  /// The error that stands beside the result where the exit is not 0 (a decline).
  package var fault: Fault?
  /// What else the provider says, in our words, for who looks; the journal does not keep it.
  package var details: JSONObject = [:]
  /// What the journal keeps for a repetition, where that is not what is shown now.
  package var kept: Recorded?
  /// What a repetition of the operation that made it shows from now on, where this undid it.
  package var undone: Recorded?

  /// The part of an outcome that a repetition shows again.
  package struct Recorded: Sendable {
    package var result: JSONObject
    package var nextAction: JSON?
    package var fault: Fault?

    package init(result: JSONObject, nextAction: JSON? = nil, fault: Fault? = nil) {
      self.result = result
      self.nextAction = nextAction
      self.fault = fault
    }

    /// All that the outcome itself shows.
    package init(_ outcome: Outcome) {
      self.init(result: outcome.result, nextAction: outcome.nextAction, fault: outcome.fault)
    }
  }

  package init(
    status: Status,
    id: String? = nil,
    amount: Int? = nil,
    requestedAmount: Int? = nil,
    currency: String? = nil,
    lastFour: String? = nil,
    brand: String? = nil,
    result: JSONObject,
    nextAction: JSON? = nil,
    fault: Fault? = nil
  ) {
    self.status = status
    self.id = id
    self.amount = amount
    self.requestedAmount = requestedAmount
    self.currency = currency
    self.lastFour = lastFour
    self.brand = brand
    self.result = result
    self.nextAction = nextAction
    self.fault = fault
  }
}
