package import TenderModel

/// The engine's interface to one provider.
///
/// An adapter translates. It computes no remaining amount, and does not decide whether to send again. Its
/// functions throw a fault with effect `unknown` only after a request that can move money was sent. It calls
/// `Progress.willSend` before each such request, and takes a `Progress.permit` for it.
package protocol Provider: Sendable {
  /// The provider's order that begins a payment.
  associatedtype Placed: PlacedOrder
  /// The provider's abilities, as data.
  static var traits: Traits { get }
  var name: ProviderName { get }
  /// The abilities of this adapter: those of its type.
  var traits: Traits { get }
  /// The merchant, for keys and ownership: never a secret.
  var merchant: String { get }
  /// Whether these credentials may decide about a payment. Only those of its merchant may.
  func owns(_ payment: Payment) -> Bool
  /// Whether a handle that is not in the journal has the form of this provider's ids.
  func isID(_ handle: String) -> Bool
  /// The provider's documented answer to a capture of nothing.
  static var nothingHeld: JSONObject { get }

  /// Checks, before anything is opened or sent, that an order has the credentials and addresses that it
  /// needs. Nil means a look-up.
  func checkReady(for order: OrderOf<Placed>?, of payment: Payment?) throws(Fault)
  /// Checks the rules of an order that begins a payment, before anything is opened. Throws `usage`, or
  /// `unsupported`.
  func check(_ order: Placed) throws(Fault)
  /// Checks a part, a void or a refund of an existing payment before it is recorded. Throws `unsupported` if
  /// the provider cannot do it, with the command that can.
  func check(_ draft: Operation, of payment: Payment) throws(Fault)
  /// Returns the request of an order that begins a payment, with secrets masked.
  func preview(_ order: Placed) throws(Fault) -> JSONObject
  /// The way in which a `cancel` or `refund` undoes a payment: `void`, `refund` or `reversal`; nil for any
  /// other order.
  func way(of order: Order, _ payment: Payment?) -> String?

  /// Executes the operation of `progress`.
  ///
  /// `order` is nil for a later step, or a request that is sent again under the same key. Then the journal
  /// has all the data, and the operation is in state `sent`.
  func perform(_ order: OrderOf<Placed>?, _ progress: Progress) throws(Fault) -> Outcome
  /// Continues an attempt that waits for its payer.
  func proceed(_ progress: Progress) throws(Fault) -> Outcome
  /// Stops an attempt that waits for its payer, because the operator stopped the wait.
  func giveUp(_ progress: Progress) throws(Fault) -> Outcome
  /// Undoes an attempt whose answer was lost, if its recovery is `undo`. Returns the attempt's outcome.
  func undo(_ progress: Progress) throws(Fault) -> Outcome

  /// Looks a payment up by the provider's id or by the merchant's reference; nil if there is none.
  func lookUp(_ query: LookUp) throws(Fault) -> Outcome?
  /// Looks for the result of an operation whose answer was lost. It sends nothing that can move money. What went
  /// back of captured money is also found by `lookUp`, so an adapter without a question for one refund returns
  /// `cannotLook`.
  func look(_ progress: Progress) throws(Fault) -> Finding
  /// Whether the provider has something to look at, and can be asked about it with these credentials.
  func canLook(at payment: Payment) -> Bool
  /// Looks up a payment or mandate that was made elsewhere; nil if none has that id.
  func adopt(_ id: String) throws(Fault) -> (kind: Payment.Kind, outcome: Outcome)?
  /// The search among all of the merchant's payments; nil if the provider has none.
  var search: (any SearchFlow)? { get }
}

/// A provider's abilities as data, for the engine, help and refusals.
package struct Traits: Sendable {
  package var kinds: [Operation.Kind]
  /// Whether an idempotency key is sent with each request that can move money.
  package var takesKeys = false
  /// The time for which a key means the same request, in milliseconds; nil for ever.
  package var keyLife: Int?
  /// The option of `transact` that stops before capture.
  package var holdOption = "--hold"
  /// Whether the provider's states are shown, by their documented names.
  package var namesItsStates = false
  /// Whether a payer authorizes step by step, so that `confirm` continues an attempt that waits.
  package var hasPayerFlow = false
  /// Whether `cancel` refunds a captured payment.
  package var cancelsCaptured = true
  /// Whether a whole refund without the card is a void.
  package var refundsByVoid = false
  package var canLookUp = true
  /// Whether a payment of another journal can be looked up by the merchant's reference.
  package var looksByReference = false
  /// Whether payments are made at a reader. A sale that is under way there can be asked to stop.
  package var isAtReader = false
  /// The time after a send in which an effect may still appear, in milliseconds.
  package var lateWindow = 0
  /// Whether `confirm --amount` can capture a part of a payment that is held.
  package var capturesPart: @Sendable (Payment) -> Bool = { _ in false }
  /// The way to finish an operation of a payment whose answer was lost, if no look decides it.
  package var recovery: @Sendable (Operation, Payment) -> Recovery = { operation, _ in
    operation.key == nil ? .byHand(canResend: false) : .sameKey()
  }

  /// Creates the abilities of a provider with these kinds of operation; `set` sets those that differ from the defaults.
  package init(kinds: [Operation.Kind], _ set: (inout Traits) -> Void = { _ in }) {
    self.kinds = kinds
    set(&self)
  }
}

