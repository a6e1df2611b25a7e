internal import TenderModel

/// The words that TrueLayer's documents use, and what they mean.
enum Vocabulary {
  /// What `failure_reason` says, of payments, mandates and refunds.
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

  /// States, statuses and members that results have.
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
}
