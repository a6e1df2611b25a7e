package import TenderModel

/// The amounts and the status of a payment, computed from its operations and observations: pure and total.
///
/// No other code computes an amount, a status or the next action. Amounts are minor units and never negative.
/// Always: `captured + released <= authorized <= asked`, and `refunded + refunding + reversed <= captured`.
/// The exception to the second rule is an attempt that is a refund, which captures nothing (README, 6).
package struct PaymentState: Sendable, Hashable {
  /// The requested amount, with fee and gratuity.
  package private(set) var asked = 0
  package private(set) var authorized = 0
  package private(set) var captured = 0
  /// The part of an authorization that was released and never captured.
  package private(set) var released = 0
  /// The captured amount that was then voided as a whole.
  package private(set) var reversed = 0
  package private(set) var refunded = 0
  /// The part of `refunded` that went back by voids of a part.
  package private(set) var voidedParts = 0
  /// The sum of the refunds on their way, unknown ones included.
  package private(set) var refunding = 0
  /// The amount that the bank took back.
  package private(set) var returned = 0
  /// The amount that earlier attempts and surplus charges took.
  package private(set) var earlierCaptured = 0
  /// The part of it that went back to the payer.
  package private(set) var earlierReturned = 0
  /// The part of `refunded` and `refunding` that others made.
  package private(set) var elsewhere = 0
  /// A dispute of the current attempt's money; nil without one.
  package private(set) var dispute: Dispute?
  package private(set) var status = Status.pending
  /// Whether no further step of payer, merchant or provider is expected.
  package private(set) var isFinal = false
  package private(set) var nextAction: PayerAction?
  /// Whether an operation is unknown.
  package private(set) var isUnknown = false
  /// The provider's id for the next look-up or refund.
  package private(set) var id: String?
  /// The amount that the payer pays or paid; nil without an amount.
  package private(set) var amount: Int?
  /// The ordered amount, if it differs from the amount that the payer pays.
  package private(set) var requestedAmount: Int?
  /// The amount that the provider has under `id`. It is less than was captured after a part was voided.
  package private(set) var standing = 0
  /// How its operations took or gave back more than there was; nil if they did not.
  package private(set) var excess: String?
  /// An observation that the operations do not explain, as a warning.
  package private(set) var warning: String?

  /// The state of a dispute, from the provider's word for it.
  package enum Dispute: Sendable, Hashable {
    /// The bank may still take the money back. An unknown word counts as open.
    case open
    /// The bank took the money back.
    case lost

    init?(_ word: String?) {
      switch word?.uppercased() {
      case nil, "", "WON": return nil
      case "LOST": self = .lost
      default: self = .open
      }
    }
  }

  package init(_ operations: [Operation], _ observed: Observed) {
    let groups = operations.byCharge
    if let current = groups.last(where: { !$0.charge.isSurplus }) {
      add(current.charge, current.followers, observed)
      addEarlier(groups.filter { $0.charge.sequence != current.charge.sequence })
    }
    isUnknown = operations.contains(where: \.isUnknown)
  }

  /// Creates the state of one attempt and the operations on it.
  private init(_ attempt: Operation, _ followers: [Operation]) {
    add(attempt, followers, Observed())
  }

  private mutating func add(_ attempt: Operation, _ all: [Operation], _ observed: Observed) {
    // A void of a refund gave nothing back. The refund itself is returned by it.
    let followers = all.filter { $0.parent == nil || $0.parent == attempt.sequence }
    asked = max(attempt.minorUnits, min(max(0, attempt.amount ?? 0), Operation.mostMinorUnits))
    id = attempt.id
    addCaptures(attempt, followers)
    let isVoided = addVoids(attempt, followers)
    addReversals(followers, observed, isVoided: isVoided)
    addRefund(attempt, isVoided: isVoided)
    dispute = Dispute(([attempt] + followers).lazy.compactMap(\.dispute).first)
    // The bank returns the standing amount, without parts that were voided before.
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

  private mutating func exceed(_ text: String) {
    excess = text
    warn(text)
  }

  private mutating func warn(_ text: String) { warning = warning.map { "\($0); \(text)" } ?? text }

  /// The sum of released and voided amounts.
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
      if done.minorUnits > authorized { exceed("more was captured than was authorized") }
    } else if attempt.kind == .charge {
      captured = attempt.hasMoney ? authorized : 0
    } else if attempt.state.name == .succeeded || attempt.state.name == .returned, captures.isEmpty,
      !followers.contains(where: { $0.kind == .void && $0.state.name == .succeeded })
    {
      // It was captured, but not by this journal.
      captured = authorized
    }
    // A capture releases the rest of an authorization.
    if captured > 0 { released = authorized - captured }
    standing = captured
    returned =
      attempt.state.name == .returned
      ? captured : min(captured, done.filter { $0.state.name == .returned }.minorUnits)
  }

  /// Adds the voids of the whole payment. Returns whether there are any.
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
    if parts.minorUnits > captured { exceed("more was refunded than was captured") }
    refunded = min(captured, parts.minorUnits)
    voidedParts = min(refunded, parts.filter { $0.kind == .void }.minorUnits)
    for void in parts where void.kind == .void {
      // After a void of a part, the provider has a new payment for the rest.
      guard let replacement = void.id else { continue }
      id = replacement
      standing = max(0, standing - void.minorUnits)
    }
    guard !isVoided else {
      reversed = captured - refunded
      standing = 0
      return
    }
    let seen = reversals.filter { $0.source != nil }
    // Journals of 0.2.0 have such a sum without operations.
    let unnamed = max(0, observed.elsewhere - seen.minorUnits)
    let pending = reversals.filter(\.isOnItsWay)
    if observed.refunded > captured {
      warn("the provider says that more was refunded than was captured")
    } else if unnamed > 0 {
      refunded = min(captured, refunded + unnamed)
    }
    refunding = min(pending.minorUnits, captured - refunded)
    let others = (parts + pending).filter { $0.source != nil }
    elsewhere = unnamed + others.minorUnits
    guard elsewhere > 0 else { return }
    let what = unnamed == 0 && others.allSatisfy { $0.kind == .void } ? "void" : "refund"
    warn("a \(what) was made at the provider and not by this journal")
  }

  /// Adds an attempt that is a refund. Its money goes to the payer, and nothing is captured.
  private mutating func addRefund(_ attempt: Operation, isVoided: Bool) {
    guard attempt.kind == .refund, !isVoided else { return }
    switch attempt.state.name {
    case .succeeded: refunded = attempt.minorUnits
    case .sent, .waiting, .processing: refunding = attempt.minorUnits
    case .returned: returned = attempt.minorUnits
    case .prepared, .declined, .cancelled, .expired, .failed: break
    }
  }

  /// Warns about another charge of the reference that took money: an attempt that was paid after a newer one
  /// began, or one that a look showed and that this journal did not record.
  private mutating func addEarlier(_ others: [(charge: Operation, followers: [Operation])]) {
    for (charge, followers) in others {
      let earlier = PaymentState(charge, followers)
      let returned = earlier.refunded + earlier.reversed + earlier.returned
      earlierCaptured += earlier.captured
      earlierReturned += returned
      excess = excess ?? earlier.excess
      guard earlier.returned == 0, earlier.captured > returned else { continue }
      warn(
        charge.isSurplus
          ? "another charge was made under this reference: \(charge.handle)"
          : "attempt \(charge.number) was paid as well"
      )
    }
  }

  /// The amount that other charges of the reference took and did not give back.
  package var surplus: Int { max(0, earlierCaptured - earlierReturned) }

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
    case .failed:
      // It ended before anything was sent, by a timeout or by a person.
      return switch attempt.fault?.kind {
      case .expired: .expired
      case .cancelled: .cancelled
      default: .failed
      }
    case .prepared, .sent, .declined, .cancelled, .expired, .returned: return attempt.status
    }
  }

  /// The status of a payment with captured money. `isProcessing`: the provider has not finished it.
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

  /// The status by which the last capture ended a hold without taking money; nil otherwise.
  private static func end(_ followers: [Operation]) -> Status? {
    let tried = followers.last {
      $0.kind == .capture && ![.prepared, .failed].contains($0.state.name)
    }
    guard let tried, [.declined, .cancelled, .expired].contains(tried.status) else { return nil }
    return tried.status
  }

  // MARK: Remaining amounts

  package var leftToCapture: Int {
    captured > 0 || status != .requiresConfirmation ? 0 : authorized - released
  }

  /// The amount that can still be refunded: nothing of a returned or voided amount.
  package var leftToRefund: Int {
    returned > 0 ? 0 : max(0, captured - reversed - refunded - refunding)
  }

  package var isCaptured: Bool { captured > 0 }

  /// Whether a hold waits for the merchant.
  package var isHeld: Bool { status == .requiresConfirmation }
}

