package import TenderModel

/// What a provider's answer means, in our vocabulary, with its own words in `result`.
package struct Outcome: Sendable, Priced {
  package var status: Status
  /// The provider's own id: a receipt number, a payment method.
  package var id: String?
  /// What the payer pays, in minor units: an answer may leave its currency to the order.
  package var amount: Int?
  /// What was asked for, in minor units, where that is not what the payer pays.
  package var requestedAmount: Int?
  package var currency: Currency?
  package var lastFour: String?
  package var brand: String?
  /// The merchant's own name for it, and when it was made (milliseconds since 1970), as far as the provider
  /// says so.
  package var reference: Reference?
  package var madeAt: Int?
  package var result: JSONObject
  package var nextAction: PayerAction?
  /// The error that stands beside the result where the exit is not 0 (a decline).
  package var fault: Fault?
  /// What else the provider says, in our words; it is shown and not recorded.
  package var details: JSONObject = [:]
  /// The provider's own word for how it is.
  package var providerStatus: String?
  /// All that was refunded of the payment so far in minor units, where the provider says so.
  package var refundedAmount: Int?
  /// The refunds that the provider lists, where it does.
  package var refunds: [SeenRefund] = []
  /// Whether a reversal was a void: nothing had been settled.
  package var isVoid = false
  /// Whether the charge is on its way still, though a part of it was refunded.
  package var isProcessing = false
  /// Whether `id` is looked up and refunded from now on, in place of the attempt's own.
  package var isNewID = false
  /// What a look-up shows instead of `result`, which is in the words of the operation; nil for the same.
  package var shown: JSONObject?

  /// A refund as a provider lists it.
  package struct SeenRefund: Sendable, Hashable {
    package var id: String
    package var state: Operation.State
    /// In minor units.
    package var amount: Int?
    package var result: JSONObject
    package var fault: Fault?

    package init(
      id: String,
      state: Operation.State,
      amount: Int?,
      result: JSONObject,
      fault: Fault? = nil
    ) {
      self.id = id
      self.state = state
      self.amount = amount
      self.result = result
      self.fault = fault
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
    (self.id, self.amount, self.requestedAmount) = (id, amount, requestedAmount)
    (self.currency, self.lastFour, self.brand) = (currency, lastFour, brand)
    self.result = result
    self.nextAction = nextAction
    self.fault = fault
  }
}

extension Outcome {
  /// The state that it puts an operation in; nil for a status that decides nothing (`unknown`).
  package var state: Operation.State? {
    switch status {
    case .requiresConfirmation: .waiting(nil)
    case .requiresAction: .waiting(nextAction ?? PayerAction("authorize"))
    case .pending: nextAction.map { .waiting($0) } ?? .processing
    case .partiallyRefunded where isProcessing: .processing
    case .authorized, .succeeded, .refunded, .partiallyRefunded: .succeeded
    case .revoked: .succeeded
    case .declined: .declined
    case .cancelled: .cancelled
    case .returned: .returned
    case .expired: .expired
    // One that can be gone on with says how.
    case .failed: nextAction.map { .waiting($0) } ?? .declined
    case .unknown: nil
    }
  }
}
