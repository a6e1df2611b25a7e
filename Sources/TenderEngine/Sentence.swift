import TenderModel

/// A payment in words and in suggested commands.
extension Payment {
  /// The reference of the unknown operation, quoted for a shell. A refund at the reader has a separate
  /// reference.
  package var unknownReference: String {
    (unknowns.first?.ownReference ?? reference).text.shellOperand
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
    case .declined where isPaidBeside:
      return "\(payment) was declined, and \(provider.text) showed it as paid later"
    case .declined:
      return observed.providerStatus.map {
        "\(payment) was declined, and \(provider.text) has it as \($0) now"
      }
        ?? "\(payment) was declined, and nothing was charged"
    case .cancelled: return "\(payment) is cancelled"
    case .refunded, .partiallyRefunded:
      let paid = attempt?.state.name == .processing ? "is pending" : "was paid"
      let back = state.voidedParts == state.refunded ? "voided" : "refunded"
      let part = state.status == .refunded ? "" : text(ofMinorUnits: state.refunded) + " "
      return "\(amount) of \(name) \(paid) and \(part)\(back)"
    case .returned:
      return "\(text(ofMinorUnits: state.returned)) of \(name) was returned by the bank"
    case .expired: return "\(name) has expired"
    case .revoked: return "the mandate \(name) was revoked"
    case .failed: return "\(payment) failed, and nothing was charged"
    case .unknown: return "the result of \(payment) is unknown"
    }
  }
}
