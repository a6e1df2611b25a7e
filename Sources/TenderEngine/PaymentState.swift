package import TenderModel

/// What a payment's operations and observations come to: pure and total.
///
/// Nothing else in the program computes an amount, a status or what may come next. Amounts are minor
/// units, never negative, and always: `captured + released <= authorized <= asked`. Unless the attempt
/// itself is a refund, which captures nothing, also: `refunded + refunding + reversed <= captured`
/// (README, 6).
package struct PaymentState: Sendable, Hashable {
  /// What was asked for, fee and gratuity included.
  package private(set) var asked = 0
  package private(set) var authorized = 0
  package private(set) var captured = 0
  /// What was released of an authorization and never captured.
  package private(set) var released = 0
  /// What was captured and then voided as a whole.
  package private(set) var reversed = 0
  package private(set) var refunded = 0
  /// Refunds on their way, unknown ones included.
  package private(set) var refunding = 0
  /// What the bank took back.
  package private(set) var returned = 0
  package private(set) var status = Status.pending
  /// Whether no further step of payer, merchant or provider is expected.
  package private(set) var isFinal = false
  package private(set) var nextAction: PayerAction?
  /// Whether any operation's result is unknown.
  package private(set) var isUnknown = false
  /// The provider's id of what can be looked up and refunded now.
  package private(set) var id: String?
  /// What the payer pays, or paid; nil where it is about no amount.
  package private(set) var amount: Int?
  /// What was ordered, where that is not what the payer pays.
  package private(set) var requestedAmount: Int?
  /// What the provider has under `id`: less than was captured after a part was voided.
  package private(set) var standing = 0
  /// What is said of it that the operations do not explain, in words.
  package private(set) var warning: String?

  package init(_ operations: [Operation], _ observed: Observed) {
    if let start = operations.lastIndex(where: \.isAttempt) {
      add(operations[start], Array(operations[(start + 1)...]), observed)
      addEarlier(operations)
    }
    isUnknown = operations.contains(where: \.isUnknown)
  }

  /// What one attempt and the operations on it come to.
  private init(_ attempt: Operation, _ followers: [Operation]) {
    add(attempt, followers, Observed())
  }

  private mutating func add(_ attempt: Operation, _ followers: [Operation], _ observed: Observed) {
    asked = max(attempt.minorUnits, min(max(0, attempt.amount ?? 0), Operation.mostMinorUnits))
    id = attempt.id
    addCaptures(attempt, followers)
    let isVoided = addVoids(attempt, followers)
    addReversals(followers, observed, isVoided: isVoided)
    addRefund(attempt, isVoided: isVoided)
    // The bank takes back what stood: not what was voided before.
    returned = captured > 0 ? min(returned, standing) : returned
    status = isVoided ? .cancelled : status(attempt, followers, observed)
    switch status {
    case .requiresAction, .pending, .failed: nextAction = attempt.state.action
    case .requiresConfirmation, .authorized, .succeeded, .declined, .cancelled, .refunded,
      .partiallyRefunded, .returned, .expired, .revoked, .unknown:
      break
    }
    isFinal =
      status.isFinal && nextAction == nil && !followers.contains(where: \.isOnItsWay)
      && (isVoided || attempt.state.name != .processing)
    // After a part was captured, the payer pays that part.
    amount = attempt.amount.map { _ in
      captured > 0 ? captured : attempt.minorUnits > 0 ? attempt.minorUnits : asked
    }
    let ordered = attempt.content["amount"]?.boundedNumber ?? attempt.amount
    requestedAmount = ordered == amount ? nil : ordered
    if let asked = attempt.amount, let approved = attempt.approved, approved > asked {
      warn("the provider says that more was charged than was asked for")
    }
  }

  private mutating func warn(_ text: String) { warning = warning.map { "\($0); \(text)" } ?? text }

  /// What was released or voided in all.
  package var voided: Int { released + reversed }

  // MARK: Amounts

  private mutating func addCaptures(_ attempt: Operation, _ followers: [Operation]) {
    guard attempt.kind == .charge || attempt.kind == .authorize, attempt.hasMoney || attempt.isHold
    else { return }
    authorized = attempt.minorUnits
    let captures = followers.filter {
      $0.kind == .capture && ![.prepared, .failed].contains($0.state.name)
    }
    let done = captures.filter(\.hasMoney)
    if !done.isEmpty {
      captured = min(authorized, done.minorUnits)
      if done.minorUnits > authorized { warn("more was captured than was authorized") }
    } else if attempt.kind == .charge {
      captured = attempt.hasMoney ? authorized : 0
    } else if attempt.state.name == .succeeded || attempt.state.name == .returned, captures.isEmpty,
      !followers.contains(where: { $0.kind == .void && $0.state.name == .succeeded })
    {
      // It was captured, and not by this journal.
      captured = authorized
    }
    // What a capture leaves of an authorization is released with it.
    if captured > 0 { released = authorized - captured }
    standing = captured
    returned =
      attempt.state.name == .returned
      ? captured : min(captured, done.filter { $0.state.name == .returned }.minorUnits)
  }

  /// Adds the voids that ended all of it, and says whether there are any.
  private mutating func addVoids(_ attempt: Operation, _ followers: [Operation]) -> Bool {
    let voids = followers.filter { $0.kind == .void && $0.state.name == .succeeded }
    if captured > 0 { return voids.contains { $0.isWholeVoid(of: captured) } }
    guard let void = voids.last, ![.declined, .expired, .failed].contains(attempt.state.name) else {
      return false
    }
    released = authorized
    id = id ?? void.id
    return true
  }

  private mutating func addReversals(
    _ followers: [Operation],
    _ observed: Observed,
    isVoided: Bool
  ) {
    guard captured > 0 else { return }
    let reversals = followers.filter(\.isReversal)
    let parts = reversals.filter {
      $0.state.name == .succeeded && !$0.isWholeVoid(of: captured)
    }
    if parts.minorUnits > captured { warn("more was refunded than was captured") }
    refunded = min(captured, parts.minorUnits)
    for void in parts where void.kind == .void {
      // A void of a part puts another payment in the place of the first, for what is left.
      guard let replacement = void.id else { continue }
      id = replacement
      standing = max(0, standing - void.minorUnits)
    }
    guard !isVoided else {
      reversed = captured - refunded
      standing = 0
      return
    }
    if observed.refunded > captured {
      warn("the provider says that more was refunded than was captured")
    } else if observed.elsewhere > 0 {
      warn("the provider says that more was refunded than this journal knows")
      refunded = min(captured, refunded + observed.elsewhere)
    }
    let pending = reversals.filter(\.isOnItsWay).minorUnits
    refunding = min(pending, captured - refunded)
  }

  /// Money that goes to the payer by an order of its own, with nothing captured.
  private mutating func addRefund(_ attempt: Operation, isVoided: Bool) {
    guard attempt.kind == .refund, !isVoided else { return }
    switch attempt.state.name {
    case .succeeded: refunded = attempt.minorUnits
    case .sent, .waiting, .processing: refunding = attempt.minorUnits
    case .returned: returned = attempt.minorUnits
    case .prepared, .declined, .cancelled, .expired, .failed: break
    }
  }

  /// An earlier attempt that was paid after another one took its place, such as a barcode at its last moment.
  private mutating func addEarlier(_ operations: [Operation]) {
    var starts = operations.indices.filter { operations[$0].isAttempt }
    guard starts.count > 1, let last = starts.popLast() else { return }
    for (start, end) in zip(starts, starts.dropFirst() + [last]) {
      let followers = Array(operations[(start + 1)..<end])
      let earlier = PaymentState(operations[start], followers)
      guard earlier.returned == 0, earlier.captured > earlier.refunded + earlier.reversed else {
        continue
      }
      warn("attempt \(operations[start].number) was paid as well")
    }
  }

  // MARK: Status

  private func status(
    _ attempt: Operation,
    _ followers: [Operation],
    _ observed: Observed
  ) -> Status {
    func has(_ kinds: [Operation.Kind], _ state: Operation.State.Name) -> Bool {
      followers.contains { kinds.contains($0.kind) && $0.state.name == state }
    }
    if attempt.kind == .createMandate,
      [.waiting, .processing, .succeeded].contains(attempt.state.name)
    {
      if has([.revoke], .succeeded) || observed.isRevoked { return .revoked }
      if has([.revoke], .sent) { return .unknown }
      if attempt.state.name == .succeeded { return .authorized }
    }
    let isPaid = captured > 0
    switch attempt.state {
    case .prepared: return .pending
    case .sent: return .unknown
    case .waiting(let action):
      if has([.capture, .void], .sent) { return .unknown }
      if isPaid { return paid(isProcessing: has([.capture], .processing)) }
      if has([.capture, .void], .processing) { return .pending }
      return action.map(Self.status) ?? Self.end(followers) ?? .requiresConfirmation
    case .processing: return isPaid ? paid(isProcessing: true) : .pending
    case .succeeded:
      if isPaid { return paid(isProcessing: has([.capture], .processing)) }
      guard attempt.kind == .authorize else { return .succeeded }
      return has([.capture, .void], .sent) ? .unknown : Self.end(followers) ?? .succeeded
    case .declined: return .declined
    case .cancelled: return .cancelled
    case .expired: return .expired
    case .failed:
      // It ended before anything was sent, by the clock or by a person.
      return switch attempt.fault?.kind {
      case .expired: .expired
      case .cancelled: .cancelled
      default: .failed
      }
    case .returned: return .returned
    }
  }

  /// The status of a payment whose money was taken; `isProcessing` says that the provider has not finished that.
  private func paid(isProcessing: Bool) -> Status {
    if returned > 0 { return .returned }
    if refunded > 0 { return refunded >= captured ? .refunded : .partiallyRefunded }
    return isProcessing ? .pending : .succeeded
  }

  /// The status of an attempt that waits for its payer.
  private static func status(_ action: PayerAction) -> Status {
    switch action.type {
    case "wait": .pending
    case "retry": .failed
    default: .requiresAction
    }
  }

  /// How the last capture of a hold ended it, where it did and took no money.
  private static func end(_ followers: [Operation]) -> Status? {
    let tried = followers.last {
      $0.kind == .capture && ![.prepared, .failed].contains($0.state.name)
    }
    return switch tried?.state.name {
    case .declined: .declined
    case .cancelled: .cancelled
    case .expired: .expired
    default: nil
    }
  }

  // MARK: What is left

  /// What can still be captured.
  package var leftToCapture: Int {
    captured > 0 || status != .requiresConfirmation ? 0 : authorized - released
  }

  /// What can still be refunded: nothing of what was returned or voided.
  package var leftToRefund: Int {
    returned > 0 ? 0 : max(0, captured - reversed - refunded - refunding)
  }

  /// Whether money of the payer was taken.
  package var isCaptured: Bool { captured > 0 }

  /// Whether a hold waits for the merchant.
  package var isHeld: Bool { status == .requiresConfirmation }
}

