import TenderModel

/// The request bodies of TrueLayer, by its OpenAPI (Payments API v3, 2026-08). Members, enumerations, lengths
/// and patterns are the published ones.
///
/// The published text itself has these departures. PLN and NOK are currencies of its SDKs, but not of its
/// enumeration. The shapes of payouts and sweeping are those of [JAVA] and [PHP]. A payment on a mandate
/// needs no user, a commercial mandate no use case, and forms may have no types of input.
enum BankRequests {
  /// The periods of a mandate's limits.
  static let periods = ["day", "week", "fortnight", "month", "half_year", "year"]

  /// The shapes by name, each with its members.
  ///
  /// `!` marks a required member. Its shape comes after a colon; without one it is any text. A shape is the
  /// name of another shape or of `BankSchema.known`, `[…]` for a list, or `characters/least-most`. `one of`
  /// begins an enumeration; `by type` begins the shapes that the member `type` selects.
  private static let texts = [
    "createPayment": """
    amount_in_minor!:positive currency!:currency payment_method!:method user:user metadata:metadata
    related_products:relatedProducts authorization_flow:startPayment hosted_page:hostedPage
    risk_assessment:riskAssessment sub_merchants:subMerchants user_consent:userConsent
    """,
    "createMandate": """
    mandate!:mandate currency!:currency user!:user constraints:constraints metadata:metadata
    related_products:relatedProducts sub_merchants:subMerchants
    """,
    "startPayment": """
    provider_selection:providerCapability scheme_selection:object branch_selection:object
    redirect:paymentRedirect form:formCapability consent:consentCapability
    user_account_selection:object
    """,
    "startMandate": "provider_selection!:object redirect!:mandateRedirect consent:object",
    "provider-selection": "provider_id! branch_id", "branch-selection": "branch_id!",
    "scheme-selection": "scheme_id!", "consent": "captured:consentParts",
    "user-account-selection": "by type new:object existing:userAccount delete:userAccount",
    "form": "inputs!:pairs adjacent:adjacent",
    "refund": "amount_in_minor:positive reference! metadata:metadata",
    "providerReturn": "query fragment",
    "search": """
    authorization_flow!:searchFlow countries:[country] currencies:[searchCurrency]
    release_channel:channel customer_segments:[segment] capabilities:searchCapabilities
    """,

    "relatedProducts": "signup_plus:object", "riskAssessment": "segment:name/1-",
    "providerCapability": "icon:icon branches:object", "icon": "type:iconType",
    "iconType": "one of default extended extended_small extended_medium extended_large",
    "paymentRedirect": "return_uri! direct_return_uri", "mandateRedirect": "return_uri!",
    "formCapability": "input_types!:inputTypes", "inputTypes": "any of inputType",
    "inputType": "one of text text_with_image select",
    "consentCapability": "action_type:consentAction requirements:consentParts",
    "consentAction": "one of explicit adjacent", "consentParts": "pis!:object ais:accountData",
    "accountData": "scopes!:[scope]", "scope": "one of accounts balance",
    "userAccount": "user_account_id!", "adjacent": "consent:adjacentConsent",
    "adjacentConsent": "captured!:consentParts",
    "searchFlow": "configuration!:searchConfiguration",
    "searchConfiguration": """
    provider_selection:providerCapability redirect:object form:searchForm
    consent:searchConsent
    """,
    "searchForm": "input_types!:[inputType]", "searchConsent": "requirements:consentParts",
    "searchCurrency": "one of GBP EUR PLN",
    "searchCapabilities": "payments:searchPayments mandates:searchMandates",
    "searchPayments": "bank_transfer:object",
    "searchMandates": "vrp_sweeping:object vrp_commercial:useCases direct_debit:object",
    "useCases": "use_cases:[useCase]",

    "country": "one of AT BE DE DK ES FI FR GB IE IT LT NL NO PL PT RO",
    "channel": "one of general_availability public_beta private_beta",
    "segment": "one of retail business corporate",
    "useCase": "one of charity financial_services government utilities",
    "currency": "one of GBP EUR PLN NOK",
    "hostedPage": """
    return_uri! country_code:capital/2-2 language_code:small/2-2 max_wait_for_result:seconds
    """,
    "address": """
    address_line1!:line/1-50 address_line2:line/1-50 city!:line/1-50 state:line/1-50 zip!:line/1-20
    country_code!:any/2-2
    """,
    "user": """
    id name:name/1- email:email phone date_of_birth:date address:address
    political_exposure:exposure
    """,
    "exposure": "one of current none",
    "account": "by type sort_code_account_number:sortCode iban:iban bban:bban nrb:nrb",
    "sortCode": "sort_code!:digit/6-6 account_number!:digit/8-8", "iban": "iban!:ibanText",
    "bban": "bban!", "nrb": "nrb!",

    "payee": "by type merchant_account:merchantAccount external_account:externalAccount",
    "merchantAccount": """
    merchant_account_id!:uuid account_holder_name:name/1-40 reference:reference/1-100
    statement_reference:reference/1-18 verification:verification
    """,
    "externalAccount": """
    account_holder_name!:name/1-40 account_identifier!:account reference!:reference/1-18
    """,
    "verification": "by type automated:automatedVerification",
    "automatedVerification": "remitter_name:truth remitter_date_of_birth:truth",
    "filter": """
    countries:[country] release_channel:channel customer_segments:[segment] provider_ids:[text]
    excludes:excludes
    """,
    "excludes": "provider_ids:[text]", "instant": "allow_remitter_fee:truth",
    "bankSelection": "by type user_selected:selectedByUser preselected:preselected",
    "selectedByUser": "filter:filter scheme_selection:schemeChoice remitter:namedRemitter",
    "schemeChoice": "by type instant_only:instant instant_preferred:instant user_selected:object",
    "namedRemitter": "account_holder_name!:name/1-80",
    "preselected": """
    provider_id! branch_selection:branch scheme_selection!:scheme remitter:remitter
    data_access_token:token
    """,
    "branch": "by type preselected:branch-selection user_selected:object",
    "scheme": """
    by type instant_only:instant instant_preferred:instant preselected:scheme-selection
    user_selected:object
    """,
    "remitter": "account_holder_name:name/1-80 account_identifier:account",
    "method": "by type bank_transfer:bankTransfer mandate:mandatePayment",
    "bankTransfer": "provider_selection!:bankSelection beneficiary!:payee retry:object",
    "mandatePayment": "user_interaction:interaction mandate_id! reference retry:retry",
    "interaction": "one of present not_present", "retry": "by type standard:standard smart:smart",
    "standard": "for", "smart": "for ensure_minimum_balance_in_minor:positiveNumber",
    "subMerchants": "ultimate_counterparty!:counterparty",
    "counterparty": "by type business_division:division business_client:businessClient",
    "division": "id! name!",
    "businessClient": """
    id! trading_name!:line/1-70 commercial_name:any/0-100 url:any/0-100 mcc:digit/4-4
    registration_number:any/0-35 address:address
    """,

    "userConsent": "by type precaptured:precaptured authorization_flow_captured:object",
    "precaptured": "captured_at!",
    "mandate": "by type sweeping:sweeping commercial:commercial",
    "sweeping": """
    beneficiary!:mandatePayee provider_selection!:mandateSelection reference:reference/1-18
    statement_reference:reference/1-18 use_case:useCase
    """,
    "commercial": """
    beneficiary!:mandatePayee provider_selection!:mandateSelection use_case:useCase
    reference:reference/1-18 statement_reference:reference/1-18
    """,
    "mandateSelection": "by type user_selected:mandateFilter preselected:mandateBank",
    "mandateFilter": "filter:filter", "mandateBank": "provider_id! remitter:mandateRemitter",
    "mandateRemitter": "account_holder_name!:name/1-80 account_identifier!:account",
    "mandatePayee": "by type merchant_account:mandateMerchant external_account:mandateExternal",
    "mandateMerchant": "merchant_account_id!:uuid account_holder_name",
    "mandateExternal": "account_holder_name! account_identifier!:account",
    "constraints": """
    valid_from valid_to maximum_individual_amount!:limitedAmount periodic_limits!:limits
    """,
    "limits": periods.map { $0 + ":limit" }.joined(separator: " "),
    "limit": "period_alignment!:alignment maximum_amount!:positive",
    "alignment": "one of consent calendar",

    "sweepingTerms": "max_amount_in_minor!:positive frequency!:frequency",
    "frequency": "one of daily weekly fortnightly", "signupAddress": "payment_id!:uuid state",
    "createPayout": """
    merchant_account_id!:uuid amount_in_minor!:positive currency!:currency beneficiary!:payoutPayee
    metadata:metadata scheme_selection:payoutScheme sub_merchants:payoutMerchants
    """,
    "payoutPayee": """
    by type external_account:payoutAccount payment_source:payoutSource business_account:payoutBusiness
    user_determined:payoutUser
    """,
    "payoutAccount": """
    account_holder_name!:name/1- account_identifier!:account reference! date_of_birth:date
    address:address
    """,
    "payoutSource": "payment_source_id! user_id! reference!", "payoutBusiness": "reference!",
    "payoutUser": "reference! user!:user verification:payoutCheck provider_selection:payoutBank",
    "payoutCheck": "verify_name:truth transaction_search_criteria:payoutSearch",
    "payoutSearch": """
    tokens!:[text] amount_in_minor!:positive currency!:currency created_at!:date
    """,
    "payoutBank": "by type user_selected:mandateFilter preselected:provider-selection",
    "payoutScheme": """
    by type instant_only:object instant_preferred:object preselected:scheme-selection
    """,
    "payoutMerchants": "ultimate_counterparty!:payoutMerchant",
    "payoutMerchant": "by type business_client:payoutClient",
    "payoutClient": """
    trading_name!:line/1-70 commercial_name:any/0-100 url:any/0-100 mcc:digit/4-4
    registration_number:any/0-35 address:address
    """,
  ]

  /// Checks that a body has one of these shapes.
  static func check(_ body: JSONObject, _ shape: String) throws(BankProblem) {
    try BankSchema(texts[shape] ?? "", among: texts).check(.object(body))
  }
}
