package import TenderModel

extension Engine {
  /// The arguments of a command besides its order.
  package struct Options: Sendable {
    let newAttempt: Bool
    let idempotencyKey: String?
    let namesProvider: Bool
    /// Whether the command looks the payment up afterwards (`--wait`).
    let isLookedUp: Bool
    /// Whether the provider is asked about a new reference before the first charge.
    let looksFirst: Bool
    /// The ids of payments with the same reference that a person accepted (`--despite-payment`).
    let despitePayments: Set<String>
    /// The largest amounts that move without a typed confirmation, in minor units (`max_amount` of a profile).
    let maxAmounts: [Currency: Int]

    package init(
      newAttempt: Bool = false,
      idempotencyKey: String? = nil,
      namesProvider: Bool = false,
      isLookedUp: Bool = false,
      looksFirst: Bool = false,
      despitePayments: Set<String> = [],
      maxAmounts: [Currency: Int] = [:]
    ) {
      (self.newAttempt, self.idempotencyKey) = (newAttempt, idempotencyKey)
      (self.namesProvider, self.isLookedUp) = (namesProvider, isLookedUp)
      (self.looksFirst, self.despitePayments) = (looksFirst, despitePayments)
      self.maxAmounts = maxAmounts
    }
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
  let options: Engine.Options
  /// Why the order cannot be sent, such as missing credentials. A result that is in the journal is shown
  /// anyway.
  package let lack: Fault?
  /// The largest amounts that move without a typed confirmation; none once it was typed.
  package private(set) var maxAmounts: [Currency: Int]
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

  init(
    order: Order,
    payment: Payment?,
    handle: String,
    options: Engine.Options,
    lack: Fault?
  ) {
    (self.order, self.payment, self.handle) = (order, payment, handle)
    (self.options, self.lack, maxAmounts) = (options, lack, options.maxAmounts)
  }

  /// Records that a person agreed to an amount above the largest one, or that nothing will be sent.
  package mutating func approveAmount() { maxAmounts = [:] }

  /// Records that a person agreed to a second refund without a name.
  package mutating func approveFurther() {
    guard case .refund(var request) = order else { return }
    request.isFurtherApproved = true
    order = .refund(request)
  }

  /// Records the ids of refunds made elsewhere that a person accepted at a terminal.
  package mutating func approveRefundsElsewhere(_ ids: Set<String>) { order.accept(refunds: ids) }
}
