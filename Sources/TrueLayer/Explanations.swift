package import TenderModel

/// The pages of `tender explain` for TrueLayer's documented errors.
extension TrueLayerProvider {
  /// Every page of this provider.
  package static let explanations: [Explanation] =
    documented.map { $0.from("TrueLayer's payments SDK, its errors") } + ours
    + Vocabulary.failureReasons
    + Vocabulary.words

  private static let documented: [Explanation] = [
    Explanation(
      "authorization_failed",
      .declined,
      provider: "authorizationFailed",
      "the payer did not authorize it at the bank, or could not",
      "ask the payer; try again with --new-attempt"
    ),
    Explanation(
      "connection_issues_not_sent",
      .notSent,
      provider: "connectionIssues",
      "TrueLayer cannot be reached; nothing left",
      "repeat it freely"
    ),
    Explanation(
      "connection_issues",
      .providerError,
      provider: "connectionIssues",
      "TrueLayer did not answer; where it was asked to do something, the exit is 9",
      "run the same command again: it finds out first"
    ),
    Explanation(
      "generic_rejected",
      .rejected,
      provider: "generic",
      "TrueLayer refused the request and names why; nothing was made",
      "change what the reason names"
    ),
    Explanation(
      "generic_conflict",
      .conflict,
      provider: "generic",
      "its state forbids it, or the idempotency key was used for something else",
      "look at it with tender payment-status"
    ),
    Explanation(
      "generic_rate_limited",
      .providerError,
      provider: "generic",
      "too many requests in a short time",
      "try again later"
    ),
    Explanation(
      "generic_declined",
      .declined,
      provider: "generic",
      "it failed for the reason that stands in the result",
      "see failure_reason"
    ),
    Explanation(
      "invalid_token",
      .auth,
      provider: "invalidToken",
      "the token, the client credentials or the signature were refused",
      "a resource token is good for one payment and 15 minutes; check --env"
    ),
    Explanation(
      "payment_expired",
      .expired,
      provider: "paymentExpired",
      "the payer took longer than 15 minutes",
      "start anew with --new-attempt"
    ),
    Explanation(
      "mandate_expired",
      .expired,
      provider: "mandateExpired",
      "the payer took longer than 15 minutes",
      "start anew with --new-attempt"
    ),
    Explanation(
      "payment_not_found",
      .notFound,
      provider: "paymentNotFound",
      "there is no such payment",
      "check the id, and --env"
    ),
    Explanation(
      "mandate_not_found",
      .notFound,
      provider: "mandateNotFound",
      "there is no such mandate",
      "check the id, and --env"
    ),
    Explanation(
      "payment_rejected",
      .declined,
      provider: "paymentRejected",
      "the bank said no",
      "ask the payer to speak to the bank, or use another account"
    ),
    Explanation(
      "mandate_rejected",
      .declined,
      provider: "mandateRejected",
      "the bank said no",
      "ask the payer to speak to the bank"
    ),
    Explanation(
      "sdk_not_configured",
      .auth,
      provider: "sdkNotConfigured",
      "a credential is not set",
      "set the variable that is named"
    ),
    Explanation(
      "sdk_misconfigured",
      .usage,
      provider: "sdkNotConfigured",
      "a credential cannot be used: the signing key must be P-521, in PEM text",
      "openssl ecparam -genkey -name secp521r1 -noout"
    ),
    Explanation(
      "server_error",
      .providerError,
      provider: "serverError",
      "TrueLayer or the bank behind it failed; no money moved unless the exit is 9",
      "try again later"
    ),
    Explanation(
      "server_error_declined",
      .declined,
      provider: "serverError",
      "the payment itself failed of an error at TrueLayer or the bank",
      "try again with --new-attempt"
    ),
    Explanation(
      "unexpected_behaviour",
      .providerError,
      provider: "unexpectedBehaviour",
      "TrueLayer answered what cannot be understood",
      "look at it with tender payment-status"
    ),
    Explanation(
      "user_canceled",
      .cancelled,
      provider: "userCanceled",
      "payer or operator cancelled it",
      "try again with --new-attempt"
    ),
  ]

  private static let ours: [Explanation] = [
    Explanation(
      "mandate_revoked",
      .cancelled,
      "the mandate was authorized and has been revoked since",
      "make another with --new-attempt"
    ),
    Explanation(
      "mandate_not_authorized",
      .conflict,
      "only an authorized mandate can be revoked",
      "one that is not expires by itself"
    ),
    Explanation(
      "nothing_to_refund",
      .conflict,
      "only a settled payment to a merchant account can be refunded",
      "wait until it is settled"
    ),
    Explanation(
      "refund_failed",
      .declined,
      "the refund failed; the money is where it was",
      "see failure_reason; --new-attempt tries again"
    ),
    Explanation(
      "cancel_pending",
      .pending,
      "the cancellation was accepted and cannot be seen yet",
      "run the same command again"
    ),
    Explanation(
      "bad_form",
      .usage,
      "--form or --form-file cannot be read, or holds a secret on the command line",
      "see: tender help transact"
    ),
    Explanation(
      "input_missing",
      .pending,
      "the bank wants something that only payer or operator can give",
      "give it as an option, and run the same command again"
    ),
    Explanation(
      "not_offered",
      .pending,
      "what was chosen is not among what the bank offers",
      "see next_action in the record without that option"
    ),
    Explanation(
      "consent_needed",
      .pending,
      "the bank wants a consent that was not given",
      "--consent pis,ais where the payer agrees"
    ),
    Explanation(
      "bad_form_value",
      .pending,
      "a value does not fit the bank's form",
      "see the rule in the message"
    ),
    Explanation(
      "return_mismatch",
      .conflict,
      "the return address belongs to another payment",
      "hand in the right one"
    ),
    Explanation(
      "creation_lost",
      .conflict,
      "it cannot be found out what a creation did",
      "look in TrueLayer's Console"
    ),
    Explanation(
      "key_expired",
      .conflict,
      "an idempotency key is known for 30 days",
      "look in TrueLayer's Console"
    ),
    Explanation(
      "nothing_to_confirm",
      .conflict,
      "there is no payment or mandate behind this reference",
      "see the journal"
    ),
  ]
}
