package import TenderModel

/// The operations on sales with the card present.
extension Engine {
  /// The provider's flow, where its payers are there with their cards.
  private func till() throws(Fault) -> any CardPresentFlow {
    try having(provider.cardPresent, "card readers")
  }

  /// What an order would send, as far as it is known before a card is there.
  package func preview(_ order: SaleOrder) throws(Fault) -> JSONObject {
    let till = try till()
    try till.check(order)
    return try till.preview(order)
  }

  /// Takes a sale or refund, or answers with what the same order came to before.
  ///
  /// A refund of something that the journal knows is never above what is left of it.
  package func transact(
    _ order: SaleOrder,
    newAttempt: Bool,
    idempotencyKey: String?
  ) throws(Fault) -> Report {
    let till = try till()
    try till.check(order)
    var opened: Attempt?
    defer { if let opened { settleOriginal(of: opened) } }
    return try run(
      .transact,
      reference: order.reference,
      content: order.content,
      newAttempt: newAttempt,
      idempotencyKey: idempotencyKey,
      prepare: { attempt in
        attempt.amount = order.amount.minorUnits
        attempt.currency = order.amount.currency
      },
      need: .sale,
      perform: { progress throws(Fault) in
        if order.isRefund {
          opened = progress.attempt
          try reserve(order)
        }
        return try till.sell(order, progress)
      }
    )
  }

  /// Asks whoever is at work on a sale to stop; false where nobody is.
  func stopUnderWay(_ found: Attempt) throws(Fault) -> Bool {
    guard provider.cardPresent != nil, found.phase != .done else { return false }
    try journal.requestStop(key(found.reference))
    return true
  }

  /// Notes at the original that a refund of it begins, unless it would be above what is left.
  private func reserve(_ order: SaleOrder) throws(Fault) {
    guard let reference = order.originalReference else { return }
    let lock = try hold(reference)
    defer { withExtendedLifetime(lock) {} }
    let latest = try journal.latest(key(reference))
    guard var original = latest, original.phase == .done, original.isCaptured else {
      throw .notRefundable(reference, latest)
    }
    let refunds = try currentRefunds(of: original).filter {
      $0.reference != order.reference
    }
    let left = (original.amount ?? 0) - refunds.reduce(0) { $0 + $1.amount }
    guard order.amount.minorUnits <= left else { throw .aboveOriginal(order, reference, left) }
    original.reversal = .parts(refunds + [Refund(by: order.reference, amount: order.amount)])
    original.updatedAt = clock.now
    try journal.update(&original, note: "refund \(order.reference.text) begins", .power)
  }

  /// The refunds of an original that count: done, not known, or under way.
  private func currentRefunds(of original: Attempt) throws(Fault) -> [Refund] {
    var current: [Refund] = []
    for entry in original.refunds {
      guard let reference = entry.reference else { continue }
      let latest = try journal.latest(key(reference))
      guard let refund = latest else {
        // A journal that has forgotten a refund does not make its amount refundable again.
        current.append(entry)
        continue
      }
      let isOver = refund.phase == .done && (refund.isFreed || !refund.isCaptured)
      if isOver { continue }
      var shown = entry
      shown.status = refund.shownStatus.rawValue
      if refund.phase == .prepared {
        // Its process may be gone; then nothing was sent.
        let lock = try lock(reference)
        if lock != nil { continue }
      } else if let amount = refund.amount {
        shown.amount = amount
      }
      current.append(shown)
    }
    return current
  }

  /// Brings an original up to date with what became of a refund of it.
  ///
  /// The refund itself is in the journal already, so a failure loses nothing: the next refund counts
  /// anew.
  func settleOriginal(of refund: Attempt) {
    guard provider.cardPresent != nil, refund.content.text("type") == "refund",
      let reference = refund.content.text("original").map(Reference.init(stored:)),
      let lock = try? hold(reference)
    else { return }
    defer { withExtendedLifetime(lock) {} }
    guard let latest = try? journal.latest(key(reference)),
      latest.phase == .done, latest.isCaptured || !latest.refunds.isEmpty,
      let refunds = try? currentRefunds(of: latest)
    else { return }
    var original = latest
    let done = refunds.filter { $0.status == Status.succeeded.rawValue }
      .reduce(0) { $0 + $1.amount }
    original.reversal = refunds.isEmpty ? nil : .parts(refunds)
    original.status =
      done == 0 ? .succeeded : done < original.amount ?? 0 ? .partiallyRefunded : .refunded
    guard original.reversal != latest.reversal || original.status != latest.status else { return }
    original.updatedAt = clock.now
    try? journal.update(
      &original,
      note: "refund \(refund.reference): \(refund.shownStatus.rawValue)",
      .power
    )
  }
}

extension Fault {
  fileprivate static func notRefundable(_ reference: Reference, _ attempt: Attempt?) -> Fault {
    Fault(
      .conflict,
      code: "not_refundable",
      "\(reference.quotedForMessage) "
        + (attempt.map { "is \($0.shownStatus.rawValue)" } ?? "is not in the journal")
        + ": there is nothing to refund",
      hint: "see: tender journal show \(reference)"
    )
  }

  fileprivate static func aboveOriginal(
    _ order: SaleOrder,
    _ reference: Reference,
    _ left: Int
  ) -> Fault {
    let money = Money(minorUnits: max(0, left), currency: order.amount.currency)
    return Fault(
      .conflict,
      code: "refund_exceeds",
      "\(money.text) are left to refund of "
        + reference.quotedForMessage,
      hint: "refund at most that"
    )
  }
}
