/// The bodies that TrueLayer takes, by its OpenAPI (Payments API v3, 2026-08): members, enumerations,
/// lengths and patterns as published.
///
/// Departures, which the published text itself has: PLN and NOK are currencies of its SDKs though
/// not of its enumeration.
enum BankRequests {
  static let createPayment = BankSchema.shape(
    "amount_in_minor",
    "currency",
    "payment_method",
    "user",
    members: [
      "amount_in_minor": .integer(1...Int.max), "currency": currency, "payment_method": method,
      "user": user, "metadata": metadata,
      "related_products": .shape(members: ["signup_plus": .anyObject]),
      "authorization_flow": startPayment, "hosted_page": hostedPage,
      "risk_assessment": .shape(members: ["segment": .string(1...Int.max, BankText.name)]),
      "sub_merchants": subMerchants, "user_consent": userConsent,
    ]
  )

  static let createMandate = BankSchema.shape(
    "mandate",
    "currency",
    "user",
    members: [
      "mandate": mandate, "currency": currency, "user": user, "constraints": constraints,
      "metadata": metadata, "related_products": .shape(members: ["signup_plus": .anyObject]),
      "sub_merchants": subMerchants,
    ]
  )

  static let startPayment = BankSchema.shape(
    members: [
      "provider_selection": .shape(members: ["icon": icon, "branches": .anyObject]),
      "scheme_selection": .anyObject, "branch_selection": .anyObject,
      "redirect": .shape(
        "return_uri",
        members: ["return_uri": .anyText, "direct_return_uri": .anyText]
      ),
      "form": .shape(
        "input_types",
        members: ["input_types": .list(of: .word(["text", "text_with_image", "select"]))]
      ),
      "consent": .shape(
        members: [
          "action_type": .word(["explicit", "adjacent"]), "requirements": consentParts,
        ]
      ),
      "user_account_selection": .anyObject,
    ]
  )

  static let startMandate = BankSchema.shape(
    "provider_selection",
    "redirect",
    members: [
      "provider_selection": .anyObject,
      "redirect": .shape("return_uri", members: ["return_uri": .anyText]), "consent": .anyObject,
    ]
  )

  static let providerSelection = BankSchema.shape(
    "provider_id",
    members: ["provider_id": .anyText, "branch_id": .anyText]
  )
  static let branchSelection = BankSchema.shape("branch_id", members: ["branch_id": .anyText])
  static let schemeSelection = BankSchema.shape("scheme_id", members: ["scheme_id": .anyText])
  static let consent = BankSchema.shape(members: ["captured": consentParts])

  static let userAccountSelection = BankSchema.choice(
    by: "type",
    [
      "new": .anyObject,
      "existing": .shape("user_account_id", members: ["user_account_id": .anyText]),
      "delete": .shape("user_account_id", members: ["user_account_id": .anyText]),
    ]
  )

  static let form = BankSchema.shape(
    "inputs",
    members: [
      "inputs": .pairs(count: Int.max, name: Int.max, value: Int.max),
      "adjacent": .shape(
        members: [
          "consent": .shape("captured", members: ["captured": consentParts])
        ]
      ),
    ]
  )

  static let refund = BankSchema.shape(
    "reference",
    members: [
      "amount_in_minor": .integer(1...Int.max), "reference": .anyText, "metadata": metadata,
    ]
  )

  static let providerReturn = BankSchema.shape(
    members: ["query": .anyText, "fragment": .anyText]
  )

  static let search = BankSchema.shape(
    "authorization_flow",
    members: [
      "authorization_flow": .shape(
        "configuration",
        members: [
          "configuration": .shape(
            members: [
              "provider_selection": .shape(members: ["icon": icon, "branches": .anyObject]),
              "redirect": .anyObject,
              "form": .shape(
                "input_types",
                members: ["input_types": .list(of: .word(["text", "text_with_image", "select"]))]
              ),
              "consent": .shape(members: ["requirements": consentParts]),
            ]
          )
        ]
      ),
      "countries": .list(of: country), "currencies": .list(of: .word(["GBP", "EUR", "PLN"])),
      "release_channel": channel, "customer_segments": .list(of: segment),
      "capabilities": .shape(
        members: [
          "payments": .shape(members: ["bank_transfer": .anyObject]),
          "mandates": .shape(
            members: [
              "vrp_sweeping": .anyObject,
              "vrp_commercial": .shape(members: ["use_cases": .list(of: useCase)]),
              "direct_debit": .anyObject,
            ]
          ),
        ]
      ),
    ]
  )

  static let country = BankSchema.word([
    "AT", "BE", "DE", "DK", "ES", "FI", "FR", "GB", "IE", "IT", "LT", "NL", "NO", "PL", "PT", "RO",
  ])
  static let channel = BankSchema.word([
    "general_availability", "public_beta", "private_beta",
  ])
  static let segment = BankSchema.word(["retail", "business", "corporate"])
  static let useCase = BankSchema.word([
    "charity", "financial_services", "government", "utilities",
  ])
  static let currency = BankSchema.word(["GBP", "EUR", "PLN", "NOK"])
  static let metadata = BankSchema.pairs(count: 10, name: 40, value: 500)
  static let icon = BankSchema.shape(
    members: [
      "type": .word([
        "default", "extended", "extended_small", "extended_medium", "extended_large",
      ])
    ]
  )
  static let consentParts = BankSchema.shape(
    "pis",
    members: [
      "pis": .anyObject,
      "ais": .shape("scopes", members: ["scopes": .list(of: .word(["accounts", "balance"]))]),
    ]
  )

