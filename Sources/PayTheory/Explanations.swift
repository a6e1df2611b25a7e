package import TenderModel

/// The pages of `tender explain` for Pay Theory's documented errors and the processor's codes.
extension PayTheoryProvider {
  /// Every page of this provider.
  package static let explanations: [Explanation] =
    documented.map { page in
      page.provider == nil ? page : page.from("Pay Theory's iOS library, FailureResponse")
    } + processor + Vocabulary.words

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

  private static let processor: [Explanation] = Vocabulary.processorCodes.map { code in
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
