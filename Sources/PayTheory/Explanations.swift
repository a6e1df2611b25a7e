internal import TenderModel

/// The words of Pay Theory's documents, with their meanings.
enum Vocabulary {
  /// The processor's codes in `status.reason.error_code`.
  static let processorCodes = Explanation.reasons(
    .processorCode,
    at: "transaction.failure_reasons",
    "Pay Theory's documentation, page Failed Transactions",
    """
    ADDRESS_VERIFICATION_FAILED_RISK_RULES payer corrected: the merchant's risk rules want the address that the card is registered at
    AUTHORIZATION_EXPIRED_OR_ALREADY_CAPTURED order no: the authorization is over, or was captured before; a new one is needed
    BANK_ACCOUNT_CLOSED payer other: the bank account is closed
    BANK_ACCOUNT_FROZEN payer other: the bank account is frozen
    CALL_ISSUER bank other: the issuer declined without a reason and wants its cardholder to call
    CARDHOLDER_PREVENTED_RECURRING_TRANSACTION payer no: the cardholder has stopped recurring or instalment payments
    CARD_ACCOUNT_CLOSED payer other: the card's account is closed
    CARD_NETWORK_ERROR network later: the card network had a problem
    CARD_NOT_SUPPORTED bank other: the card is not for purchases of this kind
    COMMUNICATION_ERROR network later: the connection to the processor failed
    CVV_FAILED_RISK_RULES payer corrected: the merchant's risk rules want the right security code
    DEVICE_IN_USE shop later: the device works on another request (6 minutes at most)
    DEVICE_NOT_CONNECTED shop corrected: the payment terminal has no network
    DO_NOT_HONOR bank other: the issuer declined without a reason
    DUPLICATE_TRANSACTION order no: the same amount was approved with the same instrument a moment ago
    EXCEEDS_APPROVAL_LIMIT bank other: the amount is above the issuer's limit for an approval
    EXCEEDS_WITHDRAWAL_FREQUENCY_LIMIT bank other: the card was used too often in its period
    EXPIRED_CARD payer other: the card has expired
    FRAUD_DETECTED bank other: the processor suspects fraud
    GENERIC_DECLINE bank other: the issuer declined without a reason
    INACTIVE_CARD payer other: the card is not activated yet
    INCOMPLETE_TRANSACTION payer yes: the cardholder did not complete the payment
    INSUFFICIENT_FUNDS payer other: the account has insufficient funds
    INVALID_ACCOUNT_NUMBER payer corrected: there is no card with this number
    INVALID_AMOUNT bank other: the amount is more than the card allows
    INVALID_BANK_ACCOUNT_NUMBER payer corrected: there is no bank account with this number
    INVALID_CARD payer other: the card is not valid
    INVALID_CVV payer corrected: the security code is wrong
    INVALID_ISSUER payer corrected: the card number belongs to no issuer
    INVALID_ROUTING_NUMBER payer corrected: the routing number belongs to no bank
    INVALID_TRANSACTION bank other: the issuer does not permit this transaction
    LOST_OR_STOLEN_CARD bank other: the card was reported as lost or stolen; the payer is told only that it was declined
    MAX_TRANSACTION_AMOUNT_EXCEEDED merchant corrected: the amount is above the merchant's own limit
    NON_TRANSACTION_ACCOUNT payer other: the bank account is not for payments
    NO_BANK_ACCOUNT_FOUND payer corrected: the account is not open, or is not this account holder's
    PAYMENT_STOPPED payer no: the account holder has stopped the payment at the bank
    PICK_UP_CARD bank other: the card was reported as lost or stolen; the payer is told only that it was declined
    RESTRICTED_CARD bank other: a restriction of the card forbids this payment
    RESUBMIT_TRANSACTION bank yes: the issuer could not process it and asks for a second try
    SYSTEM_ERROR provider later: the processor had a system error
    TIMEOUT provider later: the processor did not answer in time
    TRANSACTION_NOT_PERMITTED bank other: the card, or this type of transaction, is not permitted
    UNKNOWN_ERROR provider later: the processor names no reason
    """
  )

  /// Returns our code for a documented processor code (README, 8.3); nil for any other text.
  static func code(_ text: String) -> String? {
    let upper = text.uppercased()
    return processorCodes.contains { $0.code == upper } ? upper.lowercased() : nil
  }

