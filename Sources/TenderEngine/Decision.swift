import TenderModel

/// The effect that a command would have, for dry runs and questions.
package enum Plan: String, Sendable {
  case send, capture, void, refund, revoke, replay, look, finish, proceed
}

/// The next step of a command on a payment, computed from the payment's operations alone.
///
/// The rules are in README, sections 7 and 10.
enum Decision: Sendable {
  case run(Operation)
  /// Report the result of an earlier operation. Nothing is sent and nothing is written.
  case replay(Int)
  /// Continue an attempt that waits for its payer.
  case proceed(Int)
  /// An operation of another command is unknown: look, and decide again.
  case look(Int)
  /// An operation of this command is unknown: finish it, and decide again.
  case finish(Int)
  /// Ask, and decide again with the answer.
  case ask(Evidence.Question)
  case refuse(Fault)
}

// MARK: The largest amount

extension Decision {
  /// Refuses an operation that moves more than the profile allows. A replay moves nothing, and a lost request
  /// was allowed before.
  func within(_ most: [Currency: Int], of payment: Payment?, _ order: Order) -> Decision {
    guard case .run(let draft) = self, let amount = draft.amount,
      let currency = order.placed?.currency ?? payment?.currency,
      let most = most[currency], amount > most,
      draft.takesMoney
        || draft.isReversal && payment?.upTo(draft.parent ?? 0).state.isCaptured == true
    else { return self }
    return .refuse(.aboveLimit(Money(minorUnits: amount, currency: currency), most))
  }
}

extension Operation {
  fileprivate var takesMoney: Bool { [.authorize, .charge, .capture, .payout].contains(kind) }
}

// MARK: An order

extension Decision {
  /// Decides for an order. `newAttempt` is `--new-attempt`.
  static func transact(
    _ draft: Operation,
    on payment: Payment?,
    newAttempt: Bool,
    _ traits: Traits
  ) -> Decision {
    guard let payment, let attempt = payment.attempt else { return .run(draft) }
    // The attempt was never sent, because its process died, or it provably had no effect.
    if [.prepared, .failed].contains(attempt.state.name) {
      return payment.isPaidBeside ? .refuse(payment.attemptPaid) : .run(draft)
    }
    let different = attempt.differences(from: draft)
    if attempt.isUnknown, different.isEmpty { return .finish(attempt.sequence) }
    let state = payment.state
    let isOver = state.status.isOver
    if newAttempt {
      if attempt.isUnknown { return .look(attempt.sequence) }
      if payment.isPaidBeside { return .refuse(payment.attemptPaid) }
      let isBack =
        state.isCaptured && (isOver || state.status == .refunded) || payment.wasPaidBeside
      if isBack { return .refuse(payment.givenBack) }
      if isOver, state.isFinal { return .run(draft) }
      // The command that added this attempt runs again: its attempt is reported, and nothing is charged.
      let isRepeated = payment.isNewAttempt && different.isEmpty && attempt.kind == draft.kind
      guard !isOver, isRepeated else { return .refuse(payment.attemptStands(traits)) }
    }
    guard different.isEmpty else { return .refuse(payment.otherContent(different)) }
    // A replayed hold would look like a paid charge to a script.
    if !isOver, Set([attempt.kind, draft.kind]) == [.authorize, .charge] {
      return .refuse(payment.otherContent(["way of capture (--hold)"]))
    }
    // An unknown reversal may have returned the whole amount: look before the payment is shown as paid.
    let mayBeReversed = state.isCaptured && state.refunded + state.refunding >= state.captured
    if state.status == .unknown || mayBeReversed, let unknown = payment.unknown() {
      return .look(unknown.sequence)
    }
    if traits.hasPayerFlow, case .waiting(_?) = attempt.state { return .proceed(attempt.sequence) }
    return .replay(attempt.sequence)
  }
}

