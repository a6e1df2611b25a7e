import TenderEngine
import TenderModel

/// A payment or mandate as TrueLayer shows it (README, 5.5). Any member may be missing, unknown or null.
struct Resource: Sendable {
  let kind: Payment.Kind
  let id: String
  var body: JSONObject
  /// The trace id of the answer with this resource.
  var traceID: String?

  /// The status, as TrueLayer names it. Unknown names are possible.
  var status: String { body.text("status") ?? "authorization_required" }

  var next: NextAction? { NextAction(body["authorization_flow"]?["actions"]?["next"]) }

  /// Whether the consent is sent together with the form (`adjacent`).
  var wantsConsentBesideForm: Bool {
    body["authorization_flow"]?["actions"]?["adjacent"]?["consent"]?.object != nil
  }

  var failureReason: String? { body.text("failure_reason") }
  var failureStage: String? { body.text("failure_stage") }
  var amount: Int? { body["amount_in_minor"]?.boundedNumber }
  /// The currency's code. Its letter case is no difference.
  var currency: String? { body.text("currency")?.uppercased() }

  /// Whether `executed` is the last status of the payment (README, 5.1). It is for an external account. For a
  /// merchant account, and for a payee without a known type, the last one is `settled`.
  ///
  /// A payment on a mandate does not name its beneficiary. Only a payment to an external account has a
  /// `reference`.
  var isExecutedForGood: Bool {
    let method = body["payment_method"]
    if method?["type"]?.text == "mandate" { return method?["reference"]?.text != nil }
    return method?["beneficiary"]?["type"]?.text == "external_account"
  }

  /// Returns the resource after the answer to a step, which has only status and flow.
  func after(_ answer: JSONObject, traceID: String?) -> Resource {
    var next = self
    next.traceID = traceID
    for name in ["status", "authorization_flow", "failure_stage", "failure_reason"] {
      next.body[name] = answer[name] == .null ? nil : answer[name]
    }
    return next
  }

  /// Throws `provider_error` if an amount or currency cannot be read. Then the other members are not trusted
  /// either.
  func checkReadable() throws(Fault) {
    let isReadable =
      (body["amount_in_minor"] == nil || (amount ?? -1) >= 0)
      && (body["currency"] == nil || currency != nil)
    guard isReadable else {
      throw .unexpectedBehaviour("an amount or currency that cannot be read", traceID: traceID)
    }
  }

  /// Throws `provider_error` if the id, amount or currency differs from the payment's order.
  func check(against payment: Payment) throws(Fault) {
    try checkReadable()
    if let other = body["id"], other.text != id {
      throw .unexpectedBehaviour("the answer is about another \(kind.noun)", traceID: traceID)
    }
    let attempt = payment.attempt
    // A payment that was made elsewhere has the reference of its maker.
    let isOwn = attempt?.content["id"] == nil
    if isOwn, let other = body["metadata"]?["reference"]?.text, other != payment.reference.text {
      throw .unexpectedBehaviour("the answer is about another \(kind.noun)", traceID: traceID)
    }
    if let ordered = attempt?.approved ?? attempt?.amount, let amount, amount != ordered {
      throw .unexpectedBehaviour("the answer is about another amount", traceID: traceID)
    }
    if let ordered = payment.currency, let currency, currency != ordered.code {
      throw .unexpectedBehaviour("the answer is about another currency", traceID: traceID)
    }
  }

  /// Throws `provider_error` for a state from before the payer's consent, which this journal sent. The answer
  /// lags.
  func checkIsAfterConsent() throws(Fault) {
    guard status == "authorization_required" else { return }
    throw .unexpectedBehaviour(
      "its answer is from before the consent",
      hint: "look again later",
      traceID: traceID
    )
  }

  /// Returns whether its status or next action changed.
  func hasMoved(from other: Resource) -> Bool { status != other.status || next != other.next }

  /// Whether the money of a settled payment was taken back.
  var isReversed: Bool { body.text("reversed_at") != nil }

  /// Whether the status ends it, or allows another attempt.
  var isEnd: Bool { ["failed", "executed", "settled", "revoked"].contains(status) }

  /// Whether the payer may still authorize it.
  var isOpen: Bool { ["authorization_required", "authorizing", "attempt_failed"].contains(status) }

