package import TenderModel

/// Why a command is refused, in sentences that are true of the payment's money.
extension Payment {
  /// The reference as a message has it.
  private var name: String { reference.quotedForMessage }

  /// A conflict, whose hint is to look at the payment where there is no better one.
  private func conflict(code: String, _ message: String, hint: String? = nil) -> Fault {
    let look = "see: tender journal show \(shellReference)"
    return .conflict(code, message, hint ?? look)
  }

  func otherContent(_ different: [String]) -> Fault {
    conflict(
      code: "reference_reused",
      "reference \(name) was used with another \(different.joined(separator: ", "))",
      hint: "use another --reference, or see: tender journal show \(shellReference)"
    )
  }

  var attemptStands: Fault {
    conflict(
      code: "attempt_stands",
      "reference \(name) already has a payment that is \(state.status.rawValue)",
      hint: "--new-attempt is for declined, cancelled and expired ones; use another --reference"
    )
  }

  /// A capture of something that is not held, with the provider's documented words for it.
  func nothingToCapture(_ traits: Traits) -> Fault {
    var fault = conflict(
      code: "no_auth",
      "there is no authorization to capture: \(sentence)",
      hint: "to authorize: the same transact command with \(traits.holdOption) and --new-attempt"
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
      hint: "leave --idempotency-key out to see what it came to"
    )
  }

  func captureExceeds(_ left: Int) -> Fault {
    conflict(
      code: "capture_exceeds",
      "\(text(ofMinorUnits: left)) of \(name) can be captured",
      hint: "use --amount with at most that"
    )
  }

  var noPartialCapture: Fault {
    let message = "\(provider.text) cannot capture a part of \(name)"
    return Fault(.unsupported, code: "method_unsupported", message, hint: "leave --amount out")
  }

  /// A cancel of something that is cancelled already, or never was.
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
    fault.hint = state.leftToRefund > 0 ? refund : nil
    fault.cause = .tooLateToCancel
    return fault
  }

  var nothingToRefund: Fault {
    conflict(code: "nothing_to_refund", "there is nothing to refund: \(sentence)")
  }

  var notCaptured: Fault {
    conflict(
      code: "nothing_to_refund",
      "\(name) is held, not captured: a part of it cannot be refunded",
      hint: "to release all of it: tender cancel \(shellReference)"
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
      hint: "another refund needs another --refund-reference"
    )
  }

  /// A refund of an amount in minor units that is not left; nil where it is.
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

  /// Another command's refund was unknown and is known now: this one was not sent.
  func earlierRefundResolved(_ earlier: Operation, _ request: RefundRequest) -> Fault {
    let words =
      switch earlier.state.name {
      case .succeeded: "was made"
      case .processing: "is on its way"
      case .declined: "was declined"
      default: "was not made"
      }
    let amount = request.amount.map { " --amount \($0.decimalText)" } ?? ""
    let name = request.name.map { " --refund-reference \($0.text.shellQuoted)" } ?? ""
    return conflict(
      code: "earlier_refund_resolved",
      "an earlier \(earlier.kind.rawValue) of \(text(of: earlier)) \(words); the refund of "
        + "\(request.amount?.text ?? "what is left") was not sent",
      hint: "to send it now: tender refund \(shellReference)\(amount)\(name)"
    )
  }

  /// A refund was refused, and the provider shows one that this journal does not know.
  func refusedRefundFound(_ amount: Int, isPending: Bool) -> Fault {
    conflict(
      code: "earlier_refund_resolved",
      "an earlier refund of \(name) was refused, and \(provider.text) shows a refund of "
        + "\(text(ofMinorUnits: amount)) that this journal does not know"
        + "\(isPending ? ", on its way" : ""); nothing was sent",
      hint: isPending
        ? "wait until it has ended: tender payment-status \(shellReference)"
        : "it counts as refunded now: tender payment-status \(shellReference) shows what is left"
    )
  }

  /// The refunds in use that were asked for by an amount without a name.
  package var unnamedRefunds: [Operation] {
    reversals.filter { $0.isAlive && $0.name == nil && !$0.isRest }
  }

  /// What an operation did or does, in words.
  package func text(of operation: Operation) -> String {
    text(ofMinorUnits: operation.effectiveAmount)
  }
}

extension Fault {
  /// No payment by that reference or id.
  package static func unknownHandle(_ handle: String) -> Fault {
    Fault(
      .notFound,
      code: "payment_not_found",
      "no payment \(handle.quotedForMessage)",
      hint: "a reference or an id; see: tender journal list"
    )
  }
}

extension Payment {
  /// The reference as a shell takes it.
  package var shellReference: String { reference.text.shellQuoted }

  /// The reference under which an unknown result is found out, as a shell takes it: a refund at the reader has one of
  /// its own.
  package var unknownReference: String {
    unknowns.first?.link.map { $0.text.shellQuoted } ?? shellReference
  }

  /// What it is, in a sentence that is true of its money.
  package var sentence: String {
    let name = reference.quotedForMessage
    let state = state
    let amount = state.amount.map { text(ofMinorUnits: $0) } ?? "it"
    if kind == .storedMethod { return "\(name) is a stored payment method" }
    switch state.status {
    case .requiresConfirmation: return "\(amount) of \(name) is held, not captured"
    case .requiresAction: return "\(name) waits for its payer"
    case .pending: return "\(name) is pending"
    case .authorized: return "the mandate \(name) is authorized"
    case .succeeded:
      return
        "\(amount) of \(name) was \(attempt?.kind == .refund ? "refunded to the card" : "paid")"
    case .declined: return "\(name) was declined, and nothing was charged"
    case .cancelled: return "\(name) is cancelled"
    case .refunded: return "\(text(ofMinorUnits: state.refunded)) of \(name) was paid and refunded"
    case .partiallyRefunded:
      return "\(amount) of \(name) was paid and \(text(ofMinorUnits: state.refunded)) refunded"
    case .returned:
      return "\(text(ofMinorUnits: state.returned)) of \(name) was returned by the bank"
    case .expired: return "\(name) has expired"
    case .revoked: return "the mandate \(name) was revoked"
    case .failed: return "\(name) failed, and nothing was charged"
    case .unknown: return "the result of \(name) is unknown"
    }
  }
}

extension String {
  /// The text as one word of a POSIX shell.
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
}
