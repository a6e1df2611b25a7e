package import TenderModel

/// What a command ends with: the payment as it stands, and what to say beside it.
package struct Report: Sendable, HasFacts {
  package var attempt: Attempt?
  package var kind: Attempt.Kind
  package var env: Env
  package var provider: ProviderName
  package var reference: Reference?
  /// When the provider says that it was made, in milliseconds since 1970.
  package var madeAt: Int?
  package var attemptNumber: Int?
  package var replayed: Bool?
  package var facts: PaymentFacts
  package var status: Status
  package var result: JSONObject
  package var nextAction: PayerAction?
  package var details: JSONObject = [:]
  package var fault: Fault?
  package var idempotencyKey: String?
  /// `journal`, where the provider was asked and does not know the payment.
  package var source: String?
  /// A journal that failed after the outcome was known.
  package var warning: Fault?

  /// The report of an attempt, as the operation that was asked for sees it.
  package init(
    _ attempt: Attempt,
    _ operation: Attempt.Operation,
    replayed: Bool,
    warning: Fault? = nil
  ) {
    self.attempt = attempt
    self.warning = warning
    self.replayed = replayed
    kind = attempt.kind
    env = attempt.env
    provider = attempt.provider
    reference = attempt.reference
    attemptNumber = attempt.number
    facts = attempt.facts
    status = attempt.shownStatus
    nextAction = attempt.nextAction
    idempotencyKey = attempt.idempotencyKey
    if operation == .cancel {
      result =
        attempt.refunds.last.map { ["refund": .object($0.shown)] }
        ?? attempt.reversal?.members ?? attempt.result
      fault = attempt.refunds.isEmpty ? nil : attempt.fault
    } else {
      // What was let go of before capture has no result left.
      result = attempt.reversal == .released ? [:] : attempt.result
      fault = attempt.fault
      if status == .cancelled, fault == nil {
        fault = Fault(
          .cancelled,
          code: "payment_cancelled",
          "the payment was cancelled",
          hint: "a further try needs --new-attempt"
        )
      }
    }
  }

  /// The report of a look-up.
  package init(
    _ outcome: Outcome,
    env: Env,
    provider: ProviderName,
    reference: Reference?,
    kind: Attempt.Kind = .payment
  ) {
    self.kind = kind
    self.env = env
    self.provider = provider
    self.reference = reference ?? outcome.reference
    madeAt = outcome.madeAt
    facts = outcome.facts
    status = outcome.status
    result = outcome.result
    nextAction = outcome.nextAction
    details = outcome.details
  }

  /// Whether nothing more is awaited.
  package var isFinal: Bool { status.isFinal && nextAction == nil }

  /// Shows what an outcome shows, where the journal keeps something else.
  func showing(_ outcome: Outcome) -> Report {
    guard outcome.recorded != nil else { return self }
    var report = self
    report.result = outcome.result
    report.nextAction = outcome.nextAction
    report.fault = outcome.fault
    report.details = outcome.details
    return report
  }

  /// The report of what only the journal knows: no error, whatever the state.
  static func fromJournal(_ attempt: Attempt) -> Report {
    var report = Report(attempt, .transact, replayed: false)
    report.replayed = nil
    report.fault = nil
    report.source = "journal"
    return report
  }

  /// Takes over what a later look-up found, keeping what only this report knows.
  mutating func take(_ looked: Report) {
    attempt = looked.attempt ?? attempt
    status = looked.status
    facts.amount = looked.amount ?? facts.amount
    result = looked.result
    nextAction = looked.nextAction
    details = looked.details
    fault = looked.fault
    source = looked.source
  }
}
