/// The state of a payment, mandate or token in the one vocabulary of the contract (section 5).
package enum Status: String, Sendable, Hashable, CaseIterable {
  case requiresConfirmation = "requires_confirmation"
  case requiresAction = "requires_action"
  case pending, authorized, succeeded, declined, cancelled, refunded
  case partiallyRefunded = "partially_refunded"
  case returned, expired, revoked, failed, unknown

  /// Whether nothing more is awaited from payer, merchant or provider.
  package var isFinal: Bool {
    switch self {
    case .requiresConfirmation, .requiresAction, .pending, .unknown: false
    case .authorized, .succeeded, .declined, .cancelled, .refunded, .partiallyRefunded, .returned,
      .expired, .revoked, .failed:
      true
    }
  }
}
