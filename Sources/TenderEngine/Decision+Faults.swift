package import TenderModel

extension Fault {
  /// An amount above the largest one of the profile.
  static func aboveLimit(_ amount: Money, _ most: Int) -> Fault {
    Fault(
      .refused,
      code: "amount_not_confirmed",
      cause: .aboveLimit,
      "\(amount.text) is above max_amount of the profile "
        + "(\(Money(minorUnits: most, currency: amount.currency).text)); nothing was sent",
      hint: "check the amount; at a terminal the same command asks, and a typed yes sends it"
    )
  }
}

/// Faults for refused commands. Each message is true of the payment's money.
extension Payment {
  private var name: String { reference.quotedForMessage }

  /// A conflict. Without a hint or a better step, the step is to look at the journal.
  private func conflict(
    code: String,
    _ message: String,
    hint: String? = nil,
    next: [Next] = []
  ) -> Fault {
    .conflict(code, message, hint)
      .then(next.isEmpty && hint == nil ? self.next(.show) : next)
  }

  func otherContent(_ different: [String]) -> Fault {
    conflict(
      code: "reference_reused",
      "reference \(name) was used with another \(different.joined(separator: ", "))",
      hint: "another payment needs another --reference",
      next: next(.show)
    )
  }

  func attemptStands(_ traits: Traits) -> Fault {
    let steps = next(traits)
    return conflict(
      code: "attempt_stands",
      "reference \(name) already has a payment: \(sentence); nothing was sent",
      hint: steps.isEmpty ? "another payment needs another --reference" : nil,
      next: steps.isEmpty ? next(.show) : steps
    )
  }

  /// Throws `conflict` if a handle is the id of an earlier attempt. A command that changes a payment changes its
  /// newest attempt, which is another charge.
  package func checkNewest(_ id: String) throws(Fault) {
    guard named(by: id).isEarlier else { return }
    throw conflict(
      code: "earlier_attempt",
      "\(id.quotedForMessage) is an earlier attempt of \(name); nothing was sent",
      hint: "\(name) names the newest attempt",
      next: next(.show, named: id)
    )
  }

  /// Throws `conflict` if a handle is the id of a refund or void. A command that changes a payment would change the
  /// whole payment.
  func checkPayment(_ handle: String) throws(Fault) {
    guard let named = operation(named: handle), named.isReversal, cardRefund(named: handle) == nil
    else { return }
    throw conflict(
      code: "not_a_payment",
      "\(handle.quotedForMessage) is the id of a \(named.kind.rawValue) of \(text(of: named)) of \(name), and "
        + "not of a payment; nothing was sent",
      hint: "\(name) names the payment",
      next: next(.show)
    )
  }

  /// A capture where nothing is held. `execute` adds the provider's documented answer.
  func nothingToCapture(_ traits: Traits) -> Fault {
    conflict(
      code: "no_auth",
      "there is no authorization to capture: \(sentence)",
      hint: attempt?.kind == .refund
        ? nil
        : warning
          ?? "to authorize: the same transact command with \(traits.holdOption) and --new-attempt",
      next: isPaidBeside ? next(traits) : []
    ).with { $0.cause = .nothingHeld }
  }

  func captureDiffers(_ capture: Operation) -> Fault {
    conflict(code: "capture_differs", "\(name) was captured with \(text(of: capture))")
  }

  func keyDiffers(_ operation: Operation) -> Fault {
    let what = operation.kind.rawValue.replacing("_", with: " ")
    return conflict(
      code: "key_differs",
      "the \(what) of \(name) has another idempotency key; nothing was sent",
      hint: "to see its result, leave --idempotency-key out"
    )
  }

  func captureExceeds(_ left: Int) -> Fault {
    conflict(
      code: "capture_exceeds",
      "at most \(text(ofMinorUnits: left)) of \(name) can be captured; nothing was sent",
      next: next(.confirm)
    )
  }

  var noPartialCapture: Fault {
    let message = "\(provider.text) cannot capture a part of \(name)"
    return Fault(.unsupported, code: "method_unsupported", message, hint: "leave --amount out")
  }

  /// A cancel of a payment that is cancelled already, or that never took money.
  package var nothingToCancel: Fault {
    conflict(code: "nothing_to_cancel", "there is nothing to cancel: \(sentence)")
  }