extension Provider {
  package var traits: Traits { Self.traits }

  package func owns(_ payment: Payment) -> Bool { payment.merchant == merchant }

  package func checkReady(for order: OrderOf<Placed>?, of payment: Payment?) throws(Fault) {}

  package func way(of order: Order, _ payment: Payment?) -> String? { nil }

  package func check(_ draft: Operation, of payment: Payment) throws(Fault) {}

  package func proceed(_ progress: Progress) throws(Fault) -> Outcome {
    throw .unsupportedOperation(name, "payments that wait for their payer")
  }

  package func giveUp(_ progress: Progress) throws(Fault) -> Outcome { try proceed(progress) }

  package func undo(_ progress: Progress) throws(Fault) -> Outcome {
    throw .unsupportedOperation(name, "undoing of a lost request")
  }

  /// Without a statement of its own, a provider is asked by its id.
  package func canLook(at payment: Payment) -> Bool { payment.state.id != nil }

  package func adopt(_ id: String) throws(Fault) -> (kind: Payment.Kind, outcome: Outcome)? { nil }

  package var search: (any SearchFlow)? { nil }
}

/// The orders of any provider, in the type of their own one. No other code casts an order.
extension Provider {
  /// Returns an order in the provider's own type.
  private func own(_ order: any PlacedOrder) throws(Fault) -> Placed {
    guard let own = order as? Placed else {
      throw .bug("an order of another provider than \(name.text)")
    }
    return own
  }

  private func own(_ order: Order?) throws(Fault) -> OrderOf<Placed>? {
    switch order {
    case nil: nil
    case .placed(let order): .placed(try own(order))
    case .capture(let amount): .capture(amount)
    case .cancel(let request): .cancel(request)
    case .refund(let request): .refund(request)
    }
  }

  package func checkReady(for order: Order?, of payment: Payment?) throws(Fault) {
    try checkReady(for: try own(order), of: payment)
  }

  func check(_ order: any PlacedOrder) throws(Fault) { try check(try own(order)) }

  package func preview(_ order: any PlacedOrder) throws(Fault) -> JSONObject {
    try preview(try own(order))
  }

  func perform(_ order: Order?, _ progress: Progress) throws(Fault) -> Outcome {
    try perform(try own(order), progress)
  }
}

extension Fault {
  /// An ability that a provider does not have.
  package static func unsupportedOperation(_ provider: ProviderName, _ what: String) -> Fault {
    Fault(
      .unsupported,
      code: "method_unsupported",
      "\(provider.text) has no \(what)",
      hint: "see: tender providers"
    )
  }
}

/// A search among all of the merchant's payments, however they were made.
package protocol SearchFlow: Sendable {
  /// Returns the payments that match a filter, newest first, among the latest `limit` of the provider's
  /// query.
  ///
  /// `searched` counts the payments that the provider returned. `total` counts all that it has, if it
  /// tells. The rest was not searched. Throws `usage` if the provider cannot search by a member of the filter.
  func find(
    _ filter: PaymentFilter,
    limit: Int
  ) throws(Fault) -> (found: [Outcome], searched: Int, total: Int?)
}

/// The query of a look-up.
package struct LookUp: Sendable, Hashable {
  package var id: String?
  package var reference: Reference?
  /// Ids of other operations, which a search by reference leaves out.
  package var others: [String] = []
  package var kind = Payment.Kind.payment
  /// The ids of the payment's refunds in the journal.
  package var refunds: [String] = []
  /// The sum of the refunds and voided parts in the journal, in minor units. If the provider's sum differs, the
  /// answer lists them.
  package var refunded = 0
  /// The amount in the journal, in minor units.
  package var amount: Int?
  /// Whether the journal has the payment as paid. An answer that says otherwise is an older one.
  package var isPaid = false
  /// Whether the answer may change the journal.
  package var isKnown = false
  /// Whether a request that can move money follows, so that the answer must have all refunds and their sum.
  package var isBeforeSend = false
  /// Whether the journal sent the payer's consent. An answer from before it is an older one.
  package var hasConsent = false
  /// Whether to answer in the form of the operation that made the payment, as `transact` does.
  package var inWordsOfAttempt = false

  package init(id: String? = nil, reference: Reference? = nil) {
    self.id = id
    self.reference = reference
  }
}

/// The result of a look at an operation whose answer was lost.
package enum Finding: Sendable {
  /// The answer names the operation, and has the result of its request.
  case happened(Outcome)
  /// The provider does not show it. That proves nothing: it may still appear.
  case absent
  /// It provably had no effect, and cannot have one later. The fault has the reason.
  case refuted(Fault)
  case cannotLook
}

/// The way to finish an operation whose answer was lost.
package enum Recovery: Sendable, Hashable {
  /// The same request again under the same key, which cannot act twice. `after` is the least time since the
  /// send, in milliseconds.
  case sameKey(after: Int = 0)
  /// A request that undoes every effect of the operation.
  case undo
  /// It may act twice. It is sent again only if a person confirms it, and only with `canResend`.
  case byHand(canResend: Bool)
}
