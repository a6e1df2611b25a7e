extension Fault {
  /// The cause of a fault, where the program decides something by it. Codes and messages are for users.
  package enum Cause: Sendable {
    /// The amount is above `max_amount` of the profile, and no person confirmed it.
    case aboveLimit
    /// The acquirer declined a completion or cancellation advice.
    case adviceDeclined
    /// Another command changed the same attempt first.
    case changedMeanwhile
    case cardNumberInArgument
    case cardNumberInInput
    case connectionClosed
    case credentialsMissing
    case deviceInUse
    /// Another request is working on the same payment, or the payment's state forbids this one.
    case genericConflict
    /// Another process is working on the same reference.
    case inProgress
    /// Another machine took over the reference.
    case leaseLost
    /// The lease on the reference ended before a request left.
    case leaseOver
    /// The server of a shared journal does not answer.
    case journalUnreachable
    /// The server of a shared journal may have committed a write that it did not confirm.
    case journalUnconfirmed
    case noFields
    case noInstrument
    case nothingHeld
    /// The payment has a refund that was made elsewhere, which no person has accepted.
    case refundedElsewhere
    /// The provider refused the request. That proves nothing about an earlier request.
    case refused
    /// A look-up showed the declined attempt as paid. The journal stores this cause, and no other one.
    case seenPaid
    /// A look showed what forbids it. A later look may show that it is over.
    case observed
    case sessionExpired
    case tlsFailed
    case tokenRefused
    /// The payment is captured. It can only be refunded.
    case tooLateToCancel
    /// The answer leaves open whether the request succeeded.
    case unclear
  }
}
