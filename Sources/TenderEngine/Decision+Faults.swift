package import TenderModel

/// Why a command is refused, in sentences that are true of the payment's money.
extension Fault {
  private static func conflict(
    _ code: String,
    _ message: String,
    hint: String? = nil,
    result: JSONObject? = nil
  ) -> Fault {
    Fault(.conflict, code: code, message, hint: hint, result: result)
  }

  static func otherContent(_ payment: Payment, different: [String]) -> Fault {
    conflict(
      "reference_reused",
      "reference \(payment.reference.quotedForMessage) was used with another "
        + different.joined(separator: ", "),
      hint: "use another --reference, or see: tender journal show \(payment.shellReference)"
    )
  }

  static func attemptStands(_ payment: Payment) -> Fault {
    conflict(
      "attempt_stands",
      "reference \(payment.reference.quotedForMessage) already has a payment that is "
        + payment.state.status.rawValue,
      hint: "--new-attempt is for declined, cancelled and expired ones; use another --reference"
    )
  }

  /// A capture of something that is not held, with the provider's documented words for it.
  static func nothingToCapture(_ payment: Payment, _ traits: Traits) -> Fault {
    Fault(
      .conflict,
      code: "no_auth",
      cause: .nothingHeld,
      "there is no authorization to capture: \(payment.sentence)",
      hint: "to authorize: the same transact command with \(traits.holdOption) and --new-attempt"
    )
  }

  static func captureDiffers(_ payment: Payment, _ capture: Operation) -> Fault {
    conflict(
      "capture_differs",
      "\(payment.reference.quotedForMessage) was captured with "
        + payment.text(ofMinorUnits: capture.effectiveAmount),
      hint: "see: tender journal show \(payment.shellReference)"
    )
  }

  static func keyDiffers(_ payment: Payment, _ operation: Operation) -> Fault {
    conflict(
      "key_differs",
      "the \(operation.kind.rawValue.replacing("_", with: " ")) of \(payment.reference.quotedForMessage) "
        + "has another idempotency key; nothing was sent",
      hint: "leave --idempotency-key out to see what it came to"
    )
  }

  static func captureExceeds(_ payment: Payment, left: Int) -> Fault {
    conflict(
      "capture_exceeds",
      "\(payment.text(ofMinorUnits: left)) of \(payment.reference.quotedForMessage) can be captured",
      hint: "use --amount with at most that"
    )
  }

  static func noPartialCapture(_ payment: Payment) -> Fault {
    Fault(
      .unsupported,
      code: "method_unsupported",
      "\(payment.provider.text) cannot capture a part of \(payment.reference.quotedForMessage)",
      hint: "leave --amount out"
    )
  }

  /// A cancel of something that is cancelled already, or never was.
  package static func nothingToCancel(_ payment: Payment) -> Fault {
    conflict(
      "nothing_to_cancel",
      "there is nothing to cancel: \(payment.sentence)",
      hint: "see: tender journal show \(payment.shellReference)"
    )
  }

  static func cannotCancelWaiting(_ payment: Payment) -> Fault {
    Fault(
      .unsupported,
      code: "cancel_unsupported",
      "\(payment.reference.quotedForMessage) waits for the payer and cannot be cancelled",
      hint: "it expires by itself at the provider"
    )
  }

  static func tooLateToCancel(_ payment: Payment) -> Fault {
    Fault(
      .conflict,
      code: "nothing_to_cancel",
      cause: .tooLateToCancel,
      "it is too late to cancel: \(payment.sentence)",
      hint: payment.state.leftToRefund > 0
        ? "to refund it: tender refund \(payment.shellReference)" : nil
    )
  }

  static func nothingToRefund(_ payment: Payment) -> Fault {
    conflict(
      "nothing_to_refund",
      "there is nothing to refund: \(payment.sentence)",
      hint: "see: tender journal show \(payment.shellReference)"
    )
  }

  static func notCaptured(_ payment: Payment) -> Fault {
    conflict(
      "nothing_to_refund",
      "\(payment.reference.quotedForMessage) is held, not captured: a part of it cannot be refunded",
      hint: "to release all of it: tender cancel \(payment.shellReference)"
    )
  }

  static func otherCurrency(_ payment: Payment, _ paid: Currency) -> Fault {
    Fault(
      .usage,
      code: "bad_currency",
      "\(payment.reference.quotedForMessage) was paid in \(paid.code)",
      hint: "give the amount in it: --currency \(paid.code)"
    )
  }

  static func refundDiffers(_ payment: Payment, _ refund: Operation) -> Fault {
    conflict(
      "refund_differs",
      "refund \((refund.name ?? "").quotedForMessage) of \(payment.reference.quotedForMessage) is of "
        + payment.text(ofMinorUnits: refund.effectiveAmount),
      hint: "another refund needs another --refund-reference"
    )
  }

  static func fullyRefunded(_ payment: Payment) -> Fault {
    let state = payment.state
    let words =
      state.refunding > 0
      ? "all of \(payment.reference.quotedForMessage) is refunded or being refunded"
      : "\(payment.reference.quotedForMessage) is already fully refunded"
    return conflict(
      "refund_exceeds",
      words + " (\(payment.text(ofMinorUnits: state.captured)))",
      hint: "see: tender journal show \(payment.shellReference)"
    )
  }

  static func refundExceeds(_ payment: Payment, left: Int) -> Fault {
    conflict(
      "refund_exceeds",
      "at most \(payment.text(ofMinorUnits: left)) of \(payment.reference.quotedForMessage) can be refunded",
      hint: payment.reversals.contains { $0.link != nil }
        ? "give --amount with at most that"
        : "to refund all of that: tender refund \(payment.shellReference)"
    )
  }

  static func refundNeedsName(_ payment: Payment, _ request: RefundRequest) -> Fault {
    let done = payment.reversals.filter { $0.isAlive && $0.name == nil && !$0.isRest }
      .map { payment.text(ofMinorUnits: $0.effectiveAmount) }
    return conflict(
      "refund_needs_name",
      "\(payment.reference.quotedForMessage) already has a refund of "
        + done.joined(separator: " and of ") + "; nothing was sent",
      hint: "for a further refund: tender refund \(payment.shellReference) --amount "
        + "\(request.amount?.decimalText ?? "AMOUNT") --refund-reference NAME"
    )
  }

  /// Another command's refund was unknown and is known now: this one was not sent.
  static func earlierRefundResolved(
    _ payment: Payment,
    _ earlier: Operation,
    _ request: RefundRequest
  ) -> Fault {
    let asked = request.amount?.text ?? "what is left"
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
      "earlier_refund_resolved",
      "an earlier \(earlier.kind.rawValue) of \(payment.text(ofMinorUnits: earlier.effectiveAmount)) \(words); the refund of "
        + "\(asked) was not sent",
      hint: "to send it now: tender refund \(payment.shellReference)\(amount)\(name)"
    )
  }

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
    case .returned: return "\(amount) of \(name) was returned by the bank"
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
