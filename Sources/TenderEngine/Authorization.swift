package import TenderModel

/// A provider that gives money back in parts.
package protocol RefundFlow: Sendable {
  /// Sends received money back.
  func refund(
    _ order: RefundOrder,
    of attempt: Attempt,
    _ progress: Progress
  ) throws(Fault) -> Outcome
  /// The refund that was sent and whose answer was lost; nil where there is none.
  func pendingRefund(of attempt: Attempt) -> Refund?
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
  package var currency: Currency?
  /// What makes two orders the same: never choices of the flow.
  package var content: JSONObject
  /// The body that makes it, where it does not exist yet: the same bytes for every repetition.
  package var creation: [UInt8]

  package init(
    reference: Reference,
    kind: Attempt.Kind,
    existingID: String? = nil,
    amount: Money? = nil,
    currency: Currency? = nil,
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

/// Something that was made elsewhere, as a first look finds it.
package struct Adoption: Sendable {
  package var kind: Attempt.Kind
  package var outcome: Outcome

  package init(kind: Attempt.Kind, outcome: Outcome) {
    self.kind = kind
    self.outcome = outcome
  }
}
