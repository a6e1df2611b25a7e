package import TenderEngine
package import TenderModel
import TenderWire

/// Reversals: the whole of a payment, or a part of it (`createReversal`, protocol note, section 8.2).
extension PayTheoryProvider: RefundFlow {
  package func reverse(_ captured: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    guard let receipt = captured.id, let amount = captured.amount else {
      throw Fault(
        .conflict,
        code: "nothing_to_cancel",
        "reference \(captured.reference.quotedForMessage) has no receipt number to reverse"
      )
    }
    let reversal = try GraphQL(context, for: "a reversal").createReversal(
      receipt: receipt,
      amount: amount,
      willSend: progress.willSend
    )
    return Self.reversed(
      isVoid: reversal["is_void"]?.truth ?? false,
      transaction: reversal.text("transaction_id"),
      of: captured
    )
  }

  static func reversed(isVoid: Bool, transaction: String?, of attempt: Attempt) -> Outcome {
    var reversal: JSONObject = ["is_void": .bool(isVoid)]
    reversal["transaction_id"] = transaction.map(JSON.string)
    return Outcome(
      status: isVoid ? .cancelled : .refunded,
      id: attempt.id,
      result: ["reversal": .object(reversal)]
    )
  }

  package func refund(
    _ order: RefundOrder,
    of attempt: Attempt,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    guard attempt.isCaptured, let receipt = attempt.id else { throw .nothingToRefund(attempt) }
    let graphQL = try GraphQL(context, for: "a reversal")
    guard let payment = try transaction(LookUp(id: receipt)) else {
      throw .unknownReceipt(attempt, receipt)
    }
    let gone = try Self.refunded(payment)
    // Others may have given something back that this journal does not know.
    if let gross = payment["gross_amount"]?.boundedNumber, order.amount > gross - gone {
      throw .aboveRest(attempt, left: max(0, gross - gone))
    }
    let refund = Refund(order)
    let prepared = JSONWriter.text(refund.prepared("before", .integer(gone)))
    try progress.prepare(.plain(prepared), id: nil, sendingNext: true)
    let reversal = try graphQL.createReversal(
      receipt: receipt,
      amount: order.amount,
      willSend: progress.willSend
    )
    return Self.gaveBack(
      refund,
      isVoid: reversal["is_void"]?.truth ?? false,
      transaction: reversal.text("transaction_id"),
      attempt
    )
  }

  /// How much of a payment was given back, by what Pay Theory says; null is nothing.
  ///
  /// Throws `provider_error` where it does not say: what is not said is not nothing.
  private static func refunded(_ payment: JSONObject) throws(Fault) -> Int {
    if payment["refunded_amount"] == .null { return 0 }
    guard let amount = payment["refunded_amount"]?.boundedNumber else {
      throw .unreadable("a payment that does not say how much of it was given back")
    }
    return amount
  }

  /// What came of one refund among those of a payment.
  private static func gaveBack(
    _ refund: Refund,
    isVoid: Bool,
    transaction: String?,
    _ attempt: Attempt
  ) -> Outcome {
    var made = refund.without("key", "before")
    made.status = "executed"
    made.members["is_void"] = .bool(isVoid)
    made.members["transaction_id"] = transaction.map(JSON.string)
    var query = LookUp(id: attempt.id)
    query.amount = attempt.amount
    var outcome = gaveBack(attempt.refunds + [made], of: query)
    // A void of a part puts another payment in place of the first, for what is left.
    if isVoid, outcome.status == .partiallyRefunded, let transaction { outcome.id = transaction }
    return outcome
  }

  /// How a payment stands after refunds, in the words of the last one.
  static func gaveBack(_ refunds: [Refund], of query: LookUp) -> Outcome {
    let sum = refunds.reduce(0) { $0 + $1.amount }
    let last = refunds.last?.members ?? [:]
    var reversal: JSONObject = ["is_void": last["is_void"] ?? false]
    reversal["transaction_id"] = last["transaction_id"]
    var outcome = Outcome(
      status: sum >= query.amount ?? Int.max ? .refunded : .partiallyRefunded,
      id: query.id,
      result: ["reversal": .object(reversal)]
    )
    outcome.recorded = Outcome.Recorded(result: Reversal.parts(refunds).members)
    return outcome
  }

