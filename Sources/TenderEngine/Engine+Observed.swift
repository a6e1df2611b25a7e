import TenderModel

/// Folds the answer of a look into a payment: the one way in which a look changes anything.
extension Engine {
  /// The largest difference between the clocks of both sides, in milliseconds.
  private static let skew = 60_000

  /// Returns a payment with an answer folded in, and a warning about the part that could not be.
  ///
  /// An answer about another payment changes nothing. What no operation explains becomes an operation with the
  /// source `lookup`. `whole` is the payment of an earlier charge, and can have recorded the money of that.
  func folded(
    _ outcome: Outcome,
    into known: Payment,
    of whole: Payment? = nil
  ) throws(Fault) -> (payment: Payment, warning: String?) {
    if let difference = difference(outcome, known) { return (known, difference.warning) }
    var fold = Fold(known, outcome, provider: provider.name.text, at: clock.now)
    fold.recorded = whole?.operations.filter { $0.isSurplus && known[$0.sequence] == nil } ?? []
    // For a hold, only an answer with the hold's id is about this payment. A refused attempt has none.
    let isOther = known.state.isHeld && outcome.id != known.state.id || known.isRefused
    if !isOther {
      try fold.addAttempt()
      try fold.addRefunds()
    }
    // A charge that is looked at alone does not know the others.
    if !known.isEarlier { try addCharges(to: &fold, known) }
    if !isOther { fold.addObservation(lateWindow) }
    return (fold.payment, fold.warning)
  }

  /// Returns a payment with the answer of a look at one of its unknown operations: its result, and what happened to
  /// it since.
  func found(_ outcome: Outcome, of sequence: Int, _ known: Payment) throws(Fault) -> Payment {
    guard let operation = known[sequence], operation.isAttempt || operation.kind == .capture else {
      return try driver.applied(outcome, .find, known, sequence)
    }
    var charged = outcome
    if outcome.isVoided || outcome.state?.name == .returned { charged.status = .pending }
    return try folded(outcome, into: driver.applied(charged, .find, known, sequence)).payment
  }

  /// Adds the charges that the provider has under the reference, and that were made for it.
  private func addCharges(to fold: inout Fold, _ known: Payment) throws(Fault) {
    // Order numbers repeat over the years.
    let since = (known.operations.first?.createdAt ?? 0) - Self.skew
    for charge in fold.outcome.charges where charge.madeAt ?? since >= since {
      // Another record can explain it.
      let isNew = !known.operations.contains { charge.isNamed(by: $0.id) }
      if isNew, try journal.holder(of: charge.id, [.payment], besides: known) != nil { continue }
      try fold.addCharge(charge)
    }
  }

  /// Returns the reason why an answer is no evidence about a payment; nil if it is evidence.
  func difference(_ outcome: Outcome, _ known: Payment) -> Difference? {
    let state = known.state
    if known.isRefused { return nil }
    if let id = state.id, let said = outcome.id, said != id {
      return Difference(what: "the id", here: id, there: said)
    }
    if let own = known.providerReference, let said = outcome.reference, said != own {
      return Difference(
        what: "the reference",
        here: own.text.quotedForMessage,
        there: said.text.quotedForMessage
      )
    }
    if let paid = known.currency, let said = outcome.currency, paid != said {
      return Difference(what: "the currency", here: paid.code, there: said.code)
    }
    // Others may have captured a part of a hold, and that part may have ended since.
    let isPart = state.isHeld && outcome.state?.name != .waiting
    if isPart, let said = outcome.amount, (1...max(1, state.authorized)).contains(said) {
      return nil
    }
    // After voids of a part, the answer can be about any of the charges that replaced the first one.
    let expected = state.isCaptured ? state.standing : state.amount ?? 0
    if let said = outcome.amount, let amount = state.amount,
      !(min(expected, amount)...amount).contains(said)
    {
      return Difference(
        what: "the amount",
        here: known.text(ofMinorUnits: expected),
        there: known.text(ofMinorUnits: said)
      )
    }
    return nil
  }
}

