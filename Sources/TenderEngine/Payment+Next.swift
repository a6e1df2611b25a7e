package import TenderModel

/// The steps that can follow. No other code chooses one by a payment's state, or writes its command.
extension Payment {
  /// Returns the steps that can follow in the payment's state, the safest first; none if nothing is left to do.
  ///
  /// A provider that cannot be asked has no look. A lost request ends as its recovery allows.
  package func next(_ traits: Traits) -> [Next] {
    let sight = next(traits.canLookUp ? .look : .show, named: isEarlier ? reference.text : nil)
    if isEarlier { return sight }
    if state.isUnknown { return (traits.canLookUp ? sight : []) + waysOut(traits) }
    if mustNotCharge { return sight + refundOfSurplus }
    let wait = traits.canLookUp ? next(.wait) : []
    switch state.status {
    case .requiresConfirmation: return next(.confirm) + next(.void)
    case .requiresAction: return traits.hasPayerFlow ? sight + next(.confirm) : wait
    case .pending where attempt?.state == .prepared: return next(.again)
    case .pending: return isSuspended ? next(.void) : wait
    case .authorized: return kind == .mandate ? [] : wait
    case .declined, .cancelled, .expired:
      let isStopped = kind == .mandate && state.status == .cancelled
      // It can have ended before anything was sent.
      let step = attempt?.state.name == .failed ? Next.Step.again : .newAttempt
      return isStopped || isFollowed ? [] : next(step)
    case .failed: return next(state.nextAction == nil ? .again : .confirm)
    case .succeeded, .partiallyRefunded: return state.refunding > 0 ? wait : []
    case .refunded, .returned, .revoked, .unknown: return []
    }
  }

  /// What to know before any of these steps; nil without it.
  package var warning: String? {
    if isEarlier { return nil }
    if let lost = unknowns.last {
      return "do not make another \(lost.kind == .refund ? "refund" : "payment")"
    }
    return mustNotCharge ? "do not charge it again" : isSuspended ? "ask the acquirer" : nil
  }

  /// Whether a capture or another attempt would take money a second time.
  private var mustNotCharge: Bool {
    isPaidBeside && (state.status.isOver || state.status == .failed || state.isHeld)
  }

  /// Whether the acquirer has accepted a sale and not processed it.
  package var isSuspended: Bool { state.status == .pending && attempt?.approved == 0 }

  /// Whether a capture, void, refund or revocation of its attempt succeeded.
  package var isFollowed: Bool { followers.contains { $0.state.name == .succeeded } }

  /// The refund of a charge that a look showed beside the current attempt.
  var refundOfSurplus: [Next] {
    surplus.map { upTo($0.sequence).next(.refund(nil, name: nil)) } ?? []
  }

  /// Returns one step about the payment. A handle can name one of its operations.
  package func next(_ step: Next.Step, named handle: String? = nil) -> [Next] {
    let name = handle ?? (isEarlier ? attempt?.id : nil) ?? reference.text
    return [Next(step, of: place, to: effect(of: step), command(of: step, name.shellOperand))]
  }

  /// The steps that end the lost requests.
  private func waysOut(_ traits: Traits) -> [Next] {
    let ways = unknowns.map { (operation: $0, recovery: traits.recovery($0, self)) }
      .filter { $0.recovery != .byHand(canResend: false) }
    guard !ways.isEmpty else { return next(.resolve("--as STATUS")) }
    let effects = ways.map { effect(of: $0.operation, by: $0.recovery, traits) }
    let step = ways.contains { $0.recovery == .undo } ? Next.Step.undo : .finish
    let end = effects.joined(separator: " and ")
    return [Next(step, of: place, to: end, command(of: step, unknownReference))]
  }

  /// What the end of a lost request does to the payer's money at its provider.
  private func effect(of lost: Operation, by recovery: Recovery, _ traits: Traits) -> String {
    switch recovery {
    case .sameKey where traits.hasPayerFlow && lost.isAttempt:
      return "go on with the \(words(for: lost)), which its payer authorizes"
    case .undo where lost.isAttempt && lost.kind != .refund:
      return "undo the sale" + amount(of: lost)
    case .undo: return "undo the \(words(for: lost))"
    case .sameKey: return "finish the \(words(for: lost)), which happens only once"
    case .byHand:
      return "send the \(words(for: lost)) again, which may \(lost.kind.noun) "
        + "\(lost.amount.map(text(ofMinorUnits:)) ?? "it") a second time"
    }
  }

