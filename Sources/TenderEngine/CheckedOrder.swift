package import TenderModel

extension Engine {
  /// The arguments of a command besides its order.
  package struct Options: Sendable {
    package var newAttempt = false
    package var idempotencyKey: String?
    package var namesProvider = false
    /// Whether the command looks the payment up afterwards (`--wait`).
    package var isLookedUp = false
    /// Whether the provider is asked about a new reference before the first charge.
    package var looksFirst = false
    /// The ids of payments with the same reference that a person accepted (`--despite-payment`).
    package var despitePayments: Set<String> = []
    /// The largest amounts that move without a typed confirmation, in minor units (`max_amount` of a profile). An
    /// order has none once it was typed.
    package var maxAmounts: [Currency: Int] = [:]

    package init() {}
  }
}

/// An order that passed its checks, with the payment that it changes. `Engine.execute` takes nothing else.
package struct CheckedOrder: Sendable {
  package internal(set) var order: Order
  /// The payment that the order changes, as it was before its lock was taken; nil for a new one, or one made
  /// elsewhere.
  package let payment: Payment?
  /// The reference or id that the operator typed for that payment; empty for an order that begins one.
  package let handle: String
  package private(set) var options: Engine.Options
  /// Why the order cannot be sent, such as missing credentials. A result that is in the journal is shown
  /// anyway.
  package let lack: Fault?
  /// Whether the process that works on the payment was asked to stop.
  var isUnderWay = false
  /// The operation of an order that begins a payment, once `execute` has made it.
  var draft: Operation?
  /// The payment with its first attempt, to be recorded if the reference is new.
  var first: Payment?

  var terms: OpeningTerms {
    OpeningTerms(
      namesProvider: options.namesProvider,
      hasOwnKey: order.placed != nil && options.idempotencyKey != nil
    )
  }

  /// Whether the command undoes a payment. If the recovery of a lost request undid it, the command is done.
  var undoes: Bool { if case .cancel = order { true } else { false } }

  /// The order that the provider gets at the first send; nil if the journal alone has all the data.
  var sent: Order? { order.placed == nil ? order.reversal.map(Order.refund) : order }

  /// Records that a person agreed to an amount above the largest one, or that nothing will be sent.
  package mutating func approveAmount() { options.maxAmounts = [:] }

  /// Records that a person agreed to a second refund without a name.
  package mutating func approveFurther() {
    guard case .refund(var request) = order else { return }
    request.isFurtherApproved = true
    order = .refund(request)
  }

  /// Records the ids of refunds made elsewhere that a person accepted at a terminal.
  package mutating func approveRefundsElsewhere(_ ids: Set<String>) { order.accept(refunds: ids) }
}