extension Payment {
  /// Whether its attempt provably had no effect, so that an answer by reference is about another charge.
  fileprivate var isRefused: Bool { attempt?.state.name == .failed }

  /// The reference that the provider has for it; nil if its maker chose one that is not known here.
  var providerReference: Reference? {
    if let accepted = content.text(Operation.providerReference) {
      return Reference(stored: accepted)
    }
    // A payment that was made elsewhere has the reference of its maker.
    return content["id"] == nil ? reference : nil
  }
}

/// The state of a fold: the payment as far as the answer is folded in.
private struct Fold {
  private(set) var payment: Payment
  private(set) var warning: String?
  private let known: Payment
  let outcome: Outcome
  /// The surplus charges that the whole payment has besides these operations.
  var recorded: [Operation] = []
  private let provider: String
  private let now: Int

  init(_ known: Payment, _ outcome: Outcome, provider: String, at now: Int) {
    (payment, self.known, self.outcome) = (known, known, outcome)
    (self.provider, self.now) = (provider, now)
  }

  private mutating func warn(_ text: String) { warning = warning ?? text }

  /// Moves an operation along the published order of states.
  private mutating func move(
    _ operation: Operation,
    to next: Operation.State,
    _ change: (inout Operation) -> Void
  ) throws(Fault) {
    guard operation.state != next.kept, !operation.isUnknown else { return }
    if operation.state.allows(next) {
      try payment.move(operation.sequence, .observe, to: next.kept, at: now, change)
    } else if operation.state.name != next.name {
      warn(
        "the provider says that the \(operation.kind.rawValue) is \(next.name.rawValue), which "
          + "cannot follow \(operation.state.name.rawValue)"
      )
    }
  }

  /// Records an operation that only the provider has.
  private mutating func found(
    _ kind: Operation.Kind,
    _ amount: Int?,
    id: String?,
    _ state: Operation.State,
    _ result: JSONObject
  ) -> Int {
    var made = Operation(kind, amount: amount, at: now)
    (made.source, made.id, made.result) = (.lookup, id, result)
    made.state = state.kept
    return payment.append(made)
  }

  // MARK: The attempt

  private var target: Operation? {
    let capture = known.followers.last {
      $0.kind == .capture && ![.prepared, .failed].contains($0.state.name)
    }
    return capture ?? known.attempt
  }

  mutating func addAttempt() throws(Fault) {
    guard let attempt = known.attempt, let target else { return }
    if let said = outcome.state { try addState(said, attempt, target) }
    // An operator can have resolved it without an id, or with that of its authorization.
    let id = outcome.captureID ?? (attempt.id == nil ? outcome.id : nil)
    if let id, id != payment[attempt.sequence]?.id,
      payment[attempt.sequence]?.state.mayHaveMoney == true
    {
      try payment.change(attempt.sequence) { $0.id = id }
    }
    // An answer without a dispute is an older one, and the end of a dispute stays.
    let word = (payment[target.sequence] ?? target).dispute
    if let said = outcome.dispute, said != word, !["WON", "LOST"].contains(word) {
      try payment.change(target.sequence) { $0.result[Operation.dispute] = said.json }
    }
  }

  private mutating func addState(
    _ said: Operation.State,
    _ attempt: Operation,
    _ target: Operation
  ) throws(Fault) {
    // An expired attempt can be paid late. With a newer one behind it, its money is beside that one's.
    let isOver =
      [.declined, .cancelled].contains(attempt.state.name)
      || known.isEarlier && attempt.state.name == .expired
    if known.kind == .payment, attempt.kind != .refund, isOver, said.tookMoney || outcome.isVoided {
      return try addPaid(outcome.isVoided ? .returned : said, attempt)
    }
    // This journal voided the payment itself. A look-up does not change that.
    if known.state.status.end == .cancelled { return }
    // What went back is in `addRefunds`.
    if said.name == .cancelled, known.state.captured > 0 { return }
    if attempt.isHold, !target.isUnknown, said.mayHaveMoney || said.name == .returned {
      // It was captured, and not by this journal: the look at an unknown capture decides about that one.
      let amount = outcome.amount ?? attempt.effectiveAmount
      let sequence = found(.capture, amount, id: outcome.captureID, said, outcome.result)
      try payment.closeAttempt(after: sequence, at: now)
      return
    }
    let outcome = outcome
    try move(target, to: said) { operation in
      guard said.name != .returned else { return }
      operation.result = outcome.result
      operation.fault = outcome.fault?.kind == .pending ? nil : outcome.fault
    }
  }

