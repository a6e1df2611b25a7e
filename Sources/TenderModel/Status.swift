/// The state of a payment, mandate or token in the one vocabulary of the contract (section 5).
package enum Status: String, Sendable, Hashable, CaseIterable {
  case requiresConfirmation = "requires_confirmation"
  case requiresAction = "requires_action"
  case pending, authorized, succeeded, declined, cancelled, refunded
  case partiallyRefunded = "partially_refunded"
  case returned, expired, revoked, failed, unknown

  /// What an end comes to, for whatever decides by it.
  package enum End: Sendable, Hashable {
    case succeeded
    /// Another side ended it before money was taken.
    case declined
    /// An operator, a customer or a payer ended it, before money was taken or by giving it back at once.
    case cancelled
    case refunded, returned, failed
  }

  /// What it ended in; nil where something is still awaited from payer, merchant or provider.
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

  /// Whether nothing more is awaited from payer, merchant or provider.
  package var isFinal: Bool { end != nil }

  /// Whether it ended without money: a further attempt may be made.
  package var isOver: Bool { end == .declined || end == .cancelled }

  /// Whether it was cancelled, or paid and refunded.
  package var isUndone: Bool { end == .cancelled || end == .refunded }
}