  static let hostedPage = BankSchema.shape(
    "return_uri",
    members: [
      "return_uri": .anyText, "country_code": .string(2...2, BankText.capital),
      "language_code": .string(2...2, BankText.small), "max_wait_for_result": .integer(0...60),
    ]
  )

  static let address = BankSchema.shape(
    "address_line1",
    "city",
    "zip",
    "country_code",
    members: [
      "address_line1": .string(1...50, BankText.line),
      "address_line2": .string(1...50, BankText.line),
      "city": .string(1...50, BankText.line), "state": .string(1...50, BankText.line),
      "zip": .string(1...20, BankText.line), "country_code": .string(2...2),
    ]
  )

  static let user = BankSchema.shape(
    members: [
      "id": .anyText, "name": .string(1...Int.max, BankText.name), "email": .form(BankText.isEmail),
      "phone": .anyText, "date_of_birth": .form(BankText.isDate),
      "address": address, "political_exposure": .word(["current", "none"]),
    ]
  )

  static let account = BankSchema.choice(
    by: "type",
    [
      "sort_code_account_number": .shape(
        "sort_code",
        "account_number",
        members: [
          "sort_code": .string(6...6, BankText.digit),
          "account_number": .string(8...8, BankText.digit),
        ]
      ),
      "iban": .shape("iban", members: ["iban": .form(BankText.isIBAN)]),
      "bban": .shape("bban", members: ["bban": .anyText]),
      "nrb": .shape("nrb", members: ["nrb": .anyText]),
    ]
  )

  static let merchantAccount = BankSchema.form(BankText.isUUID)
  static let holder = BankSchema.string(1...40, BankText.name)
  static let statement = BankSchema.string(1...18, BankText.reference)

  static let payee = BankSchema.choice(
    by: "type",
    [
      "merchant_account": .shape(
        "merchant_account_id",
        members: [
          "merchant_account_id": merchantAccount, "account_holder_name": holder,
          "reference": .string(1...100, BankText.reference), "statement_reference": statement,
          "verification": .choice(
            by: "type",
            [
              "automated": .shape(
                members: ["remitter_name": .truth, "remitter_date_of_birth": .truth]
              )
            ]
          ),
        ]
      ),
      "external_account": .shape(
        "account_holder_name",
        "account_identifier",
        "reference",
        members: [
          "account_holder_name": holder, "account_identifier": account, "reference": statement,
        ]
      ),
    ]
  )

  static let filter = BankSchema.shape(
    members: [
      "countries": .list(of: country), "release_channel": channel,
      "customer_segments": .list(of: segment), "provider_ids": .list(of: .anyText),
      "excludes": .shape(members: ["provider_ids": .list(of: .anyText)]),
    ]
  )

  static let instant = BankSchema.shape(members: ["allow_remitter_fee": .truth])
  static let remitterName = BankSchema.string(1...80, BankText.name)

  static let bankSelection = BankSchema.choice(
    by: "type",
    [
      "user_selected": .shape(
        members: [
          "filter": filter,
          "scheme_selection": .choice(
            by: "type",
            ["instant_only": instant, "instant_preferred": instant, "user_selected": .anyObject]
          ),
          "remitter": .shape(
            "account_holder_name",
            members: ["account_holder_name": remitterName]
          ),
        ]
      ),
      "preselected": .shape(
        "provider_id",
        "scheme_selection",
        members: [
          "provider_id": .anyText,
          "branch_selection": .choice(
            by: "type",
            [
              "preselected": .shape("branch_id", members: ["branch_id": .anyText]),
              "user_selected": .anyObject,
            ]
          ),
          "scheme_selection": .choice(
            by: "type",
            [
              "instant_only": instant, "instant_preferred": instant,
              "preselected": .shape("scheme_id", members: ["scheme_id": .anyText]),
              "user_selected": .anyObject,
            ]
          ),
          "remitter": .shape(
            members: ["account_holder_name": remitterName, "account_identifier": account]
          ),
          "data_access_token": .form(length: 0...10_000, BankText.isToken),
        ]
      ),
    ]
  )

  static let method = BankSchema.choice(
    by: "type",
    [
      "bank_transfer": .shape(
        "provider_selection",
        "beneficiary",
        members: [
          "provider_selection": bankSelection, "beneficiary": payee, "retry": .anyObject,
        ]
      ),
      "mandate": .shape(
        "mandate_id",
        members: [
          "user_interaction": .word(["present", "not_present"]), "mandate_id": .anyText,
          "reference": .anyText,
          "retry": .choice(
            by: "type",
            [
              "standard": .shape(members: ["for": .anyText]),
              "smart": .shape(
                members: [
                  "for": .anyText, "ensure_minimum_balance_in_minor": .number(atLeast: 1),
                ]
              ),
            ]
          ),
        ]
      ),
    ]
  )

  static let subMerchants = BankSchema.shape(
    "ultimate_counterparty",
    members: [
      "ultimate_counterparty": .choice(
        by: "type",
        [
          "business_division": .shape("id", "name", members: ["id": .anyText, "name": .anyText]),
          "business_client": .shape(
            "id",
            "trading_name",
            members: [
              "id": .anyText, "trading_name": .string(1...70, BankText.line),
              "commercial_name": .string(0...100), "url": .string(0...100),
              "mcc": .string(4...4, BankText.digit), "registration_number": .string(0...35),
              "address": address,
            ]
          ),
        ]
      )
    ]
  )
}
