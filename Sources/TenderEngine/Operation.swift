package import TenderModel

/// One request to a provider that can change a payment.
package struct Operation: Sendable {
  /// What it asks for (README, 2).
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case authorize
    /// Authorize and capture at once.
    case charge
    case capture, void, refund
    /// Store a payment method.
    case store
    case createMandate = "create_mandate"
    case revoke, payout
  }

  /// The journal's number for its row; 0 before it is written.
  package var row = 0
  /// Its place among the operations of its payment, from 1.
  package var sequence = 0
  package var kind: Kind
  /// Its number among the attempts, the refunds, or the others of its kind, from 1.
  package var number = 1
  /// The operator's own name for it; the reference of a refund that the card made (`link`).
  package var name: String?
  /// What it asks for in minor units, fee and gratuity included; nil where it is about no amount.
  package var amount: Int?
  /// What the provider approved in minor units; nil where that is all of `amount`.
  package var approved: Int?
  /// Whether it was recorded for all that was left.
  package var isRest = false
  /// The idempotency key that it is sent with; nil where the provider takes none.
  package var key: String?
  /// The provider's id of what it made.
  package var id: String?
  package var state = State.prepared
  /// The order that it carries out; only an attempt has one.
  ///
  /// The member of `content` with the name of the holder of the card or account; it tells no order from another.
  static let holder = "holder"

  /// Two orders with the same content are the same.
  package var content: JSONObject = [:]
  /// Keyed hashes of what tells two orders apart and is not kept as it was typed.
  package var fingerprints: JSONObject = [:]
  /// The provider's answer, in its documented names.
  package var result: JSONObject = [:]
  /// The error of its record: why it was declined, or why its result is unknown.
  package var fault: Fault?
  /// What a later step needs of the provider; never card data.
  package var preparation: Preparation?
  /// Whether a preparation is there that was sealed under a key that this machine does not have.
  package var isSealed = false
  /// The other payment of a refund that is made at the reader under a reference of its own: of the refund's
  /// attempt the original payment, of the original's operation the refund.
  package var link: Reference?
  /// Milliseconds since 1970.
  package var createdAt: Int
  package var updatedAt: Int

  package init(_ kind: Kind, amount: Int? = nil, at time: Int) {
    self.kind = kind
    self.amount = amount
    createdAt = time
    updatedAt = time
  }

  /// What a later step needs of the provider.
  package enum Preparation: Sendable, Hashable {
    /// Sealed in the journal, and unreadable for good once it is no longer needed.
    case secret(String)
    /// Holds nothing that has to be sealed.
    case plain(String)

    package var text: String {
      switch self {
      case .secret(let text), .plain(let text): text
      }
    }

    /// The text of a secret preparation.
    package var secret: String? { if case .secret(let text) = self { text } else { nil } }

    /// The text of a plain preparation.
    package var plain: String? { if case .plain(let text) = self { text } else { nil } }
  }

  /// Whether it is an attempt: the operation that a payment begins with, or begins again with.
  package var isAttempt: Bool { !content.members.isEmpty }

  /// What it did or does in minor units: what was approved, else what was asked for.
  package var effectiveAmount: Int { approved ?? amount ?? 0 }

  /// Whether it may have moved money without an answer.
  package var isUnknown: Bool { state.name == .sent }

  /// Whether it did, does, or may do something: its name and key are in use.
  package var isAlive: Bool {
    switch state.name {
    case .prepared, .sent, .waiting, .processing, .succeeded: true
    case .declined, .cancelled, .expired, .failed, .returned: false
    }
  }

  /// Whether another operation of the payment may have its idempotency key: one that provably had no effect, or whose
  /// process died before it was sent, leaves it to its own repetition.
  package func leavesKey(to other: Operation) -> Bool {
    [.prepared, .failed].contains(state.name) && kind == other.kind && amount == other.amount
      && name == other.name && order == other.order
  }

  /// The content without the holder, which payments from before lack.
  private var order: JSONObject {
    var order = content
    order[Self.holder] = nil
    return order
  }

  /// What is known about its money.
  package var effect: Effect {
    switch state.name {
    case .prepared, .declined, .cancelled, .expired, .failed: .none
    case .sent: .unknown
    case .waiting, .processing, .succeeded, .returned: .done
    }
  }

  /// What is known about the money of an operation.
  package enum Effect: String, Sendable { case none, unknown, done }

  /// Whether this undoes what was captured or held.
  package var isReversal: Bool { !isAttempt && (kind == .refund || kind == .void) }
}
