package import TenderEngine
package import TenderModel

/// Finding out what a request did whose answer was lost: by receipt number, by reference, or by the original of a
/// reversal. Nothing here can move money.
extension PayTheoryProvider {
  package func recovery(of operation: Operation, in payment: Payment) -> Recovery {
    let byHand = Recovery.byHand(canResend: operation.mutation != nil)
    guard operation.mutation == nil else { return byHand }
    switch operation.kind {
    // The receipt number is the transfer's own key: sent again it cannot charge twice. On live a first one that is
    // still on its way gets a minute.
    case .charge where operation.prepared != nil, .capture where payment.attempt?.prepared != nil:
      return .sameKey(after: context.configuration.env == .live ? 60_000 : 0)
    case .void where payment.attempt?.prepared != nil: return .sameKey()
    default: return byHand
    }
  }

  package func look(_ progress: Progress) throws(Fault) -> Finding {
    let operation = progress.operation
    let graphQL = try GraphQL(context, for: "a look-up")
    switch operation.kind {
    case .refund: return try lookAtReversal(progress, graphQL)
    case .charge, .capture, .void:
      if let prepared = operation.prepared ?? progress.attempt.prepared {
        return try lookAtTransfer(prepared, progress, graphQL)
      }
      return operation.kind == .charge
        ? try lookByReference(progress, graphQL) : try lookAtAuthorization(progress, graphQL)
    case .authorize: return try lookForAuthorization(progress, graphQL)
    case .store, .createMandate, .revoke, .payout: return .cannotLook
    }
  }

  /// A transfer over the socket, by its receipt number.
  private func lookAtTransfer(
    _ prepared: PreparedTransfer,
    _ progress: Progress,
    _ graphQL: GraphQL
  ) throws(Fault) -> Finding {
    guard let found = try graphQL.transaction(prepared.receipt) else { return .absent }
    if progress.operation.kind == .void {
      return Transactions.status(found) == .cancelled
        ? .happened(Outcome(status: .cancelled, result: [:])) : .refuted(.capturedMeanwhile)
    }
    guard fits(found, Transactions.gross(found), progress) else {
      throw .otherPayment(prepared.receipt)
    }
    var outcome = Transactions.payment(found)
    outcome.amount = progress.operation.amount ?? outcome.amount
    return .happened(outcome)
  }

  /// A payment without a receipt number: by its reference, amount, currency, instrument and time.
  private func lookByReference(_ progress: Progress, _ graphQL: GraphQL) throws(Fault) -> Finding {
    var query = LookUp(reference: progress.payment.reference)
    query.others = progress.otherIDs
    let found = try transaction(query, graphQL) { item throws(Fault) in
      try isThis(item, Transactions.gross(item), item.text("transaction_date"), progress)
    }
    guard let found else { return .absent }
    return .happened(try charged(found, progress))
  }

  private func lookForAuthorization(
    _ progress: Progress,
    _ graphQL: GraphQL
  ) throws(Fault) -> Finding {
    let reference = progress.payment.reference.text
    for found in try graphQL.authorizations("reference", reference) {
      guard let id = found.text("authorization_id"), !progress.otherIDs.contains(id),
        found.text("reference") == reference
      else { continue }
      let made = found.text("authorization_date")
      guard try isThis(found, found["amount"]?.boundedNumber, made, progress) else { continue }
      return .happened(Authorizations.held(found, amount: progress.operation.amount))
    }
    return .absent
  }

  /// A capture or a release by GraphQL: by the authorization.
  private func lookAtAuthorization(
    _ progress: Progress,
    _ graphQL: GraphQL
  ) throws(Fault) -> Finding {
    guard let id = progress.attempt.id,
      let found = try graphQL.authorizations("authorization_id", id)
        .first(where: { $0.text("authorization_id") == id })
    else { return .absent }
    let captured = found.text("transaction_id").flatMap { $0.isEmpty ? nil : $0 }
    if progress.operation.kind == .void {
      if captured != nil { return .refuted(.capturedMeanwhile) }
      return Authorizations.isReleased(found)
        ? .happened(Outcome(status: .cancelled, amount: progress.operation.amount, result: [:]))
        : .absent
    }
    guard let captured, let transaction = try graphQL.transaction(captured) else { return .absent }
    guard fits(transaction, Transactions.gross(transaction), progress) else {
      throw .otherPayment(captured)
    }
    return .happened(try charged(transaction, progress))
  }

  // MARK: Reversals

