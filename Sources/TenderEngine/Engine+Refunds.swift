package import TenderModel

/// Giving money back in parts, each of them once.
extension Engine {
  /// Refunds a settled payment, whole or in part, or answers with what the last refund came to.
  ///
  /// A refund whose answer was lost is found out, and nothing is opened beside it. Throws `conflict` for
  /// more than what is left.
  package func refund(
    _ found: Attempt?,
    handle: String,
    _ request: RefundRequest,
    newAttempt: Bool,
    idempotencyKey: String?
  ) throws(Fault) -> Report {
    guard let refunder = provider.refunds else { throw .noParts(provider) }
    guard !newAttempt || request.name != nil else { throw .unnamedRefund }
    let lock = try hold(found?.reference ?? Reference(stored: handle))
    defer { withExtendedLifetime(lock) {} }
    var attempt = try known(found, handle: handle)
    if attempt.phase == .sent {
      let lost = refunder.pendingRefund(of: attempt)
      // Finding out may send the lost one again: never for the sake of another.
      if let lost {
        guard request.isSame(as: lost) else { throw .otherRefundUnknown(attempt, lost) }
      }
      let found = try findOut(attempt, mayRepeat: false)
      if lost != nil {
        // It ends with what was found, and opens nothing.
        guard let outcome = found.outcome else { throw .refundNotMade(found.attempt) }
        return Report(found.attempt, .cancel, replayed: false).showing(outcome)
      }
      attempt = found.attempt
    }
    guard !attempt.isFreed else { throw .nothingToCancel(attempt) }
    try provider.checkReady(for: isAuthorizedByPayer ? .withdrawal : .reversal)
    attempt.operation = .cancel
    if let index = try recorded(request, of: attempt, newAttempt) {
      return try replay(index, of: attempt, handle)
    }
    let number = (attempt.refunds.compactMap(\.number).max() ?? 0) + 1
    let tries = try journal.history(of: attempt).count
    let order = RefundOrder(
      number: number,
      amount: request.amount?.minorUnits ?? attempt.left,
      isRest: request.amount == nil,
      // A refusal is remembered under its key: what is asked for afterwards has another.
      key: idempotencyKey
        ?? derivedKey(.cancel, Reference(stored: "\(attempt.reference)/refund/\(tries)"), number),
      request: request
    )
    return try settle(attempt, .cancel) { progress throws(Fault) in
      try refunder.refund(order, of: attempt, progress)
    }
  }

  /// What a refund would do with an attempt as it is: give back, show what was given back, or find out.
  ///
  /// Throws where it would be refused.
  package func planRefund(
    _ request: RefundRequest,
    of found: Attempt?,
    handle: String,
    newAttempt: Bool
  ) throws(Fault) -> Plan {
    guard let refunder = provider.refunds else { throw .noParts(provider) }
    guard !newAttempt || request.name != nil else { throw .unnamedRefund }
    guard let found else {
      // What was made elsewhere is looked up first.
      guard isAuthorizedByPayer else { throw .unknownHandle(handle) }
      return .refund
    }
    if found.phase == .sent {
      guard let lost = refunder.pendingRefund(of: found), !request.isSame(as: lost) else {
        return .findOut
      }
      throw .otherRefundUnknown(found, lost)
    }
    if try recorded(request, of: found, newAttempt) != nil { return .replay }
    guard isAuthorizedByPayer ? !found.isFreed : found.isCaptured else {
      throw found.status == .requiresConfirmation ? .notCaptured(found) : .nothingToCancel(found)
    }
    return .refund
  }

  /// The place of the refund that was asked for before among those of a payment; nil where this is
  /// another.
  ///
  /// Throws `conflict` for another amount under the same name, or for more than what is left.
  private func recorded(
    _ request: RefundRequest,
    of attempt: Attempt,
    _ newAttempt: Bool
  ) throws(Fault) -> Int? {
    // What was made elsewhere shows its currency only now.
    if let asked = request.amount?.currency, let paid = attempt.currency, asked != paid {
      throw .otherCurrency(attempt, paid)
    }
    if let index = attempt.refunds.lastIndex(where: { $0.name == request.name?.text }) {
      guard request.isSame(as: attempt.refunds[index]) else { throw .otherRefund(attempt) }
      return index
    }
    // Another name alone, or one that was left out, is no word that more is to be given back.
    guard newAttempt || attempt.refunds.allSatisfy({ $0.status == "failed" }) else {
      throw .furtherRefund(attempt)
    }
    let left = attempt.left
    guard left > 0, request.amount?.minorUnits ?? left <= left else {
      throw .tooMuch(attempt, left: left)
    }
    return nil
  }

