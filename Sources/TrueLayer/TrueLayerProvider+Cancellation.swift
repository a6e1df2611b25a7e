package import TenderEngine
package import TenderModel

/// Cancel, revoke and refund, and the recovery of lost answers.
extension TrueLayerProvider {
  func cancel(_ progress: Progress) throws(Fault) -> Outcome {
    let id = try id(of: progress)
    do throws(Fault) {
      // It is cancelled without a look first: in between, the payer may authorize it.
      let known = Resource(kind: .payment, id: id, body: ["status": "authorizing"])
      let seen = try runner(progress).cancel(known, key: progress.operation.key)
      return try seen.cancelled
    } catch {
      guard error.cause == .genericConflict, !progress.isUnderWay else { throw error }
      let resource = try runner(progress).look(.payment, id)
      guard !resource.isOpen else { throw error }
      return try resource.cancelled
    }
  }

  func revoke(_ progress: Progress) throws(Fault) -> Outcome {
    let runner = runner(progress)
    let isAuthorized = progress.attempt.state.name == .succeeded
    let status = isAuthorized ? "authorized" : progress.payment.providerStatus ?? "authorizing"
    let resource = Resource(
      kind: .mandate,
      id: try id(of: progress),
      body: ["status": .string(status)]
    )
    guard isAuthorized else { throw .notRevocable(resource) }
    try requireClient(for: "to revoke a mandate")
    try progress.willSend()
    let answer = try client.post(
      Paths.resource(.mandate, resource.id) + "/revoke",
      key: progress.operation.key,
      .client(Scopes.of(.mandate)),
      progress,
      about: .mandate
    )
    let seen = runner.lookAfterwards(resource) { $0.status == "revoked" }
    if let seen, seen.status == "revoked" { return seen.withdrawn }
    // 204 is the documented success (README, 8.2). Any other status is not.
    guard answer.status == 204 else {
      throw .unexpectedBehaviour("the revocation was answered \(answer.status)")
    }
    // The revocation was accepted. Only the mandate shows that it was made.
    guard let seen else {
      throw .unexpectedBehaviour("a revocation that cannot be looked at")
    }
    throw Fault.cancelPending(seen).proven
  }

  /// Refunds a settled payment. The body stays in the journal until its effect is known.
  func refund(_ request: RefundRequest, _ progress: Progress) throws(Fault) -> Outcome {
    let reference = progress.payment.reference
    let statement = try Creation.statement(request.statement, orFrom: reference.text)
    // Only a settled payment can be refunded. Before that, the bank still works on it.
    guard progress.attempt.state.name == .succeeded else {
      throw Fault.nothingToRefund(progress.payment)
        .with { $0.cause = progress.attempt.hasConsent ? .genericConflict : $0.cause }
    }
    let body: JSONObject = [
      "amount_in_minor": progress.operation.amount?.json, "reference": .string(statement),
      "metadata": request.reason.map { ["reason": .string($0)] },
    ]
    let text = JSONWriter.text(.object(body))
    try progress.prepare(.secret(text), sendingNext: true)
    return try sendRefund(text, progress)
  }

  /// Sends a refund again whose answer was lost.
  func refundAgain(_ progress: Progress) throws(Fault) -> Outcome {
    guard let kept = progress.operation.preparation?.text else {
      throw .requestLost(progress.payment)
    }
    return try sendRefund(kept, progress)
  }

  /// Sends a refund. The same body with the same key is the same refund (README, 7.1).
  private func sendRefund(_ body: String, _ progress: Progress) throws(Fault) -> Outcome {
    guard let key = progress.operation.key else { throw .requestLost(progress.payment) }
    let payment = try id(of: progress)
    try progress.willSend()
    let path = Paths.resource(.payment, payment) + "/refunds"
    let scope = Client.Credential.client(Scopes.payments)
    let answer = try client.post(path, Array(body.utf8), key: key, scope, progress)
    guard let id = answer.body.text("id"), ResourceID.isSafe(id) else {
      throw .unexpectedBehaviour("a refund without id", traceID: answer.traceID)
    }
    // The refund's state is read by another request, which may fail or lag behind.
    for pause in [500, 0] {
      do throws(Fault) {
        return try look(atRefund: id, progress)
      } catch {
        if error.kind.isStop { throw error }
        guard error.kind == .notFound || error.cause == .unclear else { break }
        // The payment has no such refund, so the id belongs to another request.
        if pause == 0 { throw error }
        try context.clock.pause(milliseconds: pause)
      }
    }
    return BankRefund([
      "id": .string(id), "status": "pending", "amount_in_minor": progress.operation.amount?.json,
      "currency": progress.payment.currency.map { .string($0.code) },
    ]).outcome
  }

