package import TenderModel

/// The meaning of a provider's answer in our terms. The answer itself is in `result`.
package struct Outcome: Sendable, Priced {
  package var status: Status
  /// The provider's id: a receipt number, a payment method.
  package var id: String?
  /// The amount that the payer pays, in minor units. The currency may be only in the order.
  package var amount: Int?
  /// The requested amount in minor units, if it differs from the amount that the payer pays.
  package var requestedAmount: Int?
  package var currency: Currency?
  package var lastFour: String?
  package var brand: String?
  /// The merchant's reference, and the time of creation in milliseconds since 1970, if the provider gives
  /// them.
  package var reference: Reference?
  package var madeAt: Int?
  package var result: JSONObject
  package var nextAction: PayerAction?
  /// The error beside the result, if the exit is not 0 (a decline).
  package var fault: Fault?
  /// More of the provider's answer in our terms. It is shown and not recorded.
  package var details: JSONObject = [:]
  /// The provider's name for the status.
  package var providerStatus: String?
  /// The sum of all refunds of the payment so far in minor units, if the provider gives it.
  package var refundedAmount: Int?
  package var refunds: [Seen] = []
  /// The charges that the provider has under the same reference.
  package var charges: [Seen] = []
  /// The id of the capture, if the payment is a hold that was captured.
  package var captureID: String?
  /// Whether a reversal was a void: the provider had not settled the payment yet.
  package var isVoid = false
  /// Whether it was charged and then voided: it took money, and gave it back.
  package var isVoided = false
  /// Whether the charge is still processing, although a part of it was refunded.
  package var isProcessing = false
  /// The state of a dispute in the provider's words; nil without one.
  package var dispute: String?
  /// Whether `id` replaces the attempt's id for look-ups and refunds.
  package var isNewID = false
  /// The result that a look-up shows instead of `result`, which has the form of the operation's answer; nil
  /// for the same.
  package var shown: JSONObject?

  /// A refund or charge in a provider's list.
  package struct Seen: Sendable, Hashable {
    package var id: String
    /// Another id that the journal can have for it, such as that of the barcode that it paid.
    package var otherID: String?
    package var state: Operation.State
    /// In minor units.
    package var amount: Int
    package var result: JSONObject
    /// The currency of a charge, and the time of its creation in milliseconds since 1970, if the provider gives them.
    package var currency: Currency?
    package var madeAt: Int?
    /// The sum of the refunds of a charge, in minor units.
    package var refunded = 0
    /// The error of a refund that failed.
    package var fault: Fault?
    /// Whether it is a void of a part, whose id is that of the charge for the rest.
    package var isVoid = false

    package init(id: String, state: Operation.State, amount: Int, result: JSONObject) {
      self.id = id
      self.state = state
      self.amount = amount
      self.result = result
    }

    /// Returns whether it is the operation with an id.
    package func isNamed(by id: String?) -> Bool { id != nil && [self.id, otherID].contains(id) }
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
  /// The state that this outcome gives an operation; nil for a status that decides nothing (`unknown`).
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
    // A failed attempt that can continue has an action.
    case .failed: nextAction.map { .waiting($0) } ?? .declined
    case .unknown: nil
    }
  }
}