  var cannotCancelWaiting: Fault {
    Fault(
      .unsupported,
      code: "cancel_unsupported",
      "\(name) waits for the payer and cannot be cancelled",
      hint: "it expires by itself at the provider"
    )
  }

  var tooLateToCancel: Fault {
    conflict(
      code: "nothing_to_cancel",
      "it is too late to cancel: \(sentence)",
      next: next(state.leftToRefund > 0 && state.isFinal ? .refund(nil, name: nil) : .look)
    ).with { $0.cause = .tooLateToCancel }
  }

  var nothingToRefund: Fault {
    conflict(code: "nothing_to_refund", "there is nothing to refund: \(sentence)")
  }

  var notCaptured: Fault {
    // Others can have captured it.
    conflict(
      code: "nothing_to_refund",
      "\(name) is held, not captured: a hold cannot be refunded in part",
      next: next(.void)
    ).with { $0.cause = .observed }
  }

  func wasPaid(in paid: Currency) -> Fault {
    let hint = "give the amount in it: --currency \(paid.code)"
    return .usage("bad_currency", "\(name) was paid in \(paid.code)", hint)
  }

  func refundDiffers(_ refund: Operation) -> Fault {
    conflict(
      code: "refund_differs",
      "refund \((refund.name ?? "").quotedForMessage) of \(name) is of \(text(of: refund))",
      hint:
        "another refund needs another --\(refund.link == nil ? "refund-reference" : "reference")"
    )
  }

  /// The refusal of a change that a refund with the card does not allow, such as a cancel of one that gave
  /// nothing back.
  func nothing(to change: String, _ refund: Operation) -> Fault {
    let own = (refund.name ?? "").quotedForMessage
    let state = refund.state.name.rawValue
    return conflict(
      code: change == "cancel" ? "nothing_to_cancel" : "nothing_to_refund",
      "there is nothing to \(change): the refund \(own) of \(text(of: refund)) is \(state)"
    )
  }

  /// Returns the refusal of a refund above the amount that is left, in minor units; nil if it fits.
  func refundExceeds(_ amount: Int) -> Fault? {
    let left = state.leftToRefund
    guard left > 0 else {
      let all = " (\(text(ofMinorUnits: state.captured)))"
      if state.status == .cancelled || state.returned > 0 { return nothingToRefund }
      return state.refunding > 0
        ? conflict(code: "refund_exceeds", "all of \(name) is refunded or being refunded" + all)
        : conflict(code: "refund_exceeds", "\(name) is already fully refunded" + all)
    }
    guard amount <= 0 || amount > left else { return nil }
    let isByCard = reversals.contains { $0.link != nil }
    return conflict(
      code: "refund_exceeds",
      "at most \(text(ofMinorUnits: left)) of \(name) can be refunded",
      hint: isByCard ? "give --amount with at most that" : nil,
      next: isByCard ? [] : next(.refund(nil, name: nil))
    )
  }

  func refundNeedsName(_ request: RefundRequest) -> Fault {
    conflict(
      code: "refund_needs_name",
      "\(name) already has a refund of "
        + refundsByAmount.map(text(of:)).joined(separator: " and of ") + "; nothing was sent",
      next: next(.refund(request.amount?.minorUnits, name: "NAME"))
    )
  }

  /// Refuses a refund after a look found the result of an earlier, unknown one. The new refund was not sent.
  func earlierRefundResolved(_ earlier: Operation, _ request: RefundRequest) -> Fault {
    let words =
      switch earlier.state.name {
      case .succeeded: "was made"
      case .processing: "is on its way"
      case .declined: "was declined"
      default: "was not made"
      }
    // A further refund by amount has a name.
    let isFurther = request.amount != nil && !refundsByAmount.isEmpty
    let name = request.name?.text ?? (isFurther ? "NAME" : nil)
    return conflict(
      code: "earlier_refund_resolved",
      "an earlier \(earlier.kind.rawValue) of \(text(of: earlier)) \(words); the refund of "
        + "\(request.amount?.text ?? "what is left") was not sent",
      next: next(.refund(request.amount?.minorUnits, name: name))
    )
  }

  /// The refunds and voids that this journal sent, and that count. One that is only recorded was never sent,
  /// because its process died.
  var reversalsMadeHere: [Operation] {
    reversals.filter { $0.source == nil && $0.isAlive && $0.state != .prepared }
  }