  /// Adds the charge of an attempt that ended without money, and took it after all. It stays ended, and the money
  /// counts.
  private mutating func addPaid(_ said: Operation.State, _ attempt: Operation) throws(Fault) {
    // A list names it as a look at the newest attempt does.
    let listed = outcome.charges.first { $0.isNamed(by: attempt.id) }
    var charge = Outcome.Seen(
      id: listed?.id ?? outcome.id ?? attempt.id ?? "",
      state: said,
      amount: outcome.amount ?? attempt.effectiveAmount,
      result: outcome.result
    )
    charge.refunded = outcome.refundedAmount ?? 0
    charge.otherID = listed?.otherID
    try addSurplus(charge)
    guard said.mayHaveMoney, charge.refunded < charge.amount else { return }
    warn(
      "\(provider) shows the \(known.text(ofMinorUnits: charge.amount)) of \(known.reference.quotedForMessage) "
        + "as paid now (\(charge.id)), and this journal has it as \(known.state.status.rawValue)"
    )
  }

  // MARK: Refunds

  mutating func addRefunds() throws(Fault) {
    // Refunds of an attempt that ended without money are those of its surplus charge.
    guard payment.state.isCaptured else { return }
    let named = outcome.refunds.isEmpty ? [] : known.reversals.filter { $0.id != nil }
    let byID = Dictionary(grouping: named) { $0.id ?? "" }
    var listed: Set<String> = []
    // A list can have an entry twice.
    for refund in outcome.refunds where listed.insert(refund.id).inserted {
      if let own = byID[refund.id]?.first {
        if refund.amount != own.effectiveAmount, own.source != nil, own.state.mayHaveMoney {
          // Only looks know it, and this one has another amount.
          try payment.move(own.sequence, .observe, to: .returned, at: now) { $0.id = nil }
          try explain(refund.amount, refund)
          continue
        }
        if refund.amount != own.effectiveAmount {
          warn(
            "the answer names \(known.text(ofMinorUnits: refund.amount)) for the refund \(refund.id) and was "
              + "not recorded: the refund is of \(known.text(ofMinorUnits: own.effectiveAmount))"
          )
          // Its sum is not trusted either.
          return
        }
        try move(own, to: refund.state) { ($0.result, $0.fault) = (refund.result, refund.fault) }
      } else if refund.amount > 0, refund.state.mayHaveMoney {
        if let own = missing(refund.amount) {
          warn("the answer has \(refund.id) and not the refund \(own), which has the same amount")
          continue
        }
        try explain(refund.amount, refund)
      }
    }
    try dropUnnamed()
    // Sums that 0.2.0 recorded without operations become operations.
    if let sum = isVoidedWhole ? payment.state.captured : sum { try addRest(of: sum) }
  }

  /// Whether the charge was voided: what went back last went by a void.
  private var isVoided: Bool { outcome.isVoided || outcome.state?.name == .cancelled }

  /// Whether the answer is about a whole payment that was voided, and not by this journal.
  private var isVoidedWhole: Bool {
    // After a void of a part, the rest has another id, and this answer is about the voided charge.
    outcome.state?.name == .cancelled && payment.state.status.end != .cancelled
      && !payment.reversals.contains { $0.kind == .void && $0.isAlive && $0.state != .prepared }
  }

