package import TenderModel

/// A fact about a payment at one moment, and its source.
///
/// It never changes the request of an operation. It moves an operation's state along the published order. If
/// the state cannot follow, the fact is shown with a warning.
package struct Observation: Sendable, Hashable {
  package var source: Operation.Source
  /// Milliseconds since 1970.
  package var at: Int
  /// The sequence of the operation that it names.
  package var operation: Int
  package var state: Operation.State
  package var providerStatus: String?
  /// The observed amount in minor units; nil without one.
  package var amount: Int?
  /// The sum of all refunds of the payment so far, in minor units; nil if unknown.
  package var refunded: Int?
  /// The part of `refunded` that no refund of this journal explained when the provider was asked. If nil,
  /// `Payment.add` computes it.
  package var elsewhere: Int?
  package var isRevoked = false
  package var currency: Currency?
  /// The provider's id of the payment or operation.
  package var id: String?

  package init(_ source: Operation.Source, at: Int, operation: Int, state: Operation.State) {
    self.source = source
    self.at = at
    self.operation = operation
    self.state = state
  }
}

/// The joined observations of a payment. Their order of arrival does not matter.
package struct Observed: Sendable, Hashable {
  /// The provider's name for the status, from the newest observation.
  package var providerStatus: String?
  /// The time of that observation, in milliseconds since 1970.
  package var at = 0
  /// The largest sum of refunds of the current attempt that was observed, in minor units.
  package var refunded = 0
  /// The largest observed part of such a sum that no refund of this journal explained.
  package var elsewhere = 0
  package var isRevoked = false

  package init() {}

  package mutating func join(_ seen: Observation) {
    refunded = max(refunded, seen.refunded ?? 0)
    elsewhere = max(elsewhere, seen.elsewhere ?? 0)
    isRevoked = isRevoked || seen.isRevoked
    guard let word = seen.providerStatus else { return }
    // Of two with the same time, the status later in the alphabet counts. Their order must not matter.
    if (seen.at, word) > (at, providerStatus ?? "") { (at, providerStatus) = (seen.at, word) }
  }
}
