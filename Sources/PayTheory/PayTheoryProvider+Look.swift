package import TenderEngine
package import TenderModel

/// Looks at requests whose answer was lost, by receipt number or by reference. Nothing here can move money.
extension PayTheoryProvider {
  @Sendable static func recovery(of operation: Operation, in payment: Payment) -> Recovery {
    let byHand = Recovery.byHand(canResend: operation.mutation != nil)
    guard operation.mutation == nil else { return byHand }
    switch operation.kind {
    // The receipt number is the transfer's idempotency key, so sending it again cannot charge twice. On live,
    // a first request that may still arrive gets a minute.
    case .charge where operation.prepared != nil, .capture where payment.attempt?.prepared != nil:
      return .sameKey(after: payment.env == .live ? 60_000 : 0)
    case .void where payment.attempt?.prepared != nil: return .sameKey()
    default: return byHand
    }
  }

  package func look(_ progress: Progress) throws(Fault) -> Finding {
    let operation = progress.operation
    let graphQL = try GraphQL(context, for: "a look-up")
    switch operation.kind {
    case .charge, .capture, .void:
      if let prepared = operation.prepared ?? progress.attempt.prepared {
        return try lookAtTransfer(prepared, progress, graphQL)
      }
      return operation.kind == .charge
        ? try lookByReference(progress, graphQL) : try lookAtAuthorization(progress, graphQL)
    case .authorize: return try lookForAuthorization(progress, graphQL)
    // A reversal is found in the payment's list.
    case .refund, .store, .createMandate, .revoke, .payout: return .cannotLook
    }
  }