  /// By the original: its status, how much of it was refunded, and what took its place.
  private func lookAtReversal(_ progress: Progress, _ graphQL: GraphQL) throws(Fault) -> Finding {
    let (operation, payment) = (progress.operation, progress.payment)
    let kept = operation.mutation
    guard let id = kept?.target ?? payment.state.id, let found = try captured(id, graphQL) else {
      return .absent
    }
    guard isSame(found, payment) else { throw .otherPayment(id) }
    let receipt = Transactions.id(found)
    let amount = operation.amount ?? 0
    // A journal of an earlier version has only what it refunded itself.
    let before = kept?.refunded ?? payment.refunded()
    let followers = try graphQL.transactions("parent_id", receipt, limit: 50).filter {
      $0.text("parent_id") == receipt && !progress.otherIDs.contains(Transactions.id($0))
    }
    func happened(isVoid: Bool, _ made: JSONObject?) -> Finding {
      let id = made.map { Transactions.id($0) }
      return .happened(reversed(isVoid: isVoid, transaction: id, target: receipt, operation))
    }
    if Transactions.status(found) == .cancelled {
      let left = (Transactions.gross(found) ?? 0) - before - amount
      // What was declined, or was voided itself, took no place.
      var others = followers.filter { Transactions.isPayment($0) && Transactions.isLive($0) }
      if left > 0, others.isEmpty { others = try orphans(of: receipt, left, progress, graphQL) }
      let next = others.first { Transactions.gross($0) == left && isSame($0, payment) }
      guard left == 0 ? others.isEmpty : next != nil else {
        throw .refundedElsewhere(
          payment,
          "it was voided, and nothing for \(payment.text(ofMinorUnits: left)) took its place"
        )
      }
      return happened(isVoid: true, next)
    }
    let refunded = try Transactions.refunded(found)
    let made = followers.first {
      !Transactions.isPayment($0) && Transactions.gross($0) == amount
    }
    // What was refunded before was itself one answer: with the refund in sight, the journal's own sum will do.
    let isSeen = made.map(Transactions.isLive) ?? false
    if refunded == before + amount || isSeen && refunded == payment.refunded() + amount {
      return happened(isVoid: false, made)
    }
    // Less than before: the look-up lags.
    guard refunded <= before else {
      throw .refundedElsewhere(
        payment,
        "Pay Theory refunded \(payment.text(ofMinorUnits: refunded)), where "
          + "\(payment.text(ofMinorUnits: before)) or \(payment.text(ofMinorUnits: before + amount)) "
          + "is expected"
      )
    }
    return .absent
  }

  /// What has the reference and amount of a replacement, was made since the void was sent, and names no parent.
  ///
  /// That a replacement names its parent is not public. Empty where there is more than one.
  private func orphans(
    of receipt: String,
    _ amount: Int,
    _ progress: Progress,
    _ graphQL: GraphQL
  ) throws(Fault) -> [JSONObject] {
    let since = (progress.operation.state.sent?.at ?? 0) - Self.skew
    let found = try graphQL.transactions("reference", progress.payment.reference.text, limit: 50)
      .filter { item in
        let made = item.text("transaction_date").flatMap { Timestamp.read($0) } ?? 0
        return Transactions.isPayment(item) && Transactions.isLive(item) && made >= since
          && Transactions.gross(item) == amount && item.text("parent_id")?.isEmpty ?? true
          && Transactions.id(item) != receipt && !progress.otherIDs.contains(Transactions.id(item))
      }
    return found.count == 1 ? found : []
  }

  // MARK: By reference

  /// How far the clocks of both sides may be apart, in milliseconds.
  private static let skew = 60 * 60_000

  /// Whether something of the same reference is what an operation made: its amount, currency, instrument and time.
  ///
  /// Throws where all fits but the time: it proves neither that this happened nor that it did not.
  private func isThis(
    _ item: JSONObject,
    _ amount: Int?,
    _ date: String?,
    _ progress: Progress
  ) throws(Fault) -> Bool {
    guard fits(item, amount, progress) else { return false }
    let operation = progress.operation
    let method = item["payment_method"]
    if let lastFour = progress.payment.lastFour, let other = method?["last_four"]?.text,
      !other.isEmpty, other != lastFour
    {
      return false
    }
    if let token = operation.content.text("token"), let other = method?["payment_method_id"]?.text,
      other != token
    {
      return false
    }
    guard let sent = operation.state.sent?.at, let date, let made = Timestamp.read(date) else {
      return true
    }
    // A date alone is that day's first moment.
    let precision = date.utf8.count == 10 ? 24 * 60 * 60_000 : 0
    if made >= sent - Self.skew - precision { return true }
    throw Fault(
      .unknown,
      code: "outcome_unknown",
      "Pay Theory has an older payment like it, \(Transactions.id(item)): whether that is this one "
        + "cannot be told"
    )
  }
}

extension Fault {
  fileprivate static func otherPayment(_ receipt: String) -> Fault {
    Fault(
      .unknown,
      code: "outcome_unknown",
      "\(receipt) has another amount, currency or reference at Pay Theory"
    )
  }

  fileprivate static var capturedMeanwhile: Fault {
    Fault(
      .conflict,
      code: "nothing_to_cancel",
      "it was captured, not released",
      hint: "to refund it, run the same command again"
    )
  }

  /// What was refunded is not what was sent: somebody else refunds it too.
  fileprivate static func refundedElsewhere(_ payment: Payment, _ what: String) -> Fault {
    Fault(
      .unknown,
      code: "outcome_unknown",
      "\(payment.reference.quotedForMessage) is not as this refund alone would leave it: \(what)",
      hint: "look at it in the merchant portal; then: tender journal resolve "
        + "\(payment.shellReference) --as refunded --reason TEXT"
    )
  }
}