  /// The status in the vocabulary shared by all providers (README, 5.1 and 5.2).
  var shownStatus: Status {
    switch (status, kind) {
    case ("authorization_required", _): return .requiresAction
    case ("authorizing", _):
      if case .wait = next { return .pending }
      return .requiresAction
    case ("authorized", .mandate): return .authorized
    case ("authorized", _): return .pending
    case ("executed", _): return isExecutedForGood ? .succeeded : .pending
    case ("settled", _): return isReversed ? .returned : .succeeded
    case ("revoked", _): return .revoked
    case ("attempt_failed", _): return .failed
    case ("failed", _): return FailureReason(failureReason).status
    default: return .pending
    }
  }

  /// The status as the SDK names it: `authorizationRequired`.
  var documentedStatus: String { Self.camelCase(status) }

  static func camelCase(_ name: String) -> String {
    let parts = name.split(separator: "_")
    return parts.prefix(1).joined()
      + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  /// Further facts for support, shown as `details`.
  var details: JSONObject {
    let method = body["payment_method"] ?? .object(body)
    let selection = method["provider_selection"]
    var details: JSONObject = [
      "bank": selection?["provider_id"] ?? method["provider_id"] ?? body["provider_id"],
      "scheme": selection?["scheme_id"] ?? method["scheme_id"] ?? body["scheme_id"],
    ]
    if let beneficiary = method["beneficiary"]?.object {
      let account = Self.account(beneficiary["account_identifier"])
      details["payee"] = [
        "type": beneficiary["type"], "name": beneficiary["account_holder_name"],
        "merchant_account_id": beneficiary["merchant_account_id"],
        "last_four": account.map { .string(String($0.suffix(4))) },
        "reference": beneficiary["reference"],
      ]
    }
    if let payer {
      details["payer"] = ["name": payer["account_holder_name"], "last_four": lastFour?.json]
    }
    for (name, _) in Self.shown { details[name] = body[name] }
    if kind == .payment { details["mandate_id"] = method["mandate_id"] }
    return Self.shape.filtered(details).withoutNulls
  }

  /// The members that are shown unchanged, in order, as TrueLayer documents them (API reference, payments and
  /// mandates).
  private static let shown: KeyValuePairs<String, Shape> = {
    let limits: Shape = .object([
      "start_date": .word, "end_date": .word, "maximum_amount": .number, "period_alignment": .word,
      "maximum_available_amount": .number, "current_amount": .number,
    ])
    let periods = ["day", "week", "fortnight", "month", "half_year", "year"]
    return [
      "mandate_id": .word, "type": .word, "use_case": .word,
      "constraints": .object([
        "valid_from": .word, "valid_to": .word, "maximum_individual_amount": .number,
        "periodic_limits": .object(Dictionary(uniqueKeysWithValues: periods.map { ($0, limits) })),
      ]),
      "failed_attempts": .list(
        .object(["attempt_number": .number, "failed_at": .word, "failure_reason": .word])
      ),
      "revocation_source": .word, "revocation_reason": .text(4096), "created_at": .word,
      "authorized_at": .word, "executed_at": .word, "settled_at": .word, "creditable_at": .word,
      "failed_at": .word, "revoked_at": .word, "reversed_at": .word, "reversal_reason": .word,
      "metadata": .own,
    ]
  }()

  private static let shape: Shape = {
    var members: [String: Shape] = [
      "bank": .word, "scheme": .word, "payer": .object(["name": .word, "last_four": .text(4)]),
      "payee": .object([
        "type": .word, "name": .word, "merchant_account_id": .word, "last_four": .text(4),
        "reference": .word,
      ]),
    ]
    for (name, shape) in shown { members[name] = shape }
    return .object(members)
  }()

  private var payer: JSONObject? {
    let selection = body["payment_method"]?["provider_selection"] ?? body["provider_selection"]
    for candidate in [body["payment_source"], body["remitter"], selection?["remitter"]] {
      if let object = candidate?.object, !object.members.isEmpty { return object }
    }
    return nil
  }

  private var payerAccounts: [JSON] {
    payer?["account_identifiers"]?.array ?? [payer?["account_identifier"]].compactMap(\.self)
  }

  /// The last four digits of the payer's account. More digits are never shown.
  var lastFour: String? {
    for identifier in payerAccounts {
      guard let account = Self.account(identifier), account.count > 4 else { continue }
      return String(account.suffix(4))
    }
    return nil
  }

  /// The resource with the payer's account numbers removed from every shown text.
  var masked: Resource {
    // One pass over each text removes all numbers.
    let redactor = Redactor()
    var isAny = false
    for text in payerAccounts.flatMap({ $0.object?.members.compactMap(\.value.text) ?? [] })
    where text.utf8.count >= 6 && text.contains(where: \.isNumber) {
      redactor.learn(text)
      isAny = true
    }
    guard isAny else { return self }
    var shown = self
    for name in ["failure_reason", "failure_stage", "status", "revocation_reason"] {
      guard let text = body.text(name) else { continue }
      shown.body[name] = .string(redactor.redact(text))
    }
    for name in ["authorization_flow", "metadata"] {
      guard let value = body[name] else { continue }
      shown.body[name] = redactor.redact(value)
    }
    if var source = body["payment_source"]?.object, let name = source.text("account_holder_name") {
      source["account_holder_name"] = .string(redactor.redact(name))
      shown.body["payment_source"] = .object(source)
    }
    return shown
  }

  private static func account(_ identifier: JSON?) -> String? {
    for name in ["account_number", "iban", "bban", "nrb"] {
      if let text = identifier?[name]?.text { return text }
    }
    return nil
  }
}

/// The reason of a failure, sorted by the side that refused (README, 5.3). Unknown reasons are possible.
struct FailureReason {
  private let word: String?