extension Operation {
  /// More than this is no amount: no sum of a few of them overflows.
  fileprivate static let mostMinorUnits = 1_000_000_000_000_000

  /// What it did or does, as an amount that can be reckoned with.
  fileprivate var minorUnits: Int { min(max(0, effectiveAmount), Self.mostMinorUnits) }

  /// Whether it took money, or will.
  fileprivate var hasMoney: Bool {
    [.processing, .succeeded, .returned].contains(state.name)
  }

  /// Whether it waits for the merchant.
  var isHold: Bool { state.name == .waiting && state.action == nil }

  /// Whether it may still come to something: one that is made at the reader is reserved before it is sent.
  fileprivate var isOnItsWay: Bool {
    switch state.name {
    case .sent, .waiting, .processing: true
    case .prepared: link != nil
    case .succeeded, .declined, .cancelled, .expired, .failed, .returned: false
    }
  }

  /// Whether it voids all that was captured: then the payment is cancelled, not refunded.
  fileprivate func isWholeVoid(of captured: Int) -> Bool {
    kind == .void && (amount == nil && approved == nil || minorUnits >= captured)
  }
}

extension [Operation] {
  /// What they come to together.
  fileprivate var minorUnits: Int {
    reduce(0) { Swift.min($0 + $1.minorUnits, Operation.mostMinorUnits) }
  }
}
