internal import TenderModel

/// The words of TrueLayer's documents, with their meanings.
enum Vocabulary {
  /// The values of `failure_reason` of payments, mandates and refunds.
  static let failureReasons = Explanation.reasons(
    .failureReason,
    at: "failure_reason",
    "TrueLayer's Android library, PaymentFailureReason, and its OpenAPI document; its table of meanings is not public",
    """
    authorization_failed payer yes: the payer did not complete the authorization at the bank
    blocked bank no: the payment was blocked by a check for fraud or by a regulation
    canceled order yes: the payment was cancelled by whoever made it
    constraint_violation order corrected: the payment is outside the mandate's limits
    expired payer yes: the payer did not authorize it in time
    insufficient_funds payer other: the account has insufficient funds
    internal_server_error provider later: TrueLayer failed at it
    invalid_account_details payer corrected: the account details are not valid
    invalid_account_holder_name payer corrected: the account holder's name is not valid
    invalid_beneficiary_account order corrected: the account that is paid to is not valid
    invalid_credentials payer corrected: the payer's credentials at the bank were wrong
    invalid_mandate_state order corrected: the mandate is not authorized, or is over
    invalid_otp payer yes: the payer entered a wrong one-time password
    invalid_remitter_account payer other: the bank does not let this account pay
    invalid_request order corrected: the bank did not accept the request
    invalid_sort_code payer corrected: there is no such sort code
    mandate_revoked payer no: the payer has revoked the mandate
    not_authorized payer yes: the payer cancelled at the bank
    payment_limit_exceeded bank other: the amount is above the limit of the bank or the payer
    provider_error bank later: the bank failed at it
    provider_expired bank yes: the bank's session ended before the payer authorized it
    provider_rejected bank other: the bank rejected the payment
    rejected bank other: the payment was rejected
    scheme_unavailable bank later: the payment scheme is not available
    unknown_error provider later: TrueLayer names no reason
    unknown provider later: TrueLayer names no reason
    user_canceled_at_provider payer yes: the payer cancelled at the bank
    verification_declined payer other: the check of the payer's name or age failed
    """
  )

  /// The states, statuses and members of results.
  static let words: [Explanation] =
    Explanation.words(
      .state,
      "TrueLayer's OpenAPI document, payment and mandate statuses, and its SDK's states",
      """
      authorization_required: made; the payer has not begun to authorize it
      authorizing: the payer is authorizing it, within 15 minutes
      authorized: the payer has authorized it; the bank has not executed it yet
      executed: the bank has sent the money; the last status where it is paid to an external account
      settled: the money is on the merchant account
      failed: it ended without a payment; failure_reason says why
      attempt_failed: one try of the payer failed, and another may follow
      revoked: the mandate was authorized and is no longer
      redirect: the payer was sent to the bank, and the process ended there
      wait: the payer is done, and the bank has not answered
      pending: the refund was accepted and is not executed
      """
    )
    + Explanation.words(
      .member,
      "TrueLayer's OpenAPI document and its SDK's results",
      """
      state: how far the authorization came, in the SDK's words
      status: the payment's or mandate's own status
      error: the SDK's error, such as paymentRejected
      failure_reason: why it failed
      failure_stage: which status it failed in
      reason: what TrueLayer or the bank said of it
      message: the same for people
      trace_id: TrueLayer's id of the exchange: quote it
      refunds: each refund with its id, amount, status and reference
      """
    )

  // MARK: Pages of `tender explain`

  /// Every page of this provider.
  static let pages: [Explanation] =
    documented.map { $0.from("TrueLayer's payments SDK, its errors") } + ours
    + failureReasons
    + words

  private static let documented: [Explanation] = Explanation.errors(
    """
    authorization_failed declined authorizationFailed: the payer did not authorize it at the bank, or could not | ask the payer; try again with --new-attempt
    connection_issues_not_sent not_sent connectionIssues: TrueLayer cannot be reached; nothing left | repeat it freely
    connection_issues provider_error connectionIssues: TrueLayer did not answer; where it was asked to do something, the exit is 9 | run the same command again: it finds out first
    generic_rejected rejected generic: TrueLayer refused the request and names why; nothing was made | change what the reason names
    generic_conflict conflict generic: its state forbids it, or the idempotency key was used for something else | look at it with tender payment-status
    generic_rate_limited provider_error generic: too many requests in a short time | try again later
    generic_declined declined generic: it failed for the reason that stands in the result | see failure_reason
    invalid_token auth invalidToken: the token, the client credentials or the signature were refused | a resource token is good for one payment and 15 minutes; check --env
    payment_expired expired paymentExpired: the payer took longer than 15 minutes | start anew with --new-attempt
    mandate_expired expired mandateExpired: the payer took longer than 15 minutes | start anew with --new-attempt
    payment_not_found not_found paymentNotFound: there is no such payment | check the id, and --env
    mandate_not_found not_found mandateNotFound: there is no such mandate | check the id, and --env
    payment_rejected declined paymentRejected: the bank said no | ask the payer to speak to the bank, or use another account
    mandate_rejected declined mandateRejected: the bank said no | ask the payer to speak to the bank
    sdk_not_configured auth sdkNotConfigured: a credential is not set | set the variable that is named
    sdk_misconfigured usage sdkNotConfigured: a credential cannot be used: the signing key must be P-521, in PEM text | openssl ecparam -genkey -name secp521r1 -noout
    server_error provider_error serverError: TrueLayer or the bank behind it failed; no money moved unless the exit is 9 | try again later
    server_error_declined declined serverError: the payment itself failed of an error at TrueLayer or the bank | try again with --new-attempt
    unexpected_behaviour provider_error unexpectedBehaviour: TrueLayer answered what cannot be understood | look at it with tender payment-status
    user_canceled cancelled userCanceled: payer or operator cancelled it | try again with --new-attempt
    """
  )

  private static let ours: [Explanation] = Explanation.errors(
    """
    mandate_revoked cancelled: the mandate was authorized and has been revoked since | make another with --new-attempt
    mandate_not_authorized conflict: only an authorized mandate can be revoked | one that is not expires by itself
    nothing_to_refund conflict: only a settled payment to a merchant account can be refunded | wait until it is settled
    refund_failed declined: the refund failed; nothing was refunded | see failure_reason; the same command tries again
    cancel_pending pending: the cancellation was accepted and cannot be seen yet | run the same command again
    bad_form usage: --form or --form-file cannot be read, or holds a secret on the command line | see: tender help transact
    input_missing pending: the bank wants something that only payer or operator can give | give it as an option, and run the same command again
    not_offered pending: what was chosen is not among what the bank offers | see next_action in the record without that option
    consent_needed pending: the bank wants a consent that was not given | --consent pis,ais where the payer agrees
    bad_form_value pending: a value does not fit the bank's form | see the rule in the message
    return_mismatch conflict: the return address belongs to another payment | hand in the right one
    creation_lost conflict: it cannot be found out what a creation did | look in TrueLayer's Console
    key_expired conflict: an idempotency key is known for 30 days | look in TrueLayer's Console
    nothing_to_confirm conflict: there is no payment or mandate behind this reference | see the journal
    """
  )
}
