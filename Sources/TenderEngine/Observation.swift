package import TenderModel

/// What was said about a payment at a moment, and by what way it came.
///
/// It never changes what an operation asked for. It moves an operation's state along the published order, and is
/// shown with a warning where it cannot.
package struct Observation: Sendable, Hashable {
  /// By what way it came.
  package enum Source: String, Sendable, Hashable, CaseIterable {
    /// The answer to the operation itself.
    case answer
    case lookup, webhook, settlement, `operator`
  }

  package var source: Source
  /// Milliseconds since 1970.
  package var at: Int
  /// The operation that it names, by its sequence.
  package var operation: Int
  /// The state that it says.
  package var state: Operation.State
  /// The provider's own word for it.
  package var providerStatus: String?
  /// In minor units; nil where it names none.
  package var amount: Int?
  /// All that was refunded of the payment so far, in minor units, where it says so.
  package var refunded: Int?
  /// How much of `refunded` no refund of this journal explained when the provider was asked; nil where that is still
  /// to be reckoned, from the payment that this is added to.
  package var elsewhere: Int?
  /// Whether it says that a mandate was revoked.
  package var isRevoked = false
  package var currency: Currency?
  /// The provider's id of what it is about.
  package var id: String?

  package init(_ source: Source, at: Int, operation: Int, state: Operation.State) {
    self.source = source
    self.at = at
    self.operation = operation
    self.state = state
  }
}

/// All that was observed of a payment, joined: the order in which it came does not matter.
package struct Observed: Sendable, Hashable {
  /// The provider's own word, of the newest observation.
  package var providerStatus: String?
  /// When that was, in milliseconds since 1970.
  package var at = 0
  /// The most that anything said was refunded of the current attempt, in minor units.
  package var refunded = 0
  /// The most of it that was refunded by others than this journal.
  package var elsewhere = 0
  package var isRevoked = false

  package init() {}

  /// Takes an observation in.
  package mutating func join(_ seen: Observation) {
    refunded = max(refunded, seen.refunded ?? 0)
    elsewhere = max(elsewhere, seen.elsewhere ?? 0)
    isRevoked = isRevoked || seen.isRevoked
    guard let word = seen.providerStatus else { return }
    // Two words at one moment: the later one in the alphabet, so that their order does not matter.
    if (seen.at, word) > (at, providerStatus ?? "") { (at, providerStatus) = (seen.at, word) }
  }
}