  /// Returns the outcome of a refund by its id.
  ///
  /// Throws `provider_error` if the answer is about another refund.
  private func look(atRefund id: String, _ progress: Progress) throws(Fault) -> Outcome {
    let path = Paths.resource(.payment, try self.id(of: progress)) + "/refunds/" + id
    let answer = try client.get(path, .client(Scopes.payments))
    let refund = BankRefund(answer.body)
    let currency = progress.payment.currency?.code
    guard refund.id == id, refund.amount == progress.operation.amount,
      refund.currency == currency
    else {
      let why = "the answer is about another refund"
      throw Fault.unexpectedBehaviour(why, traceID: answer.traceID).with { $0.cause = .unclear }
    }
    return refund.outcome
  }

  /// Adds the refunds of a payment to a look-up's outcome, if they can be read.
  func takeRefunds(
    into outcome: inout Outcome,
    _ resource: Resource,
    _ query: LookUp
  ) throws(Fault) {
    let isPaid = resource.status == "settled" || query.isBeforeSend && query.isPaid
    guard resource.kind == .payment, isPaid, context.configuration.hasClient,
      query.isBeforeSend || !query.refunds.isEmpty || client.usesClient(for: resource.id)
    else { return }
    let answer: Client.Answer
    do throws(Fault) {
      let path = Paths.resource(.payment, resource.id) + "/refunds"
      answer = try client.get(path, .client(Scopes.payments))
    } catch {
      // Not every account may list refunds. Then only the payment's own members are shown.
      guard !query.isBeforeSend, [.notFound, .auth, .rejected].contains(error.kind) else {
        throw error
      }
      return
    }
    // The same command refunds again after a failed refund, so an entry must name itself completely.
    let items = answer.body["items"]?.array?.map { BankRefund($0.object ?? [:]) }
    func isWhole(_ refund: BankRefund) -> Bool {
      refund.id != nil && (refund.amount ?? -1) >= 0 && refund.currency == resource.currency
    }
    guard !query.isBeforeSend || items?.allSatisfy(isWhole) == true else {
      throw .unexpectedBehaviour("a list of refunds that cannot be read", traceID: answer.traceID)
    }
    var refunds: [BankRefund] = []
    // A refund that is listed twice is one refund.
    for refund in items ?? []
    where isWhole(refund) && !refunds.contains(where: { $0.id == refund.id }) {
      refunds.append(refund)
    }
    // An entry does not name its payment. A list without a refund that the journal has is old, or that of
    // another payment.
    guard Set(query.refunds).isSubset(of: refunds.compactMap(\.id)) else {
      guard !query.isBeforeSend else {
        throw .unexpectedBehaviour("a list that lacks a refund", traceID: answer.traceID)
      }
      return
    }
    if refunds.isEmpty { return }
    outcome.refunds = refunds.compactMap(\.seen)
    outcome.refundedAmount = refunds.filter(\.isExecuted).reduce(0) { $0 + ($1.amount ?? 0) }
    outcome.details["refunds"] = .array(refunds.map { .object($0.members) })
  }

  package func look(_ progress: Progress) throws(Fault) -> Finding {
    let operation = progress.operation
    // A refund is found by its key, or in the payment's list. There is no request that looks up a reference (README,
    // 1.4).
    guard operation.kind != .refund, let id = progress.attempt.id else { return .cannotLook }
    let resource = try runner(progress).look(progress.payment.kind, id)
    if operation.hasConsent { try resource.checkIsAfterConsent() }
    switch (operation.kind, resource.status) {
    case (.void, "failed") where resource.shownStatus == .cancelled, (.revoke, "revoked"):
      return .happened(resource.withdrawn)
    // From these states on, a payment cannot be cancelled (README, 8.1).
    case (.void, "authorized"), (.void, "executed"), (.void, "settled"), (.void, "failed"):
      return .refuted(.tooLate(resource))
    case (.revoke, "failed"): return .refuted(.notRevocable(resource))
    case (.void, _), (.revoke, _): return .absent
    default: return .happened(resource.outcome)
    }
  }

  @Sendable static func recovery(of operation: Operation, in payment: Payment) -> Recovery {
    let isLost =
      operation.id == nil && operation.preparation == nil
      && (operation.isAttempt || operation.kind == .refund)
    return isLost ? .byHand(canResend: false) : .sameKey()
  }
}