  /// Explains the part of a sum that went back which neither an operation nor a list explains: by the unknown
  /// reversal of exactly that amount, else as one that others made.
  private mutating func addRest(of sum: Int) throws(Fault) {
    let own = PaymentState(payment.operations.filter { !$0.isUnknown }, Observed())
    // A sum above the captured amount is no evidence.
    guard sum <= own.captured else { return }
    let rest = sum - own.refunded - own.refunding
    let unknown = payment.reversals.filter(\.isUnknown)
    // A sum in which others have a part does not tell the parts apart.
    let isShared = payment.reversals.contains { $0.source != nil && $0.id == nil && $0.isAlive }
    let isExplained = unknown.contains {
      $0.effectiveAmount == rest && ($0.kind == .refund || isVoided)
    }
    if isExplained, !isShared { return try explain(rest, nil) }
    let extra = unknown.reduce(rest) { $0 - $1.effectiveAmount }
    // The charge that replaces one that was voided in part may not be shown yet.
    if extra > 0, unknown.isEmpty || !isVoided { try explain(extra, nil) }
  }

  /// Takes back refunds that are known by their sum alone, as far as entries of the list that are new here are more
  /// exact. A list without such entries is an older one.
  private mutating func dropUnnamed() throws(Fault) {
    var added = payment.reversals.filter { known[$0.sequence] == nil && $0.id != nil }
      .reduce(0) { $0 + $1.effectiveAmount }
    for unnamed in known.reversals
    where unnamed.source != nil && unnamed.id == nil && unnamed.kind == .refund
      && payment[unnamed.sequence]?.id == nil && unnamed.state.name == .succeeded
      && unnamed.effectiveAmount <= added
    {
      added -= unnamed.effectiveAmount
      try payment.move(unnamed.sequence, .observe, to: .returned, at: now)
    }
  }

  /// Returns the id of an own refund of an amount that a list lacks; nil without one. Another entry of that amount
  /// can be that refund.
  private func missing(_ amount: Int) -> String? {
    known.reversals.lazy.filter { own in
      own.source == nil && own.kind == .refund && own.isAlive && own.effectiveAmount == amount
        && !outcome.refunds.contains { $0.id == own.id }
    }.compactMap(\.id).first
  }

  /// The sum of all refunds and voided parts, as the provider counts them; nil if it gives none.
  private var sum: Int? {
    guard let refunded = outcome.refundedAmount else { return nil }
    // The answer can be about a charge that replaced the first one. The parts that were voided before are added.
    let captured = known.state.captured
    return refunded + max(0, captured - (outcome.amount ?? captured))
  }

  /// Assigns a refund to the operation that it explains, else records it as one that others made.
  private mutating func explain(_ amount: Int, _ refund: Outcome.Seen?) throws(Fault) {
    let state = refund?.state ?? .succeeded
    let isVoid = refund?.isVoid ?? isVoided
    let result = refund?.result ?? (isVoid ? outcome.result : [:])
    // A failed refund has the id of its own refusal, if any. An unknown one has none.
    let alike = payment.reversals.filter { reversal in
      guard reversal.effectiveAmount == amount, reversal.id == nil,
        reversal.kind == .refund || isVoid
      else { return false }
      return switch reversal.state.name {
      case .sent, .failed: true
      case .processing, .succeeded: refund != nil
      case .prepared, .waiting, .declined, .cancelled, .expired, .returned: false
      }
    }
    // One that is known to be made has its entry before an unknown one, and that before one that had no effect.
    let made = alike.first { !$0.isUnknown && $0.state.name != .failed }
    guard let own = made ?? alike.first(where: \.isUnknown) ?? alike.first else {
      _ = found(isVoid ? .void : .refund, amount, id: refund?.id, state, result)
      return
    }
    let event: Operation.Event = own.isUnknown ? .find : .observe
    let change: (inout Operation) -> Void = { operation in
      if isVoid { operation.kind = .void }
      operation.id = refund?.id
      (operation.fault, operation.preparation) = (nil, nil)
      if !result.members.isEmpty { operation.result = result }
    }
    if own.state == state {
      try payment.change(own.sequence, change)
    } else {
      try payment.move(own.sequence, event, to: state.kept, at: now, change)
    }
  }

  // MARK: Charges

