package import TenderModel

/// What came of an operation at a provider.
package struct Outcome: Sendable, HasFacts {
  package var status: Status
  package var facts: PaymentFacts
  /// The merchant's own name for it, and when it was made (milliseconds since 1970), as far as the provider
  /// says so.
  package var reference: Reference?
  package var madeAt: Int?
  package var result: JSONObject
  package var nextAction: PayerAction?
  /// The error that stands beside the result where the exit is not 0 (a decline).
  package var fault: Fault?
  /// What else the provider says, in our words, for who looks; the journal does not keep it.
  package var details: JSONObject = [:]
  /// What the journal keeps for a repetition, where that is not what is shown now.
  package var recorded: Recorded?
  /// What a repetition of the operation that made it shows from now on, where this undid it.
  package var undone: Recorded?

  /// The part of an outcome that a repetition shows again.
  package struct Recorded: Sendable {
    package var result: JSONObject
    package var nextAction: PayerAction?
    package var fault: Fault?

    package init(result: JSONObject, nextAction: PayerAction? = nil, fault: Fault? = nil) {
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
    currency: Currency? = nil,
    lastFour: String? = nil,
    brand: String? = nil,
    result: JSONObject,
    nextAction: PayerAction? = nil,
    fault: Fault? = nil
  ) {
    self.status = status
    facts = PaymentFacts(
      id: id,
      amount: amount,
      requestedAmount: requestedAmount,
      currency: currency,
      lastFour: lastFour,
      brand: brand
    )
    self.result = result
    self.nextAction = nextAction
    self.fault = fault
  }
}