  /// The states, types and members of results.
  static let words: [Explanation] =
    Explanation.words(
      .type,
      "Pay Theory's iOS library, completion handler",
      """
      PT_CONFIRMATION: held with --confirmation: the fee is known, nothing is captured before tender confirm
      PT_COMPLETE: the payment was taken
      PT_BARCODE: a cash barcode, which the payer takes to a shop
      PT_TOKENIZE: the instrument is stored
      """
    )
    + Explanation.words(
      .state,
      "Pay Theory's GraphQL schema, TransactionStatus, and transfer_complete's state",
      """
      PENDING: taken and not settled; a reversal voids it
      SUCCEEDED: taken
      SETTLED: taken and paid out to the merchant; a reversal refunds it
      FAILED: not taken; failure_reasons say why
      FAILURE: not taken; type says why
      REFUNDED: given back as a whole
      PARTIALLY_REFUNDED: given back in part
      VOIDED: undone before it was settled
      RETURNED: an ACH payment that the payer's bank sent back
      """
    )
    + Explanation.words(
      .member,
      "Pay Theory's iOS library, completion handler",
      """
      type: which result it is; for a failure the processor's reason
      body.receipt_number: Pay Theory's id of the payment
      body.amount: what the payer pays, fee included, in minor units
      body.service_fee: the fee within the amount, in minor units
      body.brand: the card's brand, or ACH
      body.first_six: the first six digits of the card
      body.last_four: the last four digits of the card or account
      body.created_at: when it was taken, in UTC
      body.state: PENDING or SUCCEEDED
      body.metadata: what --metadata gave, and what the payment method has
      body.payor_id: Pay Theory's id of the payer
      body.payment_method_id: the stored instrument, for --token
      body.BarcodeUid: Pay Theory's id of the barcode
      body.Merchant: Pay Theory's id of the merchant
      body.barcode: the digits of the barcode
      body.barcodeFee: the retailer's fee, in units of the currency, as text
      body.barcodeUrl: where the barcode can be shown
      body.mapUrl: where a shop that takes it is found
      body.expiration: when the card expires, MMYY
      body.payment_type: card or ach
      receipt_number: Pay Theory's id of the payment that failed
      last_four: the last four digits of the instrument that failed
      brand: the brand of the instrument that failed
      state: FAILURE
      """
    )

  // MARK: Pages of `tender explain`

  /// Every page of this provider.
  static let pages: [Explanation] =
    documented.map { page in
      page.provider == nil ? page : page.from("Pay Theory's iOS library, FailureResponse")
    } + processor + words

  private static let documented: [Explanation] = Explanation.errors(
    """
    no_auth conflict NO_AUTH: there is nothing to confirm: never transacted, declined or cancelled | start with tender transact --hold
    no_fields usage NO_FIELDS: the instrument is missing a field, or one is invalid; nothing was sent | see: tender help instruments
    no_token_refused auth NO_TOKEN: the token service refused the API key | check TENDER_PAYTHEORY_API_KEY and its stage
    no_token_unreachable not_sent NO_TOKEN: the token service cannot be reached; nothing left | repeat it freely
    no_token_unavailable provider_error NO_TOKEN: the token service answered 429, 5xx, nothing, or nothing readable | try again later
    socket_error provider_error SOCKET_ERROR: the socket answered with an error, or with nothing that can be read; no money moved | try again later
    socket_refused rejected SOCKET_ERROR: the socket refused the request with a text that is known as a refusal | change the request; nothing was created
    socket_unreachable not_sent SOCKET_ERROR: the socket cannot be reached; nothing left | repeat it freely
    invalid_app auth INVALID_APP: Pay Theory takes cards, ACH and cash on stage paytheory from attested mobile apps alone | use --token, or a key of stage paytheorystudy or paytheorylab
    session_expired expired SESSION_EXPIRED: Pay Theory closed the session before the payment; no money moved | run the same command again
    hold_expired expired SESSION_EXPIRED: the session or the authorization of a hold is over; nothing was captured | authorize again with tender transact --hold --new-attempt
    barcode_expired expired: a cash barcode was not paid by its last day | make another one with --new-attempt
    token_not_found not_found: the provider has no stored payment method of that id; nothing was sent | store one with tender tokenize
    token_disabled conflict: the stored payment method is disabled; nothing was sent | store one with tender tokenize
    fee_differs usage: --fee is not the service fee that Pay Theory asks for; nothing was sent | leave --fee out, or pass the fee that is named
    credentials_missing auth: credentials are not set | set the variables that are named
    credentials_refused auth: the merchant credentials were refused | check TENDER_PAYTHEORY_MERCHANT_UID and TENDER_PAYTHEORY_SECRET_KEY
    graphql_refused rejected: the GraphQL interface refused the request; nothing was done | see the provider's own words in the message
    graphql_unavailable provider_error: the GraphQL interface is busy | try again later
    graphql_unclear provider_error: the GraphQL interface answered nothing readable | try again later
    amount_mismatch rejected: Pay Theory prepared another amount than was ordered; it was not captured | learn the fee with --hold, then pass --fee
    bad_api_key usage: the API key is not {partner}-{stage}-{id} | copy it from the Pay Theory portal
    stage_mismatch usage: the API key's stage does not fit --env | sandbox takes paytheorystudy and paytheorylab, live takes paytheory
    """
  )

  private static let processor: [Explanation] = processorCodes.map { code in
    var page = Explanation(
      code.code.lowercased(),
      .declined,
      provider: code.code,
      code.meaning,
      code.advice
    )
    .from(code.source)
    (page.side, page.retry, page.payer) = (code.side, code.retry, code.payer)
    page.path = code.path
    return page
  }
}
