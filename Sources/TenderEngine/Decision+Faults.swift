package import TenderModel

/// Faults for refused commands. Each message is true of the payment's money.
extension Payment {
  private var name: String { reference.quotedForMessage }

  /// A conflict. Without a better hint, the hint is to look at the payment.
  private func conflict(code: String, _ message: String, hint: String? = nil) -> Fault {
    let look = "see: tender journal show \(shellReference)"
    return .conflict(code, message, hint ?? look)
  }

  func otherContent(_ different: [String]) -> Fault {
    conflict(
      code: "reference_reused",
      "reference \(name) was used with another \(different.joined(separator: ", "))",
      hint:
        "to see that payment: tender journal show \(shellReference); another payment needs another "
        + "--reference"
    )
  }

  var attemptStands: Fault {
    conflict(
      code: "attempt_stands",
      "reference \(name) already has a payment: \(sentence); nothing was sent",
      hint: nextStep
    )
  }

  /// Throws `conflict` if a handle is the id of an earlier attempt. A command that changes a payment changes its
  /// newest attempt, which is another charge.
  package func checkNewest(_ id: String) throws(Fault) {
    guard named(by: id).isEarlier else { return }
    throw conflict(
      code: "earlier_attempt",
      "\(id.quotedForMessage) is an earlier attempt of \(name); nothing was sent",
      hint:
        "to look at it: tender payment-status \(id.shellOperand); \(shellReference) names the newest attempt"
    )
  }

  /// The commands that can follow in the payment's current state.
  private var nextStep: String {
    switch state.status {
    case .requiresConfirmation where kind == .payment:
      "to charge it: tender confirm \(shellReference); to release it: tender cancel \(shellReference)"
    case .requiresAction, .pending, .authorized, .requiresConfirmation:
      "to see how it ends: tender \(kind.noun)-status \(shellReference)"
    default:
      "to see it: tender journal show \(shellReference); another payment needs another --reference"
    }
  }

  /// A capture where nothing is held. `execute` adds the provider's documented answer.
  func nothingToCapture(_ traits: Traits) -> Fault {
    var fault = conflict(
      code: "no_auth",
      "there is no authorization to capture: \(sentence)",
      hint: attempt?.kind == .refund
        ? nil
        : seenPaidHint
          ?? "to authorize: the same transact command with \(traits.holdOption) and --new-attempt"
    )
    fault.cause = .nothingHeld
    return fault
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
      hint: "to capture all of that: tender confirm \(shellReference)"
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
    let refund = "to refund it: tender refund \(shellReference)"
    var fault = conflict(code: "nothing_to_cancel", "it is too late to cancel: \(sentence)")
    let look = "to look only: tender payment-status \(shellReference)"
    fault.hint = state.leftToRefund > 0 && state.isFinal ? refund : look
    fault.cause = .tooLateToCancel
    return fault
  }

  var nothingToRefund: Fault {
    conflict(code: "nothing_to_refund", "there is nothing to refund: \(sentence)")
  }

  var notCaptured: Fault {
    conflict(
      code: "nothing_to_refund",
      "\(name) is held, not captured: a hold cannot be refunded in part",
      hint: "to release the whole amount: tender cancel \(shellReference)"
    )
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
    return conflict(
      code: "refund_exceeds",
      "at most \(text(ofMinorUnits: left)) of \(name) can be refunded",
      hint: reversals.contains { $0.link != nil }
        ? "give --amount with at most that"
        : "to refund all of that: tender refund \(shellReference)"
    )
  }

