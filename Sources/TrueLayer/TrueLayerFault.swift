import TenderEngine
import TenderModel

/// TrueLayer's documented errors, by the names of its iOS SDK for payments and mandates (README, 6.3).
extension Fault {
  private static func result(
    _ name: String,
    reason: String? = nil,
    traceID: String? = nil,
    _ more: JSONObject = [:]
  ) -> JSONObject {
    var result: JSONObject = ["error": .string(name), "reason": reason?.json]
    for member in more.members { result[member.key] = member.value }
    result["trace_id"] = traceID?.json
    return result
  }

  /// Returns the fault for an answer with an error status. `isMade`: the resource was made, so that it is not
  /// missing.
  static func answer(
    _ status: Int,
    _ body: JSONObject,
    traceID: String?,
    _ about: Payment.Kind,
    isMade: Bool = false
  ) -> Fault {
    let problem = Problem(status, body)
    let noun = about.noun
    guard status >= 400 else {
      return .unexpectedBehaviour("it answered \(status)", traceID: traceID)
    }
    guard status != 404 || !isMade else {
      let why = "it does not know the \(noun), which was made"
      return .unexpectedBehaviour(why, traceID: traceID)
        .with { $0.result = result("\(noun)NotFound", reason: why, traceID: traceID) }
    }
    let (kind, code, name, hint): (Kind, String, String, String) =
      switch status {
      case 401, 403:
        (
          .auth, "invalid_token", "invalidToken",
          "the token or the signing key does not fit this \(noun)"
        )
      case 404: (.notFound, "\(noun)_not_found", "\(noun)NotFound", "check the id, and --env")
      case 409, 422: (.conflict, "generic_conflict", "generic", "look at it first")
      case 400 where problem.fragment == "invalid-state":
        (.conflict, "generic_conflict", "generic", "its state forbids it")
      case 429: (.providerError, "generic_rate_limited", "generic", "try again later")
      case 500...: (.providerError, "server_error", "serverError", "try again later")
      default: (.rejected, "generic_rejected", "generic", "change what is named")
      }
    let reason = kind == .notFound ? nil : problem.text
    return Fault(
      kind,
      code: code,
      cause: kind == .auth ? .tokenRefused : kind == .conflict ? .genericConflict : nil,
      "TrueLayer: \(problem.text)",
      hint: hint,
      result: result(name, reason: reason, traceID: traceID)
    )
  }

  static func unexpectedBehaviour(
    _ why: String,
    hint: String = "run the same command again: it continues the payment",
    traceID: String? = nil
  ) -> Fault {
    Fault(
      .providerError,
      code: "unexpected_behaviour",
      "TrueLayer: \(why)",
      hint: hint,
      result: result("unexpectedBehaviour", reason: why, traceID: traceID)
    )
  }

  /// There was no connection or no answer.
  static func connectionIssues(_ fault: Fault) -> Fault {
    var shown = fault
    shown.result = result("connectionIssues")
    if fault.kind == .notSent {
      if fault.cause != .tlsFailed { shown.code = "connection_issues_not_sent" }
    } else {
      shown.kind = .providerError
      shown.code = "connection_issues"
      shown.hint = "try again later"
    }
    return shown
  }

  /// A credential that the command needs is not set.
  static func sdkNotConfigured(_ missing: [String], for what: String) -> Fault {
    Fault(
      .auth,
      code: "sdk_not_configured",
      "\(what) needs \(missing.joined(separator: " and "))",
      hint: "set the variable, or its …_FILE for a file that holds the value",
      result: result("sdkNotConfigured")
    )
  }

  /// The operator stopped the payment.
  static func userCanceled(_ resource: Resource) -> Fault {
    Fault(
      .cancelled,
      code: "user_canceled",
      "the \(resource.kind.noun) was cancelled",
      result: result("userCanceled", resource.reasons)
    )
  }

  /// The operator stopped a mandate, which TrueLayer cannot cancel.
  static func leftToExpire(_ resource: Resource) -> Fault {
    userCanceled(resource).with { fault in
      fault.message =
        "stopped here; TrueLayer cannot cancel a mandate that is not authorized: its payer can still "
        + "authorize it until it expires, 15 minutes after it was made"
    }
  }