  /// Looks at a transfer over the socket, by its receipt number.
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
    return .happened(try happened(found, progress, graphQL))
  }

  /// Returns a lost charge or capture that was found. It is the outcome of a look at the whole payment: others may
  /// have given a part of it back since.
  private func happened(
    _ found: JSONObject,
    _ progress: Progress,
    _ graphQL: GraphQL,
    in list: [JSONObject] = []
  ) throws(Fault) -> Outcome {
    let made = try charged(found, progress)
    var query = LookUp(id: made.id)
    (query.amount, query.isKnown) = (made.amount, true)
    var outcome = try lookedUp(found, query, graphQL, in: list)
    (outcome.amount, outcome.isNewID) = (made.amount, made.isNewID)
    // The words of a void are those of its own operation.
    if outcome.isVoided { outcome.result = made.result }
    return outcome
  }

  /// Looks at a payment without a receipt number, by reference, amount, currency, instrument and time.
  private func lookByReference(_ progress: Progress, _ graphQL: GraphQL) throws(Fault) -> Finding {
    var query = LookUp(reference: progress.payment.reference)
    query.others = progress.otherIDs
    let list = try transactions(of: progress.payment.reference.text, graphQL)
    let found = try newest(of: list, query) { item throws(Fault) in
      try isThis(item, Transactions.gross(item), item.text("transaction_date"), progress)
    }
    guard let found else { return .absent }
    var outcome = try happened(found, progress, graphQL, in: list)
    outcome.charges = Transactions.charges(list)
    return .happened(outcome)
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
      guard Transactions.isKnown(found) else { throw .unknownState(found) }
      return .happened(Authorizations.held(found, amount: progress.operation.amount))
    }
    return .absent
  }

  /// Looks at a capture or void over GraphQL, by its authorization.
  private func lookAtAuthorization(
    _ progress: Progress,
    _ graphQL: GraphQL
  ) throws(Fault) -> Finding {
    guard let id = progress.attempt.id, let found = try graphQL.authorization(id) else {
      return .absent
    }
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
    return .happened(try happened(transaction, progress, graphQL))
  }

  // MARK: By reference

  /// The maximum difference between the clocks of both sides, in milliseconds.
  private static let skew = 60_000

  /// Returns whether a transaction with the same reference is this operation: by amount, currency, instrument
  /// and time.
  ///
  /// Throws if everything but the time fits. That proves neither that it happened nor that it did not.
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
    // A date without a time means the first moment of that day.
    let precision = date.utf8.count == 10 ? 24 * 60 * 60_000 : 0
    if made >= sent - Self.skew - precision { return true }
    throw .cannotTell(
      "Pay Theory has an older payment like it, \(Transactions.id(item)): whether that is this one "
        + "cannot be told"
    )
  }

  // MARK: Payments made elsewhere

  /// Returns the outcome of a transaction that was made elsewhere. Nothing is sent that can move money.
  func existing(_ id: String) throws(Fault) -> Outcome {
    let graphQL = try GraphQL(context, for: "a look-up")
    guard let found = try graphQL.transaction(id), Transactions.isPayment(found) else {
      throw .unknownHandle(id)
    }
    guard Transactions.isKnown(found) else { throw .unknownState(found) }
    var outcome = try chain(of: found, graphQL).lookedUp
    outcome.id = id
    return outcome
  }

  // MARK: Look-ups (README, 6.4): transactions, authorizations and cash barcodes

  package func canLook(at payment: Payment) -> Bool {
    guard let attempt = payment.attempt, context.configuration.hasMerchant else { return false }
    // Before part 2, Pay Theory shows nothing of a hold over the socket.
    return attempt.prepared == nil || !payment.state.isHeld
  }

  package func lookUp(_ query: LookUp) throws(Fault) -> Outcome? {
    let graphQL = try GraphQL(context, for: "a look-up")
    if let id = query.id, Barcodes.isID(id) { return try lookUp(barcode: id, query, graphQL) }
    // The charges of a reference are one query, and another one is only needed where they lack the id.
    let list =
      try query.reference.map { reference throws(Fault) in
        try transactions(of: reference.text, graphQL)
      } ?? []
    var found: JSONObject?
    if let id = query.id {
      found = list.first { Transactions.id($0) == id }
      if found == nil { found = try graphQL.transaction(id) }
    } else {
      found = try newest(of: list, query)
    }
    var outcome =
      if let found { try lookedUp(found, query, graphQL, in: list) as Outcome? } else {
        try authorization(query, graphQL)
      }
    // A list that lacks the payment itself is about something else.
    let own = found.map(Transactions.id)
    let isListed = own == nil || list.contains { Transactions.id($0) == own }
    if query.isKnown, isListed { outcome?.charges = Transactions.charges(list) }
    return outcome
  }

  /// Returns a hold by a stored method. Its captured part is the transaction of the capture.
  private func authorization(_ query: LookUp, _ graphQL: GraphQL) throws(Fault) -> Outcome? {
    let key = query.id == nil ? "reference" : "authorization_id"
    guard let value = query.id ?? query.reference?.text else { return nil }
    let found: [JSONObject]
    do throws(Fault) {
      found = try graphQL.authorizations(key, value)
    } catch {
      // Only some processors have authorizations, and older servers have no query for them.
      guard error.cause == .refused else { throw error }
      return nil
    }
    let authorization = found.first { item in
      item.text(key) == value && !query.others.contains(item.text("authorization_id") ?? "")
    }
    guard let authorization else { return nil }
    if let made = authorization.text("transaction_id"), !made.isEmpty,
      let transaction = try graphQL.transaction(made)
    {
      var outcome = try lookedUp(transaction, query, graphQL)
      outcome.captureID = made
      return outcome
    }
    return Authorizations.lookedUp(authorization, at: context.clock.now)
  }

  private func lookUp(
    barcode id: String,
    _ query: LookUp,
    _ graphQL: GraphQL
  ) throws(Fault) -> Outcome? {
    guard let barcode = try graphQL.barcode(id) else { return nil }
    let (paid, list) = try paid(barcode, graphQL)
    var outcome =
      if let paid { try lookedUp(paid, query, graphQL, in: list) } else {
        Barcodes.lookedUp(barcode, at: context.clock.now)
      }
    if query.isKnown { outcome.charges = Transactions.charges(list) }
    return outcome
  }

  /// Returns the payment of a transaction, under the id in the journal.
  private func lookedUp(
    _ transaction: JSONObject,
    _ query: LookUp,
    _ graphQL: GraphQL,
    in list: [JSONObject] = []
  ) throws(Fault) -> Outcome {
    var found = try chain(of: transaction, graphQL)
    if query.isBeforeSend { try Transactions.checkWhole(found) }
    let id = Transactions.id(found.now)
    let currency = Transactions.currency(found.now)
    func isReversal(_ item: JSONObject) -> Bool {
      item.text("parent_id") == id && Transactions.isReversal(item) && Transactions.isLive(item)
        && Transactions.currency(item) ?? currency == currency
    }
    found.reversals = list.filter(isReversal)
    // The journal explains the sum in most cases.
    if query.isKnown, let sum = try? Transactions.refunded(found.now), sum > 0,
      found.refunded != query.refunded
    {
      found.reversals = try graphQL.transactions("parent_id", id, limit: 50).filter(isReversal)
    }
    var outcome = found.lookedUp
    if query.isKnown {
      outcome.id = query.id ?? outcome.id
      if outcome.isVoided { outcome.result = FoundPayment.reversal(nil, isVoid: true) }
    }
    // Servers count a service fee in the amount or beside it.
    if Transactions.hasServiceFee(found.first), let fee = found.first["fees"]?.boundedNumber,
      let amount = outcome.amount, let asked = query.amount, abs(amount - asked) == fee
    {
      outcome.amount = asked
    }
    return outcome
  }

  /// Returns the transaction that paid a barcode, among all of its reference; nil if it is not paid.
  private func paid(
    _ barcode: JSONObject,
    _ graphQL: GraphQL
  ) throws(Fault) -> (paid: JSONObject?, list: [JSONObject]) {
    guard let id = barcode.text("barcode_id"), let reference = barcode.text("reference"),
      !reference.isEmpty
    else { return (nil, []) }
    let list = try transactions(of: reference, graphQL)
    let paid = list.first { found in
      Transactions.barcode(found) == id && Transactions.isPayment(found)
        && found.text("parent_id")?.isEmpty ?? true
    }
    return (paid, list)
  }

  /// Returns the transaction of a payment's capture, by the id in the journal.
  func captured(_ id: String, _ graphQL: GraphQL) throws(Fault) -> JSONObject? {
    guard Barcodes.isID(id) else { return try graphQL.transaction(id) }
    return try graphQL.barcode(id).flatMap { found throws(Fault) in try paid(found, graphQL).paid }
  }

  /// Returns the transactions of a reference.
  ///
  /// Throws `provider_error` if one of them may have taken money and has no id: nothing could name it.
  private func transactions(
    of reference: String,
    _ graphQL: GraphQL
  ) throws(Fault) -> [JSONObject] {
    let list = try graphQL.transactions("reference", reference, limit: 50)
      .filter { $0.text("reference").map { $0 == reference } ?? true }
    let isNameless = list.contains { item in
      Transactions.id(item).isEmpty && Transactions.status(item) != .declined
    }
    guard !isNameless else { throw .unreadable("a payment without its id") }
    return list
  }

  /// Returns the newest payment of a list that no other operation has.
  private func newest(
    of list: [JSONObject],
    _ query: LookUp,
    where isOne: (JSONObject) throws(Fault) -> Bool = { _ throws(Fault) in true }
  ) throws(Fault) -> JSONObject? {
    var declined: JSONObject?
    for item in list {
      let id = Transactions.id(item)
      guard Transactions.isPayment(item), !id.isEmpty, !query.others.contains(id), try isOne(item)
      else { continue }
      // A transaction that took money comes before one that did not.
      guard Transactions.status(item) == .declined else { return item }
      declined = declined ?? item
    }
    return declined
  }
}

extension Fault {
  /// The look-up proves neither that it happened nor that it did not.
  static func cannotTell(_ why: String, hint: String? = nil) -> Fault {
    Fault(.unknown, code: "outcome_unknown", why, hint: hint)
  }

  fileprivate static func otherPayment(_ receipt: String) -> Fault {
    cannotTell("\(receipt) has another amount, currency or reference at Pay Theory")
  }

  static func unknownState(_ made: JSONObject) -> Fault {
    let id = made.text("transaction_id") ?? made.text("authorization_id") ?? ""
    let state = made.text("status").map { "the state \($0.quotedForMessage)" } ?? "no state"
    return cannotTell("\(id) has \(state) at Pay Theory, which decides nothing")
  }

  fileprivate static var capturedMeanwhile: Fault {
    .conflict(
      "nothing_to_cancel",
      "it was captured, not released",
      "to refund it, run the same command again"
    )
  }
}