  init(_ word: String?) { self.word = word }

  /// The side that refused, or the event that ended it.
  enum Class { case authorization, bank, expired, cancelled, server, other }

  var kind: Class {
    switch word {
    case "authorization_failed", "not_authorized", "invalid_credentials", "invalid_otp":
      .authorization
    case "rejected", "provider_rejected": .bank
    case "expired", "provider_expired": .expired
    case "canceled", "user_canceled_at_provider": .cancelled
    case "internal_server_error", "provider_error": .server
    default: .other
    }
  }

  var status: Status {
    switch kind {
    case .expired: .expired
    case .cancelled: .cancelled
    default: .declined
    }
  }
}

/// The outcomes of resources, with the names of TrueLayer's iOS SDK (README, 5.4).
extension Resource {
  /// The outcome for `transact` and `confirm`: a state, an error, or the next action.
  var outcome: Outcome {
    var outcome = base
    switch (status, next) {
    case ("failed", _):
      outcome.fault = .failed(self)
      outcome.result = outcome.fault?.result ?? [:]
    case ("attempt_failed", _):
      outcome.fault = Fault.failed(self).with { $0.kind = .declined }
      outcome.result = statusResult
    case ("revoked", _):
      outcome.fault = .revoked(self)
      outcome.result = outcome.fault?.result ?? statusResult
    case ("authorizing", .redirect?): outcome.result = result("state", "redirect")
    case ("authorizing", .wait?) where kind == .payment: outcome.result = result("state", "wait")
    case ("authorized", _), ("executed", _), ("settled", _):
      outcome.result = result("state", documentedStatus)
    default: outcome.result = statusResult
    }
    outcome.nextAction = awaited?.shown
    return outcome
  }

  /// The action that the flow waits for; nil before and after the flow.
  private var awaited: NextAction? {
    switch status {
    case "authorization_required", "authorized", "executed", "settled", "failed", "revoked": nil
    case "authorizing": next
    case "attempt_failed": if case .retry? = next { next } else { .retry([]) }
    // An unknown status decides nothing.
    default: next ?? .wait(nil)
    }
  }

  /// The outcome of a look-up, in the form of `transact` and of the status commands.
  var lookedUp: Outcome {
    var outcome = outcome
    outcome.shown = statusResult
    return outcome
  }

  /// The outcome of the operation that cancelled or revoked it.
  var withdrawn: Outcome {
    var outcome = base
    // The operation has no id.
    outcome.id = nil
    outcome.result =
      shownStatus == .cancelled ? Fault.userCanceled(self).result ?? [:] : statusResult
    return outcome
  }

  /// Returns the outcome if an answer is missing that only the payer or operator can give.
  func awaiting(_ next: NextAction, _ missing: Fault) -> Outcome {
    var shown = outcome
    shown.result = statusResult
    shown.nextAction = next.shown
    shown.fault = missing
    return shown
  }

  private var statusResult: JSONObject { result("status", documentedStatus) }

  private func result(_ name: String, _ word: String) -> JSONObject {
    JSONObject([.init(key: name, value: .string(word))] + reasons.members)
  }

  private var base: Outcome {
    var outcome = Outcome(
      status: shownStatus,
      id: id,
      amount: amount,
      currency: currency.flatMap(Currency.init(code:)),
      lastFour: lastFour,
      result: [:]
    )
    outcome.details = details
    outcome.providerStatus = status
    outcome.madeAt = body.text("created_at").flatMap(Timestamp.read)
    outcome.reference = body["metadata"]?["reference"]?.text.map(Reference.init(stored:))
    return outcome
  }
}