  /// What a step does to the payer's money.
  private func effect(of step: Next.Step) -> String {
    let left = text(ofMinorUnits: state.leftToRefund)
    return switch step {
    case .show: "see it"
    case .look: "look only"
    case .wait: "wait for its end"
    case .confirm where state.isHeld: "charge the \(text(ofMinorUnits: state.leftToCapture))"
    case .confirm: state.status == .failed ? "start it again" : "go on with the payer"
    case .void where kind == .mandate: "revoke the mandate"
    case .void where state.isHeld: "release the \(text(ofMinorUnits: state.leftToCapture))"
    case .void where attempt?.state.action != nil: "stop it"
    case .void: "void the \(state.amount.map(text(ofMinorUnits:)) ?? "payment")"
    case .refund(nil, _) where state.leftToRefund < state.captured: "refund the remaining \(left)"
    case .refund(nil, _): "refund the \(left)"
    case .refund(let amount?, let name):
      "refund \(name == nil ? "" : "another ")\(text(ofMinorUnits: amount))"
    case .finish, .undo: "finish it"
    case .again: "try it again"
    case .newAttempt where kind == .payment: "charge \(text(ofMinorUnits: state.asked)) again"
    case .newAttempt: "try it again"
    case .resolve: "record how it ended"
    case .adopt: "record it here"
    case .verify, .accept: "see the journal"
    }
  }

  /// The words of a step's command.
  private func command(of step: Next.Step, _ name: String) -> String {
    switch step {
    case .show: "journal show \(name)"
    case .look where state.isUnknown: "journal resume \(unknownReference)"
    case .look: "\(kind.noun)-status \(name)"
    case .wait: "\(kind.noun)-status \(name) --wait"
    case .confirm: "confirm \(name)" + (state.status == .failed ? " --retry" : "")
    case .void: "cancel \(name)"
    case .refund(let amount, let further):
      "refund \(name)"
        + (amount.map { " " + options(forMinorUnits: $0) }
          ?? (state.leftToRefund < state.captured ? " --rest" : ""))
        + (further.map { " " + $0.shellOption("refund-reference") } ?? "")
    case .finish, .undo: "journal resume \(unknownReference) --finish"
    case .again: "the same \(kind == .storedMethod ? "tokenize" : "transact") command"
    case .newAttempt: command(of: .again, name) + " with --new-attempt"
    case .resolve(let end): "journal resolve \(unknownReference) \(end) --reason TEXT"
    case .adopt(let id):
      "transact \(id.shellOption("payment-id")) \(reference.text.shellOption("reference"))"
    case .verify, .accept: "journal list"
    }
  }

  /// The options for an amount, which is in the payment's currency.
  package func options(forMinorUnits amount: Int) -> String {
    guard let currency else { return "--amount-minor \(amount)" }
    let money = Money(minorUnits: amount, currency: currency)
    return "--amount \(money.decimalText) --currency \(currency.code)"
  }

  /// The place of the payment for a step.
  package var place: Next.Place {
    Next.Place(provider: provider.text, env: env.rawValue, reference: reference.text)
  }

  /// The last unknown operation in words.
  package var unknownWords: String { unknowns.last.map(words(for:)) ?? "payment" }

  /// An operation and its amount, such as `charge of 12.00 USD`.
  package func words(for operation: Operation) -> String {
    operation.kind.noun + amount(of: operation)
  }

  private func amount(of operation: Operation) -> String {
    operation.amount.map { " of " + text(ofMinorUnits: $0) } ?? ""
  }
}

extension Operation.Kind {
  /// Its name in a sentence.
  package var noun: String {
    switch self {
    case .authorize: "hold"
    case .createMandate: "mandate"
    case .store: "storing"
    case .charge, .capture, .void, .refund, .revoke, .payout: rawValue
    }
  }
}
