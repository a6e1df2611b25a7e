package import TenderEngine
package import TenderModel
import TenderWire

/// Cancel, revoke, refund, and finding out what a lost answer said.
extension TrueLayerProvider {
  package func withdraw(_ attempt: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    let id = try id(of: attempt)
    if attempt.kind == .mandate {
      return try revoke(try client.resource(attempt.kind, id), progress)
    }
    do throws(Fault) {
      // Asked for at once: between a look and a cancel the payer may authorize it.
      let known = Resource(kind: .payment, id: id, body: ["status": "authorizing"])
      return try cancelled(try runner(progress).cancel(known))
    } catch {
      guard error.cause == .genericConflict, error.effect == .none else { throw error }
      let resource = try client.resource(.payment, id)
      guard !resource.isOpen else { throw error }
      return try cancelled(resource)
    }
  }

  /// The outcome of a cancel by how the payment stands after it.
  private func cancelled(_ seen: Resource) throws(Fault) -> Outcome {
    if seen.shownStatus == .cancelled { return seen.withdrawn }
    guard seen.isOpen else { throw Fault.tooLate(seen).proven }
    throw Fault.cancelPending(seen).proven
  }

  private func revoke(_ resource: Resource, _ progress: Progress) throws(Fault) -> Outcome {
    if resource.status == "revoked" { return resource.withdrawn }
    guard resource.status == "authorized" else { throw .notRevocable(resource) }
    let missing = context.configuration.missing(key: true)
    guard missing.isEmpty else { throw .sdkNotConfigured(missing, for: "to revoke a mandate") }
    try progress.willSend()
    let answer = try client.send(
      Client.Call(
        method: .post,
        path: Paths.resource(.mandate, resource.id) + "/revoke",
        key: context.randomness.uuid().lowercased(),
        credential: .client(Scopes.of(.mandate)),
        isEffecting: true,
        kind: .mandate
      )
    )
    let seen = runner(progress).lookAfterwards(resource) { $0.status == "revoked" }
    if let seen, seen.status == "revoked" { return seen.withdrawn }
    // 204 is the documented success (note, section 2b); any other is none.
    guard answer.status == 204 else {
      throw Fault.unexpectedBehaviour("the revocation was answered \(answer.status)").afterSending
    }
    var revoked = resource
    revoked.body["status"] = "revoked"
    return revoked.withdrawn
  }

  package func refund(
    _ order: RefundOrder,
    of attempt: Attempt,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    let id = try id(of: attempt)
    let missing = context.configuration.missing(key: true)
    guard missing.isEmpty else { throw .sdkNotConfigured(missing, for: "a refund") }
    guard attempt.kind == .payment else { throw .nothingToRefund(attempt) }
    let statement = try Creation.statement(order.request.statement, orFrom: attempt.reference.text)
    let payment = try client.resource(.payment, id)
    guard payment.status == "settled" else { throw .nothingToRefund(attempt) }
    let body: JSON = [
      "amount_in_minor": .integer(order.amount),
      "reference": .string(statement),
    ]
    let refund = Refund(order)
    let text = JSONWriter.text(body)
    let prepared = JSONWriter.text(refund.prepared("body", .string(text)))
    try progress.prepare(.secret(prepared), id: nil, sendingNext: true)
    try progress.willSend()
    return try sendRefund(refund, body: text, attempt)
  }

  /// Sends a refund: the same body under the same key is the same refund.
  private func sendRefund(
    _ prepared: Refund,
    body: String,
    _ attempt: Attempt
  ) throws(Fault) -> Outcome {
    let id = try id(of: attempt)
    let answer = try client.send(
      Client.Call(
        method: .post,
        path: Paths.resource(.payment, id) + "/refunds",
        body: Array(body.utf8),
        key: prepared.key,
        credential: .client(Scopes.payments),
        isEffecting: true
      )
    )
    guard let refund = answer.body.text("id"), ResourceID.isSafe(refund) else {
      throw Fault.unexpectedBehaviour("a refund without id", traceID: answer.traceID).afterSending
    }
    var made = prepared.without("body")
    made.members["id"] = .string(refund)
    made.status = "pending"
    made.members["amount_in_minor"] = prepared.members["amount"]
    // It is made: how far it has come is a look of its own, which may fail.
    if let seen = try? look(at: refund, of: id) { made.members.take(refund: seen) }
    return Self.refunded(attempt.refunds + [made], amount: attempt.amount, id: id)
  }