extension Resource {
  /// The outcome of a cancellation, from the payment after it.
  ///
  /// Throws `conflict` if it can no longer be cancelled, `pending` if it does not show the cancellation yet.
  fileprivate var cancelled: Outcome {
    get throws(Fault) {
      if shownStatus == .cancelled { return withdrawn }
      guard isOpen else { throw Fault.tooLate(self).proven }
      // The cancellation was accepted, but the payment does not show it yet.
      throw Fault.cancelPending(self).proven
    }
  }
}

extension Fault {
  private static func notAllowed(code: String, _ message: String, hint: String?) -> Fault {
    let result: JSONObject = ["error": "generic", "reason": "the status does not allow it"]
    return Fault(.conflict, code: code, message, hint: hint, result: result)
  }

  fileprivate static func tooLate(_ resource: Resource) -> Fault {
    notAllowed(
      code: "nothing_to_cancel",
      "the payment is \(resource.status): it cannot be cancelled any more",
      hint: resource.status == "failed"
        ? "there is nothing to undo"
        : resource.isExecutedForGood
          ? "TrueLayer cannot refund a payment to an external account"
          : "once it is settled it can be refunded"
    )
  }

  fileprivate static func notRevocable(_ resource: Resource) -> Fault {
    notAllowed(
      code: "mandate_not_authorized",
      "the mandate is \(resource.status): only an authorized one can be revoked",
      hint: resource.isOpen ? "it expires by itself, 15 minutes after its creation" : nil
    ).with { $0.cause = resource.isOpen ? .genericConflict : nil }
  }

  static func nothingToRefund(_ payment: Payment) -> Fault {
    notAllowed(
      code: "nothing_to_refund",
      "\(payment.reference.quotedForMessage) is not a settled payment to a merchant account",
      hint: "TrueLayer refunds only those: pay into one by --merchant-account"
    ).then(payment.next(.look))
  }

  /// The payment was never made at TrueLayer, or an operator resolved it, so that its id is not known.
  static func idUnknown(_ payment: Payment) -> Fault {
    let name = payment.reference.quotedForMessage
    guard payment.attempt?.state.name == .succeeded else {
      return .conflict(
        "nothing_to_confirm",
        "\(name) has no payment or mandate at TrueLayer"
      ).then(payment.next(.show))
    }
    return .conflict(
      "id_unknown",
      "\(name) was resolved by hand, so its id is not in the journal; nothing was sent",
      "take its id from TrueLayer's Console, and give that instead of the reference"
    )
  }

  /// The body or key of a request whose answer was lost is no longer stored.
  static func requestLost(_ payment: Payment) -> Fault {
    .conflict(
      "creation_lost",
      "the request sent for \(payment.reference.quotedForMessage) is no longer in the journal",
      "look for its reference in TrueLayer's Console"
    )
  }
}

/// A refund as TrueLayer shows it (README, 8.3 and 8.4).
struct BankRefund {
  let members: JSONObject

  init(_ members: JSONObject) { self.members = members.withoutNulls }

  var id: String? { members.text("id") }
  var amount: Int? { members["amount_in_minor"]?.boundedNumber }
  var currency: String? { members.text("currency")?.uppercased() }
  var isExecuted: Bool { members.text("status") == "executed" }

  private var status: Status {
    switch members.text("status") {
    case "executed": .succeeded
    // A refund that failed later had been executed.
    case "failed": members["executed_at"] == nil ? .declined : .returned
    default: .pending
    }
  }

  private var fault: Fault? {
    guard members.text("status") == "failed" else { return nil }
    return Fault(
      .declined,
      code: "refund_failed",
      "the refund failed: \(members.text("failure_reason") ?? "no reason given")",
      hint: "nothing was refunded; once the reason is gone, the same command tries again"
    ).with { $0.again = .operator }
  }

  var outcome: Outcome {
    var outcome = Outcome(
      status: status,
      id: id,
      amount: amount,
      currency: currency.flatMap(Currency.init(code:)),
      result: ["refund": .object(members)],
      fault: fault
    )
    outcome.providerStatus = members.text("status")
    return outcome
  }

  /// The refund as an entry of a list; nil if it has no id or amount.
  var seen: Outcome.Seen? {
    guard let id, let amount, let state = outcome.state else { return nil }
    var seen = Outcome.Seen(id: id, state: state, amount: amount, result: outcome.result)
    seen.fault = fault
    return seen
  }
}
