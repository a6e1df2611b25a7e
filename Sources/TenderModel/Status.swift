/// The status of a payment, mandate or token, in the vocabulary shared by all providers.
package enum Status: String, Sendable, Hashable, CaseIterable {
  case requiresConfirmation = "requires_confirmation"
  case requiresAction = "requires_action"
  case pending, authorized, succeeded, declined, cancelled, refunded
  case partiallyRefunded = "partially_refunded"
  case returned, expired, revoked, failed, unknown

  /// The final results that decisions depend on.
  package enum End: Sendable, Hashable {
    case succeeded
    /// The provider, bank or issuer ended it before money was taken.
    case declined
    /// An operator or payer ended it before money was taken, or the money was given back at once.
    case cancelled
    case refunded, returned, failed
  }

  /// The final result; nil while a step of payer, merchant or provider is still expected.
  package var end: End? {
    switch self {
    case .requiresConfirmation, .requiresAction, .pending, .unknown: nil
    case .authorized, .succeeded: .succeeded
    case .declined, .expired: .declined
    case .cancelled, .revoked: .cancelled
    case .refunded, .partiallyRefunded: .refunded
    case .returned: .returned
    case .failed: .failed
    }
  }

  /// Whether no further step of payer, merchant or provider is expected.
  package var isFinal: Bool { end != nil }

  /// Whether it ended without money. Another attempt may be made.
  package var isOver: Bool { end == .declined || end == .cancelled }

  /// Whether `journal resolve --as` offers this status: a hold, or any end except the bank's return.
  package var isResolution: Bool { self == .requiresConfirmation || isFinal && end != .returned }

  /// Whether it was cancelled, or paid and then refunded.
  package var isUndone: Bool { end == .cancelled || end == .refunded }
}