  private func look(at refund: String, of id: String) throws(Fault) -> JSONObject {
    try client.send(
      Client.Call(
        path: Paths.resource(.payment, id) + "/refunds/" + refund,
        credential: .client(Scopes.payments)
      )
    ).body
  }

  /// How the refunds of a payment stand, the last one in front.
  func refunds(of id: String, _ query: LookUp) throws(Fault) -> Outcome {
    var refunds = query.refunds
    for (index, refund) in refunds.enumerated() {
      guard let refundID = refund.members.text("id"), refund.status != "executed" else { continue }
      refunds[index].members.take(refund: try look(at: refundID, of: id))
    }
    return Self.refunded(refunds, amount: query.amount, id: id)
  }

  /// The refunds of a payment in what a look-up shows, where they can be seen.
  func takeRefunds(
    into outcome: inout Outcome,
    _ resource: Resource,
    _ query: LookUp
  ) throws(Fault) {
    guard resource.kind == .payment, resource.status == "settled",
      context.configuration.hasClient, !query.refunds.isEmpty || client.usesClient(for: resource.id)
    else { return }
    let answer: Client.Answer
    do throws(Fault) {
      answer = try client.send(
        Client.Call(
          path: Paths.resource(.payment, resource.id) + "/refunds",
          credential: .client(Scopes.payments)
        )
      )
    } catch {
      // Not every account may list refunds: what the payment itself says stands.
      guard error.kind == .notFound || error.kind == .auth || error.kind == .rejected else {
        throw error
      }
      return
    }
    let items = answer.body["items"]?.array?.compactMap(\.object) ?? []
    guard !items.isEmpty else { return }
    outcome.status = Self.status(of: items, amount: resource.amount)
    outcome.details["refunds"] = .array(items.map { .object($0.withoutNulls) })
  }

  private static func status(of refunds: [JSONObject], amount: Int?) -> Status {
    let executed = refunds.filter { $0.text("status") == "executed" }
      .reduce(0) { $0 + ($1["amount_in_minor"] ?? $1["amount"] ?? 0).unitsOrZero }
    let isOpen = refunds.contains { !["executed", "failed"].contains($0.text("status") ?? "") }
    if isOpen { return .pending }
    if executed > 0 {
      return amount.map { executed >= $0 } ?? false ? .refunded : .partiallyRefunded
    }
    return .succeeded
  }

  private static func refunded(_ refunds: [Refund], amount: Int?, id: String) -> Outcome {
    let last = refunds.last ?? Refund([:])
    var fault: Fault?
    if last.status == "failed" {
      let reason = last.members.text("failure_reason") ?? "no reason given"
      fault = Fault(
        .declined,
        code: "refund_failed",
        "the refund failed: \(reason)",
        hint: "a further one needs --new-attempt and --refund-reference"
      )
    }
    var outcome = Outcome(
      status: status(of: refunds.map(\.members), amount: amount),
      id: id,
      result: ["refund": .object(last.shown)],
      fault: fault
    )
    outcome.recorded = Outcome.Recorded(
      result: Reversal.parts(refunds).members,
      fault: fault
    )
    return outcome
  }

  package func pendingRefund(of attempt: Attempt) -> Refund? {
    guard attempt.id != nil, let text = attempt.preparation?.secret else { return nil }
    return Refund(prepared: JSONReader.read(text)?.object)
  }

  /// A creation is taken up by the same command, which also goes on with it.
  package func asksAtOnce(about attempt: Attempt) -> Bool {
    attempt.id != nil && attempt.operation == .cancel
  }

  /// Longer than what nobody authorized lives (note, section 1.3), in milliseconds.
  private static let lifetime = 960_000

