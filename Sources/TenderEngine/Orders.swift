package import TenderModel

/// A command's request to a provider, with any provider's order.
package typealias Order = OrderOf<any PlacedOrder>

/// A command's request to a provider whose payments begin with `Placed`.
package enum OrderOf<Placed: Sendable>: Sendable {
  /// Begins a payment.
  case placed(Placed)
  /// Captures a hold, or continues a payment that waits for its payer. The amount is a part of the hold.
  case capture(Money?)
  /// Releases a hold, or undoes a capture, depending on the payment.
  case cancel(RefundRequest = RefundRequest())
  case refund(RefundRequest)
}

extension Order {
  /// The order that is recorded; nil for a change of an earlier order's payment.
  var placed: (any PlacedOrder)? {
    if case .placed(let order) = self { order } else { nil }
  }

  /// The refund of a `refund`, or of a `cancel` after capture; nil for any other order.
  var reversal: RefundRequest? {
    switch self {
    case .cancel(let request), .refund(let request): request
    case .placed, .capture: nil
    }
  }

  /// Adds to its refund what a person knows and accepts: refunds made elsewhere, and a dispute.
  package mutating func accept(refunds: Set<String>, dispute: Bool = false) {
    guard var request = reversal else { return }
    request.despiteRefunds.formUnion(refunds)
    request.isDespiteDispute = request.isDespiteDispute || dispute
    if case .cancel = self { self = .cancel(request) } else { self = .refund(request) }
  }

  /// The reference of a new payment; nil for a change of an earlier order's payment.
  package var reference: Reference? { placed?.reference }

  /// The question before it is sent; nil for a change of an earlier order's payment.
  package var question: String? { placed?.question }

  package var kind: Operation.Kind {
    switch self {
    case .placed(let order): order.operation
    case .capture: .capture
    case .cancel: .void
    case .refund: .refund
    }
  }
}

/// An order that begins a payment. Each provider has its own.
package protocol PlacedOrder: Sendable {
  var reference: Reference { get }
  var makes: Payment.Kind { get }
  var operation: Operation.Kind { get }
  /// The whole amount in minor units.
  var total: Int? { get }
  var currency: Currency? { get }
  /// The members that must match in two orders under one reference.
  var content: JSONObject { get }
  var card: Instrument? { get }
  var question: String { get }
  /// The payment that a refund with the card gives money back of, if the journal has it. The refund is an
  /// operation of that payment.
  var refundOf: Reference? { get }
}

extension PlacedOrder {
  package var card: Instrument? { nil }

  package var refundOf: Reference? { nil }

  /// Returns the operation of the order, before it is recorded. With `isRefund`, it is an operation of the
  /// original payment, and has the order's reference as its name.
  func draft(isRefund: Bool, at time: Int) -> Operation {
    var draft = Operation(operation, amount: total, at: time)
    if isRefund {
      (draft.link, draft.name) = (reference, reference.text)
    } else {
      draft.content = content
    }
    return draft
  }

  /// Sets the order's facts on the payment. The card of an earlier attempt is cleared.
  func describe(_ payment: inout Payment) {
    (payment.kind, payment.currency) = (makes, currency)
    (payment.lastFour, payment.brand) = (card?.lastFour, nil)
  }

  /// Returns the question about an amount, such as `charge 10.50 USD under reference A-1`.
  package func priced(_ verb: String, _ amount: Money) -> String {
    "\(verb) \(amount.text) under reference \(reference.text)"
  }
}

/// The request of `refund`, or of a `cancel` after capture.
package struct RefundRequest: Sendable {
  /// The amount; nil for all that is left.
  package var amount: Money?
  /// The operator's name for it (`--refund-reference`). The same name is the same refund.
  package var name: Reference?
  /// The text on the payer's statement; nil for one made from the payment's reference.
  package var statement: String?
  package var reason: String?
  /// Whether a person agreed to a second refund without a name.
  package var isFurtherApproved = false
  /// Whether a person agreed that the payer may have disputed money twice (`--despite-dispute`).
  package var isDespiteDispute = false
  /// The ids of refunds made elsewhere that a person accepted (`--despite-refund`).
  package var despiteRefunds: Set<String> = []

  /// Creates a refund. Without an amount, it is of all that is left.
  package init(
    amount: Money? = nil,
    name: Reference? = nil,
    statement: String? = nil,
    reason: String? = nil
  ) {
    self.amount = amount
    self.name = name
    self.statement = statement
    self.reason = reason
  }

  /// Whether this asks for an earlier refund again: the same name and amount.
  func isSame(as refund: Operation) -> Bool {
    refund.name == name?.text
      && (amount.map { $0.minorUnits == refund.amount && (name != nil || !refund.isRest) }
        ?? refund.isRest)
  }
}