extension Operation {
  /// The names of the members in which two orders differ.
  func differences(from other: Operation) -> [String] {
    let names = Set(content.members.map(\.key) + other.content.members.map(\.key)).sorted()
    var different = names.filter { name in
      if Self.notCompared.contains(name) { return false }
      // A member that the journal stores only as a keyed hash is compared by that hash.
      if let print = fingerprints[name] {
        return !Self.isSame(print, other.fingerprints[name] ?? .null)
      }
      return content[name] != other.content[name]
    }
    if let print = fingerprints["instrument"], let typed = other.fingerprints["instrument"],
      content["instrument"] == nil, !Self.isSame(print, typed)
    {
      different.append("card or account")
    }
    return different
  }

  /// Whether two keyed hashes are equal. Hashes made under different keys cannot be compared, and count as
  /// equal.
  private static func isSame(_ one: JSON, _ other: JSON) -> Bool {
    if one == other { return true }
    guard let first = one.text?.split(separator: ":"),
      let second = other.text?.split(separator: ":"),
      first.count == 2, second.count == 2
    else { return false }
    return first[0] != second[0]
  }
}

// MARK: A capture

extension Decision {
  /// Decides for `confirm`. `amount` is nil for all that is authorized.
  static func capture(
    _ amount: Int?,
    of payment: Payment,
    _ traits: Traits,
    at now: Int
  ) -> Decision {
    guard let attempt = payment.attempt, payment.kind != .storedMethod else {
      return .refuse(payment.nothingToCapture(traits))
    }
    let state = payment.state
    // While a cancel has no answer, no capture is sent.
    if let void = payment.unknown(.void) { return .look(void.sequence) }
    if let own = payment.unknown(.capture) {
      // A capture of another amount belongs to another command.
      return amount == nil || amount == own.amount ? .finish(own.sequence) : .look(own.sequence)
    }
    if attempt.isUnknown { return .look(attempt.sequence) }
    if state.status == .unknown, let other = payment.unknown() { return .look(other.sequence) }
    if state.isHeld {
      if payment.isPaidBeside { return .refuse(payment.attemptPaid) }
      let whole = state.leftToCapture
      let part = amount ?? whole
      guard part > 0, part <= whole else { return .refuse(payment.captureExceeds(whole)) }
      var draft = Operation(.capture, amount: part, at: now)
      draft.isRest = amount == nil
      return .run(draft)
    }
    let isOpen = [.waiting, .processing].contains(attempt.state.name)
    if state.isCaptured, !(traits.hasPayerFlow && isOpen) {
      // A payment that was captured and then voided replays its attempt.
      if state.status == .cancelled { return .replay(attempt.sequence) }
      let done = payment.followers.last { operation in
        operation.kind == .capture && [.succeeded, .processing].contains(operation.state.name)
      }
      let paid = done ?? attempt
      // Others can have captured a part of it.
      let isWhole = paid.source == nil || paid.effectiveAmount >= state.authorized
      let isSame = amount == nil && isWhole || amount == paid.effectiveAmount
      return isSame ? .replay(paid.sequence) : .refuse(payment.captureDiffers(paid))
    }
    guard traits.hasPayerFlow, attempt.state.name != .failed else {
      return .refuse(payment.nothingToCapture(traits))
    }
    guard amount == nil else { return .refuse(payment.noPartialCapture) }
    return isOpen ? .proceed(attempt.sequence) : .replay(attempt.sequence)
  }
}

// MARK: A cancel