  package func findOut(
    _ attempt: Attempt,
    _ progress: Progress,
    mayRepeat: Bool
  ) throws(Fault) -> Finding {
    // Before it is sent again, which counts anew.
    let age = progress.sinceSent
    do throws(Fault) {
      guard let id = attempt.id else { return try findCreation(attempt, progress) }
      if let refund = pendingRefund(of: attempt) {
        try checkAge(since: attempt.sentAt ?? attempt.createdAt)
        let body = refund.members.text("body") ?? "{}"
        return .happened(try sendRefund(refund, body: body, attempt))
      }
      let resource = try client.resource(attempt.kind, id)
      if let amount = attempt.amount, let other = resource.amount, amount != other {
        throw .unexpectedBehaviour("the answer is about another amount")
      }
      guard attempt.operation == .cancel else { return .happened(resource.outcome) }
      let isUndone = resource.shownStatus == .cancelled || resource.status == "revoked"
      return isUndone ? .happened(resource.withdrawn) : .stands(resource.outcome)
    } catch {
      // Nobody was shown the way to authorize what is not known here: after its 15 minutes it has
      // expired, whether it was made or not.
      if attempt.id == nil, error.kind == .rejected, error.effect == .none, age > Self.lifetime {
        return .didNotHappen
      }
      var fault = error
      fault.effect = .unknown
      fault.hint = "what was sent is not known yet; run the same command again"
      throw fault
    }
  }

  /// The same body under the same key: it answers with what the first one made.
  private func findCreation(_ attempt: Attempt, _ progress: Progress) throws(Fault) -> Finding {
    guard let body = attempt.preparation else {
      throw Fault(
        .conflict,
        code: "creation_lost",
        "what was sent for \(attempt.reference.quotedForMessage) is no longer in the journal",
        hint: "look for its reference in TrueLayer's Console"
      )
    }
    try checkAge(since: attempt.createdAt)
    try checkReady(for: .creation)
    // It may be made now: its time counts from here.
    try progress.willSend()
    let made = try create(Array(body.text.utf8), attempt.kind, key: attempt.idempotencyKey)
    return .happened(made.outcome)
  }

  /// A key means something for 30 days (note, section 1.6).
  private func checkAge(since time: Int) throws(Fault) {
    let age = context.clock.now - time
    guard age < 30 * 86_400_000 else {
      throw Fault(
        .conflict,
        code: "key_expired",
        "it was sent more than 30 days ago: its idempotency key is no longer known to TrueLayer",
        hint: "look for its reference in TrueLayer's Console"
      )
    }
  }
}

extension JSON {
  fileprivate var unitsOrZero: Int { boundedNumber ?? 0 }
}

extension JSONObject {
  /// Takes over what the provider says of a refund now.
  fileprivate mutating func take(refund: JSONObject) {
    for name in [
      "id", "status", "amount_in_minor", "currency", "reference", "created_at", "executed_at",
      "failed_at", "failure_reason",
    ] {
      if let value = refund[name], value != .null { self[name] = value }
    }
  }
}

extension Fault {
  fileprivate static func tooLate(_ resource: Resource) -> Fault {
    Fault(
      .conflict,
      code: "nothing_to_cancel",
      "the payment is \(resource.status): it cannot be cancelled any more",
      hint: resource.status == "failed"
        ? "there is nothing to undo" : "once it is settled: tender refund REF",
      result: ["error": "generic", "reason": "the status does not allow it"]
    )
  }

  fileprivate static func notRevocable(_ resource: Resource) -> Fault {
    Fault(
      .conflict,
      code: "mandate_not_authorized",
      "the mandate is \(resource.status): only an authorized one can be revoked",
      hint: resource.isOpen ? "it expires by itself, 15 minutes after its creation" : nil,
      result: ["error": "generic", "reason": "the status does not allow it"]
    )
  }

  static func nothingToRefund(_ attempt: Attempt) -> Fault {
    Fault(
      .conflict,
      code: "nothing_to_refund",
      "\(attempt.reference.quotedForMessage) is no settled payment to a merchant account",
      hint: "only what TrueLayer holds can be sent back; see: tender payment-status",
      result: ["error": "generic", "reason": "the status does not allow it"]
    )
  }
}
