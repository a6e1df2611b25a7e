package import TenderModel

/// One provider's language, as the engine needs it.
///
/// An adapter translates. It computes no amount that is left and does not decide whether to send again. Every
/// function throws a fault whose effect is `unknown` only where a request that can move money was sent.
/// `Progress.willSend` comes before each such request, and `Progress.permit` goes with it.
package protocol Provider: Sendable {
  var name: ProviderName { get }
  /// What it can do, as data.
  var traits: Traits { get }
  /// Who is paid, for keys and ownership: never a secret.
  var merchant: String { get }
  /// Whether these credentials may decide about a payment: only its own merchant's do.
  func owns(_ payment: Payment) -> Bool
  /// Whether a handle that the journal does not know is an id of this provider's.
  func isID(_ handle: String) -> Bool
  /// The provider's documented answer to a capture of nothing.
  var nothingHeld: JSONObject { get }

  /// Checks, before anything is opened or sent, that an order has the credentials and addresses that it needs;
  /// nil stands for a look-up.
  func checkReady(for order: Order?, of payment: Payment?) throws(Fault)
  /// Checks the rules of an order that begins a payment, before anything is opened. Throws `usage`, or
  /// `unsupported` for a kind of order that it does not have.
  func check(_ order: Order) throws(Fault)
  /// Checks what is about to be recorded for a payment that exists: a part, a void, a refund. Throws
  /// `unsupported` for what it cannot do, with the command that can.
  func check(_ draft: Operation, of payment: Payment) throws(Fault)
  /// What an order would send, secrets masked.
  func preview(_ order: Order) throws(Fault) -> JSONObject
  /// How a `cancel` or `refund` undoes a payment, in the field's words: `void`, `refund`, `reversal`; nil for any
  /// other order.
  func way(of order: Order, _ payment: Payment?) -> String?

  /// Carries out the operation of `progress`.
  ///
  /// `order` is nil where the journal alone has what is needed: a later step, or a request that is sent again
  /// under the same key. Then the operation is in state `sent` already.
  func perform(_ order: Order?, _ progress: Progress) throws(Fault) -> Outcome
  /// Goes on with an attempt that waits for its payer.
  func proceed(_ progress: Progress) throws(Fault) -> Outcome
  /// Stops an attempt that waits for its payer: the operator does not wait any longer.
  func giveUp(_ progress: Progress) throws(Fault) -> Outcome
  /// Undoes an attempt whose answer was lost, where its recovery is `undo`; gives what the attempt came to.
  func undo(_ progress: Progress) throws(Fault) -> Outcome

  /// Looks a payment up by the provider's id or by the merchant's reference; nil where there is none.
  func lookUp(_ query: LookUp) throws(Fault) -> Outcome?
  /// Asks what became of the operation of `progress`, whose answer was lost, without sending anything that can
  /// move money.
  func look(_ progress: Progress) throws(Fault) -> Finding
  /// How an operation whose answer was lost can be ended, where no look tells.
  func recovery(of operation: Operation, in payment: Payment) -> Recovery
  /// Learns of a payment or mandate that was made elsewhere; nil where there is none of that id.
  func adopt(_ id: String) throws(Fault) -> (kind: Payment.Kind, outcome: Outcome)?
  /// Searching among all of the merchant's payments; nil where it has no search.
  var search: (any SearchFlow)? { get }
}

