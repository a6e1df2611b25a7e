internal import TenderModel

/// The body that makes a mandate (OpenAPI, `CreateMandateRequest`).
extension Creation {
  private static let periods = ["day", "week", "fortnight", "month", "half_year", "year"]
  private static let useCases = ["charity", "financial_services", "government", "utilities"]

  func mandateBody() throws(Fault) -> JSONObject {
    let constraints = try constraints()
    return [
      "mandate": .object(try mandate()), "currency": .string(currency.code),
      "user": .object(try checkedUser()), "constraints": .object(constraints),
      "metadata": .object(try checkedMetadata()),
    ]
  }

  /// How much it may take, and when.
  private func constraints() throws(Fault) -> JSONObject {
    guard let most = maximumIndividual, (1...100_000_000).contains(most) else {
      throw .creation(
        "missing_option",
        "a mandate needs --max-individual, the most that one payment may take",
        "such as --max-individual 100.00"
      )
    }
    let periodic = try periodicLimits(atLeast: most)
    var constraints: JSONObject = [:]
    for (name, option, text) in [
      ("valid_from", "--valid-from", validFrom), ("valid_to", "--valid-to", validTo),
    ] {
      guard let text else { continue }
      guard let time = Timestamp.read(text) else {
        throw .creation(
          "bad_value",
          "\(option) \(text.quotedForMessage) is no time",
          "such as 2027-01-31 or 2027-01-31T00:00:00Z"
        )
      }
      constraints[name] = .string(Timestamp.text(time))
    }
    constraints["maximum_individual_amount"] = .integer(most)
    constraints["periodic_limits"] = .object(periodic)
    return constraints
  }

  private func periodicLimits(atLeast most: Int) throws(Fault) -> JSONObject {
    guard !limits.isEmpty else {
      throw .creation(
        "missing_option",
        "a mandate needs --limit, the most that a period may take",
        "such as --limit month:2000.00"
      )
    }
    var periodic: JSONObject = [:]
    for limit in limits {
      let name = limit.period
      guard Self.periods.contains(name), periodic[name] == nil else {
        let nearest = Suggestion.nearest(to: name, among: Self.periods)
        throw .creation(
          "bad_value",
          "--limit has no period \(name.quotedForMessage), or has it twice",
          nearest.map { "did you mean \($0)?" } ?? "one of \(Self.periods.joined(separator: ", "))"
        )
      }
      guard limit.amount >= most else {
        throw .creation(
          "bad_value",
          "--limit \(name) is less than --max-individual",
          "it cannot be less than one payment"
        )
      }
      guard name != "fortnight" || limit.alignment == "consent" else {
        throw .creation("bad_value", "--limit fortnight counts from consent", "leave :calendar out")
      }
      periodic[name] = [
        "maximum_amount": .integer(limit.amount), "period_alignment": .string(limit.alignment),
      ]
    }
    return periodic
  }

  private func mandate() throws(Fault) -> JSONObject {
    var mandate: JSONObject = ["type": .string(mandateType)]
    if mandateType == "commercial" {
      guard let useCase, Self.useCases.contains(useCase) else {
        throw .creation(
          "missing_option",
          "a commercial mandate needs --use-case",
          "one of \(Self.useCases.joined(separator: ", "))"
        )
      }
      mandate["use_case"] = .string(useCase)
    } else if useCase != nil {
      throw .creation("bad_options", "--use-case is for commercial mandates", "leave it out")
    }
    // A preselected bank of a mandate needs the payer's account beside it, which no option takes.
    var selection: JSONObject = ["type": "user_selected"]
    if let preselectedBank {
      selection["filter"] = ["provider_ids": [.string(preselectedBank)]]
    }
    mandate["provider_selection"] = .object(selection)
    mandate["beneficiary"] = .object(try beneficiary(withReference: false))
    if statement != nil {
      mandate["statement_reference"] = .string(try statementText(limit: 18))
    }
    return mandate
  }
}
