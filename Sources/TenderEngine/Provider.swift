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

  package func owns(_ attempt: Attempt) -> Bool { attempt.merchant == merchant }

  package func asksAtOnce(about attempt: Attempt) -> Bool { false }

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
  package var reference: String?
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
    reference: String? = nil,
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

/// What a provider tells the engine while it works on an attempt.
package final class Progress {
  package private(set) var attempt: Attempt
  /// Whether an effecting request was recorded as sent in this run.
  package private(set) var hasSent = false
  /// The attempt as it was last written down with an outcome in this run.
  package private(set) var recorded: Attempt?
  /// Whether the outcome of this run is in the journal already.
  package private(set) var isConcluded = false
  /// Why the outcome had to be set aside.
  private(set) var warning: Fault?
  private let journal: any Journal
  private let clock: any Clock
  private let interruption: any Interruption
  private let namesItsStates: Bool
  private let announce: (String) -> Void

  /// `namesItsStates` says that the provider's states alone are announced.
  package init(
    attempt: Attempt,
    journal: any Journal,
    clock: any Clock,
    interruption: any Interruption,
    namesItsStates: Bool = false,
    announce: @escaping (String) -> Void
  ) {
    self.namesItsStates = namesItsStates
    self.attempt = attempt
    self.journal = journal
    self.clock = clock
    self.interruption = interruption
    self.announce = announce
  }

  /// How many milliseconds ago at least the attempt was recorded as sent: by the machine's own clock,
  /// since the wall's may be set meanwhile.
  package var sinceSent: Int { clock.elapsed(since: attempt) }

  /// The receipts that other attempts at this reference own.
  package func receiptsOfOthers() throws(Fault) -> [String] {
    try journal.attempts(
      matching: attempt.reference,
      filter: AttemptFilter(env: attempt.env, provider: attempt.provider)
    ).filter { $0.row != attempt.row }.compactMap(\.id)
  }

  /// Writes down, durably, what is known by now of an attempt that goes on.
  ///
  /// A preparation is erased. What fails from here on leaves the attempt as this says.
  /// Throws a `state` fault.
  package func record(_ outcome: Outcome, note: String) throws(Fault) {
    try driver.take(.record(outcome, note: note), &attempt)
    recorded = attempt
  }

  /// Writes down, durably, what the run came to, before anybody hears of it.
  ///
  /// Throws a `state` fault; then nothing may be announced.
  package func conclude(_ outcome: Outcome) throws(Fault) {
    let event = Attempt.Event.conclude(outcome, attempt.operation, note: "outcome")
    warning = try Driver(journal: journal, clock: clock, namesItsStates: true, announce: announce)
      .take(event, &attempt)
    isConcluded = true
  }

  private var driver: Driver {
    Driver(journal: journal, clock: clock, namesItsStates: namesItsStates, announce: announce)
  }

  /// Shows a state to whoever watches; nothing is written.
  package func enter(_ state: String) { announce(state) }

  /// Shows a documented state, and writes it down for whoever looks meanwhile.
  ///
  /// It outlives the process, not the power. With `sendingNext` it is written together with
  /// `willSend`, which must come next.
  package func recordState(_ state: String, sendingNext: Bool = false) throws(Fault) {
    try driver.take(.enter(state, sendingNext: sendingNext), &attempt)
  }

  /// Whether another process has asked for this attempt to be stopped.
  package var isStopRequested: Bool {
    journal.isStopRequested(
      env: attempt.env,
      provider: attempt.provider,
      reference: attempt.reference
    )
  }

  /// Writes down the provider's id and what a later process needs to go on.
  ///
  /// Durable.
  ///
  /// Throws a `state` fault; nothing effecting was sent then.
  ///
  /// With `sendingNext` it is written together with `willSend`, which must come next.
  package func prepare(
    _ preparation: Attempt.Preparation,
    id: String?,
    sendingNext: Bool = false
  ) throws(Fault) {
    try driver.take(.keep(preparation, id: id, sendingNext: sendingNext), &attempt)
  }

  /// Writes down, durably, that an effecting request is about to leave.
  ///
  /// Throws a `state` fault where it cannot, or the signal that came before; nothing is sent then.
  package func willSend() throws(Fault) {
    try interruption.check()
    try driver.take(.send(clock.moment), &attempt)
    hasSent = true
  }
}
