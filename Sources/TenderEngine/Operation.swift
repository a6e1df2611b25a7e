package import TenderModel

/// One request to a provider that can change a payment.
package struct Operation: Sendable {
  /// The kind of request (README, 2).
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

  /// The way by which a fact became known.
  package enum Source: String, Sendable, Hashable, CaseIterable {
    /// The answer to the operation itself.
    case answer
    case lookup, webhook, settlement, `operator`
  }

  /// The journal's number for its row; 0 before it is written.
  package var row = 0
  /// The operation's position in its payment, from 1.
  package var sequence = 0
  package var kind: Kind
  /// The number among the attempts, the refunds and voids, or the others of its kind, from 1.
  package var number = 1
  /// The operator's name of a refund. For a refund at the reader, it is the typed reference (`link`).
  package var name: String?
  /// The requested amount in minor units, with fee and gratuity; nil without an amount.
  package var amount: Int?
  /// The amount that the provider approved, in minor units; nil if that is all of `amount`.
  package var approved: Int?
  /// Whether it was recorded for the whole remaining amount.
  package var isRest = false
  /// The idempotency key of its request; nil if the provider takes none.
  package var key: String?
  package var id: String?
  package var state = State.prepared
  /// The member of `content` with the name of the holder of the card or account.
  package static let holder = "holder"
  /// The member of `content` for an order that accepts a part of its amount.
  package static let allowPartial = "allow_partial"
  /// Members of `content` by which orders are not compared. Payments of earlier versions can lack them.
  static let notCompared: Set = [holder, allowPartial, providerReference]
  /// The member of `content` with the provider's reference, if a person accepted one that differs.
  static let providerReference = "provider_reference"

  /// The order of an attempt; empty for any other operation. Two orders with the same content are the same.
  package var content: JSONObject = [:]
  /// Keyed hashes of the members that identify an order and are not stored as typed.
  package var fingerprints: JSONObject = [:]
  /// The provider's answer, with its documented names.
  package var result: JSONObject = [:]
  /// The error in its record: why it was declined, or why its result is unknown.
  package var fault: Fault?
  /// The data that a later step sends to the provider; never card data.
  package var preparation: Preparation?
  /// Whether its preparation is sealed under a key that this machine does not have.
  package var isSealed = false
  /// How an operation that this journal did not send became known. Nil for an operation of this journal.
  package var source: Source?
  /// The sequence of the charge that a reversal is about, if that is not the current attempt. A void can also
  /// be about a refund with the card.
  package var parent: Int?
  /// The reference that the operator typed for a refund with the card. It is a handle of the payment.
  ///
  /// Version 0.2.0 recorded such a refund twice: also as a payment with that reference, whose attempt names the
  /// original payment here.
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

  /// The data that a later step sends to the provider.
  package enum Preparation: Sendable, Hashable {
    /// Sealed in the journal. It is deleted once it is no longer needed, and that of a hold is erased.
    case secret(String)
    /// Contains nothing secret.
    case plain(String)

    package var text: String {
      switch self {
      case .secret(let text), .plain(let text): text
      }
    }

    package var secret: String? { if case .secret(let text) = self { text } else { nil } }

    package var plain: String? { if case .plain(let text) = self { text } else { nil } }
  }

  /// The preparation of an attempt whose payer's consent was sent.
  static let consent = Preparation.plain("consent")

  /// Whether this journal sent a consent or form of the payer's flow, and the attempt is open. A state from
  /// before the consent is then an older one.
  package var hasConsent: Bool {
    preparation == Self.consent && [.sent, .waiting, .processing].contains(state.name)
  }

  /// Whether it is an attempt: the first operation of a payment, or one that starts it again.
  package var isAttempt: Bool { !content.members.isEmpty }

  /// Whether a look showed it as a further charge under the reference, and no attempt explains it.
  package var isSurplus: Bool { source != nil && kind == .charge && !isAttempt }

  /// The text by which a person names it: the provider's id, or its place in the payment.
  package var handle: String { id ?? "seen-\(sequence)" }

  /// The approved amount, else the requested one, in minor units.
  package var effectiveAmount: Int { approved ?? amount ?? 0 }

  /// Whether it may have moved money and has no answer.
  package var isUnknown: Bool { state.name == .sent }

  /// Its state in the words of a payment.
  var status: Status {
    switch state.name {
    case .prepared, .processing: .pending
    case .sent: .unknown
    case .waiting:
      state.action != nil ? .requiresAction : isReversal ? .pending : .requiresConfirmation
    case .succeeded: .succeeded
    case .declined: .declined
    case .cancelled: .cancelled
    case .expired: .expired
    case .failed: .failed
    case .returned: .returned
    }
  }

  /// Whether a process may be working on it at a reader: a sale, or a refund with the card.
  var isAtReader: Bool {
    [.prepared, .sent].contains(state.name) && (isAttempt || link != nil)
  }

  /// Whether it has, or may still get, an effect. Its name and key are in use.
  package var isAlive: Bool {
    switch state.name {
    case .prepared, .sent, .waiting, .processing, .succeeded: true
    case .declined, .cancelled, .expired, .failed, .returned: false
    }
  }

  /// Whether another operation of the payment may have its idempotency key. An operation that provably had no
  /// effect, or was never sent, passes its key to its repetition.
  package func leavesKey(to other: Operation) -> Bool {
    [.prepared, .failed].contains(state.name) && kind == other.kind && amount == other.amount
      && name == other.name && order == other.order
  }

  /// The content by which orders are compared.
  private var order: JSONObject {
    JSONObject(content.members.filter { !Self.notCompared.contains($0.key) })
  }

  /// The effect on money, as far as it is known.
  package var effect: Fault.Effect {
    switch state.name {
    case .prepared, .declined, .cancelled, .expired, .failed: .none
    case .sent: .unknown
    case .waiting, .processing, .succeeded, .returned: .done
    }
  }

  /// Whether the provider accepted it, and did not take it back.
  package var hasEffect: Bool { effect == .done && state.name != .returned }

  /// The reference of a refund with the card; nil for any other operation.
  package var ownReference: Reference? { isAttempt ? nil : link }

  /// Whether it undoes a capture or a hold.
  package var isReversal: Bool { !isAttempt && (kind == .refund || kind == .void) }
}
