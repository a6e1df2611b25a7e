import TenderModel

/// A payment in words and in suggested commands.
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
    case .declined where isPaidBeside:
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