  /// Refuses a cancel of a payment that has a refund. The cancel would not stop the refund.
  var refundNotStopped: Fault {
    let done = reversalsMadeHere.map(text(of:)).joined(separator: " and of ")
    return conflict(
      code: "refund_not_stopped",
      "a refund cannot be stopped: \(name) already has a refund of \(done); nothing was sent",
      next: next(state.leftToRefund > 0 ? .refund(nil, name: nil) : .show)
    ).with { $0.cause = .tooLateToCancel }
  }

  /// Returns the reason why no money of the payment may go back to the payer; nil if it may.
  func reversalForbidden(_ request: RefundRequest) -> Fault? {
    if state.returned > 0 { return nothingToRefund }
    switch state.dispute {
    case .lost?:
      return conflict(
        code: "dispute_lost",
        "\(name) lost its dispute: the payer has the money back already; nothing was sent"
      ).with { $0.cause = .observed }
    case .open? where !request.isDespiteDispute:
      return conflict(
        code: "disputed",
        "\(name) is disputed (\(dispute ?? "")): after a refund and a lost dispute the payer has the money "
          + "twice; nothing was sent",
        hint: "to refund all the same, add --despite-dispute to the same command"
      ).with { ($0.again, $0.cause) = (.operator, .observed) }
    case .open?, nil: break
    }
    // One that failed since was announced with another rest.
    let known = Set(reversals.filter { $0.source != nil && $0.isAlive }.map(\.handle))
    if let typed = request.despiteRefunds.subtracting(known).min() {
      return .usage(
        "bad_value",
        "\(typed.quotedForMessage) is not a refund of \(name) that was made elsewhere, and that counts now; "
          + "nothing was sent"
      ).with { ($0.next, $0.cause) = (next(.show), .observed) }
    }
    let elsewhere = refundsElsewhere.filter { !request.despiteRefunds.contains($0.handle) }
    return elsewhere.isEmpty ? nil : refundedElsewhere(elsewhere)
  }

  /// Refuses a refund or cancel beside a refund that this journal did not make, with the sums of both.
  private func refundedElsewhere(_ elsewhere: [Operation]) -> Fault {
    let others = elsewhere.reduce(0) { $0 + $1.effectiveAmount }
    let own = reversalsMadeHere.reduce(0) { $0 + $1.effectiveAmount }
    let names = elsewhere.map(\.handle)
    let back = elsewhere.allSatisfy { $0.kind == .void } ? "voided" : "refunded"
    let listed = elsewhere.map { refund -> JSON in
      ["id": .string(refund.handle), "amount": .integer(refund.effectiveAmount)]
    }
    return conflict(
      code: "refunded_elsewhere",
      "\(text(ofMinorUnits: others)) of \(name) was \(back) at \(provider.text) and not by this journal "
        + "(\(names.joined(separator: ", "))), which refunded \(text(ofMinorUnits: own)) itself; "
        + "nothing was sent",
      hint: state.leftToRefund == 0
        ? "nothing is left to refund"
        : "\(text(ofMinorUnits: state.leftToRefund)) is left; to refund of that all the same, add "
          + names.map { $0.shellOption("despite-refund") }.joined(separator: " ")
          + " to the same command"
    ).with { fault in
      (fault.again, fault.cause) = (.operator, .refundedElsewhere)
      fault.result = ["refunds": .array(listed)]
    }
  }

  /// Refuses a request that could move another record's money. Journals of earlier versions can have two records of
  /// one payment.
  func sharesID(_ id: String, with holder: Payment) -> Fault {
    .conflict(
      "id_shared",
      "\(id) is the id of two records, \(name) and \(holder.reference.quotedForMessage); "
        + "nothing was sent"
    ).then(holder.next(.show) + next(.resolve("--as holder")))
  }

  /// The provider has another id, amount, currency or reference than was asked for.
  func differs(_ difference: Difference) -> Fault {
    conflict(
      code: "provider_differs",
      "\(provider.text) has \(difference.what) \(difference.there) for \(name), and this journal has "
        + "\(difference.here); nothing was sent",
      next: next(.resolve("--from-provider"))
    ).with { $0.again = .operator }
  }

  /// The payment was voided while a refund or void of it is unknown. The void can be of a part, whose rest is not shown
  /// yet, so that only a person can tell.
  var voidedBeside: Fault {
    let why = "\(name) was voided at \(provider.text), and that is not the \(unknownWords) alone"
    return unknowns.last.map { .leftUnknown(self, $0, why) }
      ?? conflict(code: "provider_differs", why)
  }

