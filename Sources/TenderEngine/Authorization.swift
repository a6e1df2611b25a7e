package import TenderModel

/// A provider that gives money back in parts.
package protocol RefundFlow: Sendable {
  /// Sends received money back.
  func refund(
    _ order: RefundOrder,
    of attempt: Attempt,
    _ progress: Progress
  ) throws(Fault) -> Outcome
  /// The refund that was sent and whose answer was lost: its amount in minor units, and whether it
  /// was all that was left, and the operator's name for it; nil where there is none.
  func pendingRefund(of attempt: Attempt) -> (amount: Int, isRest: Bool, name: String?)?
}

/// A provider whose payments and mandates the payer authorizes at a bank, step by step.
package protocol PayerAuthorizationFlow: Sendable {
  /// Checks that a command has what it needs before anything is opened, and holds on to what it
  /// will need later (an address to listen at). Throws a `usage` fault.
  func check(_ order: AuthorizationOrder) throws(Fault)
  /// Makes the payment or mandate, where it is not there yet, and goes through its authorization.
  func authorize(_ order: AuthorizationOrder, _ progress: Progress) throws(Fault) -> Outcome
  /// Goes on with an authorization where it stands.
  func proceed(_ attempt: Attempt, _ progress: Progress) throws(Fault) -> Outcome
  /// Cancels a payment, or revokes an authorized mandate. Throws `conflict` where its state forbids
  /// it.
  func withdraw(_ attempt: Attempt, _ progress: Progress) throws(Fault) -> Outcome
  /// Stops an authorization that awaits its payer.
  func giveUp(_ attempt: Attempt, _ progress: Progress) throws(Fault) -> Outcome
  /// Learns of a payment or mandate that was made elsewhere; nil where there is none of that id.
  func adopt(_ id: String) throws(Fault) -> Adoption?
  /// What `authorize` would send, secrets masked.
  func preview(_ order: AuthorizationOrder) throws(Fault) -> JSONObject
}

/// What `transact` asks of a provider whose payers authorize at their bank.
package struct AuthorizationOrder: Sendable {
  package var reference: Reference
  package var kind: Attempt.Kind
  /// The provider's id of something that exists already.
  package var existingID: String?
  package var amount: Money?
  package var currency: String?
  /// What makes two orders the same: never choices of the flow.
  package var content: JSONObject
  /// The body that makes it, where it does not exist yet: the same bytes for every repetition.
  package var creation: [UInt8]

  package init(
    reference: Reference,
    kind: Attempt.Kind,
    existingID: String? = nil,
    amount: Money? = nil,
    currency: String? = nil,
    content: JSONObject,
    creation: [UInt8] = []
  ) {
    self.reference = reference
    self.kind = kind
    self.existingID = existingID
    self.amount = amount
    self.currency = currency
    self.content = content
    self.creation = creation
  }
}

/// What `cancel --refund`, and `cancel` with an amount, ask for.
package struct RefundOrder: Sendable {
  /// Refunds of one payment are numbered from 1.
  package var number: Int
  /// In minor units.
  package var amount: Int
  /// Whether no amount was named: all that is left.
  package var isRest: Bool
  package var key: String
  /// What the statement says; nil for something made of the payment's reference.
  package var statement: String?
  /// The operator's own name for it (`--refund-reference`).
  package var name: String?
}

/// Something that was made elsewhere, as a first look finds it.
package struct Adoption: Sendable {
  package var kind: Attempt.Kind
  package var outcome: Outcome

  package init(kind: Attempt.Kind, outcome: Outcome) {
    self.kind = kind
    self.outcome = outcome
  }
}

extension Attempt {
  /// The refunds of a payment, in the order in which they were asked for: `attempt`, `amount` in
  /// minor units, `rest`, and then the provider's own members (`id`, `status`, …).
  package var refunds: [JSONObject] {
    reversal?["refunds"]?.array?.compactMap(\.object) ?? []
  }

  /// The provider's members of a refund, and the operator's name for it.
  package static func shown(refund entry: JSONObject) -> JSONObject {
    JSONObject(
      entry.members.filter { !["attempt", "rest", "key", "amount"].contains($0.key) }
    )
  }

  /// The provider's members of the last refund.
  var latestRefund: JSONObject? {
    guard let last = refunds.last else { return nil }
    return Self.shown(refund: last)
  }
}
