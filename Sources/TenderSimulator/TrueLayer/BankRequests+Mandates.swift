/// What a mandate has besides what it shares with a payment.
extension BankRequests {
  static let userConsent = BankSchema.choice(
    by: "type",
    [
      "precaptured": .shape("captured_at", members: ["captured_at": .anyText]),
      "authorization_flow_captured": .anyObject,
    ]
  )

  static let mandateSelection = BankSchema.choice(
    by: "type",
    [
      "user_selected": .shape(members: ["filter": filter]),
      "preselected": .shape(
        "provider_id",
        members: [
          "provider_id": .anyText,
          "remitter": .shape(
            "account_holder_name",
            "account_identifier",
            members: ["account_holder_name": remitterName, "account_identifier": account]
          ),
        ]
      ),
    ]
  )

  static let mandatePayee = BankSchema.choice(
    by: "type",
    [
      "merchant_account": .shape(
        "merchant_account_id",
        members: ["merchant_account_id": merchantAccount, "account_holder_name": .anyText]
      ),
      "external_account": .shape(
        "account_holder_name",
        "account_identifier",
        members: ["account_holder_name": .anyText, "account_identifier": account]
      ),
    ]
  )

  static let mandateMembers: [String: BankSchema] = [
    "provider_selection": mandateSelection, "beneficiary": mandatePayee, "reference": statement,
    "statement_reference": statement, "use_case": useCase,
  ]

  static let mandate = BankSchema.choice(
    by: "type",
    [
      "sweeping": .shape("beneficiary", "provider_selection", members: mandateMembers),
      "commercial": .shape(
        "beneficiary",
        "provider_selection",
        "use_case",
        members: mandateMembers
      ),
    ]
  )

  static let limit = BankSchema.shape(
    "period_alignment",
    "maximum_amount",
    members: [
      "maximum_amount": .integer(1...Int.max), "period_alignment": .word(["consent", "calendar"]),
    ]
  )

  /// The periods of a mandate's limits.
  static let periods = ["day", "week", "fortnight", "month", "half_year", "year"]

  static let constraints = BankSchema.shape(
    "maximum_individual_amount",
    "periodic_limits",
    members: [
      "valid_from": .anyText, "valid_to": .anyText,
      "maximum_individual_amount": .integer(1...100_000_000),
      "periodic_limits": .object(
        required: [],
        members: Dictionary(uniqueKeysWithValues: periods.map { ($0, limit) })
      ),
    ]
  )
}