  /// Refuses to take money again, because the provider shows a charge of the reference that took it.
  var attemptPaid: Fault {
    let paid = surplus
    let taken = state.surplus > 0 ? "\(text(ofMinorUnits: state.surplus)) " : ""
    return conflict(
      code: "attempt_paid",
      "\(provider.text) shows a charge \(taken)under reference \(name) as paid"
        + (paid.map { " (\($0.handle))" } ?? "") + "; nothing was sent",
      hint: "do not charge it again",
      next: next(.show) + refundOfSurplus
    )
  }

  /// Refuses another attempt of a payment whose money was taken and given back.
  var givenBack: Fault {
    conflict(
      code: "payment_given_back",
      "\(sentence): to charge again, use a new reference; nothing was sent"
    )
  }

  /// The last charge that a look showed beside the current attempt, and that still has its money.
  package var surplus: Operation? {
    operations.last { operation in
      guard operation.isSurplus, operation.state.mayHaveMoney else { return false }
      let back = operations.filter { $0.parent == operation.sequence && $0.hasEffect }
      return back.reduce(0) { $0 + $1.effectiveAmount } < operation.effectiveAmount
    }
  }

  /// Whether a look showed a charge beside the current attempt, whose money was given back since.
  var wasPaidBeside: Bool { operations.contains { $0.isSurplus && $0.state.name != .declined } }

  /// Whether the provider showed money of this reference beside the current attempt.
  package var isPaidBeside: Bool {
    if state.surplus > 0 { return true }
    // A journal of 0.2.0 has only this mark.
    return attempts.contains { attempt in
      attempt.fault?.cause == .seenPaid
        && !operations.contains { $0.isSurplus && $0.id == attempt.id }
    }
  }

  /// The active refunds of an amount without a name, behind which a further one needs a name. A person who names
  /// refunds tells a repetition from a further one.
  package var refundsByAmount: [Operation] {
    reversals.filter { refund in
      refund.isAlive && refund.name == nil && !refund.isRest && refund.source == nil
        && refund.link == nil && refund.state != .prepared
    }
  }

  /// The amount of an operation, with its currency.
  package func text(of operation: Operation) -> String {
    text(ofMinorUnits: operation.effectiveAmount)
  }
}

extension Fault {
  /// There is no payment or mandate with that reference or id.
  package static func unknownHandle(
    _ handle: String,
    _ kind: Payment.Kind = .payment
  ) -> Fault {
    Fault(
      .notFound,
      code: kind == .mandate ? "mandate_not_found" : "payment_not_found",
      "no \(kind.noun) \(handle.quotedForMessage)",
      hint: "another journal (--state-dir, TENDER_JOURNAL) may have it"
    )
  }

  /// A look-up does not show a payment that took money.
  static func notShown(_ payment: Payment) -> Fault {
    Fault(
      .providerError,
      code: "not_shown",
      "\(payment.provider.text) does not show \(payment.reference.quotedForMessage) yet; nothing was sent",
      next: payment.next(.look)
    )
  }

  /// The provider has a payment under a reference that is new here, and it took or may take money.
  static func referenceAtProvider(
    _ key: ReferenceKey,
    _ found: Outcome,
    heldHere: Payment?
  ) -> Fault {
    let (provider, reference) = (key.provider.text, key.reference)
    let id = found.id ?? "a payment without an id"
    let amount = found.money.map { " of \($0.text)" } ?? ""
    let made = found.madeAt.map { " from \(Timestamp.text($0))" } ?? ""
    let status = found.providerStatus ?? found.status.rawValue
    let isHeld = found.status == .requiresConfirmation
    return Fault.conflict(
      "reference_at_provider",
      "\(provider) already has \(id)\(amount) under reference \(reference.quotedForMessage)\(made), "
        + "which is \(status), and this journal does not have it; nothing was sent",
      (isHeld && heldHere == nil ? "a hold cannot be recorded here: end it at \(provider); " : "")
        + "to charge all the same, add \(id.shellOption("despite-payment")) to the same command"
    ).with { fault in
      fault.next = heldHere?.next(.void) ?? (isHeld ? [] : Payment(key: key).next(.adopt(id)))
      fault.again = .operator
      fault.result = [
        "id": found.id?.json, "amount": found.amount?.json, "currency": found.currency?.code.json,
        "created_at": found.madeAt.map { .string(Timestamp.text($0)) }, "status": status.json,
      ]
    }
  }
}