  /// The cancellation was accepted, but the payment does not show it yet.
  static func cancelPending(_ resource: Resource) -> Fault {
    Fault(
      .pending,
      code: "cancel_pending",
      "the cancellation was accepted, and the \(resource.kind.noun) is still \(resource.status)",
      hint: "run the same command again",
      result: ["status": .string(resource.documentedStatus)]
    )
  }

  /// Returns the fault for a failed payment or mandate.
  static func failed(_ resource: Resource) -> Fault {
    let noun = resource.kind.noun
    let word = resource.failureReason ?? "no reason given"
    let (kind, code, name, hint): (Kind, String, String, String) =
      switch FailureReason(resource.failureReason).kind {
      case .authorization:
        (.declined, "authorization_failed", "authorizationFailed", "the payer did not authorize it")
      case .bank: (.declined, "\(noun)_rejected", "\(noun)Rejected", "the bank declined it")
      case .expired:
        (.expired, "\(noun)_expired", "\(noun)Expired", "authorization takes 15 minutes at most")
      case .cancelled: (.cancelled, "user_canceled", "userCanceled", "it was cancelled")
      case .server:
        (.declined, "server_error_declined", "serverError", "TrueLayer or the bank had an error")
      case .other: (.declined, "generic_declined", "generic", "see the reason in the result")
      }
    var result = Self.result(name, resource.reasons)
    if name == "generic" { result["reason"] = .string(word) }
    return Fault(
      kind,
      code: code,
      "the \(noun) failed: \(word)" + (resource.failureStage.map { " (at \($0))" } ?? ""),
      hint: hint,
      result: result
    )
  }

  /// A creation was refused, and a resource that an earlier try may have created has expired.
  static func neverAuthorized(_ refusal: Fault, _ kind: Payment.Kind) -> Fault {
    let noun = kind.noun
    return Fault(
      .expired,
      code: noun + "_expired",
      "the \(noun) was not authorized within 15 minutes, and TrueLayer refused to make it again: "
        + refusal.message,
      result: result("\(noun)Expired", reason: refusal.result?.text("reason"))
    )
  }

  /// A mandate was revoked. Before authorization, that means that it was rejected (README, 5.2).
  static func revoked(_ resource: Resource) -> Fault {
    let wasAuthorized = ["authorized_at", "revocation_source"].contains {
      resource.body[$0]?.text != nil
    }
    return Fault(
      wasAuthorized ? .cancelled : .declined,
      code: wasAuthorized ? "mandate_revoked" : "mandate_rejected",
      "the mandate is revoked",
      result: wasAuthorized ? nil : result("mandateRejected", resource.reasons)
    )
  }
}

extension Resource {
  /// The detailed reasons, shown beside state and error.
  var reasons: JSONObject {
    [
      "failure_reason": failureReason?.json, "failure_stage": failureStage?.json,
      "trace_id": traceID?.json,
    ]
  }
}

/// The body of an error: problem details, the authorization server's older form, or nothing (README, 6.1).
struct Problem {
  /// The end of `type`, with `_` written as `-`. Two spellings and two addresses are in use.
  let fragment: String?
  /// Title, detail and the named fields in one line.
  let text: String

  init(_ status: Int, _ body: JSONObject) {
    let type = body.text("type") ?? ""
    fragment = type.lastIndex(of: "#").map { mark in
      String(type[type.index(after: mark)...].map { $0 == "_" ? "-" : $0 })
    }
    let detail = body.text("detail") ?? body.text("error_description")
    var parts = [body.text("title"), detail, body.text("error")].compactMap(\.self)
    for member in body["errors"]?.object?.members.prefix(8) ?? [] {
      let texts = member.value.array?.compactMap(\.text) ?? []
      parts.append("\(member.key): \(texts.joined(separator: " "))")
    }
    text = parts.isEmpty ? "it answered \(status)" : parts.joined(separator: ": ")
  }
}