  /// An earlier refund as it stands now, in its own words.
  private func replay(
    _ index: Int,
    of attempt: Attempt,
    _ handle: String
  ) throws(Fault) -> Report {
    var attempt = attempt
    attempt.operation = .cancel
    let query = LookUp.refund(of: attempt, at: index)
    var report = try settle(attempt, .cancel) { _ throws(Fault) in
      guard let outcome = try provider.lookUp(query) else { throw .unknownHandle(handle) }
      return outcome
    }
    report.replayed = true
    return report
  }
}

extension Attempt {
  /// What can still be given back, in minor units: all that was paid, but for what was refunded or is on
  /// its way.
  package var left: Int {
    guard !isUndone else { return 0 }
    return (facts.amount ?? 0)
      - refunds.filter { $0.status != "failed" }.reduce(0) { $0 + $1.amount }
  }
}

extension LookUp {
  /// A look at the refunds of a payment, the one at `index` last: the answer is in its words.
  static func refund(of attempt: Attempt, at index: Int) -> LookUp {
    var query = LookUp(id: attempt.id, kind: attempt.kind)
    query.purpose = .refund
    query.refunds = attempt.refunds
    query.refunds.append(query.refunds.remove(at: index))
    query.amount = attempt.amount
    return query
  }
}

extension Fault {
  fileprivate static func noParts(_ provider: any Provider) -> Fault {
    Fault(
      .unsupported,
      code: "method_unsupported",
      "\(provider.name.text) cannot give a part back",
      hint: "without --amount, cancel undoes the whole payment"
    )
  }

  fileprivate static func otherCurrency(_ attempt: Attempt, _ paid: Currency) -> Fault {
    Fault(
      .usage,
      code: "bad_currency",
      "\(attempt.reference.quotedForMessage) was paid in \(paid.code)",
      hint: "name the amount in it: --currency \(paid.code)"
    )
  }

  fileprivate static func otherRefund(_ attempt: Attempt) -> Fault {
    Fault(
      .conflict,
      code: "refund_differs",
      "\(attempt.reference.quotedForMessage) was refunded with another amount",
      hint: "a further refund needs --new-attempt and its own --refund-reference; see: "
        + "tender journal show \(attempt.reference)"
    )
  }

  fileprivate static func notCaptured(_ attempt: Attempt) -> Fault {
    Fault(
      .conflict,
      code: "nothing_to_cancel",
      "\(attempt.reference.quotedForMessage) is held, not captured: no part of it can be given back",
      hint: "tender cancel \(attempt.reference) releases all of it"
    )
  }

  fileprivate static func furtherRefund(_ attempt: Attempt) -> Fault {
    Fault(
      .conflict,
      code: "refund_differs",
      "\(attempt.reference.quotedForMessage) was refunded before, under another name",
      hint: "a further refund needs --new-attempt and its own --refund-reference; see: "
        + "tender journal show \(attempt.reference)"
    )
  }

  fileprivate static var unnamedRefund: Fault {
    Fault.badOptions(
      "--new-attempt on a refund needs --refund-reference",
      hint: "a name of yours for this further refund; the same one never refunds twice"
    )
  }

  fileprivate static func otherRefundUnknown(
    _ attempt: Attempt,
    _ lost: Refund
  ) -> Fault {
    Fault(
      .conflict,
      code: "refund_differs",
      "what became of a refund of \(attempt.facts.text(ofMinorUnits: lost.amount))"
        + (lost.name.map { " (\($0.quotedForMessage))" } ?? "") + " is not known yet",
      hint: "find out first, with its amount and name or: tender journal resume "
        + attempt.reference.text
    )
  }

  /// A refund whose answer was lost turned out not to have been made.
  fileprivate static func refundNotMade(_ attempt: Attempt) -> Fault {
    Fault(
      .providerError,
      code: "refund_not_made",
      "the refund of \(attempt.reference.quotedForMessage) whose answer was lost was not made",
      hint: "run the same command again to send it"
    )
  }

  fileprivate static func tooMuch(_ attempt: Attempt, left: Int) -> Fault {
    Fault(
      .conflict,
      code: "refund_exceeds",
      "\(attempt.facts.text(ofMinorUnits: max(0, left))) are left to refund of "
        + attempt.reference.quotedForMessage,
      hint: "name at most that with --amount"
    )
  }
}
