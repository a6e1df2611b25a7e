package import TenderModel

/// The result of a command: the payment, the operation that the command was about, and its notes.
package struct Report: Sendable, Priced {
  /// The payment in the journal; nil if the journal does not have it.
  package var payment: Payment?
  /// The operation that the command was about; nil for a look-up.
  package var operation: Operation?
  /// The operation whose id was typed; nil if that is an attempt's id, or the reference.
  package var named: Operation?
  package var kind: Payment.Kind
  package var env: Env
  package var provider: ProviderName
  package var reference: Reference?
  /// The time of creation that the provider gives, in milliseconds since 1970.
  package var madeAt: Int?
  package var attemptNumber: Int?
  package var replayed: Bool?
  /// The provider's id: a receipt number, a payment method.
  package var id: String?
  package var amount: Int?
  /// The requested amount in minor units, if it differs from the amount that the payer pays.
  package var requestedAmount: Int?
  package var currency: Currency?
  package var lastFour: String?
  package var brand: String?
  package var status: Status
  /// Whether no further step of payer, merchant or provider is expected.
  package var isFinal: Bool
  package var result: JSONObject
  package var nextAction: PayerAction?
  package var details: JSONObject = [:]
  package var fault: Fault?
  package var idempotencyKey: String?
  /// `journal`, if the provider was not asked, or does not have the payment.
  package var source: String?
  package var providerStatus: String?
  /// A contradiction to the record, or why a result is unknown.
  package var note: String?
  /// The steps besides those of its payment.
  var steps: [Next] = []

  /// Creates the report of a payment, with the result of one operation.
  package init(_ payment: Payment, _ operation: Operation?, replayed: Bool?) {
    let state = payment.state
    self.payment = payment
    self.operation = operation
    self.replayed = replayed
    kind = payment.kind
    env = payment.env
    provider = payment.provider
    reference = payment.reference
    attemptNumber = payment.attempt?.number
    (id, amount, requestedAmount) = (state.id, state.amount, state.requestedAmount)
    (currency, lastFour, brand) = (payment.currency, payment.lastFour, payment.brand)
    status = state.status
    isFinal = state.isFinal
    nextAction = state.nextAction
    providerStatus = payment.providerStatus
    idempotencyKey = operation?.key
    result = operation?.result ?? [:]
    fault = operation?.shownFault
    if payment.isEarlier, let number = attemptNumber {
      let what =
        payment.attempt?.source == nil
        ? "attempt \(number) of" : "another charge under reference"
      note = "this is \(what) \(payment.reference.quotedForMessage), not its newest attempt"
    }
    if let operation, let reference = operation.ownReference, operation.state == .returned {
      fault = Fault(
        .cancelled,
        code: "payment_cancelled",
        "the refund \(reference.quotedForMessage) was cancelled",
        hint: "to refund again, add --new-attempt to the same command"
      )
    }
    guard let operation, operation.isAttempt, !operation.isUnknown else { return }
    // An attempt shows the result of the operation that ended the payment later.
    let end = payment.followers.last { follower in
      switch (follower.kind, follower.state.name) {
      case (.void, .succeeded), (.revoke, .succeeded): status.end == .cancelled
      case (.capture, .succeeded): true
      default: false
      }
    }
    if let end {
      result = end.result
      fault = end.fault
      // A hold that was released has no result.
      let isReleased =
        end.kind == .void && !state.isCaptured
        && ["state", "status", "error"].allSatisfy { end.result[$0] == nil }
      if isReleased, payment.kind == .payment { result = [:] }
    }
    if status.end == .cancelled, fault == nil {
      fault = Fault(
        .cancelled,
        code: status == .revoked ? "mandate_revoked" : "payment_cancelled",
        status == .revoked ? "the mandate was revoked" : "the payment was cancelled",
        hint: state.isCaptured ? "to charge again, use a new reference" : nil
      )
    }
  }

  /// Creates the report of an operation, with the payment or the surplus charge that it is about.
  init(_ whole: Payment, about sequence: Int, replayed: Bool) {
    self.init(whole.subject(of: sequence), whole[sequence], replayed: replayed)
  }

  /// Creates the report of a look-up of a payment that the journal does not have.
  package init(
    _ outcome: Outcome,
    env: Env,
    provider: ProviderName,
    reference: Reference?,
    kind: Payment.Kind = .payment
  ) {
    self.kind = kind
    self.env = env
    self.provider = provider
    self.reference = reference ?? outcome.reference
    madeAt = outcome.madeAt
    (id, amount, requestedAmount) = (outcome.id, outcome.amount, outcome.requestedAmount)
    (currency, lastFour, brand) = (outcome.currency, outcome.lastFour, outcome.brand)
    status = outcome.status
    isFinal = outcome.status.isFinal && outcome.nextAction == nil && !outcome.isProcessing
    result = outcome.shown ?? outcome.result
    nextAction = outcome.nextAction
    details = outcome.details
    providerStatus = outcome.providerStatus
  }

  /// Whether the payment or one of its operations is unknown.
  package var hasUnknown: Bool {
    status == .unknown || fault?.effect == .unknown || payment?.state.isUnknown == true
  }

  /// Whether the provider accepted the request that the report is about, and did not take it back.
  package var isDone: Bool {
    if let operation, !operation.isAttempt { return operation.hasEffect }
    return switch status {
    case .declined, .cancelled, .expired, .revoked, .failed, .unknown: false
    case .requiresConfirmation, .requiresAction, .pending, .authorized, .succeeded, .refunded,
      .partiallyRefunded, .returned:
      true
    }
  }

  /// Whether the command that made the payment accepted a part of its amount.
  package var acceptedPart: Bool { payment?.attempt?.content[Operation.allowPartial] == true }

  /// The report of the payment as it was after the operation of a replayed command; nil for any other command.
  package var then: Report? {
    guard replayed == true, let payment, let operation, operation.effect == .done else {
      return nil
    }
    let before = payment.operations.filter { $0.sequence <= operation.sequence }
    let earlier = payment.with(before, Observed())
    return Report(earlier, operation, replayed: true).ended(acceptsPart: acceptedPart)
  }

  /// The steps that can follow.
  package func next(_ traits: Traits) -> [Next] {
    if let fault, !fault.next.isEmpty { return fault.next }
    if let payment { return payment.next(traits) }
    let reference = reference ?? Reference(stored: id ?? "")
    let key = ReferenceKey(env: env, provider: provider, reference: reference)
    return steps + (isFinal ? [] : Payment(key: key, kind: kind).next(.wait))
  }

  /// Returns the report with the provider's answer. The journal may lack parts of that answer.
  func showing(_ outcome: Outcome) -> Report {
    var report = self
    report.result = outcome.result
    report.details = outcome.details
    report.nextAction = outcome.nextAction ?? nextAction
    report.fault = outcome.fault ?? fault
    return report
  }

  /// The report of a look-up of a payment in the journal. The result is the provider's answer. All else comes
  /// from the payment's operations.
  func lookedUp(_ outcome: Outcome, inWordsOfAttempt: Bool) -> Report {
    var report = self
    report.result = inWordsOfAttempt ? outcome.result : outcome.shown ?? outcome.result
    report.details = outcome.details
    report.nextAction = outcome.nextAction ?? nextAction
    report.fault = inWordsOfAttempt ? outcome.fault : nil
    report.replayed = nil
    report.providerStatus = outcome.providerStatus ?? providerStatus
    return report
  }

  /// The report of a payment in the journal, with the error of its attempt.
  package static func recorded(_ payment: Payment) -> Report {
    Report(payment, payment.attempt, replayed: nil)
  }

  /// The report of the operation that a handle names. An attempt is shown as if none came after it, and any
  /// other operation with its own id, amount and status. The reference names the newest attempt.
  package static func recorded(_ payment: Payment, named handle: String) -> Report {
    let payment = payment.named(by: handle)
    guard let operation = payment.operation(named: handle) else { return recorded(payment) }
    var report = Report(payment, operation, replayed: nil)
    (report.named, report.id) = (operation, operation.id)
    report.amount = operation.amount.map { _ in operation.effectiveAmount }
    report.requestedAmount = operation.approved == nil ? nil : operation.amount
    report.status = operation.status
    report.isFinal = ![.pending, .unknown, .requiresAction, .requiresConfirmation].contains(
      report.status
    )
    report.nextAction = operation.state.action
    report.providerStatus = nil
    return report
  }

  /// The report of a payment from the journal alone. It has no error, with any status.
  static func fromJournal(_ payment: Payment) -> Report {
    var report = recorded(payment)
    report.fault = nil
    report.source = "journal"
    return report
  }
}