  func refundNeedsName(_ request: RefundRequest) -> Fault {
    conflict(
      code: "refund_needs_name",
      "\(name) already has a refund of "
        + unnamedRefunds.map(text(of:)).joined(separator: " and of ") + "; nothing was sent",
      hint: "for a further refund: tender refund \(shellReference) --amount "
        + "\(request.amount?.decimalText ?? "AMOUNT") --refund-reference NAME"
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
    let amount = request.amount.map { " --amount \($0.decimalText)" } ?? ""
    // A further refund by amount has a name.
    let isFurther = request.amount != nil && !unnamedRefunds.isEmpty
    let name =
      request.name.map { " " + $0.text.shellOption("refund-reference") }
      ?? (isFurther ? " --refund-reference NAME" : "")
    return conflict(
      code: "earlier_refund_resolved",
      "an earlier \(earlier.kind.rawValue) of \(text(of: earlier)) \(words); the refund of "
        + "\(request.amount?.text ?? "what is left") was not sent",
      hint: "to send it now: tender refund \(shellReference)\(amount)\(name)"
    )
  }

  /// Refuses a refund because the provider shows another one that this journal does not have.
  ///
  /// That one may be an earlier refund that the provider refused.
  func refusedRefundFound(_ amount: Int, isPending: Bool) -> Fault {
    conflict(
      code: "earlier_refund_resolved",
      "an earlier refund of \(name) was refused, and \(provider.text) shows a refund of "
        + "\(text(ofMinorUnits: amount)) that this journal does not know"
        + "\(isPending ? ", on its way" : ""); nothing was sent",
      hint: isPending
        ? "wait until it has ended: tender payment-status \(shellReference)"
        : "it counts as refunded now: tender payment-status \(shellReference) shows what is left. A further "
          + "refund needs another --refund-reference"
    )
  }

  /// Refuses another attempt, because the provider shows the declined one as paid.
  var declinedIsPaid: Fault {
    let what = isEarlier ? "attempt \(attempt?.number ?? 1) of \(name)" : name
    return conflict(
      code: "attempt_paid",
      "\(what) was declined, and \(provider.text) shows it as paid now; nothing was sent",
      hint:
        "refund it at \(provider.text), or keep it: tender payment-status \(shellLookUp) shows it"
    )
  }

  /// Whether a look-up showed the declined attempt as paid.
  var wasSeenPaid: Bool { attempt?.fault?.cause == .seenPaid }

  /// The next step after a look-up showed a declined attempt as paid; nil if none did.
  package var seenPaidHint: String? { attempts.last { $0.fault?.cause == .seenPaid }?.fault?.hint }

  /// Records that a look-up showed the declined attempt as paid. It stays declined, and is not tried again.
  mutating func markSeenPaid() throws(Fault) {
    guard let attempt, attempt.state.name == .declined, !wasSeenPaid else { return }
    // An attempt that an operator resolved has no error yet.
    var fault =
      attempt.fault ?? Fault(.declined, code: "declined", "the payment \(name) is declined")
    fault.cause = .seenPaid
    fault.hint =
      "do not charge it again: \(provider.text) showed it as paid; to look only: "
      + "tender payment-status \(shellLookUp)"
    try change(attempt.sequence) { $0.fault = fault }
  }

  /// The active refunds that have an amount and no name.
  package var unnamedRefunds: [Operation] {
    reversals.filter { $0.isAlive && $0.name == nil && !$0.isRest }
  }

  /// The amount of an operation, with its currency.
  package func text(of operation: Operation) -> String {
    text(ofMinorUnits: operation.effectiveAmount)
  }
}

extension Fault {
  /// There is no payment with that reference or id.
  package static func unknownHandle(_ handle: String) -> Fault {
    Fault(
      .notFound,
      code: "payment_not_found",
      "no payment \(handle.quotedForMessage)",
      hint: "another journal (--state-dir, TENDER_JOURNAL) may have it; see: tender journal list"
    )
  }
}

extension Payment {
  package var shellReference: String { reference.text.shellOperand }

  /// The operand of a look-up: the reference, or the id of an earlier attempt.
  var shellLookUp: String {
    isEarlier ? (attempt?.id ?? reference.text).shellOperand : shellReference
  }

  /// The reference of the unknown operation, quoted for a shell. A refund at the reader has a separate
  /// reference.
  package var unknownReference: String {
    unknowns.first?.ownReference.map { $0.text.shellOperand } ?? shellReference
  }

  /// A sentence about the payment that is true of its money.
  package var sentence: String {
    let name = reference.quotedForMessage
    let state = state
    let amount = state.amount.map { text(ofMinorUnits: $0) } ?? "it"
    let payment = state.amount == nil ? name : "\(amount) of \(name)"
    if kind == .storedMethod { return "\(name) is a stored payment method" }
    let isRefund = attempt?.kind == .refund
    if isRefund, state.status.isOver || state.status == .failed {
      return "the \(amount) refund \(name) is \(state.status.rawValue), and nothing was refunded"
    }
    switch state.status {
    case .requiresConfirmation: return "\(amount) of \(name) is held, not captured"
    case .requiresAction: return "\(payment) waits for its payer"
    case .pending:
      return attempt?.state.name == .prepared
        ? "\(name) was recorded, and nothing was sent" : "\(payment) is pending"
    case .authorized: return "the mandate \(name) is authorized"
    case .succeeded:
      return
        "\(amount) of \(name) was \(isRefund ? "refunded to the card" : "paid")"
    case .declined where wasSeenPaid:
      return "\(payment) was declined, and \(provider.text) showed it as paid later"
    case .declined:
      return observed.providerStatus.map {
        "\(payment) was declined, and \(provider.text) has it as \($0) now"
      }
        ?? "\(payment) was declined, and nothing was charged"
    case .cancelled: return "\(payment) is cancelled"
    case .refunded: return "\(text(ofMinorUnits: state.refunded)) of \(name) was paid and refunded"
    case .partiallyRefunded:
      return "\(amount) of \(name) was paid and \(text(ofMinorUnits: state.refunded)) refunded"
    case .returned:
      return "\(text(ofMinorUnits: state.returned)) of \(name) was returned by the bank"
    case .expired: return "\(name) has expired"
    case .revoked: return "the mandate \(name) was revoked"
    case .failed: return "\(payment) failed, and nothing was charged"
    case .unknown: return "the result of \(payment) is unknown"
    }
  }
}

extension String {
  /// The text, quoted as one argument of a POSIX shell.
  package var shellQuoted: String {
    let isPlain =
      !isEmpty && first != "-"
      && unicodeScalars.allSatisfy { scalar in
        scalar.isASCII
          && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || "-_.:/@%+,".unicodeScalars.contains(scalar))
      }
    return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
  }

  /// The text as the ID operand of a suggested command. An id with a leading dash would be read as an option.
  package var shellOperand: String { hasPrefix("-") ? "--id=\(shellQuoted)" : shellQuoted }

  /// The text as the value of an option of a suggested command.
  package func shellOption(_ name: String) -> String {
    "--\(name)\(hasPrefix("-") ? "=" : " ")\(shellQuoted)"
  }
}