  /// Adds a charge that the provider has under the same reference.
  mutating func addCharge(_ charge: Outcome.Seen) throws(Fault) {
    if let said = charge.currency, let paid = payment.currency, said != paid {
      // Its amount cannot be counted with the payment's.
      return warn("\(provider) has a charge in \(said.code) under this reference: \(charge.id)")
    }
    let own = payment.operations.last { charge.isNamed(by: $0.id) }
    if let own, !own.isSurplus {
      let isOver = [.declined, .cancelled, .expired, .failed].contains(own.state.name)
      if own.isAttempt, own.sequence != payment.attempt?.sequence, isOver {
        try addSurplus(charge)
      }
      return
    }
    if own == nil, let attempt = payment.attempt, attempt.id == nil, attempt.amount == charge.amount
    {
      // The look at the operation itself decides about an unknown one.
      if attempt.isUnknown { return }
      if attempt.state.name == .failed, charge.state.tookMoney {
        // It was refused, and took money after all.
        try payment.move(attempt.sequence, .observe, to: charge.state.kept, at: now) { operation in
          (operation.id, operation.result) = (charge.id, charge.result)
          (operation.fault, operation.preparation) = (nil, nil)
        }
        if charge.refunded > 0 { _ = found(.refund, charge.refunded, id: nil, .succeeded, [:]) }
        return
      }
    }
    try addSurplus(charge)
  }

  private mutating func addSurplus(_ charge: Outcome.Seen) throws(Fault) {
    if recorded.contains(where: { charge.isNamed(by: $0.id) }) { return }
    let known = payment.operations.last { $0.isSurplus && charge.isNamed(by: $0.id) }
    let sequence: Int
    if let known {
      sequence = known.sequence
      try move(known, to: charge.state) { $0.result = charge.result }
    } else {
      guard charge.state.tookMoney else { return }
      sequence = found(.charge, charge.amount, id: charge.id, charge.state, charge.result)
    }
    let own = payment.operations.filter { $0.parent == sequence && $0.isReversal && $0.isAlive }
    let counted = own.reduce(0) { $0 + $1.effectiveAmount }
    guard charge.refunded > counted, charge.refunded <= charge.amount else { return }
    let refund = found(.refund, charge.refunded - counted, id: nil, .succeeded, [:])
    try payment.change(refund) { $0.parent = sequence }
  }

  // MARK: The observation

  /// Adds the observation itself, if it is news.
  mutating func addObservation(_ lateWindow: Int) {
    guard let target else { return }
    let state = (outcome.state ?? target.state).kept
    var seen = Observation(.lookup, at: now, operation: target.sequence, state: state)
    (seen.providerStatus, seen.id) = (outcome.providerStatus, outcome.id)
    (seen.amount, seen.currency) = (outcome.amount, outcome.currency)
    seen.isRevoked = outcome.status == .revoked
    seen.refunded = sum
    seen.elsewhere = 0
    warnIfLess(seen, lateWindow)
    let isNews =
      seen.providerStatus != known.observed.providerStatus
      || (seen.refunded ?? 0) > known.observed.refunded
      || seen.isRevoked != known.observed.isRevoked
    if isNews || !payment.changed.isEmpty { payment.add(seen) }
    if !payment.changed.isEmpty || !payment.unwritten.isEmpty { payment.updatedAt = now }
  }

  /// Warns that the provider counts less as refunded than the journal, once the provider cannot lag any more.
  private mutating func warnIfLess(_ seen: Observation, _ lateWindow: Int) {
    let last = known.reversals.map(\.updatedAt).max() ?? 0
    guard let said = seen.refunded, said < known.state.refunded, now - last >= lateWindow
    else { return }
    warn(
      "the provider says that \(known.text(ofMinorUnits: said)) was refunded, this journal "
        + known.text(ofMinorUnits: known.state.refunded)
    )
  }
}

extension Operation.State {
  /// Whether money was taken, or is on its way.
  var mayHaveMoney: Bool { [.processing, .succeeded].contains(name) }

  /// Whether money was taken or is on its way, even if the bank took it back since.
  var tookMoney: Bool { mayHaveMoney || name == .returned }
}