extension Decision {
  /// Decides for `cancel`.
  static func cancel(
    _ request: RefundRequest,
    of payment: Payment,
    _ traits: Traits,
    at now: Int
  ) -> Decision {
    guard let attempt = payment.attempt, payment.kind != .storedMethod else {
      return .refuse(payment.nothingToCancel)
    }
    // This command's request, sent by an earlier run that got no answer.
    if let own = payment.unknown(.void, .revoke) { return .finish(own.sequence) }
    if attempt.isUnknown {
      // Without a look-up, the cancellation advice is the only request that can end it.
      return traits.canLookUp ? .look(attempt.sequence) : .finish(attempt.sequence)
    }
    if let unknown = payment.unknown(), traits.canLookUp,
      !(unknown.kind == .refund && request.isSame(as: unknown) && traits.cancelsCaptured)
    {
      return .look(unknown.sequence)
    }
    return cancelKnown(request, of: payment, attempt, traits, at: now)
  }

  /// Decides for a payment with no unknown operation that has to be looked at first.
  private static func cancelKnown(
    _ request: RefundRequest,
    of payment: Payment,
    _ attempt: Operation,
    _ traits: Traits,
    at now: Int
  ) -> Decision {
    func void(_ amount: Int?) -> Decision { .run(Operation(.void, amount: amount, at: now)) }
    let state = payment.state
    if state.status.end == .cancelled {
      let done = payment.followers.last { operation in
        operation.state.name == .succeeded && [.void, .revoke].contains(operation.kind)
      }
      // Others can have cancelled it. The same command twice ends alike.
      return .replay((done ?? attempt).sequence)
    }
    if payment.kind == .mandate {
      let isThere = [.succeeded, .waiting, .processing].contains(attempt.state.name)
      return isThere ? .run(Operation(.revoke, at: now)) : .refuse(payment.nothingToCancel)
    }
    if state.isHeld { return void(state.authorized) }
    // Without a look-up, the same void undoes a lost capture and a known one.
    if !traits.canLookUp, payment.unknown(.capture) != nil { return void(attempt.effectiveAmount) }
    switch attempt.state.name {
    case .waiting, .processing:
      // A suspended sale at a provider without a look-up is ended by a void.
      let isSuspended = !traits.canLookUp && attempt.state.name == .processing && !state.isCaptured
      if traits.hasPayerFlow || isSuspended { return void(attempt.amount) }
      guard state.isCaptured else { return .refuse(payment.cannotCancelWaiting) }
    case .succeeded, .returned: break
    case .prepared, .sent, .declined, .cancelled, .expired, .failed:
      return .refuse(payment.nothingToCancel)
    }
    // An attempt that is a refund: the money went to the payer.
    if attempt.kind == .refund { return void(attempt.effectiveAmount) }
    // A person who wants to stop a refund types this. It would refund the rest too.
    let isStop = request.amount == nil && !payment.reversalsMadeHere.isEmpty
    guard traits.cancelsCaptured else {
      return .refuse(isStop ? payment.refundNotStopped : payment.tooLateToCancel)
    }
    let decision = refund(request, of: payment, traits, at: now)
    if isStop, case .run = decision { return .refuse(payment.refundNotStopped) }
    return decision
  }
}

// MARK: A refund