extension Operation {
  /// Its error. If the operation failed, the retry class is that of an operation that was never sent.
  fileprivate var shownFault: Fault? { state.name == .failed ? fault?.beforeSending : fault }
}

// MARK: Results

extension Report {
  /// Adds the error of a payment that ended without its money, or with less than was asked for. A report with
  /// an error, or about a refund, stays the same.
  ///
  /// `acceptsPart` is `--allow-partial`.
  package func ended(acceptsPart: Bool = false) -> Report {
    guard fault == nil, kind != .storedMethod, operation?.isReversal != true else { return self }
    var report = self
    report.fault = endingFault(acceptsPart: acceptsPart)
    return report
  }

  private func endingFault(acceptsPart: Bool) -> Fault? {
    var name: String { (reference?.text ?? id ?? "").quotedForMessage }
    let payment = payment?.attempt?.kind == .refund ? nil : payment
    switch status {
    case .returned:
      let amount = text(ofMinorUnits: payment?.state.returned ?? amount ?? 0)
      return Fault(
        .declined,
        code: "payment_returned",
        "the bank returned \(amount) of \(name): do not count it as paid",
        hint: "to charge again, use a new reference"
      )
    case .declined, .failed, .cancelled, .expired:
      // The attempt's error is more precise.
      let own = payment?.attempt?.shownFault
      if let own, own.isOutcome || own.kind == .rejected, own.kind != .pending { return own }
      let (kind, code): (Fault.Kind, String) =
        switch status {
        case .cancelled: (.cancelled, "payment_cancelled")
        case .expired: (.expired, "payment_expired")
        case .failed: (.rejected, "payment_failed")
        default: (.declined, "declined")
        }
      return Fault(kind, code: code, "the \(self.kind.noun) \(name) is \(status.rawValue)")
    case .succeeded, .authorized, .requiresConfirmation, .pending:
      let asked = payment?.attempt?.amount ?? requestedAmount
      let approved = payment?.attempt.map(\.effectiveAmount) ?? amount
      guard !acceptsPart, let asked, let approved, asked > approved, approved > 0 else {
        return nil
      }
      let isHeld = status == .requiresConfirmation
      let part = text(ofMinorUnits: approved)
      return Fault(
        .partPaid,
        code: "part_paid",
        "\(part) of \(text(ofMinorUnits: asked)) was approved and is \(isHeld ? "held" : "charged")",
        hint: "to take the rest, charge \(text(ofMinorUnits: asked - approved)) under another "
          + "--reference",
        next: payment?.next(isHeld ? .void : .refund(nil, name: nil)) ?? []
      )
    case .requiresAction, .refunded, .partiallyRefunded, .revoked, .unknown: return nil
    }
  }
}
