package import TenderModel

/// One provider's language, as the engine needs it.
///
/// Every function throws a fault whose effect is `unknown` only where an effecting request was sent
/// and nobody knows what it did. `Progress.willSend` comes right before each such request.
package protocol Provider: Sendable {
  var name: ProviderName { get }
  /// Who is paid, for keys and fingerprints: never a secret.
  var merchant: String { get }

  /// Whether these credentials may decide about an attempt: only its own merchant's do.
  func owns(_ attempt: Attempt) -> Bool

  /// The provider's documented answer to a confirm of nothing.
  var nothingHeld: JSONObject { get }

  /// The option of `transact` that stops before capture.
  var holdOption: String { get }

  /// Whether its own states alone are shown to who watches, by their documented names.
  var namesItsStates: Bool { get }

  /// Captures what is held.
  func confirm(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome
  /// Lets go of what is held; nothing was charged.
  func release(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome
  /// Undoes what was captured.
  func reverse(_ captured: Attempt, _ progress: Progress) throws(Fault) -> Outcome
  /// Looks a payment up by the provider's id or by the merchant's reference; nil where there is none.
  func lookUp(_ query: LookUp) throws(Fault) -> Outcome?
  /// Finds out what an effecting request did whose answer was lost.
  ///
  /// Where it had no effect it is done now if `mayRepeat`, which a cancel does not want.
  func findOut(
    _ attempt: Attempt,
    _ progress: Progress,
    mayRepeat: Bool
  ) throws(Fault) -> Finding
  /// Whether a question right after an answer was lost can tell what came of it, and does nothing else.
  func asksAtOnce(about attempt: Attempt) -> Bool
  /// Whether finding out may undo what it asks about, since the provider has no key to ask by.
  var undoesToFindOut: Bool { get }
  /// Checks, before anything is opened or sent, that a command has what it needs.
  func checkReady(for need: Need) throws(Fault)
  /// Whether a handle that the journal does not know is an id of this provider's.
  func isID(_ handle: String) -> Bool

  /// Payments by an instrument, where it has them.
  ///
  /// A provider has a flow by conforming to its protocol; what asks for one that is nil ends in 15.
  var payments: (any PaymentFlow)? { get }
  /// Stored payment methods, where it has them.
  var tokens: (any TokenFlow)? { get }
  /// Refunds in parts, where it has them.
  var refunds: (any RefundFlow)? { get }
  /// Payments and mandates that the payer authorizes at a bank, where it has them.
  var authorization: (any PayerAuthorizationFlow)? { get }
  /// Sales with the card present, where it has them.
  var cardPresent: (any CardPresentFlow)? { get }
  /// Searching among all of the merchant's payments, where it has that.
  var search: (any SearchFlow)? { get }
}

/// Searching among all of the merchant's payments, whoever made them.
package protocol SearchFlow: Sendable {
  /// The payments that a filter lets through, newest first, among the latest `limit` that the provider's own
  /// query gives.
  ///
  /// Throws `usage` for what cannot be searched for there.
  func find(_ filter: AttemptFilter, limit: Int) throws(Fault) -> SearchResult
}

/// What a search came to.
package struct SearchResult: Sendable {
  package let found: [Outcome]
  /// How many payments the provider gave, and how many it has, where it says so: the rest was not searched.
  package let searched: Int
  package let total: Int?

  package init(found: [Outcome], searched: Int, total: Int?) {
    self.found = found
    self.searched = searched
    self.total = total
  }
}

/// Payments by an instrument that the order brings, or by a stored method.
package protocol PaymentFlow: Sendable {
  /// Checks an order's own rules, before anything is opened. Throws a `usage` fault.
  func check(_ order: PaymentOrder) throws(Fault)
  /// Takes a payment, or prepares one that waits for `confirm`.
  func transact(_ order: PaymentOrder, _ progress: Progress) throws(Fault) -> Outcome
  /// What `transact` would send, secrets masked.
  func preview(_ order: PaymentOrder) throws(Fault) -> JSONObject
}

/// Payment methods that the provider stores.
package protocol TokenFlow: Sendable {
  /// Stores a payment method.
  func tokenize(_ order: TokenOrder, _ progress: Progress) throws(Fault) -> Outcome
  /// What `tokenize` would send, secrets masked.
  func preview(_ order: TokenOrder) throws(Fault) -> JSONObject
}

extension Provider {
  package var payments: (any PaymentFlow)? { nil }

  package var tokens: (any TokenFlow)? { nil }

  package var refunds: (any RefundFlow)? { nil }

  package var authorization: (any PayerAuthorizationFlow)? { nil }

  package var cardPresent: (any CardPresentFlow)? { nil }

  package var search: (any SearchFlow)? { nil }

  package func owns(_ attempt: Attempt) -> Bool { attempt.merchant == merchant }

  package func asksAtOnce(about attempt: Attempt) -> Bool { false }

  package var undoesToFindOut: Bool { false }

  package var namesItsStates: Bool { false }

  package var holdOption: String { "--confirmation" }
}

extension Provider where Self: PaymentFlow {
  package var payments: (any PaymentFlow)? { self }
}

extension Provider where Self: TokenFlow {
  package var tokens: (any TokenFlow)? { self }
}

extension Provider where Self: RefundFlow {
  package var refunds: (any RefundFlow)? { self }
}

extension Provider where Self: SearchFlow {
  package var search: (any SearchFlow)? { self }
}

extension Provider where Self: PayerAuthorizationFlow {
  package var authorization: (any PayerAuthorizationFlow)? { self }

  package func confirm(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    try proceed(held, progress)
  }

  package func release(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    try withdraw(held, progress)
  }

  package func reverse(_ captured: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    try withdraw(captured, progress)
  }
}

extension Provider where Self: CardPresentFlow {
  package var cardPresent: (any CardPresentFlow)? { self }

  package var namesItsStates: Bool { true }
}

/// What a command will ask of a provider.
package enum Need: Sendable, Hashable {
  /// A payment by an instrument, or one that a stored method pays.
  case payment(byStoredMethod: Bool)
  case heldPayment
  case reversal
  case lookUp
  /// To make a payment or mandate that the payer authorizes at a bank.
  case creation
  /// To go on with an authorization that waits.
  case authorization
  /// To take an authorization back, or money that was received.
  case withdrawal
  /// A sale or refund with the card and its holder present.
  case sale
}

/// What a look-up goes by.
package struct LookUp: Sendable, Hashable {
  package var id: String?
  package var reference: Reference?
  /// Receipts known to belong to other attempts, left out of a search by reference.
  package var others: [String]
  package var kind: Attempt.Kind
  package var purpose = Purpose.status
  /// Refunds that the journal knows, as `Attempt.refunds` has them.
  package var refunds: [Refund] = []
  /// What the payer paid, in minor units, where the journal knows it.
  package var amount: Int?
  /// Whether the answer may change what the journal has of it.
  package var isKnown = false

  /// In whose words to answer: a look-up's, the operation's that made the payment, a refund's.
  package enum Purpose: Sendable, Hashable { case status, outcome, refund }

  package init(
    id: String? = nil,
    reference: Reference? = nil,
    others: [String] = [],
    kind: Attempt.Kind = .payment
  ) {
    self.id = id
    self.reference = reference
    self.others = others
    self.kind = kind
  }
}

/// What finding out came to.
package enum Finding: Sendable {
  /// It happened; this is what came of it.
  case happened(Outcome)
  /// It had not happened and was done now, with the same preparation.
  case doneNow(Outcome)
  /// Nothing of it is there: once the late window is over, it did not happen, and will not.
  case didNotHappen
  /// Nothing of it is there, and this is how the payment stands without it; it may still arrive within
  /// the late window.
  case stands(Outcome)
  /// Whatever it did is undone now; this is what came of undoing it.
  case undone(Outcome)
}