  package func pendingRefund(of attempt: Attempt) -> Refund? {
    guard attempt.operation == .cancel, let text = attempt.preparation?.plain else { return nil }
    return Refund(prepared: JSONReader.read(text)?.object)
  }

  /// By the original: its status, and how much of it was given back.
  func reversalFinding(_ attempt: Attempt) throws(Fault) -> Finding {
    guard let receipt = attempt.id, let found = try transaction(LookUp(id: receipt)) else {
      throw .unknownHandle(attempt.reference.text)
    }
    if let refund = pendingRefund(of: attempt) { return try partFinding(attempt, refund, found) }
    switch Transactions.status(found) {
    case .cancelled:
      return .happened(Self.reversed(isVoid: true, transaction: receipt, of: attempt))
    case .refunded:
      return .happened(Self.reversed(isVoid: false, transaction: nil, of: attempt))
    case .requiresConfirmation, .requiresAction, .pending, .authorized, .succeeded, .declined,
      .partiallyRefunded, .returned, .expired, .revoked, .failed, .unknown:
      let refunded = try Self.refunded(found)
      guard refunded > 0, refunded >= attempt.amount ?? Int.max else { return .didNotHappen }
      return .happened(Self.reversed(isVoid: false, transaction: nil, of: attempt))
    }
  }

  /// What became of a part: the original was voided for it, or has that much more given back.
  private func partFinding(
    _ attempt: Attempt,
    _ refund: Refund,
    _ found: JSONObject
  ) throws(Fault) -> Finding {
    let before = refund.members["before"]?.boundedNumber ?? 0
    let amount = refund.amount
    if Transactions.status(found) == .cancelled {
      let receipt = try replacement(of: attempt)
      let isAll = before + amount >= attempt.amount ?? 0
      guard isAll || receipt != nil else { throw .otherRefunds(attempt, "all of it was voided") }
      return .happened(Self.gaveBack(refund, isVoid: true, transaction: receipt, attempt))
    }
    let refunded = try Self.refunded(found)
    if refunded == before + amount {
      return .happened(Self.gaveBack(refund, isVoid: false, transaction: nil, attempt))
    }
    guard refunded == before else {
      throw .otherRefunds(
        attempt,
        "\(attempt.facts.text(ofMinorUnits: refunded)) were given back, where "
          + "\(attempt.facts.text(ofMinorUnits: before)) or "
          + "\(attempt.facts.text(ofMinorUnits: before + amount)) were expected"
      )
    }
    return .didNotHappen
  }

  /// The payment that stands in place of one that was voided in part; nil where all was.
  private func replacement(of attempt: Attempt) throws(Fault) -> String? {
    let query = LookUp(reference: attempt.reference, others: [attempt.id ?? ""])
    return try transaction(query) { Transactions.status($0) != .cancelled }?.text("transaction_id")
  }
}

extension Fault {
  /// What was given back is not what was sent: somebody else gives it back too.
  fileprivate static func otherRefunds(_ attempt: Attempt, _ what: String) -> Fault {
    Fault(
      .unknown,
      code: "outcome_unknown",
      "\(attempt.reference.quotedForMessage) was given back elsewhere too: \(what)",
      hint: "look at it in the merchant portal; then: tender journal settle "
        + "\(attempt.reference) --as partially_refunded --reason TEXT"
    )
  }

  fileprivate static func nothingToRefund(_ attempt: Attempt) -> Fault {
    Fault(
      .conflict,
      code: "nothing_to_refund",
      "\(attempt.reference.quotedForMessage) is \(attempt.shownStatus.rawValue): only what was "
        + "captured can be given back",
      hint: "see: tender journal show \(attempt.reference)"
    )
  }

  fileprivate static func unknownReceipt(_ attempt: Attempt, _ receipt: String) -> Fault {
    Fault(
      .notFound,
      code: "payment_not_found",
      "Pay Theory does not know \(receipt)",
      hint: "see: tender journal show \(attempt.reference)"
    )
  }

  fileprivate static func aboveRest(_ attempt: Attempt, left: Int) -> Fault {
    Fault(
      .conflict,
      code: "refund_exceeds",
      "\(attempt.facts.text(ofMinorUnits: left)) are left to refund of "
        + "\(attempt.reference.quotedForMessage), by what Pay Theory says",
      hint: "name at most that with --amount"
    )
  }
}