extension [Operation] {
  /// The charges of a payment, each with the operations on it. An operation belongs to its parent, else to the
  /// last attempt before it.
  var byCharge: [(charge: Operation, followers: [Operation])] {
    var groups: [(charge: Operation, followers: [Operation])] = []
    for operation in self {
      if operation.isAttempt || operation.isSurplus {
        groups.append((operation, []))
        continue
      }
      let place =
        operation.parent.flatMap { parent in groups.firstIndex { $0.charge.sequence == parent } }
        ?? groups.lastIndex { !$0.charge.isSurplus }
      if let place { groups[place].followers.append(operation) }
    }
    return groups
  }
}

extension Operation {
  /// The largest amount. A sum of a few of them does not overflow.
  fileprivate static let mostMinorUnits = 1_000_000_000_000_000

  /// The operation's amount, limited so that sums do not overflow.
  fileprivate var minorUnits: Int { min(max(0, effectiveAmount), Self.mostMinorUnits) }

  /// Whether it took money, or will take it.
  fileprivate var hasMoney: Bool {
    [.processing, .succeeded, .returned].contains(state.name)
  }

  /// Whether it waits for the merchant.
  var isHold: Bool { state.name == .waiting && state.action == nil }

  /// Whether it may still take effect.
  fileprivate var isOnItsWay: Bool {
    switch state.name {
    case .sent, .waiting, .processing: true
    case .prepared, .succeeded, .declined, .cancelled, .expired, .failed, .returned: false
    }
  }

  /// Whether it voids the whole captured amount. Then the payment is cancelled, not refunded.
  fileprivate func isWholeVoid(of captured: Int) -> Bool {
    kind == .void && (amount == nil && approved == nil || minorUnits >= captured)
  }
}

extension [Operation] {
  /// The sum of the operations' amounts.
  fileprivate var minorUnits: Int {
    reduce(0) { Swift.min($0 + $1.minorUnits, Operation.mostMinorUnits) }
  }
}