extension Decision {
  /// Decides for `refund`, and for `cancel` after capture.
  static func refund(
    _ request: RefundRequest,
    of payment: Payment,
    _ traits: Traits,
    at now: Int
  ) -> Decision {
    guard let attempt = payment.attempt, payment.kind == .payment, attempt.kind != .refund else {
      return .refuse(payment.nothingToRefund)
    }
    if let asked = request.amount?.currency, let paid = payment.currency, asked != paid {
      return .refuse(payment.wasPaid(in: paid))
    }
    let named = payment.reversalsMadeHere.last {
      $0.name == request.name?.text && ($0.name != nil || request.isSame(as: $0))
    }
    if let named {
      guard request.isSame(as: named) else { return .refuse(payment.refundDiffers(named)) }
      return named.isUnknown ? .finish(named.sequence) : .replay(named.sequence)
    }
    if attempt.isUnknown { return .look(attempt.sequence) }
    // While another refund is unknown, no further refund is sent.
    if let unknown = payment.followers.last(where: \.isUnknown) {
      return .look(unknown.sequence)
    }
    let state = payment.state
    if state.isHeld {
      guard request.amount == nil, request.name == nil else { return .refuse(payment.notCaptured) }
      return .run(Operation(.void, amount: state.authorized, at: now))
    }
    guard state.isCaptured else {
      // The same command voided the hold before.
      let void = payment.followers.last { $0.kind == .void && $0.state.name == .succeeded }
      let isWhole = request.amount == nil && request.name == nil
      guard let void, isWhole, attempt.kind == .authorize else {
        var fault = payment.nothingToRefund
        // The payer can have paid since.
        if !traits.hasPayerFlow, attempt.state.name == .waiting { fault.cause = .observed }
        return .refuse(fault)
      }
      return .replay(void.sequence)
    }
    if let forbidden = payment.reversalForbidden(request) { return .refuse(forbidden) }
    let amount = request.amount?.minorUnits ?? state.leftToRefund
    if let excess = payment.refundExceeds(amount) { return .refuse(excess) }
    let isFurther = request.amount != nil && request.name == nil && !request.isFurtherApproved
    if isFurther, !payment.refundsByAmount.isEmpty {
      return .refuse(payment.refundNeedsName(request))
    }
    var draft = Operation(.refund, amount: amount, at: now)
    draft.name = request.name?.text
    draft.isRest = request.amount == nil
    if traits.refundsByVoid, draft.amount == state.captured { draft.kind = .void }
    return .run(draft)
  }
}

// MARK: A refund with the card

extension Decision {
  /// Decides for a refund with the card. Its reference is a name: the same one is the same refund.
  ///
  /// `newAttempt` is `--new-attempt`. It repeats a refund that ended without effect.
  static func refund(
    withCard draft: Operation,
    of payment: Payment,
    newAttempt: Bool,
    _ traits: Traits,
    at now: Int
  ) -> Decision {
    let same = payment.reversals.last {
      $0.link == draft.link && ![.prepared, .failed].contains($0.state.name)
    }
    if let same, same.isAlive || !newAttempt {
      guard same.amount == draft.amount else { return .refuse(payment.refundDiffers(same)) }
      return same.isUnknown ? .finish(same.sequence) : .replay(same.sequence)
    }
    var request = RefundRequest(name: draft.link)
    request.amount = payment.currency.map { Money(minorUnits: draft.amount ?? 0, currency: $0) }
    let decision = refund(request, of: payment, traits, at: now)
    if case .run = decision { return .run(draft) }
    return decision
  }

  /// Decides for a `cancel` of a refund with the card: a void of that refund alone.
  static func cancel(
    cardRefund refund: Operation,
    of payment: Payment,
    at now: Int
  ) -> Decision {
    let void = payment.operations.last {
      $0.parent == refund.sequence && $0.isAlive && $0.state != .prepared
    }
    if let void { return void.isUnknown ? .finish(void.sequence) : .replay(void.sequence) }
    switch refund.state.name {
    case .sent: return .finish(refund.sequence)
    case .waiting, .processing, .succeeded:
      var draft = Operation(.void, amount: refund.effectiveAmount, at: now)
      draft.parent = refund.sequence
      return .run(draft)
    case .prepared, .declined, .cancelled, .expired, .failed, .returned:
      return .refuse(payment.nothing(to: "cancel", refund))
    }
  }
}

extension Payment {
  /// Whether the current attempt follows one that ended at the provider. Only `--new-attempt` adds such an
  /// attempt.
  fileprivate var isNewAttempt: Bool {
    attempts.dropLast().contains { ![.prepared, .failed].contains($0.state.name) }
  }

  /// The last unknown operation on the current attempt, of the given kinds or of any kind.
  fileprivate func unknown(_ kinds: Operation.Kind...) -> Operation? {
    followers.last {
      $0.isUnknown && (kinds.isEmpty || kinds.contains($0.kind) && !isAboutRefund($0))
    }
  }
}
