package import TenderEngine
package import TenderModel

/// A payment or mandate to create, as typed (README, 3.1 and 3.2).
package struct Creation: Sendable {
  package var reference: Reference
  package var kind = Payment.Kind.payment
  package var amount: Money?
  package var currency: Currency
  package var beneficiaryName: String?
  package var sortCode: String?
  package var accountNumber: String?
  package var iban: String?
  package var merchantAccount: String?
  /// The text on the payee's statement.
  package var statement: String?
  /// `name`, `email`, `phone`, `date_of_birth`, `id`.
  package var user: JSONObject = [:]
  package var metadata: JSONObject = [:]
  /// The bank that is sent with the creation, instead of being chosen in the flow.
  package var preselectedBank: String?
  package var scheme: String?
  package var branch: String?
  package var retries = false
  package var mandateType = "sweeping"
  package var useCase: String?
  package var validFrom: String?
  package var validTo: String?
  package var maximumIndividual: Int?
  package var limits: [Limit] = []

  /// The maximum amount of a period in minor units, which counts from `consent` or by the `calendar`.
  package typealias Limit = (period: String, amount: Int, alignment: String)

  package init(reference: Reference, currency: Currency) {
    self.reference = reference
    self.currency = currency
  }

  /// Returns the order for this creation.
  ///
  /// Throws `usage` for values that TrueLayer would refuse.
  package func order() throws(Fault) -> AuthorizationOrder {
    let body = kind == .mandate ? try mandateBody() : try paymentBody()
    let content = content(body).sorted
    var order = AuthorizationOrder(reference: reference, kind: kind, content: content)
    (order.amount, order.currency) = (amount, amount?.currency ?? currency)
    order.creation = Array(JSONWriter.text(.object(body)).utf8)
    return order
  }

  /// Returns the content that makes two orders the same: amount, payee, payer, metadata. The bank is not in
  /// it.
  private func content(_ body: JSONObject) -> JSONObject {
    let method = body["payment_method"] ?? body["mandate"]
    var content: JSONObject = [
      "command": "transact", "currency": .string(currency.code),
      "amount": amount.map { .integer($0.minorUnits) }, "payee": method?["beneficiary"],
      "payer": user.members.isEmpty ? nil : .object(user), "metadata": .object(metadata),
    ]
    if kind == .mandate {
      content["mandate"] = .string(mandateType)
      content["use_case"] = useCase?.json
      content["constraints"] = body["constraints"]
      // A sweeping mandate pays into the payer's own account. The journal stores only its last four digits.
      if mandateType == "sweeping" { content["payee"] = content["payee"].map(Self.withoutAccount) }
    }
    return content
  }

  private static func withoutAccount(_ payee: JSON) -> JSON {
    guard var object = payee.object, let account = object["account_identifier"]?.object else {
      return payee
    }
    let number = account.text("account_number") ?? account.text("iban") ?? ""
    object["account_identifier"] = nil
    object["last_four"] = .string(String(number.suffix(4)))
    return .object(object)
  }

  private func paymentBody() throws(Fault) -> JSONObject {
    guard let amount, amount.minorUnits >= 1 else {
      throw .usage("bad_amount", "the amount must be at least one minor unit", "raise --amount")
    }
    let payee = try beneficiary(withReference: true)
    if retries, currency.code != "GBP" {
      throw .usage("bad_options", "--retry is for GBP alone", "leave it out")
    }
    let method: JSONObject = [
      "type": "bank_transfer", "provider_selection": .object(paymentSelection),
      "beneficiary": .object(payee), "retry": retries ? [:] : nil,
    ]
    return [
      "amount_in_minor": .integer(amount.minorUnits), "currency": .string(currency.code),
      "payment_method": .object(method), "user": .object(try checkedUser()),
      "metadata": .object(try checkedMetadata()),
    ]
  }

  private var paymentSelection: JSONObject {
    let instant: JSON = ["type": "instant_preferred"]
    guard let preselectedBank else {
      let choice: JSON = scheme == nil ? instant : ["type": "user_selected"]
      return ["type": "user_selected", "scheme_selection": choice]
    }
    return [
      "type": "preselected", "provider_id": .string(preselectedBank),
      "scheme_selection": scheme.map { ["type": "preselected", "scheme_id": .string($0)] }
        ?? instant,
      "branch_selection": branch.map { ["type": "preselected", "branch_id": .string($0)] },
    ]
  }

  func beneficiary(withReference: Bool) throws(Fault) -> JSONObject {
    if let merchantAccount {
      try Self.require(
        sortCode == nil && accountNumber == nil && iban == nil,
        "--merchant-account and an account's numbers exclude each other",
        "give one payee",
        code: "bad_options"
      )
      try Self.require(
        ResourceID.isUUID(merchantAccount),
        "--merchant-account cannot be \(merchantAccount.quotedForMessage)",
        "the id of the account in TrueLayer's Console, a UUID"
      )
      return [
        "type": "merchant_account", "merchant_account_id": .string(merchantAccount),
        "account_holder_name": try name()?.json,
        "reference": withReference ? .string(try statementText(limit: 100)) : nil,
      ]
    }
    guard let name = try name() else {
      throw .missingOption(
        "the payee is missing: --beneficiary-name",
        hint: "with --sort-code and --account-number, or --iban; or give --merchant-account"
      )
    }
    return [
      "type": "external_account", "account_holder_name": .string(name),
      "account_identifier": try account(),
      "reference": withReference ? .string(try statementText(limit: 18)) : nil,
    ]
  }

  private func name() throws(Fault) -> String? {
    guard let name = beneficiaryName else { return nil }
    try Self.require(
      (1...40).contains(name.count) && !name.contains { "()".contains($0) || $0.isNewline },
      "--beneficiary-name \(name.quotedForMessage) cannot be used",
      "1 to 40 characters, no parentheses"
    )
    return name
  }

  private func account() throws(Fault) -> JSON {
    switch (sortCode, accountNumber, iban) {
    case (let sortCode?, let number?, nil):
      let digits = sortCode.filter { $0 != "-" && $0 != " " }
      try Self.require(
        Digits.plain(digits, count: 6...6),
        "--sort-code \(sortCode.quotedForMessage) is no sort code",
        "six digits, such as 56-00-29"
      )
      try Self.require(
        Digits.plain(number, count: 8...8),
        "--account-number \(number.quotedForMessage) is no account number",
        "eight digits, such as 26207729"
      )
      return [
        "type": "sort_code_account_number", "sort_code": .string(digits),
        "account_number": .string(number),
      ]
    case (nil, nil, let iban?):
      let compact = iban.filter { $0 != " " }.uppercased()
      try Self.require(
        IBAN.isValid(compact),
        "--iban \(iban.quotedForMessage) is no IBAN",
        "check its length, which its country sets, and its digits, which have a checksum"
      )
      return ["type": "iban", "iban": .string(compact)]
    default:
      throw .missingOption(
        "the payee's account is missing, or given twice",
        hint: "give --sort-code and --account-number, or --iban"
      )
    }
  }

  /// Returns whether a reference may contain this character (README, 3.3).
  private static func isReferenceText(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber)
      || "-:().,'+ ?/".contains(character)
  }

  /// Throws `usage` for a value that TrueLayer would refuse.
  private static func require(
    _ isFine: Bool,
    _ message: @autoclosure () -> String,
    _ hint: @autoclosure () -> String,
    code: String = "bad_value"
  ) throws(Fault) {
    guard isFine else { throw .usage(code, message(), hint()) }
  }

  /// Returns the text for the payee: the given one, or as much of the reference as fits.
  func statementText(limit: Int) throws(Fault) -> String {
    try Self.statement(statement, orFrom: reference.text, limit: limit)
  }

  /// Returns a given statement text, or as much of another text as fits.
  ///
  /// Throws `usage` for a text that TrueLayer would refuse.
  static func statement(
    _ given: String?,
    orFrom text: String,
    limit: Int = 18
  ) throws(Fault) -> String {
    guard let given else {
      let fitting = String(text.filter(isReferenceText).prefix(limit))
      return fitting.isEmpty ? "payment" : fitting
    }
    try require(
      (1...limit).contains(given.count) && given.allSatisfy(isReferenceText),
      "--payment-reference \(given.quotedForMessage) cannot be used",
      "1 to \(limit) letters, digits, spaces and -:().,'+?/"
    )
    return given
  }

  func checkedUser() throws(Fault) -> JSONObject {
    let hint = "such as --user name='Remi Terr' --user email=remi@example.com"
    guard let name = user.text("name"), !name.isBlank, !name.contains(where: { "()".contains($0) })
    else { throw .usage("missing_option", "the payer's name is missing: --user name=…", hint) }
    guard user["email"] != nil || user["phone"] != nil else {
      throw .usage("missing_option", "the payer's e-mail or phone is missing: --user", hint)
    }
    if let email = user.text("email"), !Contact.isEmail(email) {
      let what = "--user email=\(email.quotedForMessage) has the wrong shape"
      throw .usage("bad_value", what, hint)
    }
    if let birth = user.text("date_of_birth") {
      try Self.require(
        birth.utf8.count == 10 && Timestamp.read(birth) != nil,
        "--user date_of_birth=\(birth.quotedForMessage) is no date",
        "such as 1990-01-31"
      )
    }
    return user
  }

  /// Returns the merchant's metadata, to which the reference is added.
  func checkedMetadata() throws(Fault) -> JSONObject {
    try Self.require(
      metadata["reference"] == nil,
      "--metadata reference=… is where --reference travels",
      "use another name",
      code: "bad_options"
    )
    var all: JSONObject = ["reference": .string(reference.text)]
    for member in metadata.members {
      guard let text = member.value.text, (1...40).contains(member.key.count), text.count <= 500
      else {
        throw .usage(
          "bad_value",
          "--metadata \(member.key.quotedForMessage) cannot be used",
          "text: names of at most 40 characters, values of at most 500"
        )
      }
      all[member.key] = member.value
    }
    try Self.require(all.members.count <= 10, "there is too much metadata", "at most 9 entries")
    return all
  }

  // MARK: Mandates (OpenAPI, `CreateMandateRequest`)

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

  private func constraints() throws(Fault) -> JSONObject {
    guard let most = maximumIndividual, (1...100_000_000).contains(most) else {
      throw .missingOption(
        "a mandate needs --max-individual, the most that one payment may take",
        hint: "such as --max-individual 100.00"
      )
    }
    let periodic = try periodicLimits(atLeast: most)
    var constraints: JSONObject = [:]
    for (name, option, text) in [
      ("valid_from", "--valid-from", validFrom), ("valid_to", "--valid-to", validTo),
    ] {
      guard let text else { continue }
      guard let time = Timestamp.read(text) else {
        throw .usage(
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
    try Self.require(
      !limits.isEmpty,
      "a mandate needs --limit, the most that a period may take",
      "such as --limit month:2000.00",
      code: "missing_option"
    )
    var periodic: JSONObject = [:]
    for limit in limits {
      let name = limit.period
      guard Self.periods.contains(name), periodic[name] == nil else {
        let nearest = Suggestion.nearest(to: name, among: Self.periods)
        throw .usage(
          "bad_value",
          "--limit has no period \(name.quotedForMessage), or has it twice",
          nearest.map { "did you mean \($0)?" } ?? "one of \(Self.periods.joined(separator: ", "))"
        )
      }
      try Self.require(
        limit.amount >= most,
        "--limit \(name) is less than --max-individual",
        "it cannot be less than one payment"
      )
      guard name != "fortnight" || limit.alignment == "consent" else {
        throw .usage("bad_value", "--limit fortnight counts from consent", "leave :calendar out")
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
        throw .missingOption(
          "a commercial mandate needs --use-case",
          hint: "one of \(Self.useCases.joined(separator: ", "))"
        )
      }
      mandate["use_case"] = .string(useCase)
    } else if useCase != nil {
      throw .usage("bad_options", "--use-case is for commercial mandates", "leave it out")
    }
    // A preselected bank of a mandate needs the payer's account too, and no option accepts one.
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