/// What a provider can do, as data: engine, help and refusals read it from here.
package struct Traits: Sendable {
  /// The kinds of operations that it has.
  package var kinds: [Operation.Kind]
  /// Whether an idempotency key is sent with each request that can move money.
  package var takesKeys: Bool
  /// How long a key means the same request, in milliseconds; nil for ever.
  package var keyLife: Int?
  /// The option of `transact` that stops before capture.
  package var holdOption: String
  /// Whether its own states are shown, by their documented names.
  package var namesItsStates: Bool
  /// Whether a payer authorizes step by step, so that `confirm` goes on with what waits.
  package var hasPayerFlow: Bool
  /// Whether `cancel` gives back what was captured.
  package var cancelsCaptured: Bool
  /// Whether a whole refund without the card is a void.
  package var refundsByVoid: Bool
  /// Whether a payment can be looked up at all.
  package var canLookUp: Bool
  /// Whether a reader takes part: a sale that is under way can be asked to stop.
  package var isAtReader: Bool
  /// How long after a send an effect may still appear, in milliseconds.
  package var lateWindow: Int

  package init(
    kinds: [Operation.Kind],
    takesKeys: Bool = false,
    keyLife: Int? = nil,
    holdOption: String = "--hold",
    namesItsStates: Bool = false,
    hasPayerFlow: Bool = false,
    cancelsCaptured: Bool = true,
    refundsByVoid: Bool = false,
    canLookUp: Bool = true,
    isAtReader: Bool = false,
    lateWindow: Int = 0
  ) {
    self.kinds = kinds
    self.takesKeys = takesKeys
    self.keyLife = keyLife
    self.holdOption = holdOption
    self.namesItsStates = namesItsStates
    self.hasPayerFlow = hasPayerFlow
    self.cancelsCaptured = cancelsCaptured
    self.refundsByVoid = refundsByVoid
    self.canLookUp = canLookUp
    self.isAtReader = isAtReader
    self.lateWindow = lateWindow
  }
}

extension Provider {
  package func owns(_ payment: Payment) -> Bool { payment.merchant == merchant }

  package func checkReady(for order: Order?, of payment: Payment?) throws(Fault) {}

  package func way(of order: Order, _ payment: Payment?) -> String? { nil }

  package func check(_ draft: Operation, of payment: Payment) throws(Fault) {}

  package func proceed(_ progress: Progress) throws(Fault) -> Outcome {
    throw .unsupportedOperation(name, "payments that wait for their payer")
  }

  package func giveUp(_ progress: Progress) throws(Fault) -> Outcome { try proceed(progress) }

  package func undo(_ progress: Progress) throws(Fault) -> Outcome {
    throw .unsupportedOperation(name, "undoing of a lost request")
  }

  package func adopt(_ id: String) throws(Fault) -> (kind: Payment.Kind, outcome: Outcome)? { nil }

  package var search: (any SearchFlow)? { nil }
}

extension Fault {
  /// Something that a provider does not have.
  package static func unsupportedOperation(_ provider: ProviderName, _ what: String) -> Fault {
    Fault(
      .unsupported,
      code: "method_unsupported",
      "\(provider.text) has no \(what)",
      hint: "see: tender providers"
    )
  }
}

/// Searching among all of the merchant's payments, however they were made.
package protocol SearchFlow: Sendable {
  /// The payments that a filter lets through, newest first, among the latest `limit` that the provider's own
  /// query gives.
  ///
  /// With how many payments the provider gave, and how many it has, where it says so: the rest was not searched.
  /// Throws `usage` for what cannot be searched for there.
  func find(
    _ filter: PaymentFilter,
    limit: Int
  ) throws(Fault) -> (found: [Outcome], searched: Int, total: Int?)
}

/// What a look-up goes by.
package struct LookUp: Sendable, Hashable {
  package var id: String?
  package var reference: Reference?
  /// Ids known to belong to other operations, left out of a search by reference.
  package var others: [String] = []
  package var kind = Payment.Kind.payment
  /// The ids of refunds that the journal has of it.
  package var refunds: [String] = []
  /// Whether the answer may change what the journal has.
  package var isKnown = false
  /// Whether to answer in the words of the operation that made it, as `transact` does.
  package var inWordsOfAttempt = false

  package init(id: String? = nil, reference: Reference? = nil) {
    self.id = id
    self.reference = reference
  }
}

/// What a look at an operation whose answer was lost came to.
package enum Finding: Sendable {
  /// The answer names the operation: this is what its request did.
  case happened(Outcome)
  /// Nothing of it is there now, which proves nothing: it may still appear, or be late.
  case absent
  /// It provably had no effect, and cannot have one later; the fault says why.
  case refuted(Fault)
  /// It cannot be asked about.
  case cannotLook
}

/// How an operation whose answer was lost can be ended.
package enum Recovery: Sendable, Hashable {
  /// The same request again under the same key: it cannot act twice. `after` is the least time since it was
  /// sent, in milliseconds.
  case sameKey(after: Int = 0)
  /// A request that undoes it whatever it did.
  case undo
  /// It may act twice: sent again only where a person says so, and where `canResend`.
  case byHand(canResend: Bool)
}
