import TenderEngine
import TenderModel

/// A payment or mandate as TrueLayer shows it (README, 5.5), whatever is
/// missing from it, unknown in it, or null.
struct Resource: Sendable {
  let kind: Payment.Kind
  let id: String
  var body: JSONObject
  /// The trace id of the answer that it came in.
  var traceID: String?

  /// The wire's own word; an open set.
  var status: String { body.text("status") ?? "authorization_required" }

  var next: NextAction? { NextAction(body["authorization_flow"]?["actions"]?["next"]) }

  /// Whether the consent is to be reported with the form (`adjacent`).
  var wantsConsentBesideForm: Bool {
    body["authorization_flow"]?["actions"]?["adjacent"]?["consent"]?.object != nil
  }

  var failureReason: String? { body.text("failure_reason") }
  var failureStage: String? { body.text("failure_stage") }
  var amount: Int? { body["amount_in_minor"]?.boundedNumber }
  var currency: String? { body.text("currency") }

  /// Whether this is where a payment ends (README, 5.1): `executed` for an external account,
  /// `settled` for a merchant account.
  ///
  /// A payment on a mandate does not name the beneficiary; a `reference` is for external ones alone.
  var isExecutedForGood: Bool {
    let method = body["payment_method"]
    if method?["type"]?.text == "mandate" { return method?["reference"]?.text != nil }
    return method?["beneficiary"]?["type"]?.text != "merchant_account"
  }

  /// The same resource after the answer to a step, which holds status and flow alone.
  func after(_ answer: JSONObject, traceID: String?) -> Resource {
    var next = self
    next.traceID = traceID
    for name in ["status", "authorization_flow", "failure_stage", "failure_reason"] {
      next.body[name] = answer[name] == .null ? nil : answer[name]
    }
    return next
  }

  /// Throws `provider_error` where it is about another amount or currency than a payment's order.
  func check(against payment: Payment) throws(Fault) {
    let attempt = payment.attempt
    if let ordered = attempt?.approved ?? attempt?.amount, let amount, amount != ordered {
      throw .unexpectedBehaviour("the answer is about another amount", traceID: traceID)
    }
    if let ordered = payment.currency, let currency, currency != ordered.code {
      throw .unexpectedBehaviour("the answer is about another currency", traceID: traceID)
    }
  }

  /// The status of a record, the same words for every provider (README, 5.1 and 5.2).
  var shownStatus: Status {
    switch (status, kind) {
    case ("authorization_required", _): return .requiresAction
    case ("authorizing", _):
      if case .wait = next { return .pending }
      return .requiresAction
    case ("authorized", .mandate): return .authorized
    case ("authorized", _): return .pending
    case ("executed", _): return isExecutedForGood ? .succeeded : .pending
    case ("settled", _): return .succeeded
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

  /// What else it says, in our words: for support, on the record as `details`.
  var details: JSONObject {
    var details: JSONObject = [:]
    let method = body["payment_method"] ?? .object(body)
    let selection = method["provider_selection"]
    details["bank"] =
      selection?["provider_id"] ?? method["provider_id"] ?? body["provider_id"]
    details["scheme"] = selection?["scheme_id"] ?? method["scheme_id"] ?? body["scheme_id"]
    if let beneficiary = method["beneficiary"]?.object {
      var payee: JSONObject = [:]
      payee["type"] = beneficiary["type"]
      payee["name"] = beneficiary["account_holder_name"]
      payee["merchant_account_id"] = beneficiary["merchant_account_id"]
      payee["last_four"] = Self.account(beneficiary["account_identifier"]).map { account in
        .string(String(account.suffix(4)))
      }
      payee["reference"] = beneficiary["reference"]
      details["payee"] = .object(payee)
    }
    if let payer = payer {
      var shown: JSONObject = [:]
      shown["name"] = payer["account_holder_name"]
      shown["last_four"] = lastFour.map(JSON.string)
      details["payer"] = .object(shown)
    }
    for name in [
      "mandate_id", "type", "use_case", "constraints", "failed_attempts", "revocation_source",
      "revocation_reason", "created_at", "authorized_at", "executed_at", "settled_at",
      "creditable_at", "failed_at", "revoked_at", "reversed_at", "reversal_reason", "metadata",
    ] {
      details[name] = body[name]
    }
    if kind == .payment { details["mandate_id"] = method["mandate_id"] }
    return Self.shown.filtered(details).withoutNulls
  }

  /// What TrueLayer documents of these (API reference, payments and mandates).
  private static let shown: Shape = {
    let names = [
      "bank", "scheme", "mandate_id", "type", "use_case", "revocation_source", "created_at",
      "authorized_at", "executed_at", "settled_at", "creditable_at", "failed_at", "revoked_at",
      "reversed_at", "reversal_reason",
    ]
    var members = Dictionary(uniqueKeysWithValues: names.map { ($0, Shape.word) })
    members["revocation_reason"] = .text(4096)
    members["payee"] = .object([
      "type": .word, "name": .word, "merchant_account_id": .word, "last_four": .text(4),
      "reference": .word,
    ])
    members["payer"] = .object(["name": .word, "last_four": .text(4)])
    let limits: Shape = .object([
      "start_date": .word, "end_date": .word, "maximum_amount": .number, "period_alignment": .word,
      "maximum_available_amount": .number, "current_amount": .number,
    ])
    let periods = ["day", "week", "fortnight", "month", "half_year", "year"]
    members["constraints"] = .object([
      "valid_from": .word, "valid_to": .word, "maximum_individual_amount": .number,
      "periodic_limits": .object(Dictionary(uniqueKeysWithValues: periods.map { ($0, limits) })),
    ])
    members["failed_attempts"] = .list(
      .object(["attempt_number": .number, "failed_at": .word, "failure_reason": .word])
    )
    members["metadata"] = .own
    return .object(members)
  }()

  private var payer: JSONObject? {
    let selection = body["payment_method"]?["provider_selection"] ?? body["provider_selection"]
    for candidate in [body["payment_source"], body["remitter"], selection?["remitter"]] {
      if let object = candidate?.object, !object.members.isEmpty { return object }
    }
    return nil
  }

  /// The last four of the payer's account; never more of it.
  var lastFour: String? {
    let identifiers =
      payer?["account_identifiers"]?.array ?? [payer?["account_identifier"]].compactMap(\.self)
    for identifier in identifiers {
      guard let account = Self.account(identifier), account.count > 4 else { continue }
      return String(account.suffix(4))
    }
    return nil
  }

  /// The resource with the payer's account numbers gone from every text that is shown.
  var masked: Resource {
    let identifiers =
      payer?["account_identifiers"]?.array ?? [payer?["account_identifier"]].compactMap(\.self)
    // In one pass over each text, however many there are.
    let redactor = Redactor()
    var isAny = false
    for text in identifiers.flatMap({ $0.object?.members.compactMap(\.value.text) ?? [] })
    where text.utf8.count >= 6 && text.contains(where: \.isNumber) {
      redactor.learn(number: text)
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

/// Why something failed: an open set, of which these are sorted by who said no (README, 5.3).
struct FailureReason {
  private let word: String?

  init(_ word: String?) { self.word = word }

  /// Who said no, or what ended it.
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
